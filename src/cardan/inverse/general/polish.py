"""Kernels that make a candidate exact: direct model, Newton's method, the list of answers.

The robot is a table: six numbers per joint (cos alpha, sin alpha, d, theta, r, sigma), lengths in
units of the robot's size; from TILTS on two per joint, sin beta and cos beta. A pose is 12 numbers,
the rows of (R P).
"""

from __future__ import annotations

from ...kernel.language import Array, cos, empty, floor, sin
from ...kernel.linalg import solve_square
from .family import softest

__all__ = [
    "FOUND", "PI", "SINGULAR", "SOFT", "TILTS", "add_answer", "direct", "polish", "thinned", "twin",
]  # fmt: skip

PI = 3.141592653589793
TILTS = 62
MOST = 16  # configurations of a pose
FOUND = 1e-10  # residual of an answer
EXACT = 2e-15  # residual that no step makes smaller
SAME = 1e-6  # answers closer than this are one
CLOSE = 1e-3  # answers closer than this may be one
BETWEEN = 1e-13  # residual half way between two answers that are one
SINGULAR = 1e-6  # quality of a configuration whose Jacobian loses rank
SOFT = 1e-2  # quality of one that may have a twin close by
MOVES = 8  # along a family
ALONG = 0.3  # one of them
WIDE = 0.2  # how far a twin may be


def direct(robot: Array, q: Array, pose: Array, J: Array, e: Array) -> float:
    """Jacobian of the last frame, (linear, angular) in frame 0, and the error e of the pose.

    e is the difference of the origins, and half the sum of the cross products of the axes with
    those of the pose. The largest difference to an entry of the pose."""
    f = empty(12)  # columns s n a p
    axes = empty(36)
    for k in range(12):
        f[k] = 0.0
    f[0] = 1.0
    f[4] = 1.0
    f[8] = 1.0
    for j in range(6):
        ca = robot[6 * j]
        sa = robot[6 * j + 1]
        d = robot[6 * j + 2]
        theta = robot[6 * j + 3]
        r = robot[6 * j + 4]
        if robot[6 * j + 5] < 0.5:
            theta += q[j]
        else:
            r += q[j]
        sb = robot[TILTS + 2 * j]
        cb = robot[TILTS + 2 * j + 1]
        c = cos(theta)
        s = sin(theta)
        for k in range(3):
            n = ca * f[3 + k] + sa * f[6 + k]
            a = ca * f[6 + k] - sa * f[3 + k]
            x = f[k]
            shift = d * x
            if sb != 0.0:
                x = cb * f[k] - sb * a
                a = sb * f[k] + cb * a
            f[9 + k] += shift + r * a
            f[k] = c * x + s * n
            f[3 + k] = c * n - s * x
            f[6 + k] = a
            axes[6 * j + k] = a
            axes[6 * j + 3 + k] = f[9 + k]
    residual = 0.0
    for k in range(3):
        e[k] = pose[4 * k + 3] - f[9 + k]
        residual = max(residual, abs(e[k]))
        e[3 + k] = 0.0
        for i in range(3):
            residual = max(residual, abs(pose[4 * k + i] - f[3 * i + k]))
    for i in range(3):
        e[3] += 0.5 * (f[3 * i + 1] * pose[8 + i] - f[3 * i + 2] * pose[4 + i])
        e[4] += 0.5 * (f[3 * i + 2] * pose[i] - f[3 * i] * pose[8 + i])
        e[5] += 0.5 * (f[3 * i] * pose[4 + i] - f[3 * i + 1] * pose[i])
    for j in range(6):
        if robot[6 * j + 5] < 0.5:
            x = f[9] - axes[6 * j + 3]
            y = f[10] - axes[6 * j + 4]
            z = f[11] - axes[6 * j + 5]
            J[j] = axes[6 * j + 1] * z - axes[6 * j + 2] * y
            J[6 + j] = axes[6 * j + 2] * x - axes[6 * j] * z
            J[12 + j] = axes[6 * j] * y - axes[6 * j + 1] * x
            for k in range(3):
                J[18 + 6 * k + j] = axes[6 * j + k]
        else:
            for k in range(3):
                J[6 * k + j] = axes[6 * j + k]
                J[18 + 6 * k + j] = 0.0
    return residual


def damped_step(J: Array, e: Array, mu: float, dq: Array) -> None:
    """(J^T J + mu) dq = J^T e."""
    a = empty(36)
    for i in range(6):
        for j in range(6):
            total = 0.0
            for k in range(6):
                total += J[6 * k + i] * J[6 * k + j]
            a[6 * i + j] = total
        a[6 * i + i] += mu
        total = 0.0
        for k in range(6):
            total += J[6 * k + i] * e[k]
        dq[i] = total
    pivots = solve_square(a, dq, 6)
    if pivots == 0.0:
        for i in range(6):
            dq[i] = 0.0


def polish(robot: Array, pose: Array, q: Array, quality: Array) -> float:
    """Newton's method on the whole pose from q, damped where the Jacobian is nearly singular. Near
    a family, where damping leaves a residual, it moves along it.

    The residual; quality[0] is the smallest pivot of the Jacobian over the largest."""
    J = empty(36)
    a = empty(36)
    e = empty(6)
    dq = empty(6)
    best = empty(6)
    least = 1e300
    last = 1e300
    stalled = 0
    moves = 0
    quality[0] = 0.0
    for rounds in range(60):
        residual = direct(robot, q, pose, J, e)
        if residual < least:
            if residual > 0.7 * least:
                stalled += 1
            least = residual
            for i in range(6):
                best[i] = q[i]
        else:
            stalled += 1
        if stalled > 3 or (rounds > 7 and least > 0.01):
            break
        for k in range(36):
            a[k] = J[k]
        for i in range(6):
            dq[i] = e[i]
        pivots = solve_square(a, dq, 6)
        if residual <= least:
            quality[0] = pivots
        if residual <= EXACT or (residual < 1e-12 and pivots > 1e-6 and stalled > 0):
            break
        size = 0.0
        for i in range(6):
            size = max(size, abs(dq[i]))
        along = 0
        if size > 0.5 and pivots > 1e-13 and residual < 1e-6 and residual > 0.3 * last:
            along = 1
            moves += 1
            stalled = -4  # rounds until it is back on the family
            if moves > MOVES:
                break
        last = residual
        if along == 0 and (pivots < 1e-10 or size > 0.5):
            total = 0.0
            for i in range(6):
                total += e[i] * e[i]
            damped_step(J, e, total, dq)
            size = 0.0
            for i in range(6):
                size = max(size, abs(dq[i]))
        scale = 1.0
        if size > 0.5:
            scale = 0.5 / size
        if along == 1:
            scale = ALONG / size
        for i in range(6):
            q[i] += scale * dq[i]
    for i in range(6):
        q[i] = best[i]
    return least


def turn(x: float) -> float:
    """The angle in (-pi, pi]."""
    y = x + 2.0 * PI * floor(0.5 - x / (2.0 * PI))
    if y > PI or y <= -PI:  # by rounding
        y = PI
    return y


def same_answer(
    robot: Array, pose: Array, q: Array, off: float, found: Array, k: int, info: Array
) -> int:
    """Is q, of residual off, the answer k? Near a singularity two answers are one when all between
    them is too, as exactly as they are."""
    J = empty(36)
    e = empty(6)
    middle = empty(6)
    gap = 0.0
    for j in range(6):
        x = q[j] - found[6 * k + j]
        if robot[6 * j + 5] < 0.5:
            x = turn(x)
        middle[j] = found[6 * k + j] + 0.5 * x
        if robot[6 * j + 5] > 0.5:
            x = x / max(1.0, abs(q[j]))
        gap = max(gap, abs(x))
    if gap < SAME:
        return 1
    if gap > CLOSE:
        return 0
    residual = direct(robot, middle, pose, J, e)
    if residual < max(BETWEEN, 2.0 * max(off, info[1 + 3 * k])):
        return 1
    return 0


def put_answer(
    q: Array, residual: float, quality: float, at: int, found: Array, info: Array
) -> None:
    """Write the configuration of a place."""
    for j in range(6):
        found[6 * at + j] = q[j]
    info[1 + 3 * at] = residual
    info[1 + 3 * at + 1] = quality


def apart(robot: Array, q: Array, found: Array, skipped: int) -> float:
    """How far a configuration is from the others of a full list, without one of them."""
    least = 1e300
    for k in range(MOST):
        if k == skipped:
            continue
        gap = 0.0
        for j in range(6):
            x = q[j] - found[6 * k + j]
            if robot[6 * j + 5] < 0.5:
                x = turn(x)
            gap = max(gap, abs(x))
        least = min(least, gap)
    return least


def crowded(robot: Array, q: Array, quality: float, found: Array, info: Array) -> int:
    """The place in a full list that q may take, or -1: that of a singular configuration, one of a
    family, which others are near; for a singular one only if they are nearer than to q."""
    one = empty(6)
    at = -1
    least = 1e300
    if quality <= SINGULAR:
        least = apart(robot, q, found, -1)
    for k in range(MOST):
        if info[2 + 3 * k] <= SINGULAR:
            for j in range(6):
                one[j] = found[6 * k + j]
            gap = apart(robot, one, found, k)
            if gap < least:
                least = gap
                at = k
    return at


def add_answer(
    robot: Array, pose: Array, q: Array, residual: float, quality: float, found: Array, info: Array
) -> int:
    """Keep a configuration, unless it is there already. Its place, or -1 when the list is full and
    no place can be taken (crowded).

    Of two that are one the more exact is kept, or, exact both, that nearer to the multiple root.
    info: count, then residual, quality and roots of each answer."""
    count = int(info[0])
    for j in range(6):
        if robot[6 * j + 5] < 0.5:
            q[j] = turn(q[j])
    for k in range(count):
        same = same_answer(robot, pose, q, residual, found, k, info)
        if same == 1:
            gain = info[1 + 3 * k] - residual
            exact = max(residual, info[1 + 3 * k])
            if exact < BETWEEN and min(quality, info[2 + 3 * k]) < SINGULAR:
                gain = info[2 + 3 * k] - quality
            if gain > 0.0:
                put_answer(q, residual, quality, k, found, info)
            return k
    at = count
    if count == MOST:
        at = crowded(robot, q, quality, found, info)
        if at < 0:
            return -1
    else:
        info[0] = float(count + 1)
    put_answer(q, residual, quality, at, found, info)
    info[1 + 3 * at + 2] = 0.0
    return at


def twin(robot: Array, pose: Array, at: int, found: Array, info: Array) -> None:
    """The other one of two answers that nearly coincide, to second order:

        w.(f(q + t v) - pose) = s t + h t^2 / 2,   t = -2 s / h,   with J v = s w

    The quality of the answer becomes that of its smallest singular value."""
    q = empty(6)
    aside = empty(6)
    J = empty(36)
    v = empty(6)
    w = empty(6)
    e = empty(6)
    quality = empty(1)
    for j in range(6):
        q[j] = found[6 * at + j]
    h = 0.0
    residual = direct(robot, q, pose, J, e)
    s = softest(J, v, w)
    info[2 + 3 * at] = min(s, info[2 + 3 * at])
    slope = 0.0
    for i in range(6):
        for j in range(6):
            slope += w[i] * J[6 * i + j] * v[j]
        h += 2.0 * w[i] * e[i]
    for side in range(2):
        for j in range(6):
            aside[j] = q[j] + 1e-3 * (1.0 - 2.0 * float(side)) * v[j]
        residual = direct(robot, aside, pose, J, e)
        for i in range(6):
            h -= w[i] * e[i]
    h = h * 1e6
    if abs(h) * WIDE < 2.0 * abs(slope) or s < SINGULAR:
        return
    for j in range(6):
        q[j] -= 2.0 * slope / h * v[j]
    residual = polish(robot, pose, q, quality)
    if residual < FOUND:
        add_answer(robot, pose, q, residual, quality[0], found, info)


def thinned(robot: Array, pose: Array, found: Array, info: Array) -> None:
    """Answers that became one as they were made exact are given once."""
    q = empty(6)
    count = int(info[0])
    kept = 0
    for k in range(count):
        for j in range(6):
            q[j] = found[6 * k + j]
        again = -1
        for i in range(kept):
            same = same_answer(robot, pose, q, info[1 + 3 * k], found, i, info)
            if same == 1:
                again = i
        roots = info[3 + 3 * k]
        if again >= 0:
            info[3 + 3 * again] += roots
        else:
            put_answer(q, info[1 + 3 * k], info[2 + 3 * k], kept, found, info)
            info[3 + 3 * kept] = roots
            kept += 1
    info[0] = float(kept)
