"""Why a well identified rotor inertia or friction is negative: which assumption of the law fails.

Such a parameter stands for something that the law leaves out. Assumptions are dropped one by one:
the law gets a term more of each joint, or loses its rotors, and is judged by the error of held-out
blocks, as choices are. The term that lowers it most is what is missing most; one that makes the
parameter positive is what it stood for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...describe.robot import DRIVE
from ..model.columns import Model
from ..model.equations import Equations, Reduction, Shape, full_matrix, known_torques
from ..read.signals import Motion, derivative
from .fitting import Fitting, Source, blocks_error
from .solve import Estimate, estimate

Array = np.ndarray
Term = Callable[["_Track"], Sequence[Array]]  # torques (rows, driven) of one column per joint
_SIGMAS = 3.0
_GAIN = 0.015  # of the error of held-out blocks: a test that gains less shows nothing
_FOLDS = 5
_ROWS = 1500  # samples that tests are judged on
_WIDE = 0.3  # of the largest speed: a width of the friction in which it hardly ever slides
_SLIDES = (0.003, 0.01, 0.03)  # rad or m, after which friction has turned round
_DELAYS = (0.005, 0.02, 0.06)  # s
_SHARP = 1e-3  # rad/s or m/s


def negative(names: Sequence[str], K: Array, sigma: Array) -> list[int]:
    """Inertias and frictions of drives that are below zero beyond doubt."""
    return [
        k for k, name in enumerate(names)
        if name.rstrip("0123456789R") in DRIVE and K[k] < -_SIGMAS * sigma[k]
    ]  # fmt: skip


@dataclass(frozen=True)
class _Track:
    """A motion with the torques that the law predicts and the sign s(qd) of its friction."""

    source: Source
    motion: Motion
    tau: Array
    sign: Array

    def columns(self, term: Term) -> Array:
        """(rows, driven, columns) of a term, a column of each joint, of the equations fitted."""
        reduce = Reduction(self.motion, self.source.plan, "dynamic", 0.0)
        joints = np.eye(self.tau.shape[1])
        blocks = [reduce.rows(x)[:, :, None] * joints for x in term(self)]
        columns = np.concatenate(blocks, axis=-1)
        return columns[: self.source.fitted(len(columns))]


def _lagging(track: _Track, slide: float) -> list[Array]:
    """Dahl's friction: it turns round over a distance, z' = (sign(qd) - z) |qd| / slide."""
    step = np.diff(track.motion.of_driven(track.motion.q), axis=0, prepend=np.nan)
    step[0] = 0
    left = np.exp(-np.abs(step) / slide)
    gain = np.sign(step) * (1 - left)
    z = np.zeros(step.shape)
    for k in range(1, len(z)):
        z[k] = z[k - 1] * left[k] + gain[k]
    return [z]


def _late(track: _Track, delay: float) -> list[Array]:
    """What torques that come late differ by."""
    t = track.motion.t
    return [np.stack([np.interp(t - delay, t, x) - x for x in track.tau.T], axis=1)]


def _slope(x: Array, motion: Motion) -> Array:
    return derivative(x, motion.dt)


_TERMS: dict[str, tuple[Term, ...]] = {
    "friction that grows with the load": (lambda x: [np.abs(x.tau) * x.sign],),
    "friction that lags behind a reversal": tuple(partial(_lagging, slide=s) for s in _SLIDES),
    "friction that changes with time, as it warms up": (
        lambda x: [x.motion.t[:, None] * x.sign],
    ),
    "torques that drift": (lambda x: [np.broadcast_to(x.motion.t[:, None], x.tau.shape)],),
    "torque constants that change with the torque": (lambda x: [x.tau * np.abs(x.tau)],),
    "torques that come late": tuple(partial(_late, delay=s) for s in _DELAYS),
    "joints that bend": (lambda x: [_slope(_slope(x.tau, x.motion), x.motion)],),
    "torques of the position (springs, cables, cogging)": (
        lambda x: [f(x.motion.of_driven(x.motion.q)) for f in (np.sin, np.cos)],
    ),
}  # fmt: skip


def diagnosis(fit: Fitting, shape: Shape, law: Estimate) -> tuple[str, ...]:
    """What the tests say of negative parameters; nothing where there are none."""
    names = fit.model.names
    below = negative(names, law.K, law.sigma)
    if not below or fit.recipe.fit.model != "dynamic" or fit.data.y.shape[1] == 1:
        return ()
    data, step = fit.data, max(1, len(fit.data.y) // _ROWS)
    few = data.part(slice(None, None, step))
    before = blocks_error(few, law.spread, _FOLDS)
    if before is None:
        return ()
    tracks = [_track(fit, source, law.K, shape) for source in fit.sources]
    tests = {name: _tested(few, tracks, step, law, terms) for name, terms in _TERMS.items()}
    rotors = [k for k, name in enumerate(names) if name.startswith("IA")]
    if any(k in rotors for k in below):
        tests["torques measured behind the gears, which feel no rotors"] = _judged(
            few, law.spread, [k for k in range(len(names)) if k not in rotors]
        )
    order = sorted(tests, key=lambda name: tests[name][0])
    better = [name for name in order if tests[name][0] < (1 - _GAIN) * before]
    listed = ", ".join(
        f"{names[k]} = {law.K[k]:.4g} ({-law.K[k] / law.sigma[k]:.1f} sigma below zero)"
        for k in below
    )
    shown = [f"{name} {100 * tests[name][0]:.2f} %" for name in better]
    idle = [name for name in order if name not in better]
    told = [
        f"{listed}: no drive is like that, they stand for something that the law leaves out."
        f" Tried, a term of each joint at a time; error of held-out blocks {100 * before:.2f} %: "
        + "; ".join([*shown, f"no gain: {', '.join(idle)}" if idle else ""]).strip("; ")
    ]
    if better:
        told.append(f"What the law lacks most is {better[0]}")
    else:
        told.append(
            "Look at the torque constants and gear ratios, and whether the torques are those of"
            " the motors"
        )
    told += _cured(names, below, law, {name: tests[name] for name in better})
    told += _wide(fit.model, [s.motion for s in fit.sources], shape, [names[k] for k in below])
    return tuple(told)


_Judged = tuple[float, Equations, Sequence[int]]  # error, equations, their columns


def _cured(
    names: Sequence[str], below: Sequence[int], law: Estimate, better: Mapping[str, _Judged]
) -> list[str]:
    """Which tests make which parameters other than negative."""
    told, left, values = [], [], {}
    for name, (_, data, columns) in better.items():
        again = estimate(data)
        pairs = zip(again.K.tolist(), again.sigma.tolist(), strict=True)
        values[name] = dict(zip(columns, pairs, strict=True))
    for k in below:
        cures = [
            (name, x[k]) for name, x in values.items()
            if k in x and x[k][0] > -_SIGMAS * x[k][1]
        ]  # fmt: skip
        for name, (value, sigma) in cures[:1]:
            told.append(f"With {name} {names[k]} is {value:.4g} ± {sigma:.2g}: it stood for that")
        left += [] if cures else [names[k]]
    if left:
        told.append(
            f"None of them makes {', '.join(left)} positive; the identified robot has zero there"
        )
    return told


def _wide(model: Model, motions: Sequence[Motion], shape: Shape, below: Sequence[str]) -> list[str]:
    """Viscous friction beside a Coulomb friction that hardly ever slides."""
    told = []
    for place, j in enumerate(model.ties.numbers[: model.robot.n]):
        width, name = shape.get(f"VS{j}", 0.0), f"FV{j}"
        fastest = max(float(np.abs(m.qd[:, place]).max()) for m in motions)
        if name in below and width > _WIDE * fastest:
            told.append(
                f"{name}: the width VS{j} = {width:.3g} is {width / fastest:.0%} of the largest"
                f" speed: FS{j} and {name} are told apart badly, their sum is what was measured;"
                " try [friction] smooth = 0, or move faster"
            )
    return told


def _tested(
    data: Equations, tracks: Sequence[_Track], step: int, law: Estimate, terms: Sequence[Term]
) -> _Judged:
    """The best of some forms of a term."""
    judged = []
    for term in terms:
        columns = np.concatenate([track.columns(term) for track in tracks])[::step]
        W = np.concatenate([data.W, columns], axis=-1)
        judged.append(_judged(replace(data, W=W), law.spread, range(W.shape[2])))
    return min(judged, key=lambda x: x[0])


def _judged(data: Equations, spread: Array, columns: Sequence[int]) -> _Judged:
    """The error of held-out blocks by some columns of the equations, and these."""
    W = data.W[..., list(columns)]
    size = np.linalg.norm(W.reshape(-1, W.shape[2]), axis=0)
    columns = [k for k, x in zip(columns, size, strict=True) if x > 0]
    some = replace(data, W=data.W[..., columns])
    error = blocks_error(some, spread, _FOLDS)
    assert error is not None  # there are as many rows as without the term
    return error, some, columns


def _track(fit: Fitting, source: Source, K: Array, shape: Shape) -> _Track:
    """A recording with the torques of the law."""
    motion, model = source.motion, fit.model
    tau = np.concatenate([
        full_matrix(model, part, shape)[..., list(model.kept)] @ K + known_torques(model, part)
        for part in (motion.part(slice(k, k + 4096)) for k in range(0, len(motion.q), 4096))
    ])  # fmt: skip
    qd = motion.of_driven(motion.qd)
    active = [model.ties.numbers[k] for k in model.ties.active]
    widths = np.array([shape.get(f"VS{j}", _SHARP) for j in active])
    return _Track(source, motion, tau, qd / np.hypot(qd, widths))
