"""Formulas as sums of products: equal polynomials become equal, and read well.

    ZZ2 + 2*(D3*(D3*((M3 + M4)/2)))   ->   ZZ2 + D3^2*(M3 + M4)

Terms that share everything but one factor among `linear` (inertial parameters) are gathered
around the rest.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Any

from ...errors import ExpressionError
from ...exact import Exact, exact
from .expression import Expression, Value, add, multiply, power, subtract

Monomial = tuple[tuple[Any, int], ...]  # (atom, power), in order of first appearance
_LARGEST = 2000  # terms; beyond it the formula is left as it is


def collected(value: Value, linear: Collection[str] = (), digits: int = 0) -> Value:
    """The formula multiplied out, with like terms joined and gathered; digits: of coefficients
    that are floats; those that vanish beside the largest are left out."""
    try:
        terms = _terms(value)
        return _gathered(_rounded(terms, digits) if digits else terms, linear)
    except (OverflowError, ExpressionError):  # too many terms, or a sum of them nests too deeply
        return value


def _rounded(terms: dict[Monomial, Any], digits: int) -> dict[Monomial, Any]:
    """The terms with long decimals, which are floats, of so many digits."""
    least = 10.0 ** (1 - digits) * max((abs(float(c)) for c in terms.values()), default=0.0)
    whole = dict[Monomial, Any]()
    for monomial, c in terms.items():
        long = isinstance(c, Exact) and not c.b and c.a.denominator >= 10**digits
        if not (long or isinstance(c, float)):
            whole[monomial] = c
        elif abs(c) > least:
            whole[monomial] = exact(f"{float(c):.{digits}g}")
    return whole


def _gathered(terms: dict[Monomial, Any], linear: Collection[str]) -> Value:
    groups: dict[Monomial, list[tuple[Any, Value]]] = {}
    for monomial, coefficient in terms.items():
        factor = next((a for a, n in monomial if n == 1 and _name(a) in linear), None)
        rest = tuple(item for item in monomial if item[0] is not factor)
        groups.setdefault(rest, []).append((coefficient, 1 if factor is None else factor))
    total: Value = 0
    for rest, parts in groups.items():
        common = parts[0][0] if len({abs(c) for c, _ in parts}) == 1 else 1
        inner: Value = 0
        for coefficient, factor in parts:
            if common != 1:  # all sizes are equal: only the sign is left
                coefficient = 1 if coefficient == common else -1
            inner = _plus(inner, coefficient, factor)
        total = _plus(total, common, multiply(_product(rest), inner))
    return total


def _name(atom: Any) -> str:
    return atom.args[0] if isinstance(atom, Expression) and atom.op == "symbol" else ""


def _plus(total: Value, coefficient: Any, factor: Value) -> Value:
    if coefficient < 0:
        return subtract(total, multiply(-coefficient, factor))
    return add(total, multiply(coefficient, factor))


def _product(monomial: Monomial) -> Value:
    result: Value = 1
    for atom, n in monomial:
        result = multiply(result, power(atom, n))
    return result


def _terms(value: Value) -> dict[Monomial, Any]:
    """Monomial -> coefficient; what is not a polynomial is an atom."""
    if not isinstance(value, Expression):
        return {(): value} if value != 0 else {}
    op, args = value.op, value.args
    if op == "neg":
        return {m: -c for m, c in _terms(args[0]).items()}
    if op in ("+", "-"):
        total = dict(_terms(args[0]))
        for m, c in _terms(args[1]).items():
            coefficient = total.get(m, 0) + (c if op == "+" else -c)
            if coefficient == 0:
                del total[m]
            else:
                total[m] = coefficient
        return total
    if op == "*":
        return _multiplied(_terms(args[0]), _terms(args[1]))
    if op == "/" and not isinstance(args[1], Expression):
        inverse = exact(Fraction(1, args[1])) if isinstance(args[1], int) else 1 / args[1]
        return {m: c * inverse for m, c in _terms(args[0]).items()}
    if op == "^" and isinstance(args[1], int) and 0 < args[1] <= 8:
        result: dict[Monomial, Any] = {(): 1}
        for _ in range(args[1]):
            result = _multiplied(result, _terms(args[0]))
        return result
    return {((value, 1),): 1}


def _multiplied(x: dict[Monomial, Any], y: dict[Monomial, Any]) -> dict[Monomial, Any]:
    if len(x) * len(y) > _LARGEST:
        raise OverflowError
    total: dict[Monomial, Any] = {}
    for m, c in x.items():
        for n, d in y.items():
            powers = dict(m)
            for atom, k in n:
                powers[atom] = powers.get(atom, 0) + k
            key = tuple(sorted(powers.items(), key=lambda item: str(item[0])))
            total[key] = total.get(key, 0) + c * d
    return {m: c for m, c in total.items() if c != 0}
