"""Kernels for families of configurations: curves on which the Jacobian is singular, or nearly so.

Where the tool does not feel a motion of the joints, five of the six equations of the pose define a
curve, and the sixth, its defect g, is as good as zero on all of it. On a family g is zero: one
configuration stands for the curve. Beside a family (a wrist bent by 1e-9) the configurations are
the zeros of g, far from each other, and Newton's method does not feel where they are. So the curve
is followed, by the bordered system (Griewank and Reddien 1984; Allgower and Georg, 1990, ch. 8)

    | J   w | |dq|   |e|
    | v^T 0 | |g | = |0|,        J v = s w,  s the smallest singular value

which is regular where J has lost one rank: dq brings q to the curve across its tangent v, g is the
defect. Lengths are in units of the arm's size; arms are those of approach.py of which six
joints are not held.
"""

from __future__ import annotations

from ...kernel.language import Array, Integers, Part, empty, floor, integers, record, sqrt, zeros
from ...kernel.linalg import least_squares, solve_square
from ..approach import JOINTS, Arm, Axes, Frame, columns_of, compare, place
from ..solutions import Solutions, add_solution, nearest

PI = 3.141592653589793
SOFT_ENOUGH = 1e-4  # smallest singular value of a configuration that may be of a curve
SURE_ROOT = 1e-6  # defect of an answer over the largest of its curve
FAMILY = 3e-13  # defect on a curve whose configurations cannot be told apart
ROUNDING = 4e-15  # defect that is rounding
LEAST = 1e-16  # defect that no step makes smaller
STEEP = 1e-3  # defect where a curve ends: a multiple root, not a family
STEP = 0.15  # along a curve
FIRST_STEP = 0.07  # the first step
SHORTEST = 1e-3
LENGTH = 400  # steps along a curve
BORDERED = 1e-8  # smallest pivot of the bordered system over its largest
POOL = 32  # configurations that may be of curves
ROOTS = 16  # of a curve
SAME = 1e-6  # roots that are one
CLOSE_ROOTS = 1e-2  # two roots that the defect does not tell apart
SHORT = 0.6  # length of a curve that ends steeply on both sides, at a multiple root
NOWHERE = 1e300  # the defect where there is no curve
FREE = 0  # a configuration of the pool: on no curve yet,
MET = 1  # on the one that is followed,
UNSEEN = 2  # a root of it that no change of sign tells,
DONE = 3  # on one that has been followed
LOST = 1e-6  # shortest column, made orthogonal, of a Jacobian that has lost rank


@record(rows=POOL)
class Pool(Solutions):
    """What is known of configurations that may be of curves."""


@record(roots=ROOTS * JOINTS)
class Curve:
    """What is met along a curve."""

    count: int  # of the roots
    largest: float  # defect
    length: float
    steep: int  # ends where the defect is
    roots: Array  # row by row


def equations(arm: Arm, aim: Frame, q: Array, J: Array, e: Array) -> float:
    """J (6, 6), row by row, and the error e of the pose, without units. The largest difference of
    an entry of the pose."""
    axes = empty(Axes)
    f = empty(Frame)
    hand = empty(Frame)
    columns = empty(42)
    place(arm, q, axes, f)
    residual = compare(arm, f, aim, hand, e)
    columns_of(arm, axes, hand.p, columns)
    for m in range(6):
        for i in range(6):
            J[6 * i + m] = columns[6 * m + i]
    return residual


def step_to(arm: Arm, q: Array, dq: Array, t: float, moved: Array) -> None:
    """q + t dq; dq of the joints that are not given, without units."""
    joints = arm.count
    m = 0
    for j in range(joints):
        moved[j] = q[j]
        if not arm.joints[j].held:
            x = t * dq[m]
            if arm.joints[j].slides:
                x = x * arm.size
            moved[j] += x
            m += 1


def difference(arm: Arm, pool: Array, at: int, q: Array, dq: Array) -> None:
    """Configuration `at` of a pool less q, joints that are not given: no units, least turns."""
    joints = arm.count
    m = 0
    for j in range(joints):
        if not arm.joints[j].held:
            x = pool[joints * at + j] - q[j]
            if arm.joints[j].slides:
                x = x / arm.size
            else:
                x = x - 2.0 * PI * floor(x / (2.0 * PI) + 0.5)
            dq[m] = x
            m += 1


def softest(J: Array, v: Array, w: Array) -> float:
    """The smallest singular value of J over its largest entry, and its vectors: J v = s w."""
    a = empty(36)
    size = 1e-300
    for k in range(36):
        size = max(size, abs(J[k]))
    for k in range(6):
        w[k] = 1.0 - 0.3 * float(k)
    s = 0.0
    for half in range(6):
        for i in range(6):
            for j in range(6):
                if half % 2 == 0:
                    a[6 * i + j] = J[6 * i + j]
                else:
                    a[6 * i + j] = J[6 * j + i]
            a[6 * i + i] += 1e-14 * size
            if half % 2 == 0:
                v[i] = w[i]
            else:
                w[i] = v[i]
        if half % 2 == 0:
            s = shrunk(a, v)
        else:
            s = shrunk(a, w)
    return s / size


def shrunk(a: Array, x: Array) -> float:
    """x becomes a^-1 x of length 1; what the length was divided by, inverted."""
    total = 0.0
    for k in range(6):
        total += x[k] * x[k]
    before = sqrt(total)
    pivots = solve_square(a, x, 6)
    total = 0.0
    for k in range(6):
        total += x[k] * x[k]
    after = sqrt(total)
    if pivots == 0.0 or after == 0.0:
        return 0.0
    for k in range(6):
        x[k] /= after
    return before / after


def border(J: Array, v: Array, w: Array, across: int, a: Array) -> None:
    """The bordered matrix, 7x7, or its transpose."""
    for i in range(6):
        for j in range(6):
            if across == 0:
                a[7 * i + j] = J[6 * i + j]
            else:
                a[7 * i + j] = J[6 * j + i]
        if across == 0:
            a[7 * i + 6] = w[i]
            a[42 + i] = v[i]
        else:
            a[7 * i + 6] = v[i]
            a[42 + i] = w[i]
    a[48] = 0.0


def on_curve(arm: Arm, aim: Frame, q: Array, v: Array, w: Array, J: Array) -> float:
    """Bring q to the curve, across v: its defect, or NOWHERE when it does not come near."""
    e = empty(6)
    a = empty(49)
    b = empty(7)
    moved = empty(JOINTS)
    joints = arm.count
    for _ in range(10):
        equations(arm, aim, q, J, e)
        border(J, v, w, 0, a)
        for i in range(6):
            b[i] = e[i]
        b[6] = 0.0
        pivots = solve_square(a, b, 7)
        if pivots < BORDERED:
            return NOWHERE
        size = 0.0
        for i in range(6):
            size = max(size, abs(b[i]))
        if not (size < 0.3):
            return NOWHERE
        step_to(arm, q, b, 1.0, moved)
        for j in range(joints):
            q[j] = moved[j]
        if size < 1e-8:
            return b[6]
    return NOWHERE


def turn_to(J: Array, v: Array, w: Array) -> None:
    """The tangent v and the direction w of the defect at a point, from those at one before."""
    a = empty(49)
    x = empty(7)
    y = empty(7)
    for i in range(7):
        x[i] = 0.0
        y[i] = 0.0
    x[6] = 1.0
    y[6] = 1.0
    border(J, v, w, 0, a)
    p = solve_square(a, x, 7)
    border(J, v, w, 1, a)
    r = solve_square(a, y, 7)
    n = 0.0
    m = 0.0
    for i in range(6):
        n += x[i] * x[i]
        m += y[i] * y[i]
    if p > 0.0 and r > 0.0 and n > 0.0 and m > 0.0:
        for i in range(6):
            v[i] = x[i] / sqrt(n)
            w[i] = y[i] / sqrt(m)


def passed(
    arm: Arm, aim: Frame, pool: Array, at: int, q: Array, v: Array, w: Array, far: float
) -> float:
    """The defect at a configuration of the pool that is on the curve between q and q + far v, or
    NOWHERE."""
    d = empty(6)
    y = empty(JOINTS)
    J = empty(36)
    difference(arm, pool, at, q, d)
    t = 0.0
    for i in range(6):
        t += v[i] * d[i]
    if t <= 0.0 or t > far:
        return NOWHERE
    aside = 0.0
    for i in range(6):
        aside = max(aside, abs(d[i] - t * v[i]))
    if aside > STEP:
        return NOWHERE
    step_to(arm, q, v, t, y)
    g = on_curve(arm, aim, y, v, w, J)
    difference(arm, pool, at, y, d)
    for i in range(6):
        if abs(d[i]) > 1e-5 + 20.0 * abs(g):
            return NOWHERE
    return g


def root_between(
    arm: Arm, aim: Frame, q: Array, v: Array, w: Array, before: float, far: float, after: float,
    root: Array,
) -> bool:  # fmt: skip
    """The zero of the defect between q and the curve at far."""
    near = root_after(arm, aim, q, v, w, 0.0, before, far, after, root)
    return near


def root_after(
    arm: Arm, aim: Frame, q: Array, v: Array, w: Array, begin: float, before: float, far: float,
    after: float, root: Array,
) -> bool:  # fmt: skip
    """The zero of the defect on the curve between begin and far, measured from q along v, by regula
    falsi (Illinois)."""
    J = empty(36)
    left = begin
    right = far
    low = before
    high = after
    side = 0
    for _ in range(40):
        t = (left * high - right * low) / (high - low)
        step_to(arm, q, v, t, root)
        g = on_curve(arm, aim, root, v, w, J)
        if g == NOWHERE:
            return False
        if abs(g) < LEAST or right - left < 1e-14:
            return True
        if g * high > 0.0:
            right = t
            high = g
            if side == 1:
                low = low * 0.5
            side = 1
        else:
            left = t
            low = g
            if side == 2:
                high = high * 0.5
            side = 2
    return True


def put_root(arm: Arm, q: Array, curve: Curve) -> None:
    """Add a configuration to the roots of a curve."""
    joints = arm.count
    if curve.count < ROOTS:
        for j in range(joints):
            curve.roots[joints * curve.count + j] = q[j]
        curve.count += 1


def bent_down(before: float, back: float, g: float, step: float, after: float) -> bool:
    """May a function of three positive values, g between the others, be below zero?"""
    slope = (after - g) / step
    earlier = (g - before) / back
    bend = (slope - earlier) / (step + back)
    if bend <= 0.0:
        return False
    if slope < 0.0 - bend * step or earlier > bend * back:  # the least value is outside
        return False
    least = bottom(before, back, g, step, after)
    return not least > 0.7 * min(g, min(before, after))


def dip(
    arm: Arm, aim: Frame, q: Array, v: Array, w: Array, before: float, far: float, after: float,
    curve: Curve,
) -> int:  # fmt: skip
    """Two zeros of the defect between q and the curve at far, where its sign is the same: its least
    value is looked for by golden section. How many were added."""
    J = empty(36)
    there = empty(JOINTS)
    sign = 1.0
    if before < 0.0:
        sign = -1.0
    left = 0.0
    right = far
    middle = 0.381966 * far
    least = 1e300
    for rounds in range(30):
        t = middle
        if rounds > 0:  # the larger part of the interval, cut in the golden ratio
            t = middle + 0.381966 * (right - middle)
            if middle - left > right - middle:
                t = middle - 0.381966 * (middle - left)
        step_to(arm, q, v, t, there)
        value = on_curve(arm, aim, there, v, w, J)
        if value == NOWHERE:
            return 0
        g = sign * value
        if rounds == 0 and g > 0.0:
            inside = bent_down(sign * before, t, g, far - t, sign * after)
            if not inside:
                return 0
        if g < -LEAST:
            added = 0
            near = root_between(arm, aim, q, v, w, before, t, value, there)
            if near:
                put_root(arm, there, curve)
                added += 1
            near = root_after(arm, aim, q, v, w, t, sign * g, far, after, there)
            if near:
                put_root(arm, there, curve)
                added += 1
            return added
        if g < least:
            if t > middle:
                left = middle
            if t < middle:
                right = middle
            least = g
            middle = t
        else:
            if t > middle:
                right = t
            if t < middle:
                left = t
    return 0


def bottom(before: float, back: float, g: float, step: float, after: float) -> float:
    """The extreme value of the parabola through three values, g in the middle."""
    if back == 0.0:
        return g
    slope = (after - g) / step
    earlier = (g - before) / back
    bend = (slope - earlier) / (step + back)
    if bend == 0.0:
        return g
    tangent = slope - bend * step
    return g - 0.25 * tangent * tangent / bend


def with_sign(g: float) -> float:
    """A defect that has a sign."""
    if abs(g) < LEAST * LEAST:
        return LEAST * LEAST
    return g


def follow(
    arm: Arm, aim: Frame, start: int, tangent: Array, sense: float, pool: Array,
    claimed: Integers, count: int, curve: Curve,
) -> bool:  # fmt: skip
    """The curve from a configuration of the pool on, one way; does it come back to it?

    tangent: v and w there. claimed: MET where a configuration of the pool is on the curve, UNSEEN
    where it is a root that no change of sign tells."""
    q = empty(JOINTS)
    ahead = empty(JOINTS)
    root = empty(JOINTS)
    v = empty(6)
    w = empty(6)
    J = empty(36)
    d = empty(6)
    joints = arm.count
    for j in range(joints):
        q[j] = pool[joints * start + j]
    for i in range(6):
        v[i] = sense * tangent[i]
        w[i] = tangent[6 + i]
    value = on_curve(arm, aim, q, v, w, J)
    if value == NOWHERE:
        return False
    g = with_sign(value)
    begin = g
    behind = empty(JOINTS)  # the point before, its directions, defect and step
    vb = empty(6)
    wb = empty(6)
    gb = 0.0
    back = 0.0
    step = STEP
    travelled = 0.0
    for _ in range(LENGTH):
        step_to(arm, q, v, step, ahead)
        value = on_curve(arm, aim, ahead, v, w, J)
        bent = 1.0
        if value != NOWHERE:
            for j in range(joints):
                root[j] = q[j]
            difference(arm, ahead, 0, root, d)
            bent = 0.0
            for i in range(6):
                bent = max(bent, abs(d[i] - step * v[i]))
        if bent > 0.4 * step:
            step = 0.5 * step
            if step < SHORTEST:
                return False
            continue
        after = with_sign(value)
        closed = False
        if travelled > STEP:
            back_at = passed(arm, aim, pool, start, q, v, w, step)
            closed = back_at != NOWHERE
        if closed:  # of a defect near zero only the sign at the start counts
            same = 0.0
            for i in range(6):
                same += w[i] * tangent[6 + i]
            after = begin
            if same < 0.0:
                after = -begin
            difference(arm, pool, start, q, d)
            step = 0.0
            for i in range(6):
                step += v[i] * d[i]
        crossing = 0
        if g * after < 0.0:
            met = root_between(arm, aim, q, v, w, g, step, after, root)
            if met:
                put_root(arm, root, curve)
                crossing = 1
        elif back == 0.0 or (abs(after) > abs(g) and gb * g >= 0.0 and abs(gb) >= abs(g)):
            flat = bottom(gb, back, g, step, after)
            if back == 0.0 or flat * g < 0.7 * g * g:
                crossing = dip(arm, aim, q, v, w, g, step, after, curve)
                if crossing == 0 and back > 0.0:
                    dip(arm, aim, behind, vb, wb, gb, back, g, curve)
        if closed and crossing == 0 and g * after > 0.0:
            crossing = dip(arm, aim, q, v, w, g, step, after, curve)
        for p in range(count):
            if p != start and claimed[p] == FREE:
                there = passed(arm, aim, pool, p, q, v, w, step)
                if there != NOWHERE:
                    claimed[p] = MET
                    if crossing == 0 and min(abs(g), abs(after)) > 3.0 * abs(there) + ROUNDING:
                        claimed[p] = UNSEEN
        if closed:
            return True
        curve.largest = max(curve.largest, abs(after))
        if abs(after) > STEEP:
            curve.steep += 1
            return False
        for j in range(joints):
            behind[j] = q[j]
        for i in range(6):
            vb[i] = v[i]
            wb[i] = w[i]
        gb = g
        back = step
        turn_to(J, v, w)
        travelled += step
        curve.length += step
        g = after
        for j in range(joints):
            q[j] = ahead[j]
        step = min(STEP, 1.5 * step)
    return False


def rank_lost(J: Array) -> bool:
    """Has a Jacobian lost rank, as settle.py measures it?"""
    columns = empty(42)
    e = zeros(6)
    dq = empty(7)
    for m in range(6):
        for i in range(6):
            columns[6 * m + i] = J[6 * i + m]
    shortest = least_squares(columns, e, 6, dq)
    return shortest < LOST


def same_root(arm: Arm, aim: Frame, q: Array, v: Array, w: Array, found: Array, count: int) -> int:
    """The answer that cannot be told from q, or -1: half way between them there is no defect."""
    d = empty(6)
    x = empty(6)
    J = empty(36)
    middle = empty(JOINTS)
    for k in range(count):
        difference(arm, found, k, q, d)
        gap = 0.0
        for i in range(6):
            gap = max(gap, abs(d[i]))
        if gap < SAME:
            return k
        if gap < CLOSE_ROOTS:
            step_to(arm, q, d, 0.5, middle)
            g = on_curve(arm, aim, middle, v, w, J)
            aside = 0.0  # another curve is as far away as its root
            for i in range(6):
                x[i] = d[i]
            difference(arm, found, k, middle, d)
            for i in range(6):
                aside = max(aside, abs(d[i] - 0.5 * x[i]))
            if abs(g) < 5.0 * LEAST and aside < 0.05 * gap:
                return k
    return -1


def set_aside(
    arm: Arm, aim: Frame, pool: Array, aside: Pool, found: Array, notes: Solutions
) -> int:
    """Move the answers that may be of curves to the pool, with what is known of them; how many."""
    J = empty(36)
    e = empty(6)
    v = empty(6)
    w = empty(6)
    q = empty(JOINTS)
    joints = arm.count
    rest = 0
    soft = 0
    for k in range(notes.count):
        for j in range(joints):
            q[j] = found[joints * k + j]
        residual = equations(arm, aim, q, J, e)
        s = softest(J, v, w)
        if s < SOFT_ENOUGH and soft < POOL and residual < 1e300:
            for j in range(joints):
                pool[joints * soft + j] = q[j]
            aside.rows[soft] = notes.rows[k]
            soft += 1
        else:
            for j in range(joints):
                found[joints * rest + j] = q[j]
            notes.rows[rest] = notes.rows[k]
            rest += 1
    notes.count = rest
    return soft


def families(
    arm: Arm, aim: Frame, seeds: Part, extra: int, most: int, found: Array, notes: Solutions
) -> int:
    """Answers of families counted once, those beside families told apart. How many curves there
    are.

    seeds: `extra` further configurations that may be of curves, not to be believed alone."""
    joints = arm.count
    moving = 0
    for j in range(joints):
        if not arm.joints[j].held:
            moving += 1
    if moving != 6:
        return 0
    curves = 0
    pool = empty(1056)  # (POOL + 1) * JOINTS
    aside = empty(Pool)
    claimed = integers(POOL)
    q = empty(JOINTS)
    J = empty(36)
    e = empty(6)
    v = empty(6)
    w = empty(6)
    rows = set_aside(arm, aim, pool, aside, found, notes)
    count = rows
    for k in range(extra):
        for j in range(joints):
            q[j] = seeds[joints * k + j]
        equations(arm, aim, q, J, e)
        softest(J, v, w)
        g = on_curve(arm, aim, q, v, w, J)
        if abs(g) < STEEP and count < POOL:
            for j in range(joints):
                pool[joints * count + j] = q[j]
            count += 1
    for p in range(count):
        if claimed[p] == FREE:
            claimed[p] = DONE
            more = one_curve(
                arm, aim, p, rows, count, pool, aside, claimed, most, found, notes
            )  # fmt: skip
            curves += more
    return curves


def begin_beside(arm: Arm, aim: Frame, q: Array, at: int, tangent: Array, pool: Array) -> None:
    """Where a curve is followed from, in the place `at` of the pool: a little beside q, which may
    be a root whose defect has no sign."""
    v = empty(6)
    w = empty(6)
    J = empty(36)
    beside = empty(JOINTS)
    joints = arm.count
    for j in range(joints):
        pool[joints * at + j] = q[j]
    for k in range(3):
        for i in range(6):
            v[i] = tangent[i]
            w[i] = tangent[6 + i]
        step_to(arm, q, v, FIRST_STEP * (1.0 + 0.3 * float(k)), beside)
        g = on_curve(arm, aim, beside, v, w, J)
        if abs(g) < STEEP:
            turn_to(J, v, w)
            for j in range(joints):
                pool[joints * at + j] = beside[j]
            for i in range(6):
                tangent[i] = v[i]
                tangent[6 + i] = w[i]
            if abs(g) > ROUNDING:
                break


def overlooked(
    arm: Arm, aim: Frame, q: Array, mark: int, largest: float, found: Array, count: int
) -> bool:
    """Is an answer on a curve a root of its own, which no change of sign has told?"""
    J = empty(36)
    e = empty(6)
    v = empty(6)
    w = empty(6)
    there = empty(JOINTS)
    if mark == UNSEEN:
        close = nearest(arm, q, found, count, CLOSE_ROOTS)
        if close < 0:
            return True
    joints = arm.count
    for j in range(joints):
        there[j] = q[j]
    equations(arm, aim, q, J, e)
    softest(J, v, w)
    g = on_curve(arm, aim, there, v, w, J)
    if abs(g) > min(10.0 * LEAST, SURE_ROOT * largest):
        return False
    same = same_root(arm, aim, q, v, w, found, count)
    return same < 0


def one_curve(
    arm: Arm, aim: Frame, p: int, rows: int, count: int, pool: Array, aside: Pool,
    claimed: Integers, most: int, found: Array, notes: Solutions,
) -> int:  # fmt: skip
    """The answers on the curve of a configuration of the pool; those of the pool on it are claimed.
    The first `rows` of the pool were answers before. 0 when there is no curve."""
    q = empty(JOINTS)
    tangent = empty(12)
    v = empty(6)
    w = empty(6)
    J = empty(36)
    e = empty(6)
    curve = zeros(Curve)
    joints = arm.count
    for j in range(joints):
        q[j] = pool[joints * p + j]
    residual = equations(arm, aim, q, J, e)
    softest(J, v, w)
    for i in range(6):
        tangent[i] = v[i]
        tangent[6 + i] = w[i]
    g = on_curve(arm, aim, q, v, w, J)
    first = abs(g)
    if first < STEEP:
        curve.largest = first
        claimed[p] = FREE
        begin_beside(arm, aim, q, count, tangent, pool)
        closed = follow(arm, aim, count, tangent, 1.0, pool, claimed, count, curve)
        if not closed:
            follow(arm, aim, count, tangent, -1.0, pool, claimed, count, curve)
    single = False
    if first >= STEEP or curve.length < STEP or (curve.steep > 1 and curve.length < SHORT):
        single = True  # a multiple root, or two singularities at once
    whole = False
    if not single and curve.largest < FAMILY:
        whole = True
    produced = 0
    if not single and not whole:
        for k in range(curve.count):
            for j in range(joints):
                q[j] = curve.roots[joints * k + j]
            residual = equations(arm, aim, q, J, e)
            softest(J, v, w)
            there = same_root(arm, aim, q, v, w, found, notes.count)
            if residual <= arm.accepted:
                produced += 1
                if there < 0:
                    singular = rank_lost(J)
                    add_solution(arm, q, residual, singular, 1.0, most, found, notes)
    for k in range(count):
        if k == p and claimed[k] == FREE:
            claimed[k] = MET
        if claimed[k] == MET or claimed[k] == UNSEEN:
            if single and k != p:
                claimed[k] = FREE
            elif k < rows and not single and not whole:
                for j in range(joints):
                    q[j] = pool[joints * k + j]
                missing = overlooked(arm, aim, q, claimed[k], curve.largest, found, notes.count)
                if missing:
                    own = aside.rows[k]
                    add_solution(
                        arm, q, own.residual, own.singular, own.times, most, found, notes
                    )  # fmt: skip
                    produced += 1
            if claimed[k] > FREE:
                claimed[k] = DONE
    for j in range(joints):
        q[j] = pool[joints * p + j]
    own = aside.rows[p]
    if whole and p >= rows:
        residual = equations(arm, aim, q, J, e)
        add_solution(arm, q, residual, True, 2.0, most, found, notes)
    elif whole:
        times = max(2.0, own.times)
        add_solution(arm, q, own.residual, True, times, most, found, notes)
    elif p < rows and (single or produced == 0):
        add_solution(arm, q, own.residual, own.singular, own.times, most, found, notes)
    return int(not single)
