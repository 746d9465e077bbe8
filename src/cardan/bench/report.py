"""The figures of a comparison: as a table, as JSON, as a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError
from ..files import write_atomic
from ..motion.plots import save_figure

_OURS, _OTHERS = "#b5402a", "#6b7a8f"
_KINDS = (("batch", "batch"), ("loop", "loop"), ("call", "Python call"))
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


def draw(report: Report, path: str | Path) -> None:
    """Bars of time per evaluation, one panel per model, as PNG, SVG or PDF by the extension."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("matplotlib", "plot", "the picture") from None

    panels = list(dict.fromkeys((row.robot, row.model) for row in report.rows))
    columns = 3
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(13, 0.6 + 3.3 * lines), layout="constrained")
    FigureCanvasAgg(figure)
    for k, (robot, model) in enumerate(panels, 1):
        axes = figure.add_subplot(lines, columns, k)
        rows = [row for row in report.rows if (row.robot, row.model) == (robot, model)]
        bars = [(label, time, row) for row in rows for label, time in _times(row)]
        bars.sort(key=lambda bar: -bar[1])
        colours = [_OURS if row.system.startswith("Cardan") else _OTHERS for *_, row in bars]
        axes.barh([label for label, *_ in bars], [1e9 * t for _, t, _ in bars], color=colours)
        axes.set_xscale("log")
        axes.set_title(f"{robot.partition(' (')[0]}: {model}", fontsize=9, loc="left")
        axes.set_xlabel("ns per evaluation, one core", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        for place, (_, time, _) in enumerate(bars):
            axes.text(1e9 * time * 1.1, place, f"{1e9 * time:,.0f}", va="center", fontsize=7)
        axes.margins(x=0.2)
    save_figure(figure, path, dpi=110)


def _times(row: Row) -> list[tuple[str, float]]:
    """The ways of asking that say something: generated C is not meant to be called by ctypes."""
    return [
        (f"{row.system}, {words}", time)
        for kind, words in _KINDS
        if (time := getattr(row, kind)) is not None
        and not (kind == "call" and row.system.endswith(" C"))
    ]
