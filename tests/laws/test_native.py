"""Native code computes what the interpreter does: robots, operations, special values, widths."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from tests.compare import near
from tests.random_programs import apply, program_of, random_inputs, random_program
from tests.random_robots import bundled_trees, random_robot, random_values, states

import cardan
from cardan.describe.robot import Robot
from cardan.ir.trace import Tracer
from cardan.program import Program
from cardan.run import native
from cardan.run.function import Function

EPSILON = {"float64": 1e-13, "float32": 2e-4}


def parameters(robot: Robot, program: Program) -> dict[str, np.ndarray]:
    values = random_values(robot)
    return {"p": np.array([values[name] for name in program.parameters])} if values else {}


def check(robot: Robot, model: str, count: int = 37) -> None:
    program = cardan.model(robot, model)
    x = {name: array for name, array in states(robot.n, count).items() if name in program.inputs}
    if program.parameters:
        x.update(parameters(robot, program))
    expected, function = program.evaluate(**x), program.compile()
    batch = function(**x)
    near(batch, expected, 1e-13)
    for k in (0, count - 1):
        row = {name: (a if name == "p" else a[k]) for name, a in x.items()}
        np.testing.assert_array_equal(function(**row), batch[k])


@pytest.mark.parametrize("name", cardan.robots())
def test_inverse_dynamics_of_bundled_robots(name: str) -> None:
    check(bundled_trees()[name], "inverse-dynamics")


@pytest.mark.parametrize("name", ["rx90", "scara", "tree", "panda", "snake30"])
def test_transform_of_bundled_robots(name: str) -> None:
    check(bundled_trees()[name], "transform")


@pytest.mark.parametrize("width", [1, None])
def test_long_programs_are_cut_into_blocks(width: int | None) -> None:
    """LLVM's time grows faster than a block: none is long, and the results are the same."""
    robot = random_robot(9, 8, wrenches=False, base_motion=False)
    program = cardan.model(robot, "regressor", effort="plain")
    kernels = native.Kernels(program.code, "float64")
    labels = [-1]
    lines = kernels._text(width or kernels.width).splitlines()
    labels += [k for k, line in enumerate(lines) if line.endswith(":")]
    assert sum("part" in lines[k] for k in labels) >= 3
    assert max(b - a for a, b in pairwise(labels)) < 1500
    check(robot, "regressor", count=9)


@pytest.mark.parametrize("seed", range(12))
def test_random_robots(seed: int) -> None:
    check(random_robot(seed, 2 + seed % 6, symbolic=seed % 2 == 0), "inverse-dynamics")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_random_programs(seed: int, dtype: str) -> None:
    program = random_program(seed, 60, jumps=False)
    x = random_inputs(program, (53,), seed)
    expected, found = program.evaluate(**x), program.compile(dtype=dtype)(**x)
    tolerance = 1e-11 if dtype == "float64" else 1e-3
    for name in program.outputs:
        values = getattr(found, name)
        assert values.dtype == dtype
        np.testing.assert_allclose(values, expected[name], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_operation_on_special_values(dtype: str) -> None:
    """One rounding at most each, so the bits are the interpreter's; the C library's for atan2."""
    tracer = Tracer()
    a, b, c = tracer.array("x", 3)
    outputs = [
        a + b, a - b, a * b, a / b, -a, apply("sqrt", a), apply("abs", a), apply("sign", a),
        apply("min", a, b), apply("max", a, b), apply("select", a, b, c), apply("atan2", a, b), 2,
        apply("select", -a, -b, c), apply("min", -a, b), 1 / a, 3 - b,
    ]  # fmt: skip
    code, _ = tracer.program({"y": ((len(outputs),), outputs)})
    program = program_of(code)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 3.5, -2.25, 1e30]
    x = np.array([[p, q, r] for p in special for q in special for r in (2.0, np.nan)], dtype)
    found = program.compile(dtype=dtype)(x=x)
    expected = program.evaluate(x=x.astype("float64"))
    with np.errstate(over="ignore"):
        rounded = expected.astype(dtype)
    np.testing.assert_array_equal(found[:, :11], rounded[:, :11])
    np.testing.assert_array_equal(found[:, 12:], rounded[:, 12:])
    np.testing.assert_allclose(
        found[:, 11], rounded[:, 11], rtol=1e-15 if dtype == "float64" else 1e-6
    )
    one_by_one = np.array([program.compile(dtype=dtype)(x=row) for row in x[:3]])
    np.testing.assert_array_equal(one_by_one, found[:3])


@cache
def compiled(name: str, dtype: str = "float64", target: str = "native") -> Function:
    return cardan.model(bundled_trees()[name], "inverse-dynamics").compile(target, dtype)


def test_nan_and_infinity_touch_only_their_own_state() -> None:
    function = compiled("ur5")
    x = states(6, 100)
    expected = function(**x)
    for key in x:
        for special in (np.nan, np.inf, -np.inf):
            mine = {name: array.copy() for name, array in x.items()}
            mine[key][17, 0] = special
            found = function(**mine)
            others = np.arange(100) != 17
            np.testing.assert_array_equal(found[others], expected[others])
            # joint 1 is vertical: gravity does not see its position
            if key != "q":
                assert not np.isfinite(found[17]).all()
            reference = function.program.evaluate(**mine)[17]
            np.testing.assert_array_equal(np.isnan(found[17]), np.isnan(reference))


@pytest.mark.parametrize("size", [1e3, 9.9e4, 1.1e5, 1e9, 1e22, 1e300])
def test_large_angles(size: float) -> None:
    """Beyond the limit of the vector code the C library answers; the interpreter uses it too."""
    function = compiled("ur5")
    x = states(6, 64)
    x["q"] = x["q"] / 3 * size
    near(function(**x), function.program.evaluate(**x), 1e-13)


@pytest.mark.parametrize("name", ["ur5", "iiwa14", "puma560-numeric", "tree"])
def test_float32_is_near(name: str) -> None:
    n = bundled_trees()[name].n
    x = states(n, 50)
    found = compiled(name, "float32")(**x)
    assert found.dtype == np.float32
    near(found, compiled(name)(**x), EPSILON["float32"])


def test_without_fused_multiply_add_it_is_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = native.machine()
    monkeypatch.setattr(native, "machine", lambda: replace(machine, fma=False, vector_bytes=16))
    program = cardan.model(bundled_trees()["iiwa14"], "inverse-dynamics")
    function = program.compile()
    assert function._kernels.width == 2
    x = states(7, 101)
    near(function(**x), program.evaluate(**x), 1e-13)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_every_width_of_vectors(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM splits vectors the machine does not have; the bits are the same."""
    expected = compiled("iiwa14")(**states(7, 41))
    machine = native.machine()
    monkeypatch.setattr(native, "machine", lambda: replace(machine, vector_bytes=width))
    function = cardan.model(bundled_trees()["iiwa14"], "inverse-dynamics").compile()
    np.testing.assert_array_equal(function(**states(7, 41)), expected)
