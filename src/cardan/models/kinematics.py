"""Velocities and accelerations of the links, [KC97] 4.2-4.4 (6)-(10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.vector import Mat, Vec, cross, hat
from .bodies import Bodies

__all__ = ["Motion", "accelerations", "velocities"]

Scalar = Any
a = Vec(0, 0, 1)


@dataclass
class Motion:
    """Velocities and accelerations by link: of O_j and of link j, in frame j."""

    C: dict[int, Scalar] = field(default_factory=dict)
    S: dict[int, Scalar] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    V: dict[int, Vec] = field(default_factory=dict)
    wd: dict[int, Vec] = field(default_factory=dict)
    Vd: dict[int, Vec] = field(default_factory=dict)
    U: dict[int, Mat] = field(default_factory=dict)


def velocities(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], slide: bool = False
) -> Motion:
    """V and w of every link; those of link 0 are the base's. `slide`: r_j is applied in frame j."""
    x = Motion()
    qs, qds = robot.spread(q), robot.spread(qd)
    x.w[0], x.V[0] = robot.w0, robot.V0
    for link in robot.links:
        i, j, T = link.i, link.j, link.frame(qs[link.j])
        x.C[j], x.S[j] = T.iRj.turns[-1][1:]
        jwi = T.jRi @ x.w[i]                                                          # (6a)
        x.w[j] = jwi + link.sbar * qds[j] * a                                         # (6b)
        if slide:
            x.V[j] = T.jRi @ (x.V[i] + cross(x.w[i], T.P)) + cross(jwi, T.r * a)      # (6c)
        else:
            x.V[j] = T.jRi @ (x.V[i] + cross(x.w[i], T.iPj))                          # (6c)
        x.V[j] = x.V[j] + link.s * qds[j] * a                                         # (6c)
    return x


def accelerations(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar],
    slide: bool = False,
) -> Motion:  # fmt: skip
    """w, wd and Vd of every link (without gravity); with q̈ = 0 they are J̇ q̇, [KC97] 4.4."""
    x = Motion()
    qs, qds, qdds = robot.spread(q), robot.spread(qd), robot.spread(qdd)
    x.w[0], x.wd[0], x.Vd[0] = robot.w0, robot.wd0, robot.Vd0
    x.U[0] = hat(x.wd[0]) + hat(x.w[0]) @ hat(x.w[0])                                 # (9)
    for link in robot.links:
        i, j, T = link.i, link.j, link.frame(qs[link.j])
        x.C[j], x.S[j] = T.iRj.turns[-1][1:]
        qda, qdda = qds[j] * a, qdds[j] * a
        jwi = T.jRi @ x.w[i]                                                          # (6a)
        x.w[j] = jwi + link.sbar * qda                                                # (6b)
        x.wd[j] = T.jRi @ x.wd[i] + link.sbar * (qdda + cross(jwi, qda))              # (8)
        x.U[j] = hat(x.wd[j]) + hat(x.w[j]) @ hat(x.w[j])                             # (9)
        if slide:
            x.Vd[j] = T.jRi @ (x.Vd[i] + x.U[i] @ T.P) + x.U[j] @ (T.r * a)           # (10)
        else:
            x.Vd[j] = T.jRi @ (x.Vd[i] + x.U[i] @ T.iPj)                              # (10)
        x.Vd[j] = x.Vd[j] + link.s * (qdda + 2 * cross(jwi, qda))                     # (10)
    return x
