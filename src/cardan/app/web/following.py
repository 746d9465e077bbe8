"""Joints that follow: passive ones when a loop must stay closed, all when the tool is dragged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...describe.robot import FIXED, Robot
from ...errors import InputError

__all__ = ["follow", "reach_for"]

_STEP = 0.12  # rad or m: small enough to stay in one assembly


def follow(robot: Robot, start: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Positions with the active joints as wanted and the passive ones moved to close the loops.

    From a closed configuration, by small steps, so that the mechanism stays in its assembly."""
    from ...closure.numeric import equations

    system = equations(robot)
    passive = _passive(robot)
    active = [k for k in range(robot.n) if k not in passive]
    q = np.array(start, float)
    change = np.asarray(wanted, float)[active] - q[active]
    steps = min(60, max(1, math.ceil(float(np.abs(change).max(initial=0)) / _STEP)))
    for k in range(1, steps + 1):
        q[active] = start[active] + change * k / steps
        found, closed = system.close(q[None], passive)
        if not closed[0]:
            raise InputError("the loops cannot close there")
        q = found[0]
    return q


def _passive(robot: Robot) -> list[int]:
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    return [k for k, joint in enumerate(moving) if not joint.active]


def reach_for(robot: Robot, q: np.ndarray, place: Any, restarts: int = 4) -> np.ndarray:
    """Positions that bring the end effector to a place, near where the joints are.

    It keeps its orientation where it can; `restarts` look further away."""
    from ... import inverse_kinematics
    from ...mechanism.tree import Tree
    from ...use.frames import link_frames

    T = link_frames(robot, q)[Tree.of(robot).last].copy()
    T[:3, 3] = place
    for target, again in ((T, 0), (T[:3, 3], restarts)):
        found = inverse_kinematics(robot, target, guess=q, restarts=again, tolerance=1e-6)
        if bool(np.all(found.converged)):
            return np.asarray(found.q)
    raise InputError("the tool does not reach there")
