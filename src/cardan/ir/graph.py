"""Hash-consed expressions: the scalar that turns running an algorithm into writing a program.

A `Graph` is a list of nodes; a node is a tuple (operation, argument ids...). Nodes are interned, so
equal subexpressions are one node, and creation order is a topological order: the graph *is* the
straight-line program. An `Expr` is a signed reference to a node: negation is a sign, no node, and

    a - b and b - a are one node        (-a)·b = -(a·b)        sin(-x) = -sin x

hold by construction. Numbers are never nodes until an operation needs them: whatever folds to a
number *is* a Python number, so `0 * x` is the int 0. Only rewrites that are exact in floating point
are made here; tracing then interpreting therefore equals running, bit for bit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ..exact import Exact, exact
from .spell import ATOM, MINUS, Piece, Speller

Node = tuple[Any, ...]
_PLAIN = (int, float)  # numbers whose value may be 0 or 1; an Exact is neither

# operation -> number of arguments: the closed set
OPERATIONS = {
    "add": 2, "sub": 2, "mul": 2, "div": 2, "neg": 1, "fma": 3, "fms": 3, "fnma": 3,
    "sin": 1, "cos": 1, "sqrt": 1, "abs": 1, "sign": 1, "atan2": 2,
    "min": 2, "max": 2, "select": 3,
}  # fmt: skip


class Expr:
    """A signed reference ±id to a node of a graph."""

    __slots__ = ("graph", "ref")
    __array_ufunc__ = None  # NumPy must not loop over us

    def __init__(self, graph: Graph, ref: int) -> None:
        self.graph = graph
        self.ref = ref

    def __repr__(self) -> str:
        return f"Expr({self.graph.text(self.ref)})"

    def __bool__(self) -> bool:
        raise TypeError("the truth of a traced expression is not known: use select, not if")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self.ref == other.ref and self.graph is other.graph

    def __hash__(self) -> int:
        return hash(self.ref)

    def __neg__(self) -> Expr:
        return Expr(self.graph, -self.ref)

    def __pos__(self) -> Expr:
        return self

    def __add__(self, other: Any) -> Any:
        if type(other) is Expr:
            return self.graph.add(self.ref, other.ref)
        if type(other) is Exact or isinstance(other, _PLAIN):
            return self.graph.add(self.ref, self.graph.const(other)) if other else self
        return NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is Expr:
            return self.graph.add(self.ref, -other.ref)
        if type(other) is Exact or isinstance(other, _PLAIN):
            return self.graph.add(self.ref, -self.graph.const(other)) if other else self
        return NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Any:
        if type(other) is Expr:
            return self.graph.mul(self.ref, other.ref)
        if type(other) is Exact:
            return self.graph.mul(self.ref, self.graph.const(other))
        if isinstance(other, _PLAIN):
            if other == 0:
                return 0
            if other == 1:
                return self
            if other == -1:
                return -self
            return self.graph.mul(self.ref, self.graph.const(other))
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Expr:
            return self.graph.div(self.ref, other.ref)
        if type(other) is Exact or isinstance(other, _PLAIN):
            if other == 0:
                raise ZeroDivisionError("an expression is divided by the constant 0")
            if other == 1:
                return self
            if other == -1:
                return -self
            if type(other) is int and other > 0 and other & (other - 1) == 0:
                return self * exact(Fraction(1, other))  # a power of two: exact, and cheaper
            return self.graph.div(self.ref, self.graph.const(other))
        return NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if type(other) is Exact or isinstance(other, _PLAIN):
            return self.graph.div(self.graph.const(other), self.ref) if other else 0
        return NotImplemented

    def __pow__(self, n: int) -> Any:
        if not isinstance(n, int):
            return NotImplemented
        result: Any = 1
        for _ in range(abs(n)):
            result = result * self
        return result if n >= 0 else 1 / result

    def apply(self, function: str, *args: Any) -> Any:
        """A function of OPERATIONS other than + - * / applied to scalars of this trace."""
        return self.graph.apply(function, *args)


class Graph:
    """One trace's nodes. Node 0 is unused, so that every reference has a sign."""

    __slots__ = ("index", "nodes")

    def __init__(self) -> None:
        self.nodes: list[Node] = [("none",)]
        self.index: dict[Node, int] = {}

    def node(self, node: Node) -> int:
        """The id of a node, made if it is new."""
        new = len(self.nodes)
        known = self.index.setdefault(node, new)
        if known == new:
            self.nodes.append(node)
        return known

    def leaf(self, array: str, k: int) -> Expr:
        """Element k of the input array of that name."""
        return Expr(self, self.node(("input", array, k)))

    def const(self, value: int | float | Exact) -> int:
        """Signed reference to a constant; only magnitudes are nodes."""
        if value < 0:
            return -self.node(("const", -value))
        return self.node(("const", value))

    def reference(self, value: Any) -> int:
        """Signed reference to a scalar, whatever it is."""
        return value.ref if type(value) is Expr else self.const(value)

    def add(self, x: int, y: int) -> Any:
        """±a ± b with the signs normalised so that the older operand is positive."""
        if x == -y:
            return 0
        if abs(x) > abs(y):
            x, y = y, x
        sign = 1
        if x < 0:
            x, y, sign = -x, -y, -1
        node = ("add", x, y) if y > 0 else ("sub", x, -y)
        new = len(self.nodes)  # `node` written out, here and below: most of tracing is done here
        known = self.index.setdefault(node, new)
        if known == new:
            self.nodes.append(node)
        return Expr(self, sign * known)

    def mul(self, x: int, y: int) -> Expr:
        a, b = abs(x), abs(y)
        node = ("mul", a, b) if a <= b else ("mul", b, a)
        new = len(self.nodes)
        id = self.index.setdefault(node, new)
        if id == new:
            self.nodes.append(node)
        return Expr(self, id if (x > 0) == (y > 0) else -id)

    def div(self, x: int, y: int) -> Any:
        if abs(x) == abs(y):
            return 1 if x == y else -1
        id = self.node(("div", abs(x), abs(y)))
        return Expr(self, id if (x > 0) == (y > 0) else -id)

    def apply(self, function: str, *args: Any) -> Any:
        """A function node; odd functions pass the sign out, even ones drop it."""
        refs = [self.reference(arg) for arg in args]
        first = refs[0]
        if function in ("sin", "sign"):
            id = self.node((function, abs(first)))
            return Expr(self, id if first > 0 else -id)
        if function in ("cos", "abs"):
            return Expr(self, self.node((function, abs(first))))
        if function not in OPERATIONS or OPERATIONS[function] != len(args):
            raise ValueError(f"'{function}' of {len(args)} arguments is not an operation")
        return Expr(self, self.node((function, *map(self.positive, refs))))

    def positive(self, ref: int) -> int:
        """An unsigned id for a signed reference: the few places where a minus must be a node."""
        return ref if ref > 0 else self.node(("neg", -ref))

    def text(self, ref: int, depth: int = 4) -> str:
        """Infix text of an expression, cut off at a depth (for error messages and debugging)."""

        def leaf(id: int, level: int) -> Piece | None:
            node = self.nodes[id]
            if node[0] == "const":
                return f"{node[1]}", ATOM if node[1] >= 0 else MINUS
            if node[0] == "input":
                return f"{node[1]}[{node[2]}]", ATOM
            return ("...", ATOM) if level == depth else None

        return Speller(self.nodes, leaf).text(ref)
