"""Kernels of the direct geometry of a platform on six legs: a path of complex solutions followed.

A pose is a point of P⁷, a quaternion x and w = P x: the Study quadric x·w = 0 with x·x not zero.
Of a leg that holds the platform's point h at the distance l from E (Husty 1996, with w for 2 y)

    v = x h - E x + w,    2 f = v·v - l² x·x = 0

by products of quaternions: with d = h - E, s = h + E

    v = (w0 - d·x, x0 d + x × s + w)

All are quadrics in complex numbers, real parts beside imaginary ones (x, xi). The legs go from
those whose solutions are known to those asked for, straight and in complex numbers; a solution is
carried along by the rule of Runge and Kutta of order 4 and Newton's method. Lengths by z itself:
the plane z̄·z = 1 of every step turns with the point, so that no solution is far away.
"""

from __future__ import annotations

from ..kernel.language import Array, Vector, cross, dot, empty, record, sqrt
from ..kernel.linalg import complex_solve

LEGS = 6
SIZE = 8  # complex coordinates of P⁷
STUDY = 6  # row of the Study quadric, after those of the legs
PLANE = 7  # and of z̄·z = 1
FINEST = 1e-14
MOST_STEPS = 4000


@record()
class Held:
    """A leg: d = h - E, s = h + E and the square of the distance; imaginary parts behind."""

    d: Vector
    s: Vector
    square: float
    di: Vector
    si: Vector
    squarei: float


@record(rows=LEGS)
class Legs:
    """The six of them."""

    rows: list[Held]


@record()
class Pace:
    """How far off a prediction may be, and the least step of the way from 0 to 1."""

    off: float
    least: float


@record()
class Reached:
    """How far a path was followed, from 0 to 1; the last correction; the smallest over the largest
    pivot there; steps."""

    share: float
    correction: float
    flat: float
    steps: int


@record()
class Dual:
    """A point of P⁷ by its parts."""

    x0: float
    x: Vector
    w0: float
    w: Vector
    x0i: float
    xi: Vector
    w0i: float
    wi: Vector


def put_dual(z: Array, y: Dual) -> None:
    """z (8 real parts, 8 imaginary ones) by its parts."""
    y.x0 = z[0]
    y.w0 = z[4]
    y.x0i = z[SIZE]
    y.w0i = z[SIZE + 4]
    for k in range(3):
        y.x[k] = z[1 + k]
        y.w[k] = z[5 + k]
        y.xi[k] = z[SIZE + 1 + k]
        y.wi[k] = z[SIZE + 5 + k]


def put_between(begin: Legs, change: Legs, t: float, legs: Legs) -> None:
    """The legs at t of the way."""
    for i in range(LEGS):
        a = begin.rows[i]
        b = change.rows[i]
        c = legs.rows[i]
        c.d = a.d + t * b.d
        c.s = a.s + t * b.s
        c.square = a.square + t * b.square
        c.di = a.di + t * b.di
        c.si = a.si + t * b.si
        c.squarei = a.squarei + t * b.squarei


def put_image(leg: Held, y: Dual, v: Dual) -> None:
    """x h - E x as the quaternion (v.x0, v.x)."""
    v.x0 = dot(leg.di, y.xi) - dot(leg.d, y.x)
    v.x0i = 0.0 - dot(leg.d, y.xi) - dot(leg.di, y.x)
    v.x = y.x0 * leg.d - y.x0i * leg.di + cross(y.x, leg.s) - cross(y.xi, leg.si)
    v.xi = y.x0 * leg.di + y.x0i * leg.d + cross(y.x, leg.si) + cross(y.xi, leg.s)


def put_system(legs: Legs, z: Array, plane: Array, J: Array, F: Array) -> None:
    """The eight equations and their derivatives: real parts, then imaginary ones."""
    y = empty(Dual)
    v = empty(Dual)
    put_dual(z, y)
    xx = y.x0 * y.x0 - y.x0i * y.x0i + dot(y.x, y.x) - dot(y.xi, y.xi)
    xxi = 2.0 * (y.x0 * y.x0i + dot(y.x, y.xi))
    im = SIZE * SIZE
    for i in range(LEGS):
        leg = legs.rows[i]
        put_image(leg, y, v)
        v.x0 += y.w0
        v.x0i += y.w0i
        v.x = v.x + y.w
        v.xi = v.xi + y.wi
        vv = v.x0 * v.x0 - v.x0i * v.x0i + dot(v.x, v.x) - dot(v.xi, v.xi)
        vvi = 2.0 * (v.x0 * v.x0i + dot(v.x, v.xi))
        F[i] = 0.5 * (vv - leg.square * xx + leg.squarei * xxi)
        F[SIZE + i] = 0.5 * (vvi - leg.square * xxi - leg.squarei * xx)
        row = SIZE * i
        J[row] = dot(leg.d, v.x) - dot(leg.di, v.xi) - leg.square * y.x0 + leg.squarei * y.x0i
        J[im + row] = dot(leg.d, v.xi) + dot(leg.di, v.x) - leg.square * y.x0i - leg.squarei * y.x0
        g = cross(leg.s, v.x) - cross(leg.si, v.xi) - v.x0 * leg.d + v.x0i * leg.di
        g = g - leg.square * y.x + leg.squarei * y.xi
        h = cross(leg.s, v.xi) + cross(leg.si, v.x) - v.x0 * leg.di - v.x0i * leg.d
        h = h - leg.square * y.xi - leg.squarei * y.x
        J[row + 4] = v.x0
        J[im + row + 4] = v.x0i
        for k in range(3):
            J[row + 1 + k] = g[k]
            J[im + row + 1 + k] = h[k]
            J[row + 5 + k] = v.x[k]
            J[im + row + 5 + k] = v.xi[k]
    F[STUDY] = y.x0 * y.w0 - y.x0i * y.w0i + dot(y.x, y.w) - dot(y.xi, y.wi)
    F[SIZE + STUDY] = y.x0 * y.w0i + y.x0i * y.w0 + dot(y.x, y.wi) + dot(y.xi, y.w)
    F[PLANE] = 0.0 - 1.0
    F[SIZE + PLANE] = 0.0
    for k in range(SIZE):
        other = (k + 4) % SIZE
        J[SIZE * STUDY + k] = z[other]
        J[im + SIZE * STUDY + k] = z[SIZE + other]
        J[SIZE * PLANE + k] = plane[k]
        J[im + SIZE * PLANE + k] = 0.0 - plane[SIZE + k]
        F[PLANE] += plane[k] * z[k] + plane[SIZE + k] * z[SIZE + k]
        F[SIZE + PLANE] += plane[k] * z[SIZE + k] - plane[SIZE + k] * z[k]


def put_tangent(legs: Legs, change: Legs, z: Array, plane: Array, dz: Array) -> None:
    """dz/dt of the solution while the legs change."""
    J = empty(2 * SIZE * SIZE)
    y = empty(Dual)
    v = empty(Dual)
    u = empty(Dual)
    put_system(legs, z, plane, J, dz)
    put_dual(z, y)
    xx = y.x0 * y.x0 - y.x0i * y.x0i + dot(y.x, y.x) - dot(y.xi, y.xi)
    xxi = 2.0 * (y.x0 * y.x0i + dot(y.x, y.xi))
    for k in range(2 * SIZE):
        dz[k] = 0.0
    for i in range(LEGS):
        by = change.rows[i]
        put_image(legs.rows[i], y, v)
        v.x0 += y.w0
        v.x0i += y.w0i
        v.x = v.x + y.w
        v.xi = v.xi + y.wi
        put_image(by, y, u)
        uv = v.x0 * u.x0 - v.x0i * u.x0i + dot(v.x, u.x) - dot(v.xi, u.xi)
        uvi = v.x0 * u.x0i + v.x0i * u.x0 + dot(v.x, u.xi) + dot(v.xi, u.x)
        dz[i] = 0.5 * (by.square * xx - by.squarei * xxi) - uv
        dz[SIZE + i] = 0.5 * (by.square * xxi + by.squarei * xx) - uvi
    complex_solve(J, dz, SIZE)


def length_of(z: Array) -> float:
    """Of a complex vector."""
    total = 0.0
    for k in range(2 * SIZE):
        total += z[k] * z[k]
    return sqrt(total)


def put_step(z: Array, h: float, dz: Array, out: Array) -> None:
    """z + h dz."""
    for k in range(2 * SIZE):
        out[k] = z[k] + h * dz[k]


def follow_path(
    start: Array, begin: Legs, end: Legs, pace: Pace, z: Array, info: Reached
) -> None:  # fmt: skip
    """The solution that a solution of the legs `begin` becomes for the legs `end`."""
    change = empty(Legs)
    legs = empty(Legs)
    half = empty(Legs)
    J = empty(2 * SIZE * SIZE)
    dz = empty(2 * SIZE)
    a = empty(2 * SIZE)
    b = empty(2 * SIZE)
    c = empty(2 * SIZE)
    d = empty(2 * SIZE)
    trial = empty(2 * SIZE)
    plane = empty(2 * SIZE)
    for i in range(LEGS):
        change.rows[i].d = end.rows[i].d - begin.rows[i].d
        change.rows[i].s = end.rows[i].s - begin.rows[i].s
        change.rows[i].square = end.rows[i].square - begin.rows[i].square
        change.rows[i].di = end.rows[i].di - begin.rows[i].di
        change.rows[i].si = end.rows[i].si - begin.rows[i].si
        change.rows[i].squarei = end.rows[i].squarei - begin.rows[i].squarei
    scale = 1.0 / length_of(start)
    for k in range(2 * SIZE):
        z[k] = scale * start[k]
        plane[k] = z[k]
    share = 0.0
    size = 0.05
    steps = 0
    fresh = True
    info.correction = 1.0
    while share < 1.0 and steps < MOST_STEPS and size >= pace.least:
        steps += 1
        size = min(size, 1.0 - share)
        if fresh:
            put_between(begin, change, share, legs)
            put_tangent(legs, change, z, plane, a)
        to = share + size
        if 1.0 - to < 1e-14:
            to = 1.0
        put_between(begin, change, share + 0.5 * size, half)
        put_step(z, 0.5 * size, a, trial)
        put_tangent(half, change, trial, plane, b)
        put_step(z, 0.5 * size, b, trial)
        put_tangent(half, change, trial, plane, c)
        put_step(z, size, c, trial)
        put_between(begin, change, to, legs)
        put_tangent(legs, change, trial, plane, d)
        for k in range(2 * SIZE):
            trial[k] = z[k] + size / 6.0 * (a[k] + 2.0 * (b[k] + c[k]) + d[k])
        first = 0.0
        last = 1.0
        for m in range(3):
            put_system(legs, trial, plane, J, dz)
            complex_solve(J, dz, SIZE)
            for k in range(2 * SIZE):
                trial[k] -= dz[k]
            last = length_of(dz)
            if m == 0:
                first = last
            if last < 1e-10 or first > pace.off:
                break
        fresh = first <= pace.off and last < 1e-8
        factor = 0.4
        if fresh:
            scale = 1.0 / length_of(trial)
            for k in range(2 * SIZE):
                z[k] = scale * trial[k]
                plane[k] = z[k]
            share = to
            info.correction = last
            factor = 2.0
            if first > 0.02 * pace.off:
                factor = 1.0
        size = factor * size
    put_between(begin, change, share, legs)
    for _ in range(3):
        put_system(legs, z, plane, J, dz)
        flat = complex_solve(J, dz, SIZE)
        info.flat = flat
        info.correction = length_of(dz)
        if info.correction > 1e-6 or share < 1.0:
            break
        for k in range(2 * SIZE):
            z[k] -= dz[k]
        if info.correction < FINEST:
            break
    info.share = share
    info.steps = steps
