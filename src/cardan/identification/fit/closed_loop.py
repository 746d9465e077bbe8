"""Direct and inverse models in turn: parameters from torques alone, along a simulated motion.

The robot of the last estimate follows the motion that was commanded, under its control law
(direct model); the torques measured are fitted along that simulated motion (inverse model), until
the parameters stay. Measured positions are not used (M. Gautier, A. Janot, P.-O. Vandanjon, IEEE
Trans. Control Systems Technology 21, 2013)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...describe.robot import Robot
from ...errors import InputError
from ...motion.derived import compiled
from ...run.steps import rk4
from ..read.signals import Motion
from ..recipe import Recipe, per_joint
from .fitting import Source

_STEP = 1e-3  # s, of the simulation at most
_FAR = 10.0  # rad or m from the commanded motion


def checked(robot: Robot, recipe: Recipe) -> None:
    """An InputError where a method lacks what it needs."""
    fit = recipe.fit
    if fit.gains and not recipe.payload.known:
        raise InputError("[fit] gains = true needs a payload with [payload] known = { M = ... }")
    if fit.method == "least-squares":
        return
    where = f'[fit] method = "{fit.method}"'
    if not recipe.reference.columns:
        raise InputError(f"{where} needs the commanded positions: [reference] columns")
    if fit.model != "dynamic" or fit.robust or fit.weights != "joint":
        raise InputError(f'{where} is for model = "dynamic", weights = "joint", not robust')
    if robot.constrained:
        raise InputError(f"{where} does not take closed loops and coupled joints")
    if fit.method == "didim" and not (recipe.control.kp and recipe.control.kd):
        raise InputError(f"{where} needs the control law: [control] kp and kd, one for each joint")


def followed(robot: Robot, recipe: Recipe, source: Source) -> Source:
    """A recording whose motion is that of a robot under the control law of the recipe."""
    motion, wanted, n = source.motion, source.commanded, robot.n
    assert wanted is not None
    if not motion.timed:
        raise InputError(f"{motion.name}: rows without times cannot be simulated")
    kp = per_joint("[control] kp", recipe.control.kp, n)
    kd = per_joint("[control] kd", recipe.control.kd, n)
    r, rd = _between(wanted)
    f = compiled(robot, "direct-dynamics")
    steps = max(1, int(np.ceil(motion.dt / _STEP)))

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        q, qd = x[:n], x[n:]
        return np.concatenate([qd, f(q=q, qd=qd, tau=kp * (r(t) - q) + kd * (rd(t) - qd))])

    x = np.concatenate([motion.q[0], motion.qd[0]])
    states, slopes = [x], [rates(float(motion.t[0]), x)]
    for k in range(len(motion.t) - 1):
        for i in range(steps):
            x = rk4(rates, motion.t[k] + motion.dt * i / steps, x, motion.dt / steps)
        if not np.abs(x[:n] - wanted.q[k + 1]).max() < _FAR:
            raise InputError(
                f"{motion.name}: the robot simulated under [control] leaves the commanded motion"
                f" at t = {motion.t[k + 1]:.4g} s: check kp, kd and their signs, and whether"
                " the law is tau = kp (reference - q) + kd (its rate - qd) at the joints"
            )
        states.append(x)
        slopes.append(rates(float(motion.t[k + 1]), x))
    q, qd = np.split(np.array(states), 2, axis=1)
    qdd = np.array(slopes)[:, n:]
    return replace(source, motion=replace(motion, q=q, qd=qd, qdd=qdd))


def _between(motion: Motion) -> tuple[Any, Any]:
    """Positions and velocities between samples."""
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(motion.t, motion.q)
    return curve, curve.derivative()
