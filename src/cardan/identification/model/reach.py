"""How far a motion of closed loops may go from where the robot stands.

A motion q_a(t) of the driven joints is drawn towards home, q_a -> home + s (q_a - home), its rates
by s: the largest s up to one is taken at which the loops close at all times, the joints that follow
keep their limits, none of them turns much faster than the driven ones (as near a singularity), and
the torques are allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...motion.joints import bounds
from ..read.signals import Motion
from .ties import Ties

__all__ = ["Reach"]

Array = np.ndarray
_STEP = 0.3  # rad, or of the robot's size
_HALVINGS = 5
_FASTER = 5.0  # than at home, rates of the joints that follow


@dataclass(frozen=True, eq=False)
class Reach:
    """Where the robot stands, and what its motions must respect."""

    ties: Ties
    home: Array
    fits: Callable[[Array, Array, Array], bool]  # torques of q, qd_a, qdd_a
    lower: Array  # of the joints that follow, as upper and velocity
    upper: Array
    velocity: Array
    gain: float  # largest entry of G

    @classmethod
    def of(cls, ties: Ties, home: Array, fits: Callable[[Array, Array, Array], bool]) -> Reach:
        robot, rest = ties.robot, ties.passive
        lower, upper, velocity = (
            bounds(robot, key)[rest] for key in ("lower", "upper", "velocity")
        )
        G = ties.matrix(home[None])
        found = cls(
            ties, home, fits, lower, upper, velocity, _FASTER * max(1.0, float(np.abs(G).max()))
        )
        still = np.zeros((1, len(ties.active)))
        if not found.allows(home[None], still, still):
            raise InputError(
                f"'{robot.name}' cannot rest where it stands, q = {np.round(home, 4).tolist()}, "
                "within its limits; set the homes of its joints, or give limits that allow it"
            )
        return found

    def share(self, q: Array, qd: Array, qdd: Array) -> tuple[float, Array]:
        """(s, q of all joints there) of a motion (rows, driven joints)."""
        about = self.home[self.ties.active]
        away = q - about
        here = np.repeat(self.home[None], len(q), axis=0)
        unit = self.ties.unit[self.ties.active]
        size = 1 / max(1.0, np.ceil(np.abs(away / unit).max() / _STEP))
        done = 0.0
        for _ in range(_HALVINGS):
            while done < 1:
                ahead = min(1.0, done + size)
                trial, good = self.ties.carried(here, about + ahead * away, 1.01 * _STEP, 1.0)
                if not (good.all() and self.allows(trial, ahead * qd, ahead * qdd)):
                    break
                here, done = trial, ahead
            size /= 2
        return done, here

    def allows(self, q: Array, qd: Array, qdd: Array) -> bool:
        rest = q[:, self.ties.passive]
        if (rest < self.lower).any() or (rest > self.upper).any():
            return False
        G = self.ties.matrix(q)
        rates = np.einsum("bna,ba->bn", G, qd)[:, self.ties.passive]
        if np.abs(G).max() > self.gain or (np.abs(rates) > self.velocity).any():
            return False
        return self.fits(q, qd, qdd)

    def completed(self, motion: Motion) -> Motion:
        """A motion of the driven joints that is within reach, as one of all joints."""
        q, good = self.ties.carried(np.repeat(self.home[None], len(motion.q), axis=0), motion.q)
        if not good.all():
            k = int(np.argmin(good))
            raise InputError(
                f"the loops of '{self.ties.robot.name}' do not close along this motion, at "
                f"q_a = {np.round(motion.q[k], 4).tolist()}"
            )
        return self.ties.moving(q, motion)
