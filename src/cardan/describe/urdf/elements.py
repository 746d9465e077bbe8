"""The elements of a URDF file -> its links and joints as numbers, with a fault for everything that
is wrong. The paths of meshes are not even looked at: geometry of surfaces has no part in a model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..bodies import Mass
from ..frames import Array, frame, of_quaternion, rotation_of_rpy
from ..robot import FURTHER
from ..xacro.expand import expanded, is_xacro
from ..xacro.packages import Among, Packages
from ..xml.source import MOST_JOINTS, Source, is_no_limit, parsed, shown

LONGEST_NAME = 200
DYNAMICS = {"damping": "FV", "friction": "FS"}  # attributes of <dynamics>
OWN = {key: key for key in FURTHER}  # of <cardan:drive>, an element that other readers skip
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_X = (1.0, 0.0, 0.0)  # URDF's default of an axis


@dataclass(frozen=True, eq=False)
class LinkElement:
    """A <link>: what it weighs."""

    name: str
    line: int
    masses: tuple[Mass, ...] = ()


@dataclass(frozen=True)
class Mimic:
    """<mimic joint="" multiplier="" offset="">"""

    joint: str
    multiplier: float
    offset: float
    rigid: bool = False  # as the thread of a screw: always coupled


@dataclass(frozen=True, eq=False)
class JointElement:
    """A <joint>: what it connects, where, and how it moves. None where the file says nothing."""

    name: str
    line: int
    type: str
    parent: str
    child: str
    placement: Array
    axis: Array
    limits: dict[str, float] = field(default_factory=dict)
    drive: dict[str, float] = field(default_factory=dict)  # friction and spring, by field
    mimic: Mimic | None = None
    point: Array = field(default_factory=lambda: np.zeros(3))  # of the axis, in the child's frame
    second: Array = field(default_factory=lambda: np.zeros(3))  # axis of a universal joint


@dataclass(frozen=True, eq=False)
class Elements:
    """The links and joints of a <robot>; what has a fault is there with some value. loops and
    gravity: of formats that have them. way: to say which joints have a motor."""

    root: Any
    name: str
    links: list[LinkElement]
    joints: list[JointElement]
    loops: Sequence[Any] = ()
    gravity: tuple[Any, ...] = ()
    way: str = 'add <transmission>, or independent="false" to the <joint> of passive ones'


def read_elements(
    data: bytes, source: Source, files: Packages | Among | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Elements | None:  # fmt: skip
    """Links and joints of a URDF file; None where it holds no list of them, right or wrong. files
    and arguments: for xacro."""
    root = parsed(data, source, "a URDF file has a <robot> element")
    macros = [] if root is None else [shown(x.get("name")) for x in root.iterfind("{*}macro")]
    if root is not None and root.tag == "robot" and is_xacro(root, source.file):
        root = expanded(root, source, files or Among(None), arguments or {})
    if root is None or not _is_urdf(root, source):
        return None
    name = _name(root, "robot", source, severity="warning") or "robot"
    links = [_link(x, source) if x.tag == "link" else _joint(x, source)
             for x in root if x.tag in ("link", "joint")]  # fmt: skip
    for element in root.iterfind("frame"):
        links += _frame(element, source)
    if not any(isinstance(x, LinkElement) for x in links):
        _no_link(macros, source, files)
        return None
    joints = [x for x in links if isinstance(x, JointElement)]
    return Elements(
        root, name, [x for x in links if isinstance(x, LinkElement)],
        _with_springs(joints, root, source),
    )  # fmt: skip


def _no_link(macros: Sequence[str], source: Source, files: Packages | Among | None) -> None:
    """A fault that names what to open instead of a part of a robot."""
    listed = ", ".join(f"'{name}'" for name in macros[:3]) + (", ..." if len(macros) > 3 else "")
    what = f": it defines the macro{'s' * (len(macros) > 1)} {listed} for others" if macros else ""
    users = files.including() if isinstance(files, Packages) else []
    named = " or ".join(f"'{shown(name)}'" for name in users[:3])
    remedy = f"open {named}, which includes it" if users else "open the file of a whole robot"
    source.fault(f"<robot> has no <link>{what}; {remedy}")


def _frame(element: Any, source: Source) -> tuple[LinkElement, JointElement]:
    """Drake's <frame name="" link="" xyz="" rpy=""/>: a link without mass."""
    name, line = _name(element, "frame", source), element.sourceline or 0
    link = str(element.get("link", ""))
    placement = placement_in(element, link, source)
    joint = JointElement(f"{name}_frame", line, "fixed", link, name, placement, np.array(_X))
    return LinkElement(name, line), joint


def _is_urdf(root: Any, source: Source) -> bool:
    if root.tag != "robot":
        message = f"the root element is <{shown(root.tag)}>, a URDF file has <robot>"
        source.fault(message, root.sourceline)
    elif len(root) > 4 * MOST_JOINTS:
        source.fault(f"<robot> has {len(root)} elements; at most {MOST_JOINTS} joints are read")
    return not source.failed


def _link(element: Any, source: Source) -> LinkElement:
    name = _name(element, "link", source)
    masses = [_inertial(inertial, name, source) for inertial in element.findall("inertial")]
    known = tuple(mass for mass in masses if mass is not None)
    if len(masses) > 1:
        words = f"{len(masses)} <inertial> in one link: the first is read; remove the others"
        source.fault(words, element.sourceline, name, "warning")
    return LinkElement(name, element.sourceline or 0, known[:1])


def _inertial(element: Any, link: str, source: Source) -> Mass | None:
    placement = origin_of(element, link, source)
    parts = {tag: element.find(tag) for tag in ("mass", "inertia")}
    for tag, part in parts.items():
        if part is None:
            words = f"<inertial> has no <{tag}>: write it, or take <inertial> out"
            severity = "warning" if tag == "mass" else "error"  # without mass there is none to lose
            source.fault(words, element.sourceline, link, severity)
            return None
    mass = _number(parts["mass"], "value", link, source)
    if mass is not None and mass < 0:
        source.fault(f"mass {mass!r} is negative", parts["mass"].sourceline, link)
        return None
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    moments = [_number(parts["inertia"], key, link, source) for key in keys]
    if mass is None or None in moments:
        return None
    xx, xy, xz, yy, yz, zz = (x or 0.0 for x in moments)
    R = placement[:3, :3]
    tensor = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return Mass(mass, placement[:3, 3], tensor)


def _joint(element: Any, source: Source) -> JointElement:
    name = _name(element, "joint", source)
    line = element.sourceline or 0
    parent, child = (_end(element, name, tag, source) for tag in ("parent", "child"))
    kind = element.get("type")
    if kind not in JOINT_TYPES:
        what = "has no type" if kind is None else f"has the unknown type '{shown(kind)}'"
        source.fault(f"joint '{name}' {what} ({', '.join(JOINT_TYPES)})", line, child)
    placement = origin_of(element, child, source)
    turns = kind not in ("fixed", "floating")
    axis = axis_of(
        element.find("axis") if turns else None, f"joint '{name}'", child, source, 1e-100
    )
    limits = _limits(element, child, source)
    drive = {}
    for part, fields in (("dynamics", DYNAMICS), ("{*}drive", OWN)):
        inner = element.find(part)
        for key, field_ in fields.items() if inner is not None else ():
            drive[field_] = _number(inner, key, child, source, 0.0) or 0.0
    mimic = _mimic(element, child, source)
    kind = kind if kind in JOINT_TYPES else "fixed"
    return JointElement(name, line, kind, parent, child, placement, axis, limits, drive, mimic)


def _with_springs(joints: Sequence[JointElement], root: Any, source: Source) -> list[JointElement]:
    """Gazebo's <gazebo reference="JOINT"> with <springStiffness> and <springReference>."""
    springs: dict[str, dict[str, float]] = {}
    moving = {joint.name for joint in joints if joint.type != "fixed"}
    for block in root.iterfind("gazebo[@reference]"):
        for tag, key in (("springStiffness", "spring"), ("springReference", "neutral")):
            inner, name = block.find(tag), str(block.get("reference"))
            if inner is None or not (inner.text or "").strip():
                continue
            value = source.number(
                inner.text.strip(), f"<{tag}> of '{shown(name)}'", inner.sourceline
            )
            if name in moving:
                springs.setdefault(name, {})[key] = value or 0.0
            elif value:
                words = f"in <gazebo> a spring acts on '{shown(name)}', no joint that moves: it is"
                source.fault(f"{words} left out", inner.sourceline, severity="warning")
    own = {name: spring for name, spring in springs.items() if spring.get("spring")}
    return [replace(x, drive=x.drive | own.get(x.name, {})) for x in joints]


def _mimic(element: Any, child: str, source: Source) -> Mimic | None:
    inner = element.find("mimic")
    if inner is None:
        return None
    ratio = _number(inner, "multiplier", child, source, 1.0)
    offset = _number(inner, "offset", child, source, 0.0)
    return Mimic(str(inner.get("joint", "")), 1.0 if ratio is None else ratio, offset or 0.0)


def _end(element: Any, joint: str, tag: str, source: Source) -> str:
    """The link named by <parent link=> or <child link=>."""
    inner = element.find(tag)
    link = None if inner is None else inner.get("link")
    if not link:
        source.fault(f"joint '{joint}' has no <{tag} link=...>", element.sourceline)
        return ""
    return str(link)


def origin_of(element: Any, link: str, source: Source) -> Array:
    """The placement that the <origin> in an element gives."""
    inner = element.find("origin")
    return np.eye(4) if inner is None else placement_in(inner, link, source)


def placement_in(element: Any, link: str, source: Source) -> Array:
    """The placement by the attributes xyz and rpy, or quat_xyzw, of an element."""
    xyz = vector_of(element, "xyz", link, source)
    if element.get("quat_xyzw") is None:
        return frame(rotation_of_rpy(vector_of(element, "rpy", link, source), source.snap), xyz)
    numbers = source.numbers(element.get("quat_xyzw"), 0, "quat_xyzw", element.sourceline, link)
    size = math.hypot(*(numbers or []))
    if element.get("rpy") is not None or numbers is None or len(numbers) != 4 or size < 1e-10:
        words = "quat_xyzw has four numbers, not all zero, and stands instead of rpy"
        source.fault(words, element.sourceline, link)
        return frame(np.eye(3), xyz)
    x, y, z, w = (value / size for value in numbers)
    return frame(of_quaternion((w, x, y, z)), xyz)


def axis_of(element: Any, owner: str, link: str, source: Source, least: float = 1e-10) -> Array:
    """The direction that an <axis> gives; URDF's default is x. least: the length it must have."""
    axis = np.array(_X if element is None else vector_of(element, "xyz", link, source, _X))
    length = math.hypot(*axis)
    if length < least:
        source.fault(f"the axis of {owner} has length 0", element.sourceline, link)
        return np.array(_X)
    return axis / length


def _limits(element: Any, link: str, source: Source) -> dict[str, float]:
    inner = element.find("limit")
    limits: dict[str, float] = {}
    for key in ("lower", "upper", "velocity", "effort") if inner is not None else ():
        text = inner.get(key)
        if text is None or is_no_limit(text):
            continue
        value = _number(inner, key, link, source)
        if value is not None:
            limits[key] = value
    if limits.get("lower", 0.0) > limits.get("upper", limits.get("lower", 0.0)):
        source.fault(
            f"lower limit {limits.pop('lower'):g} is above the upper one, {limits.pop('upper'):g}:"
            " none is read, as simulators do; exchange them if they are meant",
            inner.sourceline, link, "warning",
        )  # fmt: skip
    return limits


def _name(element: Any, kind: str, source: Source, severity: str = "error") -> str:
    name = element.get("name")
    line = element.sourceline or 0
    if not name or not name.strip():
        source.fault(f"<{kind}> has no name", line, severity=severity)
        return ""
    if len(name) > LONGEST_NAME or not name.isprintable():
        words = f"must be printable and have at most {LONGEST_NAME} characters"
        source.fault(f"the name of <{kind}> '{shown(name)}' {words}", line, severity=severity)
        return shown(name)
    return str(name)


def _number(
    element: Any, key: str, link: str, source: Source, default: float | None = None
) -> float | None:
    text = element.get(key)
    if text is not None:
        return source.number(text, f"{key} of <{element.tag}>", element.sourceline, link)
    if default is None:
        source.fault(f"<{element.tag}> has no {key}", element.sourceline, link)
    return default


def vector_of(
    element: Any, key: str, link: str, source: Source, default: Sequence[float] = (0.0, 0.0, 0.0)
) -> Sequence[float]:
    """Three numbers; the default when they are missing, and beside a fault when they are wrong."""
    text = element.get(key)
    if text is None:
        return default
    what = f"{key} of <{element.tag}>"
    return source.numbers(text, 3, what, element.sourceline, link) or default
