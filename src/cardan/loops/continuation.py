"""Closed configurations carried along: the assembly of each followed to other active positions.

Each step goes along the tangent and closes the loops there; one that fails, or ends far from where
the tangent pointed, is halved. How loops are closed is the follower's: by their equations
(`ByEquations`, natively: closing.carry), or by compiled kinematics (`identification.model.ties`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .numeric import Array, Equations

STEP = 0.2  # of the active joints at most
FAR = 0.1  # from the tangent at most
LEAST = 1e-4  # of the way: a step that fails is not made shorter than this


class Follower(Protocol):
    """The loops near configurations q (N, n)."""

    @property
    def active(self) -> Sequence[int]:
        """Columns that are given."""

    @property
    def passive(self) -> Sequence[int]:
        """Columns that follow."""

    @property
    def unit(self) -> Array | float:
        """(n,) what steps and distances are measured by."""

    def slope(self, q: Array) -> Array:
        """d q_passive / d q_active, (N, passive, active)."""

    def close(self, q: Array, rows: Array, last: Array) -> tuple[Array, Array, Array]:
        """(closed configurations, which of them are good, slopes there) of some rows of those
        carried; last: (N,) which of them have arrived."""


@dataclass(frozen=True)
class ByEquations:
    """Loops closed by all their equations."""

    system: Equations
    active: Sequence[int]
    passive: Sequence[int]
    threads: int | None = None

    @property
    def unit(self) -> Array:
        return self.system.pace

    def slope(self, q: Array) -> Array:
        J = self.system.J(q)
        return np.asarray(-np.linalg.pinv(J[..., self.passive], rcond=1e-9) @ J[..., self.active])

    def close(self, q: Array, rows: Array, last: Array) -> tuple[Array, Array, Array]:
        found, closed = self.system.close(q, self.passive, 30)
        if last.all():
            return found, closed, np.zeros((len(q), len(self.passive), len(self.active)))
        return found, closed, self.slope(found)


def carried(
    by: Follower, q: Array, q_a: Array, *, step: float = STEP, far: float = FAR,
    least: float = LEAST,
) -> tuple[Array, Array]:  # fmt: skip
    """(q, share): closed configurations (N, n) carried towards active positions (N, na), all at
    once, and how much of the way each has gone: 1 where it has arrived.

    step: of the active joints at most; far: from the tangent at most; least: of the way, 1 gives up
    what fails once."""
    active, passive = list(by.active), list(by.passive)
    if isinstance(by, ByEquations) and by.system.fits:
        way = (step, far, least)
        every, _, gone = by.system.carried(q, q_a[:, None], active, passive, way, by.threads)
        return every[:, 0], gone
    here, share = np.array(q, float), np.zeros(len(q))
    start = here[:, active]
    away = q_a - start
    unit = np.broadcast_to(by.unit, here.shape[-1:])
    reach = np.abs(away / unit[active]).max(axis=1, initial=0)
    largest = np.minimum(1.0, step / (reach + 1e-12))
    size, slope = largest.copy(), by.slope(here)
    going = np.arange(len(q))
    while len(going):
        ahead = np.minimum(1.0, share[going] + size[going])
        last = ahead == 1
        trial = here[going]
        target = np.where(last[:, None], q_a[going], start[going] + ahead[:, None] * away[going])
        trial[:, passive] += np.einsum("npa,na->np", slope[going], target - trial[:, active])
        trial[:, active] = target
        found, good, slopes = by.close(trial.copy(), going, last)
        good = good & (np.abs((found - trial) / unit).max(axis=1, initial=0) < far)
        on = going[good]
        here[on], share[on], slope[on] = found[good], ahead[good], slopes[good]
        size[on] = np.minimum(1.5 * size[on], largest[on])
        size[going[~good]] /= 2
        going = going[(share[going] < 1) & (good | (size[going] >= least))]
    return here, share
