"""The assemblies of a parallel robot by the pose of its platform.

A leg with a universal joint reaches its end on the platform in two ways or more: one pose of the
platform is listed once for every way that each leg has. What a platform does is told by its poses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.vector import Mat, Vec
from ..mechanism.platform import Parallel
from .numeric import Array, Equations

NOT_PROVEN = (
    "found by Newton's method from many starts, which does not prove that these are all: there may"
    " be more"
)
_SAME = 1e-5  # of the robot's size, or rad: one pose


@dataclass(frozen=True)
class Poses:
    """The distinct poses of the platform, T (k, 4, 4) in frame 0, and for each the rows of the
    assemblies, arrangements of the legs, that have it."""

    T: Array
    arrangements: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.T)

    @property
    def owner(self) -> Array:
        """The pose of every assembly, from 0."""
        found = np.zeros(sum(map(len, self.arrangements)), int)
        for k, rows in enumerate(self.arrangements):
            found[rows] = k
        return found

    def __str__(self) -> str:
        many = sum(map(len, self.arrangements))
        return (
            f"{len(self)} pose{'s' * (len(self) != 1)} of the platform, {many}"
            f" arrangement{'s' * (many != 1)} of the legs"
        )


class Assemblies(np.ndarray):
    """All assemblies found, (k, n): an array.

    poses: those of the platform of a parallel robot, None of other robots; complete: is it known
    that there are no more? A closed form says so, and so do all complex poses of a platform;
    Newton's method from many starts does not. told: how they were counted, where they were."""

    poses: Poses | None
    complete: bool
    told: str

    @classmethod
    def of(cls, q: Array, poses: Poses | None, complete: bool, told: str = "") -> Assemblies:
        found = np.asarray(q).view(cls)
        found.poses, found.complete, found.told = poses, complete, told
        return found

    def __array_finalize__(self, source: Any) -> None:
        """A part of the array, or what is computed with it, is a set of assemblies no longer."""
        self.poses, self.complete, self.told = None, False, ""

    def __reduce__(self) -> Any:
        return Assemblies.of, (np.asarray(self), self.poses, self.complete, self.told)

    @property
    def note(self) -> str:
        """How they were counted, or that they may not be all; or nothing."""
        return self.told or ("" if self.complete else NOT_PROVEN)


def poses_of(parallel: Parallel, system: Equations, q: Array) -> Poses:
    """The distinct poses of the platform among configurations (k, n), in their order."""
    T = _placed(parallel, system, q)
    scale = np.ones((3, 4))
    scale[:, 3] = max(system.size, 1e-300)
    away = T[:, :3] / scale
    first: list[int] = []
    rows: list[Array] = []
    rest = np.arange(len(q))
    while len(rest):
        near = np.abs(away[rest] - away[rest[0]]).max(axis=(1, 2)) < _SAME
        first.append(int(rest[0]))
        rows.append(rest[near])
        rest = rest[~near]
    return Poses(T[first], tuple(rows))


def _placed(parallel: Parallel, system: Equations, q: Array) -> Array:
    """T (k, 4, 4) of the platform's body in frame 0."""
    link = parallel.coordinates
    columns = dict(zip(link.moving, np.asarray(q, float).T, strict=True))
    M, P = Mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), Vec(0, 0, 0)
    for j in link.tree.path(parallel.body):
        frame = system.scene.links[j - 1].frame(columns.get(j, 0))
        P = P + M @ frame.iPj
        M = (frame.iRj.T @ M.T).T
    T = np.zeros((len(q), 4, 4))
    T[:, 3, 3] = 1
    for a in range(3):
        T[:, a, 3] = P[a]
        for b in range(3):
            T[:, a, b] = M[a, b]
    return T
