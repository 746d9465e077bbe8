"""Configurations within the joint limits, the nearest to a guess first."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernel.language import OPEN, Array, floor, record
from .approach import Arm
from .chain.chain import NumericChain
from .doubt import Found, arm_table

TURN = 6.283185307179586
ROUNDING = 1e-9  # by which a limit may be exceeded


@record()
class Range:
    """The limits of a joint."""

    lower: float
    upper: float


@record(ranges=OPEN)
class Wanted:
    """Do limits count, and a guess?"""

    limits: bool
    guess: bool
    ranges: list[Range]


@record()
class Number:
    """How many configurations there are."""

    count: int


@record()
class Place:
    """Which configuration stands here, and how far it is from the guess."""

    row: int
    far: float


@record(places=OPEN)
class Order:
    """The configurations that are left."""

    count: int
    places: list[Place]


def choose(
    q: Array, number: Number, arm: Arm, wanted: Wanted, guess: Array, found: Array, order: Order
) -> None:
    """Those of the configurations that are within the limits, turned into them by whole turns, as
    near to the guess as they allow; in the order of the largest difference to it, without units.
    Whole turns are a difference only where limits forbid to take them off."""
    joints = arm.count
    order.count = 0
    for k in range(number.count):
        at = joints * order.count
        inside = True
        far = 0.0
        for j in range(joints):
            x = q[joints * k + j]
            limits = wanted.ranges[j]
            gap = guess[j] - x
            if arm.joints[j].slides:
                gap /= arm.size
            else:
                shift = TURN * floor(gap / TURN + 0.5)
                if wanted.limits:
                    shift = max(shift, 0.0 - TURN * floor((x - limits.lower) / TURN))
                    shift = min(shift, TURN * floor((limits.upper - x) / TURN))
                    x += shift
                gap -= shift
            if wanted.limits and (x < limits.lower or x > limits.upper):
                inside = False
            found[at + j] = x
            far = max(far, abs(gap))
        if inside:
            put_in_order(k, far if wanted.guess else 0.0, joints, found, order)


def put_in_order(row: int, far: float, joints: int, found: Array, order: Order) -> None:
    """Move the last configuration before those that are farther away."""
    k = order.count
    order.count += 1
    while k > 0 and order.places[k - 1].far > far:
        order.places[k].row = order.places[k - 1].row
        order.places[k].far = order.places[k - 1].far
        for j in range(joints):
            x = found[joints * k + j]
            found[joints * k + j] = found[joints * (k - 1) + j]
            found[joints * (k - 1) + j] = x
        k -= 1
    order.places[k].row = row
    order.places[k].far = far


@cache
def _kernel() -> Any:
    from ..run.kernel import KernelFunction

    inputs = dict.fromkeys(("q", "number", "arm", "wanted", "guess"), 0)
    return KernelFunction(choose, inputs, dict.fromkeys(("found", "order"), 0))


def _wanted(numeric: NumericChain, limits: bool, guess: bool) -> NDArray[np.float64]:
    """The Wanted."""
    ranges = np.column_stack([numeric.lower - ROUNDING, numeric.upper + ROUNDING])
    return np.concatenate([[limits, guess], ranges.ravel()])


def _arm(numeric: NumericChain) -> NDArray[np.float64]:
    return arm_table(numeric, np.zeros(numeric.n, bool))


def chosen(
    every: Found, numeric: NumericChain, guess: NDArray[np.float64] | None, limits: bool
) -> Found:
    """The configurations of a batch that are wanted, the rest NaN; guess (N, n)."""
    N, most, n = every.q.shape
    arrays = {
        "q": every.q.reshape(N, most * n), "number": every.count[:, None].astype(float),
        "arm": _arm(numeric), "wanted": _wanted(numeric, limits, guess is not None),
        "guess": np.zeros(n) if guess is None else guess,
    }  # fmt: skip
    out = {"found": np.empty((N, most * n)), "order": np.zeros((N, 1 + 2 * most))}
    _kernel()(arrays, N, out=out)
    count = out["order"][:, 0].astype(np.int64)
    order = out["order"][:, 1::2].astype(np.int64)
    rest = np.arange(most) >= count[:, None]
    q = out["found"].reshape(every.q.shape)
    q[rest] = np.nan

    def take(x: Any, empty: Any) -> Any:
        picked = np.take_along_axis(x, order, 1)
        picked[rest] = empty
        return picked

    return Found(
        q, count, take(every.residual, np.nan), take(every.singular, False),
        take(every.multiplicity, 0),
    )  # fmt: skip


def bound_choice(
    numeric: NumericChain, most: int
) -> Callable[[NDArray[np.float64], Any, bool], NDArray[np.float64]]:
    """The same of one pose, with arrays of its own: configurations (k, n), guess (n) or none,
    limits."""
    n = numeric.n
    q, found, start = np.empty((most, n)), np.empty((most, n)), np.zeros(n)
    number, order = np.zeros(1), np.zeros(1 + 2 * most)
    wanted = _wanted(numeric, False, False)
    arrays = {"q": q.ravel(), "number": number, "arm": _arm(numeric), "wanted": wanted}
    run = _kernel().bound({**arrays, "guess": start}, {"found": found.ravel(), "order": order})

    def choose(rows: NDArray[np.float64], guess: Any, limits: bool) -> NDArray[np.float64]:
        count = len(rows)
        q[:count] = rows
        number[0], wanted[0], wanted[1] = count, limits, guess is not None
        start[:] = 0.0 if guess is None else guess
        run()
        return found[: int(order[0])].copy()

    return choose
