"""Legs that share a motor, and parallel modules in series, against the general route."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from tests.compare import near

import cardan


def rods(side: str) -> list[dict[str, Any]]:
    """A rod beside the middle of an arm, on two turns that meet."""
    off = {"a": 0.04, "b": -0.04}[side]
    limits = {"lower": "-80 deg", "upper": "80 deg"}
    return [
        {"name": f"fork_{side}", "antecedent": "arm", "active": False, "d": 0.2, "r": off},
        {"name": f"rod_{side}", "antecedent": f"fork_{side}", "active": False, "alpha": "pi/2",
         "limits": limits, "mass": 0.06, "com": [0.25, 0, 0],
         "inertia_com": [5e-6, 0, 0, 1.25e-3, 0, 1.25e-3]},
    ]  # fmt: skip


def delta_with_rods() -> dict[str, Any]:
    """One arm and two rods on balls per leg."""
    arm = {"name": "arm", "variable": "q", "alpha": "-pi/2", "d": 0.15, "mass": 0.35,
           "com": [0.08, 0, 0.01], "inertia_com": [1e-4, 0, 0, 1.4e-3, 0, 1.5e-3],
           "IA": 0.003}  # fmt: skip
    balls = [
        {"name": f"ball_{side}", "cut": {"antecedent": f"rod_{side}", "d": 0.5,
                                         "joint": "spherical"},
         "twin": {"antecedent": "platform", "alpha": "-pi/2", "d": 0.05, "r": off}}
        for side, off in (("a", 0.04), ("b", -0.04))
    ]  # fmt: skip
    return {
        "name": "Delta with rods",
        "platform": {"freedoms": ["x", "y", "z"], "mass": 0.2, "home": [0, 0, -0.45]},
        "leg": [{"name": "leg", "copies": 3, "link": [arm, *rods("a"), *rods("b")],
                 "loop": balls}],
    }  # fmt: skip


@lru_cache
def loaded(name: str) -> tuple[cardan.Robot, Any]:
    robot = cardan.load({"delta": delta_with_rods}[name]())
    return robot, cardan.model(robot, "loop-geometry")


def states(name: str, count: int) -> dict[str, np.ndarray]:
    """Closed configurations near home with random rates and accelerations."""
    _, geometry = loaded(name)
    link, rng = geometry.coordinates, np.random.default_rng(4)
    columns = [link.moving.index(j) for j in link.active]
    q_a = geometry.home[columns] + rng.uniform(-0.1, 0.1, (count, len(columns)))
    q = geometry.solve(q_a, geometry.home)
    assert np.isfinite(q).all()
    return {"q": q, "qd": rng.normal(size=q_a.shape), "qdd": rng.normal(size=q_a.shape)}


def compare(name: str) -> None:
    """Both directions of the models leg by leg, in joint space, with the general ones."""
    robot, _ = loaded(name)
    x = states(name, 6)
    tau = cardan.model(robot, "inverse-dynamics").evaluate(**x)
    own = cardan.model(robot, "platform-inverse-dynamics", space="joint").evaluate(**x)
    near(own, tau, 1e-10)
    rates = {"q": x["q"], "qd": x["qd"], "tau": tau}
    direct = cardan.model(robot, "platform-direct-dynamics", space="joint").evaluate(**rates)
    near(direct, x["qdd"], 1e-8)


def test_rods_that_share_a_motor_have_platform_models() -> None:
    compare("delta")


def test_rods_that_share_a_motor_are_solved_in_closed_form() -> None:
    robot, geometry = loaded("delta")
    every = geometry.solve([0.3, 0.25, 0.35])
    assert every.complete
    assert len(every.poses) == 2
    legs = geometry.legs
    assert legs.steps is not None
    found = legs.solve([0.02, 0.03, -0.45])
    assert found.shape == (8, 18)  # an elbow of each arm on either side
    assert geometry.residual(np.asarray(found)).max() < 1e-12
    plain = cardan.model(cardan.load("delta"), "loop-geometry").legs.solve([0.02, 0.03, -0.45])
    index = [cardan.load("delta").variables.index(f"q{k}") for k in (1, 2, 3)]
    arms = [robot.variables.index(f"q{k}") for k in (1, 2, 3)]
    near(np.unique(np.round(found[:, arms], 9), axis=0),
         np.unique(np.round(plain[:, index], 9), axis=0), 1e-8)  # fmt: skip


def test_the_rods_carry_what_one_body_of_both_does() -> None:
    """Torques of the bundled Delta, whose parallelograms are one body on a massless fork: the same
    arms, and rods that do not turn about themselves."""
    table = delta_with_rods()
    robot = cardan.load(table)
    single = cardan.load({
        **table, "name": "one rod",
        "leg": [{**table["leg"][0],
                 "link": [table["leg"][0]["link"][0],
                          {**rods("a")[0], "r": 0},
                          {**rods("a")[1], "mass": 0.12, "inertia_com": [1e-5, 0, 0, 2.5e-3, 0,
                                                                         2.5e-3]}],
                 "loop": [{"name": "ball", "cut": {"antecedent": "rod_a", "d": 0.5,
                                                   "joint": "spherical"},
                           "twin": {"antecedent": "platform", "alpha": "-pi/2", "d": 0.05}}]}],
    })  # fmt: skip
    x = {"V": [0.4, -0.3, 0.2], "Vd": [3.0, -2.0, 5.0]}
    torques = []
    for own in (robot, single):
        q = cardan.model(own, "loop-geometry").legs.solve([0.02, 0.03, -0.45])
        arms = [own.variables.index(f"q{k}") for k in (1, 2, 3)]
        q = q[np.lexsort(np.round(q[:, arms], 6).T)[0]]
        torques.append(cardan.model(own, "platform-inverse-dynamics").evaluate(q=q, **x))
    near(torques[0], torques[1], 1e-10)
