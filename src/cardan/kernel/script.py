"""Kernels in MATLAB (Octave) and Python."""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from ..emit.header import CODING
from .language import Kernel, type_of
from .text import Spelling, assigned, bounds

_FLAT = """
def _flat(name, values, size):
    \"\"\"Numbers of nested sequences, row by row.\"\"\"
    flat = [values.tolist() if hasattr(values, "tolist") else values]
    while any(hasattr(x, "__len__") for x in flat):
        flat = [y for x in flat for y in (x if hasattr(x, "__len__") else [x])]
    if len(flat) != size:
        raise ValueError("%s: %d numbers are expected, not %d" % (name, size, len(flat)))
    return [float(x) for x in flat]"""


_PICK = """function x = pick_(test, x, y)
  % x if a test is passed, else y
  if ~test
    x = y;
  end
end"""


_ALL = '''    """All configurations of a pose T (4, 4): rows of {n}; for each its residual, whether
    it is singular, how many coincide; then whether an equation vanishes at the pose or has a
    multiple root (a joint may have any value, and a configuration stand for a family)."""'''


# what the language has itself: kernels with these parameters
_HOST = {"eigenvalues": ("a", "n", "re", "im")}
_EIG = """function [result, a, re, im] = eigenvalues(a, n, re, im)
  % All eigenvalues of a (n, n), row by row. The number of rows left unsolved: 0.
  result = n;
  if all(isfinite(a(1:n*n)))
    w = eig(reshape(a(1:n*n), n, n));
    re(1:n) = real(w);
    im(1:n) = imag(w);
    result = 0;
  end
end"""
_EIGVALS = """

try:
    import numpy
except ImportError:  # the kernel above is slower
    pass
else:

    def eigenvalues(a, n, re, im):
        A = numpy.reshape(a[:n * n], (n, n))
        if not numpy.isfinite(A).all():
            return n
        w = numpy.linalg.eigvals(A)
        re[:n], im[:n] = w.real.tolist(), w.imag.tolist()
        return 0"""


def is_of_host(kernel: Kernel) -> bool:
    """Has the language a function of its own for it?"""
    return _HOST.get(kernel.name) == tuple(kernel.parameters)


def without_host(kernels: Sequence[Kernel]) -> list[Kernel]:
    """The kernels without those that only functions of the language call."""
    waiting, needed = [kernels[-1]], dict[str, Kernel]()
    while waiting:
        kernel = waiting.pop()
        needed[kernel.name] = kernel
        waiting += [] if is_of_host(kernel) else kernel.callees.values()
    return [kernel for kernel in kernels if kernel.name in needed]


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

    def printed(self) -> list[str]:
        return [
            _EIG if is_of_host(kernel) else self.function(kernel)
            for kernel in without_host(self.kernels)
        ]

    def text(self, functions: Sequence[str]) -> str:
        """The user's function first: it gives the file its name."""
        parts = [self.head(), self.user(), *functions]
        parts += [_PICK] if any("pick_(" in part for part in parts) else []
        return "\n\n".join(parts) + "\n"

    def choice(self, kernel: Kernel, node: ast.IfExp) -> str:
        yes, no = (self.expression(kernel, x) for x in (node.body, node.orelse))
        return f"pick_({self.test(kernel, node.test)}, {yes}, {no})"

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
        values = dict(zip(callee.parameters, node.args, strict=True))
        outs = [*left, *(self.expression(kernel, values[name]) for name in callee.mutated)]
        if callee.returns and not left:
            outs.insert(0, "unused_")
        return self.outputs(outs) + self.call(kernel, node)

    def user(self) -> str:
        face = self.face
        entry = self.kernels[-1]
        results = [*face.outputs]
        if face.width:
            results = ["q", "residual", "singular", "multiplicity", "vanishes"]
        lines = [f"function {self.outputs(results)}{face.name}({', '.join(face.inputs)})"]
        for name, size in face.inputs.items():
            lines.append(f"  {name} = reshape({name}.', 1, {size});  % row by row")
        for name, size in face.outputs.items():
            lines.append(f"  {name} = zeros(1, {size});")
        for name, values in face.tables.items():
            rows = ", ...\n".join(f"    {row}" for row in self.rows(values))
            lines += [f"  {name} = [ ...", f"{rows} ];"]
        args = ", ".join(face.argument(x, "{}", "[]") for x in entry.parameters)
        lines.append(f"  {self.outputs([*entry.mutated])}{entry.name}({args});")
        if face.width:
            rows, notes = face.outputs
            lines += [
                f"  q = reshape({rows}, {face.width}, {face.rows}).';",
                f"  q = q(1:{notes}(1), :);",
                f"  vanishes = {notes}(2);",
                f"  {notes} = reshape({notes}(3:3*{notes}(1) + 2), 3, []).';",
                f"  residual = {notes}(:, 1); singular = {notes}(:, 2);",
                f"  multiplicity = {notes}(:, 3);",
            ]
        return "\n".join([*lines, "end"])


_OVER = """def over(x, y):
    return x / y if y else x * inf"""


class _Division(ast.NodeTransformer):
    """x / y of a program is a number, or none, where y is 0."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or isinstance(node.right, ast.Constant):
            return node
        return ast.Call(ast.Name("over", ast.Load()), [node.left, node.right], [])


class _Literal(ast.NodeTransformer):
    """Constants as numbers."""

    def __init__(self, values: Mapping[str, float | int]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.values[node.id]) if node.id in self.values else node


class KernelPython(Spelling):
    """Python: the kernels as they stand, on lists of floats; nothing but the standard library, and
    NumPy for eigenvalues where it is installed."""

    comment = "#"

    @cached_property
    def several(self) -> set[str]:
        """Constants that are not the same in all kernels."""
        values = defaultdict[str, set[float | int]](set)
        for kernel in self.kernels:
            for name, value in kernel.constants.items():
                values[name].add(value)
        return {name for name, different in values.items() if len(different) > 1}

    def head(self) -> str:
        return f"{CODING}\n{super().head()}"

    def opening(self) -> str:
        return (
            "from math import atan2, cos, floor, inf, sin, sqrt  # noqa: F401\n\nArray = list\n\n\n"
            f"{_OVER}\n\n\n"
            "def zeros(n):\n    return [0.0] * n\n\n\ndef empty(n):\n    return [0.0] * n"
        )

    def table(self, name: str, values: Sequence[float]) -> str:
        return f"_{name} = [\n    " + ",\n    ".join(self.rows(values)) + ",\n]"

    def function(self, kernel: Kernel) -> str:
        literal = {x: kernel.constants[x] for x in self.several if x in kernel.constants}
        more = _EIGVALS if is_of_host(kernel) else ""
        if kernel.flat is None and not literal:
            return "\n" + kernel.source.rstrip() + more
        flat: ast.AST = kernel.flat or ast.parse(kernel.source).body[0]
        if kernel.straight:
            flat = _Division().visit(copy.deepcopy(flat))
        if literal:
            flat = _Literal(literal).visit(copy.deepcopy(flat))
        return "\n" + ast.unparse(flat) + more

    def text(self, functions: Sequence[str]) -> str:
        constants: dict[str, float | int] = {}
        for kernel in self.kernels:
            constants |= {x: kernel.constants[x] for x in kernel.constants if x not in self.several}
        listed = "\n".join(f"{name} = {value!r}" for name, value in constants.items())
        whole = super().text(functions)
        mark = "    return [0.0] * n\n\n"
        head, _, tail = whole.rpartition(mark)
        return f"{head}{mark}\n{listed}\n\n{tail}" if listed else whole

    def user(self) -> str:
        face = self.face
        entry = self.kernels[-1]
        inputs = ", ".join(face.inputs)
        lines = [f"\ndef {face.name}{'_all' if face.width else ''}({inputs}):"]
        if face.width:
            lines.append(_ALL.format(n=face.width))
        for name, size in face.inputs.items():
            lines.append(f'    {name} = _flat("{name}", {name}, {size})')
        for name, size in face.outputs.items():
            lines.append(f"    {name} = zeros({size})")
        args = ", ".join(face.argument(x, "_{}", "()") for x in entry.parameters)
        lines.append(f"    {entry.name}({args})")
        if face.width:
            rows, notes = face.outputs
            n = face.width
            lines += [
                f"    listed = range(int({notes}[0]))",
                f"    rows = [{rows}[{n} * k:{n} * k + {n}] for k in listed]",
                f"    residual = [{notes}[3 * k + 2] for k in listed]",
                f"    singular = [{notes}[3 * k + 3] > 0.5 for k in listed]",
                f"    multiplicity = [int({notes}[3 * k + 4]) for k in listed]",
                f"    return rows, residual, singular, multiplicity, {notes}[1] > 0.5",
                f"\n\ndef {face.name}({inputs}):",
                f'    """All configurations of a pose T (4, 4): rows of {n}, none out of reach."""',
                f"    return {face.name}_all({inputs})[0]",
            ]
        else:
            lines.append(f"    return {', '.join(face.outputs)}")
        return _FLAT + "\n\n" + "\n".join(lines)
