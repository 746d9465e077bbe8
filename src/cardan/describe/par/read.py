"""Read .par files, the format of SYMORO+ (Latin-1) and OpenSYMORO. They are written by `write`.

Frames 1..NL are the tree, NL+1..NJ the cut joints, NJ+1..NF their twins. Geometry is mandatory.
The other sections may be missing as a whole, as in a purely geometric file: they count as zeros
then, also gravity. What SYMORO has no list for, further friction and springs, stands in lists of
our own within comments, which it skips. The joint variable is told from its offset by
`split_variable`. Lists are never padded, cut or guessed at: a wrong length is a fault.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence

from ...errors import MOST_FAULTS, ExpressionError, Fault
from ..check import UNREAD, completed, moving_base
from ..robot import (
    DRIVE,
    FIXED,
    FURTHER,
    GEOMETRY,
    IDENTITY_4,
    INERTIA,
    MOTION,
    WRENCH,
    Base,
    Joint,
    Link,
    Loop,
    Robot,
)  # fmt: skip
from ..values.expression import Value, symbol, symbols
from ..values.parser import parse
from ..values.variable import split_variable
from .scan import Entry, scan

Table = dict[str, list[Value]]  # by key, the columns of the file

SYMBOLS = ("QP", "QDP", "GAM")
COUNTS = ("NF", "NL", "NJ", "Type")
FLAGS = ("is_floating", "is_mobile")
FRAME = ("ant", "sigma", "b", "d", "r", "gamma", "alpha", "mu", "theta")
DYNAMICS = (*INERTIA, *DRIVE)
ELASTIC = ("rest", "damping")  # of elastic joints, beside k
OWN = (*FURTHER, *ELASTIC)  # lists that SYMORO does not know: (* Cardan FQ = {...} *)
JOINT = ("eta", "k", *SYMBOLS, *OWN)
BASE = (*MOTION, "G", "Z")
KEYS = {key.lower(): key for key in (*COUNTS, *FLAGS, *FRAME, *DYNAMICS, *WRENCH, *JOINT, *BASE)}
INTEGERS = {"ant": None, "sigma": (0, 1, 2), "mu": (0, 1), "eta": (0, 1)}
TYPES = {0: "Simple", 1: "Tree", 2: "Closed"}
LARGEST_COUNT = 10_000
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_FIELD = {"antecedent": "ant", "gravity": "G", "stiffness": "k"}  # of a Robot -> of a file


def read_par(data: bytes, file: str) -> tuple[Robot | None, list[Fault]]:
    """The robot in a .par file, and every fault found; None where the faults leave no robot."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    reader = _Reader(text.replace("\r\n", "\n").replace("\r", "\n"), file)
    robot = reader.robot()
    faults = sorted(reader.faults, key=lambda fault: fault.line)
    return completed(robot, faults, file, reader.line)


def usual_symbols(j: int, fixed: bool) -> tuple[Value, ...]:
    """QP<j> QDP<j> GAM<j>, the names files give to joint j; a fixed frame has zeros."""
    return (0, 0, 0) if fixed else tuple(symbol(f"{key}{j}") for key in SYMBOLS)


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.file = file
        content = scan(text, file)
        self.name = content.name
        self.faults = content.faults
        self.entries: dict[str, Entry] = {}
        self.NF = self.NL = self.NJ = 0
        self.moving = False  # is link 0 in the lists of dynamic parameters?
        self.guessed: set[tuple[str, int]] = set()  # whole numbers that could not be read
        for entry in content.entries:
            self.enter(entry)

    def enter(self, entry: Entry) -> None:
        key = KEYS.get(entry.key.lower())
        if key is None:
            few = len(self.faults) < MOST_FAULTS  # to look for what was meant takes time
            near = difflib.get_close_matches(entry.key, KEYS.values(), n=1) if few else []
            hint = f"did you mean {near[0]}?" if near else "remove it"
            self.report(f"{entry.key} is not a key of a .par file; {hint}", entry.line)
        elif key in self.entries:
            first = self.entries[key].line
            self.report(f"{key} is given twice, first on line {first}; keep one", entry.line)
        else:
            self.entries[key] = entry

    def report(self, message: str, line: int, link: str = "") -> None:
        self.faults.append(Fault(message, self.file, line, link))

    def line(self, key: str, frame: int) -> int:
        """Line of a field of a frame, for faults found later."""
        key = _FIELD.get(key, key)
        if key == "variable":
            sigma = self.entries.get("sigma")
            items = sigma.items[frame - 1 : frame] if sigma is not None else ()
            key = "r" if items and items[0][0] == "1" else "theta"
        entry = self.entries.get(key)
        if entry is None:
            return 0
        at = frame if key in (*DYNAMICS, *WRENCH) and self.moving else frame - 1
        return entry.items[at][1] if key not in BASE and 0 <= at < len(entry.items) else entry.line

    def robot(self) -> Robot | None:
        kind = self.kind()
        if not self.read_counts(kind != "fixed"):
            return None
        columns = {key: self.column(key) for key in (*FRAME, *DYNAMICS, *WRENCH, *JOINT, *BASE)}
        table = {key: values for key, values in columns.items() if values is not None}
        self.check_sections(table)
        if any(key not in table for key in FRAME):
            return None
        joints = self.joints(table)
        self.check_type(joints)
        return self.assembled(table, joints, kind)

    def kind(self) -> str:
        """Kind of the base, by the two flags of OpenSYMORO."""
        flags = []
        for key in FLAGS:
            entry = self.entries.get(key)
            truth = _TRUTH.get(entry.items[0][0].lower()) if entry else False
            if truth is None and entry:
                self.report(f"{key} = {entry.items[0][0]}; allowed: True or False", entry.line)
            flags.append(bool(truth))
        if all(flags):
            line = self.entries["is_mobile"].line
            self.report("a base is floating or mobile, not both; set one to False", line)
        return "floating" if flags[0] else "mobile" if flags[1] else "fixed"

    def read_counts(self, moving: bool) -> bool:
        """NF NL NJ, which must be there and fit together."""
        values: dict[str, int] = {}
        for key in ("NF", "NL", "NJ"):
            entry = self.entries.get(key)
            if entry is None:
                self.report(f"{key} is missing; write {key} = 6 (* or as many as there are *)", 0)
                continue
            text = entry.items[0][0] if not entry.is_list else ""
            if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= LARGEST_COUNT):
                self.report(f"{key} must be a whole number from 1 to {LARGEST_COUNT}", entry.line)
            else:
                values[key] = int(text)
        if len(values) < 3:
            return False
        NF, NL, NJ = values["NF"], values["NL"], values["NJ"]
        if NJ < NL or NF != NL + 2 * (NJ - NL):
            self.report(
                f"NF = {NF}, NL = {NL}, NJ = {NJ} do not fit; NF is NL + 2 (NJ - NL)",
                self.entries["NF"].line,
            )
            return False
        self.NF, self.NL, self.NJ, self.moving = NF, NL, NJ, moving
        return True

    def length(self, key: str) -> int:
        if key in FRAME:
            return self.NF
        if key in JOINT:
            return self.NJ
        if key in BASE:
            return 16 if key == "Z" else 3
        return self.NL + self.moving

    def column(self, key: str) -> list[Value] | None:
        """The values of a list, or None when it is missing or at fault."""
        entry = self.entries.get(key)
        if entry is None:
            return None
        if not entry.is_list or len(entry.items) != self.length(key):
            size = f"{len(entry.items)} values" if entry.is_list else "no list {a,b,...}"
            base = " (link 0 first)" if self.length(key) == self.NL + 1 else ""
            self.report(f"{key} has {size}; it needs {self.length(key)}{base}", entry.line)
            return None
        return [self.item(key, i, *item) for i, item in enumerate(entry.items)]

    def item(self, key: str, i: int, text: str, line: int) -> Value:
        j = i if key in (*DYNAMICS, *WRENCH) and self.moving else i + 1
        name = f"{key}({j})"
        link = f"link{j}" if key not in BASE and j <= self.NL else ""
        try:
            value = parse(text)
        except ExpressionError as error:
            self.report(f"{name}: {error.faults[0].message}", line, link)
            return self.unread(key, i)
        if key in INTEGERS:
            allowed = INTEGERS[key]
            if not isinstance(value, int):
                self.report(f"{name} = {text[:40]} must be a whole number", line, link)
                return self.unread(key, i)
            if allowed and value not in allowed:
                kinds = "0 revolute, 1 prismatic, 2 fixed" if key == "sigma" else "0 no, 1 yes"
                what = "a joint type" if key == "sigma" else "allowed"
                self.report(f"{name} = {value} is not {what} ({kinds})", line, link)
                return self.unread(key, i)
        return value

    def unread(self, key: str, i: int) -> Value:
        """What stands for a value that cannot be read; a whole number must be one."""
        if key not in INTEGERS:
            return UNREAD
        self.guessed.add((key, i + 1))
        return i if key == "ant" else 0

    def check_sections(self, table: Table) -> None:
        """A section is there or not; half of one is a fault."""
        dynamic = any(key in self.entries for key in DYNAMICS)
        needed = [*FRAME, *(DYNAMICS if dynamic else ())]
        if any(table.get("eta", ())):
            needed.append("k")
        missing = [key for key in needed if key not in self.entries]
        if missing:
            line = max((entry.line for entry in self.entries.values()), default=0)
            self.report(f"{', '.join(missing)} missing; write a list for each", line)

    def check_type(self, joints: Sequence[Joint]) -> None:
        entry = self.entries.get("Type")
        NL = self.NL
        loops = self.NJ - NL
        chain = all(joint.antecedent == j for j, joint in enumerate(joints[:NL]))
        actual = 2 if loops else 0 if chain else 1
        inward = all(0 <= joint.antecedent <= j for j, joint in enumerate(joints))
        if entry is None or not inward or any(key == "ant" for key, _ in self.guessed):
            return  # a wrong antecedent is reported as such
        text = entry.items[0][0]
        fits = text == str(actual) or (text == "1" and actual == 0)
        if text not in ("0", "1", "2"):
            self.report(f"Type = {text[:20]}; allowed: 0 serial, 1 tree, 2 closed loop", entry.line)
        elif not fits:
            words = {0: "a serial robot", 1: "a tree", 2: f"a robot with {loops} loops"}
            self.report(
                f"Type = {text}, but ant, NL and NJ describe {words[actual]}; write "
                f"Type = {actual} or correct them",
                entry.line,
            )

    def joints(self, table: Table) -> list[Joint]:
        """Every frame, its variable told from the offset."""
        used = Counter(name for key in GEOMETRY for x in table[key] for name in symbols(x))
        shared = {name for name, count in used.items() if count > 1}
        return [self.joint(table, j, shared) for j in range(1, self.NF + 1)]

    def joint(self, table: Table, j: int, shared: set[str]) -> Joint:
        column = {key: table[key][j - 1] for key in FRAME}
        sigma = column["sigma"]
        variable = ""
        key = "theta" if sigma == 0 else "r"
        known = column[key] is not UNREAD and ("sigma", j) not in self.guessed
        if sigma != FIXED and known:
            parts = split_variable(column[key], j, shared)
            if isinstance(parts, str):
                self.report(f"{key}({j}): {parts}", self.line(key, j), f"link{j}")
            else:
                variable, column[key] = parts
        name = f"joint{j}"
        if j > self.NL:
            name = f"cut{j - self.NL}" if j <= self.NJ else f"twin{j - self.NJ}"
        return Joint(
            name,
            antecedent=int(column["ant"]),  # type: ignore[arg-type]
            sigma=int(sigma),  # type: ignore[arg-type]
            **{key: column[key] for key in GEOMETRY},  # type: ignore[arg-type]
            variable="" if variable == f"q{j}" else variable,
            active=column["mu"] == 1,
            **self.drive(table, j, sigma == FIXED),  # type: ignore[arg-type]
        )

    def drive(self, table: Table, j: int, fixed: bool) -> dict[str, object]:
        """What only the first frames have: friction up to NL, elasticity and symbols up to NJ."""
        drive: dict[str, object] = {}
        if j <= self.NL:
            drive = {key: table[key][j - 1 + self.moving] for key in DRIVE if key in table}
        if j <= self.NJ:
            usual = usual_symbols(j, fixed)
            names = tuple(
                table[key][j - 1] if key in table else own
                for key, own in zip(SYMBOLS, usual, strict=True)
            )
            drive["symbols"] = () if names == usual else names
            if "k" in table and "eta" in table and table["eta"][j - 1] == 1:
                drive |= {"elastic": True, "stiffness": table["k"][j - 1]}
            drive |= {key: table[key][j - 1] for key in OWN if key in table}
        return drive

    def assembled(self, table: Table, joints: list[Joint], kind: str) -> Robot:
        """The robot of the joints and columns of the file."""
        NL, NJ = self.NL, self.NJ

        def link(name: str, at: int) -> Link:
            return Link(name, **{k: table[k][at] for k in (*INERTIA, *WRENCH) if k in table})

        base = Base(
            kind,
            Z=tuple(table.get("Z", IDENTITY_4)),
            **{key: tuple(table.get(key, (0, 0, 0))) for key in MOTION},
            link=link("base", 0) if self.moving else Link("base"),
            drive=tuple(table[k][0] if k in table and self.moving else 0 for k in DRIVE),
        )
        if base.kind != kind:
            line = self.entries[base.motion[0]].line
            self.faults.append(Fault(moving_base(base), self.file, line, severity="warning"))
        ends = zip(joints[NL:NJ], joints[NJ:], strict=True)
        return Robot(
            self.name or self.file.rsplit("/", 1)[-1].removesuffix(".par") or "robot",
            tuple(link(f"link{j}", j - 1 + self.moving) for j in range(1, NL + 1)),
            tuple(joints[:NL]),
            tuple(Loop(f"loop{k}", cut, twin) for k, (cut, twin) in enumerate(ends, 1)),
            base,
            tuple(table.get("G", (0, 0, 0))),
        )
