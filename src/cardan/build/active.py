"""Models of closed-loop robots as functions of the active joints alone, [KC97] 3.1: the formulas of
the loops (loops/formulas.py), in one assembly, before the model of the tree's q."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from ..algebra.scalar import function, sqrt
from ..describe.robot import Robot
from ..describe.symbolic import parametrised
from ..errors import ModelError
from ..ir.graph import Expr
from ..ir.page import Page, Quantity, sines
from ..ir.passes import elements, replayed
from ..ir.trace import Listed, Tracer
from ..loops.formulas import Formula, Formulas
from ..loops.geometry import LoopGeometry
from ..loops.numeric import skeleton
from ..loops.text import in_books
from ..mechanism.loops import opened
from ..models.bodies import Bodies, bodies
from ..models.loops import coupling_error
from ..program import Program
from .common import flat
from .derivation import Call, Derivation, Route
from .kept import description_hash


def of_active(robot: Robot, program: Program, assembly: Any, symbolic: bool = False) -> Program:
    """The program with q_a, the positions of the active joints, in place of q."""
    what = f"'{program.model}' of '{robot.name}'"
    if not robot.constrained or robot.ne or robot.wheels:
        raise ModelError(
            f"{what}: assembly= is for robots with closed loops or couplings, of rigid links,"
            " without wheels"
        )
    if "q" not in program.inputs:
        raise ModelError(f"{what} takes no q: leave out assembly=")
    whole = parametrised(robot)[0] if symbolic else robot
    geometry = _geometry(description_hash(whole), whole)
    formulas = geometry.formulas
    if formulas is None or not formulas.fits:
        raise ModelError(
            f"{what} is no function of q_a in formulas: its loops have none, one unknown after the"
            " other; leave out assembly= and give q of 'loop-geometry'"
        )
    count = formulas.branches
    if isinstance(assembly, bool) or not isinstance(assembly, int) or not 0 <= assembly < count:
        raise ModelError(
            f"{what}: assembly = {assembly!r}; expected a number from 0 to {count - 1}"
        )
    n = len(geometry.coordinates.moving)
    loops = formulas.program
    inputs = {"q_a": loops.inputs["q_a"]}
    inputs |= {k: shape for k, shape in program.inputs.items() if k not in ("q", "p")}

    def formula(call: Call, x: dict[str, Any]) -> dict[str, Any]:
        q = call(loops, q_a=x["q_a"])["q"][n * assembly : n * (assembly + 1)]
        rest = {name: _flat(array) for name, array in x.items() if name != "q_a"}
        values = call(program, q=q, **rest)
        return {name: (shape, values[name]) for name, shape in program.outputs.items()}

    derivation = Derivation(robot, program.model, inputs)
    candidate = derivation.compose(Route([loops, program], formula))
    words = (
        f"q of the tree follows from q_a in assembly {assembly} of {count} of its loops; no number"
        " comes out where they cannot be closed so"
    )
    meaning = {name: said for name, said in program.meaning.items() if name != "q"}
    meaning["q_a"] = loops.meaning["q_a"]
    defaults = dict(program.defaults)
    if symbolic:
        defaults |= parametrised(robot)[1]
    page = _page(derivation.robot, program, formulas, assembly, inputs)
    names = dict.fromkeys((*candidate.parameters, *page.parameters))
    return replace(
        program, code=candidate.code, parameters=candidate.parameters, meaning=meaning, page=page,
        defaults={x: defaults[x] for x in names if x in defaults},
        remarks=(*program.remarks, words),
    )  # fmt: skip


@lru_cache(maxsize=8)
def _geometry(description: str, robot: Robot) -> LoopGeometry:
    """The loops of a robot, analysed once for all its models; robots with 1 and with 1.0 are equal,
    their descriptions are not."""
    return LoopGeometry.of(robot)


def _flat(array: Any) -> list[Any]:
    """The elements of nested lists."""
    return flat(array) if array and isinstance(array[0], list) else list(array)


def _page(
    robot: Robot, program: Program, formulas: Formulas, assembly: int, inputs: Mapping[str, Any]
) -> Page:
    """The equations of the loops, one unknown after the other, then the model as it is read."""
    link, shown = formulas.geometry.coordinates, program.readable
    page = shown.page or _labelled(shown)
    tracer = Tracer()
    x = {name: _flat(tracer.array(name, *shape)) for name, shape in inputs.items()}
    q: list[Any] = [0] * len(link.moving)
    for j, position in zip(formulas.given, x["q_a"], strict=True):
        q[link.moving.index(j)] = position
    listed = _solved(formulas, assembly, tracer, q)
    own = {**x, "q": q, "p": [tracer.parameter(name) for name in page.parameters]}
    outputs, quantities = page.inlined(tracer.graph, own)
    listed += quantities
    known = {stem + key for stem, key, *_ in listed}
    links = {abs(y.ref): str(j) for j, y in zip(link.moving, q, strict=True) if type(y) is Expr}
    listed += [
        (stem, key, (), [Expr(tracer.graph, id)])
        for stem, key, id in sines(tracer.graph.nodes, links)
        if stem + key not in known
    ]
    shaped = {name: (shape, outputs[name]) for name, shape in program.outputs.items()}
    plain = tracer.page(shaped, None, robot.parameters, listed)
    return replace(plain, elsewhere=page.elsewhere)


def _solved(formulas: Formulas, assembly: int, tracer: Tracer, q: list[Any]) -> list[Listed]:
    """Puts the unknowns into q; the quantities of the equations that give them, by the types of
    [KC97] 3.3.1, in the assembly's branch."""
    link, robot = formulas.geometry.coordinates, opened(skeleton(formulas.geometry.robot))
    scene, branches = bodies(robot, tracer.parameter), formulas.branches
    listed: list[Listed] = []
    for formula in formulas.formulas:
        j, name = str(formula.link), link.named((formula.link,))
        column = link.moving.index(formula.link)
        branches //= formula.roots
        e = -1 if assembly // branches % formula.roots else 1
        if formula.loop is None:
            q[column] = -coupling_error(scene, q, formula.link)
            listed.append((name, "", (), [q[column]], f"{name} by its coupling"))
            continue
        title = f"{name} by loop {formula.loop.name}: {formula.kind}"
        title += f", e = {e:+}" if formula.roots > 1 else ""
        code, names = in_books(robot, link.moving, partial(_coefficients, formulas, formula))
        p = [tracer.parameter(parameter) for parameter in names]
        scalars = replayed(tracer.graph, code, {"q": q, "p": p})
        listed += [(y[0], y[1:], (), [scalars[id]]) for id, y in code.labels.items()]
        q[column], quantities = _root(formula.kind, elements(scalars, code.outputs["r"].refs), e)
        for stem, values in quantities.items():
            listed.append((stem, j, (len(values),) * (len(values) > 1), values, title))
        listed.append((name, "", (), [q[column]], title))
    return listed


def _coefficients(
    formulas: Formulas, formula: Formula, scene: Bodies, q: Sequence[Any]
) -> list[Any]:
    return flat(formulas.terms(scene, q, formula))


def _root(kind: str, terms: list[Any], e: int) -> tuple[Any, dict[str, list[Any]]]:
    """(the unknown, what it is found by) of the coefficients of a type."""
    a, b, c, *second = terms
    if kind == "linear":
        return -c / b, {"b": [b], "c": [c]}
    if kind == "quadratic":
        w = sqrt(b * b - 4 * a * c)
        return (-b + e * w) / (2 * a), {"a": [a], "b": [b], "c": [c], "W": [w]}
    if kind == "type 2":
        w = sqrt(a * a + b * b - c * c)
        x = function("atan2", a * c + e * b * w, b * c - e * a * w)
        return x, {"X": [a], "Y": [b], "Z": [c], "W": [w]}
    X, Y, Z = second[:3]
    D = a * Y - X * b
    x = function("atan2", (c * Y - Z * b) * D, (a * Z - X * c) * D)
    return x, {"X": [a, X], "Y": [b, Y], "Z": [c, Z], "D": [D]}


def _labelled(program: Program) -> Page:
    """The page of a program that has none but itself."""
    quantities = (Quantity(label, "", (), (id,)) for id, label in program.code.labels.items())
    return Page(program.code, program.parameters, tuple(quantities))
