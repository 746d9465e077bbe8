"""States from memory into the lanes of vectors and back, as LLVM text.

An array lies in one of these ways; with `width` states side by side,

    rows      element k of state i at i*stride + k: pieces of rows are loaded and turned into lanes
              by a network of shuffles
    packed    rows one after the other: the stride is the size of a row, known here; short rows for
              many lanes are read as they lie and turned by another network (llvm_lanes)
    streamed  packed rows of an output larger than the caches: turned as a whole and written in
              order, line by line, which costs more work and less than half of the memory's time
    columns   element k of state i at k*stride + i: already lanes (a structure of arrays)

A row is read and written in pieces that overlap within it and never reach beyond it, so any view
with such strides can be used where it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from .lanes import Stage, inverse, turned

if TYPE_CHECKING:
    from .program import Kernel

_STORED_AT_ONCE = STREAMED = 64  # elements of an output
_TURNED_AT_ONCE = 16  # elements of a row: more do not fit the registers
_TURNED_FROM = 16  # lanes: with fewer, pieces of rows put together on the way from memory cost less


@dataclass(frozen=True)
class Block:
    """Columns first .. first + size of all rows. Vector j holds some rows side by side, usually
    j, j + size, j + 2 size ...; exchanging lanes between vectors makes vector j column first + j.
    """

    first: int
    size: int
    wide: bool = (
        False  # read two pieces of 32 bytes: the last stage takes halves of both, which is cheaper
    )

    def columns(self) -> range:
        return range(self.first, self.first + self.size)

    def rows(self, j: int, width: int) -> range:
        if not self.wide:
            return range(j, width, self.size)
        half = self.size // 2
        first = j % half + (self.size if j >= half else 0)
        return range(first, first + self.size, half)

    def exchanges(self, width: int) -> list[tuple[int, list[int], list[int]]]:
        """Stages (distance, lanes taken by the lower of two vectors, by the higher)."""
        lanes = range(width)
        stages = []
        distance = 1
        while distance < self.size:
            low = [k if not k & distance else width + (k ^ distance) for k in lanes]
            high = [k | distance if not k & distance else width + k for k in lanes]
            stages.append((distance, low, high))
            distance *= 2
        if self.wide:
            half = self.size // 2
            low = [k for k in range(2 * width) if not k & half]
            stages[-1] = (half, low, [k | half for k in low])
        return stages


def _blocks(kernel: Kernel, side: str, size: int) -> list[Block]:
    """A row of that size in blocks, the last one shifted back to end with the row. Half a vector
    is wide enough: putting halves together on the way from memory is cheaper than a shuffle."""
    if not size:
        return []
    half = max(16, kernel.width * kernel.kind.bytes // 2) // kernel.kind.bytes
    wide = min(kernel.width, half, 1 << (size.bit_length() - 1))
    firsts = [*range(0, size - wide + 1, wide)]
    if size % wide:
        firsts.append(size - wide)
    pair = side == "in" and kernel.width == 2 * wide and wide * kernel.kind.bytes == 32
    return [Block(first, wide, pair) for first in firsts]


def load_element(kernel: Kernel, name: str, element: int) -> str:
    """An element of a varying input as a vector over `width` states. Its block is loaded when the
    first of its columns is wanted: shuffles then run beside arithmetic."""
    if kernel.lie["in", name] == "columns":
        return _load(kernel, kernel.width, _place(kernel, "in", name, 0, element))
    if (name, element) not in kernel.loaded and _is_turned(kernel, "in", name):
        for column, vector in enumerate(_load_turned(kernel, name)):
            kernel.loaded[name, column] = vector
    if (name, element) not in kernel.loaded:
        blocks = _blocks(kernel, "in", prod(kernel.code.inputs[name]))
        block = next(x for x in blocks if element in x.columns())
        vectors = [_load_rows(kernel, name, j, block) for j in range(block.size)]
        for column, vector in zip(block.columns(), _exchange(kernel, block, vectors), strict=True):
            kernel.loaded.setdefault((name, column), vector)
    return kernel.loaded[name, element]


def stores(kernel: Kernel) -> dict[int, list[tuple[str, Block]]]:
    """The blocks of the outputs, by the last node each waits for. What is ready is stored at once,
    to have its register free; but a large array in the order of memory, at the end, and so too the
    outputs of one state, which may overlap its inputs."""
    end = len(kernel.code.nodes) - 1
    blocks: dict[int, list[tuple[str, Block]]] = {}
    for name, output in kernel.code.outputs.items():
        size = len(output.refs)
        for block in _stored_blocks(kernel, name, size):
            last = max(abs(output.refs[column]) for column in block.columns())
            late = kernel.width == 1 or size > _STORED_AT_ONCE
            blocks.setdefault(end if late else last, []).append((name, block))
    return blocks


def _stored_blocks(kernel: Kernel, name: str, size: int) -> list[Block]:
    """What is stored together."""
    if kernel.lie["out", name] == "columns":
        return [Block(k, 1) for k in range(size)]
    if _is_turned(kernel, "out", name):
        return [Block(0, size)]
    return _blocks(kernel, "out", size)


def store_block(kernel: Kernel, name: str, block: Block) -> None:
    """Columns of an output from their lanes to their states."""
    refs = kernel.code.outputs[name].refs
    vectors = [
        kernel.value[ref] if ref > 0 else kernel.negative(kernel.value[-ref])
        for ref in (refs[column] for column in block.columns())
    ]
    if kernel.lie["out", name] == "columns":
        _store(kernel, kernel.width, vectors[0], _place(kernel, "out", name, 0, block.first))
        return
    if _is_turned(kernel, "out", name):
        stages = inverse(turned(block.size, kernel.width))
        for k, vector in enumerate(_staged(kernel, stages, vectors)):
            _store(kernel, kernel.width, vector, _lying(kernel, "out", name, k))
        return
    for j, vector in enumerate(_exchange(kernel, block, vectors)):
        _store_rows(kernel, name, j, block, vector)


def _is_turned(kernel: Kernel, side: str, name: str) -> bool:
    """Rows that are read and written as they lie, all at once (llvm_lanes)."""
    shape = kernel.code.inputs[name] if side == "in" else kernel.code.outputs[name].shape
    few = 0 < prod(shape) <= _TURNED_AT_ONCE
    packed = kernel.width >= _TURNED_FROM and kernel.lie[side, name] == "packed" and few
    return packed or (kernel.width > 1 and kernel.lie[side, name] == "streamed")


def _load_turned(kernel: Kernel, name: str) -> list[str]:
    """All columns of an input."""
    size = prod(kernel.code.inputs[name])
    lying = [_load(kernel, kernel.width, _lying(kernel, "in", name, k)) for k in range(size)]
    return _staged(kernel, turned(size, kernel.width), lying)


def _lying(kernel: Kernel, side: str, name: str, k: int) -> str:
    """The address of the k-th vector of rows that lie one after the other."""
    return _place(kernel, side, name, 0, k * kernel.width)


def _staged(kernel: Kernel, stages: list[Stage], vectors: list[str]) -> list[str]:
    """Vectors whose lanes change places."""
    for k, stage in enumerate(stages):
        if k:  # LLVM would join two stages into shuffles of three operands, which cost more
            vectors = [kernel.fence(x) for x in vectors]
        vectors = [_taken(kernel, vectors, places) for places in stage]
    return vectors


def _taken(kernel: Kernel, vectors: list[str], places: list[tuple[int, int]]) -> str:
    """A vector of lanes of at most two others."""
    x, y = min(places)[0], max(places)[0]
    lanes = [lane + (kernel.width if vector != x else 0) for vector, lane in places]
    if lanes == list(range(kernel.width)):
        return vectors[x]
    return _shuffle(kernel, vectors[x], vectors[y], lanes)


def _load_rows(kernel: Kernel, name: str, j: int, block: Block) -> str:
    """Pieces of several rows side by side in one vector."""
    parts = [
        _load(kernel, block.size, _place(kernel, "in", name, row, block.first))
        for row in block.rows(j, kernel.width)
    ]
    if block.size == 1 < kernel.width:
        vector = "poison"
        for lane, part in enumerate(parts):
            vector = kernel.emit(
                f"insertelement {kernel.type} {vector}, {kernel.kind.type} {part}, i64 {lane}"
            )
        return vector
    lanes = block.size
    while len(parts) > 1:
        both = ", ".join(f"i32 {k}" for k in range(2 * lanes))
        t = _vector(kernel, lanes)
        parts = [
            kernel.emit(f"shufflevector {t} {x}, {t} {y}, <{2 * lanes} x i32> <{both}>")
            for x, y in zip(parts[::2], parts[1::2], strict=True)
        ]
        lanes *= 2
    return parts[0]


def _store_rows(kernel: Kernel, name: str, j: int, block: Block, vector: str) -> None:
    for k, row in enumerate(block.rows(j, kernel.width)):
        part = vector
        if block.size == 1 < kernel.width:
            part = kernel.emit(f"extractelement {kernel.type} {vector}, i64 {k}")
        elif block.size < kernel.width:
            lanes = range(k * block.size, (k + 1) * block.size)
            mask = ", ".join(f"i32 {lane}" for lane in lanes)
            part = kernel.emit(
                f"shufflevector {kernel.type} {vector}, {kernel.type} poison,"
                f" <{block.size} x i32> <{mask}>"
            )
        _store(kernel, block.size, part, _place(kernel, "out", name, row, block.first))


def _vector(kernel: Kernel, lanes: int) -> str:
    return kernel.kind.type if lanes == 1 else f"<{lanes} x {kernel.kind.type}>"


def _load(kernel: Kernel, lanes: int, pointer: str) -> str:
    return kernel.emit(f"load {_vector(kernel, lanes)}, ptr {pointer}, align {kernel.kind.bytes}")


def _store(kernel: Kernel, lanes: int, value: str, pointer: str) -> None:
    kernel.lines.append(
        f"  store {_vector(kernel, lanes)} {value}, ptr {pointer}, align {kernel.kind.bytes}"
    )
    kernel.part()


def _place(kernel: Kernel, side: str, name: str, lane: int, column: int) -> str:
    """The address of a column of the state in that lane."""
    number, lie = kernel.number[side, name], kernel.lie[side, name]
    array, t = f"%{side}{number}", kernel.kind.type
    if lie in ("packed", "streamed"):
        code = kernel.code
        size = prod(code.inputs[name] if side == "in" else code.outputs[name].shape)
        first = kernel.emit(f"mul i64 %row, {size}")
        row = kernel.emit(f"getelementptr {t}, ptr {array}, i64 {first}")
        return kernel.emit(f"getelementptr {t}, ptr {row}, i64 {lane * size + column}")
    stride = f"%{'is' if side == 'in' else 'os'}{number}"
    state = kernel.emit(f"add i64 %row, {lane}") if lane else "%row"
    times, plus = (column, state) if lie == "columns" else (state, column)
    far = kernel.emit(f"mul i64 {stride}, {times}")
    offset = kernel.emit(f"add i64 {far}, {plus}")
    return kernel.emit(f"getelementptr {t}, ptr {array}, i64 {offset}")


def _exchange(kernel: Kernel, block: Block, vectors: list[str]) -> list[str]:
    """Squares of lanes transposed, as many as fit side by side: log2(size) stages of pairwise
    exchanges."""
    if len(set(vectors)) == 1 and vectors[0].startswith(("<", "zero")):
        return vectors  # one constant everywhere, as between branches of a tree
    for distance, low, high in block.exchanges(kernel.width):
        out = list(vectors)
        for i in range(block.size):
            if not i & distance:
                pair = vectors[i], vectors[i | distance]
                out[i] = _shuffle(kernel, *pair, low)
                out[i | distance] = _shuffle(kernel, *pair, high)
        vectors = out
    return vectors


def _shuffle(kernel: Kernel, x: str, y: str, lanes: list[int]) -> str:
    kernel.part()
    mask = ", ".join(f"i32 {lane}" for lane in lanes)
    t = kernel.type
    return kernel.emit(f"shufflevector {t} {x}, {t} {y}, <{kernel.width} x i32> <{mask}>")
