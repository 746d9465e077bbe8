"""Expressions of xacro, ${...}: a part of Python's, read by a parser of our own.

    choice   = or [ 'if' or 'else' choice ]
    or       = and { 'or' and };  and = not { 'and' not };  not = 'not' not | comparison
    compared = sum { ('<' | '<=' | '==' | '!=' | '>' | '>=' | ['not'] 'in') sum }
    sum, product, power                                     + -, * / // %, **
    postfix  = atom { '.' name | '[' choice ']' | '(' [name '='] choice, ... ')' }
    atom     = number | 'text' | name | '(' ... ')' | '[' ... ']' | '{' key ':' value, ... '}'

Nothing of it is given to Python: only the functions listed here can be called, on numbers, texts,
lists and tables, and sizes are bounded.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ...errors import ExpressionError
from ..xml.source import shown

LARGEST_TEXT = 5_000
LONGEST_VALUE = 100_000  # characters of a text, items of a list
LARGEST_NESTING = 60

Names = Callable[[str], Any]  # the value of a name; KeyError where it has none
_Node = Callable[[Names], Any]
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<text>'[^'\\]*'|\"[^\"\\]*\")|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|//|==|!=|<=|>=|[-+*/%<>=()\[\]{}:,.])|(?P<end>\Z)|(?P<other>.))",
    re.DOTALL,
)
_NAMES = re.compile(r"\s*=(?!=)")  # behind the name of an argument
_CONSTANTS = {"True": True, "False": False, "None": None, "true": True, "false": False}
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip
_MATH = (
    "acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "cosh", "degrees", "exp", "fabs",
    "floor", "fmod", "hypot", "isclose", "log", "log10", "radians", "sin", "sinh", "sqrt", "tan",
    "tanh",
)  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in _MATH},
    "abs": abs, "all": all, "any": any, "bool": bool, "dict": dict, "float": float,
    "int": int, "len": len, "list": list, "max": max, "min": min, "round": round, "sorted": sorted,
    "str": lambda x: _text(x), "sum": sum, "tuple": tuple,
}  # fmt: skip
_NUMBERS = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
_METHODS: dict[type, tuple[str, ...]] = {
    str: ("endswith", "lower", "lstrip", "rstrip", "split", "startswith", "strip", "upper"),
    dict: ("get", "keys", "values"),
}


def evaluated(text: str, names: Names, functions: Mapping[str, Callable[..., Any]]) -> Any:
    """The value of an expression; functions: further ones that it may call, by dotted name."""
    if len(text) > LARGEST_TEXT:
        raise ExpressionError(f"an expression has {len(text)} characters; {LARGEST_TEXT} are read")
    reader = _Reader(text, functions)
    node = reader.choice(0)
    if reader.kind != "end":
        reader.fail("an operator or the end")
    try:
        return node(names)
    except KeyError as error:
        raise ExpressionError(f"'{shown(text)}': '{shown(error.args[0])}' is not defined") from None
    except RecursionError:
        raise ExpressionError(f"'{shown(text)}' has too many operations in a row") from None
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise ExpressionError(f"'{shown(text)}': {error}") from None


class _Reader:
    """Recursive descent, one token ahead, into functions of the names."""

    def __init__(self, text: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.source, self.functions, self.end = text, functions, 0
        self.kind, self.text = "", ""
        self.advance()

    def advance(self) -> str:
        text = self.text
        match = _TOKEN.match(self.source, self.end)
        assert match is not None  # 'end' or 'other' always match
        self.kind = match.lastgroup or "end"
        self.end, self.text = match.end(), match[self.kind]
        return text

    def takes(self, *signs: str) -> str:
        """The sign or word that stands next, if it is one of these."""
        return self.advance() if self.kind in ("sign", "name") and self.text in signs else ""

    def expect(self, sign: str) -> None:
        if not self.takes(sign):
            self.fail(f"'{sign}'")

    def fail(self, wanted: str) -> NoReturn:
        place = f"'{shown(self.text)}'" if self.text else "the end"
        raise ExpressionError(f"'{shown(self.source)}': {place} stands where {wanted} should")

    def choice(self, nesting: int) -> _Node:
        if nesting > LARGEST_NESTING:
            self.fail(f"at most {LARGEST_NESTING} levels")
        value = self.either(nesting)
        if not self.takes("if"):
            return value
        test = self.either(nesting)
        self.expect("else")
        other = self.choice(nesting + 1)
        return lambda names: value(names) if test(names) else other(names)

    def either(self, nesting: int) -> _Node:
        value = self.both(nesting)
        while self.takes("or"):
            value = _or(value, self.both(nesting))
        return value

    def both(self, nesting: int) -> _Node:
        value = self.negated(nesting)
        while self.takes("and"):
            value = _and(value, self.negated(nesting))
        return value

    def negated(self, nesting: int) -> _Node:
        if nesting > LARGEST_NESTING:
            self.fail(f"at most {LARGEST_NESTING} levels")
        if self.takes("not"):
            value = self.negated(nesting + 1)
            return lambda names: not value(names)
        return self.comparison(nesting)

    def comparison(self, nesting: int) -> _Node:
        first = self.sum(nesting)
        parts: list[tuple[str, _Node]] = []
        while sign := self.takes("==", "!=", "<", "<=", ">", ">=", "in", "not"):
            if sign == "not":
                self.expect("in")
                sign = "not in"
            parts.append((sign, self.sum(nesting)))
        return _compared(first, parts) if parts else first

    def sum(self, nesting: int) -> _Node:
        value = self.product(nesting)
        while sign := self.takes("+", "-"):
            value = _binary(sign, value, self.product(nesting))
        return value

    def product(self, nesting: int) -> _Node:
        value = self.signed(nesting)
        while sign := self.takes("*", "/", "//", "%"):
            value = _binary(sign, value, self.signed(nesting))
        return value

    def signed(self, nesting: int) -> _Node:
        if nesting > LARGEST_NESTING:
            self.fail(f"at most {LARGEST_NESTING} levels")
        if sign := self.takes("-", "+"):
            value = self.signed(nesting + 1)
            return (lambda names: -value(names)) if sign == "-" else value
        base = self.postfix(nesting)
        return _binary("**", base, self.signed(nesting + 1)) if self.takes("**") else base

    def postfix(self, nesting: int) -> _Node:
        path = self.text if self.kind == "name" else ""
        value = self.atom(nesting)
        while sign := self.takes(".", "[", "("):
            if sign == ".":
                if self.kind != "name":
                    self.fail("a name")
                path = f"{path}.{self.text}" if path else ""
                value = _attribute(value, self.advance(), path)
            elif sign == "[":
                value = _item(value, self.choice(nesting + 1))
                self.expect("]")
                path = ""
            else:
                value = self.call(value, path, *self.arguments(nesting))
                path = ""
        return value

    def arguments(self, nesting: int) -> tuple[list[_Node], dict[str, _Node]]:
        """What a call gives: values, and values by name."""
        named: dict[str, _Node] = {}
        values: list[_Node] = []
        while not self.takes(")"):
            name = self.text if _NAMES.match(self.source, self.end) and self.kind == "name" else ""
            if name:
                self.advance()
                self.expect("=")
                named[name] = self.choice(nesting + 1)
            else:
                values.append(self.choice(nesting + 1))
            if not self.takes(","):
                self.expect(")")
                break
        return values, named

    def call(
        self, function: _Node, path: str, values: list[_Node], named: dict[str, _Node]
    ) -> _Node:
        """A call of a function by its name, or of a method of a text or a table."""
        plain = path.removeprefix("math.").removeprefix("python.")
        known = self.functions.get(path) or _FUNCTIONS.get(plain)
        if known is not None:
            return lambda names: _bounded(
                known(*(x(names) for x in values), **{key: x(names) for key, x in named.items()})
            )

        def called(names: Names) -> Any:
            method = function(names)
            if not isinstance(method, _Method):
                raise TypeError(f"'{shown(path or 'this')}' is no function that is read")
            return _bounded(method.function(*(x(names) for x in values)))

        return called

    def items(self, close: str, nesting: int) -> list[_Node]:
        items: list[_Node] = []
        while not self.takes(close):
            items.append(self.choice(nesting + 1))
            if not self.takes(","):
                self.expect(close)
                break
        return items

    def atom(self, nesting: int) -> _Node:
        kind, text = self.kind, self.text
        if kind == "number":
            self.advance()
            value: Any = int(text) if text.isdigit() and len(text) < 300 else float(text)
            return lambda names: value
        if kind == "text":
            self.advance()
            return lambda names: text[1:-1]
        if kind == "name" and text not in ("if", "else", "and", "or", "not", "in"):
            self.advance()
            return lambda names: _named(names, text)
        if self.takes("("):
            return self.parenthesis(nesting)
        if self.takes("["):
            items = self.items("]", nesting)
            return lambda names: [x(names) for x in items]
        if self.takes("{"):
            return self.table(nesting)
        self.fail("a number, a text, a name or '('")

    def parenthesis(self, nesting: int) -> _Node:
        """A value in parentheses; with commas, a list of them."""
        if self.takes(")"):
            return lambda names: ()
        first = self.choice(nesting + 1)
        if self.takes(")"):
            return first
        self.expect(",")
        items = [first, *self.items(")", nesting)]
        return lambda names: tuple(x(names) for x in items)

    def table(self, nesting: int) -> _Node:
        pairs: list[tuple[_Node, _Node]] = []
        while not self.takes("}"):
            key = self.choice(nesting + 1)
            self.expect(":")
            pairs.append((key, self.choice(nesting + 1)))
            if not self.takes(","):
                self.expect("}")
                break
        return lambda names: {key(names): value(names) for key, value in pairs}


class _Method:
    """A method of a text or a table, to be called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def _named(names: Names, name: str) -> Any:
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    try:
        return names(name)
    except KeyError:
        if name in _NUMBERS:
            return _NUMBERS[name]
        if name in _FUNCTIONS or name in ("math", "python", "xacro"):
            return None  # a function, which is called by its name
        raise


def _attribute(value: _Node, name: str, path: str) -> _Node:
    def attribute(names: Names) -> Any:
        if path.startswith("math.") and path[5:] in _NUMBERS:
            return _NUMBERS[path[5:]]
        whole = value(names)
        if isinstance(whole, dict) and (name in whole or name not in _METHODS[dict]):
            return whole[name]
        if callable(getattr(whole, "value", None)):  # a namespace
            return whole.value(name)
        for kind, methods in _METHODS.items():
            if isinstance(whole, kind) and name in methods:
                return _Method(getattr(whole, name))
        return None  # of a module: it is called by its whole name

    return attribute


def _item(value: _Node, key: _Node) -> _Node:
    def item(names: Names) -> Any:
        whole = value(names)
        if not isinstance(whole, list | tuple | dict | str):
            raise TypeError(f"{type(whole).__name__} has no items")
        return whole[key(names)]

    return item


def _or(a: _Node, b: _Node) -> _Node:
    return lambda names: a(names) or b(names)


def _and(a: _Node, b: _Node) -> _Node:
    return lambda names: a(names) and b(names)


def _compared(first: _Node, parts: list[tuple[str, _Node]]) -> _Node:
    """a < b < c, as Python has it: each with its neighbour."""

    def compared(names: Names) -> bool:
        left = first(names)
        for sign, node in parts:
            right = node(names)
            if not _COMPARED[sign](left, right):
                return False
            left = right
        return True

    return compared


def _binary(sign: str, a: _Node, b: _Node) -> _Node:
    def binary(names: Names) -> Any:
        return _bounded(_result(sign, a(names), b(names)))

    return binary


def _result(sign: str, x: Any, y: Any) -> Any:
    numbers = isinstance(x, int | float) and isinstance(y, int | float)
    if sign == "+" and (numbers or (type(x) is type(y) and isinstance(x, str | list | tuple))):
        return x + y
    if not numbers:
        raise TypeError(f"'{sign}' is for numbers, not {type(x).__name__} and {type(y).__name__}")
    if sign == "**":
        whole = isinstance(x, int) and isinstance(y, int) and 0 <= y < 64
        return operator.pow(x, y) if whole else math.pow(x, y)
    operators = {
        "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
        "%": operator.mod,
    }  # fmt: skip
    return operators[sign](x, y)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple | dict):
        raise TypeError("a list or a table is no text")
    return str(value)


def _bounded(value: Any) -> Any:
    """A value of a size that a robot file may have."""
    if isinstance(value, complex):
        raise ValueError("the result is not real")
    if isinstance(value, int) and value.bit_length() > 1000:
        raise OverflowError("the number is beyond 1e300")
    if isinstance(value, str | list | tuple) and len(value) > LONGEST_VALUE:
        raise OverflowError(f"more than {LONGEST_VALUE} characters")
    return value
