"""A small picture of a robot as SVG: its links and joints in perspective from the front right."""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ....describe.limits import joint_limits
from ....describe.robot import FIXED, PRISMATIC, Robot
from ....errors import CardanError
from ....loops.numeric import skeleton
from ....loops.standing import standing
from ....motion.frames import link_frames
from .drawing import bodies, drawable, ends, outline

__all__ = ["sketch"]

Place = Callable[[Any], Any]
_WIDE, _HIGH, _EDGE = 260.0, 150.0, 16.0


@lru_cache(maxsize=64)
def sketch(robot: Robot) -> str:
    """The whole <svg> element. Its only text is the name, which is escaped."""
    whole = drawable(robot, {})
    bare = skeleton(whole)
    T = link_frames(bare, _pose(bare))
    lines = outline(whole, T)
    moving = [j for j, joint in enumerate(bare.joints, 1) if joint.sigma != FIXED]
    dots = T[moving, :3, 3]
    weights = bodies(whole)
    tips = np.array([T[j, :3, :3] @ weights.get(j, np.zeros(3)) + T[j, :3, 3] for j in ends(bare)])
    points = np.concatenate([[[0, 0, 0]], *lines, dots, tips.reshape(-1, 3)])
    place = _fitting(points)
    parts = [_plate(place)]
    shapes = [(_depth(line.mean(axis=0)), _line(place(line))) for line in lines]
    for j, dot in zip(moving, dots, strict=True):
        colour = "#2f7fb8" if bare.joints[j - 1].sigma == PRISMATIC else "#d9822b"
        shapes.append((_depth(dot) + 1e-3, _dot(place(dot), colour, 4.5)))
    shapes += [(_depth(tip) + 2e-3, _dot(place(tip), "#b5402a", 3.0)) for tip in tips]
    parts += [text for _, text in sorted(shapes)]
    title = html.escape(robot.name)
    return (
        f'<svg viewBox="0 0 {_WIDE:g} {_HIGH:g}" role="img" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{title}</title>{''.join(parts)}</svg>"
    )


def _pose(robot: Robot) -> np.ndarray:
    """A configuration in which links are seen: a little off zero, within limits, loops closed."""
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    q = np.array([0.35 * (-1) ** (k // 2) * (joint.sigma != PRISMATIC) + 0.1 * (joint.sigma == 1)
                  for k, joint in enumerate(moving)])  # fmt: skip
    q = np.asarray(np.clip(q, *joint_limits(robot)))
    if robot.constrained:
        try:
            return standing(robot)
        except CardanError:
            return q
    return q


_RIGHT = np.array([1.0, 0.72, 0.0]) / np.hypot(1.0, 0.72)
_AWAY = np.array([-0.52, 0.72, -0.45])
_AWAY = _AWAY / np.linalg.norm(_AWAY)
_UP = np.cross(_RIGHT, _AWAY)


def _depth(point: np.ndarray) -> float:
    return -float(point @ _AWAY)


def _flat(points: np.ndarray) -> np.ndarray:
    return np.stack([points @ _RIGHT, -(points @ _UP)], axis=-1)


def _fitting(points: np.ndarray) -> Place:
    """The map from space to the picture that shows all points."""
    flat = _flat(points)
    low, high = flat.min(axis=0), flat.max(axis=0)
    room = np.array([_WIDE, _HIGH]) - 2 * _EDGE
    scale = float((room / np.maximum(high - low, 1e-6)).min())
    shift = np.array([_WIDE, _HIGH]) / 2 - scale * (low + high) / 2
    return lambda x: scale * _flat(np.asarray(x, float)) + shift


def _plate(place: Place) -> str:
    x, y = place(np.zeros(3))
    return f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="11" ry="5" fill="#5c6670" opacity=".55"/>'


def _line(ends: np.ndarray) -> str:
    (x1, y1), (x2, y2) = ends
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#8d99a6" '
        'stroke-width="4.5" stroke-linecap="round"/>'
    )


def _dot(at: np.ndarray, colour: str, radius: float) -> str:
    return f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius}" fill="{colour}"/>'
