"""Legs that share a motor, and parallel modules in series, against the general route."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.describe import bundled
from cardan.mechanism.platform import Modules
from cardan.motion.frames import link_frames

ROBOTS = Path(bundled.__file__).parent / "robots"


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


def stage(name: str, below: Any, size: float) -> dict[str, Any]:
    """Three legs of a passive turn, a slide and a pin: a planar 3-RPR."""
    links = [
        {"name": f"{name}_swivel", "antecedent": below, "active": False, "d": size, "mass": 0.3,
         "com": [0.02, 0.01, 0], "inertia_com": [1e-3, 0, 0, 1e-3, 0, 2e-3]},
        {"name": f"{name}_rod", "variable": f"{name}_s", "joint": "prismatic", "alpha": "pi/2",
         "mass": 0.4, "com": [0.01, 0, -0.1], "inertia_com": [2e-3, 0, 0, 2e-3, 0, 1e-3]},
    ]  # fmt: skip
    pin = {"name": f"{name}_pin", "cut": {"antecedent": f"{name}_rod", "alpha": "-pi/2"},
           "twin": {"antecedent": name, "gamma": 1.1, "d": 0.3 * size}}  # fmt: skip
    return {"name": f"{name}_leg", "copies": 3, "link": links, "loop": [pin]}


def body(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "freedoms": ["x", "y", "rz"], "mass": 1, "com": [0.02, -0.01, 0],
            "inertia_com": [0.01, 0, 0, 0.01, 0, 0.02], **more}  # fmt: skip


def stacked() -> dict[str, Any]:
    """Two planar stages on one another, the upper one with a tool that a motor turns."""
    return {
        "name": "two stages", "gravity": [0, -9.81, 0],
        "platform": [body("lower", home=[0.02, 0.01, 0.3]),
                     body("upper", antecedent="lower", home=[0.01, 0, 0.25])],
        "link": [{"name": "tool", "variable": "t", "antecedent": "upper", "d": 0.1, "mass": 0.2,
                  "com": [0.05, 0, 0], "inertia_com": [1e-4, 0, 0, 1e-4, 0, 2e-4], "IA": 1e-3}],
        "leg": [stage("lower", 0, 0.5), stage("upper", "lower", 0.3)],
    }  # fmt: skip


def delta_on_a_turret() -> dict[str, Any]:
    """The bundled Delta on a link that a motor turns about a level axis, with a wrist."""
    table = tomllib.loads((ROBOTS / "delta.toml").read_text(encoding="utf-8"))
    table["platform"]["antecedent"] = "turret"
    table["leg"][0]["link"][0]["antecedent"] = "turret"
    table["name"] = "Delta on a turret"
    table["link"] = [{"name": "turret", "variable": "a", "antecedent": 0, "alpha": 0.7, "mass": 2,
                      "com": [0.01, 0.02, 0.03],
                      "inertia_com": [0.02, 0, 0, 0.02, 0, 0.02]}]  # fmt: skip
    return table


@lru_cache
def loaded(name: str) -> tuple[cardan.Robot, Any]:
    described = {"delta": delta_with_rods, "stacked": stacked, "turret": delta_on_a_turret}
    robot = cardan.load(described[name]())
    return robot, cardan.model(robot, "loop-geometry")


def states(name: str, count: int) -> dict[str, np.ndarray]:
    """Closed configurations near home with random rates and accelerations."""
    _, geometry = loaded(name)
    link, rng = geometry.coordinates, np.random.default_rng(4)
    columns = [link.moving.index(j) for j in link.active]
    q_a = geometry.home[columns] + rng.uniform(-0.03, 0.03, (count, len(columns)))
    q = geometry.solve(q_a, geometry.home)
    assert np.isfinite(q).all()
    return {"q": q, "qd": rng.normal(size=q_a.shape), "qdd": rng.normal(size=q_a.shape)}


def compare(name: str) -> None:
    """Both directions of the models leg by leg, in joint space, with the general ones."""
    robot, _ = loaded(name)
    x = states(name, 6)
    tau = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**x)
    own = cardan.model(robot, "platform-inverse-dynamics", space="joint", effort="plain").evaluate(
        **x
    )
    near(own, tau, 1e-10)
    rates = {"q": x["q"], "qd": x["qd"], "tau": tau}
    direct = cardan.model(
        robot, "platform-direct-dynamics", space="joint", effort="plain"
    ).evaluate(**rates)
    near(direct, x["qdd"], 1e-8)


@pytest.mark.parametrize("name", ["delta", "stacked", "turret"])
def test_models_leg_by_leg_are_those_of_the_loops(name: str) -> None:
    compare(name)


@pytest.mark.parametrize("name", ["stacked", "turret"])
def test_modules_in_series_by_their_twists(name: str) -> None:
    """V by differences of poses along the motion of the joints; the torques are the same."""
    robot, geometry = loaded(name)
    x = states(name, 2)
    parts = Modules.of(geometry.coordinates, "test")
    index = geometry.coordinates.moving.index
    columns = [index(j) for j in geometry.coordinates.active]
    tau = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**x)
    own = leg_by_leg(robot)
    direct = cardan.model(robot, "platform-direct-dynamics", effort="plain")
    h = 1e-3
    for k in range(2):
        rows = []
        for n in range(-2, 3):  # along q_a + qd t + qdd t²/2
            t = n * h
            q_a = x["q"][k][columns] + t * x["qd"][k] + t * t / 2 * x["qdd"][k]
            rows.append(geometry.solve(q_a, x["q"][k]))
        frames = link_frames(robot, np.array(rows))
        V, Vd = [], []
        for part in parts.parts:
            T = np.linalg.solve(frames[:, part.root], frames[:, part.body])
            D1 = (T[0] - 8 * T[1] + 8 * T[3] - T[4]) / (12 * h)
            D2 = (-T[0] + 16 * T[1] - 30 * T[2] + 16 * T[3] - T[4]) / (12 * h * h)
            R = T[2][:3, :3]
            W, U = D1[:3, :3] @ R.T, D2[:3, :3] @ R.T
            spin = U - W @ W
            v = [*D1[:3, 3], W[2, 1], W[0, 2], W[1, 0]]
            a = [*D2[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]]
            kept = [0, 1, 5] if name == "stacked" else [0, 1, 2]
            V += [v[c] for c in kept]
            Vd += [a[c] for c in kept]
        rest = [geometry.coordinates.active.index(j) for j in parts.between]
        V += x["qd"][k][rest].tolist()
        Vd += x["qdd"][k][rest].tolist()
        near(own.evaluate(q=x["q"][k], V=V, Vd=Vd), tau[k], 1e-5)
        near(direct.evaluate(q=x["q"][k], V=V, tau=tau[k]), np.array(Vd), 1e-4)


def test_legs_of_modules_in_series_follow_from_all_platforms() -> None:
    _, geometry = loaded("stacked")
    q = states("stacked", 1)["q"][0]
    legs = geometry.legs
    given = q[[geometry.coordinates.moving.index(j) for j in legs.given]]
    every = legs.solve(given)
    assert every.complete
    assert np.abs(np.angle(np.exp(1j * (np.asarray(every) - q)))).max(axis=1).min() < 1e-9


def test_modules_in_series_are_simulated() -> None:
    robot, geometry = loaded("stacked")
    done = cardan.simulate(robot, duration=0.03)
    assert geometry.residual(done.q[-1]) < 1e-8


def test_platforms_need_names_of_their_own() -> None:
    table = stacked()
    del table["platform"][0]["name"], table["platform"][1]["name"]
    with pytest.raises(cardan.DescriptionError, match="name of its own"):
        cardan.load(table)


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


def leg_by_leg(robot: cardan.Robot) -> Any:
    return cardan.model(robot, "platform-inverse-dynamics", effort="plain")


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
        torques.append(leg_by_leg(own).evaluate(q=q, **x))
    near(torques[0], torques[1], 1e-10)
