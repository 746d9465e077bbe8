"""Control laws as programs: they run in simulations, are linearised exactly, and print as C.

    pd                tau = kp e + kd ed
    pd-gravity        tau = kp e + kd ed + Q(q)
    computed-torque   tau = ID(q, qd, qdd_r + kp e + kd ed)
    task-space        tau = ID(q, qd, J⁺(Vd_r + kd (V_r - J qd) + kp e_x - Jdot qd))
    adaptive          tau = Y(q, qd, v, vd) K + kd s,   Kd = Γ Y^T s

with e = q_r - q, [B23] 3.2.2, 3.8. The adaptive law is that of Slotine and Li (1987) on the base
parameters: v = qd_r + L e, s = v - qd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra.solve import solve_symmetric
from ..algebra.vector import Vec, cross, dot
from ..arguments import Numbers, named_arguments
from ..build.kinematic import ROWS
from ..describe.robot import Robot
from ..errors import InputError, ModelError, UnknownNameError, translated
from ..ir.passes import inline
from ..ir.trace import Tracer
from ..mechanism.coordinates import is_floating
from ..motion.coordinates import coordinates
from ..motion.derived import compiled, derived
from ..motion.joints import require_numbers, vector
from ..motion.paths import Path
from ..motion.taskspace import rows_of
from ..motion.trajectory import Trajectory, fits
from ..program import Program
from ..simulation.friction import viscous
from ..simulation.statespace import SMOOTH, dry_friction

__all__ = [
    "LAWS", "Law", "TaskLaw", "computed_torque", "gains", "joint_law", "law", "pd", "pd_gravity",
    "task_law", "task_space",
]  # fmt: skip

LAWS = ("pd", "pd-gravity", "computed-torque")
REFERENCE = {"q_r": "wanted positions", "qd_r": "velocities", "qdd_r": "accelerations"}


@dataclass(frozen=True)
class Law:
    """A law q, qd, q_r, qd_r, qdd_r -> tau that follows a motion; called as (t, q, qd)."""

    program: Program
    motion: Trajectory

    @cached_property
    def function(self) -> Any:
        return self.program.compile()

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        r, rd, rdd = self.motion(t)
        return np.asarray(self.function(q=q, qd=qd, q_r=r, qd_r=rd, qdd_r=rdd))


@dataclass(frozen=True)
class TaskLaw:
    """A law q, qd, T_r, V_r, Vd_r -> tau that follows a path of a frame."""

    program: Program
    path: Path

    @cached_property
    def function(self) -> Any:
        return self.program.compile()

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        now = self.path(min(t, self.path.duration))
        still = 1.0 if t <= self.path.duration else 0.0
        return np.asarray(
            self.function(q=q, qd=qd, T_r=now.T, V_r=now.V * still, Vd_r=now.Vd * still)
        )


@named_arguments
def gains(robot: Robot, bandwidth: float, kind: str, q: Numbers = 0.0) -> tuple[Any, Any]:
    """(kp, kd) of critically damped joints of that bandwidth, rad/s.

    For laws without a model they are scaled by the inertia each joint sees at q.

    >>> cardan.control.gains(cardan.load("ur5"), 10.0, "computed-torque")
    (100.0, 20.0)"""
    w = positive_bandwidth(bandwidth)
    if kind not in ("pd", "pd-gravity"):
        return w * w, 2 * w
    at = coordinates(robot).first("q", q)
    inertia = np.diag(compiled(robot, "inertia-matrix")(q=at))
    return inertia * w * w, inertia * 2 * w


def positive_bandwidth(given: Any) -> float:
    """A bandwidth in rad/s, checked: a negative one makes a robot run away."""
    if not isinstance(given, int | float | np.number) or not 0 < given < np.inf:
        raise InputError(f"a bandwidth of {given} rad/s; expected a positive one")
    return float(given)


@named_arguments
def joint_law(
    robot: Robot,
    kind: str,
    kp: Numbers,
    kd: Numbers,
    *,
    friction: bool = True,
    smooth: float = SMOOTH,
) -> Program:
    """The program of a law in joint space. `friction`: compensate it too (computed torque)."""
    _drivable(robot)
    if kind not in LAWS:
        raise UnknownNameError.of("control law", kind, LAWS)
    on = coordinates(robot)
    n = on.nv
    kp, kd = vector("kp", kp, n).tolist(), vector("kd", kd, n).tolist()
    tracer = Tracer()
    q = tracer.array("q", on.nq)
    qd, r, rd, rdd = (tracer.array(name, n) for name in ("qd", *REFERENCE))
    own = [q[k] for k in on.place]
    pull = [
        a * (x - y) + b * (xd - yd)
        for a, b, x, y, xd, yd in zip(kp, kd, r, own, rd, qd, strict=True)
    ]
    if kind == "computed-torque":
        wanted = [x + u for x, u in zip(rdd, pull, strict=True)]
        tau = _inverse(robot, tracer, q, qd, wanted, friction, smooth)
    elif kind == "pd-gravity":
        Q = inline(tracer.graph, derived(robot, "gravity").code, {"q": q})["Q"]
        tau = [u + g for u, g in zip(pull, Q, strict=True)]
    else:
        tau = pull
    return _program(tracer, kind, robot, {"tau": ((n,), tau)}, REFERENCE)


def _drivable(robot: Robot) -> None:
    require_numbers(robot, "a control law")
    if is_floating(robot) or not coordinates(robot).driven.all():
        raise ModelError(
            f"control laws are for a fixed base and rigid joints and links; not '{robot.name}'",
            remedy="simulate it with its motion prescribed (motion=...)", action="prescribed",
        )  # fmt: skip


def _inverse(
    robot: Robot, tracer: Tracer, q: list[Any], qd: list[Any], qdd: list[Any], friction: bool,
    smooth: float,
) -> list[Any]:  # fmt: skip
    """The inverse model inside a law, with the smoothed friction that simulations have."""
    source = viscous(robot) if friction else robot
    code = derived(source, "inverse-dynamics", friction=friction).code
    tau = inline(tracer.graph, code, {"q": q, "qd": qd, "qdd": qdd})["tau"]
    if not friction:
        return tau
    _, lost = dry_friction(robot, tracer.graph, q, qd, smooth)
    return [u + f for u, f in zip(tau, lost, strict=True)]


def _program(
    tracer: Tracer, kind: str, robot: Robot, outputs: dict[str, Any], extra: dict[str, str]
) -> Program:
    code, _ = tracer.program(outputs)
    meaning = {
        "q": "measured joint positions, rad or m",
        "qd": "measured joint velocities, rad/s or m/s",
        "tau": "torques or forces of the drives, N m or N",
        **extra,
    }
    used = {key: text for key, text in meaning.items() if key in (*code.inputs, *code.outputs)}
    return Program(f"control {kind}", robot.name, code, meaning=used)


@named_arguments
def law(
    robot: Robot, motion: Trajectory, kind: str, kp: Numbers, kd: Numbers, **options: Any
) -> Law:
    """A law of `LAWS` following a motion."""
    _drivable(robot)
    return Law(joint_law(robot, kind, kp, kd, **options), of_drives(robot, motion))


def of_drives(robot: Robot, motion: Trajectory) -> Trajectory:
    """The motion of the driven joints; with closed loops that of all joints may be given."""
    on = coordinates(robot)
    if motion.n == on.nv:
        return motion
    fits(motion, robot)
    q, qd, qdd = (x[:, on.place] for x in (motion.q, motion.qd, motion.qdd))
    known = motion.law

    def law(t: Any) -> Any:
        assert known is not None
        return tuple(x[..., on.place] for x in known(t))

    return replace(motion, q=q, qd=qd, qdd=qdd, law=None if known is None else law)


@named_arguments
def pd(robot: Robot, motion: Trajectory, kp: Numbers, kd: Numbers) -> Law:
    """tau = kp e + kd ed.

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
    >>> law = cardan.control.pd(robot, motion, kp=100.0, kd=20.0)
    >>> law(0.0, np.full(6, 0.1), np.zeros(6)).round(6).tolist()
    [-10.0, -10.0, -10.0, -10.0, -10.0, -10.0]"""
    return law(robot, motion, "pd", kp, kd)


@named_arguments
def pd_gravity(robot: Robot, motion: Trajectory, kp: Numbers, kd: Numbers) -> Law:
    """tau = kp e + kd ed + Q(q).

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
    >>> law = cardan.control.pd_gravity(robot, motion, kp=100.0, kd=20.0)
    >>> law(0.0, np.zeros(6), np.zeros(6)).shape
    (6,)"""
    return law(robot, motion, "pd-gravity", kp, kd)


@named_arguments
def computed_torque(
    robot: Robot, motion: Trajectory, kp: Numbers = 100.0, kd: Numbers = 20.0, **options: Any
) -> Law:
    """tau = ID(q, qd, qdd_r + kp e + kd ed): every joint a linear oscillator of its own.

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
    >>> law = cardan.control.computed_torque(robot, motion)
    >>> list(law.program.inputs)
    ['q', 'qd', 'q_r', 'qd_r', 'qdd_r']
    >>> run = cardan.simulate(robot, motion.q[0], duration=0.1, law=law, method="rk4", step=0.01)
    >>> bool(np.abs(run.q - motion(run.t)[0]).max() < 1e-3)
    True"""
    return law(robot, motion, "computed-torque", kp, kd, **options)


@named_arguments
def task_law(
    robot: Robot, kp: Numbers = 100.0, kd: Numbers = 20.0, *, frame: Any = None,
    task: Sequence[str] | str | None = None, posture: float = 10.0, friction: bool = True,
    smooth: float = SMOOTH,
) -> Program:  # fmt: skip
    """Computed torque in task space, q, qd, T_r, V_r, Vd_r -> tau; twists in frame 0's axes.

    `task`: components that are controlled ("x y z rx ry rz"); `posture`: damping, 1/s, of joint
    motion that does not move them. With closed loops the active joints are driven."""
    _drivable(robot)
    on = coordinates(robot)
    n, rows = on.nv, _controlled(robot, task, on.nv)
    kp, kd = vector("kp", kp, len(rows)).tolist(), vector("kd", kd, len(rows)).tolist()
    chosen = {} if frame is None else {"frame": frame}
    tracer = Tracer()
    q, qd = tracer.array("q", on.nq), tracer.array("qd", n)
    T_r = tracer.array("T_r", 4, 4)
    V_r, Vd_r = tracer.array("V_r", 6), tracer.array("Vd_r", 6)

    def run(name: str, output: str, **inputs: list[Any]) -> list[Any]:
        code = derived(robot, name, **chosen).code
        return inline(tracer.graph, code, inputs)[output]

    T, J = run("transform", "T", q=q), run("jacobian", "J", q=q)
    Jdqd = run("jdot-qdot", "Jdqd", q=q, qd=qd)
    e = _pose_error([T[4 * r : 4 * r + 4] for r in range(4)], T_r)
    jacobian = [J[n * r : n * r + n] for r in rows]
    V = [dot(row, qd) for row in jacobian]
    wanted = [
        Vd_r[r] + b * (V_r[r] - v) + a * e[r] - Jdqd[r]
        for a, b, r, v in zip(kp, kd, rows, V, strict=True)
    ]
    if len(rows) == n == 6 and not on.closed:
        Jinv = run("jacobian-inverse", "Jinv", q=q)
        qdd = [dot(Jinv[6 * j : 6 * j + 6], wanted) for j in range(n)]
    else:
        free = [-(float(posture) * v) for v in qd] if len(rows) < n else [0] * n
        qdd = _least_change(jacobian, wanted, free)
    tau = _inverse(robot, tracer, q, qd, qdd, friction, smooth)
    extra = {
        "T_r": "wanted pose in frame 0",
        "V_r": "its twist (linear, angular) in frame 0",
        "Vd_r": "its acceleration",
    }
    return _program(tracer, "task-space", robot, {"tau": ((n,), tau)}, extra)


def _controlled(robot: Robot, task: Sequence[str] | str | None, n: int) -> list[int]:
    """The components of a task, no more than there are drives."""
    rows = rows_of(task, n)
    if len(rows) > n:
        raise InputError(
            f"'{robot.name}' drives {n} joints: name the {n} components of the task that they"
            f' control, such as task="{" ".join(ROWS[:n])}"'
        )
    return rows


def _least_change(J: list[list[Any]], wanted: list[Any], y: list[Any]) -> list[Any]:
    """The solution of J x = wanted nearest to y: y + J^T (J J^T)^-1 (wanted - J y)."""
    rest = [a - dot(row, y) for a, row in zip(wanted, J, strict=True)]
    pull = solve_symmetric([[dot(a, b) for b in J] for a in J], rest)
    return [x + dot([row[j] for row in J], pull) for j, x in enumerate(y)]


def _pose_error(T: list[list[Any]], T_r: list[list[Any]]) -> list[Any]:
    """Position error, and half the sum of the cross products of the axes: sin of the angle."""
    turn = Vec(0, 0, 0)
    for c in range(3):
        turn = turn + cross([T[r][c] for r in range(3)], [T_r[r][c] for r in range(3)])
    return [T_r[r][3] - T[r][3] for r in range(3)] + [x / 2 for x in turn]


@named_arguments
def task_space(
    robot: Robot, path: Path, kp: Numbers = 100.0, kd: Numbers = 20.0, **options: Any
) -> TaskLaw:
    """Computed torque in task space along a path.

    >>> from cardan.motion import paths
    >>> robot = cardan.load("ur5")
    >>> start = np.array([0, -1, 1, -0.5, 0.5, 0])
    >>> T0 = cardan.model(robot, "transform").evaluate(q=start)
    >>> T1 = T0.copy()
    >>> T1[0, 3] += 0.1
    >>> law = cardan.control.task_space(robot, paths.line(T0, T1, 1.0))
    >>> law(0.0, start, np.zeros(6)).shape
    (6,)"""
    return TaskLaw(task_law(robot, kp, kd, **options), path)


@named_arguments
def with_error(robot: Robot, fraction: float, seed: int = 0) -> Robot:
    """The robot with every inertial parameter wrong by up to a fraction: what a model never is."""
    with translated("no errors can be drawn", remedy="give a seed that is not negative"):
        rng = np.random.default_rng(seed)

    def wrong(item: Any) -> Any:
        factor = 1 + fraction * float(rng.uniform(-1, 1))
        keys = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
        return replace(item, **{key: getattr(item, key) * factor for key in keys})

    return replace(robot, links=tuple(map(wrong, robot.links)))
