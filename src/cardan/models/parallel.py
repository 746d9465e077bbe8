"""Parallel robots leg by leg, [K10] 5 (59)-(66).

    v_i = J_i qd_i = J_vi V_p             what leg i shares with the platform            (63)-(65)
    F_x = F_p + sum of J_vi^T J_i^-T Gamma_i                      what the platform needs
    Gamma = J_p^T F_x,    J_p^-1 = rows of J_i^-1 J_vi of the active joints              (66)

The platform's twist V = (V of O_p, w) and its derivative are given, in frame 0. Everything of a leg
is written in axes of its own (`view`), where J_i is nearly diagonal. A leg on a ball shares the
velocity of a point; one on a pin, a universal or a rigid joint components of the rotation too, as
many in all as it has joints. J_p is never formed: Gamma is the solution of J_p^-T Gamma = F_x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.rotation import Rotation
from ..algebra.solve import Factors, factored
from ..algebra.vector import Mat, Vec, cross, hat, zero
from ..mechanism.platform import Leg, Parallel
from .bodies import Bodies
from .jacobian import Viewer, rotation
from .loops import Relative, side
from .newton_euler import moment, spin
from .transform import merged, position, word

__all__ = ["Legs", "Twist", "legs", "platform_matrix", "platform_wrench"]

Scalar = Any
a = Vec(0, 0, 1)


@dataclass(frozen=True)
class Twist:
    """Velocity and acceleration of the platform at O_p, in frame 0."""

    V: Vec = zero
    w: Vec = zero
    Vd: Vec = zero
    wd: Vec = zero


@dataclass
class Legs:
    """By leg: P_i from O_p in frame 0, J_i factored, the turn to its axes, and its motion."""

    P: dict[int, Vec] = field(default_factory=dict)
    turn: dict[int, Mat] = field(default_factory=dict)  # from the leg's axes to frame 0
    J: dict[int, Factors] = field(default_factory=dict)
    rows: dict[int, list[Shared]] = field(default_factory=dict)
    joints: dict[int, tuple[int, ...]] = field(default_factory=dict)
    qd: dict[int, Scalar] = field(default_factory=dict)
    qdd: dict[int, Scalar] = field(default_factory=dict)

    def wrench(self, k: int, tau: Mapping[int, Scalar]) -> list[Scalar]:
        """J_vi^T J_i^-T Gamma_i: the wrench of leg k at O_p in frame 0, (65)."""
        f, n = zero, zero
        push = self.J[k].solve_transposed([tau[j] for j in self.joints[k]])
        for row, x in zip(self.rows[k], push, strict=True):
            f, n = f + x * row.v, n + x * row.w
        f, n = self.turn[k] @ f, self.turn[k] @ n
        return [*f, *(cross(self.P[k], f) + n)]

    def inverse_rows(self, parallel: Parallel) -> list[list[Scalar]]:
        """J_p^-1: the rows of J_i^-1 J_vi of the active joints, six columns, (62)."""
        return [
            self.wrench(k, {m: int(m == j) for m in self.joints[k]}) for k, j in parallel.driven
        ]


@dataclass(frozen=True)
class Shared:
    """A component that a leg shares with the platform: directions of the velocity at the point it
    holds and of the rotation, in the leg's axes; `pair`: the two axes of a universal joint."""

    v: Vec = zero
    w: Vec = zero
    pair: tuple[Vec, Vec] | None = None


def legs(
    robot: Bodies, q: Sequence[Scalar], parallel: Parallel, rows: Sequence[Sequence[str]],
    twist: Twist, views: Sequence[int], spins: Mapping[int, Scalar],
) -> Legs:  # fmt: skip
    """The legs' joint velocities and accelerations for a motion of the platform, (63)-(65).

    rows[k]: what leg k shares, named as in mechanism.loops.ROWS; spins: rates of idle joints."""
    x = Legs(qd=dict(spins), qdd=dict.fromkeys(spins, 0))
    qs = robot.spread(q)
    R = rotation(robot, q, 0, parallel.body)
    U = hat(twist.wd) + hat(twist.w) @ hat(twist.w)
    for k, (leg, names, view) in enumerate(zip(parallel.legs, rows, views, strict=True)):
        joints = x.joints[k] = tuple(j for j in leg.joints if j not in spins)
        see = Viewer(robot, q, view, True, True)
        shared = x.rows[k] = [_shared(see, leg, name) for name in names]
        x.P[k] = _vector(R @ position(merged(word(robot, q, parallel.body, leg.hold)), zero))
        x.turn[k] = rotation(robot, q, 0, view).matrix()
        J = _columns(robot, see, leg, joints)
        x.J[k] = factored([[_of(row, *J[m]) for m in joints] for row in shared])       # (63)
        v = x.turn[k].T @ (twist.V + cross(twist.w, x.P[k]))                           # (64)
        w = x.turn[k].T @ twist.w
        x.qd |= zip(joints, x.J[k].solve([_of(row, v, w) for row in shared]), strict=True)
        moved: Relative = side(robot, qs, x.qd, robot.tree.path(leg.end))
        own = rotation(robot, q, view, leg.end)
        vd = x.turn[k].T @ (twist.Vd + U @ x.P[k]) - _vector(own @ moved.Vd)
        turns = any(row.w is not zero for row in shared)
        w_l = _vector(own @ moved.w) if turns else zero
        wd = x.turn[k].T @ twist.wd - _vector(own @ moved.wd) + cross(w, w_l) if turns else zero
        more = [_bent(row, leg, w - w_l) for row in shared]
        rates = [_of(row, vd, wd) + bend for row, bend in zip(shared, more, strict=True)]
        x.qdd |= zip(joints, x.J[k].solve(rates), strict=True)                         # (65)
    return x


def _shared(see: Viewer, leg: Leg, name: str) -> Shared:
    if name == "u":
        x, z = see.direction(leg.loop.twin, Vec(1, 0, 0)), see.direction(leg.loop.cut, a)
        return Shared(w=cross(x, z), pair=(x, z))
    e = Vec(*(int(axis == name[1]) for axis in "xyz"))
    return Shared(v=e) if name[0] == "v" else Shared(w=e)


def _of(row: Shared, v: Vec, w: Vec) -> Scalar:
    return row.v @ v + row.w @ w


def _bent(row: Shared, leg: Leg, w_rel: Vec) -> Scalar:
    """What the turning of a universal joint's own axes adds to its acceleration, (14)."""
    if row.pair is None:
        return 0
    x, z = row.pair
    sign = 1 if leg.end == leg.loop.cut else -1
    return sign * (w_rel @ z) * (w_rel @ x)


def _columns(
    robot: Bodies, see: Viewer, leg: Leg, joints: Sequence[int]
) -> dict[int, tuple[Vec, Vec]]:
    """The leg's Jacobian at its end (linear, angular), in the axes seen."""
    point = see.position(leg.end, zero)
    columns = {}
    for m in joints:
        link = robot.links[m - 1]
        axis = see.direction(m, a)
        linear = link.s * axis + link.sbar * cross(axis, point - see.position(m, zero))
        columns[m] = linear, link.sbar * axis
    return columns


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
