"""Attributes of MJCF: defaults by class, angles in the file's unit, the ways to give a rotation.

[MJCF: the XML reference of the MuJoCo documentation; names and defaults are facts of it.]"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .frames import SNAP_ANGLE, Array, frame, snap_angle
from .urdf_xml import UrdfFile, element_text, parsed_xml, read_float, shown

__all__ = ["Mjcf", "about", "along", "of_quaternion", "open_mjcf"]

_CLASSES = ("joint", "geom", "site", "mesh")


@dataclass(eq=False)
class Mjcf:
    """The file: its root, compiler settings, defaults by class and tag, and its faults."""

    root: Any
    found: UrdfFile
    degrees: bool = True
    eulerseq: str = "xyz"
    from_geoms: str = "auto"
    limits_follow: bool = True
    defaults: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    sources: dict[Any, UrdfFile] = field(default_factory=dict)  # of elements of included files

    def fault(self, message: str, element: Any = None, severity: str = "error") -> None:
        line = getattr(element, "sourceline", 0) or 0
        link = self.body_of(element)
        self.source(element).fault(message, line, link, severity)

    def source(self, element: Any) -> UrdfFile:
        """The file that an element stands in."""
        while element is not None and element not in self.sources:
            element = element.getparent()
        return self.found if element is None else self.sources[element]

    def body_of(self, element: Any) -> str:
        while element is not None and element.tag != "body":
            element = element.getparent()
        return "" if element is None else shown(element.get("name", ""))

    # attributes

    def get(self, element: Any, key: str) -> str | None:
        """The attribute, or the default of the element's class for its kind of element."""
        if element.get(key) is not None:
            return str(element.get(key))
        tag = "joint" if element.tag == "freejoint" else element.tag
        return self.defaults.get(self.class_of(element), {}).get(tag, {}).get(key)

    def class_of(self, element: Any) -> str:
        """The element's own class, or the childclass of a body around it, or the main one."""
        if element.get("class") is not None:
            return str(element.get("class"))
        around = element.getparent()
        while around is not None:
            if around.get("childclass") is not None:
                return str(around.get("childclass"))
            around = around.getparent()
        return "main"

    def numbers(
        self, element: Any, key: str, default: Sequence[float] | None = None, count: int = 0
    ) -> list[float] | None:
        text = self.get(element, key)
        if text is None:
            return None if default is None else list(default)
        what, source = f"{key} of <{element.tag}>", self.source(element)
        values = [
            read_float(part, what, element.sourceline or 0, self.body_of(element), source)
            for part in text.split()
        ]
        if any(x is None for x in values) or (count and len(values) != count):
            if count and len(values) != count:
                self.fault(f"{what} has {len(values)} numbers, not {count}", element)
            return None if default is None else list(default)
        return [x for x in values if x is not None]

    def number(self, element: Any, key: str, default: float = 0.0) -> float:
        found = self.numbers(element, key, (default,), 1)
        assert found is not None
        return found[0]

    def angle(self, x: float) -> float:
        return math.radians(x) if self.degrees else x

    # places

    def placement(self, element: Any) -> Array:
        """pos and whichever attribute gives the rotation."""
        P = self.numbers(element, "pos", (0, 0, 0), 3)
        return frame(self.rotation(element), P or (0, 0, 0))

    def rotation(self, element: Any) -> Array:
        ways = [
            key for key in ("quat", "axisangle", "xyaxes", "zaxis", "euler")
            if self.get(element, key) is not None
        ]  # fmt: skip
        if len(ways) > 1:
            self.fault(f"<{element.tag}> gives its rotation twice: {', '.join(ways)}", element)
        if not ways:
            return np.eye(3)
        count = {"quat": 4, "axisangle": 4, "xyaxes": 6}.get(ways[0], 3)
        x = self.numbers(element, ways[0], None, count)
        if x is None:
            return np.eye(3)
        found = self._turned(ways[0], np.array(x))
        if found is None:
            self.fault(f"{ways[0]} of <{element.tag}> gives no rotation", element)
            return np.eye(3)
        return found

    def _turned(self, way: str, x: Array) -> Array | None:
        if way == "euler":
            return self._euler([snap_angle(self.angle(a), SNAP_ANGLE) for a in x])
        if way == "quat":
            size = float(np.linalg.norm(x))
            return None if size < 1e-10 else of_quaternion(x / size)
        if way == "axisangle":
            size = float(np.linalg.norm(x[:3]))
            angle = snap_angle(self.angle(float(x[3])), SNAP_ANGLE)
            return None if size < 1e-10 else about(x[:3] / size, angle)
        if way == "zaxis":
            return along(x)
        first, second = x[:3], x[3:]
        second = second - first * float(first @ second) / max(float(first @ first), 1e-300)
        if min(np.linalg.norm(first), np.linalg.norm(second)) < 1e-10:
            return None
        first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
        return np.column_stack((first, second, np.cross(first, second)))

    def _euler(self, angles: Sequence[float]) -> Array:
        """Small letters turn about the moving axes, capitals about the fixed ones."""
        R = np.eye(3)
        for letter, angle in zip(self.eulerseq, angles, strict=True):
            turn = about(np.eye(3)["xyz".index(letter.lower())], angle)
            R = R @ turn if letter.islower() else turn @ R
        return R


def about(axis: Array, angle: float) -> Array:
    """Rotation about a unit vector (Rodrigues), exact at the multiples of a right angle."""
    quarter = angle / (math.pi / 2)
    c, s = math.cos(angle), math.sin(angle)
    if abs(quarter - round(quarter)) < 1e-15:
        c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[round(quarter) % 4]
    x, y, z = axis
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R: Array = c * np.eye(3) + s * hat + (1 - c) * np.outer(axis, axis)
    return R


def along(z: Array) -> Array | None:
    """The smallest rotation that brings z to a direction."""
    size = float(np.linalg.norm(z))
    if size < 1e-10:
        return None
    z = z / size
    axis = np.cross((0, 0, 1), z)
    s = float(np.linalg.norm(axis))
    if s < 1e-12:
        return np.eye(3) if z[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return about(axis / s, math.atan2(s, float(z[2])))


def of_quaternion(quat: Array) -> Array:
    w, x, y, z = quat
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    R[np.abs(R) < 1e-11] = 0.0
    snapped = np.abs(np.abs(R) - 1) < 1e-11
    R[snapped] = np.sign(R[snapped])
    return R


def open_mjcf(data: bytes, file: str, read: Any = None) -> Mjcf:
    """The file with its settings; faults are in `found`. read: gives the files it includes."""
    from .mjcf_include import include

    found = UrdfFile(file, SNAP_ANGLE)
    text = element_text(data, found, "an MJCF file has a <mujoco> element")
    root = None if text is None else parsed_xml(text, found)
    mjcf = Mjcf(root, found)
    if root is None:
        return mjcf
    if root.tag == "mujocoinclude":
        mjcf.fault("this is a part of a model: open the file that includes it", root)
        return mjcf
    if root.tag != "mujoco":
        mjcf.fault(f"the root element is <{shown(root.tag)}>, an MJCF file has <mujoco>", root)
        return mjcf
    include(mjcf, read)
    _compiler(mjcf)
    for element in root.findall("default"):
        _defaults(mjcf, element, mjcf.defaults.get("main", {}), "main")
    return mjcf


def _compiler(mjcf: Mjcf) -> None:
    for element in mjcf.root.findall("compiler"):
        if element.get("coordinate", "local") != "local":
            mjcf.fault("global coordinates are not read: save the file by MuJoCo first", element)
        mjcf.degrees = element.get("angle", "degree" if mjcf.degrees else "radian") != "radian"
        mjcf.eulerseq = element.get("eulerseq", mjcf.eulerseq)
        mjcf.from_geoms = element.get("inertiafromgeom", mjcf.from_geoms)
        mjcf.limits_follow = element.get("autolimits", "true") == "true"
        if len(mjcf.eulerseq) != 3 or set(mjcf.eulerseq.lower()) - set("xyz"):
            mjcf.fault(f"eulerseq '{shown(mjcf.eulerseq)}' is not three of x, y, z", element)
            mjcf.eulerseq = "xyz"


def _defaults(mjcf: Mjcf, element: Any, inherited: dict[str, dict[str, str]], name: str) -> None:
    """A class holds what its parent holds, and its own."""
    name = element.get("class", name)
    table = {tag: dict(inherited.get(tag, {})) for tag in _CLASSES}
    for inner in element:
        if inner.tag in _CLASSES:
            table[inner.tag].update({str(k): str(v) for k, v in inner.attrib.items()})
    mjcf.defaults[name] = table
    for inner in element.findall("default"):
        if inner.get("class") is None:
            mjcf.fault("a <default> inside another has no class", inner)
            continue
        _defaults(mjcf, inner, table, name)
