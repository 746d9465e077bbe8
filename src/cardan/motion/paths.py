"""Paths of a frame in task space: pose, twist and acceleration as functions of time.

    line(T0, T1, duration)                straight, turning about one axis
    circle(T0, centre, normal, ...)       an arc about an axis
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
from .piecewise import Piecewise, time_law
from .trajectory import instants

__all__ = ["Path", "Poses", "circle", "line", "pick_and_place"]


@dataclass(frozen=True)
class Poses:
    """Poses T (..., 4, 4), twists V (..., 6) and accelerations Vd (..., 6)."""

    T: np.ndarray
    V: np.ndarray
    Vd: np.ndarray


@dataclass(frozen=True)
class Path:
    """A motion of a frame: calling it with times (...) gives Poses."""

    duration: float
    at: Callable[[Any], Poses]
    name: str = "path"

    def __call__(self, t: Any) -> Poses:
        return self.at(np.asarray(t, float))


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
    s = _law(law, duration)

    def at(t: np.ndarray) -> Poses:
        x, xd, xdd = s(t), s(t, 1), s(t, 2)
        both = np.concatenate([move, turn])
        P = T0[:3, 3] + x * move
        return Poses(_stack(so3.exp(x * turn) @ T0[:3, :3], P), xd * both, xdd * both)

    return Path(duration, at, "line")


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
    s = _law(law, duration)

    def at(t: np.ndarray) -> Poses:
        phi, w, wd = (s(t, k) * angle for k in range(3))
        R = so3.exp(phi * axis)
        r = R @ arm
        tangent = np.cross(axis, r)
        v = w * tangent
        a = wd * tangent + w * w * np.cross(axis, tangent)
        spin, rate = (w * axis, wd * axis) if turning else (0 * r, 0 * r)
        kept = R @ T0[:3, :3] if turning else np.broadcast_to(T0[:3, :3], R.shape)
        return Poses(
            _stack(kept, middle + r), np.concatenate([v, spin], -1), np.concatenate([a, rate], -1)
        )

    return Path(duration, at, "circle")


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
    s = _law(law, duration)
    leg = duration + dwell

    def at(t: np.ndarray) -> Poses:
        back = ((t > leg) & there_and_back)[..., None]
        u = np.where(back[..., 0], t - leg, t)
        sign = np.where(back, -1.0, 1.0)
        y, yd, ydd = np.where(back, 1 - s(u), s(u)), sign * s(u, 1), sign * s(u, 2)
        P, v, a = _ellipse(half, upward, y, yd, ydd)
        T = _stack(so3.exp(y * turn) @ A[:3, :3], middle + P)
        return Poses(T, np.concatenate([v, yd * turn], -1), np.concatenate([a, ydd * turn], -1))

    return Path(2 * leg if there_and_back else leg, at, "pick and place")


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
