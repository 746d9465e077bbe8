"""Commands about the Jacobian: singularities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import InputError
from .arguments import Json, RobotName, Settings
from .motion import Picture, picture, stem, unasked, writable
from .output import print_json, print_table, write
from .sources import open_robot
from .workspace import plane_of

if TYPE_CHECKING:
    from ...describe.robot import Robot


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
    section: Annotated[
        str,
        typer.Option(metavar="z=VALUE", help="Map types 1 and 2 over this plane of the workspace."),
    ] = "",
    samples: Annotated[int, typer.Option(help="How many configurations.")] = 40_000,
    plot: Picture = "",
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Or -.")] = "-",
    json: Json = False,
    setting: Settings = None,
) -> None:
    """Singular configurations: of an arm its determinant in factors; of any robot a map."""
    from dataclasses import asdict

    from ...build.singularities.listing import singularities as listed

    point = tuple(part.strip() for part in tool.split(","))
    described = open_robot(robot, setting)
    if section:
        mapped(described, frame, section, samples, output, plot, json)
        return
    if described.constrained:
        raise InputError(
            f"'{described.name}' has closed loops: its singularities are of two types, which are"
            " mapped over a plane of the workspace",
            remedy="give --section, such as --section y=0",
        )
    listing = listed(described, frame=frame or None, rows=rows or None, tool=point)
    if json:
        print_json({
            "robot": listing.robot, "frame": listing.frame, "rows": listing.rows,
            "determinant": listing.determinant, "factors": [asdict(x) for x in listing.factors],
        })  # fmt: skip
        return
    write(output, listing.equations(to))


def mapped(
    robot: Robot, frame: str, section: str, samples: int, output: str, plot: str, json: bool
) -> None:
    """How far a section of the workspace is from singularities of both types."""
    import numpy as np

    from ...motion.workspace import workspace

    writable("" if output == "-" else output, plot)
    space = workspace(robot, samples, frame=frame or None, section=plane_of(section))
    kinds = ("type-1", "type-2") if robot.constrained else ("type-1",)
    values = {kind: space.measure(kind) for kind in kinds}
    if output != "-":
        space.save(output, **values)
    rows = []
    for kind, distance in values.items():
        at = int(np.argmin(distance))
        rows.append({
            "kind": kind.replace("-", " "), "least": float(distance[at]),
            "greatest": float(distance.max()), "at": space.points[at].tolist(),
        })  # fmt: skip
    regions = np.bincount(space.aspects)[1:]
    whole = int((regions > 0.01 * len(space.q)).sum())
    if json:
        print_json({"points": len(space.q), "types": rows, "regions": whole})
    else:
        shown = [
            [row["kind"], f"{row['least']:.3g}", f"{row['greatest']:.3g}",
             ", ".join(f"{x:.4g}" for x in row["at"])]
            for row in rows
        ]  # fmt: skip
        title = f"{robot.name}: 1/condition over {len(space.q)} points, {whole} regions of one sign"
        print_table(title, ("singularities", "least", "greatest", "least at x, y, z"), shown)
    for kind in kinds:
        name = plot if plot in ("", "none") or len(kinds) == 1 else _numbered(plot, kind)
        default = f"{stem(robot.name)}-{kind}.png"
        picture(lambda kind=kind: space.plot(measure=kind), name, unasked(default, json))


def _numbered(path: str, kind: str) -> str:
    name, dot, suffix = path.rpartition(".")
    return f"{name}-{kind}{dot}{suffix}"
