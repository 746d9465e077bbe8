"""The bundled robots: picture, table, counts and source of each."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from ...describe.bundled import bundled, robots
from .store import Project
from .style import STYLE

__all__ = ["build"]


def build(project: Callable[[], Project]) -> None:
    """Cards; one click opens the robot in the page."""
    ui.add_css(STYLE)
    ui.dark_mode(project().page.get("dark"))
    with ui.header().classes("header items-center"):
        ui.label("Cardan").classes("brand")
        ui.button("Back", icon="arrow_back", on_click=lambda: ui.navigate.to("/")).props(
            "flat dense no-caps"
        )
        ui.label("Bundled robots").classes("title")
    with ui.element("div").classes("gallery"):
        for name in robots():
            _card(name, project)


def _card(name: str, project: Callable[[], Project]) -> None:
    robot = bundled(name)

    def open_it() -> None:
        found = project()
        found.page["origin"] = name
        found.change(robot)
        ui.navigate.to("/")

    with ui.card().classes("robot-card"):
        ui.label(robot.name).classes("text-lg")
        kinds = "".join("RPF"[joint.sigma] for joint in robot.joints)
        words = f"{kinds}, {len(robot.loops)} loops" if robot.loops else kinds
        ui.label(f"{name}: {words}").classes("hint")
        ui.label(" ".join(robot.source.split())).classes("hint source")
        ui.button("Open", on_click=open_it).props("flat dense no-caps")
