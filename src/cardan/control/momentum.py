"""The momentum observer: the torques of what touches a robot, without measuring accelerations.

    p = A qd                                    pd = tau + C^T qd - Q - friction + tau_ext
    r = K_o (p - z)                             zd = tau + C^T qd - Q - friction + r
    rd = K_o (tau_ext - r)                      from z(0) = p(0)

The residual r is the torque tau_ext of contacts, payloads and errors of the model, behind a first
order lag of bandwidth K_o (A. De Luca, R. Mattone, 2003). C^T qd is the derivative of the kinetic
energy by the positions, M^T ∂E/∂q with closed loops, where C is not formed. On a floating base it
is that of the joints, whose equations are Lagrange's whatever the base does. Elastic joints have
their springs among the known torques.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra.vector import dot
from ..arguments import Numbers, named_arguments
from ..describe.robot import Robot
from ..errors import InputError, ModelError
from ..ir.passes import inline
from ..ir.trace import Tracer
from ..mechanism.coordinates import is_floating
from ..motion.coordinates import coordinates
from ..motion.derived import compiled, derived
from ..motion.joints import moving, number, require_numbers, vector
from ..motion.trajectory import Trajectory
from ..program import Program
from ..simulation.friction import SMOOTH
from ..simulation.statespace import joint_rates
from .laws import Law, _program, _saturated, jumping, rubbing, state_name

_FLOATING = ("V0", "g0")
_SIZES = {"V0": 6, "g0": 3}
_STATE = "state of the observer: the momentum that the model predicts"
_RESIDUAL = "residual: torques of contacts and of errors of the model, N m or N"


@named_arguments
def observer(
    robot: Robot, gain: Numbers = 50.0, *, friction: bool = True, smooth: float = SMOOTH
) -> Program:
    """The program of the momentum observer: q, qd, tau, z -> r, zd; z starts at the momentum A qd,
    zero at rest. `gain`: 1/s, its bandwidth. On a floating base also V0, g0.

    >>> program = cardan.control.observer(cardan.load("ur5"), gain=50.0)
    >>> list(program.inputs), list(program.outputs)
    (['q', 'qd', 'tau', 'z'], ['r', 'zd'])"""
    tracer = Tracer()
    on = coordinates(robot)
    x = {
        "q": tracer.array("q", on.nq), "qd": tracer.array("qd", on.nv),
        "tau": tracer.array("tau", on.nu), "z": tracer.array("z", on.nv),
    }  # fmt: skip
    if is_floating(robot):
        x |= {key: tracer.array(key, _SIZES[key]) for key in _FLOATING}
    r, rate = predicted(robot, tracer, x, gain, friction, smooth)
    outputs = {"r": ((on.nv,), r), "zd": ((on.nv,), _pushed(robot, x["tau"], rate))}
    return _program(tracer, "momentum-observer", robot, outputs, {"z": _STATE, "r": _RESIDUAL})


def predicted(
    robot: Robot, tracer: Tracer, x: Mapping[str, list[Any]], gain: Any, friction: bool,
    smooth: float,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """(r, zd less the torques of the drives) of q, qd and z, in a trace."""
    require_numbers(robot, "an observer")
    if robot.ne:
        raise ModelError(
            f"'{robot.name}' has flexible links: not observed", remedy="use cardan.rigid first"
        )
    on, graph = coordinates(robot), tracer.graph
    n, q, qd = on.nv, x["q"], x["qd"]
    K = vector("gain", gain, n)
    if (K <= 0).any():
        raise InputError(f"gain: {K.tolist()}; expected positive values, 1/s")
    still = [0] * n
    base = {key: x[key] for key in _FLOATING if key in x}
    at_rest = {**base, "V0": [0] * 6} if base else {}
    p = inline(graph, derived(robot, "generalized-momentum").code, {"q": q, "qd": qd, **base})["h"]
    slope = derived(robot, "energies").derivative("E", "q")
    dE = inline(graph, slope.code, {"q": q, "qd": qd, **base})[next(iter(slope.outputs))]
    if on.closed:
        M = joint_rates(robot, graph, q, qd)[1]
        dE = [dot([row[c] for row in M], dE) for c in range(n)]
    weight = derived(robot, "bias", friction=False).code
    known = inline(graph, weight, {"q": q, "qd": still, **at_rest})["H"][-n:]
    if friction:
        lost = rubbing(robot, tracer, q, qd, at_rest, smooth)
        known = [a + b for a, b in zip(known, lost, strict=True)]
    known = [a + b for a, b in zip(known, _springs(robot, q, qd), strict=True)]
    r = [float(k) * (a - b) for k, a, b in zip(K, p[-n:], x["z"], strict=True)]
    return r, [e - f + s for e, f, s in zip(dE, known, r, strict=True)]


def _pushed(robot: Robot, tau: list[Any], rate: list[Any]) -> list[Any]:
    """With the torques of the drives."""
    motors = iter(tau)
    driven = coordinates(robot).driven
    return [x + next(motors) if own else x for x, own in zip(rate, driven, strict=True)]


def _springs(robot: Robot, q: list[Any], qd: list[Any]) -> list[Any]:
    """What springs of elastic joints take up, k (q - q0) + c qd."""
    on, joints = coordinates(robot), moving(robot)
    taken: list[Any] = []
    for v, place in zip(qd, on.place.tolist(), strict=True):
        joint = joints[place]
        if joint.elastic:
            k, rest, c = (number(y) for y in (joint.stiffness, joint.rest, joint.damping))
            taken.append(k * (q[place] - rest) + c * v)
        else:
            taken.append(0)
    return taken


@named_arguments
def observed(
    robot: Robot, law: Law, gain: Numbers = 50.0, *, compensate: bool = True,
    limit: Numbers = None, friction: bool = True, smooth: float = SMOOTH,
) -> Law:  # fmt: skip
    """A law with a momentum observer: tau = law - r, its state [that of the law, z]; the program
    also gives r. `robot`: what the observer knows. `compensate`: False only watches. `limit`:
    largest torques.

    >>> robot = cardan.load("ur5")
    >>> motion = cardan.trajectory(robot, 0.5, duration=1.0)
    >>> law = cardan.control.observed(robot, cardan.control.pd_gravity(robot, motion, 100.0, 20.0))
    >>> list(law.program.outputs), law.z0.shape
    (['tau', 'zd', 'r'], (6,))"""
    program = _observed(robot, law.program, gain, compensate, limit, friction, smooth)
    own = program.inputs["z"][0] - coordinates(robot).nv
    begin = np.zeros(own) if law.z0 is None else law.z0
    first = np.concatenate([begin, _momentum(robot, law.motion)])
    return replace(law, program=program, first=first)


def _observed(
    robot: Robot, inner: Program, gain: Any, compensate: bool, limit: Any, friction: bool,
    smooth: float,
) -> Program:  # fmt: skip
    """The program of a law and the observer."""
    if not smooth and inner.jumping:
        inner = inner.jumping()
    on, state = coordinates(robot), state_name(inner)
    if inner.outputs["tau"] != (on.nu,):
        raise InputError(
            f"the law drives {inner.outputs['tau'][0]} joints and '{robot.name}' has {on.nu}"
        )
    own = inner.inputs[state][0] if state else 0
    tracer, n = Tracer(), on.nv
    x: dict[str, Any] = {}
    for key, shape in inner.inputs.items():
        if key != state:
            x[key] = _flat(tracer.array(key, *shape))
    missing = _FLOATING if is_floating(robot) else ()
    x |= {key: tracer.array(key, _SIZES[key]) for key in missing if key not in x}
    z = tracer.array("z", own + n)
    results = inline(tracer.graph, inner.code, {**x, **({state: z[:own]} if own else {})})
    r, rate = predicted(robot, tracer, {**x, "z": z[own:]}, gain, friction, smooth)
    tau = results["tau"]
    if compensate:
        tau = [u - s for u, s in zip(tau, np.array(r, object)[on.driven], strict=True)]
    if limit is not None:
        tau = _saturated(tracer, tau, limit)
    zd = [*results.get(f"{state}d", ()), *_pushed(robot, tau, rate)]
    outputs = {"tau": ((on.nu,), tau), "zd": ((own + n,), zd), "r": ((n,), r)}
    words = inner.meaning.get(state, "")
    extra = {**inner.meaning, "z": f"{words}; then {_STATE}" if words else _STATE, "r": _RESIDUAL}
    name = inner.model.removeprefix("control ")
    program = _program(tracer, f"{name} observed", robot, outputs, extra)
    return jumping(program, friction or inner.jumping is not None, smooth, _observed, robot, inner,
                   gain, compensate, limit, friction)  # fmt: skip


def _flat(x: list[Any]) -> list[Any]:
    return [y for row in x for y in row] if x and isinstance(x[0], list) else x


def _momentum(robot: Robot, motion: Any) -> np.ndarray:
    """The momentum at the start of a motion of the joints; zero where the law holds a frame."""
    on = coordinates(robot)
    p = np.zeros(on.nv)
    if isinstance(motion, Trajectory) and not is_floating(robot) and np.any(motion.qd[0]):
        qd = np.zeros(on.nv)
        qd[on.driven] = motion.qd[0]
        p = compiled(robot, "generalized-momentum")(q=on.first("q", motion.q[0]), qd=qd)
    return np.asarray(p)


@named_arguments
def residuals(
    robot: Robot, t: Numbers, q: Numbers, qd: Numbers, tau: Numbers, gain: Numbers = 50.0, *,
    friction: bool = True, smooth: float = SMOOTH,
) -> np.ndarray:  # fmt: skip
    """The residual r (m, n) along a recording of times t (m), positions, velocities and torques:
    what pushed the robot. Torques and model are taken to change linearly between the samples.

    >>> robot = cardan.load("cartpole")
    >>> run = cardan.simulate(robot, [0.0, 0.3], duration=0.5, torque=[0.0, 0.1], dt=1e-3)
    >>> r = cardan.control.residuals(robot, run.t, run.q, run.qd, run.tau, gain=50.0)
    >>> bool(np.abs(r).max() < 1e-5)
    True"""
    if is_floating(robot):
        raise ModelError(
            f"the base of '{robot.name}' floats: a recording of it needs V0 and g0",
            remedy="evaluate the program of control.observer",
        )
    on = coordinates(robot)
    times = np.asarray(t, float)
    shapes = {"q": on.nq, "qd": on.nv, "tau": on.nu}
    values: Any = {key: np.asarray(x, float) for key, x in (("q", q), ("qd", qd), ("tau", tau))}
    for key, x in values.items():
        if x.shape != (len(times), shapes[key]):
            raise InputError(f"{key} has shape {x.shape}; expected {(len(times), shapes[key])}")
    if len(times) < 2 or (np.diff(times) <= 0).any():
        raise InputError("t: expected at least two times, each later than the one before")
    K = vector("gain", gain, on.nv)
    p = np.asarray(compiled(robot, "generalized-momentum")(q=values["q"], qd=values["qd"]))
    program = observer(robot, K, friction=friction, smooth=smooth)
    known = program.compile()(**values, z=p).zd  # r = 0 there: what the model knows of pd
    r = np.zeros_like(p)
    for k, dt in enumerate(np.diff(times)):
        # of r' = K (p' - u - r), u linear over the step: exact
        w = np.exp(-K * dt)
        push = (p[k + 1] - p[k]) / dt - (known[k] + known[k + 1]) / 2
        r[k + 1] = w * r[k] + (1 - w) * push
    return r
