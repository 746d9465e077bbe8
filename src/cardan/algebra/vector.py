"""Vectors and 3x3 matrices over any scalar. Zeros are the int 0 and fold away by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

vec = tuple.__new__  # of a list of components: most vectors are made so


class Vec(tuple[Any, ...]):
    """A column of scalars. v @ w is the scalar product."""

    __slots__ = ()
    __array_ufunc__ = None

    def __new__(cls, *components: Any) -> Vec:
        return super().__new__(cls, components)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __add__(self, other: Any) -> Vec:
        return vec(Vec, [x + y for x, y in zip(self, other, strict=True)])

    def __sub__(self, other: Any) -> Vec:
        return vec(Vec, [x - y for x, y in zip(self, other, strict=True)])

    def __neg__(self) -> Vec:
        return vec(Vec, [-x for x in self])

    def __mul__(self, scale: Any) -> Vec:
        return vec(Vec, [x * scale for x in self])

    def __rmul__(self, scale: Any) -> Vec:
        return vec(Vec, [scale * x for x in self])

    def __truediv__(self, scale: Any) -> Vec:
        return vec(Vec, [x / scale for x in self])

    def __matmul__(self, other: Any) -> Any:
        return dot(self, other)


class Mat:
    """A matrix by rows. A @ v, A @ B, A.T, A + B, s * A."""

    __slots__ = ("rows",)

    def __init__(self, rows: Sequence[Sequence[Any]]) -> None:
        self.rows = tuple([row if type(row) is Vec else vec(Vec, row) for row in rows])

    def __getitem__(self, index: tuple[int, int]) -> Any:
        return self.rows[index[0]][index[1]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mat) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)

    @property
    def T(self) -> Mat:
        return Mat(list(zip(*self.rows, strict=True)))

    def __add__(self, other: Mat) -> Mat:
        return Mat([x + y for x, y in zip(self.rows, other.rows, strict=True)])

    def __sub__(self, other: Mat) -> Mat:
        return Mat([x - y for x, y in zip(self.rows, other.rows, strict=True)])

    def __neg__(self) -> Mat:
        return Mat([-row for row in self.rows])

    def __rmul__(self, scale: Any) -> Mat:
        return Mat([scale * row for row in self.rows])

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Mat):
            columns = other.T.rows
            return Mat([[dot(row, column) for column in columns] for row in self.rows])
        return vec(Vec, [dot(row, other) for row in self.rows])


zero = Vec(0, 0, 0)


def dot(v: Sequence[Any], w: Sequence[Any]) -> Any:
    """Scalar product, summed from the left."""
    total: Any = 0
    for x, y in zip(v, w, strict=True):
        total = total + x * y
    return total


def weighted(row: Mapping[Any, Any], values: Any) -> Any:
    """Sum of row[j] values[j] over the keys of the row, from the left."""
    total: Any = 0
    for j, x in row.items():
        total = total + x * values[j]
    return total


def matrix_product(A: Sequence[Sequence[Any]], B: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """A B of matrices by rows."""
    columns = list(zip(*B, strict=True))
    return [[dot(row, column) for column in columns] for row in A]


def total(vectors: Sequence[Vec]) -> Vec:
    """The sum of 3-vectors."""
    added = zero
    for v in vectors:
        added = added + v
    return added


def cross(v: Sequence[Any], w: Sequence[Any]) -> Vec:
    """v × w."""
    v0, v1, v2 = v
    w0, w1, w2 = w
    return vec(Vec, [v1 * w2 - v2 * w1, v2 * w0 - v0 * w2, v0 * w1 - v1 * w0])


def hat(w: Sequence[Any]) -> Mat:
    """The cross-product matrix: hat(w) @ v = w × v, [K10] (24)."""
    return Mat([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def symmetric(xx: Any, xy: Any, xz: Any, yy: Any, yz: Any, zz: Any) -> Mat:
    """The symmetric matrix of these six entries."""
    return Mat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
