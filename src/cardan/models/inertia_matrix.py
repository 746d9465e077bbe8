"""The inertia matrix A by composite links, [KC97] 5.3.2 (26)-(38).

Column j of A is the torque of q̈ = e_j with q̇ = 0 and no gravity; then all links beyond joint j
move as one, the composite (generalized) link, and only its reaction is carried back to the base.
As in newton_euler, r_j may be applied in frame j (`slide`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.vector import Vec
from .bodies import Bodies, Frame
from .formulation import PLAIN, Formulation, formulated, trigonometry

__all__ = ["Composite", "composite_links", "inertia_matrix"]

Scalar = Any
a = Vec(0, 0, 1)


@dataclass
class Composite:
    """Quantities of the recursion: composite parameters by link, A by (row, column) of links."""

    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    Jplus: dict[int, Any] = field(default_factory=dict)
    MSplus: dict[int, Vec] = field(default_factory=dict)
    Mplus: dict[int, Scalar] = field(default_factory=dict)
    A: dict[tuple[int, int], Scalar] = field(default_factory=dict)
    frames: dict[int, Frame] = field(default_factory=dict)

    def matrix(self, links: Sequence[int]) -> list[list[Scalar]]:
        """A as rows over these links."""
        return [[self.A.get((max(i, j), min(i, j)), 0) for j in links] for i in links]


def composite_links(
    robot: Bodies, q: Sequence[Scalar], form: Formulation = PLAIN
) -> Composite:
    """Inertial parameters of the composite links, (27)-(30); link 0 included."""
    x = Composite()
    qs = robot.spread(q)
    robot, placed = formulated(robot, qs, form.whole)
    x.C, x.S = trigonometry(robot, qs, placed, form)
    x.frames = {j: here.T for j, here in placed.items()}
    slide = form.slide
    plus = {body.j: Inertia(body.J, body.MS, body.M) for body in (robot.base, *robot.links)}
    for link in reversed(robot.links):
        i, j, T = link.i, link.j, x.frames[link.j]
        x.Jplus[j], x.MSplus[j], x.Mplus[j] = plus[j].J, plus[j].MS, plus[j].M
        if j in slide:
            moved = plus[j].moved(T.r * a).rotated(T.iRj).moved(T.P)                  # (27)-(30)
        else:
            moved = plus[j].rotated(T.iRj).moved(T.iPj)                               # (27)-(30)
        plus[i] = plus[i] + moved
    x.Jplus[0], x.MSplus[0], x.Mplus[0] = plus[0].J, plus[0].MS, plus[0].M
    return x


def inertia_matrix(
    robot: Bodies, q: Sequence[Scalar], form: Formulation = PLAIN
) -> Composite:
    """A[j, k] for links k on the path from the base to j (the lower triangle); all else is 0."""
    x = composite_links(robot, q, form)
    for link in robot.links:
        if not (link.s or link.sbar):
            continue
        j, s, sbar = link.j, link.s, link.sbar
        f, n = axis_reaction(x, link.j, s, sbar)                                      # (31)-(34)
        x.A[j, j] = s * x.Mplus[j] + sbar * x.Jplus[j][2, 2] + link.IA                # (35)
        k = j
        while robot.links[k - 1].i > 0:
            f, n = x.frames[k].wrench(f, n, k in form.slide)                          # (36), (37)
            k = robot.links[k - 1].i
            up = robot.links[k - 1]
            if up.s or up.sbar:
                x.A[j, k] = (up.s * f + up.sbar * n) @ a                              # (38)
    return x


def axis_reaction(x: Composite, j: int, s: int, sbar: int) -> tuple[Vec, Vec]:
    """Force and moment, about O_j, of the composite link j under a unit acceleration of its
    joint."""
    (MX, MY, _), M, J = x.MSplus[j], x.Mplus[j], x.Jplus[j]
    f = s * Vec(0, 0, M) + sbar * Vec(-MY, MX, 0)                                     # (31), (33)
    n = sbar * Vec(J[0, 2], J[1, 2], J[2, 2]) + s * Vec(MY, -MX, 0)                   # (32), (34)
    return f, n
