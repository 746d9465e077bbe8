"""The mechanism as solids, from its Denavit-Hartenberg table alone.

Every solid belongs to a frame and stands still in it. The link between frames i and j follows the
six parameters: along z_i by b, along the common normal by d, along z_j by r."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...describe.expression import number, symbols
from ...describe.robot import FIXED, GEOMETRY, PRISMATIC, Joint, Link, Robot

__all__ = ["Solid", "drawable", "reach", "skeleton", "solids", "stand_ins"]

LENGTHS = ("b", "d", "r")


@dataclass(frozen=True)
class Solid:
    """A cylinder along z, a box or a ball in a frame: its middle, its axis, its size."""

    frame: int
    kind: str  # tube, revolute, prismatic, slide, tool
    middle: tuple[float, float, float]
    turn: np.ndarray  # (3,3)
    length: float
    joint: int = 0


def stand_ins(robot: Robot) -> dict[str, str]:
    """A value for every symbol of the geometry, so that a symbolic robot can be drawn."""
    found: dict[str, str] = {}
    frames = [*robot.joints, *(f for loop in robot.loops for f in (loop.cut, loop.twin))]
    for joint in frames:
        for key in GEOMETRY:
            for name in symbols(getattr(joint, key)):
                found.setdefault(name, "0.4" if key in LENGTHS else "0.5")
    return found


def drawable(robot: Robot, values: dict[str, Any]) -> Robot:
    """The robot with numbers in its geometry; masses stay as they are.

    A symbol that no one gave a value gets one that can be drawn."""
    known = stand_ins(robot) | {k: v for k, v in values.items() if k in robot.parameters}
    return robot.with_values(known) if known else robot


def _lengths(joint: Any) -> tuple[float, ...]:
    return tuple(float(number(getattr(joint, key)) or 0) for key in GEOMETRY)


def reach(robot: Robot) -> float:
    """About how far the robot reaches: the longest sum of lengths from the base."""
    far = [0.0]
    for joint in robot.joints:
        _, b, _, d, _, r = _lengths(joint)
        far.append(far[joint.antecedent] + abs(b) + abs(d) + abs(r))
    slides = sum(joint.sigma == PRISMATIC for joint in robot.joints)
    return max(*far, 0.2) + 0.15 * slides if len(far) > 1 else 1.0


def solids(robot: Robot) -> list[Solid]:
    """All solids of a drawable robot."""
    size = reach(robot)
    found = []
    for j, joint in enumerate(robot.joints, 1):
        gamma, b, _, d, _, r = _lengths(joint)
        i = joint.antecedent
        foot = (0.0, 0.0, b)
        corner = (d * np.cos(gamma), d * np.sin(gamma), b)
        found += _tube(i, (0, 0, 0), foot) + _tube(i, foot, corner)
        if joint.sigma == PRISMATIC:
            found.append(Solid(j, "slide", (0, 0, 0), np.eye(3), 1.0, j))
        else:
            found += _tube(j, (0, 0, -r), (0, 0, 0))
        if joint.sigma != FIXED:
            kind = "prismatic" if joint.sigma == PRISMATIC else "revolute"
            at = 0.0 if joint.sigma == PRISMATIC else -r
            found.append(Solid(j, kind, (0, 0, at), np.eye(3), 0.12 * size, j))
    carried = {joint.antecedent for joint in robot.joints}
    for j in range(1, len(robot.joints) + 1):
        if j not in carried:
            found.append(Solid(j, "tool", (0, 0, 0), np.eye(3), 0.1 * size, j))
    return found


def _tube(frame: int, start: Any, end: Any) -> list[Solid]:
    a, c = np.array(start, float), np.array(end, float)
    length = float(np.linalg.norm(c - a))
    if length < 1e-9:
        return []
    x, y, z = (float(value) for value in (a + c) / 2)
    return [Solid(frame, "tube", (x, y, z), _along((c - a) / length), length)]


def _along(axis: np.ndarray) -> np.ndarray:
    """A rotation that takes z to the axis."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def skeleton(robot: Robot) -> Robot:
    """The same geometry with bare links and joints: frames need no masses, drives or gravity."""
    links = tuple(Link(link.name) for link in robot.links)
    joints = tuple(
        Joint(
            joint.name, joint.antecedent, joint.sigma, variable=joint.variable,
            active=joint.active, limits=joint.limits, **{k: getattr(joint, k) for k in GEOMETRY},
        )
        for joint in robot.joints
    )  # fmt: skip
    return Robot(robot.name, links, joints, robot.loops)
