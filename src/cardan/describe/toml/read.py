"""Read our own format, a TOML file of links, documented in docs/format.md; `toml_write` writes it.

The same fields as a Python dict are read by `from_dict`. Numbers are taken from the text of the
file, so that 0.1 is 1/10. Every fault is collected; lines are found by a second look at the text,
because the TOML parser of the standard library does not report them.
"""

from __future__ import annotations

import difflib
import operator
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ...errors import MOST_FAULTS, DescriptionError, ExpressionError, Fault, further
from ..check import UNREAD, completed, moving_base
from ..fields import (
    BASE_KEYS,
    BODY,
    COUPLING,
    DRIVE_KEYS,
    FRAME_KEYS,
    JOINT_KEYS,
    JOINTS,
    LIMITS,
    LINK_KEYS,
    LOOP_KEYS,
    MOTOR,
    ROBOT_KEYS,
    SYMBOLS,
    TWIN_KEYS,
    UNIT,
    WHEEL_KEYS,
)
from ..flexible import read_flexible
from ..inertia import about_origin
from ..interactions import KINDS, Interaction
from ..legs import Piece, pieces_of
from ..robot import (
    COMPOUND,
    DRIVE,
    FIXED,
    FRICTION,
    FURTHER,
    GEOMETRY,
    IDENTITY_4,
    INERTIA,
    MOTION,
    WRENCH,
    Base,
    Coupling,
    Drive,
    Frame,
    Joint,
    Limits,
    Link,
    Loop,
    Motor,
    Robot,
    Wheel,
)
from ..values.expression import Value, add, substitute, symbols
from ..values.parser import to_value
from ..values.units import parse_quantity
from .lines import Place, has_long_key, lines_of

VERSION = 1
GRAVITY: tuple[Value, ...] = (0, 0, to_value("-9.81"))
LARGEST_COUNT = 10_000

Table = Mapping[str, Any]


def read_toml(data: bytes, file: str) -> tuple[Robot | None, list[Fault]]:
    """The robot in a .toml file, and every fault found; None where the faults leave no robot."""
    try:
        text = data.decode("utf-8-sig")
        if has_long_key(text):
            raise RecursionError
        table = tomllib.loads(text, parse_float=_Decimal)
    except UnicodeDecodeError:
        return None, [Fault("the file is not UTF-8 text; save it as UTF-8", file)]
    except RecursionError:
        return None, [Fault("lists or tables nest too deeply; 4 levels are enough", file)]
    except ValueError as error:  # TOMLDecodeError is one, so are integers of thousands of digits
        line = re.search(r"line (\d+)", str(error))
        return None, [Fault(f"not TOML: {error}", file, int(line[1]) if line else 0)]
    if "cardan" not in table:
        message = f"the version of the format is missing; start the file with cardan = {VERSION}"
        _, others = read_dict({"cardan": VERSION, **table}, file, lines_of(text))
        return None, [Fault(message, file, 1), *others]
    return read_dict(table, file, lines_of(text))


def from_dict(table: Table) -> Robot:
    """The robot described by a dict with the fields of the format; faults are raised."""
    robot, faults = read_dict(table)
    errors = [fault for fault in faults if fault.severity == "error"]
    if robot is None or errors:
        raise DescriptionError(errors)
    return robot


def read_dict(
    table: Table, file: str = "", lines: Mapping[tuple[Place, str], int] | None = None
) -> tuple[Robot | None, list[Fault]]:
    """The robot of a table with the fields of the format, and every fault found."""
    reader = _Reader(file, lines or {})
    robot = reader.robot(table)
    faults = sorted(reader.faults, key=lambda fault: fault.line)
    if reader.further:
        return None, [*faults, further(reader.further, file)]
    if robot is None:
        return None, faults
    return completed(robot, faults, file, reader.line_of(robot))


class _Decimal(str):
    """A TOML float as it is written; numbers stay exact."""

    __slots__ = ()


def _finite(x: _Decimal) -> Value:
    if not x.lstrip("+-")[:1].isdigit():
        raise ExpressionError(f"{x} is not a value; numbers must be finite")
    return to_value(x.replace("_", ""))


class _Reader:
    def __init__(self, file: str, lines: Mapping[tuple[Place, str], int]) -> None:
        self.file = file
        self.lines = lines
        self.faults: list[Fault] = []
        self.further = 0  # faults that are only counted
        self.place: Place = ("", 0)
        self.link = ""
        self.numbers: dict[str, int] = {}  # of frames, by name
        self.joint_numbers: dict[str, int] = {}  # of joints, by their name or their link's
        self.gone: list[tuple[Piece, str]] = []  # links cut away, and the link that is their body
        self.piece = Piece({}, ("", 0))
        self.places: dict[int, Place] = {}
        self.loop_places: dict[int, Place] = {}

    def line(self, key: str) -> int:
        return self.lines.get((self.place, key), self.lines.get((self.place, ""), 0))

    def line_of(self, robot: Robot) -> Any:
        """Line of a field of a frame, for faults found later."""
        n, loops = len(robot.joints), max(len(robot.loops), 1)
        other = {"sigma": "joint", "M": "mass", "XX": "inertia_com"}

        def line(key: str, j: int) -> int:
            place = ("base", 0) if j == 0 else self.places.get(j, ("link", j))
            if j > n:
                k = (j - n - 1) % loops + 1
                place = self.loop_places.get(k, ("loop", k))
            if key == "gravity":
                place = ("", 0)
            names = (key, other.get(key, ""), "limits" if key in LIMITS else "", "")
            return next((self.lines[place, k] for k in names if (place, k) in self.lines), 0)

        return line

    def report(self, message: str, key: str = "") -> None:
        if len(self.faults) >= MOST_FAULTS:
            self.further += 1
            return
        self.faults.append(Fault(message, self.file, self.line(key), self.link))

    def robot(self, table: Table) -> Robot | None:
        self.known(table, ROBOT_KEYS)
        version = table.get("cardan", VERSION)
        if version != VERSION or isinstance(version, bool):
            self.report(f"format version {version!s:.20}; this Cardan reads {VERSION}", "cardan")
            return None
        name = self.text(table, "name", "robot")
        source, notes = self.text(table, "source", ""), self.text(table, "notes", "")
        gravity = self.vector(table, "gravity", 3) if "gravity" in table else GRAVITY
        links, loops, self.gone = pieces_of(table, self)
        self.collect_names(table, [p.table for p in links], [p.table for p in loops])
        base = self.base(table.get("base", {}))
        pairs = [self.link_and_joint(part, j) for j, part in enumerate(links, 1)]
        closed = [self.loop(part, k, len(links)) for k, part in enumerate(loops, 1)]
        return Robot(
            name,
            tuple(link for link, _ in pairs),
            tuple(joint for _, joint in pairs),
            tuple(closed),
            base,
            gravity,
            source,
            notes,
            tuple(self.frames(table, len(links))),
            self.text(table, "end_effector", ""),
            tuple(self.wheels(table)),
            tuple(self.interactions(table, len(links))),
            tuple(self.drives(table)),
        )

    def frames(self, table: Table, last: int) -> Iterator[Frame]:
        """[[frame]]: named frames on links, on the last one where no link is named."""
        self.place = ("", 0)
        for k, part in enumerate(self.tables(table, "frame"), 1):
            self.begin(Piece(part, ("frame", k)), f"frame{k}", FRAME_KEYS)
            yield Frame(
                self.link,
                self.antecedent(part, last, "link"),
                self.vector(part, "xyz", 3),
                self.vector(part, "rpy", 3),
                self.text(part, "kind", "frame"),
            )
        self.place, self.link = ("", 0), ""

    def wheels(self, table: Table) -> Iterator[Wheel]:
        """[[wheel]]: links that roll on the ground without slipping."""
        self.place = ("", 0)
        for k, part in enumerate(self.tables(table, "wheel"), 1):
            self.begin(Piece(part, ("wheel", k)), f"wheel{k}", WHEEL_KEYS)
            for key in ("link", "radius"):
                if key not in part:
                    self.report(f"the wheel has no {key}; give link and radius", key)
            yield Wheel(
                self.link,
                self.antecedent(part, 0, "link"),
                self.number(part, "radius"),
                self.vector(part, "normal", 3) if "normal" in part else (0, 0, 1),
                self.text(part, "slip", ""),
            )
        self.place, self.link = ("", 0), ""

    def drives(self, table: Table) -> Iterator[Drive]:
        """[[drive]]: motors that several joints turn, x = ratio[0] q + ratio[1] q + ..."""
        self.place = ("", 0)
        for k, part in enumerate(self.tables(table, "drive"), 1):
            self.begin(Piece(part, ("drive", k)), f"drive{k}", DRIVE_KEYS)
            names, ratios = part.get("joint", []), part.get("ratio")
            if not _is_list(names) or not all(isinstance(x, str | int) for x in names):
                self.report("joint must be a list of the names or numbers of joints", "joint")
                names = []
            numbers = [x if isinstance(x, int) else self.joint_numbers.get(x, 0) for x in names]
            for name, j in zip(names, numbers, strict=True):
                if isinstance(name, str) and not j:
                    self.report(f"there is no joint {name!r:.40}", "joint")
            if ratios is not None and not (_is_list(ratios) and len(ratios) == len(numbers)):
                self.report("ratio must be a list with a value for each joint", "ratio")
                ratios = None
            weights = [1] * len(numbers) if ratios is None else ratios
            pairs = zip(numbers, weights, strict=True)
            law = self.numbers_of(part, ("IA", *FRICTION))
            yield Drive(self.link, tuple((j, self.value("ratio", x)) for j, x in pairs), **law)
        self.place, self.link = ("", 0), ""

    def interactions(self, table: Table, links: int) -> Iterator[Interaction]:
        """[[contact]], [[drag]], [[thruster]]: of one link, of a list of them, or of "all"."""
        for kind, make in KINDS.items():
            self.place = ("", 0)
            for k, part in enumerate(self.tables(table, kind), 1):
                keys = [field.name for field in fields(make)]
                self.begin(Piece(part, (kind, k)), f"{kind}{k}", keys)
                if "link" not in part:
                    self.report(f"the {kind} has no link; name one, a list of them, or all", "link")
                    continue
                values = {key: self.entry(part, key) for key in keys[2:] if key in part}
                wanted = part["link"]
                every = list(range(1, links + 1)) if wanted == "all" else wanted
                for link in every if _is_list(every) else [every]:
                    j = self.antecedent({"link": link}, 0, "link")
                    several = _is_list(every) and len(every) > 1
                    yield make(f"{self.link} {j}" if several else self.link, j, **values)
        self.place, self.link = ("", 0), ""

    def entry(self, part: Table, key: str) -> Any:
        """A field of an interaction: a value, a vector, or a list of points."""
        value = part[key]
        if key == "points":
            points = value if _is_list(value) else [value]
            return tuple(self.vector({key: point}, key, 3) for point in points)
        return self.vector(part, key, 3) if _is_list(value) else self.number(part, key)

    def begin(self, piece: Piece, name: str, allowed: Collection[str]) -> None:
        """Faults belong to this piece from here on, under its name."""
        self.place, self.link, self.piece = piece.place, name, piece
        self.link = self.text(piece.table, "name", name)
        self.known(piece.table, allowed)

    def tables(self, table: Table, key: str) -> Sequence[Table]:
        parts = table.get(key, [])
        good = isinstance(parts, Sequence) and not isinstance(parts, str)
        if not good or not all(isinstance(part, Mapping) for part in parts):
            self.report(f"{key} must be a list of tables; write [[{key}]] before each", key)
            return []
        if len(parts) > LARGEST_COUNT:
            self.report(f"{len(parts)} times [[{key}]]; at most {LARGEST_COUNT} are allowed", key)
            return []
        return list(parts)

    def collect_names(self, table: Table, links: Sequence[Table], loops: Sequence[Table]) -> None:
        base = table.get("base", {})
        self.numbers = {str(base.get("name", "base")) if isinstance(base, Mapping) else "base": 0}
        for j, part in enumerate(links, 1):
            self.numbers.setdefault(str(part.get("name", f"link{j}")), j)
        own = {str(x.get("joint_name", f"joint{j}")): j for j, x in enumerate(links, 1)}
        self.joint_numbers = {**self.numbers, **own}
        for i, kind in enumerate(("cut", "twin")):
            for k, part in enumerate(loops, 1):
                frame = part.get(kind, {})
                name = frame.get("name", f"{kind}{k}") if isinstance(frame, Mapping) else ""
                self.numbers.setdefault(str(name), len(links) + i * len(loops) + k)

    def base(self, table: Any) -> Base:
        self.place, self.link = ("base", 0), "base"
        if not isinstance(table, Mapping):
            self.report("base must be a table; write [base]")
            return Base()
        self.known(table, BASE_KEYS)
        name = self.text(table, "name", "base")
        kind = self.text(table, "kind", "fixed")
        base = Base(
            kind,
            self.placement(table),
            **{key: self.vector(table, key, 3) for key in MOTION},
            link=Link(name, **self.body(table)),
            drive=tuple(self.number(table, key) for key in DRIVE),
        )
        if base.kind != kind:
            self.place = ("base", 0)
            line = self.line(base.motion[0])
            self.faults.append(Fault(moving_base(base), self.file, line, severity="warning"))
        return base

    def placement(self, table: Table) -> tuple[Value, ...]:
        """Z, four rows of four (or sixteen values in a row)."""
        rows = table.get("Z")
        if rows is None:
            return IDENTITY_4
        if _is_list(rows) and len(rows) == 4 and all(_is_list(row) for row in rows):
            if all(len(row) == 4 for row in rows):
                return tuple(self.value("Z", x) for row in rows for x in row)
        elif _is_list(rows) and len(rows) == 16:
            return tuple(self.value("Z", x) for x in rows)
        self.report("Z must be four rows of four values", "Z")
        return IDENTITY_4

    def link_and_joint(self, piece: Piece, j: int) -> tuple[Link, Joint]:
        table = piece.table
        self.places[j] = piece.place
        self.begin(piece, f"link{j}", LINK_KEYS)
        flexible = read_flexible(self, table.get("flexible"))
        link = Link(self.link, **self.body(table), flexible=flexible)
        for other, stays in self.gone:
            if stays == self.link:  # the body of another that coincides with it
                both: dict[str, Any] = {
                    key: add(getattr(link, key), x) for key, x in self.body(other.table).items()
                }
                link = replace(link, **both)
        return link, self.joint(table, j, self.text(table, "joint_name", f"joint{j}"), j - 1)

    def loop(self, piece: Piece, k: int, n: int) -> Loop:
        table = piece.table
        self.place, self.link, self.piece = piece.place, f"loop{k}", piece
        self.loop_places[k] = piece.place
        name = self.text(table, "name", f"loop{k}")
        self.link = f"frames of loop {name}"
        self.known(table, LOOP_KEYS)
        frames, compound = list[Joint](), ""
        for kind, allowed in (("cut", ("name", *JOINT_KEYS)), ("twin", TWIN_KEYS)):
            part = table.get(kind)
            self.link = f"{kind} of loop {name}"
            if not isinstance(part, Mapping) or "antecedent" not in part:
                if "frames" not in table:  # else its own fault has been told
                    self.report(f"{kind} = {{ antecedent = ... }} is missing in the loop", kind)
                part = {}
            self.known(part, allowed)
            fixed = {"joint": "fixed"} if kind == "twin" else {}
            if kind == "cut" and part.get("joint") in COMPOUND:
                compound, fixed = str(part["joint"]), {"joint": "fixed"}
            own = self.text(part, "name", f"{kind}{k}")
            frames.append(self.joint({"active": False, **part, **fixed}, n + k, own, 0))
        return Loop(name, frames[0], frames[1], compound)

    def joint(self, table: Table, j: int, name: str, before: int) -> Joint:
        kind = self.text(table, "joint", "revolute")
        if kind not in JOINTS:
            more = f", {', '.join(COMPOUND)}" if self.place[0] == "loop" else ""
            self.report(f"joint = {kind!r:.40}; allowed: {', '.join(JOINTS)}{more}", "joint")
        sigma = JOINTS.index(kind) if kind in JOINTS else 0
        variable = self.text(table, "variable", "")
        if sigma == FIXED and variable:
            self.report("a fixed joint has no variable; remove it or change joint", "variable")
        elastic = self.numbers_of(table, ("stiffness", "rest", "damping"))
        if elastic and "stiffness" not in elastic:
            self.report("rest and damping belong to an elastic joint; give its stiffness", "rest")
        numbers = self.numbers_of(table, (*GEOMETRY, *DRIVE, *FURTHER, "home"))
        if sigma == FIXED and "home" in numbers:
            self.report("a fixed joint has no home; remove it or change joint", "home")
        inside = str(table.get("antecedent")) in self.piece.inside
        if self.piece.angle != 0 and not inside:
            turned = self.value("gamma", self.piece.angle)
            numbers["gamma"] = add(numbers.get("gamma", 0), turned)
        return Joint(
            name,
            self.antecedent(table, before),
            sigma,
            **numbers,
            variable="" if variable == f"q{j}" else variable,
            active=self.flag(table, "active", sigma != FIXED and "mimic" not in table),
            elastic="stiffness" in table,
            **elastic,
            mimic=self.coupling(table.get("mimic")),
            limits=self.limits(table.get("limits", {})),
            motor=self.motor(table["motor"]) if "motor" in table else None,
            symbols=self.vector(table, SYMBOLS, 3) if SYMBOLS in table else (),
        )

    def limits(self, table: Any) -> Limits:
        """limits = { lower = ..., upper = ..., velocity = ..., effort = ... }"""
        if not isinstance(table, Mapping):
            self.report("limits must be a table { lower = ..., upper = ... }", "limits")
            return Limits()
        self.known(table, LIMITS)
        return Limits(**self.numbers_of(table, LIMITS))

    def motor(self, table: Any) -> Motor | None:
        """motor = { rated = ..., curve = [[speed, torque]], efficiency = ..., cogging = [] }"""
        if not isinstance(table, Mapping):
            self.report("motor must be a table { rated = ..., curve = [[speed, torque]] }", "motor")
            return None
        self.known(table, MOTOR)
        curve = table.get("curve", ())
        if not _is_list(curve) or not all(_is_list(x) and len(x) == 2 for x in curve):
            self.report("curve must be a list of pairs [speed, torque]", "curve")
            curve = ()
        return Motor(
            **self.numbers_of(table, ("rated", "efficiency")),
            curve=tuple((self.value("velocity", v), self.value("effort", t)) for v, t in curve),
            cogging=self.vector(table, "cogging", 3) if "cogging" in table else (),
        )

    def coupling(self, table: Any) -> Coupling | None:
        """mimic = { joint = "name", ratio = 1, offset = 0 }; the joint by its name, that of its
        link, or its number. Lists of joints and of their ratios: several lead."""
        if table is None:
            return None
        if not isinstance(table, Mapping) or "joint" not in table:
            self.report('mimic must be a table { joint = "name", ratio = 1, offset = 0 }', "mimic")
            return None
        self.known(table, ("joint", *COUPLING))
        if not _is_list(table["joint"]):
            leader = self.leader(table["joint"])
            own = self.numbers_of(table, COUPLING)
            return None if leader is None else Coupling(leader, **own)
        leaders = [self.leader(x) for x in table["joint"]]
        ratios = table.get("ratio", [1] * len(leaders))
        if not leaders or not _is_list(ratios) or len(ratios) != len(leaders):
            words = "mimic: a list of joints has a list of as many ratios"
            self.report(f'{words}, as joint = ["a", "b"], ratio = [-1, -1]', "mimic")
            return None
        first, *others = (
            (k, self.value("ratio", x)) for k, x in zip(leaders, ratios, strict=True)
            if k is not None
        )  # fmt: skip
        if None in leaders:
            return None
        return Coupling(*first, self.number(table, "offset"), tuple(others))

    def leader(self, name: Any) -> int | None:
        """The joint that is mimicked, by its name, that of its link, or its number."""
        if isinstance(name, str):
            if name in self.joint_numbers:
                return self.joint_numbers[name]
            hint = _hint(name, self.joint_numbers, "use a joint's name or number")
            self.report(f"mimics {name!r:.60}, which is no joint; {hint}", "mimic")
        elif not isinstance(name, bool) and isinstance(name, int):
            return name
        else:
            self.report("mimic: joint must be the name or the number of a joint", "mimic")
        return None

    def antecedent(self, table: Table, before: int, key: str = "antecedent") -> int:
        link = table.get(key, before)
        if isinstance(link, str) and not isinstance(link, _Decimal):
            if link not in self.numbers:
                hint = _hint(link, self.numbers, "use a number or a link's name")
                self.report(f"{key} {link!r:.60} is no link; {hint}", key)
            return self.numbers.get(link, 0)
        try:
            if isinstance(link, bool):
                raise TypeError
            return operator.index(link)
        except TypeError:
            self.report(f"{key} must be the number or the name of a link", key)
            return 0

    def body(self, table: Table) -> dict[str, Any]:
        """XX..M as given, or from the mass and the inertia about the centre of mass; the wrench."""
        friendly = [key for key in BODY if key in table]
        direct = [key for key in INERTIA if key in table]
        inertia: dict[str, Any] = {}
        if not friendly:
            inertia = self.numbers_of(table, INERTIA)
        elif direct or "mass" not in table:
            wrong = f"{direct[0]} and {friendly[0]}" if direct else f"{friendly[0]} without mass"
            self.report(f"{wrong}; give mass, com, inertia_com or XX .. M, not both", friendly[0])
        else:
            M, c = self.number(table, "mass"), self.vector(table, "com", 3)
            inertia = about_origin(M, c, self.vector(table, "inertia_com", 6))
        return inertia | self.numbers_of(table, WRENCH)

    def numbers_of(self, table: Table, keys: Sequence[str]) -> dict[str, Any]:
        return {key: self.number(table, key) for key in keys if key in table}

    def number(self, table: Table, key: str) -> Value:
        return self.value(key, table.get(key, 0))

    def vector(self, table: Table, key: str, length: int) -> tuple[Value, ...]:
        """The values of a list; zeros where it is missing."""
        values = table.get(key)
        if values is None:
            return (0,) * length
        if not _is_list(values) or len(values) != length:
            self.report(f"{key} must be a list of {length} values", key)
            return (UNREAD,) * length
        return tuple(self.value(key, x) for x in values)

    def value(self, key: str, x: Any) -> Value:
        try:
            if isinstance(x, _Decimal):
                return _finite(x)
            value = parse_quantity(x, UNIT.get(key, "")) if isinstance(x, str) else to_value(x)
            return self.own(key, value) if self.piece.each else value
        except ExpressionError as error:
            self.report(f"{key}: {error.faults[0].message}", key)
            return UNREAD

    def own(self, key: str, value: Value) -> Value:
        """A value of one copy of a leg: the symbols of `each` have that copy's values."""
        used = {name: x for name, x in self.piece.each.items() if name in symbols(value)}
        piece, self.piece = self.piece, replace(self.piece, each={})
        table = {name: self.value(key, x) for name, x in used.items()}
        self.piece = piece
        return substitute(value, table)

    def text(self, table: Table, key: str, default: str) -> str:
        text = table.get(key, default)
        if isinstance(text, str) and not isinstance(text, _Decimal):
            return text
        self.report(f"{key} must be text in quotes", key)
        return default

    def flag(self, table: Table, key: str, default: bool) -> bool:
        flag = table.get(key, default)
        if isinstance(flag, bool):
            return flag
        self.report(f"{key} must be true or false", key)
        return default

    def known(self, table: Table, allowed: Collection[str]) -> None:
        for key in table:
            if key not in allowed and len(self.faults) >= MOST_FAULTS:
                self.further += 1  # to look for what was meant takes time
            elif key not in allowed:
                hint = _hint(str(key), allowed, f"allowed: {', '.join(allowed)}", "")
                self.report(f"{key!r:.60} is not a field here; {hint}", str(key))


def _is_list(x: Any) -> bool:
    return hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, str | Mapping)


def _hint(name: str, allowed: Collection[str], otherwise: str, quote: str = "'") -> str:
    """What was meant by a name that is not allowed."""
    near = difflib.get_close_matches(name, allowed, n=1)
    return f"did you mean {quote}{near[0]}{quote}?" if near else otherwise
