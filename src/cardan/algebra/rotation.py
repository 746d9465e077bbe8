"""Rotations as products of turns about axes, applied factor by factor.

Rot(z, γ) Rot(x, α) Rot(z, θ) applied to a vector as a 3x3 matrix costs 9 multiplications and 6
additions plus the products in the matrix; applied turn by turn it costs 4 and 2 per turn, and
turns by multiples of a right angle are free. Axes are numbered 0, 1, 2 for x, y, z.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .scalar import cos_sin
from .vector import Mat, Vec, vec

# (axis, cos, sin)
Turn = tuple[int, Any, Any]

X, Y, Z = 0, 1, 2
_OTHERS = ((Y, Z), (Z, X), (X, Y))


def turn(axis: int, angle: Any, offset: Any = 0) -> Turn:
    """The turn by angle + offset about an axis."""
    return (axis, *cos_sin(angle, offset))


class Rotation:
    """A product of turns, leftmost first. R @ v, R.T, R @ S; `R.matrix()` multiplies it out."""

    __slots__ = ("turns",)

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = tuple(turns)

    @property
    def T(self) -> Rotation:
        return Rotation([(axis, c, -s) for axis, c, s in reversed(self.turns)])

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Rotation):
            return Rotation(self.turns + other.turns)
        if isinstance(other, Mat):
            return Mat([self @ column for column in other.T.rows]).T
        v = [other[0], other[1], other[2]]
        for axis, c, s in reversed(self.turns):
            if type(s) is int and s == 0 and type(c) is int and c == 1:
                continue
            j, k = _OTHERS[axis]
            y, z = v[j], v[k]
            v[j], v[k] = c * y - s * z, s * y + c * z
        return vec(Vec, v)

    def before_last(self, axis: int) -> tuple[Rotation, Rotation]:
        """(all turns but the last, the last one), if that is about this axis; else (all, none)."""
        k = len(self.turns) - bool(self.turns and self.turns[-1][0] == axis)
        return Rotation(self.turns[:k]), Rotation(self.turns[k:])

    def matrix(self) -> Mat:
        """The 3x3 matrix."""
        product: Mat = self @ Mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        return product
