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
from .. import WORDS
from ..jobs.questions import rates
from ..server.state import Page


class Holding:
    """The gravity torques of the drives of a page's robot; of a closed one, those of the active
    joints that carry the others too."""

    def __init__(self, page: Page, ready: Callable[[], None], say: Callable[[str], None]) -> None:
        self.page, self.ready, self.say = page, ready, say
        self.function: Callable[..., Any] | None = None
        self.columns: list[int] = []  # of q, to which the torques belong
        self.of: tuple[Any, ...] = ()  # the state of the robot that it is of

    def torques(self) -> list[float | None]:
        """At the joint positions of the page, one for each, None where there is no drive; empty
        where they are not known."""
        if self.function is None or self.of != self._state():
            return []
        tau = np.asarray(self.function(q=self.page.q), float)
        tau[np.abs(tau) <= 1e-14 * np.abs(tau).max(initial=0.0)] = 0.0  # what is left of a sum
        known = dict(zip(self.columns, tau.tolist(), strict=True))
        return [known.get(k) for k in range(len(self.page.q))]

    def _state(self) -> tuple[Any, ...]:
        return self.page.revision, tuple(sorted(self.page.known_values().items()))

    def lack(self) -> str:
        """Why there are no such torques; nothing where there are."""
        robot = self.page.robot
        if robot.base.kind != "fixed":
            return "nothing holds a base that floats or is moved"
        if robot.ne or any(joint.elastic for joint in robot.joints):
            return "those of robots that bend depend on how they bend, and are not shown here"
        known = self.page.known_values()
        missing = [name for name in robot.parameters if name not in known]
        if missing:
            few = ", ".join(missing[:4]) + f" and {len(missing) - 4} more" * (len(missing) > 4)
            return f"these symbols have no value: {few}"
        return ""

    async def renew(self) -> None:
        """Derive and compile the model of the robot as it is now, or say why there is none."""
        page, state = self.page, self._state()
        if state == self.of:
            return
        if lack := self.lack():
            self.say(f"no torques that hold the robot: {lack}")
            return
        question = {"robot": page.text, "values": page.known_values(), "model": "gravity"}
        columns = rates(page.robot)
        try:
            answer = await page.ask("program", lambda text: None, **question, options={})
            text = page.jobs.part(answer["key"], "program")
            if text is None:
                return
            function = await asyncio.to_thread(_compiled, json.loads(text), page.robot.n)
        except asyncio.CancelledError:
            return
        except CardanError as error:
            self.say(f"no torques that hold the robot: {error.told(WORDS)}")
            return
        if not page.closed and state == self._state():
            self.function, self.of, self.columns = function, state, columns
            self.ready()


def _compiled(text: str, n: int) -> Callable[..., Any]:
    function = Program.from_json(text).compile()
    function(q=np.zeros(n))  # compiled when it is first called
    return function
