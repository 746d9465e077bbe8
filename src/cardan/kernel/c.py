"""Kernels in C99 and C++17."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import ClassVar

from .language import Kernel, type_of
from .program import ARCTANGENT
from .scopes import COUNTER, Scopes, component_loop
from .text import Spelling, assigned, bounds

_SCALARS = {"float": "double", "int": "int", "bool": "int"}
_SHORT = {ast.Add: "+=", ast.Sub: "-=", ast.Mult: "*="}
WIDE = 100  # columns of a line
# errno and exceptions are not asked for, so that a loop runs on several numbers at once
_QUIET = """#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
extern {c}double sqrt(double) {noexcept}__attribute__((const));
#endif"""
_HELPERS = """{before} double {f}lesser(double x, double y) {{ return x < y ? x : y; }}
{before} double {f}greater(double x, double y) {{ return x > y ? x : y; }}

// atan2 to the last digit or two, by a polynomial for |t| <= tan(pi/8)
{before} double {f}angle(double y, double x) {{
    const double ax = {std}fabs(x), ay = {std}fabs(y);
    const double small = ax < ay ? ax : ay, most = ax < ay ? ay : ax;
    const double large = most > 0 ? most : 1, edge = 0.41421356237309503*large;
    const double below = small - large, above = small + large;
    const double t = (small > edge ? below : small)/(small > edge ? above : large), z = t*t;
    const double p = {P};
    const double near = t + t*z*p, far = near + 3.061616997868383e-17 + 0.7853981633974483;
    const double a = small > edge ? far : near;
    const double up = 6.123233995736766e-17 - a + 1.5707963267948966, b = ay > ax ? up : a;
    const double back = 1.2246467991473532e-16 - b + 3.141592653589793, c = x < 0 ? back : b;
    return {std}copysign(c, y);
}}
"""


def wrapped(head: str, items: Sequence[str], tail: str) -> list[str]:
    """head item, item, ... tail, on as many lines as it takes."""
    lines = [head]
    for k, item in enumerate(items):
        last = k == len(items) - 1
        text = item + (tail if last else ",")
        if len(lines[-1]) + len(text) >= WIDE and lines[-1].strip():
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * (len(head) - len(head.lstrip()) + 4))
        lines[-1] += text + ("" if last else " ")
    return lines if items else [head + tail]


def is_simple(node: ast.stmt) -> bool:
    """Is it one statement in C?"""
    return not isinstance(node, ast.For | ast.While | ast.If)


def element_of(node: ast.stmt) -> str:
    """The array of which an assignment sets an element that is known."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return target.value.id
    return ""


class KernelC(Spelling):
    """C99: arrays are pointers; helpers are static and carry the name of the user's function."""

    before = ""  # what stands before the user's functions
    std = ""
    alone = "restrict "  # of an array that overlaps no other

    def opening(self) -> str:
        head = ["#include <math.h>", "#include <string.h>"]
        helpers = self.helpers("static inline")
        quiet = _QUIET.format(c="", noexcept="")
        return "\n".join([*head, *([quiet, *helpers] if helpers else [])])

    def helpers(self, before: str) -> list[str]:
        """Functions of programs that a compiler can run on several numbers at once, as those of the
        library are not."""
        if not any(kernel.straight for kernel in self.kernels):
            return []
        powers = " + z*(".join(f"{c!r}" for c in ARCTANGENT) + ")" * (len(ARCTANGENT) - 1)
        halves = powers.split(" + z*(0.0769")
        names = {
            "before": before,
            "f": self.callee(""),
            "std": self.std,
            "P": "\n        + z*(0.0769".join(halves),
        }
        return ["", *_HELPERS.format(**names).splitlines()]

    def callee(self, name: str) -> str:
        return f"{self.face.name}_{name}"

    def table(self, name: str, values: Sequence[float]) -> str:
        head = f"static const double {self.callee(name)}_table[{len(values)}] = {{"
        rows = self.rows(values, WIDE - 6)
        if len(head) + len(rows[0]) < WIDE - 2 and len(rows) == 1:
            return f"{head}{rows[0]}}};"
        return "\n".join([head, "    " + ",\n    ".join(rows), "};"])

    def call(self, kernel: Kernel, node: ast.Call) -> str:
        name = ast.unparse(node.func)
        if not kernel.straight or name not in ("min", "max", "atan2"):
            return super().call(kernel, node)
        args = ", ".join(self.expression(kernel, argument) for argument in node.args)
        return f"{self.callee({'min': 'lesser', 'max': 'greater', 'atan2': 'angle'}[name])}({args})"

    def operation(self, kernel: Kernel, node: ast.BinOp, op: str, left: str, right: str) -> str:
        if op == "/" and type_of(kernel, node.left) == type_of(kernel, node.right) == "int":
            return f"(double)({left}) / {right}"
        return f"{left} {op[0]} {right}"  # // of integers is /

    def parameters(self, kernel: Kernel) -> list[str]:
        spelled = []
        for name, kind in kernel.parameters.items():
            const = "" if name in kernel.mutated else "const "
            pointer = f"{const}double *{self.alone if kernel.straight else ''}{name}"
            spelled.append(pointer if kind == "array" else f"{_SCALARS[kind]} {name}")
        return spelled

    def function(self, kernel: Kernel) -> str:
        kind = _SCALARS[kernel.returns] if kernel.returns else "void"
        said = re.split(r"(?<=[.?])\s", kernel.doc)[0]  # the first sentence
        lines = [f"// {line}".rstrip() for line in said.splitlines()]
        head = f"static {kind} {self.callee(kernel.name)}("
        lines += wrapped(head, self.parameters(kernel), ") {")
        self.scopes = Scopes(kernel.body, kernel.variables)
        for kind in ("float", "int", "bool"):
            own = [f"{x} = 0" for x in self.scopes.first if kernel.variables[x] == kind]
            lines += wrapped(f"    {_SCALARS[kind]} ", own, ";") if own else []
        arrays = [f"{name}[{size}]" for name, size in kernel.arrays.items()]
        lines += wrapped("    double ", arrays, ";") if arrays else []
        lines += self.block(kernel, kernel.body, 1)
        return "\n".join([*lines, "}"])

    def block(self, kernel: Kernel, body: list[ast.stmt], depth: int) -> list[str]:
        pad = "    " * depth
        lines: list[str] = []
        before = ""  # what the last line declared, or the array of which it assigned an element
        skipped = 0
        for k, node in enumerate(body):
            if skipped:
                skipped -= 1
                continue
            loop = component_loop(body[k:])
            if loop is not None and not self.short(kernel, body[k : k + 3], depth):
                head = f"{pad}for (int {COUNTER} = 0; {COUNTER} < 3; {COUNTER}++)"
                lines += self.inside(kernel, head, loop.body, depth)
                skipped, before = 2, ""
            elif isinstance(node, ast.For):
                lines += self.inside(kernel, pad + self.loop(kernel, node), node.body, depth)
            elif isinstance(node, ast.While):
                head = f"{pad}while ({self.test(kernel, node.test)})"
                lines += self.inside(kernel, head, node.body, depth)
            elif isinstance(node, ast.If):
                lines += self.branch(kernel, node, depth, f"{pad}if")
            elif not isinstance(node, ast.Pass):
                text = self.simple(kernel, node)
                if not text:
                    continue
                kind = self.declared(kernel, node)
                array = element_of(node) or kind
                joined = f", {text};" if kind else f" {text};"
                if array and array == before and len(lines[-1] + joined) <= WIDE:
                    lines[-1] = (lines[-1][:-1] if kind else lines[-1]) + joined
                else:
                    lines.append(f"{pad}{kind}{text};")
                before = array
                continue
            before = ""
        return lines

    def short(self, kernel: Kernel, nodes: list[ast.stmt], depth: int) -> bool:
        """Do statements have room on one line?"""
        return 4 * depth + sum(len(self.simple(kernel, node)) + 2 for node in nodes) <= WIDE

    def declared(self, kernel: Kernel, node: ast.stmt) -> str:
        """What declares the variable that a statement assigns first."""
        name = self.scopes.at.get(id(node))
        if name is None or id(node) in self.scopes.idle:
            return ""
        const = "const " if name in self.scopes.constant else ""
        return f"{const}{_SCALARS[kernel.variables[name]]} "

    def branch(self, kernel: Kernel, node: ast.If, depth: int, word: str) -> list[str]:
        head = f"{word} ({self.test(kernel, node.test)})"
        if not node.orelse:
            return self.inside(kernel, head, node.body, depth, word.endswith("else if"))
        pad = "    " * depth
        both = [self.block(kernel, x, depth + 1) for x in (node.body, node.orelse)]
        alone = all(len(x) == 1 and is_simple(x[0]) for x in (node.body, node.orelse))
        if alone and all(both) and not word.endswith("else if"):
            short = [f"{head} {both[0][0].strip()}", f"{pad}else {both[1][0].strip()}"]
            if max(map(len, short)) <= WIDE:
                return short
        lines = [f"{head} {{", *self.block(kernel, node.body, depth + 1)]
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            return lines + self.branch(kernel, node.orelse[0], depth, f"{pad}}} else if")
        return [*lines, f"{pad}}} else {{", *self.block(kernel, node.orelse, depth + 1), f"{pad}}}"]

    def inside(
        self, kernel: Kernel, head: str, body: list[ast.stmt], depth: int, braces: bool = False
    ) -> list[str]:
        """A body: in braces, or one statement on the line or below it."""
        inner = self.block(kernel, body, depth + 1)
        if braces or len(body) != 1 or not inner or not is_simple(body[0]):
            return [f"{head} {{", *inner, "    " * depth + "}"]
        short = f"{head} {inner[0].strip()}"
        return [short] if len(short) <= WIDE else [head, inner[0]]

    def loop(self, kernel: Kernel, node: ast.For) -> str:
        assert isinstance(node.target, ast.Name)
        i = node.target.id
        first, last, step = bounds(node)
        start = self.expression(kernel, first)
        test = f"{i} {'<' if step > 0 else '>'} {self.expression(kernel, last)}"
        more = {1: f"{i}++", -1: f"{i}--"}.get(step, f"{i} += {step}")
        own = "int " if id(node) in self.scopes.at else ""
        return f"for ({own}{i} = {start}; {test}; {more})"

    def simple(self, kernel: Kernel, node: ast.stmt) -> str:
        if isinstance(node, ast.Return):
            return f"return {self.expression(kernel, node.value)}" if node.value else "return"
        if isinstance(node, ast.Break | ast.Continue):
            return "break" if isinstance(node, ast.Break) else "continue"
        if isinstance(node, ast.Expr):
            return self.expression(kernel, node.value)
        value, target = assigned(node)
        if id(node) in self.scopes.idle:  # only what the call does counts
            return self.expression(kernel, value) if isinstance(value, ast.Call) else ""
        if isinstance(target, ast.Name) and target.id in kernel.arrays:
            zeroed = isinstance(value, ast.Call) and ast.unparse(value.func) == "zeros"
            return f"memset({target.id}, 0, sizeof {target.id})" if zeroed else ""
        left = self.expression(kernel, target)
        op = _SHORT.get(type(node.op)) if isinstance(node, ast.AugAssign) else None
        if op:
            assert isinstance(node, ast.AugAssign)
            return f"{left} {op} {self.expression(kernel, node.value)}"
        return f"{left} = {self.expression(kernel, value)}"

    def user(self) -> str:
        face = self.face
        entry = self.kernels[-1]
        inputs = [f"const double {name}[{size}]" for name, size in face.inputs.items()]
        outputs = [f"double {name}[{size}]" for name, size in face.outputs.items()]
        args = [face.argument(x, f"{self.callee('{}')}_table", "0") for x in entry.parameters]
        call = wrapped(f"    {self.callee(entry.name)}(", args, ");")
        if face.width:
            return self.counted(inputs, outputs, call)
        head = wrapped(f"void {face.name}(", inputs + outputs, ") {")
        return "\n".join([*head, *call, "}"])

    def counted(self, inputs: list[str], outputs: list[str], call: list[str]) -> str:
        """The functions of rows, which give their number."""
        face = self.face
        rows, notes = face.outputs
        whole = wrapped(f"{self.before}int {face.name}_all(", inputs + outputs, ")")
        short = wrapped(f"{self.before}int {face.name}(", [*inputs, outputs[0]], ")")
        again = wrapped(f"    return {face.name}_all(", [*face.inputs, rows, notes], ");")
        return "\n".join([
            *whole[:-1], f"{whole[-1]};", *short[:-1], f"{short[-1]};", "",
            *whole[:-1], f"{whole[-1]} {{", *call,
            f"    return {self.cast('int', f'{notes}[0]')};", "}", "",
            *short[:-1], f"{short[-1]} {{", f"    double {notes}[{face.outputs[notes]}];", *again,
            "}",
        ])  # fmt: skip


class KernelCpp(KernelC):
    """C++17: the same in a namespace of its own; std::array in and out, or pointers and rows."""

    before = "inline "
    std = "std::"
    alone = "__restrict "

    functions: ClassVar[dict[str, str]] = {
        name: f"std::{c}" for name, c in Spelling.functions.items()
    }

    def opening(self) -> str:
        head = ["#include <array>", "#include <cmath>", "#include <cstring>", ""]
        quiet = _QUIET.format(c='"C" ', noexcept="noexcept ")
        head += [quiet, ""] if self.helpers("") else []
        space = f"namespace {self.face.name}_kernels {{"
        return "\n".join([*head, space, *self.helpers("inline")])

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
        head = f"}}  // namespace {space}\n\n"
        table = f"{space}::{{}}_table"
        if face.width:
            args = [face.argument(x, table, "nullptr") for x in entry.parameters]
            inputs = [f"const double *{name}" for name in face.inputs]
            call = wrapped(f"    {space}::{entry.name}(", args, ");")
            return head + self.counted(inputs, [f"double *{name}" for name in face.outputs], call)
        inputs = [f"const std::array<double, {n}> &{name}" for name, n in face.inputs.items()]
        outputs = [f"std::array<double, {n}> &{name}" for name, n in face.outputs.items()]
        args = [
            f"{space}::{p}_table" if p in face.tables else f"{p}.data()" for p in entry.parameters
        ]
        lines = [*wrapped(f"inline void {face.name}(", inputs + outputs, ") {"),
                 *wrapped(f"    {space}::{entry.name}(", args, ");"), "}"]  # fmt: skip
        return head + "\n".join(lines)
