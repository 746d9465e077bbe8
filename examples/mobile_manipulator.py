"""A differential drive with an arm: the wheels roll along a curve while the arm reaches out.

python examples/mobile_manipulator.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import cardan
from cardan.simulation.result import Simulation

LAST = 4.0  # s
START = [0, 0, 0, 1.2, -1.8, -0.6]  # wheels, turret, upper arm, forearm, wrist
END = [14, 20, 1.5, 0.6, -0.4, 0.3]


def drive() -> Simulation:
    """Computed torques move the wheels and the arm; the chassis follows the wheels."""
    robot = cardan.load("mobile-manipulator")
    motion = cardan.trajectory(robot, END, LAST, start=START)
    law = cardan.control.computed_torque(robot, motion)
    return cardan.simulate(robot, START, law=law, duration=LAST, rtol=1e-8)


def tools(run: Simulation) -> np.ndarray:
    """Where the tool was, (instants, 3)."""
    T = cardan.model(run.robot, "transform").compile()(q=run.q)
    return np.asarray(T[:, :3, 3])


def plot(run: Simulation) -> Any:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5))
    tool = tools(run)
    left.plot(*run.q[:, :2].T, color="0.4", label="axle")
    left.plot(*tool[:, :2].T, color="tab:orange", label="tool")
    for k in (0, 150, 220, 290, 400):
        x, y, turn = run.q[k, :3]
        c, s = np.cos(turn), np.sin(turn)
        corners = np.array([[-0.2, -0.2], [0.2, -0.2], [0.2, 0.2], [-0.2, 0.2], [-0.2, -0.2]])
        left.plot(*(corners @ [[c, s], [-s, c]] + [x, y]).T, color="tab:blue", lw=1)
        for side in (-0.25, 0.25):
            wheel = np.array([[-0.12, side], [0.12, side]]) @ [[c, s], [-s, c]] + [x, y]
            left.plot(*wheel.T, color="k", lw=4, solid_capstyle="butt")
        left.plot([x + 0.1 * c, tool[k, 0]], [y + 0.1 * s, tool[k, 1]], color="tab:orange", lw=2)
    left.set_aspect("equal")
    left.set_xlabel("x, m")
    left.set_ylabel("y, m")
    left.legend(frameon=False)
    right.plot(run.t, run.tau)
    right.set_xlabel("t, s")
    right.set_ylabel("torques, N m")
    names = ("left wheel", "right wheel", "turret", "upper arm", "forearm", "wrist")
    right.legend(names, frameon=False, fontsize=8)
    figure.tight_layout()
    return figure


def main() -> None:
    run = drive()
    c, s = np.cos(run.q[:, 2]), np.sin(run.q[:, 2])
    ahead = run.qd[:, 0] * c + run.qd[:, 1] * s
    slips = [
        ahead - 0.25 * run.qd[:, 2] - 0.12 * run.qd[:, 3],
        ahead + 0.25 * run.qd[:, 2] - 0.12 * run.qd[:, 4],
        run.qd[:, 1] * c - run.qd[:, 0] * s,
    ]
    x, y, turn = run.q[-1, :3]
    print(f"the chassis came to x = {x:.3f} m, y = {y:.3f} m, turned by {np.degrees(turn):.1f} deg")
    print(
        f"the tool to {np.round(tools(run)[-1], 3)}; wheels slip by {np.abs(slips).max():.1e} m/s"
    )
    if len(sys.argv) > 1:
        plot(run).savefig(sys.argv[1], dpi=120)


if __name__ == "__main__":
    main()
