"""Commands about where a robot can be: workspace."""

from __future__ import annotations

from typing import Annotated

import typer

from .arguments import Json, RobotName, Settings, numbers
from .motion import Picture, picture, stem, unasked, writable
from .output import print_json, print_table

__all__ = ["workspace"]


def workspace(
    robot: RobotName,
    samples: Annotated[int, typer.Option(help="How many configurations.")] = 100_000,
    frame: Annotated[str, typer.Option(help="Default: the end effector.")] = "",
    assemblies: Annotated[
        str, typer.Option(help="Of closed loops: home, the one it stands in, or all.")
    ] = "home",
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="Q=LEAST,MOST", help="Of a joint variable; may be repeated."),
    ] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The points: .csv or .parquet.")
    ] = "",
    plot: Picture = "",
    threads: Annotated[int, typer.Option(help="Of the processor; 0: all.")] = 0,
    json: Json = False,
    setting: Settings = None,
) -> None:
    """Where a frame of a robot can be: reach, volume, holes, manipulability."""
    from ...errors import InputError
    from ...motion.workspace import workspace as reached
    from .sources import open_robot

    writable(output, plot)
    described = open_robot(robot, setting)
    limits = {}
    for text in limit or ():
        name, _, values = text.partition("=")
        ends = numbers(values, "--limit")
        if len(ends) != 2:
            raise InputError(f"--limit {text}: expected a joint variable = least, most")
        limits[name.strip()] = (ends[0], ends[1])
    space = reached(
        described, samples, frame=frame or None, assemblies=assemblies, limits=limits,
        threads=threads,
    )  # fmt: skip
    if output:
        space.save(output)
    facts = space.table()
    if json:
        print_json(facts)
    else:
        unit = {1: "m", 2: "m2", 3: "m3"}[facts["dimensions"]]
        rows = [
            ("frame", facts["frame"]),
            ("distance from the base, m", f"{facts['nearest']:.4g} to {facts['farthest']:.4g}"),
            *((f"{axis}, m", f"{low:.4g} to {high:.4g}")
              for axis, low, high in zip("xyz", facts["lowest"], facts["highest"], strict=True)),
            (f"reached, {unit}", f"{facts['volume']:.4g}"),
            (f"holes, {unit}", f"{facts['holes']:.4g}"),
            ("points per cube", f"{facts['points per cube']:.3g} of {facts['cube']:.3g} m"),
            ("largest manipulability", f"{facts['largest manipulability']:.4g}"),
        ]  # fmt: skip
        title = f"{described.name}: workspace of {facts['points']} configurations"
        print_table(title, ("", ""), rows)
    picture(space.plot, plot, unasked(f"{stem(described.name)}-workspace.png", json))
