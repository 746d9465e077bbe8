"""What a moving robot may touch: spheres on its links, a floor, boxes, balls and one another.

Distances are those of the surfaces, negative where two bodies are inside each other. Spheres of one
link and of links that a joint joins are not compared.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import Numbers, named_arguments
from ..describe.robot import Robot
from ..errors import InputError
from ..mechanism.frames import frame_of
from .frames import link_frames, placement
from .joints import array

_AT_ONCE = 2_000_000  # distances


@dataclass(frozen=True)
class Sphere:
    """A sphere fixed to a frame of the robot: its centre there and its radius, m."""

    frame: str | int
    centre: tuple[float, float, float]
    radius: float


@dataclass(frozen=True)
class Surroundings:
    """A floor (z of frame 0, upwards free), boxes (low (3), high (3)) along the axes of frame 0,
    and balls (centre (3), radius) that stand there; m."""

    floor: float | None = None
    boxes: tuple[tuple[Any, Any], ...] = ()
    balls: tuple[tuple[Any, float], ...] = ()


@dataclass(frozen=True)
class Clearance:
    """How far the spheres of a robot are from its surroundings and from one another.

    >>> from cardan.motion.collision import Clearance, Sphere, Surroundings
    >>> robot = cardan.load("ur5")
    >>> tool = Sphere("wrist_3", (0, 0, 0), 0.05)
    >>> round(Clearance(robot, (tool,), Surroundings(floor=0.0)).nearest([0] * 6)[1], 3)
    -0.055"""

    robot: Robot
    spheres: tuple[Sphere, ...]
    around: Surroundings = Surroundings()

    def __post_init__(self) -> None:
        for k, sphere in enumerate(self.spheres):
            if not (np.isfinite(sphere.radius) and sphere.radius >= 0):
                raise InputError(f"sphere {k}: a radius of {sphere.radius}", where=f"spheres[{k}]")
        for low, high in self.around.boxes:
            if np.shape(low) != (3,) or np.shape(high) != (3,) or np.less(high, low).any():
                raise InputError(f"a box from {low} to {high}: expected two corners, low and high")
        for centre, radius in self.around.balls:
            if np.shape(centre) != (3,) or not radius >= 0:
                raise InputError(f"a ball at {centre}, radius {radius}: expected x, y, z and m")

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Link, centre in its frame, and radius of every sphere."""
        frames = [frame_of(self.robot, sphere.frame) for sphere in self.spheres]
        points = [
            (placement(frame) @ [*sphere.centre, 1.0])[:3]
            for frame, sphere in zip(frames, self.spheres, strict=True)
        ]
        radius = np.array([sphere.radius for sphere in self.spheres])
        return np.array([frame.link for frame in frames], int), np.array(points), radius

    @cached_property
    def pairs(self) -> np.ndarray:
        """Spheres that are compared with one another, (k, 2)."""
        link = self._places[0]
        joined = {(joint.antecedent, j) for j, joint in enumerate(self.robot.joints, 1)}
        rows = [
            (a, b)
            for a in range(len(link))
            for b in range(a)
            if link[a] != link[b] and not {(link[a], link[b]), (link[b], link[a])} & joined
        ]
        return np.array(rows, int).reshape(-1, 2)

    @named_arguments
    def centres(self, q: Numbers) -> np.ndarray:
        """Of the spheres in frame 0, (..., spheres, 3), for q (..., n)."""
        link, point, _ = self._places
        T = link_frames(self.robot, q)[..., link, :, :]
        return np.asarray((T[..., :3, :3] @ point[:, :, None])[..., 0] + T[..., :3, 3])

    def distances(self, q: np.ndarray) -> tuple[np.ndarray, list[str]]:
        """(m, k) of configurations q (m, n), and what the k are between."""
        P, radius = self.centres(q), self._places[2]
        names = [f"sphere {k + 1} ({sphere.frame})" for k, sphere in enumerate(self.spheres)]
        columns, told = [], []
        if self.around.floor is not None:
            columns.append(P[..., 2] - radius - self.around.floor)
            told += [f"{name} and the floor" for name in names]
        for k, (low, high) in enumerate(self.around.boxes, 1):
            outside = np.maximum(np.maximum(low - P, P - high), 0.0)
            inside = np.minimum(np.maximum(low - P, P - high).max(axis=-1), 0.0)
            columns.append(np.linalg.norm(outside, axis=-1) + inside - radius)
            told += [f"{name} and box {k}" for name in names]
        for k, (centre, size) in enumerate(self.around.balls, 1):
            columns.append(np.linalg.norm(P - centre, axis=-1) - size - radius)
            told += [f"{name} and ball {k}" for name in names]
        a, b = self.pairs.T
        columns.append(np.linalg.norm(P[:, a] - P[:, b], axis=-1) - radius[a] - radius[b])
        told += [f"{names[i]} and {names[j]}" for i, j in self.pairs]
        return np.concatenate(columns, axis=-1), told

    @named_arguments
    def least(self, q: Numbers) -> np.ndarray:
        """The least distance of every configuration, (m) for q (m, n)."""
        rows = np.atleast_2d(array("q", q))
        size = max(1, _AT_ONCE // max(1, len(self.pairs) + len(self.spheres)))
        parts = [
            self.distances(rows[k : k + size])[0].min(axis=1, initial=np.inf)
            for k in range(0, len(rows), size)
        ]
        return np.concatenate(parts)

    @named_arguments
    def clear(self, q: Numbers) -> np.ndarray:
        """Is nothing touched? (m) for q (m, n)."""
        return np.asarray(self.least(q) > 0)

    @named_arguments
    def nearest(self, q: Numbers) -> tuple[int, float, str]:
        """The configuration of q (m, n) where two bodies come nearest, how near, and which."""
        rows = np.atleast_2d(array("q", q))
        k = int(np.argmin(self.least(rows)))
        distance, told = self.distances(rows[k : k + 1])
        if not told:
            return k, float("inf"), "nothing"
        at = int(np.argmin(distance[0]))
        return k, float(distance[0, at]), told[at]


@named_arguments
def spheres_along(robot: Robot, radius: float) -> tuple[Sphere, ...]:
    """Spheres of one radius from every frame to those that follow it, a radius apart: a first
    picture of the links of an arm.

    >>> from cardan.motion.collision import spheres_along
    >>> len(spheres_along(cardan.load("ur5"), 0.06)) > 10
    True"""
    if not (np.isfinite(radius) and radius > 0):
        raise InputError(f"a radius of {radius} m; expected a positive one")
    T = link_frames(robot, np.zeros(robot.n))
    spheres = []
    for j, joint in enumerate(robot.joints, 1):
        i = joint.antecedent
        if not i:
            continue  # the base does not move
        end = np.linalg.solve(T[i], T[j])[:3, 3]
        count = int(np.ceil(np.linalg.norm(end) / radius)) + 1
        spheres += [
            Sphere(i, tuple(map(float, end * share)), radius)  # type: ignore[arg-type]
            for share in np.linspace(0, 1, count)
        ]
    last = frame_of(robot, None)
    return (*spheres, Sphere(last.link, tuple(map(float, placement(last)[:3, 3])), radius))  # type: ignore[arg-type]


@named_arguments
def read_surroundings(robot: Robot, path: str | Path) -> Clearance:
    """Spheres and surroundings from a .toml file:

    floor = 0.0
    radius = 0.06                                           # spheres along all links, and
    sphere = [{frame = "wrist_3", at = [0, 0, 0.1], radius = 0.05}]
    box = [{low = [0.3, -1, 0], high = [0.5, 1, 0.2]}]
    ball = [{at = [0.4, 0, 0.5], radius = 0.1}]"""
    try:
        with Path(path).open("rb") as file:
            data = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None
    known = {"floor": (), "radius": (), "sphere": ("frame", "at", "radius"),
             "box": ("low", "high"), "ball": ("at", "radius")}  # fmt: skip
    for key in data:
        if key not in known:
            raise InputError(f"{path}: there is no '{key}'; allowed: {', '.join(known)}")
    listed = {key: _listed(path, data, key, fields) for key, fields in known.items() if fields}
    spheres = [
        Sphere(row["frame"], tuple(_point(path, row["at"])), _number(path, row["radius"]))  # type: ignore[arg-type]
        for row in listed["sphere"]
    ]
    if "radius" in data:
        spheres += spheres_along(robot, _number(path, data["radius"]))
    around = Surroundings(
        _number(path, data["floor"]) if "floor" in data else None,
        tuple((_point(path, row["low"]), _point(path, row["high"])) for row in listed["box"]),
        tuple((_point(path, row["at"]), _number(path, row["radius"])) for row in listed["ball"]),
    )
    if not spheres:
        raise InputError(f"{path}: no spheres on the robot; give sphere = [...] or radius = ...")
    return Clearance(robot, tuple(spheres), around)


def _listed(path: Any, data: dict[str, Any], key: str, fields: Sequence[str]) -> list[Any]:
    rows = data.get(key, [])
    for row in rows if isinstance(rows, list) else [rows]:
        if not isinstance(row, dict) or set(row) != set(fields):
            raise InputError(f"{path}: every '{key}' has {', '.join(fields)}")
    return rows if isinstance(rows, list) else [rows]


def _point(path: Any, value: Any) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) != 3:
        raise InputError(f"{path}: {value!r}; expected [x, y, z] in m")
    return tuple(_number(path, x) for x in value)


def _number(path: Any, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{path}: {value!r}; expected a number")
    return float(value)
