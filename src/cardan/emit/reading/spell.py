"""Spelling expressions: what text, LaTeX and MathML share is where parentheses stand, which numbers
are fractions, and which arrays are too wide to be shown as such."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...exact import Exact
from ...ir.spell import ATOM, PRODUCT, SUM, UNARY, Piece
from .structure import ZERO, Equation
from .tree import Call, Name, Number, Power, Product, Quotient, Signed, Sum, Tree

_DIGITS = 6


@dataclass(frozen=True)
class Numeral:
    """A number as it is shown: top / bottom, times pi, times a power of ten; `exact` where it was
    rounded."""

    top: str
    bottom: int = 1
    pi: bool = False
    exponent: int = 0
    exact: str = ""


def numeral(value: Any, digits: int = _DIGITS) -> Numeral:
    """Fractions and multiples of pi where they are short, else so many digits.

    >>> numeral(0.123456789)
    Numeral(top='0.123457', bottom=1, pi=False, exponent=0, exact='0.123456789')"""
    if isinstance(value, Exact) and not (value.a and value.b):
        x = value.b or value.a
        halves = x.denominator in (2, 4, 8, 16)
        recurring = x.denominator <= 1000 and 10**12 % x.denominator
        if (halves or recurring or value.b) and x.numerator < 1000:
            return Numeral(str(x.numerator), x.denominator, bool(value.b))
    if isinstance(value, int) and value < 10**15:
        return Numeral(str(value))
    number = float(value)
    shown = f"{number:.{digits}g}"
    mantissa, _, exponent = shown.partition("e")
    exact = "" if float(shown) == number else repr(number)
    return Numeral(mantissa, exponent=int(exponent or 0), exact=exact)


@dataclass
class Notation:
    """Plain text; others replace the spellings."""

    numbers: dict[tuple[str, int], str] = field(default_factory=dict)  # as shown: the exact value

    plus, minus, before, open, close = " + ", " - ", "-", "(", ")"
    room, line, gap = 84, 66, 2  # widths of an array, of an element of it, and between columns

    def text(self, x: Signed) -> str:
        """A signed value."""
        sign, value = x
        piece = self.piece(value)
        return piece[0] if sign > 0 else self.before + self.held(piece, PRODUCT)

    def width(self, text: str) -> float:
        return len(text)

    def numeral(self, value: Any) -> Numeral:
        """Six digits, or as many as tell it from others that have been shown."""
        for digits in range(_DIGITS, 18):
            x = numeral(value, digits)
            if self.numbers.setdefault((x.top, x.exponent), x.exact) == x.exact:
                break
        return x

    @property
    def rounded(self) -> list[str]:
        """What numbers are exactly that are not shown with all their digits."""
        listed = ((_number(*shown), exact) for shown, exact in self.numbers.items() if exact)
        return [f"{shown} is {exact}" for shown, exact in listed]

    def held(self, piece: Piece, least: int) -> str:
        text, own = piece
        return text if own >= least else f"{self.open}{text}{self.close}"

    def piece(self, value: Tree) -> Piece:
        """The text of a value, and how tightly it binds."""
        if isinstance(value, Name):
            return self.name(value.text), ATOM
        if isinstance(value, Number):
            return self.number(value.value)
        if isinstance(value, Sum):
            return self.sum(value.terms), SUM
        if isinstance(value, Product):
            return self.product(value.factors), PRODUCT
        if isinstance(value, Quotient):
            return self.quotient(value)
        if isinstance(value, Power):
            return self.power(value)
        return self.call(value)

    def sum(self, terms: Sequence[Signed]) -> str:
        (sign, first), *rest = terms
        text = self.text((sign, first))
        for sign, term in rest:
            text += (self.plus if sign > 0 else self.minus) + self.held(self.piece(term), PRODUCT)
        return text

    # what each notation has its own

    def name(self, name: str) -> str:
        return name

    def number(self, value: Any) -> Piece:
        x = self.numeral(value)
        top = _number(x.top, x.exponent)
        if x.pi:
            top = "pi" if x.top == "1" else f"{x.top}*pi"
        if x.bottom > 1:
            return f"{top}/{x.bottom}", PRODUCT
        return top, PRODUCT if "*" in top else ATOM

    def product(self, factors: Sequence[Tree]) -> str:
        return "*".join(self.held(self.piece(factor), PRODUCT) for factor in factors)

    def quotient(self, value: Quotient) -> Piece:
        over = self.held(self.piece(value.over), PRODUCT)
        return f"{over}/{self.held(self.piece(value.under), UNARY)}", PRODUCT

    def power(self, value: Power) -> Piece:
        return f"{self.held(self.piece(value.base), ATOM)}^{value.n}", UNARY

    def call(self, value: Call) -> Piece:
        arguments = [self.text(x) for x in value.arguments]
        if value.function == "select":
            return f"if({arguments[0]} > 0, {arguments[1]}, {arguments[2]})", ATOM
        return f"{value.function}({', '.join(arguments)})", ATOM


def _number(top: str, exponent: int) -> str:
    return f"{top}e{exponent}" if exponent else top


def displays(equation: Equation, notation: Notation) -> Iterator[Equation | str]:
    """The equation, or where it is too wide its long elements one by one, then the array of their
    names where that fits; else a word on the elements that are 0."""
    if not equation.shape or all(x == ZERO for x in equation.cells):
        yield equation if not equation.shape else replace(equation, shape=(), cells=(ZERO,))
        return
    cells, symbols, n = equation.cells, equation.elements, len(equation.cells)
    columns = equation.shape[1] if len(equation.shape) == 2 else 1
    sizes = [1 if x is None else notation.width(notation.text(x)) for x in cells]
    names = [notation.width(notation.name(symbol)) for symbol in symbols]
    half = equation.is_symmetric
    seen = [k for k in range(n) if not half or k % columns >= k // columns]

    def width(limit: float) -> float:
        """Over the columns, the elements that are longer than this called by their names."""
        widest = [0.0] * columns
        for k in seen:
            size = sizes[k] if sizes[k] <= limit else names[k]
            widest[k % columns] = max(widest[k % columns], size + notation.gap)
        return sum(widest)

    limits = sorted({0.0, *(size for size in sizes if size <= notation.line)}, reverse=True)
    limit = next((x for x in limits if width(x) <= notation.room), -1)
    apart = [k for k in seen if sizes[k] > limit]
    array = limit >= 0 and not (columns == 1 and apart) and 2 * cells.count(None) < n
    if not array:
        apart = [k for k in seen if cells[k] not in (None, ZERO)]
    for k in apart:
        if cells[k] != (1, Name(symbols[k])):
            yield Equation(symbols[k], (), (cells[k],), (symbols[k],))
    if array:
        named: dict[int, Signed] = {k: (1, Name(symbols[k])) for k in apart}
        named |= {k % columns * columns + k // columns: x for k, x in named.items() if half}
        yield replace(equation, cells=tuple(named.get(k, x) for k, x in enumerate(cells)))
    elif None not in cells:
        more = f"{equation.name} is symmetric" if half else ""
        zero = f"the other elements of {equation.name} are 0" if ZERO in cells else ""
        if more or zero:
            yield "; ".join(filter(None, (more, zero)))
