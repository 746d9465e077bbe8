"""Commands about where a robot can be: workspace."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ...errors import InputError
from . import completion
from .arguments import Json, RobotName, Settings, numbers
from .motion import Picture, picture, stem, unasked, writable
from .output import print_json, print_table
from .sources import open_robot

_MEASURES = (
    "manipulability",
    "dexterity",
    "type-1",
    "type-2",
    "speed",
    "force",
    "stiffness",
    "torque",
)


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
    section: Annotated[
        str, typer.Option(metavar="z=VALUE", help="A plane of it, such as z=-0.6 or y=0.")
    ] = "",
    map_: Annotated[
        str,
        typer.Option(
            "--map",
            metavar="MEASURE",
            autocompletion=completion.names(*_MEASURES),
            help=f"What the picture shows: {', '.join(_MEASURES)}.",
        ),
    ] = "manipulability",
    stiffness: Annotated[
        str, typer.Option(metavar="K,...", help="Of the drives, for its map: N m/rad or N/m.")
    ] = "",
    tool_force: Annotated[
        str, typer.Option(metavar="X,Y,Z", help="On the frame, for the map of torques: N.")
    ] = "0,0,0",
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The points: .csv or .parquet.")
    ] = "",
    plot: Picture = "",
    threads: Annotated[int, typer.Option(help="Of the processor; 0: all.")] = 0,
    json: Json = False,
    setting: Settings = None,
) -> None:
    """Where a frame of a robot can be, and how well it moves, holds and resists there."""
    from ...motion.workspace import workspace as reached

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
        threads=threads, section=plane_of(section),
    )  # fmt: skip
    options: dict[str, Any] = {"force": numbers(tool_force, "--tool-force")}
    if stiffness:
        springs = numbers(stiffness, "--stiffness")
        options["joints"] = springs[0] if len(springs) == 1 else springs
    shown = space.measure(map_, **options)
    if output:
        space.save(output, **({} if map_ == "manipulability" else {map_: shown}))
    facts = space.table()
    facts |= {"measure": map_, "least": float(shown.min()), "greatest": float(shown.max())}
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
            (map_.replace("-", " "), f"{facts['least']:.4g} to {facts['greatest']:.4g}"),
        ]  # fmt: skip
        title = f"{described.name}: workspace of {facts['points']} configurations"
        print_table(title, ("", ""), rows)
    picture(
        lambda: space.plot(measure=map_, **options),
        plot,
        unasked(f"{stem(described.name)}-workspace.png", json),
    )


def plane_of(text: str) -> dict[str, float] | None:
    """The coordinate that a section holds fast, or nothing."""
    if not text:
        return None
    name, sign, value = text.partition("=")
    if not sign:
        raise InputError(f"--section {text}: expected a coordinate = its value, such as z=0.3")
    return {name.strip(): numbers(value, "--section")[0]}
