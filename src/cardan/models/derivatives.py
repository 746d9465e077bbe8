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
as in [KC97] (36)-(38), and so is its row, as 𝕁 𝕊_j and B^T 𝕊_j. They are formed in the axes of
joint j before its turn, which the recursions pass through anyway and 𝕊_j does not see: one turn
less for each. Onto the first joints they are projected from afar, with the axes of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..algebra.rotation import Rotation, Z
from ..algebra.scalar import HALF
from ..algebra.vector import Mat, Vec, cross, zero
from .bodies import Bodies, Body, Placed
from .composite import composite_links
from .coriolis import Factor, axis, paired, row_seen_from, summed
from .newton_euler import NewtonEuler, inverse_dynamics, spin

Scalar = Any
Pair = tuple[Vec, Vec]
Entries = dict[tuple[int, int], Scalar]
a = Vec(0, 0, 1)
_FIRST = 2  # joints onto whose axes wrenches are projected from the frame that follows them


@dataclass
class Derivatives:
    """The motion, and the partial derivatives by (row, column) of joints."""

    motion: NewtonEuler
    A: Entries = field(default_factory=dict)
    by_q: Entries = field(default_factory=dict)
    by_qd: Entries = field(default_factory=dict)


def torque_derivatives(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar],
    motion: NewtonEuler | None = None,
) -> Derivatives:  # fmt: skip
    """∂Γ/∂q, ∂Γ/∂q̇ and A = ∂Γ/∂q̈; joints on different branches have none.

    `motion`: that of the links, where it is known."""
    placed, rates = robot.at(q), robot.split(qd).joint
    motion = motion or inverse_dynamics(robot, q, qd, qdd)
    x, w, wd, U = Derivatives(motion), motion.w, motion.wd, motion.U
    plus = composite_links(robot, q, placed)
    frames = {link.j: (link, T) for link, T in placed}
    B: dict[int, Factor] = {}
    D: dict[int, Vec] = {}
    Psi: dict[int, tuple[Pair, Pair, Pair]] = {}
    for link, T in placed:
        i, j, s = link.i, link.j, link.s
        B[j] = Factor.of(link, 2 * w[j])  # 2 B
        D[j] = cross(2 * w[i], T.iPj) + T.iRj @ (s * (2 * rates[link.joint]) * a)
        Psi[j] = _axis_rates(link, w[j], U[j], motion.Vd[j])
    above = _first_axes(placed)
    for link, T in reversed(placed):
        j, i, at = link.j, link.i, link.joint
        if i:
            B[i] = B[i] + B[j].seen_from(T, plus.inertia(j), D[j])
        if not at:
            continue
        before, turn = T.iRj.before_last(Z) if i else (T.iRj, Rotation([]))
        I, factor, back = plus.inertia(j).rotated(turn), B[j].turned(turn), before.T
        spun = spin(back @ w[i], back @ wd[i])[0]
        once, twice, second = _axis_rates(
            link, back @ w[i], spun, back @ (motion.Vd[i] + U[i] @ T.iPj)
        )
        S, (f, n) = axis(link), (cross(a, turn @ v) for v in (motion.f[j], motion.n[j]))
        moved = link.sbar * f, link.sbar * n + link.s * f
        own, row = I @ S, factor.transposed(S)
        by_q = summed(summed(factor @ once, I @ second), moved)
        by_qd = summed(factor @ S, I @ twice)
        x.A[at, at] = paired(S, own) + link.IA
        x.by_q[at, at] = paired(S, by_q) + link.spring
        x.by_qd[at, at] = paired(S, by_qd) + link.rubs.slope(rates[at])
        up, T, carried = link, replace(T, iRj=before), True
        while up.i:
            row = row_seen_from(T, row, own, D[up.j])
            own = T.wrench(*own)
            if carried:
                by_q, by_qd = T.wrench(*by_q), T.wrench(*by_qd)
            up, T = frames[up.i]
            to = up.joint
            if to:
                S, (once, twice, second) = axis(up), Psi[up.j]
                x.A[to, at] = x.A[at, to] = paired(S, own)
                if carried:
                    x.by_q[to, at], x.by_qd[to, at] = paired(S, by_q), paired(S, by_qd)
                    if len(above[up.j]) <= _FIRST:
                        for k, S_k in above[up.j].items():
                            x.by_q[k, at], x.by_qd[k, at] = paired(S_k, by_q), paired(S_k, by_qd)
                        carried = False
                x.by_q[at, to] = paired(once, row) + paired(second, own)
                x.by_qd[at, to] = paired(S, row) + paired(twice, own)
    return x


def bias_torques(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], x: Derivatives
) -> dict[int, Scalar]:
    """H by joint, of a base at rest: the velocity torques are quadratic in q̇, and gravity
    accelerates composite links, on which the wrenches applied beyond add up,

    H = ½ (∂Γ/∂q̇ - ∂f/∂q̇) q̇ + Q + f(q̇)        Q_j = 𝕊_j^T (ℱ_e,j - 𝕁_j (g, 0))
    """
    placed, here, rates = robot.at(q), robot.split(q).joint, robot.split(qd).joint
    plus, up = composite_links(robot, q, placed), {0: robot.Vd0 - robot.gravity}
    moving = {link.joint: link for link, _ in placed if link.joint}
    half = {j: HALF * rates[j] for j in moving}
    applied = {0: (zero, zero)} | {link.j: (link.f_e, link.n_e) for link, _ in placed}
    for link, T in reversed(placed):
        applied[link.i] = summed(applied[link.i], T.wrench(*applied[link.j]))
    H: dict[int, Scalar] = {}
    for link, T in placed:
        up[link.j] = T.jRi @ up[link.i]
        if j := link.joint:
            load = summed(plus.inertia(link.j) @ (up[link.j], zero), applied[link.j])
            H[j] = paired(axis(link), load) + link.friction(rates[j])
            H[j] = H[j] + link.spring_torque(here[j])
            slope = link.rubs.slope(rates[j])
            for k in moving:
                H[j] = H[j] + (x.by_qd.get((j, k), 0) - (slope if k == j else 0)) * half[k]
    return H


def _first_axes(placed: Placed) -> dict[int, dict[int, Pair]]:
    """By link, the axes of the joints before its own, in its frame; nothing where they are many."""
    above: dict[int, dict[int, Pair]] = {0: {}}
    own: dict[int, dict[int, Pair]] = {0: {}}
    for link, T in placed:
        before = above[link.i] | own[link.i]
        few = len(before) <= _FIRST
        above[link.j] = {k: T.motion(*S) if few else S for k, S in before.items()}
        own[link.j] = {link.joint: axis(link)} if link.joint else {}
    return above


def _axis_rates(link: Body, w: Vec, U: Mat, Vd: Vec) -> tuple[Pair, Pair, Pair]:
    """Ψ, 2 Ψ and Ψd of the joint of a link, in any axes that share z_j."""
    once, twice, Ua = cross(w, a), cross(2 * w, a), U @ a
    s, sbar = link.s, link.sbar
    return (
        (s * once, sbar * once),
        (s * twice, sbar * twice),
        (
            s * Ua + sbar * cross(Vd, a),
            sbar * Ua,
        ),
    )
