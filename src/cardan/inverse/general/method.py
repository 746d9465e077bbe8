"""The general method: all configurations of any chain of six joints, at least three revolute.

Raghavan and Roth, 1990 and 1993 ([KC97] refs 7, 8), in dual quaternions: see kernels.py for
the equations. There are up to 72 ways to eliminate; which are regular depends on the robot (axes
that intersect or are parallel make some of them degenerate), so they are tried on random poses of
the robot when the solver is made. At a pose the best one is used, and the next one when its
matrices are badly conditioned, a real root gives no configuration, or the number of roots is odd.
Every configuration is polished by Newton's method on the direct model and verified.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ...kernel.records import layout_of
from ..chain.chain import Chain, NumericChain, screw_matrix
from ..doubt import Found
from .kept import Kept
from .polish import SINGULAR
from .pose import general_pose
from .records import MOST, Answers
from .slides import slides_pose
from .tables import (
    Formulation,
    dual_quaternion_of,
    formulations,
    head_table,
    measured,
    robot_table,
)

Array = NDArray[np.float64]
TRIED = 40  # random poses on which formulations are compared
KEPT = 4  # formulations of a table


@dataclass(frozen=True)
class Prepared:
    """A chain of six joints in floats, ready: the table of its kernel."""

    numeric: NumericChain
    chosen: tuple[Formulation, ...]  # empty for three slides
    table: Array

    @property
    def slides(self) -> bool:
        return not self.chosen

    def run(self, T: Array, threads: int | None = None) -> tuple[Array, Array]:
        """(q (N, 16, 6), info (N, 64)) of poses (N, 4, 4)."""
        kernel = _function(self.slides)
        flat = np.ascontiguousarray(T).reshape(-1, 16)
        found = kernel({"T": flat, "robot": self.table}, len(flat), threads)
        return found["q"].reshape(-1, MOST, 6), found["info"]


@cache
def _function(slides: bool) -> Any:
    from ...run.kernel import KernelFunction

    entry = slides_pose if slides else general_pose
    return KernelFunction(entry, {"T": 16, "robot": 0}, {"q": 96, "info": 64})


def prepared(numeric: NumericChain, name: str = "the robot") -> Prepared:
    """Choose the formulations of a chain by trial. A ModelError says why none fits."""
    turning = int((numeric.sigma == 0).sum())
    if numeric.n != 6 or turning < 3:
        raise ModelError(
            f"the general method takes six joints, at least three of them revolute; '{name}' has"
            f" {numeric.n}, {turning} revolute: use cardan.inverse_kinematics"
        )
    rng = np.random.default_rng(20)
    Q = rng.uniform(-np.pi, np.pi, (TRIED, 6))
    Q[:, numeric.sigma == 1] *= numeric.size / 8
    T = numeric.pose(Q)
    _refuse_deficient(numeric, Q, name)
    if turning == 3:
        table = np.concatenate([head_table(numeric), _rotations(numeric)])
        found = Prepared(numeric, (), table)
        if _lost(found, Q, T)[0]:
            raise _hopeless(name)
        return found
    chosen = _chosen(numeric, Q, T)
    if not chosen:
        raise _hopeless(name)
    return Prepared(numeric, tuple(chosen), robot_table(numeric, chosen))


def _hopeless(name: str) -> ModelError:
    return ModelError(
        f"no elimination of the general method is regular for '{name}': use"
        " cardan.inverse_kinematics"
    )


def _refuse_deficient(numeric: NumericChain, Q: Array, name: str) -> None:
    """The Jacobian must be regular at general configurations."""
    J = numeric.jacobian(Q)
    J[:, :3] /= numeric.size
    J[..., numeric.sigma == 1] *= numeric.size
    if np.median(np.linalg.svd(J, compute_uv=False)[:, -1]) < 1e-10:
        raise ModelError(
            f"the joints of '{name}' do not move the tool in six independent ways: its"
            " configurations are not isolated; use cardan.inverse_kinematics"
        )


def _chosen(numeric: NumericChain, Q: Array, T: Array) -> list[Formulation]:
    """The best formulations: the first loses no configuration of the trial, the others help it."""
    unit = numeric.size
    relative = np.linalg.inv(numeric.base) @ T[:2] @ np.linalg.inv(numeric.tool)
    relative[:, :3, 3] /= unit
    taus = [dual_quaternion_of(pose) for pose in relative]
    ways = [
        way
        for one in formulations(numeric)
        if (way := measured(one, taus, [float(q[one.h]) for q in Q[:2]])) is not None
    ]
    ways.sort(key=lambda way: (way.lack, way.dimension, way.rank, way.condition))
    first: dict[tuple[Any, ...], Formulation] = {}
    for way in ways:
        first.setdefault((way.h, way.H), way)
    best = _tried(numeric, list(first.values()), Q, T)
    if not best:  # the order of a, b, c matters for some special arms
        best = _tried(numeric, ways, Q, T)
    return best[:KEPT] or _shaken(numeric, Q, T) or _tried(numeric, ways, Q, T, 0.0)[:KEPT]


def _shaken(numeric: NumericChain, Q: Array, T: Array) -> list[Formulation]:
    """Formulations of general robots nearby, all of them used: their roots are made exact on the
    robot itself. The last resort, for arms whose every elimination is degenerate."""
    found = []
    for seed, shake in enumerate((1e-4, 1e-4, 1e-3, 1e-5)):
        ways = {(way.h, way.H): way for way in formulations(numeric, shake, seed)}
        for way in ways.values():
            loose = replace(way, near=0.03, trusted=False)
            made = Prepared(numeric, (loose,), robot_table(numeric, [loose]))
            found.append((_lost(made, Q, T)[0], seed, loose))
    found.sort(key=lambda item: item[:2])
    chosen = [loose for _, _, loose in found[: 2 * KEPT]]
    if not chosen or _lost(Prepared(numeric, tuple(chosen), robot_table(numeric, chosen)), Q, T)[0]:
        return []
    return chosen


def _tried(
    numeric: NumericChain, ways: Sequence[Formulation], Q: Array, T: Array, sound: float = 0.5
) -> list[Formulation]:
    """The formulations in order of preference; none when the best loses a configuration, or is
    sound at fewer poses than that part of them: it may have found them by luck."""
    tried = []
    for way in ways:
        made = Prepared(numeric, (way,), robot_table(numeric, [way]))
        lost, count, part, cost = _lost(made, Q, T)
        tried.append((lost, -count, -part, way.lack > 0, cost, way))
    tried.sort(key=lambda item: item[:5])
    lost_or_poor = not tried or tried[0][0] or -tried[0][2] < sound
    return [] if lost_or_poor else [item[-1] for item in tried]


def _lost(made: Prepared, Q: Array, T: Array) -> tuple[int, int, float, float]:
    """Poses whose own configuration is missing; configurations found; part that is sound; cost."""
    q, info = made.run(T)
    notes = notes_of(info)
    count = notes["count"].astype(int)
    gap = np.abs(_difference(made.numeric, q, Q[:, None])).max(2)
    gap[np.arange(MOST) >= count[:, None]] = np.inf
    lost = int((gap.min(1) > 1e-5).sum())
    way = made.chosen[0] if made.chosen else None
    cost = 0.0 if way is None else (way.rank + 4.0 * (way.dimension - 1) + way.condition / 4)
    sound = min(1.0, round(float(notes["sound"].mean()) + 0.1, 1))  # one pose or two say nothing
    return lost, int(count.sum()), sound, cost


def _difference(numeric: NumericChain, x: Array, y: Array) -> Array:
    """x - y, turns in [-pi, pi), slides in units of the robot's size."""
    gap = x - y
    turning = numeric.sigma == 0
    gap[..., turning] = (gap[..., turning] + np.pi) % (2 * np.pi) - np.pi
    gap[..., ~turning] /= numeric.size
    return gap


def _rotations(numeric: NumericChain) -> Array:
    """The turns of a SlidingRobot: axes, and an origin that does not matter."""
    parts = [np.eye(3)]
    for j in range(6):
        parts[-1] = parts[-1] @ numeric.across(j)[:3, :3]
        parts[-1] = parts[-1] @ screw_matrix("z", numeric.theta[j], 0.0)[:3, :3]
        if numeric.sigma[j] == 0:
            parts.append(np.eye(3))
    first, *middle, last = parts
    return np.concatenate([np.r_[R.T, [[0, 0, 0]]].ravel() for R in (first.T, *middle, last.T)])


@dataclass(frozen=True)
class GeneralSolver:
    """All configurations of a chain of six joints."""

    chain: Chain

    @cached_property
    def _kept(self) -> Kept[Prepared]:
        return Kept(self.chain, lambda numeric: prepared(numeric, self.chain.robot), 1000)

    def prepared(self, numeric: NumericChain | None = None) -> Prepared:
        """The kernel's table for the chain in floats; made once for each set of values."""
        return self._kept.of(numeric)

    def solve(
        self, T: Array, free: Array | None = None, p: Any = None,
        numeric: NumericChain | None = None, guess: Array | None = None,
        threads: int | None = None,
    ) -> Found:  # fmt: skip
        """Poses (N, 4, 4) -> q (N, 16, 6) ..."""
        numeric = self.chain.numeric() if numeric is None else numeric
        T = np.asarray(T, float).reshape(-1, 4, 4)
        return found_of(*self.prepared(numeric).run(T, threads), numeric.size)

    def one(self, numeric: NumericChain, inputs: dict[str, Array]) -> Callable[[], Array | None]:
        """The configurations of the pose that lies in the inputs."""
        made = self.prepared(numeric)
        return one_of(_function(made.slides), {**inputs, "robot": made.table}, 6)

    def some(self, any_values: bool = False) -> Prepared:
        """What is prepared already, or the chain itself."""
        return self._kept.some(any_values)

    def equations(self, form: str = "text") -> str:
        """The elimination, stated with its steps and sizes; form 'text' or 'latex'."""
        from .text import elimination

        return elimination(self.chain, (), self.some(True), form)


def one_of(kernel: Any, inputs: dict[str, Array], n: int) -> Callable[[], Array | None]:
    """The rows that a kernel of the general method finds; None where no elimination is sound."""
    q, info = np.empty(MOST * n), np.empty(64)
    run = kernel.bound(inputs, {"q": q, "info": info})
    rows, notes = q.reshape(MOST, n), notes_of(info.reshape(1, 64))[0]

    def solve() -> Array | None:
        run()
        return rows[: int(notes["count"])].copy() if notes["sound"] else None

    return solve


def notes_of(info: Array) -> Any:
    """The Answers (N,) of numbers (N, 64), by name."""
    return info.view(layout_of(Answers).dtype)[:, 0]


def found_of(q: Array, info: Array, size: float = 1.0) -> Found:
    """The kernel's answers, the rest NaN; `size` is the unit of its lengths."""
    notes = notes_of(info)
    count = notes["count"].astype(np.int64)
    rows = notes["rows"]
    rest = np.arange(MOST) >= count[:, None]
    q = q.copy()
    residual = rows["residual"] * max(1.0, size)
    q[rest] = np.nan
    residual[rest] = np.nan
    singular = (rows["quality"] < SINGULAR) & ~rest
    # a regular Jacobian is a simple root, whatever two roots nearby may have converged to it
    roots = np.where(singular, np.maximum(1, np.rint(rows["roots"])), 1).astype(np.int64)
    roots[rest] = 0
    return Found(q, count, residual, singular, roots)
