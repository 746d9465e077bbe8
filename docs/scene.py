"""A robot as a shaded picture in three dimensions, for the pages of the docs.

The solids are those of the sheets and of the web app; facets are sorted by their depth.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection

from cardan.describe.robot import PRISMATIC, Robot
from cardan.errors import ModelError
from cardan.loops.numeric import skeleton
from cardan.mechanism.coordinates import Coordinates
from cardan.mechanism.platform import Parallel
from cardan.motion.frames import link_frames
from cardan.sheets.picture import stubs, viewed
from cardan.sheets.solids import Solid, drawable, outline, solids, thickness

COLOURS = {
    "tube": "#8b97a3", "slide": "#8b97a3", "revolute": "#e08a2c", "prismatic": "#2f8f83",
    "tool": "#c8502c", "loop": "#7a5bb0", "weight": "#c8502c", "base": "#4a545e",
}  # fmt: skip
LIGHT = np.array([0.25, -0.55, 0.8]) / np.linalg.norm([0.25, -0.55, 0.8])
AROUND = 20  # facets of a cylinder


def draw(axes: Any, robot: Robot, q: Any = None, *, alpha: float = 1.0, floor: bool = True) -> None:
    """The robot on matplotlib axes, in configuration q or where its links stand apart."""
    whole = drawable(robot, {})
    view, pose = viewed(whole)
    T = link_frames(skeleton(whole), np.asarray(pose if q is None else q, float))
    size = thickness(whole)
    unseen = _placing(whole)
    shown = [s for s in solids(whole) if s.kind != "slide" and s.joint not in unseen]
    facets = [facet for s in shown for facet in _facets(s, T[s.frame], size)]
    for piece in stubs(whole, T, view):
        facets += _cylinder(piece.start, piece.end, 0.018 * size, COLOURS["tube"])
    for start, end in _rods(whole, T):
        facets += _cylinder(start, end, 0.016 * size, COLOURS["slide"])
    if floor and not view.plane:
        facets += _cylinder(
            np.array([0, 0, -0.03 * size]), np.zeros(3), 0.11 * size, COLOURS["base"]
        )
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


def _placing(robot: Robot) -> tuple[int, ...]:
    """The joints that only say where a platform is: nothing of the kind is there to be seen."""
    try:
        return Parallel.of(Coordinates.of(robot), "picture").joints if robot.loops else ()
    except ModelError:
        return ()


def _rods(robot: Robot, T: np.ndarray) -> list[np.ndarray]:
    """Of sliding joints: from the end of the link before to the frame."""
    unseen = _placing(robot)
    slides = [j for j, joint in enumerate(robot.joints, 1) if joint.sigma == PRISMATIC]
    rods = outline(robot, T)[-len(slides) :] if slides else []
    return [rod for j, rod in zip(slides, rods, strict=True) if j not in unseen]


def _facets(solid: Solid, pose: np.ndarray, size: float) -> list[tuple[np.ndarray, str]]:
    axis = pose[:3, :3] @ solid.turn[:, 2]
    middle = pose[:3, :3] @ np.array(solid.middle) + pose[:3, 3]
    length = {"revolute": 0.12, "loop": 0.1, "tool": 0.05}.get(solid.kind, 0.1) * size
    colour = COLOURS[solid.kind]
    if solid.kind == "tube":
        half = axis * solid.length / 2
        return _cylinder(middle - half, middle + half, 0.018 * size, colour)
    if solid.kind in ("revolute", "loop"):
        half = axis * length / 2
        return _cylinder(middle - half, middle + half, 0.04 * size, colour)
    if solid.kind in ("prismatic", "tool"):
        frame = pose[:3, :3] @ solid.turn
        edge = 0.07 * size if solid.kind == "prismatic" else 0.055 * size
        long = 0.11 * size if solid.kind == "prismatic" else 0.055 * size
        return _box(middle, frame, np.array([edge, edge, long]) / 2, colour)
    return _ball(middle, 0.05 * size, colour)


def _cylinder(start: Any, end: Any, radius: float, colour: str) -> list[tuple[np.ndarray, str]]:
    axis = end - start
    length = np.linalg.norm(axis)
    if length < 1e-9:
        return []
    axis = axis / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    angle = np.linspace(0, 2 * np.pi, AROUND + 1)
    ring = radius * (np.cos(angle)[:, None] * x + np.sin(angle)[:, None] * np.cross(axis, x))
    cuts = max(1, int(length / (4 * radius)))  # short pieces: depth is that of the middle
    points = [start + (end - start) * k / cuts for k in range(cuts + 1)]
    sides = [
        (np.array([a + ring[k], a + ring[k + 1], b + ring[k + 1], b + ring[k]]), colour)
        for a, b in pairwise(points)
        for k in range(AROUND)
    ]
    return [*sides, (start + ring[-1:0:-1], colour), (end + ring[:-1], colour)]


def _box(middle: Any, frame: Any, half: Any, colour: str) -> list[tuple[np.ndarray, str]]:
    faces = []
    for axis in range(3):
        u, v = frame[:, (axis + 1) % 3], frame[:, (axis + 2) % 3]
        a, b = half[(axis + 1) % 3], half[(axis + 2) % 3]
        for side in (-1, 1):
            at = middle + side * half[axis] * frame[:, axis]
            corners = np.array([(-a, -b), (a, -b), (a, b), (-a, b)])[::side]
            faces.append((np.array([at + x * u + y * v for x, y in corners]), colour))
    return faces


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
