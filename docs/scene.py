"""A robot as a shaded picture in three dimensions, for the pages of the docs.

The solids are those of the sheets and of the web app; facets are sorted by their depth.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection

from cardan.describe.robot import Robot
from cardan.describe.values.expression import number
from cardan.loops.numeric import skeleton
from cardan.motion.frames import link_frames
from cardan.sheets.picture import stubs, viewed
from cardan.sheets.solids import Solid, drawable, solids, thickness

COLOURS = {
    "body": "#9aa5b0", "ball": "#9aa5b0", "revolute": "#e08a2c", "ring": "#5b6670",
    "sleeve": "#2f8f83", "slide": "#8b97a3", "plate": "#6f7f8f",
}  # fmt: skip
LIGHT = np.array([0.25, -0.55, 0.8]) / np.linalg.norm([0.25, -0.55, 0.8])
AROUND = 20  # facets of a cylinder


def draw(axes: Any, robot: Robot, q: Any = None, *, alpha: float = 1.0) -> None:
    """The robot on matplotlib axes, in configuration q or where its links stand apart."""
    whole = drawable(robot, {})
    view, pose = viewed(whole)
    T = link_frames(skeleton(whole), np.asarray(pose if q is None else q, float))
    size = thickness(whole)
    facets = [facet for solid in solids(whole) for facet in _facets(whole, solid, T)]
    for piece in stubs(whole, T, view):
        facets += _cylinder(piece.start, piece.end, 0.018 * size, COLOURS["body"])
    facets.sort(key=lambda facet: float(facet[0].mean(axis=0) @ view.near))
    polygons = [view.flat(points) for points, _ in facets]
    colours = [_shaded(colour, points, view.near) for points, colour in facets]
    drawing = PolyCollection(polygons, facecolors=colours, edgecolors=colours, linewidths=0.4)
    drawing.set_alpha(alpha)
    axes.add_collection(drawing)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.margins(0.06)
    axes.axis("off")


def _facets(robot: Robot, solid: Solid, T: np.ndarray) -> list[tuple[np.ndarray, str]]:
    pose, colour = T[solid.frame], COLOURS[solid.kind]
    middle = pose[:3, :3] @ np.array(solid.middle) + pose[:3, 3]
    if solid.kind == "ball":
        return _ball(middle, solid.radii[0], colour)
    if solid.kind == "slide":
        start = _corner(robot, solid.joint, T)
        return _cylinder(start, T[solid.joint, :3, 3], solid.radii[0], colour)
    turn = pose[:3, :3] @ solid.turn
    half = turn[:, 2] * solid.length / 2
    if solid.outline is not None:
        edge = solid.outline @ turn[:, :2].T
        return _prism(middle - half + edge, middle + half + edge, colour)
    return _cylinder(middle - half, middle + half, solid.radii, colour)


def _corner(robot: Robot, j: int, T: np.ndarray) -> np.ndarray:
    """Where the link before a sliding joint ends."""
    joint = robot.joints[j - 1]
    gamma, b, d = (float(number(getattr(joint, key)) or 0) for key in ("gamma", "b", "d"))
    place = np.array([d * np.cos(gamma), d * np.sin(gamma), b, 1.0])
    return (T[joint.antecedent] @ place)[:3]


def _cylinder(start: Any, end: Any, radii: Any, colour: str) -> list[tuple[np.ndarray, str]]:
    """A cone that is cut: of one radius, or of one at each end."""
    first, last = np.broadcast_to(radii, 2)
    axis = end - start
    length = np.linalg.norm(axis)
    if length < 1e-9:
        return []
    axis = axis / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    angle = np.linspace(0, 2 * np.pi, AROUND + 1)[:-1]
    ring = np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * np.cross(axis, x)
    cuts = max(1, int(length / (4 * max(first, last))))  # short: depth is that of the middle
    part = np.linspace(0, 1, cuts + 1)
    rings = [start + (end - start) * k + (first + (last - first) * k) * ring for k in part]
    inner = [_prism(a, b, colour)[: len(ring)] for a, b in pairwise(rings)]
    return [
        *(facet for facets in inner for facet in facets),
        (rings[0], colour),
        (rings[-1], colour),
    ]


def _prism(low: np.ndarray, high: np.ndarray, colour: str) -> list[tuple[np.ndarray, str]]:
    """The sides between two outlines, then both outlines."""
    sides = [
        (np.array([low[k - 1], low[k], high[k], high[k - 1]]), colour) for k in range(len(low))
    ]
    return [*sides, (low, colour), (high, colour)]


def _ball(middle: Any, radius: float, colour: str) -> list[tuple[np.ndarray, str]]:
    up, around = np.linspace(0, np.pi, 9), np.linspace(0, 2 * np.pi, 17)
    grid = radius * np.array(
        [[[np.sin(u) * np.cos(a), np.sin(u) * np.sin(a), np.cos(u)] for a in around] for u in up]
    )
    return [
        (
            middle + np.array([grid[i, k], grid[i + 1, k], grid[i + 1, k + 1], grid[i, k + 1]]),
            colour,
        )
        for i in range(8)
        for k in range(16)
    ]


def _shaded(colour: str, points: np.ndarray, near: np.ndarray) -> tuple[float, float, float]:
    normal = np.cross(points[1] - points[0], points[2] - points[1])
    length = np.linalg.norm(normal)
    normal = normal / length if length else near
    if normal @ near < 0:
        normal = -normal
    bright = 0.55 + 0.5 * max(0.0, float(normal @ LIGHT))
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return tuple(min(1.0, bright * part) for part in (red, green, blue))  # type: ignore[return-value]
