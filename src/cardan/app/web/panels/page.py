"""The page: header with menus, the description and models on the left, the robot on the right."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from ....catalogue import MENU
from ....describe.bundled import bundled, robots
from ..scene.view import View
from ..server.shelf import Shelf
from ..server.state import Page
from .cells import say
from .help import Tour, about, limits, offer, palette, share
from .menus import Item, Menus, choose_from, show_keys
from .models import Models, spoken, tongues
from .new import new
from .open import open_file
from .robots import keep
from .save import FORMATS, download
from .style import KEYS, SPLASH, STYLE, UPRIGHT, is_dark
from .table import description
from .tools import using

_GROUPS = tuple(dict.fromkeys(entry.group for entry in MENU.values()))


def build(page: Page, shelf: Shelf, link: str = "") -> None:
    """Everything of one browser page; `link`: the robot of a link that was shared."""
    client = ui.context.client
    client.on_delete(page.close)
    page.within = lambda: client
    ui.add_css(STYLE)
    ui.add_body_html(SPLASH + KEYS)
    ui.colors(primary="#2b5d8a", secondary="#5c6670", accent="#b5402a", negative="#b5402a")
    dark = ui.dark_mode(page.project.page.get("dark"))

    async def connected() -> None:
        if dark.value is None:  # as the system is set
            page.themed(await is_dark())

    client.on_connect(connected)
    split = page.project.page.get("split", 56)
    with ui.splitter(value=split, limits=(20, 97)).classes("w-full main") as splitter:
        splitter.props[":horizontal"] = UPRIGHT
        splitter.on_value_change(lambda event: page.project.remember(split=float(event.value)))
        with splitter.before, ui.column().classes("w-full left"):
            _notice(page)
            left = _Left(page)
        with splitter.after:
            left.view = View(page)
    tour = Tour(page, left.tabs, left.rooms["Robot"])
    _header(page, shelf, dark, left, tour, splitter)
    left.find_again()
    if link:
        offer(page, link)


def apologise() -> None:
    """In place of a page that could not be made."""
    content = ui.context.client.content
    content.clear()
    with content, ui.column().classes("q-pa-md"):
        words = "This project could not be shown as it was left, and was set aside."
        ui.label(words).classes("error").props("role=alert")
        ui.link("Go on without it", "/")


def _notice(page: Page) -> None:
    """What of the project could not be read, until it is dismissed."""
    with ui.row().classes("w-full items-center no-wrap") as row:
        words = ui.label().classes("error").props("role=alert")

        def dismiss() -> None:
            page.project.notice = ""
            page.project.tell()

        ui.button("Dismiss", on_click=dismiss).props("flat dense no-caps")

    def refresh() -> None:
        words.set_text(page.project.notice)
        row.set_visibility(bool(page.project.notice))

    refresh()
    page.on_robot(refresh)


class _Left:
    """The tabs Robot, Models and Use; the last two are made when they are first looked at."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.view: View | None = None
        self.panels: dict[str, Any] = {}
        with (
            ui.tabs()
            .props("align=left no-caps dense breakpoint=0")
            .classes("top-tabs") as self.tabs
        ):
            opened = {name: ui.tab(name) for name in ("Robot", "Models", "Use")}
        panels = ui.tab_panels(self.tabs, value=opened["Robot"], animated=False).classes("w-full")
        with panels.props("keep-alive"):
            self.rooms = {name: ui.tab_panel(tab) for name, tab in opened.items()}
        with self.rooms["Robot"]:
            description(page)
        self.tabs.on_value_change(lambda event: self._chosen(str(event.value)))
        for k, tab in enumerate(opened.values(), 1):
            tab.props(f'data-key={k} title="Alt+{k}"')

    def _chosen(self, name: str) -> None:
        self.page.project.remember(tab=name)
        if name in self.panels or name == "Robot" or self.view is None:
            return
        with self.rooms[name]:
            if name == "Models":
                self.panels[name] = Models(self.page)
            else:
                self.panels[name] = using(self.page, self.view)

    def models(self) -> Models:
        """The tab Models, brought to the front."""
        self._chosen("Models")
        self.tabs.set_value("Models")
        models: Models = self.panels["Models"]
        return models

    def use(self, title: str) -> None:
        """A panel of the tab Use, opened."""
        opened = self.page.project.page.get("panels", [])
        if title not in opened:
            self.page.project.remember(panels=[*opened, title])
        self._chosen("Use")
        self.tabs.set_value("Use")
        self.panels["Use"](title)

    def find_again(self) -> None:
        """The tab that was open before."""
        tab = self.page.project.page.get("tab")
        if tab in self.rooms:
            self.tabs.set_value(tab)


def _header(
    page: Page, shelf: Shelf, dark: Any, left: _Left, tour: Tour, splitter: Any
) -> None:  # fmt: skip
    on_models = left.models

    def choose(name: str) -> None:
        on_models().choose(name)

    menus: dict[str, Sequence[Item | None]] = {"Robot": _robot_menu(page, shelf)}
    for group in _GROUPS:
        menus[group.capitalize()] = [
            (spoken(name).capitalize(), entry.summary, partial(choose, name))
            for name, entry in MENU.items()
            if entry.group == group
        ]
    menus["Optimizer"] = _optimizer(on_models)
    menus["Help"] = [
        ("A tour of five steps", "", tour.start),
        ("Find a command ...", "Ctrl+K", lambda: palette(left, menus)),
        ("Keys", "?", show_keys),
        ("Limits of work ...", "processor time of a job", lambda: limits(page)),
        ("About", "version, documentation", about),
    ]
    with ui.header().classes("header items-center no-wrap"):
        ui.label("Cardan").classes("brand").props("role=heading aria-level=1")
        commands = _icon("menu", "All commands", "Ctrl+K", lambda: palette(left, menus))
        commands.classes("for-phones")
        Menus(menus)
        ui.space()
        title = ui.label().classes("title ellipsis")
        trouble = ui.label("not saved").classes("trouble").props("role=alert")
        angles = ui.button(on_click=page.turn_degrees).props("flat dense no-caps")
        angles.props["title"] = "Angles of the whole page in rad or degrees"
        undo = _icon("undo", "Undo", "Ctrl+Z", page.undo).props("data-key=z")
        redo = _icon("redo", "Redo", "Ctrl+Y", page.redo).props("data-key=y")
        gallery = _icon("collections", "Gallery", "", lambda: ui.navigate.to("/gallery"))
        gallery.classes("for-room")

        def toggle() -> None:
            dark.value = not page.dark
            page.project.remember(dark=dark.value)
            page.themed(dark.value)

        def fold() -> None:
            """The picture out of the way, or back."""
            splitter.value = 56 if splitter.value > 90 else 97

        _icon("dark_mode", "Dark or light", "", toggle)
        _icon("view_sidebar", "Fold the picture", "", fold)
        _icon("keyboard", "Keys", "?", show_keys).props("data-key=?").classes("for-keys")
        for key, work in (("k", lambda: palette(left, menus)), ("s", lambda: keep(page, shelf))):
            hidden = ui.button(on_click=work).classes("folded")
            hidden.props(f"data-key={key} tabindex=-1 aria-hidden=true")

    def refresh() -> None:
        title.set_text(f"{page.robot.name}, {_count(page.robot.n, 'joint')}")
        title.props["title"] = page.robot.name
        trouble.set_visibility(bool(page.project.trouble))
        trouble.props["title"] = page.project.trouble
        angles.set_text("deg" if page.degrees else "rad")
        angles.props["aria-label"] = f"Angles in {'degrees' if page.degrees else 'rad'}"
        undo.set_enabled(page.project.can_undo)
        redo.set_enabled(page.project.can_redo)

    refresh()
    page.on_robot(refresh)


def _count(n: int, word: str) -> str:
    return f"{n} {word}" + "s" * (n != 1)


def _optimizer(on_models: Callable[[], Models]) -> list[Item | None]:
    """What [KC97] 7 has: fewer operations, and the model in a language."""

    async def code(language: str) -> None:
        await on_models().as_code(language)

    async def search() -> None:
        await on_models().optimise()

    return [
        ("Search for fewer operations", "derive the chosen model with effort max", search),
        None,
        *((f"Code in {words}", "", partial(code, name)) for name, words in tongues().items()),
    ]


def _icon(icon: str, words: str, keys: str, work: Callable[[], Any]) -> Any:
    button = ui.button(icon=icon, on_click=work).props("flat round dense")
    button.props["aria-label"] = words
    button.props["title"] = f"{words} ({keys})" if keys else words
    return button


def _robot_menu(page: Page, shelf: Shelf) -> list[Item | None]:
    def take(name: str) -> None:
        say(page.open(bundled(name)))

    async def choose() -> None:
        titles = await asyncio.to_thread(lambda: {name: bundled(name).name for name in robots()})
        choose_from("Bundled robots", titles, take)

    return [
        ("New ...", "", lambda: new(page)),
        ("Open a bundled robot ...", "", choose),
        ("Gallery", "pictures of what is bundled", lambda: ui.navigate.to("/gallery")),
        ("Open a file ...", "", lambda: open_file(page)),
        None,
        ("My robots", "", lambda: ui.navigate.to("/robots")),
        ("Keep in my robots ...", "Ctrl+S", lambda: keep(page, shelf)),
        ("Copy a link that holds the robot", "", lambda: share(page)),
        None,
        *((f"Download as {words}", "", partial(download, page, form))
          for form, words in FORMATS.items()),
    ]  # fmt: skip
