"""What the models are for: the panels of the tab Use, each a title, a job and what it asks for.

A panel is an entry of `TOOLS`; its form and what it answers are shown by `form` and `answer`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from nicegui import ui

from ....catalogue import MENU
from ....control.names import LAWS, fitting
from ....describe.robot import Robot
from ....errors import CardanError, InputError
from ....motion.piecewise import LAWS as PROFILES
from ..scene.view import View
from ..server.angles import factors, unit
from ..server.state import Page
from .answer import show
from .form import Field, Form, Vector, frames, listed, of_signature
from .identification import identify
from .job import Work
from .models import spoken, tongues
from .values import Values

_RATES = {"qd": ("velocities", "/s"), "qdd": ("accelerations", "/s²")}
_PROGRAMS = {name: spoken(name) for name, entry in MENU.items() if entry.program}
_SHADES = {
    "manipulability": "manipulability", "dexterity": "dexterity: 0 is singular",
    "type-1": "how far from singular: platform at rest",
    "type-2": "how far from singular: drives at rest", "speed": "speed in the slowest direction",
    "force": "force in the weakest direction",
}  # fmt: skip
_PATHS = {"place": "to a place", "points": "through points", "line": "straight line of the tool",
          "file": "as a file says"}  # fmt: skip


@dataclass(frozen=True)
class Tool:
    """A panel: what it is called, what it asks a job for, of which robots."""

    title: str
    icon: str
    function: str
    button: str
    fields: Callable[[Page], list[Field]] = lambda page: []
    hint: str = ""
    fits: Callable[[Robot], bool] = lambda robot: True
    stands: str = "q"  # the word for where the sliders stand
    build: Callable[[Page, View], None] | None = None  # a panel of its own making


def using(page: Page, view: View) -> Callable[[str], None]:
    """The panels of the tab, one below the other; made anew for a robot of another form. What
    opens one by its title."""
    told: list[Callable[[], None]] = []  # who shows the values of symbols
    rooms: dict[str, Any] = {}

    @ui.refreshable
    def body() -> None:
        told[:] = [Values(page).changed] if page.robot.parameters else []
        for tool in TOOLS:
            if not tool.fits(page.robot):
                continue
            shown = tool.title in opened()
            with ui.expansion(tool.title, icon=tool.icon, value=shown) as panel:
                if shown:
                    _panel(tool, page, view)
            panel.props("dense duration=0").classes("w-full use-panel")
            panel.on_value_change(partial(turned, tool, panel))
            rooms[tool.title] = panel

    def opened() -> list[str]:
        """The panels that are open; another robot, or a reload, finds them so."""
        return list(page.project.page.get("panels", []))

    def turned(tool: Tool, panel: Any, event: Any) -> None:
        """A panel was opened, which makes it, or closed."""
        others = [title for title in opened() if title != tool.title]
        page.project.remember(panels=[*others, tool.title] if event.value else others)
        if not event.value:
            view.hide_ghosts()
        elif not panel.default_slot.children:
            with panel:
                _panel(tool, page, view)

    def form() -> Any:
        return page.robot.parameters, page.form, page.degrees, bool(page.robot.loops)

    body()
    shown = [form()]

    def again() -> None:
        if shown[0] != form():
            shown[0] = form()
            body.refresh()
        for changed in told:
            changed()

    page.on_robot(again)

    def reveal(title: str) -> None:
        rooms[title].set_value(True)
        ui.run_javascript(f"getHtmlElement({rooms[title].id}).scrollIntoView()")

    return reveal


def _panel(tool: Tool, page: Page, view: View) -> None:
    if tool.build is not None:
        tool.build(page, view)
        return
    if tool.hint:
        ui.label(tool.hint).classes("hint")
    form = Form(page, tool.fields(page))

    async def start(work: Work) -> None:
        try:
            question = form.question()
        except InputError as error:
            work.fail(str(error))
            return
        view.take_pose()
        if tool.function == "evaluate":
            question = _state(page, question)
        if tool.function == "modes":
            question["size"] = view.size
        question[tool.stands] = page.q.tolist()
        try:
            await work.run(tool.function, form.attached(), **question)
        except CardanError as error:
            work.fail(str(error))

    async def answered(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        if tool.function == "evaluate":
            _said(page, answer, question)
        await show(page, view, work, answer, fresh)

    def fill(question: Any) -> None:
        form.fill({**question, **question.get("inputs", {})})

    Work(page, tool.function, tool.button, start, answered, fill)


# what each asks for


def _evaluated(page: Page) -> list[Field]:
    def takes(name: str) -> Callable[[dict[str, Any]], bool]:
        def asked(values: dict[str, Any]) -> bool:
            inputs = MENU[values["model"]].inputs
            return name in inputs.replace("(", " ").replace(",", " ").split()

        return asked

    return [
        Field("model", "Model", "choice", "inverse-dynamics", _PROGRAMS),
        *(Field(name, f"{words} {name}, {unit(page.robot, page.degrees, tail=tail)}", "rates",
                [0.0], when=takes(name)) for name, (words, tail) in _RATES.items()),
        Field("tau", "torques or forces tau, N m or N", "numbers", [0.0], when=takes("tau")),
        Field("others", "other inputs: name = numbers; name = numbers", "text"),
    ]  # fmt: skip


def _state(page: Page, question: dict[str, Any]) -> dict[str, Any]:
    """The state that a model is evaluated at, with the options of the tab Models if the same model
    is chosen there."""
    inputs = {key: question.pop(key) for key in (*_RATES, "tau") if question.get(key)}
    for part in filter(str.strip, str(question.get("others", "")).split(";")):
        name, equals, numbers = part.partition("=")
        if not equals or not name.strip() or not numbers.strip():
            raise InputError(f"'{part.strip()[:60]}': expected a name = numbers with commas")
        inputs[name.strip()[:40]] = Vector(np.ones(1)).read(numbers)
    last = page.project.page
    options = last.get("options", {}) if last.get("model") == question["model"] else {}
    return {**question, "options": options, "inputs": {"q": page.q.tolist(), **inputs}}


def _said(page: Page, answer: Any, question: Any) -> None:
    """What was evaluated, and where."""
    chosen = {"model": question["model"], **question["options"]}
    words = ", ".join(spoken(x) if key == "model" else f"{key} {x}" for key, x in chosen.items())
    zero = "".join(f"; {name} ({size}) zero" for name, size in answer["zero"].items())
    at = listed(factors(page.robot, page.degrees) * question["inputs"]["q"])
    ui.label(f"{words} at q = {at} {unit(page.robot, page.degrees)}{zero}").classes("hint")


def _reached(page: Page) -> list[Field]:
    methods = {name: name for name in ("auto", "paul", "pieper", "general")}
    fields = [Field("method", "Method", "choice", "auto", methods),
              Field("frame", "Frame", "choice", "", frames(page))]  # fmt: skip
    return fields if page.robot.loops else [*fields, _pose(page)]


def _pose(page: Page, **more: Any) -> Field:
    angle = "deg" if page.degrees else "rad"
    words = f"pose: x, y, z, m; roll, pitch, yaw, {angle}"
    return Field("pose", words if more else f"{words}. Empty: where it is now", "pose", **more)


def _motion(
    page: Page, asked: Callable[[dict[str, Any]], bool] = lambda values: True
) -> list[Field]:
    """A motion from where the sliders stand."""

    def when(*paths: str) -> Callable[[dict[str, Any]], bool]:
        return lambda values: asked(values) and values.get("path") in paths

    some = {key: x for key, x in _PATHS.items() if key != "line" or not page.robot.ne}
    profiles = {name: name for name in PROFILES}
    return [
        Field("path", "Motion", "choice", "place", some, when=asked),
        Field("duration", "duration, s", "number", 1.0, least=0.01, most=3600,
              when=lambda values: values.get("path") != "file"),
        Field("law", "law", "choice", "quintic", profiles, when=when("place", "line")),
        Field("to", "to", "positions", [0.5], when=when("place")),
        Field("points", "points, one per line; a time may come first", "points", [],
              when=when("points")),
        _pose(page, when=when("line")),
        Field("trajectory", "Drop a .csv here, or choose one: t, q1 .. qn", "file",
              when=when("file")),
    ]  # fmt: skip


def _payload(page: Page) -> Field:
    words = "a mass in the hand; its place is in the frame of the end effector, m"
    return Field("payload", "payload, if any: kg, or kg, x, y, z", "numbers", hint=words)


def _simulated(page: Page) -> list[Field]:
    fit = fitting(page.robot)
    drives = {
        "free": "let go", "torque": "constant torques",
        **{name: f"{law.words} to" for name, law in LAWS.items() if name in fit},
        "prescribed": "moved as prescribed to",
    }  # fmt: skip
    motion = _motion(page, lambda values: values["drive"] not in ("free", "torque"))
    motion = [replace(x, value=2.0, most=60.0) if x.key == "duration" else x for x in motion]
    return [
        Field("drive", "Drive", "choice", "free", drives),
        Field("bandwidth", "bandwidth, rad/s", "number", 10.0, least=0.1, most=1000,
              when=lambda values: values["drive"] in LAWS),
        *motion,
        Field("numbers", "torques", "torques", [0.0],
              when=lambda values: values["drive"] == "torque"),
        Field("qd", "first velocities", "velocities", [0.0],
              when=lambda values: values["drive"] != "prescribed"),
        *([Field("twist", "first velocity of the base, in its axes: vx .. wz", "twist", [0.0])]
          if page.robot.base.kind == "floating" else []),
        _payload(page),
    ]  # fmt: skip


def _compared(page: Page) -> list[Field]:
    laws = {name: LAWS[name].words for name in fitting(page.robot)}
    return [
        Field("laws", "Laws", "several", [x for x in ("pd", "computed-torque") if x in laws], laws),
        Field("bandwidth", "bandwidth, rad/s", "number", 10.0, least=0.1, most=1000),
        Field("error", "error of the model, %", "number", 10.0, least=0, most=90),
        *_motion(page), _payload(page),
    ]  # fmt: skip


def _excited(page: Page) -> list[Field]:
    from ....identification import excite  # brings SciPy's users: not before the panel is wanted

    criteria = {"condition": "condition number", "determinant": "determinant"}
    labels = {"period": "period, s", "harmonics": "harmonics", "starts": "random motions tried",
              "iterations": "iterations", "velocity": "largest velocities, if not the robot's",
              "acceleration": "largest accelerations, if not the robot's"}  # fmt: skip
    fields = of_signature(excite, labels)
    return [*fields[:4], Field("criterion", "criterion", "choice", "condition", criteria),
            *fields[4:]]  # fmt: skip


def _space(page: Page) -> list[Field]:
    shades = {key: words for key, words in _SHADES.items()
              if page.robot.loops or not key.startswith("type")}  # fmt: skip
    own = [Field("samples", "configurations", "whole", 20_000, least=100, most=2_000_000),
           Field("frame", "Frame", "choice", "", frames(page)),
           Field("measure", "Colour", "choice", "manipulability", shades)]  # fmt: skip
    ways = {"home": "the assembly it stands in", "all": "all assemblies"}
    return [*own, Field("assemblies", "Loops", "choice", "home", ways)] if page.robot.loops else own


def _singular(page: Page) -> list[Field]:
    return [
        Field("frame", "Frame", "choice", "", frames(page)),
        Field("rows", "rows of the task, such as x y rz; empty: its own", "text"),
        Field("tool", "point of the frame, such as L2, 0, 0", "text"),
    ]


def _reduced(page: Page) -> list[Field]:
    return [
        Field("tolerance", "tolerance, %", "number", 1.0, least=0, most=50),
        Field("language", "Language", "choice", "c", tongues()), *_motion(page), _payload(page),
    ]  # fmt: skip


def _tabulated(page: Page) -> list[Field]:
    degrees = {"3": "cubic", "1": "linear"}
    return [
        Field("points", "values per joint", "whole", 8, least=4, most=64),
        Field("degree", "Interpolation", "choice", "3", degrees),
        Field("tolerance", "tolerance of the reduced model, %", "number", 1.0, least=0, most=50),
    ]


def _linear(page: Page) -> list[Field]:
    laws = {"": "none"} | {name: LAWS[name].words for name in fitting(page.robot, programs=True)}
    return [
        Field("control", "Law that holds it", "choice", "", laws),
        Field("bandwidth", "bandwidth, rad/s", "number", 10.0, least=0.1, most=1000),
    ]


def _swept(page: Page) -> list[Field]:
    return [
        Field("model", "Model", "choice", "inverse-dynamics", _PROGRAMS),
        Field("states", "states drawn", "whole", 1000, least=0, most=2_000_000),
        Field("table", "Or drop a table here: q1 .., qd1 .., .csv or .parquet", "file"),
    ]


def _written(page: Page) -> list[Field]:
    forms = {"html": "web page", "pdf": "PDF", "tex": "LaTeX"}
    return [Field("form", "Form", "choice", "html", forms)]


def _is_arm(robot: Robot) -> bool:
    return not (robot.constrained or robot.ne)


def _is_rigid(robot: Robot) -> bool:
    return not robot.ne and robot.base.kind == "fixed"


_SLIDERS = "From where the sliders stand."
TOOLS = (
    Tool("Evaluate a model", "calculate", "evaluate", "Evaluate", _evaluated,
         "q is where the sliders stand; a number stands for all, and inputs that are not given are "
         "zero. Options are those of the tab Models, if the same model is chosen there."),
    Tool("Inverse geometry", "route", "inverse", "Solve", _reached,
         "All configurations that bring a frame to a pose."),
    Tool("Assemblies", "hub", "assemblies", "List them",
         hint="All ways to close the loops where the active joints are; of a platform its poses.",
         fits=lambda robot: bool(robot.loops)),
    Tool("Workspace", "public", "workspace", "Map it", _space,
         "Where a frame can be, within the limits of the joints; how well it moves there, or how "
         "near a singularity is."),
    Tool("Singularities", "warning_amber", "singular", "List them", _singular,
         "The determinant of the Jacobian in factors, and what each means.", fits=_is_arm),
    Tool("Torques of a motion", "show_chart", "motion", "Compute and play",
         lambda page: [*_motion(page), _payload(page)], _SLIDERS, stands="from"),
    Tool("Simulate", "play_circle", "simulation", "Simulate", _simulated, _SLIDERS),
    Tool("Compare control laws", "compare_arrows", "comparison", "Compare", _compared,
         f"{_SLIDERS} The laws know a model that is wrong by so much.",
         fits=lambda robot: bool(fitting(robot))),
    Tool("Linear system", "timeline", "linear", "Linearise", _linear,
         "About rest, where the sliders stand: xd = A x + B tau.", fits=lambda robot: not robot.ne),
    Tool("Exciting motion", "vibration", "excitation", "Design", _excited,
         "A motion worth recording, within the limits of the robot, for identification.",
         fits=_is_rigid),
    Tool("Identify from a log", "analytics", "identification", "Identify", build=identify),
    Tool("Natural frequencies", "graphic_eq", "modes", "Compute",
         hint="Of robots with flexible links or elastic joints, where the sliders stand."),
    Tool("Reduced model", "compress", "reduction", "Reduce", _reduced,
         f"{_SLIDERS} Terms of the inverse dynamics that hardly count on the motion are left out.",
         fits=_is_arm),
    Tool("Tables of the model", "grid_on", "tables", "Tabulate", _tabulated,
         "Inverse dynamics from tables of its coefficients, beside itself and the reduced model.",
         fits=lambda robot: _is_arm(robot) and _is_rigid(robot)),
    Tool("Sweep", "table_rows", "sweep", "Evaluate all", _swept,
         "A model for every row of a table, or for states drawn within the limits."),
    Tool("Sheet", "description", "sheet", "Write it", _written,
         "The robot and its models on a few pages: picture, tables, equations."),
)  # fmt: skip
