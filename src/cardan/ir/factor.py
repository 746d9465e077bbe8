"""Sums rewritten for fewer operations: like terms joined, common factors taken out.

    x - (x - y) = y      a·x + b·x = (a + b)·x      and where a, b are parameters, a + b is hoisted

Each maximal sum (additions whose value is used nowhere else) is flattened into terms, its
products into factors; the factor shared by most terms is taken out first. Exact algebra, other
rounding: the caller checks the result against the original.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from operator import itemgetter
from typing import Any

from .code import Code
from .cost import cost, depends_on
from .graph import Graph
from .identities import identified
from .passes import elements, regathered, replay

_LARGEST = 6000  # nodes: larger programs are left as they are
_FAR = 1.1  # times the operations of another climb: no climb from there came to fewer

Scalar = Any
Term = tuple[int, tuple[int, ...]]  # sign, factors (node ids of the old program, sorted)


def factored(
    code: Code, setup: frozenset[str] = frozenset({"p"}), spread: bool = True
) -> Code:  # fmt: skip
    """The program with every sum rewritten; `spread`: parameters into sums that have their own."""
    rewriter = _Rewriter(code, setup, spread)
    rewriter.run()
    return regathered(code, rewriter.graph, rewriter.made)


def rewritten_sums(code: Code, setup: frozenset[str]) -> tuple[Graph, list[int]]:
    """`factored`, as a graph and the signed references to its outputs."""
    rewriter = _Rewriter(code, setup, True)
    rewriter.run()
    refs = [ref for output in code.outputs.values() for ref in output.refs]
    graph, values = rewriter.graph, elements(rewriter.made, refs)
    return graph, [graph.reference(x) for x in values]


def _taken_out(code: Code) -> Code:
    return factored(code, spread=False)


def improved(code: Code) -> Code:
    """Values that are the same computed once, sums rewritten and partial results shared, again and
    again as long as it pays."""
    from .rescale import rescaled
    from .share import shared

    Priced = tuple[int, Code]
    known: dict[Any, Priced] = {}  # climbs often come to the same program

    def step(rewrite: Callable[[Code], Code], current: Priced) -> Priced:
        operations, program = current
        if len(program.nodes) > _LARGEST:
            return current
        key = rewrite, program.key
        if key not in known:
            new = rewrite(program)
            known[key] = _operations(new), new
        return known[key] if known[key][0] < operations else current

    first, same = (_operations(code), code), identified(code)
    other = _operations(same), same  # cheaper, and yet not always the better start
    starts = [first] if other[0] == first[0] else [other, first]
    ends: list[Priced] = []
    for current, factor in product(starts, (factored, _taken_out)):
        for rewrite in (factor, shared, rescaled) * 2:
            current = step(rewrite, current)
            if current[0] > _FAR * min(end[0] for end in (first, *ends)):
                break
        ends.append(current)
    return min((first, *ends[-2:], *ends[:-2]), key=itemgetter(0))[1]


def _operations(code: Code) -> int:
    return cost(code)[0].total


class _Rewriter:
    def __init__(self, code: Code, setup: frozenset[str], spread: bool) -> None:
        self.code, self.spread = code, spread
        self.nodes = code.nodes
        self.uses = code.uses
        self.varying = depends_on(code, set(code.inputs) - setup)
        self.graph = Graph()
        self.made: dict[int, Scalar] = {}

    def run(self) -> None:
        inner = self._inner()
        for id in range(1, len(self.nodes)):
            if id not in inner:
                self.made[id] = self._make(id)
        for out in self.code.outputs.values():
            for ref in out.refs:
                self._value(abs(ref))

    def _inner(self) -> set[int]:
        """Parts of one larger sum or product only: they are made there."""
        within = {"add": ("add", "sub", "mul"), "sub": ("add", "sub", "mul"), "mul": ("mul",)}
        return {
            arg for node in self.nodes if node[0] in within for arg in node[1:]
            if self.uses[arg] == 1 and self.nodes[arg][0] in within[node[0]]
        }  # fmt: skip

    def _value(self, id: int) -> Scalar:
        if id not in self.made:
            self.made[id] = self._make(id)
        return self.made[id]

    def _make(self, id: int) -> Scalar:
        node = self.nodes[id]
        if node[0] in ("add", "sub"):
            return self._sum(self._opened(self._terms(id, 1, root=True)))
        if node[0] == "mul":
            return self._product(self._factors(id, root=True))
        if node[0] in ("input", "const"):
            return replay(self.graph, node, [])
        scalars: dict[int, Scalar] = {arg: self._value(arg) for arg in node[1:]}
        return replay(self.graph, node, scalars)  # type: ignore[arg-type]

    def _terms(self, id: int, sign: int, root: bool = False) -> list[Term]:
        node = self.nodes[id]
        if node[0] in ("add", "sub") and (root or self.uses[id] == 1):
            other = sign if node[0] == "add" else -sign
            return self._terms(node[1], sign) + self._terms(node[2], other)
        if node[0] != "mul" or self.uses[id] > 1:
            return [(sign, (id,))]
        return [(sign, self._factors(id))]

    def _opened(self, terms: list[Term]) -> list[Term]:
        """Shared sums among the terms, opened where a term then cancels: x - (x - y) = y."""
        for _ in range(len(terms)):
            cancelled = self._cancelling(terms)
            if cancelled is None:
                return terms
            terms = cancelled
        return terms

    def _cancelling(self, terms: list[Term]) -> list[Term] | None:
        present: dict[tuple[int, ...], int] = {}
        for k, (sign, factors) in enumerate(terms):
            node = self.nodes[factors[0]]
            if len(factors) != 1 or node[0] not in ("add", "sub"):
                continue
            present = present or {factors: sign for sign, factors in terms}
            inner = [(sign, node[1]), (sign if node[0] == "add" else -sign, node[2])]
            parts = [(g, self._product_factors(arg)) for g, arg in inner]
            if any(present.get(f) == -g for g, f in parts):
                return _joined([*terms[:k], *parts, *terms[k + 1 :]])
        return None

    def _product_factors(self, id: int) -> tuple[int, ...]:
        return (id,) if self.uses[id] > 1 else self._factors(id)

    def _factors(self, id: int, root: bool = False) -> tuple[int, ...]:
        nodes, uses = self.nodes, self.uses
        node = nodes[id]
        if node[0] != "mul" or not (root or uses[id] == 1):
            return (id,)
        x, y = node[1:]
        if (nodes[x][0] != "mul" or uses[x] > 1) and (nodes[y][0] != "mul" or uses[y] > 1):
            return (x, y)  # the older one first
        return tuple(sorted(self._factors(x) + self._factors(y)))

    def _sum(self, terms: list[Term]) -> Scalar:
        if len(terms) == 2 and set(terms[0][1]).isdisjoint(terms[1][1]):  # most of them
            return self._added([(sign, self._product(factors)) for sign, factors in terms])
        terms = _joined(terms)
        best, shared = None, 0
        counts: dict[int, int] = {}
        for _, factors in terms:
            for factor in factors if len(factors) == 1 else set(factors):
                counts[factor] = counts.get(factor, 0) + 1
        for factor, count in counts.items():  # insertion order: deterministic
            if count < 2 or self.nodes[factor][0] == "const":
                continue
            group = [t for t in terms if factor in t[1]]
            rest_fixed = all(self._fixed(_without(f, factor)) for _, f in group)
            gain = (count - 1) * (2 if rest_fixed else 1)
            if not self.varying[factor]:  # a product saved where no other parameter remains
                others = [self.spread and self._scaled(_without(f, factor)) for _, f in group]
                gain = others.count(False) - 1
            if gain > shared:
                best, shared = factor, gain
        if best is None:
            return self._added([(sign, self._product(factors)) for sign, factors in terms])
        inside = [(sign, _without(f, best)) for sign, f in terms if best in f]
        outside = [(sign, f) for sign, f in terms if best not in f]
        taken = self._value(best) * self._sum(inside)
        if not outside:
            return taken
        return self._with(taken, outside)

    def _with(self, taken: Scalar, outside: list[Term]) -> Scalar:
        return self._sum(outside) + taken

    def _scaled(self, factors: tuple[int, ...]) -> bool:
        """Is one of the factors a parameter?"""
        return not all(self.varying[f] for f in factors)

    def _fixed(self, factors: tuple[int, ...]) -> bool:
        return not any(self.varying[f] for f in factors)

    def _product(self, factors: tuple[int, ...]) -> Scalar:
        """Parameters first, so that their product is hoisted; or into a sum that has its own."""
        if len(factors) == 1:
            return self._value(factors[0])
        result: Scalar = 1
        fixed = [f for f in factors if not self.varying[f]]
        if not fixed and len(factors) == 2:
            return self._value(factors[0]) * self._value(factors[1])
        moving = [f for f in factors if self.varying[f]] if fixed else factors
        for f in [*sorted(fixed), *sorted(moving)]:
            if self.spread and fixed and self.varying[f] and self.uses[f] == 1:
                terms = self._terms(f, 1, root=True)
                if len(terms) > 1 and all(self._scaled(term) for _, term in terms):
                    opened = self._sum([(g, (*term, *fixed)) for g, term in terms])
                    rest = [x for x in factors if self.varying[x] and x != f]
                    return opened * self._product(tuple(rest)) if rest else opened
            result = result * self._value(f)
        return result

    def _added(self, terms: list[tuple[int, Scalar]]) -> Scalar:
        total: Scalar = 0
        for sign, value in terms:
            total = total + value if sign > 0 else total - value
        return total


def _joined(terms: list[Term]) -> list[Term]:
    """Terms with the same factors and opposite signs cancel."""
    if len({factors for _, factors in terms}) == len(terms):
        return terms
    counts: dict[tuple[int, ...], int] = {}
    for sign, factors in terms:
        counts[factors] = counts.get(factors, 0) + sign
    out: list[Term] = []
    for factors, count in counts.items():
        out += [(1 if count > 0 else -1, factors)] * abs(count)
    return out


def _without(factors: tuple[int, ...], factor: int) -> tuple[int, ...]:
    k = factors.index(factor)
    return factors[:k] + factors[k + 1 :]
