"""A robot as a shaded picture in three dimensions, for the pages of the docs.

The solids are those of the sheets and of the web app; facets are sorted by their depth. A vehicle
stands on a floor: its wheels have tyres, and what carries them is a body instead of the joints that
place it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection

from cardan.describe.robot import Robot
from cardan.describe.values.expression import number
from cardan.loops.numeric import skeleton
from cardan.motion.frames import link_frames
from cardan.sheets.picture import stubs, viewed
from cardan.sheets.solids import Solid, drawable, hull, solids, thickness

COLOURS = {
    "body": "#9aa5b0", "ball": "#9aa5b0", "revolute": "#e08a2c", "ring": "#5b6670",
    "sleeve": "#2f8f83", "slide": "#8b97a3", "plate": "#6f7f8f", "hull": "#4f7ea8",
    "tyre": "#3b4249", "rim": "#c3cad1", "floor": "#dfe3e7", "tile": "#cfd5da",
}  # fmt: skip
LIGHT = np.array([0.25, -0.55, 0.8]) / np.linalg.norm([0.25, -0.55, 0.8])
AROUND = 20  # facets of a cylinder


def draw(axes: Any, robot: Robot, q: Any = None, *, alpha: float = 1.0) -> None:
    """The robot on matplotlib axes, in configuration q or where its links stand apart."""
    whole = drawable(robot, {})
    view, pose = viewed(whole)
    T = link_frames(skeleton(whole), np.asarray(pose if q is None else q, float))
    size = thickness(whole)
    parts = _driven(whole) if whole.wheels else solids(whole)
    facets = [facet for solid in parts for facet in _facets(whole, solid, T)]
    for piece in stubs(whole, T, view):
        facets += _cylinder(piece.start, piece.end, 0.018 * size, COLOURS["body"])
    facets.sort(key=lambda facet: float(facet[0].mean(axis=0) @ view.near))
    if whole.wheels:
        facets = _floor(facets) + facets
    polygons = [view.flat(points) for points, _ in facets]
    colours = [_shaded(colour, points, view.near) for points, colour in facets]
    drawing = PolyCollection(polygons, facecolors=colours, edgecolors=colours, linewidths=0.4)
    drawing.set_alpha(alpha)
    axes.add_collection(drawing)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.margins(0.06)
    axes.axis("off")


def _driven(robot: Robot) -> list[Solid]:
    """The solids of a vehicle."""
    placing, chassis = {0}, 0
    while True:  # down the passive joints that say where the vehicle is
        below = [j for j, joint in enumerate(robot.joints, 1) if joint.antecedent == chassis]
        if len(below) != 1 or robot.joints[below[0] - 1].active:
            break
        placing.add(chassis := below[0])
    wheels = {wheel.link: float(number(wheel.radius) or 0) for wheel in robot.wheels}
    alone = len(wheels) == 1
    held = {robot.joints[j - 1].antecedent for j in wheels} - {chassis}  # what steers
    hidden = (placing | held | set(wheels)) - {0}
    parts = [
        solid for solid in solids(robot)
        if solid.joint not in hidden and solid.frame not in (hidden - {chassis}) | {0}
        and not (alone and solid.frame == chassis)
    ]  # fmt: skip
    for j, radius in wheels.items():
        wide = 0.3 * radius
        for kind, size, long in (
            ("tyre", 1, wide),
            ("rim", 0.7, 1.1 * wide),
            ("revolute", 0.25, 1.5 * wide),
        ):
            parts.append(Solid(j, kind, (0, 0, 0), np.eye(3), long, j, (size * radius,) * 2))
    T = link_frames(skeleton(robot), np.zeros(robot.n))
    places = np.array([(np.linalg.inv(T[chassis]) @ T[j])[:3, 3] for j in wheels])
    radius = max(wheels.values())
    if alone:
        post = (float(places[0, 0]), float(places[0, 1]), float(places[0, 2]) + 0.9 * radius)
        parts.append(Solid(chassis, "body", post, np.eye(3), 1.8 * radius, 0, (0.09 * radius,) * 2))
        seat = (*post[:2], post[2] + 0.95 * radius)
        parts.append(Solid(chassis, "ball", seat, np.eye(3), 0.0, 0, (0.25 * radius, 0)))
        return parts
    corners = [
        (x + along * radius, y + aside * radius)
        for x, y, _ in places
        for along in (
            (-1.3, 1.3) if np.ptp(places[:, 0]) < radius or x < places[:, 0].max() else (0,)
        )
        for aside in ((-0.25 * np.sign(y),) if abs(y) > 0.5 * radius else (-0.5, 0.5))
    ]
    outline = np.array(hull(np.array(corners)))
    middle = outline.mean(axis=0)
    place = (float(middle[0]), float(middle[1]), float(places[:, 2].max()) + 0.5 * radius)
    body = Solid(chassis, "hull", place, np.eye(3), 0.6 * radius, 0, (0, 0), outline - middle)
    return [*(part for solid in parts for part in _above(solid, chassis, place[2])), body]


def _above(solid: Solid, chassis: int, height: float) -> list[Solid]:
    """What is to be seen of a solid of the chassis: tubes in it or below it are not."""
    if solid.frame != chassis or solid.kind not in ("body", "ball"):
        return [solid]
    reach = solid.turn[:, 2] * solid.length / 2
    low, high = sorted((solid.middle - reach, solid.middle + reach), key=lambda point: point[2])
    if high[2] <= height:
        return []
    if low[2] < height:
        low = low + (high - low) * (height - low[2]) / (high[2] - low[2])
    middle = tuple(float(x) for x in (low + high) / 2)
    return [replace(solid, middle=middle, length=float(np.linalg.norm(high - low)))]


def _floor(facets: list[tuple[np.ndarray, str]]) -> list[tuple[np.ndarray, str]]:
    """Tiles below a vehicle, behind all that stands on them."""
    points = np.concatenate([points for points, _ in facets])
    height = points[:, 2].min()
    low, high = points[:, :2].min(0), points[:, :2].max(0)
    step = float((high - low).max()) / 5
    count = np.ceil((high - low) / step).astype(int) + 1
    start = (low + high) / 2 - count * step / 2
    square = step * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    return [
        (np.c_[start + step * np.array([i, k]) + square, np.full(4, height)],
         COLOURS["floor" if (i + k) % 2 else "tile"])
        for i in range(count[0]) for k in range(count[1])
    ]  # fmt: skip


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
