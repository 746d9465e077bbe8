"""Commands about descriptions: robots, models, show, check, convert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import completion
from .arguments import BaseInertia, Floating, Json, RobotName, RobotNames, Settings
from .options import allowed, default, flag_of, options_of
from .output import WORDS, print_json, print_table, print_text, write
from .sources import open_robot, read_robot

if TYPE_CHECKING:
    from ...catalogue import Entry
    from ...describe.robot import Robot
    from ...errors import Fault

Body = Annotated[
    str, typer.Option(metavar="NAME", help="The robot of an MJCF scene that starts with it.")
]
Trusted = Annotated[
    bool, typer.Option("--trust-includes", help="MJCF and xacro may name files elsewhere.")
]
Arguments = Annotated[
    list[str] | None, typer.Option("--arg", metavar="NAME:=VALUE", help="Argument of a xacro file.")
]


def robots(json: Json = False) -> None:
    """List the bundled robots."""
    from ...describe.bundled import bundled, robots

    rows = []
    for name in robots():
        robot = bundled(name)
        kinds = "".join("RPF"[joint.sigma] for joint in robot.joints)
        rows.append(
            {
                "name": name, "robot": robot.name, "n": robot.n, "joints": kinds,
                "loops": len(robot.loops), "couplings": len(robot.couplings),
                "symbols": len(robot.parameters),
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


def models(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]", help="Show the options of one.", autocompletion=completion.models
        ),
    ] = "",
    json: Json = False,
) -> None:
    """List the models that can be generated, or the options of one."""
    from ...catalogue import catalogue

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
            [(flag_of(key), allowed(o), default(o), o.summary) for key, o in table.items()],
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


def show(
    robot: RobotName, setting: Settings = None, body: Body = "", arg: Arguments = None,
    trust_includes: Trusted = False,
    frames: Annotated[
        bool, typer.Option("--frames", help="Places in q, frames and conventions instead.")
    ] = False,
    json: Json = False,
) -> None:  # fmt: skip
    """Show a robot as tables: geometry, joints, inertia, loops, base; of a scene what is in it."""
    from ...describe.files import scene

    things = [] if body else scene(robot, trust_includes)
    if things and not json:
        print_table("Scene", ("kind", "name", "what"), things)
        if sum(kind == "robot" for kind, _, _ in things) > 1:
            print_text(f"\ncardan show {robot} --body NAME shows one of the robots")
            return
        print_text()
    described = open_robot(robot, setting, body=body, arguments=arg, trust_includes=trust_includes)
    listed = _tables(described, robot, frames, arg, trust_includes)
    if json:
        parts = [
            {"title": t.title, "header": list(t.header), "rows": [list(row) for row in t.rows]}
            for t in listed
        ]
        facts: dict[str, Any] = {"name": described.name, "n": described.n}
        facts["parameters"] = list(described.parameters)
        facts |= {"source": described.source, "notes": described.notes, "tables": parts}
        print_json(facts | ({"scene": things} if things else {}))
        return
    coupled = (
        f", {len(described.couplings)} of them coupled to others" if described.couplings else ""
    )
    print_text(
        f"{described.name}: {len(described.links)} links, {described.n} joint variables{coupled}"
    )
    for table in listed:
        print_text()
        print_table(table.title, table.header, table.rows)
    if described.parameters:
        print_text(f"\nFree symbols: {' '.join(described.parameters)}")


def _tables(
    robot: Robot, source: str, frames: bool, arguments: list[str] | None, trust_includes: bool
) -> list[Any]:
    """Those of the robot, or of its frames; of a URDF with Pinocchio's places in q."""
    from pathlib import Path

    from ...describe.show import conventions, tables

    if not frames:
        return tables(robot)
    other: tuple[str, ...] = ()
    if Path(source).suffix.lower() in (".urdf", ".xacro"):
        same, _ = read_robot(
            source, arguments=arguments, trust_includes=trust_includes, order="pinocchio"
        )
        other = tuple(joint.name for joint in same.joints if joint.sigma != 2) if same else ()
    return conventions(robot, other)


def check(
    robot: RobotNames,
    body: Body = "",
    arg: Arguments = None,
    trust_includes: Trusted = False,
    json: Json = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Every place of what is summed up in one line.")
    ] = False,
) -> None:
    """Report every fault of a description with file, line and link; exit 1 when one is an error."""
    from dataclasses import asdict

    listed, failed = [], False
    for source in robot:
        description, faults = read_robot(
            source, body=body, arguments=arg, trust_includes=trust_includes
        )
        faults = [*faults, *_loop_faults(description, source)]
        listed += [(source, fault) for fault in faults]
        failed |= description is None or any(fault.severity == "error" for fault in faults)
        if not json:
            for fault in faults:
                text = fault.told(WORDS)
                print_text(text if fault.file else f"{source}: {text}")
                for place in fault.details if verbose else ():
                    print_text(f"    {place}")
            if not faults:
                print_text(f"{source}: no faults")
    if json:
        print_json([{"robot": source, **_facts(asdict(fault))} for source, fault in listed])
    if failed:
        raise typer.Exit(1)


def _facts(fault: dict[str, Any]) -> dict[str, Any]:
    """A fault for programs; details and a remedy only where there are some."""
    rare = ("details", "remedy", "action")
    some = {key: value for key, value in fault.items() if key not in rare}
    return some | {key: fault[key] for key in ("details", "remedy") if fault[key]}


def _loop_faults(robot: Robot | None, source: str) -> list[Fault]:
    """Loops that cannot close, or that the active joints do not drive."""
    from ...catalogue import model
    from ...errors import Fault, ModelError
    from ...loops.analysis import analyse, independent

    if robot is None or not robot.constrained:
        return []
    try:
        if robot.wheels:
            analyse(independent(robot)).require_driven()
        else:
            model(robot, "loop-geometry")
    except ModelError as error:
        return [Fault(str(error), source)]
    return []


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN", help="A bundled name, a file, or -.", autocompletion=completion.robots
        ),
    ],
    target: Annotated[str, typer.Argument(metavar="OUT", help=".toml .par .urdf .xml, or -.")],
    setting: Settings = None,
    to: Annotated[
        str,
        typer.Option(metavar="FORMAT", help="toml, par, symoro+, urdf, xml; else by OUT."),
    ] = "",
    convention: Annotated[
        str, typer.Option(metavar="NAME", help="IN is a DH table: standard, craig or khalil.")
    ] = "",
    fixed: Annotated[str, typer.Option(help="Fixed joints of a URDF file: merge or keep.")] = "",
    mimic: Annotated[
        bool, typer.Option("--mimic", help="Joints of a URDF file follow those they mimic.")
    ] = False,
    body: Body = "",
    arg: Arguments = None,
    trust_includes: Trusted = False,
    drop: Annotated[bool, typer.Option("--drop", help="Leave out what URDF cannot hold.")] = False,
    floating: Floating = False,
    base_inertia: BaseInertia = "",
) -> None:
    """Convert a description; the extensions tell the formats."""
    from pathlib import Path

    from ...describe.files import checked, dumps
    from ...describe.urdf.write import write_urdf

    form = (to or Path(target).suffix.removeprefix(".")).lower()
    if target == "-" and not to:
        raise typer.BadParameter("name the format of stdout, as in --to toml", param_hint="OUT")
    robot = open_robot(
        source, setting, convention=convention, fixed=fixed, mimic=mimic, body=body,
        trust_includes=trust_includes, arguments=arg, floating=floating,
        base_inertia=base_inertia,
    )  # fmt: skip
    some = drop and form == "urdf"
    text = write_urdf(robot, drop=True) if some else dumps(robot, form)
    write(target, checked(robot, text, form, partly=some))
