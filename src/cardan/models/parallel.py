"""Parallel robots leg by leg, [K10] 5 (59)-(66).

    v_i = J_i qd_i = J_vi V_p             the point that leg i shares with the platform  (63)-(65)
    F_x = F_p + sum of J_vi^T J_i^-T Gamma_i                      what the platform needs
    Gamma = J_p^T F_x,    J_p^-1 = rows of J_i^-1 J_vi of the active joints              (66)

The platform's twist V = (V of O_p, w) and its derivative are given, in frame 0. Everything of a leg
is written in axes of its own (`view`), where J_i is nearly diagonal. J_p is never formed: Gamma is
the solution of J_p^-T Gamma = F_x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.rotation import Rotation
from ..algebra.solve import Factors, factored
from ..algebra.vector import Mat, Vec, cross, hat, zero
from ..mechanism.parallel import Leg, Parallel
from .bodies import Bodies
from .jacobian import Viewer, rotation
from .loops import Relative, side
from .newton_euler import inertia_moment
from .spin import direct
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
    rows: dict[int, tuple[int, ...]] = field(default_factory=dict)
    qd: dict[int, Scalar] = field(default_factory=dict)
    qdd: dict[int, Scalar] = field(default_factory=dict)

    def force(self, k: int, tau: Sequence[Scalar]) -> Vec:
        """J_i^-T Gamma_i: the force of leg k on its point, in frame 0."""
        parts: list[Scalar] = [0, 0, 0]
        for r, x in zip(self.rows[k], self.J[k].solve_transposed(tau), strict=True):
            parts[r] = x
        found: Vec = self.turn[k] @ Vec(*parts)
        return found

    def wrench(self, k: int, tau: Sequence[Scalar]) -> list[Scalar]:
        """J_vi^T J_i^-T Gamma_i at O_p, (65)."""
        f = self.force(k, tau)
        return [*f, *cross(self.P[k], f)]

    def inverse_rows(self, parallel: Parallel) -> list[list[Scalar]]:
        """J_p^-1: the rows of J_i^-1 J_vi of the active joints, six columns, (62)."""
        found = []
        for k, j in parallel.driven:
            unit = [int(m == j) for m in parallel.legs[k].joints]
            found.append(self.wrench(k, unit))
        return found


def legs(
    robot: Bodies, q: Sequence[Scalar], parallel: Parallel, rows: Sequence[Sequence[int]],
    twist: Twist, views: Sequence[int],
) -> Legs:  # fmt: skip
    """The legs' joint velocities and accelerations for a motion of the platform, (63)-(65).

    rows[k]: the directions 0, 1, 2 of leg k's axes that it is held in."""
    x = Legs()
    qs = robot.spread(q)
    R = rotation(robot, q, 0, parallel.body)
    for k, (leg, held, view) in enumerate(zip(parallel.legs, rows, views, strict=True)):
        x.rows[k] = tuple(held)
        x.P[k] = _vector(R @ position(merged(word(robot, q, parallel.body, leg.hold)), zero))
        x.turn[k] = rotation(robot, q, 0, view).matrix()
        J = _columns(robot, q, leg, view)
        x.J[k] = factored([[J[m][r] for m in leg.joints] for r in held])               # (63)
        v = x.turn[k].T @ (twist.V + cross(twist.w, x.P[k]))                           # (64)
        x.qd |= zip(leg.joints, x.J[k].solve([v[r] for r in held]), strict=True)
        bias = _own_acceleration(robot, q, qs, x.qd, leg, view)
        U = hat(twist.wd) + hat(twist.w) @ hat(twist.w)
        vd = x.turn[k].T @ (twist.Vd + U @ x.P[k]) - bias
        x.qdd |= zip(leg.joints, x.J[k].solve([vd[r] for r in held]), strict=True)
    return x


def _columns(robot: Bodies, q: Sequence[Scalar], leg: Leg, view: int) -> dict[int, Vec]:
    """The linear part of the leg's Jacobian at its end, in the axes of `view`."""
    see = Viewer(robot, q, view, True, True)
    point = see.position(leg.end, zero)
    found = {}
    for m in leg.joints:
        link = robot.links[m - 1]
        axis = see.direction(m, a)
        found[m] = link.s * axis + link.sbar * cross(axis, point - see.position(m, zero))
    return found


def _own_acceleration(
    robot: Bodies, q: Sequence[Scalar], qs: Mapping[int, Scalar], qd: Mapping[int, Scalar],
    leg: Leg, view: int,
) -> Vec:  # fmt: skip
    """Of the leg's end when qdd = 0, in the axes of `view`."""
    moved: Relative = side(robot, qs, qd, robot.tree.path(leg.end))
    return _vector(rotation(robot, q, view, leg.end) @ moved.Vd)


def platform_wrench(
    robot: Bodies, q: Sequence[Scalar], body: int, twist: Twist, gravity: Vec
) -> list[Scalar]:
    """F_p: the wrench that moves the platform so, at O_p in frame 0, [K10] (9)."""
    link = robot.links[body - 1]
    R: Rotation = rotation(robot, q, 0, body)
    w, wd, Vd = R.T @ twist.w, R.T @ twist.wd, R.T @ (twist.Vd - gravity)
    spin = direct(w, wd)
    F = link.M * Vd + spin.U @ link.MS
    N = inertia_moment(link, spin) + cross(link.MS, Vd)
    return [*(R @ (F + link.f_e)), *(R @ (N + link.n_e))]


def platform_matrix(
    robot: Bodies, q: Sequence[Scalar], body: int, kept: Sequence[int]
) -> list[list[Scalar]]:
    """The platform's inertia at O_p in frame 0, in the kept components."""
    still = Twist()
    columns = []
    for c in kept:
        unit = [int(k == c) for k in range(6)]
        moved = Twist(still.V, still.w, Vec(*unit[:3]), Vec(*unit[3:]))
        bare = robot.unloaded()
        columns.append(platform_wrench(bare, q, body, moved, zero))
    return [[column[r] for column in columns] for r in kept]


def _vector(v: Any) -> Vec:
    return v if isinstance(v, Vec) else Vec(*v)
