"""Masses on joint axes: fewer operations, and never a wrong number where a length vanishes."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.errors import InputError

N = 6


@pytest.fixture(scope="module")
def program() -> cardan.Program:
    return cardan.model(cardan.load("general6r"), "inverse-dynamics")


@pytest.fixture(scope="module")
def plain() -> cardan.Program:
    return cardan.model(cardan.load("general6r"), "inverse-dynamics", effort="plain")


def given(program: cardan.Program, **changed: float) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    values = dict(zip(sorted(program.parameters), rng.uniform(0.5, 1.5, 99), strict=False))
    values.update(changed)
    state = {name: rng.normal(size=(5, N)) for name in ("q", "qd", "qdd")}
    return {**state, "p": np.array([values[name] for name in program.parameters])}


def test_what_it_divides_by_is_said(program: cardan.Program) -> None:
    assert {"d4", "r4", "sin(alpha4)", "cos(alpha4)"} <= set(program.nonzero)
    assert "must not be 0" in program.emit("c")
    assert cardan.Program.from_json(program.to_json()).nonzero == program.nonzero


@pytest.mark.parametrize("key", ["d4", "r4", "alpha4"])
def test_a_length_or_angle_of_zero_is_refused(program: cardan.Program, key: str) -> None:
    with pytest.raises(InputError, match=r"divides by .*with_values"):
        program.evaluate(**given(program, **{key: 0.0}))


def test_a_right_angle_gives_no_number(program: cardan.Program, plain: cardan.Program) -> None:
    """cos(pi/2) is 6e-17 in floating point: not to be divided by."""
    tau = program.compile()(**given(program, alpha4=np.pi / 2))
    want = plain.compile()(**given(plain, alpha4=np.pi / 2))
    assert np.isnan(tau[:, :3]).all()
    np.testing.assert_allclose(tau[:, 3:], want[:, 3:], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("key", ["d4", "r4", "alpha4"])
def test_small_ones_cost_few_digits(
    program: cardan.Program, plain: cardan.Program, key: str
) -> None:
    tau = program.evaluate(**given(program, **{key: 1e-4}))
    want = plain.evaluate(**given(plain, **{key: 1e-4}))
    np.testing.assert_allclose(tau, want, rtol=0, atol=1e-9 * np.abs(want).max())


SMALL = {"d3": 0.43, "d4": 2e-5, "r3": 0.15, "r4": 0.43}  # of the PUMA, d4 a thousandth


@pytest.mark.parametrize(("name", "values"), [("panda", {}), ("puma560", SMALL)])
def test_numbers_that_would_cost_digits_are_left(name: str, values: dict[str, float]) -> None:
    robot = cardan.load(name).with_values(values) if values else cardan.load(name)
    programs = [cardan.model(robot, "inverse-dynamics", effort=e) for e in ("normal", "plain")]
    rng = np.random.default_rng(0)
    p = dict(zip(robot.parameters, rng.uniform(0.5, 1.5, 99), strict=False))
    x = {k: rng.normal(size=(20, robot.n)) for k in ("q", "qd", "qdd")}
    found, want = (
        program.evaluate(**x, **({"p": {k: p[k] for k in program.parameters}} if p else {}))
        for program in programs
    )
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-12 * abs(want).max())
