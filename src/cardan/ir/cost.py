"""Counting operations as SYMORO+ counts them: only live ones; a unary minus is free."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import itemgetter

from .code import LEAVES, Code

_COLUMN = {
    "add": ("add",), "sub": ("add",), "mul": ("mul",), "div": ("div",), "neg": (),
    "fma": ("mul", "add"), "fms": ("mul", "add"), "fnma": ("mul", "add"),
    "sin": ("trig",), "cos": ("trig",), "atan2": ("trig",), "sqrt": ("sqrt",), "sign": ("sign",),
    "abs": ("sign",), "min": ("sign",), "max": ("sign",), "select": ("sign",),
}  # fmt: skip

TRIG = 20  # a sine or cosine against an addition, when programs are compared


@dataclass(frozen=True)
class Cost:
    """Operations of a program. `sign` counts sign, abs, min, max and select.

    >>> cost = cardan.model(cardan.load("ur5"), "gravity").cost
    >>> cost.trig
    5
    >>> print(cost + cardan.Cost(mul=1000))
    1007 mul, 4 add, 5 trig"""

    mul: int = 0
    add: int = 0
    div: int = 0
    trig: int = 0
    sqrt: int = 0
    sign: int = 0

    @property
    def total(self) -> int:
        """Arithmetic operations: mul + add + div + sqrt; trig and sign stand apart.

        >>> cardan.Cost(mul=3, add=2, trig=4).total
        5"""
        return self.mul + self.add + self.div + self.sqrt

    @property
    def price(self) -> int:
        """What programs of one model are compared by: a sine or cosine weighs as 20 operations.

        >>> cardan.Cost(mul=3, add=2, trig=4).price
        85"""
        return self.total + TRIG * self.trig

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, f) + getattr(other, f) for f in self.__dataclass_fields__))

    def __str__(self) -> str:
        names = ("mul", "add", "div", "trig", "sqrt", "sign")
        return ", ".join(
            f"{getattr(self, n)} {n}" for n in names if n in names[:2] or getattr(self, n)
        )


def depends_on(code: Code, arrays: set[str]) -> bytearray:
    """For each node: does it depend on an element of one of these input arrays?"""
    marks = bytearray(len(code.nodes))
    for id, node in enumerate(code.nodes):
        if node[0] in LEAVES:
            marks[id] = node[0] == "input" and node[1] in arrays
        elif len(node) == 3:  # most of them
            marks[id] = marks[node[1]] or marks[node[2]]
        else:
            marks[id] = any(marks[arg] for arg in node[1:])
    return marks


def cost(code: Code, setup: frozenset[str] = frozenset({"p"})) -> tuple[Cost, Cost]:
    """(loop, setup): operations done for every state, and those on the arrays in `setup` alone."""
    varying = depends_on(code, set(code.inputs) - setup)
    every = Counter(zip(map(itemgetter(0), code.nodes), varying, strict=True))
    counts = [Counter[str](), Counter[str]()]
    for (op, mark), count in every.items():
        for column in _COLUMN.get(op, ()):
            counts[0 if mark else 1][column] += count
    return Cost(**counts[0]), Cost(**counts[1])
