"""Joints that follow: passive ones when a loop must stay closed, all when the tool is dragged."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...describe.robot import FIXED, Robot
from ...errors import InputError

__all__ = ["follow", "reach_for"]


def follow(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Positions with the passive joints moved so that the loops close, nearest to these."""
    from ...closure.numeric import CLOSED, equations

    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    passive = [k for k, joint in enumerate(moving) if not joint.active]
    found, error = equations(robot).close(np.asarray(q, float)[None], passive)
    if error[0] > 1e3 * CLOSED:
        raise InputError("the loops cannot close there")
    return np.asarray(found[0])


def reach_for(robot: Robot, q: np.ndarray, place: Any) -> np.ndarray:
    """Positions that bring the end effector to a place, near where the joints are."""
    from ... import inverse_kinematics

    found = inverse_kinematics(robot, np.asarray(place, float), guess=q, restarts=4)
    if not found.converged:
        raise InputError("the tool does not reach there")
    return np.asarray(found.q)
