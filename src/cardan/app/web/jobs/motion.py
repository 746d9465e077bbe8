"""What jobs do with a model that moves: motions, simulation, identification, modes."""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ....catalogue import model
from ....describe.robot import FIXED
from ....errors import CardanError, InputError, UnknownNameError
from ....mechanism.coordinates import is_floating
from ....motion.coordinates import coordinates
from .. import WORDS
from .questions import Data, Say, driven, rates, require_closed, vector

__all__ = ["identification", "modes", "motion", "simulation"]

_SHOWN = 400  # instants sent to the page
_MODES = 12  # modes that are shown
_LONGEST = 60.0  # seconds that are simulated
_FASTEST = 1000.0  # rad/s of a control law
_BENT = 90  # instants at which bent links are drawn
_POINTS = 12  # of a bent link


def _some(t: np.ndarray) -> np.ndarray:
    return np.unique(np.linspace(0, len(t) - 1, min(len(t), _SHOWN)).astype(int))


def motion(robot: Any, data: Data, say: Say) -> Data:
    """Torques from one place to another: with their contributions for trees."""
    from ....motion.trajectory import move

    active = driven(robot)
    start = vector(data, "from", robot.n)
    end = vector(data, "to", len(active))
    planned = move(start[active], end, float(data["duration"]), law=data["law"])
    say("computing the torques")
    rows = _some(planned.t)
    base: list[Any] = []
    free = robot.ne or is_floating(robot) or robot.wheels
    if free or any(x.elastic for x in robot.joints):
        q, total, table, base = _free_motion(robot, start, planned, rows, say)
        parts: Data = {}
    elif robot.constrained:
        q, total, parts, table = _closed_motion(robot, start, planned, rows)
    else:
        from ....motion.torques import torques

        shares = torques(robot, planned)
        q, total, table = planned.q[rows], shares.total[rows], shares.table()
        parts = {name: x[rows].T.tolist() for name, x in shares.parts.items()}
    return {
        "t": planned.t[rows].tolist(), "q": q.tolist(), "total": total.T.tolist(), "shares": parts,
        "table": table, "base": base,
    }  # fmt: skip


def _free_motion(robot: Any, start: np.ndarray, planned: Any, rows: np.ndarray, say: Say) -> Any:
    """Of elastic parts, a free base or wheels: they move as the motion makes them, so it is
    simulated."""
    from ....simulation.simulate import simulate

    step = float(planned.t[-1]) / _SHOWN
    simulated = simulate(robot, start, duration=float(planned.t[-1]), dt=step, motion=planned,
                     rtol=1e-7, progress=_progress(say, "moving"))  # fmt: skip
    at = np.searchsorted(simulated.t, planned.t[rows]).clip(0, len(simulated.t) - 1)
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


def _closed_motion(robot: Any, start: np.ndarray, planned: Any, rows: np.ndarray) -> Any:
    """Of closed loops: the passive joints follow, and the active ones carry the torques."""
    from ....loops.numeric import skeleton
    from ..scene.continuation import follow

    active, bare, at = driven(robot), skeleton(robot), start
    require_closed(bare, start)
    q = np.zeros((len(rows), robot.n))
    for k, row in enumerate(rows):
        wanted = at.copy()
        wanted[active] = planned.q[row]
        q[k] = at = follow(bare, at, wanted)
    program = model(robot, "inverse-dynamics")
    total = np.asarray(program.evaluate(q=q, qd=planned.qd[rows], qdd=planned.qdd[rows]))
    table = _table([robot.variables[k] for k in active], total)
    return q, total, {}, table


def simulation(robot: Any, data: Data, say: Say) -> Data:
    """The robot let go, driven by constant torques or made to follow a motion, from positions q
    and velocities qd; trees and closed loops, rigid and flexible, on any base."""
    from ....simulation.simulate import simulate

    duration = float(data["duration"])
    if not 0 < duration <= _LONGEST:
        raise InputError(f"the duration must be positive and at most {_LONGEST:g} s")
    q, on = vector(data, "q", robot.n), coordinates(robot)
    place = on.place[on.driven]
    options = _driving(robot, data, q, place, duration)
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
    answer: Data = {
        "t": simulated.t[rows].tolist(), "q": simulated.q[rows, :n].tolist(),
        "qd": simulated.qd[rows, :n].T.tolist(), "tau": simulated.tau[rows].T.tolist(),
        "driven": names, "elastic": simulated.q[rows, n:].T.tolist(), "names": robot.variables,
        "energies": {}, "drift": None, "steps": simulated.steps, "curves": [], "base": [],
    }  # fmt: skip
    if simulated.energy is not None:
        answer["drift"] = simulated.energy.drift
        parts = {"kinetic": simulated.energy.kinetic, "potential": simulated.energy.potential}
        answer["energies"] = {key: x[rows].tolist() for key, x in parts.items()}
    if simulated.T0 is not None:
        answer["base"] = _moved(simulated.T0, rows)
    if robot.ne:
        say("drawing the links as they bend")
        some = rows[:: max(1, len(rows) // _BENT)]
        answer["curves"] = [_shape(robot, simulated.q[row]) for row in some]
    return answer


def _driving(robot: Any, data: Data, q: np.ndarray, place: np.ndarray, duration: float) -> Data:
    """What moves the robot, as `simulate` takes it; numbers are those of the driven joints."""
    from ....control.compare import DRIVES
    from ....control.compare import driven as following
    from ....control.linear import held_positions
    from ....motion.trajectory import move

    drive = data["drive"]
    if drive == "free":
        return {"torque": np.zeros(len(place))}
    numbers = vector(data, "numbers", len(place))
    if drive == "torque":
        return {"torque": numbers}
    if drive not in DRIVES:
        raise UnknownNameError.of("drive", drive, ("free", "torque", *DRIVES))
    bandwidth = float(data.get("bandwidth", 10.0))
    if not 0 < bandwidth <= _FASTEST:
        raise InputError(f"the bandwidth must be positive and at most {_FASTEST:g} rad/s")
    start = q[place] if drive == "prescribed" else held_positions(robot, q)
    planned = move(start, numbers, duration, law="quintic")
    return following(robot, planned, drive, bandwidth, q)


def _shape(robot: Any, q: np.ndarray) -> list[Any]:
    """The robot as it is bent at coordinates q, as lines of points in frame 0."""
    from ....simulation.shapes import curves

    return [_thinned(line).tolist() for line in curves(robot, q)]


def _thinned(line: np.ndarray) -> np.ndarray:
    """At most so many points of a curve, its ends among them."""
    return np.asarray(line[np.unique(np.linspace(0, len(line) - 1, _POINTS).astype(int))])


def identification(robot: Any, data: Data, say: Say) -> Data:
    """Parameters from an uploaded log: the report as a page, and the identified robot."""
    from ....describe.files import dumps
    from ....identification import identify

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, f"log.{data['suffix']}")
        log.write_bytes(base64.b64decode(data["attached"][0][1]))
        recipe = None
        if data.get("recipe"):
            recipe = Path(folder, "recipe.toml")
            recipe.write_text(data["recipe"], encoding="utf-8")
        hidden = f"{folder}{os.sep}"  # where it is says nothing to the user
        try:
            result = identify(robot, str(log), recipe, progress=say)
        except CardanError as error:
            raise InputError(error.told(WORDS).replace(hidden, "")) from None
        say("writing the report")
        report = Path(folder, "report.html")
        result.report(report)
        page = report.read_text(encoding="utf-8").replace(hidden, "")
    return {"report": page, "errors": dict(result.errors), "robot": dumps(result.robot, "toml")}


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
    return {
        key: [
            _mode(robot, study, k, float(data.get("size", 1.0)))
            for k in range(min(len(study.frequencies), _MODES))
        ]
        for key, study in studied.items()
    }


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
