"""What a job answers, shown: each part of an answer in its way, whatever job it is of.

says, warnings, fails  words;  values  matrices;  tables  rows;  charts  over t;  maps  points
q  a motion to be played;  configurations  to choose from;  modes  to swing in
texts  to unfold;  files  to download;  report  a page;  robot  to be used here"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from nicegui import ui

from ....describe.files import accepted, read_bytes
from ....errors import CardanError
from .. import WORDS
from ..scene.view import PALETTE, View
from ..server.angles import factors, names, unit
from ..server.state import Page
from .cells import say
from .charts import chart, cloud

if TYPE_CHECKING:
    from .job import Work

_GHOSTS = 16  # configurations drawn at once: 128 of a platform hide each other and take long


async def show(page: Page, view: View, work: Work, answer: dict[str, Any], fresh: bool) -> None:
    """Every part that an answer has."""
    if answer.get("fails"):
        work.fail(answer["fails"])
    else:
        work.say(answer.get("says", ""))
    for warning in answer.get("warnings", []):
        ui.label(warning).classes("error").props("role=status")
    _downloads(page, answer)
    play = _Play(view, answer) if answer.get("q") and answer.get("t") else None
    if "robot" in answer:
        _use_here(page, answer["robot"])
    for name, value in answer.get("values", {}).items():
        words = ui.label(f"{name} =\n{matrix(np.array(value, float))}").classes("listing matrix")
        words.props(f'tabindex=0 role=group aria-label="{name}"')
    for table in answer.get("tables", []):
        _table(**table)
    if "configurations" in answer:
        _configurations(page, view, np.array(answer["configurations"]), fresh)
    if "modes" in answer:
        _modes(page, view, answer["modes"])
    for about in answer.get("maps", []):
        cloud(page, about)
    for about in answer.get("charts", []):
        figure = _chart(page, about, answer.get("t", []))
        if figure is not None and play is not None:
            play.charts.append(figure)
    for title, text in answer.get("texts", {}).items():
        with ui.expansion(title).props("dense").classes("w-full"):
            ui.label(text).classes("listing")
    if "report" in answer:
        with ui.expansion("Report", value=True).props("dense").classes("w-full"):
            frame = ui.element("iframe").props('sandbox="" title="Report"').classes("report")
            frame.props["srcdoc"] = answer["report"]
    if fresh and play is not None:
        await play()


def _downloads(page: Page, answer: dict[str, Any]) -> None:
    def take(name: str) -> None:
        part = page.jobs.part(answer["key"], name)
        if part is None:
            say("this is not kept any more: start the work again")
            return
        ui.download.content(base64.b64decode(json.loads(part)), f"{page.stem}-{name}")

    with ui.row().classes("downloads"):
        for name, words in answer.get("files", {}).items():
            _small(f"{words}: {name}", partial(take, name)).props("icon=download")


class _Play:
    """A button that plays the motion of an answer."""

    def __init__(self, view: View, answer: dict[str, Any]) -> None:
        self.view, self.answer = view, answer
        self.seconds = float(answer["t"][-1] - answer["t"][0])
        self.charts: list[Any] = []
        _small("Play", self).props("icon=play_arrow")

    async def __call__(self) -> None:
        answer = self.answer
        await self.view.play(np.array(answer["q"]), self.seconds, answer.get("curves", ()),
                             self.charts, answer.get("base", ()))  # fmt: skip


def _chart(page: Page, about: dict[str, Any], t: list[float]) -> Any:
    """A chart of an answer; positions and velocities of joints are shown as the page shows
    angles."""
    curves, quantity, words = about["curves"], about.get("quantity", ""), about.get("unit", "")
    if not curves:
        return None
    if quantity:
        scale = dict(zip(page.robot.variables, factors(page.robot, page.degrees), strict=True))
        one = about.get("of", "")
        curves = {name: (np.array(x) * scale.get(one or name, 1.0)).tolist()
                  for name, x in curves.items()}  # fmt: skip
        own = [page.robot.variables.index(one)] if one in page.robot.variables else None
        words = unit(page.robot, page.degrees, own, "/s" if quantity == "qd" else "")
    called = dict(zip(page.robot.variables, names(page.robot), strict=True))
    curves = {called.get(name, name): x for name, x in curves.items()}
    title = " ".join(called.get(word, word) for word in about["title"].split(" "))
    return chart(page, title, about.get("t", t), curves, words,
                 strong=about.get("strong", ""), limits=about.get("limits", ()))  # fmt: skip


def _table(heads: list[str], rows: list[list[str]], title: str = "") -> None:
    if title:
        ui.label(title).classes("name")
    with ui.element("div").classes("table-scroll"), ui.element("table").classes("facts"):
        if any(heads):
            with ui.element("thead"), ui.element("tr"):
                for head in heads:
                    with ui.element("th").props("scope=col"):
                        ui.label(head)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for k, cell in enumerate(row):
                        with ui.element("td" if k else "th").props("" if k else "scope=row"):
                            ui.label(cell)


def _use_here(page: Page, text: str) -> None:
    def use() -> None:
        try:
            robot, _ = read_bytes(text.encode(), "robot.toml")
            message = page.change(accepted(robot, []))
        except CardanError as error:
            message = error.told(WORDS)
        say(message)
        if not message:
            ui.notify("the page has the identified robot now; undo brings the other one back",
                      position="top", timeout=4000)  # fmt: skip

    with ui.row():
        ui.button("Use it here", on_click=use).props("no-caps unelevated dense")
        _small("Download the identified robot",
               lambda: ui.download.content(text, "identified.toml"))  # fmt: skip


def _configurations(page: Page, view: View, q: np.ndarray, fresh: bool) -> None:
    """A line per configuration, in the colour that it is drawn in: to point at one shows it alone,
    a click takes it."""
    if not len(q):
        return
    q = q.reshape(-1, page.robot.n)
    some = q[:_GHOSTS]
    words = "Draw them" if len(some) == len(q) else f"Draw the first {_GHOSTS}"
    drawn = ui.checkbox(words, value=fresh).props("dense")

    def draw(only: int | None = None) -> None:
        if only is not None:
            view.show_ghosts(q, only)
        elif drawn.value:
            view.show_ghosts(some)
        else:
            view.hide_ghosts()

    drawn.on_value_change(lambda: draw())
    with ui.element("div").classes("configurations"):
        shown = np.arange(page.robot.n)
        if page.robot.constrained:  # many joints: first those that tell configurations apart
            shown = np.argsort(np.ptp(q, axis=0) < 1e-6, kind="stable")
        heads = [names(page.robot)[k] for k in shown]
        wide = max(9, *(len(name) for name in heads))
        words = "  ".join(f"{name:>{wide}}" for name in heads)
        ui.label(f"{'':5}{words}  {unit(page.robot, page.degrees)}").classes(
            "mono configuration-head"
        )
        digits = 3 if page.degrees else 5
        values = (q * factors(page.robot, page.degrees)).round(digits)[:, shown] + 0.0
        for k, row in enumerate(values):
            text = f"{k + 1:3}  " + "  ".join(f"{x:{wide}.{digits}f}" for x in row)
            line = ui.button(text, on_click=lambda k=k: _take(page, q[k]))
            line.props("flat dense no-caps align=left").classes("mono configuration")
            line.style(f"--swatch: {PALETTE[k % len(PALETTE)]}")
            for event in ("mouseenter", "focus"):
                line.on(event, lambda k=k: draw(k), throttle=0.1)
            for event in ("mouseleave", "blur"):
                line.on(event, lambda: draw())
    if fresh:
        draw()
        view.look(q)


def _take(page: Page, q: np.ndarray) -> None:
    if len(q) == page.robot.n:  # it may be of an earlier state of the robot
        page.move(q, keep=True)


def _modes(page: Page, view: View, modes: dict[str, Any]) -> None:
    """A line per frequency; a click lets the robot swing in that mode, as far as the slider says,
    until it is stopped."""
    with ui.row().classes("items-center w-full no-wrap"):
        ui.label("Amplitude").classes("hint")
        amplitude = ui.slider(min=0, max=2, step=0.05, value=1).classes("col")
        amplitude.props["aria-label"] = "Amplitude of the swing"
        _small("Stop and hide", lambda: view.hide_ghosts())
    for key in ("locked", "free"):
        ui.label(f"Actuators {key}").classes("name q-mt-sm")
        for k, mode in enumerate(modes[key]):
            text = f"{k + 1:3d}  {mode['frequency']:10.4g} Hz   {mode['words']}"
            swing = lambda mode=mode: view.swing(mode, lambda: float(amplitude.value))  # noqa: E731
            ui.button(text, on_click=swing).props("flat dense no-caps align=left").classes(
                "mono configuration plain"
            )


def _small(words: str, work: Callable[[], Any]) -> Any:
    return ui.button(words, on_click=work).props("flat dense no-caps")


def matrix(x: np.ndarray) -> str:
    """Numbers with six digits, small ones too; rounding that is left of a sum is zero."""
    x = np.where(np.abs(x) <= 1e-15 * np.abs(x).max(initial=0), 0.0, x)
    words = [f"{number:.6g}" for number in x.ravel()]
    wide = max(map(len, words), default=0)
    return np.array2string(
        x, max_line_width=100_000, threshold=100_000,
        formatter={"float_kind": lambda number: f"{number:>{wide}.6g}"},
    )  # fmt: skip
