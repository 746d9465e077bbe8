"""The description as plain numbers: what every other system is given."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..describe.frames import matrix_of
from ..describe.robot import FIXED, GEOMETRY, Link, Robot
from ..motion.joints import number

_ZERO = 1e-12  # a coefficient below it is a rounded zero; peers get it as 0


@dataclass(frozen=True)
class Body:
    """A moving link: its frame on the antecedent at q = 0, its kind of joint, its inertia."""

    name: str
    parent: int  # index in the list; -1 is the base
    sigma: int
    frame: np.ndarray  # (4,4)
    mass: float
    first: np.ndarray  # (3,) M times centre of mass
    inertia: np.ndarray  # (3,3) about the origin of the frame


def gravity(robot: Robot) -> np.ndarray:
    return np.array([number(g) for g in robot.gravity], float)


def plain_bodies(robot: Robot) -> list[Body]:
    """The links in order; bodies of fixed frames are not supported by this plain form."""
    bodies = []
    for joint, link in zip(robot.joints, robot.links, strict=True):
        matrix = np.array(matrix_of([number(getattr(joint, key)) for key in GEOMETRY]), float)
        matrix[np.abs(matrix) < _ZERO] = 0
        body = plain_body(link)
        frame = {"parent": joint.antecedent - 1, "sigma": joint.sigma, "frame": matrix}
        bodies.append(replace(body, name=joint.name, **frame))  # type: ignore[arg-type]
    return bodies


def plain_body(link: Link) -> Body:
    """A link by itself, as if it were on the base."""
    XX, XY, XZ, YY, YZ, ZZ = (
        number(getattr(link, key)) for key in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
    )
    inertia = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]], float)
    first = np.array([number(link.MX), number(link.MY), number(link.MZ)], float)
    return Body(link.name, -1, FIXED, np.eye(4), number(link.M), first, inertia)


def order_by_name(robot: Robot, names: list[str]) -> np.ndarray:
    """For each of our joint variables, the place where another system keeps the joint so named."""
    ours = [joint.name for joint in robot.joints if joint.sigma != FIXED]
    return np.array([names.index(name) for name in ours])
