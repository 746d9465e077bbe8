"""What becomes of every element and attribute of MJCF, by `schema.toml`.

What the table does not know is a warning; an element among the bodies an error, as in MuJoCo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..xml.schema import LEFT_OUT, READ, Row, rows
from ..xml.source import shown
from .model import Mjcf

_AROUND = ("worldbody", "body", "frame", "replicate")  # stand in each other
_TABLE = rows(__package__)  # by path, as 'worldbody/body/joint' without repeated bodies
_FLAG = {"stiffness": "spring", "springyield": "spring", "damping": "damper"}
_FLAG |= {"frictionloss": "frictionloss", "gravcomp": "gravity"}


def meaning(path: str, attribute: str = "") -> str:
    """read, harmless, left out, or '' for what the table does not know; path: 'body/joint', ..."""
    row = _TABLE.get(_canonical(path.split("/")))
    if row is None:
        return ""
    return row.attributes.get(attribute, "") if attribute else row.meaning


def _canonical(parts: list[str]) -> str:
    """Bodies and frames may stand in each other, and so may classes of defaults."""
    around = [k for k, part in enumerate(parts) if part in _AROUND]
    if parts[0] in _AROUND and parts != ["worldbody"]:
        last = around[-1] if around[-1] < len(parts) - 1 else len(parts) - 2
        parts = ["worldbody", *parts[last + 1 :]]
    if parts[0] == "default":
        parts = ["default", *(part for part in parts if part != "default")]
    return "/".join(parts)


def unknown(mjcf: Mjcf) -> None:
    """Remarks on elements and attributes that the table does not know."""
    for element, path in _walk(mjcf.root, ()):
        row = _TABLE.get(path)
        tag = shown(element.tag)
        if row is None:
            place = f"in <{shown(element.getparent().tag)}>"
            if path.startswith("worldbody/"):
                mjcf.fault(f"there is no element <{tag}> {place} in MJCF", element)
            else:
                mjcf.remark(f"<{tag}> {place} is not known, and is left out", "", element)
            continue
        for key in element.attrib:
            if key not in row.attributes and not str(key).startswith("{"):
                words = f"the attribute '{shown(key)}' of <{tag}> is not known, and is left out"
                mjcf.remark(words, element.get("name", ""), element)
            allowed = row.words.get(str(key))
            if allowed and element.get(key) not in allowed:
                value = f"{key} of <{tag}> is '{shown(element.get(key))}'"
                mjcf.fault(f"{value}, not {' or '.join(allowed)}", element)
        _check_classes(mjcf, element, row)


def _check_classes(mjcf: Mjcf, element: Any, row: Row) -> None:
    """Classes of defaults that the file does not define, which MuJoCo refuses."""
    for key in ("class", "childclass"):
        name = element.get(key)
        if name is None or row.attributes.get(key) != READ or element.tag == "default":
            continue
        if name not in mjcf.defaults:
            words = f"there is no class '{shown(name)}' of defaults: define it in <default>"
            mjcf.fault(words, element)


def _walk(element: Any, path: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    """Every element with its path in the table; what is inside an unknown one is not looked at."""
    for inner in element:
        if not isinstance(inner.tag, str):
            continue
        inside = (*path, inner.tag)
        stray = not path and inner.tag in _AROUND and inner.tag != "worldbody"
        name = f"mujoco/{inner.tag}" if stray else _canonical(list(inside))
        yield inner, name
        if name in _TABLE:
            yield from _walk(inner, ("worldbody",) if inner.tag in _AROUND else inside)


def left_out(mjcf: Mjcf) -> None:
    """Remarks on what a robot has no place for, of the elements as they are used."""
    for element, path in _walk(mjcf.root, ()):
        row = _TABLE.get(path)
        if row is None or path.startswith("default"):
            continue
        if row.meaning == LEFT_OUT and not path.startswith("equality"):
            _element_left_out(mjcf, element, path)
        for key, words in sorted(row.said.items()):
            flag = _FLAG.get(key, "")
            if not (flag and mjcf.off(flag)) and _counts(mjcf.get(element, key)):
                mjcf.remark(words, element.get("name", "") or mjcf.body_of(element), element)
    compiler = [e for e in mjcf.root.findall("compiler") if e.get("conflict") == "merge"]
    if compiler and mjcf.root.find("asset/model") is not None:
        words = 'options of attached models are not merged: conflict="merge" is left out'
        mjcf.remark(words, "", compiler[0])


def _element_left_out(mjcf: Mjcf, element: Any, path: str) -> None:
    name, tag = element.get("name", ""), element.tag
    if path == "worldbody/flexcomp" and mjcf.body_of(element):
        words = f"<{tag}> makes bodies of body '{mjcf.body_of(element)}' that are not read"
        mjcf.fault(f"{words}: take it out, or give the body their mass", element)
    else:
        mjcf.remark(f"<{tag}> is left out", name or mjcf.body_of(element), element)


def _counts(text: str | None) -> bool:
    """Is an attribute there, and not zero?"""
    if text is None:
        return False
    try:
        return any(float(part) for part in text.split())
    except ValueError:
        return True
