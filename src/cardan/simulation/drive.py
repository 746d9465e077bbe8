"""What moves the driven joints: torques of time, a feedback law, or a prescribed motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..describe.robot import Robot
from ..errors import InputError
from ..mechanism.coordinates import is_floating
from ..motion.joints import vector
from ..motion.trajectory import Trajectory, fits

Array = np.ndarray
_TRIED = 64  # times at which a function of one time is tried with many


class Drive:
    """The input u of nu driven joints, checked: torques (nu), or q, qd, qdd (3, nu) of a motion.

    torque: values, or a function of t; law(t, q, qd) -> torques, or with an attribute z0
    law(t, q, qd, z) -> (torques, zd), with a true attribute base also base={"T0", "V0", "g0"} of a
    floating base; motion: a function of t, or a trajectory of the driven joints
    or of all, in which they are the columns `place`."""

    def __init__(
        self, robot: Robot, place: Any, *, torque: Any = None, law: Any = None, motion: Any = None
    ) -> None:
        if sum(x is not None for x in (torque, law, motion)) > 1:
            raise InputError("give one of torque, law and motion: a driven joint has one of them")
        if law is not None and not callable(law):
            raise InputError(
                f"law is a {type(law).__name__}; expected a function (t, q, qd) -> tau"
            )
        self.robot, self.place, self.law = robot, np.asarray(place, int), law
        nu = len(self.place)
        z0 = getattr(law, "z0", None)
        self.z0 = None if z0 is None else np.asarray(z0, float)
        self.base = bool(getattr(law, "base", False))
        if self.base and not is_floating(robot):
            raise InputError(f"the law is for a floating base; that of '{robot.name}' is not one")
        self.prescribed = motion is not None
        self.part = isinstance(motion, Trajectory) and motion.n != nu
        if self.part:
            fits(motion, robot)
        if torque is not None and not callable(torque):
            values = vector("torque", torque, nu)
            self.of_time: Any = lambda t: values
        else:
            self.of_time = motion if self.prescribed else torque
        self.shape = (3, nu) if self.prescribed else (nu,)
        self.held = np.zeros(nu)
        self.record: list[Array] = []  # what a law gave, sample by sample
        self.many: bool | None = True if isinstance(motion, Trajectory) else None

    def __call__(self, t: float) -> Array:
        """u at a time; of a law what it gave last."""
        if self.of_time is None:
            return self.held
        u = self.of_time(t)
        return self._checked(t, [np.atleast_1d(x) for x in self._own(u)] if self.prescribed else u)

    def torques(
        self, t: float, q: Array, qd: Array, z: Array, base: dict[str, Array] | None = None
    ) -> tuple[Array, Array]:
        """(torques, rate of the law's state)."""
        if self.law is None:
            return self(t), np.zeros(0)
        state = () if self.z0 is None else (z,)
        result = self.law(t, q, qd, *state, **({"base": base} if self.base else {}))
        tau, zd = (result, ()) if self.z0 is None else result
        return self._checked(t, tau), np.asarray(zd, float)

    def sample(self, t: float, q: Array, qd: Array) -> None:
        """Ask the law for the torques of the next step."""
        if self.law is not None:
            self.held = self._checked(t, self.law(t, q, qd))
            self.record.append(self.held)

    def table(self, t: Array) -> Array:
        """u at many times, (N, ...): in one call where the function takes arrays, and gives for
        them what it gives for their elements."""
        if self.of_time is None:
            return np.broadcast_to(self.held, (len(t), *self.shape))
        if self.many is None and len(t) > _TRIED:
            some = np.linspace(0, len(t) - 1, _TRIED).astype(int)
            whole = self._together(t)
            each = np.array([self(float(x)) for x in t[some]])
            self.many = whole is not None and np.array_equal(whole[some], each)
        if self.many:
            whole = self._together(t)
            if whole is not None:
                return whole
        return np.array([self(float(x)) for x in t])

    def _together(self, t: Array) -> Array | None:
        """One call for all times; None where the function is not made for that."""
        try:
            u = self.of_time(t)
            if self.prescribed:
                u = np.stack([np.asarray(x, float) for x in self._own(u)], 1)
            u = np.asarray(u, float)
        except Exception:  # a function of one time may raise anything
            return None
        return u if u.shape == (len(t), *self.shape) else None

    def _own(self, u: Any) -> Any:
        """The driven joints of a motion of all joints."""
        return [np.asarray(x)[..., self.place] for x in u] if self.part else u

    def _checked(self, t: float, u: Any) -> Array:
        values = np.array(u, float)
        if values.shape == () and self.shape == (1,):
            values = values.reshape(1)
        if values.shape != self.shape:
            what = "motion gave q, qd, qdd" if self.prescribed else "drive gave torques"
            raise InputError(
                f"at t = {t:g} s the {what} of shape {values.shape}; '{self.robot.name}' has"
                f" {len(self.place)} driven joints: expected {self.shape}"
            )
        return values
