"""A floating base, [K10] 7: by A and H (83)-(88), and the recursive inverse model (89)-(100).

The recursive direct model (101)-(112) is `direct_dynamics.articulated_dynamics` with a free base.
As the errata say, (97) gives the base's acceleration minus gravity; gravity is added back here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.scalar import sign
from ..algebra.solve import solve_symmetric
from ..algebra.vector import Vec, cross, hat
from .bodies import Bodies
from .direct_dynamics import Direct, velocity_terms
from .formulation import PLAIN, Formulation
from .inertia_matrix import Composite, axis_reaction

__all__ = ["base_columns", "floating_inverse_dynamics"]

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)


def base_columns(
    robot: Bodies, x: Composite, slide: Collection[int] = ()
) -> dict[int, Pair]:
    """A12 by columns: the wrench on the base, in frame 0, of a unit acceleration of each joint."""
    columns: dict[int, Pair] = {}
    for j in robot.tree.moving:
        link = robot.links[j - 1]
        f, n = axis_reaction(x, j, link.s, link.sbar)
        k = j
        while k:
            f, n = x.frames[k].wrench(f, n, k in slide)
            k = robot.links[k - 1].i
        columns[j] = (f, n)
    return columns


def floating_inverse_dynamics(
    robot: Bodies,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    *,
    wrenches: Mapping[int, Pair] | None = None,
    form: Formulation = PLAIN,
) -> Direct:
    """Torques and base acceleration of given joint accelerations, by composite links."""
    robot, x, frames = velocity_terms(robot, q, qd, robot.w0, wrenches or {}, form)
    slide = form.slide
    qds, qdds = robot.spread(qd), robot.spread(qdd)
    Jc = {b.j: Inertia(b.J, b.MS, b.M) for b in (robot.base, *robot.links)}
    beta = dict(x.beta)
    zeta: dict[int, Pair] = {}
    for link in reversed(robot.links):
        i, j, T = link.i, link.j, frames[link.j]
        linear, angular = x.gamma[j]
        zeta[j] = (linear + link.s * qdds[j] * a, angular + link.sbar * qdds[j] * a)  # (89)
        f, n = Jc[j] @ zeta[j]
        f, n = T.wrench(beta[j][0] - f, beta[j][1] - n, j in slide)
        beta[i] = (beta[i][0] + f, beta[i][1] + n)                                    # (96)
        if j in slide:
            Jc[i] = Jc[i] + Jc[j].moved(T.r * a).rotated(T.iRj).moved(T.P)            # (95)
        else:
            Jc[i] = Jc[i] + Jc[j].rotated(T.iRj).moved(T.iPj)                         # (95)
    x.VVd[0] = accelerated(Jc[0], *beta[0])                                           # (97)
    x.V0d = (robot.unit * (x.VVd[0][0] + robot.gravity), x.VVd[0][1])
    for link in robot.links:
        j, T = link.j, frames[link.j]
        Vd, wd = T.motion(*x.VVd[link.i], j in slide)
        x.VVd[j] = (Vd + zeta[j][0], wd + zeta[j][1])                                 # (98)
        f, n = Jc[j] @ x.VVd[j]
        x.f[j] = f, n = f - beta[j][0], n - beta[j][1]                                # (99)
        if link.s or link.sbar:
            friction = link.FS * sign(qds[j]) + link.FV * qds[j]
            x.tau[j] = (link.s * f + link.sbar * n) @ a + friction + link.IA * qdds[j]  # (100)
    return x


def accelerated(body: Inertia, f: Vec, n: Vec) -> Pair:
    """The acceleration of a rigid body under a wrench: moments first, about the centre of mass.

    f = M u + r × MS and n = J r + MS × u give (J + hat(MS)²/M) r = n - MS × f / M."""
    c = body.MS / body.M
    J = body.J + hat(body.MS) @ hat(c)
    r = Vec(*solve_symmetric(J.rows, n - cross(c, f)))
    return (f - cross(r, body.MS)) / body.M, r
