"""Loops in URDF files. URDF itself has none; these are the ways in which files write them:

    <loop_joint name="" type=""> <link1 link="" xyz="" rpy=""/> <link2 .../> <axis xyz=""/>
                                                              Isaac Sim's importer, early Drake
    <loop name="" type=""> <predecessor link=""> <origin/> .. <successor link=""> .. <axis/>
                                                              URDF+ (M. Chignoli et al., 2024)
    <drake:ball_constraint> .._body_A, .._p_AP, .._body_B, .._p_BQ                    Drake
    <gazebo> <joint name="" type=""> <parent>, <child>, <pose>, <axis><xyz>           Gazebo

Types: revolute (continuous), prismatic, fixed, spherical (ball), cylindrical. The two frames
coincide, up to the joint's motion; of a Gazebo joint only the child's is given, the other is where
it stands with all joints at zero. What else looks like a loop is named in a warning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..closures import Placed, along_axis
from ..frames import Array, frame, rotation_of_rpy
from ..robot import Loop
from ..xml.source import Source, shown
from .elements import Elements, axis_of, placement_in, vector_of

TYPES = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed",
    "spherical": "spherical", "ball": "spherical", "cylindrical": "cylindrical",
}  # fmt: skip
LOOKS = ("loop", "constraint", "coupling", "bushing")
_SIMULATED = ("screw", "gearbox", "universal", "revolute2")  # by Gazebo alone
_WITH_AXIS = ("revolute", "prismatic", "cylindrical")


@dataclass(frozen=True, eq=False)
class LoopElement:
    """Two frames on links that a joint holds together; the second None: as drawn."""

    name: str
    line: int
    kind: str
    links: tuple[str, ...]
    first: Array
    second: Array | None


def read_loops(elements: Elements, source: Source) -> list[LoopElement]:
    """Every loop of a file, faults for those that cannot be read."""
    loops: list[LoopElement | None] = []
    simulated = {link.get("name") for link in elements.root.iterfind("gazebo/link")}
    for element in elements.root:
        tag = _plain(element.tag)
        if tag == "loop_joint":
            loops.append(_pair(element, ("link1", "link2"), source))
        elif tag == "loop":
            loops.append(_pair(element, ("predecessor", "successor"), source))
        elif tag == "ball_constraint":
            loops.append(_ball(element, source))
        elif tag == "gazebo":
            for joint in element.findall("joint"):
                ends = {(joint.findtext(tag) or "").strip() for tag in ("parent", "child")}
                if joint.get("type") in _SIMULATED or ends & simulated:
                    what = "a joint or link that only Gazebo has, and left out:"
                    words = f"'{shown(joint.get('name'))}' in <gazebo> is or ties {what}"
                    source.fault(
                        f"{words} what it ties moves freely", joint.sourceline, "", "warning"
                    )
                else:
                    loops.append(_gazebo(joint, source))
        elif any(word in tag.lower() for word in LOOKS):
            words = f"<{shown(tag)}> looks like a loop or a coupling, and is left out: loops are"
            words += " read from <loop_joint>, <loop>, <drake:ball_constraint> and <gazebo><joint>"
            source.fault(words, element.sourceline, severity="warning")
    names = {link.name: link for link in elements.links}
    for name, link in names.items():  # ends of a loop to some tools, and frames to URDF
        if name.startswith("closing_") and name.endswith("_1") and f"{name[:-1]}2" in names:
            words = f"links '{shown(name)}' and '{shown(name[:-1])}2' look like the ends of a loop,"
            words += " which stays open: write a <loop_joint> between them"
            source.fault(words, link.line, name, "warning")
    return [loop for loop in loops if loop is not None]


def _plain(tag: Any) -> str:
    """A tag without its namespace."""
    return str(tag).rsplit("}", 1)[-1]


def _name_and_kind(element: Any, source: Source) -> tuple[str, str]:
    given, kind = element.get("name"), element.get("type")
    name = shown(given or "loop")
    if not given:
        source.fault(f"<{_plain(element.tag)}> has no name", element.sourceline)
    if kind not in TYPES:
        what = "has no type" if kind is None else f"has the type '{shown(kind)}'"
        source.fault(f"loop '{name}' {what} ({', '.join(TYPES)})", element.sourceline)
    return name, TYPES.get(str(kind), "fixed")


def _pair(element: Any, ends: Sequence[str], source: Source) -> LoopElement | None:
    """<loop_joint> and <loop>: both frames are given."""
    name, kind = _name_and_kind(element, source)
    links, frames = [], []
    for k, tag in enumerate(ends):
        end = element.find(tag)
        link = None if end is None else end.get("link") or end.get("name")
        if end is None or not link:
            source.fault(f"loop '{name}' has no <{tag} link=...>", element.sourceline)
            return None
        links.append(str(link))
        # a frame stands in the end itself, in its attributes, or beside it
        own = end if end.get("xyz") is not None or end.get("rpy") is not None else None
        beside = element.find("origin") if k == 0 else None
        places = (end.find("origin"), own, element.find(f"{tag}_origin"), beside)
        place = next((x for x in places if x is not None), None)
        link = str(end.get("link"))
        frames.append(np.eye(4) if place is None else placement_in(place, link, source))
    axis = axis_of(element.find("axis"), f"loop '{name}'", "", source)
    first, second = (along_axis(T, axis) if kind in _WITH_AXIS else T for T in frames)
    return LoopElement(name, element.sourceline or 0, kind, tuple(links), first, second)


def _ball(element: Any, source: Source) -> LoopElement | None:
    """Drake's ball constraint: two points, <drake:ball_constraint_body_A name=""/> and so on."""
    parts = {_plain(inner.tag): inner for inner in element}
    line = element.sourceline or 0
    name = shown(element.get("name") or f"ball_constraint_{line}")
    links, points = [], []
    for body, point in (("body_A", "p_AP"), ("body_B", "p_BQ")):
        link = parts.get(f"ball_constraint_{body}")
        place = parts.get(f"ball_constraint_{point}")
        if link is None or place is None or not link.get("name"):
            words = f"<ball_constraint> needs {body} with a name and {point} with a value"
            source.fault(words, line)
            return None
        links.append(str(link.get("name")))
        points.append(frame(np.eye(3), vector_of(place, "value", links[-1], source)))
    return LoopElement(name, line, "spherical", tuple(links), points[0], points[1])


def _gazebo(element: Any, source: Source) -> LoopElement | None:
    """A joint of SDFormat inside <gazebo>: its frame is given in the child's."""
    name, kind = _name_and_kind(element, source)
    line = element.sourceline or 0
    parent, child = ((element.findtext(tag) or "").strip() for tag in ("parent", "child"))
    if not parent or not child:
        source.fault(f"joint '{name}' in <gazebo> needs <parent> and <child>", line)
        return None
    T = np.eye(4)
    pose = element.find("pose")
    if pose is not None:
        if pose.get("relative_to") not in (None, "", child):
            source.fault(f"the pose of joint '{name}' must be relative to its child", line)
        six = source.numbers(pose.text or "", 6, f"pose of joint '{name}'", line) or [0.0] * 6
        T = frame(rotation_of_rpy(six[3:], source.snap), six[:3])
    if kind in _WITH_AXIS:
        text = element.findtext("axis/xyz", "0 0 1")
        axis = source.numbers(text, 3, f"axis of joint '{name}'", line) or [0.0, 0.0, 1.0]
        if element.findtext("axis/use_parent_model_frame", "").strip() in ("1", "true"):
            source.fault(f"the axis of joint '{name}' must be in the joint's own frame", line)
        if np.linalg.norm(axis) < 1e-10:
            source.fault(f"the axis of loop '{name}' has length 0", line)
        T = along_axis(T, np.array(axis))
    return LoopElement(name, line, kind, (child, parent), T, None)


def loops_of(
    elements: Sequence[LoopElement], placed: Placed, place: Mapping[str, tuple[int, Array]],
    source: Source,
) -> list[Loop]:  # fmt: skip
    """The loops on the links of a robot; `place`: body and frame of every link of the file."""
    loops = []
    for element in elements:
        missing = [name for name in element.links if name not in place]
        if missing:
            listed = ", ".join(f"'{shown(name)}'" for name in missing)
            source.fault(f"loop '{element.name}' goes through {listed}: no such link", element.line)
            continue
        (body, T), (other, Q) = (place[name] for name in element.links)
        cut = body, T @ element.first
        twin = placed.local(other, placed.pose(cut))  # where it is drawn
        if element.second is not None:
            twin = other, Q @ element.second
        loops.append(placed.loop(element.name, element.kind, cut, twin))
    names = [loop.name for loop in loops]
    for name in {name for name in names if names.count(name) > 1}:
        source.fault(f"loop '{name}' is defined twice", 0)
    return loops
