"""What a recipe leaves open, chosen by how well held-out blocks are predicted.

Each step tries other values of one thing: the width of Coulomb friction, the low-pass of the
positions, the delay of the torques, further terms of the friction. All are judged on the same
torques, behind the same low-pass of the equations, by the error of blocks that took no part in the
fit; what gains less than `_GAIN` of it is not worth its parameters. The low-pass of the equations
changes the torques themselves: it is set where the torques of the model have nothing more to say.
A recipe that says `smooth` has the friction that it says, one that says `cutoff` its filters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..model.columns import Model
from ..model.equations import described
from ..recipe import Friction, Recipe
from .fitting import Fitting, Source, blocks_error
from .solve import estimate

_FINE = 0.004  # error of held-out blocks: below, nothing else is tried
_GAIN = 0.015  # of that error, for which something is chosen
_FOLDS = 5
_ROWS = 700  # samples that choices are judged on
_CUTOFFS = (0.35, 0.5, 0.7, 1.4, 2.0)  # of the first one
_KEPT = 4000  # samples that are fitted at least, where the recording has them
_POWER = 1e-4  # of the torques of the model, beyond the low-pass of the equations
_TERMS = {"quadratic": "FQ qd |qd|", "asymmetry": "FVA |qd|",
          "stribeck": "FB s(qd) / (1 + (qd/VB)^2)"}  # fmt: skip


def settled(recipe: Recipe) -> Recipe:
    """The recipe with the plain law where it leaves the friction open."""
    plain = {"smooth": 0.0, "quadratic": False, "asymmetry": False, "stribeck": False}
    own = {key: x for key, x in plain.items() if getattr(recipe.friction, key) == "auto"}
    if recipe.fit.motor_inertia == "auto":
        recipe = recipe.changed("fit", motor_inertia=True)
    return recipe.changed("friction", **own) if own else recipe


@dataclass
class _Trial:
    """The recipe as chosen so far, and how it was judged."""

    model: Model
    recipe: Recipe
    sources: Sequence[Source]
    loaded: bool
    shape: Mapping[str, float] = field(default_factory=dict)
    error: float = 0.0
    models: dict[tuple[Friction, bool | str], Model] = field(default_factory=dict)

    def columns(self, recipe: Recipe) -> Model:
        """The model of a recipe; filters do not matter."""
        key = recipe.friction, recipe.fit.motor_inertia
        if key not in self.models:
            self.models[key] = described(self.model, recipe, loaded=self.loaded, start=())
        return self.models[key]

    def judged(self, recipe: Recipe, fitted: bool = True) -> _Trial | None:
        """Another recipe; None where it cannot be. fitted: the shape of the friction too, else it
        is taken as it is."""
        same = recipe.filter == self.recipe.filter
        sources = self.sources
        if not same:
            sources = [Source.of(x.series, self.model.robot, recipe) for x in self.sources]
        model = self.columns(recipe)
        fit = Fitting(model, recipe, sources, most=_ROWS, shape=self.shape)
        fit.excited()
        if fitted and model.shape:
            shape, found, data = fit.solved()
        else:
            shape, data = fit.start, fit.data
            found = estimate(data, recipe.fit.weights)
        error = blocks_error(data, found.spread, _FOLDS)
        return None if error is None else replace(
            self, recipe=recipe, sources=sources, shape=shape, error=error
        )  # fmt: skip

    def predicted(self) -> np.ndarray:
        """The torques of the model along the recordings that are fitted."""
        model = self.columns(self.recipe)
        fit = Fitting(model, self.recipe, self.sources, shape=self.shape)
        fit.excited()
        return np.asarray(fit.data.W @ estimate(fit.data, self.recipe.fit.weights).K)


def choose(
    model: Model, wanted: Recipe, sources: Sequence[Source], *, loaded: bool
) -> tuple[Recipe, Mapping[str, float], tuple[str, ...]]:
    """(the recipe with nothing open, the shape of its friction, what was chosen and why)."""
    start = settled(wanted)
    if model.robot.constrained or wanted.fit.model != "dynamic":
        return start, {}, ()
    now = _Trial(model, start, sources, loaded).judged(start)
    if now is None or now.error < _FINE:
        return start, {}, ()
    told: list[str] = []
    now = _rotors(now, wanted, told)
    now = _width(now, wanted, told)
    if wanted.fit.method == "least-squares":  # the others bear noise better than a lost motion
        now = _cutoff(now, wanted, told)
    now = _delay(now, wanted, told)
    now = _terms(now, wanted, told)
    recipe = _parallel(now, wanted, told)
    return recipe, now.shape, tuple(told)


def _better(now: _Trial, others: Mapping[str, _Trial | None]) -> tuple[_Trial, str, str]:
    """(the best one, its name or none, what was tried, in words)."""
    there = {name: x for name, x in others.items() if x is not None}
    tried = ", ".join(f"{name} {100 * x.error:.2f} %" for name, x in there.items())
    best = min(there, key=lambda name: there[name].error, default="")
    if best and there[best].error < (1 - _GAIN) * now.error:
        return there[best], best, tried
    return now, "", tried


def _rotors(now: _Trial, wanted: Recipe, told: list[str]) -> _Trial:
    """Torques that are measured behind the gears do not feel the rotors."""
    if wanted.fit.motor_inertia != "auto":
        return now
    before = f"{100 * now.error:.2f} % with"
    now, best, words = _better(
        now, {"without": now.judged(now.recipe.changed("fit", motor_inertia=False))}
    )
    told.append(
        f"rotors {'without' if best else 'with'} inertia IA: error of held-out blocks {before}, "
        f"{words.removeprefix('without ')} without"
    )
    return now


def _width(now: _Trial, wanted: Recipe, told: list[str]) -> _Trial:
    if wanted.friction.smooth != "auto" or not wanted.friction.coulomb:
        return now
    name = "widths VS fitted"
    chosen, best, _ = _better(now, {name: now.judged(now.recipe.changed("friction", smooth="fit"))})
    other = "FS qd / sqrt(qd^2 + VS^2)" if best else "FS sign(qd)"
    told.append(
        f"Coulomb friction as {other}: error of held-out blocks {100 * now.error:.2f} % with the "
        f"sign" + (f", {100 * chosen.error:.2f} % with widths" if best else "; widths gain nothing")
    )
    return chosen


def _cutoff(now: _Trial, wanted: Recipe, told: list[str]) -> _Trial:
    """Of the positions; decimation and the low-pass of the equations stay, so that the torques are
    the same."""
    plans = {source.plan for source in now.sources}
    plan = now.sources[0].plan
    if wanted.filter.cutoff != "auto" or plan.cutoff is None or len(plans) > 1:
        return now
    fixed = {"decimate": plan.decimate, "parallel": plan.parallel or "none"}
    tried = [plan.cutoff * x for x in _CUTOFFS if plan.cutoff * x < 0.45 * plan.rate]
    others = {
        f"{hertz:.3g} Hz": now.judged(
            now.recipe.changed("filter", cutoff=hertz, **fixed), fitted=False
        )
        for hertz in tried
    }
    before = f"{plan.cutoff:.3g} Hz ({plan.why}) {100 * now.error:.2f} %"
    now, best, words = _better(now, others)
    told.append(
        f"low-pass of the positions at {best or f'{plan.cutoff:.3g} Hz'}: error of held-out blocks "
        f"{before}, {words}"
    )
    return now


def _delay(now: _Trial, wanted: Recipe, told: list[str]) -> _Trial:
    """By a sample either way; then, where that is better, by halves and twos."""
    fixed = wanted.filter.delay != 0 or wanted.filter.cutoff != "auto"
    if fixed or not all(x.motion.timed for x in now.sources):
        return now
    dt = max(source.motion.dt for source in now.sources)

    def trials(samples: Sequence[float]) -> dict[str, _Trial | None]:
        delays = {f"{1000 * x * dt:.3g} ms": x * dt for x in samples}
        return {
            name: now.judged(now.recipe.changed("filter", delay=x), fitted=False)
            for name, x in delays.items()
        }

    others = trials((-1.0, 1.0))
    first, better, _ = _better(now, others)
    if better:
        others |= trials([x * first.recipe.filter.delay / dt for x in (0.5, 2.0, 4.0)])
    before = f"none {100 * now.error:.2f} %"
    now, best, words = _better(now, others)
    told.append(
        f"delay of the torques {best or 'none'}: error of held-out blocks {before}, {words}"
    )
    return now


def _terms(now: _Trial, wanted: Recipe, told: list[str]) -> _Trial:
    if wanted.friction.smooth != "auto":
        return now
    for key, term in _TERMS.items():
        if getattr(wanted.friction, key) != "auto" or (key == "stribeck" and not now.shape):
            continue
        before, recipe = now.error, now.recipe.changed("friction", **{key: True})
        trial = now.judged(recipe, fitted=False)
        if trial is not None and key == "stribeck" and trial.error < before:
            trial = trial.judged(recipe)
        now, best, words = _better(now, {"with": trial})
        told.append(
            f"friction {'with' if best else 'without'} {term}: error of held-out blocks "
            f"{100 * before:.2f} % without, {words.removeprefix('with ')} with"
        )
    return now


def _parallel(now: _Trial, wanted: Recipe, told: list[str]) -> Recipe:
    """The equations end where the torques of the model do: noise alone lies beyond."""
    plan = now.sources[0].plan
    several = len({source.plan for source in now.sources}) > 1
    chosen = wanted.filter
    fixed = (chosen.cutoff, chosen.parallel, chosen.kind) != ("auto", "auto", "butterworth")
    if fixed or several or not plan.timed:
        return now.recipe
    rows = sum(len(source.motion.q) for source in now.sources)
    rate = plan.rate / plan.decimate
    predicted = now.predicted()
    window = np.hanning(len(predicted))[:, None]
    power = np.abs(np.fft.rfft((predicted - predicted.mean(axis=0)) * window, axis=0)) ** 2
    beyond = 1 - np.cumsum(power.sum(axis=1)) / max(float(power.sum()), 1e-300)
    hertz = np.fft.rfftfreq(len(predicted), 1 / rate)
    edge = 2 * float(hertz[int(np.argmax(beyond <= _POWER))])
    if not 0 < edge < 0.4 * rate:
        return now.recipe
    told.append(
        f"low-pass of both sides of the equations at {edge:.3g} Hz: beyond half of it lies less "
        f"than {100 * _POWER:g} % of the power of the torques of the model"
    )
    recipe = now.recipe.changed("filter", parallel=edge)
    if wanted.filter.decimate == "auto":
        most = int(0.8 * plan.rate / 2 / edge)
        recipe = recipe.changed("filter", decimate=max(1, min(most, rows // _KEPT)))
    return recipe
