"""The command that compares Cardan with its peers: bench."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import Json, Settings
from .output import console, print_json, print_table, print_text
from .sources import open_robot

_ROBOTS = ("puma560-numeric", "iiwa14", "panda", "humanoid")


def bench(
    robot: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROBOT...]", help=f"Numeric robots; default {' '.join(_ROBOTS)}."),
    ] = None,
    peer: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this peer. Repeatable.")
    ] = None,
    states: Annotated[int, typer.Option(metavar="N", help="States of the batches.")] = 100_000,
    rounds: Annotated[int, typer.Option(metavar="N", help="Rounds; the fastest counts.")] = 9,
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FILE", help="Write the figures as JSON."),
    ] = "",
    plot: Annotated[
        str, typer.Option(metavar="FILE", help="Draw the times: .png, .svg or .pdf.")
    ] = "",
    setting: Settings = None,
    json: Json = False,
) -> None:
    """Measure Cardan and every installed peer on the same robots and states, in one run."""
    from ...bench import bench as compare
    from ...bench.humanoid import humanoid
    from ...bench.report import HEADER
    from ...motion.plots import picture_format

    if plot:
        picture_format(plot)
    robots = [
        humanoid() if name == "humanoid" else open_robot(name, setting) for name in robot or _ROBOTS
    ]
    with console(stderr=True).status("measuring") as status:
        report = compare(robots, peers=peer, states=states, rounds=rounds, say=status.update)
    if json:
        print_json(report.as_dict())
    else:
        print_table("", HEADER, report.table())
        print_text()
        for line in report.footnotes():
            print_text(line)
    if output:  # last: a path that cannot be written must not cost what was measured
        report.save(output)
    if plot:
        report.picture(plot)
