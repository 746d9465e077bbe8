"""`cardan sheet`: a robot and its models on a few pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .arguments import CutLoops, RobotName, Settings
from .output import console, print_text
from .sources import open_robot


def sheet(
    robot: RobotName,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Written as .html .pdf .tex .md")
    ],
    setting: Settings = None,
    tree: CutLoops = False,
) -> None:
    """Write a robot and its models on a few pages: picture, tables, equations."""
    from ...sheets.sheet import sheet as written

    described = open_robot(robot, setting, tree=tree)
    words = [robot, *(f"--set {x}" for x in setting or ()), *(["--tree"] if tree else [])]
    with console(stderr=True).status(f"writing {output}") as status:
        written(described, Path(output), source=" ".join(words), begin=status.update)
    print_text(output)
