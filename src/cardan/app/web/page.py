"""The page: header with menus, the description and models on the left, the robot on the right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from ...catalogue import MENU
from ...describe.bundled import bundled, robots
from ...describe.files import dumps
from ...emit import languages
from ...errors import CardanError
from .cells import say
from .menus import Item, Menus, choose_from
from .models import Models
from .opening import open_file
from .state import Page
from .style import KEYS, STYLE
from .table import description
from .using import using
from .view import View

__all__ = ["build"]

_FORMATS = {"toml": "Cardan .toml", "par": "SYMORO .par", "urdf": "URDF", "xml": "MJCF .xml"}
_GROUPS = tuple(dict.fromkeys(entry.group for entry in MENU.values()))


def build(page: Page) -> None:
    """Everything of one browser page."""
    ui.context.client.on_delete(page.close)
    ui.add_css(STYLE)
    ui.add_body_html(KEYS)
    ui.colors(primary="#2b5d8a", secondary="#5c6670", accent="#b5402a", negative="#b5402a")
    dark = ui.dark_mode(page.project.page.get("dark"))
    with ui.splitter(value=56, limits=(25, 80)).classes("w-full main") as splitter:
        with splitter.before, ui.column().classes("w-full left"):
            with ui.tabs().props("align=left no-caps dense").classes("top-tabs") as tabs:
                opened = {name: ui.tab(name) for name in ("Robot", "Models", "Use")}
            panels = ui.tab_panels(tabs, value=opened["Robot"], animated=False).classes("w-full")
            with panels.props("keep-alive"):
                rooms = {name: ui.tab_panel(tab) for name, tab in opened.items()}
            with rooms["Robot"]:
                description(page)
        with splitter.after:
            view = View(page)
    models: list[Models] = []

    def chosen(name: str) -> None:
        """The panels of Models and Use are made when they are first looked at."""
        page.project.remember(tab=name)
        if name in ("Models", "Use") and not rooms[name].default_slot.children:
            with rooms[name]:
                if name == "Models":
                    models.append(Models(page))
                else:
                    using(page, view)

    tabs.on_value_change(lambda event: chosen(str(event.value)))
    for k, tab in enumerate(opened.values(), 1):
        tab.props(f'data-key={k} title="Alt+{k}"')

    def choose(name: str) -> None:
        on_models().choose(name)

    def on_models() -> Models:
        chosen("Models")
        tabs.set_value("Models")
        return models[0]

    _header(page, dark, choose, on_models)
    kept = page.project.page.get("tab")
    if kept in opened:
        tabs.set_value(kept)


def _header(
    page: Page, dark: Any, choose: Callable[[str], None], on_models: Callable[[], Models]
) -> None:
    menus: dict[str, Sequence[Item | None]] = {"Robot": _robot_menu(page)}
    for group in _GROUPS:
        menus[group.capitalize()] = [
            (name, entry.summary, partial(choose, name))
            for name, entry in MENU.items()
            if entry.group == group
        ]
    menus["Optimizer"] = _optimizer(on_models)
    with ui.header().classes("header items-center no-wrap"):
        ui.label("Cardan").classes("brand")
        Menus(menus)
        ui.space()
        title = ui.label().classes("title ellipsis")
        undo = _icon("undo", "Undo", "Ctrl+Z", page.undo).props("data-key=z")
        redo = _icon("redo", "Redo", "Ctrl+Y", page.redo).props("data-key=y")
        _icon("collections", "Gallery", "", lambda: ui.navigate.to("/gallery"))

        def toggle() -> None:
            dark.value = not dark.value
            page.project.remember(dark=dark.value)

        _icon("dark_mode", "Dark or light", "", toggle)

    def refresh() -> None:
        title.set_text(f"{page.robot.name}, {page.robot.n} joints")
        undo.set_enabled(page.project.can_undo)
        redo.set_enabled(page.project.can_redo)

    refresh()
    page.on_robot(refresh)


def _optimizer(on_models: Callable[[], Models]) -> list[Item | None]:
    """What [KC97] 7 has: fewer operations, and the model in a language."""

    async def code(language: str) -> None:
        await on_models().as_code(language)

    async def search() -> None:
        await on_models().optimise()

    return [
        ("Search for fewer operations", "derive the chosen model with effort max", search),
        None,
        *((f"Code in {language}", "", partial(code, language)) for language in languages()),
    ]


def _icon(icon: str, words: str, keys: str, work: Callable[[], Any]) -> Any:
    button = ui.button(icon=icon, on_click=work).props("flat round dense")
    button.props["aria-label"] = words
    button.props["title"] = f"{words} ({keys})" if keys else words
    return button


def _robot_menu(page: Page) -> list[Item | None]:
    def take(name: str) -> None:
        say(page.open(bundled(name)))

    async def choose() -> None:
        titles = await asyncio.to_thread(lambda: {name: bundled(name).name for name in robots()})
        choose_from("Bundled robots", titles, take)

    return [
        ("New", "", lambda: _new(page)),
        ("Open a bundled robot ...", "", choose),
        ("Open a file ...", "", lambda: open_file(page)),
        None,
        *((f"Download as {words}", "", partial(_download, page, form))
          for form, words in _FORMATS.items()),
    ]  # fmt: skip


def _new(page: Page) -> None:
    from ...describe.toml import from_dict

    table = {
        "name": "New robot",
        "gravity": [0, 0, "-9.81"],
        "link": [{"name": "link1", "M": 1}],
    }
    say(page.open(from_dict(table)))


def _download(page: Page, form: str) -> None:
    try:
        text = dumps(page.robot, form)
    except CardanError as error:
        say(str(error))
        return
    ui.download.content(text, f"{page.stem}.{form}")
