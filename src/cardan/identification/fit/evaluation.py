"""What a robot description says of recordings: its torques, and how far from the measured ones.

A description is more than the parameters that were fitted: it has been rounded, written in the
words of a format and read again. So its error is that of its own inverse dynamic model along the
recorded motion (Newton and Euler on the tree, then G^T), on the samples and behind the filters that
the identified law is judged on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...describe.robot import Drive, Joint, Robot
from ...describe.values.expression import number
from ...errors import InputError
from ...models.bodies import bodies
from ...models.newton_euler import inverse_dynamics
from ...motion.joints import friction_law, moving
from ..model.equations import Reduction
from ..model.ties import Ties
from ..read.signals import Motion, Plan

Array = np.ndarray
ROLES = ("fit", "held out", "validation")
_SAMPLES = 1 << 14  # evaluated at a time


@dataclass(frozen=True)
class Track:
    """A recorded motion behind its filters; `cut` of its reduced rows have the role "fit", the rest
    are held out. A recording for validation has one role."""

    motion: Motion = field(repr=False)
    plan: Plan
    cut: int
    validation: bool = False

    def roles(self, rows: int) -> list[tuple[str, slice]]:
        if self.validation:
            return [("validation", slice(0, rows))]
        return [("fit", slice(0, self.cut)), ("held out", slice(self.cut, rows))]


def described_torques(robot: Robot, ties: Ties, motion: Motion) -> Array:
    """Torques (rows, driven) of a robot with numbers along a motion of the one that was identified,
    whose joints it has.

    Loops and couplings are those of the motion; friction and rotors of cut joints are the
    description's own."""
    columns = _columns(moving(robot), moving(ties.robot), robot.name)
    scene = bodies(robot.tree(), lambda symbol: 0.0)
    tau = np.empty(motion.tau.shape)
    for first in range(0, len(motion.q), _SAMPLES):
        some = motion.part(slice(first, first + _SAMPLES))
        states = ([x[:, k] for k in columns] for x in (some.q, some.qd, some.qdd))
        efforts = inverse_dynamics(scene, *states).tau
        joints = {k: efforts[j] for k, j in zip(columns, sorted(efforts), strict=True)}
        joints |= _cut(robot, ties, some)
        for drive in robot.drives:
            row = {ties.numbers.index(j): float(number(x) or 0.0) for j, x in drive.joints}
            qd, qdd = (sum(x * y[:, k] for k, x in row.items()) for y in (some.qd, some.qdd))
            effort = _value(drive, "IA") * qdd + friction_law(drive).torque(qd)
            joints |= {k: joints[k] + x * effort for k, x in row.items()}
        tau[first : first + _SAMPLES] = some.torques(joints)
    return tau


def _columns(own: Sequence[Joint], others: Sequence[Joint], robot: str) -> list[int]:
    """Which of the other joints each is: by name, in any order, or in the order of the file where
    the format keeps no names."""
    names, known = [joint.name for joint in own], [joint.name for joint in others]
    if len(set(known)) == len(known) and sorted(names) == sorted(known):
        return [known.index(name) for name in names]
    if [joint.sigma for joint in own] == [joint.sigma for joint in others]:
        return list(range(len(own)))
    raise InputError(f"'{robot}' has the joints {', '.join(names)} instead of {', '.join(known)}")


def _cut(robot: Robot, ties: Ties, motion: Motion) -> dict[int, Array]:
    """Torques of the drives of cut joints, which the tree does not have."""
    drives = {f: loop.cut for f, loop in enumerate(robot.loops, len(robot.links) + 1)}
    efforts = {}
    for k, (frame, _) in enumerate(ties.cuts, ties.robot.n):
        if frame in drives:
            qd, qdd = motion.qd[:, k], motion.qdd[:, k]
            IA = _value(drives[frame], "IA")
            efforts[k] = IA * qdd + friction_law(drives[frame]).torque(qd)
    return efforts


def _value(joint: Joint | Drive, key: str) -> float:
    return float(number(getattr(joint, key)) or 0.0)


def described_errors(robot: Robot, ties: Ties, tracks: Sequence[Track]) -> dict[str, float]:
    """|tau - torques of the description| / |tau| by role: fit, held out, validation."""
    rest: dict[str, float] = {}
    total: dict[str, float] = {}
    for track in tracks:
        motion = track.motion
        reduce = Reduction(motion, track.plan, "dynamic", 0.0)
        y, valid = reduce.rows(motion.tau), reduce.flags(motion.valid)
        away = valid * (y - reduce.rows(described_torques(robot, ties, motion)))
        for role, rows in track.roles(len(y)):
            if len(y[rows]):
                rest[role] = rest.get(role, 0.0) + float(np.sum(away[rows] ** 2))
                size = float(np.sum((valid * y)[rows] ** 2))
                total[role] = total.get(role, 0.0) + size
    return {
        role: float(np.sqrt(rest[role] / total[role])) if total[role] else 0.0
        for role in ("fit", "held out", "validation")
        if role in rest
    }
