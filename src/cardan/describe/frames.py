"""Numeric geometry of frames: four-by-four placements, and Khalil's six parameters of a placement.

    iTj = Rot(z, gamma) Tran(z, b) Rot(x, alpha) Tran(x, d) Rot(z, theta) Tran(z, r)      [KC97] 2.1

The six are read off the axes: the common normal of z_i and z_j carries alpha and d, its place on
z_i is (gamma, b), and (theta, r) go from it to frame j. So every placement has six such numbers,
but not one set only: the normal has two senses, and parallel axes have a common normal everywhere.
We keep the set with most zeros, because a zero here is an operation less in every model derived
later.

Round-off must not hide those zeros: angles within 1e-11 of a multiple of pi/12 are that multiple,
lengths below 1e-12 of the robot's size are nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..algebra import so3
from ..exact import exact
from .robot import GEOMETRY
from .values.expression import Value, number

Array = NDArray[np.float64]
Six = tuple[float, float, float, float, float, float]

SNAP_ANGLE = 1e-11
SNAP_LENGTH = 1e-12
_STEP = math.pi / 12
_ROUND_OFF = 1e-15
_ALMOST = 1e-7


def snap_angle(x: float, tolerance: float = SNAP_ANGLE) -> float:
    """The angle in (-π, π], and the double of k·π/12 itself when it is that near to one."""
    x = math.remainder(x, 2 * math.pi)
    k = round(x / _STEP)
    if abs(x - k * _STEP) > tolerance:
        return x
    return math.pi if k == -12 else k * _STEP


def angle_value(x: float) -> Value:
    """The angle as an exact value: a multiple of pi/12 where it is one, else its decimal."""
    x = snap_angle(x)
    k = round(x / _STEP)
    if abs(x - k * _STEP) <= SNAP_ANGLE:
        return cast(Value, exact(0, Fraction(k, 12)))
    return decimal_value(x, 1e-15)


def multiple_of_pi(value: Value, tolerance: float = SNAP_ANGLE) -> Value:
    """A decimal that stands for a multiple of π/12, as 1.5707963268, becomes it."""
    x = number(value)
    if x is None or abs(x) > 100 or "pi" in str(value):
        return value
    k = round(x / _STEP)
    return cast(Value, exact(0, Fraction(k, 12))) if abs(x - k * _STEP) <= tolerance else value


def length_value(x: float, size: float) -> Value:
    """The length as an exact value; nothing when it is lost in the size of the robot."""
    return 0 if abs(x) < SNAP_LENGTH * size else decimal_value(x, 1e-15 * size)


def decimal_value(x: float, tolerance: float) -> Value:
    """The exact value of the shortest decimal within the tolerance: 0.30000000000000004 is 0.3."""
    for digits in range(1, 15):
        short = float(f"{x:.{digits}g}")
        if abs(short - x) <= tolerance:
            x = short
            break
    return cast(Value, exact(Fraction(repr(x))))


def frame(R: Array, P: Array | Sequence[float]) -> Array:
    """The placement of rotation R and position P."""
    T = np.eye(4)
    T[:3, :3] = R
    T[:3, 3] = P
    return T


def inverse(T: Array) -> Array:
    """The inverse placement."""
    Rt = T[:3, :3].T
    return frame(Rt, -Rt @ T[:3, 3])


def matrix_of(six: Sequence[float]) -> Array:
    """iTj of the six parameters."""
    gamma, b, alpha, d, theta, r = six
    first = frame(so3.turn(2, gamma), (0.0, 0.0, b))
    second = frame(so3.turn(0, alpha), (d, 0.0, 0.0))
    T: Array = first @ second @ frame(so3.turn(2, theta), (0.0, 0.0, r))
    return T


def rotation_of_rpy(rpy: Sequence[float], snap: float = SNAP_ANGLE) -> Array:
    """Rot(z, yaw) Rot(y, pitch) Rot(x, roll), URDF's order; angles near k·π/12 are it."""
    return so3.from_rpy([snap_angle(x, snap) for x in rpy])


def of_quaternion(quat: Sequence[float] | Array) -> Array:
    """The rotation of a unit quaternion (w, x, y, z), without round-off beside 0 and ±1."""
    R = so3.from_quaternion(quat)
    R[np.abs(R) < 1e-11] = 0.0
    snapped = np.abs(np.abs(R) - 1) < 1e-11
    R[snapped] = np.sign(R[snapped])
    return R


def roll_pitch_yaw(R: Array) -> tuple[float, float, float]:
    """URDF's three angles of a rotation; at pitch ±π/2 only their sum shows, roll is 0.

    Near that pitch yaw is known to 1e-16 / cos(pitch) only, so pitch and roll are found for the
    yaw that was taken, which makes the three together right to 1e-16."""
    cp = math.hypot(R[0, 0], R[1, 0])
    if cp <= 1e-11:
        return 0.0, math.atan2(-R[2, 0], cp), math.atan2(-R[0, 1], R[1, 1])
    yaw = snap_angle(math.atan2(R[1, 0], R[0, 0]), max(SNAP_ANGLE, _ROUND_OFF / cp))
    c, s = so3.cos_sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw


def khalil_values(six: Sequence[float], size: float) -> dict[str, Any]:
    """The six parameters as exact values, by name; no length below round-off."""
    return {
        key: length_value(x, size) if key in "bdr" else angle_value(x)
        for key, x in zip(GEOMETRY, six, strict=True)
    }


def placement_of(xyz: Sequence[float], rpy: Sequence[float]) -> Array:
    """Tran(xyz) Rot(z, yaw) Rot(y, pitch) Rot(x, roll)."""
    return frame(rotation_of_rpy(rpy), xyz)


def placement_values(T: Array, size: float) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """xyz and rpy of a placement as exact values, without round-off."""
    xyz = tuple(length_value(float(x), size) for x in T[:3, 3])
    return xyz, tuple(angle_value(x) for x in roll_pitch_yaw(T[:3, :3]))


def perpendicular(z: Array) -> Array:
    """Some unit vector perpendicular to z, along a coordinate axis when z allows it."""
    unit = np.zeros(3)
    unit[int(np.argmin(np.abs(z)))] = 1.0
    x: Array = unit - z * float(z @ unit)
    x /= np.linalg.norm(x)
    return x


def decompose(T: Array, size: float) -> Six:
    """The six parameters of iTj, the set with most zeros; exact round-off zeros, angles snapped."""
    return min(_decompositions(T, size), key=score)


def _decompositions(T: Array, size: float) -> list[Six]:
    R, P = T[:3, :3], T[:3, 3]
    s = math.hypot(R[0, 2], R[1, 2])
    if s <= SNAP_ANGLE or (s <= _ALMOST and _is_far(R, P, s, size)):
        return _parallel(R, P, size)
    return [_crossed(R, P, s, sense, size) for sense in (1.0, -1.0)]


def _is_far(R: Array, P: Array, s: float, size: float) -> bool:
    """Is the common normal of almost parallel axes so far away that its place on them, in doubles,
    is less exact than to take them for parallel, which moves what follows by s times its size?"""
    across = abs(R[0, 2] * P[0] + R[1, 2] * P[1]) / s  # of P, in the plane of the two directions
    return bool(_ROUND_OFF * across / s > s * max(size, math.hypot(*P)))


def _crossed(R: Array, P: Array, s: float, sense: float, size: float) -> Six:
    """The six parameters when z_i and z_j are not parallel, for one sense of the common normal.

    Between almost parallel axes (s is small) the normal, hence gamma and b, are known to 1e-16/s
    only. So each later parameter is found for the rounded value of the ones before it, which then
    absorb nothing: a gamma or b that is only noise becomes zero and the placement is still right to
    1e-16.
    """
    gamma = math.atan2(sense * R[0, 2], -sense * R[1, 2])
    gamma = snap_angle(gamma, max(SNAP_ANGLE, _ROUND_OFF / s))
    c, g = so3.cos_sin(gamma)
    alpha = math.atan2(g * R[0, 2] - c * R[1, 2], R[2, 2])
    theta = math.atan2(-c * R[0, 1] - g * R[1, 1], c * R[0, 0] + g * R[1, 0])
    r = (g * P[0] - c * P[1]) / math.sin(alpha)
    b = P[2] - r * math.cos(alpha)
    if abs(b) * s < _ROUND_OFF * size and s < 0.5:
        b, r = 0.0, P[2] / math.cos(alpha)
    return _clean(gamma, b, alpha, c * P[0] + g * P[1], theta, r, size)


def _parallel(R: Array, P: Array, size: float) -> list[Six]:
    """z_i and z_j parallel: alpha is 0 or π, b is zero, and the turn about z is gamma ± theta."""
    up = 1.0 if R[2, 2] > 0 else -1.0
    alpha = 0.0 if up > 0 else math.pi
    turn, r = math.atan2(R[1, 0], R[0, 0]), up * P[2]
    d = math.hypot(P[0], P[1])
    if d < SNAP_LENGTH * size:
        return [_clean(0.0, 0.0, alpha, 0.0, up * turn, r, size)]
    gamma = math.atan2(P[1], P[0])
    return [
        _clean(gamma, 0.0, alpha, d, up * (turn - gamma), r, size),
        _clean(gamma + math.pi, 0.0, alpha, -d, up * (turn - gamma - math.pi), r, size),
    ]


def _clean(
    gamma: float, b: float, alpha: float, d: float, theta: float, r: float, size: float
) -> Six:
    b, d, r = (0.0 if abs(x) < SNAP_LENGTH * size else float(x) for x in (b, d, r))
    return snap_angle(gamma), b, snap_angle(alpha), d, snap_angle(theta), r


def score(six: Six) -> tuple[float, ...]:
    """Smaller is better: what skew angles, lengths and quarter turns cost; then tidiness."""
    gamma, b, alpha, d, theta, r = six
    cost = 0.0
    for angle in (gamma, alpha, theta):
        if angle:
            cost += 1.0 if math.remainder(angle, math.pi / 2) == 0 else 3.0
    cost += 2.0 * sum(length != 0 for length in (b, d, r))
    return cost, round(abs(gamma), 9), round(abs(theta), 9), float(d < 0), -gamma, -theta
