"""Equations in HTML: one page of MathML, which browsers set without any script.

Every symbol carries the name of the equation that defines it in `data-name`, for a page to find it;
a rounded number carries its exact value in `title`."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..ir.spell import ATOM, PRODUCT, SUM, UNARY, Piece
from .reading import Equation, Reading
from .reading.head import head, title
from .reading.spell import Notation, displays
from .reading.tree import Call, Name, Power, Quotient, Tree

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ",
    "omega": "ω", "w": "ω", "th": "θ", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ",
    "Xi": "Ξ", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
_DOTTED = {"qd": ("q", 1), "qdd": ("q", 2), "wd": ("ω", 1), "Vd": ("V", 1)}
_DOTS = {1: "˙", 2: "¨"}
_MARKS = {"plus": "+", "star": "*"}
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem}}
pre{{color:#555;white-space:pre-wrap}}
h2{{font-size:1.15rem}}h3{{font-size:1rem;margin:1rem 0 .2rem}}
.eq{{overflow-x:auto;overflow-y:hidden;padding:.15rem 0 .15rem 1rem}}math{{font-size:1.05em}}
@media(prefers-color-scheme:dark){{body{{background:#16191d;color:#dfe3e8}}pre{{color:#9aa4af}}}}
</style></head><body>
<h1>{title}</h1>
<pre>{head}</pre>
{body}
</body></html>
"""


# an operator, or a tag with its signs of an end and of being empty, or text
_TOKEN = re.compile(r"<mo[^>]*>([^<]*)</mo>|<(/?)[a-z]+[^>]*?(/?)>|[^<]+")


class Line(NamedTuple):
    """A line of a page: the name that it defines and those it reads, and its markup; a heading
    defines nothing."""

    name: str
    reads: tuple[str, ...]
    markup: str
    equation: Equation | None = None


def symbol(name: str, variable: str = "", dots: int = 0) -> str:
    """MathML for a name: F2_3 is F with the indices 2, 3; or for a variable with dots."""
    stem, rest = re.match(r"([A-Za-z]*)(.*)", variable or name, re.DOTALL).groups()  # type: ignore[union-attr]
    mark = next((m for m in _MARKS if stem.endswith(m) and stem != m), "")
    stem = stem.removesuffix(mark)
    letter, own = _DOTTED.get(stem, (_GREEK.get(stem, stem or "x"), 0))
    text, dots = f"<mi>{html.escape(letter)}</mi>", dots or own
    if dots:
        text = f'<mover accent="true">{text}<mo>{_DOTS[dots]}</mo></mover>'
    indices = ",".join(re.findall(r"[A-Za-z0-9]+", rest))
    lower = f"<mtext>{html.escape(indices)}</mtext>" if indices else ""
    if mark and lower:
        return f"<msubsup>{text}{lower}<mo>{_MARKS[mark]}</mo></msubsup>"
    if mark:
        return f"<msup>{text}<mo>{_MARKS[mark]}</mo></msup>"
    return f"<msub>{text}{lower}</msub>" if lower else text


@dataclass
class MathNotation(Notation):
    """The spellings of MathML; names that would look the same are written out."""

    owners: Mapping[str, str] = field(default_factory=dict)  # symbol -> the equation it is of
    rates: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)

    plus, minus, before = "<mo>+</mo>", "<mo>−</mo>", "<mo>−</mo>"
    open, close = '<mo stretchy="false">(</mo>', '<mo stretchy="false">)</mo>'

    def name(self, name: str) -> str:
        looks = symbol(name, *self.rates.get(name, ()))
        if self.shown.setdefault(looks, name) != name:
            looks = f"<mtext>{html.escape(name)}</mtext>"
        return f'<mrow data-name="{html.escape(self.owners.get(name, name))}">{looks}</mrow>'

    def number(self, value: Any) -> Piece:
        x = self.numeral(value)
        exact = f' title="{x.exact}"' if x.exact else ""
        top = f"<mn{exact}>{x.top}</mn>"
        if x.pi:
            top = "<mi>π</mi>" if x.top == "1" else f"{top}<mi>π</mi>"
        if x.bottom > 1:
            return f"<mfrac><mrow>{top}</mrow><mn>{x.bottom}</mn></mfrac>", ATOM
        if x.exponent:
            return f"{top}<mo>·</mo><msup><mn>10</mn><mn>{x.exponent}</mn></msup>", PRODUCT
        return top, PRODUCT if x.pi and x.top != "1" else ATOM

    def product(self, factors: Sequence[Tree]) -> str:
        gap = '<mspace width="0.17em"/>'
        return gap.join(self.held(self.piece(factor), PRODUCT) for factor in factors)

    def quotient(self, value: Quotient) -> Piece:
        over, under = self.piece(value.over)[0], self.piece(value.under)[0]
        return f"<mfrac><mrow>{over}</mrow><mrow>{under}</mrow></mfrac>", ATOM

    def power(self, value: Power) -> Piece:
        base, n = value.base, f"<mn>{value.n}</mn>"
        if isinstance(base, Call) and base.function in ("sin", "cos"):
            return self._trigonometric(base, f"<msup><mi>{base.function}</mi>{n}</msup>"), UNARY
        return f"<msup><mrow>{self.held(self.piece(base), ATOM)}</mrow>{n}</msup>", UNARY

    def call(self, value: Call) -> Piece:
        if value.function in ("sin", "cos"):
            return self._trigonometric(value, f"<mi>{value.function}</mi>"), UNARY
        arguments = [f"<mrow>{self.text(x)}</mrow>" for x in value.arguments]
        if value.function == "sqrt":
            return f"<msqrt>{arguments[0]}</msqrt>", ATOM
        if value.function == "abs":
            return f"<mrow><mo>|</mo>{arguments[0]}<mo>|</mo></mrow>", ATOM
        if value.function == "select":
            rows = (
                f"<mtr><mtd>{arguments[1]}</mtd><mtd>{arguments[0]}<mo>&gt;</mo><mn>0</mn></mtd></mtr>"
                f"<mtr><mtd>{arguments[2]}</mtd><mtd><mtext>otherwise</mtext></mtd></mtr>"
            )
            return f"<mrow><mo>{{</mo><mtable>{rows}</mtable></mrow>", SUM
        inside = "<mo>,</mo>".join(arguments)
        return f"<mrow><mi>{value.function}</mi>{self.open}{inside}{self.close}</mrow>", ATOM

    def _trigonometric(self, value: Call, function: str) -> str:
        (argument,) = value.arguments
        text = self.text(argument)
        if argument[0] < 0 or not isinstance(argument[1], Name):
            text = f"{self.open}{text}{self.close}"
        return f'<mrow>{function}<mspace width="0.17em"/>{text}</mrow>'


def lines(reading: Reading, breakable: bool = False) -> Iterator[Line]:
    """Headings and equations, in order; breakable: a long sum is several `math` elements, between
    which a browser may break the line."""
    owners = {cell: x.name for x in reading.equations for cell in x.elements}
    notation = MathNotation(owners=owners, rates=reading.rates)
    part = ""
    for section in reading.sections:
        if section.part != part and section.part:
            yield Line("", (), f"<h2>{section.part}</h2>")
        part = section.part
        if section.title:
            yield Line("", (), f"<h3>{section.title}</h3>")
        for equation in section.equations:
            for shown in displays(equation, Notation()):
                if isinstance(shown, str):
                    yield Line("", (), f"<p>{html.escape(shown)}</p>")
                    continue
                reads = tuple(sorted({owners.get(name, name) for name in shown.reads}))
                markup = _markup(shown, notation)
                if breakable and not shown.shape:
                    markup = _broken(markup)
                yield Line(equation.name, reads, markup, shown)


def _markup(equation: Equation, notation: MathNotation) -> str:
    left = notation.name(equation.name)
    cells = ["<mo>·</mo>" if x is None else notation.text(x) for x in equation.cells]
    if not equation.shape:
        return f"<math>{left}<mo>=</mo>{cells[0]}</math>"
    columns = equation.shape[1] if len(equation.shape) == 2 else 1
    if equation.is_symmetric:
        cells = [x if k % columns >= k // columns else "" for k, x in enumerate(cells)]
        cells[len(cells) - columns] = "<mtext>sym.</mtext>"
    cells = [f"<mtd>{x}</mtd>" for x in cells]
    rows = ("".join(cells[k : k + columns]) for k in range(0, len(cells), columns))
    table = "".join(f"<mtr>{row}</mtr>" for row in rows)
    return f"<math>{left}<mo>=</mo><mrow><mo>[</mo><mtable>{table}</mtable><mo>]</mo></mrow></math>"


def _broken(markup: str) -> str:
    """An equation as one `math` element per term."""
    pieces, depth = [""], 0
    for token in re.finditer(_TOKEN, markup.removeprefix("<math>").removesuffix("</math>")):
        operator, ends, empty = token[1], token[2], token[3]
        if operator in ("+", "−") and not depth and not pieces[-1].endswith("<mo>=</mo>"):
            pieces.append("")
        if operator is not None:
            depth += (operator == "(") - (operator == ")")
        elif token[0].startswith("<") and not empty:
            depth += -1 if ends else 1
        infix = operator is not None and len(pieces) > 1 and not pieces[-1]
        pieces[-1] += token[0].replace("<mo>", '<mo form="infix">') if infix else token[0]
    return " ".join(f"<math>{piece}</math>" for piece in pieces)


def document(reading: Reading) -> str:
    """The page: what goes in and out, then the equations in their sections."""
    named = html.escape(title(reading), quote=False)
    above = html.escape("\n".join(head(reading)[3:]))
    body = "\n".join(
        line.markup
        if line.markup.startswith(("<h", "<p"))
        else f'<div class="eq">{line.markup}</div>'
        for line in lines(reading)
    )
    return _PAGE.format(title=named, head=above, body=body)
