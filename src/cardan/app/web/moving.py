"""What jobs do with a model that moves: inverse geometry, motions, simulation, identification."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...catalogue import model
from ...errors import InputError

__all__ = ["identification", "inverse", "modes", "motion", "simulation"]

Data = dict[str, Any]
Say = Callable[[str], None]
_SHOWN = 400  # instants sent to the page
_LONGEST = 60.0  # seconds that are simulated


def _vector(data: Data, key: str, n: int) -> np.ndarray:
    x = np.array(data[key], float)
    if x.shape != (n,) or not np.isfinite(x).all():
        raise InputError(f"{key} holds {x.size} numbers; expected {n} finite ones")
    return x


def _some(t: np.ndarray) -> np.ndarray:
    return np.unique(np.linspace(0, len(t) - 1, min(len(t), _SHOWN)).astype(int))


def inverse(robot: Any, data: Data, say: Say) -> Data:
    """All configurations for a pose: that of given joint positions, or a matrix."""
    say("deriving the inverse geometric model")
    found = model(robot, "inverse-geometry", method=data.get("method", "auto"))
    if "T" in data:
        T = np.array(data["T"], float)
    else:
        T = np.asarray(model(robot, "transform").evaluate(q=_vector(data, "q", robot.n)))
    say("solving")
    q = np.atleast_2d(found.solve(T))
    return {
        "q": q.tolist(), "method": found.method, "reason": found.reason,
        "equations": found.equations(), "T": T.tolist(),
    }  # fmt: skip


def motion(robot: Any, data: Data, say: Say) -> Data:
    """Torques with their contributions from one place to another."""
    from ...use.torques import torques
    from ...use.trajectory import move

    start, end = _vector(data, "from", robot.n), _vector(data, "to", robot.n)
    planned = move(start, end, float(data["duration"]), law=data["law"])
    say("computing the torques")
    found = torques(robot, planned)
    rows = _some(planned.t)
    return {
        "t": planned.t[rows].tolist(), "q": planned.q[rows].tolist(),
        "total": found.total[rows].T.tolist(),
        "parts": {name: x[rows].T.tolist() for name, x in found.parts.items()},
        "table": found.table(),
    }  # fmt: skip


def simulation(robot: Any, data: Data, say: Say) -> Data:
    """The robot let go, driven by constant torques, or held by a controller."""
    from ...use.control import computed_torque, gains
    from ...use.simulate import simulate
    from ...use.trajectory import move

    duration = float(data["duration"])
    if not 0 < duration <= _LONGEST:
        raise InputError(f"the duration must be positive and at most {_LONGEST:g} s")
    q = _vector(data, "q", robot.n)
    drive: dict[str, Any] = {"torque": np.zeros(robot.n)}
    if data["drive"] == "torque":
        drive = {"torque": _vector(data, "tau", robot.n)}
    elif data["drive"] == "controller":
        to = _vector(data, "to", robot.n)
        planned = move(q, to, duration, law="quintic")
        kp, kd = gains(robot, float(data.get("bandwidth", 10.0)), "computed-torque", q)
        drive = {"law": computed_torque(robot, planned, kp, kd)}

    def progress(fraction: float) -> None:
        say(f"simulating: {100 * fraction:.0f} %")

    found = simulate(robot, q, duration=duration, dt=duration / 500, progress=progress, rtol=1e-8,
                     **drive)  # fmt: skip
    rows = _some(found.t)
    drift = found.energy.drift if found.energy is not None else None
    return {
        "t": found.t[rows].tolist(), "q": found.q[rows].tolist(), "qd": found.qd[rows].T.tolist(),
        "tau": found.tau[rows].T.tolist(), "drift": drift, "steps": found.steps,
    }  # fmt: skip


def identification(robot: Any, data: Data, say: Say) -> Data:
    """Parameters from an uploaded log: the report as a page, and the identified robot."""
    from ...describe.files import dumps
    from ...use.identification import identify

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, f"log.{data['suffix']}")
        log.write_bytes(base64.b64decode(data["log"]))
        recipe = None
        if data.get("recipe"):
            recipe = Path(folder, "recipe.toml")
            recipe.write_text(data["recipe"], encoding="utf-8")
        found = identify(robot, str(log), recipe, progress=say)
        say("writing the report")
        report = Path(folder, "report.html")
        found.report(report)
        page = report.read_text(encoding="utf-8")
    return {"report": page, "errors": dict(found.errors), "robot": dumps(found.robot, "toml")}


def modes(robot: Any, data: Data, say: Say) -> Data:
    """Natural frequencies at a configuration."""
    from ... import natural_frequencies

    say("assembling")
    q = np.array(data["q"], float)
    return {
        key: np.asarray(natural_frequencies(robot, q, actuators=key)).tolist()
        for key in ("locked", "free")
    }
