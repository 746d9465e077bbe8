"""The order of operations, and inputs that are angles alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.random_programs import random_inputs, random_program

import cardan
from cardan.bench.humanoid import humanoid
from cardan.ir.angles import angles
from cardan.ir.code import Code, verify
from cardan.ir.interpret import interpret
from cardan.ir.order import _by_outputs, _ordered, calm, most_waiting


@pytest.mark.parametrize("seed", range(20))
def test_any_order_gives_the_same_values(seed: int) -> None:
    program = random_program(seed)
    ordered = _ordered(program.code, _by_outputs(program.code))
    verify(ordered)
    p = np.array([program.defaults[name] for name in program.parameters])
    inputs = random_inputs(program, seed=seed) | {"p": p}
    with np.errstate(all="ignore"):
        pairs = zip(values(program.code, inputs), values(ordered, inputs), strict=True)
        for x, y in pairs:
            np.testing.assert_array_equal(x, y)


def values(code: Code, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    return list(interpret(code, inputs).values())


def test_fewer_values_wait() -> None:
    """The torques of a humanoid limb by limb; a program that is calm already stays as it is."""
    code = cardan.model(humanoid(), "inverse-dynamics", effort="plain", base="given").code
    ordered = calm(code)
    most = most_waiting(ordered, sorted(_by_outputs(ordered)))
    assert 2 * most < most_waiting(code, sorted(_by_outputs(code)))
    assert calm(ordered) is ordered


def test_angles_alone() -> None:
    """q of turning joints; not one that slides, nor one whose spring reads it too."""
    assert angles(cardan.model(cardan.load("ur5"), "transform").code).terms >= 2
    scara = angles(cardan.model(cardan.load("scara"), "transform").code, frozenset({"p"}))
    assert {i for _, i in scara.inputs} == {0, 1, 2}
    spring = {"M": 1, "MX": 1, "ZZ": 1, "stiffness": 5}
    robot = cardan.load({"name": "s", "link": [spring], "gravity": [-9, 0, 0]})
    assert angles(cardan.model(robot, "direct-dynamics").code) is None
