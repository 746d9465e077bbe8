"""What is wrong with a recording, before anything is fitted to it: column, row, remedy.

Faults stop the identification; notes go into the report. Every fault found is reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...describe.robot import PRISMATIC, Robot
from ...motion.joints import bounds, driven, moving
from .logs import Recording

_LEAST = 0.02  # rad or m: smaller steps are left to the filter
_FASTER = 5.0  # than 90 % of the steps: an angle may wrap often
_LOCAL, _ABOUT = 8.0, 5  # than the middle one of as many before and after
_SPIKE, _ENOUGH = 20.0, 200  # times what 99 % of so many rows have
_TURN = 0.2  # rad: near a full turn
_ANYWAY = "(if it is right: [log] check_units = false)"
DEGREES = 180 / np.pi
_STILL = 1e-3  # rad or m: a joint that moves less does not move
_TURNS = 4 * np.pi  # more than two turns are rarely meant
_LISTED = 5
_ALIKE = 0.9  # correlation of a velocity with the slope of the positions it belongs to


@dataclass(frozen=True)
class Names:
    """The columns of a recording by what they hold, of the driven joints; velocity and acceleration
    may be empty. passive: positions of joints that follow, where recorded, by column of q."""

    time: str
    position: Sequence[str]
    velocity: Sequence[str]
    acceleration: Sequence[str]
    torque: Sequence[str]
    passive: Mapping[int, str] = field(default_factory=dict)
    reference: Sequence[str] = ()

    def all(self) -> list[str]:
        time = [self.time] if self.time else []
        positions = [*self.position, *self.passive.values()]
        rates = [*self.velocity, *self.acceleration]
        return [*time, *positions, *self.reference, *rates, *self.torque]


def missing_values(recording: Recording, names: Names) -> tuple[np.ndarray, list[str]]:
    """(rows that hold only numbers, faults): cells that are empty, text, NaN or infinite."""
    good = np.ones(recording.rows, bool)
    faults = []
    for name in names.all():
        bad = np.flatnonzero(~np.isfinite(recording.column(name)))
        good[bad] = False
        if len(bad):
            shown = ", ".join(recording.row(int(k)) for k in bad[:_LISTED])
            more = f" and {len(bad) - _LISTED} more" if len(bad) > _LISTED else ""
            faults.append(f"column '{name}' is not a number in {shown}{more}")
    if faults:
        faults.append('delete or repair these rows, or leave them out: [log] missing = "drop"')
    return good, faults


def time_faults(recording: Recording, name: str, t: np.ndarray) -> Iterator[str]:
    """Times that do not increase, and times in another unit."""
    steps = np.diff(t)
    back = np.flatnonzero(steps <= 0)
    if len(back):
        k = int(back[0]) + 1
        word = "repeats" if steps[k - 1] == 0 else "goes back from"
        yield (
            f"column '{name}': time {word} {t[k - 1]:.9g} at {recording.row(k)}, where it is "
            f"{t[k]:.9g} ({len(back)} such rows): sort or clean the recording"
        )
    elif len(t) > 2 and np.median(steps) > 0.5:
        middle = float(np.median(steps))
        unit = "ms" if middle < 500 else "us" if middle < 5e5 else "ns"
        yield (
            f"column '{name}': {middle:.6g} s between rows (from {recording.row(0)}): "
            f'too slow for a motion; if it is in {unit}, set [log] time_unit = "{unit}"'
        )


def motion_faults(names: Names, q: np.ndarray, tau: np.ndarray, allow: bool) -> Iterator[str]:
    """Joints that do not move, torques that do not change."""
    for name, x in zip(names.position, q.T, strict=True):
        if not allow and np.ptp(x) < _STILL:
            yield (
                f"column '{name}': the joint does not move (all rows within {np.ptp(x):.3g} of "
                f"{x[0]:.6g}): its parameters cannot be told apart; move it, or set "
                '[log] constant = "allow" to identify the rest'
            )
    for name, x in zip(names.torque, tau.T, strict=True):
        if np.ptp(x) == 0:
            yield f"column '{name}': the torque is {x[0]:.6g} in all rows: was it recorded?"


def unit_faults(
    robot: Robot, names: Names, series: Mapping[str, np.ndarray], recording: Recording
) -> Iterator[str]:
    """Positions, velocities and torques that can only be in another unit."""
    q, qd, qdd, tau, t = (series.get(key) for key in ("q", "qd", "qdd", "tau", "t"))
    assert q is not None
    assert tau is not None
    active = driven(robot)
    joints = [moving(robot)[k] for k in active]
    lower, upper, efforts = (bounds(robot, key)[active] for key in ("lower", "upper", "effort"))
    reach = np.maximum(np.abs(lower), np.abs(upper))
    slopes = None
    if qd is not None and t is not None and len(t) > 20:
        slopes = np.gradient(q, t, axis=0)
    for j, joint in enumerate(joints):
        told = None
        if slopes is not None and qd is not None:
            told = _ratio_fault(names.position[j], names.velocity[j], slopes[:, j], qd[:, j])
            told = told or _other_fault(names, j, slopes[:, j], qd)
        if told is None and joint.sigma != PRISMATIC:
            told = _range_fault(recording, names.position[j], q[:, j], float(reach[j]))
        if told:
            yield told
    if qdd is not None and t is not None and len(t) > 20:
        rates = np.gradient(q, t, axis=0) if qd is None else qd
        yield from _acceleration_faults(names, np.gradient(rates, t, axis=0), qdd)
    turning = [j for j, joint in enumerate(joints) if joint.sigma != PRISMATIC]
    yield from _tiny(names, q, turning)
    for j, name in enumerate(names.torque):
        k = int(np.argmax(np.abs(tau[:, j])))
        if np.isfinite(efforts[j]) and efforts[j] > 0 and abs(tau[k, j]) > 20 * efforts[j]:
            yield (
                f"column '{name}', {recording.row(k)}: a torque of {tau[k, j]:.6g} is "
                f"{abs(tau[k, j]) / efforts[j]:.0f} times the joint's limit {efforts[j]:.6g}: "
                "check [torque] unit, side and gain"
            )


def _other_fault(names: Names, j: int, slope: np.ndarray, qd: np.ndarray) -> str | None:
    """Is the velocity recorded beside a position that of another joint, or of the other sign?"""
    if np.std(slope) < 1e-9:
        return None
    alike = [
        float(np.corrcoef(slope, x)[0, 1]) if np.std(x) > 1e-9 else 0.0 for x in np.asarray(qd).T
    ]
    if alike[j] > 0.5:
        return None
    position, velocity = names.position[j], names.velocity[j]
    if alike[j] < -_ALIKE:
        return (
            f"column '{velocity}' is the rate of '{position}' with the other sign, from the first "
            "row to the last: set [velocity] sign, or [velocity] used = false"
        )
    k = int(np.argmax(alike))
    if alike[k] > _ALIKE:
        return (
            f"column '{position}' moves as '{names.velocity[k]}' says, not as '{velocity}', from "
            "the first row to the last: are columns swapped?"
        )
    return None


def _ratio_fault(position: str, velocity: str, slope: np.ndarray, qd: np.ndarray) -> str | None:
    """Does the recorded velocity fit the slope of the positions?"""
    if np.std(qd) < 1e-9 or np.std(slope) < 1e-9:
        return None
    ratio = float(slope @ qd / (qd @ qd))
    if np.corrcoef(slope, qd)[0, 1] < 0.7 or 0.5 < ratio < 2:
        return None
    for factor, remedy in (
        (DEGREES, f"column '{position}' is in degrees: set [position] unit = \"deg\""),
        (1 / DEGREES, f"column '{velocity}' is in degrees per second: [velocity] unit = \"deg/s\""),
        (1e-3, 'the time is in ms: [log] time_unit = "ms"'),
    ):
        if 0.7 < ratio / factor < 1.4:
            return f"columns '{position}' and '{velocity}' differ by {ratio:.4g}: {remedy}"
    return (
        f"column '{velocity}' is not the rate of '{position}': the slope of the positions is "
        f"{ratio:.4g} times as large; check units, or set [velocity] used = false"
    )


def _acceleration_faults(names: Names, slopes: np.ndarray, qdd: np.ndarray) -> Iterator[str]:
    """Do the recorded accelerations fit the slopes of the velocities?"""
    for name, slope, x in zip(names.acceleration, slopes.T, qdd.T, strict=True):
        if np.std(x) < 1e-9 or np.std(slope) < 1e-9:
            continue
        ratio, alike = float(slope @ x / (x @ x)), float(np.corrcoef(slope, x)[0, 1])
        if alike < -_ALIKE:
            yield (
                f"column '{name}' has the other sign than the velocities say, from the first row "
                "to the last: set [acceleration] sign, or [acceleration] used = false"
            )
        elif alike > 0.7 and not 0.5 < ratio < 2:
            degrees = 0.7 < ratio * DEGREES < 1.4
            guess = '[acceleration] unit = "deg/s^2"' if degrees else "[acceleration] unit"
            yield (
                f"column '{name}' is not the rate of the velocities: their slope is {ratio:.4g} "
                f"times as large; set {guess}, or [acceleration] used = false"
            )


def _range_fault(recording: Recording, name: str, q: np.ndarray, reach: float) -> str | None:
    """Positions that are far outside, and would be inside if they were degrees."""
    k = int(np.argmax(np.abs(q)))
    largest = float(abs(q[k]))
    known = np.isfinite(reach) and reach > 0
    limit = max(1.5 * reach, reach + 1) if known else _TURNS
    if largest <= limit:
        return None
    inside = largest / DEGREES <= (1.2 * reach if known else _TURNS)
    guess = (
        f'if it is in degrees ({largest / DEGREES:.4g} rad), set [position] unit = "deg"'
        if inside
        else "check [position] unit, side and [transmission]"
    )
    what = f"the joint's limit {reach:.4g}" if known else "two turns"
    return (
        f"column '{name}', {recording.row(k)}: {q[k]:.6g} rad is beyond {what}; {guess} "
        "(if it is right: [log] check_units = false)"
    )


def _tiny(names: Names, q: np.ndarray, turning: Sequence[int]) -> Iterator[str]:
    """All revolute joints within 5 degrees: radians taken for degrees?"""
    if turning and all(_STILL <= np.ptp(q[:, j]) < 0.09 for j in turning):
        largest = max(float(np.ptp(q[:, j])) for j in turning)
        listed = ", ".join(f"'{names.position[j]}'" for j in turning[:_LISTED])
        yield (
            f"columns {listed}: no joint moves by more than {largest:.3g} rad, from the first row "
            "to the last: are these radians or turns read as degrees? "
            "(if it is right: [log] check_units = false)"
        )


def saturated(tau: np.ndarray, limits: np.ndarray, shortest: int = 8) -> np.ndarray:
    """Samples whose torque rests at its extreme value, or at the joint's limit: (rows, n) flags."""
    held = np.zeros(tau.shape, bool)
    for j, x in enumerate(tau.T):
        spread = np.ptp(x)
        if spread == 0:
            continue
        for level in (x.max(), x.min()):
            at = np.abs(x - level) <= 1e-9 * spread
            runs = _runs(at, shortest)
            if runs.sum() >= max(shortest, 0.002 * len(x)):
                held[:, j] |= runs
        if np.isfinite(limits[j]):
            held[:, j] |= _runs(np.abs(x) >= 0.999 * limits[j], shortest)
    return held


def _runs(flags: np.ndarray, shortest: int) -> np.ndarray:
    """Only the runs of at least this length."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    long = np.zeros(len(flags), bool)
    for start, stop in edges.reshape(-1, 2):
        long[start:stop] = stop - start >= shortest
    return long


def jump_faults(
    robot: Robot, names: Names, series: Mapping[str, np.ndarray], recording: Recording
) -> Iterator[str]:
    """Columns with rows that no motion has: positions that jump, torques that spike.

    A joint moves little between two samples. A step far larger than all others, and than those just
    before and after it, is a damaged row, a zero that was set anew, or an angle that wraps; one
    such row spoils the accelerations, and with them the fit."""
    q, tau, t = series["q"], series["tau"], series.get("t")
    if t is not None and len(t) > 4 * _ABOUT:
        joints = [moving(robot)[k] for k in driven(robot)]
        for name, joint, x in zip(names.position, joints, q.T, strict=True):
            yield from _position(recording, name, x, t, joint.sigma != PRISMATIC)
    if len(tau) >= _ENOUGH:
        for name, x in zip(names.torque, tau.T, strict=True):
            yield from _torque(recording, name, x)


def _position(
    recording: Recording, name: str, x: np.ndarray, t: np.ndarray, turns: bool
) -> Iterator[str]:
    dt = np.diff(t)
    steps = np.diff(x) / dt * np.median(dt)  # as if times were even: a gap is no jump
    size = np.abs(steps)
    usual = float(np.quantile(size, 0.9))
    large = np.flatnonzero(size > max(_LEAST, _FASTER * usual)).tolist()
    jumps = [k for k in large if size[k] > _LOCAL * _around(size, k)]
    if not jumps:
        return
    k = jumps[0]
    more = f" ({len(jumps)} such steps)" if len(jumps) > 1 else ""
    what = (
        f"column '{name}', {recording.row(k + 1)}: the position jumps by {x[k + 1] - x[k]:.6g} "
        f"within one sample, most others by less than {usual:.2g}{more}"
    )
    if turns and abs(abs(x[k + 1] - x[k]) - 2 * np.pi) < max(_TURN, 2 * usual):
        yield f"{what}: an angle that wraps; unwrap the column (numpy.unwrap) {_ANYWAY}"
    else:
        yield f"{what}: delete or repair the row, or cut the recording there {_ANYWAY}"


def _around(size: np.ndarray, k: int) -> float:
    """The middle one of the steps about one."""
    near = np.concatenate([size[max(0, k - _ABOUT) : k], size[k + 1 : k + 1 + _ABOUT]])
    return float(np.median(near))


def _torque(recording: Recording, name: str, x: np.ndarray) -> Iterator[str]:
    size = np.abs(x - np.median(x))
    usual = float(np.quantile(size, 0.99))
    spikes = np.flatnonzero(size > _SPIKE * usual)
    if usual > 0 and len(spikes):
        k = int(spikes[0])
        more = f" ({len(spikes)} such rows)" if len(spikes) > 1 else ""
        yield (
            f"column '{name}', {recording.row(k)}: a torque of {x[k]:.6g}, "
            f"{size[k] / usual:.0f} times as far from the middle as 99 % of the rows{more}: delete "
            f"or repair the row {_ANYWAY}"
        )
