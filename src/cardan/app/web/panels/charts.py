"""Curves over time."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from ..server.state import Page

__all__ = ["chart"]

_SOFT = {False: "#57616b", True: "#a0aab4"}  # words, in the light and in the dark
_AXIS = {"splitLine": {"lineStyle": {"color": "rgba(128,138,149,.25)"}}}
_COLOURS = ["#808a95", "#b5402a", "#2f7fb8", "#3a7d44", "#d9822b", "#6f4fa3", "#00808a", "#a8325e"]


def chart(page: Page, title: str, t: list[float], curves: dict[str, list[float]], unit: str) -> Any:
    """A chart with a legend, its axes in SI units."""
    series = [
        {
            "name": name, "type": "line", "showSymbol": False, "lineStyle": {"width": 1.6},
            "data": [[float(x), float(y)] for x, y in zip(t, values, strict=True)],
        }
        for name, values in curves.items()
    ]  # fmt: skip
    figure = ui.echart(
        {
            "title": {"text": title, "left": 0, "textStyle": {"fontSize": 13, "fontWeight": 600}},
            "color": _COLOURS,
            "tooltip": {"trigger": "axis"},
            "legend": {"type": "scroll", "top": 28, "left": 0, "icon": "roundRect",
                       "itemHeight": 3, "itemWidth": 16},
            "grid": {"left": 60, "right": 28, "top": 74, "bottom": 26},
            "xAxis": {"type": "value", "name": "s", "min": t[0], "max": t[-1], **_AXIS},
            "yAxis": {"type": "value", "name": unit, "scale": True, **_AXIS,
                      "nameTextStyle": {"align": "left", "padding": [0, 0, 0, -44]}},
            "animation": False,
            "series": series,
        }
    ).classes("w-full chart")  # fmt: skip

    def themed(dark: bool) -> None:
        _tint(figure.options, _SOFT[dark])
        figure.update()

    themed(page.dark)
    page.on_theme(figure, themed)
    return figure


def _tint(options: dict[str, Any], colour: str) -> None:
    """The colour of all words."""
    options["title"]["textStyle"]["color"] = colour
    options["legend"]["textStyle"] = {"color": colour}
    for axis in ("xAxis", "yAxis"):
        options[axis]["axisLabel"] = {"color": colour}
        options[axis]["nameTextStyle"] = {**options[axis].get("nameTextStyle", {}), "color": colour}
