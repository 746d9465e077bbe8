"""A button that runs a job, with its progress, its cancel button, its message and its result."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import Any

import numpy as np
from nicegui import background_tasks, ui

from ....errors import CardanError
from ....version import __version__
from .. import WORDS
from ..server.angles import factors
from ..server.state import Page

__all__ = ["Work", "field", "listed", "numbers_of", "pinned", "put", "read", "target"]

Show = Callable[["Work", dict[str, Any], dict[str, Any], bool], Any]


class Work:
    """One line: start, cancel, what is going on; below it the result, and what it is of.

    `show(work, result, question, fresh)` draws a result; the last one of each panel is kept with
    the project, and `fill(question)` puts what was asked for back into the form."""

    def __init__(
        self, page: Page, panel: str, label: str, start: Callable[[Work], Any], show: Show,
        fill: Callable[[dict[str, Any]], None] = lambda question: None,
    ) -> None:  # fmt: skip
        self.page, self.panel, self.show, self.fill = page, panel, show, fill
        self.task: asyncio.Task[Any] | None = None
        self.about: dict[str, Any] = {}  # what the result is of
        with ui.row().classes("items-center work"):
            self.button = ui.button(label, on_click=lambda: start(self)).props("no-caps unelevated")
            self.busy = ui.spinner(size="1.4em")
            self.stop = ui.button("Cancel", on_click=self.cancel).props("flat no-caps")
            self.message = ui.label("").classes("hint").props("role=status")
        self.mark = ui.label("").classes("hint mark").props("role=status")
        self.result = ui.column().classes("w-full")
        self._running(False)
        if interrupted := page.interrupted(panel):
            self.fail(interrupted)
        page.on_robot(self._age, self.result)
        background_tasks.create(self._found_again(), name="result")

    def _running(self, on: bool) -> None:
        if self.gone:
            return
        self.button.set_enabled(not on)
        self.stop.set_visibility(on)
        self.busy.set_visibility(on)

    @property
    def gone(self) -> bool:
        """The page was left, or the panel was made anew for another robot."""
        return self.page.closed or bool(self.button.is_deleted)

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    def say(self, text: str) -> None:
        if not self.gone:
            self.message.set_text(text)
            self.message.classes(remove="error")

    def fail(self, text: str) -> None:
        """Say why there is no result."""
        if not self.gone:
            self.message.set_text(text)
            self.message.classes("error")

    async def run(self, function: str, attached: bytes | None = None, **question: Any) -> None:
        """Ask for a job on the robot and show its result; where there is none the message says
        why."""
        page, about = self.page, self.page.about(question)
        self._running(True)
        self.say("starting")
        page.begin(self.panel)
        self.task = page.ask(function, self.say, robot=page.text, values=about["values"],
                             attached=attached, **question)  # fmt: skip
        try:
            answer: dict[str, Any] = await self.task
        except asyncio.CancelledError:
            changed = about["form"] != page.form
            self.say("the robot has changed meanwhile: start again" if changed else "cancelled")
            return
        except CardanError as error:
            self.fail(error.told(WORDS))
            return
        finally:
            self._running(False)
            page.end(self.panel)
        if self.gone or about["form"] != page.form:
            return
        self.say("")
        result = page.jobs.result(answer["key"])
        if page.results and result:
            about |= {"key": answer["key"], "version": __version__}
            page.results.keep(page.project.path.stem, self.panel, about, result)
        await self._shown(answer, about, True)

    async def _shown(self, answer: dict[str, Any], about: dict[str, Any], fresh: bool) -> None:
        self.about = about
        self._age()
        self.result.clear()
        with self.result:
            drawing = self.show(self, answer, about["question"], fresh)
            if isawaitable(drawing):
                await drawing

    def _age(self) -> None:
        """Say what the result is of, and whether the robot has changed since."""
        if not self.about or self.gone:
            return
        since = self.page.since(self.about)
        at = time.localtime(self.about["time"])
        today = at[:3] == time.localtime()[:3]
        clock = time.strftime("%H:%M" if today else "%d %b %Y %H:%M", at)
        words = f"{self.about['name'][:60]}, revision {self.about['revision']}, {clock}"
        self.mark.set_text(f"Stale, {since}: {words}" if since else words)
        self.mark.classes(**{"add" if since else "remove": "stale"})

    async def _found_again(self) -> None:
        """The last result, after a reload, a restart of the server or a change of the robot."""
        page = self.page
        if page.results is None:
            return
        last = await asyncio.to_thread(page.results.find, page.project.path.stem, self.panel)
        if last is None or self.gone or self.about or self.task is not None:
            return
        about, result = last
        if about.get("version") != __version__:
            return
        answer = {**json.loads(result.text), "key": about["key"]}
        with self.result:
            if about["form"] == page.form:
                self.fill(about["question"])
                await self._shown(answer, about, False)
            else:
                words = f"The last result is of {about['name'][:60]}, which had other joints."
                ui.label(words).classes("hint")


def field(label: str, value: Any, scale: Any = 1.0) -> Any:
    """A vector as numbers with commas; one stands for all. What is shown is the value, in SI units,
    times the scale."""
    source = ui.input(label).props("dense").classes("w-full mono")
    source.scale = np.atleast_1d(scale)  # type: ignore[attr-defined]
    put(source, value)
    return source


def put(source: Any, value: Any) -> None:
    """Show a vector, in SI units, in its field."""
    x = np.array(value, float)
    source.value = listed((x * _scale(source, x.size)).tolist())


def _scale(source: Any, count: int) -> np.ndarray:
    """Of so many numbers; those that come after the joints, elastic coordinates, have none."""
    scale: np.ndarray = source.scale
    if len(scale) == 1:
        return np.repeat(scale, count)
    return np.pad(scale, (0, max(0, count - len(scale))), constant_values=1.0)[:count]


def listed(value: Any) -> str:
    """Numbers with commas; one where all are the same, which is read as such."""
    same = len(value) > 1 and all(x == value[0] for x in value)
    return ", ".join(f"{x:.6g}" for x in (value[:1] if same else value))


def pinned(
    label: str, value: Any, words: str, now: Callable[[], Sequence[float]], scale: Any = 1.0
) -> Any:
    """A field with a button that fills in how it is now."""
    source = field(label, value, scale)
    with source.add_slot("append"):
        button = ui.button(icon="pin_drop", on_click=lambda: put(source, now()))
        button.props("flat round dense size=sm")
        button.props["aria-label"] = button.props["title"] = words
    return source


def target(page: Page, label: str, value: Any, columns: Sequence[int]) -> Any:
    """A field for positions, which a button takes from the sliders."""
    return pinned(
        label, value, "Take where the sliders stand", lambda: page.q[list(columns)].tolist(),
        factors(page.robot, page.degrees, columns),
    )  # fmt: skip


def numbers_of(text: str) -> list[float] | None:
    """Finite numbers with commas or blanks between; None where there are others."""
    try:
        numbers = [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def read(source: Any, work: Work, count: int | None = None) -> list[float] | None:
    """So many numbers of a field, or one for all, in SI units; None, and a message, where it has
    others."""
    text = source.value or ""
    numbers = numbers_of(text)
    if numbers is None:
        work.fail(f"'{text[:60]}': finite numbers with commas are expected")
        return None
    if len(numbers) == 1 and (count is not None or np.ptp(source.scale)):
        numbers *= len(source.scale) if count is None else count
    if count is not None and len(numbers) != count:
        work.fail(f"'{text[:60]}': {count} numbers are needed, or one for all")
        return None
    return [float(x) for x in np.array(numbers) / _scale(source, len(numbers))]
