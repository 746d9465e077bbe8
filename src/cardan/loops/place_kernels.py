"""Kernels of the direct geometry of platforms held at distances: five-bar, Delta, 3-RRR.

Leg i turns about E_i, given by the active joints, and holds the platform's point H_i at a distance:

    |H_i(x) - E_i|² = l_i²

Two circles, three spheres, or for a platform that turns in a plane a polynomial of degree 10 in
tan(phi/2), whose real roots are isolated by those of its derivatives. At each place the legs are
closed by kernels.rated.
"""

from __future__ import annotations

from ..inverse.numeric.kernels import MOST_VARIABLES, Placed, Tree, place_frames
from ..kernel.language import (
    Array,
    Integers,
    Part,
    Vector,
    cross,
    dot,
    empty,
    record,
    sqrt,
    zeros,
)
from ..kernel.linalg import solve_square
from .circle_kernels import LEGS, MOST_PLACES, Circles, Places, turned
from .kernels import MOST, PI, Found, Plan, Rated, is_fresh, put_in_order, put_meeting, rated

POINT = 0  # motions: a point of a plane,
PLANE = 2  # a plane with a turn; else a point of space


@record()
class Leg:
    """Frames: the end of the leg, the platform's point, and the axes that meet at E (the second 0:
    the origin of the first)."""

    tip: int
    hold: int
    first: int
    second: int


@record(columns=MOST_VARIABLES, frames=LEGS, rows=LEGS)
class Hold:
    """How a platform is held: columns of the active joints, frames of its coordinates, the legs."""

    motion: int
    legs: int
    coordinates: int
    active: int
    columns: Integers
    frames: Integers
    rows: list[Leg]


@record()
class Distance:
    """A leg at work: E, H and the square of the distance."""

    centre: Vector
    point: Vector
    square: float


@record(rows=LEGS)
class Distances:
    """Of all legs."""

    rows: list[Distance]


def measured(f: Placed, hold: Hold, legs: Distances) -> None:
    """Centres, the platform's points and squares of the distances, leg by leg."""
    for i in range(hold.legs):
        leg = hold.rows[i]
        own = legs.rows[i]
        own.centre = f.rows[leg.first].p
        if leg.second > 0:
            put_meeting(f.rows[leg.first], f.rows[leg.second], own.centre)
        own.point = f.rows[leg.hold].p
        gap = f.rows[leg.tip].p - own.centre
        own.square = dot(gap, gap)


def put_pair(foot: Vector, up: float, n: Vector, places: Array) -> None:
    """Two points on both sides of a foot."""
    for k in range(3):
        places[k] = foot[k] + up * n[k]
        places[3 + k] = foot[k] - up * n[k]


def spheres(legs: Distances, places: Array) -> int:
    """Points at the distances from three centres: C_0 plus what lies in their plane and across."""
    one = legs.rows[0]
    two = legs.rows[1]
    three = legs.rows[2]
    c = one.centre - one.point
    a = two.centre - two.point - c
    b = three.centre - three.point - c
    n = cross(a, b)
    size = dot(n, n)
    if size <= 1e-18 * dot(a, a) * dot(b, b):
        return 0
    da = 0.5 * (one.square - two.square + dot(a, a)) / size
    db = 0.5 * (one.square - three.square + dot(b, b)) / size
    foot = da * cross(b, n) + db * cross(n, a)
    rest = one.square - dot(foot, foot)
    if rest < -1e-12 * one.square:
        return 0
    foot = c + foot
    put_pair(foot, sqrt(max(rest, 0.0) / size), n, places)
    return 2


def two_circles(legs: Distances, n: Vector, places: Array) -> int:
    """Points of a plane through the origin, n its normal of length 1, at two distances."""
    one = legs.rows[0]
    two = legs.rows[1]
    c = one.centre - one.point
    d = two.centre - two.point
    near = one.square - dot(c, n) * dot(c, n)
    far = two.square - dot(d, n) * dot(d, n)
    c = c - dot(c, n) * n
    d = d - dot(d, n) * n
    a = d - c
    wide = dot(a, a)
    if wide <= 1e-18 * (one.square + two.square):
        return 0
    along = 0.5 * (wide + near - far) / wide
    across = near / wide - along * along
    if across < -1e-12 * (1.0 + along * along):
        return 0
    side = cross(n, a)
    foot = c + along * a
    put_pair(foot, sqrt(max(across, 0.0)), side, places)
    return 2


def in_plane(f: Placed, hold: Hold, legs: Distances, size: float, x: Array) -> int:
    """A platform that turns: everything in the axes of its plane, divided by its size. Its
    coordinates, row by row."""
    circles = empty(Circles)
    places = empty(Places)
    u = f.rows[hold.frames[0]].a
    v = f.rows[hold.frames[1]].a
    w = f.rows[hold.frames[2]].a
    origin = f.rows[hold.frames[2]].p
    largest = 0.0
    for i in range(LEGS):
        leg = legs.rows[i]
        circle = circles.rows[i]
        centre = leg.centre - origin
        point = leg.point - origin
        circle.e.x = dot(u, centre)
        circle.e.y = dot(v, centre)
        circle.h.x = dot(u, point)
        circle.h.y = dot(v, point)
        largest = max(largest, max(abs(circle.e.x), abs(circle.h.x)))
        largest = max(largest, max(abs(circle.e.y), abs(circle.h.y)))
        off = dot(w, leg.centre - leg.point)
        circle.square = leg.square - off * off
        largest = max(largest, sqrt(max(circle.square, 0.0)))
    for i in range(LEGS):
        circle = circles.rows[i]
        circle.e.x = circle.e.x / largest
        circle.e.y = circle.e.y / largest
        circle.h.x = circle.h.x / largest
        circle.h.y = circle.h.y / largest
        circle.square = circle.square / (largest * largest)
    count = turned(circles, places)
    side = dot(cross(u, v), w)
    for k in range(count):
        place = places.rows[k]
        phi = place.phi
        if side < 0.0:
            phi = 0.0 - phi
        if phi >= PI:
            phi -= 2.0 * PI
        elif phi < 0.0 - PI:
            phi += 2.0 * PI
        x[3 * k] = size * (place.x * largest)
        x[3 * k + 1] = size * (place.y * largest)
        x[3 * k + 2] = phi
    return count


def put_column(v: Vector, k: int, J: Part) -> None:
    """Column k of a matrix (3, 3)."""
    for m in range(3):
        J[3 * m + k] = v[m]


def still(f: Placed, hold: Hold, legs: Distances, size: float, x: Array) -> int:
    """A platform that does not turn: points about E_i - H_i, then along its own slides. Its
    coordinates, row by row."""
    J = zeros(9)
    a = empty(9)
    b = empty(3)
    points = empty(6)
    for k in range(hold.coordinates):
        put_column(f.rows[hold.frames[k]].a, k, J)
    count = 0
    if hold.motion == POINT:
        n = cross(f.rows[hold.frames[0]].a, f.rows[hold.frames[1]].a)
        n = n / sqrt(dot(n, n))
        put_column(n, 2, J)
        count = two_circles(legs, n, points)
    else:
        count = spheres(legs, points)
    for k in range(count):
        for m in range(3):
            b[m] = points[3 * k + m]
        for m in range(9):
            a[m] = J[m]
        solve_square(a, b, 3)
        for m in range(3):
            x[3 * k + m] = size * b[m]
    return count


def rated_places(
    given: Array, frames: Tree, hold: Hold, plan: Plan, q: Array, residual: Array, flat: Array,
    info: Rated,
) -> None:  # fmt: skip
    """Every configuration at the given active joints: rows of q, in order, as many as there is room
    for; of each its residual and flatness."""
    x = zeros(MOST_VARIABLES)
    f = empty(Placed)
    legs = empty(Distances)
    places = empty(3 * MOST_PLACES)
    known = empty(MOST_VARIABLES)
    part = empty(MOST * MOST_VARIABLES)
    worst = empty(MOST)
    least = empty(MOST)
    own = empty(Rated)
    n = plan.variables
    m = hold.coordinates
    for k in range(hold.active):
        x[hold.columns[k]] = given[k]
    place_frames(frames, x, f)
    measured(f, hold, legs)
    poses = 0
    if hold.motion == PLANE:
        poses = in_plane(f, hold, legs, plan.size, places)
    else:
        poses = still(f, hold, legs, plan.size, places)
    kept = 0
    count = 0
    info.more = False
    info.rough = False
    for c in range(poses):
        for k in range(m):
            known[k] = places[3 * c + k]
        for k in range(hold.active):
            known[m + k] = given[k]
        rated(known, frames, plan, part, worst, least, own)
        info.more = info.more or own.more
        info.rough = info.rough or own.rough
        for r in range(own.count):
            if count == MOST:
                info.more = True
                continue
            fresh = True
            if r < plan.room:
                fresh = is_fresh(part, r, q, kept, n)
            if fresh:
                count += 1
            if fresh and kept < plan.room:
                for k in range(n):
                    q[n * kept + k] = part[n * r + k]
                residual[kept] = worst[r]
                flat[kept] = least[r]
                kept += 1
    put_in_order(q, residual, flat, kept, n)
    info.count = count


def placed(given: Array, frames: Tree, hold: Hold, plan: Plan, q: Array, info: Found) -> None:
    """Every configuration at the given active joints: rows of q."""
    residual = empty(MOST)
    flat = empty(MOST)
    own = empty(Rated)
    rated_places(given, frames, hold, plan, q, residual, flat, own)
    info.count = own.count
    info.more = own.more
