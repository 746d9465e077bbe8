"""A kernel over the columns of a table as LLVM text: columns may lie anywhere in memory.

    void table(const T **src, T **out, const int64 *os, T *buffer, T *seen, int64 rows)

A block of rows at a time is copied into a small buffer, where its columns lie apart as the cache
likes it, and the kernel of `llvm` runs there. (Columns that a program has allocated tend to start
at the same place of a page; read side by side, they drive each other out of the cache, and a cheap
model takes twice as long.) Rows that are packed are read where they are. The kernel looks at what
it reads, `seen`, and asks for columns two blocks ahead (llvm_survey).

`src` holds the address of every column of an input in columns, and of the array of any other.
Outputs are packed, or columns with strides `os`. With a width of 1 there may be any number of rows,
otherwise at least a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ...ir.code import Code

BLOCK = 64  # rows
_STRIDE = BLOCK + 8  # of columns in the buffer
_AHEAD = 2 * BLOCK
_TYPES = {"float64": "double", "float32": "float"}


def buffer_size(code: Code) -> int:
    """Elements of the buffer."""
    return sum(prod(shape) for shape in code.inputs.values()) * _STRIDE


def table_text(
    code: Code, lies: Mapping[str, str], results: Sequence[str], width: int, dtype: str
) -> str:
    """The function `table`, beside the text of `kernel`.

    `lies`: columns, packed or uniform (the same for all rows), for each input; `results`: columns
    or packed, for each output."""
    t, block = _TYPES[dtype], BLOCK if "columns" in lies.values() else 1 << 62
    return "\n".join([
        *_copy(width, t),
        "define void @table(ptr %src, ptr %out, ptr %os, ptr %buffer, ptr %seen, i64 %rows) {",
        "entry:",
        f"  %in = alloca [{max(1, len(code.inputs))} x ptr]",
        f"  %is = alloca [{max(1, len(code.inputs))} x i64]",
        f"  %to = alloca [{len(code.outputs) + 2} x ptr]",
        "  %later = alloca [2 x ptr]",
        "  store ptr %src, ptr %later",
        "  %later.row = getelementptr ptr, ptr %later, i64 1",
        f"  %few = icmp slt i64 %rows, {block}",
        f"  %n = select i1 %few, i64 %rows, i64 {block}",
        "  %last = sub i64 %rows, %n",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        *_inputs(code, lies, t),
        *_outputs(code, results, t),
        "  call void @kernel(ptr %in, ptr %is, ptr %to, ptr %os, i64 %n)",
        "  %step = add i64 %i, %n",
        "  %more = icmp slt i64 %i, %last",
        "  %whole = icmp slt i64 %step, %last",
        "  %next = select i1 %whole, i64 %step, i64 %last",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
        "",
    ])  # fmt: skip


def _inputs(code: Code, lies: Mapping[str, str], t: str) -> list[str]:
    """Copy these rows of columns into the buffer, and say where the inputs are."""
    lines: list[str] = []
    at, place = 0, 0
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
            ]
            if lie == "columns":
                lines += [
                    f"  %d{at} = getelementptr {t}, ptr %buffer, i64 {place + j * _STRIDE}",
                    f"  call fastcc void @copy(ptr %d{at}, ptr %s{at}, i64 %n)",
                ]
            at += 1
        lines += [
            f"  %in{k} = getelementptr ptr, ptr %in, i64 {k}",
            f"  store ptr {start}, ptr %in{k}",
            f"  %is{k} = getelementptr i64, ptr %is, i64 {k}",
            f"  store i64 {_STRIDE if lie == 'columns' else size}, ptr %is{k}",
        ]
        place += size * _STRIDE
    return lines


def _outputs(code: Code, results: Sequence[str], t: str) -> list[str]:
    """Say where these rows of the outputs begin."""
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
    return [
        *lines,
        f"  %to.seen = getelementptr ptr, ptr %to, i64 {len(code.outputs)}",
        "  store ptr %seen, ptr %to.seen",
        f"  %to.later = getelementptr ptr, ptr %to, i64 {len(code.outputs) + 1}",
        "  store ptr %later, ptr %to.later",
        f"  %row.later = add i64 %i, {_AHEAD}",
        "  store i64 %row.later, ptr %later.row",
    ]


def _copy(width: int, t: str) -> list[str]:
    """`copy` n elements: a block in one go, or one by one."""
    v, run = (t, 1) if width == 1 else (f"<{width} x {t}>", BLOCK)
    body = []
    for k in range(0, run, width):
        body += [
            f"  %from.{k} = getelementptr {t}, ptr %s.i, i64 {k}",
            f"  %x.{k} = load {v}, ptr %from.{k}, align 4",
            f"  %to.{k} = getelementptr {t}, ptr %d.i, i64 {k}",
            f"  store {v} %x.{k}, ptr %to.{k}, align 4",
        ]
    return [
        "define internal fastcc void @copy(ptr %d, ptr %s, i64 %n) noinline {",
        "entry:",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        f"  %s.i = getelementptr {t}, ptr %s, i64 %i",
        f"  %d.i = getelementptr {t}, ptr %d, i64 %i",
        *body,
        f"  %next = add i64 %i, {run}",
        "  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
    ]
