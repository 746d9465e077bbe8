"""Execution: interpreter, native code, batches, threads, GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnknownNameError

if TYPE_CHECKING:
    from ..program import Program

__all__ = ["TARGETS", "compile_program"]

TARGETS = ("native", "numpy", "cuda")
DTYPES = ("float64", "float32")


def compile_program(program: Program, target: str, dtype: str) -> Any:
    """The program as a function for a target and a floating type."""
    if target not in TARGETS:
        raise UnknownNameError.of("target", target, TARGETS)
    dtype = _name(dtype)
    if dtype not in DTYPES:
        raise UnknownNameError.of("dtype", dtype, DTYPES)
    if target == "cuda":
        from .cuda import CudaFunction

        return CudaFunction(program, dtype)
    from .function import Function

    return Function(program, target, dtype)


def _name(dtype: Any) -> str:
    """The name of a type however NumPy lets it be written: np.float32, "f4", dtype("float32")."""
    try:
        return str(np.dtype(dtype).name) if dtype is not None else "None"
    except TypeError:
        return str(dtype)
