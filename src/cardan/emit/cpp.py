"""C++17: one header of function templates; the scalar may be double, float or a type of one's own.

Functions are found by argument-dependent lookup, so types of automatic differentiation work too."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from .c import RESERVED, C, commented
from .printer import Function, Printer

_KEYWORDS = """
and and_eq bitand bitor bool catch char8_t char16_t char32_t class compl concept consteval constexpr
constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export false
friend import module mutable namespace new noexcept not not_eq operator or or_eq private protected
public reinterpret_cast requires static_cast template this throw true try typeid typename using
virtual wchar_t xor xor_eq final override std T cardan size_t ptrdiff_t max_align_t lerp
"""


class Cpp(C):
    """The table for C++."""

    language = "cpp"
    honours = C.honours - {"dtype"}
    reserved = RESERVED | frozenset(_KEYWORDS.split())
    functions: ClassVar[dict[str, str]] = {
        "sin": "sin({})", "cos": "cos({})", "sqrt": "sqrt({})", "abs": "abs({})",
        "atan2": "atan2({}, {})", "select": "({} > T(0) ? T({}) : T({}))",
    }  # fmt: skip
    of = "."
    before = part_before = "inline void "

    @classmethod
    def functions_of(cls, dtype: str) -> dict[str, str]:
        return cls.functions

    @property
    def real(self) -> str:
        return "T"

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        guard = f"CARDAN_{printers[-1].name.upper()}_HPP"
        return [*commented(header), f"#ifndef {guard}", f"#define {guard}", "#include <cmath>", ""]

    @classmethod
    def closing(cls, printers: Sequence[Printer]) -> list[str]:
        return ["", "#endif"]

    def number(self, x: float) -> str:
        return f"T({super().number(x)})"

    def define(self, function: Function) -> list[str]:
        head = self.head(function)
        unused = [f"    (void){name};" for name in self.unused(function)]
        text = "\n".join(function.body)
        using = [f"    using std::{f};" for f in self.functions if f"{f}(" in text]
        return ["template <typename T>", head, "{", *unused, *using, *function.body, "}"]

    def parameters(self, function: Function) -> list[str]:
        work = [f"T (&{self.workspace})[{self.parts[1]}]"] if function.workspace else []
        if self.is_struct:
            inputs = [f"const {self.kinds['inputs']}<T> &{x}" for x in self.read_by(function)]
            outputs = [f"{self.kinds['outputs']}<T> &{x}" for x in self.set_by(function)]
            return [*inputs, *outputs, *work]
        return [
            *(f"const T *{self.arrays[name]}" for name in function.inputs),
            *(f"T *{self.results[name]}" for name in function.outputs),
            *work,
        ]

    def types(self) -> list[str]:
        lines: list[str] = []
        for kind, fields in self.fields().items() if self.is_struct else ():
            sizes = {x: prod(shape) for x, shape in fields.items()}
            members = [f"    T {x}[{size}];" for x, size in sizes.items() if size]
            lines += ["template <typename T>", f"struct {kind} {{", *members, "};", ""]
        return lines
