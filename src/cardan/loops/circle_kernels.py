"""Kernels of a platform that turns in a plane and is held at three distances (planar 3-RRR).

    |(x, y) + R(phi) h_i - e_i|² = l_i²,   i = 1, 2, 3

Two differences give x and y as quotients of trigonometric polynomials in phi; the last equation is
one of degree 5, in t = tan(phi/2) of degree 10, at most six of whose real roots are places. Roots
within [-1, 1], of t and of 1/t, are isolated by those of the derivatives."""

from __future__ import annotations

from ..kernel.language import Array, atan2, cos, empty, record, sin
from ..kernel.linalg import solve_square
from .kernels import PI

LEGS = 3
SPOKES = 11  # samples of a trigonometric polynomial of degree 5
DEGREE = 10
MOST_PLACES = 20


@record()
class Point:
    """A point of the plane."""

    x: float
    y: float


@record()
class Circle:
    """A leg: e, h, and the square of the distance."""

    e: Point
    h: Point
    square: float


@record(rows=LEGS)
class Circles:
    """Of the three legs."""

    rows: list[Circle]


@record(rows=LEGS)
class Arms:
    """g_i = R(phi) h_i - e_i."""

    rows: list[Point]


@record()
class Place:
    """Where the platform is."""

    x: float
    y: float
    phi: float


@record(rows=MOST_PLACES)
class Places:
    """All of them."""

    rows: list[Place]


@record()
class Quotient:
    """x and y of a place, times D."""

    x: float
    y: float
    D: float


def arms(legs: Circles, phi: float, g: Arms) -> None:
    """g of all legs."""
    c = cos(phi)
    s = sin(phi)
    for i in range(LEGS):
        leg = legs.rows[i]
        g.rows[i].x = c * leg.h.x - s * leg.h.y - leg.e.x
        g.rows[i].y = s * leg.h.x + c * leg.h.y - leg.e.y


def turned_value(legs: Circles, phi: float, X: Quotient) -> float:
    """What vanishes where all three distances hold."""
    g = empty(Arms)
    rest = empty(LEGS)
    arms(legs, phi, g)
    for i in range(LEGS):
        rest[i] = g.rows[i].x * g.rows[i].x + g.rows[i].y * g.rows[i].y - legs.rows[i].square
    one = g.rows[0]
    two = g.rows[1]
    three = g.rows[2]
    ax = 2.0 * (two.x - one.x)
    ay = 2.0 * (two.y - one.y)
    bx = 2.0 * (three.x - one.x)
    by = 2.0 * (three.y - one.y)
    u = rest[0] - rest[1]
    v = rest[0] - rest[2]
    X.x = u * by - v * ay
    X.y = ax * v - bx * u
    X.D = ax * by - ay * bx
    both = X.x * X.x + X.y * X.y
    return both + 2.0 * X.D * (X.x * one.x + X.y * one.y) + X.D * X.D * rest[0]


def half_angle(legs: Circles, c: Array) -> None:
    """Coefficients in t = tan(phi/2): e^(ik phi) (1 + t²)^5 = (1 + it)^(5+k) (1 - it)^(5-k)."""
    value = empty(SPOKES)
    X = empty(Quotient)
    re = empty(DEGREE + 1)
    im = empty(DEGREE + 1)
    for k in range(SPOKES):
        one = turned_value(legs, 2.0 * PI * k / SPOKES, X)
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


def polished(legs: Circles, place: Place) -> float:
    """Newton's method; what is left of the equations."""
    g = empty(Arms)
    J = empty(9)
    r = empty(3)
    left = 0.0
    for _ in range(4):
        arms(legs, place.phi, g)
        left = 0.0
        for i in range(LEGS):
            leg = legs.rows[i]
            px = place.x + g.rows[i].x
            py = place.y + g.rows[i].y
            r[i] = 0.5 * (leg.square - px * px - py * py)
            left = max(left, abs(r[i]))
            J[3 * i] = px
            J[3 * i + 1] = py
            J[3 * i + 2] = py * (g.rows[i].x + leg.e.x) - px * (g.rows[i].y + leg.e.y)
        if left < 1e-16:
            return left
        pivots = solve_square(J, r, 3)
        if pivots < 1e-10:
            return left
        place.x += r[0]
        place.y += r[1]
        place.phi += r[2]
    return left


def turned(legs: Circles, places: Places) -> int:
    """The places of a platform in a plane, lengths of about one."""
    c = empty(DEGREE + 1)
    back = empty(DEGREE + 1)
    roots = empty(DEGREE + 2)
    X = empty(Quotient)
    place = empty(Place)
    count = 0
    half_angle(legs, c)
    for k in range(DEGREE + 1):
        back[k] = c[DEGREE - k]
    for chart in range(2):
        real = 0
        if chart == 0:
            real = roots_within(c, roots)
        else:
            real = roots_within(back, roots)
        for k in range(real):
            place.phi = 2.0 * atan2(roots[k], 1.0)
            if chart == 1:
                place.phi = 2.0 * atan2(1.0, roots[k])
            left = turned_value(legs, place.phi, X)
            if abs(X.D) < 1e-9:
                continue
            place.x = X.x / X.D
            place.y = X.y / X.D
            left = polished(legs, place)
            if left < 1e-7 and count < MOST_PLACES:
                places.rows[count] = place
                count += 1
    return count
