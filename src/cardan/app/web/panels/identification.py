"""Identify: a log is uploaded, its columns are chosen by name, the recipe is a form of its keys."""

from __future__ import annotations

import tomllib
from dataclasses import fields, is_dataclass
from typing import Any

from nicegui import ui

from ....errors import CardanError, InputError
from ..scene.view import View
from ..server.state import Page
from .answer import show
from .form import Field, Form
from .job import Work

_SIGNALS = {"position": "Positions", "torque": "Torques", "velocity": "Velocities, if recorded"}
_SAID = {"true": "yes", "false": "no", "kc97": "of [KC97]"}  # words of recipes, for readers
_ORDER = "columns in the order of the joints; empty: by their usual names"
# keys that the columns, or the server, decide
_ELSEWHERE = {"log": ("time", "files"), "position": ("columns",), "torque": ("columns",),
              "velocity": ("columns", "used"), "acceleration": None, "assembly": None}  # fmt: skip
_TITLES = {"reference": "Commanded positions", "control": "Control of the joints",
           "transmission": "Motor positions = matrix · joint positions", "fit": "Least squares",
           "consistent": "Bodies that can exist"}  # fmt: skip


def identify(page: Page, view: View) -> None:
    """The form, and what it gives."""
    log: dict[str, Any] = {}

    async def taken(entry: Any) -> None:
        """Learn what the log holds."""
        try:
            answer = await page.ask("columns", lambda text: None, digest=entry.digest,
                                    attached=entry.attached)  # fmt: skip
        except CardanError as error:
            work.fail(str(error))
            return
        log["columns"] = answer["columns"]
        work.say(f"{len(answer['columns'])} columns, {answer['rows']} rows")
        _offer(form, answer["columns"])

    form = Form(page, [
        Field("log", "Drop a log here, or choose one: .csv, .parquet, .mat, a ROS bag", "file",
              taken=taken),
        Field("validation", "A second log, which is only predicted, if there is one", "file"),
        Field("time", "Time", "choice", "", {"": "by its usual name"}),
        *(Field(key, f"{words}: {_ORDER}", "several", [], {})
          for key, words in _SIGNALS.items()),
    ])  # fmt: skip
    recipe = _Recipe()

    async def start(work: Work) -> None:
        try:
            chosen = form.question()
            table = recipe.table()
        except InputError as error:
            work.fail(str(error))
            return
        if not chosen["log"]:
            work.fail("upload a log first: .csv, .parquet, .mat, a ROS bag")
            return
        if chosen["time"]:
            table.setdefault("log", {})["time"] = chosen["time"]
        for key in _SIGNALS:
            if chosen[key]:
                table.setdefault(key, {})["columns"] = chosen[key]
        await work.run("identification", form.attached(), recipe=table, log=chosen["log"],
                       validation=chosen["validation"])  # fmt: skip

    async def answered(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        await show(page, view, work, answer, fresh)

    work = Work(page, "identification", "Identify", start, answered,
                lambda question: recipe.fill(question["recipe"]))  # fmt: skip


def _offer(form: Form, columns: list[str]) -> None:
    """Columns to choose from."""
    names = {name: name for name in columns}
    form.entries["time"].element.set_options({"": "by its usual name", **names}, value="")
    for key in _SIGNALS:
        form.entries[key].element.set_options(names, value=[])


class _Recipe:
    """Every key of a recipe, with the default that it has; what is empty is left to it."""

    def __init__(self) -> None:
        from ....identification.recipe import Recipe  # brings SciPy's users: not before it is asked

        self.keys: dict[tuple[str, str], Any] = {}
        with ui.expansion("Recipe: units, filters, friction, fit").props("dense").classes("w-full"):
            for section in fields(Recipe):
                default: Any = section.default
                skipped = _ELSEWHERE.get(section.name, ())
                if not is_dataclass(default) or skipped is None:
                    continue
                about = " ".join((type(default).__doc__ or "").split())
                title = _TITLES.get(section.name, section.name.capitalize())
                with ui.label(title).classes("name q-mt-sm"):
                    ui.tooltip(about)
                with ui.element("div").classes("recipe"):
                    for key in fields(default):
                        if key.name not in skipped:
                            self._key(section.name, key, getattr(default, key.name))

    def _key(self, section: str, key: Any, default: Any) -> None:
        read, words = key.metadata["read"], key.metadata["words"]
        allowed, usual = getattr(read, "allowed", ()), _shown(default)
        if allowed:
            names = {word: _SAID.get(word, word) for word in allowed if word != usual}
            names = {"": f"{_SAID.get(usual, usual)}, if not said", **names}
            box: Any = ui.select(names, value="", label=words)
        else:
            box = ui.input(words, placeholder=usual)
        self.keys[section, key.name] = box.props("dense stack-label")

    def table(self) -> dict[str, Any]:
        """What was typed, as a recipe."""
        table: dict[str, Any] = {}
        for (section, key), box in self.keys.items():
            text = str(box.value or "").strip()
            if text:
                table.setdefault(section, {})[key] = _value(text)
        return table

    def fill(self, table: Any) -> None:
        for (section, key), box in self.keys.items():
            text = _shown((table or {}).get(section, {}).get(key, ""))
            box.value = text if text in getattr(box, "options", [text]) else ""  # the usual choice


def _shown(value: Any) -> str:
    """A value of a recipe as it is typed here."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _value(text: str) -> Any:
    """A value as TOML has it: a number, true or false, a list; words may stand without quotes."""
    for spelt in (text, f"[{text}]" if "," in text else text):
        try:
            return tomllib.loads(f"x = {spelt}")["x"]
        except tomllib.TOMLDecodeError:
            continue
    return text
