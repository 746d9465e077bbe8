"""Masses of MJCF: the <inertial> of a body, or what its geoms weigh.

Volumes and moments of the solids are those of any table; a capsule is a cylinder with two half
balls. A geom without a mass has its density, water's by default."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from .bodies import Mass
from .frames import Array

__all__ = ["DENSITY", "geom_mass", "shape_inertia"]

DENSITY = 1000.0  # kg/m3
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}


def shape_inertia(kind: str, size: Sequence[float]) -> tuple[float, Array]:
    """(volume, moments of inertia of unit density about the centre, diagonal)."""
    if kind in ("sphere", "ellipsoid"):
        a, b, c = (size[0],) * 3 if kind == "sphere" else size[:3]
        volume = 4 / 3 * math.pi * a * b * c
        return volume, volume / 5 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    if kind == "box":
        a, b, c = (x * x for x in size[:3])  # half sizes
        volume = 8 * size[0] * size[1] * size[2]
        return volume, volume / 3 * np.array([b + c, a + c, a + b])
    radius, half = size[0], size[1]
    cylinder = math.pi * radius**2 * 2 * half
    side = cylinder * (3 * radius**2 + (2 * half) ** 2) / 12
    axial = cylinder * radius**2 / 2
    if kind == "cylinder":
        return cylinder, np.array([side, side, axial])
    ball = 4 / 3 * math.pi * radius**3
    # the centre of a half ball lies 3/8 of its radius beyond the end of the cylinder
    side += ball * (2 / 5 * radius**2 + half**2 + 3 / 4 * radius * half)
    axial += ball * 2 / 5 * radius**2
    return cylinder + ball, np.array([side, side, axial])


def geom_mass(
    kind: str, size: Sequence[float], given: Mapping[str, float], placement: Array
) -> Mass | None:
    """The mass of a geom in its body's frame; None for shapes without a volume of their own."""
    if kind not in SIZES or len(size) < SIZES[kind]:
        return None
    volume, moments = shape_inertia(kind, size)
    mass = given["mass"] if "mass" in given else given.get("density", DENSITY) * volume
    if not volume or not mass:
        return None
    R = placement[:3, :3]
    return Mass(mass, placement[:3, 3], R @ np.diag(moments * mass / volume) @ R.T)
