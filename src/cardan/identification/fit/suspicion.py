"""Would the torques fit far better if a column meant something else: degrees, another joint?

Looked at when a fit is poor, by plain fits to some of the samples: a recording whose columns are
swapped is told from a robot that the model does not describe, and so is an assembly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ...describe.robot import PRISMATIC
from ...errors import InputError
from ...motion.joints import moving
from ..model.columns import Model
from ..model.equations import Equations, full_matrix, known_torques
from ..read import checks
from ..read.signals import Motion
from ..recipe import Recipe, Signal
from .solve import Estimate, relative_error

_POOR = 0.12  # a fit worse than this is looked at for wrong units
_FAIR = 0.02  # ... and than this, for columns that are swapped or have the wrong sign
_GOOD = 1e-4  # ... and than this, for another assembly of closed loops
_SURE, _LIKELY = 0.4, 0.7  # of the error, with another meaning: refused, noted
_ASSEMBLIES = 4  # the nearest ones, tried
_MANY = 10  # joints: of more there would be too many pairs to try

Shape = Mapping[str, float]


def suspicions(
    model: Model, recipe: Recipe, motions: Sequence[Motion], shape: Shape, data: Equations,
    fit: Estimate,
) -> list[str]:  # fmt: skip
    """Notes; an InputError where another meaning of a column is beyond doubt."""
    if not recipe.log.check_units:
        return []
    error = relative_error(data.W[data.valid], data.y[data.valid], fit.K)
    poor = error >= _POOR
    _units(model, recipe, [_sparse(m, 1500) for m in motions], shape, poor)
    told = []
    if error >= _GOOD:
        _assembly(model, [_sparse(m, 100) for m in motions], shape)
    n = len(model.ties.active)
    if error >= _FAIR and n <= _MANY:
        told = _order(model, recipe, [_sparse(m, 300) for m in motions], shape)
    if poor:
        more = f" (swaps are not looked for on more than {_MANY} joints)"
        told.append(
            f"the fit is bad: relative torque error {error:.0%}; look at columns, units and signs"
            f"{more if n > _MANY else ''}"
        )
    return told


def _units(
    model: Model, recipe: Recipe, motions: Sequence[Motion], shape: Shape, poor: bool
) -> None:
    """Positions in degrees, or millimetres? Looked at when the fit is bad, or when positions beyond
    half a turn have no velocities beside them to tell."""
    large = np.max([np.abs(m.of_driven(m.q)).max(axis=0) for m in motions], axis=0) > np.pi
    asked = [j for j, far in enumerate(large) if poor or (far and not motions[0].measured)]
    if not asked:
        return
    now = _quick_error(model, motions, shape)
    best, guilty = now, ""
    for joints, factor, unit in _readings(model, asked, poor):
        scale = np.ones(len(large))
        scale[joints] = factor
        changed = [_changed(model, m, _STATE, lambda x, s=scale: x * s) for m in motions]
        trial = _quick_error(model, changed, shape)
        if trial < best:
            best, guilty = trial, f"{_listed(recipe.position, 'q', joints)} read in {unit}"
    if best < _SURE * now and best < 2 * _POOR:
        raise InputError(
            f"{motions[0].name}: the torques fit far better ({best:.2%} instead of {now:.2%}) with "
            f"{guilty}, from the first row on: set [position] unit (if it is right as it is: "
            "[log] check_units = false)"
        )


def _readings(
    model: Model, asked: Sequence[int], poor: bool
) -> Iterator[tuple[list[int], float, str]]:
    """(columns, factor, unit) that positions might be in: all of a kind, or one alone."""
    joints = moving(model.robot)
    slides = [j for j in asked if joints[model.ties.active[j]].sigma == PRISMATIC]
    turns = [j for j in asked if j not in slides]
    angles = ((1 / checks.DEGREES, "deg"), (checks.DEGREES, "rad"))[: 1 + poor]
    lengths = ((1e-3, "mm"), (1e-2, "cm"), (0.0254, "inch"))
    for some, units in ((turns, angles), (slides, lengths)):
        for listed in [some, *([j] for j in some)] if len(some) > 1 else [some] if some else []:
            for factor, unit in units:
                yield listed, factor, unit


def _assembly(model: Model, motions: Sequence[Motion], shape: Shape) -> None:
    """Are the loops closed in another assembly than the recording?"""
    if not model.ties.closed:
        return
    now = _quick_error(model, motions, shape)
    best, where = now, np.zeros(0)
    for start in model.ties.others(motions[0].q[0])[:_ASSEMBLIES]:
        trial = _quick_error(model, [model.ties.again(m, start) for m in motions], shape)
        if trial < best:
            best, where = trial, start
    if best < _SURE * now:
        raise InputError(
            f"{motions[0].name}: the torques fit far better ({best:.2%} instead of {now:.2%}) in "
            "another assembly of the loops, from the first row on: set [assembly] q = "
            f"{np.round(where, 4).tolist()} (if it is right as it is: [log] check_units = false)"
        )


def _order(model: Model, recipe: Recipe, motions: Sequence[Motion], shape: Shape) -> list[str]:
    """Columns of two joints swapped, or one with the wrong sign?"""
    now = _quick_error(model, motions, shape)
    best, guilty = now, ""
    for what, changed in _trials(model, recipe, motions):
        trial = _quick_error(model, changed, shape)
        if trial < best:
            best, guilty = trial, what
    if best >= _LIKELY * now:
        return []
    told = (
        f"the torques fit far better ({best:.2%} instead of {now:.2%}) with {guilty}, from the "
        "first row on: look at the order of the columns and their signs in the recipe"
    )
    if best < _SURE * now:
        raise InputError(
            f"{motions[0].name}: {told} (if it is right as it is: [log] check_units = false)"
        )
    return [told]


def _trials(
    model: Model, recipe: Recipe, motions: Sequence[Motion]
) -> Iterator[tuple[str, list[Motion | None]]]:
    n = len(model.ties.active)
    for signal, key, names in ((recipe.torque, "tau", ["tau"]), (recipe.position, "q", _STATE)):
        for pair in combinations(range(n), 2):
            order = np.arange(n)
            order[list(pair)] = pair[::-1]
            what = f"{_listed(signal, key, pair)} swapped"
            yield what, [_changed(model, m, names, lambda x, o=order: x[:, o]) for m in motions]
        for j in range(n):
            sign = np.ones(n)
            sign[j] = -1
            what = f"the sign of {_listed(signal, key, [j])} changed"
            yield what, [_changed(model, m, names, lambda x, s=sign: x * s) for m in motions]


_STATE = ["q", "qd", "qdd"]


def _changed(model: Model, motion: Motion, names: Sequence[str], change: Any) -> Motion | None:
    """The motion with other columns of the driven joints; None where loops then do not close."""
    if "tau" in names:
        valid = np.asarray(change(motion.valid.astype(float)) != 0)
        return replace(motion, tau=change(motion.tau), valid=valid)
    values: Any = {name: change(motion.of_driven(getattr(motion, name))) for name in names}
    return model.ties.elsewhere(motion, replace(motion, **values))


def _sparse(motion: Motion, rows: int) -> Motion:
    return motion.part(slice(None, None, max(1, len(motion.q) // rows)))


def _quick_error(model: Model, changed: Sequence[Motion | None], shape: Shape) -> float:
    """The relative error of a plain fit to unfiltered torques; infinite without a motion."""
    motions = [m for m in changed if m is not None]
    if len(motions) < len(changed):
        return float("inf")
    parts = [full_matrix(model, m, shape)[..., list(model.kept)][m.valid] for m in motions]
    known = [(m.tau - known_torques(model, m))[m.valid] for m in motions]
    W, y = np.concatenate(parts), np.concatenate(known)
    norms = np.maximum(np.linalg.norm(W, axis=0), 1e-300)
    K, *_ = np.linalg.lstsq(W / norms, y, rcond=1e-12)
    return relative_error(W / norms, y, K)


def _listed(signal: Signal, key: str, joints: Sequence[int]) -> str:
    names = signal.columns
    listed = [names[j] if len(names) > j else f"{key}{j + 1}" for j in joints]
    return f"column{'s' * (len(joints) > 1)} {', '.join(listed)}"
