"""One slider per joint, and numbers for the symbols a robot is drawn with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui.element import Element

from ....describe.limits import joint_limits, limits_of
from ....describe.robot import FIXED, PRISMATIC, Joint
from ....sheets.solids import stand_ins
from ..server.state import Page

__all__ = ["Sliders"]


class Sliders(Element, component="../parts/sliders.js"):
    """The panel below the scene: one component, whatever the number of joints."""

    def __init__(self, page: Page, say: Any, grabbed: Callable[[], None]) -> None:
        """grabbed: the user takes the joints in hand."""
        super().__init__()
        self.page, self.tell, self.grabbed = page, say, grabbed
        self._props.update(joints=[], symbols=[], values=[])
        self.on("slide", lambda event: self._slid(*event.args), throttle=0.05)
        self.on("drop", lambda event: self._dropped(*event.args))
        self.on("symbol", lambda event: self._set(*event.args))
        self.classes("w-full")

    def build(self, size: float) -> None:
        """All sliders anew, for a robot of this size."""
        robot = self.page.robot
        moving = [joint for joint in robot.joints if joint.sigma != FIXED]
        names = stand_ins(robot)
        self._props.update(
            joints=[
                self._joint(name, joint, size)
                for name, joint in zip(robot.variables, moving, strict=True)
            ],
            symbols=[
                {"name": name, "value": number_or(self.page.values.get(name), float(value))}
                for name, value in names.items()
            ],
            values=self.page.q.tolist(),
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

    def _dropped(self, k: int, value: float, grip: int = 0) -> None:
        """Let go: from now on the slider is where the joint is."""
        self._slid(k, value, keep=True)
        self.run_method("settle", grip)

    def _slid(self, k: int, value: float, keep: bool = False) -> None:
        page = self.page
        if not 0 <= k < len(page.q) or not math.isfinite(value):
            return
        self.grabbed()
        q = page.q.copy()
        q[k] = self._within(k, value)
        if page.robot.constrained:
            q = self._closed(q)
        page.move(q, keep)

    def _within(self, k: int, value: float) -> float:
        """A number that was typed keeps to the limits of the joint, where it has any."""
        low, high = joint_limits(self.page.robot)
        return float(np.clip(value, low[k], high[k]))

    def _closed(self, wanted: np.ndarray) -> np.ndarray:
        """Passive joints follow, so that the loops stay closed."""
        from .continuation import follow_on

        q, there = follow_on(self.page.drawn(), self.page.q, wanted)
        self.tell("" if there else "the loops close up to here")
        return q

    def _set(self, name: str, text: str) -> None:
        page, value = self.page, number_or(text, math.nan)
        if math.isfinite(value) and page.values.get(name) != repr(value):
            page.set_values({**page.values, name: repr(value)})


def number_or(text: Any, default: float) -> float:
    """A value that a user gave to a symbol; formulas of other symbols are drawn by the default."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return default


def _range(joint: Joint, size: float) -> tuple[float, float]:
    lower, upper = limits_of(joint)
    wide = max(0.5, 0.5 * size) if joint.sigma == PRISMATIC else math.pi
    low = lower if abs(lower) < 100 else -wide
    high = upper if abs(upper) < 100 else wide
    return float(low), float(max(high, low + 1e-6))
