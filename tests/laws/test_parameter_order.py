"""`p` has one order per robot, whatever the model and its options: that of `Robot.parameters`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from tests.random_robots import random_robot

import cardan
from cardan.catalogue import model
from cardan.describe.robot import Robot
from cardan.describe.symbolic import parametrised

ROBOTS = ["planar2r", "scara", "cartpole", "fivebar"]


def robot_of(which: str | int) -> Robot:
    if isinstance(which, str):
        return cardan.load(which)
    return random_robot(7100 + which, 2 + which, symbolic=True, wrenches=which == 1)


def programs(robot: Robot, **options: object) -> Iterator[cardan.Program]:
    """Every program on the menu, with the robot's own parameters and with base parameters."""
    for entry in cardan.catalogue():
        own = {key: value for key, value in options.items() if key in entry.options}
        if "effort" in entry.options:
            own["effort"] = "plain"
        if not entry.program or (entry.name == "regressor-derivatives" and robot.n > 3):
            continue
        for base in (False, True) if "base_parameters" in entry.options else (False,):
            try:
                yield model(robot, entry.name, **own, **({"base_parameters": True} if base else {}))
            except cardan.ModelError:
                continue


def is_part(some: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Are some names a sub-sequence of others?"""
    rest = iter(whole)
    return all(name in rest for name in some)


@pytest.mark.parametrize("which", [*ROBOTS, 0, 1, 2])
def test_parameters_of_all_models_are_in_the_order_of_the_robot(which: str | int) -> None:
    robot = robot_of(which)
    for program in programs(robot):
        assert is_part(program.parameters, robot.parameters), program.model


@pytest.mark.parametrize("which", ["planar2r", "cartpole", "fivebar", 0])
def test_numbers_that_become_symbols_stand_in_their_places(which: str | int) -> None:
    robot = robot_of(which)
    order = parametrised(robot)[0].parameters
    assert is_part(robot.parameters, order)
    found = list(programs(robot, symbolic=True))
    for program in found:
        plain = tuple(name.removesuffix("R") for name in program.parameters)
        placed = 1 if which == "fivebar" and "d7" in plain else 0  # the tip, beside the robot's own
        assert is_part(plain[: len(plain) - placed], order), program.model
    for one, other in combinations(found, 2):  # base parameters XX2R too
        common = [name for name in one.parameters if name in other.parameters]
        assert is_part(tuple(common), other.parameters)


def test_a_name_has_one_value_in_all_models() -> None:
    """A base parameter that gathers others is another one than that of its name."""
    robot = cardan.load("fivebar")
    tip = replace(robot.frames[0], xyz=(0.45, 0, 0))  # where the five-bar is cut is 0.4
    found = list(programs(replace(robot, frames=(tip,)), symbolic=True))
    values: dict[str, float] = {}
    for program in found:
        both = {*program.parameters, *program.plain.parameters}
        assert both == set(program.defaults), program.model
        for name, value in program.defaults.items():
            assert values.setdefault(name, value) == value, (program.model, name)
    assert "ZZ1R" in values
    assert (values["d5"], values["d6"], values["d7"]) == (0.4, 0.4, 0.45)
    assert "ZZ1" in values


@pytest.mark.parametrize("which", ["planar2r", 0])
def test_values_in_that_order_give_the_models_of_the_robot_with_them(which: str | int) -> None:
    """p in order, against the robot that has the numbers itself."""
    robot = robot_of(which)
    rng = np.random.default_rng(1)
    values = {name: float(rng.uniform(0.5, 1.5)) for name in robot.parameters}
    known = robot.with_values(values)
    for program, other in zip(programs(robot), programs(known), strict=True):
        if program.columns != other.columns:  # of numbers fewer may be base parameters
            continue
        x = {name: rng.normal(size=s) for name, s in program.inputs.items() if name != "p"}
        p = {"p": np.array([values[k] for k in program.parameters])} if program.parameters else {}
        got, expected = program.evaluate(**x, **p), other.evaluate(**x)
        if not isinstance(got, tuple):
            got, expected = (got,), (expected,)
        for a, b in zip(got, expected, strict=True):
            assert np.abs(a - b).max(initial=0) <= 1e-9 * (1 + np.abs(b).max(initial=0))


def test_inverse_geometry_and_base_parameters_have_that_order() -> None:
    arm = cardan.from_dh(
        [{"theta": "q1", "d": "H", "a": "L1"}, {"theta": "q2", "a": "L2"}, {"d": "T", "sigma": 2}],
        "standard",
    )
    assert is_part(cardan.model(arm, "inverse-geometry").program.parameters, arm.parameters)
    robot = cardan.load("scara")
    grouping = cardan.model(robot, "base-parameters")
    assert is_part(grouping.program.parameters, robot.parameters)
