"""Differences of configurations and Jacobians without units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...describe.robot import REVOLUTE
from .chain import NumericChain

Array = NDArray[np.float64]


def wrapped(chain: NumericChain, q: Array) -> Array:
    """Revolute joints in (-π, π]."""
    turned = np.pi - np.mod(np.pi - q, 2 * np.pi)
    return np.where(chain.sigma == REVOLUTE, turned, q)


def _units(chain: NumericChain) -> Array:
    return np.where(chain.sigma == REVOLUTE, 1.0, chain.span)


def scaled(chain: NumericChain, J: Array) -> Array:
    """The Jacobian without units: lengths over the size of the robot."""
    J = J * _units(chain)
    return np.concatenate([J[..., :3, :] / chain.span, J[..., 3:, :]], -2)


def distance(chain: NumericChain, q: Array, others: Array, whole: bool = False) -> Array:
    """How far a configuration is from others: the largest difference, without units; whole turns
    count only when asked for."""
    gap = others - q
    difference = np.abs(gap if whole else wrapped(chain, gap)) / _units(chain)
    found: Array = difference.max(-1)
    return found
