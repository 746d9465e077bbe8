"""Ranks and null spaces over numbers, by singular values; matrices (..., m, n) at once."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


def ranks(A: Any, tolerance: float) -> Array:
    """How many singular values are more than `tolerance` of the largest, (...)."""
    s = np.linalg.svd(A, compute_uv=False)
    return np.asarray((s > tolerance * s.max(axis=-1, keepdims=True, initial=0)).sum(axis=-1))


def null_space(A: Array, tolerance: float, least: float = 0.0) -> Array:
    """Orthonormal columns v (n, k) with A v = 0; singular values up to `tolerance` of the largest,
    or of `least` if that is more, are zero."""
    _, s, Vt = np.linalg.svd(A)
    rank = int((s > tolerance * max(least, float(s.max(initial=0)))).sum())
    return np.asarray(Vt[rank:].T)


def conditioning(A: Array) -> Array:
    """The smallest singular value over the largest, (...); 0 is singular."""
    s = np.linalg.svd(A, compute_uv=False)
    return np.asarray(s[..., -1] / np.where(s[..., 0] > 0, s[..., 0], 1))
