"""The command that plans motions: trajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from . import completion
from .arguments import Degrees, Json, RobotName, Settings, Surroundings, numbers
from .motion import (
    End,
    Lasting,
    Picture,
    Start,
    Step,
    TableFile,
    moved,
    picture,
    short,
    stem,
    unasked,
    writable,
)  # fmt: skip
from .output import message, print_json, print_table
from .sources import open_robot

if TYPE_CHECKING:
    import numpy as np

    from ...describe.robot import Robot
    from ...motion.paths import Path
    from ...motion.trajectory import Trajectory

_BETWEEN = 1e-4  # by which a fastest motion may exceed a limit between the points of its grid
Limit = Annotated[str, typer.Option(metavar="X,X,..", help="One for all joints, or one for each.")]


def trajectory(
    robot: RobotName,
    first: Start = "",
    last: End = "",
    via: Annotated[
        list[str] | None,
        typer.Option(metavar="Q", help="A point between --start and --end. Repeatable."),
    ] = None,
    waypoints: Annotated[
        str, typer.Option(metavar="FILE", help="Points of the joints: columns q1 .. qn.")
    ] = "",
    line: Annotated[
        str,
        typer.Option(
            metavar="POSE", help="The tool goes straight to x,y,z or x,y,z,roll,pitch,yaw."
        ),
    ] = "",
    circle: Annotated[
        str, typer.Option(metavar="X,Y,Z", help="The tool goes about this centre.")
    ] = "",
    normal: Annotated[str, typer.Option(metavar="X,Y,Z", help="Axis of the circle.")] = "0,0,1",
    angle: Annotated[str, typer.Option(metavar="RAD", help="Of the circle.")] = "2*pi",
    poses: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="The tool goes through x, y, z(, roll, pitch, yaw): columns."
        ),
    ] = "",
    frame: Annotated[str, typer.Option(help="The tool; default the end effector.")] = "",
    duration: Lasting = None,
    profile: Annotated[
        str,
        typer.Option(
            help="Of time: cubic, quintic, septic, bang-bang, trapezoidal, s-curve, time-optimal.",
            autocompletion=completion.profiles,
        ),
    ] = "quintic",
    velocity: Limit = "",
    acceleration: Limit = "",
    torque_limit: Limit = "",
    around: Surroundings = "",
    degrees: Degrees = False,
    dt: Step = 1e-3,
    output: TableFile = "",
    plot: Picture = "",
    setting: Settings = None,
    json: Json = False,
) -> None:
    """A motion through points, or of the tool along a path; as fast as limits allow."""
    from ...motion.collision import read_surroundings
    from ...motion.plan import trajectory as planned

    writable(output, plot)
    described = open_robot(robot, setting)
    ways = {
        "--end": last,
        "--waypoints": waypoints,
        "--line": line,
        "--circle": circle,
        "--poses": poses,
    }
    if sum(map(bool, ways.values())) != 1:
        raise typer.BadParameter(f"give one of {', '.join(ways)}", param_hint="Motion")
    start = moved(described, first, degrees, "--start") if first else None
    to: Any
    if last:
        to = moved(described, last, degrees, "--end")
        if via:
            to = [*(moved(described, text, degrees, "--via") for text in via), to]
            start = _home(described) if start is None else start
    elif waypoints:
        to = _table(waypoints, [f"q{j}" for j in range(1, described.n + 1)])
    else:
        to = _path(described, start, line, circle, normal, angle, poses, frame)
    limits = {"velocity": velocity, "acceleration": acceleration, "torque": torque_limit}
    motion = planned(
        described, to, duration, start=start, profile=profile, frame=frame or None, dt=dt,
        clearance=read_surroundings(described, around) if around else None,
        **{key: _limit(key, text) for key, text in limits.items()},
    )  # fmt: skip
    if output:
        motion.save(output)
    _report(described, motion, json)
    shown = described if motion.n == described.n else None
    picture(
        lambda: motion.plot(shown), plot, unasked(f"{stem(described.name)}-trajectory.png", json)
    )


def _home(robot: Robot) -> np.ndarray:
    from ...motion.trajectory import at_home

    return at_home(robot)


def _limit(key: str, text: str) -> Any:
    values = numbers(text, f"--{key}") if text else None
    return values[0] if values is not None and len(values) == 1 else values


def _table(path: str, columns: list[str]) -> Any:
    import numpy as np

    from ...motion.tables import read_table

    table = read_table(path)
    missing = [name for name in columns if name not in table]
    if missing:
        raise InputError(
            f"{path}: there is no column '{missing[0]}'; expected {', '.join(columns)}"
        )
    return np.stack([table[name] for name in columns], axis=1)


def _path(
    robot: Robot, start: Any, line: str, circle: str, normal: str, angle: str, poses: str,
    frame: str,
) -> Path:  # fmt: skip
    """The path of the tool that the options describe, from where the robot is."""
    import numpy as np

    from ...describe.frames import placement_of
    from ...motion import paths
    from ...motion.coordinates import coordinates
    from ...motion.derived import compiled
    from ...motion.tables import read_table

    if poses:
        columns = ["x", "y", "z"]
        if "roll" in read_table(poses):
            columns += ["roll", "pitch", "yaw"]
        rows = _table(poses, columns)
        if len(columns) == 6:
            return paths.through([placement_of(row[:3], row[3:]) for row in rows], 1.0)
    q = coordinates(robot).first("--start", _home(robot) if start is None else start)
    here = np.asarray(compiled(robot, "transform", **({"frame": frame} if frame else {}))(q=q))
    if poses:
        way = np.tile(here, (len(rows), 1, 1))
        way[:, :3, 3] = rows
        return paths.through(way, 1.0)
    if circle:
        centre, axis = numbers(circle, "--circle"), numbers(normal, "--normal")
        return paths.circle(here, centre, 1.0, normal=axis, angle=numbers(angle, "--angle")[0])
    values = numbers(line, "--line")
    if len(values) not in (3, 6):
        raise InputError(f"--line {line}: expected x,y,z or x,y,z,roll,pitch,yaw")
    end = here.copy()
    if len(values) == 6:
        end = placement_of(values[:3], values[3:])
    end[:3, 3] = values[:3]
    return paths.line(here, end, 1.0)


def _report(robot: Robot, motion: Trajectory, json: bool) -> None:
    """Duration, peaks, and every limit of the description that is exceeded."""
    import numpy as np

    from ...motion.joints import driven, names, units
    from ...motion.trajectory import violations

    over = violations(motion, robot, tolerance=_BETWEEN)
    columns = driven(robot) if motion.n != robot.n else np.arange(robot.n)
    rows = [
        {
            "joint": names(robot)[k], "unit": units(robot)[k].position,
            "start": float(motion.q[0, j]), "end": float(motion.q[-1, j]),
            "fastest": float(np.abs(motion.qd[:, j]).max()),
            "largest acceleration": float(np.abs(motion.qdd[:, j]).max()),
        }
        for j, k in enumerate(columns)
    ]  # fmt: skip
    for fault in over:
        message(f"cardan: {fault}")
    if json:
        print_json({
            "motion": motion.name, "duration": motion.duration, "joints": rows,
            "violations": [vars(fault) for fault in over],
        })  # fmt: skip
        return
    header = list(rows[0])
    title = f"{robot.name}: {motion.name}, {motion.duration:.6g} s"
    print_table(title, header, [[short(row[key]) for key in header] for row in rows])
