"""The spin of a link: wd and U = hat(wd) + hat(w)², each in the way that costs least.

Three forms of the same matrix, for a link on a revolute joint along a:

- direct: from w and wd, [K10] (20), (21);
- `carried`: U_j = jU_i + what the joint adds; it pays where the turn is free;
- `axial`: the joint leaves the column along its axis as it is, U_j a = jU_i a. This vector is
  turned instead of wd, and with w it gives all the rest:

      U31 = 2 w1 w3 - U13     U32 = 2 w2 w3 - U23     U11 = U33 - (w3² - w1²)

Beside U every link has its gaps (w2² - w3², w3² - w1², w1² - w2²): the moment is linear in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..algebra.inertia import turned
from ..algebra.rotation import Rotation, X, Z
from ..algebra.vector import Mat, Vec, hat
from .bodies import Body

__all__ = ["Spin", "axial", "carried", "direct", "with_column", "with_row"]

Scalar = Any
a = Vec(0, 0, 1)


@dataclass(frozen=True)
class Spin:
    """w, wd, U of a link and the gaps between the squares of w."""

    w: Vec
    wd: Vec
    U: Mat
    gaps: Vec


def direct(w: Vec, wd: Vec) -> Spin:
    """U from w and wd."""
    w11, w22, w33 = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    return Spin(w, wd, hat(wd) + hat(w) @ hat(w), Vec(w22 - w33, w33 - w11, w11 - w22))


def with_column(spin: Spin, w: Vec, wd: Vec) -> Spin:
    """U with its third column formed from the spin before the joint's turn: U_j a = jU_r a."""
    third = (w[0] * w[2] + wd[1], w[1] * w[2] - wd[0])
    (a11, a12, _), (a21, a22, _), last = spin.U.rows
    U = Mat([[a11, a12, third[0]], [a21, a22, third[1]], last])
    return Spin(spin.w, spin.wd, U, spin.gaps)


def with_row(spin: Spin, turn: Rotation, still: Spin) -> Spin:
    """U with its entry 32 turned from that of the same link in axes before the turn."""
    first, second, (U31, _, U33) = spin.U.rows
    row = turn.T @ Vec(still.U[2, 0], still.U[2, 1], U33)
    return Spin(spin.w, spin.wd, Mat([first, second, Vec(U31, row[1], U33)]), spin.gaps)


def axial(before: Spin, jRr: Rotation, w: Vec, wd3: Scalar) -> Spin:
    """The spin from the column of U along the joint axis, which the joint does not change."""
    rest, turn = jRr.T.before_last(Z)
    x, y, U33 = turn.T @ _column(before, rest)
    w12, w13, w23 = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    w11, w33 = w[0] * w[0], w[2] * w[2]
    wd = Vec(w23 - y, x - w13, wd3)
    gap = w33 - w11
    U11, U22 = U33 - gap, -(w11 + w33)
    U = Mat([[U11, w12 - wd[2], x], [w12 + wd[2], U22, y], [w13 - wd[1], w23 + wd[0], U33]])
    return Spin(w, wd, U, Vec(U22 - U33, gap, U11 - U22))


def _column(before: Spin, rest: Rotation) -> Vec:
    """U a in the axes before the joint's turn; `rest` leads to them from those of the link before.

    After one oblique turn about x, w1 and wd1 are as before, and only U13 is to be turned."""
    along = before.U @ (rest @ a)
    if len(rest.turns) != 1 or rest.turns[0][0] != X or isinstance(rest.turns[0][1], int):
        found: Vec = rest.T @ along
        return found
    w = rest.T @ before.w
    return Vec(along[0], w[1] * w[2] - before.wd[0], -(w[0] * w[0] + w[1] * w[1]))


def carried(link: Body, before: Spin, jRi: Rotation, spin: Spin, qd: Scalar, qdd: Scalar) -> Spin:
    """U_j from U_i in the same axes, beside its diagonal, which follows from w."""
    jUi = turned(jRi, before.U)
    if not link.sbar:
        return Spin(spin.w, spin.wd, jUi, spin.gaps)
    (_, U12, U13), (U21, _, U23), (U31, U32, U33) = jUi.rows
    w, twice = spin.w, 2 * qd
    U = Mat(
        [
            [spin.U[0, 0], U12 - qdd, U13],
            [U21 + qdd, spin.U[1, 1], U23],
            [U31 + twice * w[0], U32 + twice * w[1], U33],
        ]
    )
    return Spin(w, spin.wd, U, spin.gaps)
