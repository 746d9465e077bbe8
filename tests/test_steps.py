"""One step of the methods of fixed steps: their orders, and rk4 over expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cardan.algebra.vector import Vec
from cardan.run.steps import euler, midpoint, rk4


def pendulum(t: float, y: np.ndarray) -> np.ndarray:
    return np.array([y[1], -np.sin(y[0]) + 0.1 * t])


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("midpoint", 2), ("euler", 1)])
def test_errors_fall_with_the_order_of_the_method(method: str, order: int) -> None:
    def advanced(steps: int) -> np.ndarray:
        y, h = np.array([1.0, 0.0]), 1 / steps
        for k in range(steps):
            if method == "euler":
                y = euler(pendulum, k * h, y, h, 1)
            else:
                y = {"rk4": rk4, "midpoint": midpoint}[method](pendulum, k * h, y, h)
        return y

    coarse, fine, exact = advanced(20), advanced(40), advanced(2000)
    fall = np.abs(coarse - exact).max() / np.abs(fine - exact).max()
    assert np.log2(fall) == pytest.approx(order, abs=0.2)


def test_any_scalar_will_do() -> None:
    def rates(t: Any, y: Any) -> Any:
        return Vec(y[1] + t, 3 * y[0] * y[0])

    y = rk4(rates, 0.1, Vec(0.3, 0.2), 0.05)
    expected = rk4(lambda t, y: np.array(rates(t, y)), 0.1, np.array([0.3, 0.2]), 0.05)
    np.testing.assert_allclose(list(y), expected, rtol=1e-15)
