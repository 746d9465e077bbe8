"""Where the values of a long program wait, where a thread's registers do not hold them all.

The statements are gone through once. When more values are in registers than may be, those that are
read again the latest leave (Belady's rule): into slots of shared memory as long as there are some,
then into the thread's own memory. A value is stored once, and loaded again some statements before
it is read; inputs are read again from where they came.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from .statements import Statement

SHARED, OWN = "shared", "own"


@dataclass(frozen=True)
class Move:
    """A value on its way: `how` is store, load or input, the place a memory and a slot of it."""

    how: str
    name: str
    memory: str = ""
    slot: int = 0


class Places:
    """The statements with the moves between them, and how many slots of each memory they use."""

    def __init__(
        self, statements: Sequence[Statement], inputs: Collection[str],
        waiting: Mapping[str, int], begun: int, registers: int, shared: int,
    ) -> None:  # fmt: skip
        """`waiting` are values that lie in the first `begun` slots of shared memory already."""
        self.shared = shared
        self.inputs = inputs
        self.slots = {SHARED: begun, OWN: 0}
        unused = set(range(begun)) - set(waiting.values())
        self.free = {SHARED: sorted(unused), OWN: list[int]()}
        self.place = {name: (SHARED, slot) for name, slot in waiting.items()}
        self.readers: dict[str, list[int]] = defaultdict(list)
        for k, statement in enumerate(statements):
            for name in statement.reads:
                self.readers[name].append(k)
        self.near: set[str] = set()  # the values in registers
        lines: list[Statement | Move] = []
        for k, statement in enumerate(statements):
            lines += [self._fetched(name) for name in sorted(statement.reads - self.near)]
            lines.append(statement)
            self.near |= statement.reads | ({statement.name} - {""})
            for name in (*statement.reads, statement.name):
                self._forget(name, k)
            soon = statements[k + 1].reads if k + 1 < len(statements) else frozenset[str]()
            while len(self.near) > registers:
                lines += self._put_aside(k, soon)
        self.lines = _ahead(lines)

    def _next(self, name: str, k: int) -> int:
        """The statement after the k-th that reads the value, or -1."""
        readers = self.readers[name]
        at = bisect_right(readers, k)
        return readers[at] if at < len(readers) else -1

    def _fetched(self, name: str) -> Move:
        return Move("input", name) if name in self.inputs else Move("load", name, *self.place[name])

    def _forget(self, name: str, k: int) -> None:
        if name and self._next(name, k) < 0:
            self.near.discard(name)
            if name in self.place:
                memory, slot = self.place.pop(name)
                self.free[memory].append(slot)

    def _put_aside(self, k: int, soon: Collection[str]) -> list[Statement | Move]:
        name = max((x for x in sorted(self.near) if x not in soon), key=lambda x: self._next(x, k))
        self.near.discard(name)
        if name in self.inputs or name in self.place:
            return []
        memory = SHARED if self.free[SHARED] or self.slots[SHARED] < self.shared else OWN
        if self.free[memory]:
            slot = self.free[memory].pop()
        else:
            slot = self.slots[memory]
            self.slots[memory] += 1
        self.place[name] = memory, slot
        return [Move("store", name, memory, slot)]


_AHEAD = {"load": 16, "input": 150}  # statements that hide the delay of a memory


def _ahead(lines: Sequence[Statement | Move]) -> list[Statement | Move]:
    """The same lines, what is fetched some statements before it is read."""
    result: list[Statement | Move] = []
    for line in lines:
        at = len(result)
        if isinstance(line, Move) and line.how != "store":
            statements = 0
            while at and statements < _AHEAD[line.how] and not _holds(result[at - 1], line):
                at -= 1
                statements += isinstance(result[at], Statement)
        result.insert(at, line)
    return result


def _holds(before: Statement | Move, fetched: Move) -> bool:
    """Must the line stay before that which fetches a value?"""
    if isinstance(before, Statement):
        return fetched.name in before.reads
    same = (before.memory, before.slot) == (fetched.memory, fetched.slot)
    return before.name == fetched.name or (before.how == "store" and same)
