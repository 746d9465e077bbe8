"""Rotor inertias IA in URDF, which itself has no word for them.

Drake's extension has one: <drake:rotor_inertia> and <drake:gear_ratio> of the <actuator> of a
<transmission>. Seen at the joint a rotor has its inertia times the gear ratio squared, which is IA.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..frames import decimal_value
from ..robot import FIXED, Joint
from .xml import UrdfFile, read_float, shown

__all__ = ["with_rotors"]


def with_rotors(joints: Sequence[Joint], root: Any, found: UrdfFile) -> list[Joint]:
    """The joints with the rotors that the file gives their motors."""
    moving = {joint.name for joint in joints if joint.sigma != FIXED}
    rotors: dict[str, float] = {}
    for transmission in root.iterfind("transmission"):
        IA, line = _reflected(transmission, found)
        names = [str(joint.get("name")) for joint in transmission.findall("joint")]
        if IA == 0:
            continue
        if len(names) != 1 or names[0] not in moving:
            what = f"of {len(names)} joints" if len(names) != 1 else f"of '{shown(names[0])}'"
            found.fault(
                f"the rotor inertia of the <transmission> {what} is left out: it must name one"
                " joint that moves", line, severity="warning",
            )  # fmt: skip
            continue
        rotors[names[0]] = rotors.get(names[0], 0.0) + IA
    return [
        replace(joint, IA=decimal_value(rotors[joint.name], 0.0)) if joint.name in rotors else joint
        for joint in joints
    ]


def _reflected(transmission: Any, found: UrdfFile) -> tuple[float, int]:
    """Inertia of all rotors of a transmission seen at its joint, and its line."""
    total, line = 0.0, transmission.sourceline or 0
    for actuator in transmission.findall("actuator"):
        rotor = _value(actuator, "rotor_inertia", 0.0, found)
        total += rotor * _value(actuator, "gear_ratio", 1.0, found) ** 2
        if rotor < 0:
            found.fault(f"<rotor_inertia> {rotor!r} is negative", line)
    return total, line


def _value(actuator: Any, name: str, default: float, found: UrdfFile) -> float:
    """The number of an element of that name in any namespace."""
    for element in actuator.iterfind(f"{{*}}{name}"):
        text, line = element.get("value"), element.sourceline or 0
        if text is None:
            found.fault(f"<{name}> has no value", line)
            return default
        value = read_float(text, f"value of <{name}>", line, "", found)
        return default if value is None else value
    return default
