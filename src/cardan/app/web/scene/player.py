"""A motion played over the picture: play, pause, go to any instant; charts show where it is."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from nicegui import ui
from nicegui.element import Element

_PICTURES = 30  # a second, at most
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
_MARK = """
for (const id of %s) {
  const chart = getElement(id)?.chart;
  if (!chart) continue;
  const x = chart.convertToPixel({ xAxisIndex: 0 }, %g);
  chart.setOption({ graphic: [{ id: 'now', type: 'line', silent: true, z: 9,
    shape: { x1: x, x2: x, y1: 60, y2: chart.getHeight() - 26 },
    style: { stroke: '#808a95', lineWidth: 1.2 } }] });
}
"""


class Player(Element, component="../parts/player.js"):
    """One motion at a time: the latest. `show` is told joint positions and the share of time."""

    def __init__(
        self, show: Callable[[np.ndarray, float], None], ended: Callable[[], None]
    ) -> None:
        super().__init__()
        self.show, self.ended = show, ended
        self.motion = np.zeros((0, 0))
        self.charts: Sequence[Any] = ()
        self.turn = 0  # of the loop that plays
        self._props.update(seconds=0, at=0, playing=False, speed=1.0, loop=False)
        self.on("speed", lambda event: self._paced(float(event.args)))
        self.on("loop", lambda event: self._props.update(loop=bool(event.args)))
        self.on("play", lambda event: self.run() if event.args else self.pause())
        self.on("seek", lambda event: self._seek(float(event.args)), throttle=0.05)
        self.on("end", self._end)

    @property
    def seconds(self) -> float:
        return float(self._props["seconds"])

    def take(self, motion: np.ndarray, seconds: float, charts: Sequence[Any] = ()) -> None:
        """Another motion: joint positions (N, n) at equal steps of time."""
        self.turn += 1
        self.motion, self.charts = motion, charts
        self._props.update(seconds=seconds, at=0, playing=False)

    def stop(self) -> None:
        """Nothing is played any more."""
        self.turn += 1
        if self.seconds:
            self._props.update(seconds=0, at=0, playing=False)

    def pause(self) -> None:
        self.turn += 1
        self._props["playing"] = False

    async def run(self) -> None:
        """Play from where it stands, or from the start again; on a busy machine pictures are left
        out."""
        self.turn += 1
        turn, loop = self.turn, asyncio.get_running_loop()
        at = float(self._props["at"])
        speed = float(self._props["speed"])
        start = loop.time() - (0.0 if at >= self.seconds else at) / speed
        self._props["playing"] = True
        told = -1.0
        while turn == self.turn and not self.is_deleted:
            t = min(speed * (loop.time() - start), self.seconds)
            last = t >= self.seconds
            if last and self._props["loop"]:
                start, last = loop.time(), False
            self._place(t, mark=last or t - told > 0.12)
            told = t if last or t - told > 0.12 else told
            if last:
                self._props["playing"] = False
                return
            await asyncio.sleep(1 / _PICTURES)

    async def _paced(self, speed: float) -> None:
        """Faster or slower from now on."""
        if speed in SPEEDS:
            self._props["speed"] = speed
            if self._props["playing"]:
                await self.run()

    def _place(self, t: float, mark: bool = True) -> None:
        share = t / self.seconds if self.seconds else 0.0
        if not len(self.motion) or not math.isfinite(share):
            return
        share = min(max(share, 0.0), 1.0)
        self.show(self.motion[round(share * (len(self.motion) - 1))], share)
        if mark:
            self._props["at"] = t
            ids = [chart.id for chart in self.charts if not chart.is_deleted]
            if ids:
                with self:
                    ui.run_javascript(_MARK % (ids, t))

    def _seek(self, t: float) -> None:
        self.pause()
        self._place(t)

    def _end(self) -> None:
        self.stop()
        self.ended()
