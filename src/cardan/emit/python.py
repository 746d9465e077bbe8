"""Python with NumPy: a function of arrays (..., n); leading axes broadcast."""

from __future__ import annotations

import keyword
from math import prod
from typing import ClassVar

from .printer import Printer

__all__ = ["Python"]


class Python(Printer):
    """The table for Python."""

    language = "python"
    reserved = frozenset([*keyword.kwlist, *keyword.softkwlist, "np", "lead"])
    functions: ClassVar[dict[str, str]] = {
        "sin": "np.sin({})", "cos": "np.cos({})", "sqrt": "np.sqrt({})", "abs": "np.abs({})",
        "sign": "np.sign({})", "atan2": "np.arctan2({}, {})", "min": "np.minimum({}, {})",
        "max": "np.maximum({}, {})", "select": "np.where({} > 0, {}, {})",
    }  # fmt: skip

    def element(self, array: str, k: int) -> str:
        return f"{self.arrays[array]}[..., {k}]"

    def declare(self, name: str, value: str) -> str:
        return f"    {name} = {value}"

    def text(self) -> str:
        inputs = self.code.inputs
        reshape = []
        for name, shape in inputs.items():
            x = self.arrays[name]
            reshape.append(f"    {x} = np.asarray({x}, dtype=np.{self.dtype})")
            if len(shape) > 1:
                reshape.append(
                    f"    {x} = {x}.reshape({x}.shape[:-{len(shape)}] + ({prod(shape)},))"
                )
        body = list(self.statements())
        leads = ", ".join(f"{self.arrays[name]}.shape[:-1]" for name in inputs)
        body.append(f"    lead = np.broadcast_shapes({leads})")
        for name, output in self.code.outputs.items():
            x = self.results[name]
            body.append(f"    {x} = np.empty(lead + ({len(output.refs)},), dtype=np.{self.dtype})")
            body += [f"    {x}[..., {k}] = {self.signed(r)}" for k, r in enumerate(output.refs)]
            if len(output.shape) > 1:
                body.append(f"    {x} = {x}.reshape(lead + {output.shape})")
        returned = ", ".join(self.results.values())
        return "\n".join(
            [
                *(f"# {line}".rstrip() for line in self.header()),
                "import numpy as np",
                "",
                "",
                f"def {self.function_name}({', '.join(self.arrays[name] for name in inputs)}):",
                *reshape,
                *body,
                f"    return {returned}",
                "",
            ]
        )
