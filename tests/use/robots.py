"""Robots that several tests of use/ share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cardan
from cardan.describe.robot import Base, Robot

__all__ = ["arm", "floating_snake", "frictionless", "pendulum"]


def pendulum(**link: Any) -> Robot:
    """One arm: 2 kg at 0.5 m, gravity along -y."""
    body = {"mass": 2, "com": [0.5, 0, 0], "inertia_com": [0, 0, 0, 0, 0, 0], **link}
    return cardan.load({"name": "arm", "gravity": [0, -9.81, 0], "link": [body]})


def floating_snake(n: int = 29) -> Robot:
    """n + 1 equal modules on no base."""
    from cardan.describe.bundled import snake

    robot = snake(n)
    return replace(robot, base=Base(kind="floating", link=replace(robot.links[0], name="base")))


def frictionless(robot: Robot) -> Robot:
    return replace(robot, joints=tuple(replace(j, FV=0, FS=0) for j in robot.joints))


def arm() -> Robot:
    return cardan.load("ur5")
