"""The Coriolis matrix: H = C(q, q̇) q̇ + Q with Ȧ - 2C skew-symmetric, by composite links.

Each link contributes J^T (𝕁 J̇ + B J) with B chosen so that C is made of Christoffel symbols,

    B = ½ [ (𝕍×*) 𝕁 + (𝕁 𝕍)×̄* - 𝕁 (𝕍×) ]

(S. Echeandia, P. Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel
symbols for rigid-body systems", J. Comput. Nonlinear Dynamics, 2021), summed over composite links
as in [KC97] 5.3.2. About the origin of the link frame, by blocks (linear, angular), it reduces to

    B = [[0, -hat(p)], [0, Z]],   p = M V + w × MS,   Z = hat(w) (J - ½ tr J) - hat(MS) hat(V)

so that a composite link carries only the vector p and the matrix Z. Forces are the same for every
observer who moves at a constant velocity: here for one who moves as O_j does, so that V = 0 for
link j itself; from O_i, all links of composite link j gain the velocity Δ = w_i × P_j + σ q̇ a.

C is linear in q̇: at q̇ = e_k it holds the Christoffel symbols c_ijk, the second method of [KC97] 5.5
(Renaud's, without differentiation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import Inertia, turned
from ..algebra.rotation import Rotation
from ..algebra.scalar import HALF
from ..algebra.vector import Mat, Vec, cross, hat, zero
from .bodies import Bodies, Body
from .composite import composite_links
from .frame import Frame
from .kinematics import velocities

__all__ = ["Coriolis", "Factor", "axis", "axis_rate", "coriolis_matrix", "paired", "row_seen_from",
           "summed"]  # fmt: skip

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)


@dataclass
class Coriolis:
    """Velocities by link, C by (row, column) of joints."""

    w: dict[int, Vec] = field(default_factory=dict)
    C: dict[tuple[int, int], Scalar] = field(default_factory=dict)

    def matrix(self, links: Sequence[int]) -> list[list[Scalar]]:
        """C as rows over these links."""
        return [[self.C.get((i, j), 0) for j in links] for i in links]


@dataclass(frozen=True)
class Factor:
    """B of a link or composite link, as p and Z."""

    p: Vec
    Z: Mat

    @classmethod
    def of(cls, link: Body, w: Vec) -> Factor:
        """Of link j, seen from O_j."""
        J = link.J
        half = HALF * (J[0, 0] + J[1, 1] + J[2, 2])
        deviator = J - Mat([[half, 0, 0], [0, half, 0], [0, 0, half]])
        return cls(cross(w, link.MS), hat(w) @ deviator)

    def __add__(self, other: Factor) -> Factor:
        return Factor(self.p + other.p, self.Z + other.Z)

    def turned(self, R: Rotation) -> Factor:
        """In axes turned by R."""
        return Factor(R @ self.p, turned(R, self.Z))

    def seen_from(self, T: Frame, body: Inertia, D: Vec) -> Factor:
        """jT_i^T B jT_i of a composite link, from O_i, from which O_j has the velocity D."""
        p = T.iRj @ self.p + body.M * D
        Z = turned(T.iRj, self.Z) - hat(T.iRj @ body.MS) @ hat(D)
        return Factor(p, Z - hat(T.iPj) @ hat(p))

    def __matmul__(self, v: Pair) -> Pair:
        return cross(v[1], self.p), self.Z @ v[1]

    def transposed(self, v: Pair) -> Pair:
        return zero, cross(self.p, v[0]) + self.Z.T @ v[1]


def coriolis_matrix(robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Coriolis:
    """C[i, j] for joints i, j on a common path; all else is 0."""
    placed, rates = robot.at(q), robot.split(qd).joint
    plus = composite_links(robot, q, placed)
    frames = {link.j: (link, T) for link, T in placed}
    x = Coriolis(w=velocities(robot, q, qd).w)
    B = {link.j: Factor.of(link, x.w[link.j]) for link, _ in placed}
    D = {link.j: cross(x.w[link.i], T.iPj) + T.iRj @ (link.s * rates[link.joint] * a)
         for link, T in placed}  # fmt: skip
    for link, T in reversed(placed):
        j, i, I = link.j, link.i, plus.inertia(link.j)
        if i:
            B[i] = B[i] + B[j].seen_from(T, I, D[j])
        if not link.joint:
            continue
        S = axis(link)
        column, own, row = summed(B[j] @ S, I @ axis_rate(link, x.w[j])), I @ S, B[j].transposed(S)
        x.C[link.joint, link.joint] = paired(S, column)
        up, T = frames[j]
        while up.i:
            row = row_seen_from(T, row, own, D[up.j])
            column, own = T.wrench(*column), T.wrench(*own)
            up, T = frames[up.i]
            if up.joint:
                S = axis(up)
                x.C[up.joint, link.joint] = paired(S, column)
                rate = axis_rate(up, x.w[up.j])
                x.C[link.joint, up.joint] = paired(rate, own) + paired(S, row)
    return x


def row_seen_from(T: Frame, row: Pair, own: Pair, D: Vec) -> Pair:
    """𝕊^T B of a joint beyond, from O_i: a couple, less what the velocity D of O_j adds."""
    return zero, T.iRj @ row[1] - cross(T.iRj @ own[0], D)


def axis(link: Body) -> Pair:
    """The joint's 6-D axis in frame j, [K10] (16)."""
    return link.s * a, link.sbar * a


def axis_rate(link: Body, w: Vec, V: Vec = zero) -> Pair:
    """Its rate 𝕍_j × axis: zero in frame j, but frame j turns, and O_j moves unless all is seen
    from it."""
    return link.s * cross(w, a) + link.sbar * cross(V, a), link.sbar * cross(w, a)


def summed(x: Pair, y: Pair) -> Pair:
    return x[0] + y[0], x[1] + y[1]


def paired(x: Pair, y: Pair) -> Scalar:
    return x[0] @ y[0] + x[1] @ y[1]
