"""Kernels that make a candidate exact: Newton's method on the direct model, the list of answers."""

from __future__ import annotations

from ...kernel.language import Array, empty, floor
from ...kernel.linalg import solve_square
from ..approach import Frame
from .family import equations, softest
from .records import MOST, Answer, Answers, Head

PI = 3.141592653589793
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


def polish(robot: Head, pose: Frame, q: Array, exact: Answer) -> float:
    """Newton's method on the whole pose from q, damped where the Jacobian is nearly singular. Near
    a family, where damping leaves a residual, it moves along it.

    The residual, which stands in `exact` too, with the quality."""
    J = empty(36)
    a = empty(36)
    e = empty(6)
    dq = empty(6)
    best = empty(6)
    least = 1e300
    last = 1e300
    stalled = 0
    moves = 0
    exact.quality = 0.0
    for rounds in range(60):
        residual = equations(robot, pose, q, J, e)
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
            exact.quality = pivots
        if residual <= EXACT or (residual < 1e-12 and pivots > 1e-6 and stalled > 0):
            break
        size = 0.0
        for i in range(6):
            size = max(size, abs(dq[i]))
        along = False
        if size > 0.5 and pivots > 1e-13 and residual < 1e-6 and residual > 0.3 * last:
            along = True
            moves += 1
            stalled = -4  # rounds until it is back on the family
            if moves > MOVES:
                break
        last = residual
        if not along and (pivots < 1e-10 or size > 0.5):
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
        if along:
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
    robot: Head, pose: Frame, q: Array, off: float, found: Array, k: int, answers: Answers
) -> bool:
    """Is q, of residual off, the answer k? Near a singularity two answers are one when all between
    them is too, as exactly as they are."""
    J = empty(36)
    e = empty(6)
    middle = empty(6)
    gap = 0.0
    for j in range(6):
        x = q[j] - found[6 * k + j]
        if not robot.joints[j].slides:
            x = turn(x)
        middle[j] = found[6 * k + j] + 0.5 * x
        if robot.joints[j].slides:
            x = x / max(1.0, abs(q[j]))
        gap = max(gap, abs(x))
    if gap < SAME:
        return True
    if gap > CLOSE:
        return False
    residual = equations(robot, pose, middle, J, e)
    return residual < max(BETWEEN, 2.0 * max(off, answers.rows[k].residual))


def put_answer(
    q: Array, residual: float, quality: float, at: int, found: Array, answers: Answers
) -> None:
    """Write the configuration of a place."""
    for j in range(6):
        found[6 * at + j] = q[j]
    answers.rows[at].residual = residual
    answers.rows[at].quality = quality


def apart(robot: Head, q: Array, found: Array, skipped: int) -> float:
    """How far a configuration is from the others of a full list, without one of them."""
    least = 1e300
    for k in range(MOST):
        if k == skipped:
            continue
        gap = 0.0
        for j in range(6):
            x = q[j] - found[6 * k + j]
            if not robot.joints[j].slides:
                x = turn(x)
            gap = max(gap, abs(x))
        least = min(least, gap)
    return least


def crowded(robot: Head, q: Array, quality: float, found: Array, answers: Answers) -> int:
    """The place in a full list that q may take, or -1: that of a singular configuration, one of a
    family, which others are near; for a singular one only if they are nearer than to q."""
    one = empty(6)
    at = -1
    least = 1e300
    if quality <= SINGULAR:
        least = apart(robot, q, found, -1)
    for k in range(MOST):
        if answers.rows[k].quality <= SINGULAR:
            for j in range(6):
                one[j] = found[6 * k + j]
            gap = apart(robot, one, found, k)
            if gap < least:
                least = gap
                at = k
    return at


def add_answer(
    robot: Head,
    pose: Frame,
    q: Array,
    residual: float,
    quality: float,
    found: Array,
    answers: Answers,
) -> int:
    """Keep a configuration, unless it is there already. Its place, or -1 when the list is full and
    no place can be taken (crowded).

    Of two that are one the more exact is kept, or, exact both, that nearer to the multiple root."""
    count = answers.count
    for j in range(6):
        if not robot.joints[j].slides:
            q[j] = turn(q[j])
    for k in range(count):
        same = same_answer(robot, pose, q, residual, found, k, answers)
        if same:
            gain = answers.rows[k].residual - residual
            exact = max(residual, answers.rows[k].residual)
            if exact < BETWEEN and min(quality, answers.rows[k].quality) < SINGULAR:
                gain = answers.rows[k].quality - quality
            if gain > 0.0:
                put_answer(q, residual, quality, k, found, answers)
            return k
    at = count
    if count == MOST:
        at = crowded(robot, q, quality, found, answers)
        if at < 0:
            return -1
    else:
        answers.count = count + 1
    put_answer(q, residual, quality, at, found, answers)
    answers.rows[at].roots = 0.0
    return at


def twin(robot: Head, pose: Frame, at: int, found: Array, answers: Answers) -> None:
    """The other one of two answers that nearly coincide, to second order:

        w.(f(q + t v) - pose) = s t + h t^2 / 2,   t = -2 s / h,   with J v = s w

    The quality of the answer becomes that of its smallest singular value."""
    q = empty(6)
    aside = empty(6)
    J = empty(36)
    v = empty(6)
    w = empty(6)
    e = empty(6)
    exact = empty(Answer)
    for j in range(6):
        q[j] = found[6 * at + j]
    h = 0.0
    residual = equations(robot, pose, q, J, e)
    s = softest(J, v, w)
    answers.rows[at].quality = min(s, answers.rows[at].quality)
    slope = 0.0
    for i in range(6):
        for j in range(6):
            slope += w[i] * J[6 * i + j] * v[j]
        h += 2.0 * w[i] * e[i]
    for side in range(2):
        for j in range(6):
            aside[j] = q[j] + 1e-3 * (1.0 - 2.0 * float(side)) * v[j]
        residual = equations(robot, pose, aside, J, e)
        for i in range(6):
            h -= w[i] * e[i]
    h = h * 1e6
    if abs(h) * WIDE < 2.0 * abs(slope) or s < SINGULAR:
        return
    for j in range(6):
        q[j] -= 2.0 * slope / h * v[j]
    residual = polish(robot, pose, q, exact)
    if residual < FOUND:
        add_answer(robot, pose, q, residual, exact.quality, found, answers)


def thinned(robot: Head, pose: Frame, found: Array, answers: Answers) -> None:
    """Answers that became one as they were made exact are given once."""
    q = empty(6)
    count = answers.count
    kept = 0
    for k in range(count):
        for j in range(6):
            q[j] = found[6 * k + j]
        again = -1
        for i in range(kept):
            same = same_answer(robot, pose, q, answers.rows[k].residual, found, i, answers)
            if same:
                again = i
        roots = answers.rows[k].roots
        if again >= 0:
            answers.rows[again].roots += roots
        else:
            put_answer(q, answers.rows[k].residual, answers.rows[k].quality, kept, found, answers)
            answers.rows[kept].roots = roots
            kept += 1
    answers.count = kept
