"""Kernels of the general method: from a root of (3) in kernels.py to the six joints."""

from __future__ import annotations

from ...kernel.language import Array, empty, sqrt, zeros
from ...kernel.linalg import Rest, eigenvalues, null_vectors, reduce_rows
from .records import Ratio, Ratios

FAKE = 1e-4  # a pivot over the first of a matrix that is not singular


def monomials(s: Array, x: float, lack: int, y: Array, rest: Rest) -> int:
    """Vectors y of (3) for a root x, row by row, the multiples of products first; how many.

    Where S(x) lacks rank for every x, only at a root of the robot does it lack more: rest.pivot
    says so, zero at such a root.

    In a null space of more than one dimension, the products are the eigenvectors of a quotient of
    two generic forms in v_b and v_c, as seen on the six monomials that both can multiply."""
    a = empty(144)
    basis = empty(144)
    if abs(x) < 1.0:
        for k in range(144):
            a[k] = s[k] + x * (s[144 + k] + x * s[288 + k])
    else:
        z = 1.0 / x
        for k in range(144):
            a[k] = z * (z * s[k] + s[144 + k]) + s[288 + k]
    k = null_vectors(a, 12, lack + 1, basis, rest)
    if lack > 0 and rest.pivot > FAKE:
        return 0
    if k == 1:
        for i in range(12):
            y[i] = basis[i]
        return 1
    if k > 6:
        return 0
    found = split_products(basis, k, y)
    return found


def split_products(basis: Array, k: int, y: Array) -> int:
    """The products in the span of k rows of 12 monomials."""
    top = empty(36)
    low = empty(36)
    for r in range(k):
        for i in range(6):
            at = 12 * r + 3 * (i // 2) + i % 2
            top[6 * r + i] = 0.31 * basis[at] + 0.87 * basis[at + 1] + 0.53 * basis[at + 3]
            top[6 * r + i] -= 0.23 * basis[at + 4]
            low[6 * r + i] = 0.79 * basis[at] - 0.41 * basis[at + 1] + 0.37 * basis[at + 3]
            low[6 * r + i] += 0.67 * basis[at + 4]
    both = empty(72)
    for i in range(k):
        for j in range(k):
            p = 0.0
            q = 0.0
            for r in range(6):
                p += low[6 * i + r] * low[6 * j + r]
                q += low[6 * i + r] * top[6 * j + r]
            both[2 * k * i + j] = p
            both[2 * k * i + k + j] = q
    quality = reduce_rows(both, k, 2 * k)
    if quality < 1e-14:
        return 0
    z = empty(36)
    c = empty(36)
    rest = empty(Rest)
    re = empty(6)
    im = empty(6)
    for i in range(k):
        for j in range(k):
            z[k * i + j] = both[2 * k * i + k + j]
    left = eigenvalues(z, k, re, im)
    if left > 0:
        return 0
    found = 0
    for r in range(k):
        if abs(im[r]) <= 1e-4 * (1.0 + abs(re[r])):
            for i in range(k):
                for j in range(k):
                    z[k * i + j] = both[2 * k * i + k + j]
                z[k * i + i] -= re[r]
            many = null_vectors(z, k, 1, c, rest)
            if many > 0:
                for i in range(12):
                    y[12 * found + i] = 0.0
                    for j in range(k):
                        y[12 * found + i] += c[j] * basis[12 * j + i]
                found += 1
    return found


def put_ratio(uu: float, cross: float, vv: float, out: Ratio) -> None:
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
    out.u = u
    out.v = v


def joints_of(n: Array, x: float, y: Array, at: int, uv: Ratios) -> None:
    """u:v of all six joints for a root x and its y."""
    size = sqrt(1.0 + x * x)
    h = uv.rows[0]
    a = uv.rows[3]
    b = uv.rows[4]
    c = uv.rows[5]
    h.u = 1.0 / size
    h.v = x / size
    uu = 0.0
    cross = 0.0
    vv = 0.0
    for k in range(9):
        uu += y[at + k] * y[at + k]
        cross += y[at + k] * y[at + k + 3]
        vv += y[at + k + 3] * y[at + k + 3]
    put_ratio(uu, cross, vv, b)
    uu = 0.0
    cross = 0.0
    vv = 0.0
    for k in range(8):
        i = at + k + k // 2
        uu += y[i] * y[i]
        cross += y[i] * y[i + 1]
        vv += y[i + 1] * y[i + 1]
    put_ratio(uu, cross, vv, c)
    m = empty(8)
    m[0] = b.u * c.u
    m[1] = b.u * c.v
    m[2] = b.v * c.u
    m[3] = b.v * c.v
    uu = 0.0
    cross = 0.0
    vv = 0.0
    for i in range(4):  # (2): f + w1 g = 0 is u_a:v_a = g:-f
        f = 0.0
        g = 0.0
        for k in range(4):
            f += (h.u * n[32 + 8 * i + k] - h.v * n[8 * i + k]) * m[k]
            g += (h.u * n[36 + 8 * i + k] - h.v * n[8 * i + 4 + k]) * m[k]
        uu += g * g
        cross -= f * g
        vv += f * f
    put_ratio(uu, cross, vv, a)
    for k in range(4):
        m[4 + k] = a.v * m[k]
        m[k] = a.u * m[k]
    t = zeros(8)
    for i in range(8):
        for k in range(8):
            t[i] += n[8 * i + k] * m[k]
    for i in range(4):
        t[i] = h.u * t[i] + h.v * t[4 + i]
    put_ratio(
        t[0] * t[0] + t[1] * t[1], t[0] * t[2] + t[1] * t[3], t[2] * t[2] + t[3] * t[3], uv.rows[1]
    )  # fmt: skip
    put_ratio(
        t[0] * t[0] + t[2] * t[2], t[0] * t[1] + t[2] * t[3], t[1] * t[1] + t[3] * t[3], uv.rows[2]
    )  # fmt: skip
