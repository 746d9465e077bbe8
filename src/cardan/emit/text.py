"""Plain text as SYMORO+ wrote it: one `NAME = expression;` per line, scalars throughout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import ClassVar

from .mathematica import commented
from .names import Names
from .printer import Printer, position
from .statements import Statement

__all__ = ["Text"]


class Text(Printer):
    """The table for plain text. Elements of arrays are symbols: q1, T1_2."""

    language = "text"
    honours = frozenset({"expanded", "form", "split"})
    reserved = frozenset({"sin", "cos", "sqrt", "abs", "sign", "atan2", "min", "max", "if"})
    flat = False
    binds_parameters = False
    functions: ClassVar[dict[str, str]] = {
        "sin": "sin({})", "cos": "cos({})", "sqrt": "sqrt({})", "abs": "abs({})",
        "sign": "sign({})", "atan2": "atan2({}, {})", "min": "min({}, {})", "max": "max({}, {})",
        "select": "if({} > 0, {}, {})",
    }  # fmt: skip
    declaration = "{name} = {value};"

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        return commented(header)

    def reserve(self) -> None:
        """A symbol for each element; a value that is an output is called after it."""
        self.elements = {
            (name, k): self.claim_element(self.arrays[name], shape, k)
            for name, shape in self.code.inputs.items()
            if name != "p"
            for k in range(prod(shape))
        }
        self.targets: dict[int, str] = {}
        self.found: dict[tuple[str, int], str] = {}
        for name, output in self.code.outputs.items():
            for k, ref in enumerate(output.refs):
                symbol = self.claim_element(self.results[name], output.shape, k)
                self.found[name, k] = symbol
                if ref > 0 and self.code.nodes[ref][0] not in ("const", "input"):
                    self.targets.setdefault(ref, symbol)

    def claim_element(self, array: str, shape: tuple[int, ...], k: int) -> str:
        """The symbol of an element; a scalar has its array's name."""
        if not shape:
            return array
        return self.names.claim(array + "_".join(str(i + 1) for i in position(shape, k)))

    def number(self, x: float) -> str:
        return str(int(x)) if x == int(x) and abs(x) < 1e15 else super().number(x)

    def element(self, array: str, k: int) -> str:
        return self.elements[array, k]

    def name_of(self, id: int, wanted: str) -> str:
        return self.targets[id] if id in self.targets else super().name_of(id, wanted)

    def is_inlined(self, id: int, uses: int, size: int, depth: int) -> bool:
        return id not in self.targets and super().is_inlined(id, uses, size, depth)

    def outputs(self) -> Iterator[Statement]:
        """What is not already called after an output."""
        for s in super().outputs():
            symbol = self.found[s.output, s.k]
            if symbol != s.value:
                yield Statement(symbol, s.value, s.reads)

    def text(self) -> list[str]:
        title = f"Equations of {self.program.model}:"
        return ["", title, "", *self.body(self.parts[0][0]), "", "*=*"]

    @classmethod
    def scope(cls) -> Names:
        return Names(cls.reserved)
