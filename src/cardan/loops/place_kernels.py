"""Kernels of the direct geometry of platforms held at distances: five-bar, Delta, 3-RRR.

Leg i turns about E_i, given by the active joints, and holds the platform's point H_i at a distance:

    |H_i(x) - E_i|² = l_i²

Two circles, three spheres, or for a platform that turns in a plane a polynomial of degree 10 in
tan(phi/2), whose real roots are isolated by those of its derivatives. At each place the legs are
closed by kernels.assemblies. The table `hold`:

    0 motion (0 point of a plane, 1 space, 2 plane with a turn), 1 legs, 2 coordinates, 3 active
    joints, then the columns of both, the frames of the coordinates, and per leg four frames:
    end, hold, and the axes that meet at E_i (the second 0: the origin of the first)
"""

from __future__ import annotations

from ..inverse.numeric.kernels import place_frames
from ..kernel.language import Array, empty, sqrt, zeros
from ..kernel.linalg import solve_square
from .circle_kernels import turned
from .kernels import MOST, PI, SAME, assemblies

__all__ = ["placed"]


def meeting_point(f: Array, a: int, b: int, out: Array, at: int) -> None:
    """Where the axes of two frames meet; the origin of the first without a second."""
    s = 0.0
    if b > 0:
        nx = f[a + 7] * f[b + 8] - f[a + 8] * f[b + 7]
        ny = f[a + 8] * f[b + 6] - f[a + 6] * f[b + 8]
        nz = f[a + 6] * f[b + 7] - f[a + 7] * f[b + 6]
        dx = f[b + 9] - f[a + 9]
        dy = f[b + 10] - f[a + 10]
        dz = f[b + 11] - f[a + 11]
        mx = dy * f[b + 8] - dz * f[b + 7]
        my = dz * f[b + 6] - dx * f[b + 8]
        mz = dx * f[b + 7] - dy * f[b + 6]
        s = (mx * nx + my * ny + mz * nz) / (nx * nx + ny * ny + nz * nz)
    for k in range(3):
        out[at + k] = f[a + 9 + k] + s * f[a + 6 + k]


def measured(f: Array, hold: Array, E: Array, H: Array, square: Array) -> None:
    """Centres, the platform's points and squares of the distances, leg by leg."""
    legs = int(hold[1])
    first = 4 + 2 * int(hold[2]) + int(hold[3])
    for i in range(legs):
        row = first + 4 * i
        tip = 12 * int(hold[row])
        point = 12 * int(hold[row + 1])
        meeting_point(f, 12 * int(hold[row + 2]), 12 * int(hold[row + 3]), E, 3 * i)
        total = 0.0
        for k in range(3):
            H[3 * i + k] = f[point + 9 + k]
            gap = f[tip + 9 + k] - E[3 * i + k]
            total += gap * gap
        square[i] = total


def cross_of(a: Array, b: Array, out: Array) -> None:
    """out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


def dot_of(a: Array, b: Array) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def spheres(C: Array, square: Array, places: Array) -> int:
    """Points at the distances from three centres: C_0 plus what lies in their plane and across."""
    a = empty(3)
    b = empty(3)
    n = empty(3)
    u = empty(3)
    v = empty(3)
    for k in range(3):
        a[k] = C[3 + k] - C[k]
        b[k] = C[6 + k] - C[k]
    cross_of(a, b, n)
    size = dot_of(n, n)
    if size <= 1e-18 * dot_of(a, a) * dot_of(b, b):
        return 0
    cross_of(b, n, u)
    cross_of(n, a, v)
    da = 0.5 * (square[0] - square[1] + dot_of(a, a)) / size
    db = 0.5 * (square[0] - square[2] + dot_of(b, b)) / size
    for k in range(3):
        a[k] = da * u[k] + db * v[k]
    rest = square[0] - dot_of(a, a)
    if rest < -1e-12 * square[0]:
        return 0
    up = sqrt(max(rest, 0.0) / size)
    for k in range(3):
        places[k] = C[k] + a[k] + up * n[k]
        places[3 + k] = C[k] + a[k] - up * n[k]
    return 2


def two_circles(C: Array, square: Array, n: Array, places: Array) -> int:
    """Points of a plane through the origin, n its normal of length 1, at two distances."""
    a = empty(3)
    side = empty(3)
    rest = empty(2)
    for i in range(2):
        off = C[3 * i] * n[0] + C[3 * i + 1] * n[1] + C[3 * i + 2] * n[2]
        for k in range(3):
            C[3 * i + k] = C[3 * i + k] - off * n[k]
        rest[i] = square[i] - off * off
    for k in range(3):
        a[k] = C[3 + k] - C[k]
    far = dot_of(a, a)
    if far <= 1e-18 * (square[0] + square[1]):
        return 0
    along = 0.5 * (far + rest[0] - rest[1]) / far
    across = rest[0] / far - along * along
    if across < -1e-12 * (1.0 + along * along):
        return 0
    across = sqrt(max(across, 0.0))
    cross_of(n, a, side)
    for k in range(3):
        places[k] = C[k] + along * a[k] + across * side[k]
        places[3 + k] = C[k] + along * a[k] - across * side[k]
    return 2


def in_plane(f: Array, hold: Array, E: Array, H: Array, square: Array, places: Array) -> int:
    """A platform that turns: everything in the axes of its plane, divided by its size."""
    e = empty(6)
    h = empty(6)
    near = empty(3)
    at = 4 + int(hold[2]) + int(hold[3])
    u = 12 * int(hold[at]) + 6
    v = 12 * int(hold[at + 1]) + 6
    w = 12 * int(hold[at + 2]) + 6
    largest = 0.0
    for i in range(3):
        off = 0.0
        for k in range(2):
            axis = u
            if k == 1:
                axis = v
            e[2 * i + k] = 0.0
            h[2 * i + k] = 0.0
            for m in range(3):
                e[2 * i + k] = e[2 * i + k] + f[axis + m] * (E[3 * i + m] - f[w + 3 + m])
                h[2 * i + k] = h[2 * i + k] + f[axis + m] * (H[3 * i + m] - f[w + 3 + m])
            largest = max(largest, max(abs(e[2 * i + k]), abs(h[2 * i + k])))
        for m in range(3):
            off += f[w + m] * (E[3 * i + m] - H[3 * i + m])
        near[i] = square[i] - off * off
        largest = max(largest, sqrt(max(near[i], 0.0)))
    for k in range(6):
        e[k] = e[k] / largest
        h[k] = h[k] / largest
    for i in range(3):
        near[i] = near[i] / (largest * largest)
    found = turned(e, h, near, places)
    way = f[u + 1] * f[v + 2] - f[u + 2] * f[v + 1]
    side = way * f[w]
    side += (f[u + 2] * f[v] - f[u] * f[v + 2]) * f[w + 1]
    side += (f[u] * f[v + 1] - f[u + 1] * f[v]) * f[w + 2]
    for k in range(found):
        places[3 * k] = places[3 * k] * largest
        places[3 * k + 1] = places[3 * k + 1] * largest
        if side < 0.0:
            places[3 * k + 2] = 0.0 - places[3 * k + 2]
    return found


def still(f: Array, hold: Array, E: Array, H: Array, square: Array, places: Array) -> int:
    """A platform that does not turn: points about E_i - H_i, then along its own slides."""
    J = zeros(9)
    a = empty(9)
    x = empty(3)
    u = empty(3)
    v = empty(3)
    n = empty(3)
    C = empty(9)
    points = empty(6)
    at = 4 + int(hold[2]) + int(hold[3])
    for k in range(int(hold[2])):
        axis = 12 * int(hold[at + k]) + 6
        for m in range(3):
            J[3 * m + k] = f[axis + m]
    for k in range(3 * int(hold[1])):
        C[k] = E[k] - H[k]
    found = 0
    if hold[0] > 0.5:
        found = spheres(C, square, points)
    else:
        for m in range(3):
            u[m] = J[3 * m]
            v[m] = J[3 * m + 1]
        cross_of(u, v, n)
        size = sqrt(dot_of(n, n))
        for m in range(3):
            n[m] = n[m] / size
            J[3 * m + 2] = n[m]
        found = two_circles(C, square, n, points)
    for k in range(found):
        for m in range(3):
            x[m] = points[3 * k + m]
        for m in range(9):
            a[m] = J[m]
        solve_square(a, x, 3)
        for m in range(3):
            places[3 * k + m] = x[m]
    return found


def is_fresh(x: Array, r: int, q: Array, kept: int, n: int) -> int:
    """1 when row r of x is not among the kept rows of q; whole turns are nothing."""
    for k in range(kept):
        far = 0.0
        for c in range(n):
            d = abs(x[n * r + c] - q[n * k + c])
            far = max(far, min(d, abs(2.0 * PI - d)))
        if far <= SAME:
            return 0
    return 1


def placed(given: Array, frames: Array, hold: Array, plan: Array, q: Array, info: Array) -> None:
    """Every configuration at the given active joints: rows of q, their number in info[0].

    info[1]: 1 when there are more than there is room for."""
    x = zeros(64)
    f = empty(1920)
    E = empty(9)
    H = empty(9)
    square = empty(3)
    places = empty(60)
    known = empty(64)
    part = empty(4096)
    own = empty(2)
    n = int(plan[1])
    m = int(hold[2])
    active = int(hold[3])
    for k in range(active):
        x[int(hold[4 + m + k])] = given[k]
    place_frames(frames, x, f)
    measured(f, hold, E, H, square)
    found = 0
    if hold[0] > 1.5:
        found = in_plane(f, hold, E, H, square, places)
    else:
        found = still(f, hold, E, H, square, places)
    kept = 0
    info[1] = 0.0
    for c in range(found):
        for k in range(m):
            known[k] = places[3 * c + k]
        for k in range(active):
            known[m + k] = given[k]
        assemblies(known, frames, plan, part, own)
        info[1] = max(info[1], own[1])
        for r in range(int(own[0])):
            if kept == MOST:
                info[1] = 1.0
                continue
            fresh = is_fresh(part, r, q, kept, n)
            if fresh == 1:
                for k in range(n):
                    q[n * kept + k] = part[n * r + k]
                kept += 1
    info[0] = float(kept)
