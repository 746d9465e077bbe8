"""The Jacobian of any frame by Renaud's three factors, [KC97] 4.1 (3)-(5).

    rJn = [[rA_k, 0], [0, rA_k]] [[I, -hat(kL_kn)], [0, I]] kJ_n,k                        (4)

The third factor describes the motion of a point at O_k (k the intermediate frame) in the axes of
frame k, where its columns are simplest (5); the second moves the point to O_n, the first turns to
frame r. k may be any frame on the path; the generator tries them all and keeps the cheapest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from ..algebra.rotation import Rotation
from ..algebra.vector import Mat, Vec, cross, zero
from .bodies import Bodies
from .transform import merged, merged_turns, position, trigonometry, word

Scalar = Any
a = Vec(0, 0, 1)


@dataclass
class Jacobian:
    """The three factors and what they are made of, by joint.

    K: the third factor, columns (linear, angular) of the motion of O_k in frame k; tip: kL_kn, from
    O_k to the point followed; turn: rA_k."""

    K: dict[int, Vec] = field(default_factory=dict)
    tip: Vec = zero
    turn: Rotation = Rotation([])  # noqa: RUF009
    a: dict[int, Vec] = field(default_factory=dict)
    L: dict[int, Vec] = field(default_factory=dict)
    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)

    def rows(self) -> list[list[Scalar]]:
        """The six rows of J: the product of the three factors (4)."""
        columns = []
        for column in self.K.values():
            linear, angular = Vec(*column[:3]), Vec(*column[3:])
            linear = linear + cross(angular, self.tip)                                # (4)
            columns.append([*(self.turn @ linear), *(self.turn @ angular)])           # (4)
        return [[column[r] for column in columns] for r in range(6)]

    def first(self) -> list[list[Scalar]]:
        """The first factor (4): the turn to frame r, of both halves."""
        A = self.turn.matrix().rows
        return [[*row, 0, 0, 0] for row in A] + [[0, 0, 0, *row] for row in A]

    def second(self) -> list[list[Scalar]]:
        """The second factor (4): from O_k to the point, v + w x L."""
        x, y, z = self.tip
        rows = [[1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x], [0, 0, 1, y, -x, 0]]
        return rows + [[0, 0, 0, *(int(r == c) for c in range(3))] for r in range(3)]

    def third(self) -> list[list[Scalar]]:
        """The third factor (5): a column (linear, angular) per joint."""
        return [list(row) for row in zip(*self.K.values(), strict=True)]

    def inverse(self, det: Scalar = None) -> tuple[list[list[Scalar]], Scalar]:
        """(J^-1, det J) when J is square: only the third factor is inverted, [KC97] 4.6."""
        inner, det = inverse(self.third(), det)
        rows = []
        for row in inner:
            linear, angular = Vec(*row[:3]), Vec(*row[3:])
            angular = angular + cross(linear, self.tip)
            rows.append([*(self.turn @ linear), *(self.turn @ angular)])
        return rows, det


def jacobian(
    robot: Bodies, q: Sequence[Scalar], frame: int, projection: int, intermediate: int, *,
    tool: Vec = zero, merge: bool = True, accumulate: bool = True,
) -> Jacobian:  # fmt: skip
    """J of the point `tool` of a frame, in the axes of `projection`; a column per joint."""
    path = set(robot.tree.path(frame))
    see = Viewer(robot, q, intermediate, merge, accumulate)
    x = Jacobian(
        tip=see.position(frame, tool),
        turn=rotation(robot, q, projection, intermediate),
    )
    x.C, x.S = trigonometry(robot, q, frame)
    for m in robot.tree.moving:
        link = robot.links[m - 1]
        if m not in path:
            x.K[m] = Vec(0, 0, 0, 0, 0, 0)
            continue
        x.a[m] = see.direction(m, a)
        x.L[m] = -see.position(m, zero)                                               # O_m to O_k
        linear = link.s * x.a[m] + link.sbar * cross(x.a[m], x.L[m])                  # (5)
        x.K[m] = Vec(*linear, *(link.sbar * x.a[m]))                                  # (5)
    return x


def rotation(robot: Bodies, q: Sequence[Scalar], i: int, j: int) -> Rotation:
    """iRj as turns, angle sums merged."""
    turns = merged_turns(word(robot, q, i, j))
    return Rotation([t for turn in turns for t in turn.rotation.turns])


class Viewer:
    """Points and directions of any frame seen from frame k.

    Each frame's word from k is either applied to the vector, or accumulated into a matrix on the
    way."""

    def __init__(
        self, robot: Bodies, q: Sequence[Scalar], k: int, merge: bool, accumulate: bool
    ) -> None:
        self.robot, self.q, self.k, self.merge, self.accumulate = robot, q, k, merge, accumulate
        self._matrices: dict[int, Mat] = {}

    def direction(self, j: int, v: Vec) -> Vec:
        if self.accumulate:
            return _vector(self.matrix(j) @ v)
        return _vector(rotation(self.robot, self.q, self.k, j) @ v)

    def position(self, j: int, v: Vec) -> Vec:
        factors = word(self.robot, self.q, self.k, j)
        if self.merge:
            factors = merged(factors)
        return _vector(position(factors, v))

    def matrix(self, j: int) -> Mat:
        """kRj, turn after turn from the left, so that frames further on reuse it."""
        if j not in self._matrices:
            R = Mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
            for turn in merged_turns(word(self.robot, self.q, self.k, j)):
                R = (turn.rotation.T @ R.T).T
            self._matrices[j] = R
        return self._matrices[j]


def _vector(v: Any) -> Vec:
    return v if isinstance(v, Vec) else Vec(*v)


def determinant(rows: Sequence[Sequence[Scalar]]) -> Scalar:
    """det of a square matrix, factored along its zeros, by minors without division."""
    return _Minors(rows).determinant()


def determinant_blocks(rows: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The determinants of the blocks that zeros leave on the diagonal; det is their product."""
    return _Minors(rows).blocks()


def decoupled(robot: Bodies, q: Sequence[Scalar], frame: int, point: int) -> bool:
    """Do three joints leave O_point where it is? Then det J is a product of two factors."""
    K = jacobian(robot, q, frame, point, point).K
    return len(K) == 6 and len(_arm(K)) == 3


def determinant_factor(
    robot: Bodies, q: Sequence[Scalar], frame: int, point: int, axes: int, wrist: bool
) -> Scalar:
    """One factor of det J of an arm decoupled at O_point, in the axes of any frame.

    The arm's factor is the linear part of the three joints that move O_point, the wrist's the
    angular part of the three others; a rotation changes neither, so each may have its own axes."""
    record = jacobian(robot, q, frame, point, point)
    arm = _arm(record.K)
    chosen = [m for m in record.K if (m in arm) != wrist]
    see = Viewer(robot, q, axes, True, True)
    origin = see.position(point, zero)
    columns = []
    for m in chosen:
        link = robot.links[m - 1]
        direction = see.direction(m, a)
        lever = origin - see.position(m, zero)
        linear = link.s * direction + link.sbar * cross(direction, lever)
        columns.append(link.sbar * direction if wrist else linear)
    det = determinant([list(row) for row in zip(*columns, strict=True)])
    order = [*arm, *(m for m in record.K if m not in arm)]
    swaps = sum(x > y for k, x in enumerate(order) for y in order[k + 1 :])
    return -det if wrist and swaps % 2 else det


def _arm(K: dict[int, Vec]) -> list[int]:
    """Joints whose motion moves the intermediate point."""
    return [m for m, v in K.items() if not all(isinstance(x, int) and x == 0 for x in v[:3])]


def inverse(
    rows: Sequence[Sequence[Scalar]], det: Scalar = None
) -> tuple[list[list[Scalar]], Scalar]:
    """(inverse, determinant) by cofactors: valid wherever the determinant is not zero."""
    minors = _Minors(rows)
    det = minors.determinant() if det is None else det
    n = len(rows)
    whole = tuple(range(n))
    reciprocal = 1 / det

    def entry(r: int, c: int) -> Scalar:
        minor = minors.of(whole[:c] + whole[c + 1 :], whole[:r] + whole[r + 1 :])
        return (minor if (r + c) % 2 == 0 else -minor) * reciprocal

    return [[entry(r, c) for c in range(n)] for r in range(n)], det


# rows and columns of a block, the others, and the sign of the permutation that sets them apart
_Block = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], int]


class _Minors:
    """Determinants of submatrices, each computed once, split where a block of zeros allows."""

    def __init__(self, rows: Sequence[Sequence[Scalar]]) -> None:
        self.rows = rows
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], Scalar] = {}

    def determinant(self) -> Scalar:
        whole = tuple(range(len(self.rows)))
        return self.of(whole, whole)

    def blocks(self) -> list[Scalar]:
        whole = tuple(range(len(self.rows)))
        pending, squares, sign = [(whole, whole)], [], 1
        while pending:
            rows, columns = pending.pop(0)
            block = self._block(rows, columns)
            if block is None:
                squares.append(self.of(rows, columns))
                continue
            chosen, used, rest, others, own = block
            pending[:0] = [(chosen, used), (rest, others)]
            sign *= own
        return [sign * squares[0], *squares[1:]]

    def of(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> Scalar:
        key = rows, columns
        if key not in self._known:
            self._known[key] = self._compute(rows, columns)
        return self._known[key]

    def _compute(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> Scalar:
        if not rows:
            return 1
        if len(rows) == 1:
            return self.rows[rows[0]][columns[0]]
        split = self._split(rows, columns)
        if split is not None:
            return split
        # expand along the emptiest row or column
        by_row = min(rows, key=lambda r: sum(not self._zero(r, c) for c in columns))
        by_column = min(columns, key=lambda c: sum(not self._zero(r, c) for r in rows))
        row_count = sum(not self._zero(by_row, c) for c in columns)
        column_count = sum(not self._zero(r, by_column) for r in rows)
        total: Scalar = 0
        if row_count <= column_count:
            r = rows.index(by_row)
            for c, column in enumerate(columns):
                total = total + self._term(rows, columns, r, c, by_row, column)
        else:
            c = columns.index(by_column)
            for r, row in enumerate(rows):
                total = total + self._term(rows, columns, r, c, row, by_column)
        return total

    def _split(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> Scalar | None:
        """A product of two determinants, when some rows are zero outside as many columns."""
        block = self._block(rows, columns)
        if block is None:
            return None
        chosen, used, rest, others, sign = block
        if len(used) < len(chosen):
            return 0
        product = self.of(chosen, used) * self.of(rest, others)
        return product if sign > 0 else -product

    def _block(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> _Block | None:
        """The fewest rows that are zero outside as many columns, or fewer."""
        for size in range(1, len(rows)):
            for chosen in combinations(rows, size):
                used = tuple(c for c in columns if any(not self._zero(r, c) for r in chosen))
                if len(used) <= size:
                    rest = tuple(r for r in rows if r not in chosen)
                    others = tuple(c for c in columns if c not in used)
                    swaps = sum(map(rows.index, chosen)) + sum(map(columns.index, used))
                    return chosen, used, rest, others, 1 if swaps % 2 == 0 else -1
        return None

    def _term(
        self, rows: tuple[int, ...], columns: tuple[int, ...], r: int, c: int, row: int, column: int
    ) -> Scalar:
        if self._zero(row, column):
            return 0
        minor = self.of(rows[:r] + rows[r + 1 :], columns[:c] + columns[c + 1 :])
        term = self.rows[row][column] * minor
        return term if (r + c) % 2 == 0 else -term

    def _zero(self, r: int, c: int) -> bool:
        x = self.rows[r][c]
        return isinstance(x, int) and x == 0
