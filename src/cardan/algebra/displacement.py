"""Displacements by a twist that acts for a unit of time, exp on SE(3), over any scalar.

    exp(v, w) = (R, P)        R = 1 + a K + b K²        P = v + b w × v + c w × (w × v)

with K = hat(w), x = w·w = θ², a = sin θ/θ, b = (1 - cos θ)/x, c = (θ - sin θ)/θ³: entire functions
of x, power series where it is small. A change of the twist displaces the displaced frame in its own
axes: exp(ξ + dξ) = exp(ξ) exp(J dξ), with J the right Jacobian (R. M. Murray, Z. Li, S. S. Sastry,
"A mathematical introduction to robotic manipulation", 1994, for exp; J. Solà, J. Deray,
D. Atchuthan, "A micro Lie theory for state estimation in robotics", 2018, for J)."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np

from ..exact import exact
from .scalar import cos_sin, sqrt
from .vector import Mat, Vec, cross, dot, hat

Scalar = Any
_TERMS = 10  # of a series, up to x = 1: the next one is below 1e-19


def displacement(twist: Sequence[Scalar]) -> tuple[Mat, Vec, list[list[Scalar]]]:
    """R, P and J (6, 6) of a twist (linear, angular)."""
    v, w = Vec(*twist[:3]), Vec(*twist[3:])
    a, b, c, slope_b, slope_c = _coefficients(dot(w, w))
    K, one = hat(w), Mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    square, first = K @ K, cross(w, v)
    second = cross(w, first)
    R = one + a * K + b * square
    P = v + b * first + c * second
    turned = one - b * K + c * square  # R^T ∂P/∂v too
    by_w = -(b * hat(v)) - c * (hat(first) + K @ hat(v))
    by_w = by_w + _outer(first, 2 * slope_b * w) + _outer(second, 2 * slope_c * w)
    moved = R.T @ by_w
    J = [[*x, *y] for x, y in zip(turned.rows, moved.rows, strict=True)]
    return R, P, J + [[0, 0, 0, *row] for row in turned.rows]


def carried_back(R: Mat, P: Vec) -> list[list[Scalar]]:
    """The displacement (linear, angular) of a frame, in axes of its own, seen from one that stands
    at (R, P) in it: [[R^T, -R^T hat(P)], [0, R^T]]."""
    lever = R.T @ hat(P)
    rows = [[*x, *(-y for y in z)] for x, z in zip(R.T.rows, lever.rows, strict=True)]
    return rows + [[0, 0, 0, *row] for row in R.T.rows]


def _outer(v: Vec, w: Vec) -> Mat:
    return Mat([[x * y for y in w] for x in v])


def _coefficients(x: Scalar) -> list[Scalar]:
    """a, b, c and the derivatives of b and c by x."""
    large = _either(x - 1, x, 1)  # what the quotients are made of: no division by zero
    angle = sqrt(large)
    cos, sin = cos_sin(angle)
    a, b, c = sin / angle, (1 - cos) / large, (angle - sin) / (large * angle)
    far = [a, b, c, (a - 2 * b) / (2 * large), (b - 3 * c) / (2 * large)]
    near = [_series(x, first, 0) for first in (1, 2, 3)]
    near += [_series(x, first, 1) for first in (2, 3)]
    return [_either(x - 1, y, z) for y, z in zip(far, near, strict=True)]


def _series(x: Scalar, first: int, derivatives: int) -> Scalar:
    """Σ (-x)^k / (2k + first)!, or its derivative by x."""
    value: Scalar = 0
    for k in reversed(range(derivatives, _TERMS + derivatives)):
        factor = exact(f"{(-1) ** k * (k if derivatives else 1)}/{factorial(2 * k + first)}")
        value = value * x + factor
    return value


def _either(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    """a where the condition is above 0, else b."""
    if hasattr(condition, "apply"):
        return condition.apply("select", condition, a, b)
    return np.where(condition > 0, a, b)
