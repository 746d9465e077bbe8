"""Sums and products of many terms, associated so that they share partial results.

    a·b·c  and  a·b·d          ->    t = a·b,      t·c    and  t·d
    x + y + z  and  x + y - w  ->    t = x + y,    t + z  and  t - w

Greedy: the pair of terms found in most sums (products) is made one term first, then again. Terms on
parameters alone are put together before anything else, so that their value is hoisted.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any

from .code import Code
from .cost import depends_on
from .graph import Graph
from .passes import regathered, replay

Term = tuple[int, int]  # sign, node id (negative ids are pairs made here)
Pair = tuple[int, int, int]  # two ids, relative sign


def shared(code: Code, setup: frozenset[str] = frozenset({"p"})) -> Code:
    """The program with partial sums and products shared."""
    return _Sharer(code, setup).run()


class _Sharer:
    def __init__(self, code: Code, setup: frozenset[str]) -> None:
        self.code, self.nodes, self.uses = code, code.nodes, code.uses
        self.varying = depends_on(code, set(code.inputs) - setup)
        self.graph = Graph()
        self.pairs: dict[int, tuple[str, Term, Term]] = {}
        self.ids: dict[tuple[str, Term, Term], int] = {}
        self.made: dict[int, Any] = {}
        self.groups: dict[int, list[Term]] = {}
        for kinds in (("mul",), ("add", "sub")):
            self._share(kinds)

    def run(self) -> Code:
        for out in self.code.outputs.values():
            for ref in out.refs:
                self._value(abs(ref))
        return regathered(self.code, self.graph, self.made)

    def _share(self, kinds: tuple[str, ...]) -> None:
        """Flatten the groups of one kind and join their commonest pairs."""
        inner = {
            arg
            for node in self.nodes
            if node[0] in kinds
            for arg in node[1:]
            if self.uses[arg] == 1 and self.nodes[arg][0] in kinds
        }
        flat = {
            id: self._flat(id, 1, kinds, root=True)
            for id, node in enumerate(self.nodes)
            if node[0] in kinds and id not in inner
        }
        groups = {id: self._gathered(terms, kinds) for id, terms in flat.items()}
        holders: dict[Pair, set[int]] = defaultdict(set)  # pair -> the groups that have it
        for id, terms in groups.items():
            for pair in _pairs(terms):
                holders[pair].add(id)
        commonest = [_ranked(pair, len(among)) for pair, among in holders.items()]
        heapify(commonest)
        while commonest:
            count, (x, y, sign) = _pair_of(heappop(commonest))
            among = holders[x, y, sign]
            if len(among) != count:
                continue  # it was ranked anew
            if count < 2 or all(len(groups[id]) < 3 for id in among):
                break
            name = self._pair("mul" if kinds == ("mul",) else "add", (1, x), (sign, y))
            changed = set[Pair]()
            for id in list(among):
                old = _pairs(groups[id])
                groups[id] = _joined(groups[id], x, y, sign, name)
                new = _pairs(groups[id])
                for pair in old - new:
                    holders[pair].discard(id)
                for pair in new - old:
                    holders[pair].add(id)
                changed |= old ^ new
            for pair in changed:
                heappush(commonest, _ranked(pair, len(holders[pair])))
        self.groups |= groups

    def _flat(self, id: int, sign: int, kinds: tuple[str, ...], root: bool = False) -> list[Term]:
        node = self.nodes[id]
        if node[0] in kinds and (root or self.uses[id] == 1):
            other = -sign if node[0] == "sub" else sign
            return self._flat(node[1], sign, kinds) + self._flat(node[2], other, kinds)
        return [(sign, id)]

    def _gathered(self, terms: list[Term], kinds: tuple[str, ...]) -> list[Term]:
        """Terms on parameters alone joined into one, first."""
        fixed = [t for t in terms if not self._varies(t[1])]
        rest = [t for t in terms if self._varies(t[1])]
        if not rest:
            return terms
        while len(fixed) > 1:
            (g, x), (h, y) = fixed[:2]
            op = "mul" if kinds == ("mul",) else "add"
            fixed = [(g, self._pair(op, (1, x), (g * h, y))), *fixed[2:]]
        return fixed + rest

    def _pair(self, op: str, x: Term, y: Term) -> int:
        key = (op, x, y)
        if key not in self.ids:
            self.ids[key] = -len(self.ids) - 1
            self.pairs[self.ids[key]] = key
        return self.ids[key]

    def _varies(self, id: int) -> bool:
        if id > 0:
            return bool(self.varying[id])
        _, x, y = self.pairs[id]
        return self._varies(x[1]) or self._varies(y[1])

    # rebuilding

    def _value(self, id: int) -> Any:
        if id not in self.made:
            self.made[id] = self._make(id)
        return self.made[id]

    def _make(self, id: int) -> Any:
        if id < 0:
            op, *terms = self.pairs[id]
            return self._combined(op, list(terms))
        if id in self.groups:
            return self._combined("mul" if self.nodes[id][0] == "mul" else "add", self.groups[id])
        node = self.nodes[id]
        if node[0] in ("input", "const"):
            return replay(self.graph, node, [])
        scalars: dict[int, Any] = {arg: self._value(arg) for arg in node[1:]}
        return replay(self.graph, node, scalars)  # type: ignore[arg-type]

    def _combined(self, op: str, terms: list[Term]) -> Any:
        result: Any = 1 if op == "mul" else 0
        for sign, id in terms:
            value = self._value(id)
            if op == "mul":
                result = result * value
            else:
                result = result + value if sign > 0 else result - value
        return result


def _ranked(pair: Pair, count: int) -> tuple[int, int, int, int]:
    """A pair in a heap: the one that most groups have first, of these the greatest."""
    x, y, sign = pair
    return -count, -x, -y, -sign


def _pair_of(rank: tuple[int, int, int, int]) -> tuple[int, Pair]:
    count, x, y, sign = rank
    return -count, (-x, -y, -sign)


def _pairs(terms: list[Term]) -> set[Pair]:
    """The pairs of different terms."""
    ordered = sorted(terms, key=lambda t: (t[1] < 0, abs(t[1])))
    return {(x, y, g * h) for (g, x), (h, y) in combinations(ordered, 2) if x != y}


def _has(terms: list[Term], pair: Pair) -> bool:
    x, y, sign = pair
    factors = {id: g for g, id in terms}
    return x in factors and y in factors and factors[x] * factors[y] == sign


def _joined(terms: list[Term], x: int, y: int, sign: int, name: int) -> list[Term]:
    """The group with the pair replaced, if it has it."""
    if not _has(terms, (x, y, sign)):
        return terms
    signs = {id: g for g, id in terms}
    rest = list(terms)
    rest.remove((signs[x], x))
    rest.remove((signs[y], y))
    return [*rest, (signs[x], name)]
