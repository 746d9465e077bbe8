"""Products by a parameter that are there already, put to use in other sums.

Where h·c and h·s are values that others read, h a parameter or number,

    p·c + (h·c)·y                        ->    (h·c)·(y + p/h)
    u·(a·c - b·s) + v·(a·s + b·c)        ->    (a/h)·(u·hc + v·hs) + (b/h)·(v·hc - u·hs)

The first spares a product of every state. The second is a turn read from its other side: it pays
where the sums in brackets are parts of others already, be it with u·hc within hc·(u + w), which is
opened for it. Scaling loses no accuracy; a parameter of 0 is taken for something smaller than
rounding (see rescale).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from typing import Any

from .code import Code
from .cost import cost, depends_on
from .graph import Graph, Node
from .passes import regathered, replay
from .rescale import away_from_zero
from .share import shared

Scalar = Any
Term = tuple[int, int]  # sign, node id
Product = tuple[int, int, int]  # sign, factors
Bracket = tuple[int, int, tuple[Product, Product]]  # a, h, u·hc ± v·hs
_SUMS = ("add", "sub")


def reused(code: Code, setup: frozenset[str] = frozenset({"p"})) -> Code:
    """The program with its sums written on products by parameters that it has, where that costs
    less: the last step, after which derivatives of the program share less."""
    new = _Reuser(code, setup).run()
    if new is code:
        return code
    return min(code, shared(new, setup), key=lambda x: cost(x, setup)[0].total)


class _Reuser:
    def __init__(self, code: Code, setup: frozenset[str]) -> None:
        self.code, self.nodes, self.uses = code, code.nodes, code.uses
        self.varying = depends_on(code, set(code.inputs) - setup)
        self.scaled: dict[int, dict[int, int]] = defaultdict(dict)  # c -> h -> h·c
        for id, node in enumerate(self.nodes):
            if node[0] == "mul" and self.uses[id] > 1 and (split := self._by_parameter(id)):
                h, c = split
                self.scaled[c][h] = id
        self.sums = self._sums()
        self.holders: dict[frozenset[int], list[int]] = defaultdict(list)  # factors -> sums
        for root, terms in self.sums.items():
            for _, id in terms:
                self.holders[self._factors(id)].append(root)
        self.units: set[int] = set()  # parameters that are divided by
        self.opened: set[int] = set()  # products hc·(u + w) to be written hc·u + hc·w
        self.more: dict[int, list[Callable[[], Scalar]]] = {}  # what stands for terms of a sum
        self.graph = Graph()
        self.made: dict[int, Scalar] = {}

    def _by_parameter(self, id: int) -> tuple[int, int] | None:
        """(h, c) of a product h·c of a parameter and a value."""
        node = self.nodes[id]
        if node[0] != "mul" or self.varying[node[1]] == self.varying[node[2]]:
            return None
        return (node[2], node[1]) if self.varying[node[1]] else (node[1], node[2])

    def _factors(self, id: int) -> frozenset[int]:
        node = self.nodes[id]
        return frozenset(node[1:]) if node[0] == "mul" else frozenset()

    def _sums(self) -> dict[int, list[Term]]:
        """The terms of every sum that is not a part of one other sum only."""
        inner = {
            arg for node in self.nodes if node[0] in _SUMS for arg in node[1:]
            if self.uses[arg] == 1 and self.nodes[arg][0] in _SUMS
        }  # fmt: skip
        return {
            id: self._flat(id, 1, root=True)
            for id, node in enumerate(self.nodes)
            if node[0] in _SUMS and self.varying[id] and id not in inner
        }

    def _flat(self, id: int, sign: int, root: bool = False) -> list[Term]:
        node = self.nodes[id]
        if node[0] in _SUMS and (root or self.uses[id] == 1):
            other = -sign if node[0] == "sub" else sign
            return self._flat(node[1], sign) + self._flat(node[2], other)
        return [(sign, id)]

    # p·c + (h·c)·y

    def _shifted(self, terms: list[Term]) -> Iterator[Callable[[], Scalar]]:
        """hc·(y + p/h), each in place of two of these terms."""
        own = {arg: term for term in terms if self.uses[term[1]] == 1
               for arg in self._factors(term[1])}  # fmt: skip
        for term in list(terms):
            sign, id = term
            split = self._by_parameter(id) if self.uses[id] == 1 else None
            p, c = split or (0, 0)
            for h, hc in self.scaled.get(c, {}).items():
                if hc in own and {term, own[hc]} <= set(terms):
                    g, product = own[hc]
                    terms.remove(term)
                    terms.remove(own[hc])
                    self.units.add(h)
                    y = g, _other(self.nodes[product], hc)
                    yield partial(self._shift, hc, y, (sign, p), h)
                    break

    def _shift(self, hc: int, y: Term, p: Term, h: int) -> Scalar:
        part = self._value(p[1]) / self._unit(h)
        return self._value(hc) * (y[0] * self._value(y[1]) + p[0] * part)

    # u·(a·c - b·s) + v·(a·s + b·c)

    def _turned(self, terms: list[Term]) -> Iterator[Callable[[], Scalar]]:
        """Turns among these terms from their other side, where it pays."""
        products = [
            (term, (term[0], u, x))
            for term in terms
            if self.uses[term[1]] == 1 and self.nodes[term[1]][0] == "mul"
            for u, x in permutations(self.nodes[term[1]][1:])
            if self.varying[u] and self.nodes[x][0] in _SUMS
        ]
        for (first, one), (second, other) in permutations(products, 2):
            if not {first, second} <= set(terms) or self.uses[one[2]] + self.uses[other[2]] > 3:
                continue
            for brackets in self._crossed(one, other):
                open_first, open_second = map(self._to_open, brackets)
                if open_first is None or open_second is None or len(open_first + open_second) > 1:
                    continue
                self.opened.update(open_first, open_second)
                terms.remove(first)
                terms.remove(second)
                for bracket in brackets:
                    self.units.add(bracket[1])
                    yield partial(self._bracket, *bracket)
                break

    def _crossed(self, one: Product, other: Product) -> Iterator[tuple[Bracket, Bracket]]:
        """Both sums in brackets, for each h."""
        (g, u, x), (k, v, y) = one, other
        X, Y = self._parts(x), self._parts(y)
        if len(X) != 2 or X.keys() != Y.keys():
            return
        (c, (i, a)), (s, (j, b)) = X.items()
        (m, a_other), (n, b_other) = Y[s], Y[c]
        if (a, b) == (a_other, b_other):
            for h in self.scaled[c].keys() & self.scaled[s].keys():
                hc, hs = self.scaled[c][h], self.scaled[s][h]
                yield ((a, h, ((g * i, u, hc), (k * m, v, hs))),
                       (b, h, ((g * j, u, hs), (k * n, v, hc))))  # fmt: skip

    def _parts(self, id: int) -> dict[int, tuple[int, int]]:
        """c -> (sign, a) of a sum a·c ± b·s."""
        node = self.nodes[id]
        sides = (1, node[1]), (1 if node[0] == "add" else -1, node[2])
        split = [(sign, self._by_parameter(side)) for sign, side in sides]
        return {ac[1]: (sign, ac[0]) for sign, ac in split if ac is not None}

    def _to_open(self, bracket: Bracket) -> list[int] | None:
        """The product to be opened, or none, for the bracket to be a part of a sum; else None."""
        for (g, *near), (k, *far) in permutations(bracket[2]):
            for root in self.holders[frozenset(near)]:
                signs = {self._factors(id): sign for sign, id in self.sums[root]}
                sign = g * k * signs.get(frozenset(near), 0)  # 0: rewritten meanwhile
                if signs.get(frozenset(far)) == sign:
                    return []
                for part, id in self.sums[root]:
                    for u, hc in permutations(far):
                        if hc in self._factors(id) and (part * sign, u) in self._within(id, hc):
                            return [id]
        return None

    def _within(self, id: int, hc: int) -> list[Term]:
        """u, w of a product hc·(u + w) that is read once."""
        inside = _other(self.nodes[id], hc)
        if self.nodes[inside][0] not in _SUMS or self.uses[id] > 1 or self.uses[inside] > 1:
            return []
        return self._flat(inside, 1, root=True)

    def _bracket(self, a: int, h: int, products: tuple[Product, Product]) -> Scalar:
        inside: Scalar = 0
        for sign, x, y in products:
            inside = inside + sign * (self._value(x) * self._value(y))
        return self._value(a) / self._unit(h) * inside

    # rebuilding

    def run(self) -> Code:
        for root, terms in self.sums.items():
            rest = list(terms)
            self.more[root] = [*self._turned(rest), *self._shifted(rest)]
            self.sums[root] = rest
        if not self.units:
            return self.code
        for out in self.code.outputs.values():
            for ref in out.refs:
                self._value(abs(ref))
        return regathered(self.code, self.graph, self.made)

    def _value(self, id: int) -> Scalar:
        if id not in self.made:
            self.made[id] = self._make(id)
        return self.made[id]

    def _unit(self, h: int) -> Scalar:
        return away_from_zero(self._value(h))

    def _make(self, id: int) -> Scalar:
        node = self.nodes[id]
        if id in self.sums:
            total: Scalar = 0
            for sign, term in self.sums[id]:
                total = total + sign * self._term(term)
            for make in self.more[id]:
                total = total + make()
            return total
        if node[0] in ("input", "const"):
            return replay(self.graph, node, [])
        h, c = self._by_parameter(id) or (0, 0)
        if h in self.units:
            return self._unit(h) * self._value(c)
        scalars: dict[int, Scalar] = {arg: self._value(arg) for arg in node[1:]}
        return replay(self.graph, node, scalars)  # type: ignore[arg-type]

    def _term(self, id: int) -> Scalar:
        """A term of a sum, opened where a bracket wants it."""
        if id not in self.opened:
            return self._value(id)
        hc, inside = sorted(self.nodes[id][1:], key=lambda arg: self.nodes[arg][0] in _SUMS)
        total: Scalar = 0
        for sign, u in self._flat(inside, 1, root=True):
            total = total + sign * (self._value(hc) * self._value(u))
        return total


def _other(node: Node, factor: int) -> int:
    """The other factor of a product."""
    other: int = node[1] if node[2] == factor else node[2]
    return other
