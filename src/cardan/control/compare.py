"""What makes a robot follow a motion, and control laws side by side on one: errors, torques,
eigenvalues of the closed loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..build.kinematic import ROWS
from ..describe.robot import Robot
from ..describe.world import placement
from ..errors import InputError, ModelError, UnknownNameError
from ..mechanism.coordinates import is_floating
from ..motion.coordinates import coordinates
from ..motion.derived import compiled
from ..motion.joints import names, units
from ..motion.paths import Path, Poses, line
from ..motion.plots import Panel, lines
from ..motion.trajectory import Trajectory, move
from ..program import Program
from ..simulation.result import Simulation
from ..simulation.simulate import simulate
from . import laws as joint_laws
from .adaptation import adaptive
from .elastic import elastic_gains, elastic_pd, linearising, of_motors, pairs
from .horizon import Following, following
from .laws import (
    Law,
    closed_along,
    gains,
    impedance,
    limited,
    of_drives,
    positive,
    positive_bandwidth,
    task_space,
    with_error,
)
from .linear import held_positions, linearise
from .momentum import observed
from .names import LAWS, fitting

DRIVES = ("prescribed", *LAWS)
_TOOL = ("task-space", "impedance")
_DRIFTING = 1e-6  # of the largest eigenvalue: zero
_DISTINCT = 1e-3  # of the largest singular value: a component that the joints move apart


@dataclass(frozen=True)
class Tuning:
    """What is said of a law beside its bandwidth; None: what follows from that, or none.

    kp, kd   gains of its joints; of task-space those of the tool, of impedance its stiffness and
             damping, of adaptive kd and kp = kd L
    ki       an integral part
    limit    largest torques; integrals are held back there
    parts    of the model in a feedforward torque"""

    kp: Numbers | None = None
    kd: Numbers | None = None
    ki: Numbers | None = None
    limit: Numbers | None = None
    parts: Sequence[str] | None = None

    def require(self, kind: str) -> None:
        """Refuse by name what a law does not take."""
        takes = LAWS[kind].takes
        for key in (x.name for x in fields(self)):
            if getattr(self, key) is not None and key not in takes:
                others = ", ".join(takes) or "nothing but a bandwidth"
                raise InputError(
                    f"the law '{kind}' takes no {key}; it takes {others}", where=key,
                    remedy="leave it out, or leave the law out",
                )  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """Runs by law, and the eigenvalues of each closed loop at the end of the motion."""

    motion: Trajectory
    runs: Mapping[str, Simulation]
    eigenvalues: Mapping[str, np.ndarray]

    def table(self) -> list[dict[str, Any]]:
        """A row per law."""
        rows = []
        for name, run in self.runs.items():
            error = np.abs(tracked(run, self.motion))
            roots = self.eigenvalues[name]  # none of a law that is no program
            slowest = f"{roots[0].real:.4g}{roots[0].imag:+.4g}j" if len(roots) else ""
            rows.append(
                {
                    "law": name,
                    "largest error": float(error.max()),
                    "RMS error": float(np.sqrt((error**2).mean())),
                    "last error": float(error[-1].max()),
                    "largest torque": float(np.abs(run.tau).max()),
                    "slowest eigenvalue": slowest,
                    "stable": bool(roots.real.max() < 0) if len(roots) else "",
                }
            )
        return rows

    def plot(self) -> Any:
        """Tracking errors, a panel per joint."""
        first = next(iter(self.runs.values()))
        on = coordinates(first.robot)
        robot, t, place = first.robot, first.t, on.place[on.driven]
        labels = [(names(robot)[k], units(robot)[k].position) for k in place]
        errors = {key: tracked(run, self.motion) for key, run in self.runs.items()}
        panels = [
            Panel(*label, {key: error[:, j] for key, error in errors.items()})
            for j, label in enumerate(labels)
        ]
        title = f"{robot.name}: tracking errors"
        return lines(t, panels, title, columns=1 if len(panels) < 4 else 2)


def tracked(run: Simulation, motion: Trajectory) -> np.ndarray:
    """Wanted less found positions of what the motion moves, (m, n): joints, or links behind their
    springs."""
    on, q = coordinates(run.robot), run.q
    if on.driven.all():
        return np.asarray(motion(run.t)[0] - q[:, on.place])
    return np.asarray(motion(run.t)[0] - np.stack(pairs(run.robot).links(list(q.T)), -1))


@named_arguments
def compare(
    robot: Robot, motion: Trajectory, laws: Sequence[str] = ("pd", "computed-torque"),
    bandwidth: float = 10.0, *, error: float = 0.0, settling: float = 0.25, dt: float = 5e-3,
    q0: Numbers = None, observer: float = 0.0, period: float | None = None,
    tuning: Tuning | None = None,
) -> Comparison:  # fmt: skip
    """Simulate laws of equal bandwidth (rad/s) on a motion; `error`: by how much the model that the
    laws know is wrong (a fraction); `settling`: seconds watched after the motion; `q0`: all joints
    of closed loops at the beginning, where the first assembly is not the wanted one; `observer`:
    gain (1/s) of a momentum observer that is added to each; `period`: laws are sampled; `tuning`:
    gains, limits and parts of the laws."""
    known = with_error(robot, error) if error else robot
    runs, errors = {}, {}
    on = coordinates(robot)
    start = on.first("q0", motion.q[0] if q0 is None else q0)
    motion = of_links(robot, motion)
    speeds = np.zeros(on.nv)
    speeds[on.driven] = motion.qd[0]
    for kind in laws:
        _require(kind, robot, tuning, observer)
    for kind in laws:
        controller = build(
            known, motion, kind, bandwidth, start, observer=observer, tuning=tuning, period=period
        )
        runs[kind] = simulate(
            robot, start, speeds, duration=motion.duration + settling, law=controller,
            rtol=1e-8, atol=1e-10, dt=dt,
            period=controller.period if isinstance(controller, Following) else period,
        )  # fmt: skip
        errors[kind] = np.zeros(0)
        if isinstance(controller, Following):
            continue
        end = runs[kind].q[-1].copy()
        end[on.place[on.driven]] = motion.q[-1]  # passive joints: the assembly nearest to the run's
        errors[kind] = _returning(linearise(robot, end, law=controller.program).eigenvalues)
    return Comparison(motion, runs, errors)


def _returning(roots: np.ndarray) -> np.ndarray:
    """Without those of what nothing draws back: a free base, estimates that no motion needs."""
    return np.asarray(roots[np.abs(roots) > _DRIFTING * np.abs(roots).max()])


def of_links(robot: Robot, motion: Trajectory) -> Trajectory:
    """What a law follows of a motion of all joints."""
    return of_drives(robot, motion) if coordinates(robot).driven.all() else of_motors(robot, motion)


def holding(robot: Robot, kind: str, bandwidth: float, q: Numbers) -> Law:
    """A law of the table that holds the robot at q."""
    start = coordinates(robot).first("q", q)
    held = held_positions(robot, start)
    return _program_law(robot, move(held, held, 1.0), kind, bandwidth, start)


def printed(
    robot: Robot, motion: Trajectory, kind: str, bandwidth: float, q0: Numbers, **said: Any
) -> Program:
    """The program of a law of the table."""
    return _program_law(robot, motion, kind, bandwidth, q0, **said).program


def _program_law(robot: Robot, motion: Trajectory, kind: str, *given: Any, **said: Any) -> Law:
    if kind in LAWS and LAWS[kind].solved:
        raise _solved(kind)
    law = build(robot, motion, kind, *given, **said)
    assert isinstance(law, Law)
    return law


def _solved(kind: str) -> ModelError:
    return ModelError(
        f"the law '{kind}' is a problem that is solved at every sample, not a program",
        remedy="simulate it: it has no code of its own and no eigenvalues",
    )


def _require(kind: str, robot: Robot, tuning: Tuning | None, observer: float) -> None:
    """A law of the table, that takes the robot and what is said of it."""
    if kind not in LAWS:
        raise UnknownNameError.of("control law", kind, LAWS)
    if kind not in fitting(robot):
        others = ", ".join(fitting(robot))
        remedy = (
            f"use {others}" if others else "simulate it with its motion prescribed (motion=...)"
        )
        raise ModelError(f"the law '{kind}' is not for a robot as '{robot.name}'", remedy=remedy,
                         action="" if others else "prescribed")  # fmt: skip
    (tuning or Tuning()).require(kind)
    if observer and LAWS[kind].solved:
        raise _solved(kind)


@named_arguments
def build(
    robot: Robot, motion: Trajectory, kind: str, bandwidth: float, q0: Numbers = None, *,
    observer: float = 0.0, tuning: Tuning | None = None, period: float | None = None,
) -> Law | Following:  # fmt: skip
    """A law of the table following a motion, with the gains of a bandwidth (rad/s): laws of the
    tool follow what the motion does to it. `q0`: where the motion starts, the loops of a robot
    closed; `observer`: gain (1/s) of a momentum observer that is added; `tuning`: what else is said
    of it; `period`: the step of one that is sampled."""
    _require(kind, robot, tuning, observer)
    ask = tuning or Tuning()
    w = positive_bandwidth(bandwidth)
    start = motion.q[0] if q0 is None else q0
    if kind == "predictive":
        return following(robot, of_drives(robot, motion), w, start, period)
    if kind == "adaptive":
        n = coordinates(robot).nv
        kd = np.array(positive("kd", _said(ask.kd, 2 * w), n))
        slope = w if ask.kp is None else np.array(positive("kp", ask.kp, n)) / kd
        law = adaptive(robot, motion, kd, slope=slope)
    elif kind == "elastic-pd":
        kp, kd = map(_said, (ask.kp, ask.kd), elastic_gains(robot, w, start))
        law = elastic_pd(robot, motion, kp, kd, _said(ask.ki, 0.0), limit=ask.limit)
    elif kind == "linearising":
        law = linearising(robot, motion, w)
    elif kind in _TOOL:
        q = coordinates(robot).first("q0", start)
        J = np.asarray(compiled(robot, "jacobian")(q=q))
        rows, path = _moved(J), tool_path(robot, of_drives(robot, motion), q)
        task = [ROWS[r] for r in rows]
        if kind == "task-space":
            law = task_space(robot, path, _said(ask.kp, w * w), _said(ask.kd, 2 * w), task=task)
        else:
            A = compiled(robot, "inertia-matrix")(q=q)
            seen = 1 / np.diag(J[rows] @ np.linalg.solve(A, J[rows].T))  # inertia of the tool
            K, D = map(_said, (ask.kp, ask.kd), (w * w * seen, 2 * w * seen))
            law = impedance(robot, path, K, D, task=task)
    else:
        own = [*gains(robot, w, kind, start), 0.0][:3]
        parts = {} if ask.parts is None else {"parts": ask.parts}
        chosen = map(_said, (ask.kp, ask.kd, ask.ki), own)
        law = joint_laws.law(robot, motion, kind, *chosen, limit=ask.limit, q0=start, **parts)
    if ask.limit is not None and "ki" not in LAWS[kind].takes:
        law = replace(law, program=limited(law.program, ask.limit))
    return observed(robot, law, observer, limit=ask.limit) if observer else law


def _said(given: Any, otherwise: Any) -> Any:
    return otherwise if given is None else given


def _moved(J: np.ndarray) -> list[int]:
    """The components of the tool that the joints move, each apart from those before."""
    rows: list[int] = []
    size = float(np.linalg.svd(J, compute_uv=False).max())
    for row in range(6):
        values = np.linalg.svd(J[[*rows, row]], compute_uv=False)
        if len(rows) < J.shape[1] and values.min() > _DISTINCT * size:
            rows.append(row)
    return rows


def tool_path(robot: Robot, motion: Trajectory, q0: np.ndarray) -> Path:
    """The path of the tool in a motion of the driven joints from q0; of a robot on a floating base,
    which gives way, the line between its ends in the world."""
    on = coordinates(robot)
    pose, jacobian = compiled(robot, "transform"), compiled(robot, "jacobian")
    if is_floating(robot):
        first, last = (placement(robot) @ pose(q=q) for q in (motion.q[0], motion.q[-1]))
        return line(first, last, motion.duration)
    bias = compiled(robot, "jdot-qdot")
    whole = closed_along(robot, motion, q0) if on.closed else None

    def at(t: Any) -> Poses:
        q, qd, qdd = motion(float(t) + motion.t[0])
        if whole:
            q = whole(float(t) + motion.t[0], q)
        J = jacobian(q=q)
        return Poses(pose(q=q), J @ qd, J @ qdd + bias(q=q, qd=qd))

    return Path(motion.duration, at, f"tool of {motion.name}")


@named_arguments
def driven(
    robot: Robot, motion: Trajectory, drive: str, bandwidth: float, q0: Numbers = None
) -> dict[str, Any]:
    """The argument of `simulate` for one of `DRIVES`; q0: where the motion starts, the loops of a
    robot closed, if not where its first positions say."""
    if drive == "prescribed":
        return {"motion": motion}
    if drive not in LAWS:
        raise UnknownNameError.of("control law", drive, DRIVES)
    law = build(robot, motion, drive, bandwidth, q0)
    return {"law": law, **({"period": law.period} if isinstance(law, Following) else {})}
