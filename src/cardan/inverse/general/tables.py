"""The tables of the general method for a robot: every way to eliminate, tried and put in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf

import numpy as np
from numpy.typing import NDArray

from ...algebra.ranks import ranks
from ...kernel.records import view
from ..approach import Frame
from ..chain.chain import NumericChain
from .polish import FOUND
from .pose import dual_quaternion

Array = NDArray[np.float64]
_ONE = np.eye(8)[0]
_POWERS = list(product((0, 1), repeat=3))
_CUBE = np.arange(8).reshape(2, 2, 2)


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
    found: Array = a * np.array([1.0, -1, -1, -1] * 2)
    return found


def screw(axis: int, angle: float, shift: float) -> Array:
    """Rot(axis, angle) Tran(axis, shift); axis 1 x, 2 y, 3 z."""
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
    W: Array  # (8, 8, 8): component of tau, row, column of N; of the basis of H when wrapped
    basis: Array  # (8, 8) of L, when wrapped
    wrapped: bool = False  # the pose stands among the joints H
    near: float = 1e-2
    trusted: bool = True
    rank: int = 8  # of S(i)
    lack: int = 0  # of rank of S(x)
    dimension: int = 1  # of the null space at a root
    condition: float = inf

    @property
    def joints(self) -> tuple[int, ...]:
        """In the order of the kernels."""
        return (self.h, *(j for j in self.H if j != self.h), self.a, self.b, self.c)

    def tail(self, mode: int) -> Array:
        """The last numbers of its table."""
        places = [*self.joints, self.near, self.trusted, self.rank, self.lack, self.H[0], mode]
        return np.array(places, float)

    def numbers(self) -> Array:
        return np.concatenate(
            [self.W.reshape(-1), self.basis.reshape(-1), self.tail(int(self.wrapped))]
        )

    def N(self, tau: Array) -> Array:
        """(1): H as a linear map of L."""
        found: Array = np.tensordot(tau, self.W, 1)
        if self.wrapped:
            found = np.asarray(np.linalg.solve(found, self.basis), float)
        return found


def formulations(chain: NumericChain, shake: float = 0.0, seed: int = 0) -> Iterator[Formulation]:
    """All ways: H three neighbours in the loop, h revolute at an end of them, a, b, c the rest.

    shake: of a general robot nearby, whose geometry differs at random by that much."""
    unit = chain.size
    x, d, z, r, turn = shake * np.random.default_rng(seed).uniform(-1, 1, (5, 6))
    steps = []
    for k in range(6):
        across = screw(1, chain.alpha[k] + x[k], chain.d[k] / unit + d[k])
        along = screw(3, chain.theta[k] + z[k], chain.r[k] / unit + r[k])
        steps.append(multiply(multiply(across, screw(2, chain.beta[k], 0.0)), along))
    axes = [np.eye(8)[3 if sigma == 0 else 7] for sigma in chain.sigma]
    for j in np.flatnonzero(chain.sigma == 1):  # a slide is a turn about an axis far away
        axes[j] = axes[j] + shake * (
            np.cos(turn[j]) * np.eye(8)[1] + np.sin(turn[j]) * np.eye(8)[2]
        )
    for first in range(6):
        H, L = ([(first + k) % 6 for k in part] for part in ((0, 1, 2), (3, 4, 5)))
        inner, outer, wrapped = bases(steps, axes, first)
        W, basis = (inner, outer[0]) if wrapped else (outer, np.zeros((8, 8)))
        if not wrapped:
            if np.linalg.cond(inner[0]) > 1e10:
                continue
            W = np.linalg.solve(inner[0], outer)
        for h in (H[0], H[2]):
            if chain.sigma[h] != 0:
                continue
            rows = np.moveaxis(_CUBE, H.index(h), 0).ravel()
            for a, b in ((x, y) for x in L for y in L if x != y):
                (c,) = (j for j in L if j not in (a, b))
                columns = _CUBE.transpose([L.index(j) for j in (a, b, c)]).ravel()
                placed = W[:, :, rows] if wrapped else W[:, rows][:, :, columns]
                yield Formulation(
                    h, (H[0], H[1], H[2]), a, b, c, placed, basis[:, columns], wrapped
                )


def bases(steps: Sequence[Array], axes: Sequence[Array], first: int) -> tuple[Array, Array, bool]:
    """(basis of H, basis of L) for every component of tau, as (8, 8, 8); does H hold the pose?

    s_1 g_2 s_2 g_3 s_3 of H is the conjugate of L g_1, in the loop that starts at H."""

    def chained(joints: Sequence[int], powers: Sequence[int], steps: Sequence[Array]) -> Array:
        x: Array = _ONE
        for j, power in zip(joints, powers, strict=True):
            x = multiply(x, steps[j])
            if power:
                x = multiply(x, axes[j])
        return x

    H, L = ([(first + k) % 6 for k in part] for part in ((0, 1, 2), (3, 4, 5)))
    inner, outer = np.zeros((2, 8, 8, 8))
    for k in range(8):
        placed = list(steps)
        placed[0] = multiply(conjugate(np.eye(8)[k]), steps[0])  # tau^-1 g_1
        bare = list(placed)
        bare[first] = _ONE
        for column, powers in enumerate(_POWERS):
            inner[k, :, column] = chained(H, powers, bare)
            whole = multiply(chained(L, powers, placed), placed[first])
            outer[k, :, column] = conjugate(whole)
    return inner, outer, 0 in H[1:]


def pencil(N: Array, turn: float) -> Array:
    """S0, S1, S2 (3, 12, 12) of the minors; the zero of h is moved by 2 turn."""
    c, s = np.cos(turn), np.sin(turn)
    low, high = c * N[:4] + s * N[4:], c * N[4:] - s * N[:4]
    parts = np.stack([high, -low])  # power of x, equation, monomials of a, b, c
    first, second = parts[:, :, :4].reshape(-1), parts[:, :, 4:].reshape(-1)
    products = np.outer(first, second).reshape(2, 4, 4, 2, 4, 4)  # p i x, q j y
    minors = products - products.transpose(0, 4, 2, 3, 1, 5)
    E = np.bincount(_PLACES, minors.reshape(-1), 3 * 6 * 9 + 1)[:-1].reshape(3, 6, 3, 3)
    S = np.zeros((3, 12, 4, 3))
    S[:, :6, :3], S[:, 6:, 1:] = E, E
    return S.reshape(3, 12, 12)


def _places() -> NDArray[np.int64]:
    """Where each product of pencil() goes in E; the last place collects what is not needed."""
    rows = {(i, j): k for k, (i, j) in enumerate((i, j) for i in range(4) for j in range(i + 1, 4))}
    found = np.full((2, 4, 4, 2, 4, 4), 3 * 6 * 9)
    for p, i, x, q, j, y in np.ndindex(*found.shape):
        if i < j:
            column = 3 * (x // 2 + y // 2) + x % 2 + y % 2
            found[p, i, x, q, j, y] = 54 * (p + q) + 9 * rows[i, j] + column
    return found.reshape(-1)


_PLACES = _places()


def measured(
    one: Formulation, taus: Sequence[Array], angles: Sequence[float]
) -> Formulation | None:
    """The formulation with its ranks at generic poses of known angle of h; None if it is of no use.

    taus: poses; angles: of joint h there."""
    seen, condition = [], 0.0
    for tau, angle in zip(taus, angles, strict=True):
        try:
            S = pencil(one.N(tau), 0.3)
        except np.linalg.LinAlgError:
            return None
        x, root = 0.7312, np.tan(angle / 2 - 0.3)
        generic = int(ranks(S[0] + x * S[1] + x * x * S[2], 1e-9))
        at_i = int(ranks(S[0] + 1j * S[1] - S[2], 1e-9))
        at_root = int(ranks(S[0] + root * S[1] + root**2 * S[2], 1e-8))
        seen.append((generic, at_i, at_root))
        if generic == 12:
            condition += np.log10(np.linalg.cond(S[2])) / len(taus)
    generic, at_i, at_root = (max(column) for column in zip(*seen, strict=True))
    if at_root >= generic or at_i == 0:
        return None
    return replace(one, rank=at_i, lack=12 - generic, dimension=12 - at_root, condition=condition)


def rigid_inverse(T: Array, unit: float) -> Array:
    """The Frame of the inverse of a placement, in units."""
    R = T[:3, :3].T
    return np.concatenate([R.T.ravel(), -R @ T[:3, 3] / unit])


def head_table(chain: NumericChain) -> Array:
    """The Head of records.py."""
    unit = chain.size
    rows = np.column_stack([
        np.cos(chain.alpha), np.sin(chain.alpha), chain.d / unit, chain.theta, chain.r / unit,
        chain.sigma, np.zeros(6), np.sin(chain.beta), np.cos(chain.beta),
    ])  # fmt: skip
    still = np.eye(4)[:, :3].ravel()
    ends = [rigid_inverse(T, unit) for T in (chain.base, chain.tool)]
    common = [6, 1, 1, 1e-9, FOUND, 1]
    return np.concatenate([common, still, still, rows.ravel(), *ends, [unit]])


def robot_table(chain: NumericChain, chosen: Sequence[Formulation]) -> Array:
    """The Robot of records.py."""
    return np.concatenate([head_table(chain), [len(chosen)], *(one.numbers() for one in chosen)])


def dual_quaternion_of(T: Array) -> Array:
    """tau of a pose (4, 4), by the kernel that the generated code uses."""
    tau = [0.0] * 8
    dual_quaternion(view(Frame, [float(x) for x in T[:3].T.ravel()]), tau)
    return np.array(tau)
