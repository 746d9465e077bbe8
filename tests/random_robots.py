"""Random robots for the laws: general trees with all six parameters of modified Denavit-Hartenberg.

Zeros and right angles are frequent (`special`), because that is where structure is exploited;
inertias are those of real bodies: principal moments, centre of mass and orientation are drawn, then
moved to the link frame. Numbers are short decimals, kept exact, as a robot file would hold them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

import cardan
from cardan.describe.robot import (
    DRIVE,
    FIXED,
    GEOMETRY,
    INERTIA,
    PRISMATIC,
    REVOLUTE,
    WRENCH,
    Base,
    Joint,
    Link,
    Robot,
)  # fmt: skip
from cardan.describe.values.expression import Value, symbol
from cardan.exact import exact, pi

__all__ = ["bundled_trees", "random_robot", "random_values", "states"]

SPECIAL_ANGLES = (0, 0, 0, pi / 2, -pi / 2, pi / 2, pi, -pi, pi / 3, -pi / 6, 3 * pi / 2)


def random_robot(
    seed: int, n: int = 6, *, tree: bool = True, prismatic: bool = True, fixed: bool = True,
    symbolic: bool = False, wrenches: bool = True, base_motion: bool = True, special: bool = True,
) -> Robot:  # fmt: skip
    """A robot of n links. With `symbolic`, every number that is not zero becomes a symbol."""
    rng = random.Random(seed)
    joints, links = [], []
    for j in range(1, n + 1):
        kinds = [REVOLUTE] * 5 + [PRISMATIC] * 2 * prismatic + [FIXED] * fixed
        sigma = rng.choice(kinds) if j > 1 else REVOLUTE
        antecedent = rng.randrange(j) if tree and rng.random() < 0.4 else j - 1
        frame: dict[str, Any] = _frame(rng, special)
        joints.append(Joint(f"joint{j}", antecedent, sigma, **frame, **_drive(rng, special)))
        links.append(_link(rng, f"link{j}", wrenches and rng.random() < 0.4, special))
    robot = Robot(
        name=f"random{seed}",
        links=tuple(links),
        joints=tuple(joints),
        base=_base(rng) if base_motion else Base(),
        gravity=_vector(rng, 9.81),
    )
    return _with_symbols(robot) if symbolic else robot


def random_values(robot: Robot, seed: int = 0) -> dict[str, float]:
    """A value for every free symbol: positive, of order one, so that no formula is singular."""
    rng = random.Random(f"{robot.name} {seed}")
    return {name: round(rng.uniform(0.2, 1.4), 3) for name in robot.parameters}


def states(n: int, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Random q, qd, qdd, arrays (count, n)."""
    rng = np.random.default_rng([n, count, seed])
    return {name: rng.uniform(-3, 3, (count, n)) for name in ("q", "qd", "qdd")}


@cache
def bundled_trees() -> Mapping[str, Robot]:
    """Every bundled robot, its loops cut open and its links rigid."""
    return {name: cardan.rigid(cardan.load(name)).tree() for name in cardan.robots()}


def _decimal(x: float, places: int = 3) -> Any:
    return exact(Fraction(f"{x:.{places}f}"))


def _vector(rng: random.Random, size: float) -> tuple[Value, ...]:
    v = np.array([rng.gauss(0, 1) for _ in range(3)])
    return tuple(_decimal(x) for x in size * v / np.linalg.norm(v))


def _frame(rng: random.Random, special: bool) -> dict[str, Value]:
    def angle() -> Any:
        if special and rng.random() < 0.6:
            return rng.choice(SPECIAL_ANGLES)
        return _decimal(rng.uniform(-3, 3)) if rng.random() < 0.7 else pi * rng.randint(-9, 9) / 9

    def length() -> Any:
        return 0 if special and rng.random() < 0.5 else _decimal(rng.uniform(-0.8, 0.8))

    return {key: angle() if key in ("gamma", "alpha", "theta") else length() for key in GEOMETRY}


def _drive(rng: random.Random, special: bool) -> dict[str, Any]:
    return {
        key: 0 if special and rng.random() < 0.4 else _decimal(rng.uniform(0, 0.5)) for key in DRIVE
    }


def _link(rng: random.Random, name: str, wrench: bool, special: bool) -> Link:
    if special and rng.random() < 0.1:
        return Link(name)  # a frame without a body
    mass = rng.uniform(0.1, 5)
    centred = special and rng.random() < 0.2
    com = np.zeros(3) if centred else np.array([rng.uniform(-0.4, 0.4) for _ in range(3)])
    a, b, c = (rng.uniform(0.01, 0.1) for _ in range(3))  # second moments along principal axes
    axes, _ = np.linalg.qr(np.array([[rng.gauss(0, 1) for _ in range(3)] for _ in range(3)]))
    about_com = mass * axes @ np.diag([b + c, c + a, a + b]) @ axes.T
    inertia = about_com + mass * (com @ com * np.eye(3) - np.outer(com, com))
    entries = [inertia[i, k] for i, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    values = [*entries, *(mass * com), mass]
    parameters = {key: _decimal(x, 6) for key, x in zip(INERTIA, values, strict=True)}
    forces = {key: _decimal(rng.uniform(-9, 9)) for key in WRENCH} if wrench else {}
    return Link(name, **parameters, **forces)


def _base(rng: random.Random) -> Base:
    if rng.random() < 0.5:
        return Base()
    vectors = {key: _vector(rng, rng.uniform(0.1, 2)) for key in ("W0", "WP0", "V0", "VP0")}
    return Base(kind="mobile", **vectors)


def _with_symbols(robot: Robot) -> Robot:
    def named(item: Any, keys: tuple[str, ...], j: int) -> Any:
        changed = {key: symbol(f"{key}{j}") for key in keys if not _structural(getattr(item, key))}
        return replace(item, **changed)

    return replace(
        robot,
        joints=tuple(named(x, GEOMETRY + DRIVE, j) for j, x in enumerate(robot.joints, 1)),
        links=tuple(named(x, INERTIA + WRENCH, j) for j, x in enumerate(robot.links, 1)),
        gravity=tuple(symbol(f"G{k}") for k in (1, 2, 3)),
    )


def _structural(value: Any) -> bool:
    return any(type(value) is type(x) and value == x for x in SPECIAL_ANGLES)
