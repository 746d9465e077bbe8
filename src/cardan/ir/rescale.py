"""Sums in units of their own: a factor on parameters alone goes out of a sum into what reads it.

    v = h·x + k·y,  read as  m·v  and  n·v     ->     v' = x + (k/h)·y,  read as  (mh)·v', (nh)·v'

h, k, m, n are parameters or numbers, so that k/h, mh, nh are hoisted and one product of every state
is spared. Sums that are terms of each other are in one unit: these are the groups here. A unit pays
if it is the factor of more terms of the group than terms have no factor and values are read bare.

Scaling loses no accuracy. A unit of 0 is taken for something smaller than rounding: h·x is nothing
beside k·y then, in any unit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .code import Code, arguments
from .cost import depends_on
from .graph import Expr, Graph
from .passes import regathered, replay

Scalar = Any
_TINY = 2.0**-60
_SUMS = ("add", "sub")

# the factor of a term: parameters, and groups of sums among its other factors (in their units)
Factor = tuple[tuple[int, ...], tuple[int, ...]]


def rescaled(code: Code, setup: frozenset[str] = frozenset({"p"})) -> Code:
    """The program with its sums in the units that spare most products."""
    return _Rescaler(code, setup).run()


@dataclass
class _Group:
    """Sums in one unit: the factors of their terms; terms without one; sums read without one."""

    factors: Counter[Factor] = field(default_factory=Counter)
    bare: set[int] = field(default_factory=set)
    read: set[int] = field(default_factory=set)

    @property
    def losses(self) -> int:
        return len(self.bare) + len(self.read)


class _Rescaler:
    def __init__(self, code: Code, setup: frozenset[str]) -> None:
        self.code, self.nodes, self.uses = code, code.nodes, code.uses
        self.varying = depends_on(code, set(code.inputs) - setup)
        self.graph = Graph()
        self.made: dict[int, Scalar] = {}
        self.scaled: dict[int, Scalar] = {}  # values in the unit of their group
        self.units: dict[int, tuple[Factor | None, Scalar]] = {}
        self.sought: set[int] = set()  # groups whose unit is being looked for

    def run(self) -> Code:
        for id, node in enumerate(self.nodes):
            if node[0] != "none" and not self.varying[id]:
                self.made[id] = replay(self.graph, node, self.made)  # type: ignore[arg-type]
        for id, node in enumerate(self.nodes):
            if not self.varying[id] or id in self._inner:
                continue
            if node[0] in _SUMS and self._unit(self._root[id]) is not None:
                x, y = (self._term(arg, self._root[id]) for arg in node[1:])
                self.scaled[id] = x + y if node[0] == "add" else x - y
            elif node[0] == "mul":
                self.made[id] = self._product(id)
            else:
                for arg in arguments(node):
                    self._value(arg)
                self.made[id] = replay(self.graph, node, self.made)  # type: ignore[arg-type]
        for out in self.code.outputs.values():
            for ref in out.refs:
                self._value(abs(ref))
        return regathered(self.code, self.graph, self.made)

    @cached_property
    def _inner(self) -> set[int]:
        """Products that are a factor of one other product only."""
        return {
            arg for node in self.nodes if node[0] == "mul" for arg in node[1:]
            if self.nodes[arg][0] == "mul" and self.uses[arg] == 1 and self.varying[arg]
        }  # fmt: skip

    @cached_property
    def _root(self) -> dict[int, int]:
        """The group of every sum: sums that are terms of each other."""
        root: dict[int, int] = {}

        def find(id: int) -> int:
            while root[id] != id:
                root[id] = id = root[root[id]]
            return id

        for id, node in enumerate(self.nodes):
            if node[0] in _SUMS and self.varying[id]:
                root[id] = id
                for arg in node[1:]:
                    if arg in root:
                        root[find(arg)] = find(id)
        return {id: find(id) for id in root}

    @cached_property
    def _groups(self) -> dict[int, _Group]:
        groups: dict[int, _Group] = defaultdict(_Group)
        for id, node in enumerate(self.nodes):
            if not self.varying[id] or id in self._inner:
                continue
            if id in self._root:
                for arg in node[1:]:
                    self._count_term(groups[self._root[id]], arg)
                continue
            fixed, rest = self._factors(id) if node[0] == "mul" else ([], arguments(node))
            if not fixed:
                self._count_read(groups, rest)
        for out in self.code.outputs.values():
            self._count_read(groups, [abs(ref) for ref in out.refs])
        return groups

    def _count_term(self, group: _Group, arg: int) -> None:
        if not self.varying[arg] or arg in self._root:
            return
        factor = self._factor(arg)
        if factor is None:
            group.bare.add(arg)
        else:
            group.factors[factor] += 1

    def _count_read(self, groups: dict[int, _Group], read: Any) -> None:
        for arg in read:
            if arg in self._root:
                groups[self._root[arg]].read.add(arg)

    def _factors(self, id: int, root: bool = True) -> tuple[list[int], list[int]]:
        """The factors of a product: those on parameters alone, the others."""
        node = self.nodes[id]
        if not self.varying[id]:
            return [id], []
        if node[0] != "mul" or not (root or id in self._inner):
            return [], [id]
        (fixed, rest), (more, others) = (self._factors(arg, root=False) for arg in node[1:])
        return fixed + more, rest + others

    def _factor(self, id: int) -> Factor | None:
        """The factor that a term of a sum alone has, or none."""
        if self.nodes[id][0] != "mul" or self.uses[id] != 1:
            return None
        fixed, rest = self._factors(id)
        groups = sorted(self._root[arg] for arg in rest if arg in self._root)
        return (tuple(sorted(fixed)), tuple(groups)) if fixed else None

    def _unit(self, root: int) -> Scalar | None:
        """The unit of a group, or None where none pays."""
        if root not in self.units:
            group = self._groups[root]
            unit: tuple[Factor | None, Scalar] = None, None
            self.sought.add(root)
            for factor, count in group.factors.most_common():
                if count <= group.losses:
                    break
                if not self.sought.isdisjoint(factor[1]):
                    continue  # a unit cannot contain itself
                unit = factor, away_from_zero(self._worth(factor))
                break
            self.sought.remove(root)
            self.units[root] = unit
        return self.units[root][1]

    def _worth(self, factor: Factor) -> Scalar:
        """The value of a factor."""
        product: Scalar = 1
        for id in factor[0]:
            product = product * self.made[id]
        for root in factor[1]:
            unit = self._unit(root)
            product = product if unit is None else product * unit
        return product

    def _term(self, id: int, root: int) -> Scalar:
        """A term of a sum in the unit of the sum's group."""
        taken, unit = self.units[root]
        if id in self._root:
            return self.scaled[id]
        factor = self._factor(id) if self.varying[id] else None
        if factor is None:
            return self._value(id) / unit if not self.varying[id] else self._value(id) * (1 / unit)
        rest: Scalar = 1 if factor == taken else self._worth(factor) / unit
        return self._times(rest, self._factors(id)[1])

    def _product(self, id: int) -> Scalar:
        fixed, rest = self._factors(id)
        if not fixed:
            product: Scalar = 1
            for arg in rest:
                product = product * self._value(arg)
            return product
        groups = tuple(sorted(self._root[arg] for arg in rest if arg in self._root))
        return self._times(self._worth((tuple(sorted(fixed)), groups)), rest)

    def _times(self, product: Scalar, rest: list[int]) -> Scalar:
        """A number times values, each in the unit of its group."""
        for arg in rest:
            product = product * (self.scaled[arg] if arg in self.scaled else self._value(arg))
        return product

    def _value(self, id: int) -> Scalar:
        """The value of a node in no unit."""
        if id not in self.made:
            if id in self.scaled:
                self.made[id] = self._unit(self._root[id]) * self.scaled[id]
            else:
                self.made[id] = self._product(id)
        return self.made[id]


def away_from_zero(x: Scalar) -> Scalar:
    """x, or something smaller than rounding where x vanishes."""
    if not isinstance(x, Expr):
        return x
    return x.apply("select", x.apply("abs", x) - _TINY, x, _TINY)
