"""Simulation of one run: torques, a feedback law or a prescribed motion in, a motion out.

    run = simulate(robot, q0, duration=2, law=control.computed_torque(robot, motion))
    run.q, run.tau, run.energy.drift, run.save("run.parquet"), run.plot(), run.animate("run.html")

Many runs at once, with fixed steps in compiled code: `rollouts`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..build.flexible.closure import closing
from ..describe.floating import carriers, has_inertia
from ..describe.robot import Robot
from ..describe.world import placement
from ..errors import CardanError, CardanWarning, InputError, UnknownNameError, translated
from ..loops.standing import standing
from ..motion.coordinates import coordinates
from ..motion.derived import compiled
from ..motion.joints import array, require_numbers, vector
from ..motion.paths import pose
from ..motion.trajectory import Trajectory, instants
from .drive import Drive
from .friction import SMOOTH
from .integrate import MOST_STEPS, Accuracy, Course, Settings, integrate
from .plant import Loads, Plant
from .result import Dynamics, Simulation, balance
from .result import Energy as Energy  # an old place of it
from .singular import watch
from .statespace import StateSpace, state_space
from .stiff import IMPLICIT, METHODS, NAMES, simulate_stiff

_RTOL = 1e-9  # of a step; what a flexible loop takes instead is in `stiff`
_STIFF = 2e4  # times: rate and duration together
_SINGULAR = 1e-12  # of the largest inertia: a base without any
_SUSPECT = 0.02  # of the energy moved: a balance that bad is said


# a ValueError of a law is its author's; what numbers cause is told
@translated(
    "the simulation failed", of=(ArithmeticError, MemoryError, np.linalg.LinAlgError),
    remedy="check the values of the robot, its start and its torques",
)  # fmt: skip
@named_arguments
def simulate(
    robot: Robot, q0: Numbers = None, qd0: Numbers = 0.0, *, duration: float, torque: Any = None,
    law: Any = None, motion: Trajectory | None = None, loads: Loads | None = None,
    thrust: Any = None, base_pose: Numbers = None, base_twist: Numbers = 0.0,
    friction: str = "smooth", smooth: float = SMOOTH, method: str = "auto", rtol: float = _RTOL,
    atol: float = 1e-12, step: float | None = None, dt: float = 1e-2, period: float | None = None,
    singular: str = "stop", most_steps: int = MOST_STEPS,
    progress: Callable[[float], None] | None = None,
) -> Simulation:  # fmt: skip
    """Integrate the motion of a robot from q0, qd0; without q0 from where it stands, its home.

    Flexible links are stiff: 'generalized-alpha', 'radau' and 'bdf' are for them (`stiff`), with
    torques, a motion, or a law that is sampled at every step. Closed loops with flexible links take
    the cheaper one of 'rk4' and 'generalized-alpha' by default.

    torque: constant values, or a function of t. law: a function (t, q, qd) -> torques; a law with
    an attribute z0 keeps a state: (t, q, qd, z) -> (torques, zd); one with a true attribute `base`
    is also given base={"T0", "V0", "g0"} of a floating base. motion: prescribed for the rigid
    joints. loads: a function of `Links` -> {link: wrench (6) on it, in its frame}, beside what the
    robot's file declares (contact, drag, thrusters); thrust: factors of its thrusters, constant or
    a function of t, 1 by default. friction:
    'smooth', 'event' or 'none'. method: an adaptive one of SciPy, or rk4, euler, midpoint with
    `step`; 'auto': DOP853, or Radau where friction is stiff. Results every dt; `period`: the law is
    sampled and its torques held. singular: closed loops 'stop' with an error at type 2
    singularities, or 'pass' as well as the steps may. A run that would need more than `most_steps`
    adaptive steps is ended, and the joint that they are needed for is named.

    >>> robot = cardan.load("cartpole")
    >>> run = cardan.simulate(robot, [0.0, 0.3], duration=0.5, method="rk4", step=1e-3)
    >>> run.q.shape
    (51, 2)"""
    require_numbers(robot, "a simulation")
    _require_base(robot)
    bends = bool(robot.ne and robot.constrained)
    if bends and loads is not None:
        raise InputError("loads is not for closed loops with flexible links")
    t, on = instants(duration, dt), coordinates(robot)
    drive = Drive(robot, on.place[on.driven], torque=torque, law=law, motion=motion)
    if bends and method not in (*METHODS, *NAMES):
        raise UnknownNameError.of("method", method, (*METHODS, *NAMES))
    stiff = bends or (robot.ne and method in IMPLICIT and not closing(robot).loose)
    stiff = stiff and drive.z0 is None and period is None and loads is None
    name = "DOP853" if method == "auto" or stiff else method
    settings = Settings(name, rtol, atol, step, most_steps)
    plant = Plant(robot, drive, loads, friction, smooth, thrust)
    plant.watch = watch(plant.on, singular)
    y = _first(plant, robot, q0, qd0, base_pose, base_twist)
    if stiff:
        return simulate_stiff(
            robot, drive, plant.parts(y), t=t, friction=friction != "none", method=method,
            rtol=None if rtol == _RTOL else rtol, atol=atol, step=step,
        )  # fmt: skip
    if method == "auto" and period is None and _stiff(plant, y, duration):
        settings = replace(settings, method="Radau")
    states: list[np.ndarray] = []
    charts: list[np.ndarray] = []

    def sample(y: np.ndarray) -> None:
        states.append(plant.imposed(float(t[len(states)]), y).copy())
        charts.append(plant.R)

    plant.start(0.0, y)
    tell = _scaled(progress, duration)
    try:
        if period is None:
            course = integrate(plant.equation(), y, t, settings, lambda k, y: sample(y), tell)
        else:
            course = _sampled(plant, y, t, period, settings, sample, tell)
    except CardanError as error:
        if plant.blame and plant.blame not in str(error):
            raise InputError(f"{error}; {plant.blame}") from None
        raise
    return _gather(plant, t, states, charts, course, settings.method)


def _stiff(plant: Plant, y: np.ndarray, duration: float) -> bool:
    """Is friction so steep that steps of an explicit method would be far too many? Its rate is
    that of FV + FS / v over the inertia that a joint alone feels, 1 / (A^-1)_jj."""
    simple = not (plant.floating or plant.on.closed or plant.robot.ne)
    still = np.zeros(len(plant.joints))
    steep = np.abs(plant.law.slope(still) + still)
    if not simple or plant.stiction is not None or plant.drive.prescribed or not steep.any():
        return False
    A = compiled(plant.robot, "inertia-matrix")(q=y[: plant.n])
    rows = np.vstack([np.eye(len(A)), plant.shared])
    rate = steep * np.diag(rows @ np.linalg.pinv(A) @ rows.T)
    return bool(duration * rate.max() > _STIFF)


def _require_base(robot: Robot) -> None:
    """A base that floats has inertia, its own or of links fixed to it ([K10] 7.1, second method),
    or the other links give it enough: else its acceleration is not defined."""
    if robot.base.kind != "floating":
        return
    bodies = carriers(robot)
    if has_inertia(bodies):
        return
    sprung = any(joint.elastic for joint in robot.joints)
    if not robot.ne and not (sprung and robot.constrained):  # else there is no inertia matrix
        A = np.asarray(compiled(robot, "inertia-matrix", effort="plain")(q=standing(robot)))
        if np.linalg.eigvalsh(A)[0] > _SINGULAR * np.abs(A).max():
            return
    fixed = " nor have the links fixed to it" if len(bodies) > 1 else ""
    raise InputError(
        f"the base of '{robot.name}' has no mass{fixed}: a base that floats needs M, XX .. ZZ, its"
        " own or of a link fixed to it",
        remedy="cardan.floating(robot) gives it one, or takes it",
    )


def _scaled(
    progress: Callable[[float], None] | None, duration: float
) -> Callable[[float], None] | None:
    """Progress as a fraction."""
    return None if progress is None else lambda t: progress(min(1.0, t / duration))


def _first(
    plant: Plant, robot: Robot, q0: Any, qd0: Any, base_pose: Any, base_twist: Any
) -> np.ndarray:
    """The first state; a floating base starts at base_pose, by default as described."""
    y = np.zeros(plant.size)
    q, qd = plant.parts(y)
    q[:], qd[:] = _positions(plant, q0), _velocities(plant, qd0)
    if plant.floating:
        T = placement(robot) if base_pose is None else pose(base_pose, "base_pose")
        plant.R = T[:3, :3].copy()
        y[plant.n + 3 : plant.n + 6] = T[:3, 3]
        y[plant.split + plant.m : plant.end] = vector("base_twist", base_twist, 6)
    elif base_pose is not None or np.any(base_twist):
        what = "base_pose" if base_pose is not None else "base_twist"
        raise InputError(f"{what}: the base of '{robot.name}' is {robot.base.kind}, not floating")
    if plant.drive.z0 is not None:
        plant.extra(y)[1][:] = plant.drive.z0
    y = plant.imposed(0.0, y)
    if plant.on.closed:
        y[: plant.n] = plant.watch.closed(y[: plant.n])
    return y


def _positions(plant: Plant, q0: Any) -> np.ndarray:
    """See `Coordinates.first`; of loops with flexible links: one value for all driven joints or one
    for each, all joints of the tree, the passive ones near their assembly, or all coordinates."""
    robot, on = plant.robot, plant.on
    if not (on.closed and robot.ne):
        return on.first("q0", q0)
    loops, values = closing(robot), np.asarray(0.0 if q0 is None else q0, float)
    q_a: Any = None
    bent: Any = None
    near: Any = None
    if values.shape in ((on.nq,), (robot.n,)):
        q_a, near = (values[loops.columns(keys)] for keys in (loops.active, loops.undriven))
        bent = values[robot.n :] if len(values) == on.nq else None
    else:
        q_a = vector("q0", values, on.nu)
    if plant.drive.prescribed:
        q_a = plant.drive(0.0)[0]
    return loops.assemble(q_a, q_e=bent, guess=near)


def _velocities(plant: Plant, qd0: Any) -> np.ndarray:
    """One value for all joints, those of the joints, or of all velocities; of loops with flexible
    links all velocities, those of the driven joints, or one value for these."""
    values, robot = array("qd0", qd0), plant.robot
    rate = np.zeros(plant.m)
    if values.shape == (plant.m,):
        rate[:] = values
    elif plant.on.closed and robot.ne:
        rate[plant.driven] = vector("qd0", values, plant.nr)
    else:
        size = plant.m if plant.on.closed else robot.n
        rate[:size] = vector("qd0", values, size)
    return rate


def _sampled(
    plant: Plant, y: np.ndarray, t: np.ndarray, period: float, settings: Settings,
    sample: Callable[[np.ndarray], None], progress: Callable[[float], None] | None,
) -> Course:  # fmt: skip
    """A law computed every `period`, its torques held in between."""
    ticks = instants(float(t[-1]), period)
    course, last = Course(0, np.zeros(len(y))), y
    sample(y)
    for start, end in pairwise(ticks):
        plant.held = None
        plant.held = plant.torques(float(start), last)
        plant.start(float(start), last)  # torques jump: joints may break loose, or stick
        inside = t[(t > start + 1e-12) & (t < end - 1e-12)]
        due = np.abs(t - end).min() <= 1e-12
        times = np.concatenate([[start], inside, [end]])

        def take(k: int, y: np.ndarray, count: int = len(inside), due: bool = due) -> None:
            nonlocal last
            last = np.array(y)
            if 1 <= k <= count or (k == count + 1 and due):
                sample(y)

        course += integrate(plant.equation(), last, times, settings, take, progress)
        if plant.floating or plant.on.closed:
            plant._recentre(last)
    plant.held = None
    return course


def _gather(
    plant: Plant, t: np.ndarray, kept: list[np.ndarray], charts: list[np.ndarray], course: Course,
    method: str,
) -> Simulation:  # fmt: skip
    """Accelerations, torques, base, energies and the estimated error at the samples."""
    robot, n = plant.robot, plant.n
    qd, qdd, tau = np.empty((len(t), n)), np.empty((len(t), n)), np.empty((len(t), plant.nr))
    T0 = np.zeros((len(t), 4, 4)) if plant.floating else None
    V0 = np.zeros((len(t), 6)) if plant.floating else None
    for k, (now, y, R) in enumerate(zip(t, kept, charts, strict=True)):
        plant.R = R
        result = plant.accelerations(float(now), y)
        tau[k] = result["tau"]
        qd[k], qdd[k] = plant.whole(y, result["vd"])
        if T0 is not None and V0 is not None:
            T0[k, :3, :3], T0[k, :3, 3], V0[k] = plant.base(y)
            T0[k, 3, 3] = 1
    Y = np.array(kept)
    q = Y[:, :n]
    works = Y[:, plant.end : plant.end + 3]
    z = None if plant.drive.z0 is None else Y[:, plant.end + 3 :]
    energy = balance(robot, q, qd, works, T0, V0)
    if energy is not None and energy.drift > _SUSPECT:
        warnings.warn(
            f"the energy balance of '{robot.name}' is off by {energy.drift:.1g} of what moved:"
            " tighten rtol or the step; a closed robot may have passed a singular configuration",
            CardanWarning,
            stacklevel=4,
        )
    accuracy = None
    if course.error is not None:
        position = float(np.max(course.error[: plant.split], initial=0))
        velocity = float(np.max(course.error[plant.split : plant.end], initial=0))
        position += velocity * float(t[-1] - t[0])  # what is too fast from the start goes too far
        accuracy = Accuracy(position, velocity, "sum of what the steps added")
    solved = Dynamics(qdd, tau, energy)
    return Simulation(robot, t, q, qd, solved, method, course.steps, T0, V0, z, accuracy)


@named_arguments
def rollouts(
    robot: Robot | StateSpace, x0: Numbers, *, step: float, steps: int, method: str = "rk4",
    every: int = 0, threads: int | None = None, friction: bool = True, dtype: str = "float64",
    **inputs: Numbers,
) -> np.ndarray:  # fmt: skip
    """Many runs of equal steps in compiled code: states x (..., s) in and out.

    x = [q, qd], or [q, P, quaternion, qd, V0] on a floating base (see `statespace`); inputs: tau
    (..., n) held, or stepped={"tau": (steps, n) or (..., steps, n)}. See `Rollout` for the rest."""
    from ..run.rollout import Rollout

    space = robot if isinstance(robot, StateSpace) else state_space(robot, friction=friction)
    run = Rollout(space.program, method, dtype=dtype, positions=space.positions)
    return run(x0, step=step, steps=steps, every=every, threads=threads, **inputs)
