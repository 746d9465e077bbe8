"""Masses of MJCF: the <inertial> of a body, or what its geoms weigh.

Volumes and moments of the solids are those of any table; a capsule is a cylinder with two half
balls. A geom without a mass has its density, water's by default. A hollow geom (`shellinertia`) has
its mass on its surface, and its density is that of the surface: the area of an ellipsoid is
Thomsen's approximation and its shell a layer of 1e-6, as MuJoCo takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..bodies import Mass
from ..frames import Array

DENSITY = 1000.0  # kg/m3
LEAST = 1e-14  # kg: what weighs less weighs nothing
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


def shell_inertia(kind: str, size: Sequence[float]) -> tuple[float, Array]:
    """(area, moments of inertia of unit surface density about the centre, diagonal)."""
    if kind == "sphere":
        area = 4 * math.pi * size[0] ** 2
        return area, area * 2 / 3 * size[0] ** 2 * np.ones(3)
    if kind == "ellipsoid":
        a, b, c = size[:3]
        p = 1.6075
        mean = ((a * b) ** p + (b * c) ** p + (c * a) ** p) / 3
        area = float(4 * math.pi * mean ** (1 / p))
        inner, outer = (shape_inertia(kind, [x + e for x in (a, b, c)]) for e in (0, 1e-6))
        return area, (outer[1] - inner[1]) * area / (outer[0] - inner[0])
    if kind == "box":
        a, b, c = size[:3]  # half sizes
        faces = 8 * np.array([b * c, c * a, a * b])  # the two across x, y, z together
        across = faces * np.square((a, b, c))
        along = np.array([x * x * (faces.sum() - faces[k]) / 3 for k, x in enumerate((a, b, c))])
        second = across + along  # integrals of x^2, y^2, z^2
        return float(faces.sum()), second.sum() - second
    radius, half = size[0], size[1]
    side = 4 * math.pi * radius * half
    axial, square = side * radius**2, side * (radius**2 / 2 + half**2 / 3)
    if kind == "cylinder":
        disks = 2 * math.pi * radius**2
        axial += disks * radius**2 / 2
        square += disks * (radius**2 / 4 + half**2)
        return side + disks, np.array([square, square, axial])
    ball = 4 * math.pi * radius**2
    axial += ball * 2 / 3 * radius**2
    square += ball * (2 / 3 * radius**2 + half**2 + half * radius)
    return side + ball, np.array([square, square, axial])


def geom_mass(
    kind: str, size: Sequence[float], weights: Mapping[str, float], placement: Array,
    hollow: bool = False,
) -> Mass | None:  # fmt: skip
    """The mass of a geom in its body's frame; None for shapes without a volume of their own."""
    if kind not in SIZES or len(size) < SIZES[kind]:
        return None
    volume, moments = (shell_inertia if hollow else shape_inertia)(kind, size)
    mass = weights["mass"] if "mass" in weights else weights.get("density", DENSITY) * volume
    if not volume or mass <= LEAST:
        return None
    R = placement[:3, :3]
    return Mass(mass, placement[:3, 3], R @ np.diag(moments * mass / volume) @ R.T)
