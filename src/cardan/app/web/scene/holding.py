"""Torques that hold the robot where it stands, anew with every move of a slider or of the tool.

The model is derived by a job and runs as machine code in the server: a call takes microseconds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ....errors import CardanError
from ....program import Program
from ..server.state import Page

__all__ = ["Holding"]


class Holding:
    """The gravity torques of a page's robot; none while symbols have no value, and of robots whose
    torques are not those of a tree of rigid links on a base that stands."""

    def __init__(self, page: Page, ready: Callable[[], None]) -> None:
        self.page, self.ready = page, ready
        self.function: Callable[..., Any] | None = None
        self.of: tuple[Any, ...] = ()  # the state of the robot that it is of

    def torques(self) -> list[float]:
        """At the joint positions of the page; empty where they are not known."""
        if self.function is None or self.of != self._state():
            return []
        tau = np.asarray(self.function(q=self.page.q), float)
        none = np.abs(tau) <= 1e-14 * np.abs(tau).max(initial=0.0)  # what is left of a sum
        return [float(x) for x in np.where(none, 0.0, tau)]

    def _state(self) -> tuple[Any, ...]:
        return self.page.revision, tuple(sorted(self.page.known_values().items()))

    async def renew(self) -> None:
        """Derive and compile the model of the robot as it is now."""
        page, state = self.page, self._state()
        robot = page.numeric()
        if state == self.of or robot is None or robot.constrained or robot.ne:
            return
        if robot.base.kind != "fixed" or any(joint.elastic for joint in robot.joints):
            return
        question = {"robot": page.text, "values": page.known_values(), "model": "gravity"}
        try:
            answer = await page.ask("program", lambda text: None, **question, options={})
            text = page.jobs.part(answer["key"], "program")
            if text is None:
                return
            function = await asyncio.to_thread(_compiled, json.loads(text), robot.n)
        except (CardanError, asyncio.CancelledError):
            return  # there is nothing to show
        if not page.closed and state == self._state():
            self.function, self.of = function, state
            self.ready()


def _compiled(text: str, n: int) -> Callable[..., Any]:
    function = Program.from_json(text).compile()
    function(q=np.zeros(n))  # compiled when it is first called
    return function
