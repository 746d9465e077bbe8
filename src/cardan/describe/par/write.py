"""Write .par files, in the dialect of OpenSYMORO or of SYMORO+.

Further friction, springs beside motors, rest and damping of elastic joints are lists within
comments, which readers of SYMORO skip. What a dialect cannot say and a model depends on is refused,
with the way out; names of links, limits and sources, which have no place there, are left out.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence

from ...arguments import named_arguments
from ...errors import CardanWarning, DescriptionError, Fault, UnknownNameError
from ..robot import DRIVE, FIXED, GEOMETRY, INERTIA, MOTION, WRENCH, Joint, Robot
from ..values.expression import Value, add, symbol, symbols
from ..values.variable import split_variable
from .read import FRAME, OWN, SYMBOLS, TYPES, usual_symbols

DIALECTS = ("opensymoro", "symoro+")

_HEADER = """\
(*******************************************)
(*     SYMORO+ : Parameters of a robot     *)
(*******************************************)

(* File {name}.par *)

(* General parameters *)
"""


@named_arguments
def write_par(robot: Robot, dialect: str = "opensymoro") -> str:
    """The robot as the text of a .par file."""
    if dialect not in DIALECTS:
        raise UnknownNameError.of("dialect of .par", dialect, DIALECTS)
    plus = dialect == "symoro+"
    frames = robot.numbered
    faults = [*_inexpressible(robot, frames, plus)]
    if faults:
        raise DescriptionError(faults)
    _left_out(robot)
    sections = _sections(robot, frames, plus)
    body = "\n".join(f"(* {title} *)\n" + "".join(rows) for title, rows in sections)
    return f"{_head(robot, plus)}\n{body}\n(* End of definition *)\n"


def _left_out(robot: Robot) -> None:
    """Say which frames of the robot are not in the file."""
    lost = [frame.name for frame in robot.frames if not frame.at_link]
    if lost:
        listed = ", ".join(lost[:20]) + (f" and {len(lost) - 20} more" if len(lost) > 20 else "")
        warnings.warn(
            f".par files have no named frames; left out: {listed}. Of a robot read from it, a"
            " link's name means Khalil's frame; .toml keeps them",
            CardanWarning,
            stacklevel=4,
        )


def _head(robot: Robot, plus: bool) -> str:
    n, loops = len(robot.joints), len(robot.loops)
    serial = all(joint.antecedent == j for j, joint in enumerate(robot.joints))
    kind = 2 if loops else 0 if serial else 1
    name = f"(* Robotname = '{robot.name}' *)\n"
    if plus:
        counts = f"NF = {n + 2 * loops}\nNL = {n}\nNJ = {n + loops}\n"
        return f"{_HEADER.format(name=robot.name)}{name}{counts}Type = {kind} (* {TYPES[kind]} *)\n"
    counts = f"NL = {n}\nNJ = {n + loops}\nNF = {n + 2 * loops}\nType = {kind}\n"
    floating, mobile = robot.base.kind == "floating", robot.base.kind == "mobile"
    return f"{name}{counts}is_floating = {floating}\nis_mobile = {mobile}\n"


def _sections(robot: Robot, frames: Sequence[Joint], plus: bool) -> list[tuple[str, list[str]]]:
    base = robot.base
    moving = base.kind != "fixed" and not plus  # link 0 leads the lists of OpenSYMORO's
    links = [base.link, *robot.links] if moving else list(robot.links)
    cut = frames[: len(robot.joints) + len(robot.loops)]

    def row(key: str, values: Iterable[Value]) -> str:
        return _row(key, values, plus)

    dynamics = [row(k, [getattr(link, k) for link in links]) for k in INERTIA]
    for k, of_base in zip(DRIVE, base.drive, strict=True):
        own = [getattr(joint, k) for joint in robot.joints]
        dynamics.append(row(k, [of_base, *own] if moving else own))
    dynamics += [row(k, [getattr(link, k) for link in links]) for k in WRENCH]
    symbols_of = [_symbols(joint, j) for j, joint in enumerate(cut, 1)]
    keys = SYMBOLS[:2] if plus else SYMBOLS
    names = [row(k, [own[i] for own in symbols_of]) for i, k in enumerate(keys)]
    if any(joint.elastic for joint in cut):
        names.insert(0, row("eta", [int(joint.elastic) for joint in cut]))
        names.insert(1, row("k", [joint.stiffness for joint in cut]))
    for key in OWN:
        own = [getattr(joint, key) for joint in cut]
        if any(x != 0 for x in own):
            names.append(f"(* Cardan {_row(key, own, False).rstrip()} *)\n")
    motion = [row(key, getattr(base, key)) for key in MOTION]
    gravity = ("Acceleration of gravity", [row("G", robot.gravity)])
    title = "Matrix Z" if plus else "Transformation of 0 frame position fT0"
    Z = (title, [row("Z", base.Z)])
    return [
        ("Geometric parameters", _geometry(frames, plus)),
        ("Dynamic parameters and external forces", dynamics),
        ("Joints velocity and acceleration" if plus else "Joint parameters", names),
        ("Speed and acceleration of the base", motion),
        *((Z, gravity) if plus else (gravity, Z)),
    ]


def _geometry(frames: Sequence[Joint], plus: bool) -> list[str]:
    columns: dict[str, list[Value]] = {key: [] for key in FRAME}
    for j, joint in enumerate(frames, 1):
        columns["ant"].append(joint.antecedent)
        columns["sigma"].append(joint.sigma)
        columns["mu"].append(int(joint.active))
        for key in GEOMETRY:
            columns[key].append(_with_variable(joint, key, j))
    capital = plus and ("ant", "sigma", "b", "r", "alpha", "mu", "theta")
    return [
        _row(key.capitalize() if capital and key in capital else key, columns[key], plus)
        for key in FRAME
    ]


def _with_variable(joint: Joint, key: str, j: int) -> Value:
    """theta_j or r_j with the joint variable added to its offset."""
    value: Value = getattr(joint, key)
    moves = joint.sigma != FIXED and key == ("theta" if joint.sigma == 0 else "r")
    return add(value, symbol(joint.variable or f"q{j}")) if moves else value


def _row(key: str, values: Iterable[Value], plus: bool) -> str:
    items = [str(value) for value in values]
    if not plus:
        return f"{key} = {{{','.join(items)}}}\n"
    items = [re.sub(r"\bpi\b", "Pi", item) for item in items]
    tens = [",".join(items[i : i + 10]) for i in range(0, len(items), 10)]
    return f"{key} = {{\n        " + ",\n        ".join(tens) + "}\n"


def _symbols(joint: Joint, j: int) -> tuple[Value, ...]:
    return joint.symbols or usual_symbols(j, joint.sigma == FIXED)


def _inexpressible(robot: Robot, frames: Sequence[Joint], plus: bool) -> Iterable[Fault]:
    if "*)" in robot.name or "(*" in robot.name:
        yield Fault("a .par file cannot hold '(*' or '*)' in the robot's name; rename the robot")
    base = robot.base
    loaded = any(getattr(base.link, key) != 0 for key in (*INERTIA, *WRENCH)) or any(base.drive)
    if plus and base.kind == "mobile" and base.motion and loaded:
        yield Fault("the SYMORO+ dialect has no inertia of a mobile base; write OpenSYMORO's")
    elif plus and (base.kind == "floating" or (base.kind == "mobile" and not base.motion)):
        yield Fault(f"the SYMORO+ dialect has no {base.kind} base; write OpenSYMORO's")
    unheld = [(loop.name, f"{loop.kind} joint") for loop in robot.loops if loop.kind]
    unheld += [
        (f"{loop.cut.name} of loop {loop.name}", "rotor and friction of a cut joint")
        for loop in robot.loops
        if any(getattr(loop.cut, k) != 0 for k in DRIVE)
    ]
    unheld += [(robot.joints[j - 1].name, "coupled joints") for j in robot.couplings]
    unheld += [(robot.links[x.link - 1].name, "wheels that roll") for x in robot.wheels]
    unheld += [(x.name, "drive of several joints") for x in robot.drives]
    links = (robot.base.link, *robot.links)
    unheld += [(links[x.link].name, type(x).__name__.lower()) for x in robot.interactions]
    unheld += [(x.name, "flexible links") for x in robot.links if x.flexible is not None]
    yield from (Fault(f"a .par file has no {what}; write .toml", link=x) for x, what in unheld)
    cells = [_with_variable(x, key, j) for j, x in enumerate(frames, 1) for key in GEOMETRY]
    used = Counter(name for value in cells for name in symbols(value))
    shared = {name for name, count in used.items() if count > 1}
    for j, joint in enumerate(frames, 1):
        if plus and joint.elastic:
            words = "the SYMORO+ dialect has no elastic joints; write OpenSYMORO's"
            yield Fault(words, link=joint.name)
        if joint.sigma != FIXED:
            key = "theta" if joint.sigma == 0 else "r"
            parts = split_variable(_with_variable(joint, key, j), j, shared)
            if parts != (joint.variable or f"q{j}", getattr(joint, key)):
                words = f"a .par file cannot tell the variable {joint.variable} from the offset;"
                yield Fault(f"{words} name it q{j}", link=joint.name)
