"""Robots, states and numbers for the laws: everything is drawn from one seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from tests.compare import near
from tests.random_robots import random_robot

from cardan.algebra.vector import Mat, Vec
from cardan.describe.robot import FIXED, PRISMATIC, REVOLUTE, WRENCH, Base, Link, Robot
from cardan.exact import Exact, exact
from cardan.models.bodies import Bodies, Body, bodies

__all__ = [
    "STEP", "close", "draw", "draw_elastic", "draw_floating", "draw_wrenches", "fixed_base",
    "matrix", "rate", "scene_of", "stack", "states_of", "without_loads",
]  # fmt: skip

STATES = 3
STEP = 1e-40  # of complex steps: no difference is formed, so nothing cancels
Array = np.ndarray


def draw(seed: int) -> Robot:
    """A robot of 1 to 12 links: any joint kinds, branches, frames, base motion and gravity."""
    rng = random.Random(f"law {seed}")
    robot = random_robot(seed, rng.randint(1, 12), special=rng.random() < 0.7)
    joints = list(robot.joints)
    first = rng.choices((REVOLUTE, PRISMATIC, FIXED), (6, 3, 1))[0]
    joints[0] = replace(joints[0], sigma=first)
    if all(joint.sigma == FIXED for joint in joints):
        joints[-1] = replace(joints[-1], sigma=rng.choice((REVOLUTE, PRISMATIC)))
    along = rng.random()
    gravity = (0, 0, 0) if along < 0.1 else (0, 0, exact("-9.81")) if along < 0.3 else robot.gravity
    links = tuple(_rounded(link) if rng.random() < 0.2 else link for link in robot.links)
    return replace(robot, joints=tuple(joints), links=links, gravity=gravity)


def _rounded(link: Link) -> Link:
    """The mass as an integer; a heavier body of the same moments is still a body."""
    return replace(link, M=int(np.ceil(float(link.M))))


def draw_elastic(robot: Robot, rng: np.random.Generator) -> Robot:
    """The robot with some joints elastic; some of those have no spring: unactuated joints."""
    joints = []
    for joint in robot.joints:
        elastic = joint.sigma != FIXED and rng.random() < 0.4
        spring: dict[str, Any] = {"rest": _decimal(rng.uniform(-1, 1))}
        if rng.random() < 0.7:
            spring["stiffness"] = _decimal(rng.uniform(1, 50))
            spring["damping"] = _decimal(rng.uniform(0, 1))
        joints.append(replace(joint, elastic=True, **spring) if elastic else joint)
    return replace(robot, joints=tuple(joints))


def draw_floating(robot: Robot, rng: np.random.Generator) -> Robot:
    """The robot on a floating base that is a real body."""
    body = random_robot(int(rng.integers(1 << 30)), 1, special=False).links[0]
    return replace(robot, base=Base(kind="floating", link=replace(body, name="base")))


def fixed_base(robot: Robot) -> Robot:
    return replace(robot, base=replace(robot.base, kind="fixed", **dict.fromkeys(
        ("W0", "WP0", "V0", "VP0"), (0, 0, 0))))  # fmt: skip


def without_loads(robot: Robot) -> Robot:
    """No friction and no external wrenches."""

    def bare(link: Link) -> Link:
        return replace(link, **dict.fromkeys(WRENCH, 0))

    return replace(
        robot,
        base=replace(robot.base, link=bare(robot.base.link)),
        links=tuple(map(bare, robot.links)),
        joints=tuple(replace(joint, FV=0, FS=0) for joint in robot.joints),
    )


def _decimal(x: float) -> Any:
    return exact(f"{x:.3f}")


def scene_of(robot: Robot) -> Bodies:
    """The robot over floats; zeros and right angles stay exact, as in a trace."""
    scene = bodies(robot, _no_symbol)

    def number(x: Any) -> Any:
        return float(x) if isinstance(x, Exact) else x

    def vector(v: Vec) -> Vec:
        return Vec(*map(number, v))

    def body(b: Body) -> Body:
        J = Mat([vector(row) for row in b.J.rows])
        names = ("M", "IA", "stiffness", "rest", "damping", "spring", "neutral")
        scalars = {name: number(getattr(b, name)) for name in names}
        rubs = replace(
            b.rubs, **{x.name: number(getattr(b.rubs, x.name)) for x in fields(b.rubs)}
        )  # fmt: skip
        return replace(
            b, J=J, MS=vector(b.MS), f_e=vector(b.f_e), n_e=vector(b.n_e), rubs=rubs, **scalars
        )  # fmt: skip

    moved = {name: vector(getattr(scene, name)) for name in ("gravity", "w0", "wd0", "V0", "Vd0")}
    return replace(scene, base=body(scene.base), links=tuple(map(body, scene.links)), **moved)


def _no_symbol(name: str) -> Any:
    raise AssertionError(f"the robot still has the symbol {name}")


def states_of(robot: Robot, rng: np.random.Generator, *sizes: float) -> list[list[Array]]:
    """Random q, qd, qdd (or as many as sizes are given): lists of arrays over the states."""
    return [list(rng.uniform(-s, s, (robot.n, STATES))) for s in sizes or (3, 3, 3)]


def draw_wrenches(robot: Robot, rng: np.random.Generator) -> dict[int, tuple[Vec, Vec]]:
    """A wrench on every link, the base included."""
    drawn = rng.uniform(-9, 9, (len(robot.links) + 1, 6, STATES))
    return {j: (Vec(*f[:3]), Vec(*f[3:])) for j, f in enumerate(drawn)}


def stack(values: Sequence[Any], shape: tuple[int, ...] = (STATES,)) -> Array:
    """Scalars and arrays over states as one array (*states, n)."""
    if not len(values):
        return np.zeros((*shape, 0))
    numbers = [float(x) if isinstance(x, Exact) else x for x in values]
    return np.stack(np.broadcast_arrays(*numbers, np.empty(shape))[:-1], -1)


def matrix(rows: Sequence[Sequence[Any]], shape: tuple[int, ...] = (STATES,)) -> Array:
    """Rows of scalars and arrays as one array (*states, rows, columns)."""
    return np.stack([stack(row, shape) for row in rows], -2)


def rate(x: Sequence[Array], xd: Sequence[Array]) -> list[Array]:
    """x moving with rate xd, for a complex step: the rate of f is Im f / STEP."""
    return [a + 1j * STEP * b for a, b in zip(x, xd, strict=True)]


def close(
    found: Any, expected: Any, what: str, scale: float = 0.0, tolerance: float = 1e-9
) -> None:
    """What every law asks: `tolerance` of the largest component, of `scale` where terms cancel."""
    near(found, expected, tolerance, scale=max(scale, 1e-6), what=what)
