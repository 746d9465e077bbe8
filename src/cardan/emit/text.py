"""Equations as plain text: vectors and matrices in brackets, ^ for powers."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

from .reading import Equation, Reading
from .reading.head import head
from .reading.spell import Notation, displays

_WIDTH = 100
_INDENT = 2


def document(reading: Reading) -> str:
    """The whole text: what goes in and out, then the equations in their sections."""
    notation = Notation()
    body: list[str] = []
    part = ""
    for section in reading.sections:
        if section.part != part and section.part:
            body += ["", section.part, "-" * len(section.part)]
        part = section.part
        body += ["", *([section.title] if section.title else [])]
        body += lines(section.equations, notation)
    if notation.rounded:
        listed = textwrap.wrap(
            "; ".join(notation.rounded), _WIDTH - _INDENT, break_on_hyphens=False
        )
        body += ["", "Rounded numbers", *(" " * _INDENT + line for line in listed)]
    return "\n".join([*head(reading), *body, ""])


def lines(equations: Iterable[Equation], notation: Notation) -> list[str]:
    """Equations one below the other, indented."""
    listed: list[str] = []
    for equation in equations:
        for shown in displays(equation, notation):
            text = equation_text(shown, notation) if isinstance(shown, Equation) else shown
            listed += textwrap.indent(text, " " * _INDENT).splitlines()
    return listed


def equation_text(equation: Equation, notation: Notation) -> str:
    """One equation, over several lines where it is long."""
    cells = ["." if x is None else notation.text(x) for x in equation.cells]
    left = f"{equation.name} = "
    if not equation.shape:
        return left + broken(cells[0], len(left))
    if len(equation.shape) == 1:
        line = f"{left}[{', '.join(cells)}]"
        if len(line) <= _WIDTH - _INDENT:
            return line
        return left + "[" + (",\n" + " " * (len(left) + 1)).join(cells) + "]"
    rows, columns = equation.shape
    if equation.is_symmetric:
        cells = [x if k % columns >= k // columns else "" for k, x in enumerate(cells)]
    last = columns - 1
    cells = [f"{x}," if x and k % columns < last else x for k, x in enumerate(cells)]
    if equation.is_symmetric:
        cells[(rows - 1) * columns] = "sym."
    widths = [max(len(cells[k]) for k in range(c, len(cells), columns)) for c in range(columns)]
    table = (cells[k : k + columns] for k in range(0, len(cells), columns))
    lines = (" ".join(map(str.ljust, row, widths)) for row in table)
    return left + ("\n" + " " * len(left)).join(f"[{line}]" for line in lines)


def broken(text: str, indent: int) -> str:
    """A long sum in lines, broken before a sign."""
    rows, row = [], ""
    for piece in re.split(r"(?= [+-] )", text):
        if row and len(row) + len(piece) > _WIDTH - _INDENT - indent - 2:
            rows.append(row)
            row = piece.lstrip()
        else:
            row += piece
    return ("\n" + " " * (indent + 2)).join([*rows, row])
