"""States from memory into the lanes of vectors and back, as LLVM text.

An array lies in rows or in columns; with `width` states side by side,

    rows      element k of state i at i*stride + k: pieces of rows are loaded and turned into lanes
              by a network of shuffles
    columns   element k of state i at k*stride + i: already lanes (a structure of arrays)

A row is read and written in pieces that overlap within it and never reach beyond it, so any view
with such strides can be used where it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .llvm import Kernel

__all__ = ["load_states", "store_states"]


@dataclass(frozen=True)
class _Block:
    """Columns first .. first + count of a row, as one or two pieces of `piece` lanes each."""

    first: int
    count: int
    piece: int

    @property
    def starts(self) -> list[int]:
        """First column of each piece; the second ends where the block ends."""
        last = self.first + self.count - self.piece
        return [self.first] if last == self.first else [self.first, last]

    @property
    def columns(self) -> list[int]:
        """The column in each lane."""
        return [start + k for start in self.starts for k in range(self.piece)]


def _blocks(size: int, width: int) -> list[_Block]:
    """A row of that size in blocks of whole vectors, the last one shifted back or in pieces."""
    if size >= width:
        firsts = [*range(0, size - width + 1, width)]
        if size % width:
            firsts.append(size - width)
        return [_Block(first, width, width) for first in firsts]
    return [_Block(0, size, 1 << (size.bit_length() - 1))] if size else []


def load_states(kernel: Kernel) -> dict[tuple[str, int], str]:
    """Every element of the varying inputs as a vector over `width` states."""
    leaves: dict[tuple[str, int], str] = {}
    for name, shape in kernel.code.inputs.items():
        if name in kernel.uniform:
            continue
        for block in _blocks(prod(shape), 1 if ("in", name) in kernel.columns else kernel.width):
            if ("in", name) in kernel.columns:
                pointer = _place(kernel, "in", name, 0, block.first)
                leaves[name, block.first] = _load(kernel, kernel.width, pointer)
                continue
            rows = [_load_row(kernel, name, lane, block) for lane in range(kernel.width)]
            for column, vector in zip(block.columns, _transpose(kernel, rows), strict=False):
                leaves[name, column] = vector
    return leaves


def store_states(kernel: Kernel) -> None:
    """Every output from its lanes to its states."""
    for name, output in kernel.code.outputs.items():
        values = [
            kernel.value[ref] if ref > 0 else kernel.negative(kernel.value[-ref])
            for ref in output.refs
        ]
        for block in _blocks(len(values), 1 if ("out", name) in kernel.columns else kernel.width):
            if ("out", name) in kernel.columns:
                pointer = _place(kernel, "out", name, 0, block.first)
                _store(kernel, kernel.width, values[block.first], pointer)
                continue
            vectors = [values[column] for column in block.columns]
            vectors += ["poison"] * (kernel.width - len(vectors))
            for lane, row in enumerate(_transpose(kernel, vectors)):
                _store_row(kernel, name, lane, block, row)


def _load_row(kernel: Kernel, name: str, lane: int, block: _Block) -> str:
    """The pieces of one row side by side in one vector."""
    pieces = [
        _load(kernel, block.piece, _place(kernel, "in", name, lane, start))
        for start in block.starts
    ]
    if block.piece == kernel.width:
        return pieces[0]
    part = _vector(kernel, block.piece)
    if block.piece == 1:
        return kernel.emit(f"insertelement {kernel.type} poison, {part} {pieces[0]}, i64 0")
    filled = len(block.columns)
    mask = ", ".join(f"i32 {k if k < filled else 'poison'}" for k in range(kernel.width))
    return kernel.emit(
        f"shufflevector {part} {pieces[0]}, {part} {pieces[-1]}, <{kernel.width} x i32> <{mask}>"
    )


def _store_row(kernel: Kernel, name: str, lane: int, block: _Block, row: str) -> None:
    for k, start in enumerate(block.starts):
        part = row
        if block.piece == 1 < kernel.width:
            part = kernel.emit(f"extractelement {kernel.type} {row}, i64 {k}")
        elif block.piece < kernel.width:
            lanes = range(k * block.piece, (k + 1) * block.piece)
            mask = ", ".join(f"i32 {lane}" for lane in lanes)
            part = kernel.emit(
                f"shufflevector {kernel.type} {row}, {kernel.type} poison,"
                f" <{block.piece} x i32> <{mask}>"
            )
        _store(kernel, block.piece, part, _place(kernel, "out", name, lane, start))


def _vector(kernel: Kernel, lanes: int) -> str:
    return kernel.kind.type if lanes == 1 else f"<{lanes} x {kernel.kind.type}>"


def _load(kernel: Kernel, lanes: int, pointer: str) -> str:
    return kernel.emit(f"load {_vector(kernel, lanes)}, ptr {pointer}, align {kernel.kind.bytes}")


def _store(kernel: Kernel, lanes: int, value: str, pointer: str) -> None:
    kernel.lines.append(
        f"  store {_vector(kernel, lanes)} {value}, ptr {pointer}, align {kernel.kind.bytes}"
    )


def _place(kernel: Kernel, side: str, name: str, lane: int, column: int) -> str:
    """The address of a column of the state in that lane."""
    number = kernel.number[side, name]
    stride = f"%{'is' if side == 'in' else 'os'}{number}"
    state = kernel.emit(f"add i64 %row, {lane}") if lane else "%row"
    if (side, name) in kernel.columns:
        far = kernel.emit(f"mul i64 {stride}, {column}")
        offset = kernel.emit(f"add i64 {far}, {state}")
    else:
        far = kernel.emit(f"mul i64 {state}, {stride}")
        offset = kernel.emit(f"add i64 {far}, {column}") if column else far
    return kernel.emit(f"getelementptr {kernel.kind.type}, ptr %{side}{number}, i64 {offset}")


def _transpose(kernel: Kernel, rows: list[str]) -> list[str]:
    """width vectors of width lanes transposed: log2(width) stages of pairwise exchanges."""
    width, size = kernel.width, 1
    lanes = range(width)
    while size < width:
        take_low = [k if not k & size else width + (k ^ size) for k in lanes]
        take_high = [k | size if not k & size else width + k for k in lanes]
        out = list(rows)
        for i in lanes:
            if not i & size:
                low, high = rows[i], rows[i | size]
                out[i] = _shuffle(kernel, low, high, take_low)
                out[i | size] = _shuffle(kernel, low, high, take_high)
        rows, size = out, size * 2
    return rows


def _shuffle(kernel: Kernel, x: str, y: str, lanes: list[int]) -> str:
    if x == y == "poison":
        return "poison"
    mask = ", ".join(f"i32 {lane}" for lane in lanes)
    t = kernel.type
    return kernel.emit(f"shufflevector {t} {x}, {t} {y}, <{kernel.width} x i32> <{mask}>")
