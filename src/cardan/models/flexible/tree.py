"""Trees of rigid and flexible links: motion of the frames, forces by Newton and Euler.

Link j sits on a section of its antecedent i that deformation moves and turns, [BK13] (10)-(21):

    iPj = r0 + Φ_d q_e + ½ q_e^T Ψ q_e + R_B s        R_B = Rot(z, θ_z) Rot(y, θ_y) Rot(x, θ_x)
    D_k = φ_dk + Σ_l Ψ_kl q_l + W_k × R_B s           θ = Φ_r q_e, W_k its rate by unit q̇_k

so that (V_i + ω_i × iPj + Σ D_k q̇_k, ω_i + Σ W_k q̇_k) is the twist at O_j, in frame i. The errata's
(18) follows with D and W in place of Φ; turns are exact, so velocities are true derivatives.

Coordinates are the joint variables in link order, then the elastic ones link by link."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...algebra.rotation import Rotation, X, Y, Z, turn
from ...algebra.scalar import HALF, sign
from ...algebra.vector import Mat, Vec, cross, dot, hat
from ...errors import ModelError
from ..bodies import Bodies, Body
from .body import Deformed, deformed, elastic_energy, elastic_force, inertial_terms

__all__ = [
    "ByLink", "Forces", "Motion", "Seat", "accelerations", "advance", "energies", "forces",
    "motion", "moved_acceleration", "point_links", "seat_of",
    "seats", "split", "sum_of",
]  # fmt: skip

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)
zero = Vec(0, 0, 0)


@dataclass(frozen=True)
class ByLink:
    """A vector of the robot by joints (0 where fixed) and by flexible links."""

    joint: dict[int, Scalar]
    elastic: dict[int, list[Scalar]]


def split(robot: Bodies, values: Sequence[Scalar]) -> ByLink:
    """Joint variables first, then the elastic coordinates link by link."""
    n = len(robot.tree.moving)
    sizes = {j: elastic.N for j, elastic in robot.flexible.items()}
    if len(values) != n + sum(sizes.values()):
        raise ModelError(
            f"{len(values)} coordinates for {n} joints and {sum(sizes.values())} elastic ones"
        )
    rest = list(values[n:])
    elastic = {}
    for j, size in sizes.items():
        elastic[j], rest = rest[:size], rest[size:]
    return ByLink(robot.spread(values[:n]), elastic)


@dataclass(frozen=True)
class Seat:
    """Frame j on its antecedent: rotation and position, and how elastic coordinates move it."""

    R: Rotation
    p: Vec
    D: tuple[Vec, ...] = ()
    W: tuple[Vec, ...] = ()
    arm: Vec = zero  # from the section to O_j, in frame i
    axes: tuple[Vec, Vec, Vec] = (zero, zero, zero)  # of θ_x, θ_y, θ_z, in frame i

    def wrench(self, f: Vec, n: Vec) -> Pair:
        """A wrench about O_j in frame j, about O_j in the axes of frame i."""
        return self.R @ f, self.R @ n

    def about_origin(self, f: Vec, n: Vec) -> Pair:
        """A wrench about O_j, about O_i; both in frame i."""
        return f, n + cross(self.p, f)


@dataclass
class Motion:
    """The moving tree, by link: seats, inertia, velocities; h is what (18) has beside q̈."""

    q: ByLink
    qd: ByLink
    unturned: frozenset[int] = frozenset()
    seat: dict[int, Seat] = field(default_factory=dict)
    body: dict[int, Deformed] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    square: dict[int, Mat] = field(default_factory=dict)
    h: dict[int, Pair] = field(default_factory=dict)
    f_in: dict[int, Vec] = field(default_factory=dict)
    c_in: dict[int, Vec] = field(default_factory=dict)
    s_in: dict[int, list[Scalar]] = field(default_factory=dict)


def seat_of(link: Body, q: Scalar, qe: Sequence[Scalar]) -> Seat:
    """The seat of link j at its joint's position and its antecedent's deformation."""
    T = link.frame(q)
    place = link.place
    if place is None:
        return Seat(T.iRj, T.iPj)
    n = len(qe)
    theta = sum_of([qe[k] * place.rotation[k] for k in range(n)])
    turns = [turn(Z, theta[2]), turn(Y, theta[1]), turn(X, theta[0])]
    RB = Rotation(turns)
    axes = (Rotation(turns[:2]) @ Vec(1, 0, 0), Rotation(turns[:1]) @ Vec(0, 1, 0), a)
    arm: Vec = RB @ (T.P - place.position + T.iRj @ Vec(0, 0, T.r))
    grown = list(place.displacement)  # φ_dk + Σ_l Ψ_kl q_l
    for (k, m), psi in place.second.items():
        grown[k] = grown[k] + qe[m] * psi
        if m != k:
            grown[m] = grown[m] + qe[k] * psi
    moved = place.position
    for k in range(n):
        same = grown[k] is place.displacement[k]
        shape = grown[k] if same else HALF * (place.displacement[k] + grown[k])
        moved = moved + qe[k] * shape
    W = tuple(
        axes[0] * phi[0] + axes[1] * phi[1] + axes[2] * phi[2] for phi in place.rotation
    )
    D = tuple(shape + cross(w, arm) for shape, w in zip(grown, W, strict=True))
    return Seat(_joined(link, q, theta, RB, T.iRj), moved + arm, D, W, arm, axes)


def _joined(link: Body, q: Scalar, theta: Vec, RB: Rotation, iRj: Rotation) -> Rotation:
    """R_B iRj; turns about one axis are summed first."""
    flat = all(isinstance(x, int) and x == 0 for x in (theta[0], theta[1], link.alpha))
    if not flat:
        return Rotation([*RB.turns, *iRj.turns])
    angle = theta[2] + q if link.sbar else theta[2]
    return Rotation([turn(Z, angle, link.theta + link.gamma)])


def point_links(robot: Bodies, turned: Collection[int] = ()) -> frozenset[int]:
    """Fixed links of which only the place matters: point masses, and what carries no more.

    `turned`: frames whose axes are needed."""
    found: set[int] = set()
    for link in reversed(robot.links):
        constants = [x for row in link.J.rows for x in row]
        constants += [*link.MS, *link.f_e, *link.n_e]
        bare = all(isinstance(x, int) and x == 0 for x in constants)
        fixed = not (link.s or link.sbar) and link.flexible is None
        children = robot.tree.children[link.j]
        if fixed and bare and link.j not in turned and found.issuperset(children):
            found.add(link.j)
    return frozenset(found)


def sum_of(vectors: Sequence[Vec]) -> Vec:
    total = zero
    for v in vectors:
        total = total + v
    return total


def motion(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar],
    wrenches: Mapping[int, Pair] | None = None, unturned: Collection[int] = (),
) -> Motion:  # fmt: skip
    """Velocities, (18)'s h and the forces of (4) that do not depend on accelerations.

    `unturned`: links that only their place matters of, kept in the axes of their antecedent."""
    x = Motion(split(robot, q), split(robot, qd), unturned=frozenset(unturned))
    x.w[0] = robot.w0
    for link in (robot.base, *robot.links):
        j = link.j
        if j:
            advance(link, x)
        _loads(link, x, (wrenches or {}).get(j))
    return x


def seats(robot: Bodies, q: Sequence[Scalar]) -> Motion:
    """Where the frames are; nothing moves and nothing is weighed."""
    here = split(robot, q)
    x = Motion(here, here)
    for link in robot.links:
        x.seat[link.j] = seat_of(link, here.joint[link.j], here.elastic.get(link.i, []))
    return x


def advance(link: Body, x: Motion) -> None:
    """From the antecedent to link j: seat, angular velocity, h."""
    i, j = link.i, link.j
    qed = x.qd.elastic.get(i, [])
    seat = seat_of(link, x.q.joint[j], x.q.elastic.get(i, []))
    if j in x.unturned:
        seat = replace(seat, R=Rotation([]))
    x.seat[j] = seat
    qda = x.qd.joint[j] * a
    w, back = x.w[i], seat.R.T
    linear = x.square[i] @ seat.p
    if seat.D:
        we = sum_of([r * v for r, v in zip(qed, seat.W, strict=True)])
        pd = sum_of([r * v for r, v in zip(qed, seat.D, strict=True)])
        drift, turning = _elastic_drift(link, seat, qed, we)
        linear = linear + cross(2 * w, pd) + drift
        angular = back @ (turning + cross(w, we))
        jwi = back @ (w + we)
    else:
        jwi, angular = back @ w, zero
    x.w[j] = jwi + link.sbar * qda
    coriolis = cross(jwi, qda)
    x.h[j] = (back @ linear + (2 * link.s) * coriolis, angular + link.sbar * coriolis)


def _elastic_drift(link: Body, seat: Seat, qed: Sequence[Scalar], we: Vec) -> Pair:
    """(Ψ q̇ q̇ + ε × arm + ω_e × (ω_e × arm), ε): ε is ω̇_e at q̈_e = 0, of turns that turn axes."""
    place = link.place
    assert place is not None
    n = len(qed)
    rates = sum_of([qed[k] * place.rotation[k] for k in range(n)])
    about_y, about_z = rates[1] * seat.axes[1], rates[2] * seat.axes[2]
    turning = cross(about_z, about_y) + cross(about_z + about_y, rates[0] * seat.axes[0])
    drift = cross(turning, seat.arm) + cross(we, cross(we, seat.arm))
    for (k, m), psi in place.second.items():
        drift = drift + ((1 if k == m else 2) * (qed[k] * qed[m])) * psi
    return drift, turning


def _loads(link: Body, x: Motion, wrench: Pair | None) -> None:
    """Inertia and bias forces of link j, external wrench included."""
    j, w = link.j, x.w[link.j]
    x.square[j] = hat(w) @ hat(w)
    f_e, n_e = link.f_e, link.n_e
    if wrench is not None:
        f_e, n_e = f_e + wrench[0], n_e + wrench[1]
    if link.flexible is None:
        x.body[j] = Deformed(link.MS, link.J, (), (), ())
        x.f_in[j] = x.square[j] @ link.MS + f_e
        x.c_in[j] = cross(w, link.J @ w) + n_e
        x.s_in[j] = []
        return
    elastic = link.flexible
    q, qd = x.q.elastic[j], x.qd.elastic[j]
    body = x.body[j] = deformed(elastic.integrals, link.MS, link.J, q)
    f, c, s = inertial_terms(elastic.integrals, body, w, x.square[j], qd)
    x.f_in[j], x.c_in[j] = f + f_e, c + n_e
    x.s_in[j] = [u + v for u, v in zip(s, elastic_force(elastic, q, qd), strict=True)]


@dataclass
class Forces:
    """Generalized forces of a motion: joint torques, elastic rows, wrench on the base."""

    VVd: dict[int, Pair] = field(default_factory=dict)
    f: dict[int, Vec] = field(default_factory=dict)
    n: dict[int, Vec] = field(default_factory=dict)
    tau: dict[int, Scalar] = field(default_factory=dict)
    s: dict[int, list[Scalar]] = field(default_factory=dict)

    def rows(self, robot: Bodies) -> list[Scalar]:
        """Joints, then elastic coordinates."""
        joints = [self.tau[j] for j in robot.tree.moving]
        return joints + [s for j in robot.flexible for s in self.s[j]]


def accelerations(robot: Bodies, x: Motion, qdd: ByLink, base: Pair) -> dict[int, Pair]:
    """(γ, α) of every frame, in its axes, (18); `base` is that of frame 0."""
    found = {0: base}
    for link in robot.links:
        i, j, seat = link.i, link.j, x.seat[link.j]
        Vd, wd = moved_acceleration(seat, found[i], qdd.elastic.get(i, []))
        rate = qdd.joint[j]
        found[j] = (
            Vd + x.h[j][0] + link.s * rate * a, wd + x.h[j][1] + link.sbar * rate * a
        )
    return found


def moved_acceleration(seat: Seat, VVd: Pair, qedd: Sequence[Scalar]) -> Pair:
    """An acceleration of frame i (and of its elastic coordinates) at O_j, in frame j."""
    Vd, wd = VVd
    linear = Vd + cross(wd, seat.p)
    angular = wd
    for rate, D, W in zip(qedd, seat.D, seat.W, strict=True):
        linear, angular = linear + rate * D, angular + rate * W
    back = seat.R.T
    return back @ linear, back @ angular


def forces(robot: Bodies, x: Motion, qdd: Sequence[Scalar], base: Pair | None = None) -> Forces:
    """The generalized forces of accelerations: (9) link by link, wrenches carried inwards.

    Gravity is an acceleration of the base; `base` replaces that of the description."""
    out = Forces()
    rates = split(robot, qdd)
    start = base or (robot.Vd0, robot.wd0)
    out.VVd = accelerations(robot, x, rates, (start[0] - robot.gravity, start[1]))
    for link in (robot.base, *robot.links):
        j = link.j
        out.f[j], out.n[j], out.s[j] = body_forces(
            link, x, out.VVd[j], rates.elastic.get(j, [])
        )
    for link in reversed(robot.links):
        i, j, seat = link.i, link.j, x.seat[link.j]
        friction = link.FS * sign(x.qd.joint[j]) + link.FV * x.qd.joint[j]
        own = (link.s * out.f[j] + link.sbar * out.n[j]) @ a
        out.tau[j] = own + link.IA * rates.joint[j] + friction
        f, n = seat.wrench(out.f[j], out.n[j])
        out.s[i] = [
            s + (dot(D, f) + dot(W, n))
            for s, D, W in zip(out.s[i], seat.D, seat.W, strict=True)
        ] or out.s[i]
        f, n = seat.about_origin(f, n)
        out.f[i], out.n[i] = out.f[i] + f, out.n[i] + n
    return out


def body_forces(
    link: Body, x: Motion, VVd: Pair, qedd: Sequence[Scalar]
) -> tuple[Vec, Vec, list[Scalar]]:
    """(f, c, s) of (4)."""
    Vd, wd = VVd
    j, body = link.j, x.body[link.j]
    f = link.M * Vd + cross(wd, body.MS) + x.f_in[j]
    n = cross(body.MS, Vd) + body.I @ wd + x.c_in[j]
    s = list(x.s_in[j])
    for k, rate in enumerate(qedd):
        f, n = f + rate * body.MSde[k], n + rate * body.MSre[k]
        Mee = link.flexible.integrals.Mee[k] if link.flexible else []
        s[k] = s[k] + (dot(body.MSde[k], Vd) + dot(body.MSre[k], wd) + dot(Mee, qedd))
    return f, n, s


def energies(robot: Bodies, x: Motion) -> tuple[Scalar, Scalar]:
    """Kinetic energy; potential energy of gravity, elastic joints and deformation."""
    V = {0: robot.V0}
    P: dict[int, tuple[Vec, Rotation]] = {0: (zero, Rotation([]))}
    E: Scalar = 0
    U: Scalar = 0
    for link in (robot.base, *robot.links):
        i, j, body = link.i, link.j, x.body[link.j]
        qd = x.qd.elastic.get(j, [])
        if j:
            seat = x.seat[j]
            pd = sum_of([r * D for r, D in zip(x.qd.elastic.get(i, []), seat.D, strict=True)]) \
                if seat.D else zero
            V[j] = seat.R.T @ (V[i] + cross(x.w[i], seat.p) + pd)
            V[j] = V[j] + link.s * x.qd.joint[j] * a
            P[j] = (P[i][0] + P[i][1] @ seat.p, P[i][1] @ seat.R)
            E = E + HALF * link.IA * x.qd.joint[j] * x.qd.joint[j]
        E = E + _kinetic(link, body, V[j], x.w[j], qd)
        centre = link.M * P[j][0] + P[j][1] @ body.MS
        U = U - robot.gravity @ centre
        if link.flexible:
            U = U + elastic_energy(link.flexible, x.q.elastic[j])
        if link.elastic:
            U = U + link.elastic_energy(x.q.joint[j])
    return E, U


def _kinetic(link: Body, body: Deformed, V: Vec, w: Vec, qd: Sequence[Scalar]) -> Scalar:
    flow = sum_of([r * v for r, v in zip(qd, body.MSde, strict=True)])
    spin = sum_of([r * v for r, v in zip(qd, body.MSre, strict=True)])
    E = HALF * (link.M * (V @ V)) + V @ (cross(w, body.MS) + flow)
    E = E + HALF * (w @ (body.I @ w)) + w @ spin
    if link.flexible:
        E = E + HALF * dot(qd, [dot(row, qd) for row in link.flexible.integrals.Mee])
    return E
