"""The page: header with menus, the description and models on the left, the robot on the right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from nicegui import ui

from ...catalogue import MENU
from ...describe.bundled import bundled, robots
from ...describe.files import accepted, dumps, read_bytes
from ...errors import CardanError
from .cells import say
from .models import Models
from .state import Page
from .style import KEYS, STYLE
from .table import description
from .using import using
from .view import View

__all__ = ["build"]

_LARGEST = 8_000_000  # bytes of an upload
_FORMATS = {"toml": "Cardan .toml", "par": "SYMORO .par", "urdf": "URDF"}
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
                with ui.tab_panel(opened["Robot"]):
                    description(page)
                with ui.tab_panel(opened["Models"]):
                    models = Models(page)
                use_panel = ui.tab_panel(opened["Use"])
        with splitter.after:
            view = View(page)

    def chosen(name: str) -> None:
        """The panels of Use are made when they are first looked at."""
        if name == "Use" and not use_panel.default_slot.children:
            with use_panel:
                using(page, view)

    tabs.on_value_change(lambda event: chosen(str(event.value)))
    for k, tab in enumerate(opened.values(), 1):
        tab.props(f"data-key={k}").tooltip(f"Alt+{k}")

    def choose(name: str) -> None:
        tabs.set_value(opened["Models"])
        models.choose(name)

    _header(page, dark, choose)


def _header(page: Page, dark: Any, choose: Callable[[str], None]) -> None:
    with ui.header().classes("header items-center no-wrap"):
        ui.label("Cardan").classes("brand")
        _robot_menu(page)
        for group in _GROUPS:
            with _menu(group.capitalize()):
                for name, entry in MENU.items():
                    if entry.group == group:
                        _item(name, partial(choose, name)).tooltip(entry.summary)
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


@contextmanager
def _menu(words: str) -> Iterator[None]:
    button = ui.button(words).props("flat dense no-caps aria-haspopup=menu")
    with button, ui.menu().props("auto-close role=menu"):
        yield


def _item(words: str, work: Callable[[], Any]) -> Any:
    return ui.menu_item(words, work).props("role=menuitem dense")


def _icon(icon: str, words: str, keys: str, work: Callable[[], Any]) -> Any:
    button = ui.button(icon=icon, on_click=work).props("flat round dense")
    button.props["aria-label"] = words
    return button.tooltip(f"{words} ({keys})" if keys else words)


def _robot_menu(page: Page) -> None:
    with _menu("Robot"):
        _item("New", lambda: _new(page))
        _item("Open a bundled robot ...", lambda: _open_bundled(page))
        _item("Open a file ...", lambda: _open_file(page))
        ui.separator()
        for form, words in _FORMATS.items():
            _item(f"Download as {words}", partial(_download, page, form))


def _take(page: Page, robot: Any) -> None:
    page.q = page.q[:0]
    say(page.change(robot, redraw=True))


def _new(page: Page) -> None:
    from ...describe.toml import from_dict

    table = {
        "name": "New robot",
        "gravity": [0, 0, "-9.81"],
        "link": [{"name": "link1", "M": 1}],
    }
    _take(page, from_dict(table))


def _open_bundled(page: Page) -> None:
    """A list that gets shorter as one types; Enter takes the first."""
    items: dict[str, Any] = {}

    def take(name: str) -> None:
        dialog.close()
        _take(page, bundled(name))

    def matches(name: str, text: str) -> bool:
        return text.lower() in f"{name} {bundled(name).name}".lower()

    def first() -> None:
        found = [name for name in items if matches(name, search.value or "")]
        if found:
            take(found[0])

    with ui.dialog() as dialog, ui.card().classes("opening"):
        search = ui.input("Bundled robots").props("autofocus dense clearable").classes("w-full")
        search.on("keydown.enter", first)
        with ui.list().props('dense role=listbox aria-label="Bundled robots"').classes("w-full"):
            for name in robots():
                with ui.item(on_click=lambda name=name: take(name)).props("role=option") as item:
                    ui.label(name).classes("opening-name")
                    ui.label(bundled(name).name).classes("hint")
                items[name] = item
        search.on_value_change(
            lambda event: [
                item.set_visibility(matches(name, event.value or ""))
                for name, item in items.items()
            ]
        )
    dialog.open()


def _open_file(page: Page) -> None:
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("Open a robot: .toml, .par, .urdf").classes("text-lg")
        ui.label("A URDF is drawn from its frames: meshes are other files, which it only names.") \
            .classes("hint")  # fmt: skip
        faults = ui.label("").classes("listing error").props("role=alert")

        async def take(event: Any) -> None:
            """The name tells the format, and nothing else."""
            data = await event.file.read()
            suffix = event.file.name.rpartition(".")[2].lower()[:8]
            name = f"upload.{suffix}" if suffix.isalnum() else "upload"
            try:
                robot = accepted(*read_bytes(data, name), name)
            except CardanError as error:
                faults.set_text(str(error))
                uploader.reset()
                return
            dialog.close()
            _take(page, robot)

        uploader = ui.upload(
            on_upload=take, auto_upload=True, max_file_size=_LARGEST, max_files=1,
            on_rejected=lambda: faults.set_text("the file is too large: 8 MB are allowed"),
        ).classes("w-full")  # fmt: skip
        ui.button("Close", on_click=dialog.close).props("flat no-caps")
    dialog.open()


def _download(page: Page, form: str) -> None:
    try:
        text = dumps(page.robot, form)
    except CardanError as error:
        say(str(error))
        return
    ui.download.content(text, f"{page.stem}.{form}")
