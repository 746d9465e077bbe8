"""One slider per joint, and numbers for the symbols a robot is drawn with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from nicegui import ui

from ...describe.expression import number
from ...describe.robot import FIXED, PRISMATIC, Joint
from ...errors import CardanError
from .drawing import stand_ins
from .state import Page

__all__ = ["Sliders"]


class Sliders:
    """The panel below the scene."""

    def __init__(self, page: Page, say: Any) -> None:
        self.page, self.say = page, say
        self.sliders: list[Any] = []
        self.panel = ui.column().classes("w-full sliders")

    def build(self, size: float) -> None:
        """All sliders anew, for a robot of this size."""
        self.panel.clear()
        self.sliders = []
        robot = self.page.robot
        moving = [joint for joint in robot.joints if joint.sigma != FIXED]
        with self.panel:
            self._symbols()
            for k, joint in enumerate(moving):
                slider = self._slider(k, joint, _range(joint, size))
                slider.set_enabled(joint.active or not robot.loops)
                self.sliders.append(slider)

    def place(self) -> None:
        """Put every slider where the joints are."""
        for slider, value in zip(self.sliders, self.page.q, strict=True):
            if abs(slider.value - value) > 1e-9:
                slider.value = float(value)

    def _slider(self, k: int, joint: Joint, ends: tuple[float, float]) -> Any:
        low, high = ends
        unit = "m" if joint.sigma == PRISMATIC else "rad"
        with ui.row().classes("w-full items-center no-wrap slider-row"):
            ui.label(joint.variable or f"q{k + 1}").classes("name slider-name ellipsis").tooltip(
                joint.name
            )
            slider = ui.slider(min=low, max=high, step=(high - low) / 1000, value=self.page.q[k])
            slider.props("dense").classes("grow")
            slider._props["aria-label"] = f"joint {joint.name}"
            shown = ui.label().classes("figure slider-value")
            shown.bind_text_from(slider, "value", lambda x: f"{x:.3f} {unit}")
        slider.on("update:model-value", lambda event: self._slid(k, event.args), throttle=0.05)
        slider.on("change", lambda: self.page.move(self.page.q, keep=True))
        return slider

    def _slid(self, k: int, value: float) -> None:
        page = self.page
        q = page.q.copy()
        q[k] = value
        if page.robot.loops:
            q = self._closed(q)
        page.move(q)

    def _closed(self, wanted: np.ndarray) -> np.ndarray:
        """Passive joints follow, so that the loops stay closed."""
        from .following import follow

        try:
            found = follow(self.page.drawn(), self.page.q, wanted)
            self.say("")
            return found
        except CardanError as error:
            self.say(str(error))
            return self.page.q

    def _symbols(self) -> None:
        """Symbols of the geometry get a number for the picture."""
        names = stand_ins(self.page.robot)
        if not names:
            return
        with ui.row().classes("items-center symbols"):
            ui.label("Drawn with").classes("hint")
            for name, value in names.items():
                given = number_or(self.page.values.get(name), float(value))
                field = ui.number(name, value=given, step=0.05)
                field.props("dense outlined").classes("symbol")
                field.on("blur", lambda field=field, name=name: self._set(name, field.value))
                field.on("keydown.enter", lambda f=field, name=name: self._set(name, f.value))

    def _set(self, name: str, value: float | None) -> None:
        page = self.page
        if value is None or page.values.get(name) == repr(float(value)):
            return
        page.set_values({**page.values, name: repr(float(value))})


def number_or(text: Any, default: float) -> float:
    """A value that a user gave to a symbol; formulas of other symbols are drawn by the default."""
    try:
        return float(text)
    except (TypeError, ValueError):
        return default


def _range(joint: Joint, size: float) -> tuple[float, float]:
    lower, upper = (
        None if x is None else number(x) for x in (joint.limits.lower, joint.limits.upper)
    )
    wide = max(0.5, 0.5 * size) if joint.sigma == PRISMATIC else math.pi
    low = lower if lower is not None and abs(lower) < 100 else -wide
    high = upper if upper is not None and abs(upper) < 100 else wide
    return float(low), float(max(high, low + 1e-6))
