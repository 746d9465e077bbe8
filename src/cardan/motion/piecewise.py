"""Piecewise polynomials of time, and the time laws of motion made of them.

Cubic, quintic and septic laws, bang-bang and trapezoidal acceleration, jerk-limited S-curves and
splines through points are all one thing: polynomials of t between breaks. A *time law* is such a
function of one value that goes from 0 to 1; a motion between two points is q0 + (q1 - q0) s(t).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, factorial
from typing import Any

import numpy as np

from ..errors import InputError

LAWS = ("cubic", "quintic", "septic", "bang-bang", "trapezoidal", "s-curve")
_UNBOUNDED_JERK = ("cubic", "bang-bang", "trapezoidal")


@dataclass(frozen=True)
class Piecewise:
    """x(t) = sum over k of c[i, :, k] (t - breaks[i])^k for breaks[i] <= t < breaks[i+1].

    breaks (m+1), coefficients (m, n, degree+1). Before the first break and after the last one x
    rests where it is there."""

    breaks: np.ndarray
    coefficients: np.ndarray

    @property
    def duration(self) -> float:
        return float(self.breaks[-1] - self.breaks[0])

    def __call__(self, t: Any, derivative: int = 0) -> np.ndarray:
        """x or a derivative of it, (..., n) for t (...)."""
        return self._derivatives(t, (derivative,))[0]

    def states(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x and its first and second derivatives."""
        x, xd, xdd = self._derivatives(t, (0, 1, 2))
        return x, xd, xdd

    def _derivatives(self, t: Any, orders: Sequence[int]) -> list[np.ndarray]:
        t = np.asarray(t, float)
        inside = np.clip(t, self.breaks[0], self.breaks[-1])
        i = np.clip(np.searchsorted(self.breaks, inside, side="right") - 1, 0, len(self.breaks) - 2)
        u = (inside - self.breaks[i])[..., None]
        c = self.coefficients[i]
        beyond = inside != t
        values = []
        for order in orders:
            value = np.zeros(c.shape[:-1])
            for k in range(c.shape[-1] - 1, order - 1, -1):
                value = value * u + factorial(k) / factorial(k - order) * c[..., k]
            if order:
                value[beyond] = 0
            values.append(value)
        return values

    def peak(self, derivative: int) -> np.ndarray:
        """The largest size of a derivative, (n): at ends of pieces and where the next one is 0."""
        largest = np.zeros(self.coefficients.shape[1])
        for width, rows in zip(np.diff(self.breaks), self.coefficients, strict=True):
            for j, row in enumerate(rows):
                p = np.polynomial.Polynomial(row).deriv(derivative) if derivative else None
                p = np.polynomial.Polynomial(row) if p is None else p
                roots = p.deriv().roots() if len(p.coef) > 1 else np.empty(0)
                real = roots[np.abs(np.imag(roots)) < 1e-9].real
                at = np.concatenate([[0, width], real[(real > 0) & (real < width)]])
                largest[j] = max(largest[j], float(np.abs(p(at)).max()))
        return largest

    def stretched(self, duration: float) -> Piecewise:
        """The path run through in another time."""
        factor = duration / self.duration
        powers = factor ** -np.arange(self.coefficients.shape[-1], dtype=float)
        start = self.breaks[0]
        return Piecewise(start + (self.breaks - start) * factor, self.coefficients * powers)

    def mapped(self, q0: np.ndarray, q1: np.ndarray) -> Piecewise:
        """q0 + (q1 - q0) s(t) of a time law s."""
        c = self.coefficients * (q1 - q0)[None, :, None]
        c[:, :, 0] += q0
        return Piecewise(self.breaks, c)

    def resting(self, duration: float) -> Piecewise:
        """At its end for so long."""
        if not duration:
            return self
        still = np.zeros((1, *self.coefficients.shape[1:]))
        still[0, :, 0] = self(self.breaks[-1])
        return self.followed(Piecewise(np.array([0.0, duration]), still))

    def followed(self, other: Piecewise) -> Piecewise:
        """This, then another of its degree."""
        breaks = self.breaks[-1] + other.breaks[1:] - other.breaks[0]
        rows = np.concatenate([self.coefficients, other.coefficients])
        return Piecewise(np.concatenate([self.breaks, breaks]), rows)


def hermite(duration: float, start: Any, end: Any) -> Piecewise:
    """The polynomial with given values and derivatives at both ends: start, end (d, n).

    Row k is the k-th derivative; d = 2, 3, 4 gives the cubic, quintic and septic polynomials."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    d = len(start)
    T = float(duration)
    low = np.array([row / factorial(k) for k, row in enumerate(start)])
    rows = np.array(
        [
            [factorial(d + m) / factorial(d + m - k) * T ** (d + m - k) for m in range(d)]
            for k in range(d)
        ]
    )
    known = [
        sum(low[m] * factorial(m) / factorial(m - k) * T ** (m - k) for m in range(k, d))
        for k in range(d)
    ]
    high = np.linalg.solve(rows, end - np.array(known))
    coefficients = np.concatenate([low, high]).T[None]
    return Piecewise(np.array([0.0, T]), coefficients)


def constant_pieces(durations: Sequence[float], values: Sequence[float], order: int) -> Piecewise:
    """The time law whose derivative of that order is constant on each piece: integrated, and
    scaled to end at 1."""
    breaks, rows = [0.0], []
    state = np.zeros(order)
    for width, value in zip(durations, values, strict=True):
        if width <= 0:
            continue
        row = np.array([*(state[k] / factorial(k) for k in range(order)), value / factorial(order)])
        rows.append(row)
        powers = np.array([width**k for k in range(order + 1)])
        state = np.array(
            [
                sum(comb(m, k) * factorial(k) * row[m] * powers[m - k] for m in range(k, order + 1))
                for k in range(order)
            ]
        )
        breaks.append(breaks[-1] + width)
    return Piecewise(np.array(breaks), np.array(rows)[:, None, :] / state[0])


def time_law(
    law: str, *, velocity: float = np.inf, acceleration: float = np.inf, jerk: float = np.inf
) -> Piecewise:
    """s(t) from 0 to 1 within limits of its derivatives, as fast as the law allows.

    Without any limit it lasts 1 s."""
    if np.isfinite(jerk) and law in _UNBOUNDED_JERK:
        allowed = ", ".join(name for name in LAWS if name not in _UNBOUNDED_JERK)
        raise InputError(f"the jerk of a '{law}' law has no bound; with a jerk limit use {allowed}")
    free = np.isinf([velocity, acceleration, jerk]).all()
    if law == "trapezoidal" and np.isfinite([velocity, acceleration]).all():
        profile = _trapezoidal(velocity, acceleration)
    elif law == "s-curve" and np.isfinite([velocity, acceleration, jerk]).all():
        profile = _s_curve(velocity, acceleration, jerk)
    else:
        profile = _unit_law(law)
    if free:
        return profile.stretched(1.0)
    limits = (velocity, acceleration, jerk)
    needed = [
        (float(profile.peak(k)[0]) / limit) ** (1 / k)
        for k, limit in enumerate(limits, 1)
        if np.isfinite(limit)
    ]
    return profile.stretched(profile.duration * max(needed)) if needed else profile


def _unit_law(law: str) -> Piecewise:
    orders = {"cubic": 2, "quintic": 3, "septic": 4}
    if law in orders:
        end = np.zeros((orders[law], 1))
        end[0] = 1
        return hermite(1.0, np.zeros_like(end), end)
    if law == "bang-bang":
        return constant_pieces([0.5, 0.5], [1, -1], 2)
    if law == "trapezoidal":  # a third each
        return constant_pieces([1 / 3] * 3, [1, 0, -1], 2)
    if law == "s-curve":  # seven equal pieces
        return constant_pieces([1 / 7] * 7, [1, 0, -1, 0, -1, 0, 1], 3)
    raise InputError(f"there is no time law '{law}'; allowed: {', '.join(LAWS)}")


def _trapezoidal(v: float, a: float) -> Piecewise:
    """Acceleration a, cruise at v, deceleration a, over a distance of 1."""
    if v * v >= a:  # the speed v is not reached
        half = a**-0.5
        return constant_pieces([half, half], [a, -a], 2)
    return constant_pieces([v / a, 1 / v - v / a, v / a], [a, 0, -a], 2)


def _s_curve(v: float, a: float, j: float) -> Piecewise:
    """Seven pieces of jerk ±j or 0, over a distance of 1; v and a are reached if they can be."""
    if v * j >= a * a:
        tj, ta = a / j, a / j + v / a
    else:
        tj = (v / j) ** 0.5
        ta = 2 * tj
    cruise = 1 / v - ta
    if cruise < 0:  # v is not reached
        cruise = 0.0
        if 2 * a**3 <= j * j:
            tj = a / j
            ta = tj / 2 + (tj * tj / 4 + 1 / a) ** 0.5
        else:
            tj = (0.5 / j) ** (1 / 3)
            ta = 2 * tj
    flat = ta - 2 * tj
    return constant_pieces([tj, flat, tj, cruise, tj, flat, tj], [j, 0, -j, 0, -j, 0, j], 3)


def spline(times: Any, points: Any, degree: int = 3, ends: str = "rest") -> Piecewise:
    """Through points (m, n) at times (m), at rest at both ends.

    degree 3: continuous accelerations; degree 5: continuous up to the fourth derivative, with
    zero acceleration at the ends. The unknown derivatives at the points follow from one linear
    system. Natural ends are free: there the derivatives from half the degree on are zero."""
    times, points = np.asarray(times, float), np.asarray(points, float)
    d = {3: 2, 5: 3}.get(degree)
    if d is None:
        raise InputError(f"a spline of degree {degree}; allowed: 3, 5")
    m, n = points.shape
    free = d - 1  # unknown derivatives at each inner point
    size = free * m
    A, b = np.zeros((size, size)), np.zeros((size, n))
    for i in range(m):
        here = slice(free * i, free * (i + 1))
        if i in (0, m - 1) and ends == "rest":
            A[here, here] = np.eye(free)
            continue
        for side, at in enumerate((i - 1, i)):
            if not 0 <= at < m - 1:
                continue
            width = times[at + 1] - times[at]
            sign = 1 if side == 0 else -1
            low, high, value = _higher(width, d, end=side == 0)
            A[here, free * at : free * (at + 1)] += sign * low[:, 1:]
            A[here, free * (at + 1) : free * (at + 2)] += sign * high[:, 1:]
            b[here] -= sign * (np.outer(low[:, 0], points[at]) + np.outer(value, points[at + 1]))
    rates = np.linalg.solve(A, b).reshape(m, free, n)
    states = np.concatenate([points[:, None], rates], axis=1)
    pieces = [
        hermite(times[i + 1] - times[i], states[i], states[i + 1]).coefficients[0]
        for i in range(m - 1)
    ]
    return Piecewise(times, np.array(pieces))


def _higher(width: float, d: int, end: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Derivatives d .. 2d-2 of the Hermite polynomial at one end, as linear functions of the
    values and derivatives at both."""
    powers = width ** (np.arange(d) - np.arange(d, 2 * d - 1.0)[:, None])
    rows = _unit_basis(d, end) * np.hstack([powers, powers])
    return rows[:, :d], rows[:, d:], rows[:, d]


@cache
def _unit_basis(d: int, end: bool) -> np.ndarray:
    """Those derivatives over a width of 1, (d - 1, 2 d)."""
    halves = np.eye(2 * d)
    basis = hermite(1.0, halves[:d], halves[d:])
    return np.array([basis(float(end), k) for k in range(d, 2 * d - 1)])
