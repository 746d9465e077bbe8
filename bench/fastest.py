"""The fastest motion along a path beside TOPP-RA: durations and processor time.

    python -m bench.fastest [PATHS]

Random splines of the UR5 through six points, limits of velocity, acceleration and torque, grid of
1,000; both begin with the points and end with the time law. TOPP-RA (`pip install toppra`) gets
Cardan's own inverse dynamics, which its constraints call for one point after the other."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import toppra
from toppra import algorithm, constraint

import cardan
from cardan.motion.optimal import along_points, time_optimal

GRID = 1000
VELOCITY, ACCELERATION = np.full(6, 3.0), np.full(6, 20.0)
TORQUE = np.array([150.0, 150, 150, 28, 28, 28])


def seconds(work: Callable[[], Any], times: int) -> tuple[Any, float]:
    """The result and the least processor time of some runs."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        result = work()
        spent.append(time.process_time() - start)
    return result, min(spent)


def peer(points: np.ndarray, idm: Any, scheme: int) -> float:
    """The duration by TOPP-RA; scheme 0: limits at the start of a step, 1: at both ends."""
    s = np.concatenate([[0], np.linalg.norm(np.diff(points, axis=0), axis=1).cumsum()])
    both = [np.stack([-x, x], axis=1) for x in (VELOCITY, ACCELERATION, TORQUE)]
    limits = [
        constraint.JointVelocityConstraint(both[0]),
        constraint.JointAccelerationConstraint(both[1], discretization_scheme=scheme),
        constraint.JointTorqueConstraint(
            lambda q, qd, qdd: idm(q=q, qd=qd, qdd=qdd), both[2], np.zeros(6),
            discretization_scheme=scheme,
        ),
    ]  # fmt: skip
    path = toppra.SplineInterpolator(s, points, bc_type="natural")
    grid = np.linspace(0, s[-1], GRID + 1)
    plan = algorithm.TOPPRA(limits, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    return float(plan.compute_trajectory(0, 0).duration)


def main() -> None:
    robot = cardan.load("ur5")
    idm = cardan.model(robot, "inverse-dynamics").compile()
    limits = {"velocity": VELOCITY, "acceleration": ACCELERATION, "torque": TORQUE}
    print("duration, s  its own  both ends  ms     its own  both ends  ratio")
    for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
        points = np.random.default_rng(seed).uniform(-1.5, 1.5, (6, 6))
        time_optimal(robot, along_points(points), **limits)

        def own(points: np.ndarray = points) -> float:
            return time_optimal(robot, along_points(points), grid=GRID, dt=0.01, **limits).duration

        mine, spent = seconds(own, 60)
        others = [seconds(lambda k=k, p=points: peer(p, idm, k), 10) for k in (0, 1)]
        away = [f"{100 * (other / mine - 1):+.5f} %" for other, _ in others]
        theirs = [1e3 * x for _, x in others]
        print(
            f"{mine:.5f}  {away[0]} {away[1]}  {1e3 * spent:.2f}  {theirs[0]:.1f}  {theirs[1]:.1f}"
            f"  {min(theirs) / 1e3 / spent:.1f}"
        )


if __name__ == "__main__":
    main()
