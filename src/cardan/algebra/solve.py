"""Small symmetric solves as straight-line code: L D L^T without pivoting, safe for positive
matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["solve_symmetric"]

Scalar = Any


def solve_symmetric(A: Sequence[Sequence[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """x with A x = b for a symmetric positive definite A; zeros cost nothing."""
    n = len(b)
    work = [[A[r][c] for c in range(r + 1)] for r in range(n)]
    y = list(b)
    inverse: list[Scalar] = []
    ratios: dict[tuple[int, int], Scalar] = {}
    for k in range(n):
        inverse.append(1 / work[k][k])
        for r in range(k + 1, n):
            ratio = work[r][k] * inverse[k]
            ratios[r, k] = ratio
            for c in range(k + 1, r + 1):
                work[r][c] = work[r][c] - ratio * work[c][k]
            y[r] = y[r] - ratio * y[k]
    x: list[Scalar] = [0] * n
    for k in reversed(range(n)):
        value = y[k] * inverse[k]
        for r in range(k + 1, n):
            value = value - ratios[r, k] * x[r]
        x[k] = value
    return x
