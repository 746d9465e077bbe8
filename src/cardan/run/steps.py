"""One step of the methods of fixed steps, of y' = rates(t, y), over arrays of any scalar.

rk4        the classical method of Runge and Kutta, order 4
euler      semi-implicit: velocities first, then positions with the new velocities (order 1)
midpoint   implicit midpoint rule by fixed-point iteration (order 2, time-reversible)

`llvm.rollout` prints the same steps as machine code, rk4 from the table of its stages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

METHODS = ("rk4", "euler", "midpoint")
STAGES = ((2, 2), (2, 2), (1, 1))  # of rk4 after the first: h over the reach, sixths of the weight

Rates = Callable[[Any, Any], Any]


def rk4(rates: Rates, t: Any, y: Any, h: Any) -> Any:
    """y after h."""
    k = rates(t, y)
    total = k
    for part, weight in STAGES:
        k = rates(t + h / part, y + h / part * k)
        total = total + weight * k
    return y + h / 6 * total


def euler(rates: Rates, t: float, y: np.ndarray, h: float, positions: int) -> np.ndarray:
    """y after h; the leading elements of y are positions."""
    after = y + h * rates(t, y)
    mixed = np.concatenate([y[:positions], after[positions:]])
    after[:positions] = y[:positions] + h * rates(t, mixed)[:positions]
    return np.asarray(after)


def midpoint(rates: Rates, t: float, y: np.ndarray, h: float) -> np.ndarray:
    """y after h."""
    middle = y
    for _ in range(50):
        following = y + h / 2 * rates(t + h / 2, middle)
        done = np.abs(following - middle).max() <= 1e-14 * (1 + np.abs(y).max())
        middle = following
        if done:
            break
    return np.asarray(2 * middle - y)
