"""Polynomials in the unknown cosines, sines and lengths, over known scalars.

Atoms are C_v, S_v (the cosine and sine of angle v) and r_v (the length v). S_v² is replaced by
1 - C_v² at once, so a polynomial that vanishes by that identity is empty. Coefficients are numbers
or traced expressions. What has no unknown in it is not a `Polynomial` but the coefficient itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ...exact import exact
from ...ir.graph import Expr

Scalar = Any
Monomial = tuple[int, ...]  # atoms in ascending order, repeated for powers
C, S, R = 0, 1, 2


def atom(v: int, kind: int) -> Polynomial:
    """C_v, S_v or r_v."""
    return Polynomial({(4 * v + kind,): 1})


class Many:
    """Stands for a polynomial in more unknowns than any type has: it stays that whatever is done
    to it, and is not written out."""

    __slots__ = ()
    __array_ufunc__ = None

    def __neg__(self) -> Many:
        return self

    def __add__(self, other: Scalar) -> Many:
        return self

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Scalar) -> Scalar:
        return 0 if _is_zero(other) else self

    __rmul__ = __mul__


MANY = Many()
EVERY = frozenset(range(64))
NONE = frozenset[int]()
LIMIT = 3


class Polynomial:
    """A sum of coefficient · monomial; never constant."""

    __slots__ = ("terms", "variables")
    __array_ufunc__ = None

    def __init__(
        self, terms: dict[Monomial, Scalar], variables: frozenset[int] | None = None
    ) -> None:
        self.terms = terms
        if variables is None:
            variables = frozenset([a >> 2 for m in terms for a in m])
        self.variables = variables

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()}, self.variables)

    def __add__(self, other: Scalar) -> Scalar:
        if other is MANY:
            return MANY
        if type(other) is int and other == 0:
            return self
        total = dict(self.terms)
        for m, c in terms(other).items():
            total[m] = _sum(total[m], c) if m in total else c
        return polynomial(total)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return self + (-other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return (-self) + other

    def __mul__(self, other: Scalar) -> Scalar:
        if other is MANY:
            return MANY
        total: dict[Monomial, Scalar] = {}
        if type(other) is not Polynomial:
            if not _is_zero(other):
                total = {m: c * other for m, c in self.terms.items()}
            return polynomial(total)
        if len(self.variables | other.variables) > LIMIT:
            return MANY
        for m, c in self.terms.items():
            for k, d in other.terms.items():
                _accumulate(total, m, k, c * d)
        return polynomial(total)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"Polynomial({self.terms})"


def _accumulate(total: dict[Monomial, Scalar], m: Monomial, k: Monomial, c: Scalar) -> None:
    """Add c · m · k, with S² = 1 - C²."""
    if not m or not k:
        key = m or k
    else:
        squared = next((a for a in m if a & 3 == S and a in k), None)
        if squared is not None:
            left, right = list(m), list(k)
            left.remove(squared)
            right.remove(squared)
            _accumulate(total, tuple(left), tuple(right), c)
            cosines = (squared - 1, squared - 1)
            _accumulate(total, tuple(sorted((*left, *cosines))), tuple(right), -c)
            return
        key = tuple(sorted(m + k))
    total[key] = _sum(total[key], c) if key in total else c


def _sum(a: Scalar, b: Scalar) -> Scalar:
    """a + b, and 2 a for equal expressions."""
    return 2 * a if type(a) is Expr and a == b else a + b


def terms(x: Scalar) -> Mapping[Monomial, Scalar]:
    """The terms of any scalar."""
    if type(x) is Polynomial:
        return x.terms
    return {} if _is_zero(x) else {(): x}


def polynomial(listed: Mapping[Monomial, Scalar]) -> Scalar:
    """The scalar with these terms: a number or expression when no unknown is in it."""
    kept = {m: c for m, c in listed.items() if not _is_zero(c)}
    if not kept:
        return 0
    if len(kept) == 1 and () in kept:
        return kept[()]
    sum_ = Polynomial(kept)
    return MANY if len(sum_.variables) > LIMIT else sum_


def coefficient(x: Scalar, *atoms: int) -> Scalar:
    """The coefficient of the monomial made of these atoms."""
    return terms(x).get(tuple(sorted(atoms)), 0)


def variables(x: Scalar) -> frozenset[int]:
    """The unknowns in a scalar."""
    if type(x) is Polynomial:
        return x.variables
    return EVERY if x is MANY else NONE


def _is_zero(x: Scalar) -> bool:
    return type(x) is not Expr and type(x) is not Polynomial and x == 0


def quotient(a: Scalar, b: Scalar) -> Scalar:
    """a / b, exact for integers."""
    if isinstance(a, int) and isinstance(b, int):
        return exact(Fraction(a, b))
    return a / b
