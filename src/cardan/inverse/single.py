"""One pose at a time: arrays, tables and machine code are made once, then only filled.

A call of `InverseGeometry.solve` with one pose costs little more than its kernels. What is out of
the usual (a doubtful pose, one that is not exactly rigid, other kinds of arguments) is left to the
way of batches: these functions give None then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .choice import bound_choice
from .closed_form.batch import Closed
from .general.extended import Extended
from .general.held import HeldSolver
from .general.method import GeneralSolver
from .general.records import MOST
from .poses import ROUND_OFF, checking

if TYPE_CHECKING:
    from .geometry import InverseGeometry

Array = NDArray[np.float64]
# pose, value of the free joint, guess, limits -> rows
Single = Callable[[Any, Any, Any, bool], Array | None]


def single(ik: InverseGeometry, values: Mapping[str, float]) -> Single:
    """A function of one pose with arrays of its own: not for two threads at once."""
    count = 1 if ik.plane else len(ik.free)
    if set(ik.chain.parameters) - set(values) or count > 1:
        return _never
    numeric = ik.chain.numeric(dict(values))
    if ik.chain.parameters and numeric.unit != 1:
        return _never
    n = ik.chain.n
    pose, free, gap = np.zeros((4, 4)), np.zeros(count), np.zeros(1)
    check = checking().bound({"T": pose.reshape(16)}, {"gap": gap})
    run = _runner(ik, numeric, values, pose, free)
    if run is None:
        return _never
    most = ik.solver.kmax if isinstance(ik.solver, Closed) else MOST
    chosen = bound_choice(numeric, most)

    def solve(T: Any, value: Any, guess: Any, limits: bool) -> Array | None:
        if type(T) is not np.ndarray or T.shape != (4, 4) or T.dtype != float:
            return None
        pose[...] = T
        if guess is not None:
            if type(guess) is list and {*map(type, guess)} <= {float, int}:
                guess = np.array(guess, float)
            if type(guess) is not np.ndarray or guess.shape != (n,) or guess.dtype != float:
                return None
            if not isfinite(sum(guess.tolist())):
                return None
            if count and value is None:
                if ik.plane:
                    return None
                value = float(guess[ik.free[0]])
        if value is not None:
            if not count or not isinstance(value, float | int) or not isfinite(value):
                return None
            free[0] = value
        elif count:
            free[0] = 0.0
        check()
        rows = run(guess) if gap[0] <= ROUND_OFF else None
        if rows is None or (guess is None and not limits):
            return rows
        return chosen(rows, guess, limits)

    return solve


def _never(T: Any, value: Any, guess: Any, limits: bool) -> None:
    return None


def _runner(
    ik: InverseGeometry, numeric: Any, values: Mapping[str, float], pose: Array, free: Array
) -> Callable[[Array | None], Array | None] | None:
    solver = ik.solver
    given = {"free": free} if len(free) else {}
    if isinstance(solver, Closed):
        names = solver.program.parameters
        if names:
            given["p"] = np.array([values[name] for name in names])
        return solver.one(numeric, {"T": pose, **given})
    if isinstance(solver, GeneralSolver | HeldSolver | Extended):
        general = solver.one(numeric, {"T": pose.reshape(16), **given})
        return None if general is None else lambda guess: general()
    return None
