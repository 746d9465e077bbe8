"""A robot as a shaded picture in three dimensions, for the pages of the docs.

The solids are those of the sheets and of the web app; facets are sorted by their depth. A vehicle
stands on a floor: its wheels have tyres, and what carries them is a body instead of the joints that
place it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection

from cardan.describe.robot import Robot
from cardan.loops.numeric import skeleton
from cardan.motion.frames import link_frames
from cardan.sheets.facets import Facet, facets, shaded, tube
from cardan.sheets.picture import stubs, viewed
from cardan.sheets.solids import drawable, thickness
from cardan.sheets.vehicles import parts

COLOURS = {
    "body": "#9aa5b0", "ball": "#9aa5b0", "revolute": "#e08a2c", "ring": "#5b6670",
    "sleeve": "#2f8f83", "slide": "#8b97a3", "plate": "#6f7f8f",
}  # fmt: skip
FLOOR, TILE = "#dfe3e7", "#cfd5da"


def draw(axes: Any, robot: Robot, q: Any = None, *, alpha: float = 1.0) -> None:
    """The robot on matplotlib axes, in configuration q or where its links stand apart."""
    whole = drawable(robot, {})
    view, pose = viewed(whole)
    T = link_frames(skeleton(whole), np.asarray(pose if q is None else q, float))
    size = thickness(whole)
    drawn = facets(whole, parts(whole), T, **COLOURS)
    for piece in stubs(whole, T, view):
        drawn += [(x, COLOURS["body"]) for x in tube(piece.start, piece.end, 0.018 * size)]
    drawn.sort(key=lambda facet: float(facet[0].mean(axis=0) @ view.near))
    if whole.wheels:
        drawn = _floor(drawn) + drawn
    polygons = [view.flat(points) for points, _ in drawn]
    colours = [shaded(facet, view.near) for facet in drawn]
    drawing = PolyCollection(polygons, facecolors=colours, edgecolors=colours, linewidths=0.4)
    drawing.set_alpha(alpha)
    axes.add_collection(drawing)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.margins(0.06)
    axes.axis("off")


def _floor(drawn: list[Facet]) -> list[Facet]:
    """Tiles below a vehicle, behind all that stands on them."""
    points = np.concatenate([points for points, _ in drawn])
    height = points[:, 2].min()
    low, high = points[:, :2].min(0), points[:, :2].max(0)
    step = float((high - low).max()) / 5
    count = np.ceil((high - low) / step).astype(int) + 1
    start = (low + high) / 2 - count * step / 2
    square = step * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    return [
        (np.c_[start + step * np.array([i, k]) + square, np.full(4, height)],
         FLOOR if (i + k) % 2 else TILE)
        for i in range(count[0]) for k in range(count[1])
    ]  # fmt: skip
