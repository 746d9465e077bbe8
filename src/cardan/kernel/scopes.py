"""Where the variables of a kernel are declared, and statements that are components of a vector."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

COUNTER = "xyz"  # the variable of a loop over components


def mentioned(nodes: Iterable[ast.AST]) -> set[str]:
    """The names in some statements."""
    return {x.id for node in nodes for x in ast.walk(node) if isinstance(x, ast.Name)}


@dataclass
class Scopes:
    """The statement that declares each variable: its first one in the innermost block that has all
    its uses, if that assigns it. Others are declared before all."""

    body: list[ast.stmt]
    variables: Iterable[str]
    at: dict[int, str] = field(default_factory=dict)  # id of a statement -> what it declares
    first: list[str] = field(default_factory=list)
    constant: set[str] = field(default_factory=set)
    idle: set[int] = field(default_factory=set)  # statements that assign what nothing reads
    _names: dict[int, set[str]] = field(default_factory=dict)  # id of a statement -> names in it

    def __post_init__(self) -> None:
        stored = Counter(
            x.id for node in self.body for x in ast.walk(node)
            if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
        )  # fmt: skip
        self.constant = {name for name, count in stored.items() if count == 1}
        for name in self.variables:
            places = self._places(name, self.body)
            if places is None:
                self.first.append(name)
                continue
            for node, idle in places:
                self.at[id(node)] = name
                if idle:
                    self.idle.add(id(node))

    def _places(self, name: str, block: list[ast.stmt]) -> list[tuple[ast.stmt, bool]] | None:
        """The statements of a block that declare a variable, and whether nothing reads it then."""
        uses = [node for node in block if name in self._mentioned(node)]
        if not uses:
            return []
        first = uses[0]
        if isinstance(first, ast.Assign) and ast.unparse(first.targets[0]) == name:
            return None if name in mentioned([first.value]) else [(first, len(uses) == 1)]
        places: list[tuple[ast.stmt, bool]] = []
        for node in uses:
            inner = self._inside(name, node)
            if inner is None:
                return None
            places += inner
        return places

    def _mentioned(self, node: ast.stmt) -> set[str]:
        if id(node) not in self._names:
            self._names[id(node)] = mentioned([node])
        return self._names[id(node)]

    def _inside(self, name: str, node: ast.stmt) -> list[tuple[ast.stmt, bool]] | None:
        if isinstance(node, ast.For):
            if name in mentioned([node.iter]):
                return None
            own = isinstance(node.target, ast.Name) and node.target.id == name
            return [(node, False)] if own else self._places(name, node.body)
        if isinstance(node, ast.If | ast.While) and name not in mentioned([node.test]):
            parts = [self._places(name, block) for block in (node.body, node.orelse)]
            return None if None in parts else [x for part in parts for x in part or []]
        return None


def component_loop(nodes: list[ast.stmt]) -> ast.For | None:
    """Three assignments that differ by one place in some of their indices, as a loop."""
    if len(nodes) < 3 or not all(isinstance(x, ast.Assign) for x in nodes[:3]):
        return None
    first, *others = (x for x in nodes[:3] if isinstance(x, ast.Assign))
    if not isinstance(first.targets[0], ast.Subscript):
        return None
    moved = [_moved(first, other, k) for k, other in enumerate(others, 1)]
    if moved[0] is None or moved[1] is None or ast.dump(moved[0]) != ast.dump(moved[1]):
        return None
    body = moved[0]
    assert isinstance(body, ast.Assign)
    target = body.targets[0]
    if COUNTER not in mentioned([target]):
        return None
    (loop,) = ast.parse(f"for {COUNTER} in range(3): pass").body
    assert isinstance(loop, ast.For)
    loop.body = [body]
    return loop


def _moved(one: ast.AST, other: ast.AST, k: int) -> ast.AST | None:
    """`one` with the counter in the indices that are k places on in the other; None where the two
    differ in more."""
    if isinstance(one, ast.Subscript) and isinstance(other, ast.Subscript):
        (terms, at), (others, there) = _index(one.slice), _index(other.slice)
        same = ast.dump(one.value) == ast.dump(other.value)
        if not same or [ast.dump(x) for x in terms] != [ast.dump(x) for x in others]:
            return None
        if there not in (at, at + k):
            return None
        if there != at:
            terms = [*terms, ast.Name(COUNTER, ast.Load())]
        total: ast.expr | None = None
        for term in [*terms, *([ast.Constant(at)] if at or not terms else [])]:
            total = term if total is None else ast.BinOp(total, ast.Add(), term)
        assert total is not None
        return ast.Subscript(one.value, total, one.ctx)
    if type(one) is not type(other):
        return None
    fields: dict[str, Any] = {}
    for name in one._fields:
        mine, its = getattr(one, name), getattr(other, name)
        if isinstance(mine, list):
            if len(mine) != len(its):
                return None
            parts = [_moved(x, y, k) for x, y in zip(mine, its, strict=True)]
            if None in parts:
                return None
            fields[name] = parts
        elif isinstance(mine, ast.AST):
            fields[name] = _moved(mine, its, k)
            if fields[name] is None:
                return None
        elif mine != its:
            return None
        else:
            fields[name] = mine
    return type(one)(**fields)


def _index(node: ast.expr) -> tuple[list[ast.expr], int]:
    """The terms of an index, and its constant."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return [], node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        (left, a), (right, b) = _index(node.left), _index(node.right)
        return [*left, *right], a + b
    return [node], 0
