"""Joints of closed loops that nothing holds: the spins of a 6-SPS platform's legs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import states
from tests.loops.oracle import Oracle
from tests.loops.test_parallel import bare

import cardan
from cardan.describe.robot import INERTIA
from cardan.exact import exact
from cardan.loops.analysis import analyse


@cache
def case() -> tuple[Any, dict[str, np.ndarray], list[int]]:
    robot = bare("stewart-sps")
    values, x = states(robot, 5)
    assert not values
    found = analyse(robot)
    spins = [found.coordinates.moving.index(j) for j in found.idle]
    return robot, x | {"qd_i": np.random.default_rng(4).normal(size=(5, 6))}, spins


def test_mobility_is_six_and_six_idle() -> None:
    found = analyse(cardan.load("stewart-sps"))
    assert found.mobility == 12
    assert found.coordinates.named(found.idle) == "w1, w2, w3, w4, w5, w6"


def test_held_spins_are_those_of_universal_joints() -> None:
    """The same platform with the spins written as fixed joints is a 6-UPS one."""
    robot, _, spins = case()
    _, x = states(robot, 5)
    x["q"][:, spins] = 0.3
    table = {f"w{k}": "0.3" for k in range(1, 7)}
    joints = []
    for joint in robot.joints:
        held = joint.variable in table
        joints.append(
            replace(joint, sigma=2, theta=exact("0.3"), IA=0, FV=0, FS=0) if held else joint
        )
    fixed = replace(robot, joints=tuple(joints))
    keep = [k for k in range(robot.n) if k not in spins]
    for model in ("inverse-dynamics", "direct-dynamics"):
        given = {"qd": x["qd"], ("tau" if model[0] == "d" else "qdd"): x["qdd"]}
        found = cardan.model(robot, model, effort="plain").evaluate(q=x["q"], **given)
        expected = cardan.model(fixed, model, effort="plain").evaluate(q=x["q"][:, keep], **given)
        near(found, expected, 1e-9)


@pytest.mark.parametrize("method", ["inertia-matrix", "constraint-forces"])
def test_free_spins_against_multipliers(method: str) -> None:
    robot, x, spins = case()
    oracle = Oracle(robot, {})
    tau = np.random.default_rng(0).normal(size=(5, 6))
    program = cardan.model(robot, "direct-dynamics", idle="free", method=method, effort="plain")
    found = program.evaluate(q=x["q"], qd=x["qd"], qd_i=x["qd_i"], tau=tau)
    expected = free_accelerations(oracle, x, spins, tau)
    near(found.qdd, expected[:, oracle.active], 1e-8)
    near(found.qdd_i, expected[:, spins], 1e-8)
    back = cardan.model(robot, "inverse-dynamics", idle="free", effort="plain")
    again = back.evaluate(q=x["q"], qd=x["qd"], qdd=found.qdd, qd_i=x["qd_i"])
    near(again.tau, tau, 1e-7)
    near(again.qdd_i, found.qdd_i, 1e-7)


def test_free_spins_leg_by_leg() -> None:
    robot, x, _ = case()
    given = {"q": x["q"], "qd_i": x["qd_i"], "qd": x["qd"]}
    general = cardan.model(robot, "inverse-dynamics", idle="free", effort="plain")
    expected = general.evaluate(**given, qdd=x["qdd"])
    options = {"idle": "free", "space": "joint", "effort": "plain"}
    inverse = cardan.model(robot, "platform-inverse-dynamics", **options)
    found = inverse.evaluate(**given, qdd=x["qdd"])
    near(found.tau, expected.tau, 1e-9)
    near(found.qdd_i, expected.qdd_i, 1e-9)
    direct = cardan.model(robot, "platform-direct-dynamics", **options)
    back = direct.evaluate(**given, tau=found.tau)
    near(back.qdd, x["qdd"], 1e-7)
    near(back.qdd_i, expected.qdd_i, 1e-7)


def test_the_guess_keeps_the_spins() -> None:
    geometry = cardan.model(cardan.load("stewart-sps"), "loop-geometry")
    q = geometry.legs.solve([0, 0, 0.6, 0, 0, 0])[0]
    spins = [geometry.coordinates.moving.index(j) for j in geometry.analysis.idle]
    q[spins] = 0.7
    active = [geometry.coordinates.moving.index(j) for j in geometry.coordinates.active]
    moved = geometry.solve(q[active] + 0.01, q)
    near(moved[spins], 0.7, 1e-5, 1e-8, each=True)
    assert geometry.residual(moved) < 1e-11


def test_what_has_no_inertia_cannot_be_free() -> None:
    robot = cardan.load("stewart-sps")
    none = dict.fromkeys(INERTIA, 0)
    links = [k if k.name.startswith("platform") else replace(k, **none) for k in robot.links]
    robot = replace(robot, links=tuple(links))
    with pytest.raises(cardan.CardanError, match="undetermined"):
        cardan.model(robot, "inverse-dynamics", idle="free")


def free_accelerations(oracle: Oracle, x: Any, spins: list[int], tau: np.ndarray) -> np.ndarray:
    """qdd of the tree with multipliers, the spins at their rates and without torque."""
    q = x["q"]
    qd, _ = oracle.motion(q, x["qd"], np.zeros_like(x["qd"]))
    qd[:, spins] = x["qd_i"]
    H, M = oracle.torques(q, qd, np.zeros_like(q)), oracle.mass(q)
    J, bias = oracle.constraint(q, qd)
    n, m = q.shape[1], J.shape[1]
    found = []
    for k in range(len(q)):
        A = np.block([[M[k], -J[k].T], [J[k], np.zeros((m, m))]])
        push = -H[k]
        push[oracle.active] += tau[k]
        found.append(np.linalg.solve(A, np.concatenate([push, -bias[k]]))[:n])
    return np.array(found)
