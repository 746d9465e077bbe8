"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["CutLoops", "Json", "RobotName", "Settings"]

RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help="A bundled name, a file, or -.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Give a symbol a value. Repeatable."),
]
CutLoops = Annotated[bool, typer.Option("--tree", help="Cut loops open: the equivalent tree.")]
