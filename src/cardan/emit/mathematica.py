"""Mathematica: a function of lists whose values are local to a Module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from .header import one_line
from .names import Names
from .printer import Function, Printer

_WORDS = """
C D E I K N O Pi Sin Cos Sqrt Abs Sign ArcTan Min Max If Module Block With Log10 Log2 List Table
Return Do For While Null True False Infinity Degree GoldenRatio EulerGamma Catalan Khinchin Glaisher
"""


class _Names(Names):
    """No underscore, which is an operator: F2_3 is F2u3, base_parameters is baseParameters. And no
    symbol that looks like a word of Mathematica, which are capitalised: Pi is vPi."""

    def spell(self, name: str) -> str:
        name = re.sub(r"(?<=\d)_+(?=\d)", self._separator, name.rstrip("_"))
        name = re.sub(r"_+([A-Za-z0-9])", lambda found: found[1].upper(), name)
        return f"v{name}" if re.fullmatch(r"[A-Z][a-z][A-Za-z]*", name) else name


class Mathematica(Printer):
    """The table for Mathematica."""

    language = "mathematica"
    composes = calls_ahead = True
    honours = Printer.honours - {"dtype"}
    reserved = frozenset(_WORDS.split())
    separator = "u"
    flat = False
    first = 1
    functions: ClassVar[dict[str, str]] = {
        "sin": "Sin[{}]", "cos": "Cos[{}]", "sqrt": "Sqrt[{}]", "abs": "Abs[{}]",
        "sign": "Sign[{}]", "min": "Min[{}, {}]", "max": "Max[{}, {}]",
        "atan2": "ArcTan[{1}, {0}]", "select": "If[{} > 0, {}, {}]",
    }  # fmt: skip
    declaration = "  {name} = {value};"
    item = "{array}[[{k}]]"

    @classmethod
    def scope(cls) -> Names:
        return _Names(cls.reserved, separator=cls.separator)

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        return commented(header)

    def number(self, x: float) -> str:
        mantissa, _, exponent = super().number(x).partition("e")
        whole = "" if "." in mantissa else "."  # 1*^-5 would be a fraction
        return f"{mantissa}{whole}*^{int(exponent)}" if exponent else mantissa

    def at(self, array: str, shape: tuple[int, ...], k: int) -> str:
        return super().at(array, shape, k) if shape else array

    def text(self) -> list[str]:
        """Results are nested lists, written once all values are known."""
        if self.pair:
            return self.composition(*self.pair)
        part = self.parts[0][0]
        found = {(s.output, s.k): s.value for s in part.statements if s.output}
        body = [self.declare(s.name, s.value) for s in part.statements if not s.output]
        results = []
        for name, output in self.code.outputs.items():
            values = [found[name, k] for k in range(len(output.refs))]
            results.append(self.nested(values, output.shape))
        value = results[0] if len(results) == 1 else self.listed(results)
        inputs, outputs = tuple(self.code.inputs), tuple(self.code.outputs)
        return self.define(
            Function(self.name, inputs, outputs, (*body, f"  {value}"), tuple(part.names))
        )

    def calls(self, setup: str, loop: str) -> list[str]:
        arguments = ", ".join([*self.arrays.values(), self.applied(setup, self.arrays["p"])])
        return [f"  {self.applied(loop, arguments)}"]

    def applied(self, function: str, given: str) -> str:
        """A function's value."""
        return f"{function}[{given}]"

    def nested(self, values: list[str], shape: tuple[int, ...]) -> str:
        """The values of an array as lists of lists."""
        if not shape:
            return values[0]
        size = len(values) // shape[0] if shape[0] else 0
        rows = [values[i * size : (i + 1) * size] for i in range(shape[0])]
        return self.listed([self.nested(row, shape[1:]) for row in rows])

    def listed(self, items: list[str]) -> str:
        text = ", ".join(items)
        lines = len(text) > 60
        return "{\n    " + ",\n    ".join(items) + "}" if lines else f"{{{text}}}"

    def define(self, function: Function) -> list[str]:
        arguments = ", ".join(f"{self.arrays[name]}_" for name in function.inputs)
        names = [", ".join(function.names[i : i + 10]) for i in range(0, len(function.names), 10)]
        return [
            f"{function.name}[{arguments}] := Module[{{",
            *(f"    {row}{',' if k < len(names) else ''}" for k, row in enumerate(names, 1)),
            "  },",
            *function.body,
            "];",
        ]


def commented(header: list[str]) -> list[str]:
    """The header as a comment that nothing in it can end or nest, in ASCII."""
    lines = [one_line(line.encode("ascii", "replace").decode()) for line in header]
    return ["(*", *(f" * {line}" for line in lines), " *)"]
