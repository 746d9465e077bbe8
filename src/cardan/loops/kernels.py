"""Kernels of loops in closed form: one unknown after the other from what the rest cannot change.

The frames are those of inverse.numeric_kernels (`place_frames`). The plan:

    0 stages, 1 variables, 2 given ones, then the given variables, then per stage (STAGE numbers)
    variable, sigma, lower, upper, cut, twin, number of invariants, then (kind, frame, frame) each;
    of a coupling: variable, 2, lower, upper, the variable that leads, 0, 0, ratio, offset

Kinds of invariants, of the cut c and the twin t, a and b frames of the other unknowns:

    1  |O_c - O_a|² - |O_t - O_a|²         2  z_a·(O_c - O_t)        3, 4  x_a, y_a·(O_c - O_t)
    5  |O_c - P|² - |O_t - P|², P where the axes z_a, z_b meet        6  z_a·(z_c - z_t)
    7, 8, 9  x_c, y_c, z_c·(O_t - O_c)     10, 11  x_c, y_c·z_t       12  z_c·x_t
    13, 14, 15  what is left of a turn from c to t about x, y, z    16, 17  z_c·z_t - 1, x_c·x_t - 1
    18, 19, 20  x, y, z of O_c - O_t where c is turned as t, about O_a on the side of c
    21, 22, 23  the same of O_t - O_c, about O_a on the side of t
"""

from __future__ import annotations

from ..inverse.numeric.kernels import place_frames
from ..kernel.language import Array, atan2, cos, empty, sin, sqrt, zeros

__all__ = ["MOST", "MOST_INVARIANTS", "STAGE", "assemblies"]

MOST = 64  # assemblies
MOST_INVARIANTS = 8
STAGE = 31
NEAR = 1e-5  # a root satisfies the other equations to this
SAME = 1e-5
PI = 3.141592653589793


def along(f: Array, a: int, b: int, c: int) -> float:
    """Axis a of f (its first number) by the vector from origin b to origin c."""
    x = f[a] * (f[c] - f[b]) + f[a + 1] * (f[c + 1] - f[b + 1])
    return x + f[a + 2] * (f[c + 2] - f[b + 2])


def between(f: Array, a: int, b: int) -> float:
    """Scalar product of two axes."""
    return f[a] * f[b] + f[a + 1] * f[b + 1] + f[a + 2] * f[b + 2]


def apart(f: Array, a: int, px: float, py: float, pz: float) -> float:
    """Square of the distance of origin a from a point."""
    x = f[a] - px
    y = f[a + 1] - py
    z = f[a + 2] - pz
    return x * x + y * y + z * z


def from_meeting(f: Array, a: int, b: int, c: int, t: int) -> float:
    """|O_c - P|² - |O_t - P|²; 0 where the axes of a and b do not meet."""
    zx = f[a + 6]
    zy = f[a + 7]
    zz = f[a + 8]
    yx = f[b + 6]
    yy = f[b + 7]
    yz = f[b + 8]
    nx = zy * yz - zz * yy
    ny = zz * yx - zx * yz
    nz = zx * yy - zy * yx
    size = nx * nx + ny * ny + nz * nz
    dx = f[b + 9] - f[a + 9]
    dy = f[b + 10] - f[a + 10]
    dz = f[b + 11] - f[a + 11]
    gap = dx * nx + dy * ny + dz * nz
    if size < 1e-18 or abs(gap) > 1e-9:
        return 0.0
    mx = dy * yz - dz * yy
    my = dz * yx - dx * yz
    mz = dx * yy - dy * yx
    s = (mx * nx + my * ny + mz * nz) / size
    px = f[a + 9] + s * zx
    py = f[a + 10] + s * zy
    pz = f[a + 11] + s * zz
    return apart(f, c + 9, px, py, pz) - apart(f, t + 9, px, py, pz)


def invariant(f: Array, kind: int, a: int, b: int, c: int, t: int) -> float:
    """One of the kinds; frames by the place of their first number."""
    if kind == 1:
        x = apart(f, c + 9, f[a + 9], f[a + 10], f[a + 11])
        return x - apart(f, t + 9, f[a + 9], f[a + 10], f[a + 11])
    if kind == 2:
        return along(f, a + 6, t + 9, c + 9)
    if kind == 3:
        return along(f, a, t + 9, c + 9)
    if kind == 4:
        return along(f, a + 3, t + 9, c + 9)
    if kind == 5:
        return from_meeting(f, a, b, c, t)
    if kind == 6:
        return between(f, a + 6, c + 6) - between(f, a + 6, t + 6)
    if kind <= 9:
        return along(f, c + 3 * (kind - 7), c + 9, t + 9)
    if kind <= 11:
        return between(f, c + 3 * (kind - 10), t + 6)
    if kind == 12:
        return between(f, c + 6, t)
    if kind == 13:
        return between(f, c + 3, t + 6) - between(f, c + 6, t + 3)
    if kind == 14:
        return between(f, c + 6, t) - between(f, c, t + 6)
    if kind == 15:
        return between(f, c, t + 3) - between(f, c + 3, t)
    if kind == 16:
        return between(f, c + 6, t + 6) - 1.0
    if kind == 17:
        return between(f, c, t) - 1.0
    if kind <= 20:
        m = 3 * (kind - 18)
        return along(f, t + m, t + 9, a + 9) + along(f, c + m, a + 9, c + 9)
    m = 3 * (kind - 21)
    return along(f, c + m, c + 9, a + 9) + along(f, t + m, a + 9, t + 9)


def looked(
    frames: Array, plan: Array, at: int, x: float, q: Array, f: Array, values: Array
) -> None:
    """The invariants of a stage when its unknown is x."""
    q[int(plan[at])] = x
    place_frames(frames, q, f)
    c = 12 * int(plan[at + 4])
    t = 12 * int(plan[at + 5])
    count = int(plan[at + 6])
    for k in range(count):
        row = at + 7 + 3 * k
        a = 12 * int(plan[row + 1])
        b = 12 * int(plan[row + 2])
        values[k] = invariant(f, int(plan[row]), a, b, c, t)


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


def stage_roots(frames: Array, plan: Array, at: int, q: Array, f: Array, roots: Array) -> int:
    """The roots of a stage's unknown, the other variables at q; angles within half a turn of 0."""
    if plan[at + 1] > 1.5:
        roots[0] = plan[at + 7] * q[int(plan[at + 4])] + plan[at + 8]
        return 1
    one = zeros(MOST_INVARIANTS)
    two = zeros(MOST_INVARIANTS)
    three = zeros(MOST_INVARIANTS)
    count = int(plan[at + 6])
    looked(frames, plan, at, 0.0, q, f, one)
    if plan[at + 1] < 0.5:
        looked(frames, plan, at, 0.5 * PI, q, f, two)
        looked(frames, plan, at, PI, q, f, three)
        found = angles(one, two, three, count, roots)
        for r in range(found):
            if roots[r] > PI:
                roots[r] -= 2.0 * PI
            elif roots[r] < 0.0 - PI:
                roots[r] += 2.0 * PI
        return found
    looked(frames, plan, at, 1.0, q, f, two)
    looked(frames, plan, at, 0.0 - 1.0, q, f, three)
    found = lengths(one, two, three, count, roots)
    return found


def is_kept(plan: Array, first: int, x: Array, q: Array, kept: int, n: int) -> int:
    """1 when x, angles wrapped here, is within limits and not among the kept rows of q."""
    stages = int(plan[0])
    for s in range(stages):
        at = first + STAGE * s
        v = int(plan[at])
        if plan[at + 1] < 0.5:
            x[v] = atan2(sin(x[v]), cos(x[v]))
        if x[v] < plan[at + 2] - 1e-9 or x[v] > plan[at + 3] + 1e-9:
            return 0
    for k in range(kept):
        far = 0.0
        for s in range(stages):
            at = first + STAGE * s
            v = int(plan[at])
            d = abs(x[v] - q[n * k + v])
            if plan[at + 1] < 0.5 and d > PI:
                d = abs(2.0 * PI - d)
            far = max(far, d)
        if far <= SAME:
            return 0
    return 1


def assemblies(given: Array, frames: Array, plan: Array, q: Array, info: Array) -> None:
    """Every configuration at the given variables: rows of q, their number in info[0].

    info[1]: 1 when there are more than there is room for."""
    now = empty(4096)
    later = empty(4096)
    f = empty(1920)
    x = zeros(64)
    roots = empty(2)
    n = int(plan[1])
    known = int(plan[2])
    first = 3 + known
    info[1] = 0.0
    for k in range(n):
        now[k] = 0.0
    for k in range(known):
        now[int(plan[3 + k])] = given[k]
    count = 1
    for s in range(int(plan[0])):
        at = first + STAGE * s
        more = 0
        for c in range(count):
            for k in range(n):
                x[k] = now[n * c + k]
            found = stage_roots(frames, plan, at, x, f, roots)
            for r in range(found):
                if more == MOST:
                    info[1] = 1.0
                    continue
                low = plan[at + 2] - 1e-6
                high = plan[at + 3] + 1e-6
                if plan[at + 1] > 0.5 and (roots[r] < low or roots[r] > high):
                    continue
                x[int(plan[at])] = roots[r]
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
        good = is_kept(plan, first, x, q, kept, n)
        if good == 1:
            for k in range(n):
                q[n * kept + k] = x[k]
            kept += 1
    info[0] = float(kept)
