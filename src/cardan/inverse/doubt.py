"""Answers of many poses as arrays, and the table of an arm for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .approach import JOINTS
from .chain.chain import NumericChain
from .settle import ACCEPT, settled

Array = NDArray[np.float64]
NOISE = 4e-15
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """Answers of N poses: the arrays of Configurations, with one leading axis."""

    q: Array
    count: NDArray[np.int64]
    residual: Array
    singular: Bools
    multiplicity: NDArray[np.int64]

    def put(self, rows: Any, other: Found) -> None:
        """Replace the answers of some poses."""
        for mine, its in zip(vars(self).values(), vars(other).values(), strict=True):
            mine[rows] = its

    def of_rows(self, rows: Any) -> Found:
        """The answers of some poses."""
        return Found(*(x[rows] for x in vars(self).values()))

    def put_wide(self, rows: Any, other: Found) -> Found:
        """The answers with those of some poses replaced by others, of which there may be more."""
        width = max(self.q.shape[1], int(other.count.max(initial=0)))
        more = width - self.q.shape[1]
        filler = (np.nan, 0, np.nan, False, 0)
        parts = []
        for mine, its, empty in zip(vars(self).values(), vars(other).values(), filler, strict=True):
            wide = mine
            if mine.ndim > 1:
                shape = [(0, 0), (0, more)] + [(0, 0)] * (mine.ndim - 2)
                wide = np.pad(mine, shape, constant_values=empty)
                wide[rows, its.shape[1] :] = empty
                wide[rows, : its.shape[1]] = its[:, :width]
            else:
                wide[rows] = its
            parts.append(wide)
        return Found(*parts)


def arm_table(chain: NumericChain, held: Bools) -> Array:
    """The Arm of approach.py; `held`: joints whose values are given."""
    if chain.n > JOINTS:
        raise ModelError(f"a chain of {chain.n} joints is longer than {JOINTS}")
    rows = np.column_stack([
        np.cos(chain.alpha), np.sin(chain.alpha), chain.d, chain.theta, chain.r, chain.sigma, held,
        np.sin(chain.beta), np.cos(chain.beta),
    ])  # fmt: skip
    few = chain.n - int(np.sum(held)) < 6
    # lengths that are far larger than the robot cancel, and leave so much of rounding
    accepted = max(ACCEPT * chain.scale, NOISE * chain.size / chain.unit)
    if few and chain.tolerance is not None:
        accepted = max(accepted, chain.tolerance * min(1.0, 1 / chain.unit))
    head = [chain.n, chain.span, chain.scale, 1e-6 if few else 1e-9, accepted, 1 / chain.unit]
    parts = [head, chain.base[:3].T.ravel(), chain.tool[:3].T.ravel(), rows.ravel()]
    return np.concatenate([np.asarray(part, float) for part in parts])


def of_notes(q: Array, notes: Array) -> Found:
    """The answers that a kernel gives: q (N, k, n) and the numbers (N, 2 + 3 k) of Solutions."""
    count = notes[:, 0].astype(np.int64)
    residual, singular, times = np.moveaxis(notes[:, 2:].reshape(len(notes), -1, 3), -1, 0).copy()
    rest = np.arange(q.shape[1]) >= count[:, None]
    q[rest], residual[rest], times[rest] = np.nan, np.nan, 0
    return Found(q, count, residual, (singular != 0) & ~rest, times.astype(np.int64))


@cache
def _kernel(n: int, most: int) -> Any:
    from ..run.kernel import KernelFunction

    inputs = {"T": 16, "q": 0, "margin": 0, "arm": 0, "room": 2}
    return KernelFunction(settled, inputs, {"found": most * n, "notes": 2 + 3 * most})


def settled_near(T: Array, start: Array, arm: Array, most: int) -> Found:
    """Answers of poses T (N, 4, 4) that Newton's method finds from configurations (N, c, n)."""
    N, c, n = start.shape
    arrays = {"T": T.reshape(N, 16), "q": np.ascontiguousarray(start).reshape(N, c * n),
              "margin": np.zeros(c), "arm": arm, "room": np.array([c, most])}  # fmt: skip
    out = _kernel(n, most)(arrays, N)
    return of_notes(out["found"].reshape(N, most, n), out["notes"])
