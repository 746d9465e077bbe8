"""What must hold for the inverse geometry of an arm, however its file writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.inverse.arms import reached
from tests.real.arms import Arm

import cardan
from cardan.describe.robot import Robot

__all__ = ["Outcome", "drawn", "outcome"]


@dataclass(frozen=True)
class Outcome:
    """Poses whose own configuration is lost, whose number of answers is not the general method's;
    the largest residual over the robot's size; and the solution."""

    solution: Any
    lost: int
    differ: int
    residual: float

    @property
    def sound(self) -> bool:
        return not self.lost and not self.differ and self.residual < 1e-9


def drawn(solution: Any, poses: int, seed: int = 5) -> Any:
    """Configurations (poses, n), slides within the robot's size."""
    numeric = solution.chain.numeric()
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (poses, numeric.n))
    slides = numeric.sigma == 1
    q[:, slides] = rng.uniform(0.1, 0.8, (poses, int(slides.sum()))) * numeric.span
    return q


def outcome(
    robot: Robot, arm: Arm, poses: int = 10, general: bool = True,
    direct: Callable[[Any], Any] | None = None,
) -> Outcome:  # fmt: skip
    """The inverse geometry of a robot, tried on random poses. direct: pose of a configuration, of
    the file's own numbers; poses and residuals are then of these."""
    free = None if arm.held is None else robot.variables[arm.held - 1]
    solution = cardan.model(robot, "inverse-geometry", free=free)
    numeric = solution.chain.numeric()
    q = drawn(solution, poses)
    T = numeric.pose(q) if direct is None else np.array([direct(x) for x in q])
    values = None if arm.held is None else q[:, arm.held - 1]
    answer = solution.solve(T, free=values, report=True)
    units = np.where(numeric.sigma == 1, numeric.span, 1.0)
    scaled = type(answer)(answer.q / units, *list(vars(answer).values())[1:])
    lost = int((reached(scaled, q / units, numeric.sigma) > 1e-5).sum())
    differ = 0
    if general:
        other = cardan.model(robot, "inverse-geometry", method="general", free=free)
        differ = int((other.solve(T, free=values, report=True).count != answer.count).sum())
    worst = float(np.nanmax(answer.residual, initial=0.0))
    if direct is not None:
        for wanted, rows, count in zip(T, answer.q, answer.count, strict=True):
            worst = max([worst, *(np.abs(direct(x) - wanted).max() for x in rows[:count])])
    return Outcome(solution, lost, differ, worst / max(1.0, numeric.span))
