"""Motors in URDF: which joints have one, and the rotor inertias IA, for which it has no word.

Joints are driven when a <transmission> or a <ros2_control> command names them, or when
independent="true" or actuated="true" stands in the <joint>; "false" makes it passive. Of rotors
Drake's extension speaks: <drake:rotor_inertia> and <drake:gear_ratio> of the <actuator> of a
<transmission>. Seen at the joint a rotor has its inertia times the gear ratio squared, which is IA.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..closures import tied
from ..frames import decimal_value
from ..robot import FIXED, Joint
from ..xml.source import Source, shown


def with_motors(joints: Sequence[Joint], root: Any, source: Source, way: str) -> list[Joint]:
    """The joints of a robot with loops, active where they have a motor; way: how a file says so."""
    motors = {str(joint.get("name")) for joint in root.iterfind("transmission/joint")}
    for joint in root.iterfind("ros2_control/joint"):
        if joint.find("command_interface") is not None:
            motors.add(str(joint.get("name")))
    without: set[str] = set()
    for joint in root.findall("joint"):
        for key in ("independent", "actuated"):
            value = (joint.get(key) or "").strip().lower()
            if value in ("true", "1"):
                motors.add(str(joint.get("name")))
            elif value in ("false", "0"):
                without.add(str(joint.get("name")))
    if not motors and not without:
        words = "the file has loops, and does not say which joints are driven: all count as active"
        source.fault(f"{words}; {way}", severity="warning")
        return list(joints)

    def active(name: str) -> bool:
        return name not in without and (not motors or name in motors)

    return [x if x.sigma == FIXED else tied(x, active(x.name), True) for x in joints]


def with_rotors(joints: Sequence[Joint], root: Any, source: Source) -> list[Joint]:
    """The joints with the rotors that the file gives their motors."""
    moving = {joint.name for joint in joints if joint.sigma != FIXED}
    rotors: dict[str, float] = {}
    for transmission in root.iterfind("transmission"):
        IA, line = _reflected(transmission, source)
        names = [str(joint.get("name")) for joint in transmission.findall("joint")]
        if IA == 0:
            continue
        if len(names) != 1 or names[0] not in moving:
            what = f"of {len(names)} joints" if len(names) != 1 else f"of '{shown(names[0])}'"
            words = "is left out: it must name one joint that moves"
            words = f"the rotor inertia of the <transmission> {what} {words}"
            source.fault(words, line, severity="warning")
            continue
        rotors[names[0]] = rotors.get(names[0], 0.0) + IA
    return [
        replace(joint, IA=decimal_value(rotors[joint.name], 0.0)) if joint.name in rotors else joint
        for joint in joints
    ]


def _reflected(transmission: Any, source: Source) -> tuple[float, int]:
    """Inertia of all rotors of a transmission seen at its joint, and its line."""
    total, line = 0.0, transmission.sourceline or 0
    for actuator in transmission.findall("actuator"):
        rotor = _value(actuator, "rotor_inertia", 0.0, source)
        total += rotor * _value(actuator, "gear_ratio", 1.0, source) ** 2
        if rotor < 0:
            source.fault(f"<rotor_inertia> {rotor!r} is negative", line)
    return total, line


def _value(actuator: Any, name: str, default: float, source: Source) -> float:
    """The number of an element of that name in any namespace."""
    for element in actuator.iterfind(f"{{*}}{name}"):
        text = element.get("value")
        if text is None:
            source.fault(f"<{name}> has no value", element.sourceline)
            return default
        value = source.number(text, f"value of <{name}>", element.sourceline)
        return default if value is None else value
    return default
