"""A closed-form solution at work: all branches on batches, doubtful poses looked at closely.

Away from singularities a branch either satisfies the pose to rounding or does not exist, and the
straight-line program says which. Where a margin is near zero, or digits were lost, doubt.py looks
at the pose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...describe.robot import REVOLUTE
from ...errors import ModelError
from ...program import Program
from ..approach import WRONG
from ..chain.chain import Chain, NumericChain
from ..doubt import Found, looked_at
from ..general.extended import Extended
from ..settle import CLEAN, CLEAR, FARTHEST, SAFE
from .collect import collect

__all__ = ["Closed"]

Array = NDArray[np.float64]
CHUNK = 2048
NEAR_EDGE = 10.0  # margins, over the change of the arm, that may be of the other sign
BEYOND_EDGE = 0.3  # the same below zero, over its root
FEW = 8  # answers of an arm with fewer than six joints


@dataclass(frozen=True)
class Closed:
    """The compiled branches of a chain. `guided`: the same with a guess as an input."""

    chain: Chain
    program: Program
    guided: Any  # makes the guided program when it is first needed (with the arm's table)
    free: tuple[int, ...] = ()  # joints that are given
    change: float = 0.0  # how far the arm of the equations is from the arm: rad, over its size

    @cached_property
    def function(self) -> Any:
        return self.program.compile()

    @cached_property
    def led(self) -> Any:
        return self.guided().compile()

    @property
    def branches(self) -> int:
        return self.program.outputs["margin"][0]

    @property
    def kmax(self) -> int:
        """Most answers: an arm with few joints has more at some poses than it has branches."""
        return self.branches if self.chain.n >= 6 else max(self.branches, FEW)

    def solve(
        self, T: Array, free: Array | None, p: Array | None, numeric: NumericChain,
        guess: Array | None,
    ) -> Found:  # fmt: skip
        """All configurations of poses T (N, 4, 4), free (N, f); guess (N, n) or none."""
        N, k, n = len(T), self.kmax, self.chain.n
        found = Found(
            np.empty((N, k, n)), np.empty(N, np.int64), np.empty((N, k)), np.zeros((N, k), bool),
            np.empty((N, k), np.int64),
        )  # fmt: skip
        b = self.branches
        tables = self._tables(numeric)
        state = np.empty((N, 2))
        for a in range(0, N, CHUNK):
            rows = slice(a, min(a + CHUNK, N))
            size = rows.stop - a
            given = self.function(**_inputs(T[rows], None if free is None else free[rows], p))
            arrays = {"q": given.q.reshape(size, b * n), "margin": given.margin}
            out = {"found": found.q.reshape(N, k * n), "error": found.residual, "state": state}
            self._collect(
                {**arrays, "residual": given.residual, **tables}, size,
                out={name: x[rows] for name, x in out.items()},
            )  # fmt: skip
        found.count[:] = state[:, 0]
        found.multiplicity[:] = np.arange(k) < found.count[:, None]
        self._look(np.flatnonzero(state[:, 1]), found, T, free, p, numeric, guess)
        return found

    def _tables(self, numeric: NumericChain) -> dict[str, Array]:
        """What `collect` knows of the arm."""
        b, k, n = self.branches, self.kmax, self.chain.n
        shape = [b, n, SAFE, CLEAN * numeric.scale, numeric.scale, np.nan, k]
        turning = np.where(numeric.sigma == REVOLUTE, 1.0, -FARTHEST * numeric.span)
        return {"shape": np.array(shape), "turning": turning}

    def one(self, numeric: NumericChain, inputs: dict[str, Array]) -> Callable[[], Array | None]:
        """The configurations of the pose that lies in the inputs; None where it is doubtful."""
        n = self.chain.n
        given = {name: np.empty(shape) for name, shape in self.program.outputs.items()}
        found, error, state = np.empty((self.kmax, n)), np.empty(self.kmax), np.empty(2)
        flat = {"q": given["q"].reshape(-1), "margin": given["margin"]}
        flat |= {"residual": given["residual"], **self._tables(numeric)}
        margin, residual, (least, most) = given["margin"], given["residual"], self._edge
        wrong = WRONG * numeric.scale
        branches = self.function.bound(inputs, given)
        collected = self._collect.bound(
            flat, {"found": found.reshape(-1), "error": error, "state": state}
        )

        def run() -> Array | None:
            branches()
            collected()
            count, doubt = state.tolist()
            if doubt or (not count and ((margin > CLEAR) & (residual > wrong)).any()):
                return None  # as is_strange says
            if most > least and ((margin < most) & (margin > least)).any():
                return None
            return found[: int(count)].copy()

        return run

    @property
    def _edge(self) -> tuple[float, float]:
        """Margins between these may be of the other sign on the arm itself (`is_close`)."""
        most = NEAR_EDGE * self.change
        return (-max(most, BEYOND_EDGE * sqrt(self.change)), most) if most > SAFE else (0.0, 0.0)

    def is_strange(
        self, T: Array, free: Array | None, p: Array | None, numeric: NumericChain
    ) -> NDArray[np.bool_]:
        """Where an equation has a clear root that is no solution of the others (N,)."""
        given = self.function(**_inputs(T, free, p))
        with np.errstate(invalid="ignore"):
            clear = (given.margin > CLEAR) & (given.residual > WRONG * numeric.scale)
        found: NDArray[np.bool_] = clear.any(1)
        return found

    def is_close(self, T: Array, free: Array | None, p: Array | None) -> NDArray[np.bool_]:
        """Where the arm of the equations is near the edge of its reach, so that the arm itself may
        be on the other side of it (N,). The change moves a margin by as much; that of a later joint
        by its root, where the one before it is a double root nearly. Margins within SAFE are looked
        at closely anyway."""
        found = np.zeros(len(T), bool)
        least, most = self._edge
        if most > least:
            for a in range(0, len(T), CHUNK):
                rows = slice(a, a + CHUNK)
                given = self.function(**_inputs(T[rows], None if free is None else free[rows], p))
                with np.errstate(invalid="ignore"):
                    found[rows] = ((given.margin < most) & (given.margin > least)).any(1)
        return found

    def _look(
        self, rows: NDArray[np.int64], found: Found, T: Array, free: Array | None,
        p: Array | None, numeric: NumericChain, guess: Array | None,
    ) -> None:  # fmt: skip
        """Replace the answers of doubtful poses."""
        for a in range(0, len(rows), CHUNK):
            some = rows[a : a + CHUNK]
            inputs = _inputs(T[some], None if free is None else free[some], p)
            start = None if guess is None else guess[some]
            answer = looked_at(
                self.function, self._led, inputs, start, numeric, self.held, self.kmax,
                self._other(numeric),
            )  # fmt: skip
            found.put(some, answer)

    def _other(self, numeric: NumericChain) -> Any:
        """The general method with virtual joints: poses near those of an arm with few joints are
        out of its reach, so an equation that vanishes hides more than it does for six."""
        general = self.general
        if general is None:
            return None

        def run(T: Array) -> Array:
            try:
                return general.solve(T, None, None, numeric, None).q
            except ModelError:  # no elimination is regular
                return np.empty((len(T), 0, self.chain.n))

        return run

    @cached_property
    def general(self) -> Extended | None:
        """The general method that is asked where an equation vanishes."""
        return Extended(self.chain) if not self.free and 3 <= self.chain.n < 6 else None

    @cached_property
    def general_of_six(self) -> Any:
        """The general method of six joints, made when it is first asked."""
        from ..general.solver import general_solver

        return general_solver(self.chain, self.free)

    def _led(self, **inputs: Array) -> Any:
        """The guided branches, compiled when they are first needed."""
        return self.led(**inputs)

    @cached_property
    def _collect(self) -> Any:
        from ...run.kernel import KernelFunction

        k, b, n = self.kmax, self.branches, self.chain.n
        inputs = {"q": b * n, "margin": b, "residual": b, "shape": 7, "turning": n}
        return KernelFunction(collect, inputs, {"found": k * n, "error": k, "state": 2})

    @cached_property
    def held(self) -> NDArray[np.bool_]:
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
