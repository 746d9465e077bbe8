"""Docstrings as reStructuredText: they are plain words, in which only examples, indented lines and
names between backticks mean more than they say."""

from __future__ import annotations

import re

__all__ = ["as_rst", "plain_types"]


def as_rst(lines: list[str]) -> list[str]:
    """The lines with every mark escaped that reStructuredText would read; examples and indented
    lines stand as they are."""
    out: list[str] = []
    example = literal = False
    for line in lines:
        if not line.strip():
            example = False
        elif line.startswith(">>>"):
            example = True
        indented = line.startswith(" ") and not example
        if indented and not literal:
            out += ["", "::", ""]
        elif literal and not indented and line.strip():
            out.append("")
        literal = indented or (literal and not line.strip())
        out.append(line if example or literal else _escaped(line))
    return out


def plain_types(signature: str) -> str:
    """The signature with `numbers` for Annotated[Any, 'numbers'], however Sphinx spells that."""
    return re.sub(r"(?:~?\w+\.)?Annotated\[(?:~?\w+\.)?Any, '(\w+)'\]", r"\1", signature)


def _escaped(line: str) -> str:
    parts = re.split(r"(`[^`]+`)", line)
    marked = [f"`{x}`" if x.startswith("`") else re.sub(r"([*_|\\])", r"\\\1", x) for x in parts]
    return "".join(marked)
