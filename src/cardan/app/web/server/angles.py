"""Angles as the user likes to read them: rad or degrees, one choice for the whole page.

The server, its jobs and the files know rad: what is shown is the SI number times a factor."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ....describe.robot import FIXED, PRISMATIC, Robot

__all__ = ["DEGREE", "factors", "unit"]

DEGREE = 180 / math.pi


def _turning(robot: Robot, columns: Sequence[int] | None) -> list[bool]:
    turning = [joint.sigma != PRISMATIC for joint in robot.joints if joint.sigma != FIXED]
    return turning if columns is None else [turning[k] for k in columns]


def factors(robot: Robot, degrees: bool, columns: Sequence[int] | None = None) -> np.ndarray:
    """What to multiply positions or velocities of these columns of q by, to show them."""
    return np.where(_turning(robot, columns), DEGREE if degrees else 1.0, 1.0)


def unit(robot: Robot, degrees: bool, columns: Sequence[int] | None = None, tail: str = "") -> str:
    """The unit of these columns; tail: of a rate, as "/s"."""
    kinds = ["deg" if degrees else "rad"] if any(_turning(robot, columns)) else []
    kinds += [] if all(_turning(robot, columns)) and kinds else ["m"]
    return " or ".join(f"{kind}{tail}" for kind in kinds)
