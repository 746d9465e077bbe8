"""JAX: a pure function of arrays (..., n) that can be jitted, differentiated and vectorised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .printer import Printer
from .python import Python


class Jax(Python):
    """The table for JAX. Outputs are gathered in lists: JAX has no assignment to elements."""

    language = "jax"
    functions: ClassVar[dict[str, str]] = {
        op: text.replace("np.", "jnp.") for op, text in Python.functions.items()
    }
    imports = "import jax.numpy as jnp"
    convert = "jnp.asarray({x}, dtype=jnp.{dtype})"
    broadcast = "jnp.broadcast_shapes({shapes})"
    storage = "[0.0] * {size}"
    full: ClassVar[str] = "jnp.broadcast_to(jnp.asarray(x, dtype=jnp.{dtype}), lead)"
    stack: ClassVar[str] = "jnp.stack({values}, axis=-1)"
    empty: ClassVar[str] = "jnp.zeros(lead + (0,), dtype=jnp.{dtype})"

    @classmethod
    def opening(cls, header: list[str], printers: Sequence[Printer]) -> list[str]:
        note = 'float64 needs jax.config.update("jax_enable_x64", True) before the first call'
        double = printers[0].options.dtype == "float64" and cls.language == "jax"
        return super().opening([*header, *(["", note] if double else [])], printers)

    def result(self, array: str, k: int) -> str:
        return f"{self.results[array]}[{k}]"

    def finish(self) -> list[str]:
        dtype, lines = self.options.dtype, []
        for name, output in self.code.outputs.items():
            x = self.results[name]
            values = f"[{self.full.format(dtype=dtype)} for x in {x}]"
            stacked = self.stack.format(values=values)
            value = stacked if output.refs else self.empty.format(dtype=dtype)
            lines.append(f"    {x} = {value}")
        return [*lines, *super().finish()]
