"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite
from typing import Annotated

import typer

from ...errors import InputError
from . import completion

RobotName = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT", help="A bundled name, a file, or -.", autocompletion=completion.robots
    ),
]
RobotNames = Annotated[
    list[str],
    typer.Argument(
        metavar="ROBOT...", help="Names, files, or -.", autocompletion=completion.robots
    ),
]
ModelName = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="Of `cardan models`.", autocompletion=completion.models),
]
Printed = Annotated[
    str, typer.Option("-o", "--output", metavar="FILE", help="For --to; - is stdout.")
]
Surroundings = Annotated[
    str,
    typer.Option(metavar="FILE", help="What must not be touched: spheres, floor, boxes: .toml."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE",
        help="Give a symbol, or a number such as M3 or d2, a value. Repeatable.",
    ),
]  # fmt: skip
CutLoops = Annotated[bool, typer.Option("--tree", help="Cut loops open: the equivalent tree.")]
Floating = Annotated[bool, typer.Option("--floating", help="Let the base float.")]
BaseInertia = Annotated[
    str,
    typer.Option(
        metavar="M[,XX,YY,ZZ,...]",
        help="Of a base that floats; then XY, XZ, YZ, MX, MY, MZ. Without it its own, or one"
        " like the links'.",
    ),
]
Language = Annotated[
    str,
    typer.Option(
        metavar="LANGUAGE", help="Language of the text, c by default; text and latex: equations.",
        autocompletion=completion.languages,
    ),
]  # fmt: skip
Configuration = Annotated[
    str,
    typer.Option(
        "--q", metavar="Q",
        help="Joint positions, values with commas; with loops those of the active joints.",
    ),
]  # fmt: skip
Degrees = Annotated[bool, typer.Option("--degrees", help="Angles among positions are in degrees.")]


def is_given(ctx: typer.Context, name: str) -> bool:
    """Does the option stand on the command line?"""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_beside(ctx: typer.Context, useless: Collection[str], beside: str) -> None:
    """Refuse options that would mean nothing beside others."""
    words = [f"--{name}" for name in ctx.params if name in useless and is_given(ctx, name)]
    if words:
        raise typer.BadParameter(f"{', '.join(words)}: not with {beside}")


def numbers(text: str, what: str) -> list[float]:
    """Finite values separated by commas; each may be a formula such as -pi/2."""
    from ...describe.values.expression import number
    from ...describe.values.parser import to_value

    values = []
    for word in (part.strip() for part in text.split(",")):
        try:
            if not isfinite(float(word)):
                raise InputError(f"{what}: '{word}' is not a finite number")
        except ValueError:
            pass  # a formula
        value = number(to_value(word))
        if value is None:
            raise InputError(f"{what}: '{word}' is not a number")
        values.append(value)
    return values
