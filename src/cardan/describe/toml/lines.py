"""A look at the text of a TOML file besides its parser: lines of keys, and keys too long."""

from __future__ import annotations

import re

Place = tuple[str, int]  # ("link", 3): the third [[link]]; ("", 0): before any table

LONGEST_KEY = 20  # parts
MOST_DOTS = 2000  # in a line

_PART = r"""\s*(?:[\w-]+|"[^".]*"|'[^'.]*')\s*"""
_DOTTED = re.compile(rf"{_PART}(?:\.{_PART})*")
_HEADER = re.compile(r"\s*\[(\[?)\s*([A-Za-z_]\w*)(?:\.([\w.]+))?\s*\]")
_KEY = re.compile(r"""\s*["']?([A-Za-z_][\w-]*)["']?\s*[.=]""")


def has_long_key(text: str) -> bool:
    """Is there a key a.a.a...? The time of the parser grows with the square of its length."""
    for line in text.split("\n"):
        if line.count(".") > LONGEST_KEY:
            parts = [p for p in re.split(r"[=\[\]{},#]", line) if p.count(".") > LONGEST_KEY]
            if line.count(".") > MOST_DOTS or any(_DOTTED.fullmatch(part) for part in parts):
                return True
    return False


def lines_of(text: str) -> dict[tuple[Place, str], int]:
    """The line of every key of every table; key "" is the table's header."""
    lines: dict[tuple[Place, str], int] = {}
    counts: dict[str, int] = {}
    place: Place = ("", 0)
    for number, row in enumerate(text.split("\n"), 1):
        header = _HEADER.match(row)
        if header:
            name = header[2]
            counts[name] = counts.get(name, 0) + (1 if header[1] and not header[3] else 0)
            place = (name, counts[name])
            lines.setdefault((place, header[3] or ""), number)
        elif key := _KEY.match(row):
            lines.setdefault((place, key[1]), number)
    return lines
