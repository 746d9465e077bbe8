"""Formulas of a description: exact numbers, symbols, and the operations a robot file may use.

A `Value` is a number (int, Exact) or an `Expression`, a small immutable tree. Expressions can be
computed with (folding constants, nothing more), printed so that they read back equal, substituted,
and evaluated over any scalar: floats, arrays, or the expressions of `ir`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ... import exact
from ...errors import ExpressionError
from ...exact import Exact

# name -> number of arguments; what `evaluate` asks of the scalar's function table
FUNCTIONS = {
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2,
    "sqrt": 1, "abs": 1, "sign": 1, "min": 2, "max": 2,
}  # fmt: skip

LARGEST_DEPTH = 300
LARGEST_EXPONENT = 64


def _operators(op: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """self op other, and other op self. In a formula a float is its shortest decimal."""

    def forward(self: Expression, other: Any) -> Any:
        other = exact.exact(float.__repr__(float(other))) if isinstance(other, float) else other
        return apply(op, self, other) if isinstance(other, _VALUES) else NotImplemented

    def backward(self: Expression, other: Any) -> Any:
        other = exact.exact(float.__repr__(float(other))) if isinstance(other, float) else other
        return apply(op, other, self) if isinstance(other, _VALUES) else NotImplemented

    return forward, backward


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

    __add__, __radd__ = _operators("+")
    __sub__, __rsub__ = _operators("-")
    __mul__, __rmul__ = _operators("*")
    __truediv__, __rtruediv__ = _operators("/")

    def __pow__(self, n: Value) -> Value:
        return power(self, n) if isinstance(n, _VALUES) else NotImplemented

    def __neg__(self) -> Value:
        return self.args[0] if self.op == "neg" else Expression("neg", self)

    def apply(self, function: str, *args: Value) -> Value:
        """A function of values, for algorithms that run on formulas."""
        return call(function, *args)


_VALUES = (int, Exact, Expression)
Value = int | Exact | Expression


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
    value = getattr(exact, function)(x)
    return Expression(function, x) if isinstance(value, float) else value


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
    return _SIGNS[op].value(*args) if op in _SIGNS else call(op, *args)


def evaluate(value: Value, lookup: Callable[[str], Any], function: Callable[..., Any]) -> Any:
    """The formula over any scalar: lookup(name) gives a symbol's, function(name, *args) applies."""
    if not isinstance(value, Expression):
        return value
    if value.op == "symbol":
        return lookup(value.args[0])
    args = [evaluate(arg, lookup, function) for arg in value.args]
    if value.op == "^":
        return _power(args[0], args[1], function)
    return _SIGNS[value.op].scalar(*args) if value.op in _SIGNS else function(value.op, *args)


def number(value: Value) -> float | None:
    """The value as a double, or None when it holds a symbol or has no finite value."""
    if not isinstance(value, Expression):
        return float(value)
    try:
        x = float(evaluate(value, _no_symbol, _float_function))
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    return x if math.isfinite(x) else None


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
    if (sum := fold("+", x, y)) is not None:
        return sum
    if x == 0 or y == 0:
        return y if x == 0 else x
    if _is_negative(y):
        return subtract(x, -y)
    return Expression("+", x, y)


def subtract(x: Value, y: Value) -> Value:
    """x - y"""
    if (difference := fold("-", x, y)) is not None:
        return difference
    if x == y:
        return 0
    if x == 0 or y == 0:
        return -y if x == 0 else x
    if _is_negative(y):
        return add(x, -y)
    return Expression("-", x, y)


def multiply(x: Value, y: Value) -> Value:
    """x·y, with any sign brought to the front."""
    if (product := fold("*", x, y)) is not None:
        return product
    for one, other in ((x, y), (y, x)):
        if one == 0:
            return 0
        if one == 1:
            return other
        if _is_negative(one):
            return -(multiply(-one, y) if one is x else multiply(x, -one))
    return Expression("*", x, y)


def divide(x: Value, y: Value) -> Value:
    """x/y, with any sign brought to the front."""
    if y == 0:
        raise ExpressionError(f"{x}/{y} divides by zero; the divisor must not be 0")
    if (quotient := fold("/", x, y)) is not None:
        return quotient
    if x == 0 or y == 1:
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


def _is_negative(x: Value) -> bool:
    return x.op == "neg" if isinstance(x, Expression) else x < 0


@dataclass(frozen=True)
class _Sign:
    """A sign of formulas: what it does to values and to scalars, how tightly it binds, and how
    tightly what stands on either side of it must, to stand there without parentheses."""

    value: Callable[..., Value]
    scalar: Callable[..., Any]
    text: str
    binds: int
    sides: tuple[int, ...]


_SIGNS = {
    "+": _Sign(add, operator.add, " + ", 1, (1, 2)),
    "-": _Sign(subtract, operator.sub, " - ", 1, (1, 2)),
    "neg": _Sign(operator.neg, operator.neg, "-", 2, (3,)),
    "*": _Sign(multiply, operator.mul, "*", 3, (3, 4)),
    "/": _Sign(divide, operator.truediv, "/", 3, (3, 4)),
    "^": _Sign(power, operator.pow, "^", 5, (6, 6)),
}


def _text(value: Value, outer: int) -> str:
    """The formula as text that reads back equal; parentheses only where precedence needs them."""
    if not isinstance(value, Expression):
        text = str(value)
        sum_or_minus = 1 if " " in text else 2 if text.startswith("-") else 0
        binds = sum_or_minus or (3 if "/" in text or "*" in text else 9)
        return f"({text})" if outer and binds < max(outer, 2) else text
    op, args = value.op, value.args
    if op == "symbol":
        return str(args[0])
    if op not in _SIGNS:
        return f"{op}({', '.join(_text(arg, 0) for arg in args)})"
    sign = _SIGNS[op]
    sides = [_text(arg, side) for arg, side in zip(args, sign.sides, strict=True)]
    text = sign.text.join(sides if op != "neg" else ["", *sides])
    return f"({text})" if sign.binds < outer else text


# exact arithmetic, bounded: the too large is refused, not rounded

# of numerators, denominators and results: the largest double
_LARGEST = 17976931348623157 * 10**292


def fold(op: str, x: Value, y: Value) -> int | Exact | None:
    """x op y for op in + - * /, or None when the result is not a number of the form a + b·π: π·π
    is none, and the caller keeps the formula."""
    if isinstance(x, Expression) or isinstance(y, Expression):
        return None
    try:
        if op == "/" and isinstance(x, int) and isinstance(y, int):
            folded: Any = exact.exact(Fraction(x, y))
        else:
            folded = _SIGNS[op].scalar(x, y)
    except OverflowError:
        folded = math.inf
    has_pi = any(isinstance(z, Exact) and z.b for z in (x, y))
    return None if isinstance(folded, float) and has_pi else bounded(folded)


def bounded(x: Any) -> int | Exact:
    """x itself, an exact number; refused when it cannot be a double or its text would be huge, as
    that of (9^64)^64 in a hostile file."""
    if isinstance(x, int) and abs(x) <= _LARGEST:
        return x
    if isinstance(x, Exact) and _is_short(x.a) and _is_small(x.b) and _is_double(x):
        return x
    raise ExpressionError("a number is too large or too fine: at most 308 digits; use SI units")


def _is_small(x: Fraction) -> bool:
    return max(abs(x.numerator), x.denominator) <= _LARGEST


def _is_double(x: Exact) -> bool:
    try:
        return math.isfinite(float(x))
    except OverflowError:
        return False


def _is_short(x: Fraction) -> bool:
    if _is_small(x):
        return True
    return abs(x) < _LARGEST and "/" not in exact.rational_text(x)  # 5e-324 is short
