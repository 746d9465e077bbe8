"""Kernels that settle doubtful candidates: Newton's method on the direct model, verified, merged.

The arm is a table: the number of joints, its size (the unit of lengths), the scale of errors, the
margin of what may be a multiple root, the residual of an answer; from BASE and TOOL on the
placements before and after the joints (rows of R P); from ROWS on seven numbers per joint: cos
alpha, sin alpha, d, theta, r, sigma, and 1 when its value is given. At most seven joints are not.
"""

from __future__ import annotations

from ..emit.kernel import Array, cos, empty, floor, sin, sqrt

__all__ = ["ACCEPT", "CLEAN", "CLEAR", "FARTHEST", "JOINTS", "NEVER", "WRONG", "settle"]

BASE = 5
TOOL = 17
ROWS = 29
PI = 3.141592653589793
CLEAR = 1e-10  # margins (squares of sines) beyond ±CLEAR are beyond doubt
NEVER = -1e-6  # a margin below is no solution, whatever rounding did
CLEAN = 1e-11  # residual, relative to the scale of the arm, that needs no polishing
WRONG = 1e-2  # residual of a branch that is not a solution at all, in the same way
ACCEPT = 1e-10  # residual of an answer, relative to the scale of the arm
FINEST = 2e-15  # residual that no step makes smaller
SAME = 1e-6  # angles and relative lengths closer than this are one configuration
LOST = 1e-6  # smallest pivot of a Jacobian that has lost rank
ASIDE = 1e-3  # how far a family is looked for
FAR_OFF = 1e-2  # how far a candidate may be moved before it is no longer the same
ROUNDS = 40
JOINTS = 32  # joints of an arm
FARTHEST = 1e5  # of a slide over the size of the arm: beyond, a pose has too few digits


def place(arm: Array, q: Array, axes: Array, f: Array) -> int:
    """The frame after the joints, columns s n a P, for q; axes and origins of the joints that are
    not given, whose number it gives."""
    for i in range(3):
        for k in range(4):
            f[3 * k + i] = arm[BASE + 4 * i + k]
    joints = int(arm[0])
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
        c = cos(theta)
        s = sin(theta)
        for k in range(3):
            x = f[k]
            n = ca * f[3 + k] + sa * f[6 + k]
            a = ca * f[6 + k] - sa * f[3 + k]
            f[9 + k] += d * x + r * a
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
    """The largest difference of an entry of the tool's pose to T; its origin tip and error e
    (linear over the size, angular)."""
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
        residual = max(residual, abs(T[4 * i + 3] - p))
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


def least_squares(J: Array, e: Array, moving: int, dq: Array) -> float:
    """dq of J dq = e: orthogonal columns, the longest first, those that vanish left out. The
    shortest of them."""
    order = empty(7)
    R = empty(49)
    y = empty(7)
    for k in range(moving):
        order[k] = float(k)
        dq[k] = 0.0
    first = 0.0
    shortest = 0.0
    rank = moving
    if moving > 6:
        rank = 6
    most = rank
    for k in range(most):
        best = -1.0
        chosen = k
        for m in range(k, moving):
            size = 0.0
            for i in range(6):
                size += J[6 * m + i] * J[6 * m + i]
            if size > best:
                best = size
                chosen = m
        if chosen != k:
            for i in range(6):
                x = J[6 * k + i]
                J[6 * k + i] = J[6 * chosen + i]
                J[6 * chosen + i] = x
            for i in range(k):
                x = R[7 * i + k]
                R[7 * i + k] = R[7 * i + chosen]
                R[7 * i + chosen] = x
            x = order[k]
            order[k] = order[chosen]
            order[chosen] = x
        shortest = sqrt(best)
        if k == 0:
            first = shortest
        if shortest <= 1e-9 * first:
            rank = k
            break
        R[7 * k + k] = shortest
        y[k] = 0.0
        for i in range(6):
            J[6 * k + i] /= shortest
            y[k] += J[6 * k + i] * e[i]
        for m in range(k + 1, moving):
            x = 0.0
            for i in range(6):
                x += J[6 * k + i] * J[6 * m + i]
            R[7 * k + m] = x
            for i in range(6):
                J[6 * m + i] -= x * J[6 * k + i]
    for k in range(rank - 1, -1, -1):
        x = y[k]
        for m in range(k + 1, rank):
            x -= R[7 * k + m] * dq[int(order[m])]
        dq[int(order[k])] = x / R[7 * k + k]
    return shortest


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


def verified(arm: Array, T: Array, q: Array, margin: float, residual: float, rank: Array) -> float:
    """The residual of a candidate, made exact where its margin or its digits leave a doubt."""
    rank[0] = 1.0
    if margin > CLEAR and residual <= CLEAN * arm[2]:
        return residual
    if margin < NEVER or (margin > CLEAR and residual > WRONG * arm[2]):
        return 1e300
    found = approach(arm, T, q, rank)
    return found


def nearest(arm: Array, q: Array, found: Array, count: int, same: float) -> int:
    """The first of the configurations found that is closer than `same` to q, or -1."""
    joints = int(arm[0])
    for c in range(count):
        gap = 0.0
        for j in range(joints):
            x = q[j] - found[joints * c + j]
            if arm[ROWS + 7 * j + 5] < 0.5:
                x = x - 2.0 * PI * floor(x / (2.0 * PI) + 0.5)
            else:
                x = x / arm[1]
            gap = max(gap, abs(x))
        if gap < same:
            return c
    return -1


def beyond(arm: Array, q: Array) -> int:
    """Is a slide so far out that the pose cannot be verified?"""
    joints = int(arm[0])
    for j in range(joints):
        if arm[ROWS + 7 * j + 5] > 0.5 and abs(q[j]) > FARTHEST * arm[1]:
            return 1
    return 0


def isolated(arm: Array, T: Array, q: Array) -> int:
    """Is a singular configuration a multiple root, not one of a family? Newton's method from a
    little aside comes back to a root, and finds others of a family."""
    one = empty(JOINTS)
    rank = empty(1)
    joints = int(arm[0])
    for k in range(2):
        for j in range(joints):
            step = 0.0
            if arm[ROWS + 7 * j + 6] < 0.5:
                step = ASIDE * cos(1.0 + 2.1 * float(j) + 1.7 * float(k))
            if arm[ROWS + 7 * j + 5] > 0.5:
                step = step * arm[1]
            one[j] = q[j] + step
        off = approach(arm, T, one, rank)
        if off <= arm[4]:
            back = nearest(arm, one, q, 1, 0.1 * ASIDE)
            beside = nearest(arm, one, q, 1, 10.0 * ASIDE)
            if back < 0 and beside == 0:
                return 0
    return 1


def wanted(arm: Array, T: Array, q: Array, role: float, found: Array, count: int) -> int:
    """Is a singular configuration of another pose or method new, and a root of its own?"""
    if role >= 0.0:
        return 0
    known = nearest(arm, q, found, count, 0.1 * ASIDE)
    if known >= 0:
        return 0
    alone = isolated(arm, T, q)
    return alone


def keep(
    arm: Array, q: Array, off: float, singular: float, role: float, most: int, found: Array,
    error: Array, lost: Array, times: Array, state: Array,
) -> None:  # fmt: skip
    """Add a configuration to those found, angles in (-pi, pi], or count it with its equal."""
    joints = int(arm[0])
    count = int(state[0])
    same = SAME
    if role < 0.0:
        same = 10.0 * SAME
    at = nearest(arm, q, found, count, same)
    if at >= 0:
        if role >= 0.0 and singular == 1.0:
            times[at] += 1.0
        if role < 0.0 or off >= error[at]:
            return
    else:
        if count == most:
            return
        at = count
        times[at] = 1.0
        state[0] = float(count + 1)
    for j in range(joints):
        x = q[j]
        if arm[ROWS + 7 * j + 5] < 0.5 and arm[ROWS + 7 * j + 6] < 0.5:
            x = x - 2.0 * PI * floor(x / (2.0 * PI) + 0.5)
            if x <= 0.0 - PI:
                x = x + 2.0 * PI
        found[joints * at + j] = x
    error[at] = off
    lost[at] = singular


def settle(
    T: Array, q: Array, margin: Array, residual: Array, role: Array, arm: Array, shape: Array,
    found: Array, error: Array, lost: Array, times: Array, state: Array,
) -> None:  # fmt: skip
    """The configurations of a pose T among candidates q; shape: number of candidates, most answers.

    role of a candidate: 0, a branch at this pose; k > 0, the k-th try to replace one whose equation
    vanishes (singular ones of the first that gives any are enough); -1, another configuration,
    wanted only if it is new, and regular or a multiple root; -2, the same, and a branch of a pose
    nearby. lost: 1 where the Jacobian loses rank; times: how many solutions coincide there. state:
    number of configurations; 1 when a branch whose equation vanishes gave none of its own; 1 when
    an equation vanishes or has a multiple root."""
    rank = empty(1)
    one = empty(JOINTS)
    start = empty(JOINTS)
    candidates = int(shape[0])
    joints = int(arm[0])
    tried = 0.0
    for k in range(3):
        state[k] = 0.0
    for b in range(candidates):
        finite = margin[b] - margin[b]
        for j in range(joints):
            one[j] = q[joints * b + j]
            start[j] = one[j]
            finite += one[j] - one[j]
        if role[b] == 0.0 and (finite != 0.0 or abs(margin[b]) <= arm[3]):
            state[2] = 1.0
        if role[b] > 0.0 and state[2] > 0.0 and state[0] == 0.0:
            state[1] = 1.0
        if finite != 0.0 or (role[b] > 0.0 and state[1] == 0.0):
            continue
        clear = margin[b]
        if role[b] < -1.5:  # to be made exact, whatever its residual at its own pose
            if not (clear > CLEAR and residual[b] < WRONG * arm[2]):
                continue
            clear = 0.0
        off = verified(arm, T, one, clear, residual[b], rank)
        away = beyond(arm, one)
        if not (off <= arm[4]) or away == 1:
            if role[b] == 0.0 and margin[b] == 0.0:
                state[1] = 1.0
            continue
        singular = 0.0
        if rank[0] < LOST:
            singular = 1.0
        elif role[b] == 0.0 and margin[b] == 0.0:  # an answer of another branch?
            strayed = nearest(arm, one, start, 1, FAR_OFF)
            if strayed < 0:
                state[1] = 1.0
        if singular == 1.0:
            if role[b] < 0.0 or (tried > 0.0 and tried != role[b]):
                root = wanted(arm, T, one, role[b], found, int(state[0]))
                if root == 0:
                    continue
            tried = max(tried, role[b])
        keep(arm, one, off, singular, role[b], int(shape[1]), found, error, lost, times, state)
    if state[2] > 0.0 and state[0] == 0.0:
        state[1] = 1.0
