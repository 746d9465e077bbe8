"""What the models are for: evaluate, inverse geometry, motions, simulation, identification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from nicegui import ui

from ....catalogue import MENU
from ....describe.frames import roll_pitch_yaw
from ....mechanism.frames import frame_of
from ....motion.frames import frame_poses, link_frames
from ..jobs.questions import driven
from ..scene.view import View
from ..server.angles import DEGREE, factors, unit
from ..server.state import Page
from .charts import chart
from .job import Work, field, listed, numbers_of, pinned, put, read, target
from .simulation import seconds_of, simulate
from .studies import identify, modes
from .values import Values

__all__ = ["using"]

_RATES = {"qd": ("velocities", "/s"), "qdd": ("accelerations", "/s²")}
_LAWS = ("quintic", "cubic", "septic", "bang-bang", "trapezoidal")


def using(page: Page, view: View) -> None:
    """The panels of the tab, one below the other; made anew for a robot of another form."""

    told: list[Callable[[], None]] = []  # who shows the values of symbols

    @ui.refreshable
    def body() -> None:
        told[:] = [Values(page).changed] if page.robot.parameters else []
        for title, (icon, build) in _PANELS.items():
            if build is _assemblies and not page.robot.loops:
                continue
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


def _evaluate(page: Page, view: View) -> None:
    programs = [entry.name for entry in MENU.values() if entry.program]
    choice = ui.select(programs, value="inverse-dynamics", label="Model").classes("w-64")
    ui.label(
        "q is where the sliders stand; a number stands for all, and inputs that are not given are "
        "zero. Options are those of the tab Models, if the same model is chosen there."
    ).classes("hint")
    scale = factors(page.robot, page.degrees)
    fields = {
        name: field(f"{name}, {words}, {unit(page.robot, page.degrees, tail=tail)}", [0.0], scale)
        for name, (words, tail) in _RATES.items()
    }
    fields["tau"] = field("tau, torques or forces, N m or N", [0.0])
    others = ui.input("other inputs: name = numbers; name = numbers")
    others.props("dense").classes("w-full mono")

    def shown() -> None:
        inputs = MENU[choice.value].inputs
        for name, one in fields.items():
            one.set_visibility(name in inputs.replace("(", " ").replace(",", " ").split())

    choice.on_value_change(shown)
    shown()

    async def start(work: Work) -> None:
        inputs = {name: read(one, work) for name, one in fields.items() if one.visible}
        more = _others(others.value or "", work)
        if more is not None and None not in inputs.values():
            inputs |= {"q": page.q.tolist(), **more}
            last = page.project.page
            options = last.get("options", {}) if last.get("model") == choice.value else {}
            await work.run("evaluate", model=choice.value, options=options, inputs=inputs)

    def show(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        chosen = {"model": question["model"], **question["options"]}
        words = ", ".join(str(x) if key == "model" else f"{key} {x}" for key, x in chosen.items())
        zero = "".join(f"; {name} ({size}) zero" for name, size in answer["zero"].items())
        at = np.array(question["inputs"]["q"]) * scale
        where = f"{', '.join(f'{x:.6g}' for x in at)} {unit(page.robot, page.degrees)}"
        ui.label(f"{words} at q = {where}{zero}").classes("hint")
        for name, value in answer["outputs"].items():
            ui.label(f"{name} =\n{matrix(np.array(value, float))}").classes("listing matrix")

    def fill(question: Any) -> None:
        choice.value = question["model"] if question["model"] in programs else choice.value
        rest = {key: x for key, x in question["inputs"].items() if key not in (*fields, "q")}
        others.value = "; ".join(f"{key} = {listed(x)}" for key, x in rest.items())
        for name, one in fields.items():
            if name in question["inputs"]:
                put(one, question["inputs"][name])

    Work(page, "evaluate", "Evaluate", start, show, fill)


def matrix(x: np.ndarray) -> str:
    """Numbers with six digits, small ones too; rounding that is left of a sum is zero."""
    x = np.where(np.abs(x) <= 1e-15 * np.abs(x).max(initial=0), 0.0, x)
    words = [f"{number:.6g}" for number in x.ravel()]
    wide = max(map(len, words), default=0)
    return np.array2string(
        x, max_line_width=110, threshold=100_000,
        formatter={"float_kind": lambda number: f"{number:>{wide}.6g}"},
    )  # fmt: skip


def _others(text: str, work: Work) -> dict[str, list[float]] | None:
    """Inputs by name; None, and a message, where they cannot be read."""
    inputs = {}
    for part in filter(str.strip, text.split(";")):
        name, equals, numbers = part.partition("=")
        values = numbers_of(numbers)
        if not equals or not name.strip() or not values:
            work.fail(f"'{part.strip()[:60]}': expected a name = numbers with commas")
            return None
        inputs[name.strip()[:40]] = values
    return inputs


def _inverse(page: Page, view: View) -> None:
    ui.label("All configurations that bring a frame to a pose.").classes("hint")
    with ui.row():
        method = ui.select(["auto", "paul", "pieper", "general"], value="auto", label="Method")
        method.classes("w-40").props("dense")
        frame = ui.select(_frames(page), value="", label="Frame").classes("w-60").props("dense")
    turn, angle = (DEGREE, "deg") if page.degrees else (1.0, "rad")
    pose = pinned(f"pose: x, y, z, m; roll, pitch, yaw, {angle}. Empty: where it is now", [],
                  "Take where the end effector is", lambda: _pose(page, frame.value),
                  [1, 1, 1, turn, turn, turn])  # fmt: skip
    pose.set_visibility(not page.robot.loops)

    async def start(work: Work) -> None:
        six = read(pose, work, 6) if (pose.value or "").strip() and pose.visible else []
        if six is not None:
            chosen = {"frame": frame.value} if frame.value else {}
            await work.run("inverse", q=page.q.tolist(), method=method.value, pose=six, **chosen)

    def show(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        q = np.array(answer["q"]).reshape(-1, page.robot.n)
        if not len(q):
            why = answer.get("why") or f"tried by {answer['method']}"
            work.fail(f"no configuration reaches this pose; {why}")
            return
        count = f"{len(q)} configuration" + "s" * (len(q) != 1)
        work.say(f"{count} by {answer['method']}: {answer['reason']}")
        if fresh:
            view.show_ghosts(q)
        work.result.classes("gap-0")
        _configurations(page, q)
        with ui.row():
            _small("Draw them", lambda: view.show_ghosts(q))
            _small("Hide them", lambda: view.show_lines([]))
        if answer["equations"]:
            with ui.expansion("Equations").props("dense").classes("w-full"):
                ui.label(answer["equations"]).classes("listing")

    def fill(question: Any) -> None:
        method.value = question["method"]
        put(pose, question["pose"])
        frame.value = name if (name := question.get("frame", "")) in frame.options else ""

    Work(page, "inverse", "Solve", start, show, fill)


def _assemblies(page: Page, view: View) -> None:
    words = "All ways to close the loops where the active joints are; of a platform its poses."
    ui.label(words).classes("hint")

    async def start(work: Work) -> None:
        await work.run("assemblies", q=page.q.tolist())

    def show(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        q = np.array(answer["q"]).reshape(-1, page.robot.n)
        work.say("; ".join(filter(None, (answer["words"], answer["note"]))))
        if fresh:
            view.show_ghosts(q)
        work.result.classes("gap-0")
        _configurations(page, q)
        with ui.row():
            _small("Draw them", lambda: view.show_ghosts(q))
            _small("Hide them", lambda: view.show_lines([]))

    Work(page, "assemblies", "List them", start, show)


def _frames(page: Page) -> dict[str, str]:
    """What may be brought to a pose: the end effector by default, each frame that has a name."""
    robot = page.robot
    names = dict.fromkeys([*(x.name for x in robot.frames), *(x.name for x in robot.links)])
    return {"": f"end effector, {frame_of(robot).name}", **{name: name for name in names}}


def _pose(page: Page, frame: str) -> list[float]:
    """Where a frame is."""
    robot = page.drawn()
    T = frame_poses(robot, link_frames(robot, page.q), frame or None)
    return [round(x, 6) + 0.0 for x in (*T[:3, 3].tolist(), *roll_pitch_yaw(T[:3, :3]))]


def _small(words: str, work: Callable[[], Any]) -> None:
    ui.button(words, on_click=work).props("flat dense no-caps")


def _configurations(page: Page, q: np.ndarray) -> None:
    """A line per configuration; a click takes it."""
    with ui.element("div").classes("configurations"):
        wide = max(9, *(len(name) for name in page.robot.variables))
        names = "  ".join(f"{name:>{wide}}" for name in page.robot.variables)
        ui.label(f"{'':5}{names}  {unit(page.robot, page.degrees)}").classes(
            "mono configuration-head"
        )
        digits = 3 if page.degrees else 5
        for k, row in enumerate((q * factors(page.robot, page.degrees)).round(digits) + 0.0):
            text = f"{k + 1:3}  " + "  ".join(f"{x:{wide}.{digits}f}" for x in row)
            ui.button(text, on_click=lambda k=k: _take(page, q[k])).props(
                "flat dense no-caps align=left"
            ).classes("mono configuration")


def _take(page: Page, q: np.ndarray) -> None:
    if len(q) == page.robot.n:  # it may be of an earlier state of the robot
        page.move(q, keep=True)


def _motion(page: Page, view: View) -> None:
    ui.label("From where the sliders stand, joint by joint.").classes("hint")
    moved = driven(page.robot)
    names = ", ".join(page.robot.variables[k] for k in moved)
    angle = unit(page.robot, page.degrees, moved)
    goal = target(page, f"to, {angle}: {names}", np.full(len(moved), 0.5), moved)
    with ui.row():
        duration = ui.number("duration, s", value=1.0, min=0.01).classes("w-32").props("dense")
        law = ui.select(list(_LAWS), value="quintic", label="law").classes("w-40").props("dense")

    async def start(work: Work) -> None:
        end, seconds = read(goal, work, len(moved)), seconds_of(duration, work)
        if end is None or seconds is None:
            return
        view.take_pose()
        begin = {"from": page.q.tolist()}
        await work.run("motion", **begin, to=end, duration=seconds, law=law.value)

    async def show(work: Work, answer: Any, question: Any, fresh: bool) -> None:
        again = ui.button("Play", icon="play_arrow").props("flat dense no-caps")
        charts = []
        for j, row in enumerate(answer["table"]):
            parts = {name: x[j] for name, x in answer["shares"].items()}
            title = f"{row['joint']}: peak {row['peak']:.4g}, RMS {row['rms']:.4g}"
            curves = {"total": answer["total"][j], **parts}
            charts.append(chart(page, title, answer["t"], curves, row["unit"]))

        async def play() -> None:
            await view.play(np.array(answer["q"]), question["duration"], charts=charts,
                            bases=answer["base"])  # fmt: skip

        again.on_click(play)
        if fresh:
            await play()

    def fill(question: Any) -> None:
        put(goal, question["to"])
        duration.value = question["duration"]
        law.value = question["law"]

    Work(page, "motion", "Compute and play", start, show, fill)


_PANELS = {
    "Evaluate a model": ("calculate", _evaluate),
    "Inverse geometry": ("route", _inverse),
    "Assemblies": ("hub", _assemblies),
    "Torques of a motion": ("show_chart", _motion),
    "Simulate": ("play_circle", simulate),
    "Identify from a log": ("analytics", identify),
    "Natural frequencies": ("graphic_eq", modes),
}
