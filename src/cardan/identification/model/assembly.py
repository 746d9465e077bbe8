"""Do the base parameters of closed loops hold in the assembly that was recorded?

A parallelogram can be crossed, and needs more base parameters then: those of `base-parameters` are
of the assembly that needs fewest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...build.base import BaseParameters
from ...describe.robot import DRIVE, Robot
from ...models.bodies import bodies
from ...models.newton_euler import inverse_dynamics
from ..read.signals import Motion

__all__ = ["covers"]

Array = np.ndarray
_STATES = 60  # of a motion that are looked at
_SAME = 1e-7


def covers(base: BaseParameters, motions: Sequence[Motion]) -> bool:
    """Do random bodies and those that carry their base parameters need the same torques along these
    motions?"""
    rng = np.random.default_rng(5)
    names = base.original.parameters
    drives = {f"{key}{j}" for j in range(1, len(base.original.joints) + 1) for key in DRIVE}
    values = {name: 0.0 if name in drives else rng.uniform(0.3, 1.7) for name in names}
    for motion in motions:
        few = motion.part(slice(None, None, max(1, len(motion.q) // _STATES)))
        real, carried = (_torques(robot, values, few) for robot in (base.original, base.robot))
        if np.abs(real - carried).max() > _SAME * np.abs(real).max():
            return False
    return True


def _torques(robot: Robot, values: Mapping[str, float], motion: Motion) -> Array:
    """Torques of the driven joints: Newton and Euler on the tree, then G^T."""
    scene = bodies(robot.tree(), values.__getitem__)
    q, qd, qdd = (list(x[:, : robot.n].T) for x in (motion.q, motion.qd, motion.qdd))
    tau = inverse_dynamics(scene, q, qd, qdd).tau
    return motion.torques({k: tau[j] for k, j in enumerate(sorted(tau))})
