"""The Coriolis matrix: H = C(q, q̇) q̇ + Q with Ȧ - 2C skew-symmetric, by composite links.

Each link contributes J^T (𝕁 J̇ + B J) with B chosen so that C is made of Christoffel symbols,

    B = ½ [ (𝕍×*) 𝕁 + (𝕁 𝕍)×̄* - 𝕁 (𝕍×) ]

(S. Echeandia, P. Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel
symbols for rigid-body systems", J. Comput. Nonlinear Dynamics, 2021), summed over composite links
as in [KC97] 5.3.2. About the origin of the link frame, by blocks (linear, angular), it reduces to

    B = [[0, -hat(p)], [0, Z]],   p = M V + w × MS,   Z = hat(w) (J - ½ tr J) - hat(MS) hat(V)

so that a composite link carries only the vector p and the matrix Z. C is linear in q̇: at q̇ = e_k it
holds the Christoffel symbols c_ijk, the second method of [KC97] 5.5 (Renaud's, without
differentiation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import turned
from ..algebra.scalar import HALF
from ..algebra.vector import Mat, Vec, cross, hat
from .bodies import Bodies, Body
from .composite import composite_links
from .frame import Frame
from .kinematics import Motion, velocities

__all__ = ["Coriolis", "coriolis_matrix"]

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)


@dataclass
class Coriolis:
    """Velocities by link, C by (row, column) of links."""

    w: dict[int, Vec] = field(default_factory=dict)
    V: dict[int, Vec] = field(default_factory=dict)
    C: dict[tuple[int, int], Scalar] = field(default_factory=dict)

    def matrix(self, links: Sequence[int]) -> list[list[Scalar]]:
        """C as rows over these links."""
        return [[self.C.get((i, j), 0) for j in links] for i in links]


@dataclass(frozen=True)
class _Factor:
    """B of a link or composite link, as p and Z."""

    p: Vec
    Z: Mat

    @classmethod
    def of(cls, link: Body, V: Vec, w: Vec) -> _Factor:
        J = link.J
        half = HALF * (J[0, 0] + J[1, 1] + J[2, 2])
        deviator = J - Mat([[half, 0, 0], [0, half, 0], [0, 0, half]])
        p = link.M * V + cross(w, link.MS)
        return cls(p, hat(w) @ deviator - hat(link.MS) @ hat(V))

    def __add__(self, other: _Factor) -> _Factor:
        return _Factor(self.p + other.p, self.Z + other.Z)

    def seen_from(self, T: Frame) -> _Factor:
        """jT_i^T B jT_i."""
        p = T.iRj @ self.p
        return _Factor(p, turned(T.iRj, self.Z) - hat(T.iPj) @ hat(p))

    def __matmul__(self, v: Pair) -> Pair:
        return cross(v[1], self.p), self.Z @ v[1]

    def transposed(self, v: Pair) -> Pair:
        return Vec(0, 0, 0), cross(self.p, v[0]) + self.Z.T @ v[1]


def coriolis_matrix(robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Coriolis:
    """C[i, j] for links i, j on a common path; all else is 0."""
    motion = velocities(robot, q, qd)
    placed = robot.at(q)
    plus = composite_links(robot, q, placed)
    frames = {link.j: T for link, T in placed}
    x = Coriolis(w=motion.w, V=motion.V)
    B = {link.j: _Factor.of(link, motion.V[link.j], motion.w[link.j]) for link in robot.links}
    for link in reversed(robot.links):
        j, T = link.j, frames[link.j]
        if link.i:
            B[link.i] = B[link.i] + B[j].seen_from(T)
        if not (link.s or link.sbar):
            continue
        S, Sd = axis(link), axis_rate(link, motion)
        I = plus.inertia(j)
        forces = [_sum(B[j] @ S, I @ Sd), I @ S, B[j].transposed(S)]
        x.C[j, j] = _dot(S, forces[0])
        k = j
        while robot.links[k - 1].i:
            forces = [frames[k].wrench(*force) for force in forces]
            k = robot.links[k - 1].i
            up = robot.links[k - 1]
            if up.s or up.sbar:
                S_k, Sd_k = axis(up), axis_rate(up, motion)
                x.C[k, j] = _dot(S_k, forces[0])
                x.C[j, k] = _dot(Sd_k, forces[1]) + _dot(S_k, forces[2])
    return x


def axis(link: Body) -> Pair:
    """The joint's 6-D axis in frame j, [K10] (16)."""
    return link.s * a, link.sbar * a


def axis_rate(link: Body, motion: Motion) -> Pair:
    """Its rate 𝕍_j × axis: zero in frame j, but frame j moves."""
    V, w = motion.V[link.j], motion.w[link.j]
    return link.s * cross(w, a) + link.sbar * cross(V, a), link.sbar * cross(w, a)


def _sum(x: Pair, y: Pair) -> Pair:
    return x[0] + y[0], x[1] + y[1]


def _dot(x: Pair, y: Pair) -> Scalar:
    return x[0] @ y[0] + x[1] @ y[1]
