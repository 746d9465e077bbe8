"""One structure of inputs and one of outputs, for the languages that have them."""

from __future__ import annotations

from typing import ClassVar

from .printer import Function, Printer

Fields = dict[str, tuple[int, ...]]


class Structured(Printer):
    """A printer whose function takes arrays, or with `arguments="struct"` two structures."""

    honours = Printer.honours | {"arguments", "chunk"}
    of: ClassVar[str] = "."  # between a structure and its member

    @property
    def is_struct(self) -> bool:
        return self.options.arguments == "struct"

    def reserve(self) -> None:
        if self.is_struct:
            self.given, self.found = self.names.claim("in"), self.names.claim("out")
            self.kinds = {x: self.names.claim(f"{self.name}_{x}") for x in ("inputs", "outputs")}

    def fields(self) -> dict[str, Fields]:
        """The members of the structures, by the names of their types."""
        inputs = {self.arrays[name]: shape for name, shape in self.code.inputs.items()}
        outputs = {self.results[name]: out.shape for name, out in self.code.outputs.items()}
        return {self.kinds["inputs"]: inputs, self.kinds["outputs"]: outputs}

    def element(self, array: str, k: int) -> str:
        text = super().element(array, k)
        return f"{self.given}{self.of}{text}" if self.is_struct else text

    def result(self, array: str, k: int) -> str:
        text = super().result(array, k)
        return f"{self.found}{self.of}{text}" if self.is_struct else text

    def read_by(self, function: Function) -> list[str]:
        if not self.is_struct:
            return super().read_by(function)
        return [self.given] if function.inputs else []

    def set_by(self, function: Function) -> list[str]:
        if not self.is_struct:
            return super().set_by(function)
        return [self.found] if function.outputs else []

    def unused(self, function: Function) -> list[str]:
        """Arguments that a function neither reads nor sets, of which compilers would warn."""
        empty = [name for name in function.outputs if not self.code.outputs[name].refs]
        if self.is_struct:
            no_input = len(function.unread) == len(function.inputs) > 0
            no_output = len(empty) == len(function.outputs) > 0
            return [self.given] * no_input + [self.found] * no_output
        return [self.arrays[x] for x in function.unread] + [self.results[x] for x in empty]
