"""Small linear solves as straight-line code, over any scalar. Zeros are the int 0 and cost nothing.

`solve_symmetric`: L D L^T without pivoting, safe for positive matrices. `factored`: any regular
matrix. Straight-line code cannot choose a pivot when it runs, and a pivot chosen beforehand may
vanish where the matrix is regular. So nothing is divided by an entry unless it is a number:

- the matrix is cut into irreducible blocks (a matching, then strong components);
- in a block, numbers are pivots;
- what is left is inverted by cofactors up to size 3, divided by its determinant, else made
  orthogonal column by column (Gram-Schmidt, without square roots), divided by squared lengths.
  Both vanish at singular matrices only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .scalar import is_number, is_zero
from .vector import dot

Scalar = Any
Rows = Sequence[Sequence[Scalar]]
_LARGEST_COFACTORS = 3


def solve_symmetric(A: Rows, b: Sequence[Scalar]) -> list[Scalar]:
    """x with A x = b for a symmetric positive definite A; zeros cost nothing."""
    n = len(b)
    work = [[A[r][c] for c in range(r + 1)] for r in range(n)]
    y = list(b)
    inverse: list[Scalar] = []
    ratios: dict[tuple[int, int], Scalar] = {}
    for k in range(n):
        inverse.append(1 / work[k][k])
        for r in range(k + 1, n):
            ratio = work[r][k] * inverse[k]
            ratios[r, k] = ratio
            for c in range(k + 1, r + 1):
                work[r][c] = work[r][c] - ratio * work[c][k]
            y[r] = y[r] - ratio * y[k]
    x: list[Scalar] = [0] * n
    for k in reversed(range(n)):
        value = y[k] * inverse[k]
        for r in range(k + 1, n):
            value = value - ratios[r, k] * x[r]
        x[k] = value
    return x


@dataclass
class Factors:
    """A factored matrix A (m, n), m >= n: solve(b) gives A^-1 b, solve_transposed(c) A^-T c.

    With m > n the equations must agree: any x that satisfies them all is the solution, and the
    transposed solution is the shortest. `pivots`: what was divided by; zero at singularities."""

    blocks: list[_Block]  # in the order of the solution
    rows: Rows
    pivots: list[Scalar] = field(default_factory=list)

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        x: dict[int, Scalar] = {}
        for block in self.blocks:
            rest = []
            for r in block.rows:
                value = b[r]
                for c, known in x.items():
                    value = value - self.rows[r][c] * known
                rest.append(value)
            x |= zip(block.columns, block.core.solve(rest), strict=True)
        return [x[c] for c in range(len(x))]

    def solve_transposed(self, c: Sequence[Scalar]) -> list[Scalar]:
        y: dict[int, Scalar] = {}
        for block in reversed(self.blocks):
            rest = []
            for k in block.columns:
                value = c[k]
                for r, known in y.items():
                    value = value - self.rows[r][k] * known
                rest.append(value)
            y |= zip(block.rows, block.core.solve_transposed(rest), strict=True)
        return [y.get(r, 0) for r in range(len(self.rows))]


@dataclass
class _Block:
    rows: list[int]
    columns: list[int]
    core: _Core


def factored(A: Rows) -> Factors:
    """The factors of a regular matrix (m, n), m >= n."""
    factors = Factors([], A)
    for rows, columns in _blocks(A):
        core = _core([[A[r][c] for c in columns] for r in rows])
        factors.blocks.append(_Block(rows, columns, core))
        factors.pivots += core.pivots
    return factors


def _core(A: Rows) -> _Core:
    pivot = _number_pivot(A) if len(A) > 1 and len(A) == len(A[0]) else None
    if pivot is not None:
        return _Eliminated(A, *pivot)
    if len(A) == len(A[0]) <= _LARGEST_COFACTORS:
        return _Cofactors(A)
    return _Orthogonal(A)


class _Cofactors:
    """The inverse by cofactors."""

    def __init__(self, A: Rows) -> None:
        n = len(A)
        cofactors = [[_cofactor(A, r, c) for r in range(n)] for c in range(n)]
        det = _sum(A[0][c] * cofactors[c][0] for c in range(n))
        reciprocal = 1 / det
        self.pivots = [det]
        self.inverse = [[x * reciprocal for x in row] for row in cofactors]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        return [dot(row, b) for row in self.inverse]

    def solve_transposed(self, c: Sequence[Scalar]) -> list[Scalar]:
        return [dot(column, c) for column in zip(*self.inverse, strict=True)]


class _Orthogonal:
    """A = Q R, columns of Q orthogonal, R with ones on its diagonal: modified Gram-Schmidt."""

    def __init__(self, A: Rows) -> None:
        columns = [list(column) for column in zip(*A, strict=True)]
        # short columns first: they stay short, and the others are changed in few places
        self.order = sorted(range(len(columns)), key=lambda c: (_filled(columns[c]), c))
        self.Q: list[list[Scalar]] = []
        self.reciprocal: list[Scalar] = []
        self.R: list[list[Scalar]] = []  # R[i][k - i - 1] for k > i
        self.pivots: list[Scalar] = []
        rest = [columns[c] for c in self.order]
        while rest:
            q, *rest = rest
            length = dot(q, q)
            self.Q.append(q)
            self.pivots.append(length)
            self.reciprocal.append(1 / length)
            ratios = [dot(q, column) * self.reciprocal[-1] for column in rest]
            self.R.append(ratios)
            rest = [
                [x - ratio * y for x, y in zip(column, q, strict=True)]
                for column, ratio in zip(rest, ratios, strict=True)
            ]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        b = list(b)
        y = []
        for q, reciprocal in zip(self.Q, self.reciprocal, strict=True):
            y.append(dot(q, b) * reciprocal)
            b = [x - y[-1] * z for x, z in zip(b, q, strict=True)]
        x: list[Scalar] = [0] * len(y)
        for i in reversed(range(len(y))):
            x[i] = y[i] - dot(self.R[i], x[i + 1 :])
        solution: list[Scalar] = [0] * len(x)
        for k, c in enumerate(self.order):
            solution[c] = x[k]
        return solution

    def solve_transposed(self, c: Sequence[Scalar]) -> list[Scalar]:
        z: list[Scalar] = []
        for k, column in enumerate(self.order):
            z.append(c[column] - _sum(self.R[i][k - i - 1] * z[i] for i in range(k)))
        scaled = [x * reciprocal for x, reciprocal in zip(z, self.reciprocal, strict=True)]
        return [dot(row, scaled) for row in zip(*self.Q, strict=True)]


class _Eliminated:
    """A number as pivot at (r, c), and the factors of what is left."""

    def __init__(self, A: Rows, r: int, c: int) -> None:
        self.r, self.c = r, c
        self.reciprocal = _inverse_number(A[r][c])
        others = [k for k in range(len(A)) if k != r], [k for k in range(len(A)) if k != c]
        self.L = [A[k][c] * self.reciprocal for k in others[0]]
        self.U = [A[r][k] * self.reciprocal for k in others[1]]
        self.row = [A[r][k] for k in others[1]]
        self.rest = factored(
            [[A[i][k] - m * A[r][k] for k in others[1]] for i, m in zip(others[0], self.L,
                                                                         strict=True)]
        )  # fmt: skip
        self.pivots = self.rest.pivots

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        own = b[self.r]
        others = [x for k, x in enumerate(b) if k != self.r]
        x = self.rest.solve([y - m * own for y, m in zip(others, self.L, strict=True)])
        x.insert(self.c, own * self.reciprocal - dot(self.U, x))
        return x

    def solve_transposed(self, c: Sequence[Scalar]) -> list[Scalar]:
        own = c[self.c]
        others = [x for k, x in enumerate(c) if k != self.c]
        y = self.rest.solve_transposed([x - u * own for x, u in zip(others, self.U, strict=True)])
        y.insert(self.r, own * self.reciprocal - dot(self.L, y))
        return y


_Core = _Cofactors | _Orthogonal | _Eliminated


def _number_pivot(A: Rows) -> tuple[int, int] | None:
    """Where a number stands that is a good pivot: not small, in a short row and column."""
    pivots = []
    largest = max((abs(float(x)) for row in A for x in row if is_number(x)), default=0.0)
    for r, row in enumerate(A):
        for c, x in enumerate(row):
            if is_number(x) and abs(float(x)) >= 0.1 * largest > 0:
                fill = (_filled(row) - 1) * (_filled([other[c] for other in A]) - 1)
                pivots.append((fill, -abs(float(x)), r, c))
    return min(pivots)[2:] if pivots else None


def _inverse_number(x: Scalar) -> Scalar:
    return x if isinstance(x, int) and abs(x) == 1 else 1 / float(x)


def _filled(values: Sequence[Scalar]) -> int:
    return sum(not is_zero(x) for x in values)


def _sum(values: Any) -> Scalar:
    total: Scalar = 0
    for x in values:
        total = total + x
    return total


def _cofactor(A: Rows, r: int, c: int) -> Scalar:
    minor = [[x for k, x in enumerate(row) if k != c] for i, row in enumerate(A) if i != r]
    if len(minor) == 2:
        value = minor[0][0] * minor[1][1] - minor[0][1] * minor[1][0]
    else:
        value = minor[0][0] if minor else 1
    return value if (r + c) % 2 == 0 else -value


def _blocks(A: Rows) -> list[tuple[list[int], list[int]]]:
    """(rows, columns) of the irreducible blocks, in the order in which they can be solved."""
    m, n = len(A), len(A[0]) if A else 0
    if m > n:
        return _islands(A)
    match = _matching(A)  # row of each column
    owner = {r: c for c, r in match.items()}
    # block of column c needs the columns that its row holds beside c
    needs = {c: [k for k in range(n) if k != c and not is_zero(A[r][k])] for c, r in match.items()}
    blocks = []
    for columns in _components(needs):
        rows = sorted(match[c] for c in columns)
        blocks.append((rows, [owner[r] for r in rows]))
    return blocks


def _islands(A: Rows) -> list[tuple[list[int], list[int]]]:
    """Parts of more equations than unknowns that share no unknown."""
    columns = set(range(len(A[0])))
    rows = [r for r in range(len(A)) if _filled(A[r])]
    islands = []
    while columns:
        mine, own = {min(columns)}, set[int]()
        while True:
            more = {r for r in rows if any(not is_zero(A[r][c]) for c in mine)}
            wider = {c for r in more for c in columns if not is_zero(A[r][c])} | mine
            if more == own and wider == mine:
                break
            own, mine = more, wider
        islands.append((sorted(own), sorted(mine)))
        columns -= mine
    return islands


def _matching(A: Rows) -> dict[int, int]:
    """A row for every column, by augmenting paths; numbers first."""
    match: dict[int, int] = {}  # column -> row

    def place(r: int, seen: set[int]) -> bool:
        columns = [c for c, x in enumerate(A[r]) if not is_zero(x)]
        for c in sorted(columns, key=lambda c: (not is_number(A[r][c]), c)):
            if c in seen:
                continue
            seen.add(c)
            if c not in match or place(match[c], seen):
                match[c] = r
                return True
        return False

    for r in range(len(A)):
        if not place(r, set()):
            raise ZeroDivisionError("the equations are singular whatever the values")
    return match


def _components(needs: dict[int, list[int]]) -> list[list[int]]:
    """Strong components of a graph, each after those it needs (Tarjan)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    components: list[list[int]] = []

    def visit(c: int) -> None:
        index[c] = low[c] = len(index)
        stack.append(c)
        for k in needs[c]:
            if k not in index:
                visit(k)
                low[c] = min(low[c], low[k])
            elif k in stack:
                low[c] = min(low[c], index[k])
        if low[c] == index[c]:
            cut = stack.index(c)
            components.append(sorted(stack[cut:]))
            del stack[cut:]

    for c in needs:
        if c not in index:
            visit(c)
    return components
