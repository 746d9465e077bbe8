"""The text of a .par file cut into `KEY = value` entries, each with its line; no meaning yet.

Comments (* ... *) nest, as Mathematica's do, and may stand anywhere; they are blanked in place, so
that data beside a comment is kept and every character keeps its line. The name of the robot stands
in one: (* Robotname = 'RX90' *). Lists of fields that SYMORO does not know stand in others, which
are read as entries: (* Cardan spring = {5,0} *).
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field

from ...errors import Fault

_ENTRY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*=\s*")
_NEXT = re.compile(r"^[ \t]*[A-Za-z_][A-Za-z0-9_]*\s*=", re.MULTILINE)
_NAME = re.compile(r"\s*Robotname\s*=\s*'(.*)'\s*\Z", re.DOTALL)
_OWN = re.compile(r"\s*Cardan\s+[A-Za-z]\w*\s*=\s*\{[^{}=]*\}\s*\Z")
_SCALAR = re.compile(r"[^\s={}]+")
_MARK = re.compile(r"\(\*|\*\)")
_LIST = re.compile(r"\{([^{}=]*)(\}?)")


@dataclass(frozen=True)
class Entry:
    """One key with its items as text, and the line each of them stands on."""

    key: str
    line: int
    items: tuple[tuple[str, int], ...]
    is_list: bool


@dataclass
class Scan:
    """What a file holds: the robot's name, entries in file order, and what could not be cut up."""

    name: str = ""
    entries: list[Entry] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def scan(text: str, file: str) -> Scan:
    """Cut the text into entries."""
    content = Scan()
    lines = _Lines(text)
    text = _without_comments(text, file, lines, content)
    at = 0
    while True:
        at = _skip_blank(text, at)
        if at >= len(text):
            return content
        match = _ENTRY.match(text, at)
        if match is None:
            message = (
                f"found {text[at : at + 30].split()[0]!r}; allowed: KEY = value or "
                "KEY = {a,b,...}; put remarks into (* ... *)"
            )
            content.faults.append(Fault(message, file, lines.of(at)))
            at = _next_entry(text, at)
        else:
            at = _value(text, match, file, lines, content)


def _value(text: str, match: re.Match[str], file: str, lines: _Lines, content: Scan) -> int:
    """Read the value after `KEY =`; where scanning goes on."""
    key, line, at = match[1], lines.of(match.start()), match.end()
    braces = _LIST.match(text, at)
    if braces is None:
        scalar = _SCALAR.match(text, at)
        if scalar is None:
            message = f"{key} has no value; allowed: a number or a list {{a,b,...}}"
            content.faults.append(Fault(message, file, line))
            return at + 1
        content.entries.append(Entry(key, line, ((scalar[0], lines.of(at)),), is_list=False))
        return scalar.end()
    if not braces[2]:
        message = f"the list of {key} is not closed; end it with '}}'"
        content.faults.append(Fault(message, file, line))
        return _next_entry(text, at)
    items = tuple(
        (item.strip(), lines.of(_skip_blank(text, start)))
        for item, start in _split(braces[1], braces.start(1))
    )
    content.entries.append(Entry(key, line, items, is_list=True))
    return braces.end()


def _next_entry(text: str, at: int) -> int:
    """Where a later line starts with KEY =, to go on after a fault."""
    match = _NEXT.search(text, at + 1)
    return match.start() if match else len(text)


def _split(body: str, start: int) -> list[tuple[str, int]]:
    """Items between the commas that stand outside parentheses: atan2(a,b) is one item."""
    items: list[tuple[str, int]] = []
    depth, begin = 0, 0
    for i, character in enumerate(body):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "," and depth <= 0:
            items.append((body[begin:i], start + begin))
            begin = i + 1
    items.append((body[begin:], start + begin))
    return items


def _without_comments(text: str, file: str, lines: _Lines, content: Scan) -> str:
    """The text with comments blanked; the robot's name is taken from them."""
    parts: list[str] = []
    depth = end = begin = 0
    for mark in _MARK.finditer(text):
        if mark[0] == "(*":
            if depth == 0:
                parts.append(text[end : mark.start()])
                begin = mark.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                end = mark.end()
                inside = text[begin + 2 : mark.start()]
                own = f"  {inside.replace('Cardan', ' ' * 6, 1)}  "
                parts.append(own if _OWN.match(inside) else _blank(text[begin:end]))
                name = _NAME.match(inside)
                content.name = content.name or (name[1] if name else "")
    if depth:
        message = "the comment that starts here is not closed; end it with '*)'"
        content.faults.append(Fault(message, file, lines.of(begin)))
        return "".join(parts) + _blank(text[begin:])
    return "".join(parts) + text[end:]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


class _Lines:
    """Line numbers of offsets."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer(r"\n", text))]

    def of(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset)
