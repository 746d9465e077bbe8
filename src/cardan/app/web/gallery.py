"""The bundled robots: picture, tables, counts and source of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from ...describe.bundled import bundled, robots
from ...describe.files import dumps
from ...describe.robot import Robot
from ...errors import CardanError
from ..published import kind_of, published
from .editing import structure
from .jobs import Jobs
from .sketch import sketch
from .store import Project
from .style import STYLE

__all__ = ["build"]


def build(project: Callable[[], Project], jobs: Jobs) -> None:
    """Cards; one click opens the robot in the page."""
    ui.add_css(STYLE)
    ui.colors(primary="#2b5d8a", secondary="#5c6670", accent="#b5402a", negative="#b5402a")
    ui.dark_mode(project().page.get("dark"))
    with ui.header().classes("header items-center"):
        ui.label("Cardan").classes("brand")
        ui.button("Back", icon="arrow_back", on_click=lambda: ui.navigate.to("/")).props(
            "flat dense no-caps"
        )
        ui.label(f"{len(robots())} bundled robots").classes("title")
    with ui.element("div").classes("gallery-page"), ui.element("div").classes("gallery"):
        for name in robots():
            _card(name, bundled(name), project, jobs)


def _card(name: str, robot: Robot, project: Callable[[], Project], jobs: Jobs) -> None:
    def open_it() -> None:
        found = project()
        found.page.pop("q", None)
        found.change(robot)
        ui.navigate.to("/")

    with ui.card().classes("robot-card"):
        ui.html(sketch(robot), sanitize=False).classes("w-full")
        ui.label(robot.name).classes("name")
        kinds = "".join("RPF"[joint.sigma] for joint in robot.joints)
        ui.label(f"{name}: {kinds if len(kinds) < 16 else len(kinds)}, {structure(robot)}").classes(
            "hint"
        )
        ui.label(" ".join(robot.source.split())).classes("hint source")
        ui.space()
        with ui.row().classes("gap-1"):
            _button("Open", open_it)
            _button("Tables", lambda: _tables(robot))
            _button("Counts", lambda: _counts(name, robot, jobs))


def _button(words: str, work: Callable[[], Any]) -> None:
    ui.button(words, on_click=work).props("flat dense no-caps")


def _tables(robot: Robot) -> None:
    with ui.dialog() as dialog, ui.card().classes("wide"):
        ui.label(repr(robot)).classes("listing tables")
        _button("Close", dialog.close)
    dialog.open()


async def _counts(name: str, robot: Robot, jobs: Jobs) -> None:
    """Operations of the main models, by a job."""
    with ui.dialog() as dialog, ui.card():
        ui.label(f"Operations of {robot.name}").classes("name")
        status = ui.label("counting").classes("hint").props("role=status")
        room = ui.column()
        _button("Close", dialog.close)
    dialog.open()

    def say(text: str) -> None:
        status.set_text(text)

    try:
        found = await jobs.run("counts", say, robot=dumps(robot, "toml"))
    except CardanError as error:
        status.set_text(str(error))
        return
    status.set_text("multiplications with divisions, additions")
    rows = []
    for model, cost in found["counts"].items():
        others = published(name, robot, model, kind_of(name))
        words = "; ".join(f"{o} {o.condition}".strip() for o in others)
        rows.append({"model": model, "mul": cost[0], "add": cost[1], "others": words})
    heads = {"model": "model", "mul": "mul", "add": "add", "others": "others"}
    columns = [{"name": k, "label": x, "field": k, "align": "left"} for k, x in heads.items()]
    with room:
        ui.table(rows=rows, columns=columns, row_key="model").props("flat dense")
