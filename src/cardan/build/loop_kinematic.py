"""How the passive joints of closed loops follow the active ones: W, psi, and what closes loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.vector import weighted
from ..describe.robot import FIXED, Robot
from ..errors import ModelError, UnknownNameError
from ..loops.geometry import LoopGeometry
from ..mechanism.coordinates import holonomic
from ..models.bodies import Bodies
from ..models.flexible.rigid import rigid
from ..models.loops import Constraint, closing_error, coupling_error, opening
from ..program import Program
from .common import Arrays, flat
from .derivation import Form, Result
from .flexible.closure import closing as flexible_closing
from .flexible.kinematic import loop_kinematics as flexible_form
from .mechanism import LOOP_MEANING, OPEN, Mechanism

Scalar = Any


def loop_geometry(robot: Robot, *, known: str | Sequence[str] | None = None) -> LoopGeometry:
    """The object that solves the geometric constraint equations; flexible links as `q_e` of `solve`
    deforms them. `known` names the joints that are given, in place of the active ones."""
    if not holonomic(robot).constrained:
        why = f"{OPEN[: OPEN.index(',')]}; where its wheels take it depends on their way"
        raise ModelError(f"'loop-geometry' of '{robot.name}': {why if robot.wheels else OPEN}")
    if known is not None:
        robot = _driven_by(
            robot, known.replace(",", " ").split() if isinstance(known, str) else known
        )
    if not robot.ne:
        return LoopGeometry.of(robot)
    geometry = LoopGeometry.of(rigid(robot))
    return replace(geometry, bend=lambda q, q_e: flexible_closing(robot).bent(q, q_e))


def _driven_by(robot: Robot, names: Sequence[str]) -> Robot:
    """The robot with these joints, by their variables or names, as its active ones."""
    numbers = {joint.name: j for j, joint in enumerate(robot.joints, 1)}
    numbers |= {joint.variable or f"q{j}": j for j, joint in enumerate(robot.joints, 1)}
    free = {x: j for x, j in numbers.items() if robot.joints[j - 1].sigma != FIXED}
    for name in names:
        if name not in free:
            raise UnknownNameError.of(f"joint of '{robot.name}'", name, free)
    known = {free[name] for name in names}
    joints = [replace(joint, active=j in known) for j, joint in enumerate(robot.joints, 1)]
    return replace(robot, joints=tuple(joints))


def loop_kinematics(
    robot: Robot, *, details: bool = False, closing: bool = False, symbolic: bool = False
) -> Program:
    """W and psi of the passive joints; `details`: the matrices of (12) and (14), G, cut joints;
    `closing`: how far the loops are open, and the step that closes them."""
    if not robot.constrained:
        raise ModelError(f"'loop-kinematics' of '{robot.name}': {OPEN}")
    mechanism = Mechanism.of(robot, "loop-kinematics", symbolic=symbolic)
    passive, active = mechanism.coordinates.passive, mechanism.active
    form = flexible_form if robot.ne else _form
    outputs = ["W", "psi"]
    if details:
        outputs += ["Wa", "Wp", "Psi", "Wac", "Wpc", "Phi", "G", "Wcut", "psi_cut", "det"]
    if closing:
        outputs += ["Wp"] * (not details)
        outputs += ["r", "dq_p"] * mechanism.positions.robot.constrained
    meaning = {
        "W": f"{LOOP_MEANING['W']}; rows: {mechanism.coordinates.named(passive)}; columns:"
        f" {mechanism.coordinates.named(active)}{', then elastic coordinates' * bool(robot.ne)}"
    }
    run = form(mechanism, details, closing)
    inputs = mechanism.inputs("q", "qd")
    return mechanism.program("loop-kinematics", inputs, [run], outputs, meaning=meaning)


def _form(mechanism: Mechanism, details: bool, closing: bool) -> Form:
    passive, na = mechanism.coordinates.passive, mechanism.na

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, _, qdd = mechanism.motion(scene, x)
        G = constraint.G()
        values = dict(zip(mechanism.coordinates.moving, qdd, strict=True))
        outputs: dict[str, Any] = {
            "W": ((len(passive), na), flat([G[j] for j in passive])),
            "psi": ((len(passive),), [values[j] for j in passive]),
        }
        if details:
            outputs |= _details(mechanism, constraint, G, values)
        if closing:
            outputs |= _closed(mechanism, scene, x["q"], constraint)
        return Result(outputs, constraint)

    return run


def _details(
    mechanism: Mechanism,
    constraint: Constraint,
    G: Mapping[int, list[Scalar]],
    values: Mapping[int, Scalar],
) -> dict[str, Any]:
    active, passive, na = constraint.active, constraint.passive, mechanism.na
    p, rows, cuts = len(passive), len(constraint.rows), len(constraint.cut)
    columns = [{j: row[k] for j, row in G.items()} for k in range(na)]
    Wcut = [[weighted(row, column) for column in columns] for row in constraint.cut]
    by_cut = zip(constraint.cut, constraint.Phi, strict=True)
    psi_cut = [weighted(row, values) + phi for row, phi in by_cut]
    return {
        "Wa": ((rows, na), flat(constraint.matrix(active))),
        "Wp": ((rows, p), flat(constraint.matrix(passive))),
        "Psi": ((rows,), constraint.Psi),
        "Wac": ((cuts, na), flat(constraint.matrix(active, constraint.cut))),
        "Wpc": ((cuts, p), flat(constraint.matrix(passive, constraint.cut))),
        "Phi": ((cuts,), constraint.Phi),
        "G": ((mechanism.n, na), flat([G[j] for j in mechanism.coordinates.moving])),
        "Wcut": ((cuts, na), flat(Wcut)),
        "psi_cut": ((cuts,), psi_cut),
        "det": ((len(constraint.factors.pivots),), constraint.factors.pivots),
    }


def _closed(mechanism: Mechanism, scene: Bodies, q: Any, constraint: Constraint) -> dict[str, Any]:
    """r, the step dq_p = -W_p^-1 e (idle joints stay), and W_p, which says where it is singular.
    Wheels say nothing of positions: the joints that they alone hold stay, too."""
    Wp = (
        (len(constraint.rows), len(constraint.passive)),
        flat(constraint.matrix(constraint.passive)),
    )
    at = mechanism.positions
    if not at.robot.constrained:
        return {"Wp": Wp}
    held = constraint if at is mechanism else at.constraint(scene, {"q": q})[0]
    r: list[Scalar] = []
    e: list[Scalar] = []
    for loop, keep in zip(at.coordinates.loops, at.analysis.chosen, strict=True):
        r += closing_error(scene, q, loop)
        apart = opening(scene, q, loop, keep.view)
        e += [-apart[name] for name in keep.rows]
    r += [coupling_error(scene, q, j) for j in at.coordinates.led]
    e += [-coupling_error(scene, q, j) for j in at.analysis.coupled]
    step = held.completed(dict.fromkeys(held.idle, 0), e)
    passive = mechanism.coordinates.passive
    return {
        "Wp": Wp,
        "r": ((len(r),), r),
        "dq_p": ((len(passive),), [step.get(j, 0) for j in passive]),
    }
