"""All poses of a body that six legs hold at distances: |P + R h_i - E_i| = l_i, i = 1 .. 6.

The general Stewart-Gough platform has 40 complex poses (Ronga & Vust 1992, Lazard 1993, Husty
1996), and one with 40 real ones is known (Dietmaier 1998). All are found by a homotopy of
coefficients and parameters (Sommese & Wampler 2005, 7): the solutions of one set of legs, chosen at
random in complex numbers, are followed to another.

    of random legs      one solution is a pose chosen first, its lengths follow; the others are
                        reached by taking it around closed paths of legs, until there are 40
    of a geometry       E, h as they are, the lengths random: its K solutions. The paths that leave
                        the poses end where x·x = 0. As every solution is regular at almost all
                        lengths, K holds for the geometry: 40, 32 with four points on the platform
                        (6-4), 16 with three (6-3, 3-3) ...
    of given lengths    K paths. Where all arrive, at regular solutions that differ, these are all

K is counted twice, at other lengths, and the solutions of one are followed to the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ..algebra import so3
from ..errors import ModelError
from ..kernel.records import layout_of
from .study_kernels import Held, Reached, follow_path

Array = np.ndarray
GENERAL = 40  # complex solutions of a general platform
_PACES = ((1e-3, 1e-10), (1e-5, 1e-13), (1e-7, 1e-14))  # a path that fails is followed more closely
_REGULAR = 1e-7  # of pivots
_INFINITE = 1e-6  # of x·x, |z| = 1, where a path does not arrive
_WAY = 0.99  # what ends before this did not go to infinity: it is lost on the way
_APART = 1e-6  # of P⁷: solutions that differ
_REAL = 1e-7  # imaginary parts of a real solution, by the size of the robot
_NEARLY = 1e-2  # the same where solutions meet: they are known to half of the digits or fewer
_MET = 1e-12  # half the differences of squares of distances there
_DAMPED = 60  # steps
_ROUNDS = 60  # closed paths of legs
_TRIES = 4


@dataclass(frozen=True)
class Family:
    """Legs in complex numbers, and all their solutions z (K, 16); the same of others."""

    legs: Array
    z: Array
    other: Family | None = None


@dataclass(frozen=True)
class PlatformPoses:
    """All poses of a platform: T (k, 4, 4) complex, those at infinity left out.

    real: which of them are; singular: which of them meet others, or are near to; paths: how many
    solutions were followed; infinite and lost: how many of these left the poses, or ended on the
    way."""

    T: Array
    real: Array
    singular: Array
    paths: int
    infinite: int
    lost: int

    def __len__(self) -> int:
        return len(self.T)

    @property
    def complete(self) -> bool:
        """Are they all, each regular?"""
        return self.lost == 0 and not self.singular.any()

    def __str__(self) -> str:
        count = int((self.real & ~self.singular).sum())
        others = GENERAL - self.paths
        gone = f" (the other {others} of {GENERAL} are at infinity for this geometry)" * (
            others > 0
        )
        words = f"{self.paths} complex solutions followed{gone}: "
        words += f"{count} real pose{'s' * (count != 1)}"
        if self.infinite:
            words += f", {self.infinite} at infinity at these lengths"
        if self.complete:
            return f"{words}; these are all"
        if self.singular.any():
            words += f"; {int(self.singular.sum())} meet others, or belong to a family of poses"
        return f"{words}; {self.lost} could not be followed" if self.lost else words


def _table(E: Array, h: Array, square: Array) -> Array:
    """The Legs of study_kernels.py, (..., 6 x 14)."""
    rows = np.zeros(np.shape(square), layout_of(Held).dtype)
    for name, x in (("d", h - E), ("s", h + E), ("square", square)):
        rows[name], rows[f"{name}i"] = np.real(x), np.imag(x)
    return rows.view(float).reshape(*rows.shape[:-1], -1)


@cache
def _kernel() -> Any:
    from ..run.kernel import KernelFunction

    inputs = dict.fromkeys(("start", "begin", "end", "pace"), 0)
    return KernelFunction(follow_path, inputs, dict.fromkeys(("z", "info"), 0))


def _followed(
    start: Array, begin: Array, end: Array, pace: tuple[float, float], threads: int | None = None
) -> tuple[Array, Array]:
    """(z, Reached) of paths (N, 16); end: of all, or of each."""
    N = len(start)
    out = {"z": np.zeros((N, 16)), "info": np.zeros((N, layout_of(Reached).size))}
    given = {"start": start, "begin": begin, "end": end, "pace": np.array(pace)}
    _kernel()(given, N, threads, out)
    return out["z"], out["info"].view(layout_of(Reached).dtype)[:, 0]


def _regular(z: Array, info: Array) -> Array:
    """Did paths arrive, at solutions that are poses and meet no others?"""
    arrived = (info["share"] == 1) & (info["flat"] > _REGULAR)
    return np.asarray(arrived & (_squared(z) > _INFINITE**2))


def _squared(z: Array) -> Array:
    """|x·x| of points with |z| = 1."""
    x = z[:, :4] + 1j * z[:, 8:12]
    return np.asarray(np.abs((x**2).sum(axis=1)) / (z**2).sum(axis=1))


def _apart(z: Array, others: Array) -> Array:
    """How far points of P⁷ are from others: (N, M) sines."""
    a, b = (x[:, :8] + 1j * x[:, 8:] for x in (z, others))
    a, b = (x / np.linalg.norm(x, axis=1)[:, None] for x in (a, b))
    along = b.conj() @ a.T  # (M, N)
    return np.asarray(np.linalg.norm(a[None] - along[..., None] * b[:, None], axis=-1).T)


def _distinct(z: Array) -> Array:
    """Rows that differ from those before."""
    near = np.tril(_apart(z, z) < _APART, -1).any(axis=1)
    return np.asarray(z[~near])


def _random(rng: np.random.Generator, *shape: int) -> Array:
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


@cache
def _random_legs(k: int = 0) -> Family:
    """Legs at random with their 40 solutions: one that is chosen, taken around. k: another set, to
    which all of these are followed."""
    if k:
        first, rng = _random_legs(), np.random.default_rng(k)
        legs = _table(_random(rng, 6, 3), _random(rng, 6, 3), _random(rng, 6))
        z, info = _followed(first.z, first.legs, legs, _PACES[1])
        return Family(legs, _distinct(z[_regular(z, info)]))
    rng = np.random.default_rng(1996)
    E, h, x, w = _random(rng, 6, 3), _random(rng, 6, 3), _random(rng, 4), _random(rng, 4)
    w = w - (x @ w) / (x @ x) * x
    d, s = h - E, h + E
    v = w + np.column_stack([-d @ x[1:], x[0] * d + np.cross(x[1:], s)])
    home = _table(E, h, (v * v).sum(axis=1) / (x @ x))
    z = np.r_[x.real, w.real, x.imag, w.imag][None]
    for _ in range(_ROUNDS):
        ways = [_table(_random(rng, 6, 3), _random(rng, 6, 3), _random(rng, 6)) for _ in range(2)]
        ends, begin = z, home
        for end in (*ways, home):
            ends, info = _followed(ends, begin, end, _PACES[1])
            ends, begin = ends[_regular(ends, info)], end
        z = _distinct(np.concatenate([z, ends]))
        if len(z) == GENERAL:
            return Family(home, z)
    raise ModelError(f"{len(z)} of {GENERAL} complex solutions of random legs were found")


def family_of(E: Array, h: Array) -> Family:
    """The solutions of legs from E (6, 3) to h (6, 3), complex or not, at random lengths."""
    shape = [np.ascontiguousarray(x, complex).tobytes() for x in (E, h)]
    return _family(*shape)


@lru_cache(maxsize=32)
def _family(E: bytes, h: bytes) -> Family:
    base, body = (np.frombuffer(x, complex).reshape(6, 3) for x in (E, h))
    rng = np.random.default_rng(40)
    counts = []
    for _ in range(_TRIES):
        one, other = (_at_lengths(_table(base, body, _random(rng, 6))) for _ in range(2))
        ends, info = _followed(one.z, one.legs, other.legs, _PACES[1])
        same = _apart(ends, other.z).min(axis=1, initial=1) < _APART
        counts += [len(one.z), len(other.z)]
        if len(one.z) == len(other.z) and (_regular(ends, info) & same).all():
            return Family(one.legs, one.z, other)
    raise ModelError(f"the solutions of its legs were counted as {counts}")


def _at_lengths(legs: Array) -> Family:
    """All solutions of legs whose lengths are random: those that are regular. A path that comes
    close to infinity on its way may end there: then other random legs are the start."""
    every: list[Family] = []
    for k in range(_TRIES):
        start = _random_legs(k)
        z, info = _followed(start.z, start.legs, legs, _PACES[1])
        every.append(Family(legs, _distinct(z[_regular(z, info)])))
        if len(start.z) == GENERAL and (info["share"] > _WAY).all():
            return every[-1]
    return max(every, key=lambda own: len(own.z))


def poses_at(
    family: Family, E: Array, h: Array, square: Array, threads: int | None = None
) -> list[PlatformPoses]:
    """All poses at each of N sets of legs: E, h (N, 6, 3), squares of lengths (N, 6)."""
    every = _ends(family, E, h, square, threads)
    lost = [n for n, own in enumerate(every) if own.lost]
    if lost and family.other is not None:  # from elsewhere the paths are others
        again = _ends(family.other, E[lost], h[lost], square[lost], threads)
        for n, own in zip(lost, again, strict=True):
            every[n] = own if own.lost < every[n].lost else every[n]
    return every


def _ends(
    family: Family, E: Array, h: Array, square: Array, threads: int | None
) -> list[PlatformPoses]:
    """Where the solutions of a family are followed to."""
    N, K = len(square), len(family.z)
    legs = _table(E, h, square)
    begin, z = np.tile(family.z, (N, 1)), np.zeros((N * K, 16))
    info = np.zeros(N * K, layout_of(Reached).dtype)
    rows = np.arange(N * K)
    for pace in _PACES:
        z[rows], info[rows] = _followed(begin[rows], family.legs, legs[rows // K], pace, threads)
        bad = ~_regular(z, info)
        for own in np.arange(N * K).reshape(N, K):
            bad[own] |= (_apart(z[own], z[own]) < _APART).sum(axis=1) > 1  # one path took another's
        rows = np.flatnonzero(bad)
        if not len(rows):
            break
    parts = (x.reshape(N, K, *x.shape[1:]) for x in (z, info, bad))
    return [_poses(*own) for own in zip(*parts, E, h, square, strict=True)]


def _poses(z: Array, info: Array, bad: Array, *legs: Array) -> PlatformPoses:
    """What is known of the ends of all paths of one set of legs E, h, square."""
    lost = bad & (info["share"] < _WAY)
    infinite = bad & ~lost & (_squared(z) < _INFINITE)
    here = ~infinite & ~lost
    x, w = z[here, :4] + 1j * z[here, 8:12], z[here, 4:8] + 1j * z[here, 12:]
    size = np.sqrt((x**2).sum(axis=1))[:, None]
    x, w = x / size, w / size
    T = _placed(x, w)
    off, singular = np.abs(np.imag(T)).max(axis=(1, 2), initial=0), bad[here]
    real = off < np.where(singular, _NEARLY, _REAL)
    for k in np.flatnonzero(real & singular):
        T[k], real[k] = _closest(T[k].real, *legs)
    T[real] = T[real].real
    return PlatformPoses(T, real, singular, len(z), int(infinite.sum()), int(lost.sum()))


def _closest(T: Array, E: Array, h: Array, square: Array) -> tuple[Array, bool]:
    """(the real pose near to one, is there one?) where solutions meet: the method of Levenberg and
    Marquardt with a damping that vanishes with the errors, which stays within reach of them."""
    R, P = T[:3, :3], T[:3, 3]
    for _ in range(_DAMPED):
        arms = h @ R.T
        y = arms + P - E
        f = ((y**2).sum(axis=1) - square) / 2
        J = np.hstack([y, np.cross(arms, y)])
        A = J.T @ J + (np.linalg.norm(f) + 1e-15) * np.eye(6)
        step = np.linalg.solve(A, -J.T @ f)
        R, P = so3.exp(step[3:]) @ R, P + step[:3]
    placed = np.eye(4)
    placed[:3, :3], placed[:3, 3] = R, P
    near = np.abs(placed - T).max() < 10 * _NEARLY
    return placed, bool(near and np.abs(f).max() < _MET)


def _placed(x: Array, w: Array) -> Array:
    """T (k, 4, 4) of quaternions x of length 1, and w = P x."""
    x0, xv, w0, wv = x[:, :1], x[:, 1:], w[:, :1], w[:, 1:]
    T = np.zeros((len(x), 4, 4), complex)
    T[:, 3, 3] = 1
    T[:, :3, 3] = x0 * wv - w0 * xv + np.cross(xv, wv)  # w times the conjugate of x
    for k, e in enumerate(np.eye(3)):
        across = np.cross(xv, e)
        T[:, :3, k] = e + 2 * (x0 * across + np.cross(xv, across))
    return T
