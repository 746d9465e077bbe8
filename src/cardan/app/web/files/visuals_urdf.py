"""What a URDF looks like: the surfaces of its links, placed in the frames of the robot.

A link of the file and the frame that carries it move together. At the zero of all joints both are
known, the one from the file's placements, the other from the Denavit-Hartenberg table; so their
difference is known, and stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....describe.frames import frame, inverse, rotation_of_rpy
from ....describe.robot import Robot
from ....describe.urdf.elements import Elements, read_elements
from ....describe.xacro.packages import Among
from ....describe.xml.source import Source
from ....errors import CardanError, InputError
from ....loops.numeric import skeleton
from ....motion.frames import link_frames
from .collada import hexadecimal
from .meshes import Surface, cuboid, cylinder, moved, read_surfaces, sphere
from .uploads import among, uploaded


def urdf_surfaces(
    robot: Robot, content: bytes, files: dict[str, bytes], lacking: list[str]
) -> Iterator[tuple[str, Surface]]:
    """(link of the robot, surface in its frame) of every <visual>; what cannot be drawn is added
    to `lacking`."""
    elements = read_elements(content, Source("upload.urdf", 0.0), Among(among(files)))
    if elements is None:
        return
    root = elements.root
    frames, place = attached(robot, elements)
    colours = {m.get("name"): _colour(m) for m in root.iter("material") if _colour(m)}
    for link in root.findall("link"):
        name = str(link.get("name"))
        for visual in link.findall("visual"):
            material = visual.find("material")
            colour = _colour(material) or colours.get(
                None if material is None else material.get("name"))  # fmt: skip
            try:
                surfaces, T = _surfaces(visual, files), _origin(visual)
            except CardanError as error:
                lacking.append(str(error))
                continue
            if name in place:
                for surface in surfaces:
                    yield frames[name], moved(surface, place[name] @ T, colour)


def attached(robot: Robot, elements: Elements) -> tuple[dict[str, str], dict[str, Any]]:
    """For each link of the file: the link of the robot that carries it ("" the base), and its
    placement in that one's frame."""
    T = link_frames(skeleton(robot), np.zeros(robot.n))
    number = {joint.name: j for j, joint in enumerate(robot.joints, 1)}
    children = {joint.child for joint in elements.joints}
    root = next(link.name for link in elements.links if link.name not in children)
    world = {root: np.eye(4)}
    body = {root: 0}
    waiting = list(elements.joints)
    while waiting:
        ready = [joint for joint in waiting if joint.parent in world]
        for joint in ready:
            body[joint.child] = number.get(joint.name, body[joint.parent])
            step = np.eye(4) if joint.type == "floating" else joint.placement
            world[joint.child] = world[joint.parent] @ step
        waiting = [joint for joint in waiting if joint.parent not in world or
                   joint.child not in world]  # fmt: skip
        if not ready:
            break
    names = ["", *(link.name for link in robot.links)]
    return ({name: names[j] for name, j in body.items()},
            {name: inverse(T[body[name]]) @ at for name, at in world.items()})  # fmt: skip


def _surfaces(visual: Any, files: dict[str, bytes]) -> list[Surface]:
    """The surfaces of a <visual>; none where it has no shape."""
    geometry = visual.find("geometry")
    for item in geometry if geometry is not None else ():
        if item.tag == "mesh":
            scale = _numbers(item, "scale", 3, 1.0).astype("f4")
            read = read_surfaces(*uploaded(str(item.get("filename", "")), files), files)
            return [(colour, triangles * scale) for colour, triangles in read]
        if item.tag == "box":
            return [("", cuboid(*_numbers(item, "size", 3, 1.0)))]
        if item.tag == "cylinder":
            radius, length = _numbers(item, "radius", 1, 1.0), _numbers(item, "length", 1, 1.0)
            return [("", cylinder(radius[0], length[0]))]
        if item.tag == "sphere":
            return [("", sphere(_numbers(item, "radius", 1, 1.0)[0]))]
    return []


def _numbers(item: Any, key: str, count: int, default: float) -> Any:
    text = str(item.get(key, "")).split()
    try:
        values = np.array([float(word) for word in text]) if text else np.full(count, default)
    except ValueError:
        raise InputError(f"{key} = {' '.join(text)[:40]!r} is not {count} numbers") from None
    if len(values) != count or not np.isfinite(values).all() or np.abs(values).max() > 1e6:
        raise InputError(f"{key} = {' '.join(text)[:40]!r} is not {count} numbers")
    return values


def _origin(element: Any) -> Any:
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    return frame(rotation_of_rpy(_numbers(origin, "rpy", 3, 0.0)), _numbers(origin, "xyz", 3, 0.0))


def _colour(material: Any) -> str:
    rgba = None if material is None else material.find("color")
    if rgba is None:
        return ""
    try:
        return hexadecimal(_numbers(rgba, "rgba", 4, 1.0))
    except InputError:
        return ""
