"""Polynomials in lengths and in exp(i angle), with exact coefficients: a ring with unique factors.

    cos a = (z + 1/z)/2,   sin a = (z - 1/z)/(2 i),   z = exp(i a)

In cosines and sines c² = (1 - s)(1 + s) has two factorisations; in z every polynomial has one, up
to units, so that common factors exist and are found by Euclid's algorithm. Sums of angles are
products of z: a factor in sin(a + b) is one in the direction (1, 1) of the exponents.

A variable of the ring has two exponents: of itself, and of exp(i itself). Coefficients are pairs of
fractions, real and imaginary part. Floats are taken as the fractions that they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import prod
from operator import add, sub
from typing import Any

import numpy as np

from .. import exact

Scalar = Any
Exponents = tuple[int, ...]
Gauss = tuple[Fraction, Fraction]
Terms = dict[Exponents, Gauss]
ZERO, ONE = Fraction(0), Fraction(1)
_NOISE = 1e-13  # of the largest coefficient
_LARGEST = 1200  # terms: beyond it nobody reads a formula


class TooLarge(Exception):
    """What is no such polynomial, or one of too many terms."""


def _times(x: Gauss, y: Gauss) -> Gauss:
    if not x[1] and not y[1]:
        return x[0] * y[0], ZERO
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def _over(x: Gauss, y: Gauss) -> Gauss:
    norm = y[0] * y[0] + y[1] * y[1]
    return _times(x, (y[0] / norm, -y[1] / norm))


def bounded(terms: Terms) -> Terms:
    """The terms, where they are few enough."""
    if len(terms) > _LARGEST:
        raise TooLarge
    return terms


class Ring:
    """The variables; `inexact`: a float is among the coefficients."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.inexact = False

    def symbol(self, name: str) -> Laurent:
        """The variable of that name."""
        return Laurent(self, {self._unit(self.names.index(name)): (ONE, ZERO)})

    def exponential(self, direction: Mapping[str, int], phase: Gauss = (ONE, ZERO)) -> Laurent:
        """phase · exp(i (sum of multiples of the variables))."""
        n = len(self.names)
        powers = [0] * (2 * n)
        for name, k in direction.items():
            powers[n + self.names.index(name)] = k
        return Laurent(self, {tuple(powers): phase})

    def constant(self, x: Scalar) -> Gauss:
        """A number as a coefficient."""
        if isinstance(x, exact.Exact) and not x.b:
            return Fraction(x.a), ZERO
        if isinstance(x, float | exact.Exact):
            self.inexact = True
            return Fraction(float(x)), ZERO
        return Fraction(x), ZERO

    def phase(self, angle: float) -> Gauss:
        """exp(i angle) as a coefficient."""
        if not angle:
            return ONE, ZERO
        self.inexact = True
        return Fraction(float(np.cos(angle))), Fraction(float(np.sin(angle)))

    def _unit(self, k: int) -> Exponents:
        return tuple(int(i == k) for i in range(2 * len(self.names)))

    @property
    def none(self) -> Exponents:
        return (0,) * (2 * len(self.names))


class Laurent:
    """Σ coefficient · variables^k · exp(i m·variables); what has no term is the int 0."""

    __slots__ = ("ring", "terms")
    __array_ufunc__ = None

    def __init__(self, ring: Ring, terms: Terms) -> None:
        self.ring, self.terms = ring, terms

    def _other(self, other: Scalar) -> Terms:
        if isinstance(other, Laurent):
            return other.terms
        return {self.ring.none: self.ring.constant(other)} if other != 0 else {}

    def _of(self, terms: Terms) -> Scalar:
        return Laurent(self.ring, bounded(terms)) if terms else 0

    def __neg__(self) -> Laurent:
        return Laurent(self.ring, {m: (-a, -b) for m, (a, b) in self.terms.items()})

    def __add__(self, other: Scalar) -> Scalar:
        total = dict(self.terms)
        for m, (a, b) in self._other(other).items():
            old = total.get(m, (ZERO, ZERO))
            total[m] = old[0] + a, old[1] + b
            if total[m] == (ZERO, ZERO):
                del total[m]
        return self._of(total)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return self + (-other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return (-self) + other

    def __mul__(self, other: Scalar) -> Scalar:
        total: Terms = {}
        for n, y in self._other(other).items():
            for m, x in self.terms.items():
                key = tuple(map(add, m, n))
                a, b = _times(x, y)
                old = total.get(key)
                total[key] = (a, b) if old is None else (old[0] + a, old[1] + b)
        return self._of({m: x for m, x in total.items() if x != (ZERO, ZERO)})

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if isinstance(other, Laurent):
            raise TooLarge
        return (
            self * exact.exact(Fraction(1, other)) if isinstance(other, int) else self * (1 / other)
        )

    def __rtruediv__(self, other: Scalar) -> Scalar:
        raise TooLarge

    def apply(self, name: str, *args: Scalar) -> Scalar:
        """cos or sin of a sum of integer multiples of variables and a number."""
        if name not in ("cos", "sin"):
            raise TooLarge
        direction: dict[str, int] = {}
        offset = 0.0
        for m, (a, _) in self.terms.items():
            if m == self.ring.none:
                offset = float(a)
                continue
            if sum(m) != 1 or sorted(m)[0] < 0 or a.denominator != 1:
                raise TooLarge
            direction[self.ring.names[m.index(1)]] = int(a)
        forward = self.ring.exponential(direction, self.ring.phase(offset))
        back = forward.conjugate()
        if name == "cos":
            return (forward + back) * exact.exact("1/2")
        return (forward - back) * Laurent(self.ring, {self.ring.none: (ZERO, Fraction(-1, 2))})

    def conjugate(self) -> Laurent:
        """The value of real variables, conjugated."""
        n = len(self.ring.names)
        return Laurent(
            self.ring,
            {(*m[:n], *(-k for k in m[n:])): (a, -b) for m, (a, b) in self.terms.items()},
        )

    def at(self, values: Mapping[str, Any]) -> Any:
        """The value where the variables have these, real where the polynomial is."""
        x, n, total = self.ring.names, len(self.ring.names), 0j
        for m, (a, b) in self.terms.items():
            scale = prod((values[x[k]] ** m[k] for k in range(n) if m[k]), start=1.0)
            angle = sum((values[x[k]] * m[n + k] for k in range(n) if m[n + k]), start=0.0)
            total = total + complex(a, b) * scale * np.exp(1j * angle)
        return total.real

    def substituted(self, known: Mapping[str, float]) -> Laurent:
        """With numbers for the angles of these names; what round-off leaves is dropped."""
        n = len(self.ring.names)
        places = [n + self.ring.names.index(name) for name in known]
        total: dict[Exponents, complex] = {}
        for m, (a, b) in self.terms.items():
            angle = sum(value * m[k] for k, value in zip(places, known.values(), strict=True))
            rest = tuple(0 if k in places else e for k, e in enumerate(m))
            total[rest] = total.get(rest, 0) + complex(a, b) * complex(np.exp(1j * angle))
        least = _NOISE * max(map(abs, total.values()))

        def felt(x: float) -> Fraction:
            return Fraction(x) if abs(x) > least else ZERO

        pairs = {m: (felt(x.real), felt(x.imag)) for m, x in total.items()}
        return Laurent(self.ring, {m: x for m, x in pairs.items() if x != (ZERO, ZERO)})

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in it, in the order of the ring."""
        n = len(self.ring.names)
        return tuple(
            name for k, name in enumerate(self.ring.names)
            if any(m[k] or m[n + k] for m in self.terms)
        )  # fmt: skip


# common factors: every exponent is shifted to be none below zero


def lowest(terms: Iterable[Exponents]) -> Exponents:
    """The smallest exponent of each variable."""
    return tuple(map(min, zip(*terms, strict=True)))


def shifted(terms: Terms, by: Exponents) -> Terms:
    return {tuple(map(sub, m, by)): x for m, x in terms.items()}


def divided(p: Laurent, q: Laurent) -> Laurent | None:
    """p / q where it is exact, else None."""
    low, high = lowest(p.terms), lowest(q.terms)
    quotient = _quotient(shifted(p.terms, low), shifted(q.terms, high))
    if quotient is None:
        return None
    back = tuple(map(sub, high, low))
    return Laurent(p.ring, shifted(quotient, back))


def common_factor(parts: Sequence[Laurent]) -> Laurent:
    """The greatest common divisor, without units: no exponent below zero, and none that is that of
    an exponential alone."""
    n = len(parts[0].ring.names)

    def bare(p: Laurent) -> Terms:
        low = lowest(p.terms)
        return shifted(p.terms, (*(0,) * n, *low[n:]))

    listed = sorted((bare(p) for p in parts), key=len)
    return Laurent(parts[0].ring, _monic(reduce(_gcd, listed)))


def _monic(p: Terms) -> Terms:
    lead = p[max(p)]
    return {m: _over(x, lead) for m, x in p.items()}


def _gcd(p: Terms, q: Terms) -> Terms:
    """Euclid's algorithm on primitive parts, variable by variable."""
    p, q = _monic(p), _monic(q)
    if p == q:
        return p
    used = [any(m[k] for m in (*p, *q)) for k in range(len(max(p)))]
    if len(p) == 1 or len(q) == 1 or True not in used:
        return {lowest((*p, *q)): (ONE, ZERO)}
    k = used.index(True)
    content_p, content_q = _content(p, k), _content(q, k)
    common = _gcd(content_p, content_q)
    a, b = _exactly(p, content_p), _exactly(q, content_q)
    if _degree(a, k) < _degree(b, k):
        a, b = b, a
    while b and _degree(b, k) > 0:
        rest = _remainder(a, b, k)
        a, b = b, _exactly(rest, _content(rest, k)) if rest else {}
    return _monic(_product(common, a)) if not b else common


def _degree(p: Terms, k: int) -> int:
    return max(m[k] for m in p)


def _coefficients(p: Terms, k: int) -> dict[int, Terms]:
    """p as a polynomial in variable k."""
    rows: dict[int, Terms] = {}
    for m, x in p.items():
        rows.setdefault(m[k], {})[(*m[:k], 0, *m[k + 1 :])] = x
    return rows


def _content(p: Terms, k: int) -> Terms:
    return reduce(_gcd, sorted(_coefficients(p, k).values(), key=len))


def _product(p: Terms, q: Terms) -> Terms:
    total: Terms = {}
    for m, x in p.items():
        for n, y in q.items():
            key = tuple(map(add, m, n))
            a, b = _times(x, y)
            old = total.get(key, (ZERO, ZERO))
            total[key] = old[0] + a, old[1] + b
    return {m: x for m, x in bounded(total).items() if x != (ZERO, ZERO)}


def _difference(p: Terms, q: Terms) -> Terms:
    total = dict(p)
    for m, (a, b) in q.items():
        old = total.get(m, (ZERO, ZERO))
        total[m] = old[0] - a, old[1] - b
    return {m: x for m, x in total.items() if x != (ZERO, ZERO)}


def _remainder(p: Terms, q: Terms, k: int) -> Terms:
    """What is left of p, times powers of the leading coefficient of q in variable k."""
    d = _degree(q, k)
    lead = _coefficients(q, k)[d]
    while p and _degree(p, k) >= d:
        high = _degree(p, k)
        top = _coefficients(p, k)[high]
        step = tuple((high - d) * (i == k) for i in range(len(next(iter(p)))))
        q_up = {tuple(map(add, m, step)): x for m, x in q.items()}
        p = _difference(_product(lead, p), _product(top, q_up))
    return p


def _quotient(p: Terms, q: Terms) -> Terms | None:
    """p / q by the leading terms, None where it is not exact."""
    lead = max(q)
    result: Terms = {}
    while p:
        top = max(p)
        step = tuple(map(sub, top, lead))
        if min(step) < 0:
            return None
        factor = _over(p[top], q[lead])
        result[step] = factor
        p = _difference(p, _product({step: factor}, q))
    return result


def _exactly(p: Terms, q: Terms) -> Terms:
    result = _quotient(p, q)
    assert result is not None
    return result


# factors of what is real


def factors(p: Laurent, directions: Sequence[Mapping[str, int]]) -> tuple[Fraction, list[Laurent]]:
    """(number, factors) whose product is p: variables, polynomials in variables alone, then sines,
    cosines and what else depends on one direction of angles, then the rest."""
    ring, n = p.ring, len(p.ring.names)
    parts: list[Laurent] = []
    by_angle: dict[Exponents, Terms] = {}
    for m, x in p.terms.items():
        by_angle.setdefault(m[n:], {})[(*m[:n], *(0,) * n)] = x
    common = common_factor([Laurent(ring, terms) for terms in by_angle.values()])
    powers = lowest(common.terms)
    for name, k in zip(ring.names, powers, strict=False):
        parts += [ring.symbol(name)] * k
    left = Laurent(ring, shifted(common.terms, powers))
    parts += [left] if len(left.terms) > 1 else []
    p = _exact_quotient(p, common)
    for direction in directions:
        for factor in _along(p, direction):
            parts.append(factor)
            p = _exact_quotient(p, factor)
    if len(p.terms) > 1:
        return ONE, [*parts, p]
    return p.terms[ring.none][0], parts


def _exact_quotient(p: Laurent, q: Laurent) -> Laurent:
    quotient = divided(p, q)
    assert quotient is not None
    return quotient


def _along(p: Laurent, direction: Mapping[str, int]) -> list[Laurent]:
    """The factors of p that depend on one sum of angles only."""
    ring, n = p.ring, len(p.ring.names)
    (v,) = ring.exponential(direction).terms
    pivot = next(k for k in range(2 * n) if v[k])
    lines: dict[Exponents, Terms] = {}
    for m, x in p.terms.items():
        t = m[pivot] * v[pivot]
        key = tuple(a - t * b for a, b in zip(m[n:], v[n:], strict=True))
        lines.setdefault(key, {})[(*m[:n], *(t * (k == pivot) for k in range(n, 2 * n)))] = x
    left = common_factor([Laurent(ring, terms) for terms in lines.values()])

    def turned(f: Laurent) -> Laurent:  # powers of the sum, from powers of the pivot
        return Laurent(
            ring,
            {(*m[:n], *(m[pivot] * k for k in v[n:])): x for m, x in f.terms.items()},
        )

    parts = []
    name = ring.names[pivot - n]
    angle = ring.symbol(name)
    for simple in (angle.apply("sin", angle), angle.apply("cos", angle)):
        while (smaller := divided(left, simple)) is not None:
            parts.append(turned(simple))
            left = smaller
    whole = real(left) if len(left.terms) > 1 else None
    return [*parts, turned(whole)] if whole is not None else parts


def real(f: Laurent) -> Laurent | None:
    """f times a unit that makes it real, in whole angles; None where there is none."""
    n = len(f.ring.names)
    low = lowest(f.terms)
    high = tuple(map(max, zip(*f.terms, strict=True)))
    if any((a + b) % 2 for a, b in zip(low[n:], high[n:], strict=True)):
        return None
    middle = (*(0,) * n, *((a + b) // 2 for a, b in zip(low[n:], high[n:], strict=True)))
    terms = shifted(f.terms, middle)
    m, x = max(terms.items())
    opposite = terms.get((*m[:n], *(-k for k in m[n:])))
    if opposite is None:
        return None
    ratio = _over((opposite[0], -opposite[1]), x)
    unit = (ONE + ratio[0], ratio[1]) if ratio != (-ONE, ZERO) else (ZERO, ONE)
    result = Laurent(f.ring, {k: _times(y, unit) for k, y in terms.items()})
    return result if result.terms == result.conjugate().terms else None
