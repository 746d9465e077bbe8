"""The workspace of a robot: where a frame of it can be.

Configurations are spread evenly over the ranges of the driven joints by an additive recurrence, the
generalised golden ratio (M. Roberts, "The unreasonable effectiveness of quasirandom sequences",
2018); loops are closed in the assembly nearest to where the robot stands, or in all. Space is cut
into cubes: those that a point falls into are reached, those that none of the reached ones lets out
are holes. Cubes are as small as the points allow: some thirty for each that is reached.

Where the inverse geometry is known in closed form, poses may be spread instead: those of a platform
on legs (with the orientation it stands in), and of sections of the workspace of an arm. Only legs
are solved then, and what is reached is known point by point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import named_arguments
from ..catalogue import model
from ..describe.limits import joint_limits
from ..describe.robot import PRISMATIC, Robot
from ..errors import InputError, ModelError, UnknownNameError
from ..loops.numeric import skeleton
from ..loops.standing import standing
from .branches import inverse_geometry
from .coordinates import JointSpace, coordinates
from .derived import compiled
from .joints import moving, names, number, require_numbers
from .measures import measure, orientation
from .plots import save_figure, style
from .tables import write_table
from .trajectory import at_home

Array = np.ndarray
_CHUNK = 50_000  # configurations at a time
_PER_CUBE = 30  # points, on an average: fewer would leave cubes empty that can be reached
_FULL = 0.5  # of the box around a workspace, roughly
_COARSE = 8000  # poses that look for the box of a workspace
_LAST = "the last frame"
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
    tried: Grid | None = None  # where poses were spread, and which point is where

    @cached_property
    def manipulability(self) -> Array:
        """sqrt(det(J J^T)), (N).

        >>> cardan.workspace(cardan.load("ur5"), 1_000).manipulability.shape
        (1000,)"""
        return self.measure("manipulability")

    def measure(self, name: str, **options: Any) -> Array:
        """One of `measures.MEASURES` at every point, (N): manipulability, dexterity, type-1,
        type-2 (distance to singularities), speed, force, stiffness (joints=, links=), torque
        (force=).

        >>> space = cardan.workspace(cardan.load("delta"), 2_000)
        >>> bool(0 <= space.measure("dexterity").min() <= space.measure("dexterity").max() <= 1)
        True"""
        parts = [
            measure(self.robot, self.q[k : k + _CHUNK], name, self.frame or None, **options)
            for k in range(0, len(self.q), _CHUNK)
        ]
        return np.concatenate(parts)

    @cached_property
    def aspects(self) -> Array:
        """Of a section: which region of it every point is in, (N), from 1, largest first. Within a
        region, neighbours have a determinant of one sign and no type of singularity between them:
        an aspect of the section, for the configurations chosen.

        >>> section = cardan.workspace(cardan.load("delta"), 2_000, section={"y": 0.0})
        >>> section.aspects.shape == (len(section.q),)
        True"""
        if self.tried is None or len(self.tried.axes) != 2 or len(self.q) != len(self.tried.cell):
            raise InputError(
                "aspects are those of a section over two coordinates, in one configuration per"
                " point",
                remedy="hold one of three coordinates (section=), with assemblies='home'",
            )
        return self.tried.regions(orientation(self.robot, self.q, self.frame or None))

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
        """Of the cubes that are reached, m³; m² of a plane, m of a line. Where poses were spread,
        their share of the box.

        >>> cardan.workspace(cardan.load("ur5"), 1_000).volume > 1
        True"""
        if self.tried is not None:
            return self.tried.volume
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
            "frame": self.frame or _LAST, "points": len(self.points), "nearest": nearest,
            "farthest": farthest, "lowest": low, "highest": high, "volume": self.volume,
            "dimensions": len(self.axes), "holes": float(self.holes.sum() * self.cube
                                                         ** len(self.axes)),
            "cube": self.cube, "points per cube": len(self.points) / float(self.reached.sum()),
            "largest manipulability": float(self.manipulability.max()),
        }  # fmt: skip

    @property
    def views(self) -> tuple[tuple[int, int], ...]:
        """The axes to the right and upwards of each picture: of a flat workspace that of its plane,
        else from above and from the side.

        >>> cardan.workspace(cardan.load("fivebar"), 1_000, frame="tip").views
        ((0, 1),)"""
        if len(self.axes) == 3:
            return (0, 1), (0, 2)
        right, up = (0, 2) if self.axes == (2,) else (*self.axes, 2)[:2]
        return ((right, up),)

    def save(self, path: str | Path, **measures: Array) -> None:
        """The points with their configurations as .csv or .parquet, and further columns.

        >>> cardan.workspace(cardan.load("ur5"), 100).save("points.csv")
        >>> open("points.csv").readline().split(",")[:3]
        ['x', 'y', 'z']"""
        columns = dict(zip("xyz", self.points.T, strict=True))
        columns |= dict(zip(names(self.robot), self.q.T, strict=True))
        write_table(path, {**columns, "manipulability": self.manipulability, **measures})

    def plot(
        self, path: str | Path | None = None, measure: str = "manipulability", **options: Any
    ) -> Any:
        """From above and from the side, coloured by the mean of a measure over what lies behind one
        another; a section as it is. To a file, or a figure.

        >>> figure = cardan.workspace(cardan.load("ur5"), 1_000).plot()
        >>> len(figure.axes)  # two views and the scale of their colours
        3"""
        values = self.manipulability if measure == "manipulability" else self.measure(
            measure, **options)  # fmt: skip
        views = self.views
        with style():
            from matplotlib.figure import Figure

            figure = Figure(figsize=(1.0 + 3.7 * len(views), 4.2))
            most = np.quantile(values, 0.98)  # unbounded beside singular loops
            for ax, view in zip(np.atleast_1d(figure.subplots(1, len(views))), views, strict=True):
                edges, mean = self._means(view, np.minimum(values, most))
                shown = ax.pcolormesh(
                    *edges, mean.T, cmap="viridis", vmin=0, vmax=most, rasterized=True
                )
                ax.set_xlabel(f"{'xyz'[view[0]]}, m")
                ax.set_ylabel(f"{'xyz'[view[1]]}, m")
                ax.set_aspect("equal")
            figure.colorbar(shown, ax=figure.axes, label=measure.replace("-", " "), shrink=0.8)
            at = "" if self.tried is None else self.tried.told
            title = f"{self.robot.name}, {self.frame or _LAST}{at}"
            figure.suptitle(title, x=0.02, ha="left", fontsize=10, fontweight="bold")
            figure.set_layout_engine("constrained")
        if path is None:
            return figure
        save_figure(figure, path)
        return None

    def _means(self, view: tuple[int, int], values: Array) -> tuple[list[Array], Array]:
        """Edges of cells in two coordinates, and the mean of values in each: cells of the grid of
        poses, else so large that nearly each of those that are reached has points."""
        at = self.points[:, list(view)]
        low, high = at.min(0), at.max(0)
        if self.tried is not None and set(view) <= set(self.tried.axes):
            low, high = (x[list(view)] for x in (self.tried.low, self.tried.high))
            count: Any = [self.tried.shape[self.tried.axes.index(k)] for k in view]
        else:
            side = float(np.sqrt(max(np.prod(high - low), 1e-12) * 20 / len(at)))
            side = max(side, float((high - low).max()) / 160)
            count = [max(1, int(x)) for x in (high - low) / side]
        box: Any = [(a, b if b > a else a + 1e-9) for a, b in zip(low, high, strict=True)]
        total, first, second = np.histogram2d(
            at[:, 0], at[:, 1], bins=count, range=box, weights=values
        )
        number_of = np.histogram2d(at[:, 0], at[:, 1], bins=count, range=box)[0]
        with np.errstate(invalid="ignore"):
            return [first, second], total / number_of


@dataclass(frozen=True)
class Grid:
    """Poses spread over a box of some coordinates, and which of them are reached: `cell` (k) are
    the numbers of those that are, in the order of the points."""

    axes: tuple[int, ...]
    low: Array
    high: Array
    shape: tuple[int, ...]
    cell: Array
    fixed: Mapping[str, float]  # coordinates of a section

    @property
    def volume(self) -> float:
        """Of what is reached, in m to the power of the axes."""
        share = len(np.unique(self.cell)) / float(np.prod(self.shape))
        return share * float(np.prod((self.high - self.low)[list(self.axes)]))

    @property
    def told(self) -> str:
        """The section, in words."""
        return "".join(f", {key} = {value:.4g} m" for key, value in self.fixed.items())

    def regions(self, signs: Array) -> Array:
        """Numbers of the regions that cells of one sign make, by common sides."""
        sign = np.zeros(self.shape)
        sign.ravel()[self.cell] = signs
        label = np.where(sign != 0, np.arange(1, sign.size + 1).reshape(self.shape), 0)
        while True:
            before = label.copy()
            for axis in range(label.ndim):
                for ahead in (True, False):
                    view, same = np.swapaxes(label, 0, axis), np.swapaxes(sign, 0, axis)
                    view, same = (x if ahead else x[::-1] for x in (view, same))
                    for k in range(1, len(view)):  # a sweep carries the smaller number on
                        joined = (same[k] == same[k - 1]) & (same[k] != 0)
                        view[k] = np.where(joined, np.minimum(view[k], view[k - 1]), view[k])
            if (before == label).all():
                break
        own = label.ravel()[self.cell]
        values, counts = np.unique(own, return_counts=True)
        rank = {value: k for k, value in enumerate(values[np.argsort(-counts, kind="stable")], 1)}
        return np.array([rank[x] for x in own], int)


@named_arguments
def workspace(
    robot: Robot, points: int = 100_000, *, frame: Any = None, assemblies: str = "home",
    limits: dict[str, tuple[float, float]] | None = None, threads: int | None = None,
    section: Mapping[str, float] | None = None,
) -> Workspace:  # fmt: skip
    """Where a frame of a robot can be, by so many configurations within its joint limits.

    A turning joint without limits turns once; a sliding one needs them, in the file or in `limits`
    (by joint variable). `assemblies` of closed loops: "home", the one nearest to where the robot
    stands, or "all". Configurations outside the limits of passive joints are left out.

    A platform on legs is moved itself, with the orientation it stands in, and the legs follow:
    "home" is then their configuration nearest to where the robot stands. `section` = {"z": -0.6}
    is a plane of the workspace, on a regular grid: of a platform, or of an arm whose inverse
    geometry is known (six joints with the orientation in which it stands, or up to three).

    >>> space = cardan.workspace(cardan.load("fivebar"), 2_000)
    >>> space.q.shape[1], space.table()["dimensions"]
    (4, 2)
    >>> section = cardan.workspace(cardan.load("delta"), 2_000, section={"z": -0.6})
    >>> bool((section.points[:, 2] == -0.6).all())
    True"""
    described, robot = robot, skeleton(robot)  # symbols of inertia and friction do not matter
    require_numbers(robot, "a workspace")
    if isinstance(points, bool) or not isinstance(points, int | np.integer) or points < 1:
        raise InputError(f"{points} points; expected a whole number, at least 1")
    if assemblies not in ("home", "all"):
        raise UnknownNameError.of("choice of assemblies", assemblies, ("home", "all"))
    for key in section or {}:
        if key not in ("x", "y", "z"):
            raise UnknownNameError.of("coordinate", key, ("x", "y", "z"))
    if robot.wheels:
        raise ModelError(
            f"'{robot.name}' drives on wheels: it takes its frames anywhere on the floor, so that"
            " its workspace has no bounds",
            remedy="an arm on it has one: describe that on a fixed base",
        )
    name = str(frame or robot.end_effector or "")
    legs = Placing.of(robot, frame, bool(section), limits or {}, assemblies, threads)
    if legs is not None:
        position, q, grid = legs.spread(points, dict(section or {}))
        return Workspace(described, name, position, q, grid)
    if section:
        raise InputError(
            f"a section needs poses that are inverted in closed form, which '{robot.name}' has not",
            remedy="leave the section out: joints are spread then",
        )
    on = coordinates(robot)
    low, high = _ranges(robot, limits or {})
    transform = compiled(robot, "transform", **({} if frame is None else {"frame": frame}))
    parts: dict[str, list[Array]] = {"points": [], "q": []}
    for active in _spread(points, low[on.place], high[on.place]):
        q = _closed(on, active, assemblies, threads) if on.closed else active
        q = q[((q >= low - 1e-9) & (q <= high + 1e-9)).all(axis=1)] if on.closed else q
        parts["points"].append(transform(q=q, threads=threads)[..., :3, 3])
        parts["q"].append(q)
    position, q = (np.concatenate(rows) for rows in parts.values())
    _require_points(robot, name, position)
    return Workspace(described, name, position, q)


def _require_points(robot: Robot, frame: str, position: Array) -> None:
    """A workspace is more than one point."""
    if not len(position):
        raise InputError(
            f"no configuration of '{robot.name}' was found within its limits",
            remedy="give other limits, another section, or all assemblies",
        )
    if np.ptp(position, axis=0).max() <= _FLAT * np.abs(position).max() or len(position) < 2:
        raise InputError(
            f"the origin of {frame or _LAST} of '{robot.name}' is at one point in all"
            f" {len(position)} configurations",
            remedy="name a frame that the joints move, or give wider limits or more points",
        )


@dataclass(frozen=True)
class Placing:
    """Poses -> configurations, by legs or by the inverse geometry of an arm: solve (N, 3) positions
    -> (N, k, n), not a number where there are none."""

    robot: Robot
    frame: str
    solve: Callable[[Array], Array]
    home: Array  # (n) where the robot stands
    place: Array  # (3) where the frame is then
    reach: float  # about which it is looked for
    axes: tuple[int, ...]  # coordinates that can be given
    low: Array
    high: Array
    assemblies: str
    near: Array  # columns whose nearness to home counts

    @classmethod
    def of(
        cls, robot: Robot, frame: Any, section: bool, limits: dict[str, tuple[float, float]],
        assemblies: str, threads: int | None,
    ) -> Placing | None:  # fmt: skip
        """Of a platform that is the frame, or of an arm where a section is wanted."""
        home = standing(robot) if robot.constrained else at_home(robot)
        T = np.asarray(
            compiled(robot, "transform", **({} if frame is None else {"frame": frame}))(q=home)
        )
        if robot.constrained:
            solver = _platform(robot, frame, home, threads)
        else:
            solver = _arm(robot, frame, T, home) if section else None
        if solver is None:
            return None
        low, high = _ranges(robot, limits) if not robot.constrained else _given(robot, limits)
        size = 2.1 * sum(abs(number(x)) for j in robot.joints for x in (j.d, j.r, j.b))
        near = coordinates(robot).place
        solve, axes = solver
        name = str(frame or robot.end_effector or "")
        return cls(robot, name, solve, home, T[:3, 3], size, axes, low, high, assemblies, near)

    def spread(self, points: int, fixed: dict[str, float]) -> tuple[Array, Array, Grid]:
        """Points and configurations on a grid of about so many poses over a box that holds what is
        reached."""
        axes = tuple(k for k in self.axes if "xyz"[k] not in fixed)
        off = {key: value - self.place["xyz".index(key)] for key, value in fixed.items()}
        if not axes or any(
            "xyz".index(key) not in self.axes and abs(gap) > 1e-9 for key, gap in off.items()
        ):
            raise InputError(
                f"section = {fixed}: '{self.robot.name}' moves in"
                f" {', '.join('xyz'[k] for k in self.axes)}; leave at least one free"
            )
        middle = self.place.copy()
        for key, value in fixed.items():
            middle["xyz".index(key)] = value
        low, high = middle - self.reach, middle + self.reach
        for _ in range(3):
            low, high = self._narrowed(axes, middle, low, high)
        sides = (high - low)[list(axes)]
        step = float(np.prod(sides) / points) ** (1 / len(axes))
        shape = tuple(max(1, round(float(side) / step)) for side in sides)
        rows: list[tuple[Array, Array, Array]] = []
        for first in range(0, int(np.prod(shape)), _CHUNK):
            cell = np.arange(first, min(first + _CHUNK, int(np.prod(shape))))
            at = self._positions(axes, middle, low, high, shape, cell)
            which, q = self._configurations(at)
            rows.append((at[which], q, cell[which]))
        position, q, cell = (np.concatenate(x) for x in zip(*rows, strict=True))
        _require_points(self.robot, self.frame, position)
        return position, q, Grid(axes, low, high, shape, cell, fixed)

    def _positions(
        self, axes: tuple[int, ...], middle: Array, low: Array, high: Array,
        shape: tuple[int, ...], cell: Array,
    ) -> Array:  # fmt: skip
        """The middles of cells."""
        at = np.tile(middle, (len(cell), 1))
        for k, index in zip(axes, np.unravel_index(cell, shape), strict=True):
            count = shape[axes.index(k)]
            at[:, k] = low[k] + (high[k] - low[k]) * (index + 0.5) / count
        return at

    def _narrowed(
        self, axes: tuple[int, ...], middle: Array, low: Array, high: Array
    ) -> tuple[Array, Array]:
        """A smaller box: what is reached of a coarse grid, with two cells more on each side."""
        shape = (max(8, round(_COARSE ** (1 / len(axes)))),) * len(axes)
        at = self._positions(axes, middle, low, high, shape, np.arange(int(np.prod(shape))))
        inside = at[self._configurations(at)[0]]
        if not len(inside):
            return low, high
        cell = 2 * (high - low) / shape[0]  # thin ends fall between poses
        low, high = low.copy(), high.copy()
        for k in axes:
            low[k], high[k] = inside[:, k].min() - cell[k], inside[:, k].max() + cell[k]
        return low, high

    def _configurations(self, at: Array) -> tuple[Array, Array]:
        """(rows of `at`, q): those within the limits, nearest to home or all."""
        q = self.solve(at)
        if not q.shape[1]:
            return np.zeros(0, int), np.zeros((0, q.shape[2]))
        real = ~np.isnan(q[..., 0])
        limited = np.isfinite(self.low) | np.isfinite(self.high)
        if limited.any():
            own = q[..., limited]
            inside = (own >= self.low[limited] - 1e-9) & (own <= self.high[limited] + 1e-9)
            real &= inside.all(axis=-1)
        if self.assemblies == "all":
            which, mode = np.nonzero(real)
            return which, q[which, mode]
        away = q[..., self.near] - self.home[self.near]
        turning = np.array([moving(self.robot)[k].sigma != PRISMATIC for k in self.near])
        away -= np.where(turning, 2 * np.pi * np.rint(away / (2 * np.pi)), 0)
        distance = np.where(real, np.square(away).sum(axis=-1), np.inf)
        nearest = distance.argmin(axis=1)
        which = np.flatnonzero(np.isfinite(distance[np.arange(len(q)), nearest]))
        return which, q[which, nearest[which]]


Solved = tuple[Callable[[Array], Array], tuple[int, ...]]


def _platform(robot: Robot, frame: Any, home: Array, threads: int | None) -> Solved | None:
    """Legs of a platform whose first coordinates are x, y, z of the frame in frame 0; the others
    stay as they are."""
    try:
        legs = model(robot, "loop-geometry").legs
    except ModelError:
        return None
    columns, place = [legs.coordinates.moving.index(j) for j in legs.given], home.copy()
    transform = compiled(robot, "transform", **({} if frame is None else {"frame": frame}))
    T = np.asarray(transform(q=place))
    axes: list[int] = []
    for k in columns[:3]:  # is it a slide of the frame along x, y or z?
        moved = place.copy()
        moved[k] += 0.1
        step = np.asarray(transform(q=moved)) - T
        axis = int(np.argmax(np.abs(step[:3, 3])))
        if np.abs(step[:3, :3]).max() > 1e-12 or abs(step[axis, 3] - 0.1) > 1e-9:
            break
        axes.append(axis)
    if legs.steps is None or not axes or len(set(axes)) < min(len(columns), 3):
        return None
    offset = T[axes, 3] - place[columns[: len(axes)]]

    def solve(at: Array) -> Array:
        x = np.tile(place[columns], (len(at), 1))
        x[:, : len(axes)] = at[:, axes] - offset
        return np.asarray(legs.solve(x, threads=threads).q)

    return solve, tuple(sorted(axes))


def _arm(robot: Robot, frame: Any, T: Array, home: Array) -> Solved | None:
    """The inverse geometry of an arm: poses of one orientation, or points."""
    J = np.asarray(compiled(robot, "jacobian", **({} if frame is None else {"frame": frame}))(
        q=np.random.default_rng(0).uniform(-1, 1, (20, robot.n))))[:, :3]  # fmt: skip
    axes = tuple(k for k in range(3) if np.abs(J[:, k]).max() > 1e-12)
    ways = int(np.linalg.matrix_rank(J).max())
    if robot.n <= 3 and not ways == len(axes) == robot.n:
        raise InputError(
            f"a section of '{robot.name}' needs one joint for each coordinate that its frame moves"
            f" in (coordinates: {', '.join('xyz'[k] for k in axes) or 'none'}; joints: {robot.n};"
            f" independent motions: {ways})",
            remedy="leave the section out: joints are spread then",
        )
    geometry = inverse_geometry(robot, frame)
    if geometry is None or (robot.n > 3 and robot.n != 6):
        return None

    def solve(at: Array) -> Array:
        if robot.n <= 3:
            return np.asarray(geometry.solve(at, report=True).q)
        poses = np.tile(T, (len(at), 1, 1))
        poses[:, :3, 3] = at
        return np.asarray(geometry.solve(poses, report=True).q)

    return solve, axes


def _given(robot: Robot, limits: dict[str, tuple[float, float]]) -> tuple[Array, Array]:
    """Limits of the joints of a platform, whose own coordinates need none."""
    low, high = joint_limits(robot)
    for name, (least, most) in limits.items():
        if name not in robot.variables:
            raise UnknownNameError.of("joint variable", name, list(robot.variables))
        low[robot.variables.index(name)], high[robot.variables.index(name)] = least, most
    return low, high


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
                f"joint '{joint.name}' ({known[k]}) slides without limits",
                remedy=f'give limits={{"{known[k]}": (least, greatest)}}, or put them in the file',
                action="limits",
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
