"""Frames of SDFormat: poses relative to one another -> poses in the world.

[SDFormat, "Pose frame semantics": links, joints, frames and nested models are named frames; a pose
is relative to the frame of its `relative_to`, or else a link's to its model, a joint's to its
child, a frame's to what it is attached to, a model's to the model around it. Names reach into
nested models by `::`.]"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..frames import Array, frame, inverse, of_quaternion, rotation_of_rpy
from ..xml.source import Source, shown

MODEL = "__model__"
_DEEPEST = 200  # frames that lean on one another


@dataclass(frozen=True, eq=False)
class Entry:
    """A named frame: its pose relative to another one. placement: of a model, the frame in it that
    the pose places."""

    relative: str
    pose: Array
    line: int
    attached: str = ""  # the frame that it moves with; "" of links and models
    placement: str = ""


@dataclass
class Poses:
    """Every frame by its whole name."""

    source: Source
    entries: dict[str, Entry] = field(default_factory=dict)
    places: dict[str, Array] = field(default_factory=dict)

    def name(self, name: str, scope: str) -> str:
        """The whole name of a frame that is named in a scope; '' where there is none."""
        for whole in (scope + name, f"{scope}{name}::{MODEL}", name if name == "world" else ""):
            if whole in self.entries or whole == "world":
                return whole
        return ""

    def place(self, name: str) -> Array:
        """A frame in the world; the world itself beside a fault, where frames lean in a circle."""
        if name not in self.places:
            self.places[name] = self._between(name, "world")
        return self.places[name]

    def _between(self, name: str, end: str) -> Array:
        """A frame in another one on which it leans."""
        T, count, first = np.eye(4), 0, name
        while name not in ("world", end) and name in self.entries:
            entry = self.entries[name]
            count += 1
            if count > _DEEPEST:
                words = f"the poses of '{shown(first)}' and others are relative to each other"
                self.source.fault(f"{words}: write one of them in its model", entry.line)
                return np.eye(4)
            if entry.placement:
                T = inverse(self._between(entry.placement, name)) @ T
            T = entry.pose @ T
            name = entry.relative
        return T


def text_of(element: Any, tag: str, default: str = "") -> str:
    """The text of an element inside."""
    inner = element.find(tag)
    return default if inner is None or inner.text is None else str(inner.text).strip() or default


def pose_in(element: Any, source: Source, owner: str) -> tuple[Array, str]:
    """The <pose> inside an element, and the frame to which it is relative ('': its default)."""
    inner = element.find("pose")
    if inner is None:
        return np.eye(4), ""
    relative = (inner.get("relative_to") or inner.get("frame") or "").strip()
    line, text = inner.sourceline or 0, (inner.text or "").strip()
    turned = inner.get("rotation_format", "euler_rpy") == "quat_xyzw"
    numbers = source.numbers(text, 7 if turned else 6, f"pose of {owner}", line) if text else None
    if numbers is None:
        return np.eye(4), relative
    if turned:
        x, y, z, w = numbers[3:]
        size = float(np.linalg.norm(numbers[3:]))
        if size < 1e-10:
            source.fault(f"the quaternion of the pose of {owner} is zero", line)
            return np.eye(4), relative
        return frame(of_quaternion([v / size for v in (w, x, y, z)]), numbers[:3]), relative
    angles = numbers[3:]
    if inner.get("degrees", "").strip().lower() in ("1", "true"):
        angles = [float(np.radians(x)) for x in angles]
    return frame(rotation_of_rpy(angles, source.snap), numbers[:3]), relative
