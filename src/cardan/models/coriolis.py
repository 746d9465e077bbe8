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

A base that floats has six axes more, along and about those of frame 0, and their velocities are the
components of 𝕍_0 there: u = (𝕍_0, q̇). The rates of these components are 𝕍̇_0 less w_0 × V_0, so that

    A (𝕍̇_0, q̈) + H = A u̇ + C u + Q,        C u = H - Q + A (w_0 × V_0, 0)

and Ȧ - 2C is skew for all of u. V_0 itself is not in C, for the reason above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import Inertia, turned
from ..algebra.rotation import Rotation
from ..algebra.scalar import HALF
from ..algebra.vector import Mat, Vec, cross, hat, zero
from .bodies import Bodies, Body, cosines
from .composite import composite_links
from .frame import Frame
from .kinematics import velocities

Scalar = Any
Pair = tuple[Vec, Vec]
Axis = tuple[int]
a = Vec(0, 0, 1)
BASE = range(-6, 0)


@dataclass
class Coriolis:
    """Velocities and composite links, and the matrix by (row, column) of joints; the axes of the
    base are -6 .. -1."""

    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    dV: dict[int, Vec] = field(default_factory=dict)  # Δ
    Jplus: dict[int, Mat] = field(default_factory=dict)
    MSplus: dict[int, Vec] = field(default_factory=dict)
    Mplus: dict[int, Scalar] = field(default_factory=dict)
    pplus: dict[int, Vec] = field(default_factory=dict)
    Zplus: dict[int, Mat] = field(default_factory=dict)
    # by (frame, joint), as that frame has them: of composite link j the force and the moment of a
    # unit acceleration of its joint, those of a unit rate (column j), and the couple of row j
    fA: dict[tuple[int, int], Vec] = field(default_factory=dict)
    nA: dict[tuple[int, int], Vec] = field(default_factory=dict)
    fC: dict[tuple[int, int], Vec] = field(default_factory=dict)
    nC: dict[tuple[int, int], Vec] = field(default_factory=dict)
    rC: dict[tuple[int, int], Vec] = field(default_factory=dict)
    entries: dict[tuple[Axis, Axis], Scalar] = field(default_factory=dict)

    def carried(self, at: tuple[int, int], own: Pair, column: Pair, row: Pair) -> None:
        (self.fA[at], self.nA[at]), (self.fC[at], self.nC[at]), self.rC[at] = own, column, row[1]

    def put(self, row: int, column: int, value: Scalar) -> None:
        self.entries[(row,), (column,)] = value

    def matrix(self, links: Sequence[int], base: bool = False) -> list[list[Scalar]]:
        """C as rows over these links, the six of the base first."""
        rows = [*(BASE if base else ()), *links]
        return [[self.entries.get(((i,), (j,)), 0) for j in rows] for i in rows]


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


def coriolis_matrix(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], base: bool = False
) -> Coriolis:
    """C[i, j] for joints i, j on a common path; all else is 0. `base`: and its six axes."""
    placed, rates = robot.at(q), robot.split(qd).joint
    plus = composite_links(robot, q, placed)
    frames = {link.j: (link, T) for link, T in placed}
    x = Coriolis(*cosines(placed), w=velocities(robot, q, qd).w)
    x.Jplus, x.MSplus, x.Mplus = plus.Jplus, plus.MSplus, plus.Mplus
    B = {link.j: Factor.of(link, x.w[link.j]) for link, _ in placed}
    for link, T in placed:
        x.dV[link.j] = cross(x.w[link.i], T.iPj) + T.iRj @ (link.s * rates[link.joint] * a)
    if base:
        B[0] = Factor.of(robot.base, x.w[0])

    def axes(j: int) -> list[tuple[int, Pair, Pair]]:
        """(number, axis, its rate) of the joint of link j, or of the base."""
        if j:
            link = frames[j][0]
            own = (link.joint, axis(link), axis_rate(link, x.w[j]))
            return [own] if link.joint else []
        return [(k, S, (cross(x.w[0], S[0]), cross(x.w[0], S[1]))) for k, S in _base_axes(base)]

    for link, T in reversed(placed):
        j, i, I = link.j, link.i, plus.inertia(link.j)
        if i or base:
            B[i] = B[i] + B[j].seen_from(T, I, x.dV[j])
        if not link.joint:
            continue
        S = axis(link)
        column, own, row = summed(B[j] @ S, I @ axis_rate(link, x.w[j])), I @ S, B[j].transposed(S)
        x.put(link.joint, link.joint, paired(S, column))
        x.carried((j, link.joint), own, column, row)
        up, T = frames[j]
        while up.i or base:
            row = row_seen_from(T, row, own, x.dV[up.j])
            column, own = T.wrench(*column), T.wrench(*own)
            x.carried((up.i, link.joint), own, column, row)
            for k, S, rate in axes(up.i):
                x.put(k, link.joint, paired(S, column))
                x.put(link.joint, k, paired(rate, own) + paired(S, row))
            if not up.i:
                break
            up, T = frames[up.i]
    for m, other, rate in axes(0):
        column = summed(B[0] @ other, plus.inertia(0) @ rate)
        for k, S, _ in axes(0):
            x.put(k, m, paired(S, column))
    for j, factor in sorted(B.items()):
        x.pplus[j], x.Zplus[j] = factor.p, factor.Z
    return x


def _base_axes(base: bool) -> list[tuple[int, Pair]]:
    """The axes of frame 0: along, then about them."""
    units = [Vec(*(int(k == m) for m in range(3))) for k in range(3)]
    six = [*((u, zero) for u in units), *((zero, u) for u in units)]
    return list(zip(BASE, six, strict=True)) if base else []


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
