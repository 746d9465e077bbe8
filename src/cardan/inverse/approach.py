"""Kernels that bring a configuration to a pose: Newton's method on the direct model.

The arm is a table: the number of joints, its size (the unit of lengths), the scale of errors, the
margin of what may be a multiple root, the residual of an answer, what a length counts in a residual
(1, unless the robot is far smaller or larger than 1 m); from BASE and TOOL on the placements before
and after the joints (rows of R P); from ROWS on seven numbers per joint: cos alpha, sin alpha, d,
theta, r, sigma, and 1 when its value is given; after these rows two numbers per joint, sin beta and
cos beta. At most seven joints are not given.
"""

from __future__ import annotations

from ..kernel.language import Array, cos, empty, sin
from ..kernel.linalg import least_squares

__all__ = ["BASE", "JOINTS", "ROWS", "TOOL", "WRONG", "approach", "place"]

BASE = 6
TOOL = 18
ROWS = 30
WRONG = 1e-2  # residual of a branch that is not a solution at all, relative to the arm's scale
FINEST = 2e-15  # residual that no step makes smaller, in the same way
ROUNDS = 40
JOINTS = 32  # joints of an arm


def place(arm: Array, q: Array, axes: Array, f: Array) -> int:
    """The frame after the joints, columns s n a P, for q; axes and origins of the joints that are
    not given, whose number it gives."""
    for i in range(3):
        for k in range(4):
            f[3 * k + i] = arm[BASE + 4 * i + k]
    joints = int(arm[0])
    tilts = ROWS + 7 * joints
    moving = 0
    for j in range(joints):
        row = ROWS + 7 * j
        theta = arm[row + 3]
        r = arm[row + 4]
        if arm[row + 5] < 0.5:
            theta += q[j]
        else:
            r += q[j]
        ca = arm[row]
        sa = arm[row + 1]
        d = arm[row + 2]
        sb = arm[tilts + 2 * j]
        cb = arm[tilts + 2 * j + 1]
        c = cos(theta)
        s = sin(theta)
        for k in range(3):
            x = f[k]
            n = ca * f[3 + k] + sa * f[6 + k]
            a = ca * f[6 + k] - sa * f[3 + k]
            shift = d * x
            if sb != 0.0:
                x = cb * f[k] - sb * a
                a = sb * f[k] + cb * a
            f[9 + k] += shift + r * a
            f[k] = c * x + s * n
            f[3 + k] = c * n - s * x
            f[6 + k] = a
        if arm[row + 6] < 0.5:
            for k in range(3):
                axes[7 * moving + k] = f[6 + k]
                axes[7 * moving + 3 + k] = f[9 + k]
            axes[7 * moving + 6] = arm[row + 5]
            moving += 1
    return moving


def compare(arm: Array, f: Array, T: Array, tip: Array, e: Array) -> float:
    """The largest difference of an entry of the tool's pose to T, lengths weighed; its origin tip
    and error e (linear over the size, angular)."""
    turn = empty(9)
    residual = 0.0
    for i in range(3):
        p = f[9 + i]
        for k in range(3):
            p += f[3 * k + i] * arm[TOOL + 4 * k + 3]
            x = 0.0
            for m in range(3):
                x += f[3 * m + i] * arm[TOOL + 4 * m + k]
            turn[3 * k + i] = x
            residual = max(residual, abs(T[4 * i + k] - x))
        tip[i] = p
        e[i] = (T[4 * i + 3] - p) / arm[1]
        residual = max(residual, arm[5] * abs(T[4 * i + 3] - p))
        e[3 + i] = 0.0
    for k in range(3):
        e[3] += 0.5 * (turn[3 * k + 1] * T[8 + k] - turn[3 * k + 2] * T[4 + k])
        e[4] += 0.5 * (turn[3 * k + 2] * T[k] - turn[3 * k] * T[8 + k])
        e[5] += 0.5 * (turn[3 * k] * T[4 + k] - turn[3 * k + 1] * T[k])
    return residual


def columns_of(arm: Array, axes: Array, moving: int, tip: Array, J: Array) -> None:
    """Columns of the Jacobian of the joints that are not given, without units."""
    for m in range(moving):
        at = 7 * m
        for k in range(3):
            J[6 * m + k] = axes[at + k]
            J[6 * m + 3 + k] = 0.0
        if axes[at + 6] < 0.5:
            x = (tip[0] - axes[at + 3]) / arm[1]
            y = (tip[1] - axes[at + 4]) / arm[1]
            z = (tip[2] - axes[at + 5]) / arm[1]
            J[6 * m] = axes[at + 1] * z - axes[at + 2] * y
            J[6 * m + 1] = axes[at + 2] * x - axes[at] * z
            J[6 * m + 2] = axes[at] * y - axes[at + 1] * x
            for k in range(3):
                J[6 * m + 3 + k] = axes[at + k]


def moved(arm: Array, dq: Array, moving: int, q: Array) -> None:
    """q + dq, a step of 0.3 at most."""
    size = 0.0
    for m in range(moving):
        size = max(size, abs(dq[m]))
    scale = 1.0
    if size > 0.3:
        scale = 0.3 / size
    joints = int(arm[0])
    m = 0
    for j in range(joints):
        if arm[ROWS + 7 * j + 6] < 0.5:
            step = scale * dq[m]
            if arm[ROWS + 7 * j + 5] > 0.5:
                step = step * arm[1]
            q[j] += step
            m += 1


def approach(arm: Array, T: Array, q: Array, rank: Array) -> float:
    """Newton's method from q, which becomes the best configuration on the way. Its residual;
    rank[0] is the shortest column of its Jacobian, made orthogonal."""
    axes = empty(49)
    f = empty(12)
    tip = empty(3)
    e = empty(6)
    J = empty(42)
    dq = empty(7)
    one = empty(JOINTS)
    joints = int(arm[0])
    for j in range(joints):
        one[j] = q[j]
    least = 1e300
    stalled = 0
    for rounds in range(ROUNDS):
        moving = place(arm, one, axes, f)
        residual = compare(arm, f, T, tip, e)
        columns_of(arm, axes, moving, tip, J)
        shortest = least_squares(J, e, moving, dq)
        if residual < least:
            if residual > 0.9 * least:
                stalled += 1
            least = residual
            rank[0] = shortest
            for j in range(joints):
                q[j] = one[j]
        else:
            stalled += 1
        if least <= FINEST * arm[2] or stalled > 1 or (rounds > 9 and least > WRONG * arm[2]):
            break
        moved(arm, dq, moving, one)
    return least
