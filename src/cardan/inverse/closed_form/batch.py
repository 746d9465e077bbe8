"""A closed-form solution at work: all branches on batches, doubtful poses looked at closely.

Away from singularities a branch either satisfies the pose to rounding or does not exist, and the
straight-line program says which. Where a margin is near zero, or digits were lost, driver.py looks
at the pose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError
from ...ir.code import Code
from ...kernel.language import Bound, program_kernel
from ...program import Program
from ..approach import WRONG
from ..chain.chain import Chain, NumericChain
from ..doubt import Found, arm_table, of_notes
from ..general.extended import Extended
from ..settle import CLEAR, SAFE
from .collect import collect_all
from .driver import BRANCHES, branches, look

Array = NDArray[np.float64]
CHUNK = 2048
NEAR_EDGE = 10.0  # margins, over the change of the arm, that may be of the other sign
BEYOND_EDGE = 0.3  # the same below zero, over its root
FEW = 8  # answers of an arm with fewer than six joints


@dataclass(frozen=True)
class Closed:
    """The compiled branches of a chain. `guided`: one of them, with signs and a guess as inputs,
    made when it is first needed."""

    chain: Chain
    program: Program
    guided: Callable[[], Code]
    free: tuple[int, ...] = ()  # joints that are given
    change: float = 0.0  # how far the arm of the equations is from the arm: rad, over its size

    @cached_property
    def function(self) -> Any:
        return self.program.compile()

    @property
    def branches(self) -> int:
        return self.program.outputs["margin"][0]

    @property
    def kmax(self) -> int:
        """Most answers: an arm with few joints has more at some poses than it has branches."""
        return self.branches if self.chain.n >= 6 else max(self.branches, FEW)

    def solve(
        self, T: Array, free: Array | None, p: Array | None, numeric: NumericChain,
        guess: Array | None,
    ) -> Found:  # fmt: skip
        """All configurations of poses T (N, 4, 4), free (N, f); guess (N, n) or none."""
        N, k, n = len(T), self.kmax, self.chain.n
        found = Found(
            np.empty((N, k, n)), np.empty(N, np.int64), np.empty((N, k)), np.zeros((N, k), bool),
            np.empty((N, k), np.int64),
        )  # fmt: skip
        b = self.branches
        tables = self._tables(numeric)
        info = np.empty((N, 2))
        for a in range(0, N, CHUNK):
            rows = slice(a, min(a + CHUNK, N))
            size = rows.stop - a
            given = self.function(**_inputs(T[rows], None if free is None else free[rows], p))
            arrays = {"q": given.q.reshape(size, b * n), "margin": given.margin}
            out = {"found": found.q.reshape(N, k * n), "error": found.residual, "info": info}
            self._collect(
                {**arrays, "residual": given.residual, **tables}, size,
                out={name: x[rows] for name, x in out.items()},
            )  # fmt: skip
        found.count[:] = info[:, 0]
        found.multiplicity[:] = np.arange(k) < found.count[:, None]
        self._look(np.flatnonzero(info[:, 1]), found, T, free, p, numeric, guess)
        return found

    def _tables(self, numeric: NumericChain) -> dict[str, Array]:
        """What `collect_all` knows of the arm."""
        filler = np.full(self.chain.n + 1, np.nan)
        return {"arm": arm_table(numeric, self.held), "room": self._room, "filler": filler}

    @property
    def _room(self) -> Array:
        """The Room of solutions.py."""
        return np.array([self.branches, self.kmax], float)

    def one(
        self, numeric: NumericChain, inputs: dict[str, Array]
    ) -> Callable[[Array | None], Array | None]:
        """The configurations of the pose that lies in the inputs, with a guess or none; None where
        the general method is to be asked too."""
        n = self.chain.n
        given = {name: np.empty(shape) for name, shape in self.program.outputs.items()}
        found, error, info = np.empty((self.kmax, n)), np.empty(self.kmax), np.empty(2)
        flat = {"q": given["q"].reshape(-1), "margin": given["margin"]}
        flat |= {"residual": given["residual"], **self._tables(numeric)}
        margin, residual, (least, most) = given["margin"], given["residual"], self._edge
        branches = self.function.bound(inputs, given)
        collected = self._collect.bound(
            flat, {"found": found.reshape(-1), "error": error, "info": info}
        )
        looks: list[Callable[[Array | None], Array]] = []

        def run(guess: Array | None) -> Array | None:
            branches()
            collected()
            count, doubt = info.tolist()
            rows = found[: int(count)]
            if doubt:
                if not looks:
                    looks.append(self._look_of_one(numeric, inputs))
                rows = looks[0](guess)
            if not len(rows) and ((margin > CLEAR) & (residual > WRONG * numeric.scale)).any():
                return None  # as is_strange says
            if most > least and _is_close(margin, residual, least, most, numeric, len(rows)):
                return None
            return rows.copy()

        return run

    def _look_of_one(
        self, numeric: NumericChain, inputs: dict[str, Array]
    ) -> Callable[[Array | None], Array]:
        """`look` at the pose that lies in the inputs."""
        n, most = self.chain.n, self.kmax
        found, notes, start = np.empty((most, n)), np.empty(2 + 3 * most), np.empty(n + 1)
        arrays, slots = self._look_arrays(numeric)
        arrays |= {name: x.reshape(-1) for name, x in inputs.items()} | {"start": start}
        run = _look_function(most, n, "further" in slots).bound(
            arrays, {"found": found.reshape(-1), "notes": notes}, slots
        )

        def look(guess: Array | None) -> Array:
            start[:] = 0.0
            run()
            if guess is not None and notes[1]:  # some joint may have any value
                start[:-1], start[-1] = guess, CLEAR
                run()
            return found[: int(notes[0])]

        return look

    def _look_arrays(self, numeric: NumericChain) -> tuple[dict[str, Array], dict[str, Any]]:
        """What `look` knows of the arm, and what is in its slots."""
        none = np.zeros(1)
        arrays = {
            "free": none, "p": none, "arm": arm_table(numeric, self.held), "robot": none,
            "room": self._room,
        }  # fmt: skip
        slots = {"branches": self._led}
        other = self._other(numeric)
        if other is not None:
            slots["further"], arrays["robot"] = other
        return arrays, slots

    @property
    def _edge(self) -> tuple[float, float]:
        """Margins between these may be of the other sign on the arm itself (`is_close`)."""
        most = NEAR_EDGE * self.change
        return (-max(most, BEYOND_EDGE * sqrt(self.change)), most) if most > SAFE else (0.0, 0.0)

    def is_strange(
        self, T: Array, free: Array | None, p: Array | None, numeric: NumericChain
    ) -> NDArray[np.bool_]:
        """Where an equation has a clear root that is no solution of the others (N,)."""
        given = self.function(**_inputs(T, free, p))
        with np.errstate(invalid="ignore"):
            clear = (given.margin > CLEAR) & (given.residual > WRONG * numeric.scale)
        found: NDArray[np.bool_] = clear.any(1)
        return found

    def is_close(
        self, T: Array, free: Array | None, p: Array | None, numeric: NumericChain,
        count: NDArray[np.int64],
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Where the arm of the equations is near the edge of its reach, so that the arm itself may
        be on the other side of it (N,), or where it has more configurations than were made exact.
        The change moves a margin by as much; that of a later joint by its root, where the one
        before it is a double root nearly. Margins within SAFE are looked at closely anyway."""
        found = np.zeros(len(T), bool)
        least, most = self._edge
        if most > least:
            for a in range(0, len(T), CHUNK):
                rows = slice(a, a + CHUNK)
                given = self.function(**_inputs(T[rows], None if free is None else free[rows], p))
                with np.errstate(invalid="ignore"):
                    found[rows] = _is_close(
                        given.margin, given.residual, least, most, numeric, count[rows]
                    )
        return found

    def _look(
        self, rows: NDArray[np.int64], found: Found, T: Array, free: Array | None,
        p: Array | None, numeric: NumericChain, guess: Array | None,
    ) -> None:  # fmt: skip
        """Replace the answers of doubtful poses by those of the driver (driver.py)."""
        if not len(rows):
            return
        start = np.zeros((len(rows), self.chain.n + 1))
        if guess is not None:
            start[:, :-1], start[:, -1] = guess[rows], CLEAR
        arrays, slots = self._look_arrays(numeric)
        arrays |= {"T": T[rows].reshape(-1, 16), "start": start}
        arrays |= {} if free is None else {"free": free[rows]}
        arrays |= {} if p is None else {"p": p}
        k, n = self.kmax, self.chain.n
        out = _look_function(k, n, "further" in slots)(arrays, len(rows), slots=slots)
        found.put(rows, of_notes(out["found"].reshape(-1, k, n), out["notes"]))

    def _other(self, numeric: NumericChain) -> tuple[Any, Array] | None:
        """The general method with virtual joints, and its table: poses near those of an arm with
        few joints are out of its reach, so an equation that vanishes hides more than it does for
        six."""
        try:
            return None if self.general is None else self.general.kernel(numeric)
        except ModelError:  # no elimination is regular
            return None

    @cached_property
    def _led(self) -> Any:
        """The guided branches as a kernel."""
        from ...run.kernel import KernelFunction

        if self.branches > BRANCHES:
            raise ModelError(f"a closed form of {self.branches} branches has more than {BRANCHES}")
        kernels = program_kernel(branches, self.guided())
        inputs = dict.fromkeys(("T", "free", "p", "guess"), 0)
        return KernelFunction(kernels, inputs, dict.fromkeys(("q", "margin", "residual"), 0))

    @cached_property
    def general(self) -> Extended | None:
        """The general method that is asked where an equation vanishes."""
        return Extended(self.chain) if not self.free and 3 <= self.chain.n < 6 else None

    @cached_property
    def general_of_six(self) -> Any:
        """The general method of six joints, made when it is first asked."""
        from ..general.solver import general_solver

        return general_solver(self.chain, self.free)

    @cached_property
    def _collect(self) -> Any:
        from ...run.kernel import KernelFunction

        k, b, n = self.kmax, self.branches, self.chain.n
        inputs = {"q": b * n, "margin": b, "residual": b, "arm": 0, "room": 2, "filler": n + 1}
        return KernelFunction(collect_all, inputs, {"found": k * n, "error": k, "info": 2})

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Joints that are given, not solved for."""
        held = np.zeros(self.chain.n, bool)
        held[list(self.free)] = True
        return held


def _is_close(
    margin: Array, residual: Array, least: float, most: float, numeric: NumericChain, count: Any
) -> NDArray[np.bool_]:
    """Is a margin of the branches (..., b) near the edge, or is one of them no answer?"""
    clear = ((margin >= most) & (residual < WRONG * numeric.scale)).sum(-1)
    close: NDArray[np.bool_] = ((margin < most) & (margin > least)).any(-1) | (clear > count)
    return close


@cache
def _look_function(most: int, n: int, further: bool) -> Any:
    from ...run.kernel import KernelFunction

    names = ("T", "free", "p", "start", "arm", "robot", "room")
    outputs = {"found": most * n, "notes": 2 + 3 * most}
    return KernelFunction(look, dict.fromkeys(names, 0), outputs, Bound({"FURTHER": further}))


def _inputs(T: Array, free: Array | None, p: Array | None) -> dict[str, Array]:
    found = {"T": T}
    if free is not None:
        found["free"] = free
    if p is not None:
        found["p"] = p
    return found
