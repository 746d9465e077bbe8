"""A button that runs a job, with its progress, its cancel button, its message and its result."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from inspect import isawaitable
from typing import Any

from nicegui import background_tasks, ui

from ....errors import CardanError
from ....version import __version__
from .. import WORDS
from ..server.state import Page

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
        words = f"of {self.about['name'][:60]}, at {clock}"
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
        page.jobs.restore(about["key"], result)  # its files can be taken away
        answer = {**json.loads(result.text), "key": about["key"]}
        with self.result:
            if about["form"] == page.form:
                self.fill(about["question"])
                await self._shown(answer, about, False)
            else:
                words = f"The last result is of {about['name'][:60]}, which had other joints."
                ui.label(words).classes("hint")
