"""Bridges give the same numbers as the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from tests.random_robots import random_values

import cardan
from cardan.errors import MissingExtraError

MODELS = ("transform", "inverse-dynamics", "inertia-matrix", "energies")


def given(program: cardan.Program, robot: cardan.Robot) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    values = random_values(robot)
    inputs = {name: rng.normal(size=shape) for name, shape in program.inputs.items()}
    if program.parameters:
        inputs["p"] = np.array([values[name] for name in program.parameters])
    return inputs


def expected(program: cardan.Program, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    found = program.evaluate(**inputs)
    return dict(found) if hasattr(found, "keys") else {next(iter(program.outputs)): found}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("expanded", [True, False])
def test_sympy(model: str, expanded: bool) -> None:
    sympy = pytest.importorskip("sympy")
    robot = cardan.load("planar2r")
    program = cardan.model(robot, model)
    inputs = given(program, robot)
    table = {
        sympy.Symbol(program.parameters[k] if name == "p" else f"{name}{k + 1}", real=True): x
        for name, array in inputs.items()
        for k, x in enumerate(array.ravel())
    }
    outputs = program.to_sympy(expanded)
    if not expanded:
        assignments, outputs = outputs
        for name, expression in assignments:
            table[name] = float(expression.subs(table))
    for name, value in expected(program, inputs).items():
        found = outputs[name]
        flat = [found] if not value.shape else list(found)
        got = np.array([float(x.subs(table)) for x in flat]).reshape(value.shape)
        np.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("model", [*MODELS, "regressor"])
def test_casadi(model: str) -> None:
    pytest.importorskip("casadi")
    robot = cardan.load("rx90")
    program = cardan.model(robot, model)
    inputs = given(program, robot)
    function = program.to_casadi()
    found = function(*inputs.values())
    listed = found if isinstance(found, tuple) else (found,)
    for (name, value), got in zip(expected(program, inputs).items(), listed, strict=True):
        np.testing.assert_allclose(
            np.array(got).reshape(value.shape), value, rtol=1e-10, atol=1e-10, err_msg=name
        )


def test_a_missing_bridge_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingExtraError, match=r"pip install"):
        cardan.model(cardan.load("planar1r"), "transform").to_casadi()
