"""Make the pictures of the pages on motion: python docs/make_pictures.py"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import cardan
from cardan.control.compare import compare
from cardan.identification import Identification
from cardan.motion.plots import save_figure

FOLDER = Path(__file__).parent / "pictures"


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(exist_ok=True)
    rods = {
        "L1": 1, "ZZ1": 10 / 3, "MX1": 5, "MY1": 0, "M1": 10, "FV1": 0,
        "ZZ2": 5 / 3, "MX2": 2.5, "MY2": 0, "M2": 5, "FV2": 0, "G": 9.81,
    }  # fmt: skip
    planar = cardan.load("planar2r").with_values(rods)
    swing = cardan.trajectory(planar, np.radians([0, 90]), 1.0, start=np.radians([90, -180]))
    save_figure(cardan.torques(planar, swing).plot(), folder / "torques-2r.png")
    robot = cardan.load("ur5")
    run = cardan.simulate(robot, [0, -1.5, 0.5, 0.2, 0.1, 0], duration=2)
    save_figure(run.plot(), folder / "simulation-ur5.png")
    start, end = [0, -1, 1, -0.5, 0.5, 0], [0.8, -0.6, 0.4, 0.2, 1, 1]
    motion = cardan.trajectory(robot, end, 1.0, start=start)
    laws = ["pd", "pd-gravity", "computed-torque"]
    compared = compare(robot, motion, laws, bandwidth=10, error=0.1)
    save_figure(compared.plot(), folder / "control-ur5.png")
    save_figure(fastest(robot), folder / "time-optimal.png")
    cardan.workspace(robot, 100_000).plot(folder / "workspace-ur5.png")
    delta = cardan.workspace(cardan.load("delta"), 20_000, section={"y": 0.0})
    delta.plot(folder / "workspace-delta.png", "dexterity")
    save_figure(identified().plot(), folder / "identification-ur10.png")


def fastest(robot: cardan.Robot) -> Figure:
    """The fastest motion through three points: velocities and torques as parts of their limits."""
    points = [[0, -1, 1, 0, 0, 0], [0.5, -0.8, 1.2, 0.3, 0.4, 0], [1, -1, 0.8, 0, 0, 1]]
    velocity, torque = np.full(6, np.pi), np.array([150, 150, 150, 28, 28, 28])
    motion = cardan.trajectory(
        robot, points, profile="time-optimal", velocity=velocity, torque=torque, dt=0.002
    )
    tau = cardan.torques(robot, motion).total
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for axes, values, words in (
        (above, motion.qd / velocity, "velocity"),
        (below, tau / torque, "torque"),
    ):
        axes.plot(motion.t, values, lw=1.2)
        axes.set_ylabel(f"{words}, part of its limit")
        axes.grid(alpha=0.3)
    names = [f"q{j}" for j in range(1, 7)]
    figure.legend(above.lines, names, loc="outside upper center", ncols=6, fontsize=8)
    below.set_xlabel("time, s")
    return figure


def identified() -> Identification:
    """A UR10 with friction from a recording with noise of 5 %; its motion was designed for it."""
    robot = cardan.load("ur10")
    rough = replace(robot, joints=tuple(replace(j, FV=6, FS=5) for j in robot.joints))
    motion = cardan.excite(robot, period=5, iterations=5).motion
    states = {"q": motion.q, "qd": motion.qd, "qdd": motion.qdd}
    tau = cardan.model(rough, "inverse-dynamics").compile()(**states)
    noise = 0.05 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    log = {"t": motion.t, "q": motion.q, "tau": tau + noise}
    return cardan.identify(robot, log, {"filter": {"cutoff": 10}}, consistent=False)


if __name__ == "__main__":
    main()
