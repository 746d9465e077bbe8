"""Exact constants a + b·π with rational a, b: the numbers every stage agrees on.

A floating cos(π/2) destroys structural zeros, and 0.1·3 is not 0.3; so lengths and angles stay
exact from the robot file to the printed program. Integers are plain `int` (they are most constants,
and every scalar type understands them); other exact numbers are `Exact`; the rest is `float`.

    π/2 · 2 -> π      cos(π/2) -> 0      sin(π/6) -> 1/2      cos(3/10) -> 0.9553364891... (float)

Mixed with floats, NumPy arrays or expressions an `Exact` behaves as a scalar of that type.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

_ZERO = Fraction(0)
_LARGEST = 2048  # bits; beyond it exact numbers become floats, so that nothing grows without bound


class Exact:
    """The number a + b·π, never an integer (those are `int`)."""

    __slots__ = ("_hash", "a", "b")
    __array_ufunc__ = None  # NumPy arrays leave mixed arithmetic to us

    def __init__(self, a: Fraction, b: Fraction) -> None:
        self.a = a
        self.b = b
        self._hash = hash((a.numerator, a.denominator, b.numerator, b.denominator))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """The number as our parser reads it: 3/4, pi/2, -2*pi/3, 1 + pi, 0.4318."""
        if not self.b:
            return rational_text(self.a)
        sign = "-" if self.b < 0 else ""
        top, bottom = abs(self.b.numerator), self.b.denominator
        text = ("pi" if top == 1 else f"{top}*pi") + (f"/{bottom}" if bottom != 1 else "")
        if not self.a:
            return sign + text
        return f"{rational_text(self.a)} {sign or '+'} {text}"

    def __float__(self) -> float:
        if not self.b:
            return self.a.numerator / self.a.denominator
        return float(self.a) + _times_pi(self.b)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Exact):
            return self._hash == other._hash and self.a == other.a and self.b == other.b
        if isinstance(other, int):
            return False
        if isinstance(other, float):
            return float(self) == other
        return NotImplemented

    def __lt__(self, other: object) -> bool:
        if type(other) is int and not other and not self.b:  # the sign, asked for most
            return self.a.numerator < 0
        return float(self) < float(other)  # type: ignore[arg-type]

    def __le__(self, other: object) -> bool:
        return float(self) <= float(other)  # type: ignore[arg-type]

    def __gt__(self, other: object) -> bool:
        return float(self) > float(other)  # type: ignore[arg-type]

    def __ge__(self, other: object) -> bool:
        return float(self) >= float(other)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return True  # zero is the int 0

    def __neg__(self) -> Exact:
        return Exact(-self.a, -self.b)

    def __pos__(self) -> Exact:
        return self

    def __abs__(self) -> Exact:
        return -self if float(self) < 0 else self

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Exact):
            return exact(self.a + other.a, self.b + other.b if self.b or other.b else _ZERO)
        if isinstance(other, int):
            return exact(self.a + other, self.b) if other else self
        return float(self) + other if _is_numeric(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Exact | int):
            return self + (-other)
        return float(self) - other if _is_numeric(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        if isinstance(other, int):
            return -self + other
        return other - float(self) if _is_numeric(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, int):
            if 0 <= other <= 1:
                return self if other else 0
            return exact(self.a * other, self.b * other if self.b else _ZERO)
        if isinstance(other, Exact):
            if not self.b and not other.b:
                return exact(self.a * other.a)
            if self.b and other.b:
                return float(self) * float(other)  # π² is outside the ring
            return exact(self.a * other.a, self.a * other.b + self.b * other.a)
        return float(self) * other if _is_numeric(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _divide(self, other) if _is_numeric(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return _divide(other, self) if _is_numeric(other) else NotImplemented

    def __pow__(self, n: int) -> Any:
        if not isinstance(n, int):
            return NotImplemented
        result: Any = 1
        for _ in range(abs(n)):
            result = result * self
        return result if n >= 0 else _divide(1, result)


Number = int | Exact | float
pi = Exact(Fraction(0), Fraction(1))


def exact(a: Fraction | int | str, b: Fraction | int = _ZERO) -> Number:
    """The exact number a + b·π in its normal form (an int when it is one)."""
    a = a if type(a) is Fraction else Fraction(a)
    b = b if type(b) is Fraction else Fraction(b)
    sizes = (a.numerator, a.denominator, b.numerator, b.denominator)
    if max(map(int.bit_length, sizes)) > _LARGEST:
        return float(a) + _times_pi(b)
    if not b and a.denominator == 1:
        return a.numerator
    return Exact(a, b)


def is_exact(x: object) -> bool:
    """Is x an exact number (not a float, an array or an expression)?"""
    return isinstance(x, int | Exact) and not isinstance(x, bool)


def cos(x: Number) -> Number:
    """cos of a number, exact at the multiples of π/2 and π/3."""
    if isinstance(x, int):
        return math.cos(x) if x else 1
    return _cos(x) if isinstance(x, Exact) else math.cos(x)


def sin(x: Number) -> Number:
    """sin of a number, exact at the multiples of π/2 and π/6."""
    if isinstance(x, int):
        return math.sin(x) if x else 0
    return _sin(x) if isinstance(x, Exact) else math.sin(x)


@lru_cache(maxsize=1024)
def _cos(x: Exact) -> Number:
    known = None if x.a else _COS_OF_TWELFTHS.get(x.b % 2)
    return math.cos(float(x)) if known is None else known


@lru_cache(maxsize=1024)
def _sin(x: Exact) -> Number:
    known = None if x.a else _COS_OF_TWELFTHS.get((Fraction(1, 2) - x.b) % 2)
    return math.sin(float(x)) if known is None else known


def sqrt(x: Number) -> Number:
    """√x, exact for squares of rationals."""
    if isinstance(x, int | Exact) and (isinstance(x, int) or not x.b) and x >= 0:
        value = Fraction(x) if isinstance(x, int) else x.a
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if top * top == value.numerator and bottom * bottom == value.denominator:
            return exact(Fraction(top, bottom))
    return math.sqrt(float(x))


def rational_text(x: Fraction) -> str:
    """Shortest text that reads back as exactly x: an integer, a decimal, or a quotient."""
    if x.denominator == 1:
        return str(x.numerator)
    twos, fives, rest = 0, 0, x.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 330 or abs(x.numerator) >> 300:
        return f"{x.numerator}/{x.denominator}"
    digits = str(abs(x.numerator) * 10**places // x.denominator).rjust(places + 1, "0")
    sign = "-" if x < 0 else ""
    if places > 6 and digits.strip("0") and len(digits.lstrip("0")) <= places - 5:
        body = digits.lstrip("0")  # small numbers: 1.5e-08
        power = len(body) - 1 - places
        return f"{sign}{body[0]}{'.' + body[1:] if len(body) > 1 else ''}e{power:03d}"
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _divide(x: Any, y: Any) -> Number:
    if isinstance(x, int | Exact) and isinstance(y, int | Exact):
        xa, xb = (Fraction(x), Fraction(0)) if isinstance(x, int) else (x.a, x.b)
        ya, yb = (Fraction(y), Fraction(0)) if isinstance(y, int) else (y.a, y.b)
        if not yb:
            return exact(xa / ya, xb / ya)
        if not xa and not ya:
            return exact(xb / yb)
    if isinstance(x, Exact):
        x = float(x)
    if isinstance(y, Exact):
        y = float(y)
    result: float = x / y
    return result


def _is_numeric(x: object) -> bool:
    # bool, int, float, Exact, NumPy scalars and arrays; expressions answer for themselves
    return isinstance(x, int | float | Exact) or hasattr(x, "__array__")


def _times_pi(b: Fraction) -> float:
    """The double nearest to b·π (a rational π of 200 bits makes the product correctly rounded)."""
    return float(b * _PI_RATIONAL)


_PI_RATIONAL = Fraction(
    31415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170679,
    10**100,
)
_COS_OF_TWELFTHS: dict[Fraction, Number] = {
    Fraction(0): 1,
    Fraction(1, 3): Exact(Fraction(1, 2), Fraction(0)),
    Fraction(1, 2): 0,
    Fraction(2, 3): Exact(Fraction(-1, 2), Fraction(0)),
    Fraction(1): -1,
    Fraction(4, 3): Exact(Fraction(-1, 2), Fraction(0)),
    Fraction(3, 2): 0,
    Fraction(5, 3): Exact(Fraction(1, 2), Fraction(0)),
}
