"""Kernels of the general method: from a pose to the roots of one joint and the joints of a root.

The chain is a loop of six joints and the pose, in dual quaternions (lengths in units of the robot):

    g_1 s_1 g_2 s_2 ... g_6 s_6 tau^-1 = 1,     s = u + v e,   e = k (revolute), eps k (prismatic)

u:v is 1:tan(q/2) or 1:q/2, so the product of three joints is a linear map of the tensor
(u v)(u v)(u v). Three neighbours H are written in terms of the other three, L:

    t = N m,   m = (u v)_a x (u v)_b x (u v)_c,    N = sum over k of W_k tau_k          (1)

W depends on the robot alone. That t is a product, with u:v of its first joint h as the ratio of its
halves, is four equations, linear in each of the joints a, b, c and h:

    (u_h N_1 - v_h N_0) m = 0                                                            (2)

Their 2x2 minors in the columns of u_a and v_a are the six equations in b, c and h, of degree 2 in
each, of Raghavan and Roth (1990, 1993). These and their products by v_b are 12 equations in
12 monomials v_b^0..3 v_c^0..2:

    (S0 + S1 x + S2 x^2) y = 0,    x = tan(q_h/2)                                        (3)

of 24 roots, eight of which are x = i and x = -i, four each: there s_h has no inverse and t need not
be a product. Their null vectors are known, so they are taken out first, and 16 roots are left, the
eigenvalues of a 16x16 matrix. Turning the zero of q_h by phi keeps i and -i in place and makes S2
regular.
"""

from __future__ import annotations

from ..emit.kernel import Array, empty, sqrt, zeros
from .general_eigen import reduce_rows

__all__ = ["companion", "joints_of_root", "matrix_n", "minors", "null_space"]


def matrix_n(robot: Array, first: int, tau: Array, c: float, s: float, n: Array) -> None:
    """N of (1), 8x8, with its halves turned: the zero of joint h is moved by phi, c = cos phi/2."""
    for j in range(64):
        n[j] = 0.0
    for k in range(8):
        x = tau[k]
        for j in range(64):
            n[j] += x * robot[first + 64 * k + j]
    for j in range(32):
        x = n[j]
        y = n[32 + j]
        n[j] = c * x + s * y
        n[32 + j] = c * y - s * x


def minors(n: Array, s: Array) -> None:
    """S0, S1, S2 of (3), 12x12 each, one after the other in s."""
    for j in range(432):
        s[j] = 0.0
    row = 0
    for i in range(4):
        for j in range(i + 1, 4):
            for p in range(2):
                for q in range(2):
                    # powers 0 and 1 of x: N_1 and -N_0
                    sign = 1.0
                    if p != q:
                        sign = -1.0
                    at = 144 * (p + q) + 12 * row
                    pi = 32 * (1 - p) + 8 * i
                    qj = 32 * (1 - q) + 8 * j
                    for x in range(4):
                        for y in range(4):
                            place = at + 3 * (x // 2 + y // 2) + x % 2 + y % 2
                            s[place] += sign * (n[pi + x] * n[qj + 4 + y] - n[pi + 4 + y] * n[qj + x])
            for d in range(3):
                for k in range(9):
                    s[144 * d + 12 * (row + 6) + 3 + k] = s[144 * d + 12 * row + k]
            row += 1


def null_space(s: Array, columns: Array, v: Array) -> float:
    """The null space of S(i), of dimension 4, by complete pivots in complex numbers.

    columns: the eight pivot columns, then the four free ones; v: -(pivot rows, free columns), real
    parts (8, 4) then imaginary parts. The ninth pivot over the eighth: 0 for a sound answer."""
    re = empty(144)
    im = empty(144)
    for k in range(144):
        re[k] = s[k] - s[288 + k]
        im[k] = s[144 + k]
    for k in range(12):
        columns[k] = float(k)
    last = 0.0
    for k in range(9):
        best = -1.0
        row = k
        column = k
        for i in range(k, 12):
            for j in range(k, 12):
                size = re[12 * i + j] * re[12 * i + j] + im[12 * i + j] * im[12 * i + j]
                if size > best:
                    best = size
                    row = i
                    column = j
        if k == 8:
            return sqrt(best / last)
        last = best
        if best <= 1e-280:
            return 1.0
        if row != k:
            for j in range(12):
                kept = re[12 * k + j]
                re[12 * k + j] = re[12 * row + j]
                re[12 * row + j] = kept
                kept = im[12 * k + j]
                im[12 * k + j] = im[12 * row + j]
                im[12 * row + j] = kept
        if column != k:
            for i in range(12):
                kept = re[12 * i + k]
                re[12 * i + k] = re[12 * i + column]
                re[12 * i + column] = kept
                kept = im[12 * i + k]
                im[12 * i + k] = im[12 * i + column]
                im[12 * i + column] = kept
            kept = columns[k]
            columns[k] = columns[column]
            columns[column] = kept
        x = re[12 * k + k] / best
        y = -im[12 * k + k] / best
        for j in range(k, 12):
            a = re[12 * k + j]
            b = im[12 * k + j]
            re[12 * k + j] = x * a - y * b
            im[12 * k + j] = x * b + y * a
        for i in range(12):
            if i != k:
                x = re[12 * i + k]
                y = im[12 * i + k]
                for j in range(k, 12):
                    re[12 * i + j] -= x * re[12 * k + j] - y * im[12 * k + j]
                    im[12 * i + j] -= x * im[12 * k + j] + y * re[12 * k + j]
        if k == 7:
            for i in range(8):
                for j in range(4):
                    v[4 * i + j] = -re[12 * i + 8 + j]
                    v[32 + 4 * i + j] = -im[12 * i + 8 + j]
    return 1.0


def companion(s: Array, columns: Array, v: Array, m: Array) -> float:
    """m, 16x16: the companion matrix of (3) without the roots i and -i.

    On z = (y, x y) it is [0 1; -S2^-1 S0, -S2^-1 S1]. The space of (y, i y), y in the null space of
    S(i), is invariant; its free rows are the unit matrix, so the quotient is the other rows and
    columns less their parts along it. Smallest pivot of S2 over the largest."""
    a = empty(432)
    for i in range(12):
        for j in range(12):
            a[36 * i + j] = s[288 + 12 * i + j]
            a[36 * i + 12 + j] = s[12 * i + j]
            a[36 * i + 24 + j] = s[144 + 12 * i + j]
    quality = reduce_rows(a, 12, 36)
    if quality == 0.0:
        return quality
    d = empty(192)
    for i in range(12):
        row = int(columns[i])
        for j in range(8):
            d[16 * i + j] = -a[36 * row + 12 + int(columns[j])]
            d[16 * i + 8 + j] = -a[36 * row + 24 + int(columns[j])]
    for i in range(8):
        for j in range(16):
            m[16 * i + j] = 0.0
            m[16 * (8 + i) + j] = d[16 * i + j]
        m[16 * i + 8 + i] = 1.0
        for k in range(4):
            x = v[4 * i + k]
            y = v[32 + 4 * i + k]
            for j in range(16):
                m[16 * i + j] -= y * d[16 * (8 + k) + j]
                m[16 * (8 + i) + j] -= x * d[16 * (8 + k) + j]
    return quality


def null_vector(s: Array, x: float, y: Array) -> None:
    """y of (3) for a root x: elimination with row pivots, then back from ones."""
    a = empty(144)
    if abs(x) < 1.0:
        for k in range(144):
            a[k] = s[k] + x * (s[144 + k] + x * s[288 + k])
    else:
        z = 1.0 / x
        for k in range(144):
            a[k] = z * (z * s[k] + s[144 + k]) + s[288 + k]
    largest = 0.0
    for k in range(12):
        best = k
        for i in range(k + 1, 12):
            if abs(a[12 * i + k]) > abs(a[12 * best + k]):
                best = i
        size = abs(a[12 * best + k])
        largest = max(largest, size)
        if size <= 1e-16 * largest:
            a[12 * best + k] = 1e-16 * largest + 1e-280
        if best != k:
            for j in range(k, 12):
                kept = a[12 * k + j]
                a[12 * k + j] = a[12 * best + j]
                a[12 * best + j] = kept
        scale = 1.0 / a[12 * k + k]
        for i in range(k + 1, 12):
            factor = a[12 * i + k] * scale
            for j in range(k + 1, 12):
                a[12 * i + j] -= factor * a[12 * k + j]
    size = 0.0
    for i in range(11, -1, -1):
        total = 1.0
        if size > 1e100:
            total = 0.0
        for j in range(i + 1, 12):
            total -= a[12 * i + j] * y[j]
        y[i] = total / a[12 * i + i]
        size = max(size, abs(y[i]))
    for i in range(12):
        y[i] /= size


def ratio(uv: Array, at: int, uu: float, cross: float, vv: float) -> None:
    """u:v of least squares, from the sums of u^2, u v and v^2 of its multiples."""
    u = uu
    v = cross
    if vv > uu:
        u = cross
        v = vv
    size = sqrt(u * u + v * v)
    if size > 0.0:
        u /= size
        v /= size
    uv[2 * at] = u
    uv[2 * at + 1] = v


def joints_of_root(n: Array, s: Array, x: float, uv: Array) -> None:
    """u:v of all six joints for a root x of (3), in the order h, two of H, a, b, c."""
    y = empty(12)
    null_vector(s, x, y)
    size = sqrt(1.0 + x * x)
    uv[0] = 1.0 / size
    uv[1] = x / size
    uu = 0.0
    cross = 0.0
    vv = 0.0
    for k in range(9):
        uu += y[k] * y[k]
        cross += y[k] * y[k + 3]
        vv += y[k + 3] * y[k + 3]
    ratio(uv, 4, uu, cross, vv)
    uu = 0.0
    cross = 0.0
    vv = 0.0
    for k in range(8):
        i = k + k // 2
        uu += y[i] * y[i]
        cross += y[i] * y[i + 1]
        vv += y[i + 1] * y[i + 1]
    ratio(uv, 5, uu, cross, vv)
    m = empty(8)
    for k in range(4):
        m[k] = uv[8 + k // 2] * uv[10 + k % 2]
    uu = 0.0
    cross = 0.0
    vv = 0.0
    for i in range(4):  # (2): f + w1 g = 0 is u_a:v_a = g:-f
        f = 0.0
        g = 0.0
        for k in range(4):
            f += (uv[0] * n[32 + 8 * i + k] - uv[1] * n[8 * i + k]) * m[k]
            g += (uv[0] * n[36 + 8 * i + k] - uv[1] * n[8 * i + 4 + k]) * m[k]
        uu += g * g
        cross -= f * g
        vv += f * f
    ratio(uv, 3, uu, cross, vv)
    for k in range(4):
        m[4 + k] = uv[7] * m[k]
        m[k] = uv[6] * m[k]
    t = zeros(8)
    for i in range(8):
        for k in range(8):
            t[i] += n[8 * i + k] * m[k]
    for i in range(4):
        t[i] = uv[0] * t[i] + uv[1] * t[4 + i]
    ratio(uv, 1, t[0] * t[0] + t[1] * t[1], t[0] * t[2] + t[1] * t[3], t[2] * t[2] + t[3] * t[3])
    ratio(uv, 2, t[0] * t[0] + t[2] * t[2], t[0] * t[1] + t[2] * t[3], t[1] * t[1] + t[3] * t[3])
