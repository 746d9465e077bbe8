"""Kinematic constraints of loops, couplings, wheels, [KC97] 3.4, 4.5 (11)-(14), [K10] (2)-(4), 7.

Loop k is closed when its cut frame c (frame n+k, before the cut joint's own motion) and its twin t
(frame n+B+k) differ by that motion alone. With the twist of the twin's link relative to the cut's
link at O_t, in the axes of the cut,

    [W_a W_p] [qd_a; qd_p] = 0            the components the cut joint forbids           (12)
    qd_p = -W_p^-1 W_a qd_a = W qd_a                                                     (13)
    W_a qdd_a + W_p qdd_p + Psi = 0       their derivative in the cut's frame            (14)
    G = d q_tr / d q_a                    W for passive joints, one for active ones

A coupling q_j = ratio q_k + offset is one more row of (12), qd_j - ratio qd_k = 0, whose Psi is 0.

A wheel j that rolls has two rows more. With its axis a, its centre O and the normal n of the
ground, the velocity of its point on the ground vanishes along t = a × n and across, along a,

    t·v = a·v = 0,    v = V_O - r w_j × n                  Psi = t·(Vd_O - r wd_j × n), and of a

at qdd = 0, both written in the frame that carries the wheel, where a and n stand still; where the
wheel may slip one way, what turns the other direction is added, (w_i × t)·v. They are rows like the
others, but have no integral: G is no derivative d q_tr / d q_a then.

Joints before the loop's root move both frames alike: they have no column, and Psi is that of a root
at rest. Which components are independent (a planar loop has two or three of five) is decided
outside, by rank at consistent configurations; `chosen` names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.solve import Factors, factored
from ..algebra.vector import Mat, Vec, cross, hat, zero
from ..exact import exact
from ..mechanism.loops import ROWS, LoopFrames
from .bodies import Bodies, Rolling
from .jacobian import Viewer, rotation
from .transform import merged, position, word

Scalar = Any
Row = dict[int, Scalar]  # by link: the coefficient of its joint's velocity
a = Vec(0, 0, 1)
X, Y = Vec(1, 0, 0), Vec(0, 1, 0)


@dataclass(frozen=True)
class Chosen:
    """The equations kept of one loop, and the frame in whose axes they are written."""

    rows: tuple[str, ...]  # of ROWS[kind]
    view: int


@dataclass
class Relative:
    """One side of a loop against its root at rest: w, wd and Vd of the last frame, in its axes."""

    V: Vec = zero
    w: Vec = zero
    wd: Vec = zero
    Vd: Vec = zero


@dataclass
class Constraint:
    """The equations (12) and (14) of a robot, and the factors of W_p.

    idle: passive joints without a column, whose motion is given (none: they are at rest);
    rows: the forbidden components, by link; cut: the components along the freedom of each cut
    joint; Psi, Phi: what (14) adds to them when velocities are given."""

    active: tuple[int, ...]
    passive: tuple[int, ...]
    idle: tuple[int, ...] = ()
    rows: list[Row] = field(default_factory=list)
    Psi: list[Scalar] = field(default_factory=list)
    cut: list[Row] = field(default_factory=list)
    Phi: list[Scalar] = field(default_factory=list)
    det: dict[int, Scalar] = field(default_factory=dict)
    factors: Factors = field(default_factory=lambda: Factors([], []))

    def matrix(self, links: Sequence[int], rows: Iterable[Row] | None = None) -> list[list[Scalar]]:
        """The columns of these links."""
        return [[row.get(j, 0) for j in links] for row in (self.rows if rows is None else rows)]

    def given(
        self, rates: Sequence[Scalar], idle: Sequence[Scalar] | None = None
    ) -> dict[int, Scalar]:
        """By link, the rates of the joints that do not follow."""
        spins = [0] * len(self.idle) if idle is None else idle
        return dict(zip((*self.active, *self.idle), (*rates, *spins), strict=True))

    def velocities(
        self, qd_a: Sequence[Scalar], qd_i: Sequence[Scalar] | None = None
    ) -> dict[int, Scalar]:
        """qd of every joint, by link, (13)."""
        rates = self.given(qd_a, qd_i)
        return self.completed(rates, [-_along(row, rates) for row in self.rows])

    def accelerations(self, qdd_a: Sequence[Scalar]) -> dict[int, Scalar]:
        """qdd of every joint, by link, (14); idle joints do not accelerate."""
        rates = self.given(qdd_a)
        sides = zip(self.rows, self.Psi, strict=True)
        return self.completed(rates, [-(_along(row, rates) + psi) for row, psi in sides])

    def completed(self, given: Mapping[int, Scalar], rhs: list[Scalar]) -> dict[int, Scalar]:
        rates = dict(given)
        if self.passive:
            rates |= zip(self.passive, self.factors.solve(rhs), strict=True)
        return rates

    def multipliers(self, tau: Mapping[int, Scalar]) -> list[Scalar]:
        """W_p^-T tau_p: the constraint forces that leave the passive joints without torque."""
        return self.factors.solve_transposed([tau[j] for j in self.passive]) if self.passive else []

    def projected(self, tau: Mapping[int, Scalar]) -> list[Scalar]:
        """G^T tau_tr = tau_a - W_a^T W_p^-T tau_p, (22), [K10] (55)."""
        force = self.multipliers(tau)
        torques = []
        for j in self.active:
            value = tau[j]
            for row, push in zip(self.rows, force, strict=True):
                value = value - row.get(j, 0) * push
            torques.append(value)
        return torques

    def G(self) -> dict[int, list[Scalar]]:
        """Rows of G by link: G qd_a = qd_tr, [K10] (56)."""
        identity = [[int(i == j) for i in range(len(self.active))] for j in range(len(self.active))]
        columns = [self.velocities(unit) for unit in identity]
        every = (*self.active, *self.idle, *self.passive)
        return {j: [column[j] for column in columns] for j in every}


def _along(row: Row, values: Mapping[int, Scalar]) -> Scalar:
    total: Scalar = 0
    for j, x in row.items():
        total = total + x * values.get(j, 0)
    return total


def closed(
    robot: Bodies, q: Sequence[Scalar], loops: Sequence[LoopFrames], chosen: Sequence[Chosen],
    active: Sequence[int], qd_a: Sequence[Scalar] | None = None, idle: Sequence[int] = (),
    qd_i: Sequence[Scalar] | None = None, coupled: Sequence[int] = (),
    rolling: Sequence[Sequence[str]] = (),
) -> tuple[Constraint, dict[int, Scalar]]:  # fmt: skip
    """The constraints of all loops, then those of the wheels (`rolling`: the components of each),
    then those of the couplings of the joints `coupled`; with Psi and Phi when the active velocities
    are given.

    `robot` holds the frames of the loops (mechanism.loops.opened). Returns the velocities too."""
    passive = tuple(j for j in robot.tree.moving if j not in (*active, *idle))
    x = Constraint(tuple(active), passive, tuple(idle))
    for loop, keep in zip(loops, chosen, strict=True):
        components = constraint(robot, q, loop, keep.view)
        x.rows += [
            {m: entry for m, entry in components[name].items() if m not in idle}
            for name in keep.rows
        ]
        x.cut += [row for name, row in components.items() if name not in ROWS[loop.kind]]
    for wheel, names in zip(robot.wheels if rolling else (), rolling, strict=True):
        rows = rolling_rows(robot, q, wheel)
        x.rows += [rows[name] for name in names]
    x.rows += [coupling_row(robot, j) for j in coupled]
    if passive:
        x.factors = factored(x.matrix(passive))
        x.det = dict(enumerate(x.factors.pivots, 1))
    if qd_a is None:
        return x, {}
    qd = x.velocities(qd_a, qd_i)
    for loop, keep in zip(loops, chosen, strict=True):
        bias = acceleration(robot, q, qd, loop, keep.view)
        x.Psi += [bias[name] for name in keep.rows]
        x.Phi += [value for name, value in bias.items() if name not in ROWS[loop.kind]]
    for wheel, names in zip(robot.wheels if rolling else (), rolling, strict=True):
        drift = rolling_acceleration(robot, q, qd, wheel)
        x.Psi += [drift[name] for name in names]
    x.Psi += [0] * len(coupled)
    return x, qd


@dataclass(frozen=True)
class Heading:
    """A wheel in the axes of the frame that carries it: its centre, its axis, the normal of the
    ground, where it heads, and its point on the ground."""

    carrier: int
    centre: Vec
    axis: Vec
    normal: Vec
    contact: Vec

    @property
    def directions(self) -> dict[str, Vec]:
        """Along, across and up."""
        return {"along": cross(self.axis, self.normal), "across": self.axis, "up": self.normal}


def heading(robot: Bodies, q: Sequence[Scalar], wheel: Rolling) -> Heading:
    """The frame before its joint carries a wheel that turns, the link itself a blade."""
    link = robot.links[wheel.j - 1]
    T = link.frame(0)
    carrier, centre, axis = (link.i, T.iPj, _vector(T.iRj @ a)) if link.sbar else (link.j, zero, a)
    normal = _vector(rotation(robot, q, carrier, 0) @ wheel.normal)
    return Heading(carrier, centre, axis, normal, centre - wheel.radius * normal)


def rolling_rows(robot: Bodies, q: Sequence[Scalar], wheel: Rolling) -> dict[str, Row]:
    """The velocity of the wheel's point on the ground, along, across and up, as rows over the
    joints from the base to the wheel."""
    here = heading(robot, q, wheel)
    see = Viewer(robot, q, here.carrier, True, True)
    directions = here.directions
    rows: dict[str, Row] = {name: {} for name in directions}
    for m in robot.tree.path(wheel.j):
        link = robot.links[m - 1]
        if link.s or link.sbar:
            spins = m == wheel.j and link.sbar
            axis = here.axis if spins else see.direction(m, a)
            lever = here.contact - (here.centre if spins else see.position(m, zero))
            linear = link.s * axis + link.sbar * cross(axis, lever)
            for name, direction in directions.items():
                rows[name][m] = direction @ linear
    return rows


def rolling_acceleration(
    robot: Bodies, q: Sequence[Scalar], qd: Mapping[int, Scalar], wheel: Rolling
) -> dict[str, Scalar]:
    """The rates of the components of `rolling_rows` at qdd = 0."""
    here, link = heading(robot, q, wheel), robot.links[wheel.j - 1]
    x = side(robot, robot.spread(q), qd, robot.tree.path(here.carrier))
    spin = qd.get(wheel.j, 0) * link.sbar * here.axis
    w, wd = x.w + spin, x.wd + cross(x.w, spin)
    Vd = x.Vd + (hat(x.wd) + hat(x.w) @ hat(x.w)) @ here.centre
    Vd = Vd - wheel.radius * cross(wd, here.normal)
    rates = {name: e @ Vd for name, e in here.directions.items()}
    if wheel.slip:
        V = x.V + cross(x.w, here.centre) - wheel.radius * cross(w, here.normal)
        rates = {name: rate + cross(x.w, here.directions[name]) @ V for name, rate in rates.items()}
    return rates


def coupling_row(robot: Bodies, j: int) -> Row:
    """qd_j - ratio qd_k: zero where joint j follows joint k, or the sum of several."""
    return {j: 1} | {k: -ratio for k, ratio in robot.links[j - 1].leaders}


def coupling_error(robot: Bodies, q: Sequence[Scalar], j: int) -> Scalar:
    """q_j - ratio q_k - offset; of all joints that lead."""
    link, qs = robot.links[j - 1], robot.spread(q)
    gap = qs[j]
    for k, ratio in link.leaders:
        gap = gap - ratio * qs[k]
    return gap - link.offset


def constraint(robot: Bodies, q: Sequence[Scalar], loop: LoopFrames, view: int) -> dict[str, Row]:
    """The relative twist at O_t as rows over the joints: vx .. wz, and u of a universal joint (11).

    Components are along the axes of `view`: the cut, the twin, or any frame that turns with one of
    them about a common z where only those directions are used."""
    see = Viewer(robot, q, view, True, True)
    point = see.position(loop.twin, zero)
    columns: dict[int, tuple[Vec, Vec]] = {}
    for side, sign in ((loop.to_cut, -1), (loop.to_twin, 1)):
        for m in side:
            link = robot.links[m - 1]
            if link.s or link.sbar:
                axis = sign * see.direction(m, a)
                lever = point - see.position(m, zero)
                linear = link.s * axis + link.sbar * cross(axis, lever)               # (11)
                columns[m] = linear, link.sbar * axis                                 # (11)
    rows = {f"v{name}": {m: c[0][k] for m, c in columns.items()} for k, name in enumerate("xyz")}
    rows |= {f"w{name}": {m: c[1][k] for m, c in columns.items()} for k, name in enumerate("xyz")}
    if loop.kind == "universal":
        e = cross(see.direction(loop.twin, X), see.direction(loop.cut, a))
        rows["u"] = {m: c[1] @ e for m, c in columns.items()}
    return rows


def acceleration(
    robot: Bodies, q: Sequence[Scalar], qd: Mapping[int, Scalar], loop: LoopFrames, view: int
) -> dict[str, Scalar]:
    """The components of `constraint` of the relative acceleration at qdd = 0, seen from the cut,
    (14)."""
    qs = robot.spread(q)
    one, other = (side(robot, qs, qd, path) for path in (loop.to_cut, loop.to_twin))
    to_cut, to_twin = (rotation(robot, q, view, frame) for frame in (loop.cut, loop.twin))
    w_c, wd_c, w_t = to_cut @ one.w, to_cut @ one.wd, to_twin @ other.w
    Vd_c, V_rel = to_cut @ one.Vd, zero
    if loop.kind in ("prismatic", "cylindrical"):
        P = twin_position(robot, q, loop)
        Vd_c = Vd_c + to_cut @ ((hat(one.wd) + hat(one.w) @ hat(one.w)) @ P)
        V_rel = to_twin @ other.V - to_cut @ (one.V + cross(one.w, P))
    w_rel = w_t - w_c
    v = to_twin @ other.Vd - Vd_c - 2 * cross(w_c, V_rel)
    w = to_twin @ other.wd - wd_c - cross(w_c, w_rel)
    components = {f"v{name}": v[k] for k, name in enumerate("xyz")}
    components |= {f"w{name}": w[k] for k, name in enumerate("xyz")}
    if loop.kind == "universal":
        x, z = to_twin @ X, to_cut @ a
        components["u"] = w @ cross(x, z) + (w_rel @ z) * (w_rel @ x)
    return components


def side(
    robot: Bodies, qs: Mapping[int, Scalar], qd: Mapping[int, Scalar], path: Sequence[int]
) -> Relative:
    """Velocities and, for qdd = 0, accelerations along one side of a loop, [KC97] (6)-(10)."""
    x = Relative()
    U = Mat([zero, zero, zero])
    for j in path:
        link = robot.links[j - 1]
        T, qda = link.frame(qs[j]), qd.get(j, 0) * a
        V = T.jRi @ (x.V + cross(x.w, T.iPj)) + link.s * qda                          # (6)
        jwi = T.jRi @ x.w
        Vd = T.jRi @ (x.Vd + U @ T.iPj) + link.s * (2 * cross(jwi, qda))              # (10)
        w = jwi + link.sbar * qda                                                     # (6)
        wd = T.jRi @ x.wd + link.sbar * cross(jwi, qda)                               # (8)
        x = Relative(V, w, wd, Vd)
        U = hat(wd) + hat(w) @ hat(w)                                                 # (9)
    return x


def closing_error(robot: Bodies, q: Sequence[Scalar], loop: LoopFrames) -> list[Scalar]:
    """What is zero when the loop is closed, [K10] (3): positions in the cut's axes, then angles.

    The angles are sines of half of what they measure at most: small for any turn but half a one."""
    factors = word(robot, q, loop.cut, loop.twin)
    P = position(merged(factors), zero)
    R = rotation(robot, q, loop.cut, loop.twin)
    x, y, z = (_vector(R @ e) for e in (X, Y, a))
    if loop.kind == "spherical":
        return list(P)
    if loop.kind == "universal":
        return [*P, x[2]]
    if loop.kind in ("revolute", "cylindrical"):
        # z of the twin along z of the cut; the last is zero there only, not when they are opposed
        return [*P[: 3 if loop.kind == "revolute" else 2], z[0], z[1], 1 - z[2]]
    turned = [y[2] - z[1], z[0] - x[2], x[1] - y[0], 3 - x[0] - y[1] - z[2]]
    return [*P[: 2 if loop.kind == "prismatic" else 3], *turned]


def opening(robot: Bodies, q: Sequence[Scalar], loop: LoopFrames, view: int) -> dict[str, Scalar]:
    """How far the twin is from where the cut joint lets it be, in the components of `constraint`.

    At a closed loop these are the integrals of (12): their derivatives are its rows, so that
    dq_p = -W_p^-1 e is the step of Newton's method for e = 0 at given q_a."""
    P = _vector(position(merged(word(robot, q, loop.cut, loop.twin)), zero))
    R = rotation(robot, q, loop.cut, loop.twin)
    x, y, z = (_vector(R @ e) for e in (X, Y, a))
    turn = Vec(-z[1], z[0], 0)  # that takes z of the cut to z of the twin
    if loop.kind in ("prismatic", "fixed"):
        half = exact("1/2")
        turn = Vec(half * (y[2] - z[1]), half * (z[0] - x[2]), half * (x[1] - y[0]))
    to_view = rotation(robot, q, view, loop.cut)
    v, w = to_view @ P, to_view @ turn
    components = {f"v{name}": v[k] for k, name in enumerate("xyz")}
    components |= {f"w{name}": w[k] for k, name in enumerate("xyz")}
    if loop.kind == "universal":
        components["u"] = x[2]
    return components


def twin_position(robot: Bodies, q: Sequence[Scalar], loop: LoopFrames) -> Vec:
    """O_t in the cut's frame: zero unless the cut joint slides."""
    if loop.kind not in ("prismatic", "cylindrical"):
        return zero
    return _vector(position(merged(word(robot, q, loop.cut, loop.twin)), zero))


def _vector(v: Any) -> Vec:
    return v if isinstance(v, Vec) else Vec(*v)
