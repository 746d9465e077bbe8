"""Values of a program that are 0, 1 or each other in every state, found without algebra.

A program of + - * / is a rational function of its inputs; two of them that agree at a random point
of a large prime field are the same but for one case in 2^50 (Schwartz, Zippel). Sines and cosines
of angles are points of the circle x² + y² = 1 of that field, of sums of angles by the addition
theorems; any other function is a random value of its arguments. So sin² + cos² is 1, and products
that differ in the order of their factors are one; nothing is taken for equal because it is near."""

from __future__ import annotations

from collections.abc import Mapping, Set
from fractions import Fraction
from hashlib import blake2b
from typing import Any

from ..exact import Exact
from .code import Code
from .graph import Expr, Graph, Node
from .passes import rebuild, replay

__all__ = ["identified"]

_P = 2**61 - 1
_ODD, _EVEN = ("sin", "sign"), ("cos", "abs")


def identified(code: Code, named: Set[int] = frozenset()) -> Code:
    """The program with every value that is 0, 1 or -1 as that number, and any other computed once,
    as it was first; but what is `named` (nodes) stands as it is."""
    values = _values(code)
    first: dict[int, int] = {}  # value: the node that has it

    def rewrite(graph: Graph, id: int, node: Node, scalars: list[Any]) -> Any:
        value = values[id]
        if node[0] in ("input", "const"):
            first.setdefault(value, id)
            return replay(graph, node, scalars)
        for number in (0, 1, -1):
            if value == number % _P:
                return number
        if id not in named and value in first:
            return scalars[first[value]]
        if id not in named and -value % _P in first:
            return -scalars[first[-value % _P]]
        scalar = replay(graph, node, scalars)
        if isinstance(scalar, Expr):
            first.setdefault(value, id)
        return scalar

    try:
        return rebuild(code, rewrite)
    except ZeroDivisionError:  # a value that is 0 is divided by: it has no state
        return code


def _values(code: Code) -> list[int]:
    """The value of each node at a random point of the field."""
    values = [0]
    sums: list[dict[int, int]] = [{}]  # of each node: multiples of the angles that it adds
    for node in code.nodes[1:]:
        op, args = node[0], node[1:]
        if op == "const":
            values.append(_number(args[0]))
        elif op == "input":
            values.append(_random(node))
        else:
            values.append(_of(op, [values[arg] for arg in args], sums[args[0]]))
        sums.append(_sum(node, values[-1], sums))
    return values


def _of(op: str, x: list[int], angles: Mapping[int, int]) -> int:
    if op in ("add", "sub"):
        return (x[0] + x[1] if op == "add" else x[0] - x[1]) % _P
    if op == "mul":
        return x[0] * x[1] % _P
    if op == "div" and x[1]:
        return x[0] * pow(x[1], -1, _P) % _P
    if op == "neg":
        return -x[0] % _P
    if op in ("fma", "fms", "fnma"):  # ab + c, ab - c, c - ab
        product = x[0] * x[1]
        return {"fma": product + x[2], "fms": product - x[2], "fnma": x[2] - product}[op] % _P
    if op in ("sin", "cos"):
        return _circle(angles)[op == "sin"]
    minus = op in (*_ODD, *_EVEN) and x[0] > _P // 2
    value = _random((op, *([-x[0] % _P] if minus else x)))
    return -value % _P if minus and op in _ODD else value


def _sum(node: Node, value: int, sums: list[dict[int, int]]) -> dict[int, int]:
    """The angles that a node adds, by their values."""
    op, args = node[0], node[1:]
    if op not in ("add", "sub", "neg"):
        return {value: 1} if value <= _P // 2 else {-value % _P: -1}
    total = {x: -k if op == "neg" else k for x, k in sums[args[0]].items()}
    for x, k in sums[args[1]].items() if len(args) > 1 else ():
        total[x] = total.get(x, 0) + (k if op == "add" else -k)
    return total


def _circle(angles: Mapping[int, int]) -> tuple[int, int]:
    """(cos, sin) of a sum of angles."""
    c, s = 1, 0
    for angle, count in angles.items():
        a, b = _QUARTERS.get(angle) or _point(angle)
        for _ in range(abs(count)):
            sign = 1 if count > 0 else -1
            c, s = (c * a - sign * s * b) % _P, (s * a + sign * c * b) % _P
    return c, s


def _point(angle: int) -> tuple[int, int]:
    """A random point of the circle: (1 - t²)/(1 + t²), 2t/(1 + t²)."""
    t = _random(("angle", angle))
    under = pow(1 + t * t, -1, _P)
    return (1 - t * t) * under % _P, 2 * t * under % _P


def _number(x: int | float | Exact) -> int:
    if isinstance(x, Exact):
        return (_fraction(x.a) + _fraction(x.b) * _PI) % _P
    return _fraction(Fraction(x))


def _fraction(x: Fraction) -> int:
    return x.numerator * pow(x.denominator, -1, _P) % _P


def _random(key: Any) -> int:
    """A value that depends on the key alone, the same on every run."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=16).digest()) % _P


_PI = _random("pi")
# multiples of pi/2, as the values of angles
_QUARTERS = {0: (1, 0)}
for _k in range(1, 9):
    _turn = ((1, 0), (0, 1), (-1, 0), (0, -1))[_k % 4]
    _value = _k * _PI * pow(2, -1, _P) % _P
    _small = _value <= _P // 2
    _QUARTERS[_value if _small else -_value % _P] = _turn if _small else (_turn[0], -_turn[1])
