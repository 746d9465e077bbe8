"""The page: header with menus, the description and models on the left, the robot on the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from ...catalogue import MENU
from ...describe.bundled import bundled, robots
from ...describe.files import accepted, dumps, read_bytes
from ...errors import CardanError
from .models import Models
from .state import Page
from .style import STYLE
from .table import description
from .using import using
from .view import View

__all__ = ["build"]

_LARGEST = 8_000_000  # bytes of an upload
_FORMATS = {"toml": "Cardan .toml", "par": "SYMORO .par", "urdf": "URDF"}
_GROUPS = ("geometric", "kinematic", "dynamic", "identification")


def build(page: Page) -> None:
    """Everything of one browser page."""
    ui.add_css(STYLE)
    ui.colors(primary="#2b5d8a", secondary="#5c6670", accent="#b5402a", negative="#b5402a")
    dark = ui.dark_mode(page.project.page.get("dark"))
    with ui.splitter(value=56).classes("w-full main") as splitter:
        with splitter.before, ui.column().classes("w-full left"):
            with ui.tabs().props("align=left no-caps") as tabs:
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
        with use_panel:
            using(page, view)

    def choose(name: str) -> None:
        tabs.set_value(opened["Models"])
        models.choose(name)

    _header(page, dark, choose)
    _keys(page, tabs, opened)


def _header(page: Page, dark: Any, choose: Callable[[str], None]) -> None:
    with ui.header().classes("header items-center no-wrap"):
        ui.label("Cardan").classes("brand")
        _robot_menu(page)
        for group in _GROUPS:
            with ui.button(group.capitalize()).props("flat dense no-caps"), ui.menu():
                for name, entry in MENU.items():
                    if entry.group == group:
                        ui.menu_item(name, lambda name=name: choose(name)).tooltip(entry.summary)
        ui.space()
        title = ui.label().classes("title ellipsis")
        undo = ui.button(icon="undo", on_click=page.undo)
        redo = ui.button(icon="redo", on_click=page.redo)
        undo.props('flat round dense aria-label="Undo"').tooltip("Undo (Ctrl+Z)")
        redo.props('flat round dense aria-label="Redo"').tooltip("Redo (Ctrl+Y)")
        ui.button(icon="collections", on_click=lambda: ui.navigate.to("/gallery")).props(
            'flat round dense aria-label="Gallery"'
        ).tooltip("Bundled robots")

        def toggle() -> None:
            dark.value = not dark.value
            page.project.remember(dark=dark.value)

        ui.button(icon="dark_mode", on_click=toggle).props(
            'flat round dense aria-label="Dark or light"'
        )

    def refresh() -> None:
        title.set_text(f"{page.robot.name}, {page.robot.n} joints")
        undo.set_enabled(page.project.can_undo)
        redo.set_enabled(page.project.can_redo)

    refresh()
    page.on_robot(refresh)


def _robot_menu(page: Page) -> None:
    with ui.button("Robot").props("flat dense no-caps"), ui.menu().props("auto-close"):
        ui.menu_item("New", lambda: _new(page))
        ui.menu_item("Open a bundled robot ...", lambda: _open_bundled(page))
        ui.menu_item("Open a file ...", lambda: _open_file(page))
        ui.separator()
        for form, words in _FORMATS.items():
            ui.menu_item(f"Download as {words}", lambda form=form: _download(page, form))


def _take(page: Page, robot: Any, origin: str) -> None:
    page.project.page["redraw"] = True
    page.project.page["origin"] = origin
    message = page.change(robot)
    if message:
        ui.notify(message, type="negative", multi_line=True, close_button=True, timeout=0)


def _new(page: Page) -> None:
    from ...describe.toml import from_dict

    table = {
        "name": "New robot",
        "gravity": [0, 0, "-9.81"],
        "link": [{"name": "link1", "M": 1}],
    }
    _take(page, from_dict(table), "")


def _open_bundled(page: Page) -> None:
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("Bundled robots").classes("text-lg")
        names = {name: f"{name}: {bundled(name).name}" for name in robots()}
        choice = ui.select(names, with_input=True, label="Robot").classes("w-full")
        choice.props("autofocus")

        def take() -> None:
            if choice.value:
                _take(page, bundled(choice.value), choice.value)
                dialog.close()

        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
            ui.button("Open", on_click=take).props("no-caps")
    dialog.open()


def _open_file(page: Page) -> None:
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("Open a robot: .toml, .par, .urdf").classes("text-lg")
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
            _take(page, robot, "")

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
        ui.notify(str(error), type="negative", multi_line=True, close_button=True, timeout=0)
        return
    stem = "".join(c if c.isalnum() else "_" for c in page.robot.name) or "robot"
    ui.download.content(text, f"{stem}.{form}")


def _keys(page: Page, tabs: Any, opened: dict[str, Any]) -> None:
    """Ctrl+Z, Ctrl+Y; Alt+1, 2, 3 for the tabs."""

    def pressed(event: Any) -> None:
        if not event.action.keydown:
            return
        if event.modifiers.ctrl and event.key == "z":
            page.undo()
        elif event.modifiers.ctrl and event.key == "y":
            page.redo()
        elif event.modifiers.alt and str(event.key) in "123":
            tabs.set_value(list(opened.values())[int(str(event.key)) - 1])

    ui.keyboard(on_key=pressed)
