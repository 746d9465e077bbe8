"""Denavit-Hartenberg tables of other conventions -> `Robot` in Khalil's notation.

Tables look alike and mean different things, so the convention must be named:

    "standard"  frame j at the far end of link j      Rz(theta) Tz(d) Tx(a) Rx(alpha)
    "craig"     modified: frame j on the axis of joint j, the row holds a and alpha of link j-1
                                                      Rx(alpha) Tx(a) Rz(theta) Tz(d)
    "khalil"    as craig, named as in this library    Rx(alpha) Tx(d) Rz(theta) Tz(r)

A row is one joint, base to tip; it is a mapping with these keys, all optional, or the four
parameters in the order given here (and sigma as a fifth):

    theta d a alpha | a alpha d theta | alpha d theta r     of standard | craig | khalil
    sigma      0, 1, 2, or revolute, prismatic, fixed (or R, P, F); 0 when absent
    offset     added to the joint variable's zero, as is what its own cell holds
    name link variable                                      text
    M MX MY MZ XX XY XZ YY YZ ZZ                            about the origin of the row's frame, or
    M X Y Z IXX IXY IXZ IYY IYZ IZZ                         centre of mass, inertia about it
    IA FV FS FQ FVA FSA FB FO VB VS spring neutral          drive, as in .toml: FVA and FSA are the
                                                            friction's asymmetry
    Jm G                                                    rotor and gear ratio: IA + G^2 Jm
    lower upper velocity effort                             limits
    flip       1, true or yes: the variable counts backwards, theta (d) = offset - q

A base or a tool is a row whose sigma is 2, first or last. Before the header of a text a line
"gravity = 0 0 -9.81" gives gravity in frame 0.

Values are numbers or formulas with symbols and units ("-pi/2", "L2", "90 deg"). The cell of the
joint variable may name it as textbooks do (q1, theta1 + pi/2, d3). Inertias are in the axes of the
convention's own link frame. In a standard table this is the far frame: it differs from ours by
Tx(a) Rx(alpha) of the same row, so inertias are moved, the row's own frame is a `Frame` under the
name of its link, and this transform of the last row becomes a fixed frame "tool".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...arguments import named_arguments
from ...errors import CardanError, DescriptionError, Fault, UnknownNameError
from ..frames import decimal_value, multiple_of_pi
from ..inertia import about_origin, from_far_frame
from ..robot import (
    DRIVE,
    FIXED,
    FURTHER,
    INERTIA,
    PRISMATIC,
    REVOLUTE,
    Frame,
    Joint,
    Limits,
    Link,
    Robot,
)
from ..values.expression import Expression, Value, add, multiply, number, power, subtract, symbols
from ..values.parser import to_value
from ..values.units import parse_quantity
from ..values.variable import split_variable

COLUMNS = {
    "standard": ("theta", "d", "a", "alpha"),
    "craig": ("a", "alpha", "d", "theta"),
    "khalil": ("alpha", "d", "theta", "r"),
}
_SIGMA = {
    "0": REVOLUTE, "r": REVOLUTE, "revolute": REVOLUTE, "": REVOLUTE,
    "1": PRISMATIC, "p": PRISMATIC, "prismatic": PRISMATIC,
    "2": FIXED, "f": FIXED, "fixed": FIXED,
}  # fmt: skip
_TEXT = ("name", "link", "variable")
_YES, _NO = ("1", "true", "yes"), ("", "0", "false", "no")
_CENTRE = ("X", "Y", "Z", "IXX", "IXY", "IXZ", "IYY", "IYZ", "IZZ")
_ROTOR = ("Jm", "G")
_LIMITS = ("lower", "upper", "velocity", "effort")
_UNITS = {"theta": "rad", "alpha": "rad", "a": "m", "M": "kg"}
_UNITS |= dict.fromkeys(("MX", "MY", "MZ"), "kg*m") | dict.fromkeys("XYZ", "m")
_UNITS |= dict.fromkeys((*INERTIA[:6], *_CENTRE[3:]), "kg*m^2")
MOST_ROWS, LARGEST_TEXT = 5_000, 1_000_000

_GRAVITY = re.compile(r"gravity\s*[=:,;\t](.*)", re.IGNORECASE)

Row = Mapping[str, Any] | Sequence[Any]


@named_arguments
def from_dh(
    rows: Iterable[Row], convention: str, *, name: str = "robot",
    gravity: Sequence[Any] = (0, 0, "-9.81"), source: str = "",
) -> Robot:  # fmt: skip
    """The serial robot of a table in a named convention; every fault of the table at once.

    >>> rows = [{"theta": "q1", "a": "L1", "M": 2}, {"theta": "q2", "a": 0.4, "M": 1}]
    >>> robot = cardan.from_dh(rows, "standard", name="arm")
    >>> robot.n, robot.parameters
    (2, ('L1',))"""
    numbered = [(0, row) for row in rows]
    robot, faults = _Table(convention, source).robot(numbered, name)
    if robot is None:
        raise DescriptionError(faults)
    return replace(robot, gravity=tuple(to_value(g) for g in gravity))


def read_dh_table(
    text: str, convention: str, file: str = "", *, name: str = "robot"
) -> tuple[Robot | None, list[Fault]]:
    """The robot of a table as text: a header that names the columns, then a line per joint.

    Columns are separated by commas, semicolons or tabs; '#' starts a comment. Gravity is (0, 0,
    -9.81), or what a line before the header says.
    """
    table = _Table(convention, file)
    if len(text) > LARGEST_TEXT:
        return None, [Fault(f"the table is longer than {LARGEST_TEXT} characters", file)]
    lines = [(k, line.split("#")[0].strip(" ")) for k, line in enumerate(text.splitlines(), 1)]
    lines = [(k, line) for k, line in lines if line.strip()]
    if not lines:
        return None, [Fault("the table is empty: its first line names the columns", file)]
    gravity: tuple[Value, ...] = ()
    if (own := _GRAVITY.match(lines[0][1])) and len(lines) > 1:
        words = re.split(r"[\s,;]+", own[1].strip(" ,;\t"))
        gravity = tuple(_Row(table, 0, lines[0][0], {"X": x}).value("X") for x in words)
        if len(gravity) != 3:
            table.fault(f"gravity has {len(gravity)} numbers, not 3", lines[0][0])
        lines = lines[1:]
    mark = next((mark for mark in ";\t" if mark in lines[0][1]), ",")
    header = [cell.strip() for cell in lines[0][1].split(mark)]
    for column in {column for column in header if header.count(column) > 1}:
        table.fault(f"column '{column}' appears twice", lines[0][0])
    for column in header:
        table.check_column(column, lines[0][0])
    rows = []
    for k, line in lines[1:]:
        cells = [cell.strip() for cell in line.split(mark)]
        if len(cells) != len(header):
            table.fault(f"{len(cells)} cells under {len(header)} columns", k)
        rows.append((k, dict(zip(header, cells, strict=False))))
    robot, faults = table.robot(rows, name)
    return replace(robot, gravity=gravity) if robot and gravity else robot, faults


class _Table:
    """A table being read: its convention, and the faults so far."""

    def __init__(self, convention: str, file: str) -> None:
        if convention not in COLUMNS:
            raise UnknownNameError.of("DH convention", convention, COLUMNS)
        self.convention, self.file = convention, file
        self.columns = COLUMNS[convention]
        self.faults: list[Fault] = []
        extra = ("gamma", "b") if convention == "khalil" else ()
        self.known = (
            *self.columns, *extra, "sigma", "offset", "flip", *_TEXT, *INERTIA, *_CENTRE, *DRIVE,
            *FURTHER, *_ROTOR, *_LIMITS,
        )  # fmt: skip

    def fault(self, message: str, line: int = 0, link: str = "") -> None:
        self.faults.append(Fault(message, self.file, line, link))

    def check_column(self, column: str, line: int) -> None:
        if column not in self.known:
            error = UnknownNameError.of(f"column of a {self.convention} table", column, self.known)
            self.fault(str(error), line)

    def robot(self, rows: Sequence[tuple[int, Row]], name: str) -> tuple[Robot | None, list[Fault]]:
        """The robot of numbered rows, or None and the faults."""
        if not 0 < len(rows) <= MOST_ROWS:
            self.fault(f"the table has {len(rows)} rows; 1 to {MOST_ROWS} are read")
        joints, links, frames, flips = [], [], [], []
        before: tuple[Value, Value] = 0, 0  # a and alpha of the row before, in a standard table
        for j, (line, row) in enumerate(rows[:MOST_ROWS], 1):
            cells = _Row(self, j, line, row)
            joint, link = cells.joint(), cells.link()
            if self.convention == "standard":
                far = cells.value("a"), cells.value("alpha")
                joint = replace(joint, d=before[0], alpha=before[1])
                link, before = Link(link.name, **_plain(from_far_frame(link, *far))), far
                frames.append(Frame(link.name, j, (far[0], 0, 0), (far[1], 0, 0), "link"))
            elif cells.flipped:
                frames.append(Frame(link.name, j, kind="link"))
            flips += [j] if cells.flipped else []
            joints.append(joint)
            links.append(link)
        if self.convention == "standard" and before != (0, 0):
            joints.append(Joint("tool", len(joints), FIXED, d=before[0], alpha=before[1]))
            links.append(Link("tool"))
        self._check_names([*(joint.name for joint in joints)])
        self._check_names([*(link.name for link in links)])
        if self.faults:
            return None, self.faults
        for j in flips:
            _flip(j, joints, links, frames)
        down = to_value("-9.81")
        robot = Robot(
            name, tuple(links), tuple(joints), gravity=(0, 0, down), source=self.file,
            frames=tuple(frame for frame in frames if not frame.at_link),
        )  # fmt: skip
        return robot, []

    def _check_names(self, names: list[str]) -> None:
        for name in sorted({name for name in names if names.count(name) > 1}):
            self.fault(f"two rows are called '{name}': names must be unique", link=name)


class _Row:
    """One row: its cells as values, each fault with its place."""

    def __init__(self, table: _Table, j: int, line: int, row: Row) -> None:
        self.table, self.j, self.line = table, j, line
        if not isinstance(row, Mapping):
            listed = isinstance(row, Sequence) or hasattr(row, "__array__")
            cells = list(row) if listed and not isinstance(row, str) else []
            keys = (*table.columns, "sigma")
            if len(cells) not in (4, 5):
                table.fault(f"row {j} has {len(cells)} numbers, not {', '.join(keys[:4])}", line)
            row = dict(zip(keys, cells, strict=False))
        for key in row:
            if not line:  # a text table has had its header checked once
                table.check_column(str(key), line)
        self.cells = row
        self.name = str(self.text("link") or f"link{j}")

    def text(self, key: str) -> str:
        cell = self.cells.get(key)
        text = "" if cell is None else str(cell).strip()
        if len(text) > 200 or not text.isprintable():
            self.table.fault(f"row {self.j}: {key} must be printable, 200 characters at most")
            return ""
        return text

    def value(self, key: str) -> Value:
        """The exact value of a cell; an empty one is 0."""
        cell = self.cells.get(key)
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return 0
        try:
            if isinstance(cell, str):
                value = parse_quantity(cell, _UNITS.get(key, ""))
            else:
                value = to_value(cell)
        except (CardanError, ArithmeticError) as error:
            self.table.fault(f"{key} of row {self.j}: {error}", self.line, self.name)
            return 0
        return multiple_of_pi(value) if _UNITS.get(key) == "rad" else value

    @property
    def sigma(self) -> int:
        text = self.text("sigma").lower()
        if text not in _SIGMA:
            self.table.fault(
                f"sigma of row {self.j} is '{text}' (0 revolute, 1 prismatic, 2 fixed)",
                self.line, self.name,
            )  # fmt: skip
        return _SIGMA.get(text, REVOLUTE)

    @property
    def flipped(self) -> bool:
        """Does the joint variable count backwards?"""
        text = self.text("flip").lower()
        if text not in (*_YES, *_NO) or (text in _YES and self.sigma == FIXED):
            words = f"flip of row {self.j} is '{text}': 1 or 0, of a joint that moves"
            self.table.fault(words, self.line, self.name)
        return text in _YES and self.sigma != FIXED

    def joint(self) -> Joint:
        """The joint in our notation; in a standard table alpha and d belong to the next one."""
        khalil = self.table.convention == "khalil"
        slide = "r" if khalil else "d"
        sigma = self.sigma
        moving = {REVOLUTE: "theta", PRISMATIC: slide}.get(sigma, "")
        parts = {key: self.value(key) for key in ("theta", slide)}
        if moving:
            parts[moving] = add(self._offset(parts[moving]), self.value("offset"))
        across = self.value("d" if khalil else "a")
        limits = {key: self.value(key) for key in _LIMITS if self.text(key)}
        drive: dict[str, Any] = {key: self.value(key) for key in (*DRIVE, *FURTHER)}
        drive["IA"] = add(drive["IA"], self._rotor())
        return Joint(
            self.text("name") or f"joint{self.j}",
            self.j - 1,
            sigma,
            gamma=self.value("gamma") if khalil else 0,
            b=self.value("b") if khalil else 0,
            alpha=self.value("alpha"),
            d=across,
            theta=parts["theta"],
            r=parts[slide],
            variable=self.text("variable"),
            limits=Limits(**limits),
            **drive,
        )

    def _rotor(self) -> Value:
        """The inertia of the motor's rotor behind its gear."""
        if self.text("G") and not self.text("Jm"):
            words = f"row {self.j} has a gear ratio G without an inertia Jm of the rotor: give it"
            self.table.fault(words, self.line, self.name)
        ratio = self.value("G") if self.text("G") else 1
        return multiply(self.value("Jm"), power(ratio, 2))

    def _offset(self, value: Value) -> Value:
        """What is left of the variable's cell when the variable is taken out."""
        own = re.compile(rf"(q|t|th|theta|d|r)_?{self.j}", re.IGNORECASE)
        own_name = self.text("variable")
        if not any(own.fullmatch(name) or name == own_name for name in symbols(value)):
            return value
        parts = split_variable(value, self.j, ())
        if isinstance(parts, str):
            self.table.fault(parts, self.line, self.name)
            return 0
        return parts[1]

    def link(self) -> Link:
        """The link with its inertial parameters about the origin of the table's own frame."""
        centre = [key for key in _CENTRE if self.text(key)]
        moments = [key for key in INERTIA[:-1] if self.text(key)]
        if centre and moments:
            self.table.fault(
                f"row {self.j} has both {moments[0]} (about the origin) and {centre[0]}"
                " (centre of mass): give one of the two forms", self.line, self.name,
            )  # fmt: skip
        values = {key: self.value(key) for key in INERTIA}
        mass = number(values["M"])
        if mass is not None and mass < 0:
            self.table.fault(f"mass {values['M']} is negative", self.line, self.name)
        if centre:
            x = [self.value(key) for key in _CENTRE]
            values = _plain(about_origin(values["M"], x[:3], x[3:]))
        return Link(self.name, **values)


def _plain(values: Mapping[str, Value]) -> dict[str, Value]:
    """Values in which a formula without symbols, as cos(0.3)*0.2, is its number."""
    numbers = {key: number(x) if isinstance(x, Expression) else None for key, x in values.items()}
    return {k: values[k] if x is None else decimal_value(x, 0.0) for k, x in numbers.items()}


def _flip(j: int, joints: list[Joint], links: list[Link], frames: list[Frame]) -> None:
    """Turn z of frame j round, by half a turn about x: the variable counts backwards.

    Rx(alpha) Tx(d) Rz(theta) Tz(r) Rx(pi) = Rx(alpha + pi) Tx(d) Rz(-theta) Tz(-r)."""
    half = to_value("pi")
    joint, link = joints[j - 1], links[j - 1]
    back: dict[str, Any] = {key: subtract(0, getattr(joint, key)) for key in ("theta", "r")}
    joints[j - 1] = replace(joint, alpha=add(joint.alpha, half), **back)
    turned: dict[str, Any] = {
        key: subtract(0, getattr(link, key)) for key in ("XY", "XZ", "MY", "MZ")
    }
    links[j - 1] = replace(link, **turned)
    for k, one in enumerate(joints):
        if one.antecedent == j:
            base: dict[str, Any] = {key: subtract(0, getattr(one, key)) for key in ("gamma", "b")}
            joints[k] = replace(one, alpha=subtract(one.alpha, half), **base)
    for k, frame in enumerate(frames):  # those of a table are turned about x, or not at all
        if frame.link == j:
            frames[k] = replace(frame, rpy=(add(frame.rpy[0], half), 0, 0))
