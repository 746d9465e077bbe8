"""The end effector in the user's hand, by its ball, its arrows, its numbers: the robot follows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import CardanError
from .. import WORDS
from ..server.state import Page
from .continuation import reach_for

if TYPE_CHECKING:
    from .view import View


class Hand:
    """Drags and drops of one view."""

    def __init__(self, page: Page, view: View) -> None:
        self.page, self.view = page, view
        self.held = False  # the ball is in the hand
        self.wanted: Any = None  # where it is then: a place, or a pose (4, 4)

    async def dragged(self, event: Any) -> None:
        args = event.args
        if args.get("object_name") == "target":
            await self.pull([float(args[key]) for key in "xyz"])

    async def pull(self, wanted: Any) -> None:
        """Follow to a place or a pose, as long as others come after it."""
        self.wanted = wanted
        if self.held:
            return  # the one below will see to it
        self.held = True
        self.view.player.stop()
        while self.wanted is not None and not self.page.closed:
            place, self.wanted = self.wanted, None
            q = await self._reached(place, 0)
            if self.held and q is not None:
                self.page.move(q)
        self.held = False

    async def dropped(self, event: Any) -> None:
        """The ball was let go: the joints that bring the robot there, and other ways to do so."""
        await self.drop([event.x, event.y, event.z])

    async def drop(self, wanted: Any) -> None:
        self.held, self.wanted = False, None
        q = await self._reached(wanted, 4)
        if q is None:
            self.view.place()  # the ball is where the tool is
            return
        self.page.move(q, keep=True)
        await self.view.chooser.offer(q)

    async def _reached(self, place: Any, restarts: int) -> np.ndarray | None:
        """Joints that bring the tool to a place, or near it; None where there are none, or the
        robot is another one by then."""
        robot, page = self.page.robot, self.page
        try:
            q, there = await asyncio.to_thread(reach_for, page.drawn(), page.q, place, restarts)
        except CardanError as error:
            self.view.say(error.told(WORDS))
            return None
        if robot is not page.robot or page.closed:
            return None
        self.view.say("" if there else "as near as the tool comes")
        return q
