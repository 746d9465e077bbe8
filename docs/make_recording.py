"""Writes docs/tutorials/recording.csv and check.csv: an arm that differs from its drawing, moved by
exciting motions, its positions and torques with noise. python docs/make_recording.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import cardan

FOLDER = Path(__file__).parent / "tutorials"
RATE = 200.0
STEP = 2  # of the motion's samples that are kept
# what the arm is, and its drawing does not say
TRUE = {"M2": 5.6, "M3": 3.1, "MX3": 0.55, "FV1": 2.2, "FV2": 3.0, "FV3": 1.1,
        "FS1": 4.0, "FS2": 5.5, "FS3": 2.4}  # fmt: skip
NOISE_Q, NOISE_TAU = 2e-5, 0.02  # rad; of the standard deviation of each torque


def recording(seed: int) -> np.ndarray:
    """Rows of t, q1 .. q3, tau1 .. tau3: one period of 5 s."""
    robot = cardan.load(FOLDER / "arm.toml")
    motion = cardan.excite(
        robot, period=5, harmonics=4, rate=RATE, starts=4, iterations=4, seed=seed,
        velocity=2.0, acceleration=8.0,
    ).motion  # fmt: skip
    model = cardan.model(robot.with_values(TRUE), "inverse-dynamics").compile()
    tau = model(q=motion.q, qd=motion.qd, qdd=motion.qdd)
    rng = np.random.default_rng(seed)
    q = motion.q + NOISE_Q * rng.normal(size=motion.q.shape)
    tau = tau + NOISE_TAU * tau.std(axis=0) * rng.normal(size=tau.shape)
    return np.column_stack([motion.t, q, tau])[::STEP]


if __name__ == "__main__":
    head = ",".join(["t", *(f"{key}{j}" for key in ("q", "tau") for j in (1, 2, 3))])
    for name, seed in (("recording", 1), ("check", 2)):
        np.savetxt(FOLDER / f"{name}.csv", recording(seed), fmt="%.6g", delimiter=",",
                   header=head, comments="")  # fmt: skip
