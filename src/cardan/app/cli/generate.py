"""Commands that derive models: generate, count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import ModelError
from . import completion
from .arguments import (
    BaseInertia,
    CutLoops,
    Floating,
    Json,
    Language,
    RobotName,
    RobotNames,
    Settings,
)
from .options import values_of
from .output import console, print_json, print_table, print_text, write
from .sources import open_robot, stripped

if TYPE_CHECKING:
    from ...describe.robot import Robot

ModelNames = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL", help="Of `cardan models`; several with --package.",
        autocompletion=completion.models,
    ),
]  # fmt: skip
PackageKind = Annotated[
    str,
    typer.Option(
        metavar="KIND",
        help="A folder instead: c, cpp, rust, fortran, julia, arduino, matlab, python, ros2,"
        " casadi, fmu.",
        autocompletion=completion.packages,
    ),
]  # fmt: skip
Target = Annotated[
    str, typer.Option("-o", "--output", metavar="FILE", help="Or -. With --package: the folder.")
]


def generate(
    ctx: typer.Context,
    robot: RobotName,
    model: ModelNames,
    to: Language = "",
    package: PackageKind = "",
    output: Target = "-",
    function: Annotated[str, typer.Option(metavar="NAME", help="Name of the function.")] = "",
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "",
    arguments: Annotated[
        str, typer.Option(help="array, or struct in C, C++, Fortran, MATLAB, Rust.")
    ] = "",
    split: Annotated[
        bool | None,
        typer.Option(
            "--split/--no-split",
            help="Work on parameters alone: setup and loop without"
            " the function that calls both; or all in one function.",
            show_default=False,
        ),
    ] = None,
    chunk: Annotated[
        int | None, typer.Option(metavar="N", help="Statements per function; 0: never cut.")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORM",
            help="Equations to read (--to text, latex, markdown, html): textbook, plain, as the"
            " paper has them, or cheapest, as the code; by default textbook where it is short.",
        ),
    ] = "",
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the package.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the package.")] = False,
    setting: Settings = None,
    tree: CutLoops = False,
    floating: Floating = False,
    base_inertia: BaseInertia = "",
) -> None:
    """Print a model of a robot in a language, or write a package of models.

    Options of the models are given as --name value: cardan generate ROBOT MODEL --help lists
    them. base-parameters with -o FILE.toml (.par, .urdf, .xml) writes the robot that has them."""
    from ...describe.files import FORMATS

    printing = {
        "to": to, "function": function, "dtype": dtype, "arguments": arguments, "split": split,
        "chunk": chunk, "form": form,
    }  # fmt: skip
    given: dict[str, Any] = {
        key: value for key, value in printing.items() if value not in ("", None)
    }
    if not package and (len(model) > 1 or name or force):
        words = " ".join(
            [*model[1:], *(["--name"] if name else []), *(["--force"] if force else [])]
        )
        raise typer.BadParameter(f"{words}: for --package KIND only")
    useless = [key for key in ("to", "function", "form") if key in given]
    if package and (useless or output == "-"):
        flag = {"form": "as"}.get(useless[0], useless[0]) if useless else ""
        why = f"leave --{flag} out" if useless else "name its folder with -o DIR"
        raise typer.BadParameter(f"a package: {why}", param_hint="--package")
    options = values_of(ctx, *model)
    described = open_robot(robot, setting, tree=tree, floating=floating, base_inertia=base_inertia)
    if package:
        _package(described, model, package, output, name=name, force=force, **given, **options)
    else:
        if model == ["base-parameters"] and not to and Path(output).suffix in FORMATS:
            given["to"] = Path(output).suffix.removeprefix(".")  # a robot, by its extension
        if "expanded" in options:  # of the text, not of the model
            given["expanded"] = options.pop("expanded")
        write(output, _text(described, model[0], options, given))


def _text(robot: Robot, model: str, options: dict[str, Any], printing: dict[str, Any]) -> str:
    """A model in a language: C by default, of what is a table or a set of equations text."""
    from ...catalogue import model as derive

    program: Any = derive(robot, model, **options)
    if hasattr(program, "emit"):
        read = model in ("loop-geometry", "base-parameters") and not printing
        text = str(program.emit(printing.pop("to", "text" if read else "c"), **printing))
    elif printing:
        flag = next(iter(printing))
        raise ModelError(f"'{model}' has no source text: leave --{flag} out to print it as it is")
    else:
        text = str(program)
    return text if text.endswith("\n") else f"{text}\n"


def _package(robot: Robot, models: list[str], kind: str, folder: str, **options: Any) -> None:
    from ...package import write_package

    with console(stderr=True).status(f"writing the package {folder}"):
        package = write_package(robot, models, kind, folder, **options)
    print_text(f"{package.folder}: {kind} package '{package.name}' of {', '.join(package.models)}")
    for note in package.notes:
        print_text(f"  {note}")


def count(
    robot: RobotNames,
    setting: Settings = None,
    tree: CutLoops = False,
    floating: Floating = False,
    base_inertia: BaseInertia = "",
    bare: Annotated[
        bool, typer.Option("--bare", help="Leave out friction and external wrenches.")
    ] = False,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Only this; repeatable.",
            autocompletion=completion.models,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Count the operations of every model of a robot, beside those of others."""
    from . import count as counting

    changes: Any = {"tree": tree, "floating": floating, "base_inertia": base_inertia}
    opened = [(name, open_robot(name, setting, **changes)) for name in robot]
    rows: list[counting.Row] = []
    with console(stderr=True).status("counting") as status:
        for name, described in opened:
            chosen = stripped(described) if bare else described
            rows += counting.count(
                name,
                chosen,
                models=models or (),
                compare=not (setting or floating or base_inertia),
                begin=status.update,
            )
    if json:
        print_json([counting.as_dict(row) for row in rows])
        return
    print_table("", counting.HEADER, map(counting.as_cells, rows))
    for line in counting.footnotes(rows):
        print_text(line)
