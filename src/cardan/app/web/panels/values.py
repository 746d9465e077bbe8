"""Numbers for the symbols of the robot, a line for each; every panel of the tab Use needs them."""

from __future__ import annotations

from nicegui import ui

from ....errors import InputError
from ....sheets.solids import examples
from ..server.state import Page
from .cells import say


def read_values(text: str, names: tuple[str, ...]) -> dict[str, str]:
    """What the lines NAME = VALUE say; a value may be left empty."""
    values = {}
    for k, line in enumerate(text.splitlines(), 1):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not line.strip():
            continue
        if not equals:
            raise InputError(f"line {k}, '{line.strip()[:40]}': expected NAME = VALUE")
        if name not in names:
            raise InputError(f"line {k}: this robot has no symbol '{name[:40]}'")
        values[name] = value
    return values


class Values:
    """The panel: its title counts those that are missing."""

    def __init__(self, page: Page) -> None:
        self.page, self.names = page, page.robot.parameters
        self.shown = self._given()  # the text as it was sent; only what differs is the user's
        with ui.expansion(self._title(), icon="tune").props("dense") as self.room:
            self.area = ui.textarea(value=self.shown).props("outlined dense rows=8")
            self.area.classes("w-full listing").on("blur", self._taken)
            self.area.props["aria-label"] = "Values of the symbols"
            self.refused = ui.label("").classes("error").props("role=alert")
            ui.button(
                "Fill the missing ones with examples", icon="edit_note", on_click=self._fill
            ).props("flat dense no-caps")
        self.room.classes("w-full use-panel")

    def _title(self) -> str:
        missing = sum(name not in self.page.values for name in self.names)
        return f"Values of {len(self.names)} symbols" + f", {missing} missing" * (missing > 0)

    def _given(self) -> str:
        return "\n".join(f"{name} = {self.page.values.get(name, '')}" for name in self.names)

    def _fill(self) -> None:
        say(self.page.set_values(examples(self.page.robot) | self.page.values))

    def _taken(self) -> None:
        """The text was left. A line that is as it was sent may be older than what the page has
        now, which was then given elsewhere: it changes nothing."""
        try:
            before = read_values(self.shown, self.names)
            lines = read_values(self.area.value or "", self.names)
        except InputError as error:
            self.refused.set_text(str(error))
            return
        values = dict(self.page.values)
        for name, value in lines.items():
            if value and value != before[name]:
                values[name] = value
            elif value != before[name]:
                values.pop(name, None)
        message = self.page.set_values(values) if values != self.page.values else ""
        self.refused.set_text(message)
        if not message:
            self._show()

    def changed(self) -> None:
        """The robot or its values have, here or elsewhere; what is being typed stays."""
        if not self.room.is_deleted:
            self.room.set_text(self._title())
            if self.area.value == self.shown:
                self._show()

    def _show(self) -> None:
        self.shown = self._given()
        if self.area.value != self.shown:
            self.area.value = self.shown
