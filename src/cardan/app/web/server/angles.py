"""Angles as the user likes to read them: rad or degrees, one choice for the whole page; and what
joints are called there.

The server, its jobs and the files know rad: what is shown is the SI number times a factor."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from ....describe.robot import FIXED, PRISMATIC, Robot

DEGREE = 180 / math.pi
_NUMBERED = re.compile(r"(joint|link|q)?_?[0-9]*")


def _turning(robot: Robot, columns: Sequence[int] | None) -> list[bool]:
    turning = [joint.sigma != PRISMATIC for joint in robot.joints if joint.sigma != FIXED]
    return turning if columns is None else [turning[k] for k in columns]


def factors(robot: Robot, degrees: bool, columns: Sequence[int] | None = None) -> np.ndarray:
    """What to multiply positions or velocities of these columns of q by, to show them."""
    return np.where(_turning(robot, columns), DEGREE if degrees else 1.0, 1.0)


def names(robot: Robot) -> tuple[str, ...]:
    """What the joints that move are called on the page: as the file writes their variables, else
    as it names them, where the name says more than a number."""
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    return tuple(
        joint.name if not joint.variable and not _NUMBERED.fullmatch(joint.name) else variable
        for joint, variable in zip(moving, robot.variables, strict=True)
    )


def unit(robot: Robot, degrees: bool, columns: Sequence[int] | None = None, tail: str = "") -> str:
    """The unit of these columns; tail: of a rate, as "/s"."""
    kinds = ["deg" if degrees else "rad"] if any(_turning(robot, columns)) else []
    kinds += [] if all(_turning(robot, columns)) and kinds else ["m"]
    return " or ".join(f"{kind}{tail}" for kind in kinds)
