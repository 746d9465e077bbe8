"""Friction acts wherever a description has it, in elastic, passive and cut joints too: simulations
agree with the models, whose friction is their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.build.common import with_friction
from cardan.describe.robot import Robot
from cardan.motion.coordinates import coordinates
from cardan.simulation.simulate import simulate
from cardan.simulation.statespace import state_space

BODY = {"mass": 1, "com": [0.2, 0.05, 0], "inertia_com": [0.01, 0, 0, 0.01, 0, 0.01]}


def chain(**second: Any) -> Robot:
    return cardan.load(
        {"name": "chain", "gravity": [0, -9.81, 0],
         "link": [{**BODY, "FV": 0.2}, {**BODY, "d": 0.4, "stiffness": 30, **second}]}
    )  # fmt: skip


def four_bar(cut: dict[str, Any], spring: dict[str, Any] | None = None) -> Robot:
    """With a spring: between a motor and the crank."""
    motor = [] if spring is None else [{"name": "motor", "IA": 0.02, "FV": 0.1}]
    return cardan.load(
        {"name": "four-bar", "gravity": [0, -9.81, 0],
         "link": [*motor, {"name": "crank", **BODY, "FV": 0.3, **(spring or {})},
                  {"name": "rod", **BODY, "d": 0.3, "active": False, "FV": 0.2},
                  {"name": "rocker", **BODY, "antecedent": 0, "d": 0.5, "active": False}],
         "loop": [{"name": "coupler", "cut": {"antecedent": "rod", "d": 0.45, **cut},
                   "twin": {"antecedent": "rocker", "d": 0.4}}]}
    )  # fmt: skip


SPRING = {"stiffness": 30, "rest": 0.1, "damping": 0.3}
VISCOUS = {
    "elastic": chain(FV=0.5, damping=0.1),
    "cut": four_bar({"FV": 0.4}),
    "cut and elastic": four_bar({"FV": 0.4}, SPRING),
}


@pytest.mark.parametrize("name", VISCOUS)
def test_a_simulation_obeys_the_direct_model(name: str) -> None:
    robot = VISCOUS[name]
    run = simulate(robot, duration=0.4, dt=0.02, torque=[0.7])
    at = coordinates(robot).place
    direct = cardan.model(robot, "direct-dynamics", effort="plain")
    qdd = direct.evaluate(q=run.q, qd=run.qd[:, at], tau=run.tau)
    np.testing.assert_allclose(run.qdd[:, at], qdd, atol=1e-9 * np.abs(qdd).max())
    assert run.energy is not None
    assert run.energy.drift < 1e-7
    free = simulate(robot, duration=0.4, dt=0.02, torque=[0.7], friction="none")
    assert np.abs(free.q[-1] - run.q[-1]).max() > 1e-3


@pytest.mark.parametrize("friction", [True, False])
@pytest.mark.parametrize("name", [*VISCOUS, "dry cut"])
def test_rollouts_and_simulations_are_one(name: str, friction: bool) -> None:
    robot = four_bar({"FV": 0.4, "FS": 0.5}) if name == "dry cut" else VISCOUS[name]
    told = "smooth" if friction else "none"
    run = simulate(robot, duration=0.2, dt=0.02, torque=[0.7], friction=told)
    at = coordinates(robot).place
    space = state_space(robot, friction=friction)
    rate = space.program.evaluate(x=space.state(run.q, run.qd[:, at]), tau=run.tau)
    expected = np.concatenate([run.qd, run.qdd[:, at]], axis=-1)
    np.testing.assert_allclose(rate, expected, atol=1e-8 * np.abs(expected).max())
    assert run.energy is not None
    assert run.energy.drift < 1e-6


def test_a_model_without_friction_has_none_in_its_cut_joints() -> None:
    robot = four_bar({"FV": 0.4, "FS": 0.5})
    rng = np.random.default_rng(0)
    q = cardan.model(robot, "loop-geometry").solve([0.7])[0]
    given = {"q": q, "qd": rng.normal(size=1), "qdd": rng.normal(size=1)}
    found = cardan.model(robot, "inverse-dynamics", friction=False).evaluate(**given)
    bare = replace(robot, loops=four_bar({}).loops)
    expected = cardan.model(bare, "inverse-dynamics", friction=False).evaluate(**given)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert with_friction(robot, True) is robot


DRY = [chain(FS=0.3), four_bar({"FS": 0.3}, SPRING)]


@pytest.mark.parametrize("robot", DRY)
def test_dry_friction_of_elastic_joints_is_that_of_the_model(robot: Robot) -> None:
    run = simulate(robot, None, 1.5, duration=0.2, dt=0.02, torque=[0.7], smooth=1e-4)
    at = coordinates(robot).place
    direct = cardan.model(robot, "direct-dynamics", effort="plain")
    qdd = direct.evaluate(q=run.q[0], qd=run.qd[0, at], tau=run.tau[0])
    np.testing.assert_allclose(run.qdd[0, at], qdd, rtol=1e-6, atol=1e-6)
    assert run.energy is not None
    assert run.energy.drift < 1e-6
    free = simulate(robot, None, 1.5, duration=0.2, dt=0.02, torque=[0.7], friction="none")
    assert np.abs(free.q[-1] - run.q[-1]).max() > 1e-3


def test_dry_friction_stops_an_elastic_joint() -> None:
    body = {"XX": 1, "YY": 1, "ZZ": 2, "stiffness": 8, "rest": 0.1, "FS": 0.4}
    robot = cardan.load({"name": "spring", "gravity": [0, 0, 0], "link": [body]})
    run = simulate(robot, 0.9, duration=np.pi / 2, smooth=1e-5)
    assert run.q[-1, 0] == pytest.approx(0.1 - (0.8 - 2 * 0.4 / 8), abs=1e-6)  # after half a swing


@pytest.mark.parametrize("robot", DRY)
def test_dry_friction_of_elastic_joints_is_in_the_state_space(robot: Robot) -> None:
    """It is the direct model of the robot whose friction has that width."""
    space, on = state_space(robot, smooth=0.01), coordinates(robot)
    q, qd = on.first("q0", None), np.linspace(0.3, -0.2, on.nv)
    wide = replace(robot, joints=tuple(replace(x, VS=0.01 * (x.FS != 0)) for x in robot.joints))
    direct = cardan.model(wide, "direct-dynamics")
    expected = direct.evaluate(q=q, qd=qd, tau=np.ones(on.nu))
    xd = space.program.evaluate(x=space.state(q, qd), tau=np.ones(on.nu))
    np.testing.assert_allclose(xd[-on.nv :], expected, rtol=1e-9, atol=1e-9)
