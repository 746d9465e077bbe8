"""Formulas as text, read by a parser of our own: a robot file must never run as a program.

    sum      = term { ('+' | '-') term }
    term     = factor { ('*' | '/') factor }
    factor   = ('-' | '+') factor | power
    power    = atom [ ('^' | '**') factor ]             right to left; -x^2 is -(x^2)
    atom     = number | name | function '(' sum { ',' sum } ')' | '(' sum ')'

Numbers are exact (0.1 is 1/10), `pi` and `Pi` are π, any other name is a symbol: also E, I, lambda.
Text, nesting, digits and exponents are bounded, so that no file can exhaust time or memory.
"""

from __future__ import annotations

import difflib
import re
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from ...errors import ExpressionError
from ...exact import Exact, exact, pi
from .expression import FUNCTIONS, Expression, Value, apply, bounded, call, symbol

LARGEST_TEXT = 10_000
LARGEST_NESTING = 100
LARGEST_CHAIN = 200  # operations in a row, as in a+a+a+...
LARGEST_DIGITS = 400
POWERS_OF_TEN = range(-330, 309)  # of all doubles

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>\*\*|[-+*/^(),])|(?P<end>\Z)|(?P<other>.))",
    re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Token(NamedTuple):
    """A piece of a formula, and where it starts (from 0)."""

    kind: str
    text: str
    start: int


def parse(text: str) -> Value:
    """The formula that the text spells. Text made by `str` of a value reads back equal."""
    value, rest = read_formula(text)
    if rest.kind != "end":
        _fail(text, rest, "an operator + - * / ^ or the end", "write products with '*'")
    return value


def read_formula(text: str) -> tuple[Value, Token]:
    """The longest formula at the start of the text, and the token that follows it."""
    if len(text) > LARGEST_TEXT:
        raise ExpressionError(
            f"the formula has {len(text)} characters, {LARGEST_TEXT} are allowed; "
            "give parts of it names"
        )
    reader = _Reader(text)
    return reader.sum(0), reader.token


def is_name(text: str) -> bool:
    """Can the text be the name of a symbol?"""
    return bool(_NAME.match(text)) and text not in ("pi", "Pi") and len(text) <= 100


def to_value(x: Any) -> Value:
    """x as a value: a number, or a formula as text. Floats count as the decimals they print as."""
    if isinstance(x, Expression | Exact):
        return x
    if isinstance(x, str):
        return parse(x)
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    if kind in ("i", "u", "f") and getattr(x, "ndim", 1) == 0:
        return _decimal(str(x)) if kind == "f" else bounded(int(x))
    if isinstance(x, int) and not isinstance(x, bool):
        return bounded(x)
    if isinstance(x, float):
        return _decimal(repr(x))
    if isinstance(x, Fraction):
        return bounded(exact(x))
    raise ExpressionError(
        f'{_short(repr(x))} is not a value; numbers and formulas as text are, as "-pi/2 + a"'
    )


def _decimal(text: str) -> Value:
    if not any(digit in text for digit in "0123456789"):
        raise ExpressionError(f"{text} is not a value; numbers must be finite")
    return bounded(exact(Fraction(text)))


class _Reader:
    """Recursive descent over one formula, one token ahead; `nesting` bounds the recursion."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 0
        self.token = Token("", "", 0)
        self.advance()

    def advance(self) -> Token:
        """The current token; the next one becomes current."""
        token = self.token
        match = _TOKEN.match(self.text, self.end)
        assert match is not None  # 'end' or 'other' always match
        kind = match.lastgroup or "end"
        self.end = match.end()
        self.token = Token(kind, match[kind], self.end - len(match[kind]))
        return token

    def sum(self, nesting: int) -> Value:
        value = self.term(nesting)
        while self.token.text in ("+", "-"):
            operator = self.advance()
            value = self.apply(operator, value, self.term(nesting))
        return value

    def term(self, nesting: int) -> Value:
        value = self.factor(nesting)
        while self.token.text in ("*", "/"):
            operator = self.advance()
            value = self.apply(operator, value, self.factor(nesting))
        return value

    def factor(self, nesting: int) -> Value:
        if nesting > LARGEST_NESTING:
            _fail(self.text, self.token, f"at most {LARGEST_NESTING} levels", "give parts names")
        if self.token.text in ("+", "-"):
            operator = self.advance()
            value = self.factor(nesting + 1)
            return -value if operator.text == "-" else value
        value = self.atom(nesting)
        if self.token.text in ("^", "**"):
            operator = self.advance()
            value = self.apply(operator._replace(text="^"), value, self.factor(nesting + 1))
        return value

    def apply(self, operator: Token, *args: Value) -> Value:
        try:
            value = apply(operator.text, *args)
        except ExpressionError as error:
            raise ExpressionError(_place(self.text, operator) + str(error)) from None
        if isinstance(value, Expression) and value.depth > LARGEST_CHAIN:
            _fail(self.text, operator, f"at most {LARGEST_CHAIN} operations", "give parts names")
        return value

    def atom(self, nesting: int) -> Value:
        token = self.advance()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            if self.token.text == "(":
                return self.function(token, nesting)
            return pi if token.text in ("pi", "Pi") else symbol(token.text)
        if token.text == "(":
            value = self.sum(nesting + 1)
            self.expect(")")
            return value
        _fail(self.text, token, "a number, a name, a sign or '('", "complete the formula")

    def number(self, token: Token) -> Value:
        digits, _, power = token.text.lower().partition("e")
        if len(digits) > LARGEST_DIGITS:
            _fail(self.text, token, f"at most {LARGEST_DIGITS} digits", "round the number")
        if len(power.lstrip("+-0")) > 3 or int(power or 0) not in POWERS_OF_TEN:
            _fail(self.text, token, "powers of ten from -330 to 308", "use SI units")
        try:
            return bounded(exact(Fraction(token.text)))
        except (ExpressionError, OverflowError):
            _fail(self.text, token, "numbers up to 1.7e308, 308 digits", "round the number")

    def function(self, token: Token, nesting: int) -> Value:
        arity = FUNCTIONS.get(token.text)
        if arity is None:
            near = difflib.get_close_matches(token.text, FUNCTIONS, n=1)
            hint = f"did you mean {near[0]}?" if near else "write products with '*'"
            _fail(self.text, token, "the functions " + " ".join(FUNCTIONS), hint)
        self.expect("(")
        args = [self.sum(nesting + 1)]
        while self.token.text == ",":
            self.advance()
            args.append(self.sum(nesting + 1))
        self.expect(")")
        if len(args) != arity:
            words = "argument" if arity == 1 else "arguments"
            _fail(self.text, token, f"{arity} {words} of {token.text}", f"{len(args)} were given")
        try:
            return call(token.text, *args)
        except ExpressionError as error:
            raise ExpressionError(_place(self.text, token) + str(error)) from None

    def expect(self, sign: str) -> None:
        if self.token.text != sign:
            _fail(self.text, self.token, f"'{sign}' or an operator", "check the parentheses")
        self.advance()


def _fail(text: str, token: Token, allowed: str, remedy: str) -> NoReturn:
    what = "the end" if token.kind == "end" else repr(_short(token.text))
    raise ExpressionError(f"{_place(text, token)}found {what}; allowed: {allowed}; {remedy}")


def _place(text: str, token: Token) -> str:
    return f"formula {_short(text)!r}, column {token.start + 1}: "


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
