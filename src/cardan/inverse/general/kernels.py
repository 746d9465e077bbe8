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

from ...kernel.language import Array, Integers, empty, sin
from ...kernel.linalg import reduce_rows
from .geometry import geometric_n
from .records import Form, Robot, Way


def matrix_n(robot: Robot, form: Form, tau: Array, n: Array) -> float:
    """N of (1), 8x8. Smallest pivot over largest of the basis of H, 1 when it does not move.

    When the pose stands among H, the table holds the basis of H instead of W, and the basis of L,
    which does not depend on the pose, follows it: basis(H) N = basis(L)."""
    if form.way.mode == 2:
        quality = geometric_n(robot, form, tau, n)
        return quality
    for j in range(64):
        n[j] = 0.0
    for k in range(8):
        x = tau[k]
        for j in range(64):
            n[j] += x * form.W[64 * k + j]
    if form.way.mode == 0:
        return 1.0
    a = empty(128)
    for i in range(8):
        for j in range(8):
            a[16 * i + j] = n[8 * i + j]
            a[16 * i + 8 + j] = form.basis[8 * i + j]
    quality = reduce_rows(a, 8, 16)
    for i in range(8):
        for j in range(8):
            n[8 * i + j] = a[16 * i + 8 + j]
    return quality


def far(robot: Robot, way: Way, size: float, n: Array) -> None:
    """N in units of `size` for the slides: those of a far pose are as long as it is far."""
    for k in range(1, 6):
        if robot.joints[way.joints[k]].slides:
            for i in range(64):
                index = i % 8
                bit = 4
                if k < 3:
                    index = i // 8
                    bit = 2
                    if k == 2:
                        bit = 1
                else:
                    if k == 4:
                        bit = 2
                    if k == 5:
                        bit = 1
                if index // bit % 2 == 1:
                    if k < 3:
                        n[i] = n[i] / size
                    else:
                        n[i] = n[i] * size


def turned(n: Array, c: float, s: float, m: Array) -> None:
    """N with the zero of joint h moved by phi: its halves are turned, c = cos phi/2."""
    for j in range(32):
        m[j] = c * n[j] + s * n[32 + j]
        m[32 + j] = c * n[32 + j] - s * n[j]


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
                            s[place] += sign * (
                                n[pi + x] * n[qj + 4 + y] - n[pi + 4 + y] * n[qj + x]
                            )
            for d in range(3):
                for k in range(9):
                    s[144 * d + 12 * (row + 6) + 3 + k] = s[144 * d + 12 * row + k]
            row += 1


def completed(a: Array, lack: int, size: float) -> None:
    """Add (1 + x^2) U V^T of rank `lack` to a singular S(x): a holds S2, S0, S1 side by side.

    A fixed generic matrix of the missing rank keeps every root of a singular polynomial where it is
    (Hochstenbach, Mehl, Plestenjak 2019); the factor keeps S(i) too."""
    for r in range(lack):
        for i in range(12):
            u = size * sin(1.7 + 2.3 * float(i * i) + 5.1 * float(r) + 1.1 * float(i * r))
            for j in range(12):
                v = u * sin(0.4 + 3.1 * float(j * j) + 4.7 * float(r) + 1.9 * float(j * r))
                a[36 * i + j] += v
                a[36 * i + 12 + j] += v


def companion(s: Array, rank: int, lack: int, columns: Integers, v: Array, m: Array) -> float:
    """m: the companion matrix of (3) without the roots i and -i, 2 rank x 2 rank.

    On z = (y, x y) it is [0 1; -S2^-1 S0, -S2^-1 S1]. The space of (y, i y), y in the null space of
    S(i), is invariant; its free rows are the unit matrix, so the quotient is the other rows and
    columns less their parts along it. Smallest pivot of S2 over the largest."""
    a = empty(432)
    size = 0.0
    for i in range(12):
        for j in range(12):
            a[36 * i + j] = s[288 + 12 * i + j]
            a[36 * i + 12 + j] = s[12 * i + j]
            a[36 * i + 24 + j] = s[144 + 12 * i + j]
            size = max(size, abs(s[288 + 12 * i + j]))
    if lack > 0:
        completed(a, lack, 0.3 * size)
    quality = reduce_rows(a, 12, 36)
    if quality == 0.0:
        return quality
    n = 2 * rank
    d = empty(288)
    for i in range(12):
        row = columns[i]
        for j in range(rank):
            d[n * i + j] = -a[36 * row + 12 + columns[j]]
            d[n * i + rank + j] = -a[36 * row + 24 + columns[j]]
    for i in range(rank):
        for j in range(n):
            m[n * i + j] = 0.0
            m[n * (rank + i) + j] = d[n * i + j]
        m[n * i + rank + i] = 1.0
        for k in range(rank, 12):
            x = v[12 * i + k]
            y = v[144 + 12 * i + k]
            for j in range(n):
                m[n * i + j] -= y * d[n * k + j]
                m[n * (rank + i) + j] -= x * d[n * k + j]
    return quality
