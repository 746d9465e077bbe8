"""Kernels around the branches: poses checked, branches that are solutions moved to the front."""

from __future__ import annotations

from ...kernel.language import Array, cross, dot, empty, record
from ..approach import Arm, Frame, frame_of
from ..settle import CLEAN, FARTHEST, SAFE, SLIDES, impossible
from ..solutions import Room

PI = 3.141592653589793
TURN = 6.283185307179586
BROKEN = 1e300


@record()
class Collected:
    """How many branches are solutions; is one neither surely a solution nor surely none?"""

    count: int
    doubtful: bool


@record()
class Gap:
    """How far a matrix is from a pose."""

    largest: float


def checked(T: Array, gap: Gap) -> None:
    """Of a matrix (16): the largest entry of RᵀR - 1 and of the last row less its own."""
    f = empty(Frame)
    frame_of(T, f)
    worst = max(abs(dot(f.s, f.s) - 1.0), abs(dot(f.n, f.n) - 1.0))
    worst = max(max(worst, abs(dot(f.a, f.a) - 1.0)), abs(dot(f.s, f.n)))
    worst = max(max(worst, abs(dot(f.s, f.a))), abs(dot(f.n, f.a)))
    finite = 0.0
    for i in range(16):
        finite += T[i] - T[i]
        if i >= 12:
            worst = max(worst, abs(T[i] - (1.0 if i == 15 else 0.0)))
    normal = cross(f.s, f.n)
    if dot(normal, f.a) < 0.0 or finite != 0.0:
        worst = BROKEN
    gap.largest = worst


def within(arm: Arm, q: Array, b: int, at: int, found: Array) -> bool:
    """Are the slides of branch b not too far out? Row `at` gets them."""
    near = True
    for j in range(arm.count):
        if arm.joints[j].slides:
            found[arm.count * at + j] = q[arm.count * b + j]
            near = near and abs(q[arm.count * b + j]) <= FARTHEST * arm.size
    return near


def collect(
    q: Array, margin: Array, residual: Array, arm: Arm, room: Room, found: Array, error: Array,
    info: Collected,
) -> None:  # fmt: skip
    """Solutions first."""
    exact = CLEAN * arm.scale
    joints = arm.count
    count = 0
    info.doubtful = False
    for b in range(room.candidates):
        m = margin[b]
        e = residual[b]
        if m > SAFE and e <= exact:
            for j in range(joints):
                x = q[b * joints + j]
                found[count * joints + j] = x + TURN if x <= 0.0 - PI else x
            error[count] = e
            near = True
            if SLIDES:
                near = within(arm, q, b, count, found)
            count += int(near)
        elif not impossible(m, e, arm.scale):
            info.doubtful = True
    info.count = count


def collect_all(
    q: Array, margin: Array, residual: Array, arm: Arm, room: Room, filler: Array, found: Array,
    error: Array, info: Collected,
) -> None:  # fmt: skip
    """`collect`; the rows that are left are filled with the value of each joint in `filler`, then
    that of errors."""
    collect(q, margin, residual, arm, room, found, error, info)
    for b in range(info.count, room.most):
        for j in range(arm.count):
            found[b * arm.count + j] = filler[j]
        error[b] = filler[arm.count]
