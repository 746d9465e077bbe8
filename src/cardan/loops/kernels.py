"""Kernels of loops in closed form: one unknown after the other from what the rest cannot change.

Kinds of invariants, of the cut c and the twin t, a and b frames of the other unknowns:

    1  |O_c - O_a|² - |O_t - O_a|²         2  z_a·(O_c - O_t)        3, 4  x_a, y_a·(O_c - O_t)
    5  |O_c - P|² - |O_t - P|², P where the axes z_a, z_b meet        6  z_a·(z_c - z_t)
    7, 8, 9  x_c, y_c, z_c·(O_t - O_c)     10, 11  x_c, y_c·z_t       12  z_c·x_t
    13, 14, 15  what is left of a turn from c to t about x, y, z    16, 17  z_c·z_t - 1, x_c·x_t - 1
    18, 19, 20  x, y, z of O_c - O_t where c is turned as t, about O_a on the side of c
    21, 22, 23  the same of O_t - O_c, about O_a on the side of t

Lengths are in units of the robot's size. All frames are placed once, the unknowns at zero; a root
then moves those behind its joint as one body. Loops that share no unknown are parts: each is solved
by itself, depth first, and the configurations are all their combinations, in the order of their
values to six decimals.
"""

from __future__ import annotations

from ..inverse.approach import Frame
from ..inverse.numeric.kernels import MOST_FRAMES, MOST_VARIABLES, Placed, Tree, place_frames
from ..kernel.language import (
    OPEN,
    Array,
    Integers,
    Vector,
    atan2,
    cos,
    cross,
    dot,
    empty,
    floor,
    integers,
    record,
    sin,
    slot,
    sqrt,
    zeros,
)
from ..kernel.linalg import flatness, largest_of
from .closing import MOST_EQUATIONS, Closing, Free, led_to, put_equations, put_slope

MOST = 64  # assemblies
MOST_INVARIANTS = 8
MOST_MOVED = 16  # frames behind a joint
ASIDE = MOST_FRAMES - 6  # frames from here on are set aside for looking
NEAR = 1e-5  # a root satisfies the other equations to this
SAME = 1e-5
ROUGH = 1e-13  # a residual that Newton's method makes smaller
PI = 3.141592653589793
TURN = 0  # kinds of stages: an angle,
LENGTH = 1
COUPLING = 2  # a joint that another leads; else a loop or a coupling that is only looked at


@record()
class Invariant:
    """What the joints that are left cannot change; do its frames move with the unknown?"""

    kind: int
    a: int
    b: int
    a_moves: bool
    b_moves: bool


@record(moved=MOST_MOVED, invariants=MOST_INVARIANTS)
class Stage:
    """One unknown, of a loop or led by another variable, and the frames that it moves."""

    kind: int
    part: int
    end: int  # of its part: the first stage of the next
    variable: int
    joint: int
    slides: bool
    lower: float
    upper: float
    unit: float
    gain: float
    last: bool  # of its loop, whose equations are looked at then
    loop: Closing
    cut_moves: bool
    axes: bool  # are all axes of the cut or the twin looked at?
    returns: bool  # are its frames put back in the end? Else the stage before does it
    movers: int
    whole: int  # frames of them whose axes are looked at; of the others z is enough
    moved: Integers
    count: int
    invariants: list[Invariant]


@record(given=MOST_VARIABLES, rows=OPEN)
class Plan:
    """The stages, part after part, and which variables are given."""

    stages: int
    variables: int
    known: int
    parts: int
    room: int  # rows of the answer
    size: float
    given: Integers
    rows: list[Stage]


@record(rows=MOST_FRAMES)
class LongTree(Tree):
    """The frames of any robot that there is room for."""


@slot("frames")
def tree_of(p: Array, frames: LongTree) -> None:
    """The frames, of their parameters."""


@record()
class Found:
    """How many configurations there are, and whether there are more than there is room for."""

    count: int
    more: bool


@record()
class Rated(Found):
    """Whether some are not closed to round-off, too."""

    rough: bool


@record()
class Motion:
    """A turn and a shift of frames as one body, and the value of the joint that makes it."""

    cosine: float
    sine: float
    shift: float
    value: float


@record(roots=2, saved=MOST_MOVED)
class Level:
    """A stage at work: its roots, the next of them, and the frames behind its joint at zero."""

    count: int
    next: int
    roots: list[Motion]
    saved: list[Frame]


@record(levels=MOST_VARIABLES)
class Stack:
    """The stages of a part at work."""

    levels: list[Level]


@record(values=MOST * MOST_VARIABLES, residual=MOST * MOST_VARIABLES, flat=MOST * MOST_VARIABLES)
class Parts:
    """The configurations of every part: values by row and variable; by part and row the residual,
    and the shortest over the longest column of its Jacobian, made orthogonal."""

    values: Array
    residual: Array
    flat: Array


def square_between(u: Vector, v: Vector) -> float:
    """The square of the distance of two points."""
    d = u - v
    return dot(d, d)


def along(f: Frame, axis: int, u: Vector, v: Vector) -> float:
    """An axis (0 x, 1 y, 2 z) by the vector from a point u to v."""
    d = v - u
    if axis == 0:
        return dot(f.s, d)
    if axis == 1:
        return dot(f.n, d)
    return dot(f.a, d)


def put_meeting(a: Frame, b: Frame, out: Vector) -> None:
    """Where the axes of two frames meet."""
    n = cross(a.a, b.a)
    d = b.p - a.p
    m = cross(d, b.a)
    s = dot(m, n) / dot(n, n)
    for k in range(3):
        out[k] = a.p[k] + s * a.a[k]


def from_meeting(a: Frame, b: Frame, c: Vector, t: Vector) -> float:
    """|c - P|² - |t - P|², P where the axes of a and b meet; 0 where they do not."""
    p = empty(Vector)
    n = cross(a.a, b.a)
    d = b.p - a.p
    if dot(n, n) < 1e-18 or abs(dot(d, n)) > 1e-9:
        return 0.0
    put_meeting(a, b, p)
    return square_between(c, p) - square_between(t, p)


def invariant(a: Frame, b: Frame, c: Frame, t: Frame, kind: int) -> float:
    """One of the kinds."""
    if kind == 1:
        return square_between(c.p, a.p) - square_between(t.p, a.p)
    if kind == 2:
        return along(a, 2, t.p, c.p)
    if kind <= 4:
        return along(a, kind - 3, t.p, c.p)
    if kind == 5:
        return from_meeting(a, b, c.p, t.p)
    if kind == 6:
        return dot(a.a, c.a) - dot(a.a, t.a)
    if kind <= 9:
        return along(c, kind - 7, c.p, t.p)
    if kind == 10:
        return dot(c.s, t.a)
    if kind == 11:
        return dot(c.n, t.a)
    if kind == 12:
        return dot(c.a, t.s)
    if kind == 13:
        return dot(c.n, t.a) - dot(c.a, t.n)
    if kind == 14:
        return dot(c.a, t.s) - dot(c.s, t.a)
    if kind == 15:
        return dot(c.s, t.n) - dot(c.n, t.s)
    if kind == 16:
        return dot(c.a, t.a) - 1.0
    if kind == 17:
        return dot(c.s, t.s) - 1.0
    if kind <= 20:
        return along(t, kind - 18, t.p, a.p) + along(c, kind - 18, a.p, c.p)
    return along(c, kind - 21, c.p, a.p) + along(t, kind - 21, a.p, t.p)


def put_moved(f: Frame, o: Vector, z: Vector, motion: Motion, axes: bool, out: Frame) -> None:
    """A frame moved about and along an axis through o: all its axes, or z only."""
    c = motion.cosine
    s = motion.sine
    rest = 1.0 - c
    d = f.p - o
    out.p = o + c * d + (rest * dot(z, d) + motion.shift) * z + s * cross(z, d)
    out.a = c * f.a + rest * dot(z, f.a) * z + s * cross(z, f.a)
    if axes:
        out.s = c * f.s + rest * dot(z, f.s) * z + s * cross(z, f.s)
        out.n = c * f.n + rest * dot(z, f.n) * z + s * cross(z, f.n)


def put_frame(f: Frame, axes: bool, out: Frame) -> None:
    """A copy: of all axes, or of z only."""
    out.p = f.p
    out.a = f.a
    if axes:
        out.s = f.s
        out.n = f.n


def put_turns(f: Placed, frame: int, joint: int, axes: bool, to: int) -> None:
    """A frame turned about the axis of another by a quarter and by a half, at `to` and after it;
    all its axes, or z only."""
    one = f.rows[frame]
    quarter = f.rows[to]
    half = f.rows[to + 1]
    o = f.rows[joint].p
    z = f.rows[joint].a
    d = one.p - o
    along = dot(z, d)
    quarter.p = o + along * z + cross(z, d)
    half.p = o + 2.0 * along * z - d
    along = dot(z, one.a)
    quarter.a = along * z + cross(z, one.a)
    half.a = 2.0 * along * z - one.a
    if axes:
        along = dot(z, one.s)
        quarter.s = along * z + cross(z, one.s)
        half.s = 2.0 * along * z - one.s
        along = dot(z, one.n)
        quarter.n = along * z + cross(z, one.n)
        half.n = 2.0 * along * z - one.n


def put_shifts(f: Placed, frame: int, joint: int, to: int) -> None:
    """A frame shifted along the axis of another by 1 and by -1, at `to` and after it."""
    one = f.rows[frame]
    plus = f.rows[to]
    minus = f.rows[to + 1]
    z = f.rows[joint].a
    plus.s = one.s
    plus.n = one.n
    plus.a = one.a
    plus.p = one.p + z
    minus.s = one.s
    minus.n = one.n
    minus.a = one.a
    minus.p = one.p - z


def put_aside(f: Placed, stage: Stage, frame: int, axes: bool, to: int) -> None:
    """A frame after two motions of a stage's unknown, where there is room for such."""
    if stage.slides:
        put_shifts(f, frame, stage.joint, to)
    else:
        put_turns(f, frame, stage.joint, axes, to)


def put_invariants(f: Placed, stage: Stage, values: Array) -> None:
    """The invariants of a stage at three values of its unknown: 0, then pi/2 and pi, or 1 and
    -1."""
    moved = stage.loop.twin
    if stage.cut_moves:
        moved = stage.loop.cut
    put_aside(f, stage, moved, stage.axes, ASIDE)
    for k in range(stage.count):
        one = stage.invariants[k]
        if one.a_moves:
            put_aside(f, stage, one.a, True, ASIDE + 2)
        if one.b_moves:
            put_aside(f, stage, one.b, False, ASIDE + 4)
        for m in range(3):
            a = one.a
            b = one.b
            c = stage.loop.cut
            t = stage.loop.twin
            if m > 0:
                if one.a_moves:
                    a = ASIDE + 1 + m
                if one.b_moves:
                    b = ASIDE + 3 + m
                if stage.cut_moves:
                    c = ASIDE - 1 + m
                else:
                    t = ASIDE - 1 + m
            values[MOST_INVARIANTS * m + k] = invariant(
                f.rows[a], f.rows[b], f.rows[c], f.rows[t], one.kind
            )


def missed(a: Array, b: Array, c: Array, count: int, p: float, s: float) -> float:
    """The largest of a + b p + c s."""
    worst = 0.0
    for k in range(count):
        worst = max(worst, abs(a[k] + b[k] * p + c[k] * s))
    return worst


def put_angle(p: float, s: float, root: Motion) -> None:
    """The turn with this cosine and sine, from -pi up to pi."""
    root.cosine = p
    root.sine = s
    root.shift = 0.0
    root.value = atan2(s, p)
    if root.value > PI - 1e-12:
        root.value -= 2.0 * PI


def angles(values: Array, count: int, level: Level) -> int:
    """Angles at which all of a + b cos x + c sin x vanish, of values at 0, pi/2, pi."""
    a = empty(MOST_INVARIANTS)
    b = empty(MOST_INVARIANTS)
    c = empty(MOST_INVARIANTS)
    largest = 1.0
    for k in range(count):
        a[k] = 0.5 * (values[k] + values[2 * MOST_INVARIANTS + k])
        largest = max(largest, abs(a[k]))
    used = 0
    best = 0
    widest = 0.0
    g11 = 0.0
    g12 = 0.0
    g22 = 0.0
    h1 = 0.0
    h2 = 0.0
    for k in range(count):
        x = 0.5 * (values[k] - values[2 * MOST_INVARIANTS + k])
        y = values[MOST_INVARIANTS + k] - a[k]
        z = a[k]
        size = sqrt(x * x + y * y)
        if size <= 1e-9 * largest:
            if abs(z) > NEAR:  # no angle helps
                return 0
            continue
        if size > widest:
            widest = size
            best = used
        g11 += x * x
        g12 += x * y
        g22 += y * y
        h1 -= x * z
        h2 -= y * z
        size = 1.0 / size
        a[used] = z * size
        b[used] = x * size
        c[used] = y * size
        used += 1
    if used == 0:
        return 0
    det = g11 * g22 - g12 * g12
    if used > 1 and det > 1e-10 * widest * widest * (g11 + g22):  # cosine and sine apart
        p = (g22 * h1 - g12 * h2) / det
        s = (g11 * h2 - g12 * h1) / det
        square = p * p + s * s
        if abs(square - 1.0) > NEAR or missed(a, b, c, used, p, s) > NEAR:
            return 0
        square = 1.0 / sqrt(square)
        put_angle(p * square, s * square, level.roots[0])
        return 1
    p = 0.0 - a[best]
    if abs(p) > 1.0 + 1e-7:
        return 0
    p = min(max(p, 0.0 - 1.0), 1.0)
    across = sqrt((1.0 - p) * (1.0 + p))
    found = 0
    for _ in range(2):
        x = b[best] * p - c[best] * across
        y = c[best] * p + b[best] * across
        if used == 1 or missed(a, b, c, used, x, y) < NEAR:
            put_angle(x, y, level.roots[found])
            found += 1
        if across < 1e-9:
            break
        across = 0.0 - across
    return found


def put_length(x: float, size: float, root: Motion) -> None:
    """A shift by x of the robot's size."""
    root.cosine = 1.0
    root.sine = 0.0
    root.shift = x
    root.value = x * size


def lengths(values: Array, count: int, size: float, level: Level) -> int:
    """Lengths at which all of a list of quadratics vanish, of values at 0, 1, -1."""
    a = empty(MOST_INVARIANTS)
    b = empty(MOST_INVARIANTS)
    best = 0
    largest = 0.0
    for k in range(count):
        plus = values[MOST_INVARIANTS + k]
        minus = values[2 * MOST_INVARIANTS + k]
        a[k] = 0.5 * (plus + minus) - values[k]
        b[k] = 0.5 * (plus - minus)
        if max(abs(a[k]), abs(b[k])) > largest:
            largest = max(abs(a[k]), abs(b[k]))
            best = k
    if largest < 1e-9:
        return 0
    square = b[best] * b[best] - 4.0 * a[best] * values[best]
    found = 0
    for k in range(2):
        x = 0.0
        if abs(a[best]) < 1e-10:
            if k == 1:
                continue
            x = 0.0 - values[best] / b[best]
        else:
            if square < 0.0:
                continue
            x = (0.0 - b[best] + (1.0 - 2.0 * k) * sqrt(square)) / (2.0 * a[best])
        worst = 0.0
        for m in range(count):
            if max(abs(a[m]), abs(b[m])) > 1e-9:
                worst = max(worst, abs((a[m] * x + b[m]) * x + values[m]))
            else:
                worst = max(worst, abs(values[m]))
        if worst < NEAR:
            put_length(x, size, level.roots[found])
            found += 1
    return found


def stage_roots(stage: Stage, f: Placed, q: Array, size: float, level: Level) -> int:
    """The roots of a stage's unknown, the other variables at q."""
    if stage.kind > LENGTH:
        root = level.roots[0]
        root.value = led_to(stage.loop, q)
        root.cosine = 1.0
        root.sine = 0.0
        root.shift = 0.0
        if stage.slides:
            root.shift = root.value / size
        else:
            root.cosine = cos(root.value)
            root.sine = sin(root.value)
        return 1
    values = empty(3 * MOST_INVARIANTS)
    put_invariants(f, stage, values)
    found = 0
    if stage.kind == TURN:
        found = angles(values, stage.count, level)
    else:
        found = lengths(values, stage.count, size, level)
    return found


def put_motion(stage: Stage, level: Level, motion: Motion, f: Placed) -> None:
    """The frames behind the joint of a stage after a motion of it."""
    o = 1.0 * f.rows[stage.joint].p
    z = 1.0 * f.rows[stage.joint].a
    for k in range(stage.movers):
        put_moved(level.saved[k], o, z, motion, k < stage.whole, f.rows[stage.moved[k]])


def is_within(plan: Plan, first: int, last: int, x: Array) -> bool:
    """Are the unknowns of a part within their limits?"""
    for s in range(first, last):
        stage = plan.rows[s]
        if stage.kind <= COUPLING:
            value = x[stage.variable]
            edge = 1e-9 * stage.unit
            if value < stage.lower - edge or value > stage.upper + edge:
                return False
    return True


def is_new(plan: Plan, first: int, last: int, x: Array, count: int, parts: Parts) -> bool:
    """Is x not among the first `count` configurations of a part? Whole turns are nothing."""
    n = plan.variables
    for k in range(count):
        far = 0.0
        for s in range(first, last):
            stage = plan.rows[s]
            if stage.kind <= COUPLING:
                v = stage.variable
                d = abs(x[v] - parts.values[n * k + v])
                if stage.kind == TURN and d > PI:
                    d = abs(2.0 * PI - d)
                far = max(far, d / stage.unit)
        if far <= SAME:
            return False
    return True


def put_free(plan: Plan, first: int, last: int, free: Free) -> None:
    """The unknowns of a part as columns, in the order of the variables."""
    for k in range(plan.variables):
        free.columns[k] = -1
    for s in range(first, last):
        if plan.rows[s].kind <= COUPLING:
            free.columns[plan.rows[s].variable] = s
    free.count = 0
    for k in range(plan.variables):
        if free.columns[k] >= 0:
            stage = plan.rows[free.columns[k]]
            free.variables[free.count] = k
            free.unit[free.count] = stage.unit * stage.gain
            free.columns[k] = free.count
            free.count += 1


def rated_part(
    frames: Tree, plan: Plan, first: int, last: int, f: Placed, x: Array, free: Free, parts: Parts,
    at: int,
) -> None:  # fmt: skip
    """The residual of a part and the flatness of its Jacobian, at place `at`."""
    r = empty(MOST_EQUATIONS)
    J = empty(MOST_EQUATIONS * MOST_VARIABLES)
    rows = 0
    for s in range(first, last):
        stage = plan.rows[s]
        if stage.last:
            put_equations(x, f, stage.loop, r, rows)
            put_slope(frames, f, stage.loop, free, J, rows)
            rows += stage.loop.lengths + stage.loop.angles
    parts.residual[at] = largest_of(r, rows)
    flat = flatness(J, rows, free.count)
    parts.flat[at] = flat


def is_less(x: float, y: float) -> bool:
    """To six decimals."""
    if abs(x - y) < 1e-6:
        return floor(1e6 * x + 0.5) < floor(1e6 * y + 0.5)
    return x < y


def put_part_in_order(free: Free, n: int, parts: Parts, first: int, count: int) -> None:
    """The last of the configurations of a part where it belongs."""
    j = count - 1
    while j > 0:
        earlier = False
        for k in range(free.count):
            v = free.variables[k]
            x = parts.values[n * j + v]
            y = parts.values[n * (j - 1) + v]
            if is_less(x, y):
                earlier = True
                break
            if is_less(y, x):
                break
        if not earlier:
            break
        for k in range(free.count):
            v = free.variables[k]
            x = parts.values[n * j + v]
            parts.values[n * j + v] = parts.values[n * (j - 1) + v]
            parts.values[n * (j - 1) + v] = x
        x = parts.residual[first + j]
        parts.residual[first + j] = parts.residual[first + j - 1]
        parts.residual[first + j - 1] = x
        x = parts.flat[first + j]
        parts.flat[first + j] = parts.flat[first + j - 1]
        parts.flat[first + j - 1] = x
        j -= 1


def solve_part(
    frames: Tree, plan: Plan, first: int, last: int, f: Placed, x: Array, parts: Parts,
    info: Found,
) -> int:  # fmt: skip
    """All configurations of a part, depth first, then in order. Their number."""
    stack = empty(Stack)
    free = empty(Free)
    put_free(plan, first, last, free)
    n = plan.variables
    part = plan.rows[first].part
    found = 0
    s = first
    arriving = True
    while s >= first:
        if s == last:
            good = is_within(plan, first, last, x)
            if good:
                good = is_new(plan, first, last, x, found, parts)
            if good and found == MOST:
                info.more = True
            elif good:
                for k in range(free.count):
                    v = free.variables[k]
                    parts.values[n * found + v] = x[v]
                rated_part(frames, plan, first, last, f, x, free, parts, MOST * part + found)
                found += 1
                put_part_in_order(free, n, parts, MOST * part, found)
            s -= 1
            arriving = False
            continue
        stage = plan.rows[s]
        level = stack.levels[s - first]
        if arriving:
            count = stage_roots(stage, f, x, plan.size, level)
            level.count = count
            level.next = 0
            if count > 0:
                for k in range(stage.movers):
                    put_frame(f.rows[stage.moved[k]], k < stage.whole, level.saved[k])
        if level.next == level.count:
            if stage.returns and level.count > 0:
                for k in range(stage.movers):
                    put_frame(level.saved[k], k < stage.whole, f.rows[stage.moved[k]])
            s -= 1
            arriving = False
            continue
        root = level.roots[level.next]
        level.next += 1
        if stage.kind <= COUPLING:
            edge = 1e-6 * stage.unit
            if root.value < stage.lower - edge or root.value > stage.upper + edge:
                arriving = False
                continue
            x[stage.variable] = root.value
            put_motion(stage, level, root, f)
        s += 1
        arriving = True
    return found


def is_before(q: Array, n: int, i: int, j: int) -> bool:
    """Does row i of q come before row j? By values to six decimals, the first column first."""
    for k in range(n):
        x = q[n * i + k]
        y = q[n * j + k]
        if x != y:
            if is_less(x, y):
                return True
            if is_less(y, x):
                return False
    return False


def put_in_order(q: Array, residual: Array, flat: Array, count: int, n: int) -> None:
    """Rows in order, by insertion: few are out of it."""
    for i in range(1, count):
        j = i
        while j > 0:
            if not is_before(q, n, j, j - 1):
                break
            for k in range(n):
                x = q[n * j + k]
                q[n * j + k] = q[n * (j - 1) + k]
                q[n * (j - 1) + k] = x
            x = residual[j]
            residual[j] = residual[j - 1]
            residual[j - 1] = x
            x = flat[j]
            flat[j] = flat[j - 1]
            flat[j - 1] = x
            j -= 1


def rated(
    given: Array, frames: Tree, plan: Plan, q: Array, residual: Array, flat: Array, info: Rated
) -> None:  # fmt: skip
    """Every configuration at the given variables: rows of q, in order, as many as there is room
    for; of each its residual and flatness."""
    f = empty(Placed)
    x = zeros(MOST_VARIABLES)
    parts = empty(Parts)
    counts = integers(MOST_VARIABLES)
    index = integers(MOST_VARIABLES)
    n = plan.variables
    info.more = False
    info.rough = False
    for k in range(plan.known):
        x[plan.given[k]] = given[k]
    place_frames(frames, x, f)
    total = 1
    first = 0
    while first < plan.stages and total > 0:
        part = plan.rows[first].part
        last = plan.rows[first].end
        count = solve_part(frames, plan, first, last, f, x, parts, info)
        counts[part] = count
        total = total * count
        if total > MOST:
            total = MOST + 1
        first = last
    if total > MOST:
        info.more = True
        total = MOST
    rows = total
    if rows > plan.room:
        rows = plan.room
    for i in range(rows):
        residual[i] = 0.0
        flat[i] = 1.0
        for k in range(plan.known):
            q[n * i + plan.given[k]] = given[k]
        for s in range(plan.stages):
            stage = plan.rows[s]
            if stage.kind <= COUPLING:
                v = stage.variable
                row = index[stage.part]
                q[n * i + v] = parts.values[n * row + v]
        for p in range(plan.parts):
            row = MOST * p + index[p]
            residual[i] = max(residual[i], parts.residual[row])
            flat[i] = min(flat[i], parts.flat[row])
        if not residual[i] < ROUGH:
            info.rough = True
        p = plan.parts - 1
        while p >= 0:
            index[p] += 1
            if index[p] < counts[p]:
                break
            index[p] = 0
            p -= 1
    put_in_order(q, residual, flat, rows, n)
    info.count = total


def assemblies(given: Array, frames: Tree, plan: Plan, q: Array, info: Found) -> None:
    """Every configuration at the given variables: rows of q."""
    residual = empty(MOST)
    flat = empty(MOST)
    own = empty(Rated)
    rated(given, frames, plan, q, residual, flat, own)
    info.count = own.count
    info.more = own.more


def assemblies_of_symbols(given: Array, p: Array, plan: Plan, q: Array, info: Found) -> None:
    """Every configuration at the given variables of loops with parameters."""
    frames = empty(LongTree)
    tree_of(p, frames)
    assemblies(given, frames, plan, q, info)


def is_fresh(x: Array, r: int, q: Array, kept: int, n: int) -> bool:
    """Is row r of x not among the kept rows of q? Whole turns are nothing."""
    for k in range(kept):
        far = 0.0
        for c in range(n):
            d = abs(x[n * r + c] - q[n * k + c])
            far = max(far, min(d, abs(2.0 * PI - d)))
        if far <= SAME:
            return False
    return True
