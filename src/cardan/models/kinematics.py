"""Velocities and accelerations of the links, [KC97] 4.2-4.4 (6)-(10), [BK13] (10)-(21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.vector import Mat, Vec, cross, hat
from .bodies import Bodies, cosines

Scalar = Any
a = Vec(0, 0, 1)


@dataclass
class Motion:
    """Velocities and accelerations by link: of O_j and of link j, in frame j."""

    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    V: dict[int, Vec] = field(default_factory=dict)
    wd: dict[int, Vec] = field(default_factory=dict)
    Vd: dict[int, Vec] = field(default_factory=dict)
    U: dict[int, Mat] = field(default_factory=dict)


def velocities(robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Motion:
    """V and w of every link; those of link 0 are the base's."""
    placed, rates = robot.at(q), robot.split(qd)
    x = Motion(*cosines(placed))
    x.w[0], x.V[0] = robot.w0, robot.V0
    for link, T in placed:
        i, j, qda = link.i, link.j, rates.joint[link.joint] * a
        Ve, we, _, _ = T.bending(x.w[i], rates.elastic[i])
        x.w[j] = T.jRi @ (x.w[i] + we) + link.sbar * qda                              # (6a), (6b)
        x.V[j] = T.jRi @ (x.V[i] + cross(x.w[i], T.iPj) + Ve) + link.s * qda          # (6c)
    return x


def accelerations(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Motion:
    """w, wd and Vd of every link (without gravity); with q̈ = 0 they are J̇ q̇, [KC97] 4.4."""
    placed, rates, second = robot.at(q), robot.split(qd), robot.split(qdd)
    x = Motion(*cosines(placed))
    x.w[0], x.wd[0], x.Vd[0] = robot.w0, robot.wd0, robot.Vd0
    x.U[0] = hat(x.wd[0]) + hat(x.w[0]) @ hat(x.w[0])                                 # (9)
    for link, T in placed:
        i, j, s, sbar = link.i, link.j, link.s, link.sbar
        qda, qdda = rates.joint[link.joint] * a, second.joint[link.joint] * a
        _, we, Vde, wde = T.bending(x.w[i], rates.elastic[i], second.elastic[i])
        jwi = T.jRi @ (x.w[i] + we)                                                   # (6a)
        x.w[j] = jwi + sbar * qda                                                     # (6b)
        x.wd[j] = T.jRi @ (x.wd[i] + wde) + sbar * (qdda + cross(jwi, qda))       # (8)
        x.U[j] = hat(x.wd[j]) + hat(x.w[j]) @ hat(x.w[j])                             # (9)
        Vd = T.jRi @ (x.Vd[i] + x.U[i] @ T.iPj + Vde)
        x.Vd[j] = Vd + s * (qdda + 2 * cross(jwi, qda))                               # (10)
    return x
