"""Rows turned into columns: every network gives the transposition, from two vectors at a time."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.run import function
from cardan.run.llvm.lanes import Stage, inverse, turned
from cardan.run.native import machine


def apply(stages: list[Stage], vectors: np.ndarray) -> np.ndarray:
    for stage in stages:
        assert all(len({x for x, _ in places}) <= 2 for places in stage)
        vectors = np.array([[vectors[x][lane] for x, lane in places] for places in stage])
    return vectors


@pytest.mark.parametrize("width", [2, 4, 8, 16])
def test_the_network_transposes(width: int) -> None:
    for size in range(1, 40):
        memory = np.arange(width * size)
        columns = memory.reshape(width, size).T
        lying = memory.reshape(size, width)
        stages = turned(size, width)
        np.testing.assert_array_equal(apply(stages, lying), columns)
        np.testing.assert_array_equal(apply(inverse(stages), columns), lying)


@pytest.mark.parametrize("robot", ["scara", "stanford", "puma560-numeric", "iiwa14", "snake30"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_and_columns_give_the_same_bits(robot: str, dtype: str) -> None:
    program = cardan.model(cardan.load(robot), "inverse-dynamics")
    run = program.compile(dtype=dtype)
    width = machine().vector_bytes // np.dtype(dtype).itemsize
    rng = np.random.default_rng(1)
    for count in (width, width + 1, 5 * width - 1):
        given = {
            name: rng.uniform(-3, 3, (count, *shape) if name != "p" else shape).astype(dtype)
            for name, shape in program.inputs.items()
        }
        turned_round = {
            name: x if name == "p" else np.ascontiguousarray(x.T).T for name, x in given.items()
        }
        rows = run(**given)
        np.testing.assert_array_equal(rows, run(**turned_round))
        for k in range(count):
            one = run(**{name: x if name == "p" else x[k] for name, x in given.items()})
            np.testing.assert_array_equal(rows[k], one)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("robot", ["ur5", "panda", "tree"])
def test_large_outputs_are_streamed_and_the_same(
    robot: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = cardan.model(cardan.load(robot), "inertia-matrix")
    width = machine().vector_bytes // np.dtype(dtype).itemsize
    q = np.random.default_rng(2).uniform(-3, 3, (7 * width + 3, *program.inputs["q"]))
    expected = program.compile(dtype=dtype)(q=q.astype(dtype))
    monkeypatch.setattr(function, "_LARGE", 0)
    streamed = program.compile(dtype=dtype)
    np.testing.assert_array_equal(streamed(q=q.astype(dtype)), expected)
    np.testing.assert_array_equal(streamed(q=q[:1].astype(dtype)), expected[:1])
    np.testing.assert_array_equal(streamed(q=q.astype(dtype), threads=2), expected)
    assert any("streamed" in lies for _, _, lies in streamed._kernels._compiled)
