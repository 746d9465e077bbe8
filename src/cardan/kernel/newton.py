"""Kernels of Newton's method for least squares, damped:

    (J^T J + mu) dx = J^T r,   mu = damping min(|r|, 1)

(Levenberg 1944, Marquardt 1963). mu vanishes with r, so that the method keeps its speed where
equations repeat each other. Who calls evaluates r and J, and moves; algebra.newton does the same on
arrays.
"""

from __future__ import annotations

from .language import Array, Booleans, record, sqrt
from .linalg import normal_step

FLATTEST = 1e-14  # of the longest column: the least mu


@record()
class Descent:
    """Where a descent stands: the sum of the squares of r, the damping, and whether the point is
    new, so that J is to be evaluated."""

    cost: float
    damping: float
    fresh: bool


def begin(cost: float, damping: float, descent: Descent) -> None:
    """At a point of this cost."""
    descent.cost = cost
    descent.damping = damping
    descent.fresh = True


def put_step(A: Array, g: Array, held: Booleans, n: int, descent: Descent, dx: Array) -> None:
    """The step dx of n variables, A = J^T J and g = J^T r; those held stand."""
    least = 1.0
    for k in range(n):
        least = max(least, A[n * k + k])
    mu = max(descent.damping * min(sqrt(descent.cost), 1.0), FLATTEST * least)
    solved = normal_step(A, g, held, mu, n, dx)
    while not solved and mu < 1e300:
        mu = 10.0 * mu
        solved = normal_step(A, g, held, mu, n, dx)


def accepts(now: float, descent: Descent) -> bool:
    """Does a step to the cost `now` lead down? The damping of the next one."""
    descent.fresh = now < descent.cost
    if descent.fresh:
        descent.cost = now
        descent.damping = 0.2 * descent.damping
    else:
        descent.damping = 8.0 * descent.damping
    return descent.fresh
