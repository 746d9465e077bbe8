"""Simulation of closed loops with flexible links, with the face of `simulate`.

`flexible_motion.simulate` integrates; here are its inputs from those of `simulate`, and
accelerations, torques and the energy balance at the samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...build.common import with_friction
from ...build.flexible.closure import Closing, closing
from ...build.flexible.step import flow_program
from ...describe.robot import Robot
from ...errors import InputError, UnknownNameError
from ...motion.coordinates import coordinates
from ...motion.derived import compiled
from ...motion.joints import friction_coefficients, moving, require_numbers, vector
from ...motion.trajectory import Trajectory, fits, instants
from ..result import Energy, Simulation
from .motion import METHODS, FlexibleMotion, even_steps
from .motion import simulate as integrate

__all__ = ["simulate_flexible"]

Array = np.ndarray
_NAMES = {"DOP853": "auto", "Radau": "radau", "BDF": "bdf"}


def simulate_flexible(
    robot: Robot, q0: Any, qd0: Any, *, duration: float, torque: Any, law: Any,
    motion: Trajectory | None, friction: str, method: str, rtol: float | None, atol: float,
    step: float | None, dt: float,
) -> Simulation:  # fmt: skip
    """A run of a robot with loops and flexible links; see `simulate.simulate`.

    method: 'auto' (also for DOP853), 'rk4', 'generalized-alpha', 'radau', 'bdf'. A law is sampled
    at every step. The energy balance is given where nothing is lost and no law acts."""
    require_numbers(robot, "a simulation")
    method = _NAMES.get(method, method)
    if method not in METHODS:
        raise UnknownNameError.of("method", method, (*METHODS, *_NAMES))
    if friction not in ("smooth", "none"):
        raise InputError(f"friction='{friction}': with flexible links in loops 'smooth' or 'none'")
    if getattr(law, "z0", None) is not None:
        raise InputError("a law that keeps a state is not for loops with flexible links")
    if sum(x is not None for x in (torque, law, motion)) > 1:
        raise InputError("give one of torque, law and motion")
    bare = with_friction(robot, friction != "none")
    loops, t = closing(bare), instants(duration, dt)
    start = _start(loops, q0)
    given: dict[str, Any] = {"torque": _torque(loops, torque), "motion": _prescribed(bare, motion)}
    samples = (len(t) - 1) * even_steps(bare, float(t[1]), start["q_a"], start["guess"])
    run = integrate(
        bare, duration, **given, **start, qd=_velocities(loops, qd0).tolist(), law=law, step=step,
        method=method, rtol=rtol, atol=atol, samples=samples,
    )  # fmt: skip
    return _gathered(run, robot, given, law, len(t) - 1)


def _start(loops: Closing, q0: Any) -> dict[str, Any]:
    """Where it starts: one value for all driven joints or one for each; or all joints of the tree,
    the passive ones near their assembly; or all coordinates."""
    values = np.asarray(q0, float)
    nq, na = len(loops.keys), len(loops.active)
    if values.shape in ((nq,), (loops.n,)):
        near = values[loops.columns(loops.undriven)]
        bent = values[loops.n :] if values.shape == (nq,) else None
        return {"q_a": values[loops.columns(loops.active)], "guess": near, "q_e": bent}
    return {"q_a": vector("q0", values, na), "guess": None, "q_e": None}


def _velocities(loops: Closing, qd0: Any) -> Array:
    """Of the independent coordinates: all, those of the driven joints, or one value for these."""
    values = np.asarray(qd0, float)
    if values.shape == (len(loops.independent),):
        return vector("qd0", values, len(values))
    found = np.zeros(len(loops.independent))
    driven = [loops.independent.index(key) for key in loops.active]
    found[driven] = vector("qd0", values, len(driven))
    return found


def _torque(loops: Closing, torque: Any) -> Any:
    if torque is None or callable(torque):
        return torque
    values = vector("torque", torque, len(loops.active))
    return lambda t: values


def _prescribed(robot: Robot, motion: Trajectory | None) -> Any:
    """The motion of the driven joints; a motion of all joints of the tree has them too."""
    if motion is None:
        return None
    on = coordinates(robot)
    if motion.n == on.nu:
        return motion
    fits(motion, robot)
    return _Driven(motion, on.place[on.driven])


@dataclass(frozen=True)
class _Driven:
    """The driven joints of a motion of all joints."""

    motion: Trajectory
    place: Array

    def __call__(self, t: Any) -> list[Array]:
        return [np.asarray(x)[..., self.place] for x in self.motion(t)]


def _gathered(
    run: FlexibleMotion, robot: Robot, given: dict[str, Any], law: Any, count: int
) -> Simulation:
    """Accelerations, torques and energies at every so many samples."""
    on, t, q, qd = coordinates(run.robot), run.t, run.q, run.qd
    v = np.ascontiguousarray(qd[:, on.place])
    every = (len(t) - 1) // count
    vd = np.empty_like(v)
    if given["motion"] is not None:
        wanted = np.array([np.atleast_1d(given["motion"](float(x))[2]) for x in t])
        found = compiled(run.robot, "inverse-dynamics")(q=q, qd=v, qdd=wanted)
        tau, vd[:, on.driven], vd[:, ~on.driven] = found.tau, wanted, found.qdd_e
    else:
        tau = np.zeros((len(t), on.nu))
        if law is not None:
            tau[::every] = [law(float(t[k]), q[k], v[k]) for k in range(0, len(t), every)]
        elif given["torque"] is not None:
            tau[:] = [given["torque"](float(x)) for x in t]
        vd = np.asarray(compiled(run.robot, "direct-dynamics")(q=q, qd=v, tau=tau))
    at = slice(None, None, every)
    energy = None
    if law is None and not _loses(run.robot):
        E, U = compiled(run.robot.tree(), "energies")(q=q[at], qd=qd[at])
        work = _work(t, (tau * v[:, on.driven]).sum(axis=1), every)
        none = np.zeros(count + 1)
        energy = Energy(np.asarray(E), np.asarray(U), none, work, none, none)
    qdd = _accelerations(run.robot, q[at], qd[at], v[at], vd[at])
    return Simulation(
        robot, t[at], q[at], qd[at], qdd, tau[at], energy=energy, steps=run.steps, error=run.error
    )


def _work(t: Array, power: Array, every: int) -> Array:
    """The integral of a power by Simpson's rule, at every so many (even) samples."""
    pairs = (power[:-2:2] + 4 * power[1:-1:2] + power[2::2]) * (t[1] - t[0]) / 3
    return np.concatenate([[0.0], np.cumsum(pairs)])[:: every // 2]


def _loses(robot: Robot) -> bool:
    """Does friction or damping take energy?"""
    FV, FS = friction_coefficients(robot)
    joints = any(joint.elastic and joint.damping != 0 for joint in moving(robot))
    links = closing(robot).scene.flexible.values()
    return bool(joints or FV.any() or FS.any() or any(np.any(link.Dee) for link in links))


@lru_cache(maxsize=16)
def _slopes(robot: Robot) -> tuple[Any, Any]:
    flow = flow_program(robot)
    return flow.derivative("qd_t", "q").compile(), flow.derivative("qd_t", "qd").compile()


def _accelerations(robot: Robot, q: Array, qd: Array, v: Array, vd: Array) -> Array:
    """Of all coordinates: the rate of M(q) v = qd."""
    q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
    turning, M = (slope(q=q, qd=v) for slope in _slopes(robot))
    found = np.einsum("tij,tj->ti", turning, qd) + np.einsum("tij,tj->ti", M, vd)
    return np.asarray(found)
