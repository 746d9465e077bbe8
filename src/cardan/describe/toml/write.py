"""Write our own format, with comments that name the units, in the order docs/format.md explains."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import fields

from ...arguments import named_arguments
from ..fields import JOINTS, LIMITS, SYMBOLS
from ..flexible import write_flexible
from ..interactions import KINDS, Interaction
from ..robot import (
    DRIVE,
    FIXED,
    FRICTION,
    FURTHER,
    GEOMETRY,
    IDENTITY_4,
    INERTIA,
    MOTION,
    REVOLUTE,
    WRENCH,
    Base,
    Coupling,
    Drive,
    Frame,
    Joint,
    Link,
    Loop,
    Motor,
    Robot,
    Wheel,
)
from ..values.expression import Expression, Value
from .read import VERSION

_UNITS = """\
# SI units: m, rad, kg, kg*m (MX..MZ), kg*m^2 (XX..ZZ, IA), N, N*m. Text in quotes is a formula and
# may end in a unit ("90 deg"). theta of a revolute joint (r of a prismatic one) is the offset added
# to its variable. Inertia is about the origin of the link's frame.
"""
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]+)?(e-?[0-9]+)?\Z")


@named_arguments
def write_toml(robot: Robot) -> str:
    """The robot as the text of a .toml file; reading it gives an equal robot."""
    lines = [f"cardan = {VERSION}  # version of the format", f"name = {_quote(robot.name)}"]
    for key in ("source", "notes"):
        if getattr(robot, key):
            lines.append(f"{key} = {_quote(getattr(robot, key))}")
    if robot.end_effector:
        lines.append(f"end_effector = {_quote(robot.end_effector)}")
    lines += [f"gravity = {_list(robot.gravity)}  # m/s^2, in frame 0", "", _UNITS.rstrip()]
    lines += _base(robot.base)
    names = [joint.name for joint in robot.joints]
    for j, (link, joint) in enumerate(zip(robot.links, robot.joints, strict=True), 1):
        lines += _link(link, joint, j, names)
    for k, loop in enumerate(robot.loops, 1):
        lines += _loop(loop, k)
    for k, wheel in enumerate(robot.wheels, 1):
        lines += _wheel(wheel, k)
    for k, drive in enumerate(robot.drives, 1):
        lines += _drive(drive, k, names)
    for item in robot.interactions:
        lines += _interaction(item)
    for frame in robot.frames:
        lines += _frame(frame)
    return "\n".join(lines) + "\n"


def _base(base: Base) -> list[str]:
    if base == Base():
        return []
    lines = ["", "[base]"]
    if base.link.name != "base":
        lines.append(f"name = {_quote(base.link.name)}")
    lines.append(f"kind = {_quote(base.kind)}")
    if base.Z != IDENTITY_4:
        rows = [_list(base.Z[4 * i : 4 * i + 4]) for i in range(4)]
        lines.append("Z = [  # placement of frame 0 in the world")
        lines += [f"  {row}," for row in rows] + ["]"]
    for key in MOTION:
        if any(x != 0 for x in getattr(base, key)):
            lines.append(f"{key} = {_list(getattr(base, key))}")
    lines += _nonzero(base.link, (*INERTIA, *WRENCH))
    lines += [f"{key} = {_value(x)}" for key, x in zip(DRIVE, base.drive, strict=True) if x != 0]
    return lines


def _link(link: Link, joint: Joint, j: int, names: Sequence[str]) -> list[str]:
    lines = ["", f"[[link]]  # {j}"]
    if link.name != f"link{j}":
        lines.append(f"name = {_quote(link.name)}")
    if joint.name != f"joint{j}":
        lines.append(f"joint_name = {_quote(joint.name)}")
    if joint.antecedent != j - 1:
        lines.append(f"antecedent = {joint.antecedent}")
    lines += _joint(joint, active=joint.sigma != FIXED and joint.mimic is None)
    if joint.mimic is not None:
        lines.append(_mimic(joint.mimic, names))
    lines += _nonzero(link, (*INERTIA, *WRENCH))
    return lines + (write_flexible(link.flexible, _value, _quote) if link.flexible else [])


def _mimic(coupling: Coupling, names: Sequence[str]) -> str:
    parts = [f"joint = {_quote(names[coupling.joint - 1])}"]
    parts += [f"ratio = {_value(coupling.ratio)}"] if coupling.ratio != 1 else []
    if coupling.others:
        leaders = ", ".join(_quote(names[k - 1]) for k, _ in coupling.leaders)
        ratios = ", ".join(_value(ratio) for _, ratio in coupling.leaders)
        parts = [f"joint = [{leaders}]", f"ratio = [{ratios}]"]
    parts += [f"offset = {_value(coupling.offset)}"] if coupling.offset != 0 else []
    return f"mimic = {{ {', '.join(parts)} }}"


def _joint(joint: Joint, *, active: bool) -> list[str]:
    lines = []
    if joint.sigma != REVOLUTE:
        lines.append(f"joint = {_quote(JOINTS[joint.sigma])}")
    lines += _nonzero(joint, GEOMETRY)
    if joint.variable:
        lines.append(f"variable = {_quote(joint.variable)}")
    if joint.active != active:
        lines.append(f"active = {str(joint.active).lower()}")
    lines += _nonzero(joint, (*DRIVE, *FURTHER))
    if joint.elastic:
        lines.append(f"stiffness = {_value(joint.stiffness)}")
        lines += _nonzero(joint, ("rest", "damping"))
    if joint.home is not None:
        lines.append(f"home = {_value(joint.home)}")
    limited = [key for key in LIMITS if getattr(joint.limits, key) is not None]
    if limited:
        inner = ", ".join(f"{key} = {_value(getattr(joint.limits, key))}" for key in limited)
        lines.append(f"limits = {{ {inner} }}")
    if joint.motor is not None:
        lines.append(_motor(joint.motor))
    if joint.symbols:
        lines.append(f"{SYMBOLS} = {_list(joint.symbols)}")
    return lines


def _motor(motor: Motor) -> str:
    parts = [f"rated = {_value(motor.rated)}"] if motor.rated is not None else []
    parts += [f"curve = [{', '.join(map(_list, motor.curve))}]"] if motor.curve else []
    parts += [f"efficiency = {_value(motor.efficiency)}"] if motor.efficiency != 1 else []
    parts += [f"cogging = {_list(motor.cogging)}"] if motor.cogging else []
    return f"motor = {{ {', '.join(parts)} }}"


def _loop(loop: Loop, k: int) -> list[str]:
    lines = ["", f"[[loop]]  # {k}"]
    if loop.name != f"loop{k}":
        lines.append(f"name = {_quote(loop.name)}")
    for kind, joint in (("cut", loop.cut), ("twin", loop.twin)):
        parts = [f"name = {_quote(joint.name)}"] if joint.name != f"{kind}{k}" else []
        parts += [f"antecedent = {joint.antecedent}", *_joint(joint, active=False)]
        if kind == "twin" or loop.kind:  # a twin is always fixed
            parts = [part for part in parts if not part.startswith("joint =")]
        if kind == "cut" and loop.kind:
            parts.append(f"joint = {_quote(loop.kind)}")
        lines.append(f"{kind} = {{ {', '.join(parts)} }}")
    return lines


def _wheel(wheel: Wheel, k: int) -> list[str]:
    lines = ["", f"[[wheel]]  # {k}", f"name = {_quote(wheel.name)}", f"link = {wheel.link}"]
    lines.append(f"radius = {_value(wheel.radius)}")
    if wheel.normal != (0, 0, 1):
        lines.append(f"normal = {_list(wheel.normal)}  # of the ground, in frame 0")
    return lines + ([f"slip = {_quote(wheel.slip)}"] if wheel.slip else [])


def _drive(drive: Drive, k: int, names: Sequence[str]) -> list[str]:
    called = ", ".join(_quote(names[j - 1]) for j, _ in drive.joints)
    lines = ["", f"[[drive]]  # {k}", f"name = {_quote(drive.name)}", f"joint = [{called}]"]
    lines.append(f"ratio = {_list([ratio for _, ratio in drive.joints])}")
    return lines + _nonzero(drive, ("IA", *FRICTION))


def _interaction(item: Interaction) -> list[str]:
    kind = next(key for key, cls in KINDS.items() if isinstance(item, cls))
    lines = ["", f"[[{kind}]]", f"name = {_quote(item.name)}", f"link = {item.link}"]
    for field in fields(item)[2:]:
        value = getattr(item, field.name)
        if value == field.default:
            continue
        if not isinstance(value, tuple):
            text = _value(value)
        elif isinstance(value[0], tuple):
            text = f"[{', '.join(map(_list, value))}]"
        else:
            text = _list(value)
        lines.append(f"{field.name} = {text}")
    return lines


def _frame(frame: Frame) -> list[str]:
    lines = ["", "[[frame]]", f"name = {_quote(frame.name)}", f"link = {frame.link}"]
    for key in ("xyz", "rpy"):
        if any(isinstance(x, Expression) or x != 0 for x in getattr(frame, key)):
            lines.append(f"{key} = {_list(getattr(frame, key))}")
    return lines + ([f"kind = {_quote(frame.kind)}"] if frame.kind != "frame" else [])


def _nonzero(item: Joint | Link | Drive, keys: Sequence[str]) -> list[str]:
    assert {f.name for f in fields(item)} >= set(keys)
    return [f"{key} = {_value(getattr(item, key))}" for key in keys if getattr(item, key) != 0]


def _list(values: Sequence[Value]) -> str:
    return f"[{', '.join(_value(value) for value in values)}]"


def _value(value: Value) -> str:
    """A bare TOML number where it is exact as such, else a formula in quotes."""
    text = str(value)
    return text if _NUMBER.match(text) else _quote(text)


def _quote(text: str) -> str:
    # a JSON string is a TOML string, but for DEL
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
