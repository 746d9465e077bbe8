"""The configurations that reach where the tool was dragged to, over the picture, to choose from."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from nicegui import ui

from ....errors import CardanError
from ....sheets.solids import stand_ins
from ..server.state import Page


class Chooser:
    """'Configuration 3 of 8', with a step to either side; hidden while there is no choice."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.choices = np.zeros((0, 0))
        self.at = 0
        self.task: asyncio.Task[Any] | None = None
        with ui.row().classes("chooser-bar items-center no-wrap") as self.bar:
            _step("chevron_left", "Configuration before", lambda: self._show(self.at - 1))
            self.words = ui.label().classes("hint").props("role=status")
            _step("chevron_right", "Next configuration", lambda: self._show(self.at + 1))
        self.hide()
        page.on_robot(self.hide)
        page.on_motion(self._moved)

    def _moved(self) -> None:
        """The joints were moved by something else: there is no choice any more."""
        if self.bar.visible and not np.array_equal(self.page.q, self.choices[self.at]):
            self.hide()

    def hide(self) -> None:
        if self.task is not None:
            self.task.cancel()
        self.bar.set_visibility(False)

    async def offer(self, q: np.ndarray) -> None:
        """Find the others by inverse geometry, where the robot has one."""
        self.hide()
        robot, page = self.page.robot, self.page
        values = {**stand_ins(robot), **page.values}
        self.task = page.ask("inverse", lambda text: None, robot=page.text, values=values,
                             q=q.tolist(), method="auto")  # fmt: skip
        try:
            answer = await self.task
        except (CardanError, asyncio.CancelledError):
            return
        self.choices = np.array(answer["configurations"], float).reshape(-1, robot.n)
        if len(self.choices) < 2 or page.closed or page.robot is not robot or (page.q != q).any():
            return  # there is no choice, or something else has moved the joints meanwhile
        turns = np.mod(self.choices - q + np.pi, 2 * np.pi) - np.pi
        self.at = int(np.abs(turns).max(axis=1).argmin())
        self._tell()
        self.bar.set_visibility(True)

    def _tell(self) -> None:
        self.words.set_text(f"Configuration {self.at + 1} of {len(self.choices)}")

    def _show(self, at: int) -> None:
        self.at = at % len(self.choices)
        self._tell()
        self.page.move(self.choices[self.at], keep=True)


def _step(icon: str, words: str, work: Any) -> None:
    button = ui.button(icon=icon, on_click=work).props("flat round dense size=sm")
    button.props["aria-label"] = button.props["title"] = words
