"""The limits of joints as numbers, infinite where there are none."""

from __future__ import annotations

import math

import numpy as np

from .robot import FIXED, Joint, Robot
from .values.expression import number


def limits_of(joint: Joint) -> tuple[float, float]:
    """Least and greatest position of a joint. From 0 to 0 is no range: exporters write it where a
    format wants limits and nobody has given any."""
    lower, upper = joint.limits.lower, joint.limits.upper
    low = None if lower is None else number(lower)
    high = None if upper is None else number(upper)
    if low == high == 0:
        return -math.inf, math.inf
    return -math.inf if low is None else low, math.inf if high is None else high


def joint_limits(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest positions, (n) each."""
    moving = [limits_of(joint) for joint in robot.joints if joint.sigma != FIXED]
    low_high = np.array(moving, float).reshape(-1, 2)
    return low_high[:, 0], low_high[:, 1]
