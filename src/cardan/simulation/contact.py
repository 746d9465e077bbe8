"""Contacts as loads of a simulation: points of links on a flat ground.

    simulate(robot, ..., loads=ground({"foot": [[0, 0, 0]]}, stiffness=1e4, damping=100))

Any function of `scene.Links` that gives {link: wrench on it, in its frame} is a load; `together`
adds several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..errors import InputError
from .scene import Links

Loads = Callable[[Links], Mapping[Any, Any]]


@named_arguments
def ground(
    points: Mapping[int, Any], *, stiffness: float, damping: float, friction: float = 0.0,
    height: float = 0.0, normal: Any = (0, 0, 1), slip: float = 1e-2,
) -> Loads:  # fmt: skip
    """Points of links (number -> positions in its frame) that a plane pushes back.

    The pressure is k d + c d' where the depth d > 0, never a pull; friction is mu times it,
    smoothed below the sliding speed `slip`. The plane is normal·P = height in the world."""
    n = np.asarray(normal, float)
    if n.shape != (3,) or not np.isfinite(n).all() or not np.linalg.norm(n):
        raise InputError(f"normal = {normal}: expected a direction in three values")
    values = {"stiffness": stiffness, "damping": damping, "friction": friction, "slip": slip,
              "height": height}  # fmt: skip
    for name, value in values.items():
        if not np.isfinite(value):
            raise InputError(f"{name} = {value}; expected a finite number")
    if min(stiffness, damping, friction) < 0 or slip <= 0:
        raise InputError("stiffness, damping and friction must be 0 or more, slip positive")
    n = n / np.linalg.norm(n)
    listed = {j: np.atleast_2d(np.asarray(P, float)) for j, P in points.items()}
    for j, P in listed.items():
        if P.ndim != 2 or P.shape[1] != 3:
            raise InputError(f"points of link {j} have shape {P.shape}; expected (k, 3)")
        if not np.isfinite(P).all():
            raise InputError(f"points of link {j} are not finite numbers")

    def loads(links: Links) -> dict[int, np.ndarray]:
        loads = {}
        for j, local in listed.items():
            wrench = np.zeros(6)
            for p in local:
                position, velocity = links.point(j, p)
                depth, rate = height - n @ position, -(n @ velocity)
                if depth <= 0:
                    continue
                press = max(0.0, stiffness * depth + damping * rate * min(1.0, depth / 1e-3))
                slide = velocity + rate * n
                drag = friction * press / np.sqrt(slide @ slide + slip * slip)
                force = links.T[j, :3, :3].T @ (press * n - drag * slide)
                wrench += np.concatenate([force, np.cross(p, force)])
            loads[j] = wrench
        return loads

    return loads


def together(*several: Loads) -> Loads:
    """The sum of several loads."""

    def loads(links: Links) -> dict[Any, np.ndarray]:
        loads: dict[Any, np.ndarray] = {}
        for one in several:
            for link, wrench in one(links).items():
                loads[link] = loads.get(link, np.zeros(6)) + np.asarray(wrench, float)
        return loads

    return loads
