"""How often the truth lies within three standard deviations of an identification.

python -m bench.three_sigma [ROBOT] [SEEDS]     200 recordings of a UR10 with 1 % noise
"""

from __future__ import annotations

import sys

import numpy as np

import cardan
from cardan.identification import identify

__all__ = ["shares"]

NOISE = 0.01  # of the standard deviation of each torque
RECIPE = {"fit": {"folds": 0}}


def shares(name: str, seeds: int) -> tuple[float, float]:
    """(share of all parameters within three sigma, that of the worst parameter)"""
    robot = cardan.load(name)
    log = motion(robot.n)
    tau = np.asarray(cardan.model(robot, "inverse-dynamics").compile()(**log))
    t = np.arange(len(tau)) / 100
    clean = identify(robot, {"t": t, **log, "tau": tau}, RECIPE, consistent=False)
    inside = []
    for seed in range(seeds):
        noise = np.random.default_rng(seed).normal(size=tau.shape) * tau.std(axis=0)
        noisy = {"t": t, **log, "tau": tau + NOISE * noise}
        found = identify(robot, noisy, RECIPE, consistent=False)
        assert found.names == clean.names
        inside.append(np.abs(found.K - clean.K) <= 3 * found.sigma)
    return float(np.mean(inside)), float(np.mean(inside, axis=0).min())


def motion(n: int) -> dict[str, np.ndarray]:
    """Ten seconds of five harmonics per joint at 100 Hz, with exact derivatives."""
    rng = np.random.default_rng(0)
    w = 2 * np.pi * 0.2 * np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, n)) * 0.6
    phase = np.arange(1000)[:, None] / 100 * w
    s, c = np.sin(phase), np.cos(phase)
    return {"q": (s / w) @ a - (c / w) @ b, "qd": c @ a + s @ b, "qdd": (c * w) @ b - (s * w) @ a}


def main() -> None:
    name, seeds = (*sys.argv[1:], *("ur10", "200")[len(sys.argv) - 1 :])
    every, worst = shares(name, int(seeds))
    print(f"{name}, {seeds} recordings: {every:.2%} within 3 sigma; the worst one {worst:.1%}")


if __name__ == "__main__":
    main()
