"""The XML of a URDF file -> its links and joints as numbers, with a fault for everything that is
wrong.

The file may come from anywhere, so the parser is given no rope: a DOCTYPE (and with it every
entity) is refused before the XML library sees the text, nothing is fetched, and the paths of meshes
are not even looked at: geometry of surfaces has no part in a model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import Fault
from ..bodies import Mass
from ..frames import Array, frame, of_quaternion, rotation_of_rpy
from .write import NO_LIMIT

__all__ = [
    "JointElement", "LinkElement", "UrdfFile", "element_text", "origin_of", "parsed_xml",
    "read_elements", "read_float", "shown", "vector_of",
]  # fmt: skip

LARGEST_FILE = 8_000_000  # bytes
MOST_JOINTS = 5_000
LARGEST_NUMBER = 1e50  # squares and products of what a file gives must stay finite
LONGEST_NAME = 200
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECLARATION = re.compile(r"\A\s*<\?xml\s[^>]*?\?>")
_ENCODING = re.compile(rb"^\s*<\?xml\b[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_PROLOG = re.compile(r"\s+|<!--.*?-->|<\?.*?\?>", re.DOTALL)
_ENCODINGS = {
    "utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "utf-8", "ascii": "utf-8",
    "iso-8859-1": "latin-1", "latin-1": "latin-1", "latin1": "latin-1",
    "iso-8859-15": "iso-8859-15", "windows-1252": "cp1252", "utf-16": "utf-16",
}  # fmt: skip


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
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None


@dataclass(eq=False)
class UrdfFile:
    """What was read, and everything found to be wrong."""

    file: str
    snap: float
    name: str = ""
    readable: bool = True  # as a list of links and joints, right or wrong
    links: list[LinkElement] = field(default_factory=list)
    joints: list[JointElement] = field(default_factory=list)
    root: Any = None
    faults: list[Fault] = field(default_factory=list)

    def fault(self, message: str, line: int = 0, link: str = "", severity: str = "error") -> None:
        self.faults.append(Fault(message, self.file, line, link, severity))

    @property
    def errors(self) -> list[Fault]:
        return [fault for fault in self.faults if fault.severity == "error"]

    @property
    def failed(self) -> bool:
        return bool(self.errors)


def read_elements(data: bytes, file: str, snap: float) -> UrdfFile:
    """Links and joints of a URDF file; what has a fault is there with some value."""
    found = UrdfFile(file, snap)
    text = element_text(data, found, "a URDF file has a <robot> element")
    root = None if text is None else parsed_xml(text, found)
    if root is None or not _is_urdf(root, found):
        found.readable = False
        return found
    found.root = root
    found.name = _name(root, "robot", found, severity="warning") or "robot"
    for element in root:
        if element.tag == "link":
            _read_link(element, found)
        elif element.tag == "joint":
            _read_joint(element, found)
    return found


def _is_urdf(root: Any, found: UrdfFile) -> bool:
    if root.tag != "robot":
        message = f"the root element is <{shown(root.tag)}>, a URDF file has <robot>"
        found.fault(message, root.sourceline)
    elif any("xacro" in str(uri) and _uses(root, uri) for uri in root.nsmap.values()):
        found.fault("this is a xacro file, not URDF: expand it first, xacro in.xacro > out.urdf")
    elif len(root) > 4 * MOST_JOINTS:
        found.fault(f"<robot> has {len(root)} elements; at most {MOST_JOINTS} joints are read")
    return not found.failed


def _uses(root: Any, uri: str) -> bool:
    return any(isinstance(e.tag, str) and e.tag.startswith(f"{{{uri}}}") for e in root.iter())


def element_text(data: bytes, found: UrdfFile, expected: str) -> str | None:
    """The characters of the file, after the checks that need no XML."""
    if len(data) > LARGEST_FILE:
        found.fault(
            f"the file has {len(data) / 1e6:.0f} MB; at most {LARGEST_FILE / 1e6:.0f} MB are read"
        )
        return None
    if not data.strip():
        found.fault(f"the file is empty; {expected}")
        return None
    encoding = "utf-8-sig"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif declared := _ENCODING.match(data[:200]):
        name = declared[1].decode("ascii")
        if name.lower() not in _ENCODINGS:
            found.fault(f"encoding '{name}' is not read; save the file as UTF-8", 1)
            return None
        encoding = _ENCODINGS[name.lower()].replace("utf-8", "utf-8-sig")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found.fault(f"not text in {encoding.removesuffix('-sig')}: is this a robot file?", line)
        return None
    return _without_doctype(text, found, expected)


def _without_doctype(text: str, found: UrdfFile, expected: str) -> str | None:
    """The text if nothing but comments and instructions precedes the root element."""
    place = 0
    while match := _PROLOG.match(text, place):
        place = match.end()
    line = text.count("\n", 0, place) + 1
    if text.startswith("<!--", place):
        found.fault("malformed XML: a comment is not closed", line)
        return None
    if text.startswith("<!", place):
        found.fault(
            "a DOCTYPE or an entity is not allowed in a robot file; remove the declaration", line
        )
        return None
    if not text.startswith("<", place):
        found.fault(f"this is not XML; {expected}", line)
        return None
    # the declared encoding no longer holds; the line count must
    return (
        _DECLARATION.sub(lambda match: "\n" * match[0].count("\n"), text.lstrip(), count=1)
        if text.lstrip().startswith("<?xml")
        else text
    )


def parsed_xml(text: str, found: UrdfFile) -> Any:
    from lxml import etree

    # huge_tree: bodies in bodies, 2048 levels instead of 256. What it also lifts is bounded before:
    # the size of the file, and entities, which no file may declare
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=True, recover=False, remove_comments=True, remove_pis=True, encoding="utf-8",
    )  # fmt: skip
    try:
        root = etree.fromstring(text.encode("utf-8", "surrogatepass"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        line = getattr(error, "lineno", 0) or 0
        message = str(getattr(error, "msg", None) or error)
        if "Excessive depth" in message:
            found.fault(
                "elements nest too deeply: 2000 levels are read; write a chain this long as .urdf,"
                " where bodies do not nest, or as .toml", line,
            )  # fmt: skip
            return None
        found.fault(f"malformed XML: {re.sub(r', line .*', '', message)}", line)
        return None
    if getattr(root.getroottree().docinfo, "doctype", ""):
        found.fault("a DOCTYPE is not allowed in a robot file; remove the declaration")
        return None
    return root


def _read_link(element: Any, found: UrdfFile) -> None:
    name = _name(element, "link", found)
    masses = []
    for inertial in element.findall("inertial"):
        mass = _read_inertial(inertial, name, found)
        if mass is not None:
            masses.append(mass)
    if len(masses) > 1:
        found.fault("a link has at most one <inertial>", element.sourceline, name)
    found.links.append(LinkElement(name, element.sourceline or 0, tuple(masses)))


def _read_inertial(element: Any, link: str, found: UrdfFile) -> Mass | None:
    placement = origin_of(element, link, found)
    R = placement[:3, :3]
    mass_element, inertia_element = element.find("mass"), element.find("inertia")
    if mass_element is None or inertia_element is None:
        missing = "<mass>" if mass_element is None else "<inertia>"
        found.fault(f"<inertial> has no {missing}", element.sourceline, link)
        return None
    mass = _number(mass_element, "value", link, found)
    if mass is not None and mass < 0:
        found.fault(f"mass {mass!r} is negative", mass_element.sourceline, link)
        return None
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    given = [_number(inertia_element, key, link, found) for key in keys]
    if mass is None or None in given:
        return None
    xx, xy, xz, yy, yz, zz = (x or 0.0 for x in given)
    tensor = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return Mass(mass, placement[:3, 3], tensor)


def _read_joint(element: Any, found: UrdfFile) -> None:
    name = _name(element, "joint", found)
    line = element.sourceline or 0
    parent, child = (_end(element, name, tag, found) for tag in ("parent", "child"))
    kind = element.get("type")
    if kind not in JOINT_TYPES:
        what = "has no type" if kind is None else f"has the unknown type '{shown(kind)}'"
        found.fault(f"joint '{name}' {what} ({', '.join(JOINT_TYPES)})", line, child)
    placement = origin_of(element, child, found)
    axis = _axis(element, name, kind, child, found)
    limits = _limits(element, child, found)
    dynamics = element.find("dynamics")
    damping, friction = 0.0, 0.0
    if dynamics is not None:
        damping = _number(dynamics, "damping", child, found, 0.0) or 0.0
        friction = _number(dynamics, "friction", child, found, 0.0) or 0.0
    found.joints.append(
        JointElement(
            name,
            line,
            kind if kind in JOINT_TYPES else "fixed",
            parent,
            child,
            placement,
            axis,
            limits,
            damping,
            friction,
            _mimic(element, child, found),
        )
    )


def _mimic(element: Any, child: str, found: UrdfFile) -> Mimic | None:
    inner = element.find("mimic")
    if inner is None:
        return None
    ratio = _number(inner, "multiplier", child, found, 1.0)
    offset = _number(inner, "offset", child, found, 0.0)
    return Mimic(str(inner.get("joint", "")), 1.0 if ratio is None else ratio, offset or 0.0)


def _end(element: Any, joint: str, tag: str, found: UrdfFile) -> str:
    """The link named by <parent link=> or <child link=>."""
    inner = element.find(tag)
    link = None if inner is None else inner.get("link")
    if not link:
        found.fault(f"joint '{joint}' has no <{tag} link=...>", element.sourceline)
        return ""
    return str(link)


def origin_of(element: Any, link: str, found: UrdfFile) -> Array:
    inner = element.find("origin")
    if inner is None:
        return np.eye(4)
    xyz = vector_of(inner, "xyz", link, found)
    if inner.get("quat_xyzw") is not None:
        return frame(_turned(inner, link, found), xyz)
    return frame(rotation_of_rpy(vector_of(inner, "rpy", link, found), found.snap), xyz)


def _turned(element: Any, link: str, found: UrdfFile) -> Array:
    """The rotation of quat_xyzw, which stands instead of rpy."""
    parts = str(element.get("quat_xyzw")).split()
    values = [read_float(x, "quat_xyzw", element.sourceline, link, found) for x in parts]
    numbers = [x for x in values if x is not None]
    size = math.hypot(*numbers)
    if element.get("rpy") is not None or len(numbers) != 4 or size < 1e-10:
        words = "quat_xyzw has four numbers, not all zero, and stands instead of rpy"
        found.fault(words, element.sourceline, link)
        return np.eye(3)
    x, y, z, w = (value / size for value in numbers)
    return of_quaternion((w, x, y, z))


def _axis(element: Any, name: str, kind: str | None, link: str, found: UrdfFile) -> Array:
    inner = element.find("axis")
    if inner is None or kind in ("fixed", "floating"):
        return np.array([1.0, 0.0, 0.0])  # URDF's default
    xyz = vector_of(inner, "xyz", link, found, default=(1.0, 0.0, 0.0))
    length = math.hypot(*xyz)
    if length < 1e-100:
        found.fault(f"the axis of joint '{name}' has length 0", inner.sourceline, link)
        return np.array([1.0, 0.0, 0.0])
    return np.array(xyz) / length


def _limits(element: Any, link: str, found: UrdfFile) -> dict[str, float]:
    inner = element.find("limit")
    if inner is None:
        return {}
    limits = {}
    for key in ("lower", "upper", "velocity", "effort"):
        text = inner.get(key)
        if text is None or text.strip().lower().lstrip("+-") in ("inf", "infinity"):
            continue  # no limit
        value = _number(inner, key, link, found)
        if value is not None and abs(value) < NO_LIMIT:
            limits[key] = value
    return limits


def _name(element: Any, kind: str, found: UrdfFile, severity: str = "error") -> str:
    name = element.get("name")
    line = element.sourceline or 0
    if not name or not name.strip():
        found.fault(f"<{kind}> has no name", line, severity=severity)
        return ""
    if len(name) > LONGEST_NAME or not name.isprintable():
        found.fault(
            f"the name of <{kind}> '{shown(name)}' must be printable and have"
            f" at most {LONGEST_NAME} characters", line, severity=severity,
        )  # fmt: skip
        return shown(name)
    return str(name)


def _number(
    element: Any, key: str, link: str, found: UrdfFile, default: float | None = None
) -> float | None:
    text = element.get(key)
    if text is None:
        if default is None:
            found.fault(f"<{element.tag}> has no {key}", element.sourceline, link)
        return default
    return read_float(text, f"{key} of <{element.tag}>", element.sourceline, link, found)


def vector_of(
    element: Any, key: str, link: str, found: UrdfFile, default: Sequence[float] = (0.0, 0.0, 0.0)
) -> Sequence[float]:
    """Three numbers; the default when they are missing, and beside a fault when they are wrong."""
    text = element.get(key)
    if text is None:
        return default
    what = f"{key} of <{element.tag}>"
    parts = text.split()
    if len(parts) != 3:
        found.fault(
            f"{what} has {len(parts)} numbers, not 3: '{shown(text)}'", element.sourceline, link
        )
        return default
    values = [read_float(part, what, element.sourceline, link, found) for part in parts]
    return default if None in values else [x for x in values if x is not None]


def read_float(text: str, what: str, line: int, link: str, found: UrdfFile) -> float | None:
    text = text.strip()
    if len(text) > 100 or not _NUMBER.fullmatch(text):
        found.fault(f"{what} is '{shown(text)}', not a finite number", line, link)
        return None
    value = float(text)
    if abs(value) > LARGEST_NUMBER:
        found.fault(f"{what} is {shown(text)}: beyond {LARGEST_NUMBER:.0e}", line, link)
        return None
    return value


def shown(text: object) -> str:
    """Text of the file fit for a message: printable, short."""
    clean = "".join(c if c.isprintable() else "?" for c in str(text)[:61])
    return clean if len(clean) <= 60 else clean[:57] + "..."
