"""A button that runs a job, with its progress, its cancel button and its message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nicegui import ui

from ...errors import CardanError
from .state import Page

__all__ = ["Work", "field", "read"]


class Work:
    """One line: start, cancel, what is going on; `result` is the room below it."""

    def __init__(self, page: Page, label: str, start: Callable[[Work], Any]) -> None:
        self.page = page
        self.task: asyncio.Task[Any] | None = None
        with ui.row().classes("items-center work"):
            self.button = ui.button(label, on_click=lambda: start(self)).props("no-caps unelevated")
            self.busy = ui.spinner(size="1.4em")
            self.stop = ui.button("Cancel", on_click=self.cancel).props("flat no-caps")
            self.message = ui.label("").classes("hint").props("role=status")
        self.result = ui.column().classes("w-full")
        self._running(False)

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

    async def run(self, function: str, **data: Any) -> dict[str, Any] | None:
        """The result of a job on the robot, or None when there is none; the message says why."""
        self._running(True)
        self.say("starting")
        robot = self.page.robot
        question = {"robot": self.page.text, "values": self.page.values, **data}
        self.task = self.page.ask(function, self.say, **question)
        try:
            found: dict[str, Any] = await self.task
            if robot is self.page.robot and not self.gone:
                self.say("")
                return found
            self.fail("the robot has changed meanwhile: start again")
        except asyncio.CancelledError:
            self.say("cancelled")
        except CardanError as error:
            self.fail(str(error))
        finally:
            self._running(False)
        return None


def field(label: str, value: Any) -> Any:
    """A vector as numbers with commas."""
    text = ", ".join(f"{x:.6g}" for x in value)
    return ui.input(label, value=text).props("dense").classes("w-full mono")


def read(source: Any, work: Work) -> list[float] | None:
    """The numbers of a field; None, and a message, where there are none."""
    text = source.value or ""
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        work.fail(f"'{text[:60]}': numbers with commas are expected")
        return None
