"""Kernels in MATLAB (Octave) and Python."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import ClassVar

from ..emit.header import CODING
from ..errors import ProgramError
from .language import Kernel, type_of
from .text import Spelling, assigned, bounds

__all__ = ["KernelMatlab", "KernelPython"]


_FLAT = """
def _flat(name, values, size):
    \"\"\"Numbers of nested sequences, row by row.\"\"\"
    flat = [values]
    while any(hasattr(x, "__len__") for x in flat):
        flat = [y for x in flat for y in (x if hasattr(x, "__len__") else [x])]
    if len(flat) != size:
        raise ValueError("%s: %d numbers are expected, not %d" % (name, size, len(flat)))
    return [float(x) for x in flat]"""


class KernelMatlab(Spelling):
    """MATLAB and Octave: what a kernel writes to is also returned."""

    comment = "%"
    unequal = "~="
    truth: ClassVar[dict[bool, str]] = {True: "true", False: "false"}
    functions: ClassVar[dict[str, str]] = {**{k: k for k in Spelling.functions}}
    logic: ClassVar[dict[str, str]] = {"and": " && ", "or": " || ", "not": "~"}
    _renamed: ClassVar[dict[str, str]] = {
        "i": "ii",
        "j": "jj",
        "e": "ee",
        "pi": "pi_",
        "_": "times_",
    }

    def text(self) -> str:
        """The user's function first: it gives the file its name."""
        parts = [self.head(), self.user()]
        parts += [self.function(kernel) for kernel in self.kernels]
        return "\n\n".join(parts) + "\n"

    def variable(self, name: str) -> str:
        return self._renamed.get(name, name)

    def item(self, kernel: Kernel, node: ast.Subscript) -> str:
        array = self.variable(ast.unparse(node.value))
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return f"{array}({node.slice.value + 1})"
        return f"{array}({self.expression(kernel, node.slice, 1)} + 1)"

    def operation(self, kernel: Kernel, node: ast.BinOp, op: str, left: str, right: str) -> str:
        if op == "//":
            return f"floor({left} / {right})"
        return f"mod({left}, {right})" if op == "%" else f"{left} {op} {right}"

    def cast(self, kind: str, text: str) -> str:
        return f"fix({text})" if kind == "int" else f"({text})"

    def call(self, kernel: Kernel, node: ast.Call) -> str:
        if ast.unparse(node.func) in ("int", "float") and type_of(kernel, node.args[0]) == "bool":
            return f"double({self.test(kernel, node.args[0])})"
        return super().call(kernel, node)

    def function(self, kernel: Kernel) -> str:
        outs = [*(["result"] if kernel.returns else []), *map(self.variable, kernel.mutated)]
        args = ", ".join(map(self.variable, kernel.parameters))
        lines = [f"function {self.outputs(outs)}{kernel.name}({args})"]
        lines += [f"  % {line}".rstrip() for line in kernel.doc.splitlines()]
        return "\n".join([*lines, *self.block(kernel, kernel.body, 1), "end"])

    @staticmethod
    def outputs(names: Sequence[str]) -> str:
        if not names:
            return ""
        return f"{names[0]} = " if len(names) == 1 else f"[{', '.join(names)}] = "

    def block(self, kernel: Kernel, body: list[ast.stmt], depth: int) -> list[str]:
        pad, lines = "  " * depth, []

        def inner(part: list[ast.stmt]) -> list[str]:
            return self.block(kernel, part, depth + 1)

        for node in body:
            if isinstance(node, ast.For):
                lines += [pad + self.loop(kernel, node), *inner(node.body), f"{pad}end"]
            elif isinstance(node, ast.While):
                head = f"{pad}while {self.test(kernel, node.test)}"
                lines += [head, *inner(node.body), f"{pad}end"]
            elif isinstance(node, ast.If):
                lines += [f"{pad}if {self.test(kernel, node.test)}", *inner(node.body)]
                if node.orelse:
                    lines += [f"{pad}else", *inner(node.orelse)]
                lines.append(f"{pad}end")
            elif isinstance(node, ast.Return):
                value = node.value
                if value is not None:
                    lines.append(f"{pad}result = {self.expression(kernel, value)};")
                lines.append(f"{pad}return;")
            elif not isinstance(node, ast.Pass):
                lines.append(f"{pad}{self.simple(kernel, node)};")
        return lines

    def loop(self, kernel: Kernel, node: ast.For) -> str:
        assert isinstance(node.target, ast.Name)
        first, last, step = bounds(node)
        start = self.expression(kernel, first)
        end = f"{self.expression(kernel, last)} {'-' if step > 0 else '+'} 1"
        middle = "" if step == 1 else f"{step}:"
        return f"for {self.variable(node.target.id)} = {start}:{middle}{end}"

    def simple(self, kernel: Kernel, node: ast.stmt) -> str:
        if isinstance(node, ast.Break | ast.Continue):
            return "break" if isinstance(node, ast.Break) else "continue"
        if isinstance(node, ast.Expr):
            return self.outer_call(kernel, node.value, [])
        value, target = assigned(node)
        if isinstance(target, ast.Name) and target.id in kernel.arrays:
            return f"{self.variable(target.id)} = zeros(1, {kernel.arrays[target.id]})"
        left = self.expression(kernel, target)
        if isinstance(value, ast.Call) and ast.unparse(value.func) in kernel.callees:
            return self.outer_call(kernel, value, [left])
        return f"{left} = {self.expression(kernel, value)}"

    def outer_call(self, kernel: Kernel, node: ast.expr, left: list[str]) -> str:
        """[x, a, b] = f(a, b, n): the arrays written to come back."""
        assert isinstance(node, ast.Call)
        callee = kernel.callees[ast.unparse(node.func)]
        given = dict(zip(callee.parameters, node.args, strict=True))
        outs = [*left, *(self.expression(kernel, given[name]) for name in callee.mutated)]
        if callee.returns and not left:
            outs.insert(0, "unused_")
        return self.outputs(outs) + self.call(kernel, node)

    def user(self) -> str:
        face = self.face
        entry = self.kernels[-1]
        lines = [f"function {self.outputs([*face.outputs])}{face.name}({', '.join(face.inputs)})"]
        for name, size in face.inputs.items():
            lines.append(f"  {name} = reshape({name}.', 1, {size});  % row by row")
        for name, size in face.outputs.items():
            lines.append(f"  {name} = zeros(1, {size});")
        for name, values in face.tables.items():
            rows = ", ...\n".join(f"    {row}" for row in self.rows(values))
            lines += [f"  {name} = [ ...", f"{rows} ];"]
        outs = self.outputs([*entry.mutated])
        lines.append(f"  {outs}{entry.name}({', '.join(entry.parameters)});")
        return "\n".join([*lines, "end"])


class KernelPython(Spelling):
    """Python: the kernels as they stand, on lists of floats; nothing but the standard library."""

    comment = "#"

    def head(self) -> str:
        return f"{CODING}\n{super().head()}"

    def opening(self) -> str:
        return (
            "from math import atan2, cos, floor, sin, sqrt  # noqa: F401\n\nArray = list\n\n\n"
            "def zeros(n):\n    return [0.0] * n\n\n\ndef empty(n):\n    return [0.0] * n"
        )

    def table(self, name: str, values: Sequence[float]) -> str:
        return f"_{name} = [\n    " + ",\n    ".join(self.rows(values)) + ",\n]"

    def function(self, kernel: Kernel) -> str:
        return "\n" + (ast.unparse(kernel.flat) if kernel.flat else kernel.source.rstrip())

    def text(self) -> str:
        constants: dict[str, float | int] = {}
        for kernel in self.kernels:
            for name, value in kernel.constants.items():
                if constants.setdefault(name, value) != value:
                    raise ProgramError(f"two constants of kernels are called '{name}'")
        listed = "\n".join(f"{name} = {value!r}" for name, value in constants.items())
        whole = super().text()
        mark = "    return [0.0] * n\n\n"
        head, _, tail = whole.rpartition(mark)
        return f"{head}{mark}\n{listed}\n\n{tail}" if listed else whole

    def user(self) -> str:
        face = self.face
        entry = self.kernels[-1]
        lines = [f"\ndef {face.name}({', '.join(face.inputs)}):"]
        for name, size in face.inputs.items():
            lines.append(f'    {name} = _flat("{name}", {name}, {size})')
        for name, size in face.outputs.items():
            lines.append(f"    {name} = zeros({size})")
        args = ", ".join(f"_{p}" if p in face.tables else p for p in entry.parameters)
        lines += [f"    {entry.name}({args})", f"    return {', '.join(face.outputs)}"]
        return _FLAT + "\n\n" + "\n".join(lines)
