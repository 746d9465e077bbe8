"""Laws for elastic joints: a motor, then a spring on its axis, then the link.

    A(x) xdd + n(x, xd) = tau_J,   tau_J = k (q0 - s)      x = theta + s: position of the link
    IA thetadd + friction + tau_J = tau                    theta: of the motor

The description has the motor as a driven joint of inertia IA without a link of mass, and the spring
as an elastic joint on its axis; q = (theta, s). References are positions x of the links.

    elastic-pd   tau = kp (theta_r - theta) + kd (xd_r - thetad) + Q(x_r),
                 theta_r = x_r - q0 + Q(x_r) / k
    linearising  tau = IA (xdd - sdd) + friction + tau_J with sdd such that
                 x'''' = x_r'''' + k3 e''' + k2 e'' + k1 e' + k0 e

The first holds the motor where the spring, loaded by the weight, has the link at x_r; it needs
k larger than the slope of gravity (P. Tomei, 1991). The second measures the whole state and leaves
four integrators to every joint (M. Spong, 1987): it takes all joints elastic, springs without
damping, and rotors that have no inertia but about their axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..algebra.solve import solve_symmetric
from ..arguments import Numbers, named_arguments
from ..describe.robot import FIXED, INERTIA, Robot
from ..errors import InputError, ModelError
from ..ir.code import Code
from ..ir.derivative import along
from ..ir.passes import inline
from ..ir.trace import Tracer
from ..mechanism.coordinates import is_floating
from ..models.friction import COEFFICIENTS
from ..motion.coordinates import coordinates
from ..motion.derived import compiled, derived
from ..motion.joints import moving, number, require_numbers
from ..motion.trajectory import Trajectory
from ..program import Program
from ..simulation.friction import SMOOTH
from .laws import (
    AHEAD,
    REFERENCE,
    Law,
    _program,
    _saturated,
    jumping,
    positive,
    positive_bandwidth,
    rubbing,
)


@dataclass(frozen=True)
class Pairs:
    """Which element of q is a motor, and which its spring; None for a rigid joint."""

    motors: tuple[int, ...]
    springs: tuple[int | None, ...]
    k: np.ndarray  # of rigid joints 0
    rest: np.ndarray

    def spread(self, x: list[Any], n: int) -> list[Any]:
        """All of q with the links at x and no spring loaded."""
        q: list[Any] = [0] * n
        for motor, value in zip(self.motors, x, strict=True):
            q[motor] = value
        return q

    def motion(self, x: Sequence[list[Any]], n: int) -> dict[str, list[Any]]:
        """q, qd, qdd of the links as the models take them."""
        return {key: self.spread(y, n) for key, y in zip(("q", "qd", "qdd"), x, strict=True)}

    def links(self, q: list[Any]) -> list[Any]:
        """Positions of the links, or their rates, of all of q."""
        return [
            q[m] if s is None else q[m] + q[s]
            for m, s in zip(self.motors, self.springs, strict=True)
        ]


def pairs(robot: Robot) -> Pairs:
    """The motors of a robot with their springs."""
    require_numbers(robot, "a control law")
    if robot.constrained or robot.ne or is_floating(robot):
        raise ModelError(
            f"laws for elastic joints are for trees of rigid links on a fixed base; not"
            f" '{robot.name}'"
        )
    if coordinates(robot).driven.all():
        raise ModelError(f"no joint of '{robot.name}' is elastic", remedy="use computed_torque")
    column: dict[int, int] = {}
    for j, joint in enumerate(robot.joints, 1):
        if joint.sigma != FIXED:
            column[j] = len(column)
    behind = {}
    for j, joint in enumerate(robot.joints, 1):
        if joint.elastic:
            _require_pair(robot, j)
            behind[joint.antecedent] = j
    motors = [j for j in column if not robot.joints[j - 1].elastic]
    own = [robot.joints[behind[j] - 1] if j in behind else None for j in motors]
    return Pairs(
        tuple(column[j] for j in motors),
        tuple(column[behind[j]] if j in behind else None for j in motors),
        np.array([number(x.stiffness) if x else 0.0 for x in own]),
        np.array([number(x.rest) if x else 0.0 for x in own]),
    )


def _require_pair(robot: Robot, j: int) -> None:
    """Joint j is a spring on the axis of a motor, whose link carries nothing else."""
    spring = robot.joints[j - 1]
    motor = robot.joints[spring.antecedent - 1] if spring.antecedent else None
    away = [number(getattr(spring, key)) for key in ("gamma", "b", "alpha", "d")]
    held = motor is not None and (motor.elastic or motor.sigma != spring.sigma)
    others = [x for x in robot.joints if x.antecedent == spring.antecedent]
    if motor is None or held or any(away) or len(others) > 1:
        raise ModelError(
            f"joint '{spring.name}' of '{robot.name}' is elastic, and is not the spring of a motor:"
            " a driven joint of the same kind and axis before it, whose link carries it alone",
            remedy="describe the motor as a joint of inertia IA, then the spring on its axis",
        )
    if number(spring.stiffness) <= 0:
        raise ModelError(f"joint '{spring.name}' has no stiffness: its motor does not hold it")


@named_arguments
def elastic_gains(robot: Robot, bandwidth: float, q: Numbers = 0.0) -> tuple[Any, Any]:
    """(kp, kd) of `elastic_pd`: as of rigid joints, by the inertia of motor and link at q."""
    w, on, of = positive_bandwidth(bandwidth), coordinates(robot), pairs(robot)
    A = compiled(robot, "inertia-matrix")(q=on.first("q", q))
    inertia = np.diag(A)[list(of.motors)]
    return inertia * w * w, inertia * 2 * w


@named_arguments
def elastic_law(
    robot: Robot, kp: Numbers, kd: Numbers, ki: Numbers = 0.0, *, limit: Numbers = None
) -> Program:
    """PD on the motors with the weight at the wanted equilibrium: q, qd, q_r, qd_r, qdd_r -> tau;
    references are of the links."""
    of, on = pairs(robot), coordinates(robot)
    m = on.nu
    kp, kd, ki = (positive(x, y, m) for x, y in (("kp", kp), ("kd", kd), ("ki", ki)))
    tracer = Tracer()
    q, qd = tracer.array("q", on.nq), tracer.array("qd", on.nv)
    r, rd, _ = (tracer.array(name, m) for name in REFERENCE)
    z = tracer.array("z", m) if any(ki) else [0] * m
    Q = inline(tracer.graph, derived(robot, "gravity").code, {"q": of.spread(r, on.nq)})["Q"]
    load = [Q[j] for j in of.motors]
    motors = [
        x + g / float(k) - float(q0) if k else x
        for x, g, k, q0 in zip(r, load, of.k, of.rest, strict=True)
    ]
    e = [x - q[j] for x, j in zip(motors, of.motors, strict=True)]
    tau = [
        a * x + b * (xd - qd[j]) + c * s + g
        for a, b, c, x, xd, j, s, g in zip(kp, kd, ki, e, rd, of.motors, z, load, strict=True)
    ]
    held = tau if limit is None else _saturated(tracer, tau, limit)
    outputs: dict[str, Any] = {"tau": ((m,), held)}
    if any(ki):
        back = [(x - y) / a if a else 0 for x, y, a in zip(held, tau, kp, strict=True)]
        outputs["zd"] = ((m,), [x + y for x, y in zip(e, back, strict=True)])
    return _program(tracer, "elastic-pd", robot, outputs, _of_links(REFERENCE))


def _of_links(reference: dict[str, str]) -> dict[str, str]:
    return {key: f"{text} of the links" for key, text in reference.items()}


@named_arguments
def linearising_law(
    robot: Robot, bandwidth: float = 10.0, *, friction: bool = True, smooth: float = SMOOTH
) -> Program:
    """Feedback linearisation of elastic joints: q, qd, q_r .. qdddd_r -> tau; four poles of every
    joint at -bandwidth."""
    of, on = pairs(robot), coordinates(robot)
    _require_linear(robot)
    w, m, n = positive_bandwidth(bandwidth), on.nu, on.nq
    gains = (w**4, 4 * w**3, 6 * w**2, 4 * w)
    tracer = Tracer()
    q, qd = tracer.array("q", n), tracer.array("qd", n)
    reference = [tracer.array(name, m) for name in AHEAD]
    springs = [s for s in of.springs if s is not None]
    still: list[Any] = [0] * m
    code = derived(_link_side(robot), "inverse-dynamics", friction=False).code
    once = _rate(of, code, n)

    def inputs(*x: list[Any]) -> dict[str, list[Any]]:
        return {f"x{k}": y for k, y in enumerate(x)}

    def force(*x: list[Any]) -> list[Any]:
        """A xdd + n of positions, velocities and accelerations of the links."""
        tau = inline(tracer.graph, code, of.motion(x, n))["tau"]
        return [tau[s] for s in springs]

    flat = inline(tracer.graph, derived(robot, "inertia-matrix").code, {"q": q})["A"]
    A = [[flat[n * a + b] for b in springs] for a in springs]
    x, xd, k = of.links(q), of.links(qd), of.k.tolist()
    pull = [a * (float(q0) - q[s]) for a, q0, s in zip(k, of.rest, springs, strict=True)]
    pulled = [-(a * qd[s]) for a, s in zip(k, springs, strict=True)]
    xdd = _less(A, pull, force(x, xd, still))
    jerk = _less(A, pulled, inline(tracer.graph, once, inputs(x, xd, xdd, still))["f"])
    own = (x, xd, xdd, jerk)
    wanted = [
        sum((c * (r[j] - y[j]) for c, r, y in zip(gains, reference, own, strict=False)),
            start=reference[4][j])
        for j in range(m)
    ]  # fmt: skip
    # the second derivative of tau_J with that of x of order four, hence sdd
    twice = along(tracer.graph, once, inputs(*own), inputs(xd, xdd, jerk, wanted))["f"]
    bend = [-(f / a) for f, a in zip(twice, k, strict=True)]
    IA = [number(moving(robot)[j].IA) for j in of.motors]
    tau = [i * (a - b) + f for i, a, b, f in zip(IA, xdd, bend, pull, strict=True)]
    if friction:
        lost = rubbing(robot, tracer, q, qd, {}, smooth)
        tau = [u + lost[j] for u, j in zip(tau, of.motors, strict=True)]
    program = _program(tracer, "linearising", robot, {"tau": ((m,), tau)}, _of_links(AHEAD))
    return jumping(program, friction, smooth, linearising_law, robot, bandwidth)


def _rate(of: Pairs, code: Code, n: int) -> Code:
    """x0 .. x3 -> f: the rate of the torques of the springs of positions, velocities, accelerations
    and jerks of the links."""
    tracer = Tracer()
    x = [tracer.array(f"x{k}", len(of.motors)) for k in range(4)]
    rates = along(tracer.graph, code, of.motion(x[:3], n), of.motion(x[1:], n))["tau"]
    f = [rates[s] for s in of.springs if s is not None]
    return tracer.program({"f": ((len(f),), f)})[0]


def _link_side(robot: Robot) -> Robot:
    """All joints driven, rotors and springs gone: the torques of its springs move the links."""
    free: Any = {"elastic": False, "stiffness": 0, "rest": 0, "damping": 0, "IA": 0}
    return replace(robot, joints=tuple(replace(joint, **free) for joint in robot.joints))


def _require_linear(robot: Robot) -> None:
    """What keeps a robot with elastic joints from being linearised by feedback of its state."""
    carried = {joint.antecedent for joint in robot.joints if joint.elastic}
    for j, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True), 1):
        what = ""
        if joint.elastic:
            if any(number(getattr(joint, key)) for key in ("damping", *COEFFICIENTS)):
                what = "has a damped spring"
        elif number(joint.spring):
            what = "has a spring beside its motor"
        elif joint.sigma != FIXED and j not in carried:
            what = "is rigid"
        elif joint.sigma != FIXED and number(joint.IA) <= 0:
            what = "has a motor without inertia IA"
        elif joint.sigma != FIXED and any(number(getattr(link, key)) for key in INERTIA):
            what = "has a rotor whose link has inertia, which the links feel"
        if what:
            raise ModelError(
                f"joint '{joint.name}' of '{robot.name}' {what}: feedback linearisation takes"
                " springs without losses at every joint, and rotors that are IA alone",
                remedy="use elastic_pd",
            )


def _less(A: list[list[Any]], pull: list[Any], force: list[Any]) -> list[Any]:
    return solve_symmetric(A, [a - b for a, b in zip(pull, force, strict=True)])


@named_arguments
def elastic_pd(
    robot: Robot, motion: Trajectory, kp: Numbers, kd: Numbers, ki: Numbers = 0.0, **options: Any
) -> Law:
    """A motion of the links of elastic joints, followed by the motors: kp and kd act on them, and
    the weight at the wanted positions is held.

    >>> arm = cardan.load({"name": "arm", "gravity": [0, -9.81, 0], "link": [
    ...     {"joint": "revolute", "IA": 0.1},
    ...     {"joint": "revolute", "stiffness": 100, "mass": 2, "com": [0.3, 0, 0]}]})
    >>> motion = cardan.trajectory(arm, [0.5, 0.0], 1.0)
    >>> law = cardan.control.elastic_pd(arm, motion, kp=200.0, kd=20.0)
    >>> list(law.program.inputs)
    ['q', 'qd', 'q_r', 'qd_r', 'qdd_r']"""
    return Law(elastic_law(robot, kp, kd, ki, **options), of_motors(robot, motion))


@named_arguments
def linearising(robot: Robot, motion: Trajectory, bandwidth: float = 10.0, **options: Any) -> Law:
    """A motion of the links of elastic joints, followed exactly: feedback linearisation of the
    whole state, four poles of every joint at -bandwidth.

    >>> arm = cardan.load({"name": "arm", "gravity": [0, -9.81, 0], "link": [
    ...     {"joint": "revolute", "IA": 0.1},
    ...     {"joint": "revolute", "stiffness": 100, "mass": 2, "com": [0.3, 0, 0]}]})
    >>> motion = cardan.trajectory(arm, [0.5, 0.0], 1.0)
    >>> law = cardan.control.linearising(arm, motion, bandwidth=20.0)
    >>> law(0.0, np.zeros(2), np.zeros(2)).shape
    (1,)"""
    return Law(linearising_law(robot, bandwidth, **options), of_motors(robot, motion))


def of_motors(robot: Robot, motion: Trajectory) -> Trajectory:
    """A motion of the links: a column for every motor; of all joints motors and springs together
    are those of the links."""
    on, of = coordinates(robot), pairs(robot)
    if motion.n == on.nu:
        return motion
    if motion.n != on.nq:
        raise InputError(
            f"the motion has {motion.n} columns; expected {on.nu}, the positions of the links of"
            f" '{robot.name}', or {on.nq}, of all its joints"
        )

    def links(x: np.ndarray) -> np.ndarray:
        return np.stack(of.links(list(np.moveaxis(x, -1, 0))), -1)

    q, qd, qdd = (links(x) for x in (motion.q, motion.qd, motion.qdd))
    known = motion.law
    law: Any = None if known is None else lambda t: tuple(links(x) for x in known(t))
    return replace(motion, q=q, qd=qd, qdd=qdd, law=law)
