"""The solids of a robot as flat facets, shaded, that one draws from back to front.

A facet is a polygon (k, 3) in frame 0, counter-clockwise from outside, and the colour of its solid.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ..describe.robot import Robot
from ..describe.values.expression import number
from .solids import Solid

Facet = tuple[np.ndarray, str]
COLOURS = {
    "body": "#bcc6d0", "ball": "#bcc6d0", "revolute": "#586674", "ring": "#d9822b",
    "sleeve": "#2f7fb8", "slide": "#d3dae0", "plate": "#8794a1",
    "hull": "#4f7ea8", "tyre": "#3b4249", "rim": "#c3cad1",
}  # fmt: skip
_LIGHT = np.array([0.25, -0.55, 0.8]) / np.linalg.norm([0.25, -0.55, 0.8])


def facets(
    robot: Robot, parts: Iterable[Solid], T: np.ndarray, *, around: int = 20, **colours: str
) -> list[Facet]:
    """The facets of solids at the poses T of the frames, so many `around` each cylinder; kinds of
    solids may have other colours."""
    shown = COLOURS | colours
    return [(points, shown[solid.kind]) for solid in parts
            for points in _polygons(robot, solid, T, around)]  # fmt: skip


def seen(facet: Facet, near: np.ndarray) -> bool:
    """Whether it is turned to where one looks from."""
    return bool(_normal(facet[0]) @ near > 1e-9)


def shaded(facet: Facet, near: np.ndarray) -> tuple[float, float, float]:
    """Red, green and blue, 0 to 1, in the light from above."""
    points, colour = facet
    normal = _normal(points)
    if not normal.any():
        normal = near
    bright = 0.55 + 0.5 * max(0.0, float((normal if normal @ near > 0 else -normal) @ _LIGHT))
    red, green, blue = (min(1.0, bright * int(colour[k : k + 2], 16) / 255) for k in (1, 3, 5))
    return red, green, blue


def tube(start: Any, end: Any, radii: Any, around: int = 20) -> list[np.ndarray]:
    """A cone that is cut: of one radius, or of one at each end."""
    first, last = np.broadcast_to(radii, 2)
    axis = end - start
    length = np.linalg.norm(axis)
    if length < 1e-9:
        return []
    axis = axis / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    angle = np.linspace(0, 2 * np.pi, around + 1)[:-1]
    ring = np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * np.cross(axis, x)
    cuts = max(1, int(length / (4 * max(first, last))))  # short: depth is that of the middle
    part = np.linspace(0, 1, cuts + 1)
    rings = [start + (end - start) * k + (first + (last - first) * k) * ring for k in part]
    sides = [side for a, b in pairwise(rings) for side in _prism(a, b)[: len(ring)]]
    return [*sides, rings[0][::-1], rings[-1]]


def _polygons(robot: Robot, solid: Solid, T: np.ndarray, around: int) -> list[np.ndarray]:
    pose = T[solid.frame]
    middle = pose[:3, :3] @ np.array(solid.middle) + pose[:3, 3]
    if solid.kind == "ball":
        return _ball(middle, solid.radii[0], around)
    if solid.kind == "slide":
        start = _corner(robot, solid.joint, T)
        return tube(start, T[solid.joint, :3, 3], solid.radii[0], around)
    turn = pose[:3, :3] @ solid.turn
    half = turn[:, 2] * solid.length / 2
    if solid.outline is not None:
        edge = solid.outline @ turn[:, :2].T
        return _prism(middle - half + edge, middle + half + edge)
    return tube(middle - half, middle + half, solid.radii, around)


def _corner(robot: Robot, j: int, T: np.ndarray) -> np.ndarray:
    """Where the link before a sliding joint ends."""
    joint = robot.joints[j - 1]
    gamma, b, d = (float(number(getattr(joint, key)) or 0) for key in ("gamma", "b", "d"))
    place = np.array([d * np.cos(gamma), d * np.sin(gamma), b, 1.0])
    return np.asarray((T[joint.antecedent] @ place)[:3])


def _prism(low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """The sides between two outlines, then both outlines."""
    sides = [np.array([low[k - 1], low[k], high[k], high[k - 1]]) for k in range(len(low))]
    return [*sides, low[::-1], high]


def _ball(middle: np.ndarray, radius: float, around: int) -> list[np.ndarray]:
    across, half = 4 * around // 5, 2 * around // 5
    up, turns = np.linspace(0, np.pi, half + 1), np.linspace(0, 2 * np.pi, across + 1)
    ring = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=-1)
    grid = middle + radius * (np.sin(up)[:, None, None] * ring
                              + np.cos(up)[:, None, None] * np.eye(3)[2])  # fmt: skip
    return [np.array([grid[i, k], grid[i + 1, k], grid[i + 1, k + 1], grid[i, k + 1]])
            for i in range(half) for k in range(across)]  # fmt: skip


def _normal(points: np.ndarray) -> np.ndarray:
    normal = np.cross(points[2] - points[0], points[3 % len(points)] - points[1])
    length = float(np.linalg.norm(normal))
    return normal / length if length > 1e-15 else np.zeros(3)
