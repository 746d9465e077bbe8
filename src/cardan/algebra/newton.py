"""Newton's method over numbers: roots and least squares of e(x), from many starts at once.

A step moves x by dx, the least one with J dx = -e (pseudo-inverse); with damping it solves

    (J^T J + mu) dx = -J^T e

(Levenberg 1944, Marquardt 1963) and counts only where it shortens e: mu then falls, else it grows
and the step is tried again, shorter and nearer to steepest descent. Steps are shortened as a whole
to the longest one allowed. A start is done when e is small, when its step is small, or when no
damping helps; the others go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
Rows = Callable[[Array, Array], Array]  # of x (k, n), and which k of the N starts they belong to


@dataclass(frozen=True)
class Rule:
    """How far a step goes and when Newton's method stops."""

    residual: float = 0.0  # the largest |e| times `scale` of a start that is solved
    scale: Array | float = 1.0  # (m,) of e
    step: float = 0.0  # the largest |dx| of a start that stands
    longest: float = np.inf  # |dx| at most
    unit: Array | float = 1.0  # (k,) of dx; what is infinite is not measured
    rounds: int = 50
    rank: float = 1e-9  # singular values of J up to this part of the largest are zero


@dataclass(frozen=True)
class Damping:
    """mu = d weight(e, J^T J), at least `least` of the largest diagonal element of J^T J."""

    first: float  # d at the start
    less: float  # d is multiplied by it after a good step,
    more: float  # and by this after one that is taken back
    most: float  # d of a start that has failed
    least: float = 1e-14
    vanishing: float | None = None  # d after a good step: at most this times |e|^2
    weight: Callable[[Array, Array], Array | float] = lambda e, H: 1.0


@dataclass(frozen=True)
class Roots:
    """Where N starts ended."""

    x: Array  # (N, n)
    e: Array  # (N, m)
    solved: Array  # (N,) by the residual or the step
    step: Array  # (N,) the largest element of the last one
    rounds: Array  # (N,)


def newton(
    x: Any, residual: Rows, slope: Rows, rule: Rule, *, damping: Damping | None = None,
    bounds: tuple[Array, Array] | None = None,
    move: Callable[[Array, Array], Array] = np.add,
) -> Roots:  # fmt: skip
    """Zeros, or with damping least squares, of e = residual (N, m) from x (N, n); J = slope
    (N, m, k).

    move: x after a step dx (N, k); bounds: those of x, a component at its bound that a damped step
    would push further stays there."""
    x = np.array(x, float)
    every = np.arange(len(x))
    e, J = residual(x, every), np.zeros(0)
    cost = (e * e).sum(axis=1)
    d = np.full(len(x), damping.first if damping else 0.0)
    size, rounds = np.full(len(x), np.inf), np.zeros(len(x), int)
    solved = _largest(e * rule.scale) <= rule.residual
    going, moved = ~solved, np.ones(len(x), bool)
    for _ in range(rule.rounds):
        on = every[going]
        if not len(on):
            break
        fresh = every[going & moved]
        if len(fresh):
            J_fresh = slope(x[fresh], fresh)
            J = J if J.ndim == 3 else np.zeros((len(x), *J_fresh.shape[1:]))
            J[fresh] = J_fresh
            going &= np.isfinite(cost) & np.isfinite(J).all(axis=(1, 2))
            on = every[going]
        rounds[on] += 1
        if damping is None:
            dx = -(np.linalg.pinv(J[on], rcond=rule.rank) @ e[on][..., None])[..., 0]
        else:
            dx = _damped(x[on], e[on], J[on], d[on], damping, bounds)
        length = _largest(dx / rule.unit)
        dx *= np.minimum(1.0, rule.longest / np.maximum(length, 1e-300))[:, None]
        trial = move(x[on], dx)
        if bounds is not None:
            trial = np.clip(trial, *bounds)
        e_trial = residual(trial, on)
        cost_trial = (e_trial * e_trial).sum(axis=1)
        better = cost_trial < cost[on] if damping else np.ones(len(on), bool)
        good = on[better]
        x[good], e[good], cost[good] = trial[better], e_trial[better], cost_trial[better]
        moved[on], size[on] = better, length
        small = _largest(e[on] * rule.scale) <= rule.residual
        solved[on] = small | ((length <= rule.step) & (rule.step > 0))
        going[on] = ~solved[on]
        if damping is not None:
            d[on] *= np.where(better, damping.less, damping.more)
            if damping.vanishing is not None:
                d[good] = np.minimum(d[good], damping.vanishing * cost[good])
            going[on] &= d[on] <= damping.most
    return Roots(x, e, solved, size, rounds)


def _damped(
    x: Array, e: Array, J: Array, d: Array, damping: Damping, bounds: tuple[Array, Array] | None
) -> Array:
    g = np.einsum("nmk,nm->nk", J, e)
    held = np.zeros(g.shape, bool)
    if bounds is not None:
        held = ((x <= bounds[0]) & (g > 0)) | ((x >= bounds[1]) & (g < 0))
        J = np.where(held[:, None], 0.0, J)
    H = np.einsum("nmk,nml->nkl", J, J)
    diagonal = np.einsum("nkk->nk", H)
    mu = np.maximum(d * damping.weight(e, H), damping.least * diagonal.max(axis=1, initial=1.0))
    diagonal += mu[:, None]
    return np.asarray(-np.linalg.solve(H, np.where(held, 0.0, g)[..., None])[..., 0])


def _largest(x: Array) -> Array:
    return np.asarray(np.abs(x).max(axis=1, initial=0))
