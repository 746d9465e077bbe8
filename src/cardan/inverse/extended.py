"""Fewer than six joints by the general method: virtual joints are added, and must come out as zero.

    T = B Z_1 ... X_n Z_n E = B Z_1 ... X_n Z_n  X_v Z_v(0)  E',   E' = (X_v Z_v(0))⁻¹ E

The longer chain has finitely many configurations for a pose; those whose virtual joints are at zero
are the answers. Only some poses have any: that is the consistency condition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .chain import Chain, ChainJoint, NumericChain, screw_matrix
from .doubt import Found
from .general import GeneralSolver
from .polish import merged, polish, rank_lost
from .settle import ACCEPT

__all__ = ["Extended"]

Array = NDArray[np.float64]
# alpha, d over the robot's size, theta, r over its size: nothing special
VIRTUAL = ((1.1, 0.31, 0.2, 0.17), (-0.9, 0.23, 0.5, -0.29), (1.3, -0.19, -0.4, 0.37))
ZERO = 1e-5  # what a virtual joint may be before polishing


@dataclass(frozen=True)
class Extended:
    """All configurations of a chain of three to five joints."""

    chain: Chain

    @property
    def count(self) -> int:
        return 6 - self.chain.n

    @cached_property
    def _solver(self) -> Any:
        virtual = [ChainJoint(f"v{k + 1}", 0, 0, 0, 0, 0, 0) for k in range(self.count)]
        return GeneralSolver(replace(self.chain, joints=(*self.chain.joints, *virtual)))

    def longer(self, chain: NumericChain) -> NumericChain:
        """The chain in floats with virtual joints."""
        size = chain.size
        rows = np.array(VIRTUAL[: self.count]) * [1, size, 1, size]
        tool = chain.tool
        for alpha, d, theta, r in rows:
            step = screw_matrix("x", alpha, d) @ screw_matrix("z", theta, r)
            tool = np.linalg.inv(step) @ tool
        free = np.full(self.count, np.inf)
        return NumericChain(
            sigma=np.concatenate([chain.sigma, np.zeros(self.count, int)]),
            alpha=np.concatenate([chain.alpha, rows[:, 0]]),
            d=np.concatenate([chain.d, rows[:, 1]]),
            theta=np.concatenate([chain.theta, rows[:, 2]]),
            r=np.concatenate([chain.r, rows[:, 3]]),
            base=chain.base,
            tool=tool,
            lower=np.concatenate([chain.lower, -free]),
            upper=np.concatenate([chain.upper, free]),
        )

    def solve(
        self, T: Array, free: Array | None, p: Any, numeric: NumericChain, guess: Array | None
    ) -> Found:
        """Poses (N, 4, 4) -> q (N, 16, n) ..."""
        n, held = self.chain.n, np.zeros(self.chain.n, bool)
        wide = self._solver.solve(T, None, None, self.longer(numeric), None)
        q = np.full((len(T), wide.q.shape[1], n), np.nan)
        residual = np.full(q.shape[:2], np.nan)
        singular, multiplicity = np.zeros(q.shape[:2], bool), np.zeros(q.shape[:2], np.int64)
        count = np.zeros(len(T), np.int64)
        with np.errstate(invalid="ignore"):
            near = (np.abs(wide.q[..., n:]) < ZERO).all(-1)
        for i in np.flatnonzero(near.any(1)):
            found, error = polish(numeric, wide.q[i, near[i], :n], T[i], held)
            good = error <= ACCEPT * numeric.scale
            found, error, times = merged(numeric, found[good], error[good])
            k = count[i] = len(found)
            q[i, :k], residual[i, :k], multiplicity[i, :k] = found, error, times
            singular[i, :k] = rank_lost(numeric, found, held)
        return Found(q, count, residual, singular, multiplicity)

    def equations(self, form: str = "text") -> str:
        """The elimination for the chain with virtual joints."""
        text: str = self._solver.equations(form)
        return (
            f"{self.chain.n} joints, {self.count} virtual ones at zero (the consistency condition)."
            f"\n\n{text}"
        )

    def emit(self, language: str, function: str = "", **options: Any) -> str:
        raise ModelError(
            f"'{self.chain.robot}' has fewer than six joints and no closed form: it can be solved,"
            " but there is no code to print"
        )
