"""Simulate: what drives the robot, where it starts and how fast; then charts, and it moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from nicegui import ui

from ....control.names import LAWS, fitting
from ..jobs.questions import driven, rates
from ..scene.view import View
from ..server.angles import DEGREE, factors, unit
from ..server.state import Page
from .charts import chart
from .job import Work, field, put, read, target

__all__ = ["seconds_of", "simulate"]

_DRIVES = {  # those of `cardan simulate`
    "free": "let go",
    "torque": "constant torques",
    **{name: f"{law.words} to" for name, law in LAWS.items()},
    "prescribed": "moved as prescribed to",
}


def simulate(page: Page, view: View) -> None:
    """The form, and what it gives."""
    form = _Form(page)

    async def start(work: Work) -> None:
        question = form.question(work)
        if question is not None:
            view.take_pose()
            await work.run("simulation", q=page.q.tolist(), **question)

    async def show(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        await _simulated(page, view, work, answer, question["duration"], fresh)

    Work(page, "simulation", "Simulate", start, show, form.fill)


class _Form:
    """What is asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        robot = page.robot
        self.driven, self.rates = driven(robot), rates(robot)
        fit = fitting(robot)
        offered = {key: x for key, x in _DRIVES.items() if key not in LAWS or key in fit}
        ui.label("From where the sliders stand.").classes("hint")
        with ui.row().classes("items-end"):
            self.drive = ui.select(offered, value="free", label="Drive").classes("w-64")
            self.bandwidth = ui.number("bandwidth, rad/s", value=10.0, min=0.1, max=1000)
            self.duration = ui.number("duration, s", value=2.0, min=0.01, max=60)
        for one in (self.bandwidth, self.duration):
            one.classes("w-32").props("dense")
        self.drive.props("dense").on_value_change(self._shown)
        zero = np.zeros(len(self.driven))
        self.torques = field(f"torques, N m or N: {self._names(self.driven)}", zero)
        degrees = page.degrees
        turn, angle = (DEGREE, "deg") if degrees else (1.0, "rad")
        positions = f"positions, {unit(robot, degrees, self.driven)}: {self._names(self.driven)}"
        self.goal = target(page, positions, zero, self.driven)
        speeds = f"{unit(robot, degrees, self.rates, '/s')}: {self._names(self.rates)}"
        self.speed = field(f"first velocities, {speeds}", np.zeros(len(self.rates)),
                           factors(robot, degrees, self.rates))  # fmt: skip
        self.twist = field(f"first velocity of the base, in its axes, m/s and {angle}/s: vx .. wz",
                           np.zeros(6), [1, 1, 1, turn, turn, turn])  # fmt: skip
        self.twist.set_visibility(robot.base.kind == "floating")
        self._shown()

    def _names(self, columns: list[int]) -> str:
        return ", ".join(self.page.robot.variables[k] for k in columns)

    def _shown(self) -> None:
        drive = self.drive.value
        self.bandwidth.set_visibility(drive in LAWS)
        self.torques.set_visibility(drive == "torque")
        self.goal.set_visibility(drive not in ("free", "torque"))
        self.speed.set_visibility(drive != "prescribed" and bool(self.rates))

    def question(self, work: Work) -> dict[str, Any] | None:
        """Positions aside; None, and a message, where something cannot be read."""
        seconds = seconds_of(self.duration, work)
        question: dict[str, Any] = {"drive": self.drive.value, "duration": seconds}
        fields = {"numbers": self.torques if self.torques.visible else self.goal,
                  "qd": self.speed, "twist": self.twist}  # fmt: skip
        counts = {"numbers": len(self.driven), "qd": len(self.rates), "twist": 6}
        for key, one in fields.items():
            question[key] = read(one, work, counts[key]) if one.visible else []
        if self.bandwidth.visible:
            question["bandwidth"] = self.bandwidth.value
        if seconds is None or None in question.values():
            if question.get("bandwidth", 1) is None:
                work.fail("the bandwidth must be a positive number, in rad/s")
            return None
        return question

    def fill(self, question: dict[str, Any]) -> None:
        """What was asked for last."""
        if question["drive"] not in self.drive.options:
            return
        self.drive.value = question["drive"]
        self.duration.value = question["duration"]
        self.bandwidth.value = question.get("bandwidth", self.bandwidth.value)
        numbers = self.torques if question["drive"] == "torque" else self.goal
        for key, one in (("qd", self.speed), ("twist", self.twist), ("numbers", numbers)):
            if question.get(key):
                put(one, question[key])


async def _simulated(
    page: Page, view: View, work: Work, answer: dict[str, Any], seconds: float, fresh: bool
) -> None:
    """What a simulation gives, in charts and as it moves."""
    drift = answer["drift"]
    conserved = "" if drift is None else f"; energy kept to {drift:.1e}"
    work.say(f"{answer['steps']} steps{conserved}")
    again = ui.button("Play", icon="play_arrow").props("flat dense no-caps")
    charts = _plots(page, answer)

    async def play() -> None:
        await view.play(np.array(answer["q"]), seconds, answer["curves"], charts, answer["base"])

    again.on_click(play)
    if fresh:
        await play()


def seconds_of(duration: Any, work: Work) -> float | None:
    """How long it lasts; None, and a message, where that is not given."""
    if duration.value is None or not 0 < duration.value <= 3600:
        work.fail("the duration must be a positive number of seconds")
        return None
    return float(duration.value)


def _plots(page: Page, answer: dict[str, Any]) -> list[Any]:
    """Everything over time that a simulation gives."""
    t, names, robot = answer["t"], answer["names"], page.robot
    scale = factors(robot, page.degrees)
    q, qd = np.array(answer["q"]) * scale, np.array(answer["qd"]).T * scale
    parts = [
        ("positions", dict(zip(names, q.T, strict=True)), unit(robot, page.degrees)),
        ("velocities", dict(zip(names, qd.T, strict=True)), unit(robot, page.degrees, tail="/s")),
    ]
    if answer["base"]:
        places = np.array(answer["base"])[:, :3, 3].T
        parts.append(("place of the base", dict(zip("xyz", places, strict=True)), "m"))
    if answer["elastic"]:
        bent = {f"e{k}": x for k, x in enumerate(answer["elastic"], 1)}
        parts.append(("elastic coordinates", bent, "m or rad"))
    if np.any(answer["tau"]):
        parts.append(
            ("torques", dict(zip(answer["driven"], answer["tau"], strict=True)), "N m or N")
        )
    if answer["energies"]:
        parts.append(("energies", answer["energies"], "J"))
    return [chart(page, title, t, curves, unit) for title, curves, unit in parts if curves]
