"""Kernels in C99 and C++17."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import ClassVar

from .language import Kernel, type_of
from .text import Spelling, assigned, bounds

__all__ = ["KernelC", "KernelCpp"]

_SCALARS = {"float": "double", "int": "int", "bool": "int"}


class KernelC(Spelling):
    """C99: arrays are pointers; helpers are static and carry the name of the user's function."""

    def opening(self) -> str:
        return "#include <math.h>\n#include <string.h>"

    def callee(self, name: str) -> str:
        return f"{self.face.name}_{name}"

    def table(self, name: str, values: Sequence[float]) -> str:
        body = ",\n    ".join(self.rows(values))
        return f"static const double {self.callee(name)}_table[{len(values)}] = {{\n    {body}\n}};"

    def operation(self, kernel: Kernel, node: ast.BinOp, op: str, left: str, right: str) -> str:
        if op == "/" and type_of(kernel, node.left) == type_of(kernel, node.right) == "int":
            return f"(double)({left}) / {right}"
        return f"{left} {op[0]} {right}"  # // of integers is /

    def parameters(self, kernel: Kernel) -> str:
        spelled = []
        for name, kind in kernel.parameters.items():
            const = "" if name in kernel.mutated else "const "
            spelled.append(
                f"{const}double *{name}" if kind == "array" else f"{_SCALARS[kind]} {name}"
            )
        return ", ".join(spelled)

    def function(self, kernel: Kernel) -> str:
        kind = _SCALARS[kernel.returns] if kernel.returns else "void"
        lines = [f"// {line}".rstrip() for line in kernel.doc.splitlines()]
        lines += [f"static {kind} {self.callee(kernel.name)}({self.parameters(kernel)})", "{"]
        for name, kind in kernel.variables.items():
            lines.append(f"    {_SCALARS[kind]} {name} = 0;")
        lines += [f"    double {name}[{size}];" for name, size in kernel.arrays.items()]
        lines += self.block(kernel, kernel.body, 1)
        return "\n".join([*lines, "}"])

    def block(self, kernel: Kernel, body: list[ast.stmt], depth: int) -> list[str]:
        pad, lines = "    " * depth, []

        def inner(part: list[ast.stmt]) -> list[str]:
            return self.block(kernel, part, depth + 1)

        for node in body:
            if isinstance(node, ast.For):
                lines += [f"{pad}{self.loop(kernel, node)} {{", *inner(node.body), f"{pad}}}"]
            elif isinstance(node, ast.While):
                head = f"{pad}while ({self.test(kernel, node.test)}) {{"
                lines += [head, *inner(node.body), f"{pad}}}"]
            elif isinstance(node, ast.If):
                lines += [f"{pad}if ({self.test(kernel, node.test)}) {{", *inner(node.body)]
                if node.orelse:
                    lines += [f"{pad}}} else {{", *inner(node.orelse)]
                lines.append(f"{pad}}}")
            elif not isinstance(node, ast.Pass):
                lines.append(f"{pad}{self.simple(kernel, node)};")
        return lines

    def loop(self, kernel: Kernel, node: ast.For) -> str:
        assert isinstance(node.target, ast.Name)
        i = node.target.id
        first, last, step = bounds(node)
        start = self.expression(kernel, first)
        test = f"{i} {'<' if step > 0 else '>'} {self.expression(kernel, last)}"
        return f"for ({i} = {start}; {test}; {i} += {step})"

    def simple(self, kernel: Kernel, node: ast.stmt) -> str:
        if isinstance(node, ast.Return):
            return f"return {self.expression(kernel, node.value)}" if node.value else "return"
        if isinstance(node, ast.Break | ast.Continue):
            return "break" if isinstance(node, ast.Break) else "continue"
        if isinstance(node, ast.Expr):
            return self.expression(kernel, node.value)
        value, target = assigned(node)
        if isinstance(target, ast.Name) and target.id in kernel.arrays:
            zeroed = isinstance(value, ast.Call) and ast.unparse(value.func) == "zeros"
            return f"memset({target.id}, 0, sizeof {target.id})" if zeroed else ""
        left = self.expression(kernel, target)
        return f"{left} = {self.expression(kernel, value)}"

    def user(self) -> str:
        face = self.face
        entry = self.kernels[-1]
        listed = [f"const double {name}[{size}]" for name, size in face.inputs.items()]
        listed += [f"double {name}[{size}]" for name, size in face.outputs.items()]
        args = ", ".join(
            f"{self.callee(p)}_table" if p in face.tables else p for p in entry.parameters
        )
        call = f"    {self.callee(entry.name)}({args});"
        return f"void {face.name}({', '.join(listed)})\n{{\n{call}\n}}"


class KernelCpp(KernelC):
    """C++17: the same in a namespace of its own; std::array in and out."""

    functions: ClassVar[dict[str, str]] = {
        name: f"std::{c}" for name, c in Spelling.functions.items()
    }

    def opening(self) -> str:
        return (
            "#include <array>\n#include <cmath>\n#include <cstring>\n\n"
            f"namespace {self.face.name}_kernels {{"
        )

    def callee(self, name: str) -> str:
        return name

    def cast(self, kind: str, text: str) -> str:
        return f"static_cast<{'int' if kind == 'int' else 'double'}>({text})"

    def operation(self, kernel: Kernel, node: ast.BinOp, op: str, left: str, right: str) -> str:
        if op == "/" and type_of(kernel, node.left) == type_of(kernel, node.right) == "int":
            return f"static_cast<double>({left}) / {right}"
        return f"{left} {op[0]} {right}"

    def simple(self, kernel: Kernel, node: ast.stmt) -> str:
        return super().simple(kernel, node).replace("memset(", "std::memset(")

    def user(self) -> str:
        face = self.face
        entry = self.kernels[-1]
        space = f"{face.name}_kernels"
        listed = [f"const std::array<double, {n}> &{name}" for name, n in face.inputs.items()]
        listed += [f"std::array<double, {n}> &{name}" for name, n in face.outputs.items()]
        args = ", ".join(
            f"{space}::{p}_table" if p in face.tables else f"{p}.data()" for p in entry.parameters
        )
        head = f"}}  // namespace {space}\n\ninline void {face.name}({', '.join(listed)})"
        return f"{head}\n{{\n    {space}::{entry.name}({args});\n}}"
