"""The workspace of a robot: where a frame of it can be.

Configurations are spread evenly over the ranges of the driven joints by an additive recurrence, the
generalised golden ratio (M. Roberts, "The unreasonable effectiveness of quasirandom sequences",
2018); loops are closed in the assembly nearest to where the robot stands, or in all. Space is cut
into cubes: those that a point falls into are reached, those that none of the reached ones lets out
are holes. Cubes are as small as the points allow: some thirty for each that is reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..describe.limits import joint_limits
from ..describe.robot import PRISMATIC, Robot
from ..errors import InputError, UnknownNameError
from ..loops.numeric import skeleton
from ..loops.standing import standing
from .coordinates import JointSpace, coordinates
from .derived import compiled
from .joints import moving, names, require_numbers
from .plots import save_figure, style
from .tables import write_table

__all__ = ["Workspace", "workspace"]

Array = np.ndarray
_CHUNK = 50_000  # configurations at a time
_PER_CUBE = 30  # points, on an average: fewer would leave cubes empty that can be reached
_FULL = 0.5  # of the box around a workspace, roughly
_FLAT = 1e-9  # of the longest side: a workspace is no thicker than that in a plane


@dataclass(frozen=True)
class Workspace:
    """Points that a frame of a robot reaches, with the configurations q and the manipulability
    sqrt(det(J J^T)) of the rows of position that the robot moves in.

    >>> space = cardan.workspace(cardan.load("ur5"), 5_000)
    >>> space.points.shape, bool(0.9 < space.reach[1] < 1.1)
    ((5000, 3), True)"""

    robot: Robot
    frame: str
    points: Array  # (N, 3) in frame 0, m
    q: Array  # (N, n)
    manipulability: Array  # (N)

    @property
    def bounds(self) -> Array:
        """Least and greatest coordinates, (2, 3).

        >>> cardan.workspace(cardan.load("ur5"), 1_000).bounds.shape
        (2, 3)"""
        return np.stack([self.points.min(0), self.points.max(0)])

    @property
    def reach(self) -> tuple[float, float]:
        """Least and greatest distance from the origin of frame 0, m.

        >>> nearest, farthest = cardan.workspace(cardan.load("ur5"), 1_000).reach
        >>> nearest < farthest
        True"""
        distance = np.linalg.norm(self.points, axis=1)
        return float(distance.min()), float(distance.max())

    @cached_property
    def cube(self) -> float:
        """The side of the cubes, m.

        >>> cardan.workspace(cardan.load("ur5"), 1_000).cube < 1
        True"""
        sides = np.ptp(self.bounds, axis=0)[list(self.axes)]
        cubes = max(len(self.points) / _PER_CUBE, 8.0)
        return float((_FULL * np.prod(sides) / cubes) ** (1 / len(sides)))

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The coordinates in which the workspace extends.

        >>> cardan.workspace(cardan.load("fivebar"), 1_000, frame="tip").axes
        (0, 1)"""
        sides = np.ptp(self.bounds, axis=0)
        return tuple(k for k in range(3) if sides[k] > _FLAT * sides.max())

    @cached_property
    def reached(self) -> Array:
        """Which cubes hold a point, over `axes`, with an empty one around all.

        >>> cardan.workspace(cardan.load("ur5"), 1_000).reached.ndim
        3"""
        low = self.bounds[0][list(self.axes)]
        at = ((self.points[:, list(self.axes)] - low) / self.cube).astype(int)
        grid = np.zeros(at.max(0) + 3, bool)
        grid[tuple((at + 1).T)] = True
        return grid

    @property
    def volume(self) -> float:
        """Of the cubes that are reached, m³; m² of a plane, m of a line.

        >>> cardan.workspace(cardan.load("ur5"), 1_000).volume > 1
        True"""
        return float(self.reached.sum() * self.cube ** len(self.axes))

    @cached_property
    def holes(self) -> Array:
        """Which cubes are not reached and enclosed by such as are, as `reached`.

        >>> space = cardan.workspace(cardan.load("ur5"), 1_000)
        >>> space.holes.shape == space.reached.shape
        True"""
        outside = np.zeros_like(self.reached)
        outside[(0,) * outside.ndim] = True
        while True:
            spread = outside.copy()
            for axis in range(outside.ndim):
                ahead = [slice(None)] * outside.ndim
                back = list(ahead)
                ahead[axis], back[axis] = slice(1, None), slice(None, -1)
                spread[tuple(ahead)] |= outside[tuple(back)]
                spread[tuple(back)] |= outside[tuple(ahead)]
            spread &= ~self.reached
            if (spread == outside).all():
                return np.asarray(~(outside | self.reached))
            outside = spread

    def table(self) -> dict[str, Any]:
        """What is known of the workspace.

        >>> cardan.workspace(cardan.load("ur5"), 1_000).table()["points"]
        1000"""
        (nearest, farthest), (low, high) = self.reach, self.bounds.tolist()
        return {
            "frame": self.frame, "points": len(self.points), "nearest": nearest,
            "farthest": farthest, "lowest": low, "highest": high, "volume": self.volume,
            "dimensions": len(self.axes), "holes": float(self.holes.sum() * self.cube
                                                         ** len(self.axes)),
            "cube": self.cube, "points per cube": len(self.points) / float(self.reached.sum()),
            "largest manipulability": float(self.manipulability.max()),
        }  # fmt: skip

    def save(self, path: str | Path) -> None:
        """The points with their configurations as .csv or .parquet.

        >>> cardan.workspace(cardan.load("ur5"), 100).save("points.csv")
        >>> open("points.csv").readline().split(",")[:3]
        ['x', 'y', 'z']"""
        columns = dict(zip("xyz", self.points.T, strict=True))
        columns |= dict(zip(names(self.robot), self.q.T, strict=True))
        write_table(path, {**columns, "manipulability": self.manipulability})

    def plot(self, path: str | Path | None = None) -> Any:
        """From above and from the side, coloured by the manipulability; to a file, or a figure.

        >>> figure = cardan.workspace(cardan.load("ur5"), 1_000).plot()
        >>> len(figure.axes)  # two views and the scale of their colours
        3"""
        with style():
            from matplotlib.figure import Figure

            figure = Figure(figsize=(8.4, 4.2))
            order = np.argsort(self.manipulability)
            most = np.quantile(self.manipulability, 0.98)  # unbounded beside singular loops
            for ax, (h, v) in zip(figure.subplots(1, 2), ((0, 1), (0, 2)), strict=True):
                shown = ax.scatter(
                    *self.points[order][:, [h, v]].T, s=1.5, c=self.manipulability[order],
                    cmap="viridis", vmin=0, vmax=most, linewidths=0, rasterized=True,
                )  # fmt: skip
                ax.set_xlabel(f"{'xyz'[h]}, m")
                ax.set_ylabel(f"{'xyz'[v]}, m")
                ax.set_aspect("equal")
            figure.colorbar(shown, ax=figure.axes, label="manipulability", shrink=0.8)
            title = f"{self.robot.name}: where {self.frame} can be"
            figure.suptitle(title, x=0.02, ha="left", fontsize=10, fontweight="bold")
            figure.set_layout_engine("constrained")
        if path is None:
            return figure
        save_figure(figure, path)
        return None


@named_arguments
def workspace(
    robot: Robot, points: int = 100_000, *, frame: Any = None, assemblies: str = "home",
    limits: dict[str, tuple[float, float]] | None = None, threads: int | None = None,
) -> Workspace:  # fmt: skip
    """Where a frame of a robot can be, by so many configurations within its joint limits.

    A turning joint without limits turns once; a sliding one needs them, in the file or in `limits`
    (by joint variable). `assemblies` of closed loops: "home", the one nearest to where the robot
    stands, or "all". Configurations outside the limits of passive joints are left out.

    >>> space = cardan.workspace(cardan.load("fivebar"), 2_000)
    >>> space.q.shape[1], space.table()["dimensions"]
    (4, 2)"""
    described, robot = robot, skeleton(robot)  # symbols of inertia and friction do not matter
    require_numbers(robot, "a workspace")
    if isinstance(points, bool) or not isinstance(points, int | np.integer) or points < 1:
        raise InputError(f"{points} points; expected a whole number, at least 1")
    if assemblies not in ("home", "all"):
        raise UnknownNameError.of("choice of assemblies", assemblies, ("home", "all"))
    on = coordinates(robot)
    low, high = _ranges(robot, limits or {})
    chosen = {} if frame is None else {"frame": frame}
    transform = compiled(robot, "transform", **chosen)
    jacobian = compiled(robot, "jacobian", **chosen)
    parts: dict[str, list[Array]] = {"points": [], "q": [], "measure": []}
    for active in _spread(points, low[on.place], high[on.place]):
        q = _closed(on, active, assemblies, threads) if on.closed else active
        q = q[((q >= low - 1e-9) & (q <= high + 1e-9)).all(axis=1)] if on.closed else q
        J = jacobian(q=q, threads=threads)[..., :3, :]
        parts["points"].append(transform(q=q, threads=threads)[..., :3, 3])
        parts["q"].append(q)
        parts["measure"].append(_manipulability(J))
    position, q, measure = (np.concatenate(rows) for rows in parts.values())
    if not len(position):
        raise InputError(
            f"no configuration of '{robot.name}' was found within its limits",
            remedy="give other limits, or assemblies='all'",
        )
    shown = str(frame or robot.end_effector or "the last frame")
    return Workspace(described, shown, position, q, measure)


def _ranges(robot: Robot, limits: dict[str, tuple[float, float]]) -> tuple[Array, Array]:
    """Least and greatest positions of every joint variable: turning ones without limits turn once,
    sliding ones that are driven must have some."""
    low, high = joint_limits(robot)
    known = names(robot)
    for name, (least, most) in limits.items():
        if name not in known:
            raise UnknownNameError.of("joint variable", name, known)
        if not least <= most:
            raise InputError(f"limits of {name}: from {least} to {most}")
        low[known.index(name)], high[known.index(name)] = least, most
    driven = set(coordinates(robot).place.tolist())
    for k, joint in enumerate(moving(robot)):
        if joint.sigma == PRISMATIC and k in driven and not np.isfinite([low[k], high[k]]).all():
            raise InputError(
                f"joint '{joint.name}' slides without limits",
                remedy=f'give limits={{"{known[k]}": (least, greatest)}}, or put them in the file',
            )
        if joint.sigma != PRISMATIC and k in driven:
            low[k], high[k] = max(low[k], -2 * np.pi), min(high[k], 2 * np.pi)
            if high[k] - low[k] > 2 * np.pi:
                low[k], high[k] = -np.pi, np.pi
    return low, high


def _spread(count: int, low: Array, high: Array) -> Iterator[Array]:
    """Points of a box, evenly: k times (1/g, 1/g², ...) modulo 1, g^(n+1) = g + 1."""
    n = len(low)
    g = 2.0
    for _ in range(64):
        g = (1 + g) ** (1 / (n + 1))
    step = g ** -np.arange(1.0, n + 1)
    for first in range(0, count, _CHUNK):
        k = np.arange(first, min(first + _CHUNK, count))[:, None] + 1
        yield low + (high - low) * ((0.5 + k * step) % 1)


def _closed(on: JointSpace, active: Array, assemblies: str, threads: int | None) -> Array:
    """Configurations of the whole tree: of all assemblies, or of the one nearest to home."""
    every = np.asarray(on.geometry.solve(active, threads=threads).q)
    real = ~np.isnan(every).any(axis=2)
    if assemblies == "all":
        return np.asarray(every[real])
    away = np.abs(every - standing(on.robot))
    turns = on.geometry.system().periodic
    away = np.where(turns, np.minimum(away % (2 * np.pi), -away % (2 * np.pi)), away)
    distance = np.where(real, np.where(np.isnan(away), 0, away).sum(axis=2), np.inf)
    nearest = distance.argmin(axis=1)
    rows = np.arange(len(every))[real.any(axis=1)]
    return np.asarray(every[rows, nearest[rows]])


def _manipulability(J: Array) -> Array:
    """sqrt(det(J J^T)) of the rows that are not zero throughout, at most as many as columns."""
    rows = [k for k in range(3) if np.abs(J[..., k, :]).max(initial=0) > 1e-12]
    J = J[..., rows[: J.shape[-1]], :]
    return np.asarray(np.sqrt(np.maximum(np.linalg.det(J @ np.swapaxes(J, -1, -2)), 0)))
