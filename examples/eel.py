"""An eel of eight joints swims: a wave runs along its body, and water drags at it (eel.toml).

python examples/eel.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from cardan.motion.trajectory import Trajectory
from cardan.simulation.result import Simulation

EEL = Path(__file__).with_suffix(".toml")
COUNT, BEAT = 8, 2 * np.pi  # joints; rad/s
LAST = 4.0  # s


def wave(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, qd, qdd) of a wave that grows towards the tail, and in the first second."""
    k = np.arange(1, COUNT + 1)
    size, phase = 0.12 + 0.035 * k, BEAT * (t[:, None] - k / COUNT)
    u = np.clip(t, 0, 1)[:, None]
    s, s1, s2 = (
        u**3 * (10 - 15 * u + 6 * u**2), 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u)
    )  # fmt: skip
    sin, cos = np.sin(phase), np.cos(phase)
    q = size * s * sin
    qd = size * (s1 * sin + BEAT * s * cos)
    qdd = size * (s2 * sin + 2 * BEAT * s1 * cos - BEAT**2 * s * sin)
    return q, qd, qdd


def swim() -> Simulation:
    """The joints move as the wave says; the head answers."""
    eel = cardan.load(EEL)
    t = np.linspace(0, LAST, 1001)
    q, qd, qdd = wave(t)
    motion = Trajectory(t, q, qd, qdd, name="wave")
    return cardan.simulate(eel, motion=motion, duration=LAST, rtol=1e-6, atol=1e-9)


def bodies(run: Simulation) -> np.ndarray:
    """(instants, points, 2): the way from the head to the tip of the tail, in the world."""
    assert run.T0 is not None
    points = []
    for T0, q in zip(run.T0, run.q, strict=True):
        T, way = T0.copy(), [T0[:2, 3]]
        for angle in (*q, 0.0):
            T = T @ np.array([[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
            way.append(T[:2, 3])
            c, s = np.cos(angle), np.sin(angle)
            T = T @ np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
        points.append(way)
    return np.array(points)


def plot(run: Simulation) -> Any:
    import matplotlib.pyplot as plt

    way = bodies(run)
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 8), height_ratios=[3, 2])
    for k in range(0, len(way), 50):  # one below the other
        x, y = way[k].T
        above.plot(x, y - 0.2 * k / 50, "o-", color="tab:blue", ms=3, lw=2)
        above.plot(x[0], y[0] - 0.2 * k / 50, "o", color="tab:orange", ms=6)
        above.text(1.0, -0.2 * k / 50, f"{run.t[k]:g} s", va="center")
    above.set_aspect("equal")
    above.set_yticks([])
    above.set_xlabel("x, m")
    above.set_title("the eel every half second; its head is orange")
    below.plot(run.t, run.tau[:, ::2])
    below.set_xlabel("t, s")
    below.set_ylabel("torques, N m")
    below.legend([f"joint {k}" for k in range(1, COUNT + 1, 2)], ncols=4, frameon=False)
    figure.tight_layout()
    return figure


def main() -> None:
    run = swim()
    assert run.T0 is not None
    gone = run.T0[-1, :2, 3] - run.T0[0, :2, 3]
    print(f"in {LAST:g} s the head went {-gone[0]:.3f} m forwards and {gone[1]:+.3f} m aside")
    print(f"largest torque {np.abs(run.tau).max():.3f} N m, {run.steps} steps")
    if len(sys.argv) > 1:
        plot(run).savefig(sys.argv[1], dpi=120)


if __name__ == "__main__":
    main()
