"""Damped least squares with constraints given as a function: the kernels' rows and those of users.

The method of kernels.py, on arrays of all poses at once, because a Python function
cannot be called from machine code.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .kernels import rows_of

if TYPE_CHECKING:
    from .solver import Constraints, Problem

__all__ = ["with_constraints"]

Array = NDArray[np.float64]


@cache
def _rows_function(poses: int, variables: int) -> Any:
    from ...run.kernel import KernelFunction

    rows = poses // 16 * 6
    inputs = {"T": poses, "q": variables, "tree": 0, "variables": 0, "task": 0}
    return KernelFunction(rows_of, inputs, {"e": rows, "J": rows * variables, "largest": 1})


def with_constraints(
    problem: Problem,
    T: Array,
    start: Array,
    seed: int,
    constraints: Constraints,
    threads: int | None = None,
) -> tuple[Array, Array]:
    """q and info as damped_least_squares gives them."""
    _, starts, tolerance = problem.numbers
    rng = np.random.default_rng([seed, 1])
    q, info = start.copy(), np.zeros((len(T), 4))
    info[:, 0] = np.inf
    todo = np.arange(len(T))
    for trial in range(starts):
        x = start[todo] if trial == 0 else rng.uniform(problem.first, problem.last, q[todo].shape)
        x, largest, rounds = _descend(problem, T[todo], x, constraints, threads)
        better = largest < info[todo, 0]
        q[todo[better]] = x[better]
        info[todo, 0] = np.minimum(info[todo, 0], largest)
        info[todo, 1] += rounds
        todo = todo[info[todo, 0] > tolerance]
        if not len(todo):
            break
    info[:, 2] = info[:, 0] <= tolerance
    return q, info


def _rows(
    problem: Problem, T: Array, q: Array, hook: Constraints, threads: int | None
) -> tuple[Array, Array, Array]:
    """e (N, m), J (N, m, n), largest error (N,)."""
    n = q.shape[1]
    arrays = {"T": T, "q": q, **problem.tables}
    found = _rows_function(T.shape[1], n)(arrays, len(T), threads)
    e, J = found["e"], found["J"].reshape(len(T), -1, n)
    try:
        more, slope = (np.asarray(x, float) for x in hook(q[:, : problem.n]))
    except (TypeError, ValueError):
        more, slope = np.zeros(0), np.zeros(0)
    if more.ndim != 2 or len(more) != len(q) or slope.shape != (*more.shape, problem.n):
        raise InputError(
            f"constraints gave shapes {more.shape} and {slope.shape}; expected residuals"
            f" ({len(q)}, m) and derivatives ({len(q)}, m, {problem.n})"
        )
    wide = np.zeros((*more.shape, n))
    wide[..., : problem.n] = slope
    largest = np.maximum(found["largest"][:, 0], np.abs(more).max(1, initial=0))
    return np.concatenate([e, -more], 1), np.concatenate([J, wide], 1), largest


def _descend(
    problem: Problem, T: Array, q: Array, hook: Constraints, threads: int | None
) -> tuple[Array, Array, NDArray[np.int64]]:
    """From q to a minimum: (q, largest error, iterations)."""
    iterations, _, tolerance = problem.numbers
    q = np.clip(q, problem.lower, problem.upper)
    e, J, largest = _rows(problem, T, q, hook, threads)
    mu = np.full(len(q), 1e-3)
    rounds = np.zeros(len(q), np.int64)
    for _ in range(iterations):
        active = (largest > tolerance) & (mu < 1e8)
        if not active.any():
            break
        rounds += active
        g = np.einsum("nmi,nm->ni", J, e)
        held = ((q <= problem.lower) & (g < 0)) | ((q >= problem.upper) & (g > 0))
        free = np.where(held[:, None, :], 0.0, J)
        A = free.swapaxes(1, 2) @ free + (mu[:, None, None] + 1e-15) * np.eye(q.shape[1])
        step = np.linalg.solve(A, np.where(held, 0.0, g)[..., None])[..., 0]
        step *= np.minimum(1, 1.5 / np.maximum(np.abs(step).max(1), 1e-300))[:, None]
        trial = np.clip(q + step, problem.lower, problem.upper)
        e_new, J_new, largest_new = _rows(problem, T, trial, hook, threads)
        now, before = (e_new**2).sum(1), (e**2).sum(1)
        better = active & (now < before)
        q[better], e[better], J[better] = trial[better], e_new[better], J_new[better]
        largest[better] = largest_new[better]
        mu = np.where(better, np.minimum(0.3 * mu, 1e-2 * now), np.where(active, 4 * mu + 1e-9, mu))
    return q, largest, rounds
