"""What becomes of every element and attribute of URDF: one table.

    read        enters the robot
    harmless    has no part in what a robot holds: shapes, colours, sensors, calibration, plugins
    left out    enters the forces or the motion, and a robot has no place for it: a warning

[URDF: the XML specification of ROS, with urdfdom's later additions.] What the table does not know,
of URDF or of somebody's extension, is a warning too. Inside shapes, sensors, transmissions and the
blocks of simulators anything may stand: these say how to simulate the robot, not what it is (links
without weight, say); only springs and changed masses there are named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import Fault
from .xml import UrdfFile, shown

__all__ = ["HARMLESS", "LEFT_OUT", "READ", "meaning", "unknown"]

READ, HARMLESS, LEFT_OUT = "read", "harmless", "left out"
_SHOWN = 5  # names in a warning


@dataclass(frozen=True)
class Row:
    """An element: what becomes of it and of its attributes; open: whatever stands in it."""

    meaning: str
    read: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    open: bool = False


def _row(meaning: str, read: str = "", harmless: str = "", open: bool = False) -> Row:
    return Row(meaning, frozenset(read.split()), frozenset(harmless.split()), open)


_ORIGIN = _row(READ, "xyz rpy quat_xyzw")
_SEEN = _row(HARMLESS, open=True)
_TABLE = {
    "robot": _row(READ, "name", "version schemaLocation noNamespaceSchemaLocation"),
    "link": _row(READ, "name", "type"),
    "end_effector": _row(READ, "link"),
    "link/inertial": _row(READ),
    "link/inertial/origin": _ORIGIN,
    "link/inertial/mass": _row(READ, "value"),
    "link/inertial/inertia": _row(READ, "ixx ixy ixz iyy iyz izz"),
    "link/visual": _SEEN,
    "link/collision": _SEEN,
    "link/collision_checking": _SEEN,
    "link/self_collision_checking": _SEEN,
    "link/self_filter": _SEEN,
    "link/contact": _SEEN,
    "link/material": _SEEN,
    "link/sensor": _SEEN,
    "joint": _row(READ, "name type independent actuated"),
    "joint/origin": _ORIGIN,
    "joint/parent": _row(READ, "link"),
    "joint/child": _row(READ, "link"),
    "joint/axis": _row(READ, "xyz"),
    "joint/limit": _row(READ, "lower upper velocity effort", "acceleration deceleration jerk"),
    "joint/dynamics": _row(READ, "damping friction", "D K mu_coulomb mu_viscous"),  # of a Panda
    "joint/mimic": _row(READ, "joint multiplier offset"),
    "joint/calibration": _row(HARMLESS, "", "reference_position rising falling"),
    "joint/safety_controller": _row(
        HARMLESS, "", "soft_lower_limit soft_upper_limit k_position k_velocity"
    ),
    "joint/hardwareInterface": _SEEN,
    "material": _SEEN,
    "sensor": _SEEN,
    "transmission": _row(READ, open=True),
    "ros2_control": _row(READ, open=True),
    "gazebo": _row(READ, open=True),
    "mujoco": _row(HARMLESS, open=True),
    "loop_joint": _row(READ, open=True),
    "loop": _row(READ, open=True),
    "ball_constraint": _row(READ, open=True),
    "proximity_sensor": _SEEN,
    "disable_collisions": _SEEN,
    "self_collision_checking": _SEEN,
    "collision_filter_group": _SEEN,
}
_LOOPS = ("loop", "constraint", "coupling", "bushing")  # said where loops are read

# in the blocks of simulators
_IN_GAZEBO = {
    "springStiffness": "a spring acts",
    "spring_stiffness": "a spring acts",
}
_IN_MUJOCO = ("boundmass", "boundinertia", "settotalmass", "balanceinertia", "inertiafromgeom")


def meaning(path: str, attribute: str = "") -> str:
    """read, harmless, left out, or '' for what the table does not know; path: 'joint/limit', ..."""
    row = _TABLE.get(path)
    if row is None:
        inside = path.rpartition("/")[0]
        return HARMLESS if inside and _open(inside) else ""
    if not attribute:
        return row.meaning
    if attribute in row.read:
        return READ
    return HARMLESS if attribute in row.harmless or row.open else ""


def _open(path: str) -> bool:
    while path:
        row = _TABLE.get(path)
        if row is not None:
            return row.open
        path = path.rpartition("/")[0]
    return False


def unknown(found: UrdfFile) -> None:
    """A warning for each kind of thing that is left out, with a count and the first names."""
    kinds: dict[str, list[tuple[str, int]]] = {}
    for words, name, line in _remarks(found.root):
        kinds.setdefault(words, []).append((shown(name), line))
    for words, places in kinds.items():
        names = list(dict.fromkeys(name for name, _ in places if name))
        listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        count = f" ({len(names)}: {listed})" if listed else ""
        details = tuple(f"{found.file}:{line}: {name}" for name, line in places)
        message = f"{words}{count}"
        found.faults.append(Fault(message, found.file, places[0][1], "", "warning", details))


def _remarks(root: Any) -> Iterator[tuple[str, str, int]]:
    """(what, of whom, line) of everything that is not read and may matter."""
    yield from _attributes(root, "robot", "")
    stack = [(element, "", "") for element in reversed(list(root))]
    while stack:
        element, path, owner = stack.pop()
        if not isinstance(element.tag, str):
            continue
        tag = element.tag.rsplit("}", 1)[-1]
        here = f"{path}/{tag}" if path else tag
        name = element.get("name", "") or owner or element.get("reference", "")
        row = _TABLE.get(here)
        foreign = element.tag.startswith("{") and here != "ball_constraint"
        if row is None or foreign:
            if path or not any(word in tag.lower() for word in _LOOPS):
                around = f"in <{path.rpartition('/')[2]}> " if path else ""
                words = f"<{shown(tag)}> {around}is not known to URDF, and is left out"
                yield words, name, element.sourceline or 0
            continue
        if row.open:
            yield from _in_block(element, here, name)
            continue
        yield from _attributes(element, here, name)
        stack += [(inner, here, name) for inner in reversed(list(element))]


def _attributes(element: Any, path: str, name: str) -> Iterator[tuple[str, str, int]]:
    row = _TABLE[path]
    for key in element.attrib:
        plain = str(key).rsplit("}", 1)[-1]
        if plain not in row.read and plain not in row.harmless:
            tag = path.rpartition("/")[2]
            words = f"the attribute '{shown(plain)}' of <{tag}> is not known to URDF"
            yield f"{words}, and is left out", name, element.sourceline or 0


def _in_block(element: Any, path: str, name: str) -> Iterator[tuple[str, str, int]]:
    """Words of simulators that change the motion."""
    for inner in element.iter():
        if not isinstance(inner.tag, str):
            continue
        line = inner.sourceline or 0
        tag = inner.tag.rsplit("}", 1)[-1]
        if path == "gazebo" and tag in _IN_GAZEBO:
            text = (inner.text or "").strip().lower()
            if text not in ("", "0", "0.0"):
                yield f"in <gazebo> {_IN_GAZEBO[tag]} (<{tag}>), which is left out", name, line
        if path == "mujoco":
            for key in _IN_MUJOCO:
                if inner.get(key) is not None:
                    yield f"<mujoco> changes masses ({key}), which is left out", "", line
