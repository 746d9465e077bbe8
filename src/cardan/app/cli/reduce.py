"""Commands about models that are nearly right and cost less: reduce, tabulate."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import UnknownNameError
from . import completion
from .arguments import Degrees, Json, Printed, RobotName, Settings, numbers
from .motion import End, Lasting, Profile, Start, TrajectoryFile, motion_of
from .output import print_json, print_table, write
from .sources import open_robot

Tolerance = Annotated[float, typer.Option(help="A fraction of each output's largest value.")]


def reduce(
    robot: RobotName,
    model: Annotated[
        str,
        typer.Option(metavar="MODEL", help="Of q, qd and qdd.", autocompletion=completion.models),
    ] = "inverse-dynamics",
    first: Start = "",
    last: End = "",
    duration: Lasting = None,
    profile: Profile = "quintic",
    degrees: Degrees = False,
    trajectory: TrajectoryFile = "",
    tolerance: Tolerance = 0.01,
    to: Annotated[
        str,
        typer.Option(
            metavar="LANGUAGE", help="Print the reduced model.", autocompletion=completion.languages
        ),
    ] = "",
    output: Printed = "-",
    json: Json = False,
    setting: Settings = None,
) -> None:
    """Leave out the terms of a model that hardly count on a motion, and measure the error."""
    from ...catalogue import model as derived
    from ...control.reduced import reduce_model

    described = open_robot(robot, setting)
    motion = motion_of(described, first, last, duration, profile, degrees, trajectory, 1e-3)
    reduction = reduce_model(derived(described, model), motion, tolerance)
    if to:
        write(output, reduction.program.emit(to))
        return
    facts = {
        "robot": described.name, "model": model, "tolerance": tolerance,
        "terms dropped": len(reduction.dropped), "operations before": reduction.before.total,
        "operations after": reduction.after.total, "saved": reduction.saved,
        "largest error": reduction.error,
    }  # fmt: skip
    if json:
        print_json(facts)
        return
    rows = [(key, f"{x:.4g}" if isinstance(x, float) else str(x)) for key, x in facts.items()]
    print_table(f"{described.name}: {model}, reduced", ("", ""), rows[2:])


def tabulate(
    robot: RobotName,
    points: Annotated[
        str, typer.Option(metavar="N,...", help="Values per joint of each table tried.")
    ] = "8,16,32",
    degree: Annotated[int, typer.Option(help="Of the interpolation: 1 or 3.")] = 3,
    tolerance: Tolerance = 0.01,
    to: Annotated[
        str,
        typer.Option(metavar="LANGUAGE", help="c: print the model with the last of the tables."),
    ] = "",
    output: Printed = "-",
    json: Json = False,
    setting: Settings = None,
) -> None:
    """Inverse dynamics from tables of its coefficients: memory, operations and error, beside the
    program itself and what is left of it within a tolerance."""
    from ...control.table_code import side_by_side, table_code
    from ...control.tabulated import tabulate

    described = open_robot(robot, setting)
    sizes = [int(x) for x in numbers(points, "--points")]
    if to:
        if to != "c":
            raise UnknownNameError.of("language of tables", to, ("c",))
        write(output, table_code(tabulate(described, sizes[-1], degree=degree)))
        return
    rows = side_by_side(described, sizes, degree=degree, tolerance=tolerance)
    if json:
        print_json(rows)
        return
    table = [
        (row["model"], f"{row['bytes'] / 1000:.4g}", str(row["operations"]), f"{row['error']:.2g}")
        for row in rows
    ]
    title = f"{described.name}: inverse dynamics, and tables of A, C1, C2, Q"
    print_table(title, ("model", "kB", "operations", "largest relative error"), table)
