"""What a link cannot show as its own, given to its antecedent ([KC97] 6.4, refs 28, 29).

On a revolute joint a body symmetric about z_j (XX = YY, MZ, M) moves as if fixed to link i; on a
prismatic joint link j turns as link i does, so all of J_j goes over; on a fixed frame everything
does. These are identities: the torques do not change, the reactions inside the joints do.
"""

from __future__ import annotations

from typing import Any

from ..algebra.inertia import Inertia
from ..algebra.rotation import Rotation, Z, turn
from ..algebra.scalar import cos_sin
from ..algebra.vector import Vec, symmetric, zero
from .bodies import Bodies, Body

Scalar = Any


def transferred(robot: Bodies) -> dict[int, Inertia]:
    """The inertia of every link after the transfers of all joints."""
    inertia = {b.j: Inertia(b.J, b.MS, b.M) for b in (robot.base, *robot.links)}
    for link in reversed(robot.links):
        transfer(inertia, link, moments=False)
    return inertia


def transfer(inertia: dict[int, Inertia], link: Body, moments: bool) -> None:
    """Move what link j shares with its antecedent, [KC97] refs 28, 29."""
    i, j = link.i, link.j
    own = inertia[j]
    if link.sbar:
        y, z, m = own.J[1, 1], own.MS[2], own.M
        J = own.J.rows
        inertia[j] = Inertia(
            symmetric(J[0][0] - y, J[0][1], J[0][2], 0, J[1][2], J[2][2]),
            Vec(own.MS[0], own.MS[1], 0),
            0,
        )
        given = symmetric_body(link, y, z, m)
    elif link.s:
        MS = own.MS if moments else zero
        inertia[j] = Inertia(symmetric(0, 0, 0, 0, 0, 0), zero if moments else own.MS, own.M)
        given = Inertia(own.J, MS, 0).rotated(link.frame(0).iRj).moved(link.frame(0).iPj)
    else:
        inertia[j] = Inertia(symmetric(0, 0, 0, 0, 0, 0), zero, 0)
        frame = link.frame(0)
        given = own.rotated(frame.iRj).moved(frame.iPj)
    inertia[i] = inertia[i] + given


def symmetric_body(link: Body, y: Scalar, z: Scalar, m: Scalar) -> Inertia:
    """A body symmetric about z_j (XX = YY = y, MZ = z, M = m about O_j) about O_i in frame i."""
    r = link.r
    y, z = y + r * (2 * z + r * m), z + r * m  # slid along the axis by r_j
    c, s = cos_sin(link.alpha)
    J = symmetric(y, 0, 0, c * c * y, c * s * y, s * s * y)
    body = Inertia(J, Vec(0, -(s * z), c * z), m).moved(Vec(link.d, 0, link.b))
    return body.rotated(Rotation([turn(Z, link.gamma)]))
