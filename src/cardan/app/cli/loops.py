"""The command about closed loops and couplings: mobility, equations, assemblies."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import completion
from .arguments import Degrees, Json, Printed, RobotName, Settings, numbers, refuse_beside
from .motion import moved
from .output import print_json, print_table, print_text, write
from .sources import open_robot

_FLAGS = ("overconstrained",)
_FORMS = ("text", "latex")  # equations; every other language is code
_MOST_SHOWN = 64  # assemblies
_LANGUAGES = ("c", "cpp", "python", "matlab", "rust")


def loops(
    ctx: typer.Context,
    robot: RobotName,
    setting: Settings = None,
    q: Annotated[
        str,
        typer.Option(
            "--q", metavar="Q", help="Positions of the active joints: list all assemblies."
        ),
    ] = "",
    degrees: Degrees = False,
    platform: Annotated[
        str, typer.Option(metavar="X,X,...", help="Coordinates of the platform instead.")
    ] = "",
    to: Annotated[
        str,
        typer.Option(
            metavar="LANGUAGE",
            autocompletion=completion.names(*_FORMS, *_LANGUAGES),
            help="Print the equations (text, latex), or code of all assemblies: c, cpp, python,"
            " matlab, rust.",
        ),
    ] = "",
    output: Printed = "-",
    known: Annotated[
        str,
        typer.Option(metavar="JOINTS", help="These joints are given, in place of the active ones."),
    ] = "",
    legs: Annotated[
        bool, typer.Option("--legs", help="With --to: of the legs, for given platform positions.")
    ] = False,
    json: Json = False,
) -> None:
    """Closed loops and coupled joints: mobility, redundant equations, and all assemblies at given
    positions."""
    from ...catalogue import model

    if q and platform:
        raise typer.BadParameter("give --q or --platform, not both", param_hint="--platform")
    if legs and not to:
        raise typer.BadParameter("goes with --to LANGUAGE", param_hint="--legs")
    if to and to not in _FORMS:
        refuse_beside(ctx, ("q", "degrees", "platform", "json"), f"--to {to}")
    described = open_robot(robot, setting)
    geometry = model(described, "loop-geometry", **({"known": known} if known else {}))
    if to and to not in _FORMS:
        write(output, (geometry.legs if legs else geometry).emit(to))
        return
    facts = _facts(geometry)
    if platform:
        geometry = geometry.legs
    names = list(described.variables)
    given: Any = numbers(platform, "--platform") if platform else None
    if q:
        given = moved(geometry.robot, q, degrees, "--q")
    every = None if given is None else geometry.solve(given)
    equations = geometry.equations(to) if to else None
    if json:
        print_json({
            **facts, "equations": equations, "variables": names,
            "assemblies": None if every is None else every.tolist(),
            **({} if every is None else _told(every)),
        })  # fmt: skip
        return
    if equations is not None:
        write(output, f"{equations}\n")
    else:
        _print_facts(facts)
    if every is not None:
        print_text()
        _print_assemblies(every, names, every.poses if not platform else None)
        if every.note:
            print_text(every.note)


def _print_assemblies(every: Any, names: list[str], poses: Any) -> None:
    """All assemblies; where the legs have many arrangements, the first one of every pose."""
    if poses is None:
        head, title, rows = ("", *names), f"{len(every)} assemblies", every.tolist()
        marks = [[str(k + 1)] for k in range(len(every))]
    elif len(every) > _MOST_SHOWN:
        head, title = ("pose", "arrangements", *names), str(poses)
        rows = [every[own[0]].tolist() for own in poses.arrangements]
        marks = [[str(k + 1), str(len(own))] for k, own in enumerate(poses.arrangements)]
        title += "; the first of every pose, --json has all"
    else:
        head, title, rows = ("", "pose", *names), str(poses), every.tolist()
        marks = [[str(k + 1), str(own + 1)] for k, own in enumerate(poses.owner)]
    body = [[*mark, *(f"{x:z.6f}" for x in row)] for mark, row in zip(marks, rows, strict=True)]
    print_table(title, head, body)


def _print_facts(facts: dict[str, Any]) -> None:
    """Mobility, then a table of the loops and one of the couplings."""
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
