"""Parallel robots leg by leg, [K10] 5 (59)-(66).

    v_i = J_i qd_i = J_vi V_p             what leg i shares with the platform            (63)-(65)
    F_x = F_p + sum of J_vi^T J_i^-T Gamma_i                      what the platform needs
    Gamma = J_p^T F_x,    J_p^-1 = rows of J_i^-1 J_vi of the active joints              (66)

The platform's twist V = (V of O_p, w) against the link it stands on (the base, unless modules are
in series) and its derivative are given, in axes of that link. Everything of a leg is written in
axes of its own (`view`), where J_i is nearly diagonal. A leg on a ball shares the velocity of a
point; one on a pin, a universal or a rigid joint components of the rotation too, as many in all as
it has joints; one that holds the platform at several points has rows of each. J_p is never formed:
Gamma is the solution of J_p^-T Gamma = F_x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.rotation import Rotation
from ..algebra.solve import Factors, factored
from ..algebra.vector import Mat, Vec, cross, hat, zero
from ..mechanism.platform import Hold, Parallel
from .bodies import Bodies
from .jacobian import Viewer, rotation
from .loops import Relative, side
from .newton_euler import moment, spin
from .transform import merged, position, word

Scalar = Any
a = Vec(0, 0, 1)


@dataclass(frozen=True)
class Twist:
    """Velocity and acceleration of the platform at O_p, in the axes of the link it stands on."""

    V: Vec = zero
    w: Vec = zero
    Vd: Vec = zero
    wd: Vec = zero


@dataclass
class Legs:
    """By leg: P_i from O_p of every point it holds and the turn from its axes there to those of the
    link that the platform stands on, J_i factored, and its motion."""

    P: dict[int, list[Vec]] = field(default_factory=dict)
    turn: dict[int, list[Mat]] = field(default_factory=dict)
    J: dict[int, Factors] = field(default_factory=dict)
    rows: dict[int, list[Shared]] = field(default_factory=dict)
    joints: dict[int, tuple[int, ...]] = field(default_factory=dict)
    qd: dict[int, Scalar] = field(default_factory=dict)
    qdd: dict[int, Scalar] = field(default_factory=dict)

    def wrench(self, k: int, tau: Mapping[int, Scalar]) -> list[Scalar]:
        """J_vi^T J_i^-T Gamma_i: the wrench of leg k at O_p, (65)."""
        push = self.J[k].solve_transposed([tau[j] for j in self.joints[k]])
        parts = []
        for at, (P, turn) in enumerate(zip(self.P[k], self.turn[k], strict=True)):
            f, n = zero, zero
            for row, x in zip(self.rows[k], push, strict=True):
                if row.at == at:
                    f, n = f + x * row.v, n + x * row.w
            f, n = turn @ f, turn @ n
            parts.append([*f, *(cross(P, f) + n)])
        return parts[0] if len(parts) == 1 else [sum(x[1:], x[0]) for x in zip(*parts, strict=True)]

    def inverse_rows(self, parallel: Parallel) -> list[list[Scalar]]:
        """J_p^-1: the rows of J_i^-1 J_vi of the active joints, six columns, (62)."""
        return [
            self.wrench(k, {m: int(m == j) for m in self.joints[k]}) for k, j in parallel.driven
        ]


@dataclass(frozen=True)
class Shared:
    """A component that a leg shares with the platform where it holds it (the point `at`):
    directions of the velocity there and of the rotation, in the leg's axes; `pair`: the two axes of
    a universal joint."""

    at: int
    v: Vec = zero
    w: Vec = zero
    pair: tuple[Vec, Vec] | None = None


def legs(
    robot: Bodies, q: Sequence[Scalar], parallel: Parallel,
    rows: Sequence[Sequence[Sequence[str]]], twist: Twist, views: Sequence[Sequence[int]],
    spins: Mapping[int, Scalar],
) -> Legs:  # fmt: skip
    """The legs' joint velocities and accelerations for a motion of the platform, (63)-(65).

    rows[k]: what leg k shares at every point it holds, named as in mechanism.loops.ROWS, in the
    axes views[k]; spins: rates of idle joints."""
    x = Legs(qd=dict(spins), qdd=dict.fromkeys(spins, 0))
    for k, (leg, names, seen) in enumerate(zip(parallel.legs, rows, views, strict=True)):
        joints = x.joints[k] = tuple(j for j in leg.joints if j not in spins)
        points = [_Point.of(robot, q, parallel, hold, view, twist) for hold, view in
                  zip(leg.holds, seen, strict=True)]  # fmt: skip
        shared = x.rows[k] = [
            _shared(point, at, name)
            for at, (point, own) in enumerate(zip(points, names, strict=True)) for name in own
        ]  # fmt: skip
        x.P[k], x.turn[k] = [p.P for p in points], [p.turn for p in points]
        J = [_columns(robot, point, joints) for point in points]
        x.J[k] = factored([[_of(row, *J[row.at][m]) for m in joints] for row in shared])  # (63)
        rates = [_of(row, points[row.at].v, points[row.at].w) for row in shared]          # (64)
        x.qd |= zip(joints, x.J[k].solve(rates), strict=True)
        turning = {row.at for row in shared if row.w is not zero}
        ends = [point.moved(x.qd, at in turning) for at, point in enumerate(points)]
        more = [_bent(row, points[row.at].hold, ends[row.at][2]) for row in shared]
        rates = [_of(row, *ends[row.at][:2]) + bend for row, bend in zip(shared, more, strict=True)]
        x.qdd |= zip(joints, x.J[k].solve(rates), strict=True)                            # (65)
    return x


@dataclass(frozen=True)
class _Point:
    """Where a leg holds the platform: P from O_p, the turn from the axes seen, v and w there."""

    robot: Bodies
    q: Sequence[Scalar]
    hold: Hold
    path: tuple[int, ...]
    see: Viewer
    twist: Twist
    P: Vec
    turn: Mat

    @classmethod
    def of(
        cls, robot: Bodies, q: Sequence[Scalar], parallel: Parallel, hold: Hold, view: int,
        twist: Twist,
    ) -> _Point:  # fmt: skip
        R = rotation(robot, q, parallel.root, parallel.body)
        P = _vector(R @ position(merged(word(robot, q, parallel.body, hold.hold)), zero))
        turn = rotation(robot, q, parallel.root, view).matrix()
        path = robot.tree.path(hold.end)[len(robot.tree.path(parallel.root)) :]
        see = Viewer(robot, q, view, True, True)
        return cls(robot, q, hold, path, see, twist, P, turn)

    @property
    def v(self) -> Vec:
        return _vector(self.turn.T @ (self.twist.V + cross(self.twist.w, self.P)))

    @property
    def w(self) -> Vec:
        return _vector(self.turn.T @ self.twist.w)

    def moved(self, qd: Mapping[int, Scalar], turning: bool) -> tuple[Vec, Vec, Vec]:
        """(vd, wd, w) of the platform there less those of the leg for qdd = 0."""
        twist, robot = self.twist, self.robot
        U = hat(twist.wd) + hat(twist.w) @ hat(twist.w)
        moved: Relative = side(robot, robot.spread(self.q), qd, self.path)
        own = rotation(robot, self.q, self.see.k, self.hold.end)
        vd = self.turn.T @ (twist.Vd + U @ self.P) - _vector(own @ moved.Vd)
        if not turning:
            return vd, zero, self.w
        w_l = _vector(own @ moved.w)
        wd = self.turn.T @ twist.wd - _vector(own @ moved.wd) + cross(self.w, w_l)
        return vd, wd, self.w - w_l


def _shared(point: _Point, at: int, name: str) -> Shared:
    if name == "u":
        loop, see = point.hold.loop, point.see
        x, z = see.direction(loop.twin, Vec(1, 0, 0)), see.direction(loop.cut, a)
        return Shared(at, w=cross(x, z), pair=(x, z))
    e = Vec(*(int(axis == name[1]) for axis in "xyz"))
    return Shared(at, v=e) if name[0] == "v" else Shared(at, w=e)


def _of(row: Shared, v: Vec, w: Vec) -> Scalar:
    return row.v @ v + row.w @ w


def _bent(row: Shared, hold: Hold, w_rel: Vec) -> Scalar:
    """What the turning of a universal joint's own axes adds to its acceleration, (14)."""
    if row.pair is None:
        return 0
    x, z = row.pair
    sign = 1 if hold.end == hold.loop.cut else -1
    return sign * (w_rel @ z) * (w_rel @ x)


def _columns(
    robot: Bodies, held: _Point, joints: Sequence[int]
) -> dict[int, tuple[Vec, Vec]]:
    """The leg's Jacobian at one of its ends (linear, angular), in the axes seen."""
    point = held.see.position(held.hold.end, zero)
    return {
        m: _column(robot, held.see, m, point) if m in held.path else (zero, zero) for m in joints
    }


def _column(robot: Bodies, see: Viewer, m: int, point: Vec) -> tuple[Vec, Vec]:
    """What a joint moves a point and its link by."""
    link = robot.links[m - 1]
    axis = see.direction(m, a)
    linear = link.s * axis + link.sbar * cross(axis, point - see.position(m, zero))
    return linear, link.sbar * axis


def placing(
    robot: Bodies, q: Sequence[Scalar], parallel: Parallel
) -> dict[int, tuple[Vec, Vec]]:
    """The Jacobian of the joints that place a platform (linear, angular), in the axes of the link
    that it stands on."""
    see = Viewer(robot, q, parallel.root, True, True)
    point = see.position(parallel.body, zero)
    return {m: _column(robot, see, m, point) for m in parallel.joints}


def placing_bias(
    robot: Bodies, q: Sequence[Scalar], parallel: Parallel, qd: Mapping[int, Scalar]
) -> list[Scalar]:
    """What these joints' velocities alone accelerate it by: (linear, angular)."""
    path = robot.tree.path(parallel.body)[len(robot.tree.path(parallel.root)) :]
    moved = side(robot, robot.spread(q), qd, path)
    R = rotation(robot, q, parallel.root, parallel.body)
    return [*_vector(R @ moved.Vd), *_vector(R @ moved.wd)]


def platform_wrench(
    robot: Bodies, q: Sequence[Scalar], parallel: Parallel, twist: Twist, gravity: Vec
) -> list[Scalar]:
    """F_p: the wrench that moves the platform so, at O_p in frame 0, [K10] (9)."""
    f, n = zero, zero
    for b in parallel.rigid:
        link = robot.links[b - 1]
        R: Rotation = rotation(robot, q, 0, b)
        P = zero
        if b != parallel.body:
            own = position(merged(word(robot, q, parallel.body, b)), zero)
            P = _vector(rotation(robot, q, 0, parallel.body) @ own)
        w, wd = R.T @ twist.w, R.T @ twist.wd
        Vd = twist.Vd - gravity + (hat(twist.wd) + hat(twist.w) @ hat(twist.w)) @ P
        Vd = R.T @ Vd
        U, sq = spin(w, wd)
        F = link.M * Vd + U @ link.MS
        N = moment(link.J, w, wd, U, sq) + cross(link.MS, Vd)
        force = _vector(R @ (F + link.f_e))
        f, n = f + force, n + _vector(R @ (N + link.n_e)) + cross(P, force)
    return [*f, *n]


def platform_matrix(
    robot: Bodies, q: Sequence[Scalar], parallel: Parallel, kept: Sequence[int]
) -> list[list[Scalar]]:
    """The platform's inertia at O_p in frame 0, in the kept components."""
    columns = []
    for c in kept:
        unit = [int(k == c) for k in range(6)]
        moved = Twist(zero, zero, Vec(*unit[:3]), Vec(*unit[3:]))
        columns.append(platform_wrench(robot.unloaded(), q, parallel, moved, zero))
    return [[column[r] for column in columns] for r in kept]


def _vector(v: Any) -> Vec:
    return v if isinstance(v, Vec) else Vec(*v)
