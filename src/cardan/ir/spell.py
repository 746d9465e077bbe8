"""Expressions in infix, for people to read: the one place that knows where parentheses stand.

A piece is (text, how tightly it binds): as its loosest sign outside parentheses. What starts with a
minus binds at 0, and gets parentheses wherever it is an operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

MINUS, SUM, PRODUCT, UNARY, ATOM = range(5)
Piece = tuple[str, int]
Node = tuple[Any, ...]
# the sign, how tightly it binds, and how tightly its right side must to be one operand
_SIGNS = {
    "add": (" + ", SUM, PRODUCT), "sub": (" - ", SUM, PRODUCT),
    "mul": ("*", PRODUCT, UNARY), "div": ("/", PRODUCT, UNARY),
}  # fmt: skip


def infix(op: str, left: Piece, right: Piece) -> Piece:
    """One of + - * /, in that order of operations: a + (b + c) keeps its parentheses.

    >>> infix("mul", ("a + b", SUM), ("c", ATOM))
    ('(a + b)*c', 2)
    """
    sign, own, least = _SIGNS[op]
    return f"{_held(left, own)}{sign}{_held(right, least)}", own


def _held(piece: Piece, least: int, latex: bool = False) -> str:
    text, own = piece
    if own >= least:
        return text
    return rf"\left({text}\right)" if latex else f"({text})"


@dataclass(frozen=True)
class Speller:
    """Writes nodes out. `leaf` gives the pieces of numbers, inputs and whatever has a name, by id
    and depth below the start; None where the node is to be spelled by its operands. Sums of sums
    and products of products are written without parentheses."""

    nodes: Sequence[Node]
    leaf: Callable[[int, int], Piece | None]
    latex: bool = False

    def text(self, ref: int) -> str:
        """The value of a signed reference."""
        node = self.nodes[abs(ref)]
        if ref < 0 and node[0] == "sub":  # -(a - b) is b - a
            return self._infix("sub", node[2], node[1], 0)[0]
        piece = self.piece(abs(ref))
        return piece[0] if ref > 0 else f"-{_held(piece, PRODUCT, self.latex)}"

    def piece(self, id: int, depth: int = 0) -> Piece:
        leaf = self.leaf(id, depth)
        if leaf is not None:
            return leaf
        op, *args = self.nodes[id]
        if op in _SIGNS:
            return self._infix(op, args[0], args[1], depth + 1)
        if op == "neg":
            return f"-{_held(self.piece(args[0], depth + 1), PRODUCT, self.latex)}", MINUS
        listed = ", ".join(self.piece(arg, depth + 1)[0] for arg in args)
        if not self.latex:
            return f"{op}({listed})", ATOM
        return rf"\sqrt{{{listed}}}" if op == "sqrt" else rf"\{op}\left({listed}\right)", ATOM

    def _infix(self, op: str, a: int, b: int, depth: int) -> Piece:
        sign, own, least = _SIGNS[op]
        if self.latex and op == "div":
            return rf"\frac{{{self.piece(a, depth)[0]}}}{{{self.piece(b, depth)[0]}}}", ATOM
        if self.latex and op == "mul":
            sign = r"\,"
            if self.nodes[b][0] == "const":
                a, b = b, a  # numbers in front
        left, right = self.piece(a, depth), self.piece(b, depth)
        least = own if op in ("add", "mul") else least
        if own == SUM and left[1] == MINUS:  # -a - b: a sum that starts with a minus
            return f"{left[0]}{sign}{_held(right, least, self.latex)}", MINUS
        return f"{_held(left, own, self.latex)}{sign}{_held(right, least, self.latex)}", own
