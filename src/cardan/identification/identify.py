"""Identification end to end: recordings in, parameters with their deviations and errors out.

result = identify("ur10", "log.db3", "ur10.recipe.toml", validation="other.db3")
result                      # the table of parameters
result.errors               # relative torque errors: fit, held out, validation, folds ...
result.robot                # the robot with physically consistent parameters
result.file_errors          # the errors of that robot, and of each file that `save` writes
result.save("report/")      # report, parameters, robot files
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..build.base import BaseParameters
from ..describe.files import load
from ..describe.robot import DRIVE, Robot
from ..errors import InputError, ModelError, translated
from ..models.base_parameters import split_columns
from ..models.bodies import bodies
from ..models.newton_euler import inverse_dynamics
from .fit.consistent import FullParameters, consistent_fit
from .fit.evaluation import Track
from .fit.solve import Estimate, essential, estimate, fit_shape, relative_error
from .fit.suspicion import suspicions
from .model.columns import Model, describable, parametrised
from .model.equations import (
    Equations,
    described,
    equations,
    full_matrix,
    known_torques,
    model_of,
    shaped,
    stacked,
)
from .model.ties import ties_of
from .read.logs import read_recording
from .read.series import series_of
from .read.signals import Motion, Plan, moved, plan, require_scipy
from .recipe import Recipe, read_recipe
from .report.result import Curves, Essential, Held, Identification, together

__all__ = ["identify"]

_STATES = 60  # of a motion that are looked at
_SAME = 1e-7
Log = str | os.PathLike[str] | Mapping[str, Any]
Progress = Callable[[str], None]
_SHORTEST = 0.5  # s
_LARGEST = 1e60  # of a position, velocity, acceleration or torque: squares are summed
_REMEDY = "check the values of the recipe, and that the recording holds the motion it should"


@dataclass(frozen=True)
class _Source:
    """A motion, its filters, and how many of its equations are fitted (the rest is held out)."""

    motion: Motion
    plan: Plan
    share: float

    def fitted(self, rows: int) -> int:
        return round(rows * self.share)


@named_arguments
@translated("identification failed", remedy=_REMEDY)
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
    link (or [payload] link), whose parameters XXL .. ML are identified too.

    >>> link = {"mass": 2, "com": [0.5, 0, 0]}
    >>> robot = cardan.load({"name": "pendulum", "gravity": [0, -9.81, 0], "link": [link]})
    >>> motion = cardan.excite(robot, period=4, harmonics=2, starts=2, iterations=0).motion
    >>> log = {"t": motion.t, "q": motion.q, "tau": cardan.torques(robot, motion).total}
    >>> result = cardan.identify(robot, log, consistent=False)
    >>> bool(result.errors["fit"] < 0.01)
    True"""
    require_scipy("identification")
    robot = robot if isinstance(robot, Robot) else load(robot)
    if robot.wheels:
        raise ModelError(
            f"recordings of '{robot.name}' do not tell where it was: its wheels roll, and positions"
            " are no function of the motors; 'regressor' gives its equations at known states"
        )
    if robot.constrained:
        parametrised(robot)  # loops are closed while recordings are read: the numbers must be there
    chosen = read_recipe(recipe)
    progress("reading the recordings")
    sources, others, notes = _read(robot, chosen, logs, payload, validation)
    progress("deriving the identification model")
    _finite(sources)
    model = _model(robot, chosen, [*sources, *others], loaded=payload is not None)
    fit = _Fit(model, chosen, sources)
    progress("solving")
    model, dropped = fit.excited()
    shape, estimate, data = fit.solved()
    notes += [
        *dropped,
        *suspicions(model, chosen, [s.motion for s in sources], shape, data, estimate),
    ]
    notes += _remarks(model, estimate)
    progress("validating")
    curves, errors = _evaluated(model, chosen, sources, others, shape, estimate.K)
    errors |= _folds(data, estimate, chosen)
    full = None
    if consistent:
        progress("fitting physically consistent bodies")
        full = fit.bodies(shape, estimate)
        errors |= _consistent_errors(curves, full)
        notes += _body_remarks(model, estimate, full)
    if describable(chosen) == chosen:
        held = Held(model, estimate, full)
    else:
        progress("fitting what a robot file can hold")
        held = _held(model, chosen, sources, loaded=payload is not None, consistent=consistent)
    result = Identification(
        robot, chosen, model, shape, estimate, errors, _essential(model, estimate, curves, chosen),
        full, tuple(curves), tuple(notes), tuple(source.plan for source in sources), held,
        _tracks(sources, others),
    )  # fmt: skip
    return result.with_files()


def _held(
    model: Model, recipe: Recipe, sources: Sequence[_Source], *, loaded: bool, consistent: bool
) -> Held:
    """The parameters that a robot description can hold, fitted again without the others: what
    these explain is not simply cut off."""
    start = tuple(sources[0].motion.q[0].tolist()) if model.robot.constrained else ()
    fit = _Fit(described(model, recipe, loaded=loaded, start=start), describable(recipe), sources)
    own, _ = fit.excited()
    shape, estimate, _ = fit.solved()
    return Held(own, estimate, fit.bodies(shape, estimate) if consistent else None)


def _tracks(sources: Sequence[_Source], others: Sequence[_Source]) -> tuple[Track, ...]:
    """The recordings that descriptions are judged on: those without a payload, which they do not
    have."""
    tracks = []
    for source, validation in (*((x, False) for x in sources), *((x, True) for x in others)):
        if not source.motion.loaded:
            rows = len(range(0, len(source.motion.q), source.plan.decimate))
            tracks.append(Track(source.motion, source.plan, source.fitted(rows), validation))
    return tuple(tracks)


def _read(
    robot: Robot, recipe: Recipe, logs: Log | Sequence[Log], payload: Log | Sequence[Log] | None,
    validation: Log | Sequence[Log] | None,
) -> tuple[list[_Source], list[_Source], list[str]]:  # fmt: skip
    """(sources to fit, sources to predict, notes)"""
    sources, notes = _sources(robot, _listed(logs), recipe)
    loaded, more = _sources(robot, _listed(payload), recipe, loaded=True)
    others, extra = _sources(robot, _listed(validation), recipe)
    if not sources:
        raise InputError("no recording to fit was given")
    _long_enough([*sources, *loaded])
    return [*sources, *loaded], others, [*notes, *more, *extra]


def _model(robot: Robot, recipe: Recipe, sources: Sequence[_Source], *, loaded: bool) -> Model:
    """The identification model, of closed loops that of the assembly in the recordings."""
    if not robot.constrained:
        return model_of(robot, recipe, loaded=loaded)
    start = tuple(sources[0].motion.q[0].tolist())
    model = model_of(robot, recipe, loaded=loaded, start=start)
    if _covers(model.base, [source.motion for source in sources]):
        return model
    return model_of(robot, recipe, loaded=loaded, start=start, any_assembly=True)


def _essential(
    model: Model, estimate: Estimate, curves: Sequence[Curves], recipe: Recipe
) -> Essential:
    kept, K, sigma, _ = essential(estimate, recipe.fit.confidence)
    names = tuple(model.names[k] for k in kept)
    return Essential(names, K, sigma, _error_of(curves, kept, K))


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
            motion = moved(part, filters, recipe.filter, ties_of(robot))
            if len(motion.q) < 20:
                raise InputError(
                    f"{part.name}: too short: {len(motion.q)} samples are left when the ends are "
                    "trimmed ([filter] trim)"
                )
            sources.append(_Source(motion, filters, 1 - recipe.fit.split))
    return sources, notes


def _long_enough(sources: Sequence[_Source]) -> None:
    timed = [s.motion for s in sources if s.motion.timed]
    seconds = sum(len(motion.t) * motion.dt for motion in timed)
    if timed and seconds < _SHORTEST:
        raise InputError(
            f"{timed[0].name}: too short: the column of times spans "
            f"{sum(len(m.t) for m in timed)} rows, {seconds:.3g} s of motion; at least {_SHORTEST} "
            "s, some periods of the slowest movement are good"
        )


def _finite(sources: Sequence[_Source]) -> None:
    """Gains, offsets and units of the recipe may have made numbers that cannot be computed with."""
    for source in sources:
        motion = source.motion
        for what in ("q", "qd", "qdd", "tau"):
            size = float(
                np.abs(getattr(motion, what)).max(initial=0.0, where=_numbers(motion, what))
            )
            if not size <= _LARGEST:
                raise InputError(
                    f"{motion.name}: {what} goes up to {size:.3g} in SI units: check the gain,"
                    " offset, unit, rate and filter of the recipe"
                )


def _numbers(motion: Motion, what: str) -> Any:
    """Torques that do not take part need not be numbers."""
    return motion.valid if what == "tau" else True


class _Fit:
    """The equations of all sources, and their solution."""

    def __init__(self, model: Model, recipe: Recipe, sources: Sequence[_Source]) -> None:
        self.model, self.recipe, self.sources = model, recipe, sources
        self.whole = model  # with the columns that the motion does not excite
        self.data = self.build(model.shape)
        rows, unknowns = int(self.data.valid.sum()), self.data.W.shape[2]
        if rows < unknowns:
            raise InputError(
                f"{sources[0].motion.name}: {rows} equations are left for {unknowns} parameters:"
                " record longer, hold out less ([fit] split), or leave out less ([filter] decimate,"
                " trim)"
            )

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
            curves = shaped(self.model, source.motion, source.plan, fit.model, fit.window, shape)
            rows = source.fitted(len(next(iter(curves.values()), ())))
            parts.append({k: x[:rows] for k, x in curves.items()})
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
        fit, shape = self.recipe.fit, self.model.shape
        if shape:
            shape = fit_shape(self.curved, self.data, shape, fit.weights)
            W = self.data.W.copy()
            for column, rows in self.curved(shape).items():
                W[..., column] = rows
            self.data = replace(self.data, W=W)
        return shape, estimate(self.data, fit.weights, fit.robust), self.data

    def bodies(self, shape: Mapping[str, float], estimate: Estimate) -> FullParameters:
        """The full parameters of real bodies; what was not excited counts as a body's too."""
        chosen, K = self.recipe.consistent, estimate.K
        if self.model.kept == self.whole.kept:
            seen = np.eye(len(K))
            return consistent_fit(
                self.model, estimate.R, estimate.z, estimate.rest, seen, K, chosen
            )
        kept = [self.whole.kept.index(k) for k in self.model.kept]
        lost = [k for k in range(len(self.whole.kept)) if k not in kept]
        self.model = self.whole
        data = self.build(shape)
        scale = data.valid / estimate.spread
        p = data.W.shape[2]
        A, b = (data.W * scale[..., None]).reshape(-1, p), (data.y * scale).ravel()
        R = np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))
        seen = np.zeros((len(kept), p))
        seen[:, kept] = np.eye(len(kept))
        seen[:, lost] = np.linalg.lstsq(R[:p, kept], R[:p, lost], rcond=None)[0]
        return consistent_fit(self.whole, R[:p, :p], R[:p, p], estimate.rest, seen, K, chosen)


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
        part = equations(model, source.motion, source.plan, "dynamic", recipe.fit.window, shape)
        cut = source.fitted(len(part.y)) if role == "fit" else len(part.y)
        for rows, name in ((slice(0, cut), role), (slice(cut, None), "held out")):
            if len(part.y[rows]):
                some = part.part(rows)
                curves.append(Curves(name, some.name, some.t, some.y, some.W, some.valid))
    errors = _error_of(curves, list(range(len(K))), K)
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
            rest += float(np.sum(motion.valid * (motion.tau - known - W @ K) ** 2))
            total += float(np.sum(motion.valid * motion.tau**2))
    return float(np.sqrt(rest / total)) if total else 0.0


def _folds(data: Equations, estimate: Estimate, recipe: Recipe) -> dict[str, float]:
    """Cross-validation: every block of the recording predicted by a fit to the others."""
    folds = recipe.fit.folds
    rows = len(data.y)
    if folds < 2 or rows < 4 * folds or data.y.shape[1] == 1:
        return {}
    scale = data.valid / np.maximum(estimate.spread, 1e-300)
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
    return {f"cross-validation, {folds} blocks": float(np.sqrt(rest / total))}


def _error_of(curves: Sequence[Curves], kept: Sequence[int], K: np.ndarray) -> dict[str, float]:
    errors = {}
    for role in ("fit", "held out", "validation"):
        pair = together(curves, role)
        if pair:
            errors[role] = relative_error(pair[0][..., list(kept)], pair[1], K)
    return errors


def _consistent_errors(curves: Sequence[Curves], full: FullParameters) -> dict[str, float]:
    every = list(range(len(full.K)))
    return {
        f"{role}, consistent bodies": error
        for role, error in _error_of(curves, every, full.K).items()
    }


def _remarks(model: Model, estimate: Estimate) -> list[str]:
    notes = []
    p = len(estimate.K)
    if model.dropped:
        notes.append(f"not independent of the others, left out: {', '.join(model.dropped)}")
    if estimate.rows < 10 * p:
        notes.append(f"only {estimate.rows} equations for {p} parameters: record longer")
    if estimate.condition > 1e4:
        notes.append(
            f"the equations are badly conditioned ({estimate.condition:.3g} with columns of unit "
            "length): move faster, farther, in more directions (cardan excite)"
        )
    return notes


def _body_remarks(model: Model, estimate: Estimate, full: FullParameters) -> list[str]:
    """How far the real bodies are from the identified parameters."""
    if full.exact:
        told = f"{', '.join(full.raised)}: would be negative, zero in the real bodies"
        return [told] if full.raised else []
    away = np.abs(full.K - estimate.K) / np.maximum(estimate.sigma, 1e-300)
    k = int(np.argmax(away))
    return [
        "the real bodies do not have exactly the identified base parameters: they differ most in "
        f"{model.names[k]}, {full.K[k]:.5g} instead of {estimate.K[k]:.5g} ({away[k]:.3g} standard "
        f"deviations; all: {np.sqrt(np.mean(away**2)):.3g} RMS)"
    ]


def _covers(base: BaseParameters, motions: Sequence[Motion]) -> bool:
    """Do random bodies and those that carry their base parameters need the same torques along these
    motions? A parallelogram can be crossed, and needs more base parameters then: those of
    `base-parameters` are of the assembly that needs fewest."""
    rng = np.random.default_rng(5)
    names = base.original.parameters
    drives = {f"{key}{j}" for j in range(1, len(base.original.joints) + 1) for key in DRIVE}
    values = {name: 0.0 if name in drives else rng.uniform(0.3, 1.7) for name in names}
    for motion in motions:
        few = motion.part(slice(None, None, max(1, len(motion.q) // _STATES)))
        real, carried = (_torques(robot, values, few) for robot in (base.original, base.robot))
        if np.abs(real - carried).max() > _SAME * np.abs(real).max():
            return False
    return True


def _torques(robot: Robot, values: Mapping[str, float], motion: Motion) -> np.ndarray:
    """Torques of the driven joints: Newton and Euler on the tree, then G^T."""
    scene = bodies(robot.tree(), values.__getitem__)
    q, qd, qdd = (list(x[:, : robot.n].T) for x in (motion.q, motion.qd, motion.qdd))
    tau = inverse_dynamics(scene, q, qd, qdd).tau
    return motion.torques({k: tau[j] for k, j in enumerate(sorted(tau))})
