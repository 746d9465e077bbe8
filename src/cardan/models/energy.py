"""Kinetic and potential energy, and generalized momentum, [KC97] 6.3 (49), (50), [BK13] (1).

    E_j = ½ [w^T J w + M V^T V + 2 MS^T (V × w)]      U_j = -g^T (M 0P_j + 0A_j MS)

(the mass is missing in the printed (50)); rotors add ½ IA q̇² to E, the springs of elastic joints
½ k (q - q0)² to U: their torque, [K10] (69), is -∂U/∂q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.scalar import HALF, vanishes
from ..algebra.vector import Vec, cross
from .bodies import Bodies
from .flexible.body import deformed_link, elastic_energy, elastic_rates_energy
from .kinematics import velocities

Scalar = Any
a = Vec(0, 0, 1)


@dataclass
class Energies:
    """Kinetic energy E and potential energy U, and their parts by link, springs with the link that
    they carry."""

    w: dict[int, Vec] = field(default_factory=dict)
    V: dict[int, Vec] = field(default_factory=dict)
    Ej: dict[int, Scalar] = field(default_factory=dict)
    Uj: dict[int, Scalar] = field(default_factory=dict)
    E: Scalar = 0
    U: Scalar = 0


def energies(
    robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], base: bool = False
) -> Energies:
    """E and U of all links, and of link 0 if `base`; U is zero for a link at the origin of frame 0
    and for a spring at rest.

    Frame 0 of a base that moves carries its own origin along: U is then the work of gravity
    against that origin, and -M g^T P_0 of the whole robot is to be added where P_0 is known."""
    motion = velocities(robot, q, qd)
    heights, fields = gravity_by_link(robot, q)
    here, rates = robot.split(q), robot.split(qd)
    x = Energies(w=motion.w, V=motion.V)
    for link in ((robot.base,) if base else ()) + robot.links:
        j = link.j
        V, w, qe, qed = motion.V[j], motion.w[j], here.elastic[j], rates.elastic[j]
        body = deformed_link(link, qe)
        rotor = link.IA * (rates.joint[j] * rates.joint[j])
        twice = w @ (body.I @ w) + link.M * (V @ V) + 2 * (body.MS @ cross(V, w))     # (49)
        x.Ej[j] = HALF * (twice + rotor) + elastic_rates_energy(link, body, V, w, qed)
        x.Uj[j] = -(link.M * heights[j] + fields[j] @ body.MS)                        # (50)
        if link.flexible:
            x.Uj[j] = x.Uj[j] + elastic_energy(link.flexible, qe)
        if link.elastic or not vanishes(link.spring):
            x.Uj[j] = x.Uj[j] + link.elastic_energy(here.joint[j])
        x.E, x.U = x.E + x.Ej[j], x.U + x.Uj[j]
    return x


def gravity_by_link(
    robot: Bodies, q: Sequence[Scalar]
) -> tuple[dict[int, Scalar], dict[int, Vec]]:
    """(g^T 0P_j, g in frame j) of every link: both follow from the antecedent's."""
    along: dict[int, Scalar] = {0: 0}
    g = {0: robot.gravity}
    for link, T in robot.at(q):
        along[link.j] = along[link.i] + g[link.i] @ T.iPj
        g[link.j] = T.jRi @ g[link.i]
    return along, g


@dataclass
class Momentum:
    """Momentum of the composite links (p, l) about O_j in frame j, and h = A q̇ by link.

    (p, l) of link 0 is the momentum of the whole robot with its base, about O_0 in frame 0."""

    w: dict[int, Vec] = field(default_factory=dict)
    V: dict[int, Vec] = field(default_factory=dict)
    p: dict[int, Vec] = field(default_factory=dict)
    l: dict[int, Vec] = field(default_factory=dict)
    h: dict[int, Scalar] = field(default_factory=dict)


def momentum(robot: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Momentum:
    """The generalized momentum ∂E/∂q̇ = A q̇, without forming A."""
    motion, placed, qds = velocities(robot, q, qd), robot.at(q), robot.spread(qd)
    x = Momentum(w=motion.w, V=motion.V)
    for link in (robot.base, *(link for link, _ in placed)):
        j, own = link.j, Inertia(link.J, link.MS, link.M)
        x.p[j], x.l[j] = own @ (motion.V[j], motion.w[j])
    for link, T in reversed(placed):
        i, j = link.i, link.j
        if link.joint:
            rotor = link.IA * qds[link.joint]
            x.h[link.joint] = (link.s * x.p[j] + link.sbar * x.l[j]) @ a + rotor
        f, n = T.wrench(x.p[j], x.l[j])
        x.p[i], x.l[i] = x.p[i] + f, x.l[i] + n
    return x
