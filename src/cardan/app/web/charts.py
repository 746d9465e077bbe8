"""Curves over time."""

from __future__ import annotations

from typing import Any

from nicegui import ui

__all__ = ["chart"]

_SOFT = "#808a95"  # legible on white and in the dark
_AXIS = {
    "axisLabel": {"color": _SOFT},
    "splitLine": {"lineStyle": {"color": "rgba(128,138,149,.25)"}},
}
_COLOURS = ["#808a95", "#b5402a", "#2f7fb8", "#3a7d44", "#d9822b", "#6f4fa3", "#00808a", "#a8325e"]


def chart(title: str, t: list[float], curves: dict[str, list[float]], unit: str) -> Any:
    """A chart with a legend, its axes in SI units."""
    series = [
        {
            "name": name, "type": "line", "showSymbol": False, "lineStyle": {"width": 1.6},
            "data": [[float(x), float(y)] for x, y in zip(t, values, strict=True)],
        }
        for name, values in curves.items()
    ]  # fmt: skip
    return ui.echart(
        {
            "title": {
                "text": title, "left": 0,
                "textStyle": {"fontSize": 13, "fontWeight": 600, "color": _SOFT},
            },
            "color": _COLOURS,
            "textStyle": {"color": _SOFT},
            "tooltip": {"trigger": "axis"},
            "legend": {"type": "scroll", "top": 28, "left": 0, "textStyle": {"color": _SOFT}},
            "grid": {"left": 60, "right": 28, "top": 74, "bottom": 26},
            "xAxis": {"type": "value", "name": "s", "min": t[0], "max": t[-1], **_AXIS},
            "yAxis": {"type": "value", "name": unit, "scale": True, **_AXIS},
            "animation": False,
            "series": series,
        }
    ).classes("w-full chart")  # fmt: skip
