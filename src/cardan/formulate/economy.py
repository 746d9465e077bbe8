"""Newton-Euler with the fewest operations: the page of models/newton_euler in the forms that a
formulation chooses for each link. Every choice is an identity; the laws compare it with the page.

wd and U = hat(wd) + hat(w)² of a link on a revolute joint along a, in one of three forms:

- direct: from w and wd, [K10] (20), (21);
- `carried`: U_j = jU_i + what the joint adds; it pays where the turn is free;
- `axial`: the joint leaves the column along its axis as it is, U_j a = jU_i a. This vector is
  turned instead of wd, and with w it gives all the rest:

      U31 = 2 w1 w3 - U13     U32 = 2 w2 w3 - U23     U11 = U33 - (w3² - w1²)

Beside U every link has its gaps (w2² - w3², w3² - w1², w1² - w2²): the moment is linear in them.
The translation r_j of links in `slide` is applied in frame j, and a link may have a mass at the
foot of its axis (see lump): V̇ and f pass through both points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..algebra.inertia import turned
from ..algebra.rotation import Rotation, X, Z
from ..algebra.vector import Mat, Vec, cross, zero
from ..models.bodies import Bodies, Body
from ..models.newton_euler import NewtonEuler, moment, spin
from ..models.newton_euler import inverse_dynamics as page
from .formulation import PLAIN, Formulation
from .posture import axes, between, turned_back
from .reform import Reformed, diagonal, reformed

Scalar = Any
Pair = tuple[Scalar, Scalar]
a = Vec(0, 0, 1)


def inverse_dynamics(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> NewtonEuler:
    """Joint torques in the robot's formulation; f[0], n[0]: the wrench the base must be given."""
    form: Formulation = robot.formulation or PLAIN
    if form == PLAIN:
        return page(robot, q, qd, qdd)
    positions, rates, accelerations = (robot.spread(values) for values in (q, qd, qdd))
    run = _Recursion(reformed(robot, form), form, positions, rates, accelerations)
    run.forward()
    run.backward()
    return run.x


def motion_in_described_frames(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> NewtonEuler:
    """w, wd, U, Vd in the frames described: for columns that belong to them."""
    form: Formulation = robot.formulation or PLAIN
    return inverse_dynamics(robot.written(replace(form, still=frozenset())), q, qd, qdd)


def motion_of_cut_frames(
    robot: Bodies, links: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> NewtonEuler:
    """The recursion, and its values in the frames that `links`, the robot formulated, has beside:
    those of joints whose translation is applied after their turn."""
    x, last = inverse_dynamics(robot, q, qd, qdd), links.tree.nl
    for link, T in links.at(q):
        i, j = link.i, link.j
        if j > last:
            own = j - last
            x.w[j], x.wd[j], x.U[j] = x.w[own], x.wd[own], x.U[own]
            x.Vd[j] = T.jRi @ (x.Vd[i] + x.U[i] @ T.iPj)
        elif i > last:
            x.f[i], x.n[i] = T.wrench(x.f[j], x.n[j])
    return x


@dataclass(frozen=True)
class _Link:
    """A link in the axes it is computed in, and the link its spin follows from.

    w_j = jRr w_r + (sum of the rates of `joints`) a, with r the link before them."""

    body: Body
    E: Vec | None
    frame: _Frame
    before: int
    jRr: Rotation
    joints: tuple[int, ...]


class _Frame(NamedTuple):
    """Frame j on link i: its joint and the translation, of which r is along z_j; is that applied
    in frame j?"""

    s: int
    sbar: int
    iRj: Rotation
    P: Vec
    r: Scalar
    slides: bool

    @property
    def position(self) -> Vec:
        """O_j in the axes of link i."""
        along: Vec = self.iRj @ Vec(0, 0, self.r)
        return self.P + along


@dataclass
class _Recursion:
    """The two passes and what they share: every step is a function of the values that it reads, so
    that a search need not compute again what its formulations have in common."""

    written: Reformed
    form: Formulation
    q: Mapping[int, Scalar]
    qd: Mapping[int, Scalar]
    qdd: Mapping[int, Scalar]
    x: NewtonEuler = field(default_factory=NewtonEuler)
    links: dict[int, _Link] = field(default_factory=dict)
    spins: dict[int, Spin] = field(default_factory=dict)
    apart: dict[int, tuple[Rotation, Vec]] = field(default_factory=dict)  # moments before the turn
    F_foot: dict[int, Vec] = field(default_factory=dict)

    @property
    def robot(self) -> Bodies:
        return self.written.robot

    def slides(self, j: int) -> bool:
        """Is the translation r_j applied in frame j?"""
        return j in self.form.slide or self.written.foot.get(j, 0) != 0

    def placed(self, link: Body) -> _Link:
        """The link in the axes of its posture."""
        j, form, q = link.j, self.form, self.q
        here = axes(self.robot, j, q, form.still)
        before = link.i
        joints: tuple[int, ...] = (j,)
        if j in form.grouped and _is_parallel(self.robot, link):
            before, joints = self.links[link.i].before, (*self.links[link.i].joints, j)
        jRr, trig = between(self.robot, joints, q, form.still)
        for label, C, S in (*here.trig[:-1], *trig, *here.trig[-1:]):
            self.x.C[label], self.x.S[label] = C, S
        E = self.written.E.get(j)
        if j in form.still:
            link = self.robot.recall(turned_back, link, q[j])
            E = None if E is None else self.robot.recall(diagonal, link, E)
        frame = _Frame(link.s, link.sbar, here.iRj, here.P, here.r, self.slides(j))
        return _Link(link, E, frame, before, jRr, joints)

    def forward(self) -> None:
        """Motion of the links, their forces and moments of inertia, from the base to the tips."""
        x, robot, form, spins = self.x, self.robot, self.form, self.spins
        w, wd, U, Vd, F, N = x.w, x.wd, x.U, x.Vd, x.F, x.N
        w[0], wd[0] = robot.w0, robot.wd0
        recall = robot.recall
        spins[0] = recall(direct, w[0], wd[0])
        U[0], x.sq[0], Vd[0] = spins[0].U, spins[0].gaps, robot.Vd0 - robot.gravity
        for described in robot.links:
            here = self.links[described.j] = self.placed(described)
            link, frame = here.body, here.frame
            i, j = link.i, link.j
            own = self.qd[j], self.qdd[j]
            rates = tuple(_sum(values, here.joints) for values in (self.qd, self.qdd))
            chosen = j in form.axial, j in form.carried, j in form.column
            spins[j] = recall(
                _spin, frame, here.jRr, spins[here.before], spins[i], rates, own, chosen
            )
            w[j] = spins[j].w
            if j in form.apart and link.sbar and j not in form.still:
                rest, turn, still = recall(_spin_before, frame, spins[i], own)
                self.apart[j] = rest, recall(_turned_moment, link, here.E, turn, still)  # (23)
                spins[j] = recall(with_row, spins[j], turn, still)
            wd[j], U[j], x.sq[j] = spins[j].wd, spins[j].U, spins[j].gaps
            Vd[j], self.F_foot[j] = recall(
                _acceleration, frame, spins[i], spins[j], Vd[i], rates, self.written.foot.get(j, 0)
            )
            E = None if j in self.apart else here.E
            F[j], N[j] = recall(
                _reaction, link.M, link.MS, link.J, E, spins[j], Vd[j], j not in self.apart
            )

    def backward(self) -> None:
        """Forces and moments through the joints, and torques, from the tips to the base."""
        x, base = self.x, self.robot.base
        F, N, f, n = x.F, x.N, x.f, x.n
        bodies = (base, *(here.body for here in self.links.values()))
        f_e = {body.j: body.f_e for body in bodies}
        n_e = {body.j: body.n_e for body in bodies}
        for here in reversed(self.links.values()):
            link, frame = here.body, here.frame
            i, j, s, sbar = link.i, link.j, link.s, link.sbar
            f[j] = F[j] + f_e[j]  # (26)
            n[j] = N[j] + n_e[j]  # (27)
            rest, before_turn = self.apart.get(j, (frame.iRj, zero))
            f_e[i], n_e[i] = self.robot.recall(
                _handed_on, frame, f[j], n[j], self.F_foot[j], f_e[i], n_e[i], rest, before_turn
            )
            if link.joint:
                along = (s * f[j] + sbar * (n[j] + before_turn)) @ a
                tau = along + link.IA * self.qdd[j] + link.friction(self.qd[j])  # (31)
                x.tau[j] = tau + link.spring_torque(self.q[j])
        F[0] = base.M * x.Vd[0] + x.U[0] @ base.MS  # (22)
        N[0] = inertia_moment(base.J, None, self.spins[0]) + cross(base.MS, x.Vd[0])  # (23)
        f[0], n[0] = F[0] + f_e[0], N[0] + n_e[0]  # (26), (27)


def _spin(
    frame: _Frame, jRr: Rotation, before: Spin, of_i: Spin, rates: Pair, own: Pair,
    chosen: tuple[bool, bool, bool],
) -> Spin:  # fmt: skip
    """w, wd and U of a link in the form chosen for it."""
    sbar, (is_axial, is_carried, by_column) = frame.sbar, chosen
    qda, qdda = (rate * a for rate in rates)
    jwr = jRr @ before.w  # (18)
    w = jwr + sbar * qda  # (19)
    wd = jRr @ before.wd + sbar * (qdda + cross(jwr, qda))  # (20)
    if is_axial and sbar:
        return axial(before, jRr, w, wd[2])
    spin = direct(w, wd)
    if is_carried:
        return carried(sbar, of_i, frame.iRj.T, spin, *own)
    if by_column:
        return with_column(spin, jRr @ before.w, jRr @ before.wd)
    return spin


def _acceleration(
    frame: _Frame, of_i: Spin, of_j: Spin, Vd: Vec, rates: Pair, foot: Scalar
) -> tuple[Vec, Vec]:
    """V̇_j, and the force of the mass at the foot of the axis."""
    jRi, F_foot = frame.iRj.T, zero
    qda, qdda = (rate * a for rate in rates)
    if frame.slides:
        Vd_foot = Vd + of_i.U @ frame.P  # (21)
        Vd = jRi @ Vd_foot + of_j.U @ (frame.r * a)  # (21)
        F_foot = foot * Vd_foot  # (22)
    else:
        Vd = jRi @ (Vd + of_i.U @ frame.position)  # (21)
    return Vd + frame.s * (qdda + 2 * cross(of_j.w, qda)), F_foot  # (21)


def _reaction(
    M: Scalar, MS: Vec, J: Mat, E: Vec | None, spin: Spin, Vd: Vec, whole: bool
) -> tuple[Vec, Vec]:
    """F_j and N_j; not `whole`: without the moment of the inertia."""
    F = M * Vd + spin.U @ MS  # (22)
    N = cross(MS, Vd)  # (23)
    return F, inertia_moment(J, E, spin) + N if whole else N  # (23)


def _turned_moment(link: Body, E: Vec | None, turn: Rotation, spin: Spin) -> Vec:
    """The moment of the inertia in axes before the joint's turn."""
    body = link.rotated(turn)
    return inertia_moment(body.J, None if E is None else diagonal(body, E), spin)  # (23)


def _handed_on(
    frame: _Frame, f: Vec, n: Vec, F_foot: Vec, f_i: Vec, n_i: Vec, rest: Rotation, before_turn: Vec
) -> tuple[Vec, Vec]:
    """f_i and n_i with what link j hands on."""
    iRj = frame.iRj
    ifj = iRj @ f + F_foot  # (28)
    f_i = f_i + ifj  # (29)
    if frame.slides:
        moved = iRj @ (n + cross(frame.r * a, f))
        n_i = n_i + moved + cross(frame.P, ifj)  # (30)
    else:
        n_i = n_i + iRj @ n + cross(frame.position, ifj)  # (30)
    return f_i, n_i + rest @ before_turn


def _is_parallel(robot: Bodies, link: Body) -> bool:
    """Is the joint parallel to its antecedent's, both revolute?"""
    if not link.i or not link.sbar or not robot.links[link.i - 1].sbar:
        return False
    return isinstance(link.alpha, int) and link.alpha == 0


def _sum(values: Mapping[int, Scalar], joints: Sequence[int]) -> Scalar:
    added: Scalar = 0
    for j in joints:
        added = added + values[j]
    return added


def _spin_before(frame: _Frame, of_i: Spin, own: Pair) -> tuple[Rotation, Rotation, Spin]:
    """The turns of iRj before the joint's, that turn, and the spin of link j between them."""
    rest, turn = frame.iRj.before_last(Z)
    qd, qdd = own
    w = rest.T @ of_i.w + qd * a
    return rest, turn, axial(of_i, rest.T, w, (rest.T @ of_i.wd)[2] + qdd)


def inertia_moment(J: Mat, E: Vec | None, spin: Spin) -> Vec:
    """J ẇ + w × (J w), the moment (23) without its MS part, linear in XX .. ZZ.

    Where the link has E = ∫ r r^T dm, the moment ∫ r × (U r) dm is the antisymmetric part of U
    E."""
    (_, XY, XZ), (_, _, YZ), _ = J.rows
    U, gaps = spin.U, spin.gaps
    if E is None:
        return moment(J, spin.w, spin.wd, U, gaps)
    Exx, Eyy, Ezz = E
    x = Eyy * U[2, 1] - Ezz * U[1, 2]
    y = Ezz * U[0, 2] - Exx * U[2, 0]
    z = Exx * U[1, 0] - Eyy * U[0, 1]
    return Vec(
        x - XY * U[2, 0] + XZ * U[1, 0] + YZ * gaps[0],
        y + XY * U[2, 1] - YZ * U[0, 1] + XZ * gaps[1],
        z - XZ * U[1, 2] + YZ * U[0, 2] + XY * gaps[2],
    )


@dataclass(frozen=True, eq=False)
class Spin:
    """w, wd, U of a link and the gaps between the squares of w."""

    w: Vec
    wd: Vec
    U: Mat
    gaps: Vec


def direct(w: Vec, wd: Vec) -> Spin:
    """U from w and wd."""
    return Spin(w, wd, *spin(w, wd))


def with_column(spin: Spin, w: Vec, wd: Vec) -> Spin:
    """U with its third column formed from the spin before the joint's turn: U_j a = jU_r a."""
    third = (w[0] * w[2] + wd[1], w[1] * w[2] - wd[0])
    (a11, a12, _), (a21, a22, _), last = spin.U.rows
    U = Mat([[a11, a12, third[0]], [a21, a22, third[1]], last])
    return Spin(spin.w, spin.wd, U, spin.gaps)


def with_row(spin: Spin, turn: Rotation, still: Spin) -> Spin:
    """U with its entry 32 turned from that of the same link in axes before the turn."""
    first, second, (U31, _, U33) = spin.U.rows
    row = turn.T @ Vec(still.U[2, 0], still.U[2, 1], U33)
    return Spin(spin.w, spin.wd, Mat([first, second, Vec(U31, row[1], U33)]), spin.gaps)


def axial(before: Spin, jRr: Rotation, w: Vec, wd3: Scalar) -> Spin:
    """The spin from the column of U along the joint axis, which the joint does not change."""
    rest, turn = jRr.T.before_last(Z)
    x, y, U33 = turn.T @ _column(before, rest)
    w12, w13, w23 = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    w11, w33 = w[0] * w[0], w[2] * w[2]
    wd = Vec(w23 - y, x - w13, wd3)
    gap = w33 - w11
    U11, U22 = U33 - gap, -(w11 + w33)
    U = Mat([[U11, w12 - wd[2], x], [w12 + wd[2], U22, y], [w13 - wd[1], w23 + wd[0], U33]])
    return Spin(w, wd, U, Vec(U22 - U33, gap, U11 - U22))


def _column(before: Spin, rest: Rotation) -> Vec:
    """U a in the axes before the joint's turn; `rest` leads to them from those of the link before.

    After one oblique turn about x, w1 and wd1 are as before, and only U13 is to be turned."""
    along = before.U @ (rest @ a)
    if len(rest.turns) != 1 or rest.turns[0][0] != X or isinstance(rest.turns[0][1], int):
        turned_back: Vec = rest.T @ along
        return turned_back
    w = rest.T @ before.w
    return Vec(along[0], w[1] * w[2] - before.wd[0], -(w[0] * w[0] + w[1] * w[1]))


def carried(sbar: int, before: Spin, jRi: Rotation, spin: Spin, qd: Scalar, qdd: Scalar) -> Spin:
    """U_j from U_i in the same axes, beside its diagonal, which follows from w."""
    jUi = turned(jRi, before.U)
    if not sbar:
        return Spin(spin.w, spin.wd, jUi, spin.gaps)
    (_, U12, U13), (U21, _, U23), (U31, U32, U33) = jUi.rows
    w, twice = spin.w, 2 * qd
    U = Mat(
        [
            [spin.U[0, 0], U12 - qdd, U13],
            [U21 + qdd, spin.U[1, 1], U23],
            [U31 + twice * w[0], U32 + twice * w[1], U33],
        ]
    )
    return Spin(w, spin.wd, U, spin.gaps)
