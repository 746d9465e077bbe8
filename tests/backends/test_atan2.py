"""atan2 of the native kernels: as good as the C library's, special values included."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from cardan.ir.trace import Tracer
from cardan.program import Program


@cache
def function() -> Any:
    tracer = Tracer()
    y, x = tracer.array("a", 2)
    code, _ = tracer.program({"angle": ((), [tracer.graph.apply("atan2", y, x)])})
    return Program("atan2", "none", code).compile()


def test_within_two_units_in_the_last_place() -> None:
    rng = np.random.default_rng(0)
    signs = rng.choice([-1, 1], (20000, 2))
    wide = 10.0 ** rng.uniform(-300, 300, (20000, 2)) * signs
    near = 10.0 ** rng.uniform(-12, 12, (20000, 2)) * signs
    for a in (rng.normal(size=(20000, 2)), wide, near):
        expected = np.arctan2(a[:, 0], a[:, 1])
        error = np.abs(function()(a=a) - expected) / np.spacing(np.abs(expected))
        assert error.max() <= 2


def test_special_values_are_those_of_c() -> None:
    values = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e308]
    a = np.array([[y, x] for y in values for x in values])
    found, expected = function()(a=a), np.arctan2(a[:, 0], a[:, 1])
    assert np.array_equal(found, expected, equal_nan=True)
    real = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found[real]), np.signbit(expected[real]))


def test_one_state_and_a_batch_give_the_same_bits() -> None:
    a = np.random.default_rng(1).normal(size=(100, 2))
    batch = function()(a=a)
    assert all(function()(a=row) == value for row, value in zip(a, batch, strict=True))
