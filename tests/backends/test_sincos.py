"""Sine and cosine of the generated code: at most 2 ulp below the limit, the C library beyond."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.random_programs import apply

from cardan.emit.sincos import KINDS
from cardan.ir.trace import Tracer
from cardan.program import Program
from cardan.run import native
from cardan.run.function import Function

mpmath = pytest.importorskip("mpmath")

VARIANTS = [
    (dtype, fma) for dtype in ("float64", "float32") for fma in (True, False)
]  # the machine's own, and the one without fused multiply-add


def sine_and_cosine() -> Program:
    tracer = Tracer()
    (x,) = tracer.array("x", 1)
    code, _ = tracer.program({"y": ((2,), [apply("sin", x), apply("cos", x)])})
    return Program("sincos", "none", code)


@pytest.fixture(params=VARIANTS, ids=lambda v: f"{v[0]}-{'fma' if v[1] else 'no-fma'}")
def variant(request: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Function]:
    dtype, fma = request.param
    machine = native.machine()
    if fma and not machine.fma:
        pytest.skip("this machine has no fused multiply-add")
    monkeypatch.setattr(native, "machine", lambda: replace(machine, fma=fma))
    function = sine_and_cosine().compile(dtype=dtype)
    assert function._kernels.machine.fma == fma
    return dtype, function


def evaluate(function: Function, x: np.ndarray) -> np.ndarray:
    return function(x=x[:, None])


def ulps(x: np.ndarray, found: np.ndarray) -> float:
    """Largest error against 50 digits, in units of the last place of the true value."""
    worst = 0.0
    tiny = np.finfo(found.dtype).tiny
    with mpmath.workdps(50):
        for value, row in zip(x, found, strict=True):
            angle = mpmath.mpf(float(value))
            for function, y in zip((mpmath.sin, mpmath.cos), row, strict=True):
                true = function(angle)
                unit = float(np.spacing(max(np.abs(found.dtype.type(float(true))), tiny)))
                worst = max(worst, abs(float((mpmath.mpf(float(y)) - true) / unit)))
    return worst


def near_multiples_of_half_pi(dtype: str, limit: float, count: int) -> np.ndarray:
    """Numbers of that type nearest to a multiple of pi/2, the closest first; with neighbours."""
    with mpmath.workdps(50):
        half = mpmath.pi / 2
        last = int(limit / float(half))
        multiples = [half * k for k in range(1, last + 1)]
        found = [np.dtype(dtype).type(float(m)) for m in multiples]
        gaps = [abs(float(mpmath.mpf(float(x)) - m)) for x, m in zip(found, multiples, strict=True)]
    closest = np.array(found)[np.argsort(gaps)[:count]]
    around = [closest, np.nextafter(closest, closest * 2), np.nextafter(closest, 0 * closest)]
    points = np.concatenate(around)
    points = points[np.abs(points) < limit]
    return np.concatenate([points, -points]).astype(dtype)


def test_dense_points_within_two_ulp(variant: tuple[str, Function]) -> None:
    dtype, function = variant
    rng = np.random.default_rng(1)
    limit = np.nextafter(np.dtype(dtype).type(KINDS[dtype].limit), 0)
    x = np.concatenate(
        [
            rng.uniform(-1, 1, 1500),
            rng.uniform(-4, 4, 1500),
            rng.uniform(-100, 100, 1500),
            rng.uniform(-limit, limit, 2500),
            10.0 ** rng.uniform(-30, 0, 400),
            np.linspace(0, np.pi / 4, 800),
            [0, limit, -limit, 1e-300 if dtype == "float64" else 1e-38],
        ]
    ).astype(dtype)
    assert ulps(x, evaluate(function, x)) <= 2


def test_points_near_multiples_of_half_pi(variant: tuple[str, Function]) -> None:
    dtype, function = variant
    x = near_multiples_of_half_pi(dtype, KINDS[dtype].limit, 1000)
    assert ulps(x, evaluate(function, x)) <= 2


def c_library(name: str, dtype: str) -> Callable[[float], float]:
    kind = ctypes.c_double if dtype == "float64" else ctypes.c_float
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    function = getattr(library, name if dtype == "float64" else f"{name}f")
    function.argtypes, function.restype = [kind], kind
    return function


@pytest.mark.skipif(sys.platform == "win32", reason="no libm of that name")
def test_beyond_the_limit_it_is_the_c_library(variant: tuple[str, Function]) -> None:
    dtype, function = variant
    rng = np.random.default_rng(2)
    top = 300 if dtype == "float64" else 37
    limit = KINDS[dtype].limit
    x = np.concatenate([[limit, -limit], limit * 10.0 ** rng.uniform(0.001, top - 6, 500)])
    x = x.astype(dtype)
    found = evaluate(function, x)
    for k, name in enumerate(("sin", "cos")):
        reference = c_library(name, dtype)
        np.testing.assert_array_equal(
            found[:, k], np.array([reference(float(value)) for value in x], dtype)
        )


def test_one_large_lane_does_not_touch_its_neighbours(variant: tuple[str, Function]) -> None:
    dtype, function = variant
    x = np.linspace(-3, 3, 64).astype(dtype)
    clean = evaluate(function, x)
    for special in (1e9, np.inf, np.nan):
        for k in (0, 17, 63):
            mixed = x.copy()
            mixed[k] = special
            found = evaluate(function, mixed)
            others = np.arange(64) != k
            np.testing.assert_array_equal(found[others], clean[others])
            np.testing.assert_array_equal(found[k], evaluate(function, mixed[k : k + 1])[0])


def test_nan_infinity_and_zero(variant: tuple[str, Function]) -> None:
    dtype, function = variant
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    for batch in (x, np.tile(x, 9)):
        found = evaluate(function, batch)[:5]
        assert np.isnan(found[:3]).all()
        np.testing.assert_array_equal(found[3:], [[0, 1], [0, 1]])


def test_symmetry_is_exact(variant: tuple[str, Function]) -> None:
    dtype, function = variant
    x = np.random.default_rng(3).uniform(0, 1e3, 500).astype(dtype)
    up, down = evaluate(function, x), evaluate(function, -x)
    np.testing.assert_array_equal(up[:, 0], -down[:, 0])
    np.testing.assert_array_equal(up[:, 1], down[:, 1])
