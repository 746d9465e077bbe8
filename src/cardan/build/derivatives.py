"""Partial derivatives of a model, all in one program that shares its values.

Torques of a rigid tree on a base that nothing moves by composite links (`models.derivatives`);
those of the direct model follow from it, qdd = A^-1 (tau - H) with the torques of this very motion
held (H by the recursion, or from ∂tau/∂qd, whichever costs less):

    ∂qdd/∂tau = A^-1      ∂qdd/∂q = -A^-1 ∂tau/∂q      ∂qdd/∂qd = -A^-1 ∂tau/∂qd

Of every other robot and model the algorithm itself is differentiated (`ir.derivative`), and so it
is of small trees, where that costs less. Positions of loops and couplings are those of the
independent joints: ∂/∂q_a = ∂/∂q G. Wheels tie velocities alone: there the positions are those that
no loop or coupling holds. A floating base is displaced by X0 (linear, angular, in frame 0), which
turns gravity: ∂/∂X0 = ∂/∂g0 (0, hat(g0))."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.vector import Vec, hat, matrix_product
from ..describe.robot import Robot
from ..errors import ModelError
from ..formulate.economy import motion_of_cut_frames
from ..formulate.posture import formulated
from ..loops.analysis import analyse
from ..mechanism.coordinates import Coordinates, holonomic
from ..models.bodies import Bodies, bodies
from ..models.composite import inertia_matrix as inertia_page
from ..models.composite import inverse_matrix
from ..models.derivatives import Derivatives, bias_torques, torque_derivatives
from ..models.kinematics import accelerations, velocities
from ..models.newton_euler import inverse_dynamics as newton_euler
from ..program import Program
from .base import mechanism_of
from .common import COMPOSITE, Arrays, flat, joint_rows, slid, with_friction, wrenches
from .derivation import Derivation, Form, Result, Way, written
from .differential import partial
from .dynamic import direct_ways, inverse_ways
from .energy import energy_forms
from .flexible.equations import Loops, tree_rates
from .identification import regressor_form, wanted_columns
from .kinematic import cut_or_not
from .mechanism import Mechanism, require_available

Scalar = Any
Matrix = list[list[Scalar]]
Loads = Mapping[int, tuple[Vec, Vec]]
Bias = Callable[[Bodies, Sequence[Scalar], Sequence[Scalar]], dict[int, Scalar]]
_FEW = 3  # joints: the differentiated algorithm may cost less
_FEW_SQUARES = 20  # joints: the bias may cost less as a product by qd
_CHOICES = (*COMPOSITE, "axial")


def inverse_dynamics_derivatives(
    robot: Robot, *, base_parameters: bool = False, f_e: bool = False, friction: bool = True,
    base: str = "free", symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """tau and its partial derivatives by q, qd, qdd, and by the motion of a floating base."""
    mechanism = _mechanism(robot, "inverse-dynamics", base_parameters, friction, symbolic)
    inputs, outputs, ways = inverse_ways(mechanism, f_e=f_e, given=base == "given")

    def by_composites(scene: Bodies, x: Arrays) -> Result:
        record = _partials(_balanced(scene), _loads(mechanism, x), x["q"], x["qd"], x["qdd"])
        blocks = {"q": record.by_q, "qd": record.by_qd, "qdd": record.A}
        n = mechanism.n
        results: dict[str, Any] = {"tau": ((n,), joint_rows(scene, record.motion.tau))}
        for wrt, block in blocks.items():
            results[f"dtau_d{wrt}"] = ((n, n), flat(_rows(scene, block)))
        return Result(results, record.motion)

    return _program(mechanism, inputs, outputs, ways, [by_composites], effort)


def direct_dynamics_derivatives(
    robot: Robot, *, base_parameters: bool = False, f_e: bool = False, friction: bool = True,
    symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """qdd and its partial derivatives by q, qd, tau, and by the motion of a floating base."""
    mechanism = _mechanism(robot, "direct-dynamics", base_parameters, friction, symbolic)
    inputs, outputs, ways = direct_ways(mechanism, f_e=f_e)

    def by_composites(bias: Bias) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            scene, loads = _balanced(scene), _loads(mechanism, x)
            q, qd, n = x["q"], x["qd"], mechanism.n
            links = formulated(scene.loaded(loads))
            H = joint_rows(scene, bias(links, q, qd))
            inverse = inverse_matrix(links, inertia_page(links, q))
            rest = [[tau - h] for tau, h in zip(x["tau"], H, strict=True)]
            qdd = flat(matrix_product(inverse, rest))
            record = _partials(scene, loads, q, qd, qdd)
            results: dict[str, Any] = {"qdd": ((n,), qdd)}
            for wrt, block in {"q": record.by_q, "qd": record.by_qd}.items():
                loss = [[-entry for entry in row] for row in _rows(scene, block)]
                results[f"dqdd_d{wrt}"] = ((n, n), flat(matrix_product(inverse, loss)))
            results["dqdd_dtau"] = ((n, n), flat(inverse))
            return Result(results, record.motion)

        return run

    routes = [by_composites(_recursive_bias)]
    if mechanism.robot.base.kind == "fixed" and mechanism.n <= _FEW_SQUARES:
        routes.append(by_composites(_quadratic_bias))
    return _program(mechanism, inputs, outputs, ways, routes, effort)


def kinematics_derivatives(robot: Robot, *, symbolic: bool = False) -> Program:
    """V and Vd of every link and their partial derivatives by q, qd, qdd, V0 and V0d."""
    mechanism = Mechanism.of(robot, "accelerations", symbolic=symbolic)
    nl = len(robot.links)

    def page(scene: Bodies, x: Arrays) -> Result:
        if robot.ne:
            qd, qdd, _ = tree_rates(mechanism, scene, x)
        else:
            _, qd, qdd = mechanism.motion(scene, x)
        links = formulated(scene)
        record = accelerations(links, x["q"], qd, qdd)
        record.V.update(velocities(links, x["q"], qd).V)
        V, Vd = (
            [component for link in scene.links[:nl] for v in pair for component in v[link.j]]
            for pair in ((record.V, record.w), (record.Vd, record.wd))
        )
        return Result({"V": ((nl, 6), V), "Vd": ((nl, 6), Vd)}, record)

    inputs = mechanism.inputs("q", "qd", "qdd", base=["V0", "V0d"])
    forms = cut_or_not(mechanism, page)
    return _with_partials(mechanism, "kinematics", inputs, ["V", "Vd"], forms)


def energies_derivatives(robot: Robot, *, symbolic: bool = False) -> Program:
    """E, U and their partial derivatives by q, qd, V0 and a displacement of a floating base."""
    mechanism = Mechanism.of(robot, "energies", symbolic=symbolic)
    inputs = mechanism.inputs("q", "qd", base=["V0", "g0"])
    forms = energy_forms(mechanism)
    return _with_partials(mechanism, "energies", inputs, ["E", "U"], forms, "reverse")


def regressor_derivatives(
    robot: Robot, *, base_parameters: bool = False, offset: bool = False, symbolic: bool = False
) -> Program:
    """D and its partial derivatives by q, qd, qdd, and by the motion of a floating base."""
    mechanism = Mechanism.of(robot, "regressor", symbolic=symbolic)
    wanted = wanted_columns(robot, base_parameters, offset)
    form = regressor_form(mechanism, wanted(bodies(robot, lambda name: 1.0)))
    inputs = mechanism.inputs("q", "qd", "qdd", base=["V0", "V0d", "g0"])
    forms = [form, written(form, slid(mechanism.tree))]
    program = _with_partials(mechanism, "regressor", inputs, ["D"], forms)
    return wanted.naming(program, robot)


def _with_partials(
    mechanism: Mechanism, parent: str, inputs: Mapping[str, tuple[int, ...]],
    outputs: Sequence[str], forms: Sequence[Form], mode: str = "forward",
) -> Program:  # fmt: skip
    """The cheapest of the forms, differentiated while they are traced."""
    wrt, meaning = _partial_names(mechanism, inputs, outputs)
    differentiated = [_differentiated(mechanism, form, wrt, mode) for form in forms]
    return mechanism.program(
        f"{parent}-derivatives", inputs, differentiated, [*outputs, *meaning], meaning=meaning
    )


def _recursive_bias(
    links: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> dict[int, Scalar]:  # fmt: skip
    return newton_euler(links, q, qd, [0] * len(qd)).tau


def _quadratic_bias(
    links: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> dict[int, Scalar]:  # fmt: skip
    """From ∂Γ/∂q̇, which is needed anyway."""
    return bias_torques(links, q, qd, torque_derivatives(links, q, qd, [0] * len(qd)))


def _loads(mechanism: Mechanism, x: Arrays) -> Loads:
    return wrenches(mechanism.robot, x)


def _balanced(scene: Bodies) -> Bodies:
    """The bodies with every link balanced whose U follows from its axial column."""
    form = scene.formulation
    return scene.written(replace(form, balance=form.axial)) if form else scene


def _partials(
    scene: Bodies, loads: Loads, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Derivatives:
    """The partial derivatives in the formulation of the scene."""
    loaded = scene.loaded(loads)
    links = formulated(loaded)
    return torque_derivatives(links, q, qd, qdd, motion_of_cut_frames(loaded, links, q, qd, qdd))


def _mechanism(
    robot: Robot, parent: str, base_parameters: bool, friction: bool, symbolic: bool
) -> Mechanism:
    if robot.ne and base_parameters:
        raise ModelError(
            f"'{parent}-derivatives' of '{robot.name}' is not available for base parameters of"
            " flexible links; cardan.rigid(robot) makes them rigid"
        )
    require_available(robot, f"{parent}-derivatives")
    described = with_friction(robot, friction)
    return mechanism_of(described, parent, base_parameters, symbolic=symbolic)


def _program(
    mechanism: Mechanism, inputs: Mapping[str, tuple[int, ...]], outputs: Sequence[str],
    ways: Sequence[Way], by_composites: Sequence[Form], effort: str,
) -> Program:  # fmt: skip
    if not mechanism.n:
        raise ModelError(f"derivatives of '{mechanism.robot.name}': no joint of this robot moves")
    wrt, meaning = _partial_names(mechanism, inputs, outputs)
    names = [*outputs, *meaning]
    differentiated = [
        (_differentiated(mechanism, form, wrt, mode), choices)
        for form, choices in ways for mode in ("reverse", "forward")
    ]  # fmt: skip
    robot = mechanism.robot
    tree = not (robot.constrained or robot.drives or mechanism.springs or mechanism.floats)
    if tree and not mechanism.robot.ne:
        rivals = differentiated if mechanism.n <= _FEW else []
        search: Way = (_cheaper(mechanism, inputs, by_composites), _CHOICES)
    else:
        search, *rivals = differentiated
    model = "inverse-dynamics" if "qdd" in inputs else "direct-dynamics"
    return mechanism.program(
        f"{model}-derivatives", inputs, [], names, meaning=meaning, search=search, rivals=rivals,
        effort=effort, rough=True,
    )  # fmt: skip


def _partial_names(
    mechanism: Mechanism, inputs: Iterable[str], outputs: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """What the outputs are differentiated by, and the meaning of each partial derivative."""
    known, words = set(inputs), _WORDS
    if mechanism.robot.wheels:
        free = Coordinates.of(holonomic(mechanism.robot))
        names = ", ".join(mechanism.robot.variables[k] for k in free.places(free.active))
        words = words | {"q": f"the positions of {names} (last axis), which are free"}
    by = ("q", "qd", "qdd", "tau", "V0", "V0d", "g0")
    wrt: list[str] = [name for name in by if name in known]
    return wrt, {
        f"d{y}_d{_displaced(x)}": f"partial derivatives of {y} (first axes) by {words[x]}"
        for y in outputs for x in wrt
    }  # fmt: skip


def _cheaper(
    mechanism: Mechanism, inputs: Mapping[str, tuple[int, ...]], forms: Sequence[Form]
) -> Form:
    """The cheapest as it stands."""
    if len(forms) == 1:
        return forms[0]
    derivation = Derivation(mechanism.tree, "direct-dynamics-derivatives", inputs)
    return min(forms, key=lambda form: derivation.trace(form).price)


_WORDS = {"g0": "a displacement X0 of the base (linear, angular, in frame 0; last axis)"} | {
    x: f"{x} (last axis)" for x in ("q", "qd", "qdd", "tau", "V0", "V0d")
}


def _displaced(name: str) -> str:
    return "X0" if name == "g0" else name


def _differentiated(mechanism: Mechanism, form: Form, wrt: Sequence[str], mode: str) -> Form:
    """The algorithm and its derivatives, taken while it is traced."""

    def run(scene: Bodies, x: Arrays) -> Result:
        result = form(scene, x)
        G = _positions(mechanism, scene, x)
        outputs = dict(result.outputs)
        for y, (shape, values) in result.outputs.items():
            for name in wrt:
                columns = size = len(x[name])
                entries = partial(x["q"][0].graph, list(values), name, mode) if size else []
                block = [entries[k : k + size] for k in range(0, len(entries), size or 1)]
                if name == "q" and G:
                    columns, block = len(G[0]), matrix_product(block, G)
                if name == "g0":
                    turned = matrix_product(block, hat(x["g0"]).rows)
                    columns, block = 6, [[0, 0, 0, *row] for row in turned]
                outputs[f"d{y}_d{_displaced(name)}"] = ((*shape, columns), flat(block))
        return Result(outputs, result.record)

    return run


def _positions(mechanism: Mechanism, scene: Bodies, x: Arrays) -> Matrix:
    """G: the positions of the tree by the independent ones; nothing where all are independent."""
    if mechanism.robot.wheels:
        robot = holonomic(mechanism.robot)
        analysis = analyse(holonomic(mechanism.described))
        mechanism = replace(mechanism, robot=robot, analysis=analysis)
    if not mechanism.robot.constrained:
        return []
    if mechanism.robot.ne:
        return Loops(mechanism.described, scene, {"q": x["q"]}).positions()
    rows = mechanism.constraint(scene, x)[0].G()
    return [rows[j] for j in mechanism.coordinates.moving]


def _rows(scene: Bodies, block: Mapping[tuple[int, int], Scalar]) -> Matrix:
    moving = scene.tree.moving
    return [[block.get((i, j), 0) for j in moving] for i in moving]
