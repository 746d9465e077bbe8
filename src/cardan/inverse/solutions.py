"""Records and kernels of the answers to a pose: configurations, row by row, and notes on each."""

from __future__ import annotations

from ..kernel.language import OPEN, Array, floor, record
from .approach import Arm

PI = 3.141592653589793


@record()
class Room:
    """How many candidates a pose has, and how many configurations at most."""

    candidates: int
    most: int


@record()
class Solution:
    """What is known of a configuration."""

    residual: float  # largest difference of an entry of the pose
    singular: bool  # the Jacobian has lost rank
    times: float  # how many solutions coincide


@record(rows=OPEN)
class Solutions:
    """The configurations of a pose; `vanishes`: an equation vanishes or has a multiple root."""

    count: int
    vanishes: bool
    rows: list[Solution]


def nearest(arm: Arm, q: Array, found: Array, count: int, same: float) -> int:
    """The first of the configurations found that is closer than `same` to q, or -1."""
    joints = arm.count
    for c in range(count):
        gap = 0.0
        for j in range(joints):
            x = q[j] - found[joints * c + j]
            turns = floor(x / (2.0 * PI) + 0.5)
            gap = max(gap, abs(x / arm.size if arm.joints[j].slides else x - 2.0 * PI * turns))
        if gap < same:
            return c
    return -1


def put_solution(arm: Arm, q: Array, at: int, found: Array) -> None:
    """Row `at` of the configurations, angles in (-pi, pi]."""
    for j in range(arm.count):
        x = q[j]
        if not arm.joints[j].slides and not arm.joints[j].held:
            x = x - 2.0 * PI * floor(x / (2.0 * PI) + 0.5)
            if x <= 0.0 - PI:
                x = x + 2.0 * PI
        found[arm.count * at + j] = x


def add_solution(
    arm: Arm, q: Array, residual: float, singular: bool, times: float, most: int, found: Array,
    notes: Solutions,
) -> None:  # fmt: skip
    """Add a configuration where there is room."""
    if notes.count < most:
        put_solution(arm, q, notes.count, found)
        row = notes.rows[notes.count]
        row.residual = residual
        row.singular = singular
        row.times = times
        notes.count += 1
