"""Rotations over numbers: matrices, rotation vectors, quaternions (w, x, y, z), angles.

A rotation vector v is the axis times the angle: R = exp(hat(v)). Right angles give exact zeros and
ones, because a zero is an operation less in every model derived later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def hat(v: Any) -> Array:
    """The matrix of v × ., (..., 3, 3) of (..., 3)."""
    v = np.asarray(v, float)
    K = np.zeros((*v.shape[:-1], 3, 3))
    K[..., 2, 1], K[..., 0, 2], K[..., 1, 0] = v[..., 0], v[..., 1], v[..., 2]
    K -= np.swapaxes(K, -1, -2)
    return K


def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine, exactly 0 and ±1 at the multiples of π/2."""
    quarter = angle / (math.pi / 2)
    if abs(quarter - round(quarter)) < 1e-15:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarter) % 4]
    return math.cos(angle), math.sin(angle)


def turn(axis: int, angle: float) -> Array:
    """The rotation by an angle about axis 0, 1 or 2."""
    c, s = cos_sin(angle)
    R = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def about(axis: Array, angle: float) -> Array:
    """The rotation by an angle about a unit vector (Rodrigues)."""
    c, s = cos_sin(angle)
    return np.asarray(c * np.eye(3) + s * hat(axis) + (1 - c) * np.outer(axis, axis))


def along(z: Array) -> Array | None:
    """The smallest rotation that brings z to a direction; none if that has no length."""
    size = float(np.linalg.norm(z))
    if size < 1e-10:
        return None
    z = z / size
    axis = np.cross((0, 0, 1), z)
    s = float(np.linalg.norm(axis))
    if s < 1e-12:
        return np.eye(3) if z[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return about(axis / s, math.atan2(s, float(z[2])))


def from_rpy(rpy: Sequence[float]) -> Array:
    """Rot(z, yaw) Rot(y, pitch) Rot(x, roll)."""
    roll, pitch, yaw = rpy
    return np.asarray(turn(2, yaw) @ turn(1, pitch) @ turn(0, roll))


def exp(v: Any) -> Array:
    """exp(hat(v)): the rotation about v by |v|, (..., 3, 3) of (..., 3)."""
    v = np.asarray(v, float)
    angle = np.linalg.norm(v, axis=-1)[..., None, None]
    K = hat(v)
    first, second = np.sinc(angle / np.pi), np.sinc(angle / 2 / np.pi) ** 2 / 2
    return np.asarray(np.eye(3) + first * K + second * (K @ K))


def log(R: Any) -> Array:
    """The vector v of least length with exp(hat(v)) = R, (3) of (3, 3)."""
    R = np.asarray(R, float)
    axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    s, c = float(np.linalg.norm(axial)), (float(np.trace(R)) - 1) / 2
    angle = np.arctan2(s, c)
    if c > 0:
        return np.asarray(axial * (angle / s)) if s > 1e-12 else axial
    # (R + R^T)/2 = c 1 + (1 - c) a a^T: the axis, also near a half turn
    B = ((R + R.T) / 2 - c * np.eye(3)) / (1 - c)
    k = int(np.argmax(np.diag(B)))
    axis = B[:, k] / np.linalg.norm(B[:, k])
    return np.asarray(axis * angle * (-1.0 if axis @ axial < 0 else 1.0))


def log_rate(v: Array, w: Array) -> Array:
    """The rate of the rotation vector v of exp(hat(v)) when the body spins with w in its axes:
    w + v × w / 2 + k v × (v × w), k = (1 - (a/2) cot(a/2)) / a²."""
    a = float(np.sqrt(v @ v))
    k = 1 / 12 + a * a / 720 if a < 1e-2 else (1 - a / 2 / np.tan(a / 2)) / (a * a)
    c = np.array([v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]])
    d = np.array([v[1] * c[2] - v[2] * c[1], v[2] * c[0] - v[0] * c[2], v[0] * c[1] - v[1] * c[0]])
    return np.asarray(w + c / 2 + k * d)


def quaternion(R: Array) -> Array:
    """The unit quaternion of a rotation, w not negative: the eigenvector of largest eigenvalue."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R
    K = np.array(
        [
            [xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, xx - yy - zz, xy + yx, xz + zx],
            [xz - zx, xy + yx, yy - xx - zz, yz + zy],
            [yx - xy, xz + zx, yz + zy, zz - xx - yy],
        ]
    )
    e = np.linalg.eigh(K)[1][:, -1]
    return np.asarray(e * (np.sign(e[0]) or np.sign(e[np.argmax(np.abs(e))])))


def from_quaternion(e: Sequence[float] | Array) -> Array:
    """The rotation of a unit quaternion."""
    w, x, y, z = e
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
