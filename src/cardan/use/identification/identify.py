"""Identification end to end: recordings in, parameters with their deviations and errors out.

    result = identify("ur10", "log.db3", "ur10.recipe.toml", validation="other.db3")
    result                      # the table of parameters
    result.errors               # relative torque errors: fit, held out, validation, folds ...
    result.robot                # the robot with physically consistent parameters
    result.save("report/")      # report, parameters, robot files
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...describe.files import load
from ...describe.robot import Robot
from ...errors import InputError
from ...models.base_parameters import split_columns
from . import checks
from .columns import Model, model_of
from .consistent import FullParameters, consistent_fit
from .equations import Equations, equations, full_matrix, known_torques, shaped, stacked
from .logs import read_recording
from .recipe import Recipe, read_recipe
from .result import Curves, Essential, Identification
from .series import series_of
from .signals import Motion, Plan, moved, plan, require_scipy
from .solve import Estimate, essential, estimate, fit_shape, relative_error

__all__ = ["identify"]

Log = str | os.PathLike[str] | Mapping[str, Any]
Progress = Callable[[str], None]
_POOR = 0.25  # a fit worse than this is looked at for wrong units


@dataclass(frozen=True)
class _Source:
    """A motion, its filters, and how many of its equations are fitted (the rest is held out)."""

    motion: Motion
    plan: Plan
    share: float

    def fitted(self, rows: int) -> int:
        return round(rows * self.share)


def identify(
    robot: Robot | str | os.PathLike[str],
    logs: Log | Sequence[Log],
    recipe: str | os.PathLike[str] | Mapping[str, Any] | Recipe | None = None,
    *,
    validation: Log | Sequence[Log] | None = None,
    payload: Log | Sequence[Log] | None = None,
    consistent: bool = True,
    progress: Progress = lambda text: None,
) -> Identification:
    """The dynamic parameters of a robot from recordings of its motion and torques.

    validation: recordings that are only predicted; payload: recordings with a load on the last
    link (or [payload] link), whose parameters XXL .. ML are identified too."""
    require_scipy("identification")
    robot = robot if isinstance(robot, Robot) else load(robot)
    chosen = read_recipe(recipe)
    progress("reading the recordings")
    sources, notes = _sources(robot, _listed(logs), chosen)
    loaded, more = _sources(robot, _listed(payload), chosen, loaded=True)
    others, extra = _sources(robot, _listed(validation), chosen)
    sources, notes = [*sources, *loaded], [*notes, *more, *extra]
    progress("deriving the identification model")
    model = model_of(robot, chosen, loaded=bool(loaded))
    progress("solving")
    fit = _Fit(model, chosen, sources)
    model, dropped = fit.excited()
    notes += dropped
    shape, found, data = fit.solved()
    notes += _unit_suspicion(model, chosen, sources, shape, data, found)
    notes += _remarks(model, found, data)
    progress("validating")
    curves, errors = _evaluated(model, chosen, sources, others, shape, found.K)
    errors |= _folds(data, found, chosen)
    kept, K, sigma, _ = essential(found, chosen.fit.confidence)
    small = Essential(tuple(model.names[k] for k in kept), K, sigma, _error_of(curves, kept, K))
    full = None
    if consistent:
        progress("fitting physically consistent bodies")
        full = consistent_fit(model, found.R, found.z, found.rest, chosen.consistent)
        errors |= _consistent_errors(curves, full)
    return Identification(
        robot, chosen, model, shape, found, errors, small, full, tuple(curves), tuple(notes),
        tuple(source.plan for source in sources),
    )  # fmt: skip


def _listed(logs: Log | Sequence[Log] | None) -> list[Log]:
    if logs is None:
        return []
    if isinstance(logs, str | os.PathLike | Mapping):
        return [logs]
    return list(logs)


def _sources(
    robot: Robot, logs: Sequence[Log], recipe: Recipe, *, loaded: bool = False
) -> tuple[list[_Source], list[str]]:
    sources, notes = [], []
    for log in logs:
        recording = read_recording(log, recipe.log)
        parts, told = series_of(robot, recording, recipe, loaded=loaded)
        notes += told
        for part in parts:
            filters = plan(part, recipe.filter)
            motion = moved(part, filters, recipe.filter)
            if len(motion.q) < 20:
                raise InputError(
                    f"{part.name}: too short: {len(motion.q)} samples are left when the ends are "
                    "trimmed ([filter] trim)"
                )
            sources.append(_Source(motion, filters, 1 - recipe.fit.split))
    return sources, notes


class _Fit:
    """The equations of all sources, and their solution."""

    def __init__(self, model: Model, recipe: Recipe, sources: Sequence[_Source]) -> None:
        self.model, self.recipe, self.sources = model, recipe, sources
        self.data = self.build(model.shape)

    def build(self, shape: Mapping[str, float]) -> Equations:
        """The equations that are fitted."""
        parts = []
        for source in self.sources:
            part = _equations(self.model, self.recipe, source, shape)
            parts.append(part.part(slice(0, source.fitted(len(part.y)))))
        return stacked(parts)

    def curved(self, shape: Mapping[str, float]) -> dict[int, np.ndarray]:
        """The columns that depend on the shape, of the equations that are fitted."""
        fit = self.recipe.fit
        parts = []
        for source in self.sources:
            found = shaped(self.model, source.motion, source.plan, fit.model, fit.window, shape)
            rows = source.fitted(len(next(iter(found.values()), ())))
            parts.append({k: x[:rows] for k, x in found.items()})
        return {k: np.concatenate([part[k] for part in parts]) for k in parts[0]}

    def excited(self) -> tuple[Model, list[str]]:
        """The model without the columns that this motion cannot tell from the others."""
        W = self.data.W.reshape(-1, self.data.W.shape[2])
        norms = np.linalg.norm(W, axis=0)
        used = [k for k in range(W.shape[1]) if norms[k] > 1e-12 * norms.max()]
        R = np.linalg.qr(W / np.maximum(norms, 1e-300), mode="r")
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
        fit, shape = self.recipe.fit, self.model.shape
        if shape:
            shape = fit_shape(self.curved, self.data, shape, fit.weights)
            W = self.data.W.copy()
            for column, rows in self.curved(shape).items():
                W[..., column] = rows
            self.data = replace(self.data, W=W)
        return shape, estimate(self.data, fit.weights, fit.robust), self.data


def _equations(
    model: Model, recipe: Recipe, source: _Source, shape: Mapping[str, float], kind: str = ""
) -> Equations:
    return equations(
        model, source.motion, source.plan, kind or recipe.fit.model, recipe.fit.window, shape,
        recipe.friction.dead_zone,
    )  # fmt: skip


def _evaluated(
    model: Model, recipe: Recipe, sources: Sequence[_Source], others: Sequence[_Source],
    shape: Mapping[str, float], K: np.ndarray,
) -> tuple[list[Curves], dict[str, float]]:  # fmt: skip
    """Torques and predictions of the dynamic model, and their relative errors."""
    curves = []
    for source, role in (*((s, "fit") for s in sources), *((s, "validation") for s in others)):
        part = _equations(model, recipe, source, shape, "dynamic")
        cut = source.fitted(len(part.y)) if role == "fit" else len(part.y)
        for rows, name in ((slice(0, cut), role), (slice(cut, None), "held out")):
            if len(part.y[rows]):
                curves.append(Curves(name, part.name, part.t[rows], part.y[rows], part.W[rows]))
    errors = {}
    for role in ("fit", "held out", "validation"):
        chosen = [c for c in curves if c.role == role]
        if chosen:
            y = np.concatenate([c.y for c in chosen])
            W = np.concatenate([c.W for c in chosen])
            errors[role] = relative_error(W, y, K)
    errors["fit, unfiltered torques"] = _unfiltered(model, sources, shape, K)
    return curves, errors


def _unfiltered(
    model: Model, sources: Sequence[_Source], shape: Mapping[str, float], K: np.ndarray
) -> float:
    """The error against the torques as they were recorded, at every sample."""
    rest = total = 0.0
    for source in sources:
        for start in range(0, len(source.motion.q), 4096):
            motion = source.motion.part(slice(start, start + 4096))
            W = full_matrix(model, motion, shape)[..., list(model.kept)]
            known = known_torques(model, motion)
            rest += float(np.sum((motion.tau - known - W @ K) ** 2))
            total += float(np.sum(motion.tau**2))
    return float(np.sqrt(rest / total)) if total else 0.0


def _folds(data: Equations, found: Estimate, recipe: Recipe) -> dict[str, float]:
    """Cross-validation: every block of the recording predicted by a fit to the others."""
    folds = recipe.fit.folds
    rows = len(data.y)
    if folds < 2 or rows < 4 * folds or data.y.shape[1] == 1:
        return {}
    scale = data.valid / np.maximum(found.spread, 1e-300)
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
        rest += float(np.sum((data.y[block] - data.W[block] @ K) ** 2))
    return {f"cross-validation, {folds} blocks": float(np.sqrt(rest / np.sum(data.y**2)))}


def _error_of(curves: Sequence[Curves], kept: Sequence[int], K: np.ndarray) -> dict[str, float]:
    found = {}
    for role in ("fit", "held out", "validation"):
        chosen = [c for c in curves if c.role == role]
        if chosen:
            y = np.concatenate([c.y for c in chosen])
            W = np.concatenate([c.W for c in chosen])[..., list(kept)]
            found[role] = relative_error(W, y, K)
    return found


def _consistent_errors(curves: Sequence[Curves], full: FullParameters) -> dict[str, float]:
    every = list(range(len(full.K)))
    return {
        f"{role}, consistent bodies": error
        for role, error in _error_of(curves, every, full.K).items()
    }


def _remarks(model: Model, found: Estimate, data: Equations) -> list[str]:
    notes = []
    p = len(found.K)
    if model.dropped:
        notes.append(f"not independent of the others, left out: {', '.join(model.dropped)}")
    if found.rows < 10 * p:
        notes.append(f"only {found.rows} equations for {p} parameters: record longer")
    if found.condition > 1e4:
        notes.append(
            f"the equations are badly conditioned ({found.condition:.3g} with columns of unit "
            "length): move faster, farther, in more directions (cardan excite)"
        )
    return notes


def _unit_suspicion(
    model: Model, recipe: Recipe, sources: Sequence[_Source], shape: Mapping[str, float],
    data: Equations, found: Estimate,
) -> list[str]:  # fmt: skip
    """A bad fit: would it be good if a column were in degrees?"""
    error = relative_error(data.W, data.y, found.K)
    if error < _POOR or not recipe.log.check_units or recipe.fit.model != "dynamic":
        return []
    n = model.robot.n
    best, guilty = error, ""
    trials = [list(range(n)), *([j] for j in range(n))]
    for joints in trials if n > 1 else trials[:1]:
        for factor, unit in ((1 / checks.DEGREES, "deg"), (checks.DEGREES, "rad")):
            trial = [_rescaled(source, joints, factor) for source in sources]
            parts = [_equations(model, recipe, source, shape) for source in trial]
            whole = stacked(parts)
            A, b = whole.W.reshape(-1, whole.W.shape[2]), whole.y.ravel()
            K, *_ = np.linalg.lstsq(A, b, rcond=None)
            now = relative_error(A, b, K)
            if now < best:
                best, guilty = now, f"{_positions(recipe, joints)} read in {unit}"
    if best < 0.4 * error and best < _POOR:
        raise InputError(
            f"{sources[0].motion.name}: the fit is bad (relative torque error {error:.0%}), but "
            f"good ({best:.1%}) with {guilty}, from the first row on: set [position] unit "
            "(if it is right: [log] check_units = false)"
        )
    return [f"the fit is bad: relative torque error {error:.0%}; look at columns, units and signs"]


def _rescaled(source: _Source, joints: Sequence[int], factor: float) -> _Source:
    scale = np.ones(source.motion.q.shape[1])
    scale[list(joints)] = factor
    motion = source.motion
    changed = replace(motion, q=motion.q * scale, qd=motion.qd * scale, qdd=motion.qdd * scale)
    return replace(source, motion=changed)


def _positions(recipe: Recipe, joints: Sequence[int]) -> str:
    names = recipe.position.columns
    listed = [names[j] if len(names) > j else f"q{j + 1}" for j in joints]
    return f"column{'s' * (len(joints) > 1)} {', '.join(listed)}"
