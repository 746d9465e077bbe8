"""Arguments and options that several commands share."""

from __future__ import annotations

from math import isfinite
from typing import Annotated

import typer

from ...errors import InputError

__all__ = ["CutLoops", "Json", "RobotName", "Settings", "numbers"]

RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help="A bundled name, a file, or -.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Give a symbol a value. Repeatable."),
]
CutLoops = Annotated[bool, typer.Option("--tree", help="Cut loops open: the equivalent tree.")]


def numbers(text: str, what: str) -> list[float]:
    """Finite values separated by commas; each may be a formula such as -pi/2."""
    from ...describe.values.expression import number
    from ...describe.values.parser import to_value

    found = []
    for word in (part.strip() for part in text.split(",")):
        try:
            if not isfinite(float(word)):
                raise InputError(f"{what}: '{word}' is not a finite number")
        except ValueError:
            pass  # a formula
        value = number(to_value(word))
        if value is None:
            raise InputError(f"{what}: '{word}' is not a number")
        found.append(value)
    return found
