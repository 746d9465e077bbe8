"""Forms from a description: a field says what it is called, what it holds and when it is asked for;
a form shows the fields, reads them into a question in SI units and fills them from one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from nicegui import ui

from ....describe.frames import roll_pitch_yaw
from ....errors import CardanError, InputError
from ....mechanism.frames import frame_of
from ....motion.frames import frame_poses, link_frames
from ..jobs.questions import driven, rates
from ..server.angles import DEGREE, factors, names, unit
from ..server.state import Page
from .cells import say
from .open import packed, uploader

_LARGEST = 100_000_000  # bytes of an uploaded file


@dataclass(frozen=True)
class Field:
    """One thing that is asked for.

    kind: number, whole, choice, several, flag, text; positions (of the driven joints), velocities
    (of those that have one), torques, pose, twist, numbers (any; or none), rates (of all joints, or
    one for all), points (a line for each), file. `when(values)` says whether it is asked for, of
    the values of the fields before it."""

    key: str
    label: str
    kind: str = "number"
    value: Any = None
    choices: Mapping[str, str] | None = None
    when: Callable[[dict[str, Any]], bool] = lambda values: True
    least: float | None = None
    most: float | None = None
    hint: str = ""
    taken: Callable[[Any], Any] | None = None  # told of a file that was uploaded


def of_signature(function: Callable[..., Any], labels: Mapping[str, str]) -> list[Field]:
    """Fields of parameters of a function, with the defaults that it has."""
    parameters = inspect.signature(function).parameters
    kinds: dict[type, str] = {bool: "flag", int: "whole", float: "number", str: "text"}
    return [
        Field(key, label, kinds.get(type(parameters[key].default), "numbers"),
              parameters[key].default)
        for key, label in labels.items()
    ]  # fmt: skip


class Form:
    """The fields of a panel."""

    def __init__(self, page: Page, fields: Sequence[Field]) -> None:
        self.page, self.fields = page, fields
        self.entries: dict[str, _Entry] = {}
        small = ("number", "whole", "choice", "flag")
        row: Any = None
        for field in fields:  # small ones stand beside each other
            if field.kind in small and row is None:
                row = ui.row().classes("items-end form-row")
            row = row if field.kind in small else None
            with row or ui.column().classes("w-full gap-0 form-line"):
                self.entries[field.key] = _Entry(page, field, self._changed)
        self._changed()

    def _changed(self) -> None:
        """Show the fields that are asked for."""
        values: dict[str, Any] = {}
        for field in self.fields:
            entry = self.entries.get(field.key)
            if entry is None:
                return  # still being made
            entry.shown(field.when(values))
            if entry.asked:
                values[field.key] = entry.plain()

    def question(self) -> dict[str, Any]:
        """What is asked for, in SI units; an InputError says what cannot be read."""
        return {key: entry.read() for key, entry in self.entries.items() if entry.asked}

    def attached(self) -> bytes | None:
        """The files of the fields that are asked for, for the job."""
        files = [x.attached for x in self.entries.values() if x.asked and x.attached]
        return b"[" + b", ".join(x[1:-1] for x in files) + b"]" if files else None

    def fill(self, question: Mapping[str, Any]) -> None:
        """What was asked for last."""
        for field in self.fields:  # in their order: a choice shows what follows it
            if field.key in question:
                self.entries[field.key].put(question[field.key])
        self._changed()


class _Entry:
    """One field on the page."""

    def __init__(self, page: Page, field: Field, changed: Callable[[], None]) -> None:
        self.page, self.field = page, field
        self.attached = b""
        self.digest = ""
        self.asked = True
        self.vector, names = _meaning(page, field)
        label = f"{field.label}, {names}" if names else field.label
        make: dict[str, Callable[[str], Any]] = {
            "number": self._number, "whole": self._number, "choice": self._choice,
            "several": partial(self._choice, several=True), "flag": self._flag, "text": self._text,
            "points": self._points, "file": self._file,
        }  # fmt: skip
        self.element = make.get(field.kind, self._vector)(label)
        if field.hint:
            self.element.tooltip(field.hint)
        if hasattr(self.element, "on_value_change"):
            self.element.on_value_change(changed)

    def shown(self, on: bool) -> None:
        self.asked = on
        self.element.set_visibility(on)

    def plain(self) -> Any:
        """What is chosen, for fields that depend on it."""
        return getattr(self.element, "value", None)

    # how each kind looks; each begins with its value: one that is put into it later would replace
    # what is typed the moment it appears

    def _number(self, label: str) -> Any:
        number = ui.number(label, value=self.field.value, min=self.field.least, max=self.field.most)
        return number.props("dense").style(f"width: {max(8, 0.5 * len(label)):g}rem")

    def _choice(self, label: str, several: bool = False) -> Any:
        choices = dict(self.field.choices or {})
        value = self.field.value if several or self.field.value in choices else next(iter(choices))
        box = ui.select(choices, value=value, label=label, multiple=several).props("dense")
        return box.classes("w-full").props("use-chips") if several else box.classes("w-56")

    def _flag(self, label: str) -> Any:
        return ui.checkbox(label, value=bool(self.field.value)).props("dense")

    def _text(self, label: str) -> Any:
        value = "" if self.field.value is None else self._spelt(self.field.value)
        return ui.input(label, value=value).props("dense").classes("w-full mono")

    def _vector(self, label: str) -> Any:
        box = self._text(label)
        now = {"positions": ("Take where the sliders stand", self._standing),
               "pose": ("Take where the end effector is", self._posed)}  # fmt: skip
        if self.field.kind in now:
            words, take = now[self.field.kind]
            with box.add_slot("append"):
                button = ui.button(icon="pin_drop", on_click=lambda: self.put(take()))
                button.props("flat round dense size=sm")
                button.props["aria-label"] = button.props["title"] = words
        return box

    def _points(self, label: str) -> Any:
        area = (
            ui.textarea(label, value=self._spelt(self.field.value or []))
            .props("dense outlined rows=4")
            .classes("w-full mono")
        )

        def add() -> None:
            lines = [line for line in (area.value or "").splitlines() if line.strip()]
            area.value = "\n".join([*lines, self.vector.spelt(self._standing())])

        with area.add_slot("append"):
            button = ui.button(icon="add_location_alt", on_click=add).props(
                "flat round dense size=sm"
            )
            button.props["aria-label"] = button.props["title"] = "Add where the sliders stand"
        return area

    def _file(self, label: str) -> Any:
        with ui.column().classes("w-full gap-0") as room:
            place: Any = uploader(
                label, on_upload=lambda event: self._taken(event, place, chosen),
                max_file_size=_LARGEST,
                on_rejected=lambda: say(f"too large: {_LARGEST // 1_000_000} MB are allowed"),
            )  # fmt: skip
            chosen: Any = ui.label("").classes("hint").props("role=status")
        return room

    async def _taken(self, event: Any, place: Any, chosen: Any) -> None:
        try:
            self.digest, self.attached = await packed([event.file], _LARGEST)
        except CardanError as error:
            say(str(error))
            return
        chosen.set_text(f"{str(event.file.name)[-60:]}, {event.file.size() / 1e6:.3g} MB")
        place.reset()  # another one may follow
        if self.field.taken is not None:
            await self.field.taken(self)

    # what each kind holds

    def _standing(self) -> list[float]:
        return [float(x) for x in self.page.q[driven(self.page.robot)]]

    def _posed(self) -> list[float]:
        """Where the end effector is."""
        robot = self.page.drawn()
        T = frame_poses(robot, link_frames(robot, self.page.q))
        return [round(x, 6) + 0.0 for x in (*T[:3, 3].tolist(), *roll_pitch_yaw(T[:3, :3]))]

    def put(self, value: Any) -> None:
        """Show a value, in SI units."""
        if self.field.kind == "file":
            return
        if self.field.kind == "choice" and value not in self.element.options:
            return
        self.element.value = self._spelt(value)

    def _spelt(self, value: Any) -> Any:
        """A value in SI units as the field shows it."""
        kind = self.field.kind
        if kind == "points":
            return "\n".join(self.vector.spelt(row) for row in value)
        if kind in ("number", "whole", "choice", "several", "flag", "text"):
            return value
        return self.vector.spelt_shortly(value)

    def read(self) -> Any:
        """The value in SI units; an InputError where it cannot be read."""
        kind = self.field.kind
        if kind == "file":
            return self.digest
        value = self.element.value
        if kind in ("choice", "several", "flag"):
            return value
        if kind == "text":
            return str(value or "")[:2000]
        if kind in ("number", "whole"):
            return self._checked(value)
        if kind == "points":
            lines = [line for line in (value or "").splitlines() if line.strip()]
            return [self.vector.read(line) for line in lines]
        text = str(value or "")
        if kind in ("numbers", "pose", "rates") and not text.strip():
            return []
        return self.vector.read(text)

    def _checked(self, value: Any) -> float | int:
        name = self.field.label.partition(",")[0]
        low, high = self.field.least, self.field.most
        sound = value is not None and np.isfinite(value)
        if not sound or (low is not None and value < low) or (high is not None and value > high):
            ends = [f"at least {low:g}"] if low is not None else []
            ends += [f"at most {high:g}"] if high is not None else []
            raise InputError(f"the {name} must be a number, {' and '.join(ends)}".rstrip(", "))
        return int(value) if self.field.kind == "whole" else float(value)


@dataclass(frozen=True)
class Vector:
    """Numbers as the user reads them: those in SI units times factors. `count`: so many, if that is
    known; `timed`: a time may come first."""

    scale: np.ndarray
    count: int | None = None
    timed: bool = False

    def spelt(self, value: Any) -> str:
        x = np.atleast_1d(np.array(value, float))
        return ", ".join(f"{number:.6g}" for number in x * self._scale(x.size))

    def spelt_shortly(self, value: Any) -> str:
        """One number where all are the same, which is read as such."""
        x = np.atleast_1d(np.array(value, float))
        return listed((x * self._scale(x.size)).tolist())

    def read(self, text: str) -> list[float]:
        """The numbers of a text, or one for all, in SI units."""
        tight = len(re.findall(r"[0-9],(?=[0-9])", text))  # 1,5 may be one number or two; 1,5,2 not
        if tight == 1 or (tight and re.search(r"\S\s+\S", text)):
            raise InputError(
                f"'{text[:60]}': is the comma a decimal one? Write 1.5, or 1, 5 with a space"
            )
        try:
            numbers = [float(part) for part in text.replace(",", " ").split()]
        except ValueError:
            numbers = [np.nan]
        if not np.isfinite(numbers).all():
            raise InputError(f"'{text[:60]}': finite numbers with commas are expected")
        if len(numbers) == 1 and (self.count is not None or np.ptp(self.scale)):
            numbers *= len(self.scale) if self.count is None else self.count
        if self.count is not None and len(numbers) != self.count:
            raise InputError(f"'{text[:60]}': {self.count} numbers are needed, or one for all")
        return [float(x) for x in np.array(numbers) / self._scale(len(numbers))]

    def _scale(self, count: int) -> np.ndarray:
        """Of so many numbers; those that come after the joints, elastic coordinates, have none."""
        if len(self.scale) == 1:
            return np.repeat(self.scale, count)
        if self.timed and count == len(self.scale) + 1:
            return np.array([1.0, *self.scale])
        return np.pad(self.scale, (0, max(0, count - len(self.scale))), constant_values=1)[:count]


def _meaning(page: Page, field: Field) -> tuple[Vector, str]:
    """How numbers are shown, and which they are."""
    robot, degrees = page.robot, page.degrees
    turn = DEGREE if degrees else 1.0
    columns = {"positions": driven, "points": driven, "torques": driven, "velocities": rates}
    if field.kind == "rates":
        return Vector(factors(robot, degrees)), ""
    if field.kind in ("pose", "twist"):
        return Vector(np.array([1, 1, 1, turn, turn, turn]), 6), ""
    if field.kind not in columns:
        return Vector(np.ones(1)), ""
    own = columns[field.kind](robot)
    called = ", ".join(names(robot)[k] for k in own)
    if field.kind == "torques":
        return Vector(np.ones(1), len(own)), f"N m or N: {called}"
    tail, timed = "/s" if field.kind == "velocities" else "", field.kind == "points"
    scale = factors(robot, degrees, own) if own else np.ones(1)
    words = f"{unit(robot, degrees, own, tail)}: {called}"
    return Vector(scale, None if timed else len(own), timed), words


def listed(value: Any) -> str:
    """Numbers with commas; one where all are the same, which is read as such."""
    same = len(value) > 1 and all(x == value[0] for x in value)
    return ", ".join(f"{x:.6g}" for x in (value[:1] if same else value))


def frames(page: Page) -> dict[str, str]:
    """Frames to choose from: the end effector by default, each frame that has a name."""
    robot = page.robot
    names = dict.fromkeys([*(x.name for x in robot.frames), *(x.name for x in robot.links)])
    return {"": f"end effector, {frame_of(robot).name}", **{name: name for name in names}}
