"""Kernels of linear algebra: solves, least squares, null spaces, eigenvalues.

Matrices are flat, row by row unless a kernel says columns. These are kernels (language.py): Python
here, printed in every language. Eigenvalues: Householder reduction to Hessenberg form, then
Francis' implicit double shift (Golub & Van Loan, Matrix Computations, 7.4 and 7.5).
"""

from __future__ import annotations

from .language import Array, Booleans, Integers, empty, integers, record, sqrt

EPS = 2.220446049250313e-16
LARGEST = 24  # rows of an eigenvalue problem
WIDEST = 128  # variables of normal equations
FLAT = 1e-7  # a pivot of a singular matrix over its first


@record()
class Rest:
    """What is left of a matrix that should be singular."""

    pivot: float  # over the first


def swap(a: Array, i: int, j: int, n: int, step: int) -> None:
    """Exchange n numbers from i on with those from j on, every `step` of them: rows or columns."""
    for k in range(n):
        x = a[i + step * k]
        a[i + step * k] = a[j + step * k]
        a[j + step * k] = x


def reduce_rows(a: Array, n: int, width: int) -> float:
    """Gauss-Jordan with row pivots: the first n columns of a (n, width) become the unit matrix.

    The smallest pivot over the largest, 0 when there is no pivot."""
    smallest = 1e300
    largest = 0.0
    for k in range(n):
        best = k
        size = abs(a[width * k + k])
        for i in range(k + 1, n):
            if abs(a[width * i + k]) > size:
                size = abs(a[width * i + k])
                best = i
        if size < 1e-280:
            return 0.0
        if best != k:
            swap(a, width * k, width * best, width, 1)
        smallest = min(smallest, size)
        largest = max(largest, size)
        scale = 1.0 / a[width * k + k]
        for j in range(k, width):
            a[width * k + j] *= scale
        for i in range(n):
            if i != k:
                factor = a[width * i + k]
                for j in range(k, width):
                    a[width * i + j] -= factor * a[width * k + j]
    return smallest / largest


def solve_square(a: Array, b: Array, n: int) -> float:
    """a x = b by elimination with row pivots; x replaces b. Smallest pivot over largest."""
    smallest = 1e300
    largest = 0.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[n * i + k]) > abs(a[n * best + k]):
                best = i
        size = abs(a[n * best + k])
        if size < 1e-280:
            return 0.0
        smallest = min(smallest, size)
        largest = max(largest, size)
        if best != k:
            swap(a, n * k, n * best, n, 1)
            swap(b, k, best, 1, 1)
        scale = 1.0 / a[n * k + k]
        for i in range(k + 1, n):
            factor = a[n * i + k] * scale
            for j in range(k + 1, n):
                a[n * i + j] -= factor * a[n * k + j]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= a[n * i + j] * b[j]
        b[i] = total / a[n * i + i]
    return smallest / largest


def complex_solve(a: Array, b: Array, n: int) -> float:
    """a x = b in complex numbers, real parts (n, n) then imaginary ones, by elimination with row
    pivots; x replaces b. Smallest pivot over largest."""
    im = n * n
    smallest = 1e300
    largest = 0.0
    for k in range(n):
        best = k
        size = abs(a[n * k + k]) + abs(a[im + n * k + k])
        for i in range(k + 1, n):
            own = abs(a[n * i + k]) + abs(a[im + n * i + k])
            if own > size:
                best = i
                size = own
        if size < 1e-280:
            return 0.0
        smallest = min(smallest, size)
        largest = max(largest, size)
        if best != k:
            swap(a, n * k, n * best, n, 1)
            swap(a, im + n * k, im + n * best, n, 1)
            swap(b, k, best, 2, n)
        x = a[n * k + k]
        y = a[im + n * k + k]
        scale = 1.0 / (x * x + y * y)
        x = x * scale
        y = 0.0 - y * scale
        for i in range(k + 1, n):
            u = a[n * i + k] * x - a[im + n * i + k] * y
            v = a[n * i + k] * y + a[im + n * i + k] * x
            for j in range(k + 1, n):
                a[n * i + j] -= u * a[n * k + j] - v * a[im + n * k + j]
                a[im + n * i + j] -= u * a[im + n * k + j] + v * a[n * k + j]
            b[i] -= u * b[k] - v * b[n + k]
            b[n + i] -= u * b[n + k] + v * b[k]
        a[n * k + k] = x
        a[im + n * k + k] = y
    for i in range(n - 1, -1, -1):
        x = b[i]
        y = b[n + i]
        for j in range(i + 1, n):
            x -= a[n * i + j] * b[j] - a[im + n * i + j] * b[n + j]
            y -= a[n * i + j] * b[n + j] + a[im + n * i + j] * b[j]
        b[i] = x * a[n * i + i] - y * a[im + n * i + i]
        b[n + i] = x * a[im + n * i + i] + y * a[n * i + i]
    return smallest / largest


def hessenberg(a: Array, n: int) -> None:
    """Householder: a becomes similar to itself with zeros below the first subdiagonal."""
    v = empty(LARGEST)
    s = empty(LARGEST)
    for k in range(n - 2):
        total = 0.0
        for i in range(k + 1, n):
            v[i] = a[n * i + k]
            total += v[i] * v[i]
        rest = total - v[k + 1] * v[k + 1]
        if rest <= 1e-290:
            continue
        length = sqrt(total)
        if v[k + 1] > 0.0:
            length = -length
        v[k + 1] -= length
        beta = 2.0 / (rest + v[k + 1] * v[k + 1])
        for j in range(k, n):
            s[j] = 0.0
        for i in range(k + 1, n):
            x = v[i]
            for j in range(k, n):
                s[j] += x * a[n * i + j]
        for i in range(k + 1, n):
            x = beta * v[i]
            for j in range(k, n):
                a[n * i + j] -= x * s[j]
        for i in range(n):
            x = 0.0
            for j in range(k + 1, n):
                x += a[n * i + j] * v[j]
            x *= beta
            for j in range(k + 1, n):
                a[n * i + j] -= x * v[j]
        for i in range(k + 2, n):
            a[n * i + k] = 0.0


def francis_step(a: Array, n: int, low: int, high: int, s: float, t: float) -> None:
    """One implicit double shift, of sum s and product t, on rows and columns low to high."""
    m = high - 2
    x = 0.0
    y = 0.0
    z = 0.0
    while m >= low:
        h = a[n * m + m]
        x = h * h + a[n * m + m + 1] * a[n * (m + 1) + m] - s * h + t
        y = a[n * (m + 1) + m] * (h + a[n * (m + 1) + m + 1] - s)
        z = a[n * (m + 1) + m] * a[n * (m + 2) + m + 1]
        if m == low:
            break
        big = abs(x) * (abs(a[n * (m - 1) + m - 1]) + abs(h) + abs(a[n * (m + 1) + m + 1]))
        if abs(a[n * m + m - 1]) * (abs(y) + abs(z)) <= EPS * big:
            break
        m -= 1
    for i in range(m + 2, high + 1):
        a[n * i + i - 2] = 0.0
        if i > m + 2:
            a[n * i + i - 3] = 0.0
    for k in range(m, high):
        if k > m:
            x = a[n * k + k - 1]
            y = a[n * (k + 1) + k - 1]
            z = 0.0
            if k < high - 1:
                z = a[n * (k + 2) + k - 1]
        scale = abs(x) + abs(y) + abs(z)
        if scale == 0.0:
            continue
        x = x / scale
        y = y / scale
        z = z / scale
        length = sqrt(x * x + y * y + z * z)
        if x < 0.0:
            length = -length
        if k > m:
            a[n * k + k - 1] = -length * scale
            a[n * (k + 1) + k - 1] = 0.0
            if k < high - 1:
                a[n * (k + 2) + k - 1] = 0.0
        elif m > low:
            a[n * k + k - 1] = -a[n * k + k - 1]
        x = x + length
        g = x / length
        h = y / length
        w = z / length
        y = y / x
        z = z / x
        if k < high - 1:
            for j in range(k, high + 1):
                p = a[n * k + j] + y * a[n * (k + 1) + j] + z * a[n * (k + 2) + j]
                a[n * k + j] -= p * g
                a[n * (k + 1) + j] -= p * h
                a[n * (k + 2) + j] -= p * w
            last = k + 3
            if high < last:
                last = high
            for i in range(low, last + 1):
                p = g * a[n * i + k] + h * a[n * i + k + 1] + w * a[n * i + k + 2]
                a[n * i + k] -= p
                a[n * i + k + 1] -= p * y
                a[n * i + k + 2] -= p * z
        else:
            for j in range(k, high + 1):
                p = a[n * k + j] + y * a[n * (k + 1) + j]
                a[n * k + j] -= p * g
                a[n * (k + 1) + j] -= p * h
            for i in range(low, high + 1):
                p = g * a[n * i + k] + h * a[n * i + k + 1]
                a[n * i + k] -= p
                a[n * i + k + 1] -= p * y


def pair(a: Array, n: int, k: int, re: Array, im: Array) -> None:
    """Eigenvalues of the block of rows and columns k and k + 1."""
    p = 0.5 * (a[n * k + k] - a[n * (k + 1) + k + 1])
    q = p * p + a[n * k + k + 1] * a[n * (k + 1) + k]
    root = sqrt(abs(q))
    x = a[n * (k + 1) + k + 1]
    if q >= 0.0:
        z = p + root
        if p < 0.0:
            z = p - root
        re[k] = x + z
        re[k + 1] = x + z
        if z != 0.0:
            re[k + 1] = x - a[n * k + k + 1] * a[n * (k + 1) + k] / z
        im[k] = 0.0
        im[k + 1] = 0.0
    else:
        re[k] = x + p
        re[k + 1] = x + p
        im[k] = root
        im[k + 1] = -root


def eigenvalues(a: Array, n: int, re: Array, im: Array) -> int:
    """All eigenvalues of a (n, n), which is destroyed. The number of rows left unsolved: 0."""
    hessenberg(a, n)
    high = n - 1
    rounds = 0
    while high >= 0:
        low = high
        while low > 0:
            size = abs(a[n * (low - 1) + low - 1]) + abs(a[n * low + low])
            if size == 0.0:
                size = 1.0
            if abs(a[n * low + low - 1]) <= EPS * size:
                a[n * low + low - 1] = 0.0
                break
            low -= 1
        if low == high:
            re[high] = a[n * high + high]
            im[high] = 0.0
            high -= 1
            rounds = 0
        elif low == high - 1:
            pair(a, n, low, re, im)
            high -= 2
            rounds = 0
        elif rounds == 60:
            return high + 1
        else:
            x = a[n * high + high]
            y = a[n * (high - 1) + high - 1]
            w = a[n * high + high - 1] * a[n * (high - 1) + high]
            s = x + y
            t = x * y - w
            if rounds % 10 == 9:
                d = abs(a[n * high + high - 1]) + abs(a[n * (high - 1) + high - 2])
                s = 1.5 * d + 2.0 * x
                t = d * d + 1.5 * d * x + x * x
            rounds += 1
            francis_step(a, n, low, high, s, t)
    return 0


def least_squares(J: Array, e: Array, moving: int, dq: Array) -> float:
    """dq of J dq = e: orthogonal columns, the longest first, those that vanish left out. The
    shortest of them."""
    order = integers(7)
    R = empty(49)
    y = empty(7)
    for k in range(moving):
        order[k] = k
        dq[k] = 0.0
    first = 0.0
    shortest = 0.0
    most = 6 if moving > 6 else moving
    rank = most
    for k in range(most):
        best = -1.0
        chosen = k
        for m in range(k, moving):
            size = 0.0
            for i in range(6):
                size += J[6 * m + i] * J[6 * m + i]
            if size > best:
                best = size
                chosen = m
        if chosen != k:
            swap(J, 6 * k, 6 * chosen, 6, 1)
            swap(R, k, chosen, k, 7)
            column = order[k]
            order[k] = order[chosen]
            order[chosen] = column
        shortest = sqrt(best)
        if k == 0:
            first = shortest
        if shortest <= 1e-9 * first:
            rank = k
            break
        R[7 * k + k] = shortest
        y[k] = 0.0
        for i in range(6):
            J[6 * k + i] /= shortest
            y[k] += J[6 * k + i] * e[i]
        for m in range(k + 1, moving):
            x = 0.0
            for i in range(6):
                x += J[6 * k + i] * J[6 * m + i]
            R[7 * k + m] = x
            for i in range(6):
                J[6 * m + i] -= x * J[6 * k + i]
    for k in range(rank - 1, -1, -1):
        x = y[k]
        for m in range(k + 1, rank):
            x -= R[7 * k + m] * dq[order[m]]
        dq[order[k]] = x / R[7 * k + k]
    return shortest


def normal_step(A: Array, g: Array, held: Booleans, mu: float, n: int, dq: Array) -> bool:
    """(A + mu) dq = g for the joints that are not held, by Cholesky. False when it fails."""
    L = empty(WIDEST * WIDEST)
    for i in range(n):
        for j in range(i + 1):
            total = A[n * i + j]
            if i == j:
                total += mu
            if held[i] or held[j]:
                total = 0.0
                if i == j:
                    total = 1.0
            for k in range(j):
                total -= L[n * i + k] * L[n * j + k]
            if i == j:
                if total <= 0.0:
                    return False
                L[n * i + i] = sqrt(total)
            else:
                L[n * i + j] = total / L[n * j + j]
    for i in range(n):
        total = g[i]
        if held[i]:
            total = 0.0
        for k in range(i):
            total -= L[n * i + k] * dq[k]
        dq[i] = total / L[n * i + i]
    for i in range(n - 1, -1, -1):
        total = dq[i]
        for k in range(i + 1, n):
            total -= L[n * k + i] * dq[k]
        dq[i] = total / L[n * i + i]
    return True


def normal_equations(J: Array, e: Array, rows: int, n: int, A: Array, g: Array) -> None:
    """A = J^T J, g = J^T e."""
    for i in range(n):
        g[i] = 0.0
        for j in range(i + 1):
            A[n * i + j] = 0.0
    for r in range(rows):
        for i in range(n):
            x = J[n * r + i]
            if x != 0.0:
                g[i] += x * e[r]
                for j in range(i + 1):
                    A[n * i + j] += x * J[n * r + j]


def flatness(J: Array, rows: int, n: int) -> float:
    """The shortest over the longest column of J (rows, n), which is made orthogonal, the longest
    first: about the smallest over the largest singular value."""
    longest = 0.0
    least = 0.0
    for k in range(n):
        best = k
        least = -1.0
        for c in range(k, n):
            total = 0.0
            for r in range(rows):
                total += J[n * r + c] * J[n * r + c]
            if total > least:
                least = total
                best = c
        if k == 0:
            longest = least
        if least <= 1e-30 * longest or least <= 0.0:
            return 0.0
        for r in range(rows):
            x = J[n * r + best]
            J[n * r + best] = J[n * r + k]
            J[n * r + k] = x
        for c in range(k + 1, n):
            along = 0.0
            for r in range(rows):
                along += J[n * r + k] * J[n * r + c]
            along = along / least
            for r in range(rows):
                J[n * r + c] -= along * J[n * r + k]
    if n == 0:
        return 1.0
    return sqrt(least / longest)


def squares(r: Array, m: int) -> float:
    """The sum of the squares of m numbers."""
    total = 0.0
    for k in range(m):
        total += r[k] * r[k]
    return total


def largest_of(r: Array, m: int) -> float:
    """The largest of m numbers, without their signs."""
    worst = 0.0
    for k in range(m):
        worst = max(worst, abs(r[k]))
    return worst


def null_vectors(a: Array, n: int, least: int, basis: Array, rest: Rest) -> int:
    """A basis, row by row, of the null space of a (n, n), n <= 12, by complete pivots.

    Pivots below FLAT of the first count as zero; at least `least` do: rest.pivot is the largest of
    those that had to, over the first. The dimension."""
    order = integers(12)
    for k in range(n):
        order[k] = k
    rank = n - least
    first = 0.0
    rest.pivot = 0.0
    for k in range(n - least + 1):
        best = -1.0
        row = k
        column = k
        for i in range(k, n):
            for j in range(k, n):
                if abs(a[n * i + j]) > best:
                    best = abs(a[n * i + j])
                    row = i
                    column = j
        if k == 0:
            first = best
        if k == n - least:
            if first > 0.0:
                rest.pivot = best / first
            break
        if best <= FLAT * first:
            rank = k
            break
        if row != k:
            swap(a, n * k, n * row, n, 1)
        if column != k:
            swap(a, k, column, n, n)
            kept = order[k]
            order[k] = order[column]
            order[column] = kept
        scale = 1.0 / a[n * k + k]
        for i in range(k + 1, n):
            factor = a[n * i + k] * scale
            for j in range(k + 1, n):
                a[n * i + j] -= factor * a[n * k + j]
    for r in range(n - rank):
        for i in range(n):
            basis[n * r + i] = 0.0
        basis[n * r + order[rank + r]] = 1.0
        for i in range(rank - 1, -1, -1):
            total = -a[n * i + rank + r]
            for j in range(i + 1, rank):
                total -= a[n * i + j] * basis[n * r + order[j]]
            basis[n * r + order[i]] = total / a[n * i + i]
    return n - rank


def complex_null_space(s: Array, rank: int, columns: Integers, v: Array) -> float:
    """The null space of S(i) by complete pivots in complex numbers; the rank is known.

    columns: the pivot columns, then the free ones; v: -(pivot rows, free columns), real parts
    (12, 12) then imaginary parts. The pivot after the last one over it: 0 for a sound answer."""
    re = empty(144)
    im = empty(144)
    for k in range(144):
        re[k] = s[k] - s[288 + k]
        im[k] = s[144 + k]
    for k in range(12):
        columns[k] = k
    last = 1.0
    for k in range(rank + 1):
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
        if k == rank:
            for i in range(rank):
                for j in range(rank, 12):
                    v[12 * i + j] = -re[12 * i + j]
                    v[144 + 12 * i + j] = -im[12 * i + j]
            return sqrt(best / last)
        last = best
        if best <= 1e-280:
            return 1.0
        if row != k:
            swap(re, 12 * k, 12 * row, 12, 1)
            swap(im, 12 * k, 12 * row, 12, 1)
        if column != k:
            swap(re, k, column, 12, 12)
            swap(im, k, column, 12, 12)
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
    return 1.0
