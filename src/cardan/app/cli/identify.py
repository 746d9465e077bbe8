"""Commands of identification: identify, excite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from .arguments import Json, RobotName, Settings, Surroundings, numbers
from .motion import moved, picture, writable
from .output import console, print_json, print_table, print_text, working
from .sources import open_robot

if TYPE_CHECKING:
    from ...identification import Excitation, Identification

_FLAGS = {"effort": "torque-limit"}  # limits whose option has another name

Logs = Annotated[
    list[str],
    typer.Argument(metavar="LOG...", help="CSV, Parquet, MAT, ROS bag, or a folder of tables."),
]
RecipeFile = Annotated[
    str, typer.Option(metavar="FILE", help="Columns, units, filters, friction (TOML).")
]
Folder = Annotated[
    str, typer.Option("-o", "--output", metavar="DIR", help="Report, parameters, robot files.")
]
Validation = Annotated[
    list[str] | None,
    typer.Option(metavar="LOG", help="A recording that is only predicted. Repeatable."),
]
Loaded = Annotated[
    list[str] | None,
    typer.Option(metavar="LOG", help="A recording with a payload, to be identified. Repeatable."),
]
Numbers = Annotated[
    str | None, typer.Option(metavar="X,X,..", help="Limits of the joints, or one for all.")
]


def identify(
    robot: RobotName,
    log: Logs,
    recipe: RecipeFile = "",
    output: Folder = "",
    validate: Validation = None,
    loaded: Loaded = None,
    hold_out: Annotated[
        float | None,
        typer.Option("--hold-out", metavar="SHARE", help="Hold out the last share of the rows."),
    ] = None,
    base_only: Annotated[
        bool, typer.Option("--base-only", help="Leave out the fit of real bodies.")
    ] = False,
    setting: Settings = None,
    json: Json = False,
) -> None:
    """Identify the dynamic parameters of a robot from recordings.

    Without a recipe: columns t, q1.., tau1.. (and qd1.., qdd1.. if recorded) in SI units."""
    from ...identification import identify as run
    from ...identification import read_recipe

    chosen = read_recipe(recipe or None)
    if hold_out is not None:
        if not 0 <= hold_out < 1:
            raise typer.BadParameter("from 0 to less than 1", param_hint="--hold-out")
        chosen = chosen.changed("fit", split=hold_out)
    found_robot = open_robot(robot, setting)
    with working("identifying") as tell:
        result = run(
            found_robot, list(log), chosen, validation=validate or None, payload=loaded or None,
            consistent=not base_only, progress=tell,
        )  # fmt: skip
        written = result.save(output) if output else []
    if json:
        print_json(result.to_dict())
        return
    _print(result)
    for path in written:
        print_text(str(path))


def _print(result: Identification) -> None:
    """How good it is, then every parameter."""
    errors = [(name, f"{100 * x:.3f}") for name, x in result.errors.items()]
    print_table("", ("relative torque error of the identified robot", "%"), errors)
    print_text()
    roles = list(dict.fromkeys(role for x in result.file_errors.values() for role in x))
    files = [
        (name, *(f"{100 * x[role]:.3f}" if role in x else "-" for role in roles))
        for name, x in result.file_errors.items()
    ]
    if files:
        print_table("", ("relative torque error of the file", *(f"{x}, %" for x in roles)), files)
        print_text()
    rows = [
        (name, f"{x:.6g}", f"{s:.3g}", f"{r:.3g}", word) for name, x, s, r, word in result.table()
    ]
    rows += [
        (name, f"{x:.6g}", "", "", "shape of the friction") for name, x in result.shape.items()
    ]
    head = ("parameter", "value", "sigma", "sigma %", "remark")
    print_table(f"{len(result.names)} parameters of {result.original.name}", head, rows)
    for words in result.diagnosis:
        print_text(f"diagnosis: {words}")
    for note in result.notes:
        print_text(f"note: {note}")


def excite(
    robot: RobotName,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The motion: .csv or .parquet.")
    ] = "",
    recipe: RecipeFile = "",
    period: Annotated[float, typer.Option(help="Seconds.")] = 10.0,
    harmonics: Annotated[int, typer.Option(min=2, max=100, help="Of the Fourier series.")] = 5,
    criterion: Annotated[str, typer.Option(help="condition or determinant.")] = "condition",
    velocity: Numbers = None,
    acceleration: Numbers = None,
    lower: Numbers = None,
    upper: Numbers = None,
    torque_limit: Numbers = None,
    start: Annotated[
        str, typer.Option(metavar="Q", help="Where the motion begins and ends at rest.")
    ] = "",
    floor: Annotated[
        float | None, typer.Option(metavar="Z", help="No frame, tool or sphere goes below, m.")
    ] = None,
    box: Annotated[
        str,
        typer.Option(
            metavar="X,Y,Z,X,Y,Z", help="Low and high corner between which the tool stays, m."
        ),
    ] = "",
    frame: Annotated[str, typer.Option(help="The tool; default the end effector.")] = "",
    around: Surroundings = "",
    rate: Annotated[float, typer.Option(help="Samples per second.")] = 1000.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 0,
    iterations: Annotated[int, typer.Option(min=0, help="Of the search.")] = 200,
    plot: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="The picture (.png .pdf .svg; beside the output), or none."
        ),
    ] = "",
    setting: Settings = None,
    json: Json = False,
) -> None:
    """Design a motion that excites the dynamic parameters, within the limits of the robot."""
    from ...identification import excite as run
    from ...motion.collision import read_surroundings

    writable(output, plot)
    limits = {
        "velocity": velocity, "acceleration": acceleration, "lower": lower, "upper": upper,
        "effort": torque_limit,
    }  # fmt: skip
    vectors = {
        key: numbers(text, f"--{_FLAGS.get(key, key)}")
        for key, text in limits.items()
        if text is not None
    }
    values: dict[str, Any] = {key: x[0] if len(x) == 1 else x for key, x in vectors.items()}
    described = open_robot(robot, setting)
    with console(stderr=True).status("designing") as status:
        result = run(
            described, recipe or None, period=period, harmonics=harmonics,
            criterion=criterion, rate=rate, seed=seed, iterations=iterations,
            start=moved(described, start, False, "--start") if start else None,
            floor=floor, box=_corners(box) if box else None, frame=frame or None,
            clearance=read_surroundings(described, around) if around else None,
            progress=status.update, **values,
        )  # fmt: skip
    if output:
        result.save(output)
    picture(result.plot, plot, "" if json or not output else str(Path(output).with_suffix(".png")))
    if json:
        print_json(result.to_dict())
        return
    _print_motion(result)
    if output:
        print_text(f"{output}: {len(result.motion.t)} samples, {result.period:g} s")


def _corners(text: str) -> list[list[float]]:
    values = numbers(text, "--box")
    if len(values) != 6:
        raise InputError(f"--box {text}: expected x,y,z of the low and of the high corner")
    return [values[:3], values[3:]]


def _print_motion(result: Excitation) -> None:
    from ...motion.joints import driven

    motion = result.whole
    head = ["joint", "from", "to", "velocity", "acceleration", "torque"]
    known: Any = () if result.torque is None else result.torque.T
    tau_of = dict(zip(driven(result.robot), known, strict=False))
    rows = []
    for j, name in enumerate(result.robot.variables):
        q = motion.q[:, j]
        tau = f"{abs(tau_of[j]).max():.4g}" if j in tau_of else "-"
        peaks = [f"{abs(x[:, j]).max():.4g}" for x in (motion.qd, motion.qdd)]
        rows.append((name, f"{q.min():.4g}", f"{q.max():.4g}", *peaks, tau))
    print_table(f"exciting motion of {result.robot.name}", head, rows)
    margins = [
        (x.limit, f"{x.least:.4g} {x.unit}", x.what, f"{x.time:.3f}") for x in result.margins
    ]
    print_table("margins", ("limit", "least", "of", "at, s"), margins)
    print_text(f"condition number {result.condition:.4g}, log det {result.determinant:.4g} "
               "per parameter")  # fmt: skip
    print_text(f"standard deviations: those of a random motion within the same limits are "
               f"{result.gain:.3g} times as large (median)")  # fmt: skip
