"""Quantities with a unit, as people write them ("90 deg", "431.8 mm"), turned into exact SI values.

A unit may follow a number, never a formula with symbols: in "a + 5 mm" nobody knows the unit of a.
Every unit carries its dimension, so that an angle given as a length is a fault, not a wrong robot.
"""

from __future__ import annotations

import re
from fractions import Fraction

from ...errors import ExpressionError, UnknownNameError
from ...exact import pi
from .expression import Value, divide, multiply, power, symbols
from .parser import read_formula, to_value

Dimension = tuple[int, ...]  # exponents of metre, kilogram, second; angles have none


def _part(top: int, bottom: int) -> Value:
    return to_value(Fraction(top, bottom))


_ANGLE, _LENGTH, _MASS, _TIME, _FORCE = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, -2)
UNITS: dict[str, tuple[Value, Dimension]] = {
    "rad": (1, _ANGLE),
    "deg": (to_value(pi / 180), _ANGLE),
    "turn": (to_value(pi * 2), _ANGLE),
    "m": (1, _LENGTH),
    "cm": (_part(1, 100), _LENGTH),
    "mm": (_part(1, 1000), _LENGTH),
    "um": (_part(1, 10**6), _LENGTH),
    "inch": (_part(254, 10**4), _LENGTH),
    "ft": (_part(3048, 10**4), _LENGTH),
    "kg": (1, _MASS),
    "g": (_part(1, 1000), _MASS),
    "lb": (_part(45359237, 10**8), _MASS),
    "s": (1, _TIME),
    "ms": (_part(1, 1000), _TIME),
    "N": (1, _FORCE),
    "kN": (1000, _FORCE),
    "mN": (_part(1, 1000), _FORCE),
    "Nm": (1, (2, 1, -2)),
    "rpm": (to_value(pi / 30), (0, 0, -1)),
}

_FACTOR = re.compile(r"\s*([*/.]?)\s*([A-Za-z]+)(?:(?:\^|\*\*)?(-?[0-9]))?(?![0-9])")


def parse_quantity(text: str, expected: str = "") -> Value:
    """The exact SI value of a formula with an optional unit; `expected` as in "m or rad"."""
    value, rest = read_formula(text)
    if rest.kind == "end":
        return value
    tail = text[rest.start :]
    if rest.kind != "name":
        raise ExpressionError(
            f"{text[:60]!r}, column {rest.start + 1}: found {tail[:20]!r}; allowed: an operator, a "
            "unit as mm, or the end"
        )
    if symbols(value):
        raise ExpressionError(
            f"{text[:60]!r}: a unit follows a number only; write formulas in SI units, products "
            "with '*'"
        )
    factor, dimension = _unit(tail)
    allowed = [_unit(unit)[1] for unit in expected.split(" or ") if unit]
    if allowed and dimension not in allowed:
        raise ExpressionError(f"{text[:60]!r} has the wrong unit; allowed: {expected} and its kin")
    return multiply(value, factor)


def _unit(text: str) -> tuple[Value, Dimension]:
    """Factor to SI and dimension of a unit as kg*m^2, N*m*s/rad, deg/s."""
    factor: Value = 1
    dimension: Dimension = (0, 0, 0)
    at = 0
    while text[at:].strip():
        match = _FACTOR.match(text, at)
        if match is None or (at == 0 and match[1]) or match[2] not in UNITS:
            raise ExpressionError(
                str(UnknownNameError.of("unit", text[at:].strip()[:30], UNITS))
                + "; write compound units as kg*m^2"
            )
        scale, kind = UNITS[match[2]]
        n = int(match[3] or 1)
        factor = (divide if match[1] == "/" else multiply)(factor, power(scale, n))
        sign = -n if match[1] == "/" else n
        dimension = tuple(have + sign * more for have, more in zip(dimension, kind, strict=True))
        at = match.end()
    return factor, dimension
