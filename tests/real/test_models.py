"""Robots as vendors write them, through the models of the menu: rounded angles and lengths change
an answer by as much as they are rounded, and two routes to a model agree on the rounded robot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.loops.mechanisms import bennett
from tests.loops.mechanisms import loaded as inertial

import cardan
from cardan.catalogue import MENU
from cardan.control import reduced
from cardan.control.reduced import reduce_model
from cardan.describe.robot import Joint, Limits, Robot
from cardan.describe.values.expression import Expression
from cardan.errors import CardanWarning, ModelError
from cardan.exact import exact
from cardan.loops.analysis import analyse

pytestmark = pytest.mark.filterwarnings("ignore::cardan.errors.CardanWarning")

SR400 = {"d2": 0.3, "d3": 0.8, "d4": 0.2, "RL4": 0.9, "d8": 0.25}
ROUNDINGS: dict[str, dict[str, Any]] = {
    "1.5708": {"decimals": 4},
    "1.570796327": {"decimals": 9},
    "angles 1e-10": {"angles": 1e-10},
    "lengths 1e-10": {"lengths": 1e-10},
}
SIZES = {"1.5708": 1e-4, "1.570796327": 1e-9, "angles 1e-10": 1e-10, "lengths 1e-10": 1e-10}
GENERAL = ["inertia-matrix", "bias", "gravity", "direct-dynamics"]
KINEMATIC = ["transform", "jacobian", "velocities", "accelerations", "jdot-qdot", "energies",
             "generalized-momentum", "coriolis-matrix", "reactions"]  # fmt: skip


def written(
    robot: Robot, decimals: int | None = None, angles: float = 0.0, lengths: float = 0.0
) -> Robot:
    """The robot with the angles and lengths of a file."""
    rng = np.random.default_rng(4)

    def value(x: Any, noise: float, places: int | None) -> Any:
        if isinstance(x, Expression):
            return x
        y = float(x) + noise * rng.uniform(-1, 1)
        y = y if places is None else round(y, places)
        return exact(repr(y)) if y else 0

    joints = [
        replace(
            joint, alpha=value(joint.alpha, angles, decimals),
            theta=value(joint.theta, angles, decimals), d=value(joint.d, lengths, None),
            r=value(joint.r, lengths, None),
        )
        for joint in robot.joints
    ]  # fmt: skip
    return replace(robot, joints=tuple(joints))


def loaded(name: str) -> Robot:
    robot = cardan.load(name)
    rng = np.random.default_rng(6)
    values = {p: SR400.get(p, float(rng.uniform(0.2, 1.0))) for p in robot.parameters}
    return robot.with_values(values) if values else robot


def inputs_of(program: Any) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    return {name: rng.normal(size=(15, *shape)) for name, shape in program.inputs.items()}


def values_of(robot: Robot, name: str, **options: Any) -> tuple[list[np.ndarray], Any]:
    """Every output of a model at random inputs."""
    program = cardan.model(robot, name, **options)
    answer = program.evaluate(**inputs_of(program))
    answers = [answer] if len(program.outputs) == 1 else list(answer)
    return [np.asarray(x, float) for x in answers], program


def apart(one: list[np.ndarray], other: list[np.ndarray]) -> float:
    """The largest difference of outputs, over the largest value of each."""
    gaps = [
        np.abs(x - y).max() / max(np.abs(x).max(), 1e-9) for x, y in zip(one, other, strict=True)
    ]
    return float(max(gaps))


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", ["puma560-numeric", "ur5", "rx90"])
def test_base_parameters_of_a_rounded_robot_give_its_torques(name: str, rounding: str) -> None:
    robot = written(loaded(name), **ROUNDINGS[rounding])
    plain, _ = values_of(robot, "inverse-dynamics", effort="plain")
    default, _ = values_of(robot, "inverse-dynamics")
    regrouped, _ = values_of(robot, "inverse-dynamics", base_parameters=True, effort="plain")
    assert apart(plain, default) < 1e-12
    assert apart(plain, regrouped) < 1e-12
    right, _ = values_of(loaded(name), "inverse-dynamics", effort="plain")
    assert apart(right, plain) < 100 * SIZES[rounding]


@pytest.mark.parametrize("method", ["symbolic", "numeric"])
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_the_regressor_times_base_parameters_is_the_torque(rounding: str, method: str) -> None:
    robot = written(loaded("puma560-numeric"), **ROUNDINGS[rounding])
    base = cardan.model(robot, "base-parameters", method=method)
    carried = base.robot  # the parameters after regrouping, the others zero
    tau, _ = values_of(robot, "inverse-dynamics", effort="plain")
    again, _ = values_of(carried, "inverse-dynamics", effort="plain")
    assert apart(tau, again) < 1e-11
    if method == "symbolic" and SIZES[rounding] < 1e-8:
        said = [remark for remark in base.remarks if "is kept" in remark]
        assert said or len(base.kept) == len(cardan.model(loaded("puma560-numeric"),
                                                          "base-parameters").kept)  # fmt: skip


@pytest.mark.parametrize("rounding", ["1.5708", "1.570796327"])
@pytest.mark.parametrize("name", ["ur5", "puma560-numeric"])
def test_every_model_of_a_rounded_robot_is_off_by_the_rounding(name: str, rounding: str) -> None:
    right, robot = loaded(name), written(loaded(name), **ROUNDINGS[rounding])
    for model in (*KINEMATIC, *GENERAL):
        assert model in MENU
        expected, _ = values_of(right, model)
        answer, _ = values_of(robot, model)
        worst = 1e4 if model == "direct-dynamics" else 1e3  # conditions of the inertia matrix
        assert apart(expected, answer) < worst * SIZES[rounding], model
        if model in GENERAL:
            plain, _ = values_of(robot, model, effort="plain")
            assert apart(plain, answer) < 1e-9, model


def at_home(loops: Any) -> np.ndarray:
    """Positions of the active joints where the robot stands."""
    moving = loops.coordinates.moving
    return np.asarray(loops.home[[moving.index(j) for j in loops.coordinates.active]])


@pytest.mark.parametrize("decimals", [4, 9])
@pytest.mark.parametrize("name", ["fivebar", "sr400", "akr3000", "planar3rrr", "prrrp-rigid"])
def test_assemblies_of_rounded_loops(name: str, decimals: int) -> None:
    right = cardan.model(loaded(name), "loop-geometry")
    loops = cardan.model(written(loaded(name), decimals), "loop-geometry")
    expected, answer = right.solve(at_home(right)), loops.solve(at_home(right))
    assert loops.complete  # the closed form has passed its trial
    assert len(expected) == len(answer)
    np.testing.assert_allclose(answer, expected, atol=10 * 10.0**-decimals)


@pytest.mark.parametrize("rounding", [{"decimals": 4}, {"decimals": 7, "lengths": 1e-7}], ids=str)
@pytest.mark.parametrize("name", ["akr3000", "planar3rrr", "bennett"])
def test_models_of_loops_that_rounding_keeps_open(name: str, rounding: dict[str, Any]) -> None:
    """They are those of the closest geometry that closes, and say so."""
    exact_robot = inertial(bennett()) if name == "bennett" else loaded(name)
    robot = written(exact_robot, **rounding)
    size = 10.0 ** -rounding["decimals"]
    right = cardan.model(exact_robot, "loop-geometry")
    # of the AKR-3000 away from singularities, which enlarge what rounding leaves
    q_a = [0, 0.58, 0.26, 0, 0, 0] if name == "akr3000" else at_home(right)
    q = right.solve(q_a)
    rng = np.random.default_rng(1)
    rates = {key: rng.normal(size=(len(q), len(q_a))) for key in ("qd", "qdd")}
    expected = cardan.model(exact_robot, "inverse-dynamics", effort="plain")
    with pytest.warns(CardanWarning, match="closest geometry that closes"):
        program = cardan.model(robot, "inverse-dynamics", effort="plain")
    assert any("rounded values" in remark for remark in program.remarks)
    near = cardan.model(robot, "loop-geometry").solve(q_a)
    assert near.shape == q.shape
    torques = [
        np.asarray(expected.evaluate(q=q, **rates)),
        np.asarray(program.evaluate(q=near, **rates)),
    ]
    assert apart(torques[:1], torques[1:]) < 100 * size


def test_loops_that_are_wide_open_say_so() -> None:
    with pytest.raises(ModelError, match="rounded values"):
        cardan.model(written(loaded("akr3000"), 3), "loop-geometry")


def test_a_closed_form_that_loses_configurations_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cardan.loops import geometry

    robot = loaded("fivebar")
    right = cardan.model(robot, "loop-geometry").solve([2.2, 0.9])
    run = geometry.run_plan

    def forgetful(*plan: Any) -> Any:
        every = run(*plan)
        every.count[0] = 0  # one configuration is enough
        return every

    monkeypatch.setattr(geometry, "run_plan", forgetful)
    loops = cardan.model(robot, "loop-geometry")
    with pytest.warns(CardanWarning, match="configurations it was tried on"):
        assert loops.steps is None
    np.testing.assert_allclose(loops.solve([2.2, 0.9]), right, atol=1e-9)


def test_spins_of_legs_whose_lengths_are_rounded_are_idle() -> None:
    near = analyse(written(loaded("stewart-sps"), lengths=1e-7))
    assert near.coordinates.named(near.idle) == "w1, w2, w3, w4, w5, w6"
    assert near.mobility == 12


def test_loops_in_millimetres_close() -> None:
    def scaled(x: Joint) -> Joint:
        return replace(x, **{key: 1000 * getattr(x, key) for key in ("b", "d", "r")})

    robot = loaded("stewart")
    loops = [replace(x, cut=scaled(x.cut), twin=scaled(x.twin)) for x in robot.loops]
    joints = [replace(scaled(x), limits=Limits(), home=None) for x in robot.joints]
    assert analyse(replace(robot, joints=tuple(joints), loops=tuple(loops))).mobility == 6


@pytest.mark.parametrize("rounding", [{"decimals": 7}, {"lengths": 1e-10}], ids=str)
def test_reduction_of_a_rounded_robot(rounding: dict[str, Any]) -> None:
    """Torques that are nothing but rounding keep no terms alive."""
    states = {"q": np.random.default_rng(3).uniform(-1.5, 1.5, (60, 6))}
    right = reduce_model(cardan.model(loaded("puma560-numeric"), "gravity"), states)
    robot = written(loaded("puma560-numeric"), **rounding)
    near = reduce_model(cardan.model(robot, "gravity"), states)
    assert near.error <= 0.01
    assert near.after.total <= right.after.total
    exact_torques = cardan.model(loaded("puma560-numeric"), "gravity").evaluate(**states)
    assert apart([exact_torques], [near.program.evaluate(**states)]) < 0.011


def test_reduction_is_tried_between_its_states() -> None:
    """MY counts half-way between 0 and pi, and only there; and a zero that becomes something is an
    error."""
    robot = cardan.load({
        "name": "pendulum", "gravity": [0, -9.81, 0],
        "link": [{"M": 1, "MX": "0.5", "MY": "0.2", "XX": 1, "YY": 1, "ZZ": 1}],
    })  # fmt: skip
    program = cardan.model(robot, "gravity", effort="plain")
    states = {"q": np.pi * np.arange(8.0)[:, None]}
    small = reduce_model(program, states)
    there = {"q": np.array([[np.pi / 2]])}
    np.testing.assert_allclose(
        small.program.evaluate(**there), program.evaluate(**there), atol=0.06
    )
    assert any("put back" in remark for remark in small.program.remarks)
    assert reduced._error({"tau": np.array([[1.0, 0]])}, {"tau": np.array([[1.0, 0.5]])}) > 1
