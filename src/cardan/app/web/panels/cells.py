"""Cells of the tables: an expression is read as it is typed, and taken when it is left.

One component of the page holds all cells of all tables in sight, whatever their number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nicegui import ui
from nicegui.element import Element

from ....describe.fields import UNIT
from ....describe.robot import PRISMATIC, REVOLUTE, Joint, Robot
from ....describe.values.expression import number
from ....errors import CardanError, InputError
from .. import WORDS
from ..server.angles import DEGREE
from ..server.quantities import quantity
from ..server.state import Page

_UNITS = {
    "gamma": "rad", "alpha": "rad", "theta": "rad", "b": "m", "d": "m", "r": "m", "M": "kg",
    **dict.fromkeys(("MX", "MY", "MZ"), "kg m"),
    **dict.fromkeys(("XX", "XY", "XZ", "YY", "YZ", "ZZ"), "kg m²"),
    **dict.fromkeys(("FX", "FY", "FZ"), "N"), **dict.fromkeys(("CX", "CY", "CZ"), "N m"),
    **dict.fromkeys(("at x", "at y", "at z"), "m"),
    **dict.fromkeys(("roll", "pitch", "yaw"), "rad"),
}  # fmt: skip
_OF_JOINTS = {  # of one that turns, of one that slides
    "IA": ("kg m²", "kg"), **dict.fromkeys(("FV", "FVA", "damping"), ("N m s", "N s/m")),
    "FQ": ("N m s²", "N s²/m²"),
    **dict.fromkeys(("FS", "FSA", "FB", "FO", "effort"), ("N m", "N")),
    **dict.fromkeys(("VB", "VS", "velocity"), ("rad/s", "m/s")),
    **dict.fromkeys(("stiffness", "spring"), ("N m/rad", "N/m")),
    **dict.fromkeys(("lower", "upper", "home", "rest", "neutral", "offset"), ("rad", "m")),
}  # fmt: skip
_MOST_ADDED = 100  # rows of a block that is pasted
_LONG = re.compile(r"(?<![\w.])\d*\.\d{5,}(?:[eE][+-]?\d+)?")  # a number in a formula
_ROOM = 7  # characters of a number that is shown whole
_STIFF = ("stiffness", "spring")  # torque per angle stays SI
_GREEK = {"gamma": "γ", "alpha": "α", "theta": "θ"}


@dataclass(frozen=True)
class Cell:
    """What is shown, what it is called, and what becomes of what the user makes of it."""

    kind: str  # word, text, choice, box, menu, act: as grid.js draws them
    value: Any = ""
    label: str = ""
    take: Callable[[Any], str] | None = None  # a message where it is refused
    check: Callable[[str], str] | None = None  # the same, while it is typed
    options: Sequence[Any] = ()
    style: str = ""
    empty: str = ""
    off: bool = False
    brief: str = ""  # the value in few digits, until the cell is edited

    def pasted(self, text: str) -> str:
        """Take a text of a spreadsheet, as far as the cell can be typed into or chosen from."""
        if self.take is None or self.kind in ("menu", "act"):
            return ""
        if self.kind == "box":
            return self.take(text.lower() in ("1", "true", "yes", "x"))
        if self.kind == "choice":
            values = [value for value, words in self.options if words == text]
            return self.take(values[0]) if values else f"there is no '{text[:40]}' to choose"
        return self.take(text) if text != self.value else ""

    def shown(self) -> dict[str, Any]:
        keys = ("kind", "value", "label", "options", "style", "empty", "off", "brief")
        return {key: x for key in keys if (x := getattr(self, key)) not in ("", ())}


@dataclass(frozen=True)
class Block:
    """One table: heads, rows, a title."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    degrees: bool = False  # the unit of angles
    sigmas: frozenset[int] = frozenset((REVOLUTE, PRISMATIC))  # which joints there are

    def _head(self, words: str) -> dict[str, str]:
        name, _, unit = words.partition(", ")
        pair = _OF_JOINTS.get(name, ())
        own = [x for sigma, x in zip((REVOLUTE, PRISMATIC), pair, strict=False)
               if sigma in self.sigmas]  # fmt: skip
        unit = unit or _UNITS.get(name) or " or ".join(own)
        if self.degrees and name not in _STIFF:
            unit = unit.replace("rad", "deg")
        return {"text": _GREEK.get(name, name), "unit": unit}

    def shown(self) -> dict[str, Any]:
        heads = [self._head(head) for head in self.heads]
        blank = Cell("word").shown()  # so that the lines between rows go all the way
        rows = [[cell.shown() for cell in row] + [blank] * (len(heads) - len(row))
                for row in self.rows]  # fmt: skip
        return {"heads": heads, "rows": rows, "title": self.title}


class Grid(Element, component="../parts/grid.js"):
    """Tables in the page."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self.blocks: Sequence[Block] = ()
        self.make: Callable[[], Sequence[Block]] = tuple
        self.more: Callable[[Robot], Robot] | None = None
        self._props["blocks"] = []
        self._props["table"] = ""
        self._props["empty"] = ""
        self.on("draft", lambda event: self._draft(*event.args))
        self.on("take", lambda event: self._take(*event.args))
        self.on("paste", lambda event: self._paste(*event.args))
        self._props.update(marked=-1, pointed=-1, sortable=False)
        self.classes("w-full")

    def show(
        self, table: str, make: Callable[[], Sequence[Block]], empty: str = "",
        more: Callable[[Robot], Robot] | None = None,
    ) -> None:  # fmt: skip
        """The tables of that name; what was being typed in another one is forgotten. `empty` is
        said where there is none; more: the robot with another row of the first one."""
        self.make, self.more = make, more
        self.blocks = blocks = make()
        self._props["empty"] = empty
        self._props["sortable"] = table == "Geometry"
        if table != self._props["table"]:
            self._props["table"] = table
        shown = [block.shown() for block in blocks]
        if shown != self._props["blocks"]:
            self._props["blocks"] = shown

    def on_row(self, pointed: Callable[[int, int], None]) -> None:
        """To be told the block and the row of the cell that is worked on."""
        self.on("row", lambda event: pointed(*event.args))

    def on_over(self, pointed: Callable[[int, int], None]) -> None:
        """To be told the block and the row that the pointer is on, -1: none."""
        self.on("over", lambda event: pointed(*event.args))

    def mark_row(self, row: int, how: str = "marked") -> None:
        """Show which row of the first table is meant, or "pointed" at, elsewhere; -1: none."""
        if row != self._props[how]:
            self._props[how] = row

    def _paste(self, b: int, r: int, c: int, texts: list[list[str]], label: str) -> None:
        """A block of texts, as a spreadsheet copies them, from a cell on: all of it or nothing."""
        if self._cell(b, r, c, label) is None:
            say(f"{label}: the table has changed meanwhile; try again")
            return
        lacking = max(0, r + len(texts) - len(self.blocks[b].rows))
        grows = self.more is not None and b == 0 and lacking <= _MOST_ADDED

        def changes() -> str:
            for _ in range(lacking if grows else 0):
                self.page.change(self.more(self.page.robot))  # type: ignore[misc]
            rows = (self.make() if grows else self.blocks)[b].rows[r : r + len(texts)]
            for row, line in zip(rows, texts, strict=False):
                for cell, text in zip(row[c:], line, strict=False):
                    try:
                        message = cell.pasted(text.strip())
                    except CardanError as error:
                        message = error.told(WORDS)
                    if message:
                        return f"{cell.label}: {message}; nothing was pasted"
            return ""

        say(self.page.at_once(changes))
        self.again()
        if lacking and not grows:
            say(f"{lacking} rows more than the table has were left out")

    def again(self) -> None:
        """Send all cells once more: what was refused is as it was."""
        self._props["blocks"] = [block.shown() for block in self.blocks]

    def _cell(self, b: int, r: int, c: int, label: str) -> Cell | None:
        """The cell that the browser means; None where the table has changed meanwhile."""
        try:
            cell = self.blocks[b].rows[r][c]
        except IndexError:
            return None
        return cell if cell.label == label else None

    def _draft(self, b: int, r: int, c: int, text: str, label: str) -> None:
        cell = self._cell(b, r, c, label)
        if cell and cell.check:
            self.run_method("judge", b, r, c, text, cell.check(text))

    def _take(self, b: int, r: int, c: int, value: Any, label: str) -> None:
        cell = self._cell(b, r, c, label)
        if cell is None or cell.take is None:
            say(f"{label}: the table has changed meanwhile; try again")
            return
        try:
            message = cell.take(value)
        except CardanError as error:
            message = error.told(WORDS)
        if cell.kind == "text":
            self.run_method("judge", b, r, c, value, message, not message)
            if not message:
                self.again()
        elif message:
            say(message)
            self.again()


def say(message: str) -> None:
    """Something was refused."""
    if message:
        ui.notify(
            message, type="negative", position="bottom-left", multi_line=True, close_button=True,
            timeout=8000,
        )  # fmt: skip


def take(page: Page, change: Callable[[], Robot]) -> None:
    """Apply a change of a button; where it is refused, say so."""
    try:
        message = page.change(change())
    except CardanError as error:
        message = error.told(WORDS)
    say(message)


def word(text: str, style: str = "name") -> Cell:
    return Cell("word", text, style=style)


def expression(
    page: Page, label: str, value: Any, apply: Callable[[Any], Robot], key: str, empty: str = "0",
    style: str = "mono", joint: Joint | None = None,
) -> Cell:  # fmt: skip
    """A number, with a unit of that field if one is given, or a formula; `empty` is what an empty
    cell stands for, "" for nothing; joint: whose kind says whether the field is an angle."""
    turns = UNIT.get(key, "").startswith("rad") and (joint is None or joint.sigma == REVOLUTE)
    degrees = turns and page.degrees

    def changed(text: str) -> Robot:
        text = text.strip() or empty
        return apply(quantity(text, UNIT.get(key, ""), degrees) if text else None)

    shown = "" if value is None or (value == 0 and empty == "0") else str(value)
    x = number(value) if shown else None
    if degrees and x is not None:
        shown = f"{x * DEGREE:.12g}"
    cell = typed(page, label, shown, changed, style, empty or "none")
    return replace(cell, brief=_brief(shown, None if x is None else x * (DEGREE if degrees else 1)))


def _brief(text: str, x: float | None) -> str:
    """A long number, also in a formula, in five digits, and π; nothing where the text says the
    same."""
    if x is not None and len(text) > _ROOM and "pi" not in text:
        return f"{x:.5g}"
    brief = _LONG.sub(lambda digits: f"{float(digits[0]):.5g}", text)
    brief = re.sub(r"\bpi\b", "π", brief)
    return "" if brief == text else brief


def typed(
    page: Page, label: str, shown: str, changed: Callable[[str], Robot], style: str,
    empty: str = "",
) -> Cell:  # fmt: skip
    """A text that makes another robot: judged as that would be, while it is typed."""

    def check(text: str) -> str:
        try:
            return page.fault(changed(text))
        except CardanError as error:
            return error.told(WORDS)

    return Cell("text", shown, label, lambda text: page.change(changed(text)), check, style=style,
                empty=empty)  # fmt: skip


def named(text: str) -> str:
    """A name, which must not be empty."""
    if not text.strip():
        raise InputError("a name is missing")
    return text.strip()


def choice(
    page: Page, label: str, value: Any, options: dict[Any, str], apply: Callable[[Any], Robot]
) -> Cell:
    return Cell("choice", value, label, lambda x: page.change(apply(x)),
                options=[list(pair) for pair in options.items()])  # fmt: skip


def box(page: Page, label: str, value: bool, apply: Callable[[Any], Robot], off: bool) -> Cell:
    return Cell("box", value, label, lambda x: page.change(apply(bool(x))), off=off)


def menu(page: Page, label: str, items: dict[str, Callable[[], Robot]]) -> Cell:
    """A button with changes to choose from."""

    def taken(words: str) -> str:
        if words not in items:  # it was chosen from an earlier state of the menu
            return f"{label}: there is no '{words}' any more"
        return page.change(items[words]())

    return Cell("menu", label=label, take=taken, options=list(items))


def act(page: Page, label: str, icon: str, change: Callable[[], Robot]) -> Cell:
    return Cell("act", icon, label, lambda _: page.change(change()))


def setter(page: Page, where: str, j: int, key: str) -> Callable[[Any], Robot]:
    """A change of one field of a joint or a link."""

    def apply(value: Any) -> Robot:
        items = list(getattr(page.robot, where))
        items[j] = replace(items[j], **{key: value})
        return replace(page.robot, **{where: tuple(items)})  # type: ignore[arg-type]

    return apply


def rows(page: Page, keys: Sequence[str], where: str) -> Block:
    """A table of expressions, one row per joint or link, named after the link."""
    table = []
    for j, item in enumerate(getattr(page.robot, where)):
        link = page.robot.links[j].name
        cells = [
            expression(
                page,
                f"{key} of {link}",
                getattr(item, key),
                setter(page, where, j, key),
                key,
                joint=page.robot.joints[j],
            )
            for key in keys
        ]
        table.append([word(link), *cells])
    return Block(["", *keys], table)
