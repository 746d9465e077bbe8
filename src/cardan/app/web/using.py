"""What the models are for: evaluate, inverse geometry, motions, simulation, identification."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui import ui

from ...catalogue import MENU
from ...errors import CardanError
from .cells import say
from .charts import chart
from .state import Page
from .view import View

__all__ = ["using"]

_LAWS = ("quintic", "cubic", "septic", "bang-bang", "trapezoidal")


def using(page: Page, view: View) -> None:
    """The panels of the tab, one below the other."""
    _values(page)
    for title, build in (
        ("Evaluate a model", _evaluate),
        ("Inverse geometry", _inverse),
        ("Torques of a motion", _motion),
        ("Simulate", _simulate),
        ("Identify from a log", _identify),
        ("Natural frequencies", _modes),
    ):
        with ui.expansion(title, icon=_ICONS[title]).classes("w-full use-panel"):
            build(page, view)


_ICONS = {
    "Evaluate a model": "calculate", "Inverse geometry": "route",
    "Torques of a motion": "show_chart", "Simulate": "play_circle",
    "Identify from a log": "analytics", "Natural frequencies": "graphic_eq",
}  # fmt: skip


class Work:
    """A button that runs a job, with its spinner, its cancel button and its message."""

    def __init__(self, page: Page, label: str, start: Callable[[Work], Any]) -> None:
        self.page = page
        self.task: asyncio.Task[Any] | None = None
        with ui.row().classes("items-center"):
            self.button = ui.button(label, on_click=lambda: start(self)).props("no-caps unelevated")
            self.stop = ui.button("Cancel", on_click=self.cancel).props("flat no-caps")
            self.stop.set_visibility(False)
            self.message = ui.label("").classes("hint").props("role=status")

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    def say(self, text: str) -> None:
        self.message.set_text(text)

    async def run(self, function: str, **data: Any) -> dict[str, Any] | None:
        """The result of a job on the robot, or None when there is none; the message says why."""
        self.button.disable()
        self.stop.set_visibility(True)
        self.say("working")
        question = {"robot": self.page.text, "values": self.page.values, **data}
        self.task = asyncio.ensure_future(self.page.jobs.run(function, self.say, **question))
        try:
            found: dict[str, Any] = await self.task
            self.say("")
            return found
        except asyncio.CancelledError:
            self.say("cancelled")
        except CardanError as error:
            self.say(str(error))
        finally:
            self.button.enable()
            self.stop.set_visibility(False)
        return None


def _values(page: Page) -> None:
    """Numbers for the symbols of the robot, which every panel below needs."""

    @ui.refreshable
    def body() -> None:
        names = page.robot.parameters
        if not names:
            return
        with ui.expansion(f"Values of {len(names)} symbols", icon="tune").classes("w-full"):
            given = "\n".join(f"{name} = {page.values.get(name, '')}" for name in names)
            area = ui.textarea(value=given).props("outlined dense rows=8").classes("w-full listing")
            area.on("blur", lambda: _take_values(page, area.value or ""))

    body()
    shown = [page.robot.parameters]

    def again() -> None:
        if shown[0] != page.robot.parameters:
            shown[0] = page.robot.parameters
            body.refresh()

    page.on_robot(again)


def _take_values(page: Page, text: str) -> None:
    values = dict(page.values)
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.partition("="))
        if value and name in page.robot.parameters:
            values[name] = value
        else:
            values.pop(name, None)
    if values != page.values:
        say(page.set_values(values))


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.replace(",", " ").split()]


def _field(label: str, value: Any) -> Any:
    text = ", ".join(f"{x:.6g}" for x in value)
    return ui.input(label, value=text).props("dense").classes("w-full mono")


def _read(field: Any, work: Work) -> list[float] | None:
    try:
        return _numbers(field.value or "")
    except ValueError:
        work.say(f"{field.props.get('label', 'the field')}: numbers with commas are expected")
        return None


def _evaluate(page: Page, view: View) -> None:
    programs = [entry.name for entry in MENU.values() if entry.program]
    choice = ui.select(programs, value="inverse-dynamics", label="Model").classes("w-64")
    qd, qdd = _field("qd", np.zeros(page.robot.n)), _field("qdd or tau", np.zeros(page.robot.n))
    result = ui.column().classes("w-full")

    async def start(work: Work) -> None:
        speeds, more = _read(qd, work), _read(qdd, work)
        if speeds is None or more is None:
            return
        wanted = MENU[choice.value].inputs.partition("(,")[0].replace(" ", "").split(",")
        given = {"q": page.q.tolist(), "qd": speeds, "qdd": more, "tau": more}
        inputs = {name: given[name] for name in wanted if name in given}
        found = await work.run("evaluate", model=choice.value, options={}, inputs=inputs)
        if found is None:
            return
        result.clear()
        with result:
            for name, value in found["outputs"].items():
                with np.printoptions(precision=6, suppress=True, linewidth=110):
                    ui.label(f"{name} =\n{np.array(value)}").classes("listing")

    ui.label("q is where the sliders stand.").classes("hint")
    Work(page, "Evaluate", start)


def _inverse(page: Page, view: View) -> None:
    method = ui.select(["auto", "paul", "pieper", "general"], value="auto", label="Method")
    method.classes("w-40")
    result = ui.column().classes("w-full")

    async def start(work: Work) -> None:
        found = await work.run("inverse", q=page.q.tolist(), method=method.value)
        if found is None:
            return
        q = np.array(found["q"]).reshape(-1, page.robot.n)
        work.say(f"{len(q)} configurations by {found['method']}: {found['reason']}")
        view.show_ghosts(q)
        result.clear()
        with result:
            for k, row in enumerate(q):
                text = f"{k + 1}:  " + "  ".join(f"{x:9.5f}" for x in row)
                ui.button(text, on_click=lambda row=row: page.move(row, keep=True)).props(
                    "flat dense no-caps align=left"
                ).classes("mono configuration")
            with ui.expansion("Equations").classes("w-full"):
                ui.label(found["equations"]).classes("listing")

    ui.label("All configurations that bring the end effector where it is now.").classes("hint")
    Work(page, "Solve", start)


def _motion(page: Page, view: View) -> None:
    target = _field("to", np.full(page.robot.n, 0.5))
    with ui.row():
        duration = ui.number("duration, s", value=1.0, min=0.01).classes("w-32")
        law = ui.select(list(_LAWS), value="quintic", label="law").classes("w-40")
    result = ui.column().classes("w-full")

    async def start(work: Work) -> None:
        end = _read(target, work)
        if end is None:
            return
        start_q = page.q.copy()
        found = await work.run(
            "motion", **{"from": start_q.tolist()}, to=end, duration=duration.value, law=law.value
        )
        if found is None:
            return
        result.clear()
        with result:
            for j, row in enumerate(found["table"]):
                parts = {name: x[j] for name, x in found["parts"].items()}
                title = f"{row['joint']}: peak {row['peak']:.4g}, RMS {row['rms']:.4g}"
                chart(title, found["t"], {"total": found["total"][j], **parts}, row["unit"])
        await view.play(np.array(found["q"]), float(duration.value))
        page.move(start_q)

    ui.label("From where the sliders stand, joint by joint.").classes("hint")
    Work(page, "Compute and play", start)


def _simulate(page: Page, view: View) -> None:
    drive = ui.select(
        {"free": "let go", "torque": "constant torques", "controller": "computed torque to"},
        value="free", label="Drive",
    ).classes("w-56")  # fmt: skip
    numbers = _field("torques, or where to", np.zeros(page.robot.n))
    duration = ui.number("duration, s", value=2.0, min=0.1, max=60).classes("w-32")
    result = ui.column().classes("w-full")

    async def start(work: Work) -> None:
        given = _read(numbers, work)
        if given is None:
            return
        begin = page.q.copy()
        found = await work.run("simulation", q=begin.tolist(), drive=drive.value, tau=given,
                               to=given, duration=duration.value)  # fmt: skip
        if found is None:
            return
        if found["drift"] is not None:
            work.say(f"{found['steps']} steps; energy kept to {found['drift']:.1e}")
        names = page.robot.variables
        result.clear()
        with result:
            columns = np.array(found["q"]).T.tolist()
            chart("positions", found["t"], dict(zip(names, columns, strict=True)), "rad or m")
            chart("velocities", found["t"], dict(zip(names, found["qd"], strict=True)), "per s")
        await view.play(np.array(found["q"]), float(duration.value))

    Work(page, "Simulate", start)


def _identify(page: Page, view: View) -> None:
    kept: dict[str, str] = {}
    recipe = ui.textarea("Recipe (.toml), if columns are not t, q1.., tau1..").classes("w-full")
    recipe.props("outlined dense rows=3")
    result = ui.column().classes("w-full")

    async def take(event: Any) -> None:
        kept["log"] = base64.b64encode(await event.file.read()).decode()
        kept["suffix"] = event.file.name.rpartition(".")[2].lower()[:8]

    async def start(work: Work) -> None:
        if not kept or not kept["suffix"].isalnum():
            work.say("upload a log first: .csv, .parquet, .mat, a ROS bag")
            return
        found = await work.run("identification", recipe=recipe.value or "", **kept)
        if found is None:
            return
        result.clear()
        with result:
            frame = ui.element("iframe").props('sandbox="" title="Report"').classes("report")
            frame._props["srcdoc"] = found["report"]
            ui.button(
                "Download the identified robot",
                on_click=lambda: ui.download.content(found["robot"], "identified.toml"),
            ).props("flat no-caps")

    ui.upload(on_upload=take, auto_upload=True, max_file_size=100_000_000, max_files=1).classes(
        "w-full"
    )
    Work(page, "Identify", start)


def _modes(page: Page, view: View) -> None:
    result = ui.column().classes("w-full")

    async def start(work: Work) -> None:
        found = await work.run("modes", q=page.q.tolist())
        if found is None:
            return
        result.clear()
        with result:
            for key, values in found.items():
                text = ", ".join(f"{x:.4g}" for x in values) or "none"
                ui.label(f"actuators {key}: {text} Hz").classes("listing")

    ui.label("Of robots with flexible links or elastic joints, where the sliders stand.").classes(
        "hint"
    )
    Work(page, "Compute", start)
