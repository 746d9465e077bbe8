"""Commands about the Jacobian: singularities."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import Json, RobotName, Settings
from .output import print_json, write

__all__ = ["singularities"]


def singularities(
    robot: RobotName,
    frame: Annotated[str, typer.Option(help="Default: the end effector.")] = "",
    rows: Annotated[
        str, typer.Option(metavar="ROWS", help="Of the task, such as 'x y rz'. Default: its own.")
    ] = "",
    tool: Annotated[
        str, typer.Option(metavar="X,Y,Z", help="The point of the frame, such as L2,0,0.")
    ] = "0,0,0",
    to: Annotated[str, typer.Option(metavar="LANGUAGE", help="text or latex.")] = "text",
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Or -.")] = "-",
    json: Json = False,
    setting: Settings = None,
) -> None:
    """Singular configurations of an arm: its determinant in factors, and what each means."""
    from dataclasses import asdict

    from ...build.singularities.listing import singularities as listed
    from .sources import open_robot

    point = tuple(part.strip() for part in tool.split(","))
    described = open_robot(robot, setting)
    found = listed(described, frame=frame or None, rows=rows or None, tool=point)
    if json:
        print_json({
            "robot": found.robot, "frame": found.frame, "rows": found.rows,
            "determinant": found.determinant, "factors": [asdict(x) for x in found.factors],
        })  # fmt: skip
        return
    write(output, found.equations(to))
