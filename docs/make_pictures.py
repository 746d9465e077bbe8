"""Make the pictures of the pages on motion: python docs/make_pictures.py"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import cardan
from cardan.control.compare import compare
from cardan.identification import Identification
from cardan.motion.plots import save_figure

FOLDER = Path(__file__).parent / "pictures"
EXAMPLES = Path(__file__).parents[1] / "examples"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    rods = {
        "L1": 1, "ZZ1": 10 / 3, "MX1": 5, "MY1": 0, "M1": 10, "FV1": 0,
        "ZZ2": 5 / 3, "MX2": 2.5, "MY2": 0, "M2": 5, "FV2": 0, "G": 9.81,
    }  # fmt: skip
    planar = cardan.load("planar2r").with_values(rods)
    swing = cardan.trajectory(planar, np.radians([0, 90]), 1.0, start=np.radians([90, -180]))
    save_figure(cardan.torques(planar, swing).plot(), FOLDER / "torques-2r.png")
    robot = cardan.load("ur5")
    run = cardan.simulate(robot, [0, -1.5, 0.5, 0.2, 0.1, 0], duration=2)
    save_figure(run.plot(), FOLDER / "simulation-ur5.png")
    start, end = [0, -1, 1, -0.5, 0.5, 0], [0.8, -0.6, 0.4, 0.2, 1, 1]
    motion = cardan.trajectory(robot, end, 1.0, start=start)
    laws = ["pd", "pd-gravity", "computed-torque"]
    found = compare(robot, motion, laws, bandwidth=10, error=0.1)
    save_figure(found.plot(), FOLDER / "control-ur5.png")
    save_figure(identified().plot(), FOLDER / "identification-ur10.png")
    for name in ("eel", "mobile_manipulator"):
        script = EXAMPLES / f"{name}.py"
        picture = FOLDER / f"{name.replace('_', '-')}.png"
        subprocess.run([sys.executable, str(script), str(picture)], check=True)


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
