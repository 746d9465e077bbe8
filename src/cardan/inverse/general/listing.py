"""Kernels: the answers of the general method as a closed form lists its own, for printed code.

All have the parameters of closed_form.driver.inverse; what a method does not read is left out."""

from __future__ import annotations

from ...kernel.language import Array, empty, floor
from ..approach import Arm
from ..solutions import Room, Solutions
from .few import few_pose
from .held_kernel import held_pose
from .polish import SINGULAR
from .pose import general_pose
from .records import Answers, Robot, Ways


def list_answers(answers: Answers, size: float, notes: Solutions) -> None:
    """Notes on the answers; a regular Jacobian is a simple root, whatever two roots nearby may have
    converged to it."""
    notes.count = answers.count
    notes.vanishes = not answers.sound
    for k in range(answers.count):
        own = answers.rows[k]
        row = notes.rows[k]
        row.residual = own.residual * max(1.0, size)
        row.singular = own.quality < SINGULAR
        row.times = 1.0
        if own.quality < SINGULAR:
            row.times = max(1.0, floor(own.roots + 0.5))
            notes.vanishes = True


def six_listing(
    T: Array, free: Array, p: Array, arm: Arm, robot: Robot, room: Room, q: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a pose T (4x4, row by row) of an arm of six joints."""
    answers = empty(Answers)
    general_pose(T, robot, q, answers)
    list_answers(answers, robot.unit, notes)


def few_listing(
    T: Array, free: Array, p: Array, arm: Arm, robot: Robot, room: Room, q: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a pose T (4x4, row by row) of an arm of three to five joints."""
    few_pose(T, robot, arm, q, notes)


def held_listing(
    T: Array, free: Array, p: Array, arm: Arm, robot: Ways, room: Room, q: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """All configurations of a pose T (4x4, row by row) for values of the joints that are given."""
    answers = empty(Answers)
    held_pose(T, free, arm, robot, q, answers)
    list_answers(answers, arm.size, notes)
