"""Lowering: what a language cannot spell is rewritten in what it can, before it is printed.

    fma(a, b, c) = a·b + c        fms = a·b - c        fnma = c - a·b
    sign x = select(x, 1, select(-x, -1, 0))           abs x = max(x, -x)
    min(a, b) = select(b - a, a, b)                    max(a, b) = select(a - b, a, b)

A function of constants becomes a constant. The arithmetic + - * / and the minus, sin, cos, sqrt,
atan2 and select have no rule: every language spells those.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..errors import ProgramError
from ..ir.code import Code, arguments
from ..ir.graph import Graph, Node
from ..ir.interpret import FUNCTIONS
from ..ir.passes import rebuild, replay

Rule = Callable[[Callable[..., Any], list[Any]], Any]

_INFIX = frozenset({"add", "sub", "mul", "div", "neg"})
_RULES: dict[str, Rule] = {
    "fma": lambda apply, x: x[0] * x[1] + x[2],
    "fms": lambda apply, x: x[0] * x[1] - x[2],
    "fnma": lambda apply, x: x[2] - x[0] * x[1],
    "sign": lambda apply, x: apply("select", x[0], 1, apply("select", -x[0], -1, 0)),
    "abs": lambda apply, x: apply("max", x[0], -x[0]),
    "min": lambda apply, x: apply("select", x[1] - x[0], x[0], x[1]),
    "max": lambda apply, x: apply("select", x[0] - x[1], x[0], x[1]),
}


def lower(code: Code, spelled: Collection[str]) -> Code:
    """The program in the operations a language spells; unchanged if it is already."""
    known = _INFIX | set(spelled)
    if all(_is_spelled(code, node, known) for node in code.nodes[1:]):
        return code

    def rewrite(graph: Graph, id: int, node: Node, scalars: list[Any]) -> Any:
        def apply(op: str, *args: Any) -> Any:
            if all(isinstance(arg, int | float) or hasattr(arg, "__float__") for arg in args):
                return float(FUNCTIONS[op](*map(float, args)))
            if op in known:
                return graph.apply(op, *args)
            if op not in _RULES:
                raise ProgramError(f"this language has no '{op}', and there is no rule to lower it")
            return _RULES[op](apply, list(args))

        if node[0] in ("const", "input") or node[0] in _INFIX:
            return replay(graph, node, scalars)
        return apply(node[0], *(scalars[arg] for arg in node[1:]))

    return rebuild(code, rewrite)


def _is_spelled(code: Code, node: Node, known: Collection[str]) -> bool:
    if node[0] in ("const", "input"):
        return True
    varies = any(code.nodes[arg][0] != "const" for arg in arguments(node))
    return node[0] in known and (varies or node[0] in _INFIX)
