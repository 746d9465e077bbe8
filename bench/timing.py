"""Timing: the best of several runs, and a figure with its limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Figure", "best_of"]


@dataclass(frozen=True)
class Figure:
    """A measured value; `limit` is what it must stay below (or above, when `at_least`)."""

    what: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool | None:
        if self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def shown(self) -> str:
        return f"{self.value:.4g} {self.unit}"

    @property
    def shown_limit(self) -> str:
        return "" if self.limit is None else f"{'>=' if self.at_least else '<='} {self.limit:g}"

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def best_of(
    runs: int, work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of the fastest of several runs."""
    best = float("inf")
    for _ in range(runs):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best
