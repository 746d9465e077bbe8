"""The tree in motion, before its accelerations are known: velocities, and what they give.

The acceleration of frame j is that of its antecedent, carried to O_j, plus its own q̈ and γ_j,
[K10] (34), the errata's (18) of [BK13]; the forces of link j are its mass matrix times this, plus
what its velocities and loads give, [K10] (35), [BK13] (4). A rigid link has no elastic coordinates.

Coordinates are the joint variables in link order, then the elastic ones link by link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..algebra.vector import Mat, Vec, cross, hat
from .bodies import Bodies, Body, ByLink, Placed, cosines
from .flexible.body import Deformed, deformation_forces, deformed_link
from .frame import Frame

Scalar = Any
Pair = tuple[Vec, Vec]
a = Vec(0, 0, 1)


@dataclass
class Motion:
    """The moving tree, by link: frames, inertia, velocities, γ of (34), and forces that do not
    depend on accelerations: f_in, c_in of the frame, s_in of the elastic coordinates."""

    q: ByLink
    qd: ByLink
    placed: Placed = field(default_factory=list)
    C: dict[str, Scalar] = field(default_factory=dict)
    S: dict[str, Scalar] = field(default_factory=dict)
    body: dict[int, Deformed] = field(default_factory=dict)
    w: dict[int, Vec] = field(default_factory=dict)
    square: dict[int, Mat] = field(default_factory=dict)
    gamma: dict[int, Pair] = field(default_factory=dict)
    f_in: dict[int, Vec] = field(default_factory=dict)
    c_in: dict[int, Vec] = field(default_factory=dict)
    s_in: dict[int, list[Scalar]] = field(default_factory=dict)

    @cached_property
    def frames(self) -> dict[int, Frame]:
        return {link.j: T for link, T in self.placed}


def motion(robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Motion:
    """Velocities, γ (34) and the forces (35) of every link, the base included."""
    x = seats(robot, q, qd)
    x.w[0] = robot.w0
    _loads(robot.base, x)
    for link, T in x.placed:
        advance(link, T, x)
        _loads(link, x)
    return x


def seats(robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar] | None = None) -> Motion:
    """Where the frames are; nothing moves and nothing is weighed."""
    placed = robot.at(q)
    return Motion(robot.split(q), robot.split(q if qd is None else qd), placed, *cosines(placed))


def advance(link: Body, T: Frame, x: Motion) -> None:
    """From the antecedent to link j: angular velocity, γ."""
    i, j, w, jRi = link.i, link.j, x.w[link.i], T.jRi
    qda = x.qd.joint[link.joint] * a
    _, we, Vde, wde = T.bending(w, x.qd.elastic[i])
    jwi = jRi @ (w + we)                                                              # (18)
    x.w[j] = jwi + link.sbar * qda                                                    # (19)
    drift = cross(jwi, qda)
    linear = jRi @ (x.square[i] @ T.iPj + Vde) + (2 * link.s) * drift
    x.gamma[j] = (linear, jRi @ wde + link.sbar * drift)                              # (34)


def _loads(link: Body, x: Motion) -> None:
    """Inertia and velocity forces of link j, its external wrench included, (35)."""
    j, w = link.j, x.w[link.j]
    square = x.square[j] = hat(w) @ hat(w)
    body = x.body[j] = deformed_link(link, x.q.elastic[j])
    x.f_in[j] = square @ body.MS + link.f_e
    x.c_in[j] = cross(w, body.I @ w) + link.n_e
    f, c, x.s_in[j] = deformation_forces(link, body, w, x.q.elastic[j], x.qd.elastic[j])
    x.f_in[j], x.c_in[j] = x.f_in[j] + f, x.c_in[j] + c
