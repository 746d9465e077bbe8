"""Christoffel symbols of a tree of rigid links, by its axes and its composite links.

A point at r of a link beyond joints j <= k moves with the velocity v_k + a_k × r per unit rate of
joint k; the rates of both give it the acceleration

    2 α_jk q̇_j q̇_k,   α_jk = a_j × (v_k + a_k × r)            (once where j = k)

which composite link k resists with the force F and, about its origin, the moment N, with
K = ∫ r r^T dm = ½ tr(J) - J:

    F_jk = a_j × (M v_k + a_k × MS),   N_jk = MS × (a_j × v_k) + (K a_j) × a_k

On an axis i before it they are c_ijk = v_i · F_jk + a_i · N_jk. As A_ik does not depend on q_j for
j <= i, k (nothing between the axes i and k or beyond moves), the others are c_kji = -c_ijk.
[KC97] 5.5 has these coefficients by the torques at unit velocities; the columns (v_i, a_i) are
those of the Jacobian of frame k, [KC97] (5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.scalar import HALF
from ..algebra.vector import Mat, Vec, cross
from .bodies import Bodies
from .composite import Composite

Scalar = Any
a = Vec(0, 0, 1)


@dataclass
class Christoffel:
    """By (link, joint): the joint's axis a and the velocity v of the link's origin at its unit
    rate, in the link's frame; the force Fv and the moment Nv of the rates of both joints on the
    composite link; c by three joints."""

    K: dict[int, Mat] = field(default_factory=dict)
    a: dict[tuple[int, int], Vec] = field(default_factory=dict)
    v: dict[tuple[int, int], Vec] = field(default_factory=dict)
    Fv: dict[tuple[int, int], Vec] = field(default_factory=dict)
    Nv: dict[tuple[int, int], Vec] = field(default_factory=dict)
    entries: dict[tuple[tuple[int], int, int], Scalar] = field(default_factory=dict)

    def over(self, joints: Sequence[int]) -> dict[tuple[int, int, int], Scalar]:
        """c_ijk, j <= k, over these joints, by their places."""
        each = range(len(joints))
        named = {(i, j, k): ((joints[i],), joints[j], joints[k]) for i in each for j in each
                 for k in range(j, len(joints))}  # fmt: skip
        return {at: self.entries.get(key, 0) for at, key in named.items()}


def christoffel_symbols(robot: Bodies, q: Sequence[Scalar], plus: Composite) -> Christoffel:
    """c_ijk over the joints, of the composite links of this configuration."""
    x = Christoffel()
    placed = robot.at(q)
    before: dict[int, list[int]] = {0: []}  # of each link: the joints on its path, from the base
    for link, T in placed:
        i, j = link.i, link.j
        for m in before[i]:
            x.a[j, m] = T.jRi @ x.a[i, m]
            x.v[j, m] = T.jRi @ (x.v[i, m] + cross(x.a[i, m], T.iPj))
        before[j] = [*before[i], *([link.joint] if link.joint else [])]
        if link.joint:
            x.a[j, link.joint], x.v[j, link.joint] = link.sbar * a, link.s * a
    for link, _ in placed:
        if link.joint:
            _put(x, link.j, before[link.j], plus)
    return x


def _put(x: Christoffel, link: int, path: Sequence[int], plus: Composite) -> None:
    """The symbols whose last joint is that of this link."""
    J, MS, M, k = plus.Jplus[link], plus.MSplus[link], plus.Mplus[link], path[-1]
    XX, YY, ZZ = (J[m, m] for m in range(3))
    halves = HALF * (YY + ZZ - XX), HALF * (XX + ZZ - YY), HALF * (XX + YY - ZZ)
    x.K[link] = Mat([[halves[m] if m == n else -J[m, n] for n in range(3)] for m in range(3)])
    axis, slide = x.a[link, k], x.v[link, k]
    for at, j in enumerate(path):
        w = x.a[link, j]
        F = x.Fv[link, j] = cross(w, M * slide + cross(axis, MS))
        N = x.Nv[link, j] = cross(MS, cross(w, slide)) + cross(x.K[link] @ w, axis)
        for m, i in enumerate(path):
            c = x.v[link, i] @ F + x.a[link, i] @ N
            x.entries[(i,), j, k] = c
            if m >= at and i != k:
                x.entries[(k,), j, i] = -c
