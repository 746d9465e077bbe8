"""Kernels: N of the general method (kernels.py) straight from the geometry of six joints.

For arms with joints that are given: their geometry is known only when the values are. Where the
table of a formulation would hold W, it holds the steps g_1 ... g_6 as dual quaternions.
"""

from __future__ import annotations

from ...kernel.language import Array, Part, empty
from ...kernel.linalg import reduce_rows
from .records import Form, Robot


def add_product(a: Array, i: int, b: Part, j: int, c: Array, k: int) -> None:
    """c[k:] += a[i:] b[j:], quaternions."""
    c[k] += a[i] * b[j] - a[i + 1] * b[j + 1] - a[i + 2] * b[j + 2] - a[i + 3] * b[j + 3]
    c[k + 1] += a[i] * b[j + 1] + a[i + 1] * b[j] + a[i + 2] * b[j + 3] - a[i + 3] * b[j + 2]
    c[k + 2] += a[i] * b[j + 2] - a[i + 1] * b[j + 3] + a[i + 2] * b[j] + a[i + 3] * b[j + 1]
    c[k + 3] += a[i] * b[j + 3] + a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1] + a[i + 3] * b[j]


def times_step(x: Array, g: Part, at: int) -> None:
    """x = x g[at:], dual quaternions."""
    y = empty(8)
    for k in range(8):
        y[k] = 0.0
    add_product(x, 0, g, at, y, 0)
    add_product(x, 0, g, at + 4, y, 4)
    add_product(x, 4, g, at, y, 4)
    for k in range(8):
        x[k] = y[k]


def times_axis(x: Array, slides: bool) -> None:
    """x = x k, or x eps k of a slide."""
    y = empty(8)
    for k in range(0, 8, 4):
        y[k] = -x[k + 3]
        y[k + 1] = x[k + 2]
        y[k + 2] = -x[k + 1]
        y[k + 3] = x[k]
    for k in range(4):
        x[4 + k] = y[4 + k]
        if slides:
            x[4 + k] = y[k]
        x[k] = y[k]
        if slides:
            x[k] = 0.0


def loop_column(robot: Robot, form: Form, inverse: Array, side: int, index: int, x: Array) -> None:
    """A column of the basis of H (side 0) or of L (side 1): the joints whose bit of index is set
    count with their axes."""
    way = form.way
    begin = way.first
    for k in range(8):
        x[k] = 0.0
    x[0] = 1.0
    for k in range(3):
        j = (begin + 3 * side + k) % 6
        if side == 1 or k > 0:
            if j == 0:
                times_step(x, inverse, 0)
            times_step(x, form.W, 8 * j)
        bit = 4
        for i in range(3):
            if way.joints[3 * side + i] == j and index // bit % 2 == 1:
                times_axis(x, robot.joints[j].slides)
            bit = bit // 2
    if side == 1:
        if begin == 0:
            times_step(x, inverse, 0)
        times_step(x, form.W, 8 * begin)
        for k in range(3):
            x[1 + k] = -x[1 + k]
            x[5 + k] = -x[5 + k]


def geometric_n(robot: Robot, form: Form, tau: Array, n: Array) -> float:
    """N of (1), 8x8: basis(H) N = basis(L). Smallest pivot over largest of the basis of H."""
    a = empty(128)
    x = empty(8)
    inverse = empty(8)
    for k in range(8):
        inverse[k] = -tau[k]
    inverse[0] = tau[0]
    inverse[4] = tau[4]
    for index in range(8):
        for side in range(2):
            loop_column(robot, form, inverse, side, index, x)
            for i in range(8):
                a[16 * i + 8 * side + index] = x[i]
    quality = reduce_rows(a, 8, 16)
    for i in range(8):
        for j in range(8):
            n[8 * i + j] = a[16 * i + 8 + j]
    return quality
