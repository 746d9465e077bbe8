"""Kernels in Rust: arrays are slices, integers i64; what is not for the user is a module of its
own. The functions need std."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import isinf
from typing import Any, ClassVar

from .language import BUILTINS, Kernel, type_of
from .scopes import Scopes
from .text import Spelling, assigned, bounds

_KINDS = {"float": "f64", "int": "i64", "bool": "bool"}
_ZERO = {"float": "0.0", "int": "0", "bool": "false"}
_WORDS = frozenset({
    "as", "box", "do", "dyn", "final", "fn", "gen", "impl", "in", "let", "loop", "match", "mod",
    "move", "mut", "priv", "pub", "ref", "static", "struct", "super", "trait", "try", "type", "use",
    "virtual", "where", "yield",
})  # fmt: skip
_QUIET = (
    "#![allow(clippy::all, dead_code, non_snake_case, non_upper_case_globals, unused_assignments,"
    " unused_mut, unused_parens, unused_variables)]"
)


class KernelRust(Spelling):
    """Rust: a number is cast wherever its type is not the one that stands beside it."""

    functions: ClassVar[dict[str, str]] = {name: f"f64::{name}" for name in BUILTINS}
    truth: ClassVar[dict[bool, str]] = {True: "true", False: "false"}

    def opening(self) -> str:
        return f"mod {self.face.name}_kernels {{\n{_QUIET}"

    def table(self, name: str, values: Sequence[float]) -> str:
        rows = ",\n    ".join(self.rows(values))
        return f"pub static {name}_table: [f64; {len(values)}] = [\n    {rows},\n];"

    def number(self, value: Any) -> str:
        if isinstance(value, float) and isinf(value):
            return "f64::INFINITY" if value > 0 else "f64::NEG_INFINITY"
        return super().number(value)

    def variable(self, name: str) -> str:
        return f"{name}_" if name in _WORDS else name

    def item(self, kernel: Kernel, node: ast.Subscript) -> str:
        array, index = self.variable(ast.unparse(node.value)), self.expression(kernel, node.slice)
        constant = isinstance(node.slice, ast.Constant)
        return f"{array}[{index}]" if constant else f"{array}[({index}) as usize]"

    def typed(self, kernel: Kernel, node: ast.expr, kind: str) -> str:
        """An expression of a type."""
        text = self.expression(kernel, node, 3)
        if kind != "float" or type_of(kernel, node) != "int":
            return text
        return f"{text}.0" if isinstance(node, ast.Constant) else f"(({text}) as f64)"

    def pair(self, kernel: Kernel, nodes: Sequence[ast.expr]) -> list[str]:
        """Expressions of one type."""
        kinds = {type_of(kernel, node) for node in nodes}
        kind = "float" if "float" in kinds else kinds.pop()
        return [self.typed(kernel, node, kind) for node in nodes]

    def binary(self, kernel: Kernel, node: ast.BinOp, level: int) -> str:
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}
        if isinstance(node.op, ast.Div):
            left, right = (self.typed(kernel, x, "float") for x in (node.left, node.right))
            text = f"{left} / {right}"
        else:
            left, right = self.pair(kernel, [node.left, node.right])
            text = f"{left} {sign[type(node.op)]} {right}"
        return f"({text})" if level else text

    def choice(self, kernel: Kernel, node: ast.IfExp) -> str:
        yes, no = self.pair(kernel, [node.body, node.orelse])
        return f"(if {self.test(kernel, node.test)} {{ {yes} }} else {{ {no} }})"

    def test(self, kernel: Kernel, node: ast.expr, inside: bool = False) -> str:
        if not isinstance(node, ast.Compare):
            return super().test(kernel, node, inside)
        left, right = self.pair(kernel, [node.left, node.comparators[0]])
        sign = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==",
                ast.NotEq: "!="}[type(node.ops[0])]  # fmt: skip
        return f"({left} {sign} {right})"

    def call(self, kernel: Kernel, node: ast.Call) -> str:
        name = ast.unparse(node.func)
        if name in ("int", "float"):
            text, to = self.expression(kernel, node.args[0]), _KINDS[name]
            if type_of(kernel, node.args[0]) == "bool" and name == "float":
                return f"(if {text} {{ 1.0 }} else {{ 0.0 }})"
            return f"(({text}) as {to})"
        if name in BUILTINS:
            args = ", ".join(self.typed(kernel, x, "float") for x in node.args)
            return f"{self.functions[name]}({args})"
        callee = kernel.callees[name]
        writes = {
            ast.unparse(x) for x, parameter in zip(node.args, callee.parameters, strict=True)
            if parameter in callee.mutated
        }  # fmt: skip
        args_, before = [], []
        for node_, (parameter, kind) in zip(node.args, callee.parameters.items(), strict=True):
            if kind == "array":
                own = self.variable(ast.unparse(node_))
                way = "&mut " if parameter in callee.mutated else "&"
                args_.append(f"{way}{own}" if own in kernel.arrays else own)
                continue
            text = self.typed(kernel, node_, kind)
            reads = {x.id for x in ast.walk(node_) if isinstance(x, ast.Name)}
            if reads & writes:  # its value is read before the array is lent
                before.append(f"let {parameter}_now = {text};")
                text = f"{parameter}_now"
            args_.append(text)
        spelled = f"{self.callee(name)}({', '.join(args_)})"
        return f"{{ {' '.join(before)} {spelled} }}" if before else spelled

    def function(self, kernel: Kernel) -> str:
        self.scopes = Scopes(kernel.body, kernel.variables)
        parameters = [
            f"{self.variable(name)}: "
            + (f"&{'mut ' * (name in kernel.mutated)}[f64]" if kind == "array" else _KINDS[kind])
            for name, kind in kernel.parameters.items()
        ]
        gives = f" -> {_KINDS[kernel.returns]}" if kernel.returns else ""
        lines = [f"/// {line}".rstrip() for line in kernel.doc.splitlines()]
        lines += [f"pub fn {kernel.name}({', '.join(parameters)}){gives} {{"]
        loops = {
            id(x): x.target.id for y in kernel.body for x in ast.walk(y)
            if isinstance(x, ast.For) and isinstance(x.target, ast.Name)
        }  # fmt: skip
        own = {name for node, name in self.scopes.at.items() if node in loops}
        for name, kind in kernel.variables.items():
            counts = name in own and all(
                node in loops for node, x in self.scopes.at.items() if x == name
            )
            if not counts and name != "_":
                lines.append(f"    let mut {self.variable(name)}: {_KINDS[kind]} = {_ZERO[kind]};")
        for name, size in kernel.arrays.items():
            lines.append(f"    let mut {self.variable(name)} = [0.0f64; {size}];")
        lines += self.block(kernel, kernel.body, 1)
        if kernel.returns and not isinstance(kernel.body[-1], ast.Return):
            lines.append(f"    {_ZERO[kernel.returns]}")
        return "\n".join([*lines, "}"])

    def block(self, kernel: Kernel, body: list[ast.stmt], depth: int) -> list[str]:
        pad, lines = "    " * depth, list[str]()
        for node in body:
            if isinstance(node, ast.For):
                lines += [*self.loop(kernel, node, pad), *self.block(kernel, node.body, depth + 1)]
                lines.append(f"{pad}}}")
            elif isinstance(node, ast.While | ast.If):
                word = "while" if isinstance(node, ast.While) else "if"
                lines.append(f"{pad}{word} {self.test(kernel, node.test)} {{")
                lines += self.block(kernel, node.body, depth + 1)
                if node.orelse:
                    lines += [f"{pad}}} else {{", *self.block(kernel, node.orelse, depth + 1)]
                lines.append(f"{pad}}}")
            elif not isinstance(node, ast.Pass):
                text = self.simple(kernel, node)
                lines += [f"{pad}{text};"] if text else []
        return lines

    def loop(self, kernel: Kernel, node: ast.For, pad: str) -> list[str]:
        assert isinstance(node.target, ast.Name)
        first, last, step = bounds(node)
        start, end = (self.expression(kernel, x, 1) for x in (first, last))
        each = f"{start}..{end}" if step > 0 else f"(({end} + 1)..={start}).rev()"
        if abs(step) > 1:
            each = f"({each}).step_by({abs(step)})"
        name = self.variable(node.target.id)
        if id(node) in self.scopes.at or name == "_":
            return [f"{pad}for {name} in {each} {{"]
        return [f"{pad}for {name}_now in {each} {{", f"{pad}    {name} = {name}_now;"]

    def simple(self, kernel: Kernel, node: ast.stmt) -> str:
        if isinstance(node, ast.Return):
            value = node.value
            return (
                f"return {self.typed(kernel, value, kernel.returns or '')}" if value else "return"
            )
        if isinstance(node, ast.Break | ast.Continue):
            return "break" if isinstance(node, ast.Break) else "continue"
        if isinstance(node, ast.Expr):
            return self.expression(kernel, node.value)
        value, target = assigned(node)
        if isinstance(target, ast.Name) and target.id in kernel.arrays:
            zeroed = isinstance(value, ast.Call) and ast.unparse(value.func) == "zeros"
            return f"{self.variable(target.id)}.fill(0.0)" if zeroed else ""
        kind = kernel.variables[target.id] if isinstance(target, ast.Name) else "float"
        return f"{self.expression(kernel, target)} = {self.typed(kernel, value, kind)}"

    def user(self) -> str:
        face, entry = self.face, self.kernels[-1]
        space = f"{face.name}_kernels"
        args = ", ".join(face.argument(x, f"&{space}::{{}}_table", "&[]") for x in entry.parameters)
        inputs = [f"{name}: &[f64; {size}]" for name, size in face.inputs.items()]
        outputs = [f"{name}: &mut [f64; {size}]" for name, size in face.outputs.items()]
        call = f"    {space}::{entry.name}({args});"
        quiet, head = "#[allow(non_snake_case)]", "}\n\n"
        if not face.width:
            opening = f"pub fn {face.name}({', '.join(inputs + outputs)}) {{"
            return head + "\n".join([quiet, opening, call, "}"])
        rows, notes = face.outputs
        passed = ", ".join([*face.inputs, rows])
        return head + "\n".join([
            "/// Writes the configurations of a pose, row by row, and notes on them; their number.",
            quiet, f"pub fn {face.name}_all({', '.join(inputs + outputs)}) -> usize {{", call,
            f"    {notes}[0] as usize", "}", "",
            "/// Writes the configurations of a pose, row by row; their number.",
            quiet, f"pub fn {face.name}({', '.join([*inputs, outputs[0]])}) -> usize {{",
            f"    let mut {notes} = [0.0f64; {face.outputs[notes]}];",
            f"    {face.name}_all({passed}, &mut {notes})", "}",
        ])  # fmt: skip
