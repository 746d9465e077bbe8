"""LaTeX: equations as one reads them, aligned, free to break over pages. F2_3 is F_{2,3}, wd3_1 is
ω̇_{3,1}, Jplus2_11 is J⁺_{2,11}.

The file is a document of its own and can be \\input in another that loads amsmath: it looks whether
a document class is already there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from .. import latex
from ..exact import Exact
from ..ir.spell import ATOM, PRODUCT, SUM, UNARY
from .header import counts, one_line, quoted
from .printer import Printer
from .statements import Spelling, Statement
from .text import Text

if TYPE_CHECKING:
    from ..program import Program

__all__ = ["Latex", "broken", "escaped", "symbol_of", "visible"]

_GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau
upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega""".split()  # noqa: SIM905
_STEMS = {
    "q": "q", "qd": r"\dot{q}", "qdd": r"\ddot{q}", "w": r"\omega", "wd": r"\dot{\omega}",
    "V": "V", "Vd": r"\dot{V}", "Jdqd": r"\dot{J}\dot{q}", "Jinv": "J^{-1}",
    "th": r"\theta", **{name: rf"\{name}" for name in _GREEK},
}  # fmt: skip
_MARKS = {"plus": "+", "star": "*"}
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
"""
_WIDTH = 88  # visible characters of a line
_BLOCK = 40  # equations that are aligned with each other


class Latex(Text):
    """The table for LaTeX."""

    language = "latex"
    longest = 12
    functions: ClassVar[dict[str, str]] = {
        "sin": r"\sin({})", "cos": r"\cos({})", "sqrt": r"\sqrt{{{}}}", "abs": r"\lvert {}\rvert",
        "sign": r"\operatorname{{sign}}({})", "atan2": r"\operatorname{{atan2}}({}, {})",
        "min": r"\min({}, {})", "max": r"\max({}, {})",
        "select": r"\begin{{cases}}{1} & {0} > 0\\{2} & \text{{otherwise}}\end{{cases}}",
    }  # fmt: skip

    def reserve(self) -> None:
        """Names first, as in plain text; then their symbols, no two the same."""
        super().reserve()
        self.tex: dict[str, str] = {}
        self.taken: set[str] = set()
        self.symbols = {k: self.symbol(name) for k, name in self.symbols.items()}
        self.elements = {key: self.symbol(name) for key, name in self.elements.items()}
        self.found = {key: self.symbol(name) for key, name in self.found.items()}
        self.targets = {id: self.symbol(name) for id, name in self.targets.items()}

    def symbol(self, name: str) -> str:
        if name not in self.tex:
            found = symbol_of(name)
            self.tex[name] = found if found not in self.taken else rf"\mathtt{{{escaped(name)}}}"
            self.taken.add(self.tex[name])
        return self.tex[name]

    def name_of(self, id: int, wanted: str) -> str:
        return self.targets[id] if id in self.targets else self.symbol(self.names.claim(wanted))

    def constant(self, value: object) -> Spelling:
        """Decimals where they are exact, else fractions and multiples of π where they are short."""
        if isinstance(value, Exact) and value != float(value):
            text = _fraction(value)
            if text:
                return Spelling(text, ATOM)
        mantissa, _, exponent = self.number(float(value)).partition("e")  # type: ignore[arg-type]
        if exponent:
            return Spelling(rf"{mantissa} \cdot 10^{{{int(exponent)}}}", PRODUCT)
        return Spelling(mantissa, ATOM)

    def operation(self, op: str, args: list[Spelling]) -> Spelling:
        reads = frozenset().union(*(arg.reads for arg in args))
        if op == "div":
            return Spelling(rf"\frac{{{args[0].text}}}{{{args[1].text}}}", ATOM, reads)
        if op == "mul" and args[0] == args[1]:
            base = args[0].text
            plain = args[0].precedence == ATOM and "^" not in base
            return Spelling(f"{base if plain else f'({base})'}^{{2}}", UNARY, reads)
        if op == "mul":
            left, right = (x.text if x.precedence >= PRODUCT else f"({x.text})" for x in args)
            dot = r"\cdot " if right[0].isdigit() or right.startswith(r"\frac") else r"\,"
            return Spelling(f"{left}{dot}{right}", PRODUCT, reads)
        if op == "select":
            return Spelling(super().operation(op, args).text, SUM, reads)
        return super().operation(op, args)

    @classmethod
    def file(cls, program: Program, printers: Sequence[Printer]) -> str:
        lines = [*cls.summary(program, printers)]
        for printer in printers:
            lines += printer.text()
        return "\n".join(line.rstrip() for line in [*lines, *cls.closing(printers), ""])

    @classmethod
    def summary(cls, program: Program, printers: Sequence[Printer]) -> list[str]:
        """The opening, and what goes in and out as lists."""
        from .header import header

        lines = [f"% {_latin(line)}" for line in header(program, printers)]
        lines += [
            _OPEN,
            rf"\section*{{{escaped(program.model)} of {escaped(quoted(program.robot))}}}",
        ]
        for printer in printers:
            meaning = {**program.meaning, **printer.program.meaning}
            for title, shapes in (
                ("Inputs", printer.program.inputs),
                ("Outputs", printer.program.outputs),
            ):
                lines.append(rf"\paragraph{{{title}}}\raggedright")
                for name, shape in shapes.items():
                    size = r" \times ".join(map(str, shape))
                    note = escaped(meaning.get(name, ""))
                    lines.append(
                        rf"${symbol_of(name)}$ ({f'${size}$' if size else 'scalar'}) {note};"
                    )
        if program.parameters:
            names = ", ".join(f"${symbol}$" for symbol in printers[-1].symbols.values())
            lines.append(rf"\paragraph{{Parameters, in the order of $p$}}{names}.")
        head, *more = (line.strip().split(": ") for line in counts(program))
        words = "; ".join([head[1], *(": ".join(line) for line in more)])
        return [*lines, rf"\paragraph{{{head[0].capitalize()}}}{words}.", ""]

    @classmethod
    def closing(cls, printers: Sequence[Printer]) -> list[str]:
        return [r"\cardanend"]

    def text(self) -> list[str]:
        statements = self.parts[0][0].statements
        lines = [rf"\subsection*{{{escaped(self.program.model)}}}", r"\allowdisplaybreaks"]
        for i in range(0, len(statements), _BLOCK):
            lines += [r"\begin{align*}", *equations(statements[i : i + _BLOCK]), r"\end{align*}"]
        return lines


def equations(statements: Sequence[Statement]) -> list[str]:
    """Rows of an aligned environment."""
    rows = [row for s in statements for row in broken(f"{s.name} &= {s.value}")]
    return [rf"{row} \\" for row in rows[:-1]] + rows[-1:]


def broken(text: str, width: int = _WIDTH) -> list[str]:
    """An equation in lines that fit a page, broken before a + or - outside braces."""
    rows, row, depth = [], "", 0
    for piece in re.split(r"(?= [+-] | = )", text):
        if row and not depth and visible(row) + visible(piece) > width:
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


def _fraction(value: Exact) -> str:
    """p/q or a multiple of π, positive; nothing if it is neither or long."""
    if value.a and value.b:
        return ""
    x: Fraction = value.b or value.a
    if x.denominator > 1000 or (not value.b and 10**12 % x.denominator == 0):
        return ""
    top = str(x.numerator) if not value.b else r"\pi" if x.numerator == 1 else rf"{x.numerator}\pi"
    return top if x.denominator == 1 else rf"\frac{{{top}}}{{{x.denominator}}}"


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
    symbol = _STEMS.get(stem) or (stem if len(stem) <= 1 else rf"\mathit{{{stem}}}") or "x"
    indices = ",".join(part for part in re.findall(r"[A-Za-z0-9]+", rest) if part)
    upper = f"^{{{_MARKS[mark]}}}" if mark else ""
    if mark and "^" in symbol:
        symbol = f"{{{symbol}}}"
    return f"{symbol}{upper}" + (f"_{{{indices}}}" if indices else "")
