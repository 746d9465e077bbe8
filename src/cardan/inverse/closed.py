"""A closed-form solution at work: all branches on batches, doubtful poses looked at closely.

Away from singularities a branch either satisfies the pose to rounding or does not exist, and the
straight-line program says which. Where a margin is near zero, or digits were lost, the pose goes
the slow way: candidates are polished by Newton's method on the direct model, verified, merged where
they coincide, and judged by the rank of the Jacobian.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..describe.robot import REVOLUTE
from ..program import Program
from .branches import CLEAR
from .chain import Chain, NumericChain
from .collect import collect
from .polish import distance, merged, polish, rank_lost

__all__ = ["Closed", "Found"]

Array = NDArray[np.float64]
EXACT = 1e-10  # residual, relative to the size of the robot, that needs no polishing
WRONG = 1e-4  # residual of a branch that is not a solution at all
ACCEPT = 1e-9  # residual of an answer
CHUNK = 4096


@dataclass(frozen=True)
class Found:
    """Answers of N poses: the arrays of Configurations, with one leading axis."""

    q: Array
    count: NDArray[np.int64]
    residual: Array
    singular: NDArray[np.bool_]
    multiplicity: NDArray[np.int64]


@dataclass(frozen=True)
class Closed:
    """The compiled branches of a chain. `guided`: the same with a guess as an input."""

    chain: Chain
    program: Program
    guided: Any  # makes the guided program when it is first needed
    free: tuple[int, ...] = ()  # joints that are given

    @cached_property
    def function(self) -> Any:
        return self.program.compile()

    @cached_property
    def led(self) -> Any:
        return self.guided().compile()

    @property
    def kmax(self) -> int:
        return self.program.outputs["margin"][0]

    def solve(
        self, T: Array, free: Array | None, p: Array | None, numeric: NumericChain,
        guess: Array | None,
    ) -> Found:  # fmt: skip
        """All configurations of poses T (N, 4, 4), free (N, f)."""
        N, k, n = len(T), self.kmax, self.chain.n
        q = np.empty((N, k, n))
        count = np.empty(N, np.int64)
        residual = np.empty((N, k))
        singular = np.zeros((N, k), bool)
        multiplicity = np.empty((N, k), np.int64)
        shape = [k, n, CLEAR, EXACT * numeric.scale, WRONG * numeric.scale, np.nan]
        tables = {"shape": np.array(shape), "turning": (numeric.sigma == REVOLUTE) * 1.0}
        for a in range(0, N, CHUNK):
            rows = slice(a, min(a + CHUNK, N))
            size = rows.stop - a
            found = self.function(**_inputs(T[rows], None if free is None else free[rows], p))
            given = {"q": found.q.reshape(size, k * n), "margin": found.margin}
            sorted_ = self._collect({**given, "residual": found.residual, **tables}, size)
            q[rows] = sorted_["found"].reshape(size, k, n)
            residual[rows] = sorted_["error"]
            count[rows] = sorted_["state"][:, 0]
            multiplicity[rows] = np.arange(k) < count[rows, None]
            for i in np.flatnonzero(sorted_["state"][:, 1]):
                one = _inputs(T[a + i], None if free is None else free[a + i], p)
                answer = self._closely(T[a + i], one, numeric, guess)
                _put(answer, a + int(i), q, count, residual, singular, multiplicity)
        return Found(q, count, residual, singular, multiplicity)

    @cached_property
    def _collect(self) -> Any:
        from ..run.kernel import KernelFunction

        k, n = self.kmax, self.chain.n
        inputs = {"q": k * n, "margin": k, "residual": k, "shape": 6, "turning": n}
        return KernelFunction(collect, inputs, {"found": k * n, "error": k, "state": 2})

    def _closely(
        self, T: Array, inputs: dict[str, Array], numeric: NumericChain, guess: Array | None
    ) -> tuple[Any, ...]:
        """One doubtful pose: candidates polished, verified and merged."""
        found = self.function(**inputs) if guess is None else self.led(**inputs, guess=guess)
        q, residual, open_ = self._verified(T, found, numeric)
        if open_:
            q, residual = self._representative(T, inputs, numeric, q, residual)
        q, residual, multiplicity = merged(numeric, q, residual)
        hidden = self._nearby(T, inputs, numeric, q)
        new = [x for x in hidden if not len(q) or distance(numeric, x, q).min() > 1e-5]
        if new:
            more, error = polish(numeric, np.array(new), T, self._held)
            more, error, _ = merged(numeric, more, error)
            q, residual = np.concatenate([q, more]), np.concatenate([residual, error])
            multiplicity = np.concatenate([multiplicity, np.ones(len(more), np.int64)])
        return q, residual, rank_lost(numeric, q, self._held), multiplicity

    def _verified(self, T: Array, found: Any, numeric: NumericChain) -> tuple[Array, Array, bool]:
        """Candidates that reach the pose, their residuals, and whether one whose equations
        degenerate does not."""
        likely = np.isfinite(found.q).all(-1) & ~(found.margin < -1e-6)
        q, residual = polish(numeric, found.q[likely], T, self._held)
        good = residual <= ACCEPT * numeric.scale
        # a margin of exactly 0 says that an equation vanishes
        open_ = bool(((found.margin[likely] == 0) & ~good).any())
        open_ = open_ or (not np.isfinite(found.q).all() and not good.any())
        return q[good], residual[good], open_

    def _representative(
        self, T: Array, inputs: dict[str, Array], numeric: NumericChain, q: Array, residual: Array
    ) -> tuple[Array, Array]:
        """Where a joint may have many values but not the one that was taken, another is tried."""
        for value in np.linspace(-np.pi, np.pi, 24, endpoint=False):
            led = self.led(**inputs, guess=np.full(self.chain.n, value))
            more, error, _ = self._verified(T, led, numeric)
            lost = rank_lost(numeric, more, self._held)
            if lost.any():
                return np.concatenate([q, more[lost]]), np.concatenate([residual, error[lost]])
        return q, residual

    def _nearby(self, T: Array, inputs: dict[str, Array], numeric: NumericChain, q: Array) -> Array:
        """Regular configurations found by solving poses nearby and returning to this one: what an
        equation that vanishes just here would hide."""
        rng = np.random.default_rng(0)
        known = [q[i % len(q)] for i in range(3)] if len(q) else []
        candidates = []
        for start in known:
            moved = start + 1e-4 * rng.normal(size=start.shape) * ~self._held
            near = self.function(**{**inputs, "T": numeric.pose(moved)})
            fine = (near.margin > CLEAR) & (near.residual < 1e-9 * numeric.scale)
            candidates.append(near.q[fine])
        if not candidates:
            return np.empty((0, self.chain.n))
        back, residual = polish(numeric, np.concatenate(candidates), T, self._held)
        good = (residual <= ACCEPT * numeric.scale) & ~rank_lost(numeric, back, self._held)
        found: Array = back[good]
        return found

    @cached_property
    def _held(self) -> NDArray[np.bool_]:
        """Joints that are given, not solved for."""
        held = np.zeros(self.chain.n, bool)
        held[list(self.free)] = True
        return held


def _inputs(T: Array, free: Array | None, p: Array | None) -> dict[str, Array]:
    found = {"T": T}
    if free is not None:
        found["free"] = free
    if p is not None:
        found["p"] = p
    return found


def _put(
    answer: tuple[Any, ...], i: int, q: Array, count: Any, residual: Array, singular: Any,
    multiplicity: Any,
) -> None:  # fmt: skip
    k = min(len(answer[0]), q.shape[1])
    count[i] = k
    q[i], residual[i], singular[i], multiplicity[i] = np.nan, np.nan, False, 0
    for array, values in zip((q, residual, singular, multiplicity), answer, strict=True):
        array[i, :k] = values[:k]
