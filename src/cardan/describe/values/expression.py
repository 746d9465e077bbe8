"""Formulas of a description: exact numbers, symbols, and the operations a robot file may use.

A `Value` is a number (int, Exact) or an `Expression`, a small immutable tree. Expressions can be
computed with (folding constants, nothing more), printed so that they read back equal, substituted,
and evaluated over any scalar: floats, arrays, or the expressions of `ir`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ... import exact
from ...errors import ExpressionError
from ...exact import Exact
from .numeral import fold

__all__ = [
    "FUNCTIONS",
    "Expression",
    "Value",
    "add",
    "call",
    "divide",
    "evaluate",
    "multiply",
    "number",
    "power",
    "substitute",
    "subtract",
    "symbol",
    "symbols",
]

# name -> number of arguments; what `evaluate` asks of the scalar's function table
FUNCTIONS = {
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sqrt": 1, "abs": 1, "sign": 1, "min": 2, "max": 2,
}  # fmt: skip

LARGEST_DEPTH = 300
LARGEST_EXPONENT = 64

_PRECEDENCE = {"+": 1, "-": 1, "neg": 2, "*": 3, "/": 3, "^": 5}


class Expression:
    """A formula: op is 'symbol', '+', '-', '*', '/', '^', 'neg' or a function name."""

    __slots__ = ("_hash", "args", "depth", "op")
    op: str
    args: tuple[Any, ...]
    _hash: int
    depth: int  # bounded, so that printing and comparing cannot exhaust the stack

    def __init__(self, op: str, *args: Any) -> None:
        object.__setattr__(self, "op", op)
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "_hash", hash((op, args)))
        depth = 1 + max((arg.depth for arg in args if isinstance(arg, Expression)), default=0)
        object.__setattr__(self, "depth", depth)
        if depth > LARGEST_DEPTH:
            raise ExpressionError(
                f"a formula nests more than {LARGEST_DEPTH} operations; give a part of it a name"
            )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("expressions are immutable")

    def __reduce__(self) -> tuple[object, ...]:
        return Expression, (self.op, *self.args)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return False
        return self._hash == other._hash and self.op == other.op and self.args == other.args

    def __hash__(self) -> int:
        return self._hash

    def __bool__(self) -> bool:
        raise TypeError("the truth of a formula is not known; compare with 0 by ==")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return _text(self, 0)

    def __add__(self, other: Value | float) -> Value:
        return add(self, _exact(other)) if isinstance(other, _OPERANDS) else NotImplemented

    def __radd__(self, other: Value | float) -> Value:
        return add(_exact(other), self) if isinstance(other, _OPERANDS) else NotImplemented

    def __sub__(self, other: Value | float) -> Value:
        return subtract(self, _exact(other)) if isinstance(other, _OPERANDS) else NotImplemented

    def __rsub__(self, other: Value | float) -> Value:
        return subtract(_exact(other), self) if isinstance(other, _OPERANDS) else NotImplemented

    def __mul__(self, other: Value | float) -> Value:
        return multiply(self, _exact(other)) if isinstance(other, _OPERANDS) else NotImplemented

    def __rmul__(self, other: Value | float) -> Value:
        return multiply(_exact(other), self) if isinstance(other, _OPERANDS) else NotImplemented

    def __truediv__(self, other: Value | float) -> Value:
        return divide(self, _exact(other)) if isinstance(other, _OPERANDS) else NotImplemented

    def __rtruediv__(self, other: Value | float) -> Value:
        return divide(_exact(other), self) if isinstance(other, _OPERANDS) else NotImplemented

    def __pow__(self, n: Value) -> Value:
        return power(self, n) if isinstance(n, _VALUES) else NotImplemented

    def __neg__(self) -> Value:
        return self.args[0] if self.op == "neg" else Expression("neg", self)

    def apply(self, function: str, *args: Value) -> Value:
        """A function of values, for algorithms that run on formulas."""
        return call(function, *args)


_VALUES = (int, Exact, Expression)
_OPERANDS = (*_VALUES, float)
Value = int | Exact | Expression


def _exact(x: Value | float) -> Value:
    """A float in a formula is its shortest decimal, exactly."""
    if not isinstance(x, float):
        return x
    found = exact.exact(float.__repr__(float(x)))
    assert not isinstance(found, float)
    return found


def symbol(name: str) -> Expression:
    """The symbol of that name."""
    return Expression("symbol", name)


def call(function: str, *args: Value) -> Value:
    """A function of FUNCTIONS applied to values; sin, cos and sqrt fold where they are exact."""
    x = args[0]
    if isinstance(x, Expression) or function not in ("sin", "cos", "sqrt", "asin", "acos"):
        return Expression(function, *args)
    if function == "sqrt" and x < 0:
        raise ExpressionError(f"sqrt({x}) is not real; change the sign under the root")
    if function in ("asin", "acos"):
        if abs(float(x)) > 1:
            raise ExpressionError(f"{function}({x}) is not real; it takes -1 to 1")
        return Expression(function, x)
    found = getattr(exact, function)(x)
    return Expression(function, x) if isinstance(found, float) else found


def walk(value: Value) -> Iterator[Expression]:
    """Every node of a formula, parents first."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, Expression):
            yield node
            if node.op != "symbol":
                stack.extend(reversed(node.args))


def symbols(value: Value) -> tuple[str, ...]:
    """Names of the symbols in a formula, in order of appearance."""
    return tuple(dict.fromkeys(node.args[0] for node in walk(value) if node.op == "symbol"))


def substitute(value: Value, values: Mapping[str, Value]) -> Value:
    """The formula with symbols replaced; what becomes a number is folded exactly."""
    if not isinstance(value, Expression):
        return value
    if value.op == "symbol":
        return values.get(value.args[0], value)
    return apply(value.op, *(substitute(arg, values) for arg in value.args))


def apply(op: str, *args: Value) -> Value:
    """The operation or function named op, on values."""
    return _OPERATIONS[op](*args) if op in _OPERATIONS else call(op, *args)


def evaluate(value: Value, lookup: Callable[[str], Any], function: Callable[..., Any]) -> Any:
    """The formula over any scalar: lookup(name) gives a symbol's, function(name, *args) applies."""
    if not isinstance(value, Expression):
        return value
    if value.op == "symbol":
        return lookup(value.args[0])
    args = [evaluate(arg, lookup, function) for arg in value.args]
    if value.op == "neg":
        return -args[0]
    if value.op == "+":
        return args[0] + args[1]
    if value.op == "-":
        return args[0] - args[1]
    if value.op == "*":
        return args[0] * args[1]
    if value.op == "/":
        return args[0] / args[1]
    if value.op == "^":
        return _power(args[0], args[1], function)
    return function(value.op, *args)


def number(value: Value) -> float | None:
    """The value as a double, or None when it holds a symbol or has no finite value."""
    if not isinstance(value, Expression):
        return float(value)
    try:
        found = float(evaluate(value, _no_symbol, _float_function))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return found if math.isfinite(found) else None


def _no_symbol(name: str) -> float:
    raise ValueError(f"{name} has no value")


def _float_function(name: str, *args: Any) -> float:
    floats = [float(arg) for arg in args]
    if name == "sign":
        return float((floats[0] > 0) - (floats[0] < 0))
    if name in ("abs", "min", "max"):
        return {"abs": abs, "min": min, "max": max}[name](*floats)  # type: ignore[operator,no-any-return]
    return getattr(math, name)(*floats)  # type: ignore[no-any-return]


def _power(base: Any, n: Any, function: Callable[..., Any]) -> Any:
    """base^n for the exponents the parser lets through: integers and halves."""
    if isinstance(n, Exact):
        return _power(function("sqrt", base), n.a.numerator, function)
    if n < 0:
        return 1 / _power(base, -n, function)
    result: Any = 1
    for _ in range(n):
        result = result * base
    return result


def add(x: Value, y: Value) -> Value:
    """x + y"""
    if not isinstance(x, Expression) and not isinstance(y, Expression):
        found = fold("+", x, y)
        return Expression("+", x, y) if found is None else found
    if _is_number(x) and x == 0:
        return y
    if _is_number(y) and y == 0:
        return x
    if isinstance(y, Expression) and y.op == "neg":
        return subtract(x, y.args[0])
    if not isinstance(y, Expression) and y < 0:
        return Expression("-", x, -y)
    return Expression("+", x, y)


def subtract(x: Value, y: Value) -> Value:
    """x - y"""
    if not isinstance(x, Expression) and not isinstance(y, Expression):
        found = fold("-", x, y)
        return Expression("-", x, y) if found is None else found
    if _is_number(y) and y == 0:
        return x
    if x == y:
        return 0
    if _is_number(x) and x == 0:
        return -y
    if isinstance(y, Expression) and y.op == "neg":
        return add(x, y.args[0])
    if not isinstance(y, Expression) and y < 0:
        return Expression("+", x, -y)
    return Expression("-", x, y)


def multiply(x: Value, y: Value) -> Value:
    """x·y, with any sign brought to the front."""
    if not isinstance(x, Expression) and not isinstance(y, Expression):
        found = fold("*", x, y)
        if found is not None:
            return found
    for one, other in ((x, y), (y, x)):
        if _is_number(one) and one == 0:
            return 0
        if _is_number(one) and one == 1:
            return other
        if _is_negative(one):
            return -(multiply(-one, y) if one is x else multiply(x, -one))
    return Expression("*", x, y)


def divide(x: Value, y: Value) -> Value:
    """x/y, with any sign brought to the front."""
    if _is_number(y) and y == 0:
        raise ExpressionError(f"{x}/{y} divides by zero; the divisor must not be 0")
    if _is_number(x) and x == 0:
        return 0
    if not isinstance(x, Expression) and not isinstance(y, Expression):
        found = fold("/", x, y)
        if found is not None:
            return found
    if _is_number(y) and y == 1:
        return x
    if _is_negative(x):
        return -divide(-x, y)
    if _is_negative(y):
        return -divide(x, -y)
    return Expression("/", x, y)


def power(x: Value, n: Value) -> Value:
    """x^n for integers and halves n."""
    if isinstance(n, Expression) or not _is_exponent(n):
        raise ExpressionError(
            f"exponent {n} is not allowed: integers and halves from -{LARGEST_EXPONENT} to "
            f"{LARGEST_EXPONENT} are; write sqrt() or a product"
        )
    if n == 0 or n == 1:
        return x if n == 1 else 1
    if isinstance(x, Expression) or (isinstance(x, Exact) and x.b):
        return Expression("^", x, n)
    if isinstance(n, Exact):
        root = call("sqrt", x)
        return Expression("^", x, n) if isinstance(root, Expression) else power(root, n * 2)
    if n < 0:
        return divide(1, power(x, -n))
    result: Value = 1
    for _ in range(n):
        result = multiply(result, x)
    return result


def _is_exponent(n: int | Exact) -> bool:
    half = isinstance(n, Exact) and not n.b and n.a.denominator == 2
    return (half or isinstance(n, int)) and -LARGEST_EXPONENT <= n <= LARGEST_EXPONENT


def _is_number(x: Value) -> bool:
    return not isinstance(x, Expression)


def _is_negative(x: Value) -> bool:
    return x.op == "neg" if isinstance(x, Expression) else x < 0


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "+": add, "-": subtract, "*": multiply, "/": divide, "^": power, "neg": lambda x: -x,
}  # fmt: skip


def _text(value: Value, outer: int) -> str:
    """The formula as text that reads back equal; parentheses only where precedence needs them."""
    if not isinstance(value, Expression):
        text = str(value)
        weight = (
            1
            if " " in text
            else 2
            if text.startswith("-")
            else 3
            if "/" in text or "*" in text
            else 9
        )
        return f"({text})" if weight < max(outer, 2) and outer else text
    op, args = value.op, value.args
    if op == "symbol":
        return str(args[0])
    if op not in _PRECEDENCE:
        return f"{op}({', '.join(_text(arg, 0) for arg in args)})"
    weight = _PRECEDENCE[op]
    if op == "neg":
        text = "-" + _text(args[0], 3)
    elif op == "^":
        text = _text(args[0], 6) + "^" + _text(args[1], 6)
    elif op in "+-":
        text = f"{_text(args[0], 1)} {op} {_text(args[1], 2)}"
    else:
        text = f"{_text(args[0], 3)}{op}{_text(args[1], 4)}"
    return f"({text})" if weight < outer else text
