"""Inverse dynamics on a floating base by composite links, [K10] 7.2 (89)-(100).

As the errata say, (97) gives the base's acceleration minus gravity; gravity is added back here.
The direct model (101)-(112) is `articulated` with a free base, A of (84) `inertia_matrix`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.solve import solve_symmetric
from ..algebra.vector import Vec, cross, hat
from .bodies import Bodies
from .motion import motion

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)


@dataclass
class Floating:
    """Quantities of the recursion by link; 6-vectors as (linear, angular) pairs."""

    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    gamma: dict[int, Pair] = field(default_factory=dict)
    VVd: dict[int, Pair] = field(default_factory=dict)
    f: dict[int, Pair] = field(default_factory=dict)
    tau: dict[int, Scalar] = field(default_factory=dict)
    V0d: Pair | Any = None


def floating_inverse_dynamics(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Floating:
    """Torques and base acceleration of given joint accelerations, by composite links."""
    here = motion(robot, q, qd)
    x = Floating(here.C, here.S, here.w, here.gamma)
    qds, qdds = robot.spread(qd), robot.spread(qdd)
    everything = (robot.base, *(link for link, _ in here.placed))
    Jc = {b.j: Inertia(b.J, b.MS, b.M) for b in everything}
    beta = {b.j: (-here.f_in[b.j], -here.c_in[b.j]) for b in everything}
    zeta: dict[int, Pair] = {}
    for link, T in reversed(here.placed):
        i, j, rate = link.i, link.j, qdds[link.joint] * a
        linear, angular = x.gamma[j]
        zeta[j] = (linear + link.s * rate, angular + link.sbar * rate)                # (89)
        f, n = Jc[j] @ zeta[j]
        f, n = T.wrench(beta[j][0] - f, beta[j][1] - n)
        beta[i] = (beta[i][0] + f, beta[i][1] + n)                                    # (96)
        Jc[i] = Jc[i] + T.inertia(Jc[j])                                              # (95)
    x.VVd[0] = accelerated(Jc[0], *beta[0])                                           # (97)
    x.V0d = (x.VVd[0][0] + robot.gravity, x.VVd[0][1])
    for link, T in here.placed:
        j = link.j
        Vd, wd = T.motion(*x.VVd[link.i])
        x.VVd[j] = (Vd + zeta[j][0], wd + zeta[j][1])                                 # (98)
        f, n = Jc[j] @ x.VVd[j]
        x.f[j] = f, n = f - beta[j][0], n - beta[j][1]                                # (99)
        if link.joint:
            rotor, friction = link.IA * qdds[link.joint], link.friction(qds[link.joint])
            tau = (link.s * f + link.sbar * n) @ a + friction + rotor                 # (100)
            x.tau[link.joint] = tau + link.spring_torque(here.q.joint[link.joint])
    return x


def accelerated(body: Inertia, f: Vec, n: Vec) -> Pair:
    """The acceleration of a rigid body under a wrench: moments first, about the centre of mass.

    f = M u + r × MS and n = J r + MS × u give (J + hat(MS)²/M) r = n - MS × f / M."""
    c = body.MS / body.M
    J = body.J + hat(body.MS) @ hat(c)
    r = Vec(*solve_symmetric(J.rows, n - cross(c, f)))
    return (f - cross(r, body.MS)) / body.M, r
