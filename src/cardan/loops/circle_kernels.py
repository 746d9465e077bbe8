"""Kernels of a platform that turns in a plane and is held at three distances (planar 3-RRR).

    |(x, y) + R(phi) h_i - e_i|² = l_i²,   i = 1, 2, 3

Two differences give x and y as quotients of trigonometric polynomials in phi; the last equation is
one of degree 5, in t = tan(phi/2) of degree 10, at most six of whose real roots are places. Roots
within [-1, 1], of t and of 1/t, are isolated by those of the derivatives."""

from __future__ import annotations

from ..kernel.language import Array, atan2, cos, empty, sin
from ..kernel.linalg import solve_square
from .kernels import PI

__all__ = ["turned"]

SPOKES = 11  # samples of a trigonometric polynomial of degree 5
DEGREE = 10
MOST_PLACES = 20


def arms(e: Array, h: Array, phi: float, g: Array) -> None:
    """g_i = R(phi) h_i - e_i, in the plane."""
    c = cos(phi)
    s = sin(phi)
    for i in range(3):
        g[2 * i] = c * h[2 * i] - s * h[2 * i + 1] - e[2 * i]
        g[2 * i + 1] = s * h[2 * i] + c * h[2 * i + 1] - e[2 * i + 1]


def turned_value(e: Array, h: Array, square: Array, phi: float, X: Array) -> float:
    """What vanishes where all three distances hold; X: D x, D y, D of the place at this phi."""
    g = empty(6)
    rest = empty(3)
    arms(e, h, phi, g)
    for i in range(3):
        rest[i] = g[2 * i] * g[2 * i] + g[2 * i + 1] * g[2 * i + 1] - square[i]
    ax = 2.0 * (g[2] - g[0])
    ay = 2.0 * (g[3] - g[1])
    bx = 2.0 * (g[4] - g[0])
    by = 2.0 * (g[5] - g[1])
    u = rest[0] - rest[1]
    v = rest[0] - rest[2]
    X[0] = u * by - v * ay
    X[1] = ax * v - bx * u
    X[2] = ax * by - ay * bx
    both = X[0] * X[0] + X[1] * X[1]
    return both + 2.0 * X[2] * (X[0] * g[0] + X[1] * g[1]) + X[2] * X[2] * rest[0]


def half_angle(e: Array, h: Array, square: Array, c: Array) -> None:
    """Coefficients in t = tan(phi/2): e^(ik phi) (1 + t²)^5 = (1 + it)^(5+k) (1 - it)^(5-k)."""
    value = empty(SPOKES)
    X = empty(3)
    re = empty(DEGREE + 1)
    im = empty(DEGREE + 1)
    for k in range(SPOKES):
        one = turned_value(e, h, square, 2.0 * PI * k / SPOKES, X)
        value[k] = one
    for k in range(DEGREE + 1):
        c[k] = 0.0
    for k in range(6):
        a = 0.0
        b = 0.0
        for m in range(SPOKES):
            a += value[m] * cos(2.0 * PI * k * m / SPOKES)
            b += value[m] * sin(2.0 * PI * k * m / SPOKES)
        if k == 0:
            a = 0.5 * a
        for m in range(DEGREE + 1):
            re[m] = 0.0
            im[m] = 0.0
        re[0] = 1.0
        for m in range(DEGREE):
            way = 1.0
            if m >= 5 + k:
                way = -1.0
            for r in range(DEGREE):
                j = DEGREE - r
                more = re[j] - way * im[j - 1]
                im[j] = im[j] + way * re[j - 1]
                re[j] = more
        for m in range(DEGREE + 1):
            c[m] = c[m] + a * re[m] + b * im[m]


def polynomial_at(c: Array, degree: int, t: float) -> float:
    total = 0.0
    for k in range(degree + 1):
        total = total * t + c[degree - k]
    return total


def crossing(c: Array, degree: int, low: float, high: float) -> float:
    """The root between two points of different signs, by halves."""
    a = low
    b = high
    below = polynomial_at(c, degree, a)
    for _ in range(60):
        t = 0.5 * (a + b)
        value = polynomial_at(c, degree, t)
        if value * below > 0.0:
            a = t
        else:
            b = t
    return 0.5 * (a + b)


def roots_within(c: Array, roots: Array) -> int:
    """Real roots in [-1, 1], double ones once: derivative after derivative, from the last."""
    d = empty(DEGREE + 1)
    points = empty(DEGREE + 3)
    count = 0
    for level in range(DEGREE):
        order = DEGREE - 1 - level
        degree = level + 1
        largest = 0.0
        for k in range(degree + 1):
            d[k] = c[order + k]
            for m in range(order):
                d[k] = d[k] * (k + m + 1.0) / (m + 1.0)
            largest = max(largest, abs(d[k]))
        points[0] = -1.0
        for k in range(count):
            points[k + 1] = roots[k]
        points[count + 1] = 1.0
        before = count
        count = 0
        for k in range(before + 1):
            low = polynomial_at(d, degree, points[k])
            high = polynomial_at(d, degree, points[k + 1])
            if low * high < 0.0 or (high == 0.0 and order > 0):
                roots[count] = crossing(d, degree, points[k], points[k + 1])
                count += 1
            elif order == 0 and k < before and abs(high) < 1e-12 * largest:
                roots[count] = points[k + 1]
                count += 1
    return count


def polished(e: Array, h: Array, square: Array, x: Array) -> float:
    """Newton's method on (x, y, phi); what is left of the equations."""
    g = empty(6)
    J = empty(9)
    r = empty(3)
    left = 0.0
    for _ in range(4):
        arms(e, h, x[2], g)
        left = 0.0
        for i in range(3):
            px = x[0] + g[2 * i]
            py = x[1] + g[2 * i + 1]
            r[i] = 0.5 * (square[i] - px * px - py * py)
            left = max(left, abs(r[i]))
            J[3 * i] = px
            J[3 * i + 1] = py
            J[3 * i + 2] = py * (g[2 * i] + e[2 * i]) - px * (g[2 * i + 1] + e[2 * i + 1])
        if left < 1e-16:
            return left
        pivots = solve_square(J, r, 3)
        if pivots < 1e-10:
            return left
        for k in range(3):
            x[k] = x[k] + r[k]
    return left


def turned(e: Array, h: Array, square: Array, places: Array) -> int:
    """(x, y, phi) of a platform in a plane, lengths of about one."""
    c = empty(DEGREE + 1)
    back = empty(DEGREE + 1)
    roots = empty(DEGREE + 2)
    X = empty(3)
    x = empty(3)
    found = 0
    half_angle(e, h, square, c)
    for k in range(DEGREE + 1):
        back[k] = c[DEGREE - k]
    for chart in range(2):
        count = 0
        if chart == 0:
            count = roots_within(c, roots)
        else:
            count = roots_within(back, roots)
        for k in range(count):
            x[2] = 2.0 * atan2(roots[k], 1.0)
            if chart == 1:
                x[2] = 2.0 * atan2(1.0, roots[k])
            left = turned_value(e, h, square, x[2], X)
            if abs(X[2]) < 1e-9:
                continue
            x[0] = X[0] / X[2]
            x[1] = X[1] / X[2]
            left = polished(e, h, square, x)
            if left < 1e-7 and found < MOST_PLACES:
                for m in range(3):
                    places[3 * found + m] = x[m]
                found += 1
    return found
