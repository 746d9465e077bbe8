"""Kinematic models: jacobian and its inverse, velocities, accelerations, jdot-qdot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..algebra.vector import Vec
from ..describe.robot import FIXED, Robot
from ..describe.values.expression import Expression
from ..describe.values.parser import to_value
from ..errors import ModelError
from ..formulate.posture import formulated
from ..ir.code import Code
from ..ir.cost import cost
from ..ir.trace import Tracer
from ..mechanism.tree import Tree
from ..models.bodies import Bodies, bodies
from ..models.flexible.loops import side
from ..models.jacobian import Jacobian, decoupled, determinant_factor, inverse, rotation
from ..models.jacobian import jacobian as jacobian_model
from ..models.kinematics import accelerations as accelerations_model
from ..models.kinematics import velocities as velocities_model
from ..models.motion import seats
from ..program import Program
from .common import MEANING, Arrays, along_column, flat, slid, unsupported
from .derivation import Form, Result, written
from .flexible import kinematic as flexible
from .mechanism import Mechanism

__all__ = [
    "accelerations", "jacobian", "jacobian_inverse", "jdot_qdot", "tool_point", "velocities",
]  # fmt: skip

Scalar = Any


def jacobian(
    robot: Robot, *, frame: Any = None, projection: Any = 0, intermediate: Any = None,
    tool: Sequence[Any] = (0, 0, 0), symbolic: bool = False,
) -> Program:  # fmt: skip
    """J of a point of a frame, over the independent joints: that of the tree times G.

    With flexible links over all coordinates of the tree, the elastic ones last."""
    if robot.ne:
        unsupported(robot, "jacobian", intermediate=intermediate)
        n, r = Tree.of(robot).link(frame), Tree.of(robot).link(projection)
        of_tree = Mechanism.of(robot.tree(), "jacobian", symbolic=symbolic)
        bent = flexible.jacobian(n, r, tool_point(tool), of_tree.coordinates.keys)
        return of_tree.program("jacobian", of_tree.inputs("q"), [bent], ["J"])
    mechanism = Mechanism.of(robot, "jacobian", symbolic=symbolic)

    def outputs(scene: Bodies, q: Any, record: Jacobian) -> dict[str, Any]:
        return {"J": ((6, mechanism.na), flat(_columns(mechanism, scene, q, record)))}

    forms = _forms(mechanism, frame, projection, intermediate, tool, outputs)
    words = MEANING["J"]
    if robot.constrained:
        words = words.replace("joint variable", "active joint")
    return mechanism.program(
        "jacobian", mechanism.inputs("q"), forms, ["J"],
        meaning={"J": f"{words}; {_described(robot, frame, projection)}"},
    )  # fmt: skip


def jacobian_inverse(
    robot: Robot, *, frame: Any = None, projection: Any = 0, intermediate: Any = None,
    tool: Sequence[Any] = (0, 0, 0), symbolic: bool = False,
) -> Program:  # fmt: skip
    """The inverse of J and its determinant; generalized inverse when J is not square."""
    mechanism = Mechanism.of(robot, "jacobian-inverse", symbolic=symbolic)
    na = mechanism.na
    _require_full_rank(mechanism, frame)
    tree = Tree.of(robot)
    columns, plan = na, None
    if not robot.constrained:
        columns = sum(robot.joints[j - 1].sigma != FIXED for j in tree.path(tree.link(frame)))
        plan = _determinant_plan(mechanism.tree, frame) if not any(tool_point(tool)) else None

    def outputs(scene: Bodies, q: Any, record: Jacobian) -> dict[str, Any]:
        if robot.constrained:
            inverted, det = pseudo_inverse(_columns(mechanism, scene, q, record))
        else:
            det = _planned_determinant(scene, q, plan) if plan else None
            inverted, det = _inverted(record, na, det)
        return {"Jinv": ((na, 6), flat(inverted)), "det": ((), [det])}

    few = 7 if na <= 6 and not robot.constrained else 3
    forms = _forms(mechanism, frame, projection, intermediate, tool, outputs, tried=few)
    return mechanism.program(
        "jacobian-inverse", mechanism.inputs("q"), forms, ["Jinv", "det"],
        meaning=inverse_meaning(columns, _described(robot, frame, projection)),
    )  # fmt: skip


def _columns(mechanism: Mechanism, scene: Bodies, q: Any, record: Jacobian) -> list[list[Scalar]]:
    """Rows of the Jacobian over the independent joints."""
    if not mechanism.robot.constrained:
        return record.rows()
    G = mechanism.constraint(scene, {"q": q})[0].G()
    moving = mechanism.coordinates.moving
    by_link = [dict(zip(moving, row, strict=True)) for row in record.rows()]
    return [[along_column(row, G, c) for c in range(mechanism.na)] for row in by_link]


def inverse_meaning(columns: int, described: str) -> dict[str, str]:
    """What Jinv and det are for a Jacobian of six rows and so many columns of joints that move the
    frame. Where it is not square, det is no determinant of it: all six rows are in the product,
    so that a planar arm that is stretched gives no zero."""
    if columns == 6:
        return {"Jinv": f"{MEANING['Jinv']}; {described}", "det": MEANING["det"]}
    if columns < 6:
        way, product = "(J^T J)^-1 J^T", "J^T J"
        zero = (
            "zero where the joints no longer move the frame independently, not where a task of"
            f" {columns} of the rows is singular"
        )
    else:
        way, product = "J^T (J J^T)^-1", "J J^T"
        zero = "zero where the frame cannot move in all six ways"
    return {
        "Jinv": f"generalized inverse {way} of the Jacobian, 6 x {columns}; {described}",
        "det": f"det({product}), J of all six rows (m and rad together) and {columns} columns: not"
        f" a determinant of J; {zero}",
    }


def _described(robot: Robot, frame: Any, projection: Any) -> str:
    """Which frame is followed, in whose axes: said because both have defaults."""
    tree = Tree.of(robot)
    n, r = tree.link(frame), tree.link(projection)
    return f"of frame {tree.label(n)} in the axes of frame {tree.label(r) if r else 0}"


@dataclass(frozen=True)
class _Plan:
    """Where the determinant of a decoupled arm is cheapest: its point, and each factor's axes."""

    frame: int
    point: int
    arm: int
    wrist: int


def _determinant_plan(robot: Robot, frame: Any) -> _Plan | None:
    """The plan for an arm of six joints of which three leave some O_k at rest, else None."""
    tree = Tree.of(robot)
    n = tree.link(frame)
    if robot.n != 6 or len(tree.path(n)) < 6:
        return None
    frames = [0, *tree.path(n)]

    def price(point: int, axes: int, wrist: bool) -> tuple[int, int]:
        tracer = Tracer()
        scene = bodies(robot, tracer.parameter)
        det = determinant_factor(scene, tracer.array("q", robot.n), n, point, axes, wrist)
        code, _ = tracer.program({"det": ((), [det])})
        return _price(code), axes

    tracer = Tracer()
    scene, q = bodies(robot, tracer.parameter), tracer.array("q", robot.n)
    point = next((k for k in frames if decoupled(scene, q, n, k)), None)
    if point is None:
        return None
    best = {w: min(price(point, axes, w) for axes in frames)[1] for w in (False, True)}
    return _Plan(n, point, best[False], best[True])


def _price(code: Code) -> int:
    counted = cost(code)[0]
    return counted.total + 20 * counted.trig


def _planned_determinant(scene: Bodies, q: Any, plan: _Plan) -> Any:
    arm = determinant_factor(scene, q, plan.frame, plan.point, plan.arm, False)
    return arm * determinant_factor(scene, q, plan.frame, plan.point, plan.wrist, True)


def _inverted(J: Jacobian, n: int, det: Any = None) -> tuple[list[list[Any]], Any]:
    """(J^-1, det J); with fewer joints (J^T J)^-1 J^T, with more J^T (J J^T)^-1.

    Joints that do not move the frame (other branches) get rows of zeros."""
    if n == 6 and len(J.a) == 6:
        return J.inverse(det)
    rows = J.rows()
    moving = [c for c, m in enumerate(J.K) if m in J.a]
    rows = [[row[c] for c in moving] for row in rows]
    inverted, det = pseudo_inverse(rows)
    table = dict(zip(moving, inverted, strict=True))
    return [table.get(c, [0] * 6) for c in range(n)], det


def pseudo_inverse(rows: list[list[Any]]) -> tuple[list[list[Any]], Any]:
    """(inverse, determinant) of six rows: J^-1, (J^T J)^-1 J^T or J^T (J J^T)^-1."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    if len(columns) == 6:
        return inverse(rows)
    if len(columns) < 6:
        small, det = inverse(_product(columns, rows))
        return _product(small, columns), det
    small, det = inverse(_product(rows, columns))
    return _product(columns, small), det


def _require_full_rank(mechanism: Mechanism, frame: Any) -> None:
    """A Jacobian whose rank is too small wherever one looks has no inverse to generate."""
    robot, tree = mechanism.robot, Tree.of(mechanism.robot)
    k = tree.link(frame)
    rank, joints = 0, 0
    for values, states in _samples(mechanism):
        scene = bodies(mechanism.tree, values.__getitem__)
        for q in states:
            record = jacobian_model(scene, q, k, 0, 0)
            J = np.array(_columns(mechanism, scene, q, record), dtype=float)
            rank = max(rank, int(np.linalg.matrix_rank(J, tol=1e-9)))
            joints = mechanism.na if robot.constrained else len(record.a)
    if rank < min(6, joints) or not joints:
        raise ModelError(
            f"the Jacobian of frame {tree.label(k)} of '{robot.name}' has rank {rank} at most, for"
            f" {joints} joints: it has no inverse; choose another frame"
        )


def _samples(mechanism: Mechanism) -> list[tuple[dict[str, float], list[list[float]]]]:
    """Values of the symbols, and a few configurations, with closed loops."""
    robot, rng = mechanism.robot, np.random.default_rng(0)
    values = {name: float(rng.uniform(0.5, 1.5)) for name in robot.parameters}
    if not robot.constrained:
        return [(values, rng.normal(size=(5, robot.n)).tolist())]
    return [(values | x.values, x.q[:4].tolist()) for x in mechanism.analysis.samples[:1]]


def _product(a: list[list[Any]], b: list[list[Any]]) -> list[list[Any]]:
    def dot(row: list[Any], c: int) -> Any:
        total: Any = 0
        for k, x in enumerate(row):
            total = total + x * b[k][c]
        return total

    return [[dot(row, c) for c in range(len(b[0]))] for row in a]


def tool_point(tool: Any) -> Vec:
    """The point of a frame that is followed: three numbers."""
    listed = isinstance(tool, Iterable) and not isinstance(tool, str)
    point = [to_value(x) for x in tool] if listed else []
    if len(point) != 3 or any(isinstance(x, Expression) for x in point):
        shown = list(tool) if listed else tool
        raise ModelError(f"tool = {shown!r}: three numbers are expected, coordinates of a point")
    return Vec(*point)


def _forms(
    mechanism: Mechanism, frame: Any, projection: Any, intermediate: Any, tool: Sequence[Any],
    outputs: Any, tried: int = 0,
) -> list[Form]:  # fmt: skip
    """One form per intermediate frame on the path, per way of seeing the axes.

    `tried`: only so many frames, those where the third factor is simplest."""
    robot = mechanism.tree
    tree = Tree.of(mechanism.robot)
    n, r = tree.link(frame), tree.link(projection)
    point = tool_point(tool)
    frames = [0, *tree.path(n)]
    if intermediate is not None:
        frames = [tree.link(intermediate)]
    elif len(frames) > _LONG:  # the ends and the middle
        frames = [frames[0], frames[len(frames) // 2], frames[-1]]

    def factors(scene: Bodies, q: Any, choice: tuple[int, bool, bool]) -> Jacobian:
        k, merge, accumulate = choice
        return jacobian_model(scene, q, n, r, k, tool=point, merge=merge, accumulate=accumulate)

    def form(choice: tuple[int, bool, bool]) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            record = factors(scene, x["q"], choice)
            return Result(outputs(scene, x["q"], record), record)

        return run

    def price(choice: tuple[int, bool, bool]) -> int:
        tracer = Tracer()
        scene = bodies(robot, tracer.parameter)
        record = factors(scene, tracer.array("q", robot.n), choice)
        code, _ = tracer.program({"K": ((robot.n, 6), flat(list(record.K.values())))})
        return _price(code)

    choices = list(product(frames, (True, False), (True, False)))
    if tried:
        prices = {choice: price(choice) for choice in choices}
        best = [min((c for c in choices if c[0] == k), key=prices.__getitem__) for k in frames]
        choices = sorted(best, key=prices.__getitem__)[:tried]
    return list(map(form, choices))


_LONG = 14  # frames on the path: beyond it not every intermediate frame is tried


def velocities(robot: Robot, *, symbolic: bool = False) -> Program:
    """V of every link; where links bend, of the tree, whether its loops are closed or not."""
    mechanism = Mechanism.of(robot.tree() if robot.ne else robot, "velocities", symbolic=symbolic)
    nl = len(robot.links)

    def page(scene: Bodies, x: Arrays) -> Result:
        rates = mechanism.constraint(scene, x)[0].velocities(x["qd"]) if not robot.ne else None
        qd = x["qd"] if rates is None else mechanism.row(rates)
        record = velocities_model(formulated(scene), x["q"], qd)
        rows = [[*record.V[link.j], *record.w[link.j]] for link in scene.links[:nl]]
        return Result({"V": ((nl, 6), flat(rows))}, record)

    inputs = mechanism.inputs("q", "qd", base=["V0"])
    return mechanism.program("velocities", inputs, _cut_or_not(mechanism, page), ["V"])


def accelerations(robot: Robot, *, symbolic: bool = False) -> Program:
    """Vd of every link; of a floating base its own acceleration V0d is given."""
    nl = len(robot.links)

    def outputs(scene: Bodies, x: Arrays, record: Any) -> dict[str, Any]:
        rows = [[*record.Vd[link.j], *record.wd[link.j]] for link in scene.links[:nl]]
        return {"Vd": ((nl, 6), flat(rows))}

    return _accelerated(robot, "accelerations", outputs, "Vd", symbolic)


def jdot_qdot(
    robot: Robot, *, frame: Any = None, projection: Any = 0, symbolic: bool = False
) -> Program:
    """Jdot qdot of a frame: the accelerations (8)-(10) of independent joints that do not
    accelerate, and V0d = 0 if the base floats."""
    tree = Tree.of(robot)
    n, r = tree.link(frame), tree.link(projection)

    def outputs(scene: Bodies, x: Arrays, record: Any) -> dict[str, Any]:
        if robot.ne:
            still = seats(scene, x["q"])
            R = side(scene, still, 0, r).R.T @ side(scene, still, 0, n).R
        else:
            R = rotation(scene, x["q"], r, n)
        return {"Jdqd": ((6,), [*(R @ record.Vd[n]), *(R @ record.wd[n])])}

    words = {"Jdqd": f"{MEANING['Jdqd']}; {_described(robot, frame, projection)}"}
    return _accelerated(robot, "jdot-qdot", outputs, "Jdqd", symbolic, words)


def _accelerated(
    robot: Robot, model: str, outputs: Callable[..., dict[str, Any]], output: str, symbolic: bool,
    meaning: Mapping[str, str] | None = None,
) -> Program:  # fmt: skip
    """What follows from the accelerations of the links; where links bend, of the tree, whether its
    loops are closed or not."""
    mechanism = Mechanism.of(robot.tree() if robot.ne else robot, model, symbolic=symbolic)

    def page(scene: Bodies, x: Arrays) -> Result:
        if robot.ne:
            qd, qdd = x["qd"], x.get("qdd", [0] * len(x["q"]))
        else:
            _, qd, qdd = mechanism.motion(scene, x)
        record = accelerations_model(formulated(scene), x["q"], qd, qdd)
        return Result(outputs(scene, x, record), record)

    joints, base = (["q", "qd", "qdd"], ["V0", "V0d"]) if output == "Vd" else (["q", "qd"], ["V0"])
    inputs = mechanism.inputs(*joints, base=base)
    return mechanism.program(model, inputs, _cut_or_not(mechanism, page), [output], meaning=meaning)


def _cut_or_not(mechanism: Mechanism, page: Form) -> list[Form]:
    """The page with the frames described, and with all of them cut in two."""
    return [page] if mechanism.ne else [page, written(page, slid(mechanism.tree))]
