"""A kernel over the columns of a table as LLVM text: columns may lie anywhere in memory.

    void table(const T **src, T **out, const int64 *os, T *buffer, T *seen, int64 rows)

A block of rows at a time is taken into a small buffer, where its columns lie apart as the cache
likes it, and the kernel of `llvm` runs there. (Columns that a program has allocated tend to start
at the same place of a page; read side by side, they drive each other out of the cache, and a cheap
model takes twice as long.) Rows that are packed are read where they are. Everything is looked at
on the way, two blocks ahead is fetched, and `seen`, two vectors of integers, goes on with

    range     its highest bit is set as soon as the exponent of a number says infinite or not one
    digest    of the bits of all numbers, in order: it tells inputs apart that are not the same

`src` holds the address of every column of an input in columns, and of the array of any other.
Outputs are packed, or columns with strides `os`. With a width of 1 there may be any number of rows,
otherwise at least a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ..ir.code import Code

__all__ = ["BLOCK", "buffer_size", "table_text"]

BLOCK = 64  # rows
_STRIDE = BLOCK + 8  # of columns in the buffer
_AHEAD = 2  # blocks
_ODD, _TURN = 0x1E3779B1, 9  # spread bits: multiplied and turned
_KINDS = {  # type, bits, exponent, its lowest bit
    "float64": ("double", "i64", 0x7FF << 52, 1 << 52),
    "float32": ("float", "i32", 0xFF << 23, 1 << 23),
}


def buffer_size(code: Code) -> int:
    """Elements of the buffer."""
    return sum(prod(shape) for shape in code.inputs.values()) * _STRIDE


def table_text(
    code: Code, lies: Mapping[str, str], results: Sequence[str] | None, width: int, dtype: str
) -> str:
    """The function `table`, beside the text of `kernel`; without results it only looks.

    `lies`: columns, packed or uniform (the same for all rows), for each input; `results`: columns
    or packed, for each output."""
    t, bits, _, _ = _KINDS[dtype]
    v = bits if width == 1 else f"<{width} x {bits}>"
    taken, f, g = _inputs(code, lies, t, v)
    lines = [
        "define void @table(ptr %src, ptr %out, ptr %os, ptr %buffer, ptr %seen, i64 %rows) {",
        "entry:",
        f"  %in = alloca [{max(1, len(code.inputs))} x ptr]",
        f"  %is = alloca [{max(1, len(code.inputs))} x i64]",
        f"  %to = alloca [{max(1, len(code.outputs))} x ptr]",
        f"  %few = icmp slt i64 %rows, {BLOCK}",
        f"  %n = select i1 %few, i64 %rows, i64 {BLOCK}",
        "  %last = sub i64 %rows, %n",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        f"  %f = phi {v} [ {_same(0, width, bits)}, %entry ], [ {f}, %loop ]",
        f"  %g = phi {v} [ {_same(0, width, bits)}, %entry ], [ {g}, %loop ]",
        f"  %g.0 = mul {v} %g, {_same(_ODD, width, bits)}",
        *taken,
        *([] if results is None else _outputs(code, results, t)),
        f"  %step = add i64 %i, {BLOCK}",
        "  %more = icmp slt i64 %i, %last",
        "  %whole = icmp slt i64 %step, %last",
        "  %next = select i1 %whole, i64 %step, i64 %last",
        "  br i1 %more, label %loop, label %done",
        "done:",
        f"  %beside = getelementptr {v}, ptr %seen, i64 1",
        f"  store {v} {f}, ptr %seen, align 4",
        f"  store {v} {g}, ptr %beside, align 4",
        "  ret void",
        "}",
    ]
    helpers = [line for copy in (True, False) for line in _helper(width, dtype, copy)]
    return "\n".join([*helpers, *lines, ""])


def _same(value: int, width: int, bits: str) -> str:
    """An integer in all lanes."""
    return str(value) if width == 1 else f"<{', '.join([f'{bits} {value}'] * width)}>"


def _inputs(code: Code, lies: Mapping[str, str], t: str, v: str) -> tuple[list[str], str, str]:
    """Look at these rows of every input, take columns into the buffer, say where they are; and the
    names of what was seen so far."""
    lines: list[str] = []
    at, place, f, g = 0, 0, "%f", "%g.0"
    for k, (name, shape) in enumerate(code.inputs.items()):
        size, lie = prod(shape), lies[name]
        times = {"columns": 1, "packed": size, "uniform": 0}[lie]
        start = f"%d{at}" if lie == "columns" else f"%s{at}"
        for j in range(size if lie == "columns" else 1):
            lines += [
                f"  %p{at} = getelementptr ptr, ptr %src, i64 {at}",
                f"  %a{at} = load ptr, ptr %p{at}",
                f"  %o{at} = mul i64 %i, {times}",
                f"  %s{at} = getelementptr {t}, ptr %a{at}, i64 %o{at}",
                f"  %d{at} = getelementptr {t}, ptr %buffer, i64 {place + j * _STRIDE}",
                f"  %n{at} = mul i64 %n, {times}",
            ]
            if lie != "uniform":
                what = "take" if lie == "columns" else "look"
                given = f"ptr %d{at}, ptr %s{at}, i64 %n{at}, i64 {_AHEAD * BLOCK * times}"
                seen = f"{v} {f}, {v} {g}"
                f, g = f"%f{at}", f"%g{at}"
                lines += [
                    f"  %c{at} = call fastcc {{{v}, {v}}} @{what}({given}, {seen})",
                    f"  {f} = extractvalue {{{v}, {v}}} %c{at}, 0",
                    f"  {g} = extractvalue {{{v}, {v}}} %c{at}, 1",
                ]
            at += 1
        lines += [
            f"  %in{k} = getelementptr ptr, ptr %in, i64 {k}",
            f"  store ptr {start}, ptr %in{k}",
            f"  %is{k} = getelementptr i64, ptr %is, i64 {k}",
            f"  store i64 {_STRIDE if lie == 'columns' else size}, ptr %is{k}",
        ]
        place += size * _STRIDE
    return lines, f, g


def _outputs(code: Code, results: Sequence[str], t: str) -> list[str]:
    """Say where these rows of the outputs begin, and call the kernel."""
    lines = []
    for k, (output, lie) in enumerate(zip(code.outputs.values(), results, strict=True)):
        times = 1 if lie == "columns" else prod(output.shape)
        lines += [
            f"  %to{k}.o = mul i64 %i, {times}",
            f"  %to{k}.p = getelementptr ptr, ptr %out, i64 {k}",
            f"  %to{k}.a = load ptr, ptr %to{k}.p",
            f"  %to{k}.r = getelementptr {t}, ptr %to{k}.a, i64 %to{k}.o",
            f"  %to{k} = getelementptr ptr, ptr %to, i64 {k}",
            f"  store ptr %to{k}.r, ptr %to{k}",
        ]
    return [*lines, "  call void @kernel(ptr %in, ptr %is, ptr %to, ptr %os, i64 %n)"]


def _helper(width: int, dtype: str, copy: bool) -> list[str]:
    """`take` copies n elements, a number of blocks, and looks at them; `look` only does."""
    t, bits, exponent, lowest = _KINDS[dtype]
    v = bits if width == 1 else f"<{width} x {bits}>"
    turn = f"@llvm.fshl.{'' if width == 1 else f'v{width}'}{bits}"
    by, zero = f"{v} {_same(_TURN, width, bits)}", _same(0, width, bits)
    run = width if width == 1 else BLOCK
    lines = []
    for k in range(run // width):
        f, h = (f"%f.{k}", f"%h.{k}")
        lines += [
            f"  %from.{k} = getelementptr {t}, ptr %s.i, i64 {k * width}",
            f"  %soon.{k} = getelementptr {t}, ptr %from.{k}, i64 %ahead",
            f"  call void @llvm.prefetch.p0(ptr %soon.{k}, i32 0, i32 2, i32 1)",
            f"  %x.{k} = load {v}, ptr %from.{k}, align 4",
            f"  %e.{k} = and {v} %x.{k}, {_same(exponent, width, bits)}",
            f"  %u.{k} = add {v} %e.{k}, {_same(lowest, width, bits)}",
            f"  %f.{k + 1} = or {v} {f}, %u.{k}",
            f"  %t.{k} = call {v} {turn}({v} {h}, {v} {h}, {by})",
            f"  %h.{k + 1} = add {v} %t.{k}, %x.{k}",
        ]
        if copy:
            lines += [
                f"  %to.{k} = getelementptr {t}, ptr %d.i, i64 {k * width}",
                f"  store {v} %x.{k}, ptr %to.{k}, align 4",
            ]
    end = run // width
    declared = [
        f"declare {v} {turn}({v}, {v}, {v})",
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
    ]
    name = "take" if copy else "look"
    return [
        *(declared if copy else []),
        f"define internal fastcc {{{v}, {v}}} @{name}"
        f"(ptr %d, ptr %s, i64 %n, i64 %ahead, {v} %f, {v} %g) noinline {{",
        "entry:",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        f"  %f.0 = phi {v} [ %f, %entry ], [ %f.{end}, %loop ]",
        f"  %h.0 = phi {v} [ {zero}, %entry ], [ %h.{end}, %loop ]",
        f"  %s.i = getelementptr {t}, ptr %s, i64 %i",
        f"  %d.i = getelementptr {t}, ptr %d, i64 %i",
        *lines,
        f"  %next = add i64 %i, {run}",
        "  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %loop, label %done",
        "done:",
        f"  %spread = mul {v} %h.{end}, {_same(_ODD, width, bits)}",
        f"  %turned = call {v} {turn}({v} %g, {v} %g, {by})",
        f"  %g.new = add {v} %turned, %spread",
        f"  %one = insertvalue {{{v}, {v}}} poison, {v} %f.{end}, 0",
        f"  %both = insertvalue {{{v}, {v}}} %one, {v} %g.new, 1",
        f"  ret {{{v}, {v}}} %both",
        "}",
    ]
