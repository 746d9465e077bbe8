"""Equality constraints of MJCF -> closed loops, joints that are held, and couplings.

<connect>: a point of one body stays on a point of another; <weld>: two bodies are one. Between
bodies they hold where the file draws them (joints at `ref`), a weld with `relpose` in that relative
pose; between sites, where the sites coincide.

<joint joint1="" joint2="" polycoef="a0 a1 a2 a3 a4"/> holds, with x and y the positions of joint2
and joint1 less their `ref`,

    y = a0 + a1 x + a2 x² + a3 x³ + a4 x⁴

One without joint2 holds joint1 at a constant; linear ones become couplings. MJCF does not say who
leads: of joints that are tied together, in a row or a star, it is one with an actuator, else one
that nothing else leads; the others follow. `active="false"` switches a constraint off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..closures import End, Placed
from ..frames import Array, decimal_value, frame, of_quaternion
from ..robot import DRIVE, FIXED, FURTHER, REVOLUTE, Coupling, Joint, Loop
from ..values.expression import add
from ..xml.source import shown
from .drives import Drives
from .model import Mjcf

Line = tuple[float, float]  # ratio, offset
Ties = dict[str, dict[str, Line]]  # [j][k]: q_j = ratio q_k + offset


def _active(mjcf: Mjcf, kind: str) -> list[Any]:
    """The constraints of a kind that are not switched off."""
    if mjcf.off("equality"):
        return []
    elements = mjcf.root.iterfind(f"equality/{kind}")
    return [e for e in elements if (mjcf.get(e, "active") or "true").strip().lower() != "false"]


@dataclass(frozen=True)
class Closures:
    """Where the bodies and sites of a file stand: (body, frame in its own frame)."""

    mjcf: Mjcf
    place: Mapping[str, End]
    sites: Mapping[str, tuple[str, Array]]

    def loops(self, placed: Placed) -> list[Loop]:
        """A loop for each constraint between two bodies or sites."""
        loops: list[Loop] = []
        for tag, kind in (("connect", "spherical"), ("weld", "fixed")):
            for element in _active(self.mjcf, tag):
                ends = self._ends(element, tag, placed)
                if ends is not None:
                    name = element.get("name") or f"loop{len(loops) + 1}"
                    loops.append(placed.loop(name, kind, *ends))
        return loops

    def _follows_a_hand(self, body: str) -> bool:
        """Is it a mocap body?"""
        return any(
            e.get("name") == body and e.get("mocap") == "true" for e in self.mjcf.root.iter("body")
        )

    def _ends(self, element: Any, tag: str, placed: Placed) -> tuple[End, End] | None:
        """The two frames that coincide."""
        sites = [element.get("site1"), element.get("site2")]
        names = [element.get("body1", ""), element.get("body2", "world")]
        anchor = self.mjcf.numbers(element, "anchor", None if tag == "connect" else (0, 0, 0), 3)
        pose = np.eye(4)
        if any(sites):
            if any(site not in self.sites for site in sites):
                self.mjcf.fault(f"<{tag}> needs site1 and site2 of this file", element)
                return None
            names = [self.sites[site][0] for site in sites]
        elif anchor is None or any(name not in self.place for name in names):
            self.mjcf.fault(f"<{tag}> needs body1, body2 and anchor of this file", element)
            return None
        if any(self._follows_a_hand(name) for name in names):
            words = "constraints with mocap bodies, which the simulator moves, are left out"
            self.mjcf.remark(words, element.get("name") or names[0], element)
            return None
        (b1, T1), (b2, T2) = (self.place[name] for name in names)
        if min(b1, b2) < 0:
            words = f"<{tag}> holds the floating base to the world, which is no link then"
            self.mjcf.fault(words, element)
            return None
        if any(sites):
            S1, S2 = (self.sites[site][1] for site in sites)
            return (b1, T1 @ S1), (b2, T2 @ S2)
        relative = self._relative(element) if tag == "weld" else None
        if relative is not None:
            return (b1, T1 @ relative), (b2, T2)
        if tag == "connect":  # of a rigid joint any point will do
            pose = frame(np.eye(3), anchor or (0, 0, 0))
        return (b1, T1 @ pose), placed.local(b2, placed.pose((b1, T1 @ pose)))

    def _relative(self, element: Any) -> Array | None:
        """body2 in body1 as the weld says, or None: as they are drawn."""
        seven = self.mjcf.numbers(element, "relpose", None, 7)
        if seven is None or not any(seven[3:]):
            return None
        quaternion = np.array(seven[3:])
        return frame(of_quaternion(quaternion / np.linalg.norm(quaternion)), seven[:3])


def _coefficients(mjcf: Mjcf, element: Any) -> list[float]:
    """c0 .. c4; those that the file leaves out are as in 0, 1, 0, 0, 0."""
    coefficients = (mjcf.numbers(element, "polycoef", ()) or [])[:5]
    return [*coefficients, *(0.0, 1.0, 0.0, 0.0, 0.0)[len(coefficients) :]]


def locked(mjcf: Mjcf, joints: Sequence[Joint], refs: Mapping[str, float]) -> list[Joint]:
    """Joints that an equality constraint holds at a constant are fixed there."""
    held: dict[str, float] = {}
    names = {joint.name for joint in joints}
    for element in _active(mjcf, "joint"):
        name = element.get("joint1", "")
        if name not in names:
            mjcf.fault(f"<equality><joint>: '{shown(name)}' is no joint of this file", element)
            continue
        constant, *others = _coefficients(mjcf, element)
        if not element.get("joint2") or not any(others):
            held[name] = refs.get(name, 0.0) + constant

    def fixed(joint: Joint) -> Joint:
        at = decimal_value(held[joint.name], 0.0)
        key = "theta" if joint.sigma == REVOLUTE else "r"
        place: dict[str, Any] = {key: add(getattr(joint, key), at)}
        place |= dict.fromkeys((*DRIVE, *FURTHER), 0)
        return replace(joint, sigma=FIXED, active=False, **place)

    return [fixed(joint) if joint.name in held else joint for joint in joints]


def couplings_of(
    mjcf: Mjcf, joints: Sequence[Joint], refs: Mapping[str, float], drives: Drives
) -> dict[str, Coupling]:
    """What every joint follows that another one leads, by name."""
    driven = drives.driven
    numbers = {joint.name: j for j, joint in enumerate(joints, 1) if joint.sigma != FIXED}
    ties, leaders = _ties(mjcf, joints, numbers, refs)
    couplings: dict[str, Coupling] = {}
    reached: set[str] = set()
    for root in (
        *(j for j in ties if j in driven),
        *(j for j in ties if j in drives.pulled),
        *leaders,
        *ties,
    ):
        queue = [] if root in reached else [root]
        reached.add(root)
        while queue:
            k = queue.pop(0)
            for j in (j for j in ties[k] if j not in reached):
                ratio, offset = (decimal_value(x, 1e-15) for x in ties[j][k])
                couplings[j] = Coupling(numbers[k], ratio, offset)
                reached.add(j)
                queue.append(j)
    for j in couplings.keys() & driven:
        words = f"the actuator of joint '{shown(j)}' is left out: the joint follows another"
        mjcf.fault(words, mjcf.root, "warning")
    return couplings


def _ties(
    mjcf: Mjcf, joints: Sequence[Joint], numbers: Mapping[str, int], refs: Mapping[str, float]
) -> tuple[Ties, list[str]]:
    """Both ways of every linear constraint, and the joints that are a joint1 of none."""
    names = {joint.name for joint in joints}
    ties: Ties = {}
    led: set[str] = set()
    for element in _active(mjcf, "joint"):
        y, x = element.get("joint1", ""), element.get("joint2", "")
        if not x or y not in names:  # held, or a fault already
            continue
        a = _coefficients(mjcf, element)
        what = f"<equality><joint> of '{shown(y)}' and '{shown(x)}'"
        if x not in names or x == y:
            mjcf.fault(f"{what}: joint2 must be another joint of this file", element)
        elif any(a[2:]):
            words = "<equality><joint> of higher order than linear is left out: they move freely"
            mjcf.remark(words, f"{y} and {x}", element)
        elif a[1] == 0:
            continue  # held
        elif x not in numbers or y not in numbers:
            mjcf.fault(f"{what} is left out: one of them is held", element, "warning")
        elif _are_tied(ties, x, y):
            mjcf.fault(f"{what} is left out: they are tied already", element, "warning")
        else:
            offset = refs.get(y, 0.0) + a[0] - a[1] * refs.get(x, 0.0)
            ties.setdefault(y, {})[x] = a[1], offset
            ties.setdefault(x, {})[y] = 1 / a[1], -offset / a[1]
            led.add(y)
    return ties, [j for j in ties if j not in led]


def _are_tied(ties: Ties, x: str, y: str) -> bool:
    """Does a row of constraints lead from x to y?"""
    reached, queue = {x}, [x]
    while queue:
        for j in ties.get(queue.pop(), {}):
            if j not in reached:
                reached.add(j)
                queue.append(j)
    return y in reached
