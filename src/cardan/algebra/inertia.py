"""Rotating symmetric matrices turn by turn, and moving inertial parameters between frames.

For a turn (c, s) about z, with u = s (yy - xx) - 2c xy,

    xx' = xx + s u      yy' = yy - s u      xy' = -(xy + c u)      (xz, yz) turns as a vector

costs 8 multiplications and 7 additions; a general 3x3 block is its symmetric part, turned so, and
its antisymmetric part, which turns as a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .rotation import Rotation, Turn
from .scalar import HALF, is_zero
from .vector import Mat, Vec, cross

Scalar = Any


@dataclass(frozen=True)
class Inertia:
    """Inertial parameters of a body about the origin of a frame: J, first moments MS, mass M."""

    J: Mat
    MS: Vec
    M: Scalar

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.J + other.J, self.MS + other.MS, self.M + other.M)

    def __matmul__(self, v: tuple[Vec, Vec]) -> tuple[Vec, Vec]:
        """(force, moment) = 𝕁 (u, r) for a 6-vector of motion, [K10] (11)."""
        u, r = v
        return self.M * u + cross(r, self.MS), self.J @ r + cross(self.MS, u)

    def rotated(self, R: Rotation) -> Inertia:
        """The body seen in axes turned by R: R J R^T, R MS."""
        return Inertia(congruence(R, self.J), R @ self.MS, self.M)

    def moved(self, P: Vec) -> Inertia:
        """The body about an origin from which this one lies at P, [KC97] (28)-(30).

        J - (hat(P) hat(MS) + (.)^T) - hat(P)² M, written with K = MS + P M/2: only products P K."""
        x, y, z = P
        half = HALF * self.M
        K = Vec(*(ms if is_zero(p) else ms + p * half for ms, p in zip(self.MS, P, strict=True)))
        xK, yK, zK = x * K[0], y * K[1], z * K[2]
        xy, xz, yz = -(x * K[1] + y * K[0]), -(x * K[2] + z * K[0]), -(y * K[2] + z * K[1])
        moved = Mat([[2 * (yK + zK), xy, xz], [xy, 2 * (xK + zK), yz], [xz, yz, 2 * (xK + yK)]])
        return Inertia(self.J + moved, self.MS + self.M * P, self.M)


def congruence(R: Rotation, S: Mat) -> Mat:
    """R S R^T for a symmetric S."""
    for turn in reversed(R.turns):
        S = turned_symmetric(turn, S)
    return S


def turned_symmetric(turn: Turn, S: Mat) -> Mat:
    """A symmetric matrix in axes turned about one axis."""
    axis, c, s = turn
    if is_zero(s) and isinstance(c, int) and c == 1:
        return S
    if isinstance(c, int) and c == 0:
        return _quarter_turned(axis, s, S)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    jj, kk, jk, aj, ak = S[j, j], S[k, k], S[j, k], S[axis, j], S[axis, k]
    u = s * (kk - jj) - (2 * c) * jk
    su = s * u
    rows: list[list[Any]] = [[S[r, q] for q in range(3)] for r in range(3)]
    rows[j][j], rows[k][k] = jj + su, kk - su
    rows[j][k] = rows[k][j] = -(jk + c * u)
    rows[axis][j] = rows[j][axis] = c * aj - s * ak
    rows[axis][k] = rows[k][axis] = s * aj + c * ak
    return Mat(rows)


def turned(R: Rotation, B: Mat) -> Mat:
    """R B R^T for any 3x3 B."""
    for turn in reversed(R.turns):
        B = _turned_general(turn, B)
    return B


def _turned_general(turn: Turn, B: Mat) -> Mat:
    axis, c, s = turn
    if is_zero(s) and isinstance(c, int) and c == 1:
        return B
    if isinstance(c, int) and c == 0:
        return _quarter_turned(axis, s, B)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    jj, kk, jk, kj = B[j, j], B[k, k], B[j, k], B[k, j]
    # as in turned_symmetric, with both off-diagonals: jk' = -(kj + c v), kj' = -(jk + c v)
    v = s * (kk - jj) - c * (jk + kj)
    sv, cv = s * v, c * v
    rows: list[list[Any]] = [[B[r, q] for q in range(3)] for r in range(3)]
    rows[j][j], rows[k][k] = jj + sv, kk - sv
    rows[j][k], rows[k][j] = -(kj + cv), -(jk + cv)
    rows[axis][j], rows[axis][k] = c * B[axis, j] - s * B[axis, k], s * B[axis, j] + c * B[axis, k]
    rows[j][axis], rows[k][axis] = c * B[j, axis] - s * B[k, axis], s * B[j, axis] + c * B[k, axis]
    return Mat(rows)


def _quarter_turned(axis: int, s: int, B: Mat) -> Mat:
    """A matrix after a quarter turn: its entries exchanged, no operation."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    source = {axis: (axis, 1), j: (k, -s), k: (j, s)}  # new axis <- (old axis, sign)
    rows = [[B[source[r][0], source[q][0]] for q in range(3)] for r in range(3)]
    signs = [[source[r][1] * source[q][1] for q in range(3)] for r in range(3)]
    return Mat(
        [
            [x if g > 0 else -x for x, g in zip(*pair, strict=True)]
            for pair in zip(rows, signs, strict=True)
        ]
    )
