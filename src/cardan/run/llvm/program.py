"""Programs as LLVM text: one function over rows of arrays, `width` states at a time.

    void kernel(const T **in, const int64 *in_stride, T **out, const int64 *out_stride, int64 rows)

`rows` is any number of states, at least the width: the last vector starts early enough to end with
the last state, and computes some states again. So no output may overlap an input when rows > 1.
How arrays lie in memory, and what their strides mean, says llvm_memory. Arrays in `uniform` are the
same for all states: what depends on them alone is computed once, before the loop.

Products are fused into additions by ir.passes.fuse, not by the optimiser, so that one state and a
batch give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...emit.sincos import KINDS, SinCos
from ...ir.code import Code
from ...ir.cost import depends_on
from .atan2 import atan2
from .memory import load_element, store_block, stores
from .products import compute_row, product_rows
from .sincos import literal, sincos_group, slow_declarations, slow_path
from .survey import survey

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "min": "minimum", "max": "maximum"}
_PART = 1000  # lines of a block: LLVM compares the stores of a block with each other


def kernel_text(
    code: Code, *, name: str, width: int, vector: int, dtype: str, fma: bool,
    uniform: frozenset[str] = frozenset(), lies: tuple[str, ...] = (), surveyed: bool = False,
) -> str:  # fmt: skip
    """The LLVM module with the function `name` for a program.

    `lies` says for each input and output how it lies in memory (llvm_memory): packed if not said.
    `vector` is the machine's number of lanes: the sines of one state are computed together.
    `surveyed`: all inputs are looked at (llvm_survey)."""
    arrays = [*(("in", x) for x in code.inputs), *(("out", x) for x in code.outputs)]
    lie = dict(zip(arrays, lies or ("packed",) * len(arrays), strict=True))
    return Kernel(code, name, width, vector, KINDS[dtype], fma, uniform, lie, surveyed).text()


@dataclass
class Kernel:
    """Writes one function. Values are kept by node id: scalars before the loop, vectors in it."""

    code: Code
    name: str
    width: int
    vector: int
    kind: SinCos
    fma: bool
    uniform: frozenset[str]
    lie: dict[tuple[str, str], str]
    surveyed: bool = False
    lines: list[str] = field(default_factory=list)
    value: dict[int, str] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)
    number: dict[tuple[str, str], int] = field(default_factory=dict)
    loaded: dict[tuple[str, int], str] = field(default_factory=dict)
    fresh: int = 0
    begun: int = 0  # the line after which the block begins
    lanes: int = 1  # lanes of the values being written: 1 before the loop, then width
    block: str = "entry"

    def __post_init__(self) -> None:
        self.varying = depends_on(self.code, set(self.code.inputs) - self.uniform)
        rows = product_rows(self.code, self.varying) if self.width == 1 else []
        self.rows = {
            last: [row for row in rows if row.last == last] for last in {x.last for x in rows}
        }
        self.beside = {id for row in rows for id in row.nodes}  # computed with their row

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

    def fence(self, x: str) -> str:
        """A copy of the value of which LLVM does not see where it came from."""
        return self.call("arithmetic.fence", x)

    def part(self) -> None:
        """Go on in a new block if this one has grown long: LLVM's time is more than linear in the
        length of blocks. It joins blocks that always follow each other; `never` it cannot see."""
        if len(self.lines) - self.begun > _PART:
            self.fresh += 1
            self.block = f"part{self.fresh}"
            self.lines += [f"  br i1 %never, label %done, label %{self.block}", f"{self.block}:"]
            self.begun = len(self.lines)

    # the function

    def text(self) -> str:
        self._prologue()
        function = self._one_by_one() if self.width == 1 else self._side_by_side()
        declarations = sorted(self.declared | slow_declarations(self.kind))
        return "\n".join([slow_path(self.kind), *declarations, *function, ""])

    def _one_by_one(self) -> list[str]:
        """A function of one state and a loop that calls it. On its own it loads constants where
        they are used; from a loop they would all be loaded first, for a single state in vain."""
        self._inputs_first()
        self._states()
        arrays = "ptr %in, ptr %is, ptr %out, ptr %os"
        return [
            f"define internal void @state({arrays}, i64 %row) noinline {{",
            "entry:",
            *self.lines,
            "  br label %done",
            "done:",
            "  ret void",
            "}",
            f"define void @{self.name}({arrays}, i64 %rows) {{",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %row = phi i64 [ 0, %entry ], [ %next, %loop ]",
            f"  call void @state({arrays}, i64 %row)",
            "  %next = add i64 %row, 1",
            "  %more = icmp slt i64 %next, %rows",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]

    def _side_by_side(self) -> list[str]:
        """A loop over vectors of states."""
        self.lines += [f"  %last = sub i64 %rows, {self.width}", "  br label %loop", "loop:"]
        phi = len(self.lines)  # the row counter; its back edge is known only at the end
        before, self.block, self.lanes = self.block, "loop", self.width
        self.value = {
            id: self._splat(value)
            for id, value in self.value.items()
            if self.code.nodes[id][0] != "const"
        }
        self._states()
        self.lines.insert(phi, f"  %row = phi i64 [ 0, %{before} ], [ %next, %{self.block} ]")
        return [
            f"define void @{self.name}(ptr %in, ptr %is, ptr %out, ptr %os, i64 %rows) {{",
            "entry:",
            *self.lines,
            f"  %step = add i64 %row, {self.width}",
            "  %more = icmp slt i64 %row, %last",
            "  %whole = icmp slt i64 %step, %last",
            "  %next = select i1 %whole, i64 %step, i64 %last",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]

    def _states(self) -> None:
        """All nodes of the loop, and the outputs as they become known."""
        waiting, vectors = stores(self), dict[object, str]()
        for id in range(len(self.code.nodes)):
            if id not in self.beside and self._is_in(id, varying=True):
                self.compute(id)
            for row in self.rows.get(id, ()):
                compute_row(self, row, vectors)
            for name, block in waiting.get(id, ()):
                store_block(self, name, block)
        if self.surveyed:
            survey(self)

    def _inputs_first(self) -> None:
        """All inputs before anything is stored: the output of one state may overlap them."""
        for id, node in enumerate(self.code.nodes):
            if node[0] == "input":
                self.compute(id)

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
                f"  %slow.{stack} = alloca [{self.vector} x {self.kind.type}], align 64"
            )
        row = "row" if self.width == 1 else "rows"
        self.lines.append(f"  %never = icmp slt i64 %{row}, 0")
        self._nodes()

    def _splat(self, scalar: str) -> str:
        """A scalar of the prologue in all lanes."""
        one = self.emit(f"insertelement {self.type} poison, {self.kind.type} {scalar}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        return self.emit(f"shufflevector {self.type} {one}, {self.type} poison, {zeros}")

    def _nodes(self) -> None:
        for id in range(len(self.code.nodes)):
            if self._is_in(id, varying=False):
                self.compute(id)

    def _is_in(self, id: int, varying: bool) -> bool:
        """Is the node of this part, the loop or what comes before it?"""
        kind = self.code.nodes[id][0]
        return kind == "const" or (kind != "none" and bool(self.varying[id]) == varying)

    def compute(self, id: int) -> None:
        """The value of a node whose arguments are known."""
        if id in self.value:
            return
        self.part()
        node = self.code.nodes[id]
        if node[0] == "const":
            self.value[id] = self.const(float(node[1]))
        elif node[0] == "input":
            self.value[id] = self._leaf(node[1], node[2])
        elif node[0] in ("sin", "cos"):
            sincos_group(self, id)
        else:
            self.value[id] = self._operation(node[0], [self.value[arg] for arg in node[1:]])

    def _leaf(self, name: str, element: int) -> str:
        if name in self.uniform:
            array = f"%in{self.number['in', name]}"
            pointer = self.emit(f"getelementptr {self.kind.type}, ptr {array}, i64 {element}")
            return self.emit(f"load {self.kind.type}, ptr {pointer}")
        return load_element(self, name, element)

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
            below = self.where("olt", x, self.const(0.0), self.const(-1.0), x)
            return self.where("ogt", x, self.const(0.0), self.const(1.0), below)
        if op == "select":
            return self.where("ogt", args[0], self.const(0.0), args[1], args[2])
        if op == "atan2":
            if self.kind.type == "double":
                return atan2(self, args[0], args[1])
            return self._by_lane("cardan_atan2f", args)
        raise NotImplementedError(op)

    def where(self, test: str, x: str, y: str, yes: str, no: str) -> str:
        condition = self.emit(f"fcmp {test} {self.type} {x}, {y}")
        return self.emit(f"select {self.bools} {condition}, {self.type} {yes}, {self.type} {no}")

    @property
    def bools(self) -> str:
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
