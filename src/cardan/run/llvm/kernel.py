"""Kernels as LLVM text: scalars in memory slots, which the optimiser turns into registers.

The module defines one function `kernel` over rows, with the signature of run/llvm/program.py:

    void kernel(const double **in, const int64 *in_stride, double **out, const int64 *out_stride,
                int64 rows)

`in` and `out` are the parameters of the entry kernel, all of them arrays; a stride of 0 gives every
row the same array. Products may be fused into sums; nothing else is reordered.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ...emit.sincos import KINDS
from ...kernel.language import Kernel, is_logic, type_of
from ...kernel.text import assigned, bounds
from .sincos import literal

_TYPES = {"float": "double", "int": "i64", "bool": "i1", "array": "ptr", None: "void"}
_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "sdiv",
           ast.Mod: "srem"}  # fmt: skip
_TESTS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "min": "minnum", "max": "maxnum", "floor": "floor"}
SMALL = 150  # nodes of the syntax of a kernel
_LIBRARY = {"sin": "cardan_sin", "cos": "cardan_cos", "atan2": "cardan_atan2"}


def kernel_module(kernels: Sequence[Kernel], inputs: Iterable[str]) -> str:
    """The LLVM module of a kernel, the last one, and those it calls; `inputs` names the parameters
    that are read only, and the slots, whose addresses are given with them.

    `direct` is the kernel itself, for the slots of others."""
    slots: dict[str, list[str]] = {}  # those that a kernel reaches
    for kernel in kernels:
        reached = [x for callee in kernel.callees.values() for x in slots[callee.name]]
        slots[kernel.name] = [kernel.name] if kernel.slot else list(dict.fromkeys(reached))
    writers = [_Writer(kernel, slots) for kernel in kernels if not kernel.slot]
    functions = [writer.function() for writer in writers]
    declared = sorted(set().union(*(writer.declared for writer in writers)))
    driver = _driver(kernels[-1], list(inputs), slots[kernels[-1].name])
    return "\n".join([*declared, *functions, driver, *_direct(kernels[-1], slots), ""])


def _direct(entry: Kernel, slots: dict[str, list[str]]) -> list[str]:
    if slots[entry.name]:
        return []
    args = ", ".join(f"ptr %{name}" for name in entry.parameters)
    call = f"call void @k_{entry.name}({args})"
    return [f"define void @direct({args}) {{", f"  {call}", "  ret void", "}"]


def _is_small(kernel: Kernel) -> bool:
    """Is it worth less than a call? The others are kept apart: run/kernel.py says why."""
    nodes = [node for statement in kernel.body for node in ast.walk(statement)]
    loops = any(isinstance(node, ast.For | ast.While) for node in nodes)
    return not loops and not kernel.callees and len(nodes) < SMALL


def _driver(entry: Kernel, inputs: list[str], slots: list[str]) -> str:
    """The loop over rows."""
    lines = [
        "define void @kernel(ptr %in, ptr %is, ptr %out, ptr %os, i64 %rows) {",
        "entry:",
    ]
    places = {name: ("in", "is", k) for k, name in enumerate(inputs)}
    outputs = [name for name in entry.parameters if name not in places]
    places.update({name: ("out", "os", k) for k, name in enumerate(outputs)})
    for name, (side, stride, k) in places.items():
        lines += [
            f"  %{name}.a = getelementptr ptr, ptr %{side}, i64 {k}",
            f"  %{name}.p = load ptr, ptr %{name}.a",
            f"  %{name}.b = getelementptr i64, ptr %{stride}, i64 {k}",
            f"  %{name}.s = load i64, ptr %{name}.b",
        ]
    lines += ["  br label %loop", "loop:", "  %row = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    for name in places:
        lines += [
            f"  %{name}.o = mul i64 %row, %{name}.s",
            f"  %{name} = getelementptr double, ptr %{name}.p, i64 %{name}.o",
        ]
    pointers = [*entry.parameters, *(f"{name}.p" for name in slots)]
    args = ", ".join(f"ptr %{name}" for name in pointers)
    lines += [
        f"  call void @k_{entry.name}({args})",
        "  %next = add i64 %row, 1",
        "  %more = icmp slt i64 %next, %rows",
        "  br i1 %more, label %loop, label %done",
        "done:", "  ret void", "}",
    ]  # fmt: skip
    return "\n".join(lines)


class _Writer:
    """Writes one function."""

    def __init__(self, kernel: Kernel, slots: dict[str, list[str]]) -> None:
        self.kernel = kernel
        self.slots = slots
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.count = 0
        self.loops: list[tuple[str, str]] = []  # (where continue goes, where break goes)
        self.closed = False  # the block has ended with a branch

    def function(self) -> str:
        kernel = self.kernel
        args = [
            f"ptr noalias nocapture %{name}" if kind == "array" else f"{_TYPES[kind]} %{name}"
            for name, kind in kernel.parameters.items()
        ]
        args += [f"ptr %slot.{name}" for name in self.slots[kernel.name]]
        result = _TYPES[kernel.returns]
        hint = "" if _is_small(kernel) else " noinline"
        head = f"define internal {result} @k_{kernel.name}({', '.join(args)}) nounwind{hint} {{"
        lines = [head, "entry:"]
        for name, kind in kernel.variables.items():
            zero = "0.0" if kind == "float" else "0"
            lines.append(f"  %{name} = alloca {_TYPES[kind]}")
            lines.append(f"  store {_TYPES[kind]} {zero}, ptr %{name}")
        for name, size in kernel.arrays.items():
            lines.append(f"  %{name} = alloca [{size} x double], align 64")
        self.block(kernel.body)
        if not self.closed:
            last = {None: "ret void", "int": "ret i64 0", "bool": "ret i1 0",
                    "float": "ret double 0.0"}  # fmt: skip
            self.lines.append(f"  {last[kernel.returns]}")
        return "\n".join([*lines, *self.lines, "}"])

    def emit(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %.{self.count} = {text}")
        return f"%.{self.count}"

    def label(self, word: str) -> str:
        self.count += 1
        return f"{word}.{self.count}"

    def start(self, label: str) -> None:
        """Begin a block; the one before falls into it unless it has left already."""
        if not self.closed:
            self.lines.append(f"  br label %{label}")
        self.lines.append(f"{label}:")
        self.closed = False

    def leave(self, text: str) -> None:
        self.lines.append(f"  {text}")
        self.closed = True

    # statements

    def block(self, body: list[ast.stmt]) -> None:
        for node in body:
            if self.closed:
                return
            if isinstance(node, ast.For):
                self.loop(node)
            elif isinstance(node, ast.While):
                self.repeat(node)
            elif isinstance(node, ast.If):
                self.branch(node)
            elif isinstance(node, ast.Break | ast.Continue):
                self.leave(f"br label %{self.loops[-1][isinstance(node, ast.Break)]}")
            elif isinstance(node, ast.Return):
                kind = self.kernel.returns
                value = self.value(node.value, str(kind)) if node.value else ""
                self.leave(f"ret {_TYPES[kind]} {value}".rstrip())
            elif isinstance(node, ast.Expr):
                self.call(node.value)
            elif not isinstance(node, ast.Pass):
                self.assign(node)

    def assign(self, node: ast.stmt) -> None:
        value, target = assigned(node)
        kernel = self.kernel
        if isinstance(target, ast.Subscript):
            text = self.value(value, "float")
            self.lines.append(f"  store double {text}, ptr {self.pointer(target)}")
            return
        assert isinstance(target, ast.Name)
        if target.id in kernel.arrays:
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "zeros":
                size = kernel.arrays[target.id]
                kind = f"[{size} x double]"
                self.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
                self.lines.append(
                    f"  call void @llvm.memset.p0.i64(ptr %{target.id}, i8 0, i64 {8 * size},"
                    f" i1 false)  ; {kind}"
                )
            return
        kind = kernel.variables[target.id]
        self.lines.append(f"  store {_TYPES[kind]} {self.value(value, kind)}, ptr %{target.id}")

    def loop(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        first, last, step = bounds(node)
        variable = f"%{node.target.id}"
        end = self.value(last, "int")
        counter = self.value(first, "int")
        before = self.label("before")
        head, body, tail, done = (self.label(word) for word in ("head", "body", "tail", "done"))
        self.start(before)
        slot = f"%{head}.slot"
        # the counter is kept apart from the variable, as in Python
        self.lines.append(f"  br label %{head}")
        self.lines.append(f"{head}:")
        self.lines.append(f"  {slot} = phi i64 [ {counter}, %{before} ], [ {slot}.next, %{tail} ]")
        test = self.emit(f"icmp {'slt' if step > 0 else 'sgt'} i64 {slot}, {end}")
        self.lines += [f"  br i1 {test}, label %{body}, label %{done}", f"{body}:"]
        self.lines.append(f"  store i64 {slot}, ptr {variable}")
        self.loops.append((tail, done))
        self.closed = False
        self.block(node.body)
        self.loops.pop()
        self.start(tail)
        self.lines += [f"  {slot}.next = add nsw i64 {slot}, {step}", f"  br label %{head}"]
        self.lines.append(f"{done}:")
        self.closed = False

    def repeat(self, node: ast.While) -> None:
        head, body, done = (self.label(word) for word in ("head", "body", "done"))
        self.start(head)
        self.test(node.test, body, done)
        self.lines.append(f"{body}:")
        self.closed = False
        self.loops.append((head, done))
        self.block(node.body)
        self.loops.pop()
        if not self.closed:
            self.lines.append(f"  br label %{head}")
        self.lines.append(f"{done}:")
        self.closed = False

    def branch(self, node: ast.If) -> None:
        yes, no, done = (self.label(word) for word in ("yes", "no", "done"))
        self.test(node.test, yes, no if node.orelse else done)
        ways = [(yes, node.body), *([(no, node.orelse)] if node.orelse else [])]
        for label, body in ways:
            self.lines.append(f"{label}:")
            self.closed = False
            self.block(body)
            if not self.closed:
                self.lines.append(f"  br label %{done}")
        self.lines.append(f"{done}:")
        self.closed = False

    def test(self, node: ast.expr, yes: str, no: str) -> None:
        """Branch on a test; and, or leave as soon as the answer is known."""
        if isinstance(node, ast.UnaryOp):
            self.test(node.operand, no, yes)
        elif isinstance(node, ast.BoolOp):
            for value in node.values[:-1]:
                more = self.label("test")
                both = isinstance(node.op, ast.And)
                self.test(value, more if both else yes, no if both else more)
                self.lines.append(f"{more}:")
            self.test(node.values[-1], yes, no)
        else:
            answer = self.value(node, "bool")
            self.lines.append(f"  br i1 {answer}, label %{yes}, label %{no}")

    def compare(self, node: ast.Compare) -> str:
        right = node.comparators[0]
        ints = type_of(self.kernel, node.left) == type_of(self.kernel, right) == "int"
        kind = "int" if ints else "float"
        op = _TESTS[type(node.ops[0])]
        x, y = self.value(node.left, kind), self.value(right, kind)
        order = "" if op in ("eq", "ne") else "s"
        ordered = "u" if op == "ne" else "o"
        return self.emit(
            f"icmp {order}{op} i64 {x}, {y}" if ints else f"fcmp {ordered}{op} double {x}, {y}"
        )

    def logic(self, node: ast.expr) -> str:
        """The value of and, or, not: where the test ends."""
        yes, no, done = (self.label(word) for word in ("yes", "no", "done"))
        self.test(node, yes, no)
        for label in (yes, no):
            self.lines += [f"{label}:", f"  br label %{done}"]
        self.lines.append(f"{done}:")
        return self.emit(f"phi i1 [ true, %{yes} ], [ false, %{no} ]")

    # values

    def value(self, node: ast.expr, kind: str) -> str:
        """The value as float or int."""
        own = type_of(self.kernel, node)
        if kind == "float" and isinstance(node, ast.Constant):
            return literal(float(node.value), KINDS["float64"])  # type: ignore[arg-type]
        text = self.raw(node)
        if own == "int" and kind == "float":
            return self.emit(f"sitofp i64 {text} to double")
        return text

    def raw(self, node: ast.expr) -> str:
        kernel = self.kernel
        kind = type_of(kernel, node)
        if isinstance(node, ast.Constant):
            return str(node.value).lower() if kind != "float" else self.value(node, "float")
        if isinstance(node, ast.Compare):
            return self.compare(node)
        if is_logic(node):
            return self.logic(node)
        if isinstance(node, ast.Name):
            if node.id in kernel.variables:
                return self.emit(f"load {_TYPES[kind]}, ptr %{node.id}")
            if node.id in kernel.parameters or node.id in kernel.arrays:
                return f"%{node.id}"
            return self.raw(ast.Constant(kernel.constants[node.id]))
        if isinstance(node, ast.Subscript):
            return self.emit(f"load double, ptr {self.pointer(node)}")
        if isinstance(node, ast.UnaryOp):
            x = self.value(node.operand, kind)
            return self.emit(f"sub i64 0, {x}" if kind == "int" else f"fneg double {x}")
        if isinstance(node, ast.IfExp):
            test = self.value(node.test, "bool")
            x, y = self.value(node.body, kind), self.value(node.orelse, kind)
            return self.emit(f"select i1 {test}, {_TYPES[kind]} {x}, {_TYPES[kind]} {y}")
        if isinstance(node, ast.BinOp):
            x, y = self.value(node.left, kind), self.value(node.right, kind)
            op = _BINARY[type(node.op)]
            if kind == "int":
                return self.emit(
                    f"{op} {'nsw ' if op in ('add', 'sub', 'mul') else ''}i64 {x}, {y}"
                )
            return self.emit(f"f{op} contract double {x}, {y}")
        return self.call(node)

    def pointer(self, node: ast.Subscript) -> str:
        index = self.value(node.slice, "int")
        return self.emit(f"getelementptr double, ptr %{ast.unparse(node.value)}, i64 {index}")

    def call(self, node: ast.expr) -> str:
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name in ("int", "float"):
            x = self.raw(node.args[0])
            own = type_of(self.kernel, node.args[0])
            if own == name:
                return x
            if own == "bool":
                return self.emit(
                    f"{'zext' if name == 'int' else 'uitofp'} i1 {x} to {_TYPES[name]}"
                )
            return self.emit(
                f"fptosi double {x} to i64" if name == "int" else f"sitofp i64 {x} to double"
            )
        if name in self.kernel.callees:
            return self.call_kernel(node, self.kernel.callees[name])
        function = f"llvm.{_INTRINSICS[name]}.f64" if name in _INTRINSICS else _LIBRARY[name]
        args = [self.value(argument, "float") for argument in node.args]
        self.declared.add(f"declare double @{function}({', '.join(['double'] * len(args))})")
        return self.emit(f"call double @{function}({', '.join(f'double {x}' for x in args)})")

    def call_kernel(self, node: ast.Call, callee: Kernel) -> str:
        args = []
        for argument, kind in zip(node.args, callee.parameters.values(), strict=True):
            spelled = self.raw(argument) if kind == "array" else self.value(argument, kind)
            args.append(f"{_TYPES[kind]} {spelled}")
        slots = [f"ptr %slot.{name}" for name in self.slots[callee.name]]
        if callee.slot:
            self.lines.append(f"  call void %slot.{callee.name}({', '.join(args)})")
            return ""
        text = f"call {_TYPES[callee.returns]} @k_{callee.name}({', '.join([*args, *slots])})"
        if callee.returns is None:
            self.lines.append(f"  {text}")
            return ""
        return self.emit(text)
