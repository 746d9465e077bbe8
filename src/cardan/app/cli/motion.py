"""Commands that move robots: torques, simulate, control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...control.names import listed
from ...errors import InputError, MissingExtraError
from . import completion
from .arguments import (
    BaseInertia,
    CutLoops,
    Degrees,
    Floating,
    Json,
    Printed,
    RobotName,
    Settings,
    numbers,
)
from .output import console, message, print_json, print_table, print_text, write
from .sources import open_robot

if TYPE_CHECKING:
    import numpy as np

    from ...describe.robot import Robot
    from ...motion.trajectory import Trajectory

_MOTION = "Motion"
Start = Annotated[
    str, typer.Option("--start", metavar="Q", help="First joint positions: values with commas.")
]
End = Annotated[str, typer.Option("--end", metavar="Q", help="Last joint positions of the motion.")]
Lasting = Annotated[float | None, typer.Option(metavar="S", help="Seconds.")]
Profile = Annotated[
    str,
    typer.Option(
        help="Of a motion in time: cubic, quintic, septic, bang-bang, trapezoidal or s-curve.",
        autocompletion=completion.profiles,
    ),
]
TrajectoryFile = Annotated[
    str, typer.Option("--trajectory", metavar="FILE", help="Columns t, q1 .. qn(, qd1, qdd1).")
]
TableFile = Annotated[
    str, typer.Option("-o", "--output", metavar="FILE", help="Write all columns: .csv, .parquet.")
]
Picture = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="Where the picture goes (.png .pdf .svg), or none; with --json none by default.",
    ),
]
Step = Annotated[float, typer.Option(metavar="S", help="Time between results.")]
Payload = Annotated[str, typer.Option(metavar="M[,X,Y,Z]", help="A mass held by the last link.")]


def positions(robot: Robot, text: str, degrees: bool, what: str) -> np.ndarray:
    """Joint positions: one value for all, or one per joint (with loops: or per active joint);
    angles may be in degrees."""
    import numpy as np

    from ...motion.joints import units, vector

    values = numbers(text, what)
    turning = np.array([unit.position == "rad" for unit in units(robot)])
    if robot.constrained and len(values) == len(active_joints(robot)):
        turning = turning[active_joints(robot)]
    q = vector(what, values[0] if len(values) == 1 else values, len(turning))
    return np.asarray(q * np.where(turning & degrees, np.pi / 180, 1.0))


def active_joints(robot: Robot) -> np.ndarray:
    """The places of the active joints of a robot with loops in q."""
    import numpy as np

    from ...motion.coordinates import coordinates

    on = coordinates(robot)
    return np.asarray(on.place[on.driven])


def moved(robot: Robot, text: str, degrees: bool, what: str) -> np.ndarray:
    """Positions between which a motion is made: with loops, those of the active joints."""
    q = positions(robot, text, degrees, what)
    return q[active_joints(robot)] if robot.constrained and len(q) == robot.n else q


def begun(robot: Robot, text: str, degrees: bool) -> np.ndarray:
    """The first positions of a motion: as said, or where the robot stands."""
    from ...motion.trajectory import at_home

    return moved(robot, text, degrees, "--start") if text else at_home(robot)


def motion_of(
    robot: Robot, first: str, last: str, duration: float | None, profile: str, degrees: bool,
    file: str, dt: float,
) -> Trajectory:  # fmt: skip
    """The motion that the options describe; of a robot with loops that of its active joints."""
    from ...motion.plan import trajectory

    if file:
        if first or last:
            raise typer.BadParameter("give --trajectory, or --start and --end", param_hint=_MOTION)
        return trajectory(robot, file)
    if not last:
        raise typer.BadParameter("give --end Q, or --trajectory FILE", param_hint=_MOTION)
    start = moved(robot, first, degrees, "--start") if first else None
    end = moved(robot, last, degrees, "--end")
    return trajectory(robot, end, duration, start=start, profile=profile, dt=dt)


def assembly(robot: Robot, first: str, degrees: bool) -> np.ndarray | None:
    """The configuration a motion starts from, where --start gives all joints of closed loops."""
    if not robot.constrained or first.count(",") + 1 != robot.n:
        return None
    return positions(robot, first, degrees, "--start")


def loaded(robot: Robot, payload: str) -> Robot:
    """The robot with the payload of the option."""
    from ...motion.torques import with_payload

    if not payload:
        return robot
    mass, *centre = numbers(payload, "--payload")
    return with_payload(robot, mass, centre or (0, 0, 0))


def picture(figure: Any, path: str, default: str) -> None:
    """Save a figure where it is wanted, at `default` if nothing is said (nowhere if that is empty);
    a missing matplotlib is said, not fatal."""
    from ...motion.plots import save_figure

    where = path or default
    if where in ("", "none"):
        return
    try:
        save_figure(figure(), where)
        message(f"picture: {where}")
    except MissingExtraError as error:
        if path:
            raise
        message(f"no picture: {error}")


def writable(table: str = "", plot: str = "", page: str = "") -> None:
    """The files asked for can be written: said before the work is done, not after it."""
    from pathlib import Path

    from ...motion.animate import require_page
    from ...motion.plots import picture_format
    from ...motion.tables import table_format

    for file, require in ((table, table_format), (plot, picture_format), (page, require_page)):
        if file in ("", "none"):
            continue
        require(file)
        if not Path(file).parent.is_dir():
            raise InputError(f"{file}: there is no folder '{Path(file).parent}'")


def unasked(name: str, json: bool, plot: str = "") -> str:
    """A file written without being named: none for programs that read JSON, nor beside none."""
    return "" if json or plot == "none" else name


def stem(name: str) -> str:
    """A robot's name as the beginning of a file name."""
    words = "".join(c if c.isalnum() else " " for c in name.lower()).split()
    return "-".join(words) or "robot"


def torques(
    robot: RobotName,
    first: Start = "",
    last: End = "",
    duration: Lasting = None,
    profile: Profile = "quintic",
    degrees: Degrees = False,
    trajectory: TrajectoryFile = "",
    dt: Step = 1e-3,
    payload: Payload = "",
    output: TableFile = "",
    plot: Picture = "",
    setting: Settings = None,
    json: Json = False,
) -> None:
    """Torques of a motion: peak, RMS, and where they come from."""
    from ...motion.torques import torques as torques_of

    writable(output, plot)
    described = loaded(open_robot(robot, setting), payload)
    motion = motion_of(described, first, last, duration, profile, degrees, trajectory, dt)
    result = torques_of(described, motion, assembly(described, first, degrees))
    over = result.violations()
    for fault in over:
        message(f"cardan: {fault}")
    if output:
        result.save(output)
    rows = result.table()
    if json:
        print_json({"joints": rows, "violations": [vars(fault) for fault in over]})
    else:
        header = list(rows[0])
        print_table("", header, [[short(row[key]) for key in header] for row in rows])
    picture(result.plot, plot, unasked(f"{stem(described.name)}-torques.png", json))


def short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def simulate(
    robot: RobotName,
    q0: Annotated[str, typer.Option(metavar="Q", help="Where the simulation starts.")] = "",
    qd0: Annotated[str, typer.Option(metavar="QD", help="Its first velocities.")] = "0",
    duration: Lasting = None,
    torque: Annotated[str, typer.Option(metavar="TAU", help="Constant torques.")] = "",
    law: Annotated[
        str,
        typer.Option(
            metavar="LAW",
            autocompletion=completion.laws,
            help=f"Of control: {listed()}; or prescribed.",
        ),
    ] = "computed-torque",
    first: Start = "",
    last: End = "",
    profile: Profile = "quintic",
    degrees: Degrees = False,
    trajectory: TrajectoryFile = "",
    bandwidth: Annotated[float, typer.Option(metavar="RAD/S", help="Of a control law.")] = 10.0,
    method: Annotated[
        str,
        typer.Option(
            help="auto, DOP853, RK45, LSODA, Radau, BDF; rk4, euler, midpoint; generalized-alpha."
        ),
    ] = "auto",
    rtol: Annotated[float, typer.Option(help="Relative tolerance.")] = 1e-9,
    step: Annotated[float | None, typer.Option(metavar="S", help="Of fixed steps.")] = None,
    friction: Annotated[str, typer.Option(help="smooth, event or none.")] = "smooth",
    floating: Floating = False,
    base_inertia: BaseInertia = "",
    gravity: Annotated[
        bool, typer.Option("--gravity/--no-gravity", help="With or without gravity.")
    ] = True,
    thrust: Annotated[
        str, typer.Option(metavar="F,...", help="Factors of the file's thrusters, else 1.")
    ] = "",
    dt: Step = 1e-2,
    output: TableFile = "",
    plot: Picture = "",
    animate: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="A 3D page of the motion: .html, or none (default with --json, --plot none).",
        ),
    ] = "",
    setting: Settings = None,
    tree: CutLoops = False,
    json: Json = False,
) -> None:
    """Simulate a robot that falls, is driven by torques, or follows a motion."""
    from dataclasses import replace

    from ...control.compare import driven
    from ...simulation.simulate import simulate as run

    writable(output, plot, animate)
    described = open_robot(robot, setting, tree=tree, floating=floating, base_inertia=base_inertia)
    if not gravity:
        described = replace(described, gravity=(0, 0, 0))
    options: dict[str, Any] = {"method": method, "rtol": rtol, "step": step, "friction": friction}
    motion = None
    if last or trajectory:
        motion = motion_of(described, first, last, duration, profile, degrees, trajectory, 1e-3)
        options |= driven(described, motion, law, bandwidth)
    if thrust:
        factors = numbers(thrust, "--thrust")
        options["thrust"] = factors[0] if len(factors) == 1 else factors
    if torque:
        values = numbers(torque, "--torque")
        options["torque"] = values[0] if len(values) == 1 else values
    start: Any = None if motion is None else motion.q[0]
    if q0:
        start = positions(described, q0, degrees, "--q0")
    elif motion is not None and (whole := assembly(described, first, degrees)) is not None:
        start = whole
    seconds = duration if duration is not None else motion.duration if motion else 1.0
    speed = numbers(qd0, "--qd0")
    options |= {"qd0": speed[0] if len(speed) == 1 else speed, "duration": seconds, "dt": dt}
    with console(stderr=True).status(f"simulating {described.name}") as status:

        def tell(done: float) -> None:
            status.update(f"simulating {described.name}: {100 * done:.0f} %")

        result = run(described, start, progress=tell, **options)
    report(result, motion, json)
    if output:
        result.save(output)
    page = animate or unasked(f"{stem(described.name)}-simulation.html", json, plot)
    if page not in ("", "none"):
        result.animate(page)
        message(f"animation: {page}")
    picture(result.plot, plot, unasked(f"{stem(described.name)}-simulation.png", json))


def _accuracy(error: Any, json: bool) -> Any:
    """The estimated error as data, or in words."""
    if error is None:
        return None if json else "not estimated: the steps were given"
    return {"position": error.position, "velocity": error.velocity} if json else str(error)


def report(run: Any, motion: Trajectory | None, json: bool) -> None:
    """A few lines on a simulation."""
    import numpy as np

    from ...motion.coordinates import coordinates

    facts: dict[str, Any] = {
        "robot": run.robot.name,
        "duration": float(run.t[-1]),
        "steps": run.steps,
        "samples": len(run.t),
        "energy drift": None if run.energy is None else run.energy.drift,
        "estimated error": _accuracy(run.error, json),
        "last q": run.q[-1].tolist(),
    }
    if motion is not None:
        on = coordinates(run.robot)
        place = on.place[on.driven] if motion.n == on.nu else on.place[: motion.n]
        facts["largest error"] = float(np.abs(run.q[:, place] - motion(run.t)[0]).max())
    if json:
        print_json(facts)
        return
    for key, value in facts.items():
        if value is not None:
            shown = ", ".join(f"{x:.6g}" for x in value) if isinstance(value, list) else value
            print_text(f"{key:15s} {shown:.6g}" if isinstance(shown, float) else
                       f"{key:15s} {shown}")  # fmt: skip


def gains_of(text: str, option: str) -> Any:
    """One value for all, or a list; None where nothing is said."""
    values = numbers(text, option) if text else []
    return values[0] if len(values) == 1 else values or None


def limits_of(robot: Robot, text: str) -> Any:
    """The largest torques of an option: values, or those of the file."""
    if text.strip() != "file":
        return gains_of(text, "--torque-limit")
    import numpy as np

    from ...motion.coordinates import coordinates
    from ...motion.joints import bounds

    on = coordinates(robot)
    known = bounds(robot, "effort")[on.place[on.driven]]
    if not np.isfinite(known).any():
        raise InputError(f"--torque-limit file: '{robot.name}' gives no largest torque (effort)")
    return known


def control(
    robot: RobotName,
    first: Start = "",
    last: End = "",
    duration: Lasting = None,
    profile: Profile = "quintic",
    degrees: Degrees = False,
    trajectory: TrajectoryFile = "",
    law: Annotated[
        str,
        typer.Option(
            metavar="LAW,...",
            autocompletion=completion.laws,
            help=f"Of control: {listed()}.",
        ),
    ] = "pd,pd-gravity,computed-torque",
    bandwidth: Annotated[float, typer.Option(metavar="RAD/S", help="Of the joints.")] = 10.0,
    error: Annotated[
        float, typer.Option(metavar="FRACTION", help="By which the laws' model is wrong.")
    ] = 0.0,
    observer: Annotated[
        float, typer.Option(metavar="1/S", help="Gain of a momentum observer added to each law.")
    ] = 0.0,
    period: Annotated[
        float | None, typer.Option(help="Seconds between samples of the laws; continuous without.")
    ] = None,
    kp: Annotated[
        str,
        typer.Option(
            metavar="K,...",
            help="Gains, else those of the bandwidth; of impedance"
            " its stiffness, of adaptive kd L.",
        ),
    ] = "",
    kd: Annotated[str, typer.Option(metavar="K,...", help="Of velocities; or the damping.")] = "",
    ki: Annotated[str, typer.Option(metavar="K,...", help="An integral part of any law.")] = "",
    limit: Annotated[
        str,
        typer.Option(
            "--torque-limit",
            metavar="X,X,..",
            help="Largest torques, or 'file': those of the robot's"
            " file; integrals are held back there.",
        ),
    ] = "",
    parts: Annotated[
        str,
        typer.Option(
            metavar="PART,...",
            help="Of a feedforward torque: gravity, inertia,"
            " velocity, friction; model is the whole.",
        ),
    ] = "",
    to: Annotated[
        str,
        typer.Option(
            metavar="LANGUAGE",
            autocompletion=completion.languages,
            help="Print the last law in this language instead.",
        ),
    ] = "",
    output: Printed = "-",
    plot: Picture = "",
    setting: Settings = None,
    floating: Floating = False,
    base_inertia: BaseInertia = "",
    json: Json = False,
) -> None:
    """Compare control laws on a motion, with the eigenvalues of the closed loop."""
    from ...control.compare import Tuning, compare, printed
    from ...motion.trajectory import move

    writable(plot=plot)
    described = open_robot(robot, setting, floating=floating, base_inertia=base_inertia)
    names = [name.strip() for name in law.split(",")]
    whole = assembly(described, first, degrees)
    tuning = Tuning(
        gains_of(kp, "--kp"), gains_of(kd, "--kd"), gains_of(ki, "--ki"),
        limits_of(described, limit), [x.strip() for x in parts.split(",")] if parts else None,
    )  # fmt: skip
    if to:
        start = begun(described, first, degrees) if whole is None else whole
        still = move(start, start, 1.0)
        program = printed(
            described, still, names[-1], bandwidth, start, observer=observer, tuning=tuning
        )
        write(output, program.emit(to))
        return
    motion = motion_of(described, first, last, duration, profile, degrees, trajectory, 1e-3)
    with console(stderr=True).status(f"simulating {described.name}"):
        result = compare(described, motion, names, bandwidth, error=error, q0=whole,
                         observer=observer, period=period, tuning=tuning)  # fmt: skip
    if json:
        print_json(result.table())
    else:
        rows = result.table()
        header = list(rows[0])
        print_table("", header, [[short(row[key]) for key in header] for row in rows])
    picture(result.plot, plot, unasked(f"{stem(described.name)}-control.png", json))
