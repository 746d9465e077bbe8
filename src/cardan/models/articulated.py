"""Articulated bodies: accelerations of torques, torques of accelerations, each joint its own.

[K10] 3.3.2 (32)-(44), 6.3 (72)-(82) and 7.3 (101)-(112), with the corrections of the errata, for
links with any number of variables: the elastic coordinates of link j are eliminated from its model
[BK13] (4) one after the other, then its joint; what is left is the 6x6 articulated inertia that
its antecedent carries. Nothing larger than one link is ever inverted. A 6x6 matrix is three 3x3
blocks [[L, B], [B^T, J]] in the order (linear, angular), each turned factor by factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import congruence, turned
from ..algebra.scalar import is_same
from ..algebra.solve import solve_symmetric
from ..algebra.vector import Mat, Vec, cross, dot, hat
from .bodies import Bodies, Body
from .frame import Frame
from .motion import Motion

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)


@dataclass(frozen=True)
class Articulated:
    """A symmetric 6x6 matrix by blocks [[L, B], [B^T, J]], forces over moments."""

    L: Mat
    B: Mat
    J: Mat

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(self.L + other.L, self.B + other.B, self.J + other.J)

    def __matmul__(self, v: tuple[Vec, Vec]) -> tuple[Vec, Vec]:
        return self.L @ v[0] + self.B @ v[1], self.B.T @ v[0] + self.J @ v[1]

    def column(self, k: int) -> tuple[Vec, Vec]:
        """Column k of 0..5."""
        if k < 3:
            return Vec(*(row[k] for row in self.L.rows)), Vec(*self.B.rows[k])
        return Vec(*(row[k - 3] for row in self.B.rows)), Vec(*(row[k - 3] for row in self.J.rows))

    def without(self, f: Vec, n: Vec, H: Scalar, inverse: Scalar) -> Articulated:
        """This matrix minus the square (f; n)(f; n)^T / H, with 1/H given, (37).

        Without rotor inertia H is itself an entry of (f; n): H / H = 1 leaves a row of zeros."""
        fH, nH = (Vec(*(1 if is_same(x, H) else inverse * x for x in v)) for v in (f, n))
        return Articulated(
            self.L - _outer(f, fH, symmetric=True),
            self.B - _outer(f, nH),
            self.J - _outer(n, nH, symmetric=True),
        )

    def solve(self, f: Vec, n: Vec) -> tuple[Vec, Vec]:
        """The motion (u, r) for which this matrix gives (f, n)."""
        rows = [[*self.L.rows[k], *self.B.rows[k]] for k in range(3)]
        rows += [[*self.B.T.rows[k], *self.J.rows[k]] for k in range(3)]
        x = solve_symmetric(rows, [*f, *n])
        return Vec(*x[:3]), Vec(*x[3:])

    def moved(self, P: Vec) -> Articulated:
        """About an origin from which the present one lies at P: B' = B - L hat(P), J' = J + ..."""
        p = hat(P)
        B = self.B - self.L @ p
        PB = p @ self.B
        PBn = p @ B
        # J' = J + hat(P) B - B^T hat(P) - hat(P) L hat(P) = J + hat(P) B' + (hat(P) B)^T
        J = self.J.rows
        rows = [[J[r][q] + (PBn[r, q] + PB[q, r]) for q in range(3)] for r in range(3)]
        for r in range(3):
            for q in range(r):
                rows[r][q] = rows[q][r]
        return Articulated(self.L, B, Mat(rows))


def _outer(v: Vec, w: Vec, symmetric: bool = False) -> Mat:
    rows = [[x * y for y in w] for x in v]
    if symmetric:
        for r in range(3):
            for q in range(r):
                rows[r][q] = rows[q][r]
    return Mat(rows)


@dataclass
class Solution:
    """Quantities of the recursion by link; 6-vectors as (linear, angular) pairs."""

    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    gamma: dict[int, Pair] = field(default_factory=dict)
    H: dict[int, Scalar] = field(default_factory=dict)
    VVd: dict[int, Pair] = field(default_factory=dict)
    qdd: dict[int, Scalar] = field(default_factory=dict)
    qedd: dict[int, list[Scalar]] = field(default_factory=dict)
    tau: dict[int, Scalar] = field(default_factory=dict)
    V0d: Pair | None = None


def articulated(
    robot: Bodies, x: Motion, *, tau: Mapping[int, Scalar],
    qdd: Mapping[int, Scalar] | None = None, free_base: bool = False,
) -> Solution:  # fmt: skip
    """Accelerations and torques when each joint has one of the two given, by joint; elastic joints
    have the torque of their spring.

    All torques given: the direct model (36)-(44). Accelerations of the rigid joints given: the
    inverse model with elastic joints (72)-(82). A free base adds (109)."""
    out = Solution(x.C, x.S, x.w, x.gamma)
    imposed, net = dict(qdd or {}), _net_torques(robot, x, tau)
    nodes = {link.j: _Node.of(link, x) for link in (robot.base, *(link for link, _ in x.placed))}
    for link, T in reversed(x.placed):
        node = nodes[link.j]
        node.eliminate_elastic()
        K, alpha = node.eliminate_joint(link, x.gamma[link.j], net, imposed)          # (36)-(38)
        if link.i or free_base:
            nodes[link.i].carry(T, K, alpha)                                          # (39), (40)
    out.VVd[0] = (robot.Vd0 - robot.gravity, robot.wd0)
    if free_base:
        out.VVd[0] = nodes[0].A.solve(-nodes[0].f, -nodes[0].n)                       # (109)
        out.V0d = (out.VVd[0][0] + robot.gravity, out.VVd[0][1])
    for link, T in x.placed:
        i, j, s, sbar, joint = link.i, link.j, link.s, link.sbar, link.joint
        node, gamma = nodes[j], x.gamma[j]
        moved = _carried(T, out.VVd[i], out.qedd.get(i, []))
        Vd, wd = moved[0] + gamma[0], moved[1] + gamma[1]
        if joint in net:
            out.H[joint] = node.H
            out.qdd[joint] = (node.u - _dot(node.column, (Vd, wd))) * node.inverse    # (41), (80)
        elif joint in imposed:
            f, n = node.K @ moved
            f, n = f + node.alpha[0], n + node.alpha[1]                               # (42), (79)
            drive = link.IA * imposed[joint] + link.friction(x.qd.joint[joint])
            drive = drive + link.spring_torque(x.q.joint[joint])
            out.qdd[joint] = imposed[joint]
            out.tau[joint] = (s * f + sbar * n) @ a + drive                           # (82)
        rate = out.qdd.get(joint, 0) * a
        out.VVd[j] = (Vd + s * rate, wd + sbar * rate)                                # (43), (81)
        out.qedd[j] = node.elastic_accelerations(out.VVd[j])
    return out


def _net_torques(robot: Bodies, x: Motion, tau: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """Torques of motors and springs, friction taken off, (44)."""
    net = dict(tau)
    for j in robot.elastic:
        net[j] = robot.links[j - 1].elastic_torque(x.q.joint[j], x.qd.joint[j])
    links = {j: robot.links[j - 1] for j in net}
    return {
        j: t - links[j].friction(x.qd.joint[j]) - links[j].spring_torque(x.q.joint[j])
        for j, t in net.items()
    }


@dataclass
class _Node:
    """The model (4) of link j while its subtree is folded into it: A of its frame, C and E of its
    elastic coordinates, the forces; then what its elimination leaves for the way back."""

    A: Articulated
    C: list[Pair]
    E: list[list[Scalar]]
    f: Vec
    n: Vec
    s: list[Scalar]
    pivots: list[tuple[Pair, Scalar, list[Scalar], Scalar]] = field(default_factory=list)
    column: Pair = (a, a)  # A a
    H: Scalar = 0
    inverse: Scalar = 0
    u: Scalar = 0
    K: Articulated | Any = None
    alpha: Pair = (a, a)

    @classmethod
    def of(cls, link: Body, x: Motion) -> _Node:
        j, body, M = link.j, x.body[link.j], link.M
        L = Mat([[M, 0, 0], [0, M, 0], [0, 0, M]])
        E = [list(row) for row in link.flexible.integrals.Mee] if link.flexible else []
        C = list(zip(body.MSde, body.MSre, strict=True))
        inertia = Articulated(L, -hat(body.MS), body.I)                               # (11)
        return cls(inertia, C, E, x.f_in[j], x.c_in[j], list(x.s_in[j]))

    def eliminate_elastic(self) -> None:
        """Solve the elastic rows for q̈_N, ..., q̈_1, one after the other."""
        for k in reversed(range(len(self.E))):
            U, row, s = self.C[k], self.E[k], self.s[k]
            inverse = 1 / row[k]
            for m in range(k):
                ratio = row[m] * inverse
                self.C[m] = (self.C[m][0] - ratio * U[0], self.C[m][1] - ratio * U[1])
                for r in range(m + 1):
                    self.E[m][r] = self.E[m][r] - ratio * row[r]
                self.s[m] = self.s[m] - ratio * s
            self.A = self.A.without(*U, row[k], inverse)
            pull = s * inverse
            self.f, self.n = self.f - pull * U[0], self.n - pull * U[1]
            self.pivots.append((U, inverse, row[:k], s))
        self.pivots.reverse()

    def eliminate_joint(
        self, link: Body, gamma: Pair, net: Mapping[int, Scalar], imposed: Mapping[int, Scalar]
    ) -> tuple[Articulated, Pair]:
        """(K, α): the wrench on the antecedent is K m + α, m its acceleration carried to O_j."""
        self.K, push = self.A, imposed.get(link.joint, 0)
        self.column = self.A.column(2 if link.s else 5)
        if link.joint in net:
            self.H = (link.s * self.column[0] + link.sbar * self.column[1]) @ a + link.IA  # (36)
            self.inverse = 1 / self.H
            self.u = net[link.joint] - (link.s * self.f + link.sbar * self.n) @ a
            self.K = self.A.without(*self.column, self.H, self.inverse)               # (37), (73)
            push = self.u * self.inverse
        f, n = self.K @ gamma
        f, n = f + self.f + push * self.column[0], n + self.n + push * self.column[1]
        self.alpha = f, n                                                             # (38), (74)
        return self.K, self.alpha

    def carry(self, T: Frame, K: Articulated, alpha: Pair) -> None:
        """Add what a link on this one asks of it: at O_i, and on its elastic coordinates."""
        K = Articulated(congruence(T.iRj, K.L), turned(T.iRj, K.B), congruence(T.iRj, K.J))
        f, n = T.iRj @ alpha[0], T.iRj @ alpha[1]
        for k, (D, W) in enumerate(zip(T.D, T.W, strict=True)):
            pull = K @ (D, W)
            for m in range(k + 1):
                self.E[k][m] = self.E[k][m] + _dot((T.D[m], T.W[m]), pull)
            pull = T.about_origin(*pull)
            self.C[k] = (self.C[k][0] + pull[0], self.C[k][1] + pull[1])
            self.s[k] = self.s[k] + _dot((D, W), (f, n))
        f, n = T.about_origin(f, n)
        self.f, self.n = self.f + f, self.n + n
        self.A = self.A + K.moved(T.iPj)

    def elastic_accelerations(self, VVd: Pair) -> list[Scalar]:
        """q̈_1, ..., q̈_N of the frame's acceleration."""
        solved: list[Scalar] = []
        for U, inverse, row, s in self.pivots:
            pulled = s + _dot(U, VVd)
            for e, other in zip(row, solved, strict=True):
                pulled = pulled + e * other
            solved.append(-(pulled * inverse))
        return solved


def _carried(T: Frame, VVd: Pair, qedd: list[Scalar]) -> Pair:
    """An acceleration of frame i (and of its elastic coordinates) at O_j, in frame j."""
    linear, angular = VVd[0] + cross(VVd[1], T.iPj), VVd[1]
    for rate, D, W in zip(qedd, T.D, T.W, strict=False):
        linear, angular = linear + rate * D, angular + rate * W
    return T.jRi @ linear, T.jRi @ angular


def _dot(x: Pair, y: Pair) -> Scalar:
    return dot(x[0], y[0]) + dot(x[1], y[1])
