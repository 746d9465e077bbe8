"""Functions of any scalar: exact numbers, floats, NumPy arrays, traced expressions.

A traced expression answers through its method `apply`; everything else is a number or an array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import exact

Scalar = Any
HALF = exact.exact("1/2")  # dividing integers by 2 would leave the exact numbers


def cos_sin(angle: Scalar, offset: Scalar = 0) -> tuple[Scalar, Scalar]:
    """cos and sin of angle + offset; quarter turns in the offset are exact and cost nothing."""
    if not _is_number(angle):
        quarters = _quarter_turns(offset)
        if quarters is None:
            return cos_sin_of(angle + offset)
        c, s = cos_sin_of(angle)
        return ((c, s), (-s, c), (-c, -s), (s, -c))[quarters]
    return cos_sin_of(angle + offset)


def cos_sin_of(x: Scalar) -> tuple[Scalar, Scalar]:
    return function("cos", x), function("sin", x)


def sqrt(x: Scalar) -> Scalar:
    return function("sqrt", x)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1."""
    return function("sign", x)


def function(name: str, *args: Scalar) -> Scalar:
    """A function of the description language applied to scalars of any kind."""
    for arg in args:
        if hasattr(arg, "apply") and name in _PRIMITIVE:
            return arg.apply(name, *args)
    if name in _DERIVED:
        return _DERIVED[name](*args)
    if all(map(_is_number, args)) and name in _EXACT:
        return _EXACT[name](*args)
    numbers = [float(arg) if exact.is_exact(arg) else arg for arg in args]
    value = _NUMPY[name](*numbers)
    return float(value) if all(type(x) is float for x in numbers) else value


def guarded(x: Scalar, least: float, instead: float) -> Scalar:
    """A symbol to be divided by: another value where it is below the least that counts. Numbers and
    arrays are what they are."""
    if hasattr(x, "apply"):
        return x.apply("select", function("abs", x) - least, x, instead)
    return float(x) if _is_number(x) else x


def is_same(x: Scalar, y: Scalar) -> bool:
    """Are two traced expressions one and the same? Numbers and arrays are never asked."""
    return hasattr(x, "apply") and bool(x == y)


def is_zero(x: Scalar) -> bool:
    """The int 0, which folds away; a float or an expression that happens to vanish is none."""
    return isinstance(x, int) and x == 0


def vanishes(x: Scalar) -> bool:
    """A number that is zero, a float too."""
    return is_number(x) and bool(x == 0)


def is_number(x: Scalar) -> bool:
    """Exact or a float, known while deriving."""
    return isinstance(x, int | float | exact.Exact)


def _is_number(x: Scalar) -> bool:
    return isinstance(x, int | exact.Exact)


def _quarter_turns(offset: Scalar) -> int | None:
    """offset as a number of quarter turns, or None when it is not exactly one."""
    if isinstance(offset, int):
        return 0 if offset == 0 else None
    if isinstance(offset, exact.Exact) and not offset.a and (2 * offset.b).denominator == 1:
        return int(2 * offset.b) % 4
    return None


_PRIMITIVE = {"sin", "cos", "sqrt", "abs", "sign", "atan2", "min", "max"}
_EXACT: dict[str, Callable[..., Scalar]] = {
    "sin": exact.sin,
    "cos": exact.cos,
    "sqrt": exact.sqrt,
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "min": min,
    "max": max,
}
_NUMPY: dict[str, Callable[..., Scalar]] = {
    "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "abs": np.abs, "sign": np.sign,
    "atan2": np.arctan2, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
_DERIVED: dict[str, Callable[..., Scalar]] = {
    "tan": lambda x: function("sin", x) / function("cos", x),
    "atan": lambda x: function("atan2", x, 1),
    "asin": lambda x: function("atan2", x, function("sqrt", 1 - x * x)),
    "acos": lambda x: function("atan2", function("sqrt", 1 - x * x), x),
}
FUNCTIONS = frozenset(_PRIMITIVE | set(_DERIVED))
