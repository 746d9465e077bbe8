"""Rows of a recording that cannot be part of a motion: positions that jump, torques that spike.

A joint moves little between two samples. A step far larger than all others, and than those just
before and after it, is a damaged row, a zero that was set anew, or an angle that wraps; one such
row spoils the accelerations, and with them the fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...describe.robot import PRISMATIC, Robot
from ...motion.joints import driven, moving
from .checks import Names
from .logs import Recording

__all__ = ["jump_faults"]

_LEAST = 0.02  # rad or m: smaller steps are left to the filter
_FASTER = 5.0  # than 90 % of the steps: an angle may wrap often
_LOCAL, _ABOUT = 8.0, 5  # than the middle one of as many before and after
_SPIKE, _ENOUGH = 20.0, 200  # times what 99 % of so many rows have
_TURN = 0.2  # rad: near a full turn
_ANYWAY = "(if it is right: [log] check_units = false)"


def jump_faults(
    robot: Robot, names: Names, series: Mapping[str, np.ndarray], recording: Recording
) -> Iterator[str]:
    """Columns with rows that no motion has."""
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
    found = [k for k in large if size[k] > _LOCAL * _around(size, k)]
    if not found:
        return
    k = found[0]
    more = f" ({len(found)} such steps)" if len(found) > 1 else ""
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
    found = np.flatnonzero(size > _SPIKE * usual)
    if usual > 0 and len(found):
        k = int(found[0])
        more = f" ({len(found)} such rows)" if len(found) > 1 else ""
        yield (
            f"column '{name}', {recording.row(k)}: a torque of {x[k]:.6g}, "
            f"{size[k] / usual:.0f} times as far from the middle as 99 % of the rows{more}: delete "
            f"or repair the row {_ANYWAY}"
        )
