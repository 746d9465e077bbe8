"""Why a pose has no configuration: the configuration that comes nearest, and what it misses.

Damped least squares from many configurations, for four wishes one after the other: the whole pose;
its position alone; its position where the orientation must be right; its orientation where the
position must be right. What cannot be had, and by how much, is said in words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..algebra.newton import Damping, Rule, newton
from ..describe.robot import PRISMATIC
from .chain.chain import NumericChain

Array = NDArray[np.float64]
STARTS = 64
ROUNDS = 80
_DAMPING = Damping(
    first=1e-2, less=1 / 5, more=5.0, most=1e8, least=1e-12,
    weight=lambda e, H: np.trace(H, axis1=1, axis2=2),
)  # fmt: skip
WITHIN = 1e-9  # rad, and of the robot's size: what is missed by less is reached
HEAVY = 1e3  # weight of a wish that comes first
RIGHT = 1e-5  # rad that such a weight leaves of an orientation that can be had
ELSEWHERE = 20.0  # sizes of the robot away: another unit of length


@dataclass(frozen=True)
class Reach:
    """The configuration q nearest to a pose, what it misses (m, rad), and in words why."""

    q: Array
    shift: float
    turn: float
    text: str

    @property
    def reached(self) -> bool:
        """Is the pose reached after all?"""
        return not self.text


def reach(numeric: NumericChain, T: Array, held: NDArray[np.bool_], values: Array) -> Reach:
    """How near a chain comes to a pose T (4, 4), its joints `held` at `values` (n)."""
    rng = np.random.default_rng(11)
    start = rng.uniform(-np.pi, np.pi, (STARTS, numeric.n)) * _units(numeric)
    start[:, held] = values[held]
    fit = Fit(numeric, T, np.flatnonzero(~held))
    ends = fit.descended(start, (1.0, 1.0))
    q, shift, turn = fit.best(ends, (1.0, 1.0))
    if shift <= WITHIN * numeric.span and turn <= WITHIN:
        return Reach(q, shift, turn, "")
    return Reach(q, shift, turn, _words(fit, ends))


def _words(fit: Fit, ends: Array) -> str:
    numeric, T, size = fit.numeric, fit.T, fit.numeric.span
    near, apart, _ = fit.nearest(ends, (1.0, 0.0))
    if apart > WITHIN * size:
        text = (
            f"the position is {_side(numeric, T, near)} by {apart:.3g} m, whatever its orientation"
        )
        if apart > ELSEWHERE * size:
            text += (
                f": {apart / size:.0f} times the size of the robot; it looks like millimetres,"
                " where m are expected"
            )
        return text
    near, apart, turn = fit.nearest(ends, (1.0, 10.0), (1.0, HEAVY))
    if turn <= RIGHT and apart > WITHIN * size:
        return f"with this orientation the frame is {_side(numeric, T, near)} by {apart:.3g} m"
    _, _, turn = fit.nearest(ends, (10.0, 1.0), (HEAVY, 1.0))
    return (
        "the position can be reached, but this orientation is impossible there for"
        f" {len(fit.free)} joints: the nearest is {turn:.3g} rad ({np.degrees(turn):.3g} deg) away"
    )


def _side(numeric: NumericChain, T: Array, q: Array) -> str:
    """Too far, or too near to the first axis and its origin."""
    origin = numeric.placements[0][:3, 3]
    asked, got = (np.linalg.norm(P - origin) for P in (T[:3, 3], numeric.pose(q)[:3, 3]))
    return "too far" if asked > got else "too near"


Weights = tuple[float, float]  # of position and orientation


@dataclass(frozen=True)
class Fit:
    """Damped least squares of a pose T by the joints `free`, from many configurations at once."""

    numeric: NumericChain
    T: Array
    free: NDArray[np.int64]

    def nearest(self, q: Array, *weights: Weights) -> tuple[Array, float, float]:
        """The best configuration for the last of some weights, each fit begun where the one before
        ended; what it misses of the position (m) and of the orientation (rad)."""
        for each in weights:
            q = self.descended(q, each)
        return self.best(q, weights[-1])

    def best(self, q: Array, weights: Weights) -> tuple[Array, float, float]:
        """The one of configurations (N, n) with the least weighed error, and what it misses."""
        one: Array = q[int(np.argmin((self.errors(q, weights)[0] ** 2).sum(1)))]
        at = self.numeric.pose(one)
        gap = self.T[:3, :3] @ at[:3, :3].T
        across = np.array([gap[2, 1] - gap[1, 2], gap[0, 2] - gap[2, 0], gap[1, 0] - gap[0, 1]])
        turn = np.arctan2(np.linalg.norm(across), np.trace(gap) - 1)
        return one, float(np.linalg.norm(at[:3, 3] - self.T[:3, 3])), float(turn)

    def descended(self, q: Array, weights: Weights) -> Array:
        """Where the descent from configurations (N, n) ends."""
        units = _units(self.numeric)[self.free]

        def moved(q: Array, step: Array) -> Array:
            ahead = q.copy()
            ahead[:, self.free] += step * units
            return ahead

        ends = newton(
            q,
            lambda q, _: self.errors(q, weights)[0],
            lambda q, _: -self.errors(q, weights)[1][:, :, self.free] * units,
            Rule(longest=0.7, rounds=ROUNDS),
            damping=_DAMPING,
            move=moved,
        )
        return ends.x

    def errors(self, q: Array, weights: Weights) -> tuple[Array, Array]:
        """Errors (N, 6) without units, and how joints change them (N, 6, n)."""
        at, J = self.numeric.pose_jacobian(q)
        shift = (self.T[:3, 3] - at[:, :3, 3]) / self.numeric.span
        turn = 0.5 * np.cross(at[:, :3, :3], self.T[None, :3, :3], axis=1).sum(2)
        sine = np.linalg.norm(turn, axis=1)
        cosine = 0.5 * (np.einsum("nij,ij->n", at[:, :3, :3], self.T[:3, :3]) - 1)
        turn = turn * (np.arctan2(sine, cosine) / np.maximum(sine, 1e-12))[:, None]
        scale = np.repeat(weights, 3)
        J = np.concatenate([J[:, :3] / self.numeric.span, J[:, 3:]], 1) * scale[:, None]
        return np.concatenate([shift, turn], 1) * scale, J


def _units(numeric: NumericChain) -> Array:
    return np.where(numeric.sigma == PRISMATIC, numeric.span, 1.0)
