"""Kernels that use every part of the subset."""

from __future__ import annotations

from cardan.kernel.language import Array, atan2, cos, empty, floor, sin, sqrt, zeros

SIZE = 4
TINY = 1e-300


def norm(x: Array, first: int, n: int) -> float:
    """Length of a part of a vector."""
    total = 0.0
    for i in range(n):
        total += x[first + i] * x[first + i]
    return sqrt(total)


def solve(a: Array, b: Array, n: int) -> int:
    """a x = b by elimination with row pivots; x replaces b. The number of exchanges, or -1."""
    exchanges = 0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[SIZE * i + k]) > abs(a[SIZE * best + k]):
                best = i
        if abs(a[SIZE * best + k]) <= TINY:
            return -1
        if best != k:
            exchanges += 1
            for j in range(n):
                kept = a[SIZE * k + j]
                a[SIZE * k + j] = a[SIZE * best + j]
                a[SIZE * best + j] = kept
            kept = b[k]
            b[k] = b[best]
            b[best] = kept
        for i in range(k + 1, n):
            factor = a[SIZE * i + k] / a[SIZE * k + k]
            for j in range(k, n):
                a[SIZE * i + j] -= factor * a[SIZE * k + j]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[SIZE * i + j] * b[j]
        b[i] /= a[SIZE * i + i]
    return exchanges


def same(i: int, j: int) -> float:
    """2 on the diagonal."""
    if i == j:
        return 2.0
    return 0.0


def everything(x: Array, table: Array, y: Array) -> None:
    """Every operation and statement at least once."""
    a = empty(SIZE * SIZE)
    b = zeros(SIZE)
    for i in range(SIZE):
        for j in range(SIZE):
            a[SIZE * i + j] = cos(x[i] * float(j + 1)) + same(i, j)
        b[i] = table[i] - -x[SIZE - 1 - i]
    exchanges = solve(a, b, SIZE)
    y[0] = float(exchanges)
    for i in range(SIZE):
        y[1 + i] = b[i]
    y[5] = norm(b, 1, 2)
    y[6] = atan2(x[0], x[1]) - (x[2] - (x[3] - 1.5)) / (2.0 * (3.0 / 7.0))
    steps = 0
    z = abs(x[0]) + 1.0
    while z < 100.0:
        steps += 1
        if steps % 2 == 0:
            continue
        z = z * 1.5 + float(steps // 2)
        if steps > 20 or (z > 60.0 and not z > 90.0):
            break
    y[7] = z
    y[8] = float(steps)
    y[9] = min(x[0], max(x[1], sin(x[2]))) + floor(x[3]) + float(int(x[1] * 10.0))
    if x[0] < 0.0 and x[1] != 0.0:
        y[10] = 1.0
    elif x[0] > 0.5:
        y[10] = 2.0
    else:
        pass
    y[11] = 3 / 2 + 2 * 0.25 + float(10 * (steps // 2) + 7 * (steps % 3)) + x[0] * (x[1] / x[2])
