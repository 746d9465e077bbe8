"""Kernels: fewer than six joints by the general method, virtual joints added (extended.py).

The answers of the longer chain whose virtual joints are at zero are made exact on the arm itself.
"""

from __future__ import annotations

from ...kernel.language import Array, empty
from ..approach import Arm
from ..settle import settle
from .pose import general_pose, no_answers
from .records import Answers, Robot, SlidingRobot
from .slides import slides_pose

__all__ = ["few_pose", "few_slides_pose", "of_the_arm"]

ZERO = 1e-5  # what a virtual joint may be before polishing; more where answers may miss the pose


def of_the_arm(T: Array, arm: Arm, wide: Array, notes: Answers, q: Array, info: Answers) -> None:
    """Answers (16, 6) of the longer chain -> those of the arm, q (16, n) and info."""
    one = empty(80)
    margin = empty(16)
    residual = empty(16)
    role = empty(16)
    shape = empty(2)
    error = empty(16)
    lost = empty(16)
    times = empty(16)
    state = empty(3)
    joints = arm.count
    count = notes.count
    some = 0
    for k in range(count):
        off = 0.0
        for j in range(joints, 6):
            off = max(off, abs(wide[6 * k + j]))
        if off < max(ZERO, 1e3 * arm.accepted):
            for j in range(joints):
                one[joints * some + j] = wide[6 * k + j]
            margin[some] = 1.0
            residual[some] = 1e-4 * arm.scale  # to be made exact
            role[some] = 0.0
            some += 1
    shape[0] = float(some)
    shape[1] = 16.0
    settle(T, one, margin, residual, role, arm, shape, q, error, lost, times, state)
    no_answers(info)
    info.count = int(state[0])
    for k in range(info.count):
        row = info.rows[k]
        row.residual = error[k] / arm.scale
        row.quality = 1.0 - lost[k]
        row.roots = times[k]
    info.used = notes.used
    info.sound = notes.sound


def few_pose(T: Array, robot: Robot, arm: Arm, q: Array, info: Answers) -> None:
    """All configurations of a pose T (4x4, row by row) of an arm of three to five joints, as
    general_pose gives them: q is 16 rows of its joints. robot: the table of the longer chain."""
    wide = empty(96)
    notes = empty(Answers)
    general_pose(T, robot, wide, notes)
    of_the_arm(T, arm, wide, notes, q, info)


def few_slides_pose(T: Array, robot: SlidingRobot, arm: Arm, q: Array, info: Answers) -> None:
    """The same where three joints of the longer chain slide."""
    wide = empty(96)
    notes = empty(Answers)
    slides_pose(T, robot, wide, notes)
    of_the_arm(T, arm, wide, notes, q, info)
