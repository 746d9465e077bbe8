"""Flexible robots for tests: general trees, with every kind of shape function."""

from __future__ import annotations

from typing import Any

import numpy as np

import cardan
from cardan.describe.robot import Robot

BODY = {
    "mass": 0.4,
    "com": [0.1, 0.05, -0.02],
    "inertia_com": [0.02, 0.001, 0.002, 0.03, 0.003, 0.025],
}
KINDS: dict[str, dict[str, Any]] = {
    "element": {},
    "linear": {"stiffening": False},
    "two elements": {"elements": 2},
    "timoshenko": {"theory": "timoshenko", "elements": 2},
    "clamped modes": {"shapes": "clamped", "modes": 2},
    "polynomials": {"shapes": "polynomials", "modes": 2},
    "no rotary inertia": {"rotary": False},
    "planar": {"motions": ["bending-y"]},
}  # fmt: skip


def beam(**changes: Any) -> dict[str, Any]:
    """A soft beam of 0.8 m."""
    return {
        "length": 0.8, "young": 1e7, "density": 1000, "width": 0.02, "height": 0.03,
        "poisson": 0.3, **changes,
    }  # fmt: skip


def tree(kind: str = "element", **options: Any) -> Robot:
    """A branched robot: two flexible links, a slider, rigid links, an eccentric and a fixed one."""
    changes = KINDS[kind]
    return cardan.load(
        {
            "name": f"tree of {kind}",
            "gravity": [1, 2, -9.81],
            "link": [
                {**BODY, "d": 0.1, "alpha": 0.3, "FV": 0.1, "flexible": beam(**changes)},
                {"d": 0.8, "alpha": 0.7, "theta": 0.2, "r": 0.1, "b": 0.05, "gamma": 0.4,
                 "IA": 0.1, "flexible": beam(along="z", start=0.1, **changes), **options},
                {**BODY, "joint": "prismatic", "b": 0.5, "d": 0.2, "alpha": 1.1, "r": 0.3},
                {**BODY, "antecedent": 1, "d": 0.5, "alpha": 0.2},
                {"antecedent": 2, "joint": "fixed", "b": 0.9, "mass": 0.2},
            ],
        }
    )  # fmt: skip


def state(robot: Robot, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities, deformed by a few centimetres."""
    rng = np.random.default_rng(seed)
    n, ne = robot.n, robot.ne
    q = np.r_[rng.normal(size=n), 0.03 * rng.normal(size=ne)]
    return q, np.r_[rng.normal(size=n), 0.3 * rng.normal(size=ne)]


def hermite(E: float, I: float, rho: float, A: float, L: float) -> tuple[np.ndarray, np.ndarray]:
    """Mass and stiffness of a plane beam element of textbooks: (v, angle) at both ends."""
    stiffness = [
        [12, 6 * L, -12, 6 * L],
        [6 * L, 4 * L**2, -6 * L, 2 * L**2],
        [-12, -6 * L, 12, -6 * L],
        [6 * L, 2 * L**2, -6 * L, 4 * L**2],
    ]
    mass = [
        [156, 22 * L, 54, -13 * L],
        [22 * L, 4 * L**2, 13 * L, -3 * L**2],
        [54, 13 * L, 156, -22 * L],
        [-13 * L, -3 * L**2, -22 * L, 4 * L**2],
    ]
    rotary = [
        [36, 3 * L, -36, 3 * L],
        [3 * L, 4 * L**2, -3 * L, -(L**2)],
        [-36, -3 * L, 36, -3 * L],
        [3 * L, -(L**2), -3 * L, 4 * L**2],
    ]
    m = rho * A * L / 420 * np.array(mass) + rho * I / (30 * L) * np.array(rotary)
    return m, E * I / L**3 * np.array(stiffness)
