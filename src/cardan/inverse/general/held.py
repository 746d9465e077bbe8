"""The general method for arms of more than six joints, some of them given.

The geometry of the six others depends on the given values, so which eliminations are regular is
tried at a value that is nothing special and at some that are (0, a quarter, half a turn): there
axes meet or are parallel that do not elsewhere, and the ranks differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...describe.frames import decompose
from ...describe.robot import REVOLUTE
from ...errors import InputError, ModelError
from ..chain.chain import Chain, NumericChain, screw_matrix
from ..chain.fold import is_far, leaning
from ..doubt import Found, arm_table, settled_near
from .held_kernel import held_pose
from .kept import Kept
from .method import Prepared, found_of, notes_of, one_of, prepared
from .records import MOST, MOST_FORMS
from .tables import Formulation

Array = NDArray[np.float64]
USUAL = 0.7391  # a value that is nothing special
SPECIAL = (0.0, np.pi / 2, np.pi)
STARTS = 400  # of Newton's method, where configurations are nowhere isolated
CLOSELY = 64  # values for which eliminations are chosen anew, where none was sound


@dataclass(frozen=True)
class HeldSolver:
    """All configurations of a chain for given values of the joints `held`; six others are left."""

    chain: Chain
    held: tuple[int, ...]

    @cached_property
    def others(self) -> list[int]:
        """The joints that are solved for."""
        return [j for j in range(self.chain.n) if j not in self.held]

    def fixed(self, numeric: NumericChain, values: Any) -> NumericChain:
        """The chain of six joints at values of the others."""
        for j, value in sorted(zip(self.held, values, strict=True), reverse=True):
            numeric = without(numeric, j, float(value))
        return numeric

    @cached_property
    def _kept(self) -> Kept[tuple[Prepared, Array, Array]]:
        """The six joints at a usual value, and the tables of the kernel."""
        return Kept(self.chain, self._prepare)

    def _prepare(self, numeric: NumericChain) -> tuple[Prepared, Array, Array]:
        usual = np.where(numeric.sigma[list(self.held)] == REVOLUTE, USUAL, USUAL * numeric.size)
        made = prepared(self.fixed(numeric, usual), self.chain.robot)
        ways = {(way.joints, way.rank, way.lack): way for way in made.chosen}
        for value in SPECIAL if made.chosen else ():
            for way in self._at(numeric, value)[:2]:
                ways.setdefault((way.joints, way.rank, way.lack), way)
        held = np.isin(np.arange(numeric.n), self.held)
        chosen = list(ways.values())[:MOST_FORMS]
        tails = [way.tail(2) for way in chosen]
        return made, arm_table(numeric, held), np.concatenate([[len(chosen)], *tails])

    def _at(self, numeric: NumericChain, value: float) -> list[Formulation]:
        try:
            made = prepared(self.fixed(numeric, [value] * len(self.held)), self.chain.robot)
        except ModelError:  # the arm is singular at this value
            return []
        return [way for way in made.chosen if way.trusted]

    def solve(
        self, T: Array, free: Array | None, p: Any, numeric: NumericChain, guess: Array | None
    ) -> Found:
        """Poses (N, 4, 4), values (N, held) of the joints that are held -> q (N, 16, n) ..."""
        if free is None or free.shape != (len(T), len(self.held)):
            raise InputError(f"values of {len(self.held)} held joints are expected for every pose")
        made, arm, ways = self._kept.of(numeric)
        q, info = np.empty((len(T), MOST, self.chain.n)), np.zeros((len(T), 64))
        if not made.slides:
            arrays = {"T": T.reshape(-1, 16), "free": free, "arm": arm, "ways": ways}
            out = _function(len(self.held), self.chain.n)(arrays, len(T))
            q, info = out["q"].reshape(q.shape), out["info"]
        self._closely(T, free, numeric, q, info)
        return found_of(q, info, numeric.size)

    def one(
        self, numeric: NumericChain, inputs: dict[str, Array]
    ) -> Callable[[], Array | None] | None:
        """The configurations of the pose and the value that lie in the inputs; None where no
        elimination is sound."""
        made, arm, ways = self._kept.of(numeric)
        if made.slides:
            return None
        kernel = _function(len(self.held), self.chain.n)
        return one_of(kernel, {**inputs, "arm": arm, "ways": ways}, self.chain.n)

    def _closely(self, T: Array, free: Array, numeric: NumericChain, q: Array, info: Array) -> None:
        """Where no elimination was sound, those that suit the value itself are used."""
        doubtful = np.flatnonzero(notes_of(info)["sound"] == 0)
        values, which = np.unique(free[doubtful], axis=0, return_inverse=True)
        for k, value in enumerate(values[:CLOSELY]):
            rows = doubtful[which.reshape(-1) == k]
            try:
                made = prepared(self.fixed(numeric, value), self.chain.robot)
            except ModelError:  # at this value the others move in less than six ways
                self._searched(T[rows], value, numeric, q, info, rows)
                continue
            found, noted = made.run(T[rows])
            start = np.full((len(rows), MOST, numeric.n), np.nan)
            start[:, :, self.others] = found
            start[:, :, list(self.held)] = value
            start[np.arange(MOST) >= notes_of(noted)["count"][:, None]] = np.nan
            self._settled(T[rows], start, numeric, q, info, rows)
            none = rows[notes_of(info)["count"][rows] == 0]
            if len(none):
                self._searched(T[none], value, numeric, q, info, none)

    def _searched(
        self, T: Array, value: Array, numeric: NumericChain, q: Array, info: Array, rows: Any
    ) -> None:
        """Where configurations are nowhere isolated: some of them, by Newton's method from random
        ones."""
        start = np.random.default_rng(0).uniform(-np.pi, np.pi, (STARTS, numeric.n))
        start[:, numeric.sigma == 1] *= numeric.size / np.pi
        start[:, list(self.held)] = value
        every = np.broadcast_to(start, (len(T), *start.shape))
        self._settled(T, every, numeric, q, info, rows)

    def _settled(
        self, T: Array, start: Array, numeric: NumericChain, q: Array, info: Array, rows: Any
    ) -> None:
        """The configurations that Newton's method finds on the chain itself."""
        held = np.isin(np.arange(numeric.n), self.held)
        found = settled_near(T, start, arm_table(numeric, held), MOST)
        q[rows], info[rows] = found.q, 0.0
        notes = notes_of(info)
        notes["count"][rows] = found.count
        answers = notes["rows"]
        answers["residual"][rows] = np.nan_to_num(found.residual / max(1.0, numeric.size))
        answers["quality"][rows] = ~found.singular
        answers["roots"][rows] = found.multiplicity

    def some(self, any_values: bool = False) -> tuple[Prepared, Array, Array]:
        """What is prepared already, or of the chain itself."""
        return self._kept.some(any_values)

    def equations(self, form: str = "text") -> str:
        """The elimination, stated with its steps and sizes; form 'text' or 'latex'."""
        from .text import elimination

        return elimination(self.chain, self.held, self.some(True)[0], form)


@cache
def _function(given: int, n: int) -> Any:
    from ...run.kernel import KernelFunction

    inputs = {"T": 16, "free": given, "arm": 0, "ways": 0}
    return KernelFunction(held_pose, inputs, {"q": MOST * n, "info": 64})


def without(numeric: NumericChain, joint: int, value: float) -> NumericChain:
    """The chain with a joint held at a value: its frames are folded into the neighbours'."""
    keep = [j for j in range(numeric.n) if j != joint]
    theta, r = numeric.theta.copy(), numeric.r.copy()
    (theta if numeric.sigma[joint] == 0 else r)[joint] += value
    alpha, d, beta = numeric.alpha.copy(), numeric.d.copy(), numeric.beta.copy()
    base, tool = numeric.base, numeric.tool
    fixed = numeric.across(joint) @ screw_matrix("z", theta[joint], r[joint])
    if joint == numeric.n - 1:
        tool = fixed @ tool
    else:
        fixed = fixed @ numeric.across(joint + 1)
        tilt = 0.0
        if joint == 0:
            base = base @ fixed
            alpha[1] = d[1] = 0.0
        else:
            if is_far(fixed, numeric.size):
                b = 0.0
                gamma, turn, shift, tilt, last, along = leaning(fixed)
            else:
                gamma, b, turn, shift, last, along = decompose(fixed, numeric.size)
            theta[joint - 1] += gamma
            r[joint - 1] += b
            alpha[joint + 1], d[joint + 1] = turn, shift
            theta[joint + 1] += last
            r[joint + 1] += along
        beta[joint + 1] = tilt
    return NumericChain(
        numeric.sigma[keep], alpha[keep], d[keep], theta[keep], r[keep], base, tool,
        numeric.lower[keep], numeric.upper[keep], beta=beta[keep],
    )  # fmt: skip
