"""Exact arithmetic on the numbers of a description, bounded: the too large is refused, not rounded.

Sums, products and quotients of a + b·π stay in that form when they can; π·π cannot, and the caller
keeps the formula. The bounds keep hostile files, as (9^64)^64, from filling the memory.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from ...errors import ExpressionError
from ...exact import Exact, exact, rational_text

__all__ = ["bounded", "fold"]

# of numerators, denominators and results: the largest double
_LARGEST = 17976931348623157 * 10**292


def fold(op: str, x: int | Exact, y: int | Exact) -> int | Exact | None:
    """x op y for op in + - * /, or None when the result is not of the form a + b·π."""
    try:
        if op == "/":
            found = exact(Fraction(x, y)) if isinstance(x, int) and isinstance(y, int) else x / y
        else:
            found = x + y if op == "+" else x - y if op == "-" else x * y
    except ZeroDivisionError:
        raise ExpressionError(f"{x}/{y} divides by zero; the divisor must not be 0") from None
    except OverflowError:
        found = math.inf
    in_ring = not (isinstance(found, float) and (_has_pi(x) or _has_pi(y)))
    return bounded(found) if in_ring else None


def bounded(x: Any) -> int | Exact:
    """x itself, an exact number; refused when it cannot be a double or its text would be huge."""
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
    return abs(x) < _LARGEST and "/" not in rational_text(x)  # 5e-324 is short


def _has_pi(x: int | Exact) -> bool:
    return isinstance(x, Exact) and bool(x.b)
