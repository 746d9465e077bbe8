"""Points of robots whose loops or couplings tie joints of the chain to each other, as those that
hold the wrist of a palletiser level: its joints alone have more freedom than a point asks for.

A ball at the end of three virtual slides along x, y and z holds the frame: one more loop, whose
slides are given. The motors are not, and the loops are closed as any others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..describe.robot import FIXED, PRISMATIC, Joint, Link, Loop, Robot
from ..describe.values.parser import to_value
from ..inverse.answer import Configurations
from ..mechanism.frames import with_frames
from .geometry import LoopGeometry
from .numeric import Array

_SLIDES = ("point_x", "point_y", "point_z")


@dataclass(frozen=True, eq=False)
class Points:
    """The loops of a robot and that of the slides, which are the last of the joints."""

    loops: LoopGeometry

    @classmethod
    def of(cls, robot: Robot, frame: Any, reference: Any, given: Collection[int]) -> Points:
        """given: links of the motors that stay where they are told."""
        robot, (end, base) = with_frames(robot, [frame, reference])
        motors = [
            joint if j in given else replace(joint, active=False)
            for j, joint in enumerate(robot.joints, 1)
        ]
        n, turn = len(motors), to_value("pi/2")
        slides = [
            Joint(name, n + k if k else base, PRISMATIC, gamma=turn, alpha=turn, variable=name)
            for k, name in enumerate(_SLIDES)
        ]  # each turns the axes on by one: their directions are x, y, z, the last frame as the base
        ball = Loop(
            "point", Joint("point_ball", end, FIXED, active=False),
            Joint("point_seat", n + 3, FIXED, active=False), "spherical",
        )  # fmt: skip
        links = (*robot.links, *(Link(name) for name in _SLIDES))
        return cls(
            LoopGeometry.of(
                replace(robot, joints=(*motors, *slides), links=links, loops=(*robot.loops, ball))
            )
        )

    def solve(self, points: Array, q: Array, values: Mapping[str, float]) -> Configurations:
        """All configurations (N, k, n + 3) of points (N, 3); q (N, n): where the motors that are
        given stand."""
        whole = np.concatenate([q, points], 1)
        columns = self.loops.coordinates.places(self.loops.given)
        answer: Configurations = self.loops.solve(whole[:, columns], report=True, values=values)
        return answer
