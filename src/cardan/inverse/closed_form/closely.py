"""The kernel that looks closely at a pose: candidates settled, and poses nearby to try next.

Where an equation vanishes altogether, branches of poses nearby show what it hides just here. Some
are reached near the answers so far; others are moved, back and forth, and reached nearly when the
arm has fewer than six joints.
"""

from __future__ import annotations

from ...kernel.language import Array, cos, empty
from ..approach import JOINTS, Arm, Axes, Frame, composed, place
from ..settle import settle

__all__ = ["NEAR", "VALUES", "closely"]

VALUES = 24  # values of a joint that may have many
NEAR = 6  # poses nearby
REACHED = 2  # of them, those that are reached
FAR = 1e-4  # how far they are, rad and units


def reached(arm: Arm, q: Array, at: int, near: Array) -> None:
    """near[at:]: the pose (4x4) of a configuration."""
    axes = empty(Axes)
    f = empty(Frame)
    place(arm, q, axes, f)
    hand = empty(Frame)
    composed(f, arm.tool, hand)
    for i in range(3):
        near[at + 4 * i] = hand.s[i]
        near[at + 4 * i + 1] = hand.n[i]
        near[at + 4 * i + 2] = hand.a[i]
        near[at + 4 * i + 3] = hand.p[i]


def moved_aside(T: Array, size: float, step: float, number: float, at: int, near: Array) -> None:
    """near[at:]: T turned and shifted a little, exactly rigid."""
    a = step * cos(1.0 + 2.1 * number)
    b = step * cos(2.3 + 0.7 * number)
    c = step * cos(0.4 + 1.3 * number)
    over = 1.0 / (1.0 + a * a + b * b + c * c)
    for k in range(3):
        x = T[k]
        y = T[4 + k]
        z = T[8 + k]
        # Cayley: (1 - W)^-1 (1 + W), W the cross product with (a, b, c)
        dot = a * x + b * y + c * z
        u = b * z - c * y
        v = c * x - a * z
        w = a * y - b * x
        near[at + k] = x + 2.0 * over * (u + a * dot - (a * a + b * b + c * c) * x)
        near[at + 4 + k] = y + 2.0 * over * (v + b * dot - (a * a + b * b + c * c) * y)
        near[at + 8 + k] = z + 2.0 * over * (w + c * dot - (a * a + b * b + c * c) * z)
    near[at + 3] = T[3] + size * step * cos(0.9 + 1.9 * number)
    near[at + 7] = T[7] + size * step * cos(2.9 + 1.1 * number)
    near[at + 11] = T[11] + size * step * cos(1.7 + 2.7 * number)


def nearby(T: Array, arm: Arm, found: Array, count: int, near: Array) -> None:
    """NEAR poses close to T."""
    q = empty(JOINTS)
    joints = arm.count
    for m in range(NEAR):
        at = 16 * m
        for k in range(3):
            near[at + 12 + k] = 0.0
        near[at + 15] = 1.0
        if m < REACHED:
            first = 0
            if count > m:
                first = m
            for j in range(joints):
                q[j] = 0.0
                if count > 0:
                    q[j] = found[joints * first + j]
                if not arm.joints[j].held:
                    step = FAR * cos(0.3 + 2.0 * float(m) + 1.7 * float(j))
                    if arm.joints[j].slides:
                        step = step * arm.size
                    q[j] += step
            reached(arm, q, at, near)
        else:
            step = FAR
            if m % 2 == 1:
                step = -FAR
            moved_aside(T, arm.size, step, float(m // 2), at, near)


def closely(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Arm, shape: Array,
    found: Array, error: Array, lost: Array, times: Array, state: Array, near: Array,
) -> None:  # fmt: skip
    """`settle`, and where an equation vanishes the poses to try next."""
    settle(T, q, margin, residual, role, arm, shape, found, error, lost, times, state)
    if state[1] + state[2] > 0.0:
        nearby(T, arm, found, int(state[0]), near)
