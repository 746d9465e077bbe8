"""CUDA C++ for long programs: a kernel over columns whose values wait in shared memory.

A thread has at most 255 registers, and a processor fetches straight-line code that is longer than
its cache of 128 KB line by line (on an H200, ten of the eighteen cycles between two instructions of
a humanoid's direct dynamics). So values that wait have places chosen here (places), not by the
compiler; the sines and cosines of all inputs are computed by one loop, which is short.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..ir.spell import ATOM
from .cuda import Cuda
from .cuda_math import limit
from .options import Options
from .places import OWN, SHARED, Move, Places
from .printer import Function
from .statements import Part, Spelling, Statement

if TYPE_CHECKING:
    from ..program import Program

THREADS = 256  # of a block, which fills a processor
# values in registers, and slots of a thread in the 227 KB that a block of Hopper may share
_ROOM = {"float64": (110, 110), "float32": (225, 222)}


def staged(program: Program, function: str, dtype: str) -> tuple[str, int] | None:
    """The text of <function>_batch and the slots of shared memory of a thread; None where inputs
    that turn are more than angles."""
    names = Staged.scope()
    printer = Staged(program, names.claim(function), Options(dtype=dtype, chunk=0), names)
    if printer.angles is None:
        return None
    text = "\n".join([*Staged.opening([], [printer]), *printer.text(), ""])
    return text, printer.places.slots[SHARED]


class Staged(Cuda):
    """The table for CUDA, of the kernel over columns alone."""

    places: Places

    def reserve(self) -> None:
        super().reserve()
        self.elements: dict[str, tuple[str, int]] = {}  # values that are elements of inputs
        self.turning: dict[str, int] = {}  # those of which the loop computes sine and cosine
        self.turned_in: dict[str, int] = {}  # its results, by the slots it leaves them in

    def leaf(self, node: tuple[object, ...]) -> Spelling:
        if node[0] == "const" or self.is_shared(str(node[1])):
            return super().leaf(node)
        array, k = str(node[1]), int(node[2])  # type: ignore[call-overload]
        name = self.names.claim(f"{array}_{k}")
        self.elements[name] = array, k
        return Spelling(name, ATOM, frozenset({name}))

    def is_inlined(self, id: int, uses: int, size: int, depth: int) -> bool:
        turns = self.code.nodes[id][0] in ("sin", "cos")
        return not turns and super().is_inlined(id, uses, size, depth)

    def statements(self) -> Iterator[Statement]:
        """All but the sines and cosines that the loop computes."""
        most = _ROOM[self.options.dtype][1] // 2
        for statement in super().statements():
            (name, *others) = statement.reads or ("",)
            ops = [op for op in ("sin", "cos") if statement.value == self.table[op].format(name)]
            fits = name in self.turning or len(self.turning) < most
            if ops and not others and name in self.elements and fits:
                k = self.turning.setdefault(name, len(self.turning))
                self.turned_in[statement.name] = 2 * k + (ops == ["cos"])
            else:
                yield statement

    def body(self, part: Part) -> list[str]:
        registers, shared = _ROOM[self.options.dtype]
        free = {s.name for s in part.statements if s.free}
        work = [_of_values(s, free) for s in part.statements if not s.free]
        self.places = Places(
            work, self.elements, self.turned_in, 2 * len(self.turning), registers, shared
        )
        known: set[str] = set()
        lines = [self.declare(s.name, s.value) for s in part.statements if s.free] + self.loop()
        for line in self.places.lines:
            if isinstance(line, Move) and line.how == "store":
                lines.append(self.assignment.format(target=self.memory(line), value=line.name))
                continue
            value = self.fetched(line) if isinstance(line, Move) else line.value
            target = line.name if line.name in known else f"{self.real} {line.name}"
            known.add(line.name)
            if isinstance(line, Statement) and line.output:
                target = self.result(line.output, line.k)
            lines.append(self.assignment.format(target=target, value=value))
        return [line.replace("<fast>", "<true>") for line in lines]

    def result(self, array: str, k: int) -> str:
        return f"{self.results[array]}[{k}*count + state]"

    def memory(self, move: Move) -> str:
        return f"mine[{move.slot * THREADS}]" if move.memory == SHARED else f"left[{move.slot}]"

    def fetched(self, move: Move) -> str:
        if move.how == "load":
            return self.memory(move)
        turns = self.angles and self.elements[move.name] in self.angles.inputs
        return f"bounded({self.read(move.name)})" if turns else self.read(move.name)

    def read(self, name: str) -> str:
        array, k = self.elements[name]
        return f"{self.arrays[array]}[{k}*count + state]"

    def loop(self) -> list[str]:
        """All angles are read before the first is turned."""
        if not self.turning:
            return []
        places = {name: f"mine[{2 * k * THREADS}]" for name, k in self.turning.items()}
        return [
            *(f"    const {self.real} {x}_first = {self.read(x)};" for x in places),
            *(f"    {place} = {x}_first;" for x, place in places.items()),
            "    #pragma unroll 1",
            f"    for (int k = 0; k < {2 * len(places)}; k += 2) {{",
            f"        const {self.real} angle = bounded(mine[k*{THREADS}]);",
            f"        mine[k*{THREADS}] = cardan_sin<true>(angle, &largest);",
            f"        mine[(k + 1)*{THREADS}] = cardan_cos<true>(angle, &largest);",
            "    }",
        ]

    def define(self, function: Function) -> list[str]:
        assert self.angles
        f = "" if self.real == "double" else "f"
        bound = self.number(limit(self.options.dtype) / self.angles.terms)
        head = self.kernel_head(f"{function.name}_batch", function)
        return [
            f"static __device__ __forceinline__ {self.real} bounded({self.real} angle)",
            "{",
            f"    return fabs{f}(angle) < {bound} ? angle : cardan_turned{f}(angle);",
            "}",
            "",
            head.replace("void ", f"void __launch_bounds__({THREADS}) ", 1),
            "{",
            f"    extern __shared__ {self.real} tile[];",
            f"    volatile {self.real} *const mine = tile + threadIdx.x;",
            f"    volatile {self.real} left[{max(1, self.places.slots[OWN])}];",
            f"    {self.real} largest = 0;",
            "    (void)mine, (void)left, (void)largest;",
            "    long long state = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
            "    for (; state < count; state += (long long)gridDim.x * blockDim.x) {",
            *(f"    {line}".replace(", largest)", ", &largest)") for line in function.body),
            "    }",
            "}",
        ]


def _of_values(statement: Statement, parameters: set[str]) -> Statement:
    """The statement as one that reads values alone: no arrays, and no parameters."""
    reads = frozenset(x for x in statement.reads if x not in parameters and x[0] != "@")
    return Statement(statement.name, statement.value, reads, statement.output, statement.k)
