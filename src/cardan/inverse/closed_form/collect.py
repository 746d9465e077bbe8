"""Kernels around the branches: poses checked, branches that are solutions moved to the front."""

from __future__ import annotations

from ...kernel.language import Array
from ..settle import impossible

__all__ = ["checked", "collect"]

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


def collect(
    q: Array, margin: Array, residual: Array, shape: Array, turning: Array, found: Array,
    error: Array, state: Array,
) -> None:  # fmt: skip
    """Solutions first: shape is (branches, joints, sure, exact, scale, filler, rows); state is
    (count, 1 when a branch is neither surely a solution nor surely none). turning: 1 for a turn,
    for a slide minus the farthest it may be."""
    branches = int(shape[0])
    rows = int(shape[6])
    joints = int(shape[1])
    sure = shape[2]
    count = 0
    doubt = 0.0
    for b in range(branches):
        m = margin[b]
        e = residual[b]
        if m > sure and e <= shape[3]:
            kept = 1
            for j in range(joints):
                x = q[b * joints + j]
                if turning[j] > 0.5:
                    if x <= 0.0 - PI:
                        x = x + TURN
                elif abs(x) > 0.0 - turning[j]:
                    kept = 0
                found[count * joints + j] = x
            error[count] = e
            count = count + kept
        else:
            hopeless = impossible(m, e, shape[4])
            if not hopeless:
                doubt = 1.0
    for b in range(count, rows):
        for j in range(joints):
            found[b * joints + j] = shape[5]
        error[b] = shape[5]
    state[0] = float(count)
    state[1] = doubt
