"""What becomes of every element and attribute of URDF, by `schema.toml`.

What the table does not know, of URDF or of somebody's extension, is a warning. Inside shapes,
sensors, transmissions and the blocks of simulators anything may stand: these say how to simulate
the robot, not what it is (links without weight, say); only springs and changed masses there are
named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import Fault
from ..xml.schema import HARMLESS, rows
from ..xml.source import Source, shown, summaries
from .loops import LOOKS

_TABLE = rows(__package__)
_OTHERS = ("ball_constraint", "collision_filter_group", "joint/drive")  # of Drake, and our own
_SPRINGS = ("springStiffness", "spring_stiffness")  # in the blocks of Gazebo
_MASSES = ("boundmass", "boundinertia", "settotalmass", "balanceinertia", "inertiafromgeom")


def meaning(path: str, attribute: str = "") -> str:
    """read, harmless, or '' for what the table does not know; path: 'joint/limit', ..."""
    row = _TABLE.get(path)
    if row is None:
        while path and path not in _TABLE:
            path = path.rpartition("/")[0]
        return HARMLESS if path and _TABLE[path].open else ""
    if not attribute:
        return row.meaning
    return row.attributes.get(attribute, HARMLESS if row.open else "")


def unknown(root: Any, source: Source) -> None:
    """A warning for each kind of thing that is left out, with a count and the first names."""
    remarks: dict[str, list[Fault]] = {}
    for words, name, element in _remarks(root):
        place = Fault("", *source.place(element.sourceline), "", "warning", (shown(name),))
        remarks.setdefault(words, []).append(place)
    source.faults += summaries(remarks)


def _remarks(root: Any) -> Iterator[tuple[str, str, Any]]:
    """(what, of whom, where) of everything that is not read and may matter."""
    yield from _attributes(root, "robot", "")
    stack = [(element, "", "") for element in reversed(list(root))]
    while stack:
        element, path, owner = stack.pop()
        if not isinstance(element.tag, str):
            continue
        tag = element.tag.rsplit("}", 1)[-1]
        here = f"{path}/{tag}" if path else tag
        name = element.get("name", "") or owner or element.get("reference", "")
        foreign = element.tag.startswith("{") and here not in _OTHERS
        if here not in _TABLE or foreign:
            # what looks like a loop is named where loops are read
            if path or not any(word in tag.lower() for word in LOOKS):
                around = f"in <{path.rpartition('/')[2]}> " if path else ""
                words = f"<{shown(tag)}> {around}is not known to URDF, and is left out"
                yield words, name, element
        elif _TABLE[here].open:
            yield from _in_block(element, here, name)
        else:
            yield from _attributes(element, here, name)
            stack += [(inner, here, name) for inner in reversed(list(element))]


def _attributes(element: Any, path: str, name: str) -> Iterator[tuple[str, str, Any]]:
    for key in element.attrib:
        plain = str(key).rsplit("}", 1)[-1]
        if plain not in _TABLE[path].attributes:
            words = f"the attribute '{shown(plain)}' of <{path.rpartition('/')[2]}>"
            yield f"{words} is not known to URDF, and is left out", name, element


def _in_block(element: Any, path: str, name: str) -> Iterator[tuple[str, str, Any]]:
    """Words of simulators that change the motion."""
    for inner in element.iter():
        if not isinstance(inner.tag, str):
            continue
        tag = inner.tag.rsplit("}", 1)[-1]
        stiffness = (inner.text or "").strip().lower()
        read = tag == "springStiffness" and element.get("reference") is not None
        if path == "gazebo" and tag in _SPRINGS and not (read or stiffness in ("", "0", "0.0")):
            yield f"in <gazebo> a spring acts (<{tag}>), which is left out", name, inner
        for key in _MASSES if path == "mujoco" else ():
            if inner.get(key) is not None:
                yield f"<mujoco> changes masses ({key}), which is left out", "", inner
