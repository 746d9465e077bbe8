"""What a program divides by that depends on one array alone, as the parameters p, and may be zero.

A divisor that the search for fewer operations brought in is marked in the program itself: it is
select(|y| - nil, y, 0), so that no number comes out where y vanishes; select(.., y, tiny) cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .code import LEAVES, Code
from .cost import depends_on
from .interpret import FUNCTIONS
from .spell import ATOM, MINUS, Piece, Speller

_NIL = 1e-9  # a factor below it is what vanishes


@dataclass(frozen=True)
class Divisor:
    """A node that something is divided by; `avoidable`: the search brought it in."""

    id: int
    factors: tuple[int, ...]  # it vanishes with any of them
    avoidable: bool


def divisors(code: Code, array: str = "p") -> list[Divisor]:
    """In the order of the program, each once."""
    varying = depends_on(code, set(code.inputs) - {array})
    known = depends_on(code, {array})
    listed: dict[int, Divisor] = {}
    for node in code.nodes:
        if node[0] == "div" and not varying[node[2]] and known[node[2]]:
            parts = _factors(code, node[2], False)
            if parts:
                ids = tuple(dict.fromkeys(id for id, _ in parts))
                listed.setdefault(node[2], Divisor(node[2], ids, any(x for _, x in parts)))
    return list(listed.values())


def _factors(code: Code, id: int, avoidable: bool) -> list[tuple[int, bool]]:
    """What a product vanishes with; numbers other than zero do not vanish."""
    node = code.nodes[id]
    if node[0] == "mul":
        return [part for factor in node[1:] for part in _factors(code, factor, avoidable)]
    if node[0] in ("neg", "abs", "sqrt"):
        return _factors(code, node[1], avoidable)
    if node[0] == "select" and code.nodes[node[3]][0] == "const":
        if code.nodes[node[3]][1] != 0:
            return []
        return _factors(code, node[2], True)
    return [] if node[0] == "const" else [(id, avoidable)]


def formula(code: Code, id: int, names: Sequence[str]) -> str:
    """The value of a node in terms of the elements of the array, whose names are given."""

    def leaf(id: int, depth: int) -> Piece | None:
        op, *args = code.nodes[id]
        if op == "const":
            return f"{float(args[0]):.6g}", ATOM if args[0] >= 0 else MINUS
        if op == "input":
            return names[args[1]], ATOM
        if op == "select":  # the value that is meant; the other one stands where it vanishes
            return speller.piece(args[1], depth)
        if op in ("fma", "fms", "fnma"):
            raise AssertionError("programs are fused only for machine code")
        return None

    speller = Speller(code.nodes, leaf)
    return speller.text(id)


def vanishing(
    code: Code, listed: Sequence[Divisor], p: np.ndarray | Sequence[np.ndarray]
) -> list[int]:
    """The factors that are zero for the values p (..., size), or a list of columns, for one set of
    them at least."""
    values: dict[int, Any] = {}
    wanted = _read(code, [id for x in listed for id in (x.id, *x.factors)])
    with np.errstate(all="ignore"):
        for id, node in enumerate(code.nodes):
            if not wanted[id]:
                continue
            if node[0] == "input":
                values[id] = p[..., node[2]] if isinstance(p, np.ndarray) else p[node[2]]
            elif node[0] == "const":
                values[id] = np.float64(node[1])
            else:
                values[id] = FUNCTIONS[node[0]](*(values[arg] for arg in node[1:]))
    zero = [x for x in listed if np.any(values[x.id] == 0)]
    least = {id: float(np.min(np.abs(values[id]))) for x in zero for id in x.factors}
    found_zero: dict[int, None] = {}
    for divisor in zero:
        limit = max(_NIL, min(least[id] for id in divisor.factors))
        found_zero |= dict.fromkeys(id for id in divisor.factors if least[id] <= limit)
    return list(found_zero)


def _read(code: Code, ids: Sequence[int]) -> bytearray:
    """Marks these nodes and what they are computed from."""
    marks = bytearray(len(code.nodes))
    for id in ids:
        marks[id] = 1
    for id in range(len(marks) - 1, 0, -1):
        if marks[id] and code.nodes[id][0] not in LEAVES:
            for arg in code.nodes[id][1:]:
                marks[arg] = 1
    return marks
