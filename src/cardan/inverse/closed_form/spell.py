"""Known scalars and polynomials as mathematics to read: plain text or LaTeX.

Solved unknowns stand by name (C1, S23, r3), the entries of the pose as s n a P, and sums that occur
more than once get names of their own, B1 = Px C1 + Py S1. What is zero by the steps before, or by
rounding, is left out: `shadow` has the numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...emit.latex import visible
from ...exact import Exact
from ...ir.graph import Expr
from .latex import greek
from .matrices import Geometry
from .polynomial import terms
from .shadow import ZERO, Shadow

Scalar = Any
SUM, PRODUCT, ATOM = 1, 2, 3
_LONG = 40  # signs of a fraction or a root in one line
POSE = [f"{c}{r}" for r in "xyz" for c in "snaP"]


@dataclass
class Speller:
    """Spells the scalars of a geometry; `names` are the nodes that have one."""

    geo: Geometry
    labels: dict[int, str]  # of every unknown: "1", "23"
    latex: bool
    joint_names: tuple[str, ...]
    shadow: Shadow | None = None
    names: dict[int, tuple[str, int]] = field(default_factory=dict)  # node -> name, sign
    repeated: set[int] = field(default_factory=set)  # sums that are to have a name
    auxiliary: int = 0

    def unknown(self, v: int, kind: str) -> str:
        label = self.labels[v]
        return f"{kind}_{{{label}}}" if self.latex else f"{kind}{label}"

    def solved(self, v: int, value: Any) -> None:
        """From now on the value of an unknown is its name."""
        parts = zip("CS", value, strict=True) if isinstance(value, tuple) else [("r", value)]
        for kind, x in parts:
            self.name(x, self.unknown(v, kind))

    def name(self, x: Scalar, name: str) -> None:
        if isinstance(x, Expr) and abs(x.ref) not in self.names:
            self.names[abs(x.ref)] = (name, 1 if x.ref > 0 else -1)

    def foresee(self, steps: Iterable[tuple[Iterable[Scalar], Any]]) -> None:
        """The sums that occur more than once in the scalars of all steps are to have a name. A step
        has scalars, and the value of its unknown, which has a name from then on."""
        count: dict[int, int] = {}
        known: set[int] = set()
        for scalars, value in steps:
            for x in scalars:
                self._count(x, count, known)
            parts = value if isinstance(value, tuple) else (value,)
            known |= {abs(x.ref) for x in parts if isinstance(x, Expr)}
        self.repeated = {id for id, times in count.items() if times > 1 and self._is_sum(id)}

    def shared(self, xs: Iterable[Scalar]) -> list[tuple[str, str]]:
        """Name the sums in these scalars that are to have a name; (name, value) of each."""
        count: dict[int, int] = {}
        for x in xs:
            self._count(x, count, set())
        pairs = []
        for id in sorted(self.repeated & count.keys() - self.names.keys()):
            if id in self.names:  # the opposite of one before
                continue
            self.auxiliary += 1
            while f"B{self.auxiliary}" in self.geo.tracer.parameters:
                self.auxiliary += 1
            name = f"B_{{{self.auxiliary}}}" if self.latex else f"B{self.auxiliary}"
            pairs.append((name, self._node(id)[0]))
            self.names[id] = (name, 1)
            op, a, b = self.geo.tracer.graph.nodes[id]
            opposite = self.geo.tracer.graph.index.get((op, b, a)) if op == "sub" else None
            if opposite is not None:
                self.names[opposite] = (name, -1)
        return pairs

    def _is_sum(self, id: int) -> bool:
        node = self.geo.tracer.graph.nodes[id]
        return node[0] in ("add", "sub") and not any(map(self._vanishes, (id, *node[1:])))

    def _count(self, x: Scalar, count: dict[int, int], known: Collection[int]) -> None:
        stack = [abs(x.ref)] if isinstance(x, Expr) else []
        while stack:
            id = stack.pop()
            if id in self.names or id in known or self._vanishes(id):
                continue
            count[id] = count.get(id, 0) + 1
            node = self.geo.tracer.graph.nodes[id]
            if count[id] == 1 and node[0] not in ("const", "input"):
                stack += set(node[1:])

    def _vanishes(self, id: int, beside: int | None = None) -> bool:
        """Is a node zero: a sum of the steps before, or beside another one what rounding left?"""
        if self.shadow is None:
            return False
        node = self.geo.tracer.graph.nodes[id]
        size = float(np.abs(self.shadow._node(id)).max())
        if beside is None:
            if node[0] not in ("add", "sub"):
                return False
            whole = max(float(np.abs(self.shadow._node(arg)).max()) for arg in node[1:])
        else:
            whole = float(np.abs(self.shadow._node(beside)).max())
        return size <= ZERO * whole

    # scalars

    def text(self, x: Scalar, tight: int = 0) -> str:
        """A known scalar; parentheses when it binds looser than `tight`."""
        found, precedence = self._scalar(x)
        return self._wrapped(found) if precedence < tight else found

    def _wrapped(self, text: str) -> str:
        tall = self.latex and r"\frac" in text
        return rf"\left({text}\right)" if tall else f"({text})"

    def _scalar(self, x: Scalar) -> tuple[str, int]:
        if not isinstance(x, Expr):
            return self._number(x), ATOM if x >= 0 else SUM
        sign = 1 if x.ref > 0 else -1
        if abs(x.ref) in self.names:
            name, own = self.names[abs(x.ref)]
            return (name, ATOM) if sign == own else (f"-{name}", SUM)
        node = self.geo.tracer.graph.nodes[abs(x.ref)]
        if sign < 0 and node[0] == "sub":
            return self._binary(node[2], "-", node[1])
        text, precedence = self._node(abs(x.ref))
        if sign > 0:
            return text, precedence
        if node[0] == "mul" and text.startswith("-"):
            return text[1:], PRODUCT
        return f"-{self._wrapped(text) if precedence < PRODUCT else text}", SUM

    def _number(self, x: Scalar) -> str:
        if isinstance(x, float):
            return f"{_rounded(x):.{6 if self.latex else 10}g}"
        text = str(x)
        if self.latex:
            text = text.replace("*pi", r"\pi").replace("pi", r"\pi")
        return f"({text})" if isinstance(x, Exact) and " " in text else text

    def _node(self, id: int) -> tuple[str, int]:
        node = self.geo.tracer.graph.nodes[id]
        op = node[0]
        if op == "const":
            return self._number(node[1]), ATOM
        if op == "input":
            return self._input(node[1], node[2]), ATOM
        if op in ("add", "sub"):
            return self._binary(node[1], "+" if op == "add" else "-", node[2])
        if op == "mul":
            return self._product(id)
        if op == "div":
            if self.latex:
                top, bottom = self._id(node[1]), self._id(node[2])
                if visible(top) < _LONG:  # a fraction has no place to be broken
                    return rf"\frac{{{top}}}{{{bottom}}}", PRODUCT
            return f"{self._tight(node[1])}/{self._tight(node[2], ATOM)}", PRODUCT
        if op == "neg":
            return f"-{self._tight(node[1])}", SUM
        return self._function(op, [self._id(arg) for arg in node[1:]]), ATOM

    def _product(self, id: int) -> tuple[str, int]:
        """A product, its number and a minus in front."""
        number, factors = self._factors(id)
        if number < 0:
            text, _ = self._joined(-number, factors)
            return f"-{text}", SUM
        return self._joined(number, factors)

    def _joined(self, number: Scalar, factors: list[str]) -> tuple[str, int]:
        listed = factors if number == 1 and factors else [self._number(number), *factors]
        if len(listed) == 1:
            return listed[0], PRODUCT
        text = listed[0]
        for factor in listed[1:]:
            dot = factor[0].isdigit()
            if self.latex:
                text += (r"\cdot " if dot else r"\, ") + factor
            else:
                text += ("*" if dot else " ") + factor
        return text, PRODUCT

    def _factors(self, id: int) -> tuple[Scalar, list[str]]:
        """The number of a product and its other factors; signs of names are in the number."""
        if id in self.names:
            name, sign = self.names[id]
            return sign, [name]
        node = self.geo.tracer.graph.nodes[id]
        if node[0] == "const":
            return _rounded(node[1]), []
        if node[0] != "mul":
            return 1, [self._factor(id)]
        if node[1] == node[2]:
            if node[1] in self.names:
                return 1, [f"{self.names[node[1]][0]}^2"]
            return 1, [f"{self._tight(node[1], ATOM)}^2"]
        (a, first), (b, second) = (self._factors(part) for part in node[1:])
        return a * b, [*first, *second]

    def _factor(self, id: int) -> str:
        """A factor of a product; a quotient on one line in parentheses."""
        quotient = self.geo.tracer.graph.nodes[id][0] == "div" and not self.latex
        return self._tight(id, ATOM if quotient else PRODUCT)

    def _function(self, op: str, args: list[str]) -> str:
        if op == "sqrt" and self.latex:
            long = visible(args[0]) >= _LONG
            return f"({args[0]})^{{1/2}}" if long else rf"\sqrt{{{args[0]}}}"
        if op == "select":  # where the condition holds
            return args[1]
        name = {"atan2": r"\operatorname{atan2}"}.get(op, "\\" + op) if self.latex else op
        return f"{name}({', '.join(args)})"

    def _id(self, id: int) -> str:
        return self._scalar(Expr(self.geo.tracer.graph, id))[0]

    def _tight(self, id: int, tight: int = PRODUCT) -> str:
        text, precedence = self._scalar(Expr(self.geo.tracer.graph, id))
        return self._wrapped(text) if precedence < tight else text

    def _binary(self, a: int, op: str, b: int) -> tuple[str, int]:
        if self._vanishes(b, a):
            return self._scalar(Expr(self.geo.tracer.graph, a))
        if self._vanishes(a, b):
            return self._scalar(Expr(self.geo.tracer.graph, b if op == "+" else -b))
        left, _ = self._scalar(Expr(self.geo.tracer.graph, a))
        right, precedence = self._scalar(Expr(self.geo.tracer.graph, b))
        if op == "+" and right.startswith("-"):
            return f"{left} - {right[1:]}", SUM
        if op == "-" and right.startswith("-"):
            opposite, _ = self._scalar(Expr(self.geo.tracer.graph, -b))
            if not opposite.startswith("-"):
                return f"{left} + {opposite}", SUM
        if op == "-" and precedence < PRODUCT:
            right = self._wrapped(right)
        return f"{left} {op} {right}", SUM

    def _input(self, array: str, k: int) -> str:
        if array == "T":
            name = POSE[k]
            return f"{name[0]}_{name[1]}" if self.latex else name
        if array == "sign":
            return rf"\varepsilon_{{{k + 1}}}" if self.latex else f"e{k + 1}"
        if array == "free" and not self.geo.free:
            return r"\psi" if self.latex else "psi"
        if array == "free":
            name = self.joint_names[list(self.geo.free)[k]]
        elif array == "\0p":
            name = list(self.geo.tracer.parameters)[k]
        else:
            name = f"{array}{k + 1}"
        return greek(name) if self.latex else name

    # polynomials

    def _felt(self, listed: list[tuple[Any, Scalar]]) -> list[tuple[Any, Scalar]]:
        """The terms without those that are zero beside the others."""
        if self.shadow is None or len(listed) < 2:
            return listed
        sizes = [float(np.abs(self.shadow.of(c)).max()) for _, c in listed]
        least = ZERO * max(sizes)
        return [term for term, size in zip(listed, sizes, strict=True) if size > least]

    def polynomial(self, x: Scalar) -> str:
        """A polynomial in the unknowns, terms in the order they came."""
        listed = self._felt(list(terms(x).items()))
        if not listed:
            return "0"
        out = ""
        for m, c in listed:
            text, precedence = self._scalar(c)
            opposite = self._scalar(-c)
            negative = text.startswith("-") and not opposite[0].startswith("-")
            atoms = [self.unknown(a >> 2, "CSr"[a & 3]) for a in m]
            if negative:
                text, precedence = opposite
            if precedence < PRODUCT and (atoms or negative):
                text = self._wrapped(text)
            parts = [*([text] if text != "1" or not atoms else []), *atoms]
            joined = (r"\, " if self.latex else " ").join(parts)
            sign = ("-" if negative else "") if not out else (" - " if negative else " + ")
            if out and not negative and joined.startswith("-"):
                sign, joined = " - ", joined[1:]
            out += sign + joined
        return out


def _rounded(x: Scalar) -> Scalar:
    """A number that is an integer to rounding as that integer."""
    near = isinstance(x, float) and abs(x) > 0.5 and abs(x - round(x)) <= 1e-12 * abs(x)
    return round(x) if near else x
