"""The tables of the general method for a robot: W of every formulation, in order of preference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .chain import NumericChain
from .general_pose import FORM, HEAD

__all__ = ["Formulation", "formulations", "robot_table"]

Array = NDArray[np.float64]
_ONE = np.eye(8)[0]


def quaternion_product(a: Array, b: Array) -> Array:
    w, x, y, z = a
    W, X, Y, Z = b
    return np.array([w * W - x * X - y * Y - z * Z, w * X + x * W + y * Z - z * Y,
                     w * Y - x * Z + y * W + z * X, w * Z + x * Y - y * X + z * W])  # fmt: skip


def multiply(a: Array, b: Array) -> Array:
    """Product of dual quaternions (primal, dual)."""
    dual = quaternion_product(a[:4], b[4:]) + quaternion_product(a[4:], b[:4])
    return np.concatenate([quaternion_product(a[:4], b[:4]), dual])


def conjugate(a: Array) -> Array:
    return a * np.array([1.0, -1, -1, -1] * 2)


def screw(axis: int, angle: float, shift: float) -> Array:
    """Rot(axis, angle) Tran(axis, shift); axis 1 x, 3 z."""
    q = np.zeros(4)
    t = np.zeros(4)
    q[0], q[axis] = np.cos(angle / 2), np.sin(angle / 2)
    t[axis] = shift / 2
    return np.concatenate([q, quaternion_product(t, q)])


@dataclass(frozen=True)
class Formulation:
    """One way to eliminate: joint h stays; a is eliminated by minors, b and c by monomials."""

    h: int
    H: tuple[int, int, int]
    a: int
    b: int
    c: int
    W: Array  # (8, 8, 8): component of tau, row, column
    near: float = 1e-5
    trusted: bool = True

    @property
    def joints(self) -> tuple[int, ...]:
        """In the order of the kernels."""
        return (self.h, *(j for j in self.H if j != self.h), self.a, self.b, self.c)

    def numbers(self) -> Array:
        tail = [*self.joints, self.near, float(self.trusted)]
        return np.concatenate([self.W.reshape(-1), tail])


def formulation_of(
    steps: Sequence[Array], axes: Sequence[Array], first: int, h: int, L: tuple[int, int, int]
) -> Formulation | None:
    """W for H = first, first + 1, first + 2; L is the order a, b, c. None if H spans no basis."""
    H = (first, first + 1, first + 2)

    def chained(joints: Sequence[int], powers: Sequence[int], steps: Sequence[Array]) -> Array:
        x = _ONE
        for j, power in zip(joints, powers, strict=True):
            x = multiply(x, steps[j])
            if power:
                x = multiply(x, axes[j])
        return x

    inner = list(steps)
    inner[first] = _ONE
    basis = np.array([chained(H, powers, inner) for powers in product((0, 1), repeat=3)]).T
    if np.linalg.cond(basis) > 1e10:
        return None
    back = np.linalg.inv(basis)
    others = [(first + 3 + k) % 6 for k in range(3)]
    W = np.zeros((8, 8, 8))
    for k in range(8):
        placed = list(steps)
        placed[0] = multiply(conjugate(np.eye(8)[k]), steps[0])  # tau^-1 g_1
        for column, powers in enumerate(product((0, 1), repeat=3)):
            W[k, :, column] = back @ conjugate(
                multiply(chained(others, powers, placed), placed[first])
            )
    cube = np.arange(8).reshape(2, 2, 2)
    rows = np.moveaxis(cube, H.index(h), 0).ravel()
    columns = cube.transpose([others.index(j) for j in L]).ravel()
    return Formulation(h, H, *L, W[:, rows][:, :, columns])


def formulations(chain: NumericChain, shake: float = 0.0, seed: int = 0) -> list[Formulation]:
    """All formulations of a chain with a revolute joint h at an end of three neighbours.

    `shake` moves the geometry at random by that much: a special robot has a general neighbour."""
    rng = np.random.default_rng(seed)
    unit = chain.size
    noise = shake * rng.uniform(-1, 1, (6, 6))
    axes, steps = [], []
    for j in range(6):
        d, r = chain.d[j] / unit + noise[j, 1], chain.r[j] / unit + noise[j, 3]
        steps.append(multiply(screw(1, chain.alpha[j] + noise[j, 0], d),
                              screw(3, chain.theta[j] + noise[j, 2], r)))  # fmt: skip
        axis = np.zeros(8)
        axis[3 if chain.sigma[j] == 0 else 7] = 1
        if chain.sigma[j] == 1:  # a far revolute axis, square to the slide
            axis[1:3] = shake * np.array([np.cos(noise[j, 4]), np.sin(noise[j, 4])])
        axes.append(axis)
    found = []
    for first in range(4):
        others = [(first + 3 + k) % 6 for k in range(3)]
        for h in (first, first + 2):
            if chain.sigma[h] == 0:
                for a in others:
                    b, c = (j for j in others if j != a)
                    found += [
                        one
                        for L in ((a, b, c), (a, c, b))
                        if (one := formulation_of(steps, axes, first, h, L)) is not None
                    ]
    return found


def rigid_inverse(T: Array, unit: float) -> Array:
    """(3, 4): the inverse of a placement, in units."""
    R = T[:3, :3].T
    return np.column_stack([R, -R @ T[:3, 3] / unit])


def robot_table(chain: NumericChain, chosen: Sequence[Formulation]) -> Array:
    """The table of general_pose.py."""
    unit = chain.size
    head = np.zeros(HEAD)
    rows = np.column_stack([np.cos(chain.alpha), np.sin(chain.alpha), chain.d / unit, chain.theta,
                            chain.r / unit, chain.sigma])  # fmt: skip
    head[:36] = rows.reshape(-1)
    head[36:48] = rigid_inverse(chain.base, unit).reshape(-1)
    head[48:60] = rigid_inverse(chain.tool, unit).reshape(-1)
    head[60], head[61] = len(chosen), unit
    table = np.concatenate([head, *(one.numbers() for one in chosen)])
    assert len(table) == HEAD + FORM * len(chosen)
    return table
