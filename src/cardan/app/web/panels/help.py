"""Help: a tour of five steps, a list of all commands, limits of work, links that hold a robot."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any

from nicegui import ui

from ....describe.files import accepted, dumps, read_bytes
from ....describe.robot import Robot
from ....errors import CardanError
from ....version import __version__
from .. import WORDS
from ..jobs.pool import Limits
from ..server.remembered import fitting
from ..server.state import Page
from .cells import say
from .menus import choose_from, confirm
from .tools import TOOLS

if TYPE_CHECKING:
    from .page import _Left

_STEPS = (
    ("Robot", "Describe it", "A row for each link: its joint, what it stands on, its parameters. "
     "Robot > Open has bundled robots and your files."),
    ("Robot", "Move it", "Sliders move the joints; drag the red ball to move the tool. The buttons "
     "over the picture show frames, lengths and masses."),
    ("Models", "Derive", "Choose a model and press Derive: equations to read, and in Code the "
     "same in C, Python, MATLAB and others."),
    ("Use", "Use it", "Inverse geometry, torques of motions, simulation, identification from a "
     "log. Symbols take their values at the top."),
    ("Robot", "Keep it", "All that you do is saved. Ctrl+S keeps a robot under a name, Ctrl+Z "
     "takes back any change, Ctrl+K finds any command."),
)  # fmt: skip
_TIMES = {60: "1 minute", 120: "2 minutes", 300: "5 minutes", 900: "15 minutes", 3600: "1 hour"}
_LARGEST = 1_000_000  # bytes of a robot in a link


class Tour:
    """Offered once, in a line above the tables; its steps stand in a corner and stop nobody."""

    def __init__(self, page: Page, tabs: Any, room: Any) -> None:
        self.page, self.tabs, self.at = page, tabs, 0
        with ui.row().classes("w-full items-center tour-bar") as self.bar:
            ui.label("New here?").classes("hint")
            ui.button("A tour of five steps", on_click=self.start).props("flat dense no-caps")
            ui.button("No, thanks", on_click=self.end).props("flat dense no-caps")
        self.bar.move(room, 0)
        self.bar.set_visibility(not page.project.page.get("toured"))
        with ui.column().classes("tour") as self.card:
            self.card.props('role=dialog aria-label="A tour of five steps"')
            self.title = ui.label("").classes("name")
            self.words = ui.label("").props("role=status")
            with ui.row().classes("w-full items-center"):
                self.count = ui.label("").classes("hint")
                ui.space()
                ui.button("End", on_click=self.end).props("flat dense no-caps")
                self.more = ui.button(on_click=self._next).props("dense no-caps unelevated")
        self.card.set_visibility(False)

    def start(self) -> None:
        self.at = 0
        self._show()

    def _next(self) -> None:
        self.at += 1
        if self.at < len(_STEPS):
            self._show()
        else:
            self.end()

    def _show(self) -> None:
        tab, title, words = _STEPS[self.at]
        self.tabs.set_value(tab)
        self.title.set_text(title)
        self.words.set_text(words)
        self.count.set_text(f"{self.at + 1} of {len(_STEPS)}")
        self.more.set_text("Next" if self.at + 1 < len(_STEPS) else "Done")
        self.card.set_visibility(True)
        self.bar.set_visibility(False)

    def end(self) -> None:
        self.card.set_visibility(False)
        self.bar.set_visibility(False)
        self.page.project.remember(toured=True)


def palette(left: _Left, menus: Mapping[str, Sequence[Any]]) -> None:
    """All commands of the menus and all panels, in a list that gets shorter as one types."""
    work: dict[str, Callable[[], Any]] = {}
    hints: dict[str, str] = {}
    for title, items in menus.items():
        for item in filter(None, items):
            work[item[0]], hints[item[0]] = item[2], f"{title}: {item[1]}" if item[1] else title
    for tool in TOOLS:
        if tool.fits(left.page.robot):
            words = f"Use: {tool.title}" if tool.title in work else tool.title  # or a model's name
            work[words], hints[words] = partial(left.use, tool.title), "Use"
    choose_from("Find a command", hints, lambda name: work[name]())


def limits(page: Page) -> None:
    """How much processor time a job may take."""
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("Limits of work").classes("text-lg").props("role=heading aria-level=2")
        ui.label("A job that takes longer is stopped. Cancel stops it sooner.").classes("hint")
        now = int(page.project.page.get("seconds", Limits().seconds))
        times = {**_TIMES, now: _TIMES.get(now, f"{now} s")}
        choice = ui.select(times, value=now, label="Processor time of a job").classes("w-full")

        def apply() -> str:
            page.project.remember(seconds=int(choice.value))
            return ""

        confirm(dialog, "Set", apply)


def about() -> None:
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label(f"Cardan {__version__}").classes("text-lg").props("role=heading aria-level=2")
        ui.label("Symbolic and recursive modelling of robots: equations, code with few operations, "
                 "simulation, control, identification. `cardan --help` lists the same work for the "
                 "command line.").classes("narrow")  # fmt: skip
        for words, address in _addresses().items():
            ui.link(words, address, new_tab=True)
        ui.button("Close", on_click=dialog.close).props("flat no-caps")
    dialog.on("hide", dialog.delete)
    dialog.open()


def _addresses() -> dict[str, str]:
    """Where the documentation and the source are, as the package says."""
    try:
        listed = metadata("cardan").get_all("Project-URL") or []
    except PackageNotFoundError:
        return {}
    known = dict(entry.split(", ", 1) for entry in listed)
    return {words: known[words] for words in ("Documentation", "Source") if words in known}


def share(page: Page) -> None:
    """Copy a link to this server that holds the robot itself and the values of its symbols."""
    text = link_of(page.robot, page.known_values())
    ui.run_javascript(f"navigator.clipboard.writeText(location.origin + '/?robot={text}')")
    words = "copied: whoever may open this server can open the robot by the link"
    words += "; its surfaces are not in it" * bool(page.surfaces())
    ui.notify(words, position="top", timeout=3000)


def link_of(robot: Robot, values: dict[str, Any]) -> str:
    """The robot as .toml text, with the values of its symbols where there are some."""
    text = dumps(robot, "toml")
    content = json.dumps({"robot": text, "values": values}) if values else text
    return base64.urlsafe_b64encode(zlib.compress(content.encode(), 9)).decode().rstrip("=")


def of_link(text: str) -> tuple[Robot, dict[str, Any]]:
    """The robot that a link holds, and the values of its symbols; an error where it holds none."""
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        stream = zlib.decompressobj()
        content = stream.decompress(packed, _LARGEST)
        if not stream.eof:  # what is left may read as another robot
            raise ValueError("cut off, or too long")
        values: dict[str, Any] = {}
        if content.startswith(b"{"):  # no .toml text does
            found = json.loads(content)
            content = str(found["robot"]).encode()
            values = fitting({"values": found["values"]})[0]["values"]
    except (ValueError, KeyError, TypeError, RecursionError, zlib.error):
        raise CardanError("this link holds no robot, or only a part of one") from None
    return accepted(*read_bytes(content, "link.toml"), "link.toml"), values


def offer(page: Page, link: str) -> None:
    """Ask whether the robot of a link is to be opened; undo brings back the one that is there."""
    try:
        robot, values = of_link(link)
    except CardanError as error:
        say(error.told(WORDS))
        return
    with ui.dialog() as dialog, ui.card().classes("min-w-96"):
        ui.label("Open the robot of this link?").classes("text-lg").props(
            "role=heading aria-level=2"
        )
        ui.label(f"{robot.name[:60]}, {robot.n} joints").classes("name")
        ui.label("Undo brings back the robot that is here now.").classes("hint")

        def apply() -> str:
            return page.open(robot) or (page.set_values(values) if values else "")

        confirm(dialog, "Open", apply)
