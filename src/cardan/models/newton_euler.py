"""Inverse dynamics of a tree robot by recursive Newton-Euler, [K10] 3.2 (18)-(31), [KC97] 5.1.

    Γ = NE(q, q̇, q̈, f_e, m_e)                                                            (12)

The moment (23) is written linear in the inertia matrix, as in [KC97] 5.1, ref. 12: its coefficients
are entries of U_j or products already formed in them. Moments are N, n because M is the mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.vector import Mat, Vec, cross, dot, hat
from .bodies import Bodies, cosines
from .flexible.body import deformed_link, elastic_forces

Scalar = Any
a = Vec(0, 0, 1)


@dataclass
class NewtonEuler:
    """The quantities of the recursion, by link: in frame j, of link j."""

    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    wd: dict[int, Vec] = field(default_factory=dict)
    U: dict[int, Mat] = field(default_factory=dict)
    sq: dict[int, Vec] = field(default_factory=dict)  # w2² - w3², w3² - w1², w1² - w2²
    Vd: dict[int, Vec] = field(default_factory=dict)
    F: dict[int, Vec] = field(default_factory=dict)
    N: dict[int, Vec] = field(default_factory=dict)
    f: dict[int, Vec] = field(default_factory=dict)
    n: dict[int, Vec] = field(default_factory=dict)
    tau: dict[int, Scalar] = field(default_factory=dict)
    s: dict[int, list[Scalar]] = field(default_factory=dict)  # of elastic coordinates

    def rows(self, robot: Bodies) -> list[Scalar]:
        """Generalized forces of the joints, then of the elastic coordinates."""
        elastic = [force for j in robot.flexible for force in self.s[j]]
        return [*(self.tau[j] for j in robot.tree.moving), *elastic]


def inverse_dynamics(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> NewtonEuler:
    """Joint torques and every quantity on the way; f[0], n[0]: the wrench that the base needs."""
    placed, here, rates, second = robot.at(q), *map(robot.split, (q, qd, qdd))
    x = NewtonEuler(*cosines(placed))
    w, wd, U, sq, Vd, F, N, f, n = x.w, x.wd, x.U, x.sq, x.Vd, x.F, x.N, x.f, x.n
    w[0], wd[0], Vd[0] = robot.w0, robot.wd0, robot.Vd0 - robot.gravity
    U[0], sq[0] = spin(w[0], wd[0])
    for link, T in placed:
        i, j, s, sbar = link.i, link.j, link.s, link.sbar
        qda, qdda = rates.joint[link.joint] * a, second.joint[link.joint] * a
        _, we, Vde, wde = T.bending(w[i], rates.elastic[i], second.elastic[i])
        jwi = T.jRi @ (w[i] + we)                                                     # (18)
        w[j] = jwi + sbar * qda                                                       # (19)
        wd[j] = T.jRi @ (wd[i] + wde) + sbar * (qdda + cross(jwi, qda))           # (20)
        U[j], sq[j] = spin(w[j], wd[j])
        moved = T.jRi @ (Vd[i] + U[i] @ T.iPj + Vde)
        Vd[j] = moved + s * (qdda + 2 * cross(jwi, qda))                              # (21)
    for link in (robot.base, *(link for link, _ in placed)):
        j = link.j
        own = here.elastic[j], rates.elastic[j], second.elastic[j]
        body = deformed_link(link, own[0])
        Fe, Ne, x.s[j] = elastic_forces(link, body, (w[j], Vd[j], wd[j]), *own)       # [BK13] (4)
        F[j] = link.M * Vd[j] + U[j] @ body.MS + Fe                                   # (22)
        N[j] = moment(body.I, w[j], wd[j], U[j], sq[j]) + cross(body.MS, Vd[j]) + Ne  # (23)
        f[j], n[j] = F[j] + link.f_e, N[j] + link.n_e                                 # (26), (27)
    for link, T in reversed(placed):
        i, j, s, sbar = link.i, link.j, link.s, link.sbar
        ifj, inj = T.iRj @ f[j], T.iRj @ n[j]                                         # (28)
        f[i] = f[i] + ifj                                                             # (29)
        n[i] = n[i] + inj + cross(T.iPj, ifj)                                         # (30)
        for k, (D, W) in enumerate(zip(T.D, T.W, strict=True)):
            x.s[i][k] = x.s[i][k] + (dot(D, ifj) + dot(W, inj))
        if link.joint:
            rotor = link.IA * second.joint[link.joint]
            friction = link.friction(rates.joint[link.joint])
            tau = (s * f[j] + sbar * n[j]) @ a + rotor + friction                     # (31)
            x.tau[link.joint] = tau + link.spring_torque(here.joint[link.joint])
    return x


def spin(w: Vec, wd: Vec) -> tuple[Mat, Vec]:
    """U = hat(ẇ) + hat(w)² and (w2² - w3², w3² - w1², w1² - w2²)."""
    w11, w22, w33 = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    return hat(wd) + hat(w) @ hat(w), Vec(w22 - w33, w33 - w11, w11 - w22)


def moment(J: Mat, w: Vec, wd: Vec, U: Mat, sq: Vec) -> Vec:
    """J ẇ + w × (J w), the moment (23) without its MS part, linear in XX .. ZZ."""
    (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = J.rows
    return Vec(
        XX * wd[0] + (ZZ - YY) * (w[1] * w[2]) - XY * U[2, 0] + XZ * U[1, 0] + YZ * sq[0],
        YY * wd[1] + (XX - ZZ) * (w[0] * w[2]) + XY * U[2, 1] - YZ * U[0, 1] + XZ * sq[1],
        ZZ * wd[2] + (YY - XX) * (w[0] * w[1]) - XZ * U[1, 2] + YZ * U[0, 2] + XY * sq[2],
    )
