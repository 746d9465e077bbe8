"""The user's own robots: cards with a picture, to open, duplicate, rename, take away, delete."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from nicegui import ui

from ....errors import CardanError
from ....sheets.picture import sketch
from ..server.shelf import Kept, Shelf
from ..server.state import Page
from ..server.store import Project
from .cells import say
from .gallery import Cards, headed
from .menus import confirm
from .structure import structure

_ACTS = ("Open", "Versions", "Duplicate", "Rename", "Download", "Delete")


def build(project: Callable[[], Project], shelf: Shelf) -> None:
    """One click opens a robot in the page, where undo brings back the one that was there."""
    headed(project, "My robots")
    deleted: list[Kept] = []

    def refresh() -> None:
        try:
            cards.show([_card(kept) for kept in shelf.all()])
        except CardanError as error:
            say(str(error))
        again.set_visibility(bool(deleted))
        again.set_text(f"Bring back {deleted[-1].name}" if deleted else "")

    def take(kept: Kept) -> None:
        project().open(kept.robot, kept.surfaces, tab="Robot")
        project().remember(values=dict(kept.values))
        ui.navigate.to("/")

    def work(act: str, key: str) -> None:
        try:
            kept = shelf.find(key)
            if act == "Open":
                take(kept)
            elif act == "Versions":
                _versions(kept, take)
            elif act == "Duplicate":
                shelf.duplicate(key)
            elif act == "Rename":
                _rename(shelf, kept, refresh)
            elif act == "Download":
                ui.download.content(kept.text, f"{_file(kept.name)}.toml")
            else:
                shelf.remove(key)
                deleted.append(kept)
        except CardanError as error:
            say(str(error))
        refresh()

    def back() -> None:
        if deleted:
            kept = deleted.pop()
            try:
                shelf.put(kept.name, kept.text, kept.values, kept.versions, kept.surfaces)
            except CardanError as error:  # another one has its name by now
                say(str(error))
            refresh()

    with ui.element("div").classes("gallery-page"):
        again = ui.button(on_click=back).props("flat no-caps icon=undo")
        cards = Cards(work, _ACTS, "None yet: Robot > Keep in my robots puts one here.")
    refresh()


def _card(kept: Kept) -> dict[str, Any]:
    robot = kept.robot
    older = len(kept.versions)
    words = f", {older} older version{'s' * (older > 1)}" if older else ""
    return {
        "name": kept.key, "title": kept.name, "picture": sketch(robot),
        "kind": f"{robot.n} joints, {structure(robot)}", "source": _day(kept) + words,
    }  # fmt: skip


def _day(kept: Kept) -> str:
    return time.strftime("%d %b %Y %H:%M", time.localtime(kept.time))


def _versions(kept: Kept, take: Callable[[Kept], None]) -> None:
    """What was kept under this name, to open again."""

    def opened(version: Kept) -> None:
        try:
            take(version)
        except CardanError as error:
            say(str(error))

    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label(f"Versions of {kept.name}").classes("text-lg")
        with ui.list().props("dense separator").classes("w-full"):
            for version in (kept, *kept.versions):
                words = f"{_day(version)}, {version.robot.n} joints"
                ui.item(words, on_click=lambda version=version: opened(version))
        ui.button("Close", on_click=dialog.close).props("flat dense no-caps")
    dialog.on("hide", dialog.delete)
    dialog.open()


def _file(name: str) -> str:
    letters = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    return letters.strip("_")[:60] or "robot"


def _rename(shelf: Shelf, kept: Kept, done: Callable[[], None]) -> None:
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        name = ui.input("Name", value=kept.name).classes("w-full")

        def apply() -> str:
            shelf.rename(kept.key, name.value or "")
            done()
            return ""

        confirm(dialog, "Rename", apply)


def keep(page: Page, shelf: Shelf) -> None:
    """Ask for a name; put the robot, as it is now, among the user's own."""
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("Keep in my robots").classes("text-lg")
        name = ui.input("Name", value=page.robot.name).classes("w-full")
        ui.label("Under a name that is there already: its next version.").classes("hint")

        def apply() -> str:
            kept = shelf.keep(name.value or "", page.text, page.known_values(),
                              page.kept_surfaces())  # fmt: skip
            words = f"kept; {len(kept.versions)} before it" if kept.versions else "kept"
            ui.notify(words, position="top", timeout=1200)
            return ""

        confirm(dialog, "Keep", apply)
