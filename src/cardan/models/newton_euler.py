"""Inverse dynamics of a tree robot by recursive Newton-Euler, [K10] 3.2 (18)-(31), [KC97] 5.1.

    Γ = NE(q, q̇, q̈, f_e, m_e)                                                            (12)

Deviations from the paper, each an identity that saves operations:
- the moment (23) is written linear in the inertia matrix; its coefficients are entries of U_j or
  products already formed in them ([KC97] 5.1, ref. 12);
- the translation r_j along z_j may be applied in frame j: jR_i U_i iR_j a = U_j a, because
  a point on the joint axis moves with both links. Links named in `slide` do so;
- a link may have a mass at the other end of r_j, the foot of its axis (see lump).
Moments are written N, n because M is the mass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.rotation import Rotation, Z
from ..algebra.scalar import sign
from ..algebra.vector import Mat, Vec, cross, zero
from .bodies import Bodies, Body
from .formulation import PLAIN, Formulation, Placed, formulated, trigonometry
from .spin import Spin, axial, carried, direct, with_column, with_row

__all__ = ["NewtonEuler", "inertia_moment", "inverse_dynamics"]

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
    gap: dict[int, Vec] = field(default_factory=dict)  # differences of squares, see spin
    Vd: dict[int, Vec] = field(default_factory=dict)
    F: dict[int, Vec] = field(default_factory=dict)
    N: dict[int, Vec] = field(default_factory=dict)
    f: dict[int, Vec] = field(default_factory=dict)
    n: dict[int, Vec] = field(default_factory=dict)
    tau: dict[int, Scalar] = field(default_factory=dict)


def inverse_dynamics(
    robot: Bodies,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    *,
    wrenches: Mapping[int, tuple[Vec, Vec]] | None = None,
    form: Formulation = PLAIN,
) -> NewtonEuler:
    """Joint torques and every quantity on the way; tau[j] for the links that move, f[0] and n[0]
    for the wrench that the base must be given.

    `wrenches[j]` = (force, moment) exerted by link j on the environment, beside the description's
    own."""
    qs = robot.spread(q)
    qds, qdds = robot.spread(qd), robot.spread(qdd)
    robot, placed = formulated(robot, qs, form)
    x = NewtonEuler(*trigonometry(robot, qs, placed, form))
    run = _Recursion(robot, placed, form, qds, qdds)
    _forward(x, run)
    _backward(x, run, wrenches or {})
    return x


@dataclass(frozen=True)
class _Recursion:
    """What both passes read, and what only the second one reads of the first."""

    robot: Bodies
    placed: Mapping[int, Placed]
    form: Formulation
    qd: Mapping[int, Scalar]
    qdd: Mapping[int, Scalar]
    spins: dict[int, Spin] = field(default_factory=dict)
    before: dict[int, tuple[Rotation, Vec]] = field(default_factory=dict)  # see `apart`
    F_foot: dict[int, Vec] = field(default_factory=dict)

    def slides(self, link: Body) -> bool:
        """Is the translation r_j applied in frame j?"""
        return link.j in self.form.slide or link.foot != 0


def _forward(x: NewtonEuler, run: _Recursion) -> None:
    """Motion of the links, their forces and moments of inertia, from the base to the tips."""
    w, wd, U, Vd, F, N = x.w, x.wd, x.U, x.Vd, x.F, x.N
    robot, form, spins, before = run.robot, run.form, run.spins, run.before
    w[0], wd[0] = robot.w0, robot.wd0
    spins[0] = direct(w[0], wd[0])
    U[0], x.gap[0] = spins[0].U, spins[0].gaps
    Vd[0] = robot.Vd0 - robot.gravity
    for link in robot.links:
        i, j, s, sbar, here = link.i, link.j, link.s, link.sbar, run.placed[link.j]
        T, r, jRr = here.T, here.r, here.jRr
        jRi = T.jRi
        qda, qdda = total(run.qd, here.joints) * a, total(run.qdd, here.joints) * a
        jwr = jRr @ w[r]                                                              # (18)
        w[j] = jwr + sbar * qda                                                       # (19)
        wd[j] = jRr @ wd[r] + sbar * (qdda + cross(jwr, qda))                         # (20)
        spins[j] = _spin(form, link, here, spins, w[j], wd[j], run.qd[j], run.qdd[j])
        before[j] = T.iRj, zero
        if j in form.apart and sbar and j not in form.still:
            rest, turn = T.iRj.before_last(Z)
            still = _spin_before(rest, spins[i], run.qd[j], run.qdd[j])
            before[j] = rest, inertia_moment(link.rotated(turn), still)               # (23)
            spins[j] = with_row(spins[j], turn, still)
        wd[j], U[j], x.gap[j] = spins[j].wd, spins[j].U, spins[j].gaps
        if run.slides(link):
            Vd_foot = Vd[i] + U[i] @ T.P                                              # (21)
            Vd[j] = jRi @ Vd_foot + U[j] @ (T.r * a)                                  # (21)
            run.F_foot[j] = link.foot * Vd_foot                                       # (22)
        else:
            Vd[j] = jRi @ (Vd[i] + U[i] @ T.iPj)                                      # (21)
        Vd[j] = Vd[j] + s * (qdda + 2 * cross(jwr, qda))                              # (21)
        F[j] = link.M * Vd[j] + U[j] @ link.MS                                        # (22)
        N[j] = cross(link.MS, Vd[j])                                                  # (23)
        if before[j][1] is zero:
            N[j] = inertia_moment(link, spins[j]) + N[j]                              # (23)


def _backward(
    x: NewtonEuler, run: _Recursion, wrenches: Mapping[int, tuple[Vec, Vec]]
) -> None:
    """Forces and moments through the joints, and torques, from the tips to the base."""
    F, N, f, n = x.F, x.N, x.f, x.n
    robot, base, placed, before = run.robot, run.robot.base, run.placed, run.before
    f_e = {body.j: body.f_e for body in (base, *robot.links)}
    n_e = {body.j: body.n_e for body in (base, *robot.links)}
    for j, (force, moment) in wrenches.items():
        own = placed[j].own if j else _as_is
        f_e[j], n_e[j] = f_e[j] + robot.unit * own(force), n_e[j] + own(moment)
    for link in reversed(robot.links):
        i, j, s, sbar, T = link.i, link.j, link.s, link.sbar, placed[link.j].T
        iRj = T.iRj
        f[j] = F[j] + f_e[j]                                                          # (26)
        n[j] = N[j] + n_e[j]                                                          # (27)
        ifj = iRj @ f[j] + run.F_foot.get(j, zero)                                    # (28)
        f_e[i] = f_e[i] + ifj                                                         # (29)
        if run.slides(link):
            n_e[i] = n_e[i] + iRj @ (n[j] + cross(T.r * a, f[j])) + cross(T.P, ifj)   # (30)
        else:
            n_e[i] = n_e[i] + iRj @ n[j] + cross(T.iPj, ifj)                          # (30)
        n_e[i] = n_e[i] + before[j][0] @ before[j][1]
        if s or sbar:
            axial = (s * f[j] + sbar * (n[j] + before[j][1])) @ a
            friction = link.FS * sign(run.qd[j]) + link.FV * run.qd[j]
            x.tau[j] = axial + link.IA * run.qdd[j] + friction                        # (31)
    F[0] = base.M * x.Vd[0] + x.U[0] @ base.MS                                        # (22)
    N[0] = inertia_moment(base, run.spins[0]) + cross(base.MS, x.Vd[0])               # (23)
    f[0], n[0] = F[0] + f_e[0], N[0] + n_e[0]                                         # (26), (27)
    if not isinstance(robot.unit, int):
        f[0] = Vec(*(part / robot.unit for part in f[0]))


def _as_is(v: Vec) -> Vec:
    return v


def total(values: Mapping[int, Scalar], joints: Sequence[int]) -> Scalar:
    """The sum of some joints' values."""
    found: Scalar = 0
    for j in joints:
        found = found + values[j]
    return found


def _spin(
    form: Formulation, link: Body, here: Placed, spins: Mapping[int, Spin], w: Vec, wd: Vec,
    qd: Scalar, qdd: Scalar,
) -> Spin:  # fmt: skip
    """wd and U of a link in the form chosen for it."""
    j, before, jRr = link.j, spins[here.r], here.jRr
    if j in form.axial and link.sbar:
        return axial(before, jRr, w, wd[2])
    found = direct(w, wd)
    if j in form.carried:
        return carried(link, spins[link.i], here.T.jRi, found, qd, qdd)
    if j in form.column:
        return with_column(found, jRr @ before.w, jRr @ before.wd)
    return found


def _spin_before(rest: Rotation, spin: Spin, qd: Scalar, qdd: Scalar) -> Spin:
    """The spin of link j in the axes before its joint's turn, `rest` from those of link i."""
    w = rest.T @ spin.w + qd * a
    return axial(spin, rest.T, w, (rest.T @ spin.wd)[2] + qdd)


def inertia_moment(link: Body, spin: Spin) -> Vec:
    """J ẇ + w × (J w), the moment (23) without its MS part, linear in XX .. ZZ.

    Where the link has E = ∫ r r^T dm, the moment ∫ r × (U r) dm is the antisymmetric part of U
    E."""
    (XX, XY, XZ), (_, YY, YZ), (_, _, ZZ) = link.J.rows
    w, wd, U, gaps = spin.w, spin.wd, spin.U, spin.gaps
    if link.E is not None:
        Exx, Eyy, Ezz = link.E
        x = Eyy * U[2, 1] - Ezz * U[1, 2]
        y = Ezz * U[0, 2] - Exx * U[2, 0]
        z = Exx * U[1, 0] - Eyy * U[0, 1]
    else:
        x = XX * wd[0] + (ZZ - YY) * (w[1] * w[2])
        y = YY * wd[1] + (XX - ZZ) * (w[0] * w[2])
        z = ZZ * wd[2] + (YY - XX) * (w[0] * w[1])
    return Vec(
        x - XY * U[2, 0] + XZ * U[1, 0] + YZ * gaps[0],
        y + XY * U[2, 1] - YZ * U[0, 1] + XZ * gaps[1],
        z - XZ * U[1, 2] + YZ * U[0, 2] + XY * gaps[2],
    )
