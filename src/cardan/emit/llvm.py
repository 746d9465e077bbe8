"""Programs as LLVM text: one function over rows of arrays, `width` states at a time.

    void kernel(const T **in, const int64 *in_stride, T **out, const int64 *out_stride, int64 rows)

Input and output arrays hold one state per row; strides are in elements. `rows` must be a multiple
of the width, and a row is read and written in whole vectors: up to width - 1 elements beyond its
end are read, and written but overwritten by the next rows (`run` gives the last rows a padded
copy). Rows are turned into lanes by a network of shuffles. Arrays in `uniform` are the same for all
rows: what depends on them alone is computed once, before the loop.

Products are fused into additions by ir.passes.fuse, not by the optimiser, so that one state and a
batch give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from ..ir.code import Code
from ..ir.cost import depends_on
from .llvm_sincos import KINDS, SinCos, literal, reduced, slow_declarations, slow_path

__all__ = ["Kernel", "kernel_text"]

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "min": "minimum", "max": "maximum"}


def kernel_text(
    code: Code, *, name: str, width: int, dtype: str, fma: bool, uniform: frozenset[str]
) -> str:
    """The LLVM module with the function `name` for a program."""
    return Kernel(code, name, width, KINDS[dtype], fma, uniform).text()


@dataclass
class Kernel:
    """Writes one function. Values are kept by node id: scalars before the loop, vectors in it."""

    code: Code
    name: str
    width: int
    kind: SinCos
    fma: bool
    uniform: frozenset[str]
    lines: list[str] = field(default_factory=list)
    value: dict[int, str] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    number: dict[tuple[str, str], int] = field(default_factory=dict)
    fresh: int = 0
    lanes: int = 1  # lanes of the values being written: 1 before the loop, then width
    block: str = "entry"

    def __post_init__(self) -> None:
        self.varying = depends_on(self.code, set(self.code.inputs) - self.uniform)

    # spelling

    @property
    def type(self) -> str:
        return self.kind.type if self.lanes == 1 else f"<{self.lanes} x {self.kind.type}>"

    @property
    def suffix(self) -> str:
        scalar = "f64" if self.kind.type == "double" else "f32"
        return scalar if self.lanes == 1 else f"v{self.lanes}{scalar}"

    def emit(self, text: str) -> str:
        """Append an instruction that defines a new value; its name."""
        self.fresh += 1
        self.lines.append(f"  %v{self.fresh} = {text}")
        return f"%v{self.fresh}"

    def const(self, x: float) -> str:
        one = literal(x, self.kind)
        if self.lanes == 1:
            return one
        return "<" + ", ".join(f"{self.kind.type} {one}" for _ in range(self.lanes)) + ">"

    def call(self, intrinsic: str, *args: str) -> str:
        t = self.type
        declaration = f"declare {t} @llvm.{intrinsic}.{self.suffix}({', '.join([t] * len(args))})"
        self.declared.add(declaration)
        listed = ", ".join(f"{t} {arg}" for arg in args)
        return self.emit(f"call {t} @llvm.{intrinsic}.{self.suffix}({listed})")

    def multiply_add(self, a: str, b: str, c: str) -> str:
        if self.fma:
            return self.call("fma", a, b, c)
        product = self.emit(f"fmul {self.type} {a}, {b}")
        return self.emit(f"fadd {self.type} {product}, {c}")

    def negative(self, x: str) -> str:
        return self.emit(f"fneg {self.type} {x}")

    # the function

    def text(self) -> str:
        self._prologue()
        self.lines.append("  br label %loop")
        self.lines.append("loop:")
        phi = len(self.lines)  # the row counter; its back edge is known only at the end
        before, self.block, self.lanes = self.block, "loop", self.width
        rows = self._load_rows()
        self.value = {id: self._splat(v) for id, v in self.value.items()}
        self._nodes(varying=True, leaves=rows)
        self._store_rows()
        self.lines.insert(phi, f"  %row = phi i64 [ 0, %{before} ], [ %next, %{self.block} ]")
        self.lines += [
            f"  %next = add i64 %row, {self.width}",
            "  %more = icmp slt i64 %next, %rows",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]
        head = f"define void @{self.name}(ptr %in, ptr %is, ptr %out, ptr %os, i64 %rows) {{"
        body = "\n".join([head, "entry:", *self.lines])
        return "\n".join(
            [slow_path(self.kind), *sorted(self.declared | slow_declarations(self.kind)), body, ""]
        )

    def _prologue(self) -> None:
        """Pointers and strides; then everything that depends on uniform arrays alone."""
        for side, arrays in (("in", self.code.inputs), ("out", self.code.outputs)):
            for k, name in enumerate(arrays):
                stride = "is" if side == "in" else "os"
                self.number[side, name] = k
                self.lines += [
                    f"  %{side}{k}.p = getelementptr ptr, ptr %{side}, i64 {k}",
                    f"  %{side}{k} = load ptr, ptr %{side}{k}.p",
                    f"  %{stride}{k}.p = getelementptr i64, ptr %{stride}, i64 {k}",
                    f"  %{stride}{k} = load i64, ptr %{stride}{k}.p",
                ]
        for stack in ("x", "s", "c"):
            self.lines.append(
                f"  %slow.{stack} = alloca [{self.width} x {self.kind.type}], align 64"
            )
        leaves = {}
        for node in self.code.nodes:
            if node[0] == "input" and node[1] in self.uniform:
                array = f"%in{self.number['in', node[1]]}"
                pointer = self.emit(f"getelementptr {self.kind.type}, ptr {array}, i64 {node[2]}")
                leaves[node[1], node[2]] = self.emit(f"load {self.kind.type}, ptr {pointer}")
        self._nodes(varying=False, leaves=leaves)

    def _splat(self, scalar: str) -> str:
        """A scalar of the prologue in all lanes."""
        if self.lanes == 1 or scalar.startswith(("<", "0x")):
            return scalar
        one = self.emit(f"insertelement {self.type} poison, {self.kind.type} {scalar}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        return self.emit(f"shufflevector {self.type} {one}, {self.type} poison, {zeros}")

    def _nodes(self, varying: bool, leaves: dict[tuple[str, int], str]) -> None:
        for id, node in enumerate(self.code.nodes):
            if node[0] == "none" or (node[0] != "const" and bool(self.varying[id]) != varying):
                continue
            if node[0] == "const":
                self.value[id] = self.const(float(node[1]))
            elif node[0] == "input":
                self.value[id] = leaves[node[1], node[2]]
            elif node[0] in ("sin", "cos"):
                if id not in self.value:
                    self._sincos_group(id)
            else:
                self.value[id] = self._operation(node[0], [self.value[arg] for arg in node[1:]])

    def _operation(self, op: str, args: list[str]) -> str:
        t = self.type
        if op in _BINARY:
            return self.emit(f"{_BINARY[op]} {t} {args[0]}, {args[1]}")
        if op in ("fma", "fms", "fnma"):
            a, b, c = args
            if op == "fms":
                c = self.negative(c)
            return self.multiply_add(self.negative(a) if op == "fnma" else a, b, c)
        if op in _INTRINSIC:
            return self.call(_INTRINSIC[op], *args)
        if op == "neg":
            return self.negative(args[0])
        if op == "sign":
            (x,) = args
            below = self._where("olt", x, self.const(0.0), self.const(-1.0), x)
            return self._where("ogt", x, self.const(0.0), self.const(1.0), below)
        if op == "select":
            return self._where("ogt", args[0], self.const(0.0), args[1], args[2])
        if op == "atan2":
            return self._by_lane("cardan_atan2" + ("" if self.kind.type == "double" else "f"), args)
        raise NotImplementedError(op)

    def _where(self, test: str, x: str, y: str, yes: str, no: str) -> str:
        condition = self.emit(f"fcmp {test} {self.type} {x}, {y}")
        return self.emit(f"select {self._bools} {condition}, {self.type} {yes}, {self.type} {no}")

    @property
    def _bools(self) -> str:
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    def _by_lane(self, function: str, args: list[str]) -> str:
        """A C library function of each lane."""
        s = self.kind.type
        self.declared.add(f"declare {s} @{function}({', '.join([s] * len(args))})")
        if self.lanes == 1:
            return self.emit(f"call {s} @{function}({', '.join(f'{s} {arg}' for arg in args)})")
        result = "poison"
        for lane in range(self.lanes):
            parts = [self.emit(f"extractelement {self.type} {arg}, i64 {lane}") for arg in args]
            one = self.emit(f"call {s} @{function}({', '.join(f'{s} {part}' for part in parts)})")
            result = self.emit(f"insertelement {self.type} {result}, {s} {one}, i64 {lane}")
        return result

    # sines and cosines

    def _sincos_group(self, first: int) -> None:
        """All sines and cosines whose arguments are known by now, with one test for large ones."""
        angles: dict[int, dict[str, int]] = {}
        for id, node in enumerate(self.code.nodes[first:], first):
            same = bool(self.varying[id]) == bool(self.varying[first])
            if node[0] in ("sin", "cos") and same and node[1] in self.value:
                angles.setdefault(node[1], {})[node[0]] = id
        fast = {arg: self._sincos(self.value[arg]) for arg in angles}
        large = None
        for arg in angles:
            size = self.call("fabs", self.value[arg])
            limit = self.const(self.kind.limit)
            test = self.emit(f"fcmp uge {self.type} {size}, {limit}")
            large = test if large is None else self.emit(f"or {self._bools} {large}, {test}")
        if self.lanes > 1:
            bits = self.emit(f"bitcast {self._bools} {large} to i{self.lanes}")
            large = self.emit(f"icmp ne i{self.lanes} {bits}, 0")
        self._cold_branch(str(large), angles, fast)

    def _cold_branch(
        self, large: str, angles: dict[int, dict[str, int]], fast: dict[int, tuple[str, str]]
    ) -> None:
        """if (large) the lanes concerned go through the C library; then both ways meet."""
        self.fresh += 1
        cold, join = f"cold{self.fresh}", f"join{self.fresh}"
        before = self.block
        self.lines += [f"  br i1 {large}, label %{cold}, label %{join}", f"{cold}:"]
        slow = {}
        for arg, (s, c) in fast.items():
            self.lines += [
                f"  store {self.type} {self.value[arg]}, ptr %slow.x",
                f"  store {self.type} {s}, ptr %slow.s",
                f"  store {self.type} {c}, ptr %slow.c",
                "  call void @slow_sincos(ptr %slow.x, ptr %slow.s, ptr %slow.c,"
                f" i64 {self.lanes})",
            ]
            loads = [self.emit(f"load {self.type}, ptr %slow.{stack}") for stack in ("s", "c")]
            slow[arg] = (loads[0], loads[1])
        self.lines += [f"  br label %{join}", f"{join}:"]
        self.block = join
        for arg, ids in angles.items():
            for function, quick, careful in zip(("sin", "cos"), fast[arg], slow[arg], strict=True):
                if function in ids:
                    self.value[ids[function]] = self.emit(
                        f"phi {self.type} [ {quick}, %{before} ], [ {careful}, %{cold} ]"
                    )

    def _sincos(self, x: str) -> tuple[str, str]:
        """(sin x, cos x) for |x| below the limit."""
        t, kind = self.type, self.kind
        shifted, r = reduced(self, x)
        z = self.emit(f"fmul {t} {r}, {r}")
        rz = self.emit(f"fmul {t} {r}, {z}")
        s = self.multiply_add(rz, self._polynomial(z, kind.sin), r)
        half = self.emit(f"fmul {t} {z}, {self.const(0.5)}")
        top = self.emit(f"fsub {t} {self.const(1.0)}, {half}")
        lost = self.emit(f"fsub {t} {self.const(1.0)}, {top}")
        rest = self.emit(f"fsub {t} {lost}, {half}")
        zz = self.emit(f"fmul {t} {z}, {z}")
        tail = self.multiply_add(zz, self._polynomial(z, kind.cos), rest)
        c = self.emit(f"fadd {t} {top}, {tail}")
        return self._quadrant(shifted, s, c)

    def _polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        value = self.const(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = self.multiply_add(value, z, self.const(c))
        return value

    def _quadrant(self, shifted: str, s: str, c: str) -> tuple[str, str]:
        """Exchange and sign by the low bits of the shifted quotient."""
        i = self.kind.integer if self.lanes == 1 else f"<{self.lanes} x {self.kind.integer}>"
        top = 63 if self.kind.integer == "i64" else 31

        def whole(n: int) -> str:
            if self.lanes == 1:
                return str(n)
            return "<" + ", ".join(f"{self.kind.integer} {n}" for _ in range(self.lanes)) + ">"

        bits = self.emit(f"bitcast {self.type} {shifted} to {i}")
        odd = self.emit(f"trunc {i} {bits} to {self._bools}")
        sine = self.emit(f"select {self._bools} {odd}, {self.type} {c}, {self.type} {s}")
        cosine = self.emit(f"select {self._bools} {odd}, {self.type} {s}, {self.type} {c}")
        second = self.emit(f"lshr {i} {bits}, {whole(1)}")
        flip_s = self.emit(f"shl {i} {second}, {whole(top)}")
        next_quadrant = self.emit(f"add {i} {bits}, {whole(1)}")
        half_turn = self.emit(f"lshr {i} {next_quadrant}, {whole(1)}")
        flip_c = self.emit(f"shl {i} {half_turn}, {whole(top)}")
        return self._flip(sine, flip_s, i), self._flip(cosine, flip_c, i)

    def _flip(self, x: str, mask: str, integer: str) -> str:
        bits = self.emit(f"bitcast {self.type} {x} to {integer}")
        flipped = self.emit(f"xor {integer} {bits}, {mask}")
        return self.emit(f"bitcast {integer} {flipped} to {self.type}")

    # rows and lanes

    def _load_rows(self) -> dict[tuple[str, int], str]:
        """Every element of the varying inputs as a vector over `width` rows."""
        leaves: dict[tuple[str, int], str] = {}
        for name, shape in self.code.inputs.items():
            if name in self.uniform:
                continue
            for column, vectors in self._chunks(prod(shape)):
                rows = [self._row("in", "is", name, lane, column) for lane in range(self.width)]
                loads = [
                    self.emit(f"load {self.type}, ptr {row}, align {self._align}") for row in rows
                ]
                for k, vector in enumerate(self._transpose(loads)[:vectors]):
                    leaves[name, column + k] = vector
        return leaves

    def _store_rows(self) -> None:
        for name, output in self.code.outputs.items():
            values = [self.value[abs(ref)] for ref in output.refs]
            values = [
                value if ref > 0 else self.negative(value)
                for value, ref in zip(values, output.refs, strict=True)
            ]
            chunks = []
            for column, count in self._chunks(len(values)):
                block = values[column : column + count] + ["poison"] * (self.width - count)
                chunks.append((column, self._transpose(block)))
            for lane in range(self.width):  # row after row: what spills over is overwritten
                for column, vectors in chunks:
                    row = self._row("out", "os", name, lane, column)
                    self.lines.append(
                        f"  store {self.type} {vectors[lane]}, ptr {row}, align {self._align}"
                    )

    @property
    def _align(self) -> int:
        return 8 if self.kind.type == "double" else 4

    def _chunks(self, size: int) -> Iterator[tuple[int, int]]:
        """(first column, number of columns) of the blocks a row of that size is cut into."""
        for column in range(0, size, self.width):
            yield column, min(self.width, size - column)

    def _row(self, side: str, stride: str, name: str, lane: int, column: int) -> str:
        row = self.emit(f"add i64 %row, {lane}") if lane else "%row"
        k = self.number[side, name]
        offset = self.emit(f"mul i64 {row}, %{stride}{k}")
        base = self.emit(f"getelementptr {self.kind.type}, ptr %{side}{k}, i64 {offset}")
        return (
            self.emit(f"getelementptr {self.kind.type}, ptr {base}, i64 {column}")
            if column
            else base
        )

    def _transpose(self, rows: list[str]) -> list[str]:
        """width vectors of width lanes transposed: log2(width) stages of pairwise exchanges."""
        size = 1
        while size < self.width:
            out = list(rows)
            for i in range(self.width):
                if i & size:
                    continue
                low, high = rows[i], rows[i | size]
                lanes = range(self.width)
                take_low = [k if not k & size else self.width + (k ^ size) for k in lanes]
                take_high = [k | size if not k & size else self.width + k for k in lanes]
                out[i], out[i | size] = (
                    self._shuffle(low, high, take_low),
                    self._shuffle(low, high, take_high),
                )
            rows, size = out, size * 2
        return rows

    def _shuffle(self, x: str, y: str, lanes: list[int]) -> str:
        if x == y == "poison":
            return "poison"
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        t = self.type
        return self.emit(f"shufflevector {t} {x}, {t} {y}, <{self.width} x i32> <{mask}>")
