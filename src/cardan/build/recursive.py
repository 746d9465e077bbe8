"""Inverse and direct dynamics of a tree by articulated links, rigid or flexible: each joint has its
torque or its acceleration given, [K10] 6.3 and (101)-(112)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..describe.robot import Robot
from ..formulate.posture import formulated, with_points
from ..models.articulated import Solution, articulated
from ..models.bodies import Bodies
from ..models.motion import motion
from .common import Arrays, wrenches
from .derivation import Form, Result
from .mechanism import Mechanism

Scalar = Any


def loaded(robot: Robot, scene: Bodies, x: Arrays) -> Bodies:
    """The tree under its wrenches, as it is formulated; point masses on links that bend stay in the
    axes they are carried in."""
    tree = formulated(scene.loaded(wrenches(robot, x)))
    return with_points(tree) if robot.ne and "f_e" not in x else tree


def outputs_of(
    tau: Sequence[Scalar], rates: Sequence[Scalar], V0d: Sequence[Scalar] = ()
) -> dict[str, Any]:
    """Torques; accelerations of what is elastic and of a base that floats, where there are."""
    outputs: dict[str, Any] = {"tau": ((len(tau),), list(tau))}
    if rates:
        outputs["qdd_e"] = ((len(rates),), list(rates))
    if V0d:
        outputs["V0d"] = ((6,), list(V0d))
    return outputs


def _solution(mechanism: Mechanism, scene: Bodies, x: Arrays, **imposed: Any) -> Solution:
    tree = loaded(mechanism.robot, scene, x)
    here = motion(tree, x["q"], x["qd"])
    return articulated(tree, here, free_base=bool(mechanism.floats), **imposed)


def recursive_inverse(mechanism: Mechanism) -> Form:
    """Torques of the driven joints, whose accelerations are imposed."""
    driven = mechanism.coordinates.driven

    def run(scene: Bodies, x: Arrays) -> Result:
        imposed = dict(zip(driven, x["qdd"], strict=True))
        record = _solution(mechanism, scene, x, tau={}, qdd=imposed)
        rates = [record.qdd[j] for j in scene.elastic]
        rates += [v for j in scene.flexible for v in record.qedd[j]]
        base = [x for part in record.V0d or () for x in part]
        return Result(outputs_of([record.tau[j] for j in driven], rates, base), record)

    return run


def recursive_direct(mechanism: Mechanism) -> Form:
    """Accelerations of torques."""
    driven = mechanism.coordinates.driven

    def run(scene: Bodies, x: Arrays) -> Result:
        record = _solution(mechanism, scene, x, tau=dict(zip(driven, x["tau"], strict=True)))
        rates = [record.qdd[j] for j in scene.tree.moving]
        rates += [v for j in scene.flexible for v in record.qedd[j]]
        base = {"V0d": ((6,), [*record.V0d[0], *record.V0d[1]])} if record.V0d else {}
        return Result({"qdd": ((len(rates),), rates), **base}, record)

    return run
