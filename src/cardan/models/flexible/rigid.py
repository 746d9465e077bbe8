"""The rigid twin of a robot: its flexible links with the inertia they have undeformed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...arguments import named_arguments
from ...describe.flexible import Beam, ElasticBody
from ...describe.robot import Robot
from .integrals import integrals
from .shapes import beam_field


@named_arguments
def rigid(robot: Robot) -> Robot:
    """The robot with its flexible links made rigid: the limit of infinite stiffness.

    >>> cardan.rigid(cardan.load("flexible1r")).ne
    0"""
    return replace(robot, links=tuple(
        replace(link, flexible=None, **_inertia(link)) if link.flexible else link
        for link in robot.links
    ))  # fmt: skip


def _inertia(link: Any) -> dict[str, Any]:
    item: Beam | ElasticBody = link.flexible
    if isinstance(item, Beam):
        plain = replace(item, shapes="elements", elements=1, motions=("axial",))
        x = integrals(beam_field(plain, lambda value: value))
        J = x.J
        own = [x.M, *x.MS, J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]
    else:
        own = [item.mass, *item.MS, *item.inertia]
    keys = ("M", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ")
    return {key: getattr(link, key) + value for key, value in zip(keys, own, strict=True)}
