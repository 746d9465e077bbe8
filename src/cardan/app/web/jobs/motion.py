"""What jobs do with a model that moves: motions, simulation, control laws, modes.

An answer is made of parts that the page knows how to show (`panels/answer.py`): `says`, `warnings`,
`facts`, `tables`, `charts` over `t`, a motion `q` to be played, `files` to take away."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ....control.names import LAWS
from ....describe.frames import frame, rotation_of_rpy
from ....describe.robot import FIXED
from ....errors import InputError, UnknownNameError
from ....mechanism.coordinates import is_floating
from ....motion.coordinates import coordinates
from .questions import Data, Say, driven, rates, require_closed, vector

_SHOWN = 400  # instants sent to the page
_MODES = 12  # modes that are shown
_LONGEST = 60.0  # seconds that are simulated
_FASTEST = 1000.0  # rad/s of a control law
_BENT = 90  # instants at which bent links are drawn
_POINTS = 12  # of a bent link


def _some(t: np.ndarray) -> np.ndarray:
    return np.unique(np.linspace(0, len(t) - 1, min(len(t), _SHOWN)).astype(int))


def as_csv(columns: Mapping[str, np.ndarray]) -> str:
    """A table as the base64 of its .csv file."""
    from ....motion.tables import write_table

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, dict(columns))
        return base64.b64encode(path.read_bytes()).decode()


def attached_files(data: Data, folder: str) -> list[Path]:
    """Uploaded files, written to a folder under names of their own; the suffixes tell what they
    are."""
    paths = []
    for k, (name, content) in enumerate(data.get("attached") or []):
        suffix = "".join(c for c in str(name).rpartition(".")[2].lower() if c.isalnum())[:8]
        paths.append(Path(folder, f"file{k + 1}.{suffix or 'csv'}"))
        paths[-1].write_bytes(base64.b64decode(content))
    return paths


def seconds(data: Data, most: float = 3600.0) -> float:
    """How long a motion lasts."""
    duration = float(data["duration"])
    if not 0 < duration <= most:
        raise InputError(f"the duration must be positive and at most {most:g} s")
    return duration


def planned(robot: Any, data: Data, q: np.ndarray, start: np.ndarray | None = None) -> Any:
    """The motion that the form describes, from positions q of all joints on: to a place, through
    points, along a straight line of the tool, or as a file says. `start`: where the driven joints
    are, if not at q."""
    from ....motion.trajectory import move, read_trajectory, through

    path, place = str(data.get("path", "place")), driven(robot)
    first = q[place] if start is None else start
    if path == "file":
        with tempfile.TemporaryDirectory() as folder:
            files = attached_files(data, folder)
            if not files:
                raise InputError("choose a file first: columns t, q1 .. qn")
            return read_trajectory(str(files[0]), robot.n)
    duration, law = seconds(data), str(data.get("law", "quintic"))
    step = max(1e-3, duration / 2000)
    if path == "points":
        points = [np.array(row, float) for row in data["points"]]
        n = len(first)
        if not points or any(len(row) not in (n, n + 1) for row in points):
            raise InputError(f"each line needs {n} positions, or a time and {n} positions")
        timed = len(points[0]) == n + 1
        if any((len(row) == n + 1) != timed for row in points):
            raise InputError("either all lines begin with a time, or none")
        times = np.linspace(0, duration, len(points) + 1)
        if timed:
            times = np.array([0.0, *(row[0] for row in points)])
        rows = np.array([first, *(row[-n:] for row in points)])
        if timed and times[1] == 0:
            times, rows = times[1:], rows[1:]
        return through(rows, times, dt=step)
    if path == "line":
        from ....loops.numeric import skeleton
        from ....motion.frames import frame_poses, link_frames
        from ....motion.paths import line
        from ....motion.taskspace import follow

        x = vector(data, "pose", 6)
        here = frame_poses(robot, link_frames(skeleton(robot), q))
        there = frame(rotation_of_rpy(x[3:].tolist()), x[:3])
        return follow(robot, line(here, there, duration, law=law), q, dt=max(step, duration / 500))
    if path != "place":
        raise UnknownNameError.of("kind of motion", path, ("place", "points", "line", "file"))
    return move(first, vector(data, "to", len(first)), duration, law=law, dt=step)


def loaded(robot: Any, data: Data) -> Any:
    """The robot with the payload of the form: kg, and its place in the frame of the end effector,
    m."""
    from ....motion.torques import with_payload

    payload = [float(x) for x in data.get("payload") or []]
    if not payload:
        return robot
    if len(payload) not in (1, 4):
        raise InputError("a payload is a mass, or a mass and its place: kg, x, y, z")
    return with_payload(robot, payload[0], payload[1:] or (0, 0, 0))


def motion(robot: Any, data: Data, say: Say) -> Data:
    """Torques of a motion, with their contributions where nothing bends or floats."""
    from ....motion.trajectory import violations

    robot = loaded(robot, data)
    start = vector(data, "from", robot.n)
    if robot.constrained:
        _require_closed(robot, start)
    moved = planned(robot, data, start)
    say("computing the torques")
    rows, t = _some(moved.t), moved.t
    base: list[Any] = []
    free = robot.ne or is_floating(robot) or robot.wheels
    if free or any(x.elastic for x in robot.joints):
        q, total, table, base = _free_motion(robot, start, moved, rows, say)
        shares: Data = {}
        csv = {"t": t[rows], **_columns("q", q), **_columns("tau", total)}
        over: list[Any] = []
    else:
        from ....motion.torques import torques

        on = coordinates(robot)
        q = moved.q
        if robot.constrained and moved.n != robot.n:
            q = on.follow(moved.q, start)
        result = torques(robot, moved, start if robot.constrained else None)
        q, total, table, csv = q[rows], result.total[rows], result.table(), result.columns()
        shares = {name: x[rows].T.tolist() for name, x in result.parts.items()}
        over = violations(result.motion, robot, tau=result.total)
    efforts = _bounds(robot, "effort", [row["joint"] for row in table])
    charts = [
        {
            "title": f"{row['joint']}: peak {row['peak']:.4g}, RMS {row['rms']:.4g} {row['unit']}"
            + (f", limit {limit:.4g}" if np.isfinite(limit) else ""),
            "unit": row["unit"], "strong": "total",
            "curves": {"total": total.T[j].tolist(), **{key: x[j] for key, x in shares.items()}},
            "limits": [-limit, limit] if np.isfinite(limit) else [],
        }
        for j, (row, limit) in enumerate(zip(table, efforts, strict=True))
    ]  # fmt: skip
    return {
        "t": t[rows].tolist(), "q": q.tolist(), "base": base, "charts": charts, "table": table,
        "warnings": [str(x) for x in over], "files": {"torques.csv": "All columns"},
        "parts": {"torques.csv": as_csv(csv)},
    }  # fmt: skip


def _require_closed(robot: Any, q: np.ndarray) -> None:
    from ....loops.numeric import skeleton

    require_closed(skeleton(robot), q)


def _columns(name: str, x: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{name}{k}": column for k, column in enumerate(np.asarray(x).T, 1)}


def _bounds(robot: Any, key: str, joints: list[str]) -> list[float]:
    """A limit of joints by their names; infinite where there is none."""
    from ....motion.joints import bounds, names

    known = dict(zip(names(robot), bounds(robot, key).tolist(), strict=True))
    return [known.get(name, np.inf) for name in joints]


def _free_motion(robot: Any, start: np.ndarray, moved: Any, rows: np.ndarray, say: Say) -> Any:
    """Of elastic parts, a free base or wheels: they move as the motion makes them, so it is
    simulated."""
    from ....simulation.simulate import simulate

    step = float(moved.t[-1]) / _SHOWN
    simulated = simulate(robot, start, duration=float(moved.t[-1]), dt=step, motion=moved,
                     rtol=1e-7, progress=_progress(say, "moving"))  # fmt: skip
    at = np.searchsorted(simulated.t, moved.t[rows]).clip(0, len(simulated.t) - 1)
    on = coordinates(robot)
    names = [robot.variables[k] for k in on.place[on.driven]]
    base = [] if simulated.T0 is None else _moved(simulated.T0, at)
    return simulated.q[at, : robot.n], simulated.tau[at], _table(names, simulated.tau[at]), base


def _moved(T0: np.ndarray, rows: np.ndarray) -> list[Any]:
    """Poses of a floating base, seen from where it was first."""
    poses: list[Any] = (np.linalg.inv(T0[0]) @ T0[rows]).tolist()
    return poses


def _table(names: list[str], tau: np.ndarray) -> list[Data]:
    """The largest and the mean torque of each joint."""
    return [
        {"joint": name, "peak": float(np.abs(x).max()), "rms": float(np.sqrt((x**2).mean())),
         "unit": "N m or N"}
        for name, x in zip(names, tau.T, strict=True)
    ]  # fmt: skip


def simulation(robot: Any, data: Data, say: Say) -> Data:
    """The robot let go, driven by constant torques or made to follow a motion, from positions q
    and velocities qd; trees and closed loops, rigid and flexible, on any base."""
    from ....simulation.simulate import simulate

    if data.get("path") != "file":
        seconds(data, _LONGEST)
    robot = loaded(robot, data)
    q, on = vector(data, "q", robot.n), coordinates(robot)
    place = on.place[on.driven]
    options, duration = _driving(robot, data, q, place)
    if "motion" not in options:
        options["qd0"] = vector(data, "qd", len(rates(robot)), 0.0)
    if is_floating(robot):
        options["base_twist"] = vector(data, "twist", 6, 0.0)
    say("simulating")
    simulated = simulate(robot, q, duration=duration, dt=duration / 500, rtol=1e-8,
                     progress=_progress(say, "simulating"), **options)  # fmt: skip
    return _told(robot, simulated, [robot.variables[k] for k in place if k < robot.n], say)


def _progress(say: Say, words: str) -> Callable[[float], None]:
    return lambda fraction: say(f"{words}: {100 * fraction:.0f} %")


def _told(robot: Any, simulated: Any, names: list[str], say: Say) -> Data:
    """A simulation for the page: fewer instants, the links as they bend, the base as it moves."""
    rows, n = _some(simulated.t), robot.n
    q, qd, tau = (x[rows] for x in (simulated.q, simulated.qd, simulated.tau))
    charts = [
        _chart("positions", robot.variables, q[:, :n], quantity="q"),
        _chart("velocities", robot.variables, qd[:, :n], quantity="qd"),
    ]
    answer: Data = {
        "t": simulated.t[rows].tolist(), "q": q[:, :n].tolist(), "curves": [], "base": [],
        "charts": charts, "says": f"{simulated.steps} steps",
        "files": {"simulation.csv": "All columns"},
        "parts": {"simulation.csv": as_csv({"t": simulated.t, **_columns("q", simulated.q),
                                            **_columns("qd", simulated.qd),
                                            **_columns("tau", simulated.tau)})},
    }  # fmt: skip
    if simulated.T0 is not None:
        answer["base"] = _moved(simulated.T0, rows)
        places = np.array(answer["base"])[:, :3, 3]
        charts.append(_chart("place of the base", "xyz", places, "m"))
    if robot.ne:
        bent = [f"e{k}" for k in range(1, q.shape[1] - n + 1)]
        charts.append(_chart("elastic coordinates", bent, q[:, n:], "m or rad"))
        say("drawing the links as they bend")
        some = rows[:: max(1, len(rows) // _BENT)]
        answer["curves"] = [_shape(robot, simulated.q[row]) for row in some]
    if np.any(tau):
        charts.append(_chart("torques", names, tau, "N m or N"))
    if simulated.energy is not None:
        answer["says"] += f"; energy kept to {simulated.energy.drift:.1e}"
        energy = simulated.energy
        both = np.stack([energy.kinetic, energy.potential], -1)[rows]
        charts.append(_chart("energies", ("kinetic", "potential"), both, "J"))
    return answer


def _chart(title: str, names: Any, x: np.ndarray, unit: str = "", quantity: str = "") -> Data:
    """Columns of x over the time of the answer; quantity: "q" or "qd", whose unit is as the page
    shows angles."""
    curves = dict(zip(names, np.asarray(x).T.tolist(), strict=False))
    return {"title": title, "curves": curves, "unit": unit, "quantity": quantity}


def _driving(robot: Any, data: Data, q: np.ndarray, place: np.ndarray) -> tuple[Data, float]:
    """What moves the robot, as `simulate` takes it, and for how long."""
    from ....control.compare import DRIVES
    from ....control.compare import driven as following
    from ....control.linear import held_positions

    drive = data["drive"]
    if drive == "free":
        return {"torque": np.zeros(len(place))}, seconds(data)
    if drive == "torque":
        return {"torque": vector(data, "numbers", len(place))}, seconds(data)
    if drive not in DRIVES:
        raise UnknownNameError.of("drive", drive, ("free", "torque", *DRIVES))
    start = q[place] if drive == "prescribed" else held_positions(robot, q)
    moved = planned(robot, data, q, start)
    duration = min(float(moved.t[-1] - moved.t[0]), _LONGEST)
    return following(robot, moved, drive, bandwidth_of(data), q), duration


def bandwidth_of(data: Data) -> float:
    bandwidth = float(data.get("bandwidth", 10.0))
    if not 0 < bandwidth <= _FASTEST:
        raise InputError(f"the bandwidth must be positive and at most {_FASTEST:g} rad/s")
    return bandwidth


def comparison(robot: Any, data: Data, say: Say) -> Data:
    """Control laws side by side on one motion: errors, torques, eigenvalues."""
    from ....control.compare import compare, tracked
    from ....control.linear import held_positions

    robot = loaded(robot, data)
    q = vector(data, "q", robot.n)
    laws = [str(name) for name in data["laws"]]
    unknown = [name for name in laws if name not in LAWS]
    if unknown or not laws:
        raise UnknownNameError.of("control law", unknown[0] if unknown else "", LAWS)
    moved = planned(robot, data, q, held_positions(robot, q))
    say("simulating")
    wrong = float(data.get("error", 0)) / 100
    compared = compare(robot, moved, laws, bandwidth_of(data), error=wrong,
                       dt=max(5e-3, moved.duration / _SHOWN), q0=q)  # fmt: skip
    runs = compared.runs
    t = next(iter(runs.values())).t
    errors = {name: tracked(run, compared.motion) for name, run in runs.items()}
    on = coordinates(robot)
    charts = [
        {"title": f"error of {robot.variables[k]}", "quantity": "q", "of": robot.variables[k],
         "curves": {LAWS[name].words: x[:, j].tolist() for name, x in errors.items()}}
        for j, k in enumerate(on.place[on.driven])
    ]  # fmt: skip
    table = compared.table()
    heads = list(table[0])
    rows = [[LAWS[row["law"]].words, *(_figure(row[key]) for key in heads[1:])] for row in table]
    csv = {"t": t} | {f"{name}_error{j}": x for name, all_ in errors.items()
                      for j, x in enumerate(all_.T, 1)}  # fmt: skip
    return {
        "t": t.tolist(), "charts": charts, "tables": [{"heads": heads, "rows": rows}],
        "files": {"errors.csv": "All columns"}, "parts": {"errors.csv": as_csv(csv)},
    }  # fmt: skip


def _figure(x: Any) -> str:
    if isinstance(x, bool):
        return "yes" if x else "no"
    return f"{x:.4g}" if isinstance(x, float) else str(x)


def _shape(robot: Any, q: np.ndarray) -> list[Any]:
    """The robot as it is bent at coordinates q, as lines of points in frame 0."""
    from ....simulation.shapes import curves

    return [_thinned(line).tolist() for line in curves(robot, q)]


def _thinned(line: np.ndarray) -> np.ndarray:
    """At most so many points of a curve, its ends among them."""
    return np.asarray(line[np.unique(np.linspace(0, len(line) - 1, _POINTS).astype(int))])


def modes(robot: Any, data: Data, say: Say) -> Data:
    """Natural frequencies at a configuration, and how the frames move in each mode."""
    from .... import natural_frequencies

    say("assembling")
    q = vector(data, "q", robot.n)
    moving = [joint for joint in robot.joints if joint.sigma != FIXED]
    active = [k for k, joint in enumerate(moving) if joint.active and not joint.elastic]
    studied = {
        key: natural_frequencies(robot, q[active].tolist(), actuators=key, modes=True)
        for key in ("locked", "free")
    }
    say("mode shapes")
    listed = {
        key: [
            _mode(robot, study, k, float(data.get("size", 1.0)))
            for k in range(min(len(study.frequencies), _MODES))
        ]
        for key, study in studied.items()
    }
    return {"modes": listed}


def _mode(robot: Any, modes: Any, k: int, size: float) -> Data:
    """One mode: its frequency, what moves most, and the robot at both ends of a swing, drawn
    large."""
    shape = modes.shapes[-len(modes.q) :, k]
    names = modes.coordinates[-len(modes.q) :]
    largest = np.argsort(-np.abs(shape))[:3]
    words = ", ".join(names[i] for i in largest if abs(shape[i]) > 0.05 * np.abs(shape).max())
    step = 1e-4 / max(float(np.abs(shape).max()), 1e-12)
    rest, there, back = (_shape(robot, modes.q + s * shape) for s in (0, step, -step))
    slopes = [(np.array(a) - np.array(b)) / 2 for a, b in zip(there, back, strict=True)]
    most = max(float(np.linalg.norm(x, axis=1).max()) for x in slopes)
    scale = 0.15 * size / max(most, 1e-300)
    return {
        "frequency": float(modes.frequencies[k]), "words": words, "rest": rest,
        "amplitude": [(scale * x).tolist() for x in slopes],
    }  # fmt: skip
