"""Values of a program that are constant or each other in every state, found without algebra.

A program of + - * / is a rational function of its inputs; two of them that agree at random points
of two large prime fields are the same but for one case in 2^100 (Schwartz, Zippel). Sines and
cosines of angles are points of the circle x² + y² = 1 of that field, of sums of angles by the
addition theorems; any other function is a random value of its arguments. So sin² + cos² is 1, and
products that differ in the order of their factors are one; nothing is taken for equal because it is
near."""

from __future__ import annotations

from collections.abc import Mapping, Set
from fractions import Fraction
from hashlib import blake2b
from math import isfinite
from typing import Any

from ..exact import Exact, exact
from .code import Code
from .graph import Expr, Graph, Node
from .passes import rebuild, replay

# random primes: of a prime near a power of 2 floats, fractions over such powers, are small numbers
_PRIMES = (1741290833290112809, 1902837465019283759)
_LARGEST = 2**20  # of the numerator and the denominator of a constant that is recognised
_ODD, _EVEN = ("sin", "sign"), ("cos", "abs")


def identified(code: Code, named: Set[int] = frozenset()) -> Code:
    """The program with every value that is a number in all states as that number, and any other
    computed once, as it was first; but what is `named` (nodes) stands as it is."""
    a, b = _Point(_PRIMES[0], 0), _Point(_PRIMES[1], 1)
    values = list(zip(a.values(code), b.values(code), strict=True))
    elsewhere = _Point(_PRIMES[0], 2).values(code)
    first: dict[tuple[int, int], int] = {}  # value: the node that has it

    def rewrite(graph: Graph, id: int, node: Node, scalars: list[Any]) -> Any:
        value = values[id]
        if node[0] in ("input", "const"):
            first.setdefault(value, id)
            return replay(graph, node, scalars)
        if value[0] == elsewhere[id]:
            number = a.fraction(value[0])
            if number is not None and number == b.fraction(value[1]):
                return exact(number, Fraction(0))
        if id not in named and value in first:
            return scalars[first[value]]
        opposite = -value[0] % a.prime, -value[1] % b.prime
        if id not in named and opposite in first:
            return -scalars[first[opposite]]
        scalar = replay(graph, node, scalars)
        if isinstance(scalar, Expr):
            first.setdefault(value, id)
        return scalar

    try:
        return rebuild(code, rewrite)
    except ZeroDivisionError:  # a value that is 0 is divided by: it has no state
        return code


class _Point:
    """A random point of the field of a prime; pi is one value of all points of a field."""

    def __init__(self, prime: int, seed: int) -> None:
        self.prime, self.seed = prime, seed
        self.half = pow(2, -1, prime)
        self.pi = _random("pi") % prime
        self.circle = dict(self._quarters())  # cos and sin of angles

    def values(self, code: Code) -> list[int]:
        """The value of each node."""
        prime, values = self.prime, [0]
        for id, node in enumerate(code.nodes[1:], 1):
            op = node[0]
            if op == "mul":
                values.append(values[node[1]] * values[node[2]] % prime)
            elif op == "add":
                values.append((values[node[1]] + values[node[2]]) % prime)
            elif op == "sub":
                values.append((values[node[1]] - values[node[2]]) % prime)
            elif op == "const":
                values.append(self._number(node[1]))
            elif op == "input":
                values.append(self._random(node))
            elif op in ("sin", "cos"):
                angles: dict[int, int] = {}
                self._add_angles(code.nodes, values, node[1], 1, angles)
                values.append(self._cos_sin(angles)[op == "sin"])
            else:
                values.append(self._of(op, [values[arg] for arg in code.nodes[id][1:]]))
        return values

    def fraction(self, value: int) -> Fraction | None:
        """The fraction of small numbers that has this value (Wang's reconstruction)."""
        r0, r1, t0, t1 = self.prime, value, 0, 1
        while r1 > _LARGEST:
            r0, r1, t0, t1 = r1, r0 % r1, t1, t0 - r0 // r1 * t1
        return Fraction(r1, t1) if abs(t1) <= _LARGEST else None

    def _of(self, op: str, x: list[int]) -> int:
        prime = self.prime
        if op == "div" and x[1]:
            return x[0] * pow(x[1], -1, prime) % prime
        if op == "neg":
            return -x[0] % prime
        if op in ("fma", "fms", "fnma"):  # ab + c, ab - c, c - ab
            ab, c = x[0] * x[1], x[2]
            return {"fma": ab + c, "fms": ab - c, "fnma": c - ab}[op] % prime
        minus = op in (*_ODD, *_EVEN) and x[0] > prime // 2
        value = self._random((op, *([-x[0] % prime] if minus else x)))
        return -value % prime if minus and op in _ODD else value

    def _add_angles(
        self, nodes: Any, values: list[int], id: int, sign: int, total: dict[int, int]
    ) -> None:
        """Add the angles that a node sums up, by their values."""
        op, *args = nodes[id]
        if op in ("add", "sub"):
            self._add_angles(nodes, values, args[0], sign, total)
            self._add_angles(nodes, values, args[1], sign if op == "add" else -sign, total)
        elif op == "neg":
            self._add_angles(nodes, values, args[0], -sign, total)
        else:
            value, opposite = values[id], -values[id] % self.prime
            angle, count = (value, sign) if value <= opposite else (opposite, -sign)
            total[angle] = total.get(angle, 0) + count

    def _cos_sin(self, angles: Mapping[int, int]) -> tuple[int, int]:
        """(cos, sin) of a sum of angles."""
        c, s = 1, 0
        for angle, count in angles.items():
            if angle not in self.circle:
                self.circle[angle] = self._on_circle(angle)
            a, b = self.circle[angle]
            for _ in range(abs(count)):
                turn = b if count > 0 else -b
                c, s = (c * a - s * turn) % self.prime, (s * a + c * turn) % self.prime
        return c, s

    def _on_circle(self, angle: int) -> tuple[int, int]:
        """A random point of the circle: (1 - t²)/(1 + t²), 2t/(1 + t²)."""
        t = self._random(("angle", angle))
        under = pow(1 + t * t, -1, self.prime)
        return (1 - t * t) * under % self.prime, 2 * t * under % self.prime

    def _quarters(self) -> Any:
        """Multiples of pi/2, as the values of angles."""
        for k in range(9):
            c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[k % 4]
            value = k * self.pi * self.half % self.prime
            opposite = -value % self.prime
            yield (value, (c, s)) if value <= opposite else (opposite, (c, -s))

    def _number(self, x: int | float | Exact) -> int:
        if isinstance(x, Exact):
            return (self._residue(x.a) + self._residue(x.b) * self.pi) % self.prime
        return self._residue(Fraction(x)) if isfinite(x) else self._random(repr(x))

    def _residue(self, x: Fraction) -> int:
        return x.numerator * pow(x.denominator, -1, self.prime) % self.prime

    def _random(self, key: Any) -> int:
        return _random((self.seed, key)) % self.prime


def _random(key: Any) -> int:
    """A value that depends on the key alone, the same on every run."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=16).digest())
