"""Equality constraints of MJCF -> closed loops.

<connect>: a point of one body stays on a point of another; <weld>: two bodies are one. Between
bodies they hold where the file draws them (joints at `ref`), a weld with `relpose` in that relative
pose; between sites, where the sites coincide. `active="false"` switches a constraint off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..closures import Placed
from ..frames import Array, decimal_value, frame, of_quaternion
from ..robot import FIXED, REVOLUTE, Joint, Loop
from ..values.expression import add
from ..xml.source import shown
from .model import Mjcf

__all__ = ["Closures", "locked"]


def locked(mjcf: Mjcf, joints: Sequence[Joint], refs: Mapping[str, float]) -> list[Joint]:
    """Joints that an equality constraint holds at a constant are fixed there."""
    held: dict[str, float] = {}
    names = {joint.name for joint in joints}
    for element in active(mjcf, "joint"):
        name = element.get("joint1", "")
        if name not in names:
            mjcf.fault(f"<equality><joint>: '{shown(name)}' is no joint of this file", element)
            continue
        coefficients = mjcf.numbers(element, "polycoef", (0, 1, 0, 0, 0)) or [0.0]
        if not element.get("joint2") or not any(coefficients[1:]):
            held[name] = refs.get(name, 0.0) + coefficients[0]

    def fixed(joint: Joint) -> Joint:
        at = decimal_value(held[joint.name], 0.0)
        turned, slid = (at, 0) if joint.sigma == REVOLUTE else (0, at)
        return replace(
            joint, sigma=FIXED, active=False, IA=0, FV=0, FS=0,
            theta=add(joint.theta, turned), r=add(joint.r, slid),
        )  # fmt: skip

    return [fixed(joint) if joint.name in held else joint for joint in joints]


def active(mjcf: Mjcf, kind: str) -> list[Any]:
    """The constraints of a kind that are not switched off."""
    if mjcf.off("equality"):
        return []
    found = mjcf.root.iterfind(f"equality/{kind}")
    return [e for e in found if (mjcf.get(e, "active") or "true").strip().lower() != "false"]


@dataclass(frozen=True)
class Closures:
    """Where the bodies and sites of a file stand: (body, frame in its own frame)."""

    mjcf: Mjcf
    place: Mapping[str, tuple[int, Array]]
    sites: Mapping[str, tuple[str, Array]]

    def loops(self, placed: Placed) -> list[Loop]:
        found: list[Loop] = []
        for tag, kind in (("connect", "spherical"), ("weld", "fixed")):
            for element in active(self.mjcf, tag):
                ends = self._ends(element, tag, placed)
                if ends is not None:
                    name = element.get("name") or f"loop{len(found) + 1}"
                    found.append(placed.loop(name, kind, *ends))
        return found

    def _ends(
        self, element: Any, tag: str, placed: Placed
    ) -> tuple[tuple[int, Array], tuple[int, Array]] | None:
        """The two frames that coincide, each (body, frame in its own frame)."""
        sites = element.get("site1"), element.get("site2")
        if any(sites):
            if any(site not in self.sites for site in sites):
                self.mjcf.fault(f"<{tag}> needs site1 and site2 of this file", element)
                return None
            (body1, T1), (body2, T2) = (self.sites[site] for site in sites)
            (b1, T1), (b2, T2) = self._on(body1, T1), self._on(body2, T2)
            return self._ends_of(element, tag, (b1, T1), (b2, T2))
        names = element.get("body1", ""), element.get("body2", "world")
        anchor = self.mjcf.numbers(element, "anchor", None if tag == "connect" else (0, 0, 0), 3)
        if anchor is None or any(name not in self.place for name in names):
            self.mjcf.fault(f"<{tag}> needs body1, body2 and anchor of this file", element)
            return None
        (b1, T1), (b2, T2) = (self.place[name] for name in names)
        if min(b1, b2) < 0:
            return self._ends_of(element, tag, (b1, T1), (b2, T2))
        if tag == "weld":
            pose = self._relative(element)
            if pose is not None:
                return (b1, T1 @ pose), (b2, T2)
            anchor = [0.0, 0.0, 0.0]  # rigid: any point will do
        first_end = b1, T1 @ frame(np.eye(3), np.array(anchor))
        return first_end, placed.local(b2, placed.pose(first_end))

    def _ends_of(
        self, element: Any, tag: str, first: tuple[int, Array], second: tuple[int, Array]
    ) -> tuple[tuple[int, Array], tuple[int, Array]] | None:
        """Both frames, if they are on links of the robot."""
        if min(first[0], second[0]) < 0:
            words = f"<{tag}> holds the floating base to the world, which is no link then"
            self.mjcf.fault(words, element)
            return None
        return first, second

    def _on(self, body: str, T: Array) -> tuple[int, Array]:
        index, placed = self.place[body]
        return index, placed @ T

    def _relative(self, element: Any) -> Array | None:
        """body2 in body1 as the weld says, or None: as they are drawn."""
        seven = self.mjcf.numbers(element, "relpose", None, 7)
        if seven is None or not any(seven[3:]):
            return None
        quaternion = np.array(seven[3:])
        R = of_quaternion(quaternion / np.linalg.norm(quaternion))
        return frame(R, np.array(seven[:3]))
