"""Attributes of MJCF: defaults by class, angles in the file's unit, the ways to give a rotation.

[MJCF: the XML reference of the MuJoCo documentation; names and defaults are facts of it.]"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...algebra.so3 import about, along
from ...errors import Fault
from ..frames import Array, frame, of_quaternion, snap_angle
from ..xml.source import Source, shown, summaries

ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper",
    "cylinder", "muscle", "adhesion", "dcmotor", "plugin",
)  # fmt: skip
_KINDS = {"fixed": "tendon", "spatial": "tendon", **dict.fromkeys(ACTUATORS, "actuator")}
_ROTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")  # one of them holds
_OVERLAID = ("biasprm", "damping", "gainprm", "gear", "size", "stiffness")  # of any length
_SECTIONS = ("actuator", "equality", "tendon")  # the elements of one share their defaults


@dataclass(frozen=True)
class Settings:
    """What <compiler> says: how the numbers of a file are meant, and what its bodies weigh."""

    degrees: bool = True
    eulerseq: str = "xyz"
    from_geoms: str = "auto"
    limits_follow: bool = True
    groups: tuple[float, float] = (0.0, 5.0)  # of the geoms that weigh
    least_mass: float = 0.0
    least_inertia: float = 0.0
    balanced: bool = False
    total_mass: float = -1.0
    fits_bounds: bool = False  # primitives fitted to meshes: to the bounding box
    mesh_folder: str = ""
    bare_names: bool = False  # of mesh files


@dataclass(eq=False)
class Mjcf:
    """The file: its root, compiler settings, defaults by class and kind, and its faults.

    Elements that come from another file, included or attached, have a source of their own, and
    attached ones also the settings of their file: those of the nearest element around that has."""

    root: Any
    main: Source
    defaults: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    sources: dict[Any, Source] = field(default_factory=dict)
    settings: dict[Any, Settings] = field(default_factory=dict)
    folders: dict[Any, str] = field(default_factory=dict)  # where attached files lie
    included: dict[Any, str] = field(default_factory=dict)  # where included files lie
    remarks: dict[str, list[Fault]] = field(default_factory=dict)  # by kind

    def fault(self, message: str, element: Any = None, severity: str = "error") -> None:
        line = getattr(element, "sourceline", 0) or 0
        link = self.body_of(element)
        self.source(element).fault(message, line, link, severity)

    def remark(
        self, kind: str, name: str, element: Any, severity: str = "warning", why: str = ""
    ) -> None:
        """What is left out or not known: one fault for each kind, however often it is met."""
        line, link = getattr(element, "sourceline", 0) or 0, self.body_of(element)
        place = Fault(why, self.source(element).file, line, link, severity, (shown(name),))
        self.remarks.setdefault(kind, []).append(place)

    def summarize(self) -> None:
        """The remarks as faults, one of each kind."""
        self.main.faults += summaries(self.remarks)
        self.remarks = {}

    def off(self, flag: str) -> bool:
        """Is this switched off by <option><flag>, or with all constraints?"""
        values: dict[str, str] = {}
        for element in self.root.iterfind("option/flag"):
            values.update({str(k): str(v) for k, v in element.attrib.items()})
        names = (flag, "constraint") if flag in ("equality", "frictionloss") else (flag,)
        return any(values.get(name) == "disable" for name in names)

    def source(self, element: Any) -> Source:
        """The file that an element stands in."""
        at = _nearest(element, self.sources)
        return self.main if at is None else self.sources[at]

    def setting(self, element: Any) -> Settings:
        """The compiler settings that hold for an element."""
        at = _nearest(element, self.settings)
        return Settings() if at is None else self.settings[at]

    def folder(self, element: Any) -> str:
        """The folder of the file an element was attached from, seen from the main file's."""
        at = _nearest(element, self.folders)
        return "" if at is None else self.folders[at]

    def places_of(self, element: Any) -> list[str]:
        """The folders where a file that an element names is looked for."""
        beside = _nearest(element, self.included)
        own = self.folder(element)
        return [own] if beside is None else list(dict.fromkeys((own, self.included[beside])))

    def body_of(self, element: Any) -> str:
        while element is not None and element.tag != "body":
            element = element.getparent()
        return "" if element is None else shown(element.get("name", ""))

    def inside(self, element: Any, *tags: str) -> Iterator[Any]:
        """What stands in a body, also where <frame>s are put around it, in the file's order."""
        for inner in element:
            if inner.tag == "frame":
                yield from self.inside(inner, *tags)
            elif inner.tag in tags:
                yield inner

    # attributes

    def get(self, element: Any, key: str) -> str | None:
        """The attribute, or the default of the element's class for its kind of element."""
        below = self.defaults.get(self.class_of(element), {}).get(kind_of(element), {}).get(key)
        return below if element.get(key) is None else _over(below, str(element.get(key)), key)

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

    def is_true(self, element: Any, key: str, default: bool = False) -> bool:
        text = self.get(element, key)
        return default if text is None else text.strip() == "true"

    def numbers(
        self, element: Any, key: str, default: Sequence[float] | None = None, count: int = 0
    ) -> list[float] | None:
        """The numbers of an attribute; count: how many there must be, 0 for any."""
        text = self.get(element, key)
        if text is None:
            return None if default is None else list(default)
        line, link = element.sourceline or 0, self.body_of(element)
        what = f"{key} of <{element.tag}>"
        values = self.source(element).numbers(text, count, what, line, link)
        return values if values is not None or default is None else list(default)

    def number(self, element: Any, key: str, default: float = 0.0) -> float:
        return (self.numbers(element, key, (default,), 1) or [default])[0]

    def bounds(self, element: Any, key: str, switch: str) -> tuple[float, float] | None:
        """The ends of a range where it is limited: by the switch, or by itself where it rises."""
        limits = self.numbers(element, key, None, 2)
        limited = self.get(element, switch) or "auto"
        if limited == "false" or (limited != "true" and limits is None):
            return None
        if limits is None or limits[0] >= limits[1]:
            if limited == "true":
                self.fault(
                    f'{switch}="true" of <{element.tag}> needs {key}, from low to high', element
                )
            return None
        if limited == "auto" and not self.setting(element).limits_follow:
            return None
        return limits[0], limits[1]

    def angle(self, x: float, element: Any) -> float:
        return math.radians(x) if self.setting(element).degrees else x

    # places

    def placement(self, element: Any) -> Array:
        """Where an element is in its body: by its own attributes, in the <frame>s around it."""
        return self.around(element) @ self.pose(element)

    def pose(self, element: Any) -> Array:
        """pos and whichever attribute gives the rotation."""
        P = self.numbers(element, "pos", (0, 0, 0), 3)
        return frame(self.rotation(element), P or (0, 0, 0))

    def around(self, element: Any) -> Array:
        """The <frame>s around an element, in its body."""
        T, outer = np.eye(4), element.getparent()
        while outer is not None and outer.tag == "frame":
            T = self.pose(outer) @ T
            outer = outer.getparent()
        return T

    def rotation(self, element: Any) -> Array:
        ways = [key for key in _ROTATIONS if element.get(key) is not None]
        ways = ways or [key for key in _ROTATIONS if self.get(element, key) is not None]
        if len(ways) > 1:
            self.fault(f"<{element.tag}> gives its rotation twice: {', '.join(ways)}", element)
        if not ways:
            return np.eye(3)
        count = {"quat": 4, "axisangle": 4, "xyaxes": 6}.get(ways[0], 3)
        x = self.numbers(element, ways[0], None, count)
        if x is None:
            return np.eye(3)
        R = self._rotation(ways[0], np.array(x), element)
        if R is None:
            self.fault(f"{ways[0]} of <{element.tag}> gives no rotation", element)
            return np.eye(3)
        return R

    def _rotation(self, way: str, x: Array, element: Any) -> Array | None:
        if way == "euler":
            return self.euler(x, element)
        if way == "quat":
            size = float(np.linalg.norm(x))
            return None if size < 1e-10 else of_quaternion(x / size)
        if way == "axisangle":
            size = float(np.linalg.norm(x[:3]))
            angle = snap_angle(self.angle(float(x[3]), element))
            return None if size < 1e-10 else about(x[:3] / size, angle)
        if way == "zaxis":
            return along(x)
        first, second = x[:3], x[3:]
        second = second - first * float(first @ second) / max(float(first @ first), 1e-300)
        if min(np.linalg.norm(first), np.linalg.norm(second)) < 1e-10:
            return None
        first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
        return np.column_stack((first, second, np.cross(first, second)))

    def euler(self, angles: Sequence[float] | Array, element: Any) -> Array:
        """Small letters turn about the moving axes, capitals about the fixed ones."""
        R = np.eye(3)
        for letter, x in zip(self.setting(element).eulerseq, angles, strict=True):
            angle = snap_angle(self.angle(float(x), element))
            turn = about(np.eye(3)["xyz".index(letter.lower())], angle)
            R = R @ turn if letter.islower() else turn @ R
        return R


def kind_of(element: Any) -> str:
    """The name under which an element has its defaults; '' for those without."""
    around = element.getparent()
    section = "" if around is None else around.tag
    if section in _SECTIONS:
        return str(section)
    return "" if element.tag == "freejoint" else str(element.tag)


def _over(below: str | None, text: str, key: str) -> str:
    """An attribute that covers that of a class: of a short list the rest shows from below."""
    if below is None or key not in _OVERLAID:
        return text
    return " ".join([*text.split(), *below.split()[len(text.split()) :]])


def _nearest(element: Any, known: Mapping[Any, Any]) -> Any:
    """The element, or the innermost one around it, that is known; None where none is."""
    while element is not None and element not in known:
        element = element.getparent()
    return element


def settings(mjcf: Mjcf) -> Settings:
    """The attributes of every <compiler>; the last one that is given holds."""
    values: dict[str, str] = {}
    first: Any = None
    for element in mjcf.root.findall("compiler"):
        first = element if first is None else first
        values.update({str(k): str(v) for k, v in element.attrib.items()})
    if first is None:
        return Settings()
    for key, value in values.items():
        first.set(key, value)  # so that numbers are read in one place
    if first.get("coordinate", "local") != "local":
        mjcf.fault(
            "global coordinates are not read, nor by MuJoCo since version 2.3.3: save the file by"
            " an older one first", first,
        )  # fmt: skip
    eulerseq = first.get("eulerseq", "xyz")
    if len(eulerseq) != 3 or set(eulerseq.lower()) - set("xyz"):
        mjcf.fault(f"eulerseq '{shown(eulerseq)}' is not three of x, y, z", first)
        eulerseq = "xyz"
    low, high = mjcf.numbers(first, "inertiagrouprange", (0, 5), 2) or (0.0, 5.0)
    return Settings(
        degrees=first.get("angle", "degree") != "radian",
        eulerseq=eulerseq,
        from_geoms=first.get("inertiafromgeom", "auto"),
        limits_follow=first.get("autolimits", "true") == "true",
        groups=(low, high),
        least_mass=mjcf.number(first, "boundmass"),
        least_inertia=mjcf.number(first, "boundinertia"),
        balanced=first.get("balanceinertia") == "true",
        total_mass=mjcf.number(first, "settotalmass", -1.0),
        fits_bounds=first.get("fitaabb") == "true",
        mesh_folder=first.get("meshdir", first.get("assetdir", "")),
        bare_names=first.get("strippath") == "true",
    )


def read_defaults(
    mjcf: Mjcf, element: Any, inherited: dict[str, dict[str, str]], name: str
) -> None:
    """A class holds what its parent holds, and its own."""
    table = {kind: dict(values) for kind, values in inherited.items()}
    for inner in element:
        if inner.tag != "default":
            kind = _KINDS.get(inner.tag, str(inner.tag))
            own = {str(k): str(v) for k, v in inner.attrib.items() if k != "class"}
            values = table.setdefault(kind, {})
            if any(key in own for key in _ROTATIONS):
                for key in _ROTATIONS:
                    values.pop(key, None)
            values.update({key: _over(values.get(key), text, key) for key, text in own.items()})
    mjcf.defaults[name] = table
    for inner in element.findall("default"):
        if not inner.get("class"):
            mjcf.fault("a <default> inside another has no class", inner)
            continue
        if inner.get("class") in mjcf.defaults:
            words = f"the class '{shown(inner.get('class'))}' of defaults is already defined"
            mjcf.fault(words, inner)
            continue
        read_defaults(mjcf, inner, table, str(inner.get("class")))
