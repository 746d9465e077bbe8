"""Bars of time per evaluation, one panel per model, on a logarithmic scale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MissingExtraError
from ..motion.plots import save_figure

if TYPE_CHECKING:
    from .report import Report, Row

__all__ = ["draw"]

_OURS, _OTHERS = "#b5402a", "#6b7a8f"
_KINDS = (("batch", "batch"), ("loop", "loop"), ("call", "Python call"))


def draw(report: Report, path: str | Path) -> None:
    """The figure as PNG, SVG or PDF by the extension."""
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
