"""Kernels around the branches: poses checked, branches that are solutions moved to the front."""

from __future__ import annotations

from ...kernel.language import Array
from ..approach import Arm
from ..settle import CLEAN, FARTHEST, SAFE, impossible

__all__ = ["checked", "collect", "collect_all"]

PI = 3.141592653589793
TURN = 6.283185307179586
BROKEN = 1e300


def checked(T: Array, gap: Array) -> None:
    """How far a matrix (16) is from a pose: the largest entry of RᵀR - 1 and of the last row."""
    worst = 0.0
    finite = 0.0
    for i in range(16):
        finite += T[i] - T[i]
    for i in range(3):
        for j in range(i, 3):
            s = T[i] * T[j] + T[4 + i] * T[4 + j] + T[8 + i] * T[8 + j]
            if i == j:
                s = s - 1.0
            worst = max(worst, abs(s))
        worst = max(worst, abs(T[12 + i]))
    worst = max(worst, abs(T[15] - 1.0))
    det = T[0] * (T[5] * T[10] - T[6] * T[9]) - T[1] * (T[4] * T[10] - T[6] * T[8])
    det = det + T[2] * (T[4] * T[9] - T[5] * T[8])
    if det < 0.0 or finite != 0.0:
        worst = BROKEN
    gap[0] = worst


def within(arm: Arm, q: Array, b: int, at: int, found: Array) -> bool:
    """Are the slides of branch b not too far out? Row `at` gets them."""
    near = True
    for j in range(arm.count):
        if arm.joints[j].slides:
            found[arm.count * at + j] = q[arm.count * b + j]
            near = near and abs(q[arm.count * b + j]) <= FARTHEST * arm.size
    return near


def collect(
    q: Array, margin: Array, residual: Array, arm: Arm, shape: Array, found: Array, error: Array,
    state: Array,
) -> None:  # fmt: skip
    """Solutions first; shape: number of branches. state: count, 1 when a branch is neither surely a
    solution nor surely none."""
    exact = CLEAN * arm.scale
    joints = arm.count
    slides = 0
    for j in range(joints):
        slides += int(arm.joints[j].slides)
    count = 0
    doubt = 0.0
    for b in range(int(shape[0])):
        m = margin[b]
        e = residual[b]
        if m > SAFE and e <= exact:
            for j in range(joints):
                x = q[b * joints + j]
                found[count * joints + j] = x + TURN if x <= 0.0 - PI else x
            error[count] = e
            near = True
            if slides > 0:
                near = within(arm, q, b, count, found)
            count += int(near)
        elif not impossible(m, e, arm.scale):
            doubt = 1.0
    state[0] = float(count)
    state[1] = doubt


def collect_all(
    q: Array, margin: Array, residual: Array, arm: Arm, shape: Array, filler: Array, found: Array,
    error: Array, state: Array,
) -> None:  # fmt: skip
    """`collect`, and the rest of `found` filled; shape: number of branches, rows."""
    collect(q, margin, residual, arm, shape, found, error, state)
    for b in range(int(state[0]), int(shape[1])):
        for j in range(arm.count):
            found[b * arm.count + j] = filler[0]
        error[b] = filler[0]
