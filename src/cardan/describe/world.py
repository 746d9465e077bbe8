"""Where frame 0 of a robot of numbers stands in the world, and gravity there."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from .robot import Robot
from .values.expression import Value, number


def placement(robot: Robot) -> np.ndarray:
    """The description's placement Z of frame 0 in the world (4, 4)."""
    return np.array([_number(v) for v in robot.base.Z]).reshape(4, 4)


def gravity_in_world(robot: Robot) -> np.ndarray:
    """The acceleration of gravity in the world: the description's, turned by the placement Z."""
    g = np.array([_number(v) for v in robot.gravity])
    return np.asarray(placement(robot)[:3, :3] @ g)


def _number(value: Value) -> float:
    x = number(value)
    if x is None:
        raise InputError(f"'{value}' has no value", action="values")
    return x
