"""The springs of elastic joints in the energies, the audit of a simulation and the energy
regressor, whatever else the robot has: branches, a floating base, loops, flexible links."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.loops.test_free import behind_a_motor, four_bar, sprung

import cardan
from cardan.describe.values.expression import number
from cardan.motion.coordinates import coordinates
from cardan.simulation.simulate import simulate

Array = np.ndarray


def link(k: int, **fields: Any) -> dict[str, Any]:
    return {
        "name": f"l{k}", "mass": 1 + 0.2 * k, "com": [0.1, 0.03 * k, 0.02],
        "inertia_com": [0.03, 0.001, 0, 0.02, 0.002, 0.03], **fields,
    }  # fmt: skip


SPRING = {"stiffness": 40, "rest": 0.15}


def tree() -> dict[str, Any]:
    """A motor, a revolute spring, a branch on a prismatic spring."""
    return {
        "name": "tree", "gravity": [0, 0, -9.81],
        "link": [
            link(1, alpha="pi/2", IA=0.05), link(2, d=0.3, **SPRING),
            link(3, antecedent=1, alpha="pi/3", joint="prismatic", stiffness=300, rest=-0.02,
                 IA=0.1),
            link(4, antecedent=2, d=0.2, alpha="pi/2"),
        ],
    }  # fmt: skip


def floating() -> dict[str, Any]:
    base = {"kind": "floating", "mass": 5, "inertia_com": [0.2, 0, 0, 0.3, 0, 0.25]}
    return {**tree(), "base": base}


def flexible() -> dict[str, Any]:
    beam = {
        "length": 0.6, "young": 1e9, "density": 1000, "width": 0.02, "height": 0.03,
        "motions": ["bending-y"],
    }  # fmt: skip
    return {
        "name": "flexible", "gravity": [0, -9.81, 0],
        "link": [link(1, IA=0.05), {"name": "beam", "d": 0.3, "flexible": beam, **SPRING}],
    }  # fmt: skip


def free(table: dict[str, Any]) -> dict[str, Any]:
    """Nothing rubs."""
    for own in table["link"]:
        own["FV"] = 0
        own.pop("damping", None)
    return table


def numbers_of(robot: cardan.Robot, columns: tuple[str, ...]) -> Array:
    """K: what the description has for each column."""
    frames = [*robot.joints, *(loop.cut for loop in robot.loops)]
    values = []
    for name in columns:
        key, j = re.fullmatch(r"([A-Za-z]+)(\d+)", name).groups()  # type: ignore[union-attr]
        owner = frames[int(j) - 1]
        if not hasattr(owner, key):
            owner = (robot.base.link, *robot.links)[int(j)]
        values.append(number(getattr(owner, key)))
    return np.array(values, float)


def test_two_joules_of_a_spring() -> None:
    robot = cardan.load(
        {"link": [{"mass": 1, "stiffness": 100, "rest": 0.1}], "gravity": [0, 0, 0]}
    )
    E, U = cardan.model(robot, "energies").evaluate(q=[0.3], qd=[0.0])
    assert (float(E), float(U)) == (0, pytest.approx(2))


@pytest.mark.parametrize("build", [tree, floating, flexible])
def test_the_slope_of_U_is_what_the_bodies_and_springs_push_with(build: Any) -> None:
    robot = cardan.load(build())
    energies = cardan.model(robot, "energies").compile()
    gravity = cardan.model(robot, "gravity").compile()
    rng = np.random.default_rng(2)
    n = energies.program.inputs["q"][0]
    q = rng.uniform(-0.5, 0.5, n) * np.where(np.arange(n) < robot.n, 1, 0.02)
    extra = {"V0": np.zeros(6), "g0": np.array([0.3, -2, -9])} if robot.base.kind != "fixed" else {}
    only_g = {key: x for key, x in extra.items() if key == "g0"}

    def U(q: Array) -> float:
        return float(energies(q=q, qd=np.zeros(n), **extra).U)

    step = 1e-5
    slope = [(U(q + step * e) - U(q - step * e)) / (2 * step) for e in np.eye(n)]
    expected = np.array(gravity(q=q, **only_g))[-n:]
    if not robot.ne:  # there the model of gravity has the springs
        for k, joint in enumerate(robot.joints):
            if joint.elastic:
                expected[k] += number(joint.stiffness) * (q[k] - number(joint.rest))
    assert slope == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())


MOVING = {
    "tree": (tree, [0.3, -0.2, 0.05, 0.4]),
    "floating": (floating, [0.3, -0.2, 0.05, 0.4]),
    "flexible": (flexible, [0.3, -0.2]),
    "a spring behind the motor of a four-bar": (lambda: behind_a_motor(four_bar()), [0.5, 0.5]),
    "a spring on the rocker": (lambda: sprung(four_bar(), "rocker"), [0.6]),
}


@pytest.mark.parametrize("name", MOVING)
def test_energy_is_conserved_by_the_model_itself(name: str) -> None:
    build, q0 = MOVING[name]
    robot = cardan.load(free(build()))
    run = simulate(robot, q0, duration=0.2, dt=0.02, friction="none", rtol=1e-10)
    energies = cardan.model(robot, "energies").compile()
    place = coordinates(robot).place if robot.loops else slice(None)
    given: dict[str, Any] = {"q": run.q, "qd": np.ascontiguousarray(run.qd[:, place])}
    if run.T0 is not None:
        world = np.array([number(x) for x in robot.gravity])
        given |= {"V0": run.V0, "g0": np.einsum("tji,j->ti", run.T0[:, :3, :3], world)}
    E, U = energies(**given)
    if run.T0 is not None:
        mass = sum(number(x.M) for x in (robot.base.link, *robot.links))
        U = U - mass * run.T0[:, :3, 3] @ world
    assert np.ptp(E) > 1e-2
    assert np.ptp(E + U) < 1e-8 * np.ptp(E)
    assert run.energy is not None
    assert run.energy.drift < 1e-8
    np.testing.assert_allclose(run.energy.potential + run.energy.elastic, U, atol=1e-10)
    assert np.ptp(run.energy.elastic) > 1e-3


@pytest.mark.parametrize("closed", [False, True])
def test_the_balance_closes_with_springs_and_friction(closed: bool) -> None:
    """Elastic joints with damping, springs beside motors, every term of friction, driven: what the
    drives put in and friction takes is integrated with the motion."""
    if closed:
        robot = cardan.load(behind_a_motor(four_bar()))
        q0, torque = [0.5, 0.5], lambda t: np.array([3 * np.sin(5 * t)])
    else:
        robot = cardan.load("ur5")
        q0, torque = [0, -0.5, 0.3, 0, 0, 0], lambda t: np.array([3 * np.sin(5 * t), 20, 2, 1, 0.5])
        joints = list(robot.joints)
        joints[1] = replace(
            joints[1], elastic=True, active=False, stiffness=400, damping=2, rest=0.1
        )
        robot = replace(robot, joints=tuple(joints))
    joints = [
        x if x.elastic else replace(x, spring=30, neutral=0.3, FV=0.4, FS=0.6, FB=0.4, VB=0.1,
                                    FQ=0.05, FVA=0.1, FSA=0.1, VS=0.2)
        for x in robot.joints
    ]  # fmt: skip
    if closed:
        joints = [replace(x, spring=0, neutral=0) if k else x for k, x in enumerate(joints)]
    run = simulate(replace(robot, joints=tuple(joints)), q0, duration=0.5, torque=torque)
    assert run.energy is not None
    assert (
        min(np.ptp(x) for x in (run.energy.elastic, run.energy.drives, run.energy.friction)) > 0.1
    )
    assert run.energy.drift < 1e-8


def test_the_energy_regressor_has_the_springs() -> None:
    for build in (tree, floating):
        robot = cardan.load(build())
        rng = np.random.default_rng(4)
        given: dict[str, Any] = {"q": rng.normal(size=4), "qd": rng.normal(size=4)}
        if robot.base.kind == "floating":
            given |= {"V0": rng.normal(size=6), "g0": rng.normal(size=3)}
        E, U = cardan.model(robot, "energies").evaluate(**given)
        program = cardan.model(robot, "energy-regressor")
        K = numbers_of(robot, program.columns)
        assert {"stiffness2", "stiffness3"} < set(program.columns)
        assert float(program.evaluate(**given) @ K) == pytest.approx(float(E + U), rel=1e-12)


def test_the_rate_of_the_energy_is_the_power_of_the_motors() -> None:
    """h K changes by the work of motors, friction and damping: springs take and give back."""
    table = tree()
    for own in table["link"]:
        own |= {"FV": 0.3} | ({"damping": 0.7} if "stiffness" in own else {})
    robot = cardan.load(table)
    rng = np.random.default_rng(5)
    q, qd, tau = rng.normal(size=(3, 4))
    elastic = np.array([joint.elastic for joint in robot.joints])
    qdd = cardan.model(robot, "direct-dynamics").evaluate(q=q, qd=qd, tau=tau[~elastic])
    losses = 0.3 * qd @ qd + 0.7 * qd[elastic] @ qd[elastic]
    for base in (False, True):
        program = cardan.model(robot, "energy-regressor", base_parameters=base).compile()
        known = robot
        if base:
            known = cardan.model(robot, "base-parameters").robot
        K = numbers_of(known, tuple(name.removesuffix("R") for name in program.program.columns))
        step = 1e-6
        ahead, behind = (
            float(program(q=q + s * qd + s * s / 2 * qdd, qd=qd + s * qdd) @ K)
            for s in (step, -step)
        )
        power = tau[~elastic] @ qd[~elastic] - losses
        assert (ahead - behind) / (2 * step) == pytest.approx(power, rel=1e-6)


def test_columns_of_robots_without_springs_stay() -> None:
    robot = cardan.load("rx90")
    columns = cardan.model(robot, "energy-regressor").columns
    assert not any(name.startswith("stiffness") for name in columns)


def test_motors_swing_on_springs_beside_them() -> None:
    """ω² = k / (ZZ + IA + ratio² IA of a motor of several joints), once the motors are free."""
    robot = cardan.load({
        "gravity": [0, 0, 0],
        "link": [{"mass": 1, "inertia_com": [0.2, 0, 0, 0.2, 0, 0.3], "IA": 0.1, "spring": 20}],
        "drive": [{"joint": [1], "ratio": [2], "IA": 0.05}],
    })  # fmt: skip
    frequency = cardan.natural_frequencies(robot, actuators="free")
    assert frequency == pytest.approx(np.sqrt(20 / 0.6) / (2 * np.pi), rel=1e-12)
    with pytest.raises(cardan.CardanError, match="nothing vibrates"):
        cardan.natural_frequencies(robot)


def test_gravity_of_loops_has_the_springs_of_joints_that_follow() -> None:
    """dU/dq_a of the crank, the loop closed anew; the bias at rest is the same."""
    robot = cardan.load({**sprung(four_bar(), "rocker"), "gravity": [0.3, -9.81, 0]})
    on = coordinates(robot)
    q, h = on.first("q0", 0.6), 1e-4
    gravity = cardan.model(robot, "gravity", effort="plain")
    assert gravity.meaning["Q"] == "gravity torques, with the springs of q3"
    weight, still = gravity.evaluate(q=q), np.zeros(1)
    assert weight == pytest.approx(cardan.model(robot, "bias").evaluate(q=q, qd=still), rel=1e-12)
    energies = cardan.model(robot, "energies")

    def U(step: float) -> float:
        at = q.copy()
        at[on.place] += step
        return float(energies.evaluate(q=on.closed_at(at), qd=still).U)

    slope = (8 * (U(h) - U(-h)) - U(2 * h) + U(-2 * h)) / (12 * h)
    assert weight == pytest.approx(slope, rel=1e-9)
    held = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=still, qdd=still)
    assert held == pytest.approx(slope, rel=1e-9)
