"""Python with NumPy: a function of arrays (..., n); leading axes broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from .header import CODING
from .printer import Function, Printer

# written out: what `keyword` and `builtins` list differs between versions of Python
_WORDS = """
False None True and as assert async await break class continue def del elif else except finally for
from global if import in is lambda nonlocal not or pass raise return try while with yield match case
type abs all any bool bytes callable chr compile complex dict dir divmod enumerate eval exec filter
float format getattr globals hasattr hash help hex id input int isinstance iter len list locals map
max min next object oct open ord pow print property range repr reversed round set setattr slice
sorted str sum super tuple vars zip ValueError np jnp torch lead device
"""


class Python(Printer):
    """The table for Python; JAX and PyTorch differ from it in a few spellings."""

    language = "python"
    composes = calls_ahead = True
    honours = Printer.honours | {"chunk"}
    reserved = frozenset(_WORDS.split())
    flat = False
    functions: ClassVar[dict[str, str]] = {
        "sin": "np.sin({})", "cos": "np.cos({})", "sqrt": "np.sqrt({})", "abs": "np.abs({})",
        "sign": "np.sign({})", "atan2": "np.arctan2({}, {})", "min": "np.minimum({}, {})",
        "max": "np.maximum({}, {})", "select": "np.where({} > 0, {}, {})",
    }  # fmt: skip
    imports: ClassVar[str] = "import numpy as np"
    convert: ClassVar[str] = "np.asarray({x}, dtype=np.{dtype})"
    broadcast: ClassVar[str] = "np.broadcast_shapes({shapes})"
    storage: ClassVar[str] = "np.empty(lead + ({size},), dtype=np.{dtype})"

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        return [CODING, *super().opening(header, printers), cls.imports, "", ""]

    def element(self, array: str, k: int) -> str:
        return f"{self.arrays[array]}[..., {k}]"

    def result(self, array: str, k: int) -> str:
        return f"{self.results[array]}[..., {k}]"

    def define(self, function: Function) -> list[str]:
        arguments = [self.arrays[name] for name in function.inputs]
        if function.is_part:
            arguments += [self.results[name] for name in function.outputs]
            arguments += [self.workspace] if function.workspace else []
        head = f"def {function.name}({', '.join(arguments)}):"
        return [head, *(function.body or ["    pass"]), *([""] if function.is_part else [])]

    def start(self) -> list[str]:
        lines = []
        for name, shape in self.code.inputs.items():
            x = self.arrays[name]
            lines.append(f"    {x} = {self.convert.format(x=x, dtype=self.options.dtype)}")
            lines += _checked(x, shape)
            if len(shape) > 1:
                lines.append(f"    {x} = {x}.reshape({x}.shape[:-{len(shape)}] + ({prod(shape)},))")
            elif not shape:
                lines.append(f"    {x} = {x}[..., None]")
        leads = ", ".join(f"{self.arrays[name]}.shape[:-1]" for name in self.code.inputs)
        lines.append(f"    lead = {self.broadcast.format(shapes=leads)}")
        for name, output in self.code.outputs.items():
            size = len(output.refs)
            value = self.storage.format(size=size, dtype=self.options.dtype)
            lines.append(f"    {self.results[name]} = {value}")
        return lines

    def finish(self) -> list[str]:
        shaped = [
            f"    {self.results[name]} = {self.results[name]}.reshape(lead + {output.shape})"
            for name, output in self.code.outputs.items()
            if len(output.shape) != 1
        ]
        return [*shaped, f"    return {', '.join(self.results.values())}"]

    def workspace_storage(self) -> list[str]:
        return [f"    {self.workspace} = [None] * {self.parts[1]}"]


def _checked(x: str, shape: tuple[int, ...]) -> list[str]:
    """Statements that refuse an array of another shape; a scalar may have any, all of it axes of
    states."""
    if not shape:
        return []
    expected = ", ".join(["...", *map(str, shape)])
    words = f"{x}: shape ({expected}) is expected, not {{tuple({x}.shape)}}"
    return [
        f"    if {x}.shape[-{len(shape)}:] != {shape}:",
        f'        raise ValueError(f"{words}")',
    ]
