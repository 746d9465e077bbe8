"""The overdetermined equations y = W K of a motion, for the four identification models.

    dynamic   L tau      = L D(q, qd, qdd) K                                   [KC97] (39)
    filtered  L tau      = d/dt L D1(q, qd) K + L D2(q, qd) K                  (41)-(43), no qdd
    power     L (tau.qd) = d/dt L h(q, qd) K + L (qd . friction) K             (48) differentiated
    energy    ∫ tau.qd   = (h(t2) - h(t1)) K + ∫ qd . friction K               (48), (52)

L is the low-pass and decimation of the plan; it acts on both sides, and commutes with d/dt. The
first two have a row per joint and sample, the last two a row per sample or interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...describe.robot import Robot
from ...models.base_parameters import split_columns
from ..read.signals import Motion, Plan, derivative, lowpass, settling, states, two_poles
from ..recipe import Recipe
from .columns import Model, Rigid, Term, columns_of, terms_of

Array = np.ndarray
_SAMPLES = 1 << 14  # of a regressor at a time
Shape = Mapping[str, float]


@dataclass(frozen=True)
class Equations:
    """y (rows, r) = W (rows, r, p) K; r = n joints, or 1 for the scalar models.

    valid: equations that take part in the fit; t: their times; share: of independent rows."""

    W: Array
    y: Array
    valid: Array
    t: Array
    share: float
    name: str = ""

    def part(self, rows: Any) -> Equations:
        return Equations(
            self.W[rows], self.y[rows], self.valid[rows], self.t[rows], self.share, self.name
        )


def full_matrix(model: Model, motion: Motion, shape: Shape) -> Array:
    """D (rows, driven joints, all columns) at every state: the dynamic model, unfiltered."""
    D = _rigid(model, motion, "regressor")
    terms = [_term_rows(term, motion, shape) for term in model.terms]
    return np.concatenate([D, *(x[..., None] for x in terms)], axis=-1)


def equations(model: Model, motion: Motion, plan: Plan, kind: str, window: float,
              shape: Shape, dead_zone: float = 0.0) -> Equations:  # fmt: skip
    """The equations of a motion, with the model's independent columns."""
    reduce = Reduction(motion, plan, kind, window)
    rigid = reduce.rigid(model)
    y = reduce.rows(motion.tau) - _known(model, reduce)
    terms = [reduce.rows(_term_rows(term, motion, shape)) for term in model.terms]
    W = np.concatenate([rigid, *(x[..., None] for x in terms)], axis=-1)[..., list(model.kept)]
    valid = reduce.flags(motion.valid & (np.abs(motion.of_driven(motion.qd)) >= dead_zone))
    return Equations(W, y, valid, reduce.times(), plan.independent, motion.name)


def shaped(
    model: Model, motion: Motion, plan: Plan, kind: str, window: float, shape: Shape
) -> dict[int, Array]:
    """{column: (rows, r)}: the columns that depend on the shape, of those kept."""
    reduce = Reduction(motion, plan, kind, window)
    first = len(model.all_names) - len(model.terms)
    curves = {}
    for k, term in enumerate(model.terms):
        if term.start and first + k in model.kept:
            column = model.kept.index(first + k)
            curves[column] = reduce.rows(_term_rows(term, motion, shape))
    return curves


def _term_rows(term: Term, motion: Motion, shape: Shape) -> Array:
    return motion.torques(term.rows(motion, shape))


def _rigid(model: Model, motion: Motion, name: str) -> Array:
    """The rigid columns of a regressor program (rows, n or 1, columns); [D1, D2] side by side."""
    parts = [_block(block, motion, name) for block in model.unknown]
    return np.concatenate(parts, axis=-1)


def _block(block: Rigid, motion: Motion, name: str, part: str = "") -> Array:
    rows = len(motion.q)
    if block.payload and not motion.loaded:
        r = 1 if name == "energy-regressor" else motion.tau.shape[1]
        return np.zeros((rows, r, len(block.columns)))
    function = block.dynamic(name, not block.full)
    listed = function.program.columns
    wanted = block.dynamic.columns("regressor", not block.full)
    columns = [listed.index(wanted[k]) for k in block.columns]
    inputs = {"q": motion.q, "qd": motion.of_driven(motion.qd)}
    if name == "regressor":
        inputs["qdd"] = motion.of_driven(motion.qdd)
    values = function(**inputs, threads=0 if rows > 20_000 else 1)
    D = getattr(values, part) if part else values
    D = D[:, None, :] if name == "energy-regressor" else D
    return D if columns == list(range(D.shape[-1])) else np.ascontiguousarray(D[..., columns])


def known_torques(model: Model, motion: Motion) -> Array | float:
    """The torques of the payload's known parameters at every sample."""
    total: Array | float = 0.0
    for block in model.blocks:
        if block.values is not None:
            total = total + _block(block, motion, "regressor") @ np.array(block.values)
    return total


def _known(model: Model, reduce: Reduction) -> Array | float:
    """The torques of the payload's known parameters."""
    total: Array | float = 0.0
    for block in model.blocks:
        if block.values is not None:
            total = total + reduce.block(block) @ np.array(block.values)
    return total


class Reduction:
    """Low-pass, decimation and, for the scalar models, the product with the velocities."""

    def __init__(self, motion: Motion, plan: Plan, kind: str, window: float) -> None:
        self.motion, self.plan, self.kind = motion, plan, kind
        self.scalar = kind in ("power", "energy")
        self.step = max(1, round(window / motion.dt)) if kind == "energy" else plan.decimate
        self.cutoff = None if kind == "energy" else plan.parallel

    def rigid(self, model: Model) -> Array:
        return np.concatenate([self.block(block) for block in model.unknown], axis=-1)

    def block(self, block: Rigid) -> Array:
        """The rows of a regressor that are kept. Regressors are large: they are evaluated and
        filtered piece by piece, with margins in which a filter forgets where it began."""
        count = len(range(0, len(self.motion.q), self.step)) - (self.kind == "energy")
        margin = self.margin()
        pieces = max(1, max(_SAMPLES, 2 * margin) // self.step)
        rows = []
        for first in range(0, count, pieces):
            last = min(count, first + pieces)
            start = max(0, first * self.step - margin)
            stop = (last - (self.kind != "energy")) * self.step + 1 + margin
            piece = self.motion.part(slice(start, stop))
            D = self.reduced(block, piece)
            rows.append(D[first * self.step - start :: self.step][: last - first].copy())
        return np.concatenate(rows) if rows else self.reduced(block, self.motion)[:0]

    def reduced(self, block: Rigid, motion: Motion) -> Array:
        """A regressor as it enters the equations, at every sample."""
        if self.kind == "dynamic":
            return self.low(_block(block, motion, "regressor"))
        if self.kind == "filtered":
            D1 = _block(block, motion, "filtered-regressor", "D1")
            D2 = self.low(_block(block, motion, "filtered-regressor", "D2"))
            return np.asarray(self.slope(D1) + D2)
        h = _block(block, motion, "energy-regressor")
        if self.kind == "power":
            return self.slope(h)
        change = np.zeros(h.shape)
        change[: -self.step] = h[self.step :] - h[: -self.step]
        return change

    def margin(self) -> int:
        """Samples after which nothing of the ends of a piece is left in double precision."""
        ends = self.plan.accuracy if self.kind in ("filtered", "power") else 0
        if self.cutoff is None:
            return ends
        if self.plan.kind == "kc97":
            return ends + int(np.ceil(40 * self.plan.rate / (2 * np.pi * self.cutoff)))
        return ends + settling(self.plan.order, self.cutoff / (self.plan.rate / 2))

    def rows(self, x: Array) -> Array:
        """A torque-like signal (rows, n) as it enters the equations."""
        if not self.scalar:
            return self.smooth(x)
        power = (x * self.motion.of_driven(self.motion.qd)).sum(axis=1, keepdims=True)
        if self.kind == "power":
            return self.smooth(power)
        work = np.concatenate([np.zeros((1, 1)), np.cumsum(_steps(power), axis=0)])
        return np.diff(work[:: self.step] * self.motion.dt, axis=0)

    def low(self, x: Array) -> Array:
        """The low-pass, column by column in place, sparing those that are zero."""
        if self.cutoff is None:
            return x
        flat = x.reshape(len(x), -1)
        used = np.flatnonzero([bool(column.any()) for column in flat.T])
        for some in np.array_split(used, max(1, len(used) // 16)):
            if len(some):
                flat[:, some] = self.passed(flat[:, some])
        return x

    def passed(self, x: Array) -> Array:
        assert self.cutoff is not None
        if self.plan.kind == "kc97":
            return two_poles(x, self.cutoff, self.plan.rate)
        return lowpass(x, self.cutoff, self.plan.rate, self.plan.order)

    def smooth(self, x: Array) -> Array:
        return np.ascontiguousarray(self.low(x.copy())[:: self.step])

    def slope(self, x: Array) -> Array:
        """The derivative behind the low-pass."""
        if self.plan.kind == "kc97" and self.cutoff is not None:
            return two_poles(x, self.cutoff, self.plan.rate, slope=True)
        return derivative(self.low(x), self.motion.dt, self.plan.accuracy)

    def flags(self, valid: Array) -> Array:
        if self.scalar:
            whole = np.asarray(valid.all(axis=1, keepdims=True))
            if self.kind == "energy":
                starts = range(0, len(whole) - self.step, self.step)
                return np.array([whole[k : k + self.step + 1].all(axis=0) for k in starts]).reshape(
                    -1, 1
                )[: len(whole[:: self.step]) - 1]
            return whole[:: self.step]
        return valid[:: self.step]

    def times(self) -> Array:
        t = self.motion.t[:: self.step]
        return t[1:] if self.kind == "energy" else t


def _steps(x: Array) -> Array:
    """The integral from each sample to the next, in samples: of the cubics through four of them.
    Trapezia would lose what the parameters of small effect add."""
    if len(x) < 4:
        return np.asarray((x[1:] + x[:-1]) / 2)
    inside = (13 * (x[1:-2] + x[2:-1]) - x[:-3] - x[3:]) / 24
    ends = [(9 * a + 19 * b - 5 * c + d) / 24 for a, b, c, d in (x[:4], x[-1:-5:-1])]
    return np.concatenate([ends[0][None], inside, ends[1][None]])


def stacked(parts: Sequence[Equations]) -> Equations:
    """The equations of several recordings as one."""
    return Equations(
        np.concatenate([part.W for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.valid for part in parts]),
        np.concatenate([part.t for part in parts]),
        min(part.share for part in parts),
        parts[0].name,
    )


@lru_cache(maxsize=8)
def model_of(
    robot: Robot, recipe: Recipe, *, loaded: bool = False, start: tuple[float, ...] = (),
    any_assembly: bool = False,
) -> Model:  # fmt: skip
    """The identification model of a robot, as the recipe wants it, with independent columns.

    start: with closed loops, a configuration of the assembly it is for; any_assembly: by the base
    parameters of its tree, which hold in all, and of which the recording leaves out what depends
    on others in its own."""
    whole = columns_of(robot, recipe, loaded, any_assembly)
    if any_assembly:
        return replace(whole, kept=tuple(range(len(whole.all_names))))
    return _independent(whole, loaded, np.array(start or whole.ties.home(recipe.assembly.q)))


def _independent(whole: Model, loaded: bool, start: Array) -> Model:
    """The model with columns that depend on earlier ones at random states left out."""
    count = max(40, 4 * len(whole.all_names))
    rng = np.random.default_rng(7)
    q = whole.ties.random(rng, start, count)
    qd, qdd = (rng.uniform(-3, 3, (count, len(whole.ties.active))) for _ in range(2))
    motion = whole.ties.moving(q, states(q, qd, qdd))
    parts = []
    for with_payload in (False, True) if loaded else (False,):
        D = full_matrix(whole, replace(motion, loaded=with_payload), whole.shape)
        parts.append(D.reshape(-1, D.shape[-1]))
    W = np.vstack(parts)
    used = [k for k in range(W.shape[1]) if np.linalg.norm(W[:, k]) > 1e-9]
    independent, _ = split_columns(W, used)
    columns = tuple(sorted(independent))
    dropped = tuple(name for k, name in enumerate(whole.all_names) if k not in columns)
    return replace(whole, kept=columns, dropped=dropped)


def described(model: Model, recipe: Recipe, *, loaded: bool, start: tuple[float, ...]) -> Model:
    """The model with the terms of another recipe."""
    terms = terms_of(model.robot, model.ties, recipe)
    whole = replace(model, terms=terms, kept=(), dropped=())
    if model.rotors and not recipe.fit.motor_inertia:
        block = model.blocks[0]
        own = [k for k, name in enumerate(block.names) if not name.startswith("IA")]
        names = tuple(block.names[k] for k in own)
        bare = replace(block, names=names, columns=tuple(block.columns[k] for k in own))
        whole = replace(whole, blocks=(bare, *model.blocks[1:]), rotors=False)
    if model.blocks[0].full:  # of any assembly
        return replace(whole, kept=tuple(range(len(whole.all_names))))
    return _independent(whole, loaded, np.array(start or model.ties.home(recipe.assembly.q)))
