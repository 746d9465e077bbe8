"""The equations of all recordings of a recipe, and their solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...describe.robot import Robot
from ...errors import InputError
from ...models.base_parameters import split_columns
from ..model.columns import Model
from ..model.equations import Equations, equations, shaped, stacked
from ..model.ties import ties_of
from ..read.series import Series
from ..read.signals import Motion, Plan, commanded, moved, plan
from ..recipe import Recipe
from .consistent import FullParameters, consistent_fit
from .solve import Estimate, estimate, fit_shape, instrumental, projected, relative_error

_ROUNDS = 3
_DIGITS = "0123456789"
_RUBS = ("FV", "FS")


@dataclass(frozen=True)
class Source:
    """A motion, its filters, and how many of its equations are fitted (the rest is held out)."""

    series: Series
    motion: Motion
    plan: Plan
    share: float
    commanded: Motion | None = None  # beside the measured motion, where it was recorded

    @staticmethod
    def of(series: Series, robot: Robot, recipe: Recipe) -> Source:
        """A recording behind the filters of a recipe."""
        filters = plan(series, recipe.filter)
        motion = moved(series, filters, recipe.filter, ties_of(robot))
        if len(motion.q) < 20:
            raise InputError(
                f"{series.name}: too short: {len(motion.q)} samples are left when the ends are "
                "trimmed ([filter] trim)"
            )
        return Source(
            series, motion, filters, 1 - recipe.fit.split, commanded(series, filters, motion)
        )

    def scaled(self, factors: np.ndarray, robot: Robot, recipe: Recipe) -> Source:
        """The recording with its torques times factors, one of each driven joint."""
        return Source.of(replace(self.series, tau=self.series.tau * factors), robot, recipe)

    def fitted(self, rows: int) -> int:
        return round(rows * self.share)


class Fitting:
    """The equations of all sources, and their solution."""

    def __init__(
        self, model: Model, recipe: Recipe, sources: Sequence[Source], most: int = 0,
        shape: Mapping[str, float] | None = None,
    ) -> None:  # fmt: skip
        """most: samples that take part, about; 0: all. shape: where the search for it starts."""
        self.model, self.recipe, self.sources = model, recipe, sources
        self.whole = model  # with the columns that the motion does not excite
        rows = sum(len(source.motion.q) // source.plan.decimate for source in sources)
        self.step = max(1, rows // most) if most else 1
        self.start = {key: (shape or {}).get(key, x) for key, x in model.shape.items()}
        self.known = bool(shape)
        self.data = self.build(self.start)
        rows, unknowns = int(self.data.valid.sum()), self.data.W.shape[2]
        if rows < unknowns:
            raise InputError(
                f"{sources[0].motion.name}: {rows} equations are left for {unknowns} parameters:"
                " record longer, hold out less ([fit] split), or leave out less ([filter] decimate,"
                " trim)"
            )

    def build(self, shape: Mapping[str, float], *, commanded: bool = False) -> Equations:
        """The equations that are fitted, along the motion measured, or commanded."""
        parts = []
        for source in self.sources:
            if commanded:
                assert source.commanded is not None
                source = replace(source, motion=source.commanded)
            part = _equations(self.model, self.recipe, source, shape)
            parts.append(part.part(slice(0, source.fitted(len(part.y)), self.step)))
        return stacked(parts)

    def curved(self, shape: Mapping[str, float]) -> dict[int, np.ndarray]:
        """The columns that depend on the shape, of the equations that are fitted."""
        fit = self.recipe.fit
        parts = []
        for source in self.sources:
            curves = shaped(self.model, source.motion, source.plan, fit.model, fit.window, shape)
            rows = source.fitted(len(next(iter(curves.values()), ())))
            parts.append({k: x[: rows : self.step] for k, x in curves.items()})
        return {k: np.concatenate([part[k] for part in parts]) for k in parts[0]}

    def excited(self) -> tuple[Model, list[str]]:
        """The model without the columns that this motion cannot tell from the others."""
        W = self.data.W.reshape(-1, self.data.W.shape[2])
        norms = np.linalg.norm(W, axis=0)
        used = [k for k in range(W.shape[1]) if norms[k] > 1e-12 * norms.max()]
        R = np.asarray(np.linalg.qr(W / np.maximum(norms, 1e-300), mode="r"))
        independent, _ = split_columns(R, used)
        kept = sorted(independent)
        lost = [name for k, name in enumerate(self.model.names) if k not in kept]
        if lost:
            columns = tuple(self.model.kept[k] for k in kept)
            self.model = replace(self.model, kept=columns)
            self.data = replace(self.data, W=np.ascontiguousarray(self.data.W[..., kept]))
        told = f"the motion does not excite {', '.join(lost)}: left out, the others absorb them"
        return self.model, [told] if lost else []

    def solved(self) -> tuple[dict[str, float], Estimate, Equations]:
        fit, shape = self.recipe.fit, {key: self.start[key] for key in self.model.shape}
        if shape:
            shape = fit_shape(self.curved, self.data, shape, fit.weights, 1 if self.known else 3)
            W = self.data.W.copy()
            for column, rows in self.curved(shape).items():
                W[..., column] = rows
            self.data = replace(self.data, W=W)
        return shape, self.estimated(shape), self.data

    def estimated(self, shape: Mapping[str, float]) -> Estimate:
        """The linear parameters, by the recipe's method."""
        fit = self.recipe.fit
        if fit.method == "instrumental":
            return instrumental(self.data, self.build(shape, commanded=True).W)
        return estimate(self.data, fit.weights, fit.robust)

    def real(
        self, shape: dict[str, float], found: Estimate
    ) -> tuple[dict[str, float], Estimate, FullParameters]:
        """Real bodies, with the shape of the friction and the estimate that they start from.

        A coefficient of friction that would be negative is zero in them. Where widths are fitted,
        others can take its place with other widths: these are tried too."""
        full = self.bodies(shape, found)
        other = {} if full.exact else self._rubbing(shape, found.K)
        if not other:
            return shape, found, full
        again = Fitting(self.model, self.recipe, self.sources, shape=other)
        start = again.estimated(other)
        better = again.bodies(other, start)
        if again.error(better.K) < Fitting(
            self.model, self.recipe, self.sources, shape=shape
        ).error(full.K):
            return other, start, better
        return shape, found, full

    def error(self, K: np.ndarray) -> float:
        """|y - W K| / |y| over the equations that are fitted."""
        data = self.data
        return relative_error(data.W * data.valid[..., None], data.y * data.valid, K)

    def _rubbing(self, shape: dict[str, float], K: np.ndarray) -> dict[str, float]:
        """The shape without the coefficients of friction that would be negative; none where there
        are none."""
        model, known = self.model, dict(shape)
        for _ in range(_ROUNDS if shape else 0):
            signed = zip(model.kept, model.names, K, strict=True)
            kept = tuple(k for k, name, x in signed if x >= 0 or name.rstrip(_DIGITS) not in _RUBS)
            if kept == model.kept:
                break
            model = replace(model, kept=kept)
            estimate, fit, _ = Fitting(model, self.recipe, self.sources, shape=known).solved()
            known, K = known | estimate, fit.K
        return {} if model is self.model else known

    def bodies(self, shape: Mapping[str, float], estimate: Estimate) -> FullParameters:
        """The full parameters of real bodies; what was not excited counts as a body's too."""
        chosen, K = self.recipe.consistent, estimate.K
        if self.model.kept == self.whole.kept:
            seen = np.eye(len(K))
            return consistent_fit(
                self.model, estimate.R, estimate.z, estimate.rest, seen, K, chosen
            )
        rows = [self.whole.kept.index(k) for k in self.model.kept]
        lost = [k for k in range(len(self.whole.kept)) if k not in rows]
        self.model = self.whole
        data = self.build(shape)
        scale = data.valid / estimate.spread
        p = data.W.shape[2]
        A, b = (data.W * scale[..., None]).reshape(-1, p), (data.y * scale).ravel()
        Z = A
        if self.recipe.fit.method == "instrumental":
            Z = (self.build(shape, commanded=True).W * scale[..., None]).reshape(-1, p)
        R = projected(Z, A, b)
        seen = np.zeros((len(rows), p))
        seen[:, rows] = np.eye(len(rows))
        seen[:, lost] = np.linalg.lstsq(R[:p, rows], R[:p, lost], rcond=None)[0]
        return consistent_fit(self.whole, R[:, :p], R[:, p], estimate.rest, seen, K, chosen)


def _equations(
    model: Model, recipe: Recipe, source: Source, shape: Mapping[str, float], kind: str = ""
) -> Equations:
    return equations(
        model, source.motion, source.plan, kind or recipe.fit.model, recipe.fit.window, shape,
        recipe.friction.dead_zone,
    )  # fmt: skip


def blocks_error(data: Equations, spread: np.ndarray, folds: int) -> float | None:
    """Cross-validation: every block of the recordings predicted by a fit to the others."""
    rows = len(data.y)
    if folds < 2 or rows < 4 * folds or data.y.shape[1] == 1:
        return None
    scale = data.valid / np.maximum(spread, 1e-300)
    A, b = data.W * scale[..., None], data.y * scale
    p = A.shape[2]
    blocks = [slice(rows * k // folds, rows * (k + 1) // folds) for k in range(folds)]
    norms = np.maximum(np.linalg.norm(A.reshape(-1, p), axis=0), 1e-300)
    parts = [
        np.linalg.qr(np.column_stack([(A[s] / norms).reshape(-1, p), b[s].ravel()]), mode="r")
        for s in blocks
    ]
    rest = 0.0
    for k, block in enumerate(blocks):
        others = np.vstack([part for i, part in enumerate(parts) if i != k])
        K = np.linalg.lstsq(others[:, :p], others[:, p], rcond=None)[0] / norms
        rest += float(np.sum((data.valid * (data.y - data.W @ K))[block] ** 2))
    total = float(np.sum((data.valid * data.y) ** 2))
    return float(np.sqrt(rest / total))
