"""Spelling: programs as source text, one small table-driven printer per language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import UnknownNameError

if TYPE_CHECKING:
    from ..program import Program
    from .printer import Printer

__all__ = ["emit", "languages"]


def _printers() -> dict[str, type[Printer]]:
    from .c import C
    from .python import Python

    return {printer.language: printer for printer in (C, Python)}


def languages() -> list[str]:
    """Names of the languages that programs can be printed in."""
    return list(_printers())


def emit(
    program: Program, language: str, *, function: str = "", dtype: str = "float64", **unknown: Any
) -> str:
    """Source text of a program. Options: `function`, the name; `dtype`, float64 or float32."""
    printers = _printers()
    if language not in printers:
        raise UnknownNameError.of("language", language, printers)
    if unknown:
        raise UnknownNameError.of("option of emit", next(iter(unknown)), ("function", "dtype"))
    if dtype not in ("float64", "float32"):
        raise UnknownNameError.of("dtype", dtype, ("float64", "float32"))
    return printers[language](program, function, dtype).text()
