"""The command line: thin calls into the library. Exit 0 ok, 1 the input is at fault, 2 usage.

Heavy modules are imported inside the commands, so that `cardan --help` stays fast.
"""

from __future__ import annotations

import errno
import sys
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import CardanError, ModelError
from ..version import __version__
from .options import ModelCommand, flag_of, options_of, values_of
from .output import console, message, print_json, print_table, print_text, silence, write

if TYPE_CHECKING:
    from ..catalogue import Entry, Option
    from ..describe.robot import Robot

__all__ = ["app", "main"]

# what errors advise in Python, and the option that does it here
_REMEDIES = {
    "with_values(": "on the command line: --set NAME=VALUE",
    "drop=True": "on the command line: --drop",
    "robot.tree()": "on the command line: --tree",
    'fixed="keep"': "on the command line: --fixed keep",
    "convention=": "on the command line: --convention NAME",
    "force=True": "on the command line: --force",
}


_KINDS = {"flag": "true | false", "frame": "link number or name", "vector": "x,y,z"}


class Commands(TyperGroup):
    """Turns what a user can cause into one message and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except CardanError as error:
            text = str(error)
            hints = [hint for words, hint in _REMEDIES.items() if words in text]
            message("\n".join([f"cardan: {text}", *hints]))
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            message("cardan: interrupted")
            raise typer.Exit(130) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                silence()
            else:
                message(f"cardan: {error.strerror or error}")
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=Commands, no_args_is_help=True, add_completion=False, rich_markup_mode=None,
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
    help="Models of robots: equations, code with few operations, native speed.",
)  # fmt: skip

RobotName = Annotated[str, typer.Argument(metavar="ROBOT", help="A bundled name, a file, or -.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Give a symbol a value. Repeatable."),
]
CutLoops = Annotated[bool, typer.Option("--tree", help="Cut loops open: the equivalent tree.")]


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"cardan {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Models of robots: equations, code with few operations, native speed."""


@app.command()
def robots(json: Json = False) -> None:
    """List the bundled robots."""
    from ..describe.bundled import bundled, robots

    rows = []
    for name in robots():
        robot = bundled(name)
        kinds = "".join("RPF"[joint.sigma] for joint in robot.joints)
        rows.append(
            {
                "name": name, "robot": robot.name, "n": robot.n, "joints": kinds,
                "loops": len(robot.loops), "symbols": len(robot.parameters),
                "source": " ".join(robot.source.split()),
            }
        )  # fmt: skip
    if json:
        print_json(rows)
        return
    header = ("name", "robot", "n", "joints", "loops", "symbols")
    print_table("", header, [[row[key] for key in header] for row in rows])
    print_text(
        "\njoints: R revolute, P prismatic, F fixed frame; symbols: parameters without a value"
    )


@app.command()
def models(
    name: Annotated[str, typer.Argument(metavar="[MODEL]", help="Show the options of one.")] = "",
    json: Json = False,
) -> None:
    """List the models that can be generated, or the options of one."""
    from ..catalogue import catalogue

    if name:
        options_of(name)
    entries = [entry for entry in catalogue() if name in ("", entry.name)]
    if json:
        print_json([_described(entry) for entry in entries])
        return
    rows = [
        (
            e.group,
            e.name,
            f"{e.inputs} -> {e.outputs}",
            " ".join(map(flag_of, e.options)),
            e.summary,
        )
        for e in entries
    ]
    print_table("", ("group", "model", "inputs -> outputs", "options", "summary"), rows)
    if name:
        table = options_of(name)
        print_text()
        print_table(
            "",
            ("option", "allowed", "default", "meaning"),
            [(flag_of(key), _allowed(o), _default(o), o.summary) for key, o in table.items()],
        )
    else:
        print_text("\ncardan models MODEL lists the options of a model with their meaning")


def _described(entry: Entry) -> dict[str, Any]:
    options = {
        key: {
            "summary": option.summary, "kind": option.kind, "default": option.default,
            "choices": option.choices,
        }
        for key, option in options_of(entry.name).items()
    }  # fmt: skip
    words = {key: getattr(entry, key) for key in ("name", "group", "summary", "inputs", "outputs")}
    return {**words, "options": options}


def _default(option: Option) -> str:
    return "" if option.default is None else str(option.default).lower()


def _allowed(option: Option) -> str:
    if option.choices is not None:
        return " | ".join(map(str, option.choices))
    return _KINDS.get(option.kind, option.kind)


@app.command()
def show(robot: RobotName, setting: Settings = None, json: Json = False) -> None:
    """Show a robot as tables: geometry, joints, inertia, loops, base."""
    from ..describe.show import tables
    from .sources import open_robot

    found = open_robot(robot, setting)
    if json:
        parts = [
            {"title": t.title, "header": list(t.header), "rows": [list(row) for row in t.rows]}
            for t in tables(found)
        ]
        facts = {"name": found.name, "n": found.n, "parameters": list(found.parameters)}
        print_json({**facts, "source": found.source, "notes": found.notes, "tables": parts})
        return
    print_text(f"{found.name}: {len(found.links)} links, {found.n} joint variables")
    for table in tables(found):
        print_text()
        print_table(table.title, table.header, table.rows)
    if found.parameters:
        print_text(f"\nFree symbols: {' '.join(found.parameters)}")


@app.command()
def check(
    robot: Annotated[list[str], typer.Argument(metavar="ROBOT...", help="Names, files, or -.")],
    json: Json = False,
) -> None:
    """Report every fault of a description with file, line and link; exit 1 when one is an error."""
    from dataclasses import asdict

    from .sources import read_robot

    found, failed = [], False
    for source in robot:
        description, faults = read_robot(source)
        found += [(source, fault) for fault in faults]
        failed |= description is None or any(fault.severity == "error" for fault in faults)
        if not json:
            for fault in faults:
                print_text(str(fault if fault.file else f"{source}: {fault}"))
            if not faults:
                print_text(f"{source}: no faults")
    if json:
        print_json([{"robot": source, **asdict(fault)} for source, fault in found])
    if failed:
        raise typer.Exit(1)


@app.command()
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A bundled name, a file, or -.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help=".toml .par .urdf, or - with --to.")],
    setting: Settings = None,
    to: Annotated[
        str,
        typer.Option(metavar="FORMAT", help="toml, par, symoro+ (its .par), urdf; else by OUT."),
    ] = "",
    convention: Annotated[
        str, typer.Option(metavar="NAME", help="IN is a DH table: standard, craig or khalil.")
    ] = "",
    fixed: Annotated[str, typer.Option(help="Fixed joints of a URDF file: merge or keep.")] = "",
    drop: Annotated[bool, typer.Option("--drop", help="Leave out what URDF cannot hold.")] = False,
) -> None:
    """Convert a description; the extensions tell the formats."""
    from pathlib import Path

    from ..describe.files import dumps
    from ..describe.urdf_write import write_urdf
    from .sources import open_robot

    form = (to or Path(target).suffix.removeprefix(".")).lower()
    if target == "-" and not to:
        raise typer.BadParameter("name the format of stdout, as in --to toml", param_hint="OUT")
    robot = open_robot(source, setting, convention=convention, fixed=fixed)
    write(target, write_urdf(robot, drop=True) if drop and form == "urdf" else dumps(robot, form))


ModelNames = Annotated[
    list[str], typer.Argument(metavar="MODEL", help="Of `cardan models`; several with --package.")
]
PackageKind = Annotated[
    str, typer.Option(metavar="KIND", help="A folder instead: c, cpp, matlab, python, ros2, fmu.")
]
Target = Annotated[
    str, typer.Option("-o", "--output", metavar="FILE", help="Or -. With --package: the folder.")
]


@app.command(cls=ModelCommand)
def generate(
    ctx: typer.Context,
    robot: RobotName,
    model: ModelNames,
    to: Annotated[
        str, typer.Option(metavar="LANGUAGE", help="Language of the text; c by default.")
    ] = "",
    package: PackageKind = "",
    output: Target = "-",
    function: Annotated[str, typer.Option(metavar="NAME", help="Name of the function.")] = "",
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "",
    arguments: Annotated[str, typer.Option(help="array, or struct in C and C++.")] = "",
    split: Annotated[
        bool, typer.Option("--split", help="Two functions: setup of the parameters, and loop.")
    ] = False,
    chunk: Annotated[
        int | None, typer.Option(metavar="N", help="Statements per function; 0: never cut.")
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the package.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the package.")] = False,
    setting: Settings = None,
    tree: CutLoops = False,
) -> None:
    """Print a model of a robot in a language, or write a package of models.

    Options of the models are given as --name value: `cardan models MODEL` lists them."""
    from .sources import open_robot

    printing = {
        "to": to, "function": function, "dtype": dtype, "arguments": arguments, "split": split,
        "chunk": chunk,
    }  # fmt: skip
    given: dict[str, Any] = {
        key: value for key, value in printing.items() if value or type(value) is int
    }
    if not package and (len(model) > 1 or name or force):
        words = " ".join(
            [*model[1:], *(["--name"] if name else []), *(["--force"] if force else [])]
        )
        raise typer.BadParameter(f"{words}: for --package KIND only")
    if package and (given or output == "-"):
        why = f"leave --{next(iter(given))} out" if given else "name its folder with -o DIR"
        raise typer.BadParameter(f"a package: {why}", param_hint="--package")
    options, found = values_of(ctx, *model), open_robot(robot, setting, tree=tree)
    if package:
        _package(found, model, package, output, name=name, force=force, **options)
    else:
        write(output, _text(found, model[0], options, given))


def _text(robot: Robot, model: str, options: dict[str, Any], printing: dict[str, str]) -> str:
    """A model in a language, or as it is if it is no program."""
    from ..catalogue import model as derive

    found: Any = derive(robot, model, **options)
    if hasattr(found, "emit"):
        return str(found.emit(printing.pop("to", "c"), **printing))
    if "to" in printing:
        raise ModelError(f"'{model}' has no source text: leave --to out to print it as it is")
    return f"{found}\n"


def _package(robot: Robot, models: list[str], kind: str, folder: str, **options: Any) -> None:
    from ..package import write_package

    with console(stderr=True).status(f"writing the package {folder}"):
        found = write_package(robot, models, kind, folder, **options)
    print_text(f"{found.folder}: {kind} package '{found.name}' of {', '.join(found.models)}")
    for note in found.notes:
        print_text(f"  {note}")


@app.command()
def count(
    robot: Annotated[list[str], typer.Argument(metavar="ROBOT...", help="Names, files, or -.")],
    setting: Settings = None,
    tree: CutLoops = False,
    bare: Annotated[
        bool, typer.Option("--bare", help="Leave out friction and external wrenches.")
    ] = False,
    json: Json = False,
) -> None:
    """Count the operations of every model of a robot, beside published figures."""
    from . import counting, sources

    opened = [(name, sources.open_robot(name, setting, tree=tree)) for name in robot]
    rows: list[counting.Row] = []
    with console(stderr=True).status("counting") as status:
        for name, found in opened:
            for row in counting.count(
                name, sources.bare(found) if bare else found, compare=not setting
            ):
                rows.append(row)
                status.update(f"counting {name}: {row.model} done")
    if json:
        print_json([counting.as_dict(row) for row in rows])
        return
    print_table("", counting.HEADER, map(counting.as_cells, rows))
    for line in counting.footnotes(rows):
        print_text(line)


def main() -> None:
    """The entry point."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = lambda text, *_, **__: message(f"cardan: {text}")
    app(prog_name="cardan")
