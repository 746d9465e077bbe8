"""Equations in Markdown: tables of what goes in and out, the equations as mathematics."""

from __future__ import annotations

from .header import one_line
from .latex import LatexNotation, blocks, symbol_of
from .reading import Reading
from .reading.head import arrays, remarks, title

_BLOCK = 20  # rows in one display: browsers lay each out at once


def document(reading: Reading) -> str:
    """The file: what goes in and out, then the equations in their sections."""
    notation = LatexNotation(rates=reading.rates)
    body: list[str] = []
    part = ""
    for section in reading.sections:
        if section.part != part and section.part:
            body += ["", f"## {section.part}"]
        part = section.part
        if section.title:
            body += ["", f"### {section.title}"]
        for block in blocks(section.equations, notation, _BLOCK):
            if isinstance(block, str):
                body += ["", _escaped(f"{block}.")]
            else:
                body += ["", "$$", r"\begin{aligned}", *block, r"\end{aligned}", "$$"]
    lines = [f"# {_escaped(title(reading))}", "", "| | | Size | Meaning |", "|---|---|---|---|"]
    for kind, name, size, meaning in arrays(reading):
        own = [notation.name(symbol) for symbol in reading.inputs.get(name, ())]
        inside = rf" = ({', '.join(own)})" if len(own) > 1 and kind == "Input" else ""
        shape = size.replace("x", " × ") if size != "scalar" else size
        lines.append(f"| {kind} | ${symbol_of(name)}{inside}$ | {shape} | {_escaped(meaning)} |")
    if reading.parameters:
        lines += ["", "| Parameter | Symbol | Element |", "|---|---|---|"]
        for k, (name, symbol) in enumerate(
            zip(reading.program.parameters, reading.parameters, strict=True), 1
        ):
            lines.append(f"| {_escaped(name)} | ${notation.name(symbol)}$ | $p_{{{k}}}$ |")
    for remark in remarks(reading):
        if not remark.startswith("Parameters: "):
            lines += ["", _escaped(remark)]
    exact = [f"<!-- {number} -->" for number in notation.rounded]
    return "\n".join([*lines, *body, *([""] if exact else []), *exact, ""])


def _escaped(text: str) -> str:
    """Text that Markdown and HTML take literally."""
    text = one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{c}" if c in "\\`*_[]|$#" else c for c in text)
