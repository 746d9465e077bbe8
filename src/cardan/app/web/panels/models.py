"""Models: chosen from the menu, derived by a job, read as equations, taken away as code."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from functools import partial
from typing import Any

from nicegui import background_tasks, ui

from ....catalogue import MENU, Entry, Option
from ....describe.bundled import bundled
from ....emit import languages
from ....errors import CardanError
from ....package.write import KINDS
from ...published import COUNTED, kind_of, published
from .. import WORDS
from ..server.state import Page
from ..server.store import robot_of
from .equations import Equations

_LANGUAGES = {  # what they are called, the end of their files, how the editor colours them
    "c": ("C", "c", "C"), "cpp": ("C++", "hpp", "C++"), "fortran": ("Fortran", "f90", "Fortran"),
    "matlab": ("MATLAB", "m", "Octave"), "mathematica": ("Mathematica", "m", "Mathematica"),
    "maple": ("Maple", "mpl", None), "python": ("Python", "py", "Python"),
    "jax": ("JAX", "py", "Python"), "torch": ("PyTorch", "py", "Python"),
    "julia": ("Julia", "jl", "Julia"), "rust": ("Rust", "rs", "Rust"),
    "cuda": ("CUDA", "cu", "C++"), "text": ("plain text", "txt", None),
    "latex": ("LaTeX", "tex", "sTeX"), "markdown": ("Markdown", "md", "Markdown"),
    "html": ("HTML", "html", "HTML"),
}  # fmt: skip
_MODELS = {
    "jdot-qdot": "J\u0307 q\u0307",
    "bias": "bias torques",
    "lagrange": "Lagrange's equations",
}
_WORDS = {"f_e": "external wrenches f_e"}  # options whose name says little
# for those who cannot see it: the editor is there a moment after its place
_NAMED = """
let tries = 100;
const name = () => {
  const text = getElement(%d)?.$el.querySelector('.cm-content');
  if (text) {
    text.setAttribute('aria-label', %s);
    text.parentElement.setAttribute('tabindex', 0); // keys scroll it
  } else if (tries--) setTimeout(name, 50);
};
name();
"""
_NUMERIC = ("ros2", "fmu")  # packages of numbers: symbols take the values of the tab Use


def spoken(model: str) -> str:
    """What a model of the menu is called where it is read."""
    whole = model.removesuffix("-derivatives")
    if whole != model:
        return f"derivatives of the {spoken(whole)}"
    return _MODELS.get(model, model.replace("-", " "))


def tongues() -> dict[str, str]:
    """The languages of code, and what they are called."""
    return {name: _LANGUAGES[name][0] if name in _LANGUAGES else name for name in languages()}


class Models:
    """The panel: model and options, then equations and code."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.fields: dict[str, Any] = {}
        self.task: asyncio.Task[Any] | None = None
        self.asked: dict[str, Any] = {}
        self.answer: dict[str, Any] = {}
        self.tabs: Any = None
        self.robot = page.robot.name  # that the result is of
        last = page.project.page.get("model", "inverse-dynamics")
        self.name = last if last in MENU else "inverse-dynamics"
        with ui.column().classes("w-full models"):
            with ui.row().classes("items-center w-full no-wrap model-bar"):
                self.choice = ui.select(
                    {name: f"{entry.group}: {spoken(name)}" for name, entry in MENU.items()},
                    value=self.name, label="Model", with_input=True,
                    on_change=lambda event: self.choose(event.value),
                ).classes("model-choice").props("dense")  # fmt: skip
                self.run = ui.button("Derive", icon="functions", on_click=self.start)
                self.run.props('no-caps unelevated data-key=enter title="Ctrl+Enter"')
                self.more = ui.button("Options", icon="tune", on_click=self._unfold)
                self.more.props("flat no-caps").set_visibility(False)
                self.stop = ui.button("Cancel", on_click=self.cancel).props("flat no-caps")
                self.stop.set_visibility(False)
                self.busy = ui.spinner(size="1.5em")
                self.busy.set_visibility(False)
                ui.space()
                self.heads = ui.row().classes("no-wrap")  # Equations, Code
            self.status = ui.label("").classes("hint status").props("role=status")
            self.options = ui.column().classes("w-full options")
            self.result = ui.column().classes("w-full")
        self.choose(self.name)
        self._found_again()
        interrupted = page.interrupted("models")
        if interrupted:
            self._say(interrupted, wrong=True)
        page.on_robot(self._changed)

    def _found_again(self) -> None:
        """After a reload: the same form, and the result if it is still kept."""
        for key, value in self.page.project.page.get("options", {}).items():
            if key in self.fields:
                self.fields[key].value = value
        question = self.question()
        key = self.page.jobs.key("derive", **question)
        if self.page.jobs.keeps(key):
            self.show(question, self.page.jobs.kept(key))
        elif self.page.results is not None:
            background_tasks.create(self._from_disk(), name="result")

    async def _from_disk(self) -> None:
        """The last result, of an earlier run of the server or an earlier state of the robot."""
        page = self.page
        assert page.results is not None
        last = await asyncio.to_thread(page.results.find, page.project.path.stem, "models")
        if last is None or page.closed or self.asked or self.task is not None:
            return
        about, result = last
        if about["key"] != page.jobs.key("derive", **about["question"]):
            return  # of another version
        page.jobs.restore(about["key"], result)
        with self.result:
            self.robot = about["name"]
            self.show(about["question"], page.jobs.kept(about["key"]))
        self._changed()

    def _keep(self, question: dict[str, Any], key: str) -> None:
        page = self.page
        result = page.jobs.result(key)
        if page.results is not None and result is not None:
            about = {"question": question, "key": key, "name": self.robot}
            page.results.keep(page.project.path.stem, "models", about, result)

    def _changed(self) -> None:
        """What is shown was derived from an earlier state of the robot."""
        if self.asked and self.asked["robot"] != self.page.text:
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
        self.options.classes(remove="folded")
        self.fields = {}
        entry = MENU[name]
        with self.options:
            ui.label(entry.summary).classes("hint w-full")
            for flags in (False, True):  # boxes to tick stand together, below the others
                chosen = {k: x for k, x in entry.options.items() if (x.kind == "flag") == flags}
                with ui.row().classes("items-end option-row"):
                    self.fields |= {key: _field(key, option) for key, option in chosen.items()}

    def _unfold(self) -> None:
        """The options make room for the result, and come back when asked for."""
        self.options.classes(toggle="folded")

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
        question = self.question()
        self.page.project.remember(model=self.name, options=question["options"])
        hints = {"language": self.language}
        self.page.begin("models")
        answer = await self._work("derive", question, hints=hints)
        self.page.end("models")
        if answer is not None:
            same = (question, answer["key"]) == (self.asked, self.answer.get("key"))
            if same and answer.get("cached"):
                self._say("")  # it is shown already: what was opened in it stays
            else:
                self.show(question, answer)
            self._keep(question, answer["key"])
            self._changed()
        elif not self.page.closed:  # what is below would be of another question
            self.asked, self.answer, self.tabs = {}, {}, None
            self._clear()

    async def optimise(self) -> None:
        """Derive once more, by the search for the fewest operations."""
        field = self.fields.get("effort")
        if field is None:
            self._say(f"{spoken(self.name)}: it has one form only: there is nothing to search for")
            return
        field.value = "max"
        await self.start()

    async def as_code(self, language: str) -> None:
        """The chosen model in a language; derived first, if it is not there."""
        self.page.project.remember(language=language)
        if self.asked != self.question():
            await self.start()
        else:
            self.show(self.asked, self.answer)
        if self.tabs is not None and self.asked == self.question():
            self.tabs.set_value("Code")

    @property
    def language(self) -> str:
        last = self.page.project.page.get("language", "c")
        return last if last in languages() else "c"

    async def _work(
        self, function: str, question: dict[str, Any], **more: Any
    ) -> dict[str, Any] | None:
        self._running(True)
        self._say("starting")
        self.task = self.page.ask(function, self._say, **question, **more)
        try:
            answer: dict[str, Any] = await self.task
            self._say("")
            return None if self.page.closed else answer
        except asyncio.CancelledError:
            changed = question["robot"] != self.page.text
            self._say("the robot has changed meanwhile: start again" if changed else "cancelled")
        except CardanError as error:
            self._say(error.told(WORDS), wrong=True)
        finally:
            self._running(False)
        return None

    def _running(self, on: bool) -> None:
        if self.page.closed:
            return
        self.run.set_enabled(not on)
        self.busy.set_visibility(on)
        self.stop.set_visibility(on)

    def _say(self, text: str, wrong: bool = False) -> None:
        if not self.page.closed:
            self.status.set_text(text)
            self.status.classes(**{"add" if wrong else "remove": "error"})

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    # the result

    def show(self, question: dict[str, Any], answer: dict[str, Any]) -> None:
        self.asked, self.answer = question, answer
        if question["robot"] == self.page.text:
            self.robot = self.page.robot.name
        self.status.set_text("")
        self.options.classes("folded")
        self.more.set_visibility(True)
        self._clear()
        with self.heads, ui.tabs().props("dense align=left no-caps breakpoint=0") as tabs:
            equations, code = ui.tab("Equations"), ui.tab("Code")
        with self.result:
            with ui.tab_panels(tabs, value=equations, animated=False).classes("w-full"):
                with ui.tab_panel(equations):
                    if answer["text"]:
                        self._summary(answer)
                        ui.label(answer["text"]).classes("listing")
                    else:
                        with Equations(f"/result/{answer['key']}/lines", answer["left_out"]):
                            self._summary(answer)
                panel = ui.tab_panel(code)
            code.set_visibility(answer["emits"])
            tabs.on_value_change(lambda: self._code(answer, panel))
        self.tabs = tabs if answer["emits"] else None

    def _clear(self) -> None:
        self.heads.clear()
        self.result.clear()

    def _summary(self, answer: dict[str, Any]) -> None:
        with ui.row().classes("items-center figures"):
            ui.label(f"{spoken(self.asked['model'])} of {self.robot}").classes("name")
            cost, *more = counted(answer)
            ui.label(cost).classes("figure")
            ui.label("; ".join([*more, f"derived in {answer['seconds']:.2f} s"])).classes("hint")
            for text in self._others() if answer["cost"] else []:
                ui.label(text).classes("hint others")
        remarks = answer.get("remarks", [])
        if remarks:
            with ui.expansion(f"{len(remarks)} remarks").props("dense").classes("w-full remarks"):
                for remark in remarks:
                    ui.label(remark).classes("hint")

    def _others(self) -> list[str]:
        """What other systems need for the same, where that is published."""
        if set(self.asked["options"]) - {"base_parameters", "method", "effort"}:
            return []  # of a part of the model, or of another frame, nothing is
        robot = robot_of(self.asked["robot"])  # the page may show another one by now
        name = next((n for n in COUNTED if bundled(n) == robot), "")
        base = self.asked["options"].get("base_parameters", False)
        figures = published(name, robot, self.asked["model"], "base" if base else kind_of(name))
        return [
            f"{figure.system}: {figure.mul} and {figure.add}"
            + f" {figure.condition}" * (not figure.holds_for(robot))
            for figure in figures
        ]

    async def _code(self, answer: dict[str, Any], panel: Any) -> None:
        """The text, made when it is first looked at."""
        if not panel.default_slot.children:
            code = Code(self, self.asked, answer["key"], panel)
            await code.show(self.language)

    async def package(self, question: dict[str, Any], kind: str) -> None:
        values = self.page.values if kind in _NUMERIC else {}
        answer = await self._work("package", {**question, "kind": kind, "values": values})
        if answer is not None:
            data = json.loads(self.page.jobs.part(answer["key"], "zip") or '""')
            ui.download.content(base64.b64decode(data), answer["name"])

    async def text_of(self, question: dict[str, Any], derived: str, language: str) -> str | None:
        """The code in a language: what is kept, or written from the program that is kept."""
        jobs = self.page.jobs
        part = jobs.part(derived, f"code.{language}")
        if part is None:
            attached = jobs.part(derived, "program")
            answer = await self._work("code", {**question, "language": language}, attached=attached)
            part = jobs.part(answer["key"], f"code.{language}") if answer else None
        return None if part is None else str(json.loads(part))


def counted(answer: dict[str, Any]) -> list[str]:
    """What a model costs at each state; then what the code does besides, on the parameters alone,
    in every call where it is not split."""
    if not answer["cost"]:
        return [""]
    once = answer.get("once") or {}
    words = _operations(answer["cost"])
    if not any(once.values()):
        return words
    both = _operations({key: x + once[key] for key, x in answer["cost"].items()})
    alone = ", ".join(_operations(once))
    return [*words, f"once per parameter set {alone}; a call that does both, where the code has no "
                    f"setup of its own, {both[0]}"]  # fmt: skip


def _operations(cost: dict[str, int]) -> list[str]:
    few = {"trig": "sin/cos", "sqrt": "square root", "sign": "sign"}
    mul = cost["mul"] + cost["div"]
    rest = [f"{cost[key]} {words}" for key, words in few.items() if cost.get(key)]
    return [f"{mul} multiplications, {cost['add']} additions", *rest]


class Code:
    """The code of a derived model, in a language that can be changed."""

    def __init__(self, models: Models, question: dict[str, Any], derived: str, panel: Any) -> None:
        self.models, self.question, self.derived = models, question, derived
        self.text, self.file = "", "model.txt"
        self.editor: Any = None
        self.asked = ""  # the language that was chosen last
        with panel:
            with ui.row().classes("items-center code-bar"):
                ui.select(
                    tongues(), value=models.language, label="Language",
                    on_change=lambda event: self.show(event.value),
                ).classes("w-36").props("dense")  # fmt: skip
                self.ready = [
                    self._button("Copy", "content_copy", self._copy),
                    self._button("Download", "download",
                                 lambda: ui.download.content(self.text, self.file)),
                ]  # fmt: skip
                with self._button("Package", "inventory_2", None), ui.menu().props("auto-close"):
                    for kind, about in KINDS.items():
                        item = ui.menu_item(kind, partial(models.package, question, kind))
                        item.props["title"] = about.summary
            self.room = ui.column().classes("w-full")
        models.page.on_theme(self.room, self._themed)

    def _copy(self) -> None:
        ui.clipboard.write(self.text)
        ui.notify("copied", position="top", timeout=1200)

    def _button(self, words: str, icon: str, work: Any) -> Any:
        return ui.button(words, icon=icon, on_click=work).props("flat dense no-caps")

    async def show(self, language: str) -> None:
        page = self.models.page
        page.project.remember(language=language)
        self.asked = language
        for button in self.ready:
            button.disable()  # until it is there: what is shown is of another language
        text = await self.models.text_of(self.question, self.derived, language)
        if text is None or page.closed or self.room.is_deleted or self.asked != language:
            return
        for button in self.ready:
            button.set_enabled(bool(text))
        name = re.sub(r"[^a-z0-9]+", "_", f"{page.robot.name}_{self.question['model']}".lower())
        words, ending, colours = _LANGUAGES.get(language, (language, "txt", None))
        self.text, self.file = text, f"{name.strip('_')}.{ending}"
        self.room.clear()
        with self.room:
            if not text:
                ui.label(f"This model has no form in {words}.").classes("hint")
                return
            self.editor = ui.codemirror(
                text, language=colours,  # type: ignore[arg-type]
                theme=_theme(page.dark), line_wrapping=False,
            )  # fmt: skip
            self.editor.props("readonly").classes("w-full code")
            ui.run_javascript(_NAMED % (self.editor.id, json.dumps(f"Code in {words}")))

    def _themed(self, dark: bool) -> None:
        if self.editor is not None and not self.editor.is_deleted:
            self.editor.set_theme(_theme(dark))


def _theme(dark: bool) -> Any:
    return "vscodeDark" if dark else "vscodeLight"


def _field(key: str, option: Option) -> Any:
    words = _WORDS.get(key, key.replace("_", " "))
    if option.kind == "flag":
        field: Any = ui.checkbox(words, value=bool(option.default))
    elif option.choices is not None:
        field = ui.select(list(option.choices), value=option.default, label=words).props("dense")
        field.classes("w-40")
    else:
        default = "" if option.default is None else str(option.default)
        field = ui.input(words, placeholder=default).props("dense").classes("w-32")
    field.props["title"] = option.summary
    return field
