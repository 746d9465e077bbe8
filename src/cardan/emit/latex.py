"""Equations in LaTeX: F2_3 is F_{2,3}, wd3_1 is ω̇_{3,1}, Jplus2_11 is J⁺_{2,11}.

The file is a document of its own and can be \\input in another that loads amsmath: it looks whether
a document class is already there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import latex
from ..ir.spell import ATOM, PRODUCT, SUM, UNARY, Piece
from .header import one_line
from .reading import Equation, Reading
from .reading.head import arrays, head, remarks, title
from .reading.spell import Notation, displays
from .reading.tree import Call, Name, Power, Quotient, Tree

_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau
upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega""".split()  # noqa: SIM905
_STEMS = {
    "q": "q", "qd": r"\dot{q}", "qdd": r"\ddot{q}", "w": r"\omega", "wd": r"\dot{\omega}",
    "V": "V", "Vd": r"\dot{V}", "Jdqd": r"\dot{J}\dot{q}", "Jinv": "J^{-1}", "th": r"\theta",
    **{name: rf"\{name}" for name in _GREEK},
}  # fmt: skip
_MARKS = {"plus": "+", "star": "*"}
_DOTS = {1: r"\dot", 2: r"\ddot"}
_CALLS = {
    "sqrt": r"\sqrt{{{}}}", "abs": r"\lvert {}\rvert", "sign": r"\operatorname{{sign}}({})",
    "atan2": r"\operatorname{{atan2}}({}, {})", "min": r"\min({}, {})", "max": r"\max({}, {})",
}  # fmt: skip
_OPEN = r"""\makeatletter
\ifx\documentclass\@twoclasseserror
  \makeatother\let\cardanend\relax
\else
  \makeatother
  \documentclass{article}
  \usepackage[T1]{fontenc}
  \usepackage{textcomp}
  \usepackage{amsmath}
  \usepackage[margin=2.5cm]{geometry}
  \begin{document}
  \def\cardanend{\end{document}}
\fi
\setcounter{MaxMatrixCols}{20}
\allowdisplaybreaks
"""
_WIDTH = 425  # points of a line
_FRACTION = 330  # points of what stands above a line
_BLOCK = 40  # lines that are aligned with each other


@dataclass
class LatexNotation(Notation):
    """The spellings of LaTeX; no two names have the same symbol."""

    rates: Any = field(default_factory=dict)
    symbols: dict[str, str] = field(default_factory=dict)

    room, line, gap = 400, 380, 10  # points

    def width(self, text: str) -> float:
        return points(text)

    def name(self, name: str) -> str:
        if name not in self.symbols:
            symbol = symbol_of(name)
            if name in self.rates:
                variable, dots = self.rates[name]
                symbol = dotted(symbol_of(variable), dots)
            taken = symbol in self.symbols.values()
            self.symbols[name] = rf"\mathtt{{{escaped(name)}}}" if taken else symbol
        return self.symbols[name]

    def number(self, value: Any) -> Piece:
        x = self.numeral(value)
        top = x.top
        if x.pi:
            top = r"\pi" if x.top == "1" else rf"{x.top}\,\pi"
        if x.bottom > 1:
            return rf"\frac{{{top}}}{{{x.bottom}}}", ATOM
        if x.exponent:
            return rf"{top} \cdot 10^{{{x.exponent}}}", PRODUCT
        return top, PRODUCT if x.pi and x.top != "1" else ATOM

    def product(self, factors: Sequence[Tree]) -> str:
        return r"\,".join(self.held(self.piece(factor), PRODUCT) for factor in factors)

    def quotient(self, value: Quotient) -> Piece:
        over, under = self.piece(value.over), self.piece(value.under)[0]
        if points(over[0]) > _FRACTION:  # which is not broken into lines
            return rf"\frac{{1}}{{{under}}}\,{self.held(over, PRODUCT)}", PRODUCT
        return rf"\frac{{{over[0]}}}{{{under}}}", ATOM

    def power(self, value: Power) -> Piece:
        base = value.base
        if isinstance(base, Call) and base.function in ("sin", "cos"):
            return self._trigonometric(base, f"^{{{value.n}}}"), UNARY
        text = self.held(self.piece(base), ATOM)
        return (f"{{{text}}}" if "^" in text else text) + f"^{{{value.n}}}", UNARY

    def call(self, value: Call) -> Piece:
        if value.function in ("sin", "cos"):
            return self._trigonometric(value), UNARY
        arguments = [self.text(x) for x in value.arguments]
        if value.function == "select":
            then, other = arguments[1:]
            cases = rf"{then} & {arguments[0]} > 0\\{other} & \text{{otherwise}}"
            return rf"\begin{{cases}}{cases}\end{{cases}}", SUM
        return _CALLS[value.function].format(*arguments), ATOM

    def _trigonometric(self, value: Call, power: str = "") -> str:
        (argument,) = value.arguments
        text = self.text(argument)
        bare = argument[0] > 0 and isinstance(argument[1], Name)
        return rf"\{value.function}{power}" + (f" {text}" if bare else f"({text})")


def dotted(symbol: str, dots: int) -> str:
    """A variable's derivative: the dots stand over its letter, not over its indices."""
    letter, mark, indices = symbol.partition("_")
    return f"{_DOTS[dots]}{{{letter}}}{mark}{indices}"


def document(reading: Reading) -> str:
    """The file: what goes in and out, then the equations in their sections."""
    notation = LatexNotation(rates=reading.rates)
    body = [r"\subsection*{Equations}", *_body(reading, notation)]
    listed = (rf"${notation.name(name)}$" for name in reading.parameters)
    lines = [f"% {_latin(line)}".rstrip() for line in head(reading)]
    lines += [f"% {number}" for number in notation.rounded]
    lines += [_OPEN, rf"\section*{{{escaped(title(reading))}}}", r"\raggedright"]
    for kind, name, size, meaning in arrays(reading):
        own = [notation.name(symbol) for symbol in reading.inputs.get(name, ())]
        inside = f" = ({', '.join(own)})" if len(own) > 1 and kind == "Input" else ""
        times = size.replace("x", r" \times ")
        shape = "" if inside or size == "scalar" else f" (${times}$)"
        lines.append(rf"{kind} ${symbol_of(name)}{inside}${shape}: {escaped(meaning)}\par")
    if reading.parameters:
        lines.append(rf"Parameters {', '.join(listed)}\par")
    lines += [rf"{escaped(x)}\par" for x in remarks(reading) if not x.startswith("Parameters: ")]
    return "\n".join(line.rstrip() for line in [*lines, *body, r"\cardanend", ""])


def _body(reading: Reading, notation: LatexNotation) -> Iterator[str]:
    part = ""
    for section in reading.sections:
        if section.part != part and section.part:
            yield rf"\paragraph{{{section.part}}}\leavevmode\par"
        part = section.part
        if section.title:
            yield rf"\paragraph{{{section.title}}}\leavevmode"
        for block in blocks(section.equations, notation):
            if isinstance(block, str):
                yield rf"{escaped(block)}."
            else:
                yield from (r"\begin{align*}", *block, r"\end{align*}")


def blocks(
    equations: Iterable[Equation], notation: LatexNotation, most: int = _BLOCK
) -> Iterator[list[str] | str]:
    """Rows that are aligned with each other, and words between them."""
    block: list[str] = []
    for equation in equations:
        for shown in displays(equation, notation):
            if block and (isinstance(shown, str) or len(block) >= most):
                yield _joined(block)
                block = []
            if isinstance(shown, str):
                yield shown
            else:
                block += rows(shown, notation)
    if block:
        yield _joined(block)


def elements(reading: Reading) -> list[str]:
    """Every quantity element by element, each an equation by itself, in the order of the page."""
    notation = LatexNotation(rates=reading.rates)
    return [
        f"{notation.name(symbol)} = {notation.text(cell)}"
        for equation in reading.equations
        for symbol, cell in zip(equation.elements, equation.cells, strict=True)
        if cell is not None
    ]


def _joined(block: Sequence[str]) -> list[str]:
    return [rf"{row} \\" for row in block[:-1]] + [*block[-1:]]


def rows(equation: Equation, notation: LatexNotation) -> list[str]:
    """An equation as rows of an aligned environment."""
    left = notation.name(equation.name)
    cells = [r"\cdot" if x is None else notation.text(x) for x in equation.cells]
    if not equation.shape:
        return broken(f"{left} &= {cells[0]}", _WIDTH, points)
    columns = equation.shape[1] if len(equation.shape) == 2 else 1
    if equation.is_symmetric:
        cells = [x if k % columns >= k // columns else "" for k, x in enumerate(cells)]
        cells[len(cells) - columns] = r"\text{sym.}"
    lines = (" & ".join(cells[k : k + columns]) for k in range(0, len(cells), columns))
    table = r" \\ ".join(lines)
    return [rf"{left} &= \begin{{bmatrix}} {table} \end{{bmatrix}}"]


def single(equation: Equation, notation: LatexNotation) -> str:
    """An equation by itself, for a display of its own."""
    lines = rows(equation, notation)
    if len(lines) == 1:
        return lines[0].replace(" &= ", " = ", 1)
    return "\n".join([r"\begin{aligned}", *_joined(lines), r"\end{aligned}"])


def broken(text: str, width: float, size: Callable[[str], float] | None = None) -> list[str]:
    """An equation in lines that fit a page, broken before a sign outside braces. `size` measures
    the pieces: by default their signs are counted."""
    size = size or visible
    rows, row, depth = [], "", 0
    for piece in re.split(r"(?= [+-] | = )", text):
        if row and not depth and size(row) + size(piece) > width:
            rows.append(row)
            row = r"&\quad" + piece
        else:
            row += piece
        depth += len(re.findall(r"(?<!\\)\{", piece)) - len(re.findall(r"(?<!\\)\}", piece))
        depth += piece.count(r"\begin") - piece.count(r"\end")
        depth += piece.count(r"\left(") - piece.count(r"\right)")
    return [*rows, row]


def visible(text: str) -> int:
    """About how many signs a formula has on the page."""
    return len(re.sub(r"\\[a-zA-Z]+|[{}_^&\\, ]", "", text))


def points(text: str) -> float:
    """About how wide mathematics is at 10 points; a fraction as wide as both its parts."""
    lower = "".join(re.findall(r"_\{([^{}]*)\}", text))
    rest = re.sub(r"_\{[^{}]*\}", "", text)
    words = len(re.findall(r"\\(?:sin|cos|min|max)\b|\\operatorname", rest))
    rest = re.sub(r"\\operatorname\{\w*\}", "", rest)
    letters = re.sub(
        r"\\(?:dot|ddot|mathit|frac|begin|end|sin|cos|min|max|text|quad|cdot)\b", "", rest
    )
    letters = re.sub(r"\\[a-zA-Z]+", "x", letters)
    signs = len(re.findall(r" [+-] |=", letters))
    capitals = sum(c.isupper() for c in letters)
    others = sum(c.isalnum() or c in "()[]" for c in letters) - capitals
    below = sum(c.isalnum() for c in lower) * 4 + lower.count(",") * 2
    gaps = text.count(r"\,") * 1.7
    return 8 * capitals + 5.3 * others + 12.5 * signs + 17 * words + below + gaps


def _latin(text: str) -> str:
    return one_line("".join(c if ord(c) < 0x180 else "?" for c in one_line(text)))


def escaped(text: str) -> str:
    """A line of text as LaTeX takes it literally, of the letters that its fonts have."""
    return latex.escaped(_latin(text))


def symbol_of(name: str) -> str:
    """LaTeX for a name: stem, marks and indices. Whatever else the name holds is left out or
    becomes an index; callers see to it that no two symbols are the same."""
    stem, rest = re.match(r"([A-Za-z]*)(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    mark = next((m for m in _MARKS if stem.endswith(m) and stem != m), "")
    stem = stem.removesuffix(mark)
    angle = re.fullmatch(rf"([CS])({'|'.join(_GREEK)})", stem)  # Calpha2, a constant
    if angle:
        return rf"{angle[1]}_{{{symbol_of(angle[2] + rest)}}}"
    symbol = _STEMS.get(stem) or (stem if len(stem) <= 1 else rf"\mathit{{{stem}}}") or "x"
    indices = ",".join(part for part in re.findall(r"[A-Za-z0-9]+", rest) if part)
    upper = f"^{{{_MARKS[mark]}}}" if mark else ""
    if mark and "^" in symbol:
        symbol = f"{{{symbol}}}"
    return f"{symbol}{upper}" + (f"_{{{indices}}}" if indices else "")
