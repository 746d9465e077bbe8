"""The ring of textbook values: polynomials over ℚ in symbols, times sines and cosines of sums of
angles.

Angles come in groups, those of joints about parallel axes. Of each group a term has at most one
sine or cosine, of an integer combination of its angles, and

    2 cos a · 2 cos b = 2 cos(a - b) + 2 cos(a + b)      (and so on)

turns products within a group into sums: a normal form, in which sin² + cos² = 1 and the sums of
angles of parallel axes need no rule. Products of sines of different groups stay products. With the
2 in front all coefficients stay integers; a polynomial has one denominator.

What is no polynomial (sign, √) is a symbol of its own, of the polynomials it reads; values are
quotients of polynomials.
Floats are taken as the fractions they are; what a sum leaves of them below their round-off is
dropped, so that no term is noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from ... import exact
from ...exact import Exact
from ..code import Code

Frequency = tuple[int, ...]  # multiples of the angles of a group
Trig = tuple[tuple[int, Frequency, str], ...]  # (group, frequency, "c" or "s"), by group
Terms = dict[int, dict[int, int]]  # number of a Trig -> monomial of symbols -> coefficient
Symbol = tuple[Any, ...]  # ("input", array, k), ("pi",), or an operation and its polynomials

_BITS = 8  # of the exponent of a symbol in a monomial
_LONG = 512  # bits of a denominator that is worth a common divisor
_NOISE = 45  # bits below its summands at which a sum of floats is round-off


class TooLarge(Exception):
    """A value has more terms than anybody reads."""


@dataclass(frozen=True)
class Polynomial:
    """Σ coefficient · monomial · Trig / denominator."""

    terms: Terms
    denominator: int
    degree: int

    @property
    def size(self) -> int:
        """The number of terms."""
        return sum(map(len, self.terms.values()))

    def reduced(self) -> Polynomial:
        """In lowest terms."""
        divisor = self.denominator
        for row in self.terms.values():
            for x in row.values():
                if divisor == 1:
                    return self
                divisor = gcd(divisor, x)
        terms = {t: {m: x // divisor for m, x in row.items()} for t, row in self.terms.items()}
        return Polynomial(terms, self.denominator // divisor, self.degree)

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal values."""
        least = self.reduced()
        rows = ((t, m, x) for t, row in least.terms.items() for m, x in row.items())
        return least.denominator, *sorted(rows)


def largest(x: Polynomial) -> Fraction:
    """The size of its largest coefficient."""
    sizes = (abs(c) for row in x.terms.values() for c in row.values())
    return Fraction(max(sizes, default=0), x.denominator)


def negative(x: Polynomial) -> Polynomial:
    terms = {t: {m: -c for m, c in row.items()} for t, row in x.terms.items()}
    return Polynomial(terms, x.denominator, x.degree)


class Ring:
    """Symbols, groups of angles, and the arithmetic of polynomials in them.

    groups: of angles (input elements) about parallel axes, each with its sense, 1 or -1.
    largest: terms of a polynomial; beyond it TooLarge is raised."""

    def __init__(self, groups: Sequence[Sequence[tuple[Symbol, int]]], largest: int) -> None:
        self.largest = largest
        self.symbols: list[Symbol] = []
        self._numbers: dict[Symbol, int] = {}
        self.groups: list[list[tuple[int, int]]] = []  # (symbol, sense)
        self._place: dict[int, tuple[int, int]] = {}  # symbol -> group, position
        self.trigs: list[Trig] = [()]
        self._trig_numbers: dict[Trig, int] = {(): 0}
        self._products: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}
        self.inexact = False  # a float is among the numbers
        for group in groups:
            self._group([(self.number(symbol), sense) for symbol, sense in group])

    def _group(self, members: list[tuple[int, int]]) -> None:
        for position, (symbol, _) in enumerate(members):
            self._place[symbol] = len(self.groups), position
        self.groups.append(members)

    def senses(self, group: int) -> tuple[int, ...]:
        """Those of the angles of a group."""
        return tuple(sense for _, sense in self.groups[group])

    def number(self, symbol: Symbol) -> int:
        """The number of a symbol, new or not."""
        if symbol not in self._numbers:
            self._numbers[symbol] = len(self.symbols)
            self.symbols.append(symbol)
        return self._numbers[symbol]

    def symbol(self, symbol: Symbol) -> Polynomial:
        """The symbol as a polynomial."""
        return Polynomial({0: {self.power(self.number(symbol)): 1}}, 1, 1)

    def power(self, number: int) -> int:
        """The monomial of a symbol."""
        return 1 << _BITS * number

    def is_input(self, number: int) -> bool:
        """Is the symbol of this number an input, not an operation or π?"""
        return bool(self.symbols[number][0] == "input")

    def read_by(self, number: int) -> Sequence[Polynomial]:
        """What the symbol of this number reads, if it is an operation."""
        plain = self.symbols[number][0] in ("input", "pi")
        return () if plain else self.symbols[number][2].polynomials

    def moves(self, number: int) -> bool:
        """Is the symbol of this number a rate, an acceleration or anything else that is neither
        position nor parameter, or made of such alone?"""
        if self.is_input(number):
            return self.symbols[number][1] not in ("p", "q")
        parts = [
            x
            for polynomial in self.read_by(number)
            for trig, row in polynomial.terms.items()
            for monomial in row
            for x in (*(x for x, _ in self.exponents(monomial)), *self._angles(trig))
        ]
        return bool(parts) and all(map(self.moves, parts))

    def _angles(self, trig: int) -> list[int]:
        return [self.groups[g][i][0] for g, k, _ in self.trigs[trig] for i, x in enumerate(k) if x]

    def exponents(self, monomial: int) -> tuple[tuple[int, int], ...]:
        """((symbol, exponent), ...) of a monomial."""
        found, k = [], 0
        while monomial:
            exponent = monomial & ((1 << _BITS) - 1)
            if exponent:
                found.append((k, exponent))
            monomial >>= _BITS
            k += 1
        return tuple(found)

    def constant(self, value: int | float | Exact) -> Polynomial:
        if isinstance(value, Exact):
            terms = {0: value.a, self.power(self.number(("pi",))): value.b}
        else:
            self.inexact |= isinstance(value, float)
            terms = {0: Fraction(value)}
        bottom = lcm(*(x.denominator for x in terms.values()))
        row = {m: int(x * bottom) for m, x in terms.items() if x}
        return Polynomial({0: row} if row else {}, bottom, int(any(row)))

    def add(self, x: Polynomial, y: Polynomial) -> Polynomial:
        if not x.terms or not y.terms:
            return y if not x.terms else x
        bottom = lcm(x.denominator, y.denominator)
        a, b = bottom // x.denominator, bottom // y.denominator
        terms: Terms = {t: {m: c * a for m, c in row.items()} for t, row in x.terms.items()}
        for t, row in y.terms.items():
            sums = terms.setdefault(t, {})
            for m, c in row.items():
                old = sums.get(m, 0)
                new = old + c * b
                if new == 0 or (self.inexact and abs(new) << _NOISE <= abs(old)):
                    sums.pop(m, None)
                else:
                    sums[m] = new
            if not sums:
                del terms[t]
        return self._checked(Polynomial(terms, bottom, max(x.degree, y.degree)))

    def mul(self, x: Polynomial, y: Polynomial) -> Polynomial:
        if x.degree + y.degree >= 1 << _BITS:
            raise TooLarge
        terms: Terms = {}
        sizes: Terms = {}
        for t, row in x.terms.items():
            for u, other in y.terms.items():
                product: dict[int, int] = {}
                for m, a in row.items():
                    for n, b in other.items():
                        product[m + n] = product.get(m + n, 0) + a * b
                for factor, v in self._product(t, u):
                    sums = terms.setdefault(v, {})
                    for m, c in product.items():
                        sums[m] = sums.get(m, 0) + factor * c
                    if self.inexact:
                        largest = sizes.setdefault(v, {})
                        for m, c in product.items():
                            largest[m] = max(largest.get(m, 0), abs(factor * c))
        least: Terms = {}
        for t, sums in terms.items():
            if self.inexact:
                row = {m: c for m, c in sums.items() if abs(c) << _NOISE > sizes[t][m]}
            else:
                row = {m: c for m, c in sums.items() if c}
            if row:
                least[t] = row
        denominator = x.denominator * y.denominator if least else 1
        return self._checked(Polynomial(least, denominator, x.degree + y.degree))

    def _checked(self, x: Polynomial) -> Polynomial:
        if x.size > self.largest:
            raise TooLarge
        return x.reduced() if x.denominator.bit_length() > _LONG else x

    def _product(self, t: int, u: int) -> tuple[tuple[int, int], ...]:
        """((factor, Trig), ...) of the product of two, each 2 cos or 2 sin per group."""
        key = (t, u) if t <= u else (u, t)
        if key not in self._products:
            terms: list[tuple[int, Trig]] = [(1, ())]
            left, right = ({x[0]: x for x in self.trigs[k]} for k in key)
            for group in sorted({*left, *right}):
                if group in left and group in right:
                    factors = _multiplied(left[group], right[group])
                else:
                    factors = [(1, (left.get(group) or right[group],))]
                terms = [(a * b, (*head, *tail)) for a, head in terms for b, tail in factors]
            self._products[key] = tuple((a, self.trig(trig)) for a, trig in terms)
        return self._products[key]

    def trig(self, trig: Trig) -> int:
        """The number of a product of sines and cosines."""
        known = self._trig_numbers.setdefault(trig, len(self.trigs))
        if known == len(self.trigs):
            self.trigs.append(trig)
        return known

    def cos_sin(self, argument: Polynomial) -> tuple[Polynomial, Polynomial]:
        """The cosine and the sine of a value: of a sum of integer multiples of symbols and a
        number by the sums of angles, else with the value itself as an angle."""
        parts = self._linear(argument)
        if parts is None:
            parts = {self.number(opaque("value", [argument])): 1}, 0
        multiples, offset = parts
        c, s = self.constant(exact.cos(offset)), self.constant(exact.sin(offset))
        by_group: dict[int, dict[int, int]] = {}
        for symbol, k in multiples.items():
            if symbol not in self._place:
                self._group([(symbol, 1)])
            group, position = self._place[symbol]
            by_group.setdefault(group, {})[position] = k
        for group, ks in by_group.items():
            size = len(self.groups[group])
            frequency = tuple(ks.get(position, 0) for position in range(size))
            c1, s1 = self._turned(group, frequency)
            c, s = (
                self.add(self.mul(c, c1), negative(self.mul(s, s1))),
                self.add(self.mul(s, c1), self.mul(c, s1)),
            )
        return c, s

    def _turned(self, group: int, frequency: Frequency) -> tuple[Polynomial, Polynomial]:
        sign, frequency = upright(frequency)
        c, s = (self.trig(((group, frequency, kind),)) for kind in "cs")
        return Polynomial({c: {0: 1}}, 2, 0), Polynomial({s: {0: sign}}, 2, 0)

    def _linear(self, x: Polynomial) -> tuple[dict[int, int], Any] | None:
        """(integer multiples of symbols, number) of a linear value; None if it is none."""
        if set(x.terms) - {0}:
            return None
        multiples: dict[int, int] = {}
        a = b = Fraction(0)
        for monomial, coefficient in x.terms.get(0, {}).items():
            value = Fraction(coefficient, x.denominator)
            exponents = self.exponents(monomial)
            if not exponents:
                a = value
            elif exponents == ((self._numbers.get(("pi",), -1), 1),):
                b = value
            elif len(exponents) > 1 or exponents[0][1] > 1 or value.denominator > 1:
                return None
            else:
                multiples[exponents[0][0]] = int(value)
        return multiples, exact.exact(a, b)


def _multiplied(
    x: tuple[int, Frequency, str], y: tuple[int, Frequency, str]
) -> list[tuple[int, Trig]]:
    """2f(a) · 2g(b), f and g sine or cosine, by the sum and the difference of a and b."""
    if x[2] == "c" and y[2] == "s":
        x, y = y, x
    group, a, f = x
    b, g = y[1], y[2]
    plus = tuple(i + j for i, j in zip(a, b, strict=True))
    minus = tuple(i - j for i, j in zip(a, b, strict=True))
    kind = "c" if f == g else "s"
    terms: list[tuple[int, Trig]] = []
    for frequency, factor in ((minus, 1), (plus, -1 if (f, g) == ("s", "s") else 1)):
        sign, own = upright(frequency)
        if any(own):
            terms.append((factor * (sign if kind == "s" else 1), ((group, own, kind),)))
        elif kind == "c":
            terms.append((2 * factor, ()))
    return terms


def upright(frequency: Frequency) -> tuple[int, Frequency]:
    """(sign, frequency) with its first multiple positive."""
    first = next((k for k in frequency if k), 1)
    return (1, frequency) if first > 0 else (-1, tuple(-k for k in frequency))


@dataclass(frozen=True)
class Quotient:
    """numerator / (monomial · Π factor^exponent), without a symbol that both have.

    factors: polynomials of more than one term, or with a sine or cosine, each in lowest terms and
    with a positive first coefficient, by their keys."""

    numerator: Polynomial
    monomial: int = 0
    factors: Mapping[tuple[Any, ...], tuple[Polynomial, int]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Is it a polynomial?"""
        return not self.monomial and not self.factors


class Quotients:
    """Arithmetic of quotients of polynomials of a ring. What numerator and denominator have in
    common is taken out where it is a symbol or a whole factor; there is no division of sums."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring

    def add(self, x: Quotient, y: Quotient) -> Quotient:
        if not x.numerator.terms or not y.numerator.terms:
            return y if not x.numerator.terms else x
        if x.whole and y.whole:
            return Quotient(self.ring.add(x.numerator, y.numerator))
        monomial, factors = self._multiple(x.monomial, y.monomial), dict(x.factors)
        for key, (factor, n) in y.factors.items():
            factors[key] = factor, max(n, factors.get(key, (factor, 0))[1])
        return self._reduced(
            self.ring.add(*(self._over(one, monomial, factors) for one in (x, y))),
            monomial, factors,
        )  # fmt: skip

    def sub(self, x: Quotient, y: Quotient) -> Quotient:
        return self.add(x, self.neg(y))

    def neg(self, x: Quotient) -> Quotient:
        return replace(x, numerator=negative(x.numerator))

    def mul(self, x: Quotient, y: Quotient) -> Quotient:
        if x.whole and y.whole:
            return Quotient(self.ring.mul(x.numerator, y.numerator))
        factors = dict(x.factors)
        for key, (factor, n) in y.factors.items():
            factors[key] = factor, n + factors.get(key, (factor, 0))[1]
        top = self.ring.mul(x.numerator, y.numerator)
        return self._reduced(top, x.monomial + y.monomial, factors)

    def div(self, x: Quotient, y: Quotient) -> Quotient:
        if not y.numerator.terms:
            raise TooLarge  # nothing to read
        top = self.denominator(y)
        number, monomial, factor = self._split(y.numerator)
        inverse = self.ring.mul(top, _inverse(number))
        factors = {factor.key: (factor, 1)} if _several(factor) else {}
        if x.whole and x.numerator.key == y.numerator.key:
            return Quotient(top)
        return self.mul(x, self._reduced(inverse, monomial, factors))

    def denominator(self, x: Quotient) -> Polynomial:
        """The product below the line."""
        return self._over(Quotient(self.ring.constant(1)), x.monomial, x.factors)

    def flat(self, x: Quotient) -> Polynomial:
        """A polynomial, in which one over the denominator is a symbol."""
        if x.whole:
            return x.numerator
        one = self.ring.constant(1)
        inverse = self.ring.symbol(opaque("div", [one, self.denominator(x)]))
        return self.ring.mul(x.numerator, inverse)

    def _over(self, x: Quotient, monomial: int, factors: Mapping[Any, Any]) -> Polynomial:
        """The numerator over a multiple of the denominator."""
        top = x.numerator
        if monomial != x.monomial:
            top = self.ring.mul(top, self._symbols(monomial - x.monomial))
        for key, (factor, n) in factors.items():
            for _ in range(n - x.factors.get(key, (factor, 0))[1]):
                top = self.ring.mul(top, factor)
        return top

    def _reduced(self, top: Polynomial, monomial: int, factors: Mapping[Any, Any]) -> Quotient:
        if not top.terms:
            return Quotient(top)
        common = self._common(top, monomial)
        if common:
            terms = {t: {m - common: c for m, c in row.items()} for t, row in top.terms.items()}
            top = Polynomial(terms, top.denominator, top.degree)
        if factors:
            number, rest, factor = self._split(top)
            _, n = factors.get(factor.key, (factor, 0))
            if n:
                left = {k: v for k, v in factors.items() if k != factor.key or n > 1}
                if n > 1:
                    left[factor.key] = factor, n - 1
                top = self.ring.mul(number, self._symbols(rest))
                return self._reduced(top, monomial - common, left)
        return Quotient(top, monomial - common, dict(factors))

    def _split(self, x: Polynomial) -> tuple[Polynomial, int, Polynomial]:
        """(number, monomial, factor) whose product it is."""
        monomial = self._common(x, None)
        terms = {t: {m - monomial: c for m, c in row.items()} for t, row in x.terms.items()}
        flat = [c for t in sorted(terms) for _, c in sorted(terms[t].items())]
        divisor = gcd(*flat) * (1 if flat[0] > 0 else -1)
        bare = {t: {m: c // divisor for m, c in row.items()} for t, row in terms.items()}
        number = Fraction(divisor, x.denominator)
        if not _several(Polynomial(bare, 1, 0)):
            number, bare = number * bare[0][0], {0: {0: 1}}
        constant = Polynomial({0: {0: number.numerator}}, number.denominator, 0)
        return constant, monomial, Polynomial(bare, 1, x.degree)

    def _common(self, x: Polynomial, limit: int | None) -> int:
        """The monomial that all terms have, and the limit."""
        rows = [m for row in x.terms.values() for m in row]
        rows += [] if limit is None else [limit]
        powers = [dict(self.ring.exponents(m)) for m in rows]
        least = {k: min(one.get(k, 0) for one in powers) for k in powers[0]}
        return sum(n * self.ring.power(k) for k, n in least.items())

    def _symbols(self, monomial: int) -> Polynomial:
        return Polynomial({0: {monomial: 1}}, 1, sum(n for _, n in self.ring.exponents(monomial)))

    def _multiple(self, m: int, n: int) -> int:
        """The least common multiple of two monomials."""
        powers = dict(self.ring.exponents(m))
        for k, exponent in self.ring.exponents(n):
            powers[k] = max(exponent, powers.get(k, 0))
        return sum(exponent * self.ring.power(k) for k, exponent in powers.items())


def _several(x: Polynomial) -> bool:
    """Is it more than a number?"""
    return set(x.terms) != {0} or set(x.terms[0]) != {0}


def values(code: Code, ring: Ring) -> dict[str, list[Quotient]]:
    """The outputs of a program as quotients of the ring, element by element."""
    quotients = Quotients(ring)
    trigs: dict[int, tuple[Polynomial, Polynomial]] = {}
    cells = [Quotient(ring.constant(0))]
    arithmetic: Mapping[str, Callable[..., Quotient]] = {
        "add": quotients.add, "sub": quotients.sub, "mul": quotients.mul,
        "neg": quotients.neg, "div": quotients.div,
    }  # fmt: skip
    for node in code.nodes[1:]:
        op, *args = node
        if op == "input":
            cells.append(Quotient(ring.symbol(node)))
        elif op == "const":
            cells.append(Quotient(ring.constant(args[0])))
        elif op in arithmetic:
            cells.append(arithmetic[op](*(cells[arg] for arg in args)))
        elif op in ("sin", "cos"):
            if args[0] not in trigs:
                trigs[args[0]] = ring.cos_sin(quotients.flat(cells[args[0]]))
            cells.append(Quotient(trigs[args[0]][op == "sin"]))
        else:
            cells.append(
                Quotient(ring.symbol(opaque(op, [quotients.flat(cells[a]) for a in args])))
            )
    return {
        name: [cells[ref] if ref > 0 else quotients.neg(cells[-ref]) for ref in output.refs]
        for name, output in code.outputs.items()
    }


def _inverse(x: Polynomial) -> Polynomial:
    """One over a number."""
    value = 1 / Fraction(x.terms[0][0], x.denominator)
    return Polynomial({0: {0: value.numerator}}, value.denominator, 0)


def opaque(op: str, args: Sequence[Polynomial]) -> Symbol:
    """An operation that the ring does not have, as a symbol: equal for equal arguments."""
    return op, tuple(arg.key for arg in args), _Arguments(tuple(args))


@dataclass(frozen=True, eq=False)
class _Arguments:
    """What an operation reads; told apart by the key beside it."""

    polynomials: tuple[Polynomial, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Arguments)

    def __hash__(self) -> int:
        return 0
