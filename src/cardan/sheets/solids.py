"""The mechanism as solids, from its Denavit-Hartenberg table.

Every solid belongs to a frame and stands still in it. The link between frames i and j follows the
six parameters: along z_i by b, along the common normal by d, along z_j by r. Where the table ends
with a link that reaches out, a pendulum, that is drawn as far as its centre of mass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..describe.robot import FIXED, GEOMETRY, PRISMATIC, Joint, Robot, Wheel
from ..describe.values.expression import number, symbols

__all__ = [
    "Solid", "along", "bodies", "drawable", "ends", "examples", "outline", "reach", "solids",
    "stand_ins", "thickness",
]  # fmt: skip

LENGTHS = ("b", "d", "r")
_CORNERS = 16  # of a wheel that is drawn


@dataclass(frozen=True)
class Solid:
    """A cylinder along z, a box or a ball in a frame: its middle, its axis, its size."""

    frame: int
    kind: str  # tube, revolute, prismatic, slide, tool, loop, weight
    middle: tuple[float, float, float]
    turn: np.ndarray  # (3,3)
    length: float
    joint: int = 0


def stand_ins(robot: Robot) -> dict[str, str]:
    """A value for every symbol of the geometry, so that a symbolic robot can be drawn."""
    numbers: dict[str, str] = {}
    for joint in robot.numbered:
        for key in GEOMETRY:
            for name in symbols(getattr(joint, key)):
                numbers.setdefault(name, "0.4" if key in LENGTHS else "0.5")
    for frame in robot.frames:
        for values, example in ((frame.xyz, "0.1"), (frame.rpy, "0.5")):
            numbers |= {name: example for x in values for name in symbols(x) if name not in numbers}
    for wheel in robot.wheels:
        numbers |= {name: "0.1" for name in symbols(wheel.radius) if name not in numbers}
    for coupling in robot.couplings.values():
        for x in (coupling.offset, *(ratio for _, ratio in coupling.leaders)):
            numbers |= {name: "1" for name in symbols(x) if name not in numbers}
    return numbers


_EXAMPLES = {
    "M": "1", "XX": "0.1", "YY": "0.1", "ZZ": "0.1", "XY": "0", "XZ": "0", "YZ": "0",
    "MX": "0.02", "MY": "0.02", "MZ": "0.02", "IA": "0.05", "FV": "0.1", "FS": "0.1",
}  # fmt: skip


def examples(robot: Robot) -> dict[str, str]:
    """A plausible number for every symbol, to try things with: SI units."""
    numbers = stand_ins(robot)
    for item in (*robot.links, robot.base.link, *robot.joints):
        for key, value in _EXAMPLES.items():
            for name in symbols(getattr(item, key, 0)):
                numbers.setdefault(name, value)
    for component in robot.gravity:  # down, whatever its sign is in the description
        for name in symbols(component):
            numbers.setdefault(name, "9.81" if str(component).startswith("-") else "-9.81")
    return {name: numbers.get(name, "0") for name in robot.parameters}


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


def thickness(robot: Robot) -> float:
    """The length that joints and tubes are drawn in proportion to: robots of many short links are
    drawn thin."""
    lengths = sorted(
        np.hypot(np.hypot(b, d), r) for _, b, _, d, _, r in map(_lengths, robot.joints)
    )
    real = [length for length in lengths if length > 1e-9]
    return float(min(reach(robot), 6 * real[len(real) // 2])) if real else reach(robot)


def solids(robot: Robot) -> list[Solid]:
    """All solids of a drawable robot."""
    size = thickness(robot)
    parts = []
    for j, joint in enumerate(robot.joints, 1):
        gamma, b, _, d, _, r = _lengths(joint)
        i = joint.antecedent
        foot = (0.0, 0.0, b)
        corner = (d * np.cos(gamma), d * np.sin(gamma), b)
        parts += _tube(i, (0, 0, 0), foot) + _tube(i, foot, corner)
        if joint.sigma == PRISMATIC:
            parts.append(Solid(j, "slide", (0, 0, 0), np.eye(3), 1.0, j))
        else:
            parts += _tube(j, (0, 0, -r), (0, 0, 0))
        if joint.sigma != FIXED:
            kind = "prismatic" if joint.sigma == PRISMATIC else "revolute"
            at = 0.0 if joint.sigma == PRISMATIC else -r
            parts.append(Solid(j, kind, (0, 0, at), np.eye(3), 0.12 * size, j))
    for wheel in robot.wheels:
        parts += _rim(wheel)
    for loop in robot.loops:
        parts += _branch(loop.cut, 0.12 * size, "loop") + _branch(loop.twin, 0.05 * size, "loop")
    for j in ends(robot):
        parts.append(Solid(j, "tool", (0, 0, 0), np.eye(3), 0.1 * size, j))
    for j, centre in bodies(robot).items():
        x, y, z = map(float, centre)
        parts += [*_tube(j, (0, 0, 0), centre), Solid(j, "weight", (x, y, z), np.eye(3), size)]
    return parts


def bodies(robot: Robot) -> dict[int, np.ndarray]:
    """The centre of mass, in its frame, of each last link whose mass is known and far away."""
    centres = {}
    for j in ends(robot):
        link = robot.links[j - 1]
        M, *MS = (number(getattr(link, key)) for key in ("M", "MX", "MY", "MZ"))
        if M is None or None in MS or not float(M) > 0:
            continue
        centre = np.array(MS, float) / float(M)
        if np.linalg.norm(centre) > 0.25 * reach(robot):
            centres[j] = centre
    return centres


def ends(robot: Robot) -> list[int]:
    """Frames that carry nothing: where tools are."""
    carried = {frame.antecedent for frame in robot.numbered}
    return [j for j in range(1, len(robot.joints) + 1) if j not in carried]


def _rim(wheel: Wheel) -> list[Solid]:
    """A wheel: its rim as a polygon, and a spoke that shows how it turns."""
    angles = np.linspace(0, 2 * np.pi, _CORNERS + 1)
    points = float(number(wheel.radius) or 0) * np.stack(
        [np.cos(angles), np.sin(angles), 0 * angles], axis=1
    )
    sides = [_tube(wheel.link, *side) for side in pairwise([np.zeros(3), *points])]
    return [part for side in sides for part in side]


def _branch(frame: Joint, length: float, kind: str) -> list[Solid]:
    """The way from a link to a frame that closes a loop, and that frame's axis."""
    gamma, b, alpha, d, _, r = _lengths(frame)
    i = frame.antecedent
    corner = np.array([d * np.cos(gamma), d * np.sin(gamma), b])
    z = np.array([np.sin(gamma) * np.sin(alpha), -np.cos(gamma) * np.sin(alpha), np.cos(alpha)])
    end = corner + r * z
    way = _tube(i, (0, 0, 0), (0, 0, b)) + _tube(i, (0, 0, b), corner) + _tube(i, corner, end)
    x, y, height = (float(value) for value in end)
    return [*way, Solid(i, kind, (x, y, height), along(z), length)]


def outline(robot: Robot, T: np.ndarray) -> list[np.ndarray]:
    """The tubes of all links as segments (2, 3) in frame 0, for a picture in two dimensions."""
    segments = []
    for part in solids(robot):
        if part.kind != "tube":
            continue
        pose = T[part.frame]
        half = part.turn[:, 2] * part.length / 2
        points = np.array([np.array(part.middle) - half, np.array(part.middle) + half])
        segments.append(points @ pose[:3, :3].T + pose[:3, 3])
    for j, joint in enumerate(robot.joints, 1):
        if joint.sigma == PRISMATIC:
            # the rod goes from where the antecedent's part of the link ends to frame j
            gamma, b, _, d, _, _ = _lengths(joint)
            corner = np.array([d * np.cos(gamma), d * np.sin(gamma), b, 1.0])
            segments.append(np.array([(T[joint.antecedent] @ corner)[:3], T[j, :3, 3]]))
    return segments


def _tube(frame: int, start: Any, end: Any) -> list[Solid]:
    a, c = np.array(start, float), np.array(end, float)
    length = float(np.linalg.norm(c - a))
    if length < 1e-9:
        return []
    x, y, z = (float(value) for value in (a + c) / 2)
    return [Solid(frame, "tube", (x, y, z), along((c - a) / length), length)]


def along(axis: np.ndarray) -> np.ndarray:
    """A rotation that takes z to the axis."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
