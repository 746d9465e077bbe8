"""What happens to all links at once: frames and twists as a compiled program, springs, masses.

Written for robots of any base; for a floating one V0 and g0 are inputs as everywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..algebra.vector import Mat, Vec
from ..build.common import Arrays, state
from ..build.derivation import Result
from ..build.derive import build
from ..describe.robot import Robot
from ..models.bodies import Bodies
from ..models.kinematics import velocities
from ..motion.joints import moving, number
from ..program import Program


@dataclass(frozen=True)
class Links:
    """The links at one instant: time, joints, poses T (nl+1, 4, 4) in the world, twists V (nl+1, 6)
    in the links' own frames. Link 0 is the base."""

    t: float
    q: np.ndarray
    qd: np.ndarray
    T: np.ndarray
    V: np.ndarray

    def point(self, link: int, P: Any) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity in the world of a point P given in a link's frame."""
        R, V = self.T[link, :3, :3], self.V[link]
        P = np.asarray(P, float)
        return R @ P + self.T[link, :3, 3], R @ (V[:3] + np.cross(V[3:], P))


def placed_links(scene: Bodies, q: Sequence[Any]) -> tuple[dict[int, Mat], dict[int, Vec]]:
    """Rotations and origins of all links in frame 0, by link."""
    qs = scene.spread(q)
    M: dict[int, Mat] = {0: Mat([[1, 0, 0], [0, 1, 0], [0, 0, 1]])}
    P: dict[int, Vec] = {0: Vec(0, 0, 0)}
    for link in scene.links:
        T = link.frame(qs[link.j])
        M[link.j] = (T.iRj.T @ M[link.i].T).T
        P[link.j] = P[link.i] + M[link.i] @ T.iPj
    return M, P


@lru_cache(maxsize=32)
def links_program(robot: Robot) -> Program:
    """q, qd(, V0, g0) -> T (nl, 3, 4) of all links in frame 0, V (nl, 6) in their frames."""
    robot = robot.tree()
    nl = len(robot.links)

    def run(scene: Bodies, x: Arrays) -> Result:
        motion = velocities(scene, x["q"], x["qd"])
        M, P = placed_links(scene, x["q"])
        poses: list[Any] = []
        twists: list[Any] = []
        for link in scene.links:
            for row, p in zip(M[link.j].rows, P[link.j], strict=True):
                poses += [*row, p]
            twists += [*motion.V[link.j], *motion.w[link.j]]
        return Result({"T": ((nl, 3, 4), poses), "V": ((nl, 6), twists)})

    return build(robot, "links", state(robot, "q", "qd"), [run], ["T", "V"])


def spring_energy(robot: Robot, q: np.ndarray) -> np.ndarray:
    """½ k (q - q0)² of elastic joints and of springs beside motors, (...) of q (..., n)."""
    springs = [(x.stiffness, x.rest) if x.elastic else (x.spring, x.neutral) for x in moving(robot)]
    k = np.array([number(stiffness) for stiffness, _ in springs])
    rest = np.array([number(position) for _, position in springs])
    return np.asarray(((q - rest) ** 2 @ k) / 2)


def total_mass(robot: Robot) -> float:
    """Of all links and the base."""
    return sum(number(link.M) for link in (robot.base.link, *robot.links))
