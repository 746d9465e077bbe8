"""A derivation tried before it is handed out: does it find configurations that are there?

Poses of the chain itself are made from joint values drawn at random; the branches must give those
joint values back, near enough for Newton's method. A derivation rests on thresholds (is this
coefficient zero, do these axes meet), and a wrong one shows here, not at the first pose of a user.
Every configuration of a pose is one that might have been drawn, so a branch that is missing is
found too. Where values of the file were rounded, the number of answers is compared with that of the
general method in addition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...describe.robot import PRISMATIC
from ...ir.interpret import interpret
from ...program import Program
from ..chain.arm_angle import arm_angle
from ..chain.chain import Chain, NumericChain
from ..chain.differences import distance
from ..general.kept import sample_values

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
DRAWN = 48  # poses
NEAR = 1e-2  # of the joint values, rad and over the robot's size
REACHED = 1e-3  # residual from which Newton's method is safe
FOUND = 1e-5  # how near an answer is to the joint values it stands for


@dataclass(frozen=True)
class Trial:
    """Configurations of a chain drawn at random, and their poses."""

    numeric: NumericChain
    values: Mapping[str, float]  # of the symbols
    q: Array
    T: Array
    free: Array | None

    def of_rows(self, rows: Any) -> Trial:
        """Some of the configurations."""
        free = None if self.free is None else self.free[rows]
        return replace(self, q=self.q[rows], T=self.T[rows], free=free)

    def lost(self, q: Array) -> Bools:
        """Which of the drawn configurations are not among answers (N, k, n)."""
        gap = distance(self.numeric, self.q[:, None], q)
        return np.asarray(np.nan_to_num(gap, nan=np.inf).min(1) > FOUND)


def trial_of(
    chain: Chain, held: Sequence[int], plane: bool, values: Mapping[str, float], count: int = DRAWN
) -> Trial:
    """Configurations of a chain; symbols without a value get one that is nothing special."""
    values = {**sample_values(chain), **values}
    numeric = chain.numeric(values)
    rng = np.random.default_rng(7)
    q = rng.uniform(-np.pi, np.pi, (count, chain.n))
    slides = numeric.sigma == PRISMATIC
    q[:, slides] = rng.uniform(0.2, 0.9, (count, int(slides.sum()))) * numeric.span
    free = arm_angle(numeric, q)[:, None] if plane else q[:, list(held)] if held else None
    return Trial(numeric, values, q, numeric.pose(q), free)


def missing(numeric: NumericChain, q: Array, others: Array) -> Bools:
    """Which poses of two lists of answers (N, k, n) have one in the second that is not in the
    first."""
    gap = distance(numeric, others[:, :, None], q[:, None])
    alone = np.nan_to_num(gap, nan=np.inf).min(2) > FOUND
    return np.asarray((alone & ~np.isnan(others[..., 0])).any(1))


def lost_branches(program: Program, trial: Trial) -> Bools:
    """Which of the drawn configurations no branch of a program comes near to."""
    inputs: dict[str, Any] = {"T": trial.T}
    if trial.free is not None:
        inputs["free"] = trial.free
    if program.parameters:
        inputs["p"] = np.array([trial.values[name] for name in program.parameters])
    found = interpret(program.code, inputs)
    gap = distance(trial.numeric, trial.q[:, None], found["q"])
    scale = trial.numeric.scale
    near = (gap < NEAR) & (found["residual"] < REACHED * scale) & (found["margin"] > -NEAR)
    return np.asarray(~near.any(1))
