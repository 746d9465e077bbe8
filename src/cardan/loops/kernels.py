"""Kernels of loops in closed form: one unknown after the other from what the rest cannot change.

Kinds of invariants, of the cut c and the twin t, a and b frames of the other unknowns:

    1  |O_c - O_a|² - |O_t - O_a|²         2  z_a·(O_c - O_t)        3, 4  x_a, y_a·(O_c - O_t)
    5  |O_c - P|² - |O_t - P|², P where the axes z_a, z_b meet        6  z_a·(z_c - z_t)
    7, 8, 9  x_c, y_c, z_c·(O_t - O_c)     10, 11  x_c, y_c·z_t       12  z_c·x_t
    13, 14, 15  what is left of a turn from c to t about x, y, z    16, 17  z_c·z_t - 1, x_c·x_t - 1
    18, 19, 20  x, y, z of O_c - O_t where c is turned as t, about O_a on the side of c
    21, 22, 23  the same of O_t - O_c, about O_a on the side of t
"""

from __future__ import annotations

from ..inverse.approach import Frame
from ..inverse.numeric.kernels import MOST_VARIABLES, Placed, Tree, place_frames
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
    record,
    sin,
    sqrt,
    zeros,
)

__all__ = ["ADDED", "COUPLING", "MOST", "MOST_INVARIANTS", "Found", "Plan", "Stage", "assemblies"]

MOST = 64  # assemblies
MOST_INVARIANTS = 8
NEAR = 1e-5  # a root satisfies the other equations to this
SAME = 1e-5
PI = 3.141592653589793
TURN = 0  # kinds of stages: an angle,
COUPLING = 2  # or a joint that another leads,
ADDED = 3  # and one more that leads it; else a length


@record()
class Invariant:
    """What the joints that are left cannot change."""

    kind: int
    a: int
    b: int


@record(invariants=MOST_INVARIANTS)
class Stage:
    """One unknown: of a loop, or led by another (`cut`) with ratio and offset."""

    variable: int
    kind: int
    lower: float
    upper: float
    ratio: float
    offset: float
    cut: int
    twin: int
    count: int
    invariants: list[Invariant]


@record(given=MOST_VARIABLES, rows=OPEN)
class Plan:
    """The stages, and which variables are given."""

    stages: int
    variables: int
    known: int
    given: Integers
    rows: list[Stage]


@record()
class Found:
    """How many configurations there are, and whether there are more than there is room for."""

    count: int
    more: bool


def apart(u: Vector, v: Vector) -> float:
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


def from_meeting(a: Frame, b: Frame, c: Vector, t: Vector) -> float:
    """|c - P|² - |t - P|², P where the axes of a and b meet; 0 where they do not."""
    n = cross(a.a, b.a)
    size = dot(n, n)
    d = b.p - a.p
    if size < 1e-18 or abs(dot(d, n)) > 1e-9:
        return 0.0
    m = cross(d, b.a)
    p = a.p + dot(m, n) / size * a.a
    return apart(c, p) - apart(t, p)


def invariant(a: Frame, b: Frame, c: Frame, t: Frame, kind: int) -> float:
    """One of the kinds."""
    if kind == 1:
        return apart(c.p, a.p) - apart(t.p, a.p)
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


def looked(tree: Tree, stage: Stage, x: float, q: Array, f: Placed, values: Array) -> None:
    """The invariants of a stage when its unknown is x."""
    q[stage.variable] = x
    place_frames(tree, q, f)
    c = f.rows[stage.cut]
    t = f.rows[stage.twin]
    for k in range(stage.count):
        one = stage.invariants[k]
        values[k] = invariant(f.rows[one.a], f.rows[one.b], c, t, one.kind)


def missed(a: Array, b: Array, c: Array, size: Array, count: int, p: float, s: float) -> float:
    """The largest of (a + b p + c s) / size."""
    worst = 0.0
    for k in range(count):
        if size[k] > 0.0:
            worst = max(worst, abs(a[k] + b[k] * p + c[k] * s) / size[k])
    return worst


def angles(zero: Array, quarter: Array, half: Array, count: int, roots: Array) -> int:
    """Angles at which all of a + b cos x + c sin x vanish, of values at 0, pi/2, pi."""
    a = empty(MOST_INVARIANTS)
    b = empty(MOST_INVARIANTS)
    c = empty(MOST_INVARIANTS)
    size = empty(MOST_INVARIANTS)
    largest = 1.0
    for k in range(count):
        a[k] = 0.5 * (zero[k] + half[k])
        b[k] = 0.5 * (zero[k] - half[k])
        c[k] = quarter[k] - a[k]
        largest = max(largest, abs(a[k]))
    best = 0
    used = 0
    for k in range(count):
        size[k] = sqrt(b[k] * b[k] + c[k] * c[k])
        if size[k] <= 1e-9 * largest:
            size[k] = 0.0
            if abs(a[k]) > NEAR:  # no angle helps
                return 0
        else:
            used += 1
        if size[k] > size[best]:
            best = k
    if used == 0:
        return 0
    g11 = 0.0
    g12 = 0.0
    g22 = 0.0
    h1 = 0.0
    h2 = 0.0
    for k in range(count):
        if size[k] > 0.0:
            p = b[k] / size[k]
            s = c[k] / size[k]
            g11 += p * p
            g12 += p * s
            g22 += s * s
            h1 -= p * a[k] / size[k]
            h2 -= s * a[k] / size[k]
    det = g11 * g22 - g12 * g12
    if used > 1 and det > 1e-10 * (g11 + g22):  # cosine and sine apart
        p = (g22 * h1 - g12 * h2) / det
        s = (g11 * h2 - g12 * h1) / det
        if abs(p * p + s * s - 1.0) > NEAR or missed(a, b, c, size, count, p, s) > NEAR:
            return 0
        roots[0] = atan2(s, p)
        return 1
    p = 0.0 - a[best] / size[best]
    if abs(p) > 1.0 + 1e-7:
        return 0
    p = min(max(p, 0.0 - 1.0), 1.0)
    middle = atan2(c[best], b[best])
    spread = atan2(sqrt(max(0.0, 1.0 - p * p)), p)
    found = 0
    for k in range(2):
        x = middle + spread
        if k == 1:
            x = middle - spread
        if k == 1 and (spread < 1e-9 or PI - spread < 1e-9):
            continue
        if missed(a, b, c, size, count, cos(x), sin(x)) < NEAR:
            roots[found] = x
            found += 1
    return found


def lengths(zero: Array, plus: Array, minus: Array, count: int, roots: Array) -> int:
    """Lengths at which all of a list of quadratics vanish, of values at 0, 1, -1."""
    best = 0
    largest = 0.0
    for k in range(count):
        a = 0.5 * (plus[k] + minus[k]) - zero[k]
        b = 0.5 * (plus[k] - minus[k])
        if max(abs(a), abs(b)) > largest:
            largest = max(abs(a), abs(b))
            best = k
    if largest < 1e-9:
        return 0
    a = 0.5 * (plus[best] + minus[best]) - zero[best]
    b = 0.5 * (plus[best] - minus[best])
    square = b * b - 4.0 * a * zero[best]
    found = 0
    for k in range(2):
        x = 0.0
        if abs(a) < 1e-10:
            if k == 1:
                continue
            x = 0.0 - zero[best] / b
        else:
            if square < 0.0:
                continue
            x = (0.0 - b + (1.0 - 2.0 * k) * sqrt(square)) / (2.0 * a)
        worst = 0.0
        for m in range(count):
            a2 = 0.5 * (plus[m] + minus[m]) - zero[m]
            b2 = 0.5 * (plus[m] - minus[m])
            if max(abs(a2), abs(b2)) > 1e-9:
                worst = max(worst, abs((a2 * x + b2) * x + zero[m]))
            else:
                worst = max(worst, abs(zero[m]))
        if worst < NEAR:
            roots[found] = x
            found += 1
    return found


def stage_roots(tree: Tree, stage: Stage, q: Array, f: Placed, roots: Array) -> int:
    """The roots of a stage's unknown, the other variables at q; angles within half a turn of 0."""
    if stage.kind == COUPLING:
        roots[0] = stage.ratio * q[stage.cut] + stage.offset
        return 1
    if stage.kind == ADDED:
        roots[0] = q[stage.variable] + stage.ratio * q[stage.cut]
        return 1
    one = zeros(MOST_INVARIANTS)
    two = zeros(MOST_INVARIANTS)
    three = zeros(MOST_INVARIANTS)
    looked(tree, stage, 0.0, q, f, one)
    if stage.kind == TURN:
        looked(tree, stage, 0.5 * PI, q, f, two)
        looked(tree, stage, PI, q, f, three)
        found = angles(one, two, three, stage.count, roots)
        for r in range(found):
            if roots[r] > PI:
                roots[r] -= 2.0 * PI
            elif roots[r] < 0.0 - PI:
                roots[r] += 2.0 * PI
        return found
    looked(tree, stage, 1.0, q, f, two)
    looked(tree, stage, 0.0 - 1.0, q, f, three)
    found = lengths(one, two, three, stage.count, roots)
    return found


def is_kept(plan: Plan, x: Array, q: Array, kept: int) -> bool:
    """Is x, angles wrapped here, within limits and not among the kept rows of q?"""
    for s in range(plan.stages):
        stage = plan.rows[s]
        v = stage.variable
        if stage.kind == TURN:
            x[v] = atan2(sin(x[v]), cos(x[v]))
        if x[v] < stage.lower - 1e-9 or x[v] > stage.upper + 1e-9:
            return False
    for k in range(kept):
        far = 0.0
        for s in range(plan.stages):
            v = plan.rows[s].variable
            d = abs(x[v] - q[plan.variables * k + v])
            if plan.rows[s].kind == TURN and d > PI:
                d = abs(2.0 * PI - d)
            far = max(far, d)
        if far <= SAME:
            return False
    return True


def assemblies(given: Array, frames: Tree, plan: Plan, q: Array, info: Found) -> None:
    """Every configuration at the given variables: rows of q."""
    now = empty(MOST * MOST_VARIABLES)
    later = empty(MOST * MOST_VARIABLES)
    f = empty(Placed)
    x = zeros(MOST_VARIABLES)
    roots = empty(2)
    n = plan.variables
    info.more = False
    for k in range(n):
        now[k] = 0.0
    for k in range(plan.known):
        now[plan.given[k]] = given[k]
    count = 1
    for s in range(plan.stages):
        stage = plan.rows[s]
        more = 0
        for c in range(count):
            for k in range(n):
                x[k] = now[n * c + k]
            found = stage_roots(frames, stage, x, f, roots)
            for r in range(found):
                if more == MOST:
                    info.more = True
                    continue
                outside = roots[r] < stage.lower - 1e-6 or roots[r] > stage.upper + 1e-6
                if stage.kind != TURN and outside:
                    continue
                x[stage.variable] = roots[r]
                for k in range(n):
                    later[n * more + k] = x[k]
                more += 1
        count = more
        for k in range(n * count):
            now[k] = later[k]
    kept = 0
    for c in range(count):
        for k in range(n):
            x[k] = now[n * c + k]
        good = is_kept(plan, x, q, kept)
        if good:
            for k in range(n):
                q[n * kept + k] = x[k]
            kept += 1
    info.count = kept
