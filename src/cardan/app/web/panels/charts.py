"""Curves over time and maps of points: with zoom, and to take away as CSV, PNG or SVG."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import ui

from ..server.state import Page

_SOFT = {False: "#57616b", True: "#a0aab4"}  # words, in the light and in the dark
_STRONG = {False: "#1d2730", True: "#eef1f4"}  # the curve that matters most
_AXIS = {"splitLine": {"lineStyle": {"color": "rgba(128,138,149,.25)"}}}
_COLOURS = ["#b5402a", "#2f7fb8", "#3a7d44", "#d9822b", "#6f4fa3", "#00808a", "#a8325e", "#808a95"]
_FONT = '"Inter", -apple-system, "Segoe UI", "Roboto", system-ui, sans-serif'
# zooms with the pointer and Ctrl, so that the page still scrolls over it
_ZOOM = [{"type": "inside", "zoomOnMouseWheel": "ctrl", "filterMode": "none",
          "preventDefaultMouseMove": False}]  # fmt: skip
_SAVE = """
const element = getElement(%d), chart = element.chart, name = %s, face = %s;
const url = chart.getDataURL({ type: 'svg', backgroundColor: face });
const take = (href, file) => {
  const link = document.createElement('a');
  link.href = href; link.download = file; link.click();
};
if (%s) take(url, name + '.svg');
else {
  const picture = new Image();
  picture.onload = () => {
    const sheet = document.createElement('canvas');
    sheet.width = 2 * chart.getWidth(); sheet.height = 2 * chart.getHeight();
    const pen = sheet.getContext('2d');
    pen.fillStyle = face; pen.fillRect(0, 0, sheet.width, sheet.height);
    pen.drawImage(picture, 0, 0, sheet.width, sheet.height);
    take(sheet.toDataURL('image/png'), name + '.png');
  };
  picture.src = url;
}
"""


def chart(
    page: Page, title: str, t: Sequence[float], curves: Mapping[str, Sequence[float]], unit: str,
    *, strong: str = "", limits: Sequence[float] = (),
) -> Any:  # fmt: skip
    """Curves with a legend; `strong` is the one that matters most, `limits` are drawn where they
    are in sight."""
    series: list[dict[str, Any]] = [
        {
            "name": name, "type": "line", "showSymbol": False, "z": 3 if name == strong else 2,
            "lineStyle": {"width": 2.6 if name == strong else 1.5},
            "data": [[float(x), float(y)] for x, y in zip(t, values, strict=True)],
        }
        for name, values in curves.items()
    ]  # fmt: skip
    if limits and series:
        series[0]["markLine"] = {
            "silent": True, "symbol": "none", "label": {"formatter": "limit", "color": "#b5402a"},
            "lineStyle": {"color": "#b5402a", "type": "dashed"},
            "data": [{"yAxis": float(x)} for x in limits],
        }  # fmt: skip
    options = {
        "tooltip": {
            "trigger": "axis", "confine": True,
            ":valueFormatter": f"x => `${{Number(Number(x).toPrecision(4))}} {unit}`",
        },
        "legend": {"type": "scroll", "top": 0, "left": 0, "icon": "roundRect", "itemHeight": 3,
                   "itemWidth": 16},
        "grid": {"left": 56, "right": 24, "top": 34, "bottom": 26},
        "xAxis": {"type": "value", "name": "s", "min": t[0], "max": t[-1], **_AXIS,
                  "axisLabel": {"hideOverlap": True},
                  "axisPointer": {"label": {
                      ":formatter": "p => `${Number(p.value.toPrecision(4))} s`"}}},
        "yAxis": {"type": "value", "scale": True, **_AXIS},
        "dataZoom": _ZOOM, "series": series,
    }  # fmt: skip
    colours = iter(_COLOURS * (1 + len(curves) // len(_COLOURS)))
    own = [None if name == strong else next(colours) for name in curves]

    def table() -> str:
        return _csv({"t": t, **curves})

    def tinted(figure: Any, dark: bool) -> None:
        figure.options["color"] = [colour or _STRONG[dark] for colour in own]

    return _figure(page, f"{title}, {unit}" if unit and unit not in title else title, options,
                   table, tinted)  # fmt: skip


def cloud(page: Page, about: Mapping[str, Any]) -> Any:
    """Points of a plane, coloured by a value."""
    x, y, unit = about["x"], about["y"], about["unit"]
    low = [min(point[k] for point in about["points"]) for k in range(2)]
    high = [max(point[k] for point in about["points"]) for k in range(2)]
    half = 0.53 * max(b - a for a, b in zip(low, high, strict=True)) or 1.0
    ends = [((a + b) / 2 - half, (a + b) / 2 + half) for a, b in zip(low, high, strict=True)]
    axes = [
        {"type": "value", "name": f"{name}, {unit}", "min": a, "max": b, **_AXIS,
         "nameLocation": "middle", "nameGap": 26 if k == 0 else 40,
         "axisLabel": {":formatter": "x => Number(x.toPrecision(3))", "showMinLabel": False,
                       "showMaxLabel": False}}
        for k, (name, (a, b)) in enumerate(zip((x, y), ends, strict=True))
    ]  # fmt: skip
    options = {
        "tooltip": {":formatter": f"p => `{x} ${{p.value[0]}} {unit}<br>{y} ${{p.value[1]}} {unit}"
                                  f"<br>{about['value']} ${{Number(p.value[2].toPrecision(4))}}`"},
        "grid": {"left": 62, "right": 96, "top": 12, "bottom": 46},
        "xAxis": axes[0], "yAxis": axes[1],
        "visualMap": {"min": 0, "max": about["most"] or 1, "right": 0, "top": "middle",
                      "text": ["largest", "0"], "dimension": 2, "itemWidth": 12,
                      "inRange": {"color": ["#440154", "#31688e", "#35b779", "#fde725"]}},
        "series": [{"type": "scatter", "symbolSize": 3, "data": about["points"]}],
    }  # fmt: skip

    def table() -> str:
        names = (x, y, about["value"])
        return _csv(dict(zip(names, zip(*about["points"], strict=True), strict=True)))

    figure = _figure(page, f"{about['title']}, {about['value']}", options, table)
    return figure.classes("map")


def _csv(columns: Mapping[str, Any]) -> str:
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(columns)
    rows.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _figure(
    page: Page, title: str, options: dict[str, Any], table: Callable[[], str],
    tinted: Callable[[Any, bool], None] = lambda figure, dark: None,
) -> Any:  # fmt: skip
    """A chart under its title, with what can be done with it."""
    options |= {"animation": False, "textStyle": {"fontFamily": _FONT}}
    file = "".join(c if c.isalnum() else "_" for c in title.partition(":")[0])[:40].strip("_")
    with ui.column().classes("w-full gap-0 figure-room"):
        with ui.row().classes("w-full items-center no-wrap"):
            ui.label(title).classes("name ellipsis").props["title"] = title
            ui.space()
            whole = ui.button(icon="zoom_out_map").props("flat round dense size=sm")
            whole.props["aria-label"] = whole.props["title"] = "See all (Ctrl and the wheel zooms)"
            save = ui.button(icon="download").props("flat round dense size=sm")
            save.props["aria-label"] = save.props["title"] = f"Save {title}"
        figure = ui.echart(options, renderer="svg").classes("w-full chart")
        figure.props["role"], figure.props["aria-label"] = "img", title

    def picture(svg: bool) -> None:
        face = "#15181c" if page.dark else "#ffffff"
        words = (figure.id, json.dumps(file), json.dumps(face), json.dumps(svg))
        ui.run_javascript(_SAVE % words)

    with save, ui.menu().props("auto-close"):
        ui.menu_item("CSV", lambda: ui.download.content(table(), f"{file}.csv"))
        ui.menu_item("PNG", lambda: picture(False))
        ui.menu_item("SVG", lambda: picture(True))
    whole.on_click(lambda: figure.run_chart_method(
        "dispatchAction", {"type": "dataZoom", "start": 0, "end": 100}))  # fmt: skip
    whole.set_visibility("dataZoom" in options)

    def themed(dark: bool) -> None:
        shown = figure.options  # not those it was made of, which it has copied
        for part in ("legend", "visualMap"):
            if part in shown:
                shown[part]["textStyle"] = {"color": _SOFT[dark]}
        for axis in (shown["xAxis"], shown["yAxis"]):
            axis["axisLabel"] = {**axis.get("axisLabel", {}), "color": _SOFT[dark]}
            axis["nameTextStyle"] = {**axis.get("nameTextStyle", {}), "color": _SOFT[dark]}
        tinted(figure, dark)
        figure.update()

    themed(page.dark)
    page.on_theme(figure, themed)
    return figure
