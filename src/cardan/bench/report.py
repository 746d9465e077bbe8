"""The figures of a comparison: as a table, as JSON, as a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..files import write_atomic

__all__ = ["HEADER", "TRIG", "Report", "Row"]

TRIG = 38  # operations counted for a sine-cosine pair
HEADER = (
    "robot", "model", "system", "call us", "loop ns", "batch ns", "float32 ns", "M/s", "peak %",
    "memory %", "ratio", "made in s", "operations", "difference",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One system on one model of one robot; times in seconds per evaluation."""

    robot: str
    model: str
    system: str
    version: str
    note: str
    call: float  # one state, from Python
    loop: float | None  # one state after the other, in machine code
    batch: float | None
    single: float | None
    generation: float | None
    operations: int | None
    work: float | None  # operations and what sines and cosines stand for
    traffic: int  # bytes read and written per state
    difference: float
    agrees: bool

    @property
    def best(self) -> float:
        """Seconds per evaluation where many are wanted, however the system does it fastest."""
        return min(t for t in (self.call, self.loop, self.batch) if t is not None)


@dataclass(frozen=True)
class Report:
    """Rows, and the limits of the machine measured in the same run."""

    machine: dict[str, str]
    limits: dict[str, float]  # fma64, fma32: operations per second; copy: bytes per second
    rows: tuple[Row, ...]
    absent: dict[str, str]  # peers that were not compared, and why

    def ratio(self, row: Row, kind: str = "best") -> float | None:
        """Time of the fastest peer that agrees, by our time in the same way of asking."""
        rivals = [
            getattr(other, kind)
            for other in self.rows
            if (other.robot, other.model) == (row.robot, row.model)
            and not other.system.startswith("Cardan") and other.agrees
        ]  # fmt: skip
        rivals = [time for time in rivals if time is not None]
        own = getattr(row, kind)
        return min(rivals) / own if rivals and own else None

    def ratios(self, row: Row) -> dict[str, float | None]:
        """To the best peer, in each way of asking, and from our batch to their best."""
        return {kind: self.ratio(row, kind) for kind in ("call", "loop", "best")}

    def peak(self, row: Row) -> float | None:
        """Fraction of the multiply-add rate of one core that the batch reaches."""
        if row.batch is None or row.work is None:
            return None
        return row.work / row.batch / self.limits["fma64"]

    def memory(self, row: Row) -> float | None:
        """Fraction of the copy bandwidth that the batch moves."""
        return None if row.batch is None else row.traffic / row.batch / self.limits["copy"]

    def table(self) -> Iterator[list[str]]:
        """Cells under HEADER."""
        for row in self.rows:
            ours = row.system.startswith("Cardan")
            yield [
                row.robot, row.model, row.system, _figure(row.call, 1e6), _figure(row.loop, 1e9),
                _figure(row.batch, 1e9), _figure(row.single, 1e9), _figure(1 / row.best, 1e-6),
                _figure(self.peak(row), 100), _figure(self.memory(row), 100),
                _figure(self.ratio(row) if ours else None, 1), _figure(row.generation, 1),
                "" if row.operations is None else str(row.operations),
                f"{row.difference:.0e}" if row.agrees else f"{row.difference:.0e} DISAGREES",
            ]  # fmt: skip

    def footnotes(self) -> Iterator[str]:
        yield ", ".join(f"{key} {value}" for key, value in self.machine.items())
        yield (
            f"one core: {self.limits['fma64'] / 1e9:.1f} G multiply-adds counted as two (float64), "
            f"{self.limits['fma32'] / 1e9:.1f} (float32), copy {self.limits['copy'] / 1e9:.1f} GB/s"
        )
        yield (
            "call: one state from Python; loop: state after state in machine code; batch: vectors, "
            f"one thread; peak: operations and {TRIG} per sine-cosine pair, by the multiply-add "
            "rate; ratio: the fastest peer that agrees, in its best way, by our best"
        )
        yield from (f"not compared: {name}: {why}" for name, why in self.absent.items())

    def as_dict(self) -> dict[str, Any]:
        rows = [
            {**asdict(row), "ratios": self.ratios(row), "peak": self.peak(row),
             "memory": self.memory(row)}
            for row in self.rows
        ]  # fmt: skip
        return {"machine": self.machine, "limits": self.limits, "rows": rows, "absent": self.absent}

    def save(self, path: str | Path) -> None:
        """Write the figures as JSON."""
        write_atomic(path, json.dumps(self.as_dict(), indent=1) + "\n")

    def picture(self, path: str | Path) -> None:
        """Time per evaluation of every system, on a logarithmic scale. Needs the extra [plot]."""
        from .picture import draw

        draw(self, path)

    def __str__(self) -> str:
        lines = [list(HEADER), *self.table()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(HEADER))]
        text = "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([text, "", *self.footnotes()])


def _figure(value: float | None, scale: float) -> str:
    return "" if value is None else f"{scale * value:.3g}"
