"""From the columns of a recording to the motion and the torques of the joints, in SI units.

joint positions  = sign · gain · R^-1 (columns) + offset        R: motor positions = R q
joint torques    = sign · gain · R^T  (columns) + offset        gain: torque constants
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...describe.robot import Robot
from ...describe.values.expression import number
from ...describe.values.units import parse_quantity
from ...errors import CardanError, InputError
from ...motion.joints import bounds, driven
from ..model.ties import Ties, ties_of
from ..recipe import Recipe, Signal, per_joint
from . import checks
from .checks import Names, jump_faults
from .logs import Recording
from .naming import SIGNALS, fault, names_of

Array = np.ndarray
_NOTED, _REFUSED = 0.02, 0.2  # rad, or of the robot's size: measured from closed positions
_CLOSABLE = 1e-8
_ADJUST = ("gain", "sign", "offset")
_AS_RECORDED = 200_000  # samples: more are filtered and thinned out
_DEGREE, _ENDS = 7, 6  # of the spline; samples at its ends that are less exact


@dataclass(frozen=True)
class Series:
    """A stretch of a recording without gaps, at uniform times; qd, qdd where they were recorded.

    Of robots with closed loops or couplings these are the driven joints; whole: q of all joints.
    valid: samples (rows, n) whose torque can be believed; loaded: with the payload."""

    name: str
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray | None
    qdd: np.ndarray | None
    tau: np.ndarray
    valid: np.ndarray
    loaded: bool = False
    timed: bool = True  # False: rows are states without a time
    splined: bool = False  # qd, qdd are those of a spline through what was recorded
    reference: np.ndarray | None = None  # the positions that were commanded
    whole: np.ndarray | None = None  # (rows, n) closed, as recorded; None: nothing is tied

    @property
    def dt(self) -> float:
        return float((self.t[-1] - self.t[0]) / max(len(self.t) - 1, 1))

    def part(self, rows: slice) -> Series:
        """Some of the samples."""
        cut = {key: getattr(self, key)[rows] for key in ("t", "q", "tau", "valid")}
        rates = {
            key: None if getattr(self, key) is None else getattr(self, key)[rows]
            for key in ("qd", "qdd", "reference", "whole")
        }
        changed: Any = {**cut, **rates}
        return replace(self, **changed)


def series_of(
    robot: Robot, recording: Recording, recipe: Recipe, *, loaded: bool = False
) -> tuple[list[Series], list[str]]:
    """The stretches of a recording, and notes; everything wrong with it is raised at once."""
    names, notes = names_of(robot, recording, recipe)
    good, faults = checks.missing_values(recording, names)
    if faults and recipe.log.missing == "error":
        raise fault(recording, faults)
    if faults:
        notes.append(f"{recording.name}: {int((~good).sum())} rows left out: {'; '.join(faults)}")
    timed = bool(names.time or recipe.log.rate)
    t = _times(recording, names, recipe)
    if timed and names.time:
        found = list(checks.time_faults(recording.among(good), names.time, t[good]))
        if found:
            raise fault(recording, found)
    values = {
        key: _converted(getattr(recipe, key), key, recording, columns, recipe, robot)
        for key in SIGNALS
        if (columns := getattr(names, key))
    }
    if names.reference:
        values["reference"] = _converted(
            recipe.position, "position", recording, names.reference, recipe, robot
        )
    inside = good & _window(t, recipe)
    if inside.sum() < 20:
        rows = int(inside.sum())
        end = f"column '{names.all()[0]}' ends at {recording.row(recording.rows - 1)}"
        raise fault(recording, [f"too short: {end}; {rows} usable rows, at least 20 are needed"])
    kept = {key: x[inside] for key, x in values.items()}
    _check(robot, recording.among(inside), recipe, names, kept, t[inside] if timed else None)
    closed, told = _closed(robot, recording, recipe, names, kept["position"], inside, timed)
    whole = Series(
        recording.name, t[inside], kept["position"], kept.get("velocity"),
        kept.get("acceleration"), kept["torque"], np.ones(kept["torque"].shape, bool), loaded,
        timed, reference=kept.get("reference"), whole=closed,
    )  # fmt: skip
    whole, more = _without_saturation(robot, whole, names)
    parts, gaps = _uniform(whole, recipe) if timed else ([whole], [])
    return parts, [*notes, *told, *more, *gaps]


def _closed(
    robot: Robot, recording: Recording, recipe: Recipe, names: Names, q: np.ndarray,
    inside: np.ndarray, timed: bool,
) -> tuple[np.ndarray | None, list[str]]:  # fmt: skip
    """q of all joints in the rows used, and notes; None where no joint follows others."""
    if not robot.constrained:
        return None, []
    measured = {
        k: _scaled(recipe.position, "position", recording.column(name), robot, k)[inside]
        for k, name in names.passive.items()
    }
    rows = np.flatnonzero(inside)
    return closed_rows(ties_of(robot), recording, recipe, names, q, measured, rows, timed=timed)


def _times(recording: Recording, names: Names, recipe: Recipe) -> np.ndarray:
    if names.time:
        t = recording.column(names.time) * _factor(recipe.log.time_unit, "s", "[log] time_unit")
        first = t[np.isfinite(t)]
        return np.asarray(t - (first[0] if len(first) else 0.0))
    return np.arange(recording.rows) / (recipe.log.rate or 1.0)


def _window(t: np.ndarray, recipe: Recipe) -> np.ndarray:
    start, stop = recipe.log.start, recipe.log.stop
    inside = np.asarray(np.isfinite(t))
    if start is not None:
        inside &= t >= start
    if stop is not None:
        inside &= t <= stop
    return inside


def _factor(unit: str, expected: str, where: str) -> float:
    if unit in ("", expected):
        return 1.0
    try:
        factor = number(parse_quantity(f"1 {unit}", expected))
    except CardanError as error:
        raise InputError(f"{where} = '{unit}': {error}") from None
    assert factor is not None
    return factor


def _scale(signal: Signal, key: str) -> float:
    expected = {"position": "rad or m", "velocity": "rad/s or m/s", "torque": "N*m or N",
                "acceleration": "rad/s^2 or m/s^2"}[key]  # fmt: skip
    return _factor(signal.unit, expected, f"[{key}] unit")


def _of_joints(signal: Signal, key: str, name: str, robot: Robot) -> np.ndarray:
    """A key of a signal for every joint (n): of one value for all, of n, or of as many as are
    driven: it then says nothing of the others."""
    values, active = getattr(signal, name), driven(robot)
    if len(values) in (1, robot.n):
        return per_joint(f"[{key}] {name}", values, robot.n)
    signals = np.full(robot.n, getattr(Signal(), name)[0])
    signals[active] = per_joint(f"[{key}] {name}", values, len(active))
    return signals


def _scaled(signal: Signal, key: str, x: np.ndarray, robot: Robot, k: int) -> np.ndarray:
    """A column of a joint that follows, measured at the joint, in SI units."""
    gain, sign, offset = (_of_joints(signal, key, name, robot)[k] for name in _ADJUST)
    return np.asarray(x * _scale(signal, key) * gain * sign + offset)


def _converted(
    signal: Signal, key: str, recording: Recording, columns: Sequence[str], recipe: Recipe,
    robot: Robot,
) -> np.ndarray:  # fmt: skip
    """Columns (rows, driven joints) as joint values in SI units."""
    active = driven(robot)
    n = len(active)
    gain, sign, offset = (_of_joints(signal, key, name, robot)[active] for name in _ADJUST)
    x = np.column_stack([recording.column(name) for name in columns]) * _scale(signal, key)
    x = x * gain
    if signal.side == "motor":
        R = np.array(recipe.transmission.matrix)
        if R.shape != (n, n):
            raise InputError(
                f'[{key}] side = "motor" needs [transmission] matrix: {n} rows, or {n} ratios'
            )
        x = x @ R if key == "torque" else np.linalg.solve(R, x.T).T
    return np.asarray(x * sign + offset)


def _check(
    robot: Robot, recording: Recording, recipe: Recipe, names: Names, kept: dict[str, Any],
    t: np.ndarray | None,
) -> None:  # fmt: skip
    q, tau = kept["position"], kept["torque"]
    allow = recipe.log.constant == "allow"
    faults = list(checks.motion_faults(names, q, tau, allow))
    if recipe.log.check_units:
        series = {"q": q, "tau": tau, "qd": kept.get("velocity"), "qdd": kept.get("acceleration")}
        if t is not None:
            series["t"] = t
        faults += jump_faults(robot, names, series, recording)
        faults += checks.unit_faults(robot, names, series, recording)
    if faults:
        raise fault(recording, faults)


def _without_saturation(robot: Robot, x: Series, names: Names) -> tuple[Series, list[str]]:
    flags = checks.saturated(x.tau, bounds(robot, "effort")[driven(robot)])
    notes = [
        f"{x.name}: column '{name}' rests at an extreme value in {int(flag.sum())} rows (first at "
        f"t = {x.t[np.argmax(flag)]:.6g} s): taken for saturation and left out"
        for name, flag in zip(names.torque, flags.T, strict=True)
        if flag.any()
    ]
    return replace(x, valid=x.valid & ~flags), notes


def _uniform(x: Series, recipe: Recipe) -> tuple[list[Series], list[str]]:
    """Stretches at uniform times: single dropped samples are interpolated, long gaps divide."""
    steps = np.diff(x.t)
    dt = float(np.median(steps))
    gaps = np.flatnonzero(steps > 1.5 * dt)
    long = [int(k) for k in gaps if steps[k] > 5.5 * dt]
    notes = []
    if len(gaps):
        shown = ", ".join(f"t = {x.t[k]:.6g} s" for k in gaps[:5])
        lost = int(np.round(steps[gaps] / dt).sum() - len(gaps))
        notes.append(
            f"{x.name}: about {lost} samples were dropped in {len(gaps)} places ({shown}"
            f"{', ...' if len(gaps) > 5 else ''}): short gaps are interpolated, {len(long)} long "
            "ones divide the recording"
        )
    limits = [0, *(k + 1 for k in long), len(x.t)]
    parts = [x.part(slice(a, b)) for a, b in pairwise(limits)]
    kept = [part for part in parts if len(part.t) >= 20]
    if not kept:
        raise InputError(f"{x.name}: too short: no 20 samples without a gap")
    return [_resampled(part, dt, _unfiltered(recipe)) for part in kept], notes


def _unfiltered(recipe: Recipe) -> bool:
    """May the equations hold at the times recorded, with nothing filtered?"""
    chosen = recipe.filter
    return (
        recipe.fit.model == "dynamic"
        and chosen.cutoff in ("auto", "none")
        and chosen.parallel in ("auto", "none")
        and chosen.decimate in ("auto", 1)
    )


def _resampled(x: Series, dt: float, unfiltered: bool) -> Series:
    """The series at uniform times, by cubic splines where they are not uniform already. Without
    noise it stays as it is, with the derivatives of a spline: torques jump with the friction, and
    are best not interpolated."""
    steps = np.diff(x.t)
    if np.abs(steps - steps.mean()).max() <= 1e-3 * steps.mean() and steps.max() < 1.5 * dt:
        return x
    from scipy.interpolate import CubicSpline

    if unfiltered and len(x.t) <= _AS_RECORDED and (as_it_is := _differentiated(x)) is not None:
        return as_it_is

    count = round((x.t[-1] - x.t[0]) / dt) + 1
    t = np.linspace(x.t[0], x.t[-1], count)
    near = np.clip(np.searchsorted(x.t, t), 0, len(x.t) - 1)

    def at(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else np.asarray(CubicSpline(x.t, values)(t))

    changed: Any = {key: at(getattr(x, key)) for key in ("q", "qd", "qdd", "tau", "reference")}
    whole = None if x.whole is None else x.whole[near]
    return replace(x, t=t, valid=x.valid[near], whole=whole, **changed)


def _differentiated(x: Series) -> Series | None:
    """Velocities and accelerations by a spline through the positions, at the times recorded; None
    if these are noisy: half of the samples then do not foretell the others."""
    from scipy.interpolate import make_interp_spline

    if x.qd is not None and x.qdd is not None:
        return x
    if len(x.t) < 8 * _ENDS:
        return None
    signal = x.q if x.qd is None else x.qd
    inside = slice(2 * _ENDS, -2 * _ENDS)
    half = make_interp_spline(x.t[::2], signal[::2], k=_DEGREE)(x.t)
    curve = make_interp_spline(x.t, signal, k=_DEGREE)
    rates = curve.derivative()(x.t), curve.derivative(2)(x.t)
    noise = np.abs(half - signal)[inside].max(axis=0) * len(x.t) / (x.t[-1] - x.t[0])
    if x.qd is None:
        noise = noise * len(x.t) / (x.t[-1] - x.t[0])
    wanted = np.sqrt(np.mean((rates[0] if x.qd is not None else rates[1]) ** 2, axis=0))
    if (noise > 1e-2 * np.maximum(wanted, 1e-12)).any():
        return None
    valid = x.valid.copy()
    valid[:_ENDS] = valid[-_ENDS:] = False
    if x.qd is None:
        return replace(x, qd=rates[0], qdd=rates[1], valid=valid, splined=True)
    return replace(x, qdd=rates[0], valid=valid)


def closed_rows(
    ties: Ties, recording: Recording, recipe: Recipe, names: Names, q_a: Array,
    measured: Mapping[int, Array], rows: Array, *, timed: bool,
) -> tuple[Array, list[str]]:  # fmt: skip
    """(q (rows, n) closed, notes) of the driven positions (rows, na) in these rows of a recording;
    measured: positions of joints that follow, by column: they say how the loops are closed first,
    and are compared then. timed: each row follows the one before."""
    measured, tracked = _tracked(ties, recording, names, measured, timed)
    guess = ties.home(recipe.assembly.q, q_a[0])
    if ties.rolled:
        q = ties.rolling(q_a, guess, tracked)
        if tracked is None:
            return q, [_started(ties, recording, q[0])]
        return q, _slipped(ties, recording, names, q, q_a) if timed else []
    if measured and not recipe.assembly.q:
        guess[ties.active] = q_a[0]
        for k, x in measured.items():
            guess[k] = x[0]
    q, count = (ties.along if timed else ties.each)(q_a, guess)
    if count < len(q):
        told = _open(ties, q_a, count, recording.row(int(rows[count])))
        listed = ", ".join(f"'{name}'" for name in names.position)
        raise InputError(f"{recording.name}: columns {listed}, {told}")
    notes: list[str] = []
    faults: list[str] = []
    for away, text in _apart(ties, recording, names, q, measured, rows):
        strict = recipe.log.check_units and away > _REFUSED
        (faults if strict else notes).append(f"{recording.name}: {text}")
    if faults:
        faults.append(
            "check units, signs and offsets of these columns, and [assembly] q (if it is right: "
            "[log] check_units = false)"
        )
        raise InputError("\n".join(faults))
    return q, notes


def _tracked(
    ties: Ties, recording: Recording, names: Names, measured: Mapping[int, Array], timed: bool
) -> tuple[Mapping[int, Array], Array | None]:
    """What was measured of the joints that follow by loops, and of those that wheels alone hold:
    all of these, or none."""
    known = [k for k in ties.rolled if k in measured]
    rest = {k: x for k, x in measured.items() if k not in known}
    every = ", ".join(f"q{k + 1}" for k in ties.rolled)
    if 0 < len(known) < len(ties.rolled):
        shown = ", ".join(f"'{names.passive[k]}'" for k in known)
        raise InputError(
            f"{recording.name}: {shown} of the joints that wheels hold; give all of them, {every},"
            " or none"
        )
    if ties.rolled and not known and not timed:
        raise InputError(
            f"{recording.name}: rows without times do not tell where the wheels took"
            f" '{ties.robot.name}': give a column of times, or the positions of {every}"
        )
    return rest, np.stack([measured[k] for k in known], axis=1) if known else None


def _started(ties: Ties, recording: Recording, q: Array) -> str:
    """Where the wheels began to roll."""
    places = zip(ties.rolled, q[ties.rolled], strict=True)
    start = ", ".join(f"q{k + 1} = {x:.6g}" for k, x in places)
    return (
        f"{recording.name}: where '{ties.robot.name}' was follows from its wheels, from {start} on;"
        " [assembly] q gives another start"
    )


def _slipped(ties: Ties, recording: Recording, names: Names, q: Array, q_a: Array) -> list[str]:
    """Tracked positions (rows, n) that are not those where rolling takes the robot."""
    away = np.abs(ties.rolling(q_a, q[0]) - q)[:, ties.rolled].max(axis=0)
    k = int(np.argmax(away))
    if away[k] <= _NOTED:
        return []
    return [
        f"{recording.name}: column '{names.passive[ties.rolled[k]]}' leaves where wheels without"
        f" slip take it by up to {away[k]:.3g}: they slip, or their radii and distances are others"
    ]


def _open(ties: Ties, q_a: Array, row: int, where: str) -> str:
    """Why the loops cannot be closed in a row."""
    name, gap = ties.robot.name, ties.gap(q_a[row])
    if gap.value < _CLOSABLE:
        return (
            f"{where}: the loops of '{name}' close there, but not in the assembly of the rows "
            "before: a singular configuration lies between them, or [assembly] q is of another "
            "assembly than the recording"
        )
    return (
        f"{where}: {gap.what} of '{name}' cannot be closed at these positions: it stays open by "
        f"{gap.text} at best; check [position] unit, sign and offset, and the lengths of the robot"
    )


def _apart(
    ties: Ties, recording: Recording, names: Names, q: Array, measured: Mapping[int, Array],
    rows: Array,
) -> Iterator[tuple[float, str]]:  # fmt: skip
    """(distance, text) of measured positions that are not those which close the loops."""
    for column, x in measured.items():
        whole = q.copy()
        whole[:, column] = x
        away = np.abs(ties.apart(whole, q))[:, column]
        if away.max() > _NOTED:
            k = int(np.argmax(away > _NOTED))
            told = (
                f"column '{names.passive[column]}', {recording.row(int(rows[k]))}: "
                f"{x[k]:.6g} was measured, but the loops close at {q[k, column]:.6g} with the "
                f"driven joints there ({int((away > _NOTED).sum())} rows like it)"
            )
            yield float(away.max()), told
