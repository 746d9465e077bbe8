"""One slider per joint, and numbers for the symbols a robot is drawn with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui.element import Element

from ....describe.limits import joint_limits, limits_of
from ....describe.robot import FIXED, PRISMATIC, Joint
from ....errors import CardanError
from ....mechanism.coordinates import holonomic
from ....sheets.solids import stand_ins
from ..server.angles import DEGREE
from ..server.angles import names as joint_names
from ..server.quantities import figure
from ..server.state import Page
from .holding import Holding


class Sliders(Element, component="../parts/sliders.js"):
    """The panel below the scene: one component, whatever the number of joints."""

    def __init__(self, page: Page, say: Any, grabbed: Callable[[], None]) -> None:
        """grabbed: the user takes the joints in hand."""
        super().__init__()
        self.page, self.tell, self.grabbed = page, say, grabbed
        self._props.update(joints=[], symbols=[], values=[], degrees=page.degrees, torques=[])
        self.holding = Holding(page, self.place, say)
        self.on("slide", lambda event: self._slid(*event.args), throttle=1 / 40)
        self.on("drop", lambda event: self._dropped(*event.args))
        self.on("type", lambda event: self._typed(*event.args))
        self.on("turn", page.turn_degrees)
        self.on("symbol", lambda event: self._set(*event.args))
        self.classes("w-full")

    def build(self, size: float) -> None:
        """All sliders anew, for a robot of this size."""
        robot = self.page.robot
        moving = [joint for joint in holonomic(robot).joints if joint.sigma != FIXED]
        names = stand_ins(robot)
        self._props.update(
            joints=[
                self._joint(name, joint, size)
                for name, joint in zip(joint_names(robot), moving, strict=True)
            ],
            symbols=[
                {"name": name, "value": self.page.values.get(name, ""), "example": value}
                for name, value in names.items()
            ],
            values=self.page.q.tolist(),
            degrees=self.page.degrees,
        )

    def _joint(self, name: str, joint: Joint, size: float) -> dict[str, Any]:
        low, high = _range(joint, size)
        return {
            "name": name, "title": joint.name, "low": low, "high": high,
            "unit": "m" if joint.sigma == PRISMATIC else "rad",
            "off": not joint.active and self.page.robot.constrained,
        }  # fmt: skip

    def place(self) -> None:
        """Put every slider where the joints are."""
        values = self.page.q.tolist()
        if values != self._props["values"]:
            self._props["values"] = values
        shown = bool(self.page.project.page.get("show-torques"))
        torques = self.holding.torques() if shown else []
        if torques != self._props["torques"]:
            self._props["torques"] = torques

    def _dropped(self, k: int, value: float, grip: int = 0) -> None:
        """Let go: from now on the slider is where the joint is."""
        self._slid(k, value, keep=True)
        self.run_method("settle", grip)

    def _typed(self, k: int, text: str) -> None:
        """A position as it is typed, with or without a unit."""
        if not 0 <= k < len(self.page.q) or not text.strip():
            return
        joint = self._props["joints"][k]
        try:
            value = figure(text, joint["unit"], self.page.degrees)
        except CardanError as error:
            self.tell(f"{joint['name']}: {error}")
            return
        self._slid(k, value, keep=True)
        within = self._within(k, value)
        if within != value:
            self.tell(f"{joint['name']}: {text.strip()[:40]} is beyond its limit, "
                      f"{self._shown(joint, within)}: it stands there")  # fmt: skip

    def _shown(self, joint: dict[str, Any], value: float) -> str:
        turns = joint["unit"] == "rad" and self.page.degrees
        return f"{value * DEGREE:.4g} deg" if turns else f"{value:.4g} {joint['unit']}"

    def _slid(self, k: int, value: float, keep: bool = False) -> None:
        page = self.page
        if not 0 <= k < len(page.q) or not math.isfinite(value):
            return
        self.grabbed()
        self.tell("")
        q = page.q.copy()
        q[k] = self._within(k, value)
        if page.robot.constrained:
            q = self._closed(q)
        page.move(q, keep)

    def _within(self, k: int, value: float) -> float:
        """Within the limits of the joint, where it has any."""
        low, high = joint_limits(self.page.robot)
        return float(np.clip(value, low[k], high[k]))

    def _closed(self, wanted: np.ndarray) -> np.ndarray:
        """Passive joints follow, so that the loops stay closed."""
        from .continuation import follow_on

        q, there = follow_on(self.page.drawn(), self.page.q, wanted)
        self.tell("" if there else "the loops close up to here")
        return q

    def _set(self, name: str, text: str) -> None:
        """Another value of a symbol; none, and it is drawn with an example, where it is empty."""
        values = {key: x for key, x in self.page.values.items() if key != name}
        if text := text.strip():
            values[name] = text
        if values != self.page.values:
            self.tell(self.page.set_values(values))


def _range(joint: Joint, size: float) -> tuple[float, float]:
    lower, upper = limits_of(joint)
    wide = max(0.5, 0.5 * size) if joint.sigma == PRISMATIC else math.pi
    low = lower if abs(lower) < 100 else -wide
    high = upper if abs(upper) < 100 else wide
    return float(low), float(max(high, low + 1e-6))
