"""The bundled robots: picture, tables, counts and source of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from nicegui import ui
from nicegui.element import Element

from ....describe.bundled import bundled, robots
from ....describe.files import dumps
from ....describe.robot import Robot
from ....errors import CardanError
from ....sheets.picture import sketch
from ...published import kind_of, published
from ..jobs.pool import Jobs
from ..server.store import Project
from .models import spoken
from .structure import structure
from .style import STYLE


@cache
def cards() -> bytes:
    """All cards as JSON."""
    listed = []
    for name in robots():
        robot = bundled(name)
        kinds = "".join("RPF"[joint.sigma] for joint in robot.joints)
        listed.append({
            "name": name, "title": robot.name, "picture": sketch(robot),
            "kind": f"{name}: {kinds if len(kinds) < 16 else len(kinds)}, {structure(robot)}",
            "source": " ".join(robot.source.split()),
        })  # fmt: skip
    return json.dumps(listed).encode()


class Cards(Element, component="../parts/gallery.js"):
    """Cards with what can be done with each; fetched, or shown by the page that has them."""

    def __init__(
        self, work: Callable[[str, str], Any], acts: Sequence[str], empty: str = "", url: str = ""
    ) -> None:
        super().__init__()
        self._props.update(url=url, acts=list(acts), empty=empty, listed=[])
        self.on("act", lambda event: work(*event.args))

    def show(self, listed: list[dict[str, Any]]) -> None:
        self._props["listed"] = listed


def build(project: Callable[[], Project], jobs: Jobs) -> None:
    """Cards; one click opens the robot in the page."""
    headed(project, f"{len(robots())} bundled robots")

    async def work(act: str, name: str) -> None:
        if name not in robots():
            return
        robot = bundled(name)
        if act == "Open":
            project().open(robot, tab="Robot")
            ui.navigate.to("/")
        elif act == "Tables":
            _tables(robot)
        else:
            await _counts(name, robot, jobs)

    with ui.element("div").classes("gallery-page"):
        Cards(work, ("Open", "Tables", "Counts"), url="/gallery/cards")


def headed(project: Callable[[], Project], title: str) -> None:
    """The header of a page beside the main one."""
    ui.add_css(STYLE)
    ui.colors(primary="#2b5d8a", secondary="#5c6670", accent="#b5402a", negative="#b5402a")
    ui.dark_mode(project().page.get("dark"))
    with ui.header().classes("header items-center"):
        ui.label("Cardan").classes("brand")
        _button("Back", lambda: ui.navigate.to("/")).props("icon=arrow_back")
        ui.space()
        ui.label(title).classes("title")


def _button(words: str, work: Callable[[], Any]) -> Any:
    return ui.button(words, on_click=work).props("flat dense no-caps")


def _tables(robot: Robot) -> None:
    with ui.dialog() as dialog, ui.card().classes("wide"):
        ui.label(repr(robot)).classes("listing tables")
        _button("Close", dialog.close)
    dialog.on("hide", dialog.delete)
    dialog.open()


async def _counts(name: str, robot: Robot, jobs: Jobs) -> None:
    """Operations of the main models, by a job."""
    with ui.dialog() as dialog, ui.card().classes("min-w-96 counts"):
        ui.label(f"Operations of {robot.name}").classes("name")
        status = ui.label("counting").classes("hint").props("role=status")
        room = ui.column()
        _button("Close", dialog.close)
    dialog.on("hide", dialog.delete)
    dialog.open()

    def say(text: str) -> None:
        if not status.is_deleted:
            status.set_text(text)

    try:
        answer = await jobs.run("counts", say, robot=dumps(robot, "toml"))
    except CardanError as error:
        say(str(error))
        return
    if dialog.is_deleted:
        return
    say("multiplications with divisions, additions: per call, and once per parameter set")
    rows = []
    for model, cost in answer["counts"].items():
        others = published(name, robot, model, kind_of(name))
        words = "; ".join(f"{o} {o.condition}".strip() for o in others)
        once = f"{cost[2]}/{cost[3]}" if any(cost[2:]) else ""
        rows.append(
            {"model": spoken(model), "mul": cost[0], "add": cost[1], "once": once, "others": words}
        )
    heads = {"model": "model", "mul": "mul", "add": "add"}
    if any(row["once"] for row in rows):
        heads["once"] = "once mul/add"
    if any(row["others"] for row in rows):
        heads["others"] = "published by others"
    columns = [{"name": k, "label": x, "field": k, "align": "left"} for k, x in heads.items()]
    with room:
        ui.table(rows=rows, columns=columns, row_key="model").props("flat dense wrap-cells")
