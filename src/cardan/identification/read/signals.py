"""Filtering and differentiation: zero-phase Butterworth, central differences, and their choice.

Positions are filtered forwards and backwards, so that nothing is delayed, and differentiated by
central differences, which distort no phase either. The torques are not filtered alone: the same
low-pass acts on both sides of tau = W K (parallel filtering), and one sample of some is kept
(decimation), as M. Gautier, "Dynamic identification of robots with power model", ICRA 1997, 2.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtraError
from ..model.ties import Ties
from ..recipe import Filter
from .series import Series

_FORGETS = 2.0  # periods of the cutoff: ends that a low-pass spoils by more than 1e-4
_RESTS = 0.02  # of the largest velocity: below it a joint is at rest
_SLOWEST = 0.1  # periods of a cutoff that a recording holds at least
_FEWEST = 10  # samples that may be left of a recording
_MOST = 200_000  # samples of a recording that are fitted, when nothing else decides
# coefficients c_k of (x[+k] - x[-k]) c_k / h, by order of accuracy
_STENCILS = {
    2: (1 / 2,),
    4: (2 / 3, -1 / 12),
    6: (3 / 4, -3 / 20, 1 / 60),
    8: (4 / 5, -1 / 5, 4 / 105, -1 / 280),
}


@contextmanager
def linear_algebra(purpose: str) -> Iterator[None]:
    """With SciPy, and matrices on one thread: they are small, and threads that wait for each other
    take ten times the processor time."""
    try:
        import scipy.linalg  # noqa: F401  its threads are there to be limited
    except ImportError:
        raise MissingExtraError.of("scipy", "id", purpose) from None
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
    else:
        with threadpool_limits(1, user_api="blas"):
            yield


@dataclass(frozen=True)
class Plan:
    """The filters of a recording, chosen: Hz, or None; `decimate` samples become one."""

    cutoff: float | None
    parallel: float | None
    decimate: int
    order: int
    accuracy: int
    rate: float
    why: str = ""
    timed: bool = True
    kind: str = "butterworth"  # of the equations

    @property
    def independent(self) -> float:
        """The share of the kept samples that carries information: noise is white up to a
        frequency."""
        half = self.rate / self.decimate / 2
        return 1.0 if self.parallel is None else min(1.0, self.parallel / half)


@dataclass(frozen=True)
class Motion:
    """States (rows, n) with their torques, at uniform times.

    With closed loops or couplings q, qd, qdd are of all joints (qd, qdd then of cut joints with
    drives), tau of the driven ones: columns `driven`, tau = G^T (torques of all)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    valid: np.ndarray
    t: np.ndarray
    dt: float
    loaded: bool = False
    name: str = ""
    timed: bool = True
    measured: bool = False  # the velocities were recorded
    driven: tuple[int, ...] | None = None  # columns; None: all
    G: np.ndarray | None = None  # (rows, joints, driven); None: the identity

    def part(self, rows: Any) -> Motion:
        changed: Any = {k: getattr(self, k)[rows] for k in ("q", "qd", "qdd", "tau", "valid", "t")}
        return replace(self, **changed, G=None if self.G is None else self.G[rows])

    def of_driven(self, x: np.ndarray) -> np.ndarray:
        """The columns of the driven joints."""
        return x if self.driven is None else np.ascontiguousarray(x[:, self.driven])

    def torques(self, joints: Mapping[int, np.ndarray]) -> np.ndarray:
        """The torques (rows, driven) of torques {joint: (rows)} that act on some joints."""
        filtered = np.zeros(self.tau.shape)
        for j, x in joints.items():
            if self.G is None:
                filtered[:, j] += x
            else:
                filtered += self.G[:, j] * x[:, None]
        return filtered


def states(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, *, loaded: bool = False) -> Motion:
    """States (rows, n) of driven joints without torques or time."""
    zero = np.zeros(qd.shape)
    return Motion(q, qd, qdd, zero, zero == 0, np.arange(len(q)), 1.0, loaded, timed=False)


def lowpass(x: np.ndarray, cutoff: float | None, rate: float, order: int) -> np.ndarray:
    """x (rows, ...) without what is faster than the cutoff (Hz), forwards and backwards."""
    if cutoff is None:
        return x
    sections = _sections(order, cutoff / (rate / 2))
    pad = min(int(3 * rate / cutoff) + 9 * order, len(x) - 2)
    before, after = 2 * x[0] - x[pad:0:-1], 2 * x[-1] - x[-2 : -pad - 2 : -1]  # odd about the ends
    y = np.asfortranarray(np.concatenate([before, x, after]).reshape(len(x) + 2 * pad, -1))
    for _ in range(2):
        for above, below in sections:
            y = y[:1] + _filtered(above, below, y - y[:1])
        y = y[::-1]
    return np.ascontiguousarray(y[pad : pad + len(x)]).reshape(x.shape)


def two_poles(x: np.ndarray, cutoff: float, rate: float, *, slope: bool = False) -> np.ndarray:
    """F x, or F' x: a^2/(s + a)^2 and a^2 s/(s + a)^2, [KC97] (45), (46), a = 2 pi cutoff, by the
    bilinear transform, from rest at the first sample. Both sides of an equation are as late."""
    a, double = 2 * np.pi * cutoff, 2 * rate  # s = 2 rate (z - 1)/(z + 1)
    pole = (double - a) / (double + a)
    above = (a / (double + a)) ** 2 * np.array([double, 0, -double] if slope else [1.0, 2.0, 1.0])
    first = x[:1]
    flat = (x - first).reshape(len(x), -1)
    filtered = _filtered(above, np.array([1, -2 * pole, pole * pole]), flat).reshape(x.shape)
    return filtered if slope else filtered + first


def _filtered(above: np.ndarray, below: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The columns of x (rows, n) behind the section above(1/z) / below(1/z), from rest: a band of
    equations, one of each sample. (SciPy's filters take 0.6 s to import.)"""
    from scipy.linalg.lapack import dtbtrs

    y = np.asfortranarray(above[0] * x)
    for k in (1, 2):
        y[k:] += above[k] * x[:-k]
    band = np.repeat(below, len(x)).reshape(3, -1)
    return np.asarray(dtbtrs(np.asfortranarray(band), y, uplo="L", diag="U", overwrite_b=1)[0])


def _poles(order: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """(z, 1 - z) of the poles of Butterworth's low-pass that are not below the real axis, by the
    bilinear transform; the cutoff is a share of half the rate."""
    angle = np.pi * (1 - np.arange(1 - order % 2, order, 2) / (2 * order))
    p = np.tan(np.pi * share / 2) * np.exp(1j * angle)
    return (1 + p) / (1 - p), -2 * p / (1 - p)


@lru_cache(maxsize=64)
def _sections(order: int, share: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """(above, below) of the sections of Butterworth's low-pass, each with the gain 1 at rest."""
    sections: list[tuple[np.ndarray, np.ndarray]] = []
    for z, rest in zip(*_poles(order, share), strict=True):
        if order % 2 and not sections:  # the real pole
            gain = float(rest.real) / 2
            sections.append((gain * np.array([1, 1, 0]), np.array([1, -z.real, 0])))
        else:
            gain = float(abs(rest)) ** 2 / 4
            sections.append((gain * np.array([1, 2, 1]), np.array([1, -2 * z.real, abs(z) ** 2])))
    return sections


def settling(order: int, share: float) -> int:
    """Samples in which the filter forgets a state, to double precision: of its slowest pole."""
    slowest = min(float(np.abs(_poles(order, share)[0]).max()), 1 - 1e-9)
    return int(np.ceil(np.log(np.finfo(float).eps / 16) / np.log(slowest)))


def derivative(x: np.ndarray, dt: float, accuracy: int = 8) -> np.ndarray:
    """dx/dt (rows, ...) by central differences; polynomials of the same order at the ends."""
    weights = _STENCILS[accuracy]
    m = len(weights)
    if len(x) < 2 * m + 1:
        return np.asarray(np.gradient(x, dt, axis=0))
    difference = np.zeros(x.shape)
    rows = len(x) - 2 * m
    for k, c in enumerate(weights, 1):
        difference[m : len(x) - m] += c * (x[m + k : m + k + rows] - x[m - k : m - k + rows])
    for k in range(m):  # the polynomial through the first (last) 2m+1 samples
        ends = _one_sided(k, 2 * m + 1)
        difference[k] = np.tensordot(ends, x[: 2 * m + 1], 1)
        difference[-1 - k] = -np.tensordot(ends, x[: -2 * m - 2 : -1], 1)
    return difference / dt


def _one_sided(at: int, count: int) -> np.ndarray:
    """Weights of the derivative at node `at` of the polynomial through nodes 0 .. count - 1."""
    nodes = np.arange(count) - at
    powers = nodes[None, :].astype(float) ** np.arange(count)[:, None]
    return np.linalg.solve(powers, np.eye(count)[1])


def plan(series: Series, chosen: Filter) -> Plan:
    """The recipe's filter, with what it leaves open chosen from the recording."""
    rate = 1 / series.dt if series.timed else 1.0
    cutoff, why = _cutoff(series, chosen, rate)
    half = rate / 2
    decimate = chosen.decimate
    if decimate == "auto":
        longest = -(-len(series.t) // _MOST)
        decimate = max(1, int(half / (1.25 * cutoff))) if cutoff else longest
    if chosen.decimate != "auto" and series.timed and len(series.t) < _FEWEST * int(decimate):
        raise InputError(
            f"{series.name}: [filter] decimate = {decimate} leaves {len(series.t) // int(decimate)}"
            f" of {len(series.t)} samples; at least {_FEWEST} are needed"
        )
    parallel = chosen.parallel
    if parallel == "auto":
        wanted = 0.8 * half / int(decimate) if int(decimate) > 1 else None
        if wanted is None and chosen.kind == "kc97":
            wanted = min(cutoff or half, half / 5)
    else:
        wanted = None if parallel == "none" else float(parallel)
    for name, value in (("cutoff", cutoff), ("parallel", wanted)):
        if value is not None and not 0 < value < half:
            raise InputError(
                f"{series.name}: [filter] {name} = {value:.6g} Hz; sampled at {rate:.6g} Hz, "
                f"it must be below {half:.6g} Hz"
            )
        least = _SLOWEST / (len(series.t) * series.dt) if series.timed else 0.0
        if value is not None and value < least:
            raise InputError(
                f"{series.name}: [filter] {name} = {value:.6g} Hz lets nothing pass of a recording"
                f" of {len(series.t) * series.dt:.6g} s: it must be above {least:.6g} Hz"
            )
    seconds = len(series.t) * series.dt
    if series.timed and abs(chosen.delay) > seconds / 2:
        raise InputError(
            f"{series.name}: [filter] delay = {chosen.delay:.6g} s is more than half of the"
            f" recording, {seconds:.6g} s: check its unit (seconds)"
        )
    if not series.timed:
        cutoff, wanted, decimate = None, None, 1
    return Plan(
        cutoff, wanted, int(decimate), chosen.order, chosen.accuracy, rate, why, series.timed,
        chosen.kind,
    )  # fmt: skip


def _cutoff(series: Series, chosen: Filter, rate: float) -> tuple[float | None, str]:
    if chosen.cutoff == "none" or not series.timed:
        return None, "positions are taken as they are"
    if chosen.cutoff != "auto":
        return float(chosen.cutoff) or None, "as the recipe says"
    if series.qdd is not None and series.qd is not None:
        if series.splined:
            return None, "irregular times without noise: derived as recorded, nothing is filtered"
        return None, "velocities and accelerations are recorded: nothing is filtered"
    noise = _noise(series.q) * 2 / series.dt**2
    wanted = np.sqrt(np.mean(derivative(derivative(series.q, series.dt), series.dt) ** 2, axis=0))
    if (noise < 1e-3 * np.maximum(wanted, 1e-12)).all():
        return None, "the positions are free of noise: nothing is filtered"
    cutoff = min(5 * _band(series.q, rate), 0.4 * rate)
    return cutoff, "five times the band that holds 99 % of the power of the velocities"


def _noise(q: np.ndarray) -> np.ndarray:
    """Standard deviation of white noise on q, from differences of order 8 (slow motion vanishes)"""
    from math import comb

    return np.asarray(np.diff(q, 8, axis=0).std(axis=0) / np.sqrt(comb(16, 8)))


def _band(q: np.ndarray, rate: float) -> float:
    """The frequency below which 99 % of the power of the velocities lies, Hz, over all joints."""
    window = np.hanning(len(q))[:, None]
    slow = lowpass(q, 0.05 * rate, rate, 4) if len(q) > 60 else q
    power = np.abs(np.fft.rfft(np.gradient(slow, axis=0) * window, axis=0)) ** 2
    share = np.cumsum(power, axis=0) / np.maximum(power.sum(axis=0), 1e-300)
    frequency = np.fft.rfftfreq(len(q), 1 / rate)
    return float(max(frequency[np.argmax(share >= 0.99, axis=0)].max(), rate / len(q)))


def moved(series: Series, filters: Plan, chosen: Filter, ties: Ties) -> Motion:
    """The motion of a series: filtered positions and their derivatives, torques as recorded; joints
    that follow the driven ones, as they do."""
    rate, order = filters.rate, filters.order
    q = lowpass(series.q, filters.cutoff, rate, order)
    qd, qdd = series.qd, series.qdd
    qd = (
        derivative(q, series.dt, filters.accuracy)
        if qd is None
        else lowpass(qd, filters.cutoff, rate, order)
    )
    if qdd is None:
        qdd = derivative(qd, series.dt, filters.accuracy)
    else:
        qdd = lowpass(qdd, filters.cutoff, rate, order)
    tau = series.tau
    if chosen.delay and series.timed:
        late = series.t + chosen.delay
        tau = np.column_stack([np.interp(late, series.t, x) for x in tau.T])
    motion = Motion(
        q, qd, qdd, tau, series.valid, series.t, series.dt, series.loaded, series.name,
        series.timed, series.qd is not None and not series.splined,
    )  # fmt: skip
    first, last = _ends(series, filters, chosen, qd)
    rows = slice(first, len(q) - last)
    motion = motion.part(rows) if first or last else motion
    return motion if series.whole is None else ties.completed(motion, series.whole[rows])


def commanded(series: Series, filters: Plan, motion: Motion) -> Motion | None:
    """The motion that was commanded, at the samples of the one that was measured and behind the
    same low-pass; None where it was not recorded."""
    if series.reference is None:
        return None
    q = lowpass(series.reference, filters.cutoff, filters.rate, filters.order)
    qd = derivative(q, series.dt, filters.accuracy)
    qdd = derivative(qd, series.dt, filters.accuracy)
    first = int(np.searchsorted(series.t, motion.t[0] - series.dt / 2))
    rows = slice(first, first + len(motion.t))
    return replace(motion, q=q[rows], qd=qd[rows], qdd=qdd[rows])


def _ends(series: Series, filters: Plan, chosen: Filter, qd: np.ndarray) -> tuple[int, int]:
    """Samples left out at either end: there a low-pass does not know what was before or comes
    after, and the accelerations of a motion that is not at rest are wrong."""
    if not series.timed:
        return 0, 0
    if chosen.trim != "auto":
        skip = round(float(chosen.trim) / series.dt)
        return skip, skip
    if filters.cutoff is None:
        return 0, 0
    skip = min(round(_FORGETS / filters.cutoff / series.dt), len(series.t) // 10)
    slow = _RESTS * np.abs(qd).max(axis=0)
    # at rest for as long as the filter remembers: a motion that only turns round there is not
    ends = qd[:skip], qd[len(qd) - skip :]
    rests = [bool((np.abs(end).max(axis=0, initial=0) <= slow).all()) for end in ends]
    return 0 if rests[0] else skip, 0 if rests[1] else skip
