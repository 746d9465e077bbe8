"""Damped least squares with constraints given as a function: the kernels' rows and those of users.

On arrays of all poses at once, because a Python function cannot be called from machine code.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.newton import Damping, Rule, newton
from ...errors import InputError
from .kernels import rows_of

if TYPE_CHECKING:
    from .solver import Constraints, Problem

Array = NDArray[np.float64]
_DAMPING = Damping(first=1e-3, less=0.3, more=4.0, most=1e8, least=1e-15, vanishing=1e-2)


@cache
def _rows_function(poses: int, variables: int) -> Any:
    from ...run.kernel import KernelFunction

    rows = poses // 16 * 6
    inputs = {"T": poses, "q": variables, "tree": 0, "variables": 0, "task": 0}
    return KernelFunction(rows_of, inputs, {"e": rows, "J": rows * variables})


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
        better = (largest < info[todo, 0]) | (~problem.within(q[todo]) & (largest <= tolerance))
        q[todo[better]] = x[better]
        info[todo, 0] = np.minimum(info[todo, 0], largest)
        info[todo, 1] += rounds
        todo = todo[(info[todo, 0] > tolerance) | ~problem.within(q[todo])]
        if not len(todo):
            break
    info[:, 2] = (info[:, 0] <= tolerance) & problem.within(q)
    return q, info


def _rows(
    problem: Problem, T: Array, q: Array, hook: Constraints, threads: int | None
) -> tuple[Array, Array]:
    """e (N, m), those of the user last, and J (N, m, n)."""
    n, variables = q.shape[1], len(problem.offset)
    arrays = {"T": T, "q": q, **problem.tables}
    rows = _rows_function(T.shape[1], n)(arrays, len(T), threads)
    e, J = -rows["e"], rows["J"].reshape(len(T), -1, n)
    try:
        more, slope = (np.asarray(x, float) for x in hook(problem.every(q)))
    except (TypeError, ValueError):
        more, slope = np.zeros(0), np.zeros(0)
    if more.ndim != 2 or len(more) != len(q) or slope.shape != (*more.shape, variables):
        raise InputError(
            f"constraints gave shapes {more.shape} and {slope.shape}; expected residuals"
            f" ({len(q)}, m) and derivatives ({len(q)}, m, {variables})"
        )
    wide = np.zeros((*more.shape, n))
    wide[..., : problem.n] = slope @ problem.slope
    return np.concatenate([e, more], 1), np.concatenate([J, wide], 1)


def _descend(
    problem: Problem, T: Array, q: Array, hook: Constraints, threads: int | None
) -> tuple[Array, Array, NDArray[np.int64]]:
    """From q to a minimum: (q, largest error in m and rad, iterations)."""
    iterations, _, tolerance = problem.numbers
    bounds = problem.lower, problem.upper
    q = np.clip(q, *bounds)
    scale = np.ones(_rows(problem, T[:1], q[:1], hook, threads)[0].shape[1])
    scale[: 6 * problem.targets].reshape(-1, 6)[:, :3] = problem.tables["task"][4]
    ends = newton(
        q,
        lambda q, k: _rows(problem, T[k], q, hook, threads)[0],
        lambda q, k: _rows(problem, T[k], q, hook, threads)[1],
        Rule(tolerance, scale, longest=1.5, rounds=iterations),
        damping=_DAMPING,
        bounds=bounds,
    )
    return ends.x, np.abs(ends.e * scale).max(1, initial=0), ends.rounds
