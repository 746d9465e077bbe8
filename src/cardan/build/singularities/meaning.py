"""What the zero of a factor is in space, tried at random configurations where it is zero.

Axes are those of the revolute joints on the path. A centre is a point where neighbouring axes
always meet, or the point followed. A relation is the meaning of a factor where it holds at each of
the configurations, and not at others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np

from ...describe.robot import REVOLUTE
from ...models.bodies import bodies
from ...models.transform import transform
from .determinant import Arm

Array = Any
Values = Mapping[str, float]
_ZERO = 1e-7  # of lengths about 1, and sines


@dataclass(frozen=True)
class Meaning:
    """The usual name of a singularity, or "", and what is so in space, or ""."""

    name: str = ""
    words: str = ""


@dataclass(frozen=True)
class _Pose:
    """Origins and directions of the axes, and the point followed, in one configuration."""

    arm: Arm
    values: Values

    @cached_property
    def axes(self) -> dict[int, tuple[Array, Array]]:
        scene = bodies(self.arm.robot, self.values.__getitem__)
        q = [self.values[name] for name in self.arm.variables]
        axes = {}
        for j in (*self.arm.joints, self.arm.frame):
            x = transform(scene, q, j, 0)
            R, P = np.array(x.R.rows, dtype=float), np.array([*x.P], dtype=float)
            axes[j] = P, R[:, 2]
            if j == self.arm.frame:
                axes[0] = P + R @ np.array([float(v) for v in self.arm.point]), R[:, 2]
        return axes

    def centre(self, at: Sequence[int]) -> Array:
        """Where these axes meet, the point nearest to them all; the point followed for none."""
        if not at:
            return self.axes[0][0]
        normals = [np.eye(3) - np.outer(z, z) for _, z in (self.axes[j] for j in at)]
        rows = np.concatenate(normals)
        values = np.concatenate([N @ self.axes[j][0] for N, j in zip(normals, at, strict=True)])
        point: Array = np.linalg.lstsq(rows, values, rcond=None)[0]
        return point

    def off_axis(self, point: Array, j: int) -> float:
        o, z = self.axes[j]
        return float(np.linalg.norm(np.cross(point - o, z)))

    def meet(self, at: Sequence[int]) -> bool:
        point = self.centre(at)
        skew = min(self.angle(i, j) for i, j in combinations(at, 2))
        return skew > 1e-3 and max(self.off_axis(point, j) for j in at) < _ZERO

    def angle(self, i: int, j: int) -> float:
        """The sine between two axes."""
        return float(np.linalg.norm(np.cross(self.axes[i][1], self.axes[j][1])))

    def off_plane(self, point: Array, i: int, along: Array) -> float:
        """The distance of a point from the plane through axis i along a direction."""
        o, z = self.axes[i]
        normal = np.cross(z, along)
        return float(abs((point - o) @ normal)) / max(float(np.linalg.norm(normal)), 1e-12)


Relation = tuple[Meaning, Callable[[_Pose], float]]


def meaning(arm: Arm, singular: Sequence[Values], others: Sequence[Values]) -> Meaning:
    """The meaning of what is zero in the first configurations and not in the others."""
    at, away = ([_Pose(arm, values) for values in x] for x in (singular, others))
    if at and away:
        for words, distance in _relations(arm, away):
            apart = [distance(pose) for pose in away]
            if max(map(distance, at)) < _ZERO and min(apart) > 10 * _ZERO:
                return words
    return Meaning()


def _relations(arm: Arm, poses: Sequence[_Pose]) -> Iterator[Relation]:
    """The relations there may be, the most telling first."""
    axes = [j for j in arm.joints if arm.robot.joints[j - 1].sigma == REVOLUTE]
    wrist = set(arm.joints[3:]) if len(arm.joints) == 6 else set()
    first = axes[0] if axes and axes[0] == arm.joints[0] else 0
    centres = _centres(axes, poses)
    pairs = sorted(combinations(axes, 2), key=lambda pair: not wrist.issuperset(pair))
    parallel = {pair for pair in pairs if max(pose.angle(*pair) for pose in poses) < _ZERO}

    def on_axis(at: tuple[int, ...], what: str) -> Iterator[Relation]:
        for i in axes:
            if i < min(at, default=i + 1):
                named = "shoulder" if i == first else ""
                yield Meaning(named, f"{what} lies on axis {i}"), partial(_from_axis, at, i)

    def of_wrist(at: Sequence[int], words: str) -> Meaning:
        return Meaning("wrist" if wrist.issuperset(at) else "", words)

    yield from on_axis(*centres[0])
    for i, j in pairs:
        yield of_wrist((i, j), f"axes {i} and {j} are in line"), partial(_from_line, i, j)
    for at, _ in centres:
        if len(at) == 3:
            words = f"axes {at[0]}, {at[1]} and {at[2]} lie in one plane"
            yield of_wrist(at, words), partial(_volume, at)
    for i, j in sorted(parallel):
        for k in axes:
            if {(i, k), (j, k)} <= parallel:
                words = f"axes {i}, {j} and {k} lie in one plane"
                yield Meaning("elbow", words), partial(_from_axes, i, j, k, ())
        for at, what in centres:
            words = f"axes {i} and {j} and {what} lie in one plane"
            yield Meaning("elbow", words), partial(_from_axes, i, j, 0, at)
    for at, what in centres:
        if first and len(axes) > 1:
            words = f"{what} lies in the plane of axis {first} and the direction of axis {axes[1]}"
            yield Meaning("shoulder", words), partial(_from_direction, at, first, axes[1])
    for i, j in pairs:
        yield of_wrist((i, j), f"axes {i} and {j} are parallel"), partial(_turned, i, j)
    for centre in centres[1:]:
        yield from on_axis(*centre)


def _from_axis(at: Sequence[int], i: int, pose: _Pose) -> float:
    return pose.off_axis(pose.centre(at), i)


def _from_line(i: int, j: int, pose: _Pose) -> float:
    return pose.angle(i, j) + pose.off_axis(pose.axes[j][0], i)


def _turned(i: int, j: int, pose: _Pose) -> float:
    return pose.angle(i, j)


def _volume(at: Sequence[int], pose: _Pose) -> float:
    """That of the directions of three axes."""
    return float(abs(np.linalg.det([pose.axes[j][1] for j in at])))


def _from_axes(i: int, j: int, k: int, at: Sequence[int], pose: _Pose) -> float:
    """The distance of axis k, or of a centre, from the plane of two parallel axes."""
    point = pose.axes[k][0] if k else pose.centre(at)
    return pose.off_plane(point, i, pose.axes[j][0] - pose.axes[i][0])


def _from_direction(at: Sequence[int], i: int, j: int, pose: _Pose) -> float:
    return pose.off_plane(pose.centre(at), i, pose.axes[j][1])


def _centres(axes: Sequence[int], poses: Sequence[_Pose]) -> list[tuple[tuple[int, ...], str]]:
    """Where neighbouring axes meet, the most of them first, and the point followed."""
    listed: list[tuple[tuple[int, ...], str]] = []
    for size in (3, 2):
        for k in range(len(axes) - size, -1, -1):
            at = tuple(axes[k : k + size])
            known = any(set(at) <= set(other) for other, _ in listed)
            if not known and all(pose.meet(at) for pose in poses):
                names = list(map(str, at))
                said = f"{', '.join(names[:-1])} and {names[-1]}"
                listed.append((at, f"the point where axes {said} meet"))
    return [*listed, ((), "the point followed")]
