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
from ..algebra.rotation import Rotation
from ..algebra.vector import Mat, Vec, hat
from .bodies import Body

__all__ = ["Spin", "axial", "carried", "direct", "with_column"]

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


def axial(before: Spin, jRr: Rotation, w: Vec, wd3: Scalar) -> Spin:
    """The spin from the column of U along the joint axis, which the joint does not change."""
    x, y, U33 = jRr @ (before.U @ (jRr.T @ a))
    w12, w13, w23 = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    w11, w33 = w[0] * w[0], w[2] * w[2]
    wd = Vec(w23 - y, x - w13, wd3)
    gap = w33 - w11
    U11, U22 = U33 - gap, -(w11 + w33)
    U = Mat([[U11, w12 - wd[2], x], [w12 + wd[2], U22, y], [w13 - wd[1], w23 + wd[0], U33]])
    return Spin(w, wd, U, Vec(U22 - U33, gap, U11 - U22))


def carried(link: Body, before: Spin, jRi: Rotation, spin: Spin, qd: Scalar, qdd: Scalar) -> Spin:
    """U_j from U_i in the same axes: a revolute joint leaves the column along its axis as it is."""
    jUi, gaps = turned(jRi, before.U), _turned_gaps(jRi, before.gaps)
    w, jwi = spin.w, jRi @ before.w
    if not link.sbar:
        return Spin(w, spin.wd, jUi, gaps or _gaps(jUi))
    k = qd * (w[2] + jwi[2])
    twice = 2 * qd
    U = jUi + Mat([[-k, -qdd, 0], [qdd, -k, 0], [twice * w[0], twice * w[1], 0]])
    if gaps is None:
        return Spin(w, spin.wd, U, spin.gaps)
    return Spin(w, spin.wd, U, Vec(gaps[0] - k, gaps[1] + k, gaps[2]))


def _gaps(U: Mat) -> Vec:
    return Vec(U[1, 1] - U[2, 2], U[2, 2] - U[0, 0], U[0, 0] - U[1, 1])


def _turned_gaps(R: Rotation, gaps: Vec) -> Vec | None:
    """The gaps after quarter turns; None where the turn mixes the axes."""
    order = [0, 1, 2]
    for axis, c, s in reversed(R.turns):
        if not (isinstance(c, int) and isinstance(s, int)):
            return None
        if c == 0:
            j, k = (axis + 1) % 3, (axis + 2) % 3
            order[j], order[k] = order[k], order[j]

    def between(p: int, q: int) -> Scalar:
        """w_p² - w_q² of the axes before."""
        return gaps[3 - p - q] if q == (p + 1) % 3 else -gaps[3 - p - q]

    return Vec(between(order[1], order[2]), between(order[2], order[0]), between(order[0], order[1]))
