"""Models: chosen from the menu, derived by a job, read as equations, taken away as code."""

from __future__ import annotations

import asyncio
import base64
import re
from functools import partial
from typing import Any

from nicegui import ui

from ...catalogue import MENU, Entry, Option
from ...describe.bundled import bundled
from ...emit import languages
from ...errors import CardanError
from ...package.write import KINDS
from ..published import COUNTED, kind_of, published
from .equations import Equations
from .state import Page

__all__ = ["Models"]

_EXTENSIONS = {
    "c": "c", "cpp": "hpp", "fortran": "f90", "matlab": "m", "mathematica": "m", "maple": "mpl",
    "python": "py", "jax": "py", "torch": "py", "julia": "jl", "rust": "rs", "cuda": "cu",
    "text": "txt", "latex": "tex", "markdown": "md", "html": "html",
}  # fmt: skip
_HIGHLIGHT = {
    "c": "C", "cpp": "C++", "fortran": "Fortran", "python": "Python", "jax": "Python",
    "torch": "Python", "julia": "Julia", "rust": "Rust", "cuda": "C++", "latex": "sTeX",
    "markdown": "Markdown", "html": "HTML", "matlab": "Octave", "mathematica": "Mathematica",
}  # fmt: skip


class Models:
    """The panel: model and options, then equations and code."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.fields: dict[str, Any] = {}
        self.task: asyncio.Task[Any] | None = None
        self.found: dict[str, Any] = {}
        kept = page.project.page.get("model", "inverse-dynamics")
        self.name = kept if kept in MENU else "inverse-dynamics"
        with ui.column().classes("w-full"):
            with ui.row().classes("items-end w-full"):
                self.choice = ui.select(
                    {name: f"{entry.group}: {name}" for name, entry in MENU.items()},
                    value=self.name, label="Model", with_input=True,
                    on_change=lambda event: self.choose(event.value),
                ).classes("w-64")  # fmt: skip
                self.language = ui.select(
                    languages(), value=page.project.page.get("language", "c"), label="Language"
                ).classes("w-32")
                self.run = ui.button("Derive", icon="functions", on_click=self.start)
                self.run.props("no-caps unelevated")
                self.stop = ui.button("Cancel", on_click=self.cancel).props("flat no-caps")
                self.stop.set_visibility(False)
                self.busy = ui.spinner(size="1.5em")
                self.busy.set_visibility(False)
                self.status = ui.label("").classes("hint").props("role=status")
            self.options = ui.row().classes("w-full items-center options")
            self.result = ui.column().classes("w-full")
        self.choose(self.name)
        page.on_robot(self._changed)

    def _changed(self) -> None:
        """What is shown was derived from an earlier state of the robot."""
        if self.found and self.found["of"] != self.page.text:
            self.status.set_text("the robot has changed since: derive again")

    # the form

    def choose(self, name: str | None) -> None:
        """Show the options of a model."""
        if name not in MENU:
            return
        self.name = name
        if self.choice.value != name:
            self.choice.value = name
        self.options.clear()
        self.fields = {}
        entry = MENU[name]
        with self.options:
            ui.label(entry.summary).classes("hint w-full")
            for key, option in entry.options.items():
                self.fields[key] = _field(key, option)

    def question(self) -> dict[str, Any]:
        """What a job is asked."""
        entry: Entry = MENU[self.name]
        options = {}
        for key, field in self.fields.items():
            value, default = field.value, entry.options[key].default
            if value not in (None, "") and value != default:
                options[key] = value
        return {"robot": self.page.text, "model": self.name, "options": options}

    # the work

    async def start(self) -> None:
        self.page.project.remember(model=self.name, language=self.language.value)
        question = {**self.question(), "language": self.language.value}
        found = await self._work("derive", question)
        if found is not None:
            self.found = {**found, "of": question["robot"]}
            self.show()
            self._changed()

    async def _work(self, function: str, question: dict[str, Any]) -> dict[str, Any] | None:
        self._running(True)
        self.task = self.page.ask(function, self._say, **question)
        try:
            found: dict[str, Any] = await self.task
            self._say("")
            return None if self.page.closed else found
        except asyncio.CancelledError:
            self._say("cancelled")
        except CardanError as error:
            self._say(str(error))
        finally:
            self._running(False)
        return None

    def _running(self, on: bool) -> None:
        if self.page.closed:
            return
        self.run.set_enabled(not on)
        self.busy.set_visibility(on)
        self.stop.set_visibility(on)

    def _say(self, text: str) -> None:
        if not self.page.closed:
            self.status.set_text(text)

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    # the result

    def show(self) -> None:
        found = self.found
        self.status.set_text("from the cache" if found.get("cached") else "")
        self.result.clear()
        with self.result:
            self._summary(found)
            with ui.tabs().props("dense align=left no-caps") as tabs:
                equations, code = ui.tab("Equations"), ui.tab("Code")
            with ui.tab_panels(tabs, value=equations, animated=False).classes("w-full"):
                with ui.tab_panel(equations):
                    if found["text"]:
                        ui.label(found["text"]).classes("listing")
                    else:
                        Equations(found)
                panel = ui.tab_panel(code)
            code.set_visibility(bool(found["code"]))
            tabs.on_value_change(lambda: self._code(found, panel))

    def _summary(self, found: dict[str, Any]) -> None:
        with ui.row().classes("items-center figures"):
            if found["cost"]:
                cost = found["cost"]
                mul = cost["mul"] + cost["div"]
                ui.label(f"{mul} multiplications, {cost['add']} additions").classes("figure")
                ui.label(f"{cost['trig']} sin/cos").classes("hint")
            ui.label(f"derived in {found['seconds']:.2f} s").classes("hint")
            for text in self._others() if found["cost"] else []:
                ui.label(text).classes("hint others")
        remarks = found.get("remarks", [])
        if remarks:
            with ui.expansion(f"{len(remarks)} remarks").props("dense").classes("w-full remarks"):
                for remark in remarks:
                    ui.label(remark).classes("hint")

    def _others(self) -> list[str]:
        """What other systems need for the same, where that is published."""
        robot = self.page.robot
        name = next((n for n in COUNTED if bundled(n) == robot), "")
        base = self.question()["options"].get("base_parameters", False)
        figures = published(name, robot, self.name, "base" if base else kind_of(name))
        return [
            f"{figure.system}: {figure.mul} and {figure.add}"
            + f" {figure.condition}" * (not figure.holds_for(robot))
            for figure in figures
        ]

    def _code(self, found: dict[str, Any], panel: Any) -> None:
        """The text, made when it is first looked at."""
        if panel.default_slot.children:
            return
        with panel:
            self._editor(found)

    def _editor(self, found: dict[str, Any]) -> None:
        code, language = found["code"], found["language"]
        name = re.sub(r"[^a-z0-9]+", "_", f"{self.page.robot.name}_{self.name}".lower()).strip("_")
        file = f"{name}.{_EXTENSIONS.get(language, 'txt')}"
        with ui.row().classes("items-center"):
            ui.button("Copy", icon="content_copy", on_click=lambda: ui.clipboard.write(code)).props(
                "flat dense no-caps"
            )
            ui.button("Download", icon="download",
                      on_click=lambda: ui.download.content(code, file)
                      ).props("flat dense no-caps").mark("download-code")  # fmt: skip
            with ui.button("Package", icon="inventory_2").props("flat dense no-caps"), ui.menu():
                for kind in KINDS:
                    ui.menu_item(kind, partial(self._package, kind))
        dark = self.page.project.page.get("dark")
        editor = ui.codemirror(
            code, language=_HIGHLIGHT.get(language),  # type: ignore[arg-type]
            theme="oneDark" if dark else "basicLight", line_wrapping=False,
        )  # fmt: skip
        editor.props("readonly").classes("w-full code")

    async def _package(self, kind: str) -> None:
        found = await self._work("package", {**self.question(), "kind": kind})
        if found is not None:
            ui.download.content(base64.b64decode(found["zip"]), found["name"])


def _field(key: str, option: Option) -> Any:
    words = key.replace("_", " ")
    if option.kind == "flag":
        found: Any = ui.checkbox(words, value=bool(option.default))
    elif option.choices is not None:
        found = ui.select(list(option.choices), value=option.default, label=words).props("dense")
        found.classes("w-40")
    else:
        default = "" if option.default is None else str(option.default)
        found = ui.input(words, placeholder=default).props("dense").classes("w-32")
    found.tooltip(option.summary)
    return found
