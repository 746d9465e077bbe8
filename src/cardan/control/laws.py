"""Control laws as programs: they run in simulations, are linearised exactly, and print as C.

    pd                tau = kp e + kd ed
    pid               tau = kp e + kd ed + ki z,   zd = e
    pd-gravity        tau = kp e + kd ed + Q(q)
    feedforward       tau = ID(q_r, qd_r, qdd_r) + kp e + kd ed,   or a part of the model
    computed-torque   tau = ID(q, qd, qdd_r + kp e + kd ed)
    task-space        tau = ID(q, qd, J⁺(Vd_r + kd (V_r - J qd) + kp e_x - Jdot qd))
    impedance         tau = J^T (K e_x + D (V_r - J qd)) + Q(q)
    adaptive          tau = Y(q, qd, v, vd) K + kd s,   Kd = Γ Y^T s

with e = q_r - q, [B23] 3.2.2, 3.3, 3.8. The adaptive law is that of Slotine and Li (1987) on the
base parameters: v = qd_r + L e, s = v - qd. Every law in joint space may have an integral part and
limits of its torques; at a limit the integral is held back, zd = e + (sat(tau) - tau) / kp (back
calculation: K. Åström, L. Rundqwist, "Integrator windup and how to avoid it", 1989). An impedance
shapes no inertia: the tool moves as its own (N. Hogan, "Impedance control", 1985).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..algebra.solve import solve_symmetric
from ..algebra.vector import Vec, cross, dot
from ..arguments import Numbers, named_arguments
from ..build.kinematic import ROWS
from ..describe.robot import INERTIA, WRENCH, Robot
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
from ..simulation.friction import SMOOTH, smoothed

LAWS = ("pd", "pid", "pd-gravity", "feedforward", "computed-torque")
# of a feedforward torque: the whole model, or the sum of some of the others
PARTS = ("model", "gravity", "inertia", "velocity", "friction")
STATES = ("z", "K")  # inputs of laws that are states; the rates are zd and Kd
BASE = {
    "T0": "pose of the base in the world",
    "V0": "twist of the base (linear, angular) in its own axes",
    "g0": "gravity in the axes of the base, m/s²",
}
REFERENCE = {"q_r": "wanted positions", "qd_r": "velocities", "qdd_r": "accelerations"}
AHEAD = {**REFERENCE, "qddd_r": "jerks", "qdddd_r": "rates of the jerks"}


@dataclass(frozen=True)
class Law:
    """A law that follows a motion of the joints, or a path or a pose of a frame: (t, q, qd) -> tau.

    One with a state is (t, q, qd, z) -> (tau, zd), from z0; one of a floating base also takes
    `base`: its pose T0 in the world, its twist V0 and gravity g0 in its own axes. `whole`: the
    positions of all joints where those of the driven ones are, of a law that refers to them."""

    program: Program
    motion: Trajectory | Path | np.ndarray
    first: np.ndarray | None = None  # its state at the start, if not zero
    whole: Callable[[float, np.ndarray], np.ndarray] | None = None

    @cached_property
    def function(self) -> Any:
        return self.program.compile()

    @cached_property
    def state(self) -> str:
        """The input that is a state; '' where the law has none."""
        return state_name(self.program)

    @cached_property
    def z0(self) -> np.ndarray | None:
        """The state at the start; None where the law has none."""
        if not self.state or self.first is not None:
            return self.first
        return np.zeros(self.program.inputs[self.state])

    @property
    def base(self) -> bool:
        """Does it ask for the motion of a floating base?"""
        return any(key in self.program.inputs for key in BASE)

    @property
    def columns(self) -> tuple[str, ...]:
        """The base parameters that an adaptive law estimates."""
        return tuple(self.program.columns)

    def wanted(self, t: float) -> dict[str, Any]:
        """The references at a time, by the names of the program's inputs."""
        if isinstance(self.motion, Trajectory):
            order = [*self.motion(t)]
            if self.whole is not None:
                order[0] = self.whole(t, order[0])
            if "qddd_r" in self.program.inputs:
                order += jerks(self.motion, t)
            return dict(zip(AHEAD, order, strict=False))
        if isinstance(self.motion, np.ndarray):
            return {"T_r": self.motion, "V_r": np.zeros(6), "Vd_r": np.zeros(6)}
        now = self.motion(min(t, self.motion.duration))
        still = 1.0 if t <= self.motion.duration else 0.0
        return {"T_r": now.T, "V_r": now.V * still, "Vd_r": now.Vd * still}

    def outputs(
        self, t: float, q: np.ndarray, qd: np.ndarray, z: Any = None, base: Any = None
    ) -> dict[str, np.ndarray]:
        """Everything that the program gives, by name."""
        now = {"q": q, "qd": qd, **self.wanted(t), **(base or {})}
        if self.state:
            now[self.state] = np.ascontiguousarray(self.z0 if z is None else z)
        result = self.function(**{key: now[key] for key in self.program.inputs})
        names = list(self.program.outputs)
        return dict(zip(names, result if len(names) > 1 else (np.asarray(result),), strict=True))

    def __call__(
        self, t: float, q: np.ndarray, qd: np.ndarray, z: Any = None, base: Any = None
    ) -> Any:
        result = self.outputs(t, q, qd, z, base)
        return (result["tau"], result[f"{self.state}d"]) if self.state else result["tau"]


def state_name(law: Program) -> str:
    """The input of a law that is its state; '' where it has none."""
    return next((key for key in STATES if key in law.inputs), "")


def jerks(motion: Trajectory, t: float) -> list[np.ndarray]:
    """Third and fourth derivatives, by differences that are exact for pieces of up to degree 6."""
    h = 1e-3 * motion.duration
    if not h or not motion.t[0] <= t <= motion.t[-1]:
        return [np.zeros(motion.n)] * 2
    middle = np.clip(t, motion.t[0] + 2 * h, motion.t[-1] - 2 * h)
    a, b, c, d, e = motion(middle + h * np.arange(-2, 3))[2]
    rate = (a - 8 * b + 8 * d - e) / (12 * h)
    second = (16 * (b + d) - a - e - 30 * c) / (12 * h * h)
    third, fourth = (e - a - 2 * (d - b)) / (2 * h**3), (a + e - 4 * (b + d) + 6 * c) / h**4
    u = t - middle
    return [rate + u * second + u * u / 2 * third + u**3 / 6 * fourth,
            second + u * third + u * u / 2 * fourth]  # fmt: skip


@named_arguments
def gains(robot: Robot, bandwidth: float, kind: str, q: Numbers = 0.0) -> tuple[Any, ...]:
    """(kp, kd) of critically damped joints of that bandwidth, rad/s; (kp, kd, ki) of a pid law, all
    of whose poles are there.

    For laws that do not know the inertia they are scaled by that which each joint sees at q.

    >>> cardan.control.gains(cardan.load("ur5"), 10.0, "computed-torque")
    (100.0, 20.0)"""
    w = positive_bandwidth(bandwidth)
    unit = (3 * w * w, 3 * w, w**3) if kind == "pid" else (w * w, 2 * w)
    if kind == "computed-torque":
        return unit
    at = coordinates(robot).first("q", q)
    A = compiled(robot, "inertia-matrix")(q=at)
    if is_floating(robot):  # what is left to the joints where the base gives way
        A = A[6:, 6:] - A[6:, :6] @ np.linalg.solve(A[:6, :6], A[:6, 6:])
    return tuple(np.diag(A) * gain for gain in unit)


def positive_bandwidth(given: Any) -> float:
    """A bandwidth in rad/s, checked: a negative one makes a robot run away."""
    if not isinstance(given, int | float | np.number) or not 0 < given < np.inf:
        raise InputError(f"a bandwidth of {given} rad/s; expected a positive one")
    return float(given)


def positive(name: str, given: Any, n: int) -> list[float]:
    """Gains, one for all or one each: none is below zero, where an error would push away."""
    values = vector(name, given, n)
    if (values < 0).any():
        shown = given if np.ndim(given) == 0 else values.tolist()
        raise InputError(
            f"{name} = {shown}: a gain below zero", where=name,
            remedy="laws add their gains, as in tau = kp e + kd ed + ki z: give them positive",
        )  # fmt: skip
    return [float(x) for x in values]


@named_arguments
def joint_law(
    robot: Robot, kind: str, kp: Numbers, kd: Numbers, ki: Numbers = 0.0, *,
    parts: str | Sequence[str] = "model",
    limit: Numbers = None, friction: bool = True, smooth: float = SMOOTH,
) -> Program:  # fmt: skip
    """The program of a law in joint space: q, qd, q_r, qd_r, qdd_r -> tau; with an integral part
    ki also z -> zd; with the model of a floating base also V0, g0. With closed loops q_r are the
    driven joints, of a feedforward torque all joints as q, with the loops closed.

    `parts` of a feedforward torque: the whole model, or one or several of gravity (with springs),
    inertia, velocity (Coriolis and centrifugal torques) and friction. `limit`: largest torques,
    infinite where there is none. `friction`: compensate it too (feedforward, computed torque)."""
    _drivable(robot, floating=kind not in ("pd-gravity",))
    if kind not in LAWS:
        raise UnknownNameError.of("control law", kind, LAWS)
    on = coordinates(robot)
    n = on.nv
    kp, kd, ki = (positive(x, y, n) for x, y in (("kp", kp), ("kd", kd), ("ki", ki)))
    if kind == "pid" and not any(ki):
        raise InputError("a pid law has an integral part; ki is 0", remedy="give ki, or use pd")
    tracer = Tracer()
    q = tracer.array("q", on.nq)
    whole = kind == "feedforward"
    qd, r = tracer.array("qd", n), tracer.array("q_r", on.nq if whole else n)
    rd, rdd = (tracer.array(name, n) for name in ("qd_r", "qdd_r"))
    z = tracer.array("z", n) if any(ki) else [0] * n
    modelled = kind in ("computed-torque", "feedforward")
    base = _base(tracer, "V0", "g0") if modelled and is_floating(robot) else {}
    wanted = [r[k] for k in on.place] if whole else r
    e = [x - q[k] for x, k in zip(wanted, on.place, strict=True)]
    pull = [
        a * x + b * (xd - yd) + c * s
        for a, b, c, x, xd, yd, s in zip(kp, kd, ki, e, rd, qd, z, strict=True)
    ]
    if kind == "computed-torque":
        push = [x + u for x, u in zip(rdd, pull, strict=True)]
        tau = _inverse(robot, tracer, {"q": q, "qd": qd, "qdd": push, **base}, friction, smooth)
    elif kind == "feedforward":
        moved = {"q": r, "qd": rd, "qdd": rdd, **base}
        ahead = _ahead(robot, tracer, moved, parts, friction, smooth)
        tau = [u + x for u, x in zip(pull, ahead, strict=True)]
    elif kind == "pd-gravity":
        Q = inline(tracer.graph, derived(robot, "gravity").code, {"q": q})["Q"]
        tau = [u + g for u, g in zip(pull, Q, strict=True)]
    else:
        tau = pull
    held = tau if limit is None else _saturated(tracer, tau, limit)
    outputs: dict[str, Any] = {"tau": ((n,), held)}
    if any(ki):
        back = [(x - y) / a if a else 0 for x, y, a in zip(held, tau, kp, strict=True)]
        outputs["zd"] = (
            (n,),
            e if limit is None else [x + y for x, y in zip(e, back, strict=True)],
        )
    words = {"q_r": "wanted positions of all joints, as q"} if whole and on.closed else {}
    program = _program(tracer, kind, robot, outputs, {**REFERENCE, **words})
    options = {"parts": parts, "limit": limit, "friction": friction}
    return jumping(program, friction and modelled, smooth, joint_law, robot, kind, kp, kd, ki,
                   **options)  # fmt: skip


def jumping(
    program: Program, rubs: bool, smooth: float, make: Callable[..., Program], *given: Any,
    **options: Any,
) -> Program:  # fmt: skip
    """The program of a law that smooths dry friction, with how it is made with jumps instead."""
    if not (rubs and smooth):
        return program
    return replace(program, jumping=partial(make, *given, **options, smooth=0.0))


def _base(tracer: Tracer, *names: str) -> dict[str, list[Any]]:
    """What a law measures of a floating base."""
    sizes = {"V0": 6, "g0": 3}
    return {name: tracer.array(name, sizes[name]) for name in names}


def _ahead(
    robot: Robot, tracer: Tracer, motion: dict[str, list[Any]], parts: str | Sequence[str],
    friction: bool, smooth: float,
) -> list[Any]:  # fmt: skip
    """The torque of the wanted motion, or parts of it, [B23] 3.3: known before the robot moves."""
    wanted = [parts] if isinstance(parts, str) else list(dict.fromkeys(parts))
    for part in wanted:
        if part not in PARTS:
            raise UnknownNameError.of("part of the model", part, PARTS)
    if not wanted or ("model" in wanted and len(wanted) > 1):
        raise InputError(
            f"parts = {list(parts)}: 'model' is the whole, the others are parts of it",
            remedy='give "model", or some of the others',
        )
    if wanted == ["model"]:
        return _inverse(robot, tracer, motion, friction, smooth)
    if is_floating(robot):
        raise ModelError(
            f"the base of '{robot.name}' floats: its joints see the whole model, no part of it",
            remedy='use parts="model"',
        )
    q, qd, qdd = (motion[key] for key in ("q", "qd", "qdd"))
    graph, n = tracer.graph, len(qd)

    def run(name: str, output: str, **inputs: list[Any]) -> list[Any]:
        options = {"friction": False} if name == "bias" else {}
        return list(inline(graph, derived(robot, name, **options).code, inputs)[output])

    tau: list[Any] = [0] * n
    for part in wanted:
        if part == "inertia":
            A = run("inertia-matrix", "A", q=q)
            own = [dot(A[n * k : n * k + n], qdd) for k in range(n)]
        elif part == "friction":
            own = rubbing(robot, tracer, q, qd, {}, smooth)
        else:
            own = run("bias", "H", q=q, qd=[0] * n)
            if part == "velocity":
                own = [x - y for x, y in zip(run("bias", "H", q=q, qd=qd), own, strict=True)]
        tau = [x + y for x, y in zip(tau, own, strict=True)]
    return tau


def _saturated(tracer: Tracer, tau: list[Any], limit: Any) -> list[Any]:
    """Torques held within ±limit; where it is infinite there is none."""
    limits = np.asarray(limit, float)
    vector("limit", np.where(np.isposinf(limits), 1.0, limits), len(tau))
    if (limits <= 0).any():
        raise InputError(f"limit: {limits.tolist()}; expected positive torques")
    apply = tracer.graph.apply
    return [
        apply("max", apply("min", u, float(most)), -float(most)) if np.isfinite(most) else u
        for u, most in zip(tau, np.broadcast_to(limits, len(tau)), strict=True)
    ]


def limited(program: Program, limit: Any) -> Program:
    """A law whose torques are held within ±limit; it has no state that winds up meanwhile."""
    tracer = Tracer()
    x = {key: tracer.array(key, *shape) for key, shape in program.inputs.items()}
    flat = {
        key: [y for row in z for y in row] if len(program.inputs[key]) > 1 else z
        for key, z in x.items()
    }
    tau = _saturated(tracer, inline(tracer.graph, program.code, flat)["tau"], limit)
    code, _ = tracer.program({"tau": (program.outputs["tau"], tau)})
    again = program.jumping
    jumps = None if again is None else partial(_limited_again, again, limit)
    return replace(program, code=code, jumping=jumps)


def _limited_again(make: Callable[[], Program], limit: Any) -> Program:
    return limited(make(), limit)


def _drivable(robot: Robot, floating: bool = False) -> None:
    """Numbers, and a drive for every motion that the law controls; `floating`: the base may."""
    require_numbers(robot, "a control law")
    if is_floating(robot) and not floating:
        raise ModelError(
            f"this law is for a fixed base, and that of '{robot.name}' floats",
            remedy="use pd, pid, feedforward, computed-torque or task-space",
        )
    if not coordinates(robot).driven.all():
        raise ModelError(
            f"this law is for rigid joints and links; not '{robot.name}'",
            remedy="simulate it with its motion prescribed (motion=...)", action="prescribed",
        )  # fmt: skip


def _inverse(
    robot: Robot, tracer: Tracer, motion: dict[str, list[Any]], friction: bool, smooth: float
) -> list[Any]:
    """The inverse model inside a law, with the smoothed friction that simulations have. With a
    floating base, which gives way, it is that of the reduced inertia."""
    source = smoothed(robot, smooth) if friction else robot
    code = derived(source, "inverse-dynamics", friction=friction).code
    return inline(tracer.graph, code, motion)["tau"]


def rubbing(
    robot: Robot, tracer: Tracer, q: list[Any], qd: list[Any], base: dict[str, list[Any]],
    smooth: float,
) -> list[Any]:  # fmt: skip
    """The torques of friction alone, as simulations have it; `base`: V0 and g0 of one that floats,
    which do not matter."""
    code = derived(massless(smoothed(robot, smooth)), "bias").code
    return inline(tracer.graph, code, {"q": q, "qd": qd, **base})["H"][-len(qd) :]


def massless(robot: Robot) -> Robot:
    """The robot without inertia, wrenches, weight and springs: its bias is friction."""
    nothing: Any = dict.fromkeys((*INERTIA, *WRENCH), 0)
    return replace(
        robot,
        gravity=(0, 0, 0),
        links=tuple(replace(link, **nothing) for link in robot.links),
        joints=tuple(replace(joint, IA=0, spring=0, neutral=0) for joint in robot.joints),
        loops=tuple(replace(loop, cut=replace(loop.cut, IA=0)) for loop in robot.loops),
        base=replace(robot.base, link=replace(robot.base.link, **nothing)),
    )


def _program(
    tracer: Tracer, kind: str, robot: Robot, outputs: dict[str, Any], extra: dict[str, str]
) -> Program:
    code, _ = tracer.program(outputs)
    meaning = {
        "q": "measured joint positions, rad or m",
        "qd": "measured joint velocities, rad/s or m/s",
        "tau": "torques or forces of the drives, N m or N",
        "z": "state of the law: the integral of the error",
        "zd": "its rate",
        **BASE,
        **extra,
    }
    used = {key: text for key, text in meaning.items() if key in (*code.inputs, *code.outputs)}
    return Program(f"control {kind}", robot.name, code, meaning=used)


@named_arguments
def law(
    robot: Robot, motion: Trajectory, kind: str, kp: Numbers, kd: Numbers, ki: Numbers = 0.0,
    *, q0: Numbers = None, **options: Any,
) -> Law:  # fmt: skip
    """A law of `LAWS` following a motion; `q0`: all joints of a closed robot where it starts, if
    not in the first assembly."""
    program = joint_law(robot, kind, kp, kd, ki, **options)
    known, on = of_drives(robot, motion), coordinates(robot)
    whole = closed_along(robot, known, q0) if kind == "feedforward" and on.nq != on.nv else None
    return Law(program, known, whole=whole)


def closed_along(
    robot: Robot, motion: Trajectory, q0: Numbers
) -> Callable[[float, np.ndarray], np.ndarray]:
    """All joints of a closed robot along a motion of its driven ones, from q0: a function of the
    time and of these."""
    on = coordinates(robot)
    start = on.first("q0", motion.q[0] if q0 is None else q0)
    path = on.rolled_along(motion, start) if robot.wheels else on.follow(motion.q, start)

    def whole(t: float, wanted: np.ndarray) -> np.ndarray:
        near = np.array([np.interp(t, motion.t, way) for way in path.T])
        near[on.place] = wanted
        return on.closed_at(near)

    return whole


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
def pid(
    robot: Robot, motion: Trajectory, kp: Numbers, kd: Numbers, ki: Numbers, **options: Any
) -> Law:
    """tau = kp e + kd ed + ki z with zd = e; limit=: largest torques, at which z is held back.

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
    >>> law = cardan.control.pid(robot, motion, kp=300.0, kd=30.0, ki=1000.0, limit=100.0)
    >>> list(law.program.outputs), law.z0.shape
    (['tau', 'zd'], (6,))"""
    return law(robot, motion, "pid", kp, kd, ki, **options)


@named_arguments
def feedforward(
    robot: Robot, motion: Trajectory, kp: Numbers, kd: Numbers, ki: Numbers = 0.0, **options: Any
) -> Law:
    """tau = ID(q_r, qd_r, qdd_r) + kp e + kd ed (+ ki z); parts=["gravity", "friction"], ...:
    these of the model alone, of gravity, inertia, velocity and friction. With closed loops the
    passive joints follow the motion from q0, all joints where it starts.

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
    >>> law = cardan.control.feedforward(robot, motion, kp=100.0, kd=20.0)
    >>> q, qd, qdd = motion(0.5)
    >>> tau = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=qdd)
    >>> np.allclose(law(0.5, q, qd), tau)
    True"""
    return law(robot, motion, "feedforward", kp, kd, ki, **options)


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
    motion that does not move them. With closed loops the active joints are driven. On a floating
    base, which gives way, references are in the world, the base's T0, V0 and g0 are inputs, and J
    is the generalised Jacobian (Y. Umetani, K. Yoshida, 1989)."""
    _drivable(robot, floating=True)
    on, floats = coordinates(robot), is_floating(robot)
    n, rows = on.nv, _controlled(robot, task, on.nv)
    kp, kd = positive("kp", kp, len(rows)), positive("kd", kd, len(rows))
    posture = positive("posture", posture, 1)[0]
    chosen = {} if frame is None else {"frame": frame}
    tracer = Tracer()
    q, qd = tracer.array("q", on.nq), tracer.array("qd", n)
    T_r = tracer.array("T_r", 4, 4)
    V_r, Vd_r = tracer.array("V_r", 6), tracer.array("Vd_r", 6)
    base = _base(tracer, "V0", "g0") if floats else {}

    def run(name: str, output: str, **options: Any) -> list[Any]:
        code = derived(robot, name, **options).code
        return inline(tracer.graph, code, {"q": q, "qd": qd, **base})[output]

    flat, J = run("transform", "T", **chosen), run("jacobian", "J", **chosen)
    Jdqd = run("jdot-qdot", "Jdqd", **chosen)
    T = [flat[4 * r : 4 * r + 4] for r in range(4)]
    jacobian = [J[n * r : n * r + n] for r in range(6)]
    V = [dot(row, qd) for row in jacobian]
    if floats:
        T0 = tracer.array("T0", 4, 4)
        V, Jdqd, jacobian, T = _in_world(robot, tracer, T0, T, (V, Jdqd, jacobian), base, q, qd)
    e = _pose_error(T, T_r)
    wanted = [
        Vd_r[r] + b * (V_r[r] - V[r]) + a * e[r] - Jdqd[r]
        for a, b, r in zip(kp, kd, rows, strict=True)
    ]
    if len(rows) == n == 6 and not on.closed and not floats:
        Jinv = run("jacobian-inverse", "Jinv", **chosen)
        qdd = [dot(Jinv[6 * j : 6 * j + 6], wanted) for j in range(n)]
    else:
        free = [-(float(posture) * v) for v in qd] if len(rows) < n else [0] * n
        qdd = _least_change([jacobian[r] for r in rows], wanted, free)
    tau = _inverse(robot, tracer, {"q": q, "qd": qd, "qdd": qdd, **base}, friction, smooth)
    where = "the world" if floats else "frame 0"
    extra = {
        "T_r": f"wanted pose in {where}",
        "V_r": f"its twist (linear, angular) in {where}",
        "Vd_r": "its acceleration",
    }
    program = _program(tracer, "task-space", robot, {"tau": ((n,), tau)}, extra)
    options = {"frame": frame, "task": task, "posture": posture}
    return jumping(program, friction, smooth, task_law, robot, kp, kd, **options)


def _in_world(
    robot: Robot, tracer: Tracer, T0: list[list[Any]], T: list[list[Any]],
    task: tuple[list[Any], list[Any], list[list[Any]]], base: dict[str, list[Any]], q: list[Any],
    qd: list[Any],
) -> tuple[list[Any], list[Any], list[list[Any]], list[list[Any]]]:  # fmt: skip
    """(V, Jdqd, J, T) of a frame on a floating base, in the world: the twist with that of the base,
    J generalised by the motion that the joints give to the base, V0d = V0d_0 - A11^-1 A12 qdd."""
    V, Jdqd, jacobian = task
    n, P = len(qd), [T[r][3] for r in range(3)]

    def carried(x: Sequence[Any]) -> list[Any]:
        """The twist of the frame of a twist of the base, in the axes of the base."""
        return [a + b for a, b in zip(x[:3], cross(x[3:], P), strict=True)] + list(x[3:])

    def turned(x: Sequence[Any]) -> list[Any]:
        return [dot(row[:3], part) for part in (x[:3], x[3:]) for row in T0[:3]]

    A = inline(tracer.graph, derived(robot, "inertia-matrix").code, {"q": q})["A"]
    rows = [A[(n + 6) * r : (n + 6) * (r + 1)] for r in range(6)]
    A11 = [row[:6] for row in rows]
    gives = [carried(solve_symmetric(A11, [row[6 + c] for row in rows])) for c in range(n)]
    inputs = {"q": q, "qd": qd, "qdd": [0] * n, **base}
    code = derived(robot, "inverse-dynamics", friction=False).code
    free = carried(inline(tracer.graph, code, inputs)["V0d"])
    columns = [turned([jacobian[r][c] - gives[c][r] for r in range(6)]) for c in range(n)]
    V = turned([a + b for a, b in zip(V, carried(base["V0"]), strict=True)])
    Jdqd = turned([a + b for a, b in zip(Jdqd, free, strict=True)])
    pose = [[dot(row[:3], [T[k][c] for k in range(3)]) + (row[3] if c == 3 else 0)
             for c in range(4)] for row in T0[:3]]  # fmt: skip
    return V, Jdqd, [[column[r] for column in columns] for r in range(6)], pose


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
) -> Law:
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
    return Law(task_law(robot, kp, kd, **options), path)


@named_arguments
def impedance_law(
    robot: Robot, stiffness: Numbers = 500.0, damping: Numbers = 50.0, *, frame: Any = None,
    task: Sequence[str] | str | None = None, posture: Numbers = 1.0,
) -> Program:  # fmt: skip
    """tau = J^T (K e_x + D (V_r - J qd)) + Q(q), q, qd, T_r, V_r -> tau; twists in frame 0's axes.

    `task`: components that are held ("x y z rx ry rz"), with a stiffness (N/m, N m/rad) and a
    damping each; `posture`: damping (N m s/rad) of joint motion that does not move them."""
    _drivable(robot)
    on = coordinates(robot)
    n, rows = on.nv, _controlled(robot, task, on.nv)
    K, D = (positive(x, y, len(rows)) for x, y in (("stiffness", stiffness), ("damping", damping)))
    chosen = {} if frame is None else {"frame": frame}
    tracer = Tracer()
    q, qd = tracer.array("q", on.nq), tracer.array("qd", n)
    T_r, V_r = tracer.array("T_r", 4, 4), tracer.array("V_r", 6)
    graph = tracer.graph
    T = inline(graph, derived(robot, "transform", **chosen).code, {"q": q})["T"]
    J = inline(graph, derived(robot, "jacobian", **chosen).code, {"q": q})["J"]
    Q = inline(graph, derived(robot, "gravity").code, {"q": q})["Q"]
    e = _pose_error([T[4 * r : 4 * r + 4] for r in range(4)], T_r)
    jacobian = [J[n * r : n * r + n] for r in rows]
    push = [
        k * e[r] + d * (V_r[r] - dot(row, qd))
        for k, d, r, row in zip(K, D, rows, jacobian, strict=True)
    ]
    tau = [dot([row[j] for row in jacobian], push) + Q[j] for j in range(n)]
    if len(rows) < n:
        losses = positive("posture", posture, n)
        drag = [-(c * v) for c, v in zip(losses, qd, strict=True)]
        rest = _least_change(jacobian, [0] * len(rows), drag)
        tau = [u + x for u, x in zip(tau, rest, strict=True)]
    extra = {
        "T_r": "wanted pose in frame 0",
        "V_r": "its twist (linear, angular) in frame 0",
    }
    return _program(tracer, "impedance", robot, {"tau": ((n,), tau)}, extra)


@named_arguments
def impedance(
    robot: Robot, path: Path | np.ndarray, stiffness: Numbers = 500.0, damping: Numbers = 50.0,
    **options: Any,
) -> Law:  # fmt: skip
    """A spring and a damper between the tool and a path, or a pose (4,4); gravity is compensated.

    >>> robot = cardan.load("panda")
    >>> q = np.array([0, -0.4, 0, -2, 0, 1.6, 0.8])
    >>> T = cardan.model(robot, "transform").evaluate(q=q)
    >>> law = cardan.control.impedance(robot, T, stiffness=[400] * 3 + [20] * 3, damping=30)
    >>> np.allclose(law(0.0, q, np.zeros(7)), cardan.model(robot, "gravity").evaluate(q=q))
    True"""
    if not isinstance(path, Path):
        path = np.asarray(path, float)
        if path.shape != (4, 4):
            raise InputError(f"a pose of shape {path.shape}; expected (4, 4), or a path")
    return Law(impedance_law(robot, stiffness, damping, **options), path)


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
