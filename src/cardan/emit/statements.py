"""Statements, and the pass that cuts a long list of them into functions.

Compilers take more than linear time for one long function. A list of statements is therefore cut
into parts; a value that a later part reads travels in a workspace array, whose slots are used again
once their value is no longer needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Spelling(NamedTuple):
    """The text of a value, how tightly it binds, and the names it reads."""

    text: str
    precedence: int
    reads: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Statement:
    """name = value, or element `k` of the output `output` = value. A free statement (the name of a
    parameter) is repeated where it is needed instead of being stored."""

    name: str
    value: str
    reads: frozenset[str]
    output: str = ""
    k: int = 0
    free: bool = False


@dataclass(frozen=True)
class Part:
    """Consecutive statements, with (name, slot) of what is loaded before and stored after them."""

    statements: tuple[Statement, ...]
    loads: tuple[tuple[str, int], ...] = ()
    stores: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> list[str]:
        """What is declared in the part, in order."""
        return [name for name, _ in self.loads] + [s.name for s in self.statements if not s.output]


def cut(statements: Sequence[Statement], size: int) -> tuple[list[Part], int]:
    """(parts of at most `size` statements, slots of the workspace)."""
    free = {s.name: s for s in statements if s.free}
    work = [s for s in statements if not s.free]
    groups = [work[i : i + size] for i in range(0, len(work), size)] or [[]]
    home = {s.name: g for g, group in enumerate(groups) for s in group if not s.output}
    last: dict[str, int] = {}  # name -> the last group that reads it
    for g, group in enumerate(groups):
        for s in group:
            last.update((name, g) for name in s.reads if name in home)
    parts: list[Part] = []
    slots: dict[str, int] = {}
    idle: list[int] = []
    used = 0
    for g, group in enumerate(groups):
        read = {name for s in group for name in s.reads}
        loads = tuple((name, slots[name]) for name in slots if name in read)
        stores = []
        for name in [s.name for s in group if not s.output and last.get(s.name, g) > g]:
            slot = idle.pop() if idle else used
            used += slot == used
            slots[name] = slot
            stores.append((name, slot))
        for name in [name for name in slots if last[name] <= g]:
            idle.append(slots.pop(name))
        heads = tuple(s for name, s in free.items() if name in read)
        parts.append(Part((*heads, *group), loads, tuple(stores)))
    return parts, used
