"""Joints that follow: passive ones when a loop must stay closed, all when the tool is dragged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...describe.expression import number
from ...describe.robot import FIXED, Robot
from ...errors import InputError

__all__ = ["assembled", "follow", "limits_of", "reach_for"]

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


def assembled(robot: Robot, q: np.ndarray) -> np.ndarray:
    """A closed configuration near q, within the limits of the joints where there is one, and away
    from singular ones, where an assembly is not certain."""
    from ...closure.numeric import equations

    system, passive = equations(robot), _passive(robot)
    low, high = limits_of(robot)
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = np.clip(q, low, high)
    middle[bounded] = (low[bounded] + high[bounded]) / 2
    first = np.where((q < low) | (q > high), middle, q)
    spread = np.random.default_rng(1).uniform(-0.9, 0.9, (48, robot.n))
    spread[0] = 0
    spread *= np.any(system.J(first[None] + spread) != 0, axis=(0, 1))
    held = spread.copy()  # the active joints where they are
    held[:, [k for k in range(robot.n) if k not in passive]] = 0
    best = np.zeros((0, robot.n))
    for start, free in ((first + held, passive), (first + spread, range(robot.n))):
        found, closed = system.close(start, free)
        best = np.concatenate([best, found[closed]])
        kept = best[((best > low - 1e-9) & (best < high + 1e-9)).all(axis=1)]
        kept = kept[_certain(system.J(kept)[..., passive]) > 0.05] if len(kept) else kept
        if len(kept):
            turns = np.linalg.norm(kept - first, axis=1)
            return np.asarray(kept[int(np.argmin(turns))])  # the least twisted one
    if not len(best):
        raise InputError("no configuration was found that closes the loops")
    return np.asarray(best[int(np.argmax(_certain(system.J(best)[..., passive])))])


def limits_of(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest positions (n,) of the joints."""
    found = []
    for joint in robot.joints:
        if joint.sigma != FIXED:
            ends = (joint.limits.lower, joint.limits.upper)
            low, high = (None if x is None else number(x) for x in ends)
            found.append((-np.inf if low is None else low, np.inf if high is None else high))
    low_high = np.array(found, float).reshape(-1, 2)
    return low_high[:, 0], low_high[:, 1]


def _certain(J: np.ndarray) -> np.ndarray:
    """How far from singular (N,): the smallest singular value for the passive joints."""
    found: np.ndarray = np.linalg.svd(J, compute_uv=False).min(axis=-1, initial=np.inf)
    return found


def _passive(robot: Robot) -> list[int]:
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    return [k for k, joint in enumerate(moving) if not joint.active]


def reach_for(
    robot: Robot, q: np.ndarray, place: Any, restarts: int = 4
) -> tuple[np.ndarray, bool]:
    """Positions that bring the end effector to a place, near where the joints are, and whether it
    gets there; else as near as it comes, as in a plane that the place lies above.

    It keeps its orientation where it can; `restarts` look further away."""
    from ... import inverse_kinematics
    from ...mechanism.tree import Tree
    from ...use.frames import link_frames

    tool = Tree.of(robot).last
    T = link_frames(robot, q)[tool].copy()
    T[:3, 3] = place
    for target, again in ((T, 0), (T[:3, 3], restarts)):
        found = inverse_kinematics(robot, target, guess=q, restarts=again, tolerance=1e-6)
        if bool(np.all(found.converged)):
            return np.asarray(found.q), True
    return _nearest(robot, q, np.asarray(place, float), tool), False


def _nearest(robot: Robot, q: np.ndarray, place: np.ndarray, tool: int) -> np.ndarray:
    """Downhill to where the end effector is nearest to a place: damped least squares on its
    position, along motions that keep the loops closed."""
    from ...closure.numeric import equations
    from ...use.frames import link_frames

    low, high = limits_of(robot)
    system = equations(robot) if robot.loops else None
    unit = max(float(np.linalg.norm(place)), 0.1)

    def apart(x: np.ndarray) -> np.ndarray:
        return np.asarray(link_frames(robot, x)[..., tool, :3, 3] - place)

    damping, most = 1e-3, _STEP if robot.loops else 3 * _STEP
    for _ in range(60):
        free = np.eye(robot.n)
        if system is not None:
            J = system.J(q[None])[0]
            free -= np.linalg.pinv(J, rcond=1e-6) @ J
        slope = ((apart(q + 1e-6 * np.eye(robot.n)) - apart(q)) / 1e-6).T @ free
        A = slope.T @ slope + damping * unit**2 * np.eye(robot.n)
        step = -free @ np.linalg.solve(A, slope.T @ apart(q))
        step *= min(1.0, most / max(float(np.abs(step).max()), 1e-12))
        there = np.clip(q + step, low, high)
        if system is not None:
            closed, sound = system.close(there[None], range(robot.n))
            there = closed[0] if sound[0] else q
        if np.linalg.norm(apart(there)) < np.linalg.norm(apart(q)) - 1e-9:
            q, damping = there, max(damping / 3, 1e-7)
        elif damping > 10:
            break
        else:
            damping *= 9
    return q
