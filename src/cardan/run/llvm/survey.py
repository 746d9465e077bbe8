"""A look at everything a kernel reads, on its way through the registers, as LLVM text.

The table of outputs has one more address: two vectors of integers that the kernel goes on with,

    range     its highest bit is set as soon as the exponent of a number says infinite or not one
    digest    of the bits of all numbers, in order: it tells inputs apart that are not the same

A pass of its own over the inputs would cost half as much as a cheap model.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from .memory import load_element

if TYPE_CHECKING:
    from .program import Kernel

_ODD, _TURN = 0x1E3779B1, 9  # spread bits: multiplied and turned
_EXPONENT = {8: (0x7FF << 52, 1 << 52), 4: (0xFF << 23, 1 << 23)}  # and its lowest bit


def survey(kernel: Kernel) -> None:
    """Take in every element of the inputs that differ from state to state."""
    size, lanes = kernel.kind.bytes, kernel.lanes
    bits = f"i{8 * size}"
    v = bits if lanes == 1 else f"<{lanes} x {bits}>"

    def same(value: int) -> str:
        return str(value) if lanes == 1 else f"<{', '.join([f'{bits} {value}'] * lanes)}>"

    exponent, lowest = _EXPONENT[size]
    turn = f"@llvm.fshl.{'' if lanes == 1 else f'v{lanes}'}{bits}"
    kernel.declared.add(f"declare {v} {turn}({v}, {v}, {v})")
    place = kernel.emit(f"getelementptr ptr, ptr %out, i64 {len(kernel.code.outputs)}")
    seen = kernel.emit(f"load ptr, ptr {place}")
    beside = kernel.emit(f"getelementptr {v}, ptr {seen}, i64 1")
    high = kernel.emit(f"load {v}, ptr {seen}, align {size}")
    mixed = same(0)
    for name, shape in kernel.code.inputs.items():
        for element in range(0 if name in kernel.uniform else prod(shape)):
            x = load_element(kernel, name, element)
            raw = kernel.emit(f"bitcast {kernel.type} {x} to {v}")
            masked = kernel.emit(f"and {v} {raw}, {same(exponent)}")
            over = kernel.emit(f"add {v} {masked}, {same(lowest)}")
            high = kernel.emit(f"or {v} {high}, {over}")
            turned = kernel.emit(f"call {v} {turn}({v} {mixed}, {v} {mixed}, {v} {same(_TURN)})")
            mixed = kernel.emit(f"add {v} {turned}, {raw}")
    before = kernel.emit(f"load {v}, ptr {beside}, align {size}")
    spread = kernel.emit(f"mul {v} {before}, {same(_ODD)}")
    digest = kernel.emit(f"add {v} {spread}, {mixed}")
    _fetch(kernel)
    kernel.lines += [
        f"  store {v} {high}, ptr {seen}, align {size}",
        f"  store {v} {digest}, ptr {beside}, align {size}",
    ]


def _fetch(kernel: Kernel) -> None:
    """Ask for the columns of a later block, a little at every step: beside arithmetic, memory costs
    nothing. The address after `seen` tells where they are: the table of columns, and a row."""
    if "columns" not in (kernel.lie["in", name] for name in kernel.code.inputs):
        return
    kernel.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    place = kernel.emit(f"getelementptr ptr, ptr %out, i64 {len(kernel.code.outputs) + 1}")
    later = kernel.emit(f"load ptr, ptr {place}")
    table = kernel.emit(f"load ptr, ptr {later}")
    beside = kernel.emit(f"getelementptr ptr, ptr {later}, i64 1")
    first = kernel.emit(f"load i64, ptr {beside}")
    row = kernel.emit(f"add i64 {first}, %row")
    at = 0
    for name, shape in kernel.code.inputs.items():
        columns = kernel.lie["in", name] == "columns"
        for _ in range(prod(shape) if columns else 1):
            if columns:
                column = kernel.emit(f"getelementptr ptr, ptr {table}, i64 {at}")
                start = kernel.emit(f"load ptr, ptr {column}")
                soon = kernel.emit(f"getelementptr {kernel.kind.type}, ptr {start}, i64 {row}")
                kernel.lines.append(
                    f"  call void @llvm.prefetch.p0(ptr {soon}, i32 0, i32 2, i32 1)"
                )
            at += 1
