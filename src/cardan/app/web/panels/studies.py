"""Two studies of a robot: its parameters from a log, its natural frequencies and mode shapes."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from nicegui import ui

from ....errors import CardanError
from ..scene.view import View
from ..server.state import Page
from .cells import say
from .job import Work
from .open import packed

__all__ = ["identify", "modes"]

_LARGEST = 100_000_000  # bytes of a log


def identify(page: Page, view: View) -> None:
    """A log is uploaded; the report is shown in a frame that may run nothing."""
    log: dict[str, Any] = {}
    recipe = ui.textarea("Recipe (.toml), if columns are not t, q1.., tau1..").classes("w-full")
    recipe.props("outlined dense rows=3")

    async def take(event: Any) -> None:
        name = str(event.file.name)
        try:
            log["digest"], log["attached"] = await packed([event.file], _LARGEST)
        except CardanError as error:
            say(str(error))
            return
        log["suffix"] = name.rpartition(".")[2].lower()[:8]
        chosen.set_text(f"{name[-60:]}, {event.file.size() / 1e6:.3g} MB")
        uploader.reset()  # another one may follow

    async def start(work: Work) -> None:
        if not log or not log["suffix"].isalnum():
            work.fail("upload a log first: .csv, .parquet, .mat, a ROS bag")
            return
        await work.run("identification", recipe=recipe.value or "", **log)

    def show(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        frame = ui.element("iframe").props('sandbox="" title="Report"').classes("report")
        frame.props["srcdoc"] = answer["report"]
        ui.button(
            "Download the identified robot",
            on_click=lambda: ui.download.content(answer["robot"], "identified.toml"),
        ).props("flat no-caps")

    def fill(question: Any) -> None:
        recipe.value = question["recipe"]

    uploader = ui.upload(
        label="Drop a log here, or choose one", on_upload=take, auto_upload=True,
        max_file_size=_LARGEST, on_rejected=lambda: say("too large: 100 MB are allowed"),
    )  # fmt: skip
    uploader.props("flat bordered").classes("w-full upload")
    chosen = ui.label("No log yet: .csv, .parquet, .mat or a ROS bag.").classes("hint")
    Work(page, "identification", "Identify", start, show, fill)


def modes(page: Page, view: View) -> None:
    """A line per frequency; a click lets the robot swing in that mode."""
    ui.label("Of robots with flexible links or elastic joints, where the sliders stand.").classes(
        "hint"
    )

    async def start(work: Work) -> None:
        await work.run("modes", q=page.q.tolist(), size=view.size)

    def show(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        work.result.classes("gap-0")
        for key in ("locked", "free"):
            ui.label(f"Actuators {key}").classes("name q-mt-sm")
            for k, mode in enumerate(answer[key]):
                text = f"{k + 1:3d}  {mode['frequency']:10.4g} Hz   {mode['words']}"
                ui.button(text, on_click=lambda mode=mode: _swing(page, view, mode)).props(
                    "flat dense no-caps align=left"
                ).classes("mono configuration")
        ui.button("Hide the shape", on_click=lambda: view.show_lines([])).props(
            "flat dense no-caps"
        )

    Work(page, "modes", "Compute", start, show)


async def _swing(page: Page, view: View, mode: dict[str, Any]) -> None:
    """Let the robot swing in a mode, then show it at both ends of the swing."""
    rest = [np.array(line) for line in mode["rest"]]
    swing = [np.array(line) for line in mode["amplitude"]]

    def at(phase: float) -> list[Any]:
        return [line + phase * step for line, step in zip(rest, swing, strict=True)]

    robot, turn = page.robot, view.take_turn()
    for phase in np.sin(np.linspace(0, 6 * np.pi, 90)):
        if page.robot is not robot or page.closed or not view.has_turn(turn):
            return
        view.show_lines([at(phase)])
        await asyncio.sleep(1 / 30)
    view.show_lines([at(1), at(-1)])
