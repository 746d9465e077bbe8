"""Where an exciting motion may go: above a floor, the tool in a box, spheres of the robot apart.

Distances are in m, negative where a demand is not met.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..describe.robot import Robot
from ..errors import InputError
from ..motion.collision import Clearance
from ..motion.frames import frame_poses, link_frames
from ..motion.joints import array

Array = np.ndarray
_STILL = 1e-9  # m: an origin that no joint moves


@dataclass(frozen=True)
class Margin:
    """The least distance of a motion to a limit, of what, and when (s)."""

    limit: str
    least: float
    unit: str
    what: str
    time: float


@dataclass(frozen=True, eq=False)
class Room:
    """Demands on where the robot is; of frame 0: z of the floor, corners (2, 3) of the box."""

    robot: Robot
    floor: float | None = None
    box: Array | None = None
    frame: str | int | None = None  # the tool
    clearance: Clearance | None = None

    @classmethod
    def of(
        cls, robot: Robot, floor: Any, box: Any, frame: str | int | None,
        clearance: Clearance | None,
    ) -> Room:  # fmt: skip
        """From what a user says; the floor is one for the spheres, too."""
        level = None if floor is None else _level(floor)
        corners = None if box is None else _corners(box)
        if clearance is not None:
            below = clearance.around.floor
            levels = [z for z in (level, below) if z is not None]
            around = replace(clearance.around, floor=max(levels) if levels else None)
            clearance = replace(clearance, robot=robot, around=around)
        return cls(robot, level, corners, frame, clearance)

    @property
    def open(self) -> bool:
        """Is nothing demanded?"""
        return self.floor is None and self.box is None and self.clearance is None

    @cached_property
    def moving(self) -> Array:
        """Frames (numbers) whose origins move; the others stand where the robot is mounted."""
        q = np.random.default_rng(0).uniform(-1, 1, (8, self.robot.n))
        P = link_frames(self.robot, q)[..., :3, 3]
        return np.flatnonzero((np.ptp(P, axis=0) > _STILL).any(axis=1))

    def distances(self, q: Array) -> dict[str, tuple[Array, list[str]]]:
        """By kind of demand: (m, k) of configurations q (m, n) of all joints, and what the k are
        of."""
        parts: dict[str, tuple[Array, list[str]]] = {}
        if self.floor is not None or self.box is not None:
            T = link_frames(self.robot, q)
            tool = frame_poses(self.robot, T, self.frame)[..., :3, 3]
        if self.floor is not None:
            z = np.column_stack([T[:, self.moving, 2, 3], tool[:, 2]])
            names = [*(f"frame {j} ({self.robot.links[j - 1].name})" for j in self.moving), "tool"]
            parts["floor"] = z - self.floor, names
        if self.box is not None:
            low, high = self.box
            sides = [f"tool, {side} {x}" for side in ("low", "high") for x in "xyz"]
            parts["box"] = np.column_stack([tool - low, high - tool]), sides
        if self.clearance is not None:
            parts["clearance"] = self.clearance.distances(q)
        return parts

    def least(self, q: Array) -> Array:
        """The least distance of every configuration, (m)."""
        rows = [x.min(axis=1, initial=np.inf) for x, _ in self.distances(q).values()]
        return np.asarray(np.min([np.full(len(q), np.inf), *rows], axis=0))

    def margins(self, t: Array, q: Array) -> list[Margin]:
        """One for each kind of demand, of a motion q (m, n)."""
        least = []
        for kind, (x, names) in self.distances(q).items():
            if x.size:
                row, k = np.unravel_index(int(np.argmin(x)), x.shape)
                least.append(Margin(kind, float(x[row, k]), "m", names[k], float(t[row])))
        return least

    def require(self, q: Array, where: str, remedy: str) -> None:
        """A configuration (n) that meets all demands."""
        worst = min(self.margins(np.zeros(1), q[None]), key=lambda x: x.least, default=None)
        if worst is not None and worst.least < 0:
            raise InputError(
                f"{where}, q = {np.round(q, 4).tolist()}: {worst.limit} is missed by "
                f"{-worst.least:.4g} m ({worst.what})",
                remedy=remedy,
            )


def _level(value: Any) -> float:
    z = array("floor", value)
    if z.ndim:
        raise InputError(f"floor = {value!r}; expected one height, z of frame 0 in m")
    return float(z)


def _corners(value: Any) -> Array:
    corners = array("box", value)
    if corners.shape != (2, 3) or (corners[1] <= corners[0]).any():
        raise InputError(
            f"box = {np.asarray(corners).tolist()}; expected its low and its high corner, "
            "[[x, y, z], [x, y, z]] in m"
        )
    return corners
