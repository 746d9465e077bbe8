"""Fewer than six joints by the general method: virtual joints are added, and must come out as zero.

    T = B Z_1 ... X_n Z_n E = B Z_1 ... X_n Z_n  X_v Z_v(0)  E',   E' = (X_v Z_v(0))⁻¹ E

The longer chain has finitely many configurations for a pose; those whose virtual joints are at zero
are the answers. Only some poses have any: that is the consistency condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernel.language import Bound
from ..chain.chain import Chain, ChainJoint, NumericChain, screw_matrix
from ..doubt import Found, arm_table, of_notes
from .few import few_pose
from .kept import Kept, sample_values
from .method import Prepared, prepared
from .records import MOST, MOST_FORMS
from .slides import SLIDING

Array = NDArray[np.float64]
# alpha, d over the robot's size, theta, r over its size: nothing special
VIRTUAL = ((1.1, 0.31, 0.2, 0.17), (-0.9, 0.23, 0.5, -0.29), (1.3, -0.19, -0.4, 0.37))


@dataclass(frozen=True)
class Extended:
    """All configurations of a chain of three to five joints."""

    chain: Chain

    @property
    def count(self) -> int:
        return 6 - self.chain.n

    @cached_property
    def _kept(self) -> Kept[tuple[Prepared, NumericChain]]:
        """The longer chain, and the chain itself."""

        def make(numeric: NumericChain) -> tuple[Prepared, NumericChain]:
            return prepared(self.longer(numeric), self.chain.robot), numeric

        return Kept(self.chain, make)

    def longer(self, chain: NumericChain) -> NumericChain:
        """The chain in floats with virtual joints."""
        size = chain.size
        rows = np.array(VIRTUAL[: self.count]) * [1, size, 1, size]
        tool = chain.tool
        for alpha, d, theta, r in rows:
            step = screw_matrix("x", alpha, d) @ screw_matrix("z", theta, r)
            tool = np.linalg.inv(step) @ tool
        free = np.full(self.count, np.inf)
        return NumericChain(
            sigma=np.concatenate([chain.sigma, np.zeros(self.count, int)]),
            alpha=np.concatenate([chain.alpha, rows[:, 0]]),
            d=np.concatenate([chain.d, rows[:, 1]]),
            theta=np.concatenate([chain.theta, rows[:, 2]]),
            r=np.concatenate([chain.r, rows[:, 3]]),
            base=chain.base,
            tool=tool,
            lower=np.concatenate([chain.lower, -free]),
            upper=np.concatenate([chain.upper, free]),
            beta=np.concatenate([chain.beta, np.zeros(self.count)]),
        )

    def kernel(self, numeric: NumericChain) -> tuple[Any, Array]:
        """The kernel of a chain in floats, and the table of the longer one."""
        made, _ = self._kept.of(numeric)
        return _function(self.chain.n, made.slides), made.table

    def solve(
        self, T: Array, free: Array | None, p: Any, numeric: NumericChain, guess: Array | None
    ) -> Found:
        """Poses (N, 4, 4) -> q (N, 16, n) ..."""
        kernel, table = self.kernel(numeric)
        found = kernel({"T": T.reshape(-1, 16), "robot": table, "arm": _table(numeric)}, len(T))
        answers = of_notes(found["q"].reshape(-1, MOST, self.chain.n), found["notes"])
        # a regular Jacobian is a simple root, whatever two roots nearby may have converged to it
        times = np.where(answers.singular, np.maximum(answers.multiplicity, 1), 1)
        times[np.isnan(answers.residual)] = 0
        return replace(answers, multiplicity=times)

    def one(self, numeric: NumericChain, inputs: dict[str, Array]) -> Callable[[], Array | None]:
        """The configurations of the pose that lies in the inputs; None where no elimination is
        sound."""
        kernel, table = self.kernel(numeric)
        q, notes = np.empty((MOST, self.chain.n)), np.empty(2 + 3 * MOST)
        given = {**inputs, "robot": table, "arm": _table(numeric)}
        run = kernel.bound(given, {"q": q.reshape(-1), "notes": notes})

        def solve() -> Array | None:
            run()
            return None if notes[1] else q[: int(notes[0])].copy()

        return solve

    def some(self, any_values: bool = False) -> tuple[Prepared, Array]:
        """The longer chain as it is prepared already, and the table of the arm itself."""
        made, numeric = self._kept.some(any_values)
        return made, _table(numeric)

    def in_code(self, values: Mapping[str, float]) -> tuple[Prepared, list[float]]:
        """What printed code needs: the longer chain and its table. `values`: of the symbols, if
        there are any; the table is then a Longer of records.py."""
        if not self.chain.parameters:
            made = self.some()[0]
            return made, [float(x) for x in made.table]
        values = {**sample_values(self.chain), **values}
        made = prepared(self.longer(self.chain.numeric(values)), self.chain.robot)
        forms = [way for way in made.chosen if way.trusted][:MOST_FORMS]
        tails = [x for way in forms for x in way.tail(2)]
        virtual = [x for row in VIRTUAL for x in row]
        return made, [float(x) for x in (*virtual, len(forms), *tails)] if forms else []

    def equations(self, form: str = "text") -> str:
        """The elimination for the chain with virtual joints."""
        from .text import elimination

        virtual = [ChainJoint(f"v{k + 1}", 0, 0, 0, 0, 0, 0) for k in range(self.count)]
        longer = replace(self.chain, joints=(*self.chain.joints, *virtual))
        text = elimination(longer, (), self.some(True)[0], form)
        return (
            f"{self.chain.n} joints, and {self.count} virtual at zero (the consistency condition)."
            f"\n\n{text}"
        )


def _table(numeric: NumericChain) -> Array:
    return arm_table(numeric, np.zeros(numeric.n, bool))


@cache
def _function(n: int, slides: bool) -> Any:
    from ...run.kernel import KernelFunction

    outputs = {"q": MOST * n, "notes": 2 + 3 * MOST}
    bound = Bound(SLIDING) if slides else None
    return KernelFunction(few_pose, {"T": 16, "robot": 0, "arm": 0}, outputs, bound)
