"""Sums collected: common factors taken out, so that the text is short and reads like a book's.

A sum of monomials becomes a tree of sums and products. Motions (accelerations, rates) are collected
first, qdd_i and qd_i qd_j with equal coefficients together; then what is left, by whichever costs
less: factors common to several terms, or sums that are the coefficient of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import gcd, lcm

Monomial = tuple[tuple[int, int], ...]  # ((atom, exponent), ...), atoms ascending
Terms = Mapping[Monomial, Fraction]

Key = frozenset[tuple[Monomial, int, int]]

CONSTANT, POSITION, TRIG, MOTION = range(4)
_FEW = 12  # terms of which several ways to take out factors are tried
_PAIRS = 60  # terms of which all pairs are looked through for common factors
_FREQUENT = 24  # atoms that are looked at in pairs, of more terms
_APART = 3  # symbols and operations worth a sum that is constant, by itself
_STRUCTURAL = 16  # numbers up to it come from the mechanics, not from data


@dataclass(frozen=True)
class Product:
    """coefficient · atoms · sums."""

    coefficient: Fraction
    atoms: Monomial = ()
    sums: tuple[Sum, ...] = ()

    @cached_property
    def cost(self) -> int:
        """Symbols and operations."""
        number = abs(self.coefficient) != 1 or not (self.atoms or self.sums)
        sums = set(self.sums)
        parts = number + sum(min(k, 2) for _, k in self.atoms) + len(self.sums)
        return 2 * parts - 1 + sum(x.cost - 1 for x in sums)


@dataclass(frozen=True)
class Sum:
    """Two products or more."""

    parts: tuple[Product, ...]

    @cached_property
    def cost(self) -> int:
        return sum(part.cost for part in self.parts) + len(self.parts) - 1


Tree = Product | Sum


def _times(x: Monomial, y: Monomial) -> Monomial:
    exponents = dict(x)
    for atom, k in y:
        exponents[atom] = exponents.get(atom, 0) + k
    return tuple(sorted(exponents.items()))


def _common(x: Monomial, y: Monomial) -> Monomial:
    other = dict(y)
    return tuple((atom, min(k, other[atom])) for atom, k in x if atom in other)


def _divided(x: Monomial, y: Monomial) -> Monomial | None:
    exponents = dict(x)
    for atom, k in y:
        left = exponents.get(atom, 0) - k
        if left < 0:
            return None
        if left:
            exponents[atom] = left
        else:
            del exponents[atom]
    return tuple(exponents.items())


def _content(terms: Iterable[Fraction]) -> Fraction:
    """The number in front of a sum: what all coefficients have in common, with the sign of the
    first; 1 where taking it out would make the numbers of a robot unreadable."""
    values = list(terms)
    sign = -1 if values[0] < 0 else 1
    if len({abs(x) for x in values}) == 1:
        return values[0]
    decimal = any(x.denominator % 5 == 0 for x in values)
    if decimal or any(max(abs(x.numerator), x.denominator) > _STRUCTURAL for x in values):
        return Fraction(sign)
    top = gcd(*(x.numerator for x in values))
    bottom = lcm(*(x.denominator for x in values))
    halved = sum(x.denominator == bottom for x in values)  # a few halves stay where they are
    return Fraction(sign * top, bottom if 2 * halved >= len(values) else 1)


def _key(terms: Terms) -> Key:
    return frozenset((m, c.numerator, c.denominator) for m, c in terms.items())


def _cost(parts: Sequence[Product]) -> int:
    return sum(part.cost for part in parts) + len(parts) - 1


def _length(parts: list[Product]) -> tuple[int, list[int]]:
    """The cost, and the atoms of the first product: factors near the base come out first."""
    return _cost(parts), [atom for atom, _ in parts[0].atoms]


def _weight(monomial: Monomial) -> int:
    return sum(k for _, k in monomial)


@dataclass
class Collector:
    """kind: of an atom. CONSTANT, POSITION, TRIG, and from MOTION on accelerations, rates, and what
    is made of them, in the order in which they are to be read.

    choices: how many ways to take out factors of a few terms are tried at each step."""

    kind: Callable[[int], int]
    choices: int = 4
    _known: dict[Key, Tree] = field(default_factory=dict)
    _products: dict[Key, list[Product]] = field(default_factory=dict)

    def motion(self, atom: int) -> bool:
        return self.kind(atom) >= MOTION

    def trig(self, atom: int) -> bool:
        return self.kind(atom) == TRIG

    def tree(self, terms: Terms) -> Tree:
        """The sum, collected."""
        key = _key(terms)
        if key not in self._known:
            self._known[key] = self._tree(dict(terms))
        return self._known[key]

    def _tree(self, terms: dict[Monomial, Fraction]) -> Tree:
        if not terms:
            return Product(Fraction(0))
        if len(terms) == 1:
            ((monomial, coefficient),) = terms.items()
            return Product(coefficient, monomial)
        number, common, rest = _split(terms)
        if common or number not in (1, -1):
            return _product(number, common, [self.tree(rest)])
        root = _root(terms)
        if root:
            square = self.tree(root)
            return _product(Fraction(1), (), [square, square])
        motions = {_only(m, self.motion) for m in terms}
        if len(motions) > 1 and any(_only(m, self.motion) != m for m in terms):
            return self._by_motion(terms)
        if len(terms) > _PAIRS:  # nobody looks for the best
            return self._by_sums(terms, self.trig)
        trees = [self._by_factors(terms), self._by_sums(terms, self.trig)]
        trees.append(self._by_sums(terms, lambda atom: not self.trig(atom)))
        tree = min(trees, key=lambda tree: tree.cost)
        apart = self._apart(terms)
        return apart if apart and apart.cost <= tree.cost + _APART else tree

    def _apart(self, terms: Terms) -> Tree | None:
        """What is constant, then what turns: easier to read where it is hardly longer."""
        turning = {m: c for m, c in terms.items() if _only(m, self.trig)}
        if not turning or len(turning) == len(terms):
            return None
        still = {m: c for m, c in terms.items() if m not in turning}
        return self._sum([part for x in (still, turning) for part in _parts(self.tree(x))])

    def _by_motion(self, terms: Terms) -> Tree:
        """Σ coefficient · motion, motions with one coefficient together."""
        blocks = _blocks(terms, self.motion)
        parts: list[Product] = []
        for own, motions in blocks:
            parts.append(_product(Fraction(1), (), [self.tree(own), self.tree(motions)]))
        return self._sum(parts)

    def _by_sums(self, terms: Terms, inside: Callable[[int], bool]) -> Tree:
        """Sums that are the coefficient of several, taken out of these; the rest by factors."""
        parts: list[Product] = []
        rest: dict[Monomial, Fraction] = {}
        for own, others in _blocks(terms, inside):
            if len(own) > 1 and len(others) > 1:
                trees = [self.tree(own), self.tree(others)]
                parts.append(_product(Fraction(1), (), trees))
            else:
                rest |= {_times(m, n): a * b for m, a in own.items() for n, b in others.items()}
        if not parts:
            return self._by_factors(terms)
        tail = [self.tree(rest)] if rest else []
        return self._sum([*parts, *(part for tree in tail for part in _parts(tree))])

    def _by_factors(self, terms: Terms) -> Tree:
        """What is common to most terms taken out, again and again."""
        return self._sum(self._merged(self._factored(terms)))

    def _factored(self, terms: Terms) -> list[Product]:
        """Products of which no two have much in common; of few terms several ways are tried."""
        key = _key(terms)
        if key in self._products:
            return self._products[key]
        left, parts = dict(terms), list[Product]()
        while groups := _factors(left)[: self.choices]:
            if len(left) <= _FEW:
                ways = (self._after(left, group) for group in groups)
                parts = [*parts, *min(ways, key=_length)]
                left = {}
                break
            parts.append(self._taken_out({m: left.pop(m) for m in groups[0]}))
        parts += [Product(c, m) for m, c in left.items()]
        self._products[key] = parts
        return parts

    def _after(self, terms: Terms, group: Sequence[Monomial]) -> list[Product]:
        first = self._taken_out({m: terms[m] for m in group})
        return [first, *self._factored({m: c for m, c in terms.items() if m not in group})]

    def _taken_out(self, group: Terms) -> Product:
        number, common, rest = _split(group)
        return _product(number, common, [self.tree(rest)])

    def _merged(self, parts: list[Product]) -> list[Product]:
        """Products of one and the same sum together."""
        groups: dict[tuple[Sum, ...], list[Product]] = {}
        for part in parts:
            groups.setdefault(part.sums, []).append(part)
        result: list[Product] = []
        for sums, members in groups.items():
            if not sums or len(members) == 1:
                result += members
            else:
                factor = self._sum([Product(part.coefficient, part.atoms) for part in members])
                result.append(_product(Fraction(1), (), [factor, *sums]))
        return result

    def _sum(self, parts: Sequence[Product]) -> Tree:
        """In order; of what does not move a positive one first, where there is one."""
        if len(parts) == 1:
            return parts[0]
        ordered = sorted(parts, key=self._place)
        moving = any(map(self.motion, _leading(ordered[0])))
        first = next((k for k, part in enumerate(ordered) if part.coefficient > 0 or moving), 0)
        return Sum((ordered[first], *ordered[:first], *ordered[first + 1 :]))

    def _place(self, part: Product) -> tuple[object, ...]:
        """Accelerations before rates before the rest, there what is constant before sines."""
        atoms = sorted(_leading(part))
        motions = [atom for atom in atoms if self.motion(atom)]
        kind = min(map(self.kind, motions), default=0)
        return not motions, kind, -len(motions), motions, any(map(self.trig, atoms)), atoms


def _leading(part: Product) -> list[int]:
    """The atoms of a product and of the first part of each of its sums."""
    own = [atom for atom, k in part.atoms for _ in range(k)]
    return own + [atom for sum_ in part.sums for atom in _leading(sum_.parts[0])]


def _only(monomial: Monomial, inside: Callable[[int], bool]) -> Monomial:
    return tuple((atom, k) for atom, k in monomial if inside(atom))


def _split(
    terms: Mapping[Monomial, Fraction],
) -> tuple[Fraction, Monomial, dict[Monomial, Fraction]]:
    """(number, monomial, rest) of a sum: what all its terms have in common, and the others."""
    monomials = list(terms)
    common = monomials[0]
    for m in monomials[1:]:
        common = _common(common, m)
    ordered = sorted(terms, key=_order)
    number = _content(terms[m] for m in ordered)
    rest = {_divided(m, common) or (): c / number for m, c in terms.items()}
    return number, common, rest


def _root(terms: Terms) -> dict[Monomial, Fraction] | None:
    """x ± y of x² ± 2 x y + y², if the terms are that."""
    if len(terms) != 3:
        return None
    squares = [m for m, c in terms.items() if c == 1 and all(k % 2 == 0 for _, k in m)]
    mixed = [m for m in terms if m not in squares]
    if len(squares) != 2 or abs(terms[mixed[0]]) != 2:
        return None
    x, y = (tuple((atom, k // 2) for atom, k in m) for m in squares)
    return {x: Fraction(1), y: terms[mixed[0]] / 2} if _times(x, y) == mixed[0] else None


def _order(monomial: Monomial) -> tuple[object, ...]:
    """Short terms first, then by the atoms."""
    return tuple(atom for atom, k in monomial for _ in range(k))


def _blocks(
    terms: Terms, inside: Callable[[int], bool]
) -> list[tuple[dict[Monomial, Fraction], dict[Monomial, Fraction]]]:
    """Σ own · m, m of the atoms inside, with the m of one coefficient together: (coefficient, their
    sum)."""
    rows: dict[Monomial, dict[Monomial, Fraction]] = {}
    for m, c in terms.items():
        own = _only(m, lambda atom: not inside(atom))
        rows.setdefault(_only(m, inside), {})[own] = c
    blocks: dict[frozenset[tuple[Monomial, Fraction]], dict[Monomial, Fraction]] = {}
    for m, row in rows.items():
        lead = row[min(row, key=_order)]
        if len(row) > 1:
            number = _content([row[x] for x in sorted(row, key=_order)])
        else:
            number = lead
        key = frozenset((own, c / number) for own, c in row.items())
        blocks.setdefault(key, {})[m] = number
    return [(dict(key), sums) for key, sums in blocks.items()]


def _factors(terms: Terms) -> list[list[Monomial]]:
    """Terms that have a factor which is worth taking out, the best first."""
    monomials = sorted(terms, key=_order)
    having: dict[tuple[int, int], int] = {}  # (atom, exponent) -> bits of the terms with as much
    for k, m in enumerate(monomials):
        for atom, exponent in m:
            for e in range(1, exponent + 1):
                having[atom, e] = having.get((atom, e), 0) | 1 << k
    numbers: dict[tuple[int, int], int] = {}  # bits of the terms with one number in front
    for k, m in enumerate(monomials):
        key = abs(terms[m].numerator), terms[m].denominator
        numbers[key] = numbers.get(key, 0) | 1 << k
    alike = [x for key, x in numbers.items() if key != (1, 1) and x.bit_count() > 1]
    scores: dict[int, tuple[int, ...]] = {}
    for factor in _candidates(monomials, having):
        bits = -1
        for atom, e in factor:
            bits &= having[atom, e]
        weight = _weight(factor)
        alone = 1 << monomials.index(factor) if factor in terms else 0  # a term that becomes 1
        for number in (0, *alike):
            members = bits & number if number else bits
            count, shared = members.bit_count(), weight + (number > 0)
            saved = (count - 1) * shared - bool(members & alone)
            if count == 3 and _root(_split({m: terms[m] for m in _chosen(monomials, members)})[2]):
                saved += 2
            if count > 1 and saved > 0:
                scores[members] = max(scores.get(members, (0,)), (saved, shared, count))
    best = sorted(scores, key=lambda members: (*(-x for x in scores[members]), members))
    return [_chosen(monomials, members) for members in best]


def _chosen(monomials: Sequence[Monomial], bits: int) -> list[Monomial]:
    return [m for k, m in enumerate(monomials) if bits >> k & 1]


def _candidates(
    monomials: Sequence[Monomial], having: Mapping[tuple[int, int], int]
) -> Iterable[Monomial]:
    """Monomials that several terms have: what two of them share, or of many terms the most frequent
    atoms and pairs of atoms."""
    if len(monomials) <= _PAIRS:
        shared = dict.fromkeys(_common(a, b) for a, b in combinations(monomials, 2))
        return [m for m in shared if m]
    frequent = sorted(having, key=lambda x: (-having[x].bit_count(), x))[:_FREQUENT]
    pairs = (tuple(sorted(x)) for x in combinations(frequent, 2) if x[0][0] != x[1][0])
    return [*((x,) for x in having), *pairs]


def _parts(tree: Tree) -> Sequence[Product]:
    return tree.parts if isinstance(tree, Sum) else (tree,)


def _product(number: Fraction, common: Monomial, trees: Sequence[Tree]) -> Product:
    sums: list[Sum] = []
    for tree in trees:
        if isinstance(tree, Sum):
            sums.append(tree)
        else:
            number, common = number * tree.coefficient, _times(common, tree.atoms)
            sums += tree.sums
    return Product(number, common, tuple(sums))
