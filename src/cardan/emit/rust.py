"""Rust: functions on fixed arrays that need `core` only, so they run without an operating system.

`core` has no sine. The functions it lacks are a trait `Math`, two lines to implement with std or
with the `libm` crate; what `core` has in recent versions only is lowered to comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from .printer import Function, Printer
from .statements import Spelling
from .structures import Structured

_WORDS = """
as async await break const continue crate dyn else enum extern false fn for gen if impl in let loop
match mod move mut pub ref return self Self static struct super trait true type union unsafe use
where while abstract become box do final macro override priv try typeof unsized virtual yield
f32 f64 Math M core std main None Some Ok Err Option Result
"""
NEEDED = {"sin": "x: {real}", "cos": "x: {real}", "sqrt": "x: {real}",
           "atan2": "y: {real}, x: {real}"}  # fmt: skip


class Rust(Structured):
    """The table for Rust."""

    language = "rust"
    composes = calls_ahead = True
    reserved = frozenset(_WORDS.split())
    functions: ClassVar[dict[str, str]] = {
        "sin": "M::sin({})", "cos": "M::cos({})", "sqrt": "M::sqrt({})",
        "atan2": "M::atan2({}, {})",
        "select": "if {} > 0.0 {{ {} }} else {{ {} }}",
    }  # fmt: skip
    declaration = "    let {name} = {value};"
    assignment = "    {target} = {value};"

    @property
    def real(self) -> str:
        return "f64" if self.options.dtype == "float64" else "f32"

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        nodes = {node[0] for printer in printers for node in printer.code.nodes}
        real = "f64" if printers[0].options.dtype == "float64" else "f32"
        needed = [f for f in NEEDED if f in nodes]
        lines = [f"// {line}" for line in header]
        if needed:
            lines += ["", "/// What `core` lacks. With std: `fn sin(x) { x.sin() }`, and so on.",
                      "pub trait Math {",
                      *(f"    fn {f}({NEEDED[f].format(real=real)}) -> {real};" for f in needed),
                      "}"]  # fmt: skip
        return [*lines, ""]

    def number(self, x: float) -> str:
        return f"{super().number(x)}_{self.real}"

    def operation(self, op: str, args: list[Spelling]) -> Spelling:
        """Parentheses round a conditional only where it is an operand: others give a warning."""
        spelling = super().operation(op, args)
        if op != "select":
            return spelling
        condition = args[0].text if args[0].precedence else f"({args[0].text})"
        text = self.table[op].format(condition, args[1].text, args[2].text)
        return Spelling(text, 0, spelling.reads)

    @property
    def generic(self) -> bool:
        return any(node[0] in NEEDED for node in self.code.nodes)

    def types(self) -> list[str]:
        """The structures, laid out as in C."""
        lines: list[str] = []
        for kind, fields in self.fields().items() if self.is_struct else ():
            lines += [
                "#[allow(non_snake_case, non_camel_case_types)]",
                "#[derive(Clone, Copy, Debug, PartialEq)]",
                "#[repr(C)]",
                f"pub struct {kind} {{",
                *(f"    pub {x}: [{self.real}; {prod(shape)}]," for x, shape in fields.items()),
                "}",
                "",
            ]
        return lines

    def parameters(self, function: Function) -> list[str]:
        """The declarations of the arguments of a function."""
        work = [f"{self.workspace}: &mut [{self.real}; {self.parts[1]}]"]
        work = work if function.workspace else []
        if self.is_struct:
            inputs = [f"{x}: &{self.kinds['inputs']}" for x in self.read_by(function)]
            outputs = [f"{x}: &mut {self.kinds['outputs']}" for x in self.set_by(function)]
            return [*inputs, *outputs, *work]
        return [
            *(
                f"{self.arrays[name]}: &[{self.real}; {prod(self.code.inputs[name])}]"
                for name in function.inputs
            ),
            *(
                f"{self.results[name]}: &mut [{self.real}; {len(self.code.outputs[name].refs)}]"
                for name in function.outputs
            ),
            *work,
        ]

    def define(self, function: Function) -> list[str]:
        generic = "<M: Math>" if self.generic else ""
        return [
            "#[allow(non_snake_case, clippy::all)]",
            *(["#[inline(never)]"] if function.is_part else []),
            f"{'' if function.is_part else 'pub '}fn {function.name}{generic}(",
            *(f"    {argument}," for argument in self.parameters(function)),
            ") {",
            *(f"    let _ = {name};" for name in self.unused(function)),
            *function.body,
            "}",
        ]

    def composition(self, setup: Printer, loop: Printer) -> list[str]:
        h = self.names.claim("h")
        generic = {
            part.name: "::<M>" if isinstance(part, Rust) and part.generic else ""
            for part in (setup, loop)
        }
        arguments = ", ".join([*self.arrays.values(), f"&{h}", *self.results.values()])
        body = [
            f"    let mut {h} = [0.0_{self.real}; {prod(loop.code.inputs['h'])}];",
            f"    {setup.name}{generic[setup.name]}({self.arrays['p']}, &mut {h});",
            f"    {loop.name}{generic[loop.name]}({arguments});",
        ]
        return self.define(self.composed(body))

    def workspace_storage(self) -> list[str]:
        return [f"    let mut {self.workspace} = [0.0_{self.real}; {self.parts[1]}];"]

    def called(self, function: Function) -> str:
        work = [f"&mut {self.workspace}"] if function.workspace else []
        arguments = ", ".join([*self.read_by(function), *self.set_by(function), *work])
        generic = "::<M>" if self.generic else ""
        return f"    {function.name}{generic}({arguments});"
