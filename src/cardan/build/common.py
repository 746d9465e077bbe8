"""What the builders share: the meaning of inputs and outputs, and the forms that always compete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.vector import Vec
from ..describe.robot import FRICTION, Robot
from ..errors import ModelError
from ..formulate.formulation import Formulation
from ..mechanism.coordinates import is_floating
from ..models.bodies import Bodies

Scalar = Any
Arrays = dict[str, Any]

MEANING = {
    "q": "joint positions, rad or m",
    "qd": "joint velocities, rad/s or m/s",
    "qdd": "joint accelerations, rad/s2 or m/s2",
    "qdd_e": "accelerations of the elastic joints, rad/s2 or m/s2",
    "f_e": "wrench (force, moment) of each link on the environment, in Khalil's frame, N and N m",
    "V0": "velocity of the base (linear, angular) in frame 0, m/s and rad/s",
    "g0": "acceleration of gravity in frame 0, m/s2",
    "V0d": "acceleration of the base (of its origin, angular) in frame 0, m/s2 and rad/s2",
    "F0": "wrench (force, moment) that must act on the base, in frame 0, N and N m",
    "tau": "joint torques or forces, N m or N",
    "T": "homogeneous transformation matrix, lengths in m",
    "J": "Jacobian, rows (linear, angular), a column per joint variable",
    "Jinv": "inverse of the Jacobian",
    "det": "determinant of the Jacobian",
    "V": "velocity (linear, angular) of each link, in Khalil's frame of it, m/s and rad/s",
    "Vd": "acceleration (of O_j, angular) of each link, in Khalil's frame of it, without gravity",
    "Jdqd": "Jdot qdot: acceleration (linear, angular) of the frame when qdd = 0",
    "A": "inertia matrix",
    "H": "centrifugal, Coriolis, gravity, friction and external torques (the torques of qdd = 0)",
    "Q": "gravity torques",
    "C": "Coriolis matrix made of Christoffel symbols: Adot - 2C is skew-symmetric",
    "B": "Christoffel symbols: the velocity torques are sum over j, k of B[i, j, k] qd_j qd_k",
    "C1": "coefficients of 2 qd_j qd_k, j < k, in the order 12 13 .. 1n 23 ..",
    "C2": "coefficients of qd_j^2",
    "reactions": "wrench (force, moment about O_j) of the antecedent on each link, in"
    " Khalil's frame j",
    "E": "kinetic energy, J",
    "U": "potential energy of gravity, J, zero at the origin of frame 0, and of the springs of"
    " elastic joints",
    "h": "momentum or energy row; see the model",
    "D": "regressor: tau = D K, columns as listed",
    "D1": "regressor of the generalized momentum, columns as listed",
    "D2": "regressor of the rest: tau = d/dt(D1 K) + D2 K, columns as listed",
    "p": "free parameters, SI units",
}


def state(
    robot: Robot, *names: str, f_e: bool = False, gravity: bool = True, driven: bool = False
) -> dict[str, tuple[int, ...]]:
    """The input arrays of a model: joint vectors, wrenches if asked for, the base's if it floats.

    `gravity`: does the model depend on it? `driven`: is the base's acceleration given?"""
    inputs: dict[str, tuple[int, ...]] = dict.fromkeys(names, (robot.n,))
    if f_e:
        inputs["f_e"] = (len(robot.links) + is_floating(robot), 6)
    if is_floating(robot):
        inputs["V0"] = (6,)
        if driven:
            inputs["V0d"] = (6,)
        if gravity:
            inputs["g0"] = (3,)
    return inputs


def wrenches(robot: Robot, x: Mapping[str, Any]) -> dict[int, tuple[Vec, Vec]]:
    """The wrench input by link; row 0 is the base's when it floats."""
    first = 0 if is_floating(robot) else 1
    return {j: (Vec(*f[:3]), Vec(*f[3:])) for j, f in enumerate(x.get("f_e", ()), first)}


def slid(robot: Robot, regroup: bool = False) -> Formulation:
    """Every frame cut in two: the translation r_j is applied in frame j."""
    return Formulation(slide=frozenset(range(1, len(robot.links) + 1)), regroup=regroup)


_SMOOTH: dict[str, Any] = dict.fromkeys(FRICTION, 0)


def with_friction(robot: Robot, wanted: bool) -> Robot:
    """The robot with its friction, or without; cut joints have theirs too."""
    if wanted:
        return robot
    return replace(
        robot,
        joints=tuple(replace(joint, **_SMOOTH) for joint in robot.joints),
        loops=tuple(replace(k, cut=replace(k.cut, **_SMOOTH)) for k in robot.loops),
        drives=tuple(replace(drive, **_SMOOTH) for drive in robot.drives),
    )


# what may be chosen in a recursion that gives torques only, and in one by composite links
RECURSION = (
    "lump", "still", "carried", "balance", "axial", "apart", "rod", "align", "slide", "regroup",
    "unit", "rotors",
)  # fmt: skip
COMPOSITE = ("still", "slide", "align", "regroup", "unit")


def flat(rows: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    return [x for row in rows for x in row]


def joint_rows(scene: Bodies, values: Mapping[int, Scalar]) -> list[Scalar]:
    """Values by link as a list over the joint variables."""
    return [values[j] for j in scene.tree.moving]


def unsupported(robot: Robot, model: str, **options: Any) -> None:
    """Refuse options that belong to rigid robots where links bend."""
    for name, value in options.items():
        if value and robot.ne:
            raise ModelError(
                f"'{model}' of '{robot.name}': {name} is not available with flexible links; its"
                " rigid twin is cardan.rigid(robot)"
            )
