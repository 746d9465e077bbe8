"""A kernel over the columns of a table as LLVM text: columns may lie anywhere in memory.

    void table(const T **src, T **out, const int64 *os, T *buffer, T *seen, int64 rows)

A block of rows at a time is taken into a small buffer, where its columns lie apart as the cache
likes it, and the kernel of `llvm` runs there. (Columns that a program has allocated tend to start
at the same place of a page; read side by side, they drive each other out of the cache, and a cheap
model takes twice as long.) Rows that are packed are read where they are. Everything is looked at
on the way, two blocks ahead is fetched, and `seen`, two vectors, goes on with

    finite    sum of 0 x: not a number as soon as one x is not finite
    digest    of the bits of all x, in order: it tells inputs apart that are not the same

`src` holds the address of every column of an input in columns, and of the array of any other.
Outputs are packed, or columns with strides `os`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from ..ir.code import Code

__all__ = ["buffer_size", "table_text"]

_BLOCK = 128  # rows
_STRIDE = _BLOCK + 8  # of columns in the buffer
_AHEAD = 2  # blocks
_ODD, _TURN = 0x1E3779B1, 9  # spread bits: multiplied once a column, turned once a vector


def buffer_size(code: Code) -> int:
    """Elements of the buffer."""
    return sum(prod(shape) for shape in code.inputs.values()) * _STRIDE


def table_text(
    code: Code, lies: Mapping[str, str], results: Sequence[str] | None, width: int, dtype: str
) -> str:
    """The function `table`, beside the text of `kernel`; without results it only looks.

    `lies`: columns, packed or uniform (the same for all rows), for each input; `results`: columns
    or packed, for each output."""
    t = "double" if dtype == "float64" else "float"
    lines = [
        "define void @table(ptr %src, ptr %out, ptr %os, ptr %buffer, ptr %seen, i64 %rows) {",
        "entry:",
        f"  %in = alloca [{max(1, len(code.inputs))} x ptr]",
        f"  %is = alloca [{max(1, len(code.inputs))} x i64]",
        f"  %to = alloca [{max(1, len(code.outputs))} x ptr]",
        f"  %few = icmp slt i64 %rows, {_BLOCK}",
        f"  %n = select i1 %few, i64 %rows, i64 {_BLOCK}",
        "  %last = sub i64 %rows, %n",
        *_loop(
            [
                *_inputs(code, lies, t),
                *([] if results is None else _outputs(code, results, t)),
            ],
            _BLOCK,
        ),
        "  ret void",
        "}",
    ]
    return "\n".join([*_helper(width, t, True), *_helper(width, t, False), *lines, ""])


def _loop(body: list[str], stride: int, carried: tuple[str, ...] = ()) -> list[str]:
    """For i from 0 by strides; the last round begins at `last`, if that is not a stride."""
    return [
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        *carried,
        *body,
        f"  %step = add i64 %i, {stride}",
        "  %more = icmp slt i64 %i, %last",
        "  %whole = icmp slt i64 %step, %last",
        "  %next = select i1 %whole, i64 %step, i64 %last",
        "  br i1 %more, label %loop, label %done",
        "done:",
    ]


def _inputs(code: Code, lies: Mapping[str, str], t: str) -> list[str]:
    """Look at these rows of every input, take columns into the buffer, and say where they are."""
    lines, at, place = [], 0, 0
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
                f"  %n{at} = mul i64 %n, {times}",
            ]
            rest = f"ptr %s{at}, i64 %n{at}, i64 {_AHEAD * _BLOCK * times}, ptr %seen)"
            if lie == "columns":
                lines += [
                    f"  %d{at} = getelementptr {t}, ptr %buffer, i64 {place + j * _STRIDE}",
                    f"  call void @take(ptr %d{at}, {rest}",
                ]
            elif lie == "packed":
                lines.append(f"  call void @look(ptr %s{at}, {rest}")
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


def _helper(width: int, t: str, copy: bool) -> list[str]:
    """`take` copies n elements, at least a vector of them, and looks at them; `look` only does."""
    bits = "i64" if t == "double" else "i32"
    v, b = (t, bits) if width == 1 else (f"<{width} x {t}>", f"<{width} x {bits}>")
    turn = f"@llvm.fshl.{'' if width == 1 else f'v{width}'}{bits}"
    align = f"align {8 if t == 'double' else 4}"

    def same(value: object, kind: str) -> str:
        return str(value) if width == 1 else f"<{', '.join([f'{kind} {value}'] * width)}>"

    body = [
        f"  %from = getelementptr {t}, ptr %s, i64 %i",
        f"  %to = getelementptr {t}, ptr %d, i64 %i",
        f"  %soon = getelementptr {t}, ptr %from, i64 %ahead",
        "  call void @llvm.prefetch.p0(ptr %soon, i32 0, i32 2, i32 1)",
        f"  %x = load {v}, ptr %from, {align}",
        *([f"  store {v} %x, ptr %to, {align}"] if copy else []),
        f"  %zero = fmul {v} %x, {same('0.0', t)}",
        f"  %f.next = fadd {v} %f, %zero",
        f"  %turned = call {b} {turn}({b} %g, {b} %g, {b} {same(_TURN, bits)})",
        f"  %raw = bitcast {v} %x to {b}",
        f"  %g.next = add {b} %turned, %raw",
    ]
    carried = (
        f"  %f = phi {v} [ %f0, %entry ], [ %f.next, %loop ]",
        f"  %g = phi {b} [ %g1, %entry ], [ %g.next, %loop ]",
    )
    declared = [f"declare {b} {turn}({b}, {b}, {b})",
                "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] if copy else []  # fmt: skip
    name = "take" if copy else "look"
    return [
        *declared,
        f"define internal void @{name}(ptr %d, ptr %s, i64 %n, i64 %ahead, ptr %seen) noinline {{",
        "entry:",
        f"  %beside = getelementptr {v}, ptr %seen, i64 1",
        f"  %f0 = load {v}, ptr %seen, {align}",
        f"  %g0 = load {b}, ptr %beside, {align}",
        f"  %g1 = mul {b} %g0, {same(_ODD, bits)}",
        f"  %last = sub i64 %n, {width}",
        *_loop(body, width, carried),
        f"  store {v} %f.next, ptr %seen, {align}",
        f"  store {b} %g.next, ptr %beside, {align}",
        "  ret void",
        "}",
    ]
