"""Fixed-step integration of x' = f(x, u) as LLVM text, for blocks of states side by side.

    void rollout(x, held, stepped, shared, record, lanes, steps, every, h)

All arrays are columns (a structure of arrays over the states): x (s, lanes) is replaced by its
final value; held (m, lanes) does not change; stepped (steps, m, lanes) and shared (steps, m) are
read anew at every step; record (steps // every, s, lanes) is filled if every > 0. A block of states
stays in a small working memory through all its steps. f is a kernel of `llvm` over columns.
The methods are those of `run.steps`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ...ir.code import Code
from ..steps import STAGES


@dataclass(frozen=True)
class Layout:
    """How the inputs of f other than x reach a block: their groups, in order, and its size."""

    held: tuple[str, ...]
    stepped: tuple[str, ...]
    shared: tuple[str, ...]
    uniform: tuple[str, ...]
    positions: int  # leading elements of x that are positions
    width: int
    vectors: int  # of a block
    dtype: str = "double"

    @property
    def lanes(self) -> int:
        return self.width * self.vectors

    @property
    def vector(self) -> str:
        return self.dtype if self.width == 1 else f"<{self.width} x {self.dtype}>"


def rollout_text(code: Code, layout: Layout, method: str, iterations: int) -> str:
    """The function `rollout`, beside the text of the function `kernel` of f."""
    shapes = {name: prod(shape) for name, shape in code.inputs.items()}
    s = shapes["x"]
    groups = (layout.held, layout.stepped, layout.shared)
    sizes = [sum(shapes[name] for name in group) for group in groups]
    lines = [*_memory(layout, s, sum(sizes)), *_tables(code, layout, shapes)]
    lines += _loops(layout, s, sizes, _STEPS[method](layout, s, iterations))
    return "\n".join([_HELPERS(layout), *lines, ""])


def _memory(layout: Layout, s: int, m: int) -> list[str]:
    """The function's head and a block's working memory."""
    t = layout.dtype
    parts = {"X": s, "Y": s, "K": s, "S": s, "U": m}
    return [
        "define void @rollout(ptr %x, ptr %held, ptr %stepped, ptr %shared, ptr %record,"
        f" i64 %lanes, i64 %steps, i64 %every, {t} %h, ptr %uniform) {{",
        "entry:",
        *(
            f"  %{name} = alloca [{max(size, 1) * layout.lanes} x {t}], align 64"
            for name, size in parts.items()
        ),
        f"  %h2 = fmul {t} %h, {_number(0.5, t)}",
        f"  %h3 = fdiv {t} %h, {_number(3.0, t)}",
        f"  %h6 = fdiv {t} %h, {_number(6.0, t)}",
        f"  %zero = fsub {t} %h, %h",
    ]


def _number(x: float, dtype: str) -> str:
    return repr(x) if dtype == "double" else f"{x:.1f}"


def _tables(code: Code, layout: Layout, shapes: Mapping[str, int]) -> list[str]:
    """Pointers and strides of f's arrays: x is set before each call."""
    count = len(code.inputs)
    lines = [
        f"  %in = alloca [{count} x ptr]",
        f"  %is = alloca [{count} x i64]",
        "  %out = alloca [1 x ptr]",
        "  %os = alloca [1 x i64]",
        "  store ptr %K, ptr %out",
        f"  store i64 {layout.lanes}, ptr %os",
    ]
    place, taken = {}, 0
    for name in (*layout.held, *layout.stepped, *layout.shared):
        place[name] = taken
        taken += shapes[name] * layout.lanes
    for k, name in enumerate(code.inputs):
        lines.append(f"  %in.{k} = getelementptr ptr, ptr %in, i64 {k}")
        lines.append(f"  %is.{k} = getelementptr i64, ptr %is, i64 {k}")
        lines.append(f"  store i64 {layout.lanes}, ptr %is.{k}")
        if name in place:
            lines.append(f"  %u.{k} = getelementptr {layout.dtype}, ptr %U, i64 {place[name]}")
            lines.append(f"  store ptr %u.{k}, ptr %in.{k}")
        elif name in layout.uniform:
            at = layout.uniform.index(name)
            lines.append(f"  %p.{k} = getelementptr ptr, ptr %uniform, i64 {at}")
            lines.append(f"  %q.{k} = load ptr, ptr %p.{k}")
            lines.append(f"  store ptr %q.{k}, ptr %in.{k}")
        else:
            lines.append(f"  %slot = getelementptr ptr, ptr %in, i64 {k}")
    return lines


def _loops(layout: Layout, s: int, sizes: Sequence[int], step: list[str]) -> list[str]:
    """Over blocks, over steps; a step's text stands in the middle."""
    t, B = layout.dtype, layout.lanes
    held, stepped, shared = sizes

    def at(name: str, base: str, offset: str) -> str:
        return f"  %{name} = getelementptr {t}, ptr %{base}, i64 {offset}"

    return [
        f"  %width.s = mul i64 %lanes, {stepped}",
        f"  %width.r = mul i64 %lanes, {s}",
        "  br label %block",
        "block:",
        "  %at = phi i64 [ 0, %entry ], [ %next, %block.end ]",
        at("bx", "x", "%at"),
        at("bh", "held", "%at"),
        at("bs", "stepped", "%at"),
        at("br", "record", "%at"),
        at("us", "U", str(held * B)),
        at("uc", "U", str((held + stepped) * B)),
        f"  call void @copy(ptr %X, i64 {B}, ptr %bx, i64 %lanes, i64 {s})",
        f"  call void @copy(ptr %U, i64 {B}, ptr %bh, i64 %lanes, i64 {held})",
        "  br label %step",
        "step:",
        "  %k = phi i64 [ 0, %block ], [ %k.next, %step.end ]",
        "  %kept = phi i64 [ 0, %block ], [ %kept.next, %step.end ]",
        "  %since = phi i64 [ 1, %block ], [ %since.next, %step.end ]",
        "  %far.s = mul i64 %k, %width.s",
        at("row.s", "bs", "%far.s"),
        f"  call void @copy(ptr %us, i64 {B}, ptr %row.s, i64 %lanes, i64 {stepped})",
        f"  %far.c = mul i64 %k, {shared}",
        at("row.c", "shared", "%far.c"),
        f"  call void @splat(ptr %uc, ptr %row.c, i64 {shared})",
        *step,
        "  %due = icmp eq i64 %since, %every",
        "  br i1 %due, label %keep, label %step.end",
        "keep:",
        "  %far.r = mul i64 %kept, %width.r",
        at("row.r", "br", "%far.r"),
        f"  call void @copy(ptr %row.r, i64 %lanes, ptr %X, i64 {B}, i64 {s})",
        "  %kept.more = add i64 %kept, 1",
        "  br label %step.end",
        "step.end:",
        "  %kept.next = phi i64 [ %kept, %step.body ], [ %kept.more, %keep ]",
        "  %since.one = add i64 %since, 1",
        "  %since.next = select i1 %due, i64 1, i64 %since.one",
        "  %k.next = add i64 %k, 1",
        "  %more = icmp slt i64 %k.next, %steps",
        "  br i1 %more, label %step, label %block.end",
        "block.end:",
        f"  call void @copy(ptr %bx, i64 %lanes, ptr %X, i64 {B}, i64 {s})",
        f"  %next = add i64 %at, {B}",
        "  %left = icmp slt i64 %next, %lanes",
        "  br i1 %left, label %block, label %done",
        "done:",
        "  ret void",
        "}",
    ]


def _evaluate(x: str, lanes: int) -> list[str]:
    return [
        f"  store ptr %{x}, ptr %slot",
        f"  call void @kernel(ptr %in, ptr %is, ptr %out, ptr %os, i64 {lanes})",
    ]


def _axpy(layout: Layout, d: str, a: str, h: str, b: str, size: int) -> str:
    """d = a + h b."""
    count = size * layout.lanes
    return f"  call void @axpy(ptr %{d}, ptr %{a}, ptr %{b}, {layout.dtype} %{h}, i64 {count})"


def _rk4(layout: Layout, s: int, iterations: int) -> list[str]:
    def axpy(d: str, a: str, h: str, b: str = "K") -> str:
        return _axpy(layout, d, a, h, b, s)

    lines = [*_evaluate("X", layout.lanes), axpy("S", "X", "h6")]
    for k, (part, weight) in enumerate(STAGES, 1):
        total = "X" if k == len(STAGES) else "S"
        lines += [axpy("Y", "X", {1: "h", 2: "h2"}[part]), *_evaluate("Y", layout.lanes)]
        lines.append(axpy(total, "S", {1: "h6", 2: "h3"}[weight]))
    return [*lines, "  br label %step.body", "step.body:"]


def _euler(layout: Layout, s: int, iterations: int) -> list[str]:
    B, n, t = layout.lanes, layout.positions, layout.dtype
    lines = [
        *_evaluate("X", B),
        f"  %Xv = getelementptr {t}, ptr %X, i64 {n * B}",
        f"  %Kv = getelementptr {t}, ptr %K, i64 {n * B}",
        _axpy(layout, "Xv", "Xv", "h", "Kv", s - n),
    ]
    if 2 * n == s:  # positions whose rates are the velocities themselves
        lines.append(_axpy(layout, "X", "X", "h", "Xv", n))
    else:
        lines += [*_evaluate("X", B), _axpy(layout, "X", "X", "h", "K", n)]
    return [*lines, "  br label %step.body", "step.body:"]


def _midpoint(layout: Layout, s: int, iterations: int) -> list[str]:
    return [
        _axpy(layout, "Y", "X", "zero", "X", s),
        "  br label %again",
        "again:",
        "  %i = phi i64 [ 1, %step ], [ %i.next, %again ]",
        *_evaluate("Y", layout.lanes),
        _axpy(layout, "Y", "X", "h2", "K", s),
        "  %i.next = add i64 %i, 1",
        f"  %not.yet = icmp slt i64 %i, {iterations}",
        "  br i1 %not.yet, label %again, label %step.body",
        "step.body:",
        _axpy(layout, "X", "X", "h", "K", s),
    ]


_STEPS = {"rk4": _rk4, "euler": _euler, "midpoint": _midpoint}


def _HELPERS(layout: Layout) -> str:
    """copy (columns between strides), splat (one value to all lanes), axpy (d = a + h b)."""
    t, v, W, V, B = layout.dtype, layout.vector, layout.width, layout.vectors, layout.lanes
    moves, splats = [], []
    for k in range(V):
        moves += [
            f"  %p{k} = getelementptr {t}, ptr %ps, i64 {k * W}",
            f"  %q{k} = getelementptr {t}, ptr %pd, i64 {k * W}",
            f"  %v{k} = load {v}, ptr %p{k}, align 4",
            f"  store {v} %v{k}, ptr %q{k}, align 4",
        ]
        splats += [
            f"  %q{k} = getelementptr {t}, ptr %pd, i64 {k * W}",
            f"  store {v} %all, ptr %q{k}, align 4",
        ]
    one = [f"  %all = fadd {t} %v, 0.0"] if W == 1 else [
        f"  %one = insertelement {v} poison, {t} %v, i64 0",
        f"  %all = shufflevector {v} %one, {v} poison, <{W} x i32> zeroinitializer",
    ]  # fmt: skip
    hs = [f"  %all = fadd {t} %h, 0.0"] if W == 1 else [
        f"  %one = insertelement {v} poison, {t} %h, i64 0",
        f"  %all = shufflevector {v} %one, {v} poison, <{W} x i32> zeroinitializer",
    ]  # fmt: skip
    suffix = (
        ("f64" if t == "double" else "f32")
        if W == 1
        else (f"v{W}{'f64' if t == 'double' else 'f32'}")
    )
    return "\n".join([
        *_loop("copy", "ptr %d, i64 %ds, ptr %s, i64 %ss, i64 %n", [
            "  %os = mul i64 %i, %ss", "  %od = mul i64 %i, %ds",
            f"  %ps = getelementptr {t}, ptr %s, i64 %os",
            f"  %pd = getelementptr {t}, ptr %d, i64 %od", *moves,
        ], [], 1),
        *_loop("splat", "ptr %d, ptr %s, i64 %n", [
            f"  %od = mul i64 %i, {B}", f"  %ps = getelementptr {t}, ptr %s, i64 %i",
            f"  %pd = getelementptr {t}, ptr %d, i64 %od", f"  %v = load {t}, ptr %ps, align 4",
            *one, *splats,
        ], [], 1),
        f"declare {v} @llvm.fmuladd.{suffix}({v}, {v}, {v})",
        *_loop("axpy", f"ptr %d, ptr %a, ptr %b, {t} %h, i64 %n", [
            *(line for x in "dab" for line in (f"  %p{x} = getelementptr {t}, ptr %{x}, i64 %i",)),
            f"  %va = load {v}, ptr %pa, align 4", f"  %vb = load {v}, ptr %pb, align 4",
            f"  %vd = call {v} @llvm.fmuladd.{suffix}({v} %all, {v} %vb, {v} %va)",
            f"  store {v} %vd, ptr %pd, align 4",
        ], hs, W),
    ])  # fmt: skip


def _loop(name: str, arguments: str, body: list[str], before: list[str], stride: int) -> list[str]:
    """A helper: for i in range(0, n, stride)."""
    return [
        f"define internal void @{name}({arguments}) {{",
        "entry:",
        *before,
        "  %some = icmp sgt i64 %n, 0",
        "  br i1 %some, label %loop, label %done",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]",
        *body,
        f"  %i.next = add i64 %i, {stride}",
        "  %more = icmp slt i64 %i.next, %n",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
    ]
