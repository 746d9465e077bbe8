"""Julia: a function of arrays; any number type goes through, dual numbers too."""

from __future__ import annotations

from typing import ClassVar

from .printer import Function, Printer

_WORDS = """
baremodule begin break catch const continue do else elseif end export false finally for function
global if import let local macro module mutable outer primitive quote return struct true try
abstract type using while where in isa public as
T Real Float64 Float32 Array Vector Matrix AbstractArray eltype promote_type undef sin cos tan sqrt
abs sign atan min max ifelse muladd fma pi im Inf NaN nothing missing one zero Base Main Core
ans float
"""


class Julia(Printer):
    """The table for Julia."""

    language = "julia"
    composes = calls_ahead = True
    honours = Printer.honours | {"chunk"}
    reserved = frozenset(_WORDS.split())
    flat = False
    first = 1
    functions: ClassVar[dict[str, str]] = {
        "sin": "sin({})", "cos": "cos({})", "sqrt": "sqrt({})", "abs": "abs({})",
        "sign": "sign({})", "atan2": "atan({}, {})", "min": "min({}, {})", "max": "max({}, {})",
        "select": "ifelse({} > 0, {}, {})", "fma": "muladd({}, {}, {})",
    }  # fmt: skip

    def number(self, x: float) -> str:
        text = super().number(x)
        if self.options.dtype == "float64":
            return text
        mantissa, _, exponent = text.partition("e")
        return f"{mantissa}f{int(exponent or 0)}"

    def start(self) -> list[str]:
        real = "Float64" if self.options.dtype == "float64" else "Float32"
        types = ", ".join([real, *(f"eltype({x})" for x in self.arrays.values())])
        lines = [f"    T = promote_type({types})"]
        for name, output in self.code.outputs.items():
            size = ", ".join(["undef", *map(str, output.shape)])
            lines.append(f"    {self.results[name]} = Array{{T, {len(output.shape)}}}({size})")
        return lines

    def finish(self) -> list[str]:
        results = [
            self.results[name] if output.shape else f"{self.results[name]}[]"
            for name, output in self.code.outputs.items()
        ]
        return [f"    return {', '.join(results)}"]

    def workspace_storage(self) -> list[str]:
        return [f"    {self.workspace} = Vector{{T}}(undef, {self.parts[1]})"]

    def define(self, function: Function) -> list[str]:
        arguments = [self.arrays[name] for name in function.inputs]
        if function.is_part:
            arguments += [self.results[name] for name in function.outputs]
            arguments += [self.workspace] if function.workspace else []
        end = ["    return nothing"] if function.is_part else []
        head = f"function {function.name}({', '.join(arguments)})"
        return [head, *function.body, *end, "end"]
