"""Loops in URDF files. URDF itself has none; these are the ways in which files write them:

    <loop_joint name="" type=""> <link1 link="" xyz="" rpy=""/> <link2 .../> <axis xyz=""/>
                                                              Isaac Sim's importer, early Drake
    <loop name="" type=""> <predecessor link=""> <origin/> .. <successor link=""> .. <axis/>
                                                              URDF+ (M. Chignoli et al., 2024)
    <drake:ball_constraint> .._body_A, .._p_AP, .._body_B, .._p_BQ                    Drake
    <gazebo> <joint name="" type=""> <parent>, <child>, <pose>, <axis><xyz>           Gazebo

Types: revolute (continuous), prismatic, fixed, spherical (ball), cylindrical. The two frames
coincide, up to the joint's motion; of a Gazebo joint only the child's is given, the other is where
it stands with all joints at zero. What else looks like a loop is named in a warning. Joints are
driven when a <transmission> or a <ros2_control> command names them, or when independent="true" or
actuated="true" stands in the <joint>; "false" makes it passive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..closures import Placed, along_axis
from ..frames import Array, frame, rotation_of_rpy
from ..robot import FIXED, Joint, Loop
from .xml import UrdfFile, origin_of, shown, vector_of

__all__ = ["LoopElement", "driven", "loops_of", "read_drives", "read_loops"]

TYPES = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed",
    "spherical": "spherical", "ball": "spherical", "cylindrical": "cylindrical",
}  # fmt: skip
_LOOKS = ("loop", "constraint", "coupling", "bushing")


@dataclass(frozen=True, eq=False)
class LoopElement:
    """Two frames on links that a joint holds together; the second None: as drawn."""

    name: str
    line: int
    kind: str
    links: tuple[str, str]
    first: Array
    second: Array | None


@dataclass(eq=False)
class Drives:
    """What a file says about motors: joints that have one, and those said to have none."""

    motors: set[str] = field(default_factory=set)
    none: set[str] = field(default_factory=set)


def read_loops(root: Any, found: UrdfFile) -> list[LoopElement]:
    """Every loop of a file, faults for those that cannot be read."""
    loops: list[LoopElement | None] = []
    for element in root:
        tag = _plain(element.tag)
        if tag == "loop_joint":
            loops.append(_pair(element, ("link1", "link2"), found))
        elif tag == "loop":
            loops.append(_pair(element, ("predecessor", "successor"), found))
        elif tag == "ball_constraint":
            loops.append(_ball(element, found))
        elif tag == "gazebo":
            loops += [_gazebo(joint, found) for joint in element.findall("joint")]
        elif any(word in tag.lower() for word in _LOOKS):
            found.fault(
                f"<{shown(tag)}> looks like a loop or a coupling, and is left out: loops are read"
                " from <loop_joint>, <loop>, <drake:ball_constraint> and <gazebo><joint>",
                element.sourceline or 0, severity="warning",
            )  # fmt: skip
    _look_at_names(found)
    return [loop for loop in loops if loop is not None]


def _plain(tag: Any) -> str:
    """A tag without its namespace."""
    return str(tag).rsplit("}", 1)[-1]


def _look_at_names(found: UrdfFile) -> None:
    """closing_<name>_1 and _2 are the ends of a loop to some tools, and frames to URDF."""
    names = {link.name: link for link in found.links}
    for name, link in names.items():
        if name.startswith("closing_") and name.endswith("_1") and f"{name[:-1]}2" in names:
            found.fault(
                f"links '{shown(name)}' and '{shown(name[:-1])}2' look like the ends of a loop,"
                " which stays open: write a <loop_joint> between them", link.line, name, "warning",
            )  # fmt: skip


def _kind(element: Any, name: str, found: UrdfFile) -> str:
    given = element.get("type")
    if given not in TYPES:
        what = "has no type" if given is None else f"has the type '{shown(given)}'"
        found.fault(f"loop '{name}' {what} ({', '.join(TYPES)})", element.sourceline or 0)
    return TYPES.get(str(given), "fixed")


def _named(element: Any, found: UrdfFile) -> str:
    name = element.get("name")
    if not name:
        found.fault(f"<{_plain(element.tag)}> has no name", element.sourceline or 0)
    return shown(name or "loop")


def _pair(element: Any, ends: Sequence[str], found: UrdfFile) -> LoopElement | None:
    """<loop_joint> and <loop>: both frames are given."""
    name = _named(element, found)
    kind = _kind(element, name, found)
    links, frames = [], []
    for k, tag in enumerate(ends):
        end = element.find(tag)
        link = None if end is None else end.get("link") or end.get("name")
        if end is None or not link:
            found.fault(f"loop '{name}' has no <{tag} link=...>", element.sourceline or 0)
            return None
        links.append(str(link))
        frames.append(_end(element, end, tag, k, found))
    axis = _axis(element.find("axis"), name, found)
    first, second = (along_axis(T, axis) if kind in _WITH_AXIS else T for T in frames)
    line = element.sourceline or 0
    return LoopElement(name, line, kind, (links[0], links[1]), first, second)


_WITH_AXIS = ("revolute", "prismatic", "cylindrical")


def _end(element: Any, end: Any, tag: str, k: int, found: UrdfFile) -> Array:
    """Where a loop's frame stands on a link: told in the end itself, or beside it."""
    if end.find("origin") is not None:
        return origin_of(end, str(end.get("link")), found)
    if end.get("xyz") is not None or end.get("rpy") is not None:
        xyz, rpy = (vector_of(end, key, str(end.get("link")), found) for key in ("xyz", "rpy"))
        return frame(rotation_of_rpy(rpy, found.snap), xyz)
    beside = element.find(f"{tag}_origin")
    if beside is None and k == 0:
        beside = element.find("origin")
    if beside is None:
        return np.eye(4)
    xyz, rpy = (vector_of(beside, key, str(end.get("link")), found) for key in ("xyz", "rpy"))
    return frame(rotation_of_rpy(rpy, found.snap), xyz)


def _axis(element: Any, name: str, found: UrdfFile) -> Array:
    """The axis in the loop's frame; URDF's default is x."""
    if element is None:
        return np.array([1.0, 0.0, 0.0])
    given = np.array(vector_of(element, "xyz", "", found, (1.0, 0.0, 0.0)))
    if np.linalg.norm(given) < 1e-10:
        found.fault(f"the axis of loop '{name}' has length 0", element.sourceline or 0)
        return np.array([1.0, 0.0, 0.0])
    return given


def _ball(element: Any, found: UrdfFile) -> LoopElement | None:
    """Drake's ball constraint: two points, <drake:ball_constraint_body_A name=""/> and so on."""
    parts = {_plain(inner.tag): inner for inner in element}
    line = element.sourceline or 0
    name = shown(element.get("name") or f"ball_constraint_{line}")
    links, points = [], []
    for body, point in (("body_A", "p_AP"), ("body_B", "p_BQ")):
        link = parts.get(f"ball_constraint_{body}")
        place = parts.get(f"ball_constraint_{point}")
        if link is None or place is None or not link.get("name"):
            found.fault(
                f"<ball_constraint> needs {body} with a name and {point} with a value", line
            )
            return None
        links.append(str(link.get("name")))
        points.append(frame(np.eye(3), np.array(vector_of(place, "value", links[-1], found))))
    return LoopElement(name, line, "spherical", (links[0], links[1]), points[0], points[1])


def _gazebo(element: Any, found: UrdfFile) -> LoopElement | None:
    """A joint of SDFormat inside <gazebo>: its frame is given in the child's."""
    name = _named(element, found)
    kind = _kind(element, name, found)
    line = element.sourceline or 0
    links = [(element.findtext(tag) or "").strip() for tag in ("parent", "child")]
    if not all(links):
        found.fault(f"joint '{name}' in <gazebo> needs <parent> and <child>", line)
        return None
    T = np.eye(4)
    pose = element.find("pose")
    if pose is not None:
        if pose.get("relative_to") not in (None, "", links[1]):
            found.fault(f"the pose of joint '{name}' must be relative to its child", line)
        six = _numbers(pose.text, 6, f"pose of joint '{name}'", line, found)
        T = frame(rotation_of_rpy(six[3:], found.snap), np.array(six[:3]))
    if kind in _WITH_AXIS:
        xyz = element.find("axis/xyz")
        text = "0 0 1" if xyz is None else xyz.text
        axis = np.array(_numbers(text, 3, f"axis of joint '{name}'", line, found))
        own = element.find("axis/use_parent_model_frame")
        if own is not None and (own.text or "").strip() in ("1", "true"):
            found.fault(f"the axis of joint '{name}' must be in the joint's own frame", line)
        if np.linalg.norm(axis) < 1e-10:
            found.fault(f"the axis of loop '{name}' has length 0", line)
            axis = np.array([0.0, 0.0, 1.0])
        T = along_axis(T, axis)
    return LoopElement(name, line, kind, (links[1], links[0]), T, None)


def _numbers(text: str | None, count: int, what: str, line: int, found: UrdfFile) -> list[float]:
    from .xml import read_float

    parts = (text or "").split()
    values = [read_float(part, what, line, "", found) for part in parts]
    if len(parts) != count:
        found.fault(f"{what} has {len(parts)} numbers, not {count}", line)
        return [0.0] * count
    return [x or 0.0 for x in values]


def loops_of(
    elements: Sequence[LoopElement], placed: Placed, place: Mapping[str, tuple[int, Array]],
    found: UrdfFile,
) -> list[Loop]:  # fmt: skip
    """The loops on the links of a robot; `place`: body and frame of every link of the file."""
    loops = []
    for element in elements:
        missing = [name for name in element.links if name not in place]
        if missing:
            listed = ", ".join(f"'{shown(name)}'" for name in missing)
            found.fault(f"loop '{element.name}' goes through {listed}: no such link", element.line)
            continue
        body, T = place[element.links[0]]
        cut = body, T @ element.first
        other, Q = place[element.links[1]]
        if element.second is None:
            twin = placed.local(other, placed.pose(cut))
        else:
            twin = other, Q @ element.second
        loops.append(placed.loop(element.name, element.kind, cut, twin))
    names = [loop.name for loop in loops]
    for name in {name for name in names if names.count(name) > 1}:
        found.fault(f"loop '{name}' is defined twice", 0)
    return loops


def read_drives(root: Any) -> Drives:
    """Which joints a file gives a motor."""
    found = Drives()
    for joint in root.iterfind("transmission/joint"):
        found.motors.add(str(joint.get("name")))
    for joint in root.iterfind("ros2_control/joint"):
        if joint.find("command_interface") is not None:
            found.motors.add(str(joint.get("name")))
    for joint in root.findall("joint"):
        for key in ("independent", "actuated"):
            value = (joint.get(key) or "").strip().lower()
            if value in ("true", "1"):
                found.motors.add(str(joint.get("name")))
            elif value in ("false", "0"):
                found.none.add(str(joint.get("name")))
    return found


def driven(joints: Sequence[Joint], drives: Drives, found: UrdfFile) -> list[Joint]:
    """The joints of a robot with loops, active where they have a motor."""
    if not drives.motors and not drives.none:
        found.fault(
            "the file has loops, and does not say which joints are driven: all count as active; add"
            ' <transmission>, or independent="false" to the <joint> of passive ones',
            severity="warning",
        )  # fmt: skip
        return list(joints)

    def active(joint: Joint) -> bool:
        return joint.name not in drives.none and (not drives.motors or joint.name in drives.motors)

    return [
        joint if joint.sigma == FIXED else replace(joint, active=active(joint)) for joint in joints
    ]
