"""The frames of a robot with open loops as numbers, for the kernels of loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..algebra.scalar import function
from ..describe.robot import FIXED, GEOMETRY, PRISMATIC, REVOLUTE, Robot
from ..describe.values.expression import Value, evaluate
from ..kernel.records import layout_of
from ..mechanism.coordinates import Coordinates
from ..mechanism.loops import LoopFrames, opened
from .closing import ANGLES, LENGTHS, Closing

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Chain:
    """The opened robot's frames as numbers."""

    coordinates: Coordinates
    antecedent: tuple[int, ...]
    sigma: tuple[int, ...]
    six: Array  # (frames, 6)
    led: Mapping[int, tuple[list[tuple[int, float]], float]]  # by link: leaders, ratios; offset
    size: float  # a length of the robot

    @classmethod
    def of(cls, robot: Robot, values: Mapping[str, float], size: float) -> Chain:
        joints = opened(robot).joints
        coordinates = Coordinates.of(robot)

        def value(x: Value) -> float:
            return float(evaluate(x, values.__getitem__, function))

        six = [[value(getattr(j, key)) for key in GEOMETRY] for j in joints]
        led = {
            j: ([(k, value(ratio)) for k, ratio in x.leaders], value(x.offset))
            for j, x in robot.couplings.items()
        }
        return cls(
            coordinates, tuple(j.antecedent for j in joints), tuple(j.sigma for j in joints),
            np.array(six), led, size,
        )  # fmt: skip

    def frames(self, q: Array) -> list[tuple[Array, Array]]:
        """(R, P) of frame 0 and all others."""
        found = [(np.eye(3), np.zeros(3))]
        k = 0
        for (gamma, b, alpha, d, theta, r), i, s in zip(
            self.six, self.antecedent, self.sigma, strict=True
        ):
            if s != FIXED:
                theta, r = theta + q[k] * (s == REVOLUTE), r + q[k] * (s == PRISMATIC)
                k += 1
            cg, sg, ca, sa = np.cos(gamma), np.sin(gamma), np.cos(alpha), np.sin(alpha)
            ct, st = np.cos(theta), np.sin(theta)
            before = np.array([[cg, -sg * ca, sg * sa], [sg, cg * ca, -cg * sa], [0, sa, ca]])
            R, P = found[i]
            R = R @ before
            P = P + found[i][0] @ np.array([d * cg, d * sg, b])
            R = R @ np.array([[ct, -st, 0], [st, ct, 0], [0, 0, 1]])
            found.append((R, P + r * R[:, 2]))
        return found

    def column(self, j: int) -> int:
        return self.coordinates.moving.index(j)

    def unit(self, j: int) -> float:
        """Of a joint: one radian, or the robot's size."""
        return self.size if self.sigma[j - 1] == PRISMATIC else 1.0

    @cached_property
    def gain(self) -> dict[int, float]:
        """Units by which a joint moves when the one that leads it in the end moves by one; 1 where
        none does. High gears would make everything else look singular."""
        gain = dict.fromkeys(self.coordinates.moving, 1.0)
        for j in self.coordinates.led:
            moved = sum(gain[k] * abs(ratio) * self.unit(k) for k, ratio in self.led[j][0])
            gain[j] = moved / self.unit(j) or 1.0
        return gain

    def closing(self, loop: LoopFrames) -> Array:
        """The Closing of a loop."""
        row = np.zeros((), layout_of(Closing).dtype)
        row["lengths"], row["angles"] = LENGTHS.get(loop.kind, 3), ANGLES.get(loop.kind, 4)
        row["cut"], row["twin"] = loop.cut, loop.twin
        row["root"] = self.antecedent[(*loop.to_cut, *loop.to_twin)[0] - 1]
        return row

    def tie(self, j: int) -> Array:
        """The Closing of the coupling of a joint."""
        row = np.zeros((), layout_of(Closing).dtype)
        leaders, row["offset"] = self.led[j]
        row["angles"], row["cut"], row["twin"] = 1, self.column(j), j
        row["weight"] = 1 / (self.gain[j] * self.unit(j))
        row["count"] = len(leaders)
        for one, (k, ratio) in zip(row["leaders"], leaders, strict=False):
            one["variable"], one["ratio"] = self.column(k), ratio
        return row

    @cached_property
    def closings(self) -> Array:
        """The Closings of closing.py: loops, then couplings."""
        link = self.coordinates
        rows = [*map(self.closing, link.loops), *map(self.tie, link.led)]
        head = [len(link.moving), len(rows)]
        return np.concatenate([head, *(np.frombuffer(x.tobytes()) for x in rows)])

    def behind(self, j: int, frame: int) -> bool:
        """Does joint j move a frame other than its own?"""
        frame = self.antecedent[frame - 1] if frame else 0
        while frame > j:
            frame = self.antecedent[frame - 1]
        return frame == j

    @cached_property
    def table(self) -> Array:
        """The Tree of inverse/numeric/kernels.py, lengths in units of the robot's size, variables
        as they are."""
        rows, variable, size = [], 0, self.size
        for (gamma, b, alpha, d, theta, r), i, s in zip(
            self.six, self.antecedent, self.sigma, strict=True
        ):
            own = -1
            if s != FIXED:
                own, variable = variable, variable + 1
            turns = [*_turn(gamma), b / size, *_turn(alpha), d / size, theta, r / size]
            rows.append([i, own, s, *turns, 1 / size if s == PRISMATIC else 1])
        return np.array([len(rows) + 1, *np.ravel(rows)], float)

    @cached_property
    def still(self) -> dict[str, set[int]]:
        """By loop: turns that do not move the point O_c or O_t behind them, on their axis."""
        drawn = np.random.default_rng(5).uniform(0.2, 1, len(self.coordinates.moving))
        frames = self.frames(drawn * [self.unit(j) for j in self.coordinates.moving])

        def misses(j: int, point: Array) -> bool:
            R, P = frames[j]
            return bool(np.linalg.norm(np.cross(R[:, 2], point - P)) > 1e-9 * self.size)

        return {
            loop.name: {
                j for j in loop.links if self.sigma[j - 1] == REVOLUTE
                and not misses(j, frames[loop.cut if j in loop.to_cut else loop.twin][1])
            }
            for loop in self.coordinates.loops
        }  # fmt: skip


def meeting(P: Array, z: Array, Q: Array, y: Array, size: float) -> Array | None:
    """Where two axes meet, or None."""
    across = np.cross(z, y)
    square = across @ across
    if square < 1e-18 or abs((Q - P) @ across) > 1e-9 * size:
        return None
    return np.asarray(P + np.cross(Q - P, y) @ across / square * z)


def _turn(angle: float) -> list[float]:
    """Cosine and sine, zero where they are so but for rounding."""
    return [0.0 if abs(x) < 2e-16 else float(x) for x in (np.cos(angle), np.sin(angle))]
