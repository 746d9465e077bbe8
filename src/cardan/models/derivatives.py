"""Partial derivatives of the inverse dynamics of a tree, by composite links.

With 𝕊_j the axis of joint j, 𝕍 the velocity and ℱ_j the wrench of all links beyond joint j,

    ∂Γ_i/∂q̈_j = 𝕊_i^T 𝕁_k 𝕊_j                                      k = the later of i and j
    ∂Γ_i/∂q̇_j = 𝕊_i^T (2 B_k 𝕊_j + 2 𝕁_k Ψ_j)
    ∂Γ_i/∂q_j = 𝕊_i^T (2 B_k Ψ_j + 𝕁_k Ψd_j + [i <= j] 𝕊_j ×* ℱ_j)

    Ψ_j = 𝕍_a(j) × 𝕊_j        Ψd_j = 𝕍d_a(j) × 𝕊_j + 𝕍_a(j) × Ψ_j

(S. Singh, R. Russell, P. Wensing, "Efficient analytical derivatives of rigid-body dynamics using
spatial vector algebra", IEEE Robotics and Automation Letters, 2022), with 𝕁_k and B_k of composite
link k, seen from O_k as in `coriolis`. Linear velocities then appear nowhere: for a revolute joint

    Ψ_j = (0, w × a)        Ψd_j = (V̇ × a, U a)          V̇ of O_j, U of the antecedent in frame j

and (w × a, 0), (U a, 0) for a prismatic one. The wrenches of column j are carried back to the base,
as in [KC97] (36)-(38), and so is its row, as 𝕁 𝕊_j and B^T 𝕊_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.vector import Vec, cross
from .bodies import Bodies
from .composite import composite_links
from .coriolis import Factor, axis, paired, row_seen_from, summed
from .newton_euler import NewtonEuler, inverse_dynamics

__all__ = ["Derivatives", "torque_derivatives"]

Scalar = Any
Pair = tuple[Vec, Vec]
Entries = dict[tuple[int, int], Scalar]
a = Vec(0, 0, 1)


@dataclass
class Derivatives:
    """The motion, and the partial derivatives by (row, column) of joints."""

    motion: NewtonEuler
    A: Entries = field(default_factory=dict)
    by_q: Entries = field(default_factory=dict)
    by_qd: Entries = field(default_factory=dict)


def torque_derivatives(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Derivatives:
    """∂Γ/∂q, ∂Γ/∂q̇ and A = ∂Γ/∂q̈; joints on different branches have none."""
    placed, rates = robot.at(q), robot.split(qd).joint
    motion = inverse_dynamics(robot, q, qd, qdd)
    x, w, U = Derivatives(motion), motion.w, motion.U
    plus = composite_links(robot, q, placed)
    frames = {link.j: (link, T) for link, T in placed}
    B: dict[int, Factor] = {}
    D: dict[int, Vec] = {}
    Psi: dict[int, tuple[Pair, Pair, Pair]] = {}  # Ψ, 2 Ψ, Ψd
    for link, T in placed:
        i, j, s, sbar = link.i, link.j, link.s, link.sbar
        B[j] = Factor.of(link, 2 * w[j])                                              # 2 B
        D[j] = cross(2 * w[i], T.iPj) + T.iRj @ (s * (2 * rates[link.joint]) * a)
        wa, wa2, Ua = cross(w[j], a), cross(2 * w[j], a), U[j] @ a
        Psid = s * Ua + sbar * cross(motion.Vd[j], a), sbar * Ua
        Psi[j] = (s * wa, sbar * wa), (s * wa2, sbar * wa2), Psid
    for link, T in reversed(placed):
        j, i, I, at = link.j, link.i, plus.inertia(link.j), link.joint
        if i:
            B[i] = B[i] + B[j].seen_from(T, I, D[j])
        if not at:
            continue
        S, (once, twice, second) = axis(link), Psi[j]
        f, n = (cross(a, v) for v in (motion.f[j], motion.n[j]))
        turned = link.sbar * f, link.sbar * n + link.s * f
        own, row = I @ S, B[j].transposed(S)
        by_q = summed(summed(B[j] @ once, I @ second), turned)
        by_qd = summed(B[j] @ S, I @ twice)
        x.A[at, at] = paired(S, own) + link.IA
        x.by_q[at, at] = paired(S, by_q) + link.spring
        x.by_qd[at, at] = paired(S, by_qd) + link.rubs.slope(rates[at])
        up = link
        while up.i:
            T = frames[up.j][1]
            row = row_seen_from(T, row, own, D[up.j])
            own, by_q, by_qd = T.wrench(*own), T.wrench(*by_q), T.wrench(*by_qd)
            up = frames[up.i][0]
            to = up.joint
            if to:
                S, (once, twice, second) = axis(up), Psi[up.j]
                x.A[to, at] = x.A[at, to] = paired(S, own)
                x.by_q[to, at], x.by_qd[to, at] = paired(S, by_q), paired(S, by_qd)
                x.by_q[at, to] = paired(once, row) + paired(second, own)
                x.by_qd[at, to] = paired(S, row) + paired(twice, own)
    return x
