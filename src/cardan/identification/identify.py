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
from dataclasses import replace
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..build.base import BaseParameters
from ..describe.files import load
from ..describe.robot import DRIVE, Drive, Robot
from ..errors import InputError, translated
from ..models.bodies import bodies
from ..models.newton_euler import inverse_dynamics
from ..motion.joints import moving
from .fit.choice import choose, settled
from .fit.closed_loop import checked, followed
from .fit.consistent import FullParameters
from .fit.diagnosis import diagnosis
from .fit.evaluation import Track
from .fit.fitting import Fitting, Source, blocks_error
from .fit.gains import drive_gains
from .fit.solve import Estimate, essential, relative_error
from .fit.suspicion import suspicions
from .model.columns import Model, describable, parametrised, plain, shared_motors
from .model.equations import (
    described,
    equations,
    full_matrix,
    known_torques,
    model_of,
)
from .read.logs import read_recording
from .read.series import series_of
from .read.signals import Motion, linear_algebra
from .recipe import Recipe, read_recipe
from .report.result import (
    Curves,
    Essential,
    Held,
    Identification,
    base_values,
    carrying,
    together,
)  # fmt: skip

_STATES = 60  # of a motion that are looked at
_SAME = 1e-7
_SHARP = 0.01  # rad/s or m/s: friction turns round no faster in simulations
_ROUNDS = 12  # of direct and inverse models in turn
_SETTLED = 0.05  # standard deviations by which parameters may still change
Log = str | os.PathLike[str] | Mapping[str, Any]
Progress = Callable[[str], None]
_SHORTEST = 0.5  # s
_LARGEST = 1e60  # of a position, velocity, acceleration or torque: squares are summed
_REMEDY = "check the values of the recipe, and that the recording holds the motion it should"


@named_arguments
@translated("identification failed", remedy=_REMEDY)
@linear_algebra("identification")
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
    robot = robot if isinstance(robot, Robot) else load(robot)
    if robot.constrained:
        parametrised(robot)  # loops are closed while recordings are read: the numbers must be there
    wanted = read_recipe(recipe)
    checked(robot, wanted)
    robot = replace(robot, drives=shared_motors(robot, wanted))
    chosen = settled(wanted)
    progress("reading the recordings")
    sources, others, notes = _read(robot, chosen, logs, payload, validation)
    progress("deriving the identification model")
    _finite(sources)
    model = _model(robot, chosen, [*sources, *others], loaded=payload is not None)
    progress("choosing filters and the shape of the friction")
    chosen, start, choices = choose(model, wanted, sources, loaded=payload is not None)
    if choices:
        sources, others = (
            [Source.of(x.series, robot, chosen) for x in group] for group in (sources, others)
        )
        model = described(model, chosen, loaded=payload is not None, start=())
    fit = Fitting(model, chosen, sources, shape=start)
    gains = None
    if chosen.fit.gains:
        progress("fitting the gains of the drives")
        fit.excited()
        gains = drive_gains(fit)
        notes += gains.words([joint.name for joint in moving(robot)])
        sources, others = (
            [x.scaled(gains.factors, robot, chosen) for x in group] for group in (sources, others)
        )
        fit = Fitting(model, chosen, sources, shape=start)
    progress("solving")
    model, dropped = fit.excited()
    shape, estimate, data = fit.solved()
    if chosen.fit.method == "didim":
        fit, shape, estimate = _simulated(robot, fit, shape, estimate, progress)
        sources, data = list(fit.sources), fit.data
    notes += [
        *dropped,
        *suspicions(model, chosen, [s.motion for s in sources], shape, data, estimate),
    ]
    notes += _remarks(model, estimate)
    notes += [f"IA{j}, FV{j} ... are of {_position(x)}" for j, x in robot.driving.items()]
    why = diagnosis(fit, shape, estimate)
    progress("validating")
    curves, errors = _evaluated(model, chosen, sources, others, shape, estimate.K)
    folds = chosen.fit.folds
    blocks = blocks_error(data, estimate.spread, folds)
    full = held = partly = None
    loaded = payload is not None
    if consistent:
        progress("fitting physically consistent bodies")
        rubs, start_of_bodies, full = fit.real(shape, estimate)
        if rubs is not shape:
            held = _as_held(model, chosen, rubs, start_of_bodies, full)
        _, own = _evaluated(model, chosen, sources, others, rubs, full.K)
        errors = own | {f"{role}, base parameters": x for role, x in errors.items()}
        notes += _body_remarks(model, estimate, full)
    errors |= {} if blocks is None else {f"cross-validation, {folds} blocks": blocks}
    if describable(chosen) != chosen:
        progress("fitting what a robot file can hold")
        held = _held(model, describable(chosen), sources, loaded=loaded, consistent=consistent)
    bare = _without_springs(replace(robot, drives=()))
    if plain(chosen) != chosen or bare != robot:
        tied = replace(model.ties, robot=bare)
        partly = _held(
            replace(model, robot=bare, ties=tied), plain(chosen), sources, loaded=loaded,
            consistent=consistent,
        )  # fmt: skip
    result = Identification(
        robot, chosen, model, shape, estimate, errors, _essential(model, estimate, curves, chosen),
        full, tuple(curves), tuple(notes), tuple(source.plan for source in sources), held,
        partly, _tracks(sources, others), choices=choices, diagnosis=why,
        gains=gains,
    )  # fmt: skip
    return result.with_files()


def _simulated(
    robot: Robot, fit: Fitting, shape: dict[str, float], estimate: Estimate, progress: Progress
) -> tuple[Fitting, dict[str, float], Estimate]:
    """The fit along simulated motions, from an estimate along the measured ones."""
    sources, names = fit.sources, fit.model.names
    for _ in range(_ROUNDS):
        progress("simulating the robot under its control law")
        smooth = fit.recipe.friction.smooth
        width = max(_SHARP, 0.0 if isinstance(smooth, str) else smooth)
        held = Held(fit.model, estimate, None, shape, width)
        own = carrying(robot, held, base_values(held))
        fit = Fitting(
            fit.model, fit.recipe, [followed(own, fit.recipe, x) for x in sources], shape=shape
        )
        before = estimate
        shape, estimate, _ = fit.solved()
        if (np.abs(estimate.K - before.K) <= _SETTLED * estimate.sigma).all():
            return fit, shape, estimate
    k = int(np.argmax(np.abs(estimate.K - before.K) / estimate.sigma))
    raise InputError(
        f"direct and inverse models do not settle: {names[k]} goes from {before.K[k]:.4g} to"
        f' {estimate.K[k]:.4g}: check [control], or use [fit] method = "instrumental"'
    )


def _position(drive: Drive) -> str:
    terms = " + ".join(f"{ratio} q{j}" for j, ratio in drive.joints)
    return f"'{drive.name}', a motor that several joints turn: its position is {terms}"


def _without_springs(robot: Robot) -> Robot:
    """Without the springs beside its motors."""
    joints = (replace(x, spring=0, neutral=0) if x.spring != 0 else x for x in robot.joints)
    return replace(robot, joints=tuple(joints))


def _held(
    model: Model, recipe: Recipe, sources: Sequence[Source], *, loaded: bool, consistent: bool
) -> Held:
    """The parameters of a recipe that has less, fitted again without the others: what these explain
    is not simply cut off."""
    start = tuple(sources[0].motion.q[0].tolist()) if model.robot.constrained else ()
    fit = Fitting(described(model, recipe, loaded=loaded, start=start), recipe, sources)
    own, _ = fit.excited()
    shape, estimate, _ = fit.solved()
    full = None
    if consistent:
        shape, estimate, full = fit.real(shape, estimate)
    return _as_held(own, recipe, shape, estimate, full)


def _as_held(
    model: Model, recipe: Recipe, shape: Mapping[str, float], estimate: Estimate,
    full: FullParameters | None,
) -> Held:  # fmt: skip
    smooth = recipe.friction.smooth
    return Held(model, estimate, full, shape, 0.0 if isinstance(smooth, str) else smooth)


def _tracks(sources: Sequence[Source], others: Sequence[Source]) -> tuple[Track, ...]:
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
) -> tuple[list[Source], list[Source], list[str]]:  # fmt: skip
    """(sources to fit, sources to predict, notes)"""
    sources, notes = _sources(robot, _listed(logs), recipe)
    loaded, more = _sources(robot, _listed(payload), recipe, loaded=True)
    others, extra = _sources(robot, _listed(validation), recipe)
    if not sources:
        raise InputError("no recording to fit was given")
    _long_enough([*sources, *loaded])
    return [*sources, *loaded], others, [*notes, *more, *extra]


def _model(robot: Robot, recipe: Recipe, sources: Sequence[Source], *, loaded: bool) -> Model:
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
    columns, K, sigma, _ = essential(estimate, recipe.fit.confidence)
    names = tuple(model.names[k] for k in columns)
    return Essential(names, K, sigma, _error_of(curves, columns, K))


def _listed(logs: Log | Sequence[Log] | None) -> list[Log]:
    if logs is None:
        return []
    if isinstance(logs, str | os.PathLike | Mapping):
        return [logs]
    return list(logs)


def _sources(
    robot: Robot, logs: Sequence[Log], recipe: Recipe, *, loaded: bool = False
) -> tuple[list[Source], list[str]]:
    sources, notes = [], []
    for log in logs:
        recording = read_recording(log, recipe.log)
        parts, told = series_of(robot, recording, recipe, loaded=loaded)
        notes += told
        sources += [Source.of(part, robot, recipe) for part in parts]
    return sources, notes


def _long_enough(sources: Sequence[Source]) -> None:
    timed = [s.motion for s in sources if s.motion.timed]
    seconds = sum(len(motion.t) * motion.dt for motion in timed)
    if timed and seconds < _SHORTEST:
        raise InputError(
            f"{timed[0].name}: too short: the column of times spans "
            f"{sum(len(m.t) for m in timed)} rows, {seconds:.3g} s of motion; at least {_SHORTEST} "
            "s, some periods of the slowest movement are good"
        )


def _finite(sources: Sequence[Source]) -> None:
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


def _evaluated(
    model: Model, recipe: Recipe, sources: Sequence[Source], others: Sequence[Source],
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
    model: Model, sources: Sequence[Source], shape: Mapping[str, float], K: np.ndarray
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


def _error_of(curves: Sequence[Curves], kept: Sequence[int], K: np.ndarray) -> dict[str, float]:
    errors = {}
    for role in ("fit", "held out", "validation"):
        pair = together(curves, role)
        if pair:
            errors[role] = relative_error(pair[0][..., list(kept)], pair[1], K)
    return errors


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
