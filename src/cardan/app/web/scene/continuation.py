"""Joints that follow: passive ones when a loop must stay closed, all when the tool is dragged."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....algebra.newton import Damping, Rule, newton
from ....describe.limits import joint_limits
from ....describe.robot import Robot
from ....errors import InputError
from ....mechanism.coordinates import Coordinates, holonomic

_STEP = 0.12  # rad or m: small enough to stay in one assembly


def follow(robot: Robot, start: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Positions with the active joints as wanted and the passive ones moved to close the loops.

    From a closed configuration, by small steps, so that the mechanism stays in its assembly."""
    q, there = follow_on(robot, start, wanted)
    if not there:
        raise InputError("the loops cannot close there")
    return q


def follow_on(robot: Robot, start: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, bool]:
    """Positions as near to the wanted ones as the loops can be closed, and whether they are there:
    the active joints go as far as the mechanism stays in its assembly."""
    from ....loops.continuation import ByEquations, carried
    from ....loops.numeric import equations

    passive = _passive(robot)
    if not passive and not robot.loops:  # wheels alone: any place can be driven to
        return np.asarray(wanted, float), True
    active = [k for k in range(robot.n) if k not in passive]
    by, target = ByEquations(equations(robot), active, passive), np.asarray(wanted, float)[active]
    q, share = carried(by, np.array([start], float), target[None], step=_STEP)
    return q[0], bool(share[0] == 1)


def closed_next_to(robot: Robot, q: np.ndarray) -> np.ndarray | None:
    """The closed configuration with the active joints as they are in q, in its assembly; None
    where the loops cannot be closed so, or not within the limits of the joints."""
    from ....loops.numeric import equations

    low, high = joint_limits(robot)
    near, closed = equations(robot).close(np.asarray(q, float)[None], _passive(robot))
    within = ((near[0] > low - 1e-9) & (near[0] < high + 1e-9)).all()
    return np.asarray(near[0]) if closed[0] and within else None


def _passive(robot: Robot) -> list[int]:
    link = Coordinates.of(holonomic(robot))
    return link.places(link.passive)


def reach_for(
    robot: Robot, q: np.ndarray, place: Any, restarts: int = 4
) -> tuple[np.ndarray, bool]:
    """Positions that bring the end effector to a place, or to a pose (4, 4), near where the joints
    are, and whether it gets there; else as near as it comes, as in a plane that the place lies
    above.

    It has the orientation of the pose, or keeps its own, where it can; `restarts` look further
    away."""
    from .... import inverse_kinematics
    from ....motion.frames import frame_poses, link_frames

    place = np.asarray(place, float)
    T = frame_poses(robot, link_frames(robot, q)).copy()
    if place.ndim == 2:
        T = place
    else:
        T[:3, 3] = place
    for target, again in ((T, 0), (T[:3, 3], restarts)):
        solution = inverse_kinematics(robot, target, guess=q, restarts=again, tolerance=1e-6)
        if bool(np.all(solution.converged)):
            return np.asarray(solution.q), True
    return _nearest(robot, q, T[:3, 3]), False


def _nearest(robot: Robot, q: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Downhill to where the end effector is nearest to a place: damped least squares on its
    position, along motions that keep the loops closed."""
    from ....loops.numeric import equations
    from ....motion.frames import frame_poses, link_frames

    low, high = joint_limits(robot)
    system = equations(robot) if robot.constrained else None
    unit = max(float(np.linalg.norm(place)), 0.1)

    def apart(x: np.ndarray) -> np.ndarray:
        return np.asarray(frame_poses(robot, link_frames(robot, x))[..., :3, 3] - place)

    def slope(x: np.ndarray, _: np.ndarray) -> np.ndarray:
        by_joints = (apart(x + 1e-6 * np.eye(robot.n)) - apart(x)) / 1e-6
        if system is None:
            return np.asarray(by_joints.T[None])
        J = system.J(x)[0]
        return np.asarray(by_joints.T @ (np.eye(robot.n) - np.linalg.pinv(J, rcond=1e-6) @ J))[None]

    def moved(x: np.ndarray, step: np.ndarray) -> np.ndarray:
        there = np.asarray(np.clip(x + step, low, high))
        if system is None:
            return there
        closed, sound = system.close(there, range(robot.n))
        return closed if sound[0] else x

    longest = _STEP if robot.constrained else 3 * _STEP
    damping = Damping(first=1e-3, less=1 / 3, more=9.0, most=10.0, weight=lambda e, H: unit**2)
    rule = Rule(step=1e-7, longest=longest, rounds=60)
    ends = newton(q[None], lambda x, _: apart(x), slope, rule, damping=damping, move=moved)
    return np.asarray(ends.x[0])
