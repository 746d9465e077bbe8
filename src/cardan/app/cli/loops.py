"""The command about closed loops and couplings: mobility, equations, assemblies."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .arguments import Json, RobotName, Settings, numbers
from .output import print_json, print_table, print_text

__all__ = ["loops"]

_FLAGS = ("overconstrained",)


def loops(
    robot: RobotName,
    setting: Settings = None,
    at: Annotated[
        str,
        typer.Option(metavar="Q,Q,...", help="Positions of the active joints: list assemblies."),
    ] = "",
    platform: Annotated[
        str, typer.Option(metavar="X,X,...", help="Coordinates of the platform instead.")
    ] = "",
    equations: Annotated[
        bool, typer.Option("--equations", help="Print the equations of every loop.")
    ] = False,
    to: Annotated[
        str,
        typer.Option(metavar="LANGUAGE", help="Code of all assemblies: c, cpp, python, matlab."),
    ] = "",
    legs: Annotated[
        bool, typer.Option("--legs", help="With --to: of the legs, for given platform positions.")
    ] = False,
    json: Json = False,
) -> None:
    """Closed loops and coupled joints: mobility, redundant equations, and all assemblies at given
    positions."""
    from ...catalogue import model
    from .sources import open_robot

    if at and platform:
        raise typer.BadParameter("give --at or --platform, not both", param_hint="--platform")
    if legs and not to:
        raise typer.BadParameter("goes with --to LANGUAGE", param_hint="--legs")
    found = open_robot(robot, setting)
    geometry = model(found, "loop-geometry")
    if to:
        print_text((geometry.legs if legs or platform else geometry).emit(to))
        return
    facts = _facts(geometry)
    if platform:
        geometry = geometry.legs
    names = list(found.variables)
    given = (
        numbers(platform or at, "--platform" if platform else "--at") if platform or at else None
    )
    q = None if given is None else geometry.solve(given)
    if json:
        print_json({
            **facts, "equations": geometry.equations() if equations else None,
            "variables": names, "assemblies": None if q is None else q.tolist(),
            **({} if q is None else _told(q)),
        })  # fmt: skip
        return
    for key, value in facts.items():
        if key not in ("loops", "couplings"):
            shown = {True: "yes", False: "no"}.get(value, value) if key in _FLAGS else value
            print_text(f"{key}: {shown}")
    header = ("loop", "cut joint", "links", "independent", "repeated")
    if facts["loops"]:
        print_table("", header, [tuple(loop.values()) for loop in facts["loops"]])
    if facts["couplings"]:
        follow = [tuple(coupling.values()) for coupling in facts["couplings"]]
        print_table("", ("joint", "follows", "repeated"), follow)
    if equations:
        print_text()
        print_text(geometry.equations())
    if q is not None:
        print_text()
        poses = q.poses if given is not None and not platform else None
        owner = [] if poses is None else [("pose", [str(k + 1) for k in poses.owner])]
        head = ("", *(name for name, _ in owner), *names)
        rows = [
            [str(k), *(column[k - 1] for _, column in owner), *(f"{x:.6f}" for x in row)]
            for k, row in enumerate(q.tolist(), 1)
        ]
        print_table(f"{len(q)} assemblies" if poses is None else str(poses), head, rows)
        if q.note:
            print_text(q.note)


def _told(q: Any) -> dict[str, Any]:
    """What is known of the assemblies."""
    poses = None
    if q.poses is not None:
        poses = [
            {"T": T.tolist(), "arrangements": (rows + 1).tolist()}
            for T, rows in zip(q.poses.T, q.poses.arrangements, strict=True)
        ]
    return {"poses": poses, "complete": q.complete, "note": q.note}


def _facts(geometry: Any) -> dict[str, Any]:
    from ...describe.couplings import formula

    analysis, link = geometry.analysis, geometry.coordinates
    parts = [
        {
            "name": loop.name, "kind": loop.kind, "links": " ".join(map(str, loop.links)),
            "independent": " ".join(keep.rows), "repeated": " ".join(analysis.redundant[loop.name]),
        }
        for loop, keep in zip(link.loops, analysis.chosen, strict=True)
    ]  # fmt: skip
    robot = link.robot
    follow = [
        {
            "joint": link.named((j,)), "follows": str(formula(robot, robot.couplings[j])),
            "repeated": "" if j in analysis.coupled else "yes",
        }
        for j in link.led
    ]  # fmt: skip
    return {
        "mobility": analysis.mobility,
        **({"idle": link.named(analysis.idle)} if analysis.idle else {}),
        "Gruebler": link.gruebler,
        "overconstrained": analysis.overconstrained,
        "active": link.named(link.active),
        "passive": link.named(analysis.following),
        "loops": parts,
        "couplings": follow,
    }
