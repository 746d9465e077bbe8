"""The reference interpreter: shapes, broadcasting, special values, every operation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.random_programs import apply, random_inputs, random_program
from tests.random_robots import states

import cardan
from cardan.errors import InputError
from cardan.ir.code import gather
from cardan.ir.graph import Graph
from cardan.ir.interpret import interpret


def test_every_operation() -> None:
    graph = Graph()
    a, b = graph.leaf("x", 0), graph.leaf("x", 1)
    outputs = [
        a + b, a - b, a * b, a / b, -a, apply("sin", a), apply("cos", a), apply("sqrt", a),
        apply("abs", b), apply("sign", b), apply("atan2", a, b), apply("min", a, b),
        apply("max", a, b), apply("select", a, a, b), apply("select", b, a, b), 2 - a, 1 / b,
    ]  # fmt: skip
    x, y = 0.7, -1.3
    expected = [
        x + y, x - y, x * y, x / y, -x, math.sin(x), math.cos(x), math.sqrt(x),
        1.3, -1, math.atan2(x, y), y, x, x, y, 2 - x, 1 / y,
    ]  # fmt: skip
    code = gather(graph, {"x": (2,)}, {"z": ((len(outputs),), outputs)})
    found = interpret(code, {"x": np.array([x, y])})["z"]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize("seed", range(10))
def test_a_batch_is_its_states_one_by_one(seed: int) -> None:
    program = random_program(seed)
    inputs = random_inputs(program, (5, 4), seed)
    batch = program.evaluate(**inputs)
    assert batch["u"].shape == (5, 4, 2)
    assert batch["v"].shape == (5, 4, 2, 3)
    for index in np.ndindex(5, 4):
        one = program.evaluate(**{name: array[index] for name, array in inputs.items()})
        for name in program.outputs:
            np.testing.assert_array_equal(one[name], batch[name][index])


def test_leading_axes_broadcast() -> None:
    program = cardan.model(cardan.load("ur5"), "inverse-dynamics")
    x = states(6, 12)
    q, qd, qdd = x["q"].reshape(3, 4, 6), x["qd"][:4], x["qdd"][0]
    found = program.evaluate(q=q, qd=qd, qdd=qdd)
    whole = {
        "q": q, "qd": np.broadcast_to(qd, (3, 4, 6)), "qdd": np.broadcast_to(qdd, (3, 4, 6)),
    }  # fmt: skip
    np.testing.assert_array_equal(found, program.evaluate(**whole))
    assert program.evaluate(q=[0] * 6, qd=[0] * 6, qdd=[0] * 6).shape == (6,)
    assert program.evaluate(q=np.zeros((0, 6)), qd=[0] * 6, qdd=[0] * 6).shape == (0, 6)


def test_nan_and_infinity_propagate_without_a_warning() -> None:
    program = cardan.model(cardan.load("planar1r"), "inverse-dynamics")
    p = np.ones(len(program.parameters))
    with np.errstate(all="raise"):
        found = program.evaluate(q=[[np.nan], [np.inf], [0.1]], qd=[0], qdd=[0], p=p)
    assert np.isnan(found[:2]).all()
    assert np.isfinite(found[2]).all()


def test_parameters_by_array_by_name_and_by_default() -> None:
    program = random_program(1, 60)
    x = random_inputs(program, (3,))
    names = program.parameters
    by_default = program.evaluate(**x)
    by_name = program.evaluate(**x, p=dict(program.defaults))
    by_array = program.evaluate(**x, p=[program.defaults[name] for name in names])
    for name in program.outputs:
        np.testing.assert_array_equal(by_default[name], by_name[name])
        np.testing.assert_array_equal(by_default[name], by_array[name])


def test_inputs_that_do_not_fit() -> None:
    program = cardan.model(cardan.load("ur5"), "inverse-dynamics")
    good = {"q": np.zeros(6), "qd": np.zeros(6), "qdd": np.zeros(6)}
    for bad, message in (
        ({"q": np.zeros(5)}, "expected"),
        ({"q": 1.0}, "expected"),
        ({"q": np.zeros(6, complex)}, "real"),
        ({"q": ["a"] * 6}, "real"),
        ({"q": [[1, 2], [3]]}, "rectangular"),
        ({"q": np.zeros((2, 6)), "qd": np.zeros((3, 6))}, "broadcast"),
        ({"Q": np.zeros(6)}, "no input 'Q'"),
        ({"q": None}, "real"),
    ):
        with pytest.raises(InputError, match=message):
            program.evaluate(**{**good, **bad})
    with pytest.raises(InputError, match="missing"):
        program.evaluate(q=np.zeros(6))
    symbolic = cardan.model(cardan.load("planar1r"), "inverse-dynamics")
    with pytest.raises(InputError, match="no value"):
        symbolic.evaluate(q=[0], qd=[0], qdd=[0])
    with pytest.raises(InputError, match="no parameter"):
        symbolic.evaluate(q=[0], qd=[0], qdd=[0], p={"nothing": 1})
