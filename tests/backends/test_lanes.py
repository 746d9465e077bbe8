"""Rows turned into columns: every network gives the transposition, from two vectors at a time."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.emit.llvm_lanes import Stage, inverse, turned
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
    function = program.compile(dtype=dtype)
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
        rows = function(**given)
        np.testing.assert_array_equal(rows, function(**turned_round))
        for k in range(count):
            one = function(**{name: x if name == "p" else x[k] for name, x in given.items()})
            np.testing.assert_array_equal(rows[k], one)
