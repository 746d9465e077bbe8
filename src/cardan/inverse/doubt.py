"""Doubtful poses of a closed form: candidates made exact, verified and merged by settle.py.

Where an equation vanishes altogether, its branches may miss configurations. Two further kinds of
candidates are tried there: the branches with other values of the joint that may have many, and the
branches of poses nearby, moved back to the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from .approach import JOINTS
from .chain.chain import NumericChain
from .closed_form.closely import NEAR, VALUES, closely
from .settle import ACCEPT, CLEAR

__all__ = ["Candidates", "Found", "arm_table", "looked_at", "settled"]

Array = NDArray[np.float64]
NOISE = 4e-15
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Found:
    """Answers of N poses: the arrays of Configurations, with one leading axis."""

    q: Array
    count: NDArray[np.int64]
    residual: Array
    singular: Bools
    multiplicity: NDArray[np.int64]

    def put(self, rows: Any, other: Found) -> None:
        """Replace the answers of some poses."""
        for mine, its in zip(vars(self).values(), vars(other).values(), strict=True):
            mine[rows] = its

    def of_rows(self, rows: Any) -> Found:
        """The answers of some poses."""
        return Found(*(x[rows] for x in vars(self).values()))

    def put_wide(self, rows: Any, other: Found) -> Found:
        """The answers with those of some poses replaced by others, of which there may be more."""
        width = max(self.q.shape[1], int(other.count.max(initial=0)))
        more = width - self.q.shape[1]
        filler = (np.nan, 0, np.nan, False, 0)
        parts = []
        for mine, its, empty in zip(vars(self).values(), vars(other).values(), filler, strict=True):
            wide = mine
            if mine.ndim > 1:
                shape = [(0, 0), (0, more)] + [(0, 0)] * (mine.ndim - 2)
                wide = np.pad(mine, shape, constant_values=empty)
                wide[rows, its.shape[1] :] = empty
                wide[rows, : its.shape[1]] = its[:, :width]
            else:
                wide[rows] = its
            parts.append(wide)
        return Found(*parts)


@dataclass(frozen=True)
class Candidates:
    """c candidates of each of N poses: q (N, c, n), and margin, residual, role (N, c)."""

    q: Array
    margin: Array
    residual: Array
    role: Array

    @classmethod
    def of(cls, found: Any, roles: Sequence[float] = (0,)) -> Candidates:
        """The branches that a program gave, as many times for each pose as there are roles."""
        rows, k, n = found.q.shape
        N, c = rows // len(roles), k * len(roles)
        role = np.tile(np.repeat(np.array(roles, float), k), (N, 1))
        shape = (N, c)
        return cls(
            found.q.reshape(N, c, n), found.margin.reshape(shape), found.residual.reshape(shape),
            role,
        )  # fmt: skip

    def of_rows(self, rows: Any) -> Candidates:
        return Candidates(*(x[rows] for x in vars(self).values()))

    def joined(self, other: Candidates) -> Candidates:
        parts = zip(vars(self).values(), vars(other).values(), strict=True)
        return Candidates(*(np.concatenate(part, 1) for part in parts))


def arm_table(chain: NumericChain, held: Bools) -> Array:
    """The Arm of approach.py; `held`: joints whose values are given."""
    if chain.n > JOINTS:
        raise ModelError(f"a chain of {chain.n} joints is longer than {JOINTS}")
    rows = np.column_stack([
        np.cos(chain.alpha), np.sin(chain.alpha), chain.d, chain.theta, chain.r, chain.sigma, held,
        np.sin(chain.beta), np.cos(chain.beta),
    ])  # fmt: skip
    few = chain.n - int(np.sum(held)) < 6
    # lengths that are far larger than the robot cancel, and leave so much of rounding
    accepted = max(ACCEPT * chain.scale, NOISE * chain.size / chain.unit)
    if few and chain.tolerance is not None:
        accepted = max(accepted, chain.tolerance * min(1.0, 1 / chain.unit))
    head = [chain.n, chain.span, chain.scale, 1e-6 if few else 1e-9, accepted, 1 / chain.unit]
    parts = [head, chain.base[:3].T.ravel(), chain.tool[:3].T.ravel(), rows.ravel()]
    return np.concatenate([np.asarray(part, float) for part in parts])


@cache
def _kernel(n: int, most: int) -> Any:
    from ..run.kernel import KernelFunction

    free = dict.fromkeys(("q", "margin", "residual", "role", "arm"), 0)
    outputs = {"found": most * n, "error": most, "lost": most, "times": most, "state": 3,
               "near": 16 * NEAR}  # fmt: skip
    return KernelFunction(closely, {"T": 16, **free, "shape": 2}, outputs)


def settled(
    T: Array, given: Candidates, arm: Array, most: int
) -> tuple[Found, Bools, Bools, Array]:
    """Answers of poses T (N, 4, 4); where a branch gave none because its equation vanishes; where
    an equation vanishes; poses (N, NEAR, 4, 4) to try there."""
    N, c, n = given.q.shape
    arrays = {
        "T": T.reshape(N, 16), "q": given.q.reshape(N, c * n), "margin": given.margin,
        "residual": given.residual, "role": given.role, "arm": arm, "shape": np.array([c, most]),
    }  # fmt: skip
    out = _kernel(n, most)(arrays, N)
    count = out["state"][:, 0].astype(np.int64)
    rest = np.arange(most) >= count[:, None]
    q, error, times = out["found"].reshape(N, most, n), out["error"], out["times"]
    q[rest], error[rest], times[rest] = np.nan, np.nan, 0
    answer = Found(q, count, error, (out["lost"] > 0.5) & ~rest, times.astype(np.int64))
    near = out["near"].reshape(N, NEAR, 4, 4)
    return answer, out["state"][:, 1] > 0.5, out["state"][:, 2] > 0.5, near


Run = Callable[..., Any]  # the branches: inputs by name -> q, margin, residual
Other = Callable[[Array], Array]  # poses (N, 4, 4) -> configurations (N, c, n), padded with NaN


def looked_at(
    branches: Run, guided: Run, inputs: Mapping[str, Array], guess: Array | None,
    numeric: NumericChain, held: Bools, most: int, other: Other | None = None,
) -> Found:  # fmt: skip
    """All configurations of doubtful poses inputs["T"] (N, 4, 4); guess (N, n) or none. `other`:
    another method, asked where an equation vanishes."""
    T, arm = inputs["T"], arm_table(numeric, held)
    first = Candidates.of(branches(**inputs))
    if guess is not None:
        led = Candidates.of(guided(**inputs, guess=_led(guess)))
        first = led.joined(replace(first, role=first.role - 1))
    found, open_, vanished, near = settled(T, first, arm, most)
    for rows in (np.flatnonzero(open_), np.flatnonzero(vanished & ~open_)):
        if not len(rows):
            continue
        some = {name: x if name == "p" else x[rows] for name, x in inputs.items()}
        tried = first.of_rows(rows)
        if open_[rows[0]]:
            tried = tried.joined(_other_values(guided, some, numeric.n))
            _, _, _, near[rows] = settled(T[rows], tried, arm, most)
        tried = tried.joined(_nearby(branches, some, near[rows]))
        if other is not None:
            tried = tried.joined(_of_other(other(T[rows])))
        found.put(rows, settled(T[rows], tried, arm, most)[0])
    return found


def _repeated(inputs: Mapping[str, Array], times: int) -> dict[str, Array]:
    """The inputs of every pose so many times."""
    return {name: x if name == "p" else np.repeat(x, times, 0) for name, x in inputs.items()}


def _other_values(guided: Run, inputs: Mapping[str, Array], n: int) -> Candidates:
    """Branches where the joint that may have many values has another one."""
    values = -np.pi + 2 * np.pi / VALUES * np.arange(VALUES)
    guess = np.repeat(np.tile(values, len(inputs["T"]))[:, None], n, 1)
    found = guided(**_repeated(inputs, VALUES), guess=_led(guess))
    return Candidates.of(found, range(1, VALUES + 1))


def _led(guess: Array) -> Array:
    """The input `guess` of the branches: a guess is as good as a direction of few digits."""
    return np.concatenate([guess, np.full((len(guess), 1), CLEAR)], 1)


def _nearby(branches: Run, inputs: Mapping[str, Array], near: Array) -> Candidates:
    """Branches of poses nearby: what an equation that vanishes just here would hide."""
    T = near.reshape(-1, 4, 4)
    return Candidates.of(branches(**{**_repeated(inputs, NEAR), "T": T}), [-2] * NEAR)


def _of_other(q: Array) -> Candidates:
    zero = np.zeros(q.shape[:2])
    return Candidates(q, zero, zero, zero - 1)
