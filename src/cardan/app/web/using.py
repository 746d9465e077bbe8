"""What the models are for: evaluate, inverse geometry, motions, simulation, identification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui import ui

from ...catalogue import MENU
from .cells import say
from .charts import chart
from .drawing import examples
from .state import Page
from .studying import identify, modes
from .view import View
from .working import Work, field, read

__all__ = ["using"]

_LAWS = ("quintic", "cubic", "septic", "bang-bang", "trapezoidal")
_DRIVES = {
    "free": "let go", "torque": "constant torques", "controller": "computed torque control to",
    "motion": "moved as prescribed to",
}  # fmt: skip


def using(page: Page, view: View) -> None:
    """The panels of the tab, one below the other; made anew for a robot of another form."""

    told: list[Callable[[], None]] = []  # who counts the values that are missing

    @ui.refreshable
    def body() -> None:
        told[:] = [_values(page)]
        for title, (icon, build) in _PANELS.items():
            with ui.expansion(title, icon=icon, value=title in opened()) as panel:
                build(page, view)
            panel.props("dense").classes("w-full use-panel")
            panel.on_value_change(lambda event, title=title: turned(title, bool(event.value)))

    def opened() -> list[str]:
        """The panels that are open; another robot, or a reload, finds them so."""
        return list(page.project.page.get("panels", []))

    def turned(title: str, on: bool) -> None:
        page.project.remember(panels=[x for x in opened() if x != title] + [title] * on)

    def form() -> Any:
        active = [joint.active for joint in page.robot.joints]
        return page.robot.variables, page.robot.parameters, active, page.robot.ne

    body()
    shown = [form()]

    def again() -> None:
        if shown[0] != form():
            shown[0] = form()
            body.refresh()
        for count in told:
            count()

    page.on_robot(again)


def driven(page: Page) -> list[int]:
    """The joint variables that drives move: all of a tree, the active ones of closed loops."""
    moving = [joint for joint in page.robot.joints if joint.sigma != 2]
    return [
        k
        for k, joint in enumerate(moving)
        if (joint.active or not page.robot.constrained) and not joint.elastic
    ]


def _values(page: Page) -> Callable[[], None]:
    """Numbers for the symbols of the robot, which every panel below needs; what counts those that
    are missing."""
    names = page.robot.parameters
    if not names:
        return lambda: None

    def title() -> str:
        missing = sum(name not in page.values for name in names)
        return f"Values of {len(names)} symbols" + f", {missing} missing" * (missing > 0)

    def given() -> str:
        return "\n".join(f"{name} = {page.values.get(name, '')}" for name in names)

    def fill() -> None:
        say(page.set_values(examples(page.robot) | page.values))
        area.value = given()

    with ui.expansion(title(), icon="tune").props("dense").classes("w-full use-panel") as room:
        area = ui.textarea(value=given()).props("outlined dense rows=8").classes("w-full listing")
        area.props["aria-label"] = "Values of the symbols"
        area.on("blur", lambda: _take_values(page, area.value or ""))
        ui.button("Fill the missing ones with examples", icon="edit_note", on_click=fill).props(
            "flat dense no-caps"
        )

    def count() -> None:
        if not room.is_deleted:
            room.set_text(title())

    return count


def _take_values(page: Page, text: str) -> None:
    values = dict(page.values)
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.partition("="))
        if value and name in page.robot.parameters:
            values[name] = value
        else:
            values.pop(name, None)
    if values != page.values:
        say(page.set_values(values))


def _evaluate(page: Page, view: View) -> None:
    programs = [entry.name for entry in MENU.values() if entry.program]
    choice = ui.select(programs, value="inverse-dynamics", label="Model").classes("w-64")
    ui.label("q is where the sliders stand; inputs that are not given are zero.").classes("hint")
    zero = np.zeros(len(driven(page)))
    fields = {name: field(name, zero) for name in ("qd", "qdd", "tau")}

    def shown() -> None:
        inputs = MENU[choice.value].inputs
        for name, one in fields.items():
            one.set_visibility(name in inputs.replace("(", " ").replace(",", " ").split())

    choice.on_value_change(shown)
    shown()

    async def start(work: Work) -> None:
        inputs = {name: read(one, work) for name, one in fields.items() if one.visible}
        if None in inputs.values():
            return
        inputs["q"] = page.q.tolist()
        found = await work.run("evaluate", model=choice.value, options={}, inputs=inputs)
        if found is None:
            return
        work.result.clear()
        with work.result:
            for name, value in found["outputs"].items():
                with np.printoptions(precision=6, suppress=True, linewidth=110):
                    ui.label(f"{name} =\n{np.array(value)}").classes("listing")

    Work(page, "Evaluate", start)


def _inverse(page: Page, view: View) -> None:
    ui.label("All configurations that bring the end effector where it is now.").classes("hint")
    method = ui.select(["auto", "paul", "pieper", "general"], value="auto", label="Method")
    method.classes("w-40").props("dense")

    async def start(work: Work) -> None:
        found = await work.run("inverse", q=page.q.tolist(), method=method.value)
        if found is None:
            return
        q = np.array(found["q"]).reshape(-1, page.robot.n)
        work.say(f"{len(q)} configurations by {found['method']}: {found['reason']}")
        view.show_ghosts(q)
        work.result.clear()
        with work.result.classes("gap-0"):
            _configurations(page, q)
            ui.button("Hide them", on_click=lambda: view.show_lines([])).props("flat dense no-caps")
            with ui.expansion("Equations").props("dense").classes("w-full"):
                ui.label(found["equations"]).classes("listing")

    Work(page, "Solve", start)


def _configurations(page: Page, q: np.ndarray) -> None:
    """A line per configuration; a click takes it."""
    with ui.element("div").classes("configurations"):
        wide = max(9, *(len(name) for name in page.robot.variables))
        names = "  ".join(f"{name:>{wide}}" for name in page.robot.variables)
        ui.label(f"{'':5}{names}").classes("mono configuration-head")
        for k, row in enumerate(q.round(5) + 0.0):
            text = f"{k + 1:3}  " + "  ".join(f"{x:{wide}.5f}" for x in row)
            ui.button(text, on_click=lambda k=k: page.move(q[k], keep=True)).props(
                "flat dense no-caps align=left"
            ).classes("mono configuration")


def _motion(page: Page, view: View) -> None:
    ui.label("From where the sliders stand, joint by joint.").classes("hint")
    names = ", ".join(page.robot.variables[k] for k in driven(page))
    target = field(f"to {names}"[:90], np.full(len(driven(page)), 0.5))
    with ui.row():
        duration = ui.number("duration, s", value=1.0, min=0.01).classes("w-32").props("dense")
        law = ui.select(list(_LAWS), value="quintic", label="law").classes("w-40").props("dense")

    async def start(work: Work) -> None:
        end, seconds = read(target, work), _seconds(duration, work)
        if end is None or seconds is None:
            return
        view.settle()
        begin = page.q.tolist()
        found = await work.run("motion", **{"from": begin}, to=end, duration=seconds, law=law.value)
        if found is None:
            return
        work.result.clear()
        charts = []
        with work.result:
            for j, row in enumerate(found["table"]):
                parts = {name: x[j] for name, x in found["shares"].items()}
                title = f"{row['joint']}: peak {row['peak']:.4g}, RMS {row['rms']:.4g}"
                curves = {"total": found["total"][j], **parts}
                charts.append(chart(page, title, found["t"], curves, row["unit"]))
        await view.play(np.array(found["q"]), seconds, charts=charts)

    Work(page, "Compute and play", start)


def _simulate(page: Page, view: View) -> None:
    ui.label("From rest, where the sliders stand: trees, closed loops, flexible links.").classes(
        "hint"
    )
    drive = ui.select(_DRIVES, value="free", label="Drive").classes("w-56").props("dense")
    names = [page.robot.variables[k] for k in driven(page)]
    numbers = field("", np.zeros(len(names)))

    def shown() -> None:
        words = "torques or forces" if drive.value == "torque" else "positions"
        numbers.set_visibility(drive.value != "free")
        numbers.props["label"] = f"{words} of {', '.join(names)}"[:90]

    drive.on_value_change(shown)
    shown()
    duration = ui.number("duration, s", value=2.0, min=0.01, max=60).classes("w-32").props("dense")

    async def start(work: Work) -> None:
        given = read(numbers, work) if numbers.visible else []
        seconds = _seconds(duration, work)
        if given is None or seconds is None:
            return
        view.settle()
        found = await work.run("simulation", q=page.q.tolist(), drive=drive.value, numbers=given,
                               duration=seconds)  # fmt: skip
        if found is not None:
            await _simulated(page, view, work, found, seconds)

    Work(page, "Simulate", start)


async def _simulated(
    page: Page, view: View, work: Work, found: dict[str, Any], seconds: float
) -> None:
    """What a simulation gives, in charts and as it moves."""
    drift = found["drift"]
    kept = "" if drift is None else f"; energy kept to {drift:.1e}"
    work.say(f"{found['steps']} steps{kept}")
    work.result.clear()
    with work.result:
        again = ui.button("Play again", icon="replay").props("flat dense no-caps")
        charts = _plots(page, found)

    async def play() -> None:
        await view.play(np.array(found["q"]), seconds, found["curves"], charts)

    again.on_click(play)
    await play()


def _seconds(duration: Any, work: Work) -> float | None:
    """How long it lasts; None, and a message, where that is not given."""
    if duration.value is None or not 0 < duration.value <= 3600:
        work.fail("the duration must be a positive number of seconds")
        return None
    return float(duration.value)


def _plots(page: Page, found: dict[str, Any]) -> list[Any]:
    """Everything over time that a simulation gives."""
    t, names = found["t"], page.robot.variables
    parts = [
        ("positions", dict(zip(names, np.array(found["q"]).T, strict=True)), "rad or m"),
        ("velocities", dict(zip(names, found["qd"], strict=True)), "per s"),
    ]
    if found["elastic"]:
        bent = {f"e{k}": x for k, x in enumerate(found["elastic"], 1)}
        parts.append(("elastic coordinates", bent, "m or rad"))
    if np.any(found["tau"]):
        parts.append(("torques", dict(zip(found["driven"], found["tau"], strict=True)), "N m or N"))
    if found["energies"]:
        parts.append(("energies", found["energies"], "J"))
    return [chart(page, title, t, curves, unit) for title, curves, unit in parts]


_PANELS = {
    "Evaluate a model": ("calculate", _evaluate),
    "Inverse geometry": ("route", _inverse),
    "Torques of a motion": ("show_chart", _motion),
    "Simulate": ("play_circle", _simulate),
    "Identify from a log": ("analytics", identify),
    "Natural frequencies": ("graphic_eq", modes),
}
