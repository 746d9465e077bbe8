"""What the general method makes for a chain in floats, kept for the values it was made for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from ..chain.chain import Chain, NumericChain

Made = TypeVar("Made")


@dataclass(frozen=True)
class Kept(Generic[Made]):
    """Tables made by `make` of a chain in floats; those of the last `room` sets of values stay."""

    chain: Chain
    make: Callable[[NumericChain], Made]
    room: int = 1
    _made: dict[bytes, Made] = field(default_factory=dict, repr=False, compare=False)

    def of(self, numeric: NumericChain | None = None) -> Made:
        """The tables of a chain in floats; default its own values."""
        numeric = self.chain.numeric() if numeric is None else numeric
        key = _key(numeric)
        if key not in self._made:
            if len(self._made) >= self.room:
                self._made.clear()
            self._made[key] = self.make(numeric)
        return self._made[key]

    def some(self, any_values: bool = False) -> Made:
        """What is made already, or of the chain itself; symbols may get any values where only the
        form of the equations matters."""
        if self._made:
            return next(iter(self._made.values()))
        if any_values:  # not kept: code is of the robot's own values
            return self.make(self.chain.numeric(sample_values(self.chain)))
        return self.of()


def _key(numeric: NumericChain) -> bytes:
    """What makes two chains in floats the same."""
    return b"".join(
        np.ascontiguousarray(x, float).tobytes()
        for x in (numeric.sigma, numeric.alpha, numeric.d, numeric.theta, numeric.r, numeric.beta,
                  numeric.base, numeric.tool)
    )  # fmt: skip


def sample_values(chain: Chain) -> dict[str, float]:
    """Values of the symbols of a geometry that are nothing special."""
    rng = np.random.default_rng(0)
    return {name: rng.uniform(0.4, 1.6) for name in chain.parameters}
