"""Robots with coupled joints, alone and within loops, for the tests."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from tests.loops.mechanisms import loaded
from tests.random_robots import random_robot

import cardan
from cardan.describe.robot import FIXED, PRISMATIC, Base, Coupling, Limits, Robot
from cardan.exact import exact

FREE = {"active": False}


def led(joint: Any, ratio: Any = 1, offset: Any = 0) -> dict[str, Any]:
    return {"mimic": {"joint": joint, "ratio": ratio, "offset": offset}}


def geared() -> Robot:
    """Two turns geared together, a third that is free, a rack on the second."""
    return cardan.load({
        "name": "geared", "gravity": [0, -9.81, 0],
        "link": [{"name": "upper"}, {"name": "lower", "d": 0.4, **led("upper", "-5/2", "10 deg")},
                 {"d": 0.3, "alpha": "pi/3"},
                 {"antecedent": 2, "joint": "prismatic", "alpha": "pi/2", **led("lower", 0.1)}],
    })  # fmt: skip


def gripper() -> Robot:
    """A wrist with two fingers that slide against each other; the follower comes first."""
    return cardan.load({
        "name": "gripper", "gravity": [0.4, 2, -9.81],
        "link": [{"name": "arm"}, {"name": "wrist", "alpha": "pi/2", "d": 0.2},
                 {"name": "left", "joint": "prismatic", "alpha": "pi/2", "d": 0.1,
                  **led("right", -1, 0.02)},
                 {"name": "right", "antecedent": "wrist", "joint": "prismatic", "alpha": "pi/2",
                  "d": 0.1}],
    })  # fmt: skip


def _five_bar(**joints: Any) -> dict[str, Any]:
    links: list[dict[str, Any]] = [
        {"name": "q1"}, {"name": "q2", "d": 0.5, **FREE},
        {"name": "q3", "antecedent": 0, "d": 0.2}, {"name": "q4", "d": 0.5, **FREE},
    ]  # fmt: skip
    for link in links:
        link |= joints.get(link["name"], {})
    return {
        "name": "five-bar", "gravity": [0, -9.81, 0], "link": links,
        "loop": [{"name": "pin", "cut": {"antecedent": 2, "d": 0.6},
                  "twin": {"antecedent": 4, "d": 0.6}}],
    }  # fmt: skip


def geared_five_bar() -> Robot:
    """Both cranks on one motor: a geared five-bar."""
    return cardan.load(_five_bar(q3=led("q1", "-1/2", 2)))


def elbows() -> Robot:
    """Two passive joints of one loop geared together."""
    return cardan.load(_five_bar(q3=FREE, q4=led("q2", "-0.7", "0.3")))


def outside() -> Robot:
    """A four-bar whose rocker leads a wheel outside the loop, and that a slide."""
    return cardan.load({
        "name": "wheel", "gravity": [0, -9.81, 0],
        "link": [{}, {"d": 0.3, **FREE}, {"name": "rocker", "antecedent": 0, "d": 0.5, **FREE},
                 {"name": "wheel", "antecedent": 0, "gamma": 0.3, "d": 0.2, **led("rocker", -2)},
                 {"antecedent": "rocker", "joint": "prismatic", "d": 0.2, "alpha": "pi/2",
                  **led("wheel", 0.05, 0.1)}],
        "loop": [{"name": "bar", "cut": {"antecedent": 2, "d": 0.45},
                  "twin": {"antecedent": 3, "d": 0.4}}],
    })  # fmt: skip


def parallelogram() -> Robot:
    """A parallelogram whose coupling says what its loop says already."""
    return cardan.load({
        "name": "parallelogram", "gravity": [0, -9.81, 0],
        "link": [{}, {"d": 0.3, **FREE}, {"antecedent": 0, "d": 0.5, **led(1)}],
        "loop": [{"name": "bar", "cut": {"antecedent": 2, "d": 0.5},
                  "twin": {"antecedent": 3, "d": 0.3}}],
    })  # fmt: skip


def chained() -> Robot:
    """Two four-bars: the rocker of one turns the crank of the other, three to two."""
    crank: dict[str, Any] = {"antecedent": 0, "d": 2}
    return cardan.load({
        "name": "chained", "gravity": [0, -9.81, 0],
        "link": [{}, {"d": 0.3, **FREE}, {"name": "rocker", "antecedent": 0, "d": 0.5, **FREE},
                 {"name": "second", **crank, **led("rocker", "3/2", "-0.2")},
                 {"d": 0.2, **FREE}, {"antecedent": 0, "d": "2 + 6/10", **FREE}],
        "loop": [{"name": "bar", "cut": {"antecedent": 2, "d": 0.45},
                  "twin": {"antecedent": 3, "d": 0.4}},
                 {"name": "bar2", "cut": {"antecedent": 5, "d": 0.6},
                  "twin": {"antecedent": 6, "d": 0.45}}],
    })  # fmt: skip


def high_gears() -> Robot:
    """A gear of 100 on the crank, one of 200 on the rocker of a four-bar."""
    return cardan.load({
        "name": "high gears", "gravity": [0, -9.81, 0],
        "link": [{}, {"d": 0.3, **FREE}, {"name": "rocker", "antecedent": 0, "d": 0.5, **FREE},
                 {"antecedent": 0, "d": 0.2, "alpha": "pi/2", **led("rocker", 200)},
                 {"antecedent": 0, "b": 0.2, "alpha": "pi/2", **led(1, -100, 1)}],
        "loop": [{"name": "bar", "cut": {"antecedent": 2, "d": 0.45},
                  "twin": {"antecedent": 3, "d": 0.4}}],
    })  # fmt: skip


def symbols() -> Robot:
    """A ratio that is a formula."""
    return cardan.load({
        "name": "symbols", "gravity": [0, -9.81, 0],
        "link": [{}, {"d": "L", **led(1, "-N/M2", "L")}, {"d": 0.3}],
    })  # fmt: skip


def coupled_tree(seed: int, n: int = 7) -> Robot:
    """A random tree; half of its moving joints follow others, in rows and stars."""
    robot, rng = random_robot(seed, n, base_motion=False), random.Random(seed)
    moving = [j for j, joint in enumerate(robot.joints, 1) if joint.sigma != FIXED]
    order = rng.sample(moving, len(moving))  # a joint follows one earlier in this order
    joints = list(robot.joints)
    for place, j in enumerate(order):
        if place and rng.random() < 0.6:
            ratio, offset = exact(f"{rng.uniform(-2, 2):.3f}"), exact(f"{rng.uniform(-1, 1):.3f}")
            coupling = Coupling(rng.choice(order[:place]), ratio, offset)
            joints[j - 1] = replace(joints[j - 1], active=False, mimic=coupling)
    return replace(robot, joints=tuple(joints), base=Base())


def ancestors_lead(seed: int, n: int = 6) -> Robot:
    """A random tree of which joints follow ancestors that follow none, with limits: what Pinocchio
    can hold. The last link has a twin that follows it, as fingers do."""
    robot, rng = random_robot(seed, n, base_motion=False, wrenches=False), random.Random(seed)
    last = replace(robot.joints[-1], sigma=PRISMATIC)
    twin = replace(last, name="twin", gamma=exact("0.5"))
    joints = [*robot.joints[:-1], last, replace(twin, active=False, mimic=Coupling(n, -1))]
    for j in range(2, n):
        ancestors, i = [], joints[j - 1].antecedent
        while i:
            moves = joints[i - 1].sigma != FIXED and joints[i - 1].mimic is None
            ancestors += [i] if moves else []
            i = joints[i - 1].antecedent
        if ancestors and joints[j - 1].sigma != FIXED and rng.random() < 0.5:
            coupling = Coupling(rng.choice(ancestors), exact(f"{rng.uniform(-2, 2):.3f}"), 1)
            joints[j - 1] = replace(joints[j - 1], active=False, mimic=coupling)
    limited = tuple(replace(joint, limits=Limits(-100, 100)) for joint in joints)
    links = (*robot.links, replace(robot.links[-1], name="twin"))
    return replace(robot, joints=limited, links=links, base=Base(), gravity=(0, 0, -9))


MADE = {
    "geared": geared, "gripper": gripper, "geared five-bar": geared_five_bar, "elbows": elbows,
    "outside": outside, "parallelogram": parallelogram, "symbols": symbols,
    "high gears": high_gears, "chained": chained,
}  # fmt: skip
NAMES = [*MADE, *(f"random {seed}" for seed in range(6))]


def coupled(name: str) -> Robot:
    """One of NAMES, with bodies."""
    if name in MADE:
        return loaded(MADE[name]())
    return coupled_tree(int(name.split()[1]))
