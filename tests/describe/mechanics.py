"""Forward geometry from the six parameters in plain NumPy, apart from the library, to judge it."""

from __future__ import annotations

import math

import numpy as np

INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")


def rotation(axis: int, x: float) -> np.ndarray:
    T = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    T[i, i] = T[j, j] = math.cos(x)
    T[i, j], T[j, i] = -math.sin(x), math.sin(x)
    return T


def translation(axis: int, x: float) -> np.ndarray:
    T = np.eye(4)
    T[axis, 3] = x
    return T


def poses(robot, q) -> list[np.ndarray]:
    """Frames 0, 1, 2 ... in frame 0, for one value per joint that moves."""
    values = iter(q)
    T = [np.eye(4)]
    for joint in robot.joints:
        gamma, b, alpha, d, theta, r = (
            float(getattr(joint, key)) for key in ("gamma", "b", "alpha", "d", "theta", "r")
        )
        if joint.sigma == 0:
            theta += next(values)
        elif joint.sigma == 1:
            r += next(values)
        T.append(
            T[joint.antecedent]
            @ rotation(2, gamma) @ translation(2, b) @ rotation(0, alpha)
            @ translation(0, d) @ rotation(2, theta) @ translation(2, r)
        )  # fmt: skip
    return T


def inertia_at(link, T: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, first moments and inertia about the origin of frame 0, in the axes of frame 0."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = (float(getattr(link, key)) for key in INERTIA)
    J, h = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), np.array([mx, my, mz])
    R, P = T[:3, :3], T[:3, 3]
    h = R @ h
    J = R @ J @ R.T + _twice(P, h) + m * _twice(P, P) / 2
    return m, h + m * P, J


def _twice(p: np.ndarray, h: np.ndarray) -> np.ndarray:
    return 2 * float(p @ h) * np.eye(3) - np.outer(p, h) - np.outer(h, p)


def screw(joint, T: np.ndarray) -> np.ndarray:
    """The joint's unit twist (linear at the origin of frame 0, angular)."""
    z, p = T[:3, 2], T[:3, 3]
    return np.r_[z, 0 * z] if joint.sigma == 1 else np.r_[np.cross(p, z), z]


def same_mechanics(one, other, q1, q2, by_name: bool = True) -> float:
    """The largest difference of joint twists and link inertias of two robots, matched by name."""
    worst = 0.0
    T1, T2 = poses(one, q1), poses(other, q2)
    where = {link.name: k for k, link in enumerate(other.links)}
    for k, link in enumerate(one.links):
        j = where[link.name] if by_name else k
        for a, b in zip(
            inertia_at(link, T1[k + 1]), inertia_at(other.links[j], T2[j + 1]), strict=True
        ):
            worst = max(worst, float(np.abs(np.subtract(a, b)).max()))
        if one.joints[k].sigma != 2:
            a, b = screw(one.joints[k], T1[k + 1]), screw(other.joints[j], T2[j + 1])
            worst = max(worst, float(np.abs(a - b).max()))
    return worst
