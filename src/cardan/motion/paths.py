"""Paths of a frame in task space: pose, twist and acceleration as functions of time.

    line(T0, T1, duration)                straight, turning about one axis
    circle(T0, centre, normal, ...)       an arc about an axis
    through(poses, duration)              a spline through poses
    pick_and_place(A, B, height, ...)     the half-ellipse cycle of [B23] fig. 3.7

Twists are (linear, angular) in the axes of the frame the poses are given in (frame 0).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import so3
from ..arguments import Numbers, named_arguments
from ..errors import InputError
from .joints import array
from .piecewise import Piecewise, spline, time_law
from .trajectory import instants


@dataclass(frozen=True)
class Poses:
    """Poses T (..., 4, 4), twists V (..., 6) and accelerations Vd (..., 6)."""

    T: np.ndarray
    V: np.ndarray
    Vd: np.ndarray


@dataclass(frozen=True)
class Path:
    """A motion of a frame: calling it with times (...) gives Poses. Where it is a way with a time
    law, `along` is the way: the poses at s from 0 to 1, with their derivatives by s, and
    `law` is s(t)."""

    duration: float
    at: Callable[[Any], Poses]
    name: str = "path"
    along: Callable[[Any], Poses] | None = None
    law: Piecewise | None = None

    def __call__(self, t: Any) -> Poses:
        return self.at(np.asarray(t, float))


def _timed(along: Callable[[Any], Poses], law: Piecewise, name: str) -> Path:
    """A way, run through by a time law: V = V' sd, Vd = V' sdd + V'' sd²."""

    def at(t: np.ndarray) -> Poses:
        s, sd, sdd = law.states(t)
        way = along(s[..., 0])
        return Poses(way.T, way.V * sd, way.V * sdd + way.Vd * sd * sd)

    return Path(law.duration, at, name, along, law)


def pose(T: Any, what: str = "a pose") -> np.ndarray:
    """A homogeneous matrix (4, 4), checked; three values are a position in the axes of frame 0."""
    matrix = array(what, T)
    if matrix.shape == (3,):
        whole = np.eye(4)
        whole[:3, 3] = matrix
        matrix = whole
    if matrix.shape != (4, 4):
        raise InputError(f"{what} has shape {matrix.shape}; expected (4, 4) or a position (3)")
    R = matrix[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise InputError(f"{what} has no rotation matrix in its upper left corner")
    return matrix


def _law(law: str, duration: float) -> Piecewise:
    instants(duration, duration)
    return time_law(law).stretched(duration)


@named_arguments
def line(start: Numbers, end: Numbers, duration: float, *, law: str = "quintic") -> Path:
    """From one pose to another, straight, turning about a fixed axis."""
    T0, T1 = pose(start, "start"), pose(end, "end")
    turn = so3.log(T1[:3, :3] @ T0[:3, :3].T)
    move = T1[:3, 3] - T0[:3, 3]
    both = np.concatenate([move, turn])

    def along(s: np.ndarray) -> Poses:
        x = np.asarray(s, float)[..., None]
        T = _stack(so3.exp(x * turn) @ T0[:3, :3], T0[:3, 3] + x * move)
        return Poses(T, both + 0 * x, 0 * both + 0 * x)

    return _timed(along, _law(law, duration), "line")


@named_arguments
def circle(
    start: Numbers, centre: Numbers, duration: float, *, normal: Numbers = (0, 0, 1),
    angle: Numbers = 2 * np.pi, law: str = "quintic", turning: bool = False,
) -> Path:  # fmt: skip
    """From a pose about an axis through a centre; the orientation is kept, or turns with it."""
    T0 = pose(start, "start")
    middle, axis, angle = array("centre", centre), array("normal", normal), array("angle", angle)
    if angle.shape != ():
        raise InputError(f"angle has shape {angle.shape}; expected one value")
    if middle.shape != (3,) or axis.shape != (3,) or not np.linalg.norm(axis):
        raise InputError(f"centre {centre} and normal {normal}: expected three values each")
    axis = axis / np.linalg.norm(axis)
    arm = T0[:3, 3] - middle

    def along(s: np.ndarray) -> Poses:
        phi = np.asarray(s, float)[..., None] * angle
        R = so3.exp(phi * axis)
        r = R @ arm
        v = angle * np.cross(axis, r)
        a = angle * np.cross(axis, v)
        spin = angle * axis + 0 * r if turning else 0 * r
        turned = R @ T0[:3, :3] if turning else np.broadcast_to(T0[:3, :3], R.shape)
        return Poses(
            _stack(turned, middle + r), np.concatenate([v, spin], -1),
            np.concatenate([a, 0 * r], -1),
        )  # fmt: skip

    return _timed(along, _law(law, duration), "circle")


@named_arguments
def through(poses: Numbers, duration: float, *, law: str = "quintic", degree: int = 3) -> Path:
    """A smooth way through poses (m, 4, 4), or positions (m, 3): natural splines of the position
    and of the quaternion, which is then made a unit, over the lengths of the chords (a turn by a
    radian counts as the mean distance from the middle of all positions).

    >>> from cardan.motion import paths
    >>> way = paths.through([[0.4, 0, 0.3], [0.5, 0.1, 0.3], [0.4, 0.2, 0.3]], 2.0)
    >>> way(2.0).T[:3, 3].tolist()
    [0.4, 0.2, 0.3]"""
    try:
        listed = list(poses)
    except TypeError:
        raise InputError(f"poses: {poses!r}; expected a list of poses") from None
    T = np.array([pose(x, f"poses[{k}]") for k, x in enumerate(listed)])
    if len(T) < 2:
        raise InputError(f"{len(T)} poses; expected at least two")
    P, e = T[:, :3, 3], np.array([so3.quaternion(R) for R in T[:, :3, :3]])
    for k in range(1, len(e)):  # the nearer of the two quaternions of a rotation
        e[k] = e[k] if e[k] @ e[k - 1] >= 0 else -e[k]
    size = float(np.linalg.norm(P - P.mean(0), axis=1).mean()) or 1.0
    turns = 2 * np.arccos(np.clip(np.sum(e[1:] * e[:-1], axis=1), -1, 1))
    chords = np.hypot(np.linalg.norm(np.diff(P, axis=0), axis=1), size * turns)
    if not chords.all():
        k = int(np.argmin(chords))
        raise InputError(f"poses {k} and {k + 1} (from 0) are the same: leave one out")
    knots = np.concatenate([[0.0], chords.cumsum()]) / chords.sum()
    x = spline(knots, np.concatenate([P, e], axis=1), degree, "natural")

    def along(s: np.ndarray) -> Poses:
        rows = x.states(s)
        e, ed, edd = (row[..., 3:] for row in rows)
        rate = _over(ed, e)  # (d|e|/dt)/|e| + half the angular velocity
        w = 2 * rate[..., 1:]
        wd = 2 * (_over(edd, e) - _product(rate, rate))[..., 1:]
        unit = np.moveaxis(e / np.linalg.norm(e, axis=-1)[..., None], -1, 0)
        R = np.moveaxis(so3.from_quaternion(unit), (0, 1), (-2, -1))
        return Poses(
            _stack(R, rows[0][..., :3]), np.concatenate([rows[1][..., :3], w], -1),
            np.concatenate([rows[2][..., :3], wd], -1),
        )  # fmt: skip

    return _timed(along, _law(law, duration), "spline through poses")


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions (..., 4)."""
    scalar = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], -1, keepdims=True)
    cross = np.cross(a[..., 1:], b[..., 1:])
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + cross
    return np.concatenate([scalar, vector], axis=-1)


def _over(a: np.ndarray, e: np.ndarray) -> np.ndarray:
    """a e⁻¹ of quaternions."""
    inverse = e * [1, -1, -1, -1] / np.sum(e * e, axis=-1, keepdims=True)
    return _product(a, inverse)


@named_arguments
def pick_and_place(
    pick: Numbers, place: Numbers, height: float, *, duration: float | None = None,
    acceleration: float | None = None, dwell: float = 0.0, up: Numbers = (0, 0, 1),
    law: str = "quintic", there_and_back: bool = True,
) -> Path:  # fmt: skip
    """Half an ellipse from pick to place, `height` above their middle, and back.

    The cycle of [B23] fig. 3.7. Give the duration of one way, or the peak acceleration of the
    tool in m/s2 (fig. 3.7: 15 times 9.81), from which the duration follows."""
    A, B = pose(pick, "pick"), pose(place, "place")
    turn = so3.log(B[:3, :3] @ A[:3, :3].T)
    upward = _upward(up, height)
    half = (B[:3, 3] - A[:3, 3]) / 2
    if (duration is None) == (acceleration is None):
        raise InputError("give the duration of one way, or the peak acceleration; one of them")
    middle = (A[:3, 3] + B[:3, 3]) / 2
    if acceleration is not None:
        y = tuple(time_law(law)(np.linspace(0, 1, 2001), k) for k in range(3))
        peak = np.linalg.norm(_ellipse(half, upward, *y)[2], axis=-1).max()
        if not (np.isfinite(acceleration) and acceleration > 0 and peak > 0):
            raise InputError(f"acceleration = {acceleration} m/s2 for a path of that size")
        duration = float(np.sqrt(peak / acceleration))
    assert duration is not None
    if not (np.isfinite(dwell) and dwell >= 0):
        raise InputError(f"a dwell of {dwell} s; expected 0 or more")

    def along(s: np.ndarray) -> Poses:
        y = np.asarray(s, float)[..., None]
        P, v, a = _ellipse(half, upward, y, 1 + 0 * y, 0 * y)
        T = _stack(so3.exp(y * turn) @ A[:3, :3], middle + P)
        return Poses(T, np.concatenate([v, turn + 0 * P], -1), np.concatenate([a, 0 * P], -1))

    there = _law(law, duration).resting(dwell)
    way = there.followed(there.mapped(np.ones(1), np.zeros(1))) if there_and_back else there
    return _timed(along, way, "pick and place")


def _upward(up: Any, height: float) -> np.ndarray:
    """The vector from the middle of the path to its highest point."""
    axis, size = array("up", up), array("height", height)
    if axis.shape != (3,) or not axis.any() or size.shape != ():
        raise InputError(f"up = {up}, height = {height}: expected a direction and a length in m")
    return np.asarray(axis / np.linalg.norm(axis) * size)


def _ellipse(
    half: np.ndarray, upward: np.ndarray, y: np.ndarray, yd: np.ndarray, ydd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position about the middle, velocity, acceleration of -half cos φ + up sin φ, φ = π y."""
    phi, w, wd = np.pi * y, np.pi * yd, np.pi * ydd
    c, s = np.cos(phi), np.sin(phi)
    P = -half * c + upward * s
    slope = half * s + upward * c
    return P, w * slope, wd * slope - w * w * P


def _stack(R: np.ndarray, P: np.ndarray) -> np.ndarray:
    T = np.zeros((*P.shape[:-1], 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, P, 1
    return T
