"""Execution: interpreter, native code, batches, threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UnknownNameError
from .function import Function

if TYPE_CHECKING:
    from ..program import Program

__all__ = ["TARGETS", "compile_program"]

TARGETS = ("native", "numpy")
DTYPES = ("float64", "float32")


def compile_program(program: Program, target: str, dtype: str) -> Function:
    """The program as a function for a target and a floating type."""
    if target not in TARGETS:
        raise UnknownNameError.of("target", target, TARGETS)
    if dtype not in DTYPES:
        raise UnknownNameError.of("dtype", dtype, DTYPES)
    return Function(program, target, dtype)
