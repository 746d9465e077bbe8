"""The menus of the header, the list that bundled robots are chosen from, the end of a dialog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import Any

from nicegui import ui
from nicegui.element import Element

from ....errors import CardanError
from .. import WORDS

Item = tuple[str, str, Callable[[], Any]]  # words, a hint, the work


class Menus(Element, component="../parts/menus.js"):
    """Menus by title; None stands for a line between items."""

    def __init__(self, menus: dict[str, Sequence[Item | None]]) -> None:
        super().__init__()
        self.work: list[Callable[[], Any]] = []
        self._props["menus"] = [
            {"title": title, "items": [item and self._item(*item) for item in items]}
            for title, items in menus.items()
        ]
        self.on("choose", lambda event: self.work[int(event.args)]())  # a coroutine is awaited

    def _item(self, words: str, hint: str, work: Callable[[], Any]) -> dict[str, Any]:
        self.work.append(work)
        return {"id": len(self.work) - 1, "words": words, "hint": hint}


class _Chooser(Element, component="../parts/chooser.js"):
    def __init__(self, label: str, items: dict[str, str], take: Callable[[str], Any]) -> None:
        super().__init__()
        self._props["label"] = label
        self._props["items"] = [{"id": name, "hint": hint} for name, hint in items.items()]
        self.on("take", lambda event: take(str(event.args)))


def choose_from(label: str, items: dict[str, str], take: Callable[[str], Any]) -> None:
    """A dialog with a list that gets shorter as one types; it belongs to the page, as does what is
    opened from it: the dialog it was asked for in may be closed by then."""
    room = ui.context.client.content

    async def taken(name: str) -> None:
        dialog.close()
        with room:
            work = take(name) if name in items else None
            if isawaitable(work):
                await work

    with room, ui.dialog() as dialog, ui.card().classes("opening"):
        _Chooser(label, items, taken).classes("w-full")
    dialog.on("hide", dialog.delete)
    dialog.open()


_KEYS = {
    "Alt+1, Alt+2, Alt+3": "Robot, Models, Use",
    "Ctrl+K": "find a command, a model or a panel",
    "Ctrl+Enter": "derive the chosen model",
    "Ctrl+S": "keep the robot among my robots",
    "Space, F": "play or pause the motion; look at the whole robot",
    "Ctrl+Z, Ctrl+Y": "undo and redo, where no text is being typed",
    "Tab, Shift+Tab": "the next thing, the one before",
    "Up, Down": "in a table: the cell above, below; in a menu: the item",
    "Shift+Up, Shift+Down": "in a table: choose several cells",
    "Ctrl+C, Ctrl+V, Ctrl+D": "in a table: copy, paste, fill down",
    "Enter, Escape": "in a cell: take what is typed, or put back what was there",
    "Left, Right": "on a slider: a little less, a little more; in the menus: the next one",
    "?": "this list",
}


def show_keys() -> None:
    """The keys of the page."""
    with ui.dialog() as dialog, ui.card():
        ui.label("Keys").classes("text-lg")
        with ui.element("table").classes("keys"):
            for keys, work in _KEYS.items():
                with ui.element("tr"):
                    for words in (keys, work):
                        with ui.element("td"):
                            ui.label(words)
        with ui.row().classes("w-full justify-end"):
            ui.button("Close", on_click=dialog.close).props("flat no-caps")
    dialog.on("hide", dialog.delete)
    dialog.open()


def confirm(dialog: Any, action: str, work: Callable[[], str]) -> None:
    """Cancel, and a button that is called as what it does; a message where it is refused. Called
    inside the dialog, which it opens."""

    def apply() -> None:
        try:
            message = work()
        except CardanError as error:
            message = error.told(WORDS)
        refused.set_text(message)
        if not message:
            dialog.close()

    refused = ui.label("").classes("error narrow").props("role=alert")
    with ui.row().classes("w-full justify-end"):
        ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
        ui.button(action, on_click=apply).props("no-caps unelevated")
    dialog.on("hide", dialog.delete)
    dialog.open()
