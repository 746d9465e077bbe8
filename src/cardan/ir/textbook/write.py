"""Polynomials of the ring as expressions of a program: sines and cosines first, by name, then every
value as its collected sum, operands in the order in which they are to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from ...exact import exact
from ..graph import Expr, Graph
from .angles import Factor, shortest
from .collect import CONSTANT, MOTION, POSITION, TRIG, Collector, Monomial, Product, Sum
from .ring import Polynomial, Ring, largest

_STRUCTURAL = 16  # denominators up to it, but of decimals, are divisors where no number is data
_SMALL = 400  # terms in all, of which factors are taken out with care
_SNAP = Fraction(1, 2**46)  # of floats, within which they are a simple number, or 0

Atom = int | Factor  # a symbol of the ring, or a sine or cosine


class Writer:
    """Writes polynomials of a ring as nodes of a new graph."""

    def __init__(
        self, ring: Ring, arrays: Iterable[str], names: Mapping[Any, str],
        polynomials: Sequence[Polynomial], below: Sequence[Polynomial] = (),
    ) -> None:  # fmt: skip
        self.ring, self.names, self.graph = ring, names, Graph()
        self.labels: dict[int, str] = {}
        self._arrays = list(arrays)
        self._sums: dict[Any, dict[tuple[tuple[Atom, int], ...], Fraction]] = {}
        self._refs: dict[int, int] = {}  # of atoms, once written
        sizes = (largest(x) for x in polynomials)
        self._noise = _SNAP * max(sizes, default=Fraction(0))
        sums = [*map(self._sum, polynomials), *(self._sum(y, True) for y in below)]
        atoms: set[Atom] = set()
        while sums:
            new = {atom for terms in sums for m in terms for atom, _ in m} - atoms
            atoms |= new
            sums = [self._sum(x) for atom in new for x in self._arguments(atom)]
        self.atoms = sorted(atoms, key=self._rank)
        self._number = {atom: k for k, atom in enumerate(self.atoms)}
        coefficients = (c for terms in self._sums.values() for c in terms.values())
        self.data = any(c.denominator > _STRUCTURAL or c.denominator % 5 == 0 for c in coefficients)
        kinds = [self._rank(atom)[0] for atom in self.atoms]
        size = sum(map(len, self._sums.values()))
        self.collector = Collector(kinds.__getitem__, 4 if size <= _SMALL else 1)
        for k, atom in enumerate(self.atoms):
            if isinstance(atom, tuple):  # first, in order
                self._atom(k)

    # atoms

    def _arguments(self, atom: Atom) -> Iterable[Polynomial]:
        """What an operation that is a symbol reads."""
        if isinstance(atom, int):
            return self.ring.read_by(atom)
        members = (self.ring.groups[atom[1]][k][0] for k, x in enumerate(atom[2]) if x)
        return [x for member in members for x in self._arguments(member)]

    def _rank(self, atom: Atom) -> tuple[Any, ...]:
        """The kind of an atom, and its place among these."""
        if isinstance(atom, tuple):
            name, group, frequency = atom
            members = [self.ring.groups[group][k][0] for k, x in enumerate(frequency) if x]
            places = [self._rank(member) for member in members]
            return TRIG, places, sum(map(abs, frequency)), frequency, name
        symbol = self.ring.symbols[atom]
        if symbol[0] != "input":
            kind = MOTION + len(self._arrays) if self.ring.moves(atom) else CONSTANT
            return kind, [1], atom, (), ""
        kind = MOTION + len(self._arrays) - self._arrays.index(symbol[1])  # the last array first
        return {"p": CONSTANT, "q": POSITION}.get(symbol[1], kind), [0], symbol[2], (), ""

    # sums

    def _sum(
        self, x: Polynomial, below: bool = False
    ) -> dict[tuple[tuple[Atom, int], ...], Fraction]:
        """Monomials of atoms: of every monomial of symbols the shortest sum of products of sines
        and cosines. Noise in what stands below a line is small beside that alone."""
        key = below, x.key
        if key not in self._sums:
            noise = _SNAP * largest(x) if below else self._noise
            rows: dict[int, dict[Any, Fraction]] = {}
            for trig, row in x.terms.items():
                for monomial, c in row.items():
                    value = self._rounded(Fraction(c, x.denominator), noise)
                    if value:
                        rows.setdefault(monomial, {})[self.ring.trigs[trig]] = value
            terms: dict[tuple[tuple[Atom, int], ...], Fraction] = {}
            for monomial, sines in rows.items():
                for factors, value in shortest(sines, self.ring).items():
                    powers = [(f, factors.count(f)) for f in dict.fromkeys(factors)]
                    terms[(*self.ring.exponents(monomial), *powers)] = value
            self._sums[key] = terms
        return self._sums[key]

    def _rounded(self, x: Fraction, noise: Fraction) -> Fraction:
        """Of floats: a simple number, or 0, where they are that to within round-off."""
        if not self.ring.inexact:
            return x
        if abs(x) <= noise:
            return Fraction(0)
        simple = x.limit_denominator(10_000)
        return simple if abs(simple - x) <= _SNAP * abs(x) else Fraction(float(f"{float(x):.15g}"))

    def quotient(self, x: Polynomial, y: Polynomial | None) -> Any:
        """x / y, or x alone, as a scalar of the graph; the numbers in y are small integers, of
        floats the largest is 1."""
        if y is None or not x.terms:
            return self.value(x)
        sizes = [abs(c) for c in self._sum(y, True).values()]
        scale = max(sizes)
        if not self.ring.inexact:
            scale = Fraction(
                gcd(*(c.numerator for c in sizes)), lcm(*(c.denominator for c in sizes))
            )
        minus = all(c < 0 for c in self._sum(x).values())
        scaled = exact(1 / scale)
        x = self.ring.mul(x, self.ring.constant(-scaled if minus else scaled))
        quotient = self.value(x) / self.value(self.ring.mul(y, self.ring.constant(scaled)), True)
        return -quotient if minus else quotient

    def value(self, x: Polynomial, below: bool = False) -> Any:
        """The value as a scalar of the graph."""
        terms: dict[Monomial, Fraction] = {}
        for powers, c in self._sum(x, below).items():
            terms[tuple(sorted((self._number[atom], k) for atom, k in powers))] = c
        if not terms:
            return 0
        tree = self.collector.tree(terms)
        return Expr(
            self.graph, self._product(tree) if isinstance(tree, Product) else self._total(tree)
        )

    # nodes; signed references, operands in the order in which they are to be read

    def _total(self, tree: Sum) -> int:
        """A sum by itself: where all is negative each part has its own minus."""
        total = self.graph.positive(self._product(tree.parts[0]))
        return self._added(total, tree.parts[1:])

    def _factor(self, tree: Sum) -> int:
        """A sum in a product, to which a minus in front of all is left."""
        total = self._product(tree.parts[0])
        sign = 1 if total > 0 else -1
        return sign * self._added(abs(total), tree.parts[1:], sign)

    def _added(self, total: int, parts: Sequence[Product], sign: int = 1) -> int:
        for part in parts:
            ref = sign * self._product(part)
            total = self.graph.node(("add", total, ref) if ref > 0 else ("sub", total, -ref))
        return total

    def _product(self, part: Product) -> int:
        number, bottom = abs(part.coefficient), 1
        if not self.data:
            number, bottom = Fraction(number.numerator), number.denominator
        factors: list[tuple[int, int]] = []  # node, exponent
        if number != 1 or not (part.atoms or part.sums):
            factors.append((self.graph.const(self._constant(number)), 1))
        factors += [(self._atom(k), n) for k, n in part.atoms if not self.collector.motion(k)]
        factors += [(self._factor(x), part.sums.count(x)) for x in dict.fromkeys(part.sums)]
        factors += [(self._atom(k), n) for k, n in part.atoms if self.collector.motion(k)]
        sign, product = (-1 if part.coefficient < 0 else 1), 0
        for ref, n in factors:
            sign *= -1 if ref < 0 and n % 2 else 1
            power = self._power(abs(ref), n)
            product = self.graph.node(("mul", product, power)) if product else power
        if bottom > 1:
            product = self.graph.node(("div", product, self.graph.const(bottom)))
        return sign * product

    def _power(self, id: int, n: int) -> int:
        power = id
        for _ in range(n - 1):
            power = self.graph.node(("mul", power, id))
        return power

    def _constant(self, x: Fraction) -> Any:
        long = x.denominator.bit_length() > 40 and self.ring.inexact
        return float(x) if long else exact(x)

    def _atom(self, k: int) -> int:
        if k not in self._refs:
            atom = self.atoms[k]
            if isinstance(atom, tuple):
                self._refs[k] = self._sine(*atom)
            else:
                self._refs[k] = self._symbol(atom)
        return self._refs[k]

    def _symbol(self, number: int) -> int:
        symbol = self.ring.symbols[number]
        if symbol[0] == "input":
            return self.graph.node(symbol)
        if symbol[0] == "pi":
            return self.graph.const(exact(0, 1))
        args = [self.value(x) for x in symbol[2].polynomials]
        if symbol[0] == "value":
            return self.graph.positive(self.graph.reference(args[0]))
        refs = [self.graph.positive(self.graph.reference(x)) for x in args]
        return self.graph.node((symbol[0], *refs))

    def _sine(self, kind: str, group: int, frequency: tuple[int, ...]) -> int:
        """The sine or cosine of a sum of angles, named after it: C23 of q2 + q3."""
        members = [(self.ring.groups[group][i][0], k) for i, k in enumerate(frequency) if k]
        total = 0
        for number, k in members:
            ref = self._symbol(number)
            if abs(k) > 1:
                ref = self.graph.node(("mul", self.graph.const(abs(k)), ref))
            if total:
                ref = self.graph.node(("add" if k > 0 else "sub", total, ref))
            total = ref
        id = self.graph.node(("cos" if kind == "c" else "sin", total))
        self._label(id, kind.upper(), members)
        return id

    def _label(self, id: int, letter: str, members: Sequence[tuple[int, int]]) -> None:
        words: list[str] = []
        for number, k in members:
            word = self.names.get(self.ring.symbols[number], "")
            if not word:
                return
            words += ["m" * (k < 0) + word] * abs(k)
        plain = all(len(word.lstrip("m")) == 1 for word in words)
        label = letter + ("" if plain else "_").join(words)
        if label not in self.labels.values():
            self.labels[id] = label
