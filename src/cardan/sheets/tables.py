"""The tables of a robot as a document has them: symbols and values as formulas."""

from __future__ import annotations

import re

from ..describe import show
from ..describe.robot import GEOMETRY, INERTIA, Robot
from ..document.structure import Math, Table, Words
from ..emit.latex import symbol_of

TITLES = ("Geometry", "Inertia", "Loops: cut joints and their twins", "Flexible links")
_GREEK = {"gamma": r"\gamma", "alpha": r"\alpha", "theta": r"\theta"}
_HEADS: dict[str, str] = {
    "j": "j", "a(j)": "a(j)",
    **{key: f"{_GREEK.get(key, key)}_{{j}}" for key in GEOMETRY},
    **{key: (rf"\mathit{{{key}}}" if len(key) > 1 else key) + "_{j}" for key in INERTIA},
}  # fmt: skip
_TOKEN = re.compile(r"\d+\.?\d*(?:e[+-]?\d+)?|[A-Za-z]\w*|\^|\*|\s+|.")
_FUNCTIONS = ("sin", "cos", "sqrt", "atan2", "tan", "abs")


def robot_tables(robot: Robot) -> dict[str, Table]:
    """The tables of `cardan show` that belong on a sheet, by title."""
    return {t.title: _table(t) for t in show.tables(robot) if t.title in TITLES}


def _table(table: show.Table) -> Table:
    shown = [k for k, name in enumerate(table.header) if name != "link" or _tells(table, k)]
    head = tuple(
        Math(_HEADS[table.header[k]]) if table.header[k] in _HEADS else table.header[k]
        for k in shown
    )
    rows = tuple(tuple(_cell(table.header[k], row[k]) for k in shown) for row in table.rows)
    return Table(head, rows)


def _tells(table: show.Table, k: int) -> bool:
    """Do the names of the links say more than their numbers?"""
    return any(row[k] != f"link{row[0]}" for row in table.rows)


def _cell(column: str, text: str) -> Words:
    return Math(written(text)) if column in _HEADS and text else text


def written(text: str) -> str:
    """A formula of a description in LaTeX, on one line: -pi/2 stays a quotient.

    >>> written("q1 + (-pi/2)")
    'q_{1} - \\\\pi/2'"""
    text = re.sub(r"\+ \(-([^()+-]*)\)", r"- \1", text)
    text = re.sub(r"([+-]) \(([^()+-]*)\)", r"\1 \2", text)
    out: list[str] = []
    tokens = _TOKEN.findall(text)
    for k, token in enumerate(tokens):
        if token[0].isdigit():
            after_power = k and tokens[k - 1] == "^"
            out.append(f"{{{token}}}" if after_power else rounded(token))
        elif token == "pi":
            out.append(r"\pi")
        elif token in _FUNCTIONS:
            out.append(rf"\operatorname{{{token}}}")
        elif token[0].isalpha():
            out.append(symbol_of(token))
        elif token == "*":
            out.append(r"\,")
        else:
            out.append(token)
    return "".join(out)


def rounded(token: str) -> str:
    """A number in LaTeX, to six digits.

    >>> rounded("0.22500000000000003"), rounded("1e-7")
    ('0.225', '1\\\\cdot 10^{-7}')"""
    mantissa, _, exponent = f"{float(token):.6g}".partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa
