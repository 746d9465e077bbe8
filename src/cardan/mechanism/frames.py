"""What a user means by a frame: the one place where names of frames become frames of links.

A whole number (or its digits) is Khalil's frame j. A name is a frame of the file where it has one
of that name; else a link, which then is Khalil's frame of it: that is what .toml and .par files
describe. "khalil:NAME" and "khalil:j" are Khalil's frames in any case. Nothing at all is the end
effector.

Models are derived for Khalil's frames. A frame of the file that stands elsewhere on its link is
made a link of its own first, massless and fixed, so every model takes it as any other frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..describe.frames import decompose, frame, khalil_values, matrix_of, placement_of
from ..describe.robot import FIXED, GEOMETRY, Frame, Joint, Link, Robot
from ..describe.values.expression import Value, number
from ..exact import pi
from .tree import KHALIL, Tree

_FAR = 100.0  # times the robot's size: six parameters with a common normal beyond it lose digits
_LOST = 1e-13  # what six parameters may lose of a placement


def frame_of(robot: Robot, name: Any = None) -> Frame:
    """The frame that a number, a name or nothing (the end effector) means."""
    tree = Tree.of(robot)
    if name is None:
        if robot.end_effector and not tree.platform:
            return frame_of(robot, robot.end_effector)
        return _own(robot, tree.last)
    if isinstance(name, str):
        for known in robot.frames:
            if known.name == name:
                return known
    j = tree.link(name)
    return Frame(tree.names[j], j, kind="link")


def has_frame(robot: Robot, name: str) -> bool:
    """Does the robot have a link or a frame of that name, beside the base?"""
    names = {frame.name for frame in robot.frames} | {link.name for link in robot.links}
    return name in names


def with_frames(robot: Robot, names: Sequence[Any]) -> tuple[Robot, list[int]]:
    """The robot in which every frame named is Khalil's frame of some link, and their numbers."""
    return placed(robot, *(frame_of(robot, name) for name in names))


def placed(robot: Robot, *frames: Frame) -> tuple[Robot, list[int]]:
    """The robot in which each of these is Khalil's frame of some link, and their numbers."""
    numbers: dict[Frame, int] = {}
    for item in frames:
        if item in numbers:
            continue
        numbers[item] = item.link
        if not item.at_link:
            robot = _with_links(robot, item)
            numbers[item] = len(robot.links)
    return robot, [numbers[item] for item in frames]


def with_options(robot: Robot, options: Mapping[str, Any]) -> tuple[Robot, dict[str, Any]]:
    """The robot with the frames that the options of a model name, and the options as numbers.

    reference="world" stays, unless a link of the robot bears that name."""
    keys = [key for key in ("frame", "reference", "projection") if key in options]
    if options.get("reference") == "world" and not has_frame(robot, "world"):
        keys.remove("reference")
    extended, numbers = with_frames(robot, [options[key] for key in keys])
    values = {**options, **dict(zip(keys, numbers, strict=True))}
    if values.get("intermediate") is not None:  # a choice of the way, not of the result
        values["intermediate"] = frame_of(robot, values["intermediate"]).link
    return extended, values


def _own(robot: Robot, j: int) -> Frame:
    """The file's own frame of link j, or Khalil's where the file has none."""
    name = robot.links[j - 1].name if j else robot.base.link.name
    for known in robot.frames:
        if known.link == j and known.name == name:
            return known
    return Frame(name, j, kind="link")


def _with_links(robot: Robot, item: Frame) -> Robot:
    """The robot with a frame as the last of its links: fixed, without mass."""
    n = len(robot.joints)
    steps = _placement(item, _size(robot))
    joints = list(robot.joints)
    links = [_renamed(link, item.name) for link in robot.links]
    taken = {joint.name for joint in joints}
    for k, geometry in enumerate(steps):
        name = item.name if k == len(steps) - 1 else f"{item.name}_{k + 1}"
        before = len(joints) if k else item.link
        joint = name
        while joint in taken:
            joint += "_"
        joints.append(Joint(joint, before, sigma=FIXED, active=False, **geometry))
        links.append(Link(name))

    def shifted(joint: Joint) -> Joint:
        beyond = joint.antecedent > n  # the frames of loops are numbered after the links
        return replace(joint, antecedent=joint.antecedent + len(steps)) if beyond else joint

    loops = tuple(replace(x, cut=shifted(x.cut), twin=shifted(x.twin)) for x in robot.loops)
    frames = tuple(
        Frame(item.name, len(links), kind=item.kind) if known == item else known
        for known in robot.frames
    )
    return replace(robot, joints=tuple(joints), links=tuple(links), loops=loops, frames=frames)


def _renamed(link: Link, name: str) -> Link:
    """The link under the name of Khalil's frame, where its own belongs to a frame of the file."""
    return replace(link, name=f"{KHALIL}{name}") if link.name == name else link


def _size(robot: Robot) -> float:
    lengths = (number(getattr(joint, key)) for joint in robot.joints for key in ("b", "d", "r"))
    return max((abs(x) for x in lengths if x), default=0.0) or 1.0


def _placement(item: Frame, size: float) -> list[dict[str, Any]]:
    """The placement as Khalil's six parameters, of one frame or of some that follow each other."""
    numbers = [number(x) for x in (*item.xyz, *item.rpy)]
    known = [x for x in numbers if x is not None]
    if len(known) < len(numbers):
        return [dict(zip(GEOMETRY, six, strict=True)) for six in _symbolic(item)]
    T = placement_of(known[:3], known[3:])
    size = max(size, float(np.linalg.norm(T[:3, 3])))
    six = decompose(T, size)
    near = max(map(abs, (six[1], six[3], six[5]))) <= _FAR * size
    if near and np.abs(matrix_of(six) - T).max() <= _LOST * max(1.0, size):
        return [khalil_values(six, size)]
    steps = frame(np.eye(3), T[:3, 3]), frame(T[:3, :3], np.zeros(3))
    return [khalil_values(decompose(step, size), size) for step in steps]


def _symbolic(item: Frame) -> list[tuple[Value, ...]]:
    """Formulas: Tran(z) Tran(x), a quarter turn and Tran(y), the yaw, the pitch, the roll."""
    (x, y, z), (roll, pitch, yaw) = item.xyz, item.rpy
    quarter: Value = pi / 2
    if _nothing(y) and _nothing(pitch):
        if _nothing(yaw):
            return [(0, z, roll, x, 0, 0)]
        return [(0, z, 0, x, yaw, 0), (0, 0, roll, 0, 0, 0)]
    steps: list[tuple[Value, ...]] = [
        (0, z, 0, x, quarter, 0), (0, 0, 0, y, yaw, 0),
        (0, 0, pitch, 0, -quarter, 0), (0, 0, roll, 0, 0, 0),
    ]  # fmt: skip
    return steps


def _nothing(x: Value) -> bool:
    return isinstance(x, int) and x == 0
