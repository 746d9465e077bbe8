"""Predictive control of a seven-joint arm: the tool follows a circle that it knows 0.4 s ahead.

python examples/predictive.py        simulates it and draws predictive.png (needs matplotlib)
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import cardan

START = np.array([0.1, 0.6, 0.0, -1.2, 0.0, 0.9, 0.0])
RADIUS, PERIOD = 0.15, 2.0  # m, s


def circle(t: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Points (..., 3) of a circle that stands upright across the arm."""
    angle = 2 * np.pi * t / PERIOD
    around = np.stack([0 * angle, np.sin(angle), 1 - np.cos(angle)], -1)
    return centre + RADIUS * around


def follow(
    robot: cardan.Robot, start: np.ndarray = START, *,
    duration: float = 4.0, nodes: int = 20, step: float = 0.02,
) -> tuple[Any, np.ndarray, np.ndarray]:  # fmt: skip
    """The simulated motion, the wanted points and those of the tool."""
    place = cardan.model(robot, "transform").compile()
    centre = place(q=start)[:3, 3] + [-0.03, 0.05, 0.02]  # the tool starts beside the circle
    mpc = cardan.control.predictive(
        robot, nodes=nodes, step=step, position=0.05, velocity=0.02, torque=1e-4, tool=1000.0, end=2
    )
    ahead = step * np.arange(nodes + 1)

    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        mpc.aim(start, point=circle(t + ahead, centre))
        return mpc(t, q, qd)

    run = cardan.simulate(
        robot, start, duration=duration, law=law, period=step, dt=step, method="rk4", step=step / 4
    )
    return run, circle(run.t, centre), place(q=run.q)[:, :3, 3]


def draw(run: Any, wanted: np.ndarray, tool: np.ndarray, path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (scene, plot, torques) = plt.subplots(1, 3, figsize=(13, 4))
    scene.plot(wanted[:, 1], wanted[:, 2], "--", color="grey", label="wanted")
    scene.plot(tool[:, 1], tool[:, 2], label="tool")
    scene.set_aspect("equal")
    scene.set_xlabel("y, m")
    scene.set_ylabel("z, m")
    scene.legend(loc="center")
    plot.semilogy(run.t, 1000 * np.linalg.norm(tool - wanted, axis=1))
    plot.set_xlabel("s")
    plot.set_ylabel("distance from the circle's point, mm")
    torques.step(run.t, run.tau, where="post")
    torques.set_xlabel("s")
    torques.set_ylabel("torques, N m")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    clock = time.perf_counter()
    run, wanted, tool = follow(cardan.load("iiwa14"))
    error = np.linalg.norm(tool - wanted, axis=1)
    print(f"{len(run.t) - 1} samples, {time.perf_counter() - clock:.1f} s with derivation")
    print(f"largest distance after 1 s: {1000 * error[run.t > 1].max():.2f} mm")
    draw(run, wanted, tool, sys.argv[1] if len(sys.argv) > 1 else "predictive.png")


if __name__ == "__main__":
    main()
