"""The robot as a file of any format; what a format cannot hold is told, and left out if asked."""

from __future__ import annotations

import warnings

from nicegui import ui

from ....describe.files import checked, dumps
from ....describe.robot import Robot
from ....describe.urdf.write import write_urdf
from ....errors import CardanError, CardanWarning
from .. import WORDS
from ..server.state import Page
from .cells import say

FORMATS = {"toml": "Cardan .toml", "par": "SYMORO .par", "urdf": "URDF", "xml": "MJCF .xml"}
_NUMERIC = ("urdf", "xml")  # these hold numbers only: symbols take the values of the tab Use


def download(page: Page, form: str) -> None:
    robot = page.robot
    try:
        if form in _NUMERIC and robot.parameters and page.known_values():
            robot = robot.with_values(page.known_values())
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", CardanWarning)
            text = checked(robot, dumps(robot, form), form)
    except CardanError as error:
        _refused(page, robot, form, error.told(WORDS))
        return
    ui.download.content(text, f"{page.stem}.{form}")
    for warning in told:
        if issubclass(warning.category, CardanWarning):
            ui.notify(
                str(warning.message), type="warning", position="bottom-left", multi_line=True,
                close_button=True, timeout=8000,
            )  # fmt: skip


def _refused(page: Page, robot: Robot, form: str, message: str) -> None:
    """Say why; of URDF the rest can be had."""
    try:
        rest = write_urdf(robot, drop=True) if form == "urdf" else ""
    except CardanError:
        rest = ""
    if not rest:
        say(message)
        return
    lines = message.splitlines()
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label(f"{robot.name[:60]} as {FORMATS[form]}").classes("text-lg")
        ui.label("\n".join(lines[:12]) + "\n..." * (len(lines) > 12)).classes("listing narrow")

        def take() -> None:
            dialog.close()
            ui.download.content(rest, f"{page.stem}.{form}")

        with ui.row().classes("w-full justify-end"):
            ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
            ui.button("Leave these out and download", on_click=take).props("no-caps unelevated")
    dialog.on("hide", dialog.delete)
    dialog.open()
