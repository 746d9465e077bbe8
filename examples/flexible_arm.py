"""A flexible arm moved point to point: plain, and with an input shaper that leaves it calm.

python examples/flexible_arm.py

The shaper of two impulses (Singer & Seering 1990) delays half of the motion by half a period of the
first mode, so that both halves' vibrations cancel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import cardan
from cardan.simulation.stiff import simulate


def main() -> None:
    robot = cardan.load("flexible1r")
    frequency = cardan.natural_frequencies(robot, [0])[0]
    print(f"first mode of the strip: {frequency:.3f} Hz")
    plain = cardan.trajectory(robot, 0.6, 1.2, start=0.0)
    delay = 0.5 / frequency

    def shaped(t: Any) -> tuple[np.ndarray, ...]:  # of one time or, faster, of many
        early, late = plain(np.minimum(t, 1.2)), plain(np.clip(t - delay, 0.0, 1.2))
        return tuple((a + b) / 2 for a, b in zip(early, late, strict=True))

    for name, law in (("plain", lambda t: plain(np.minimum(t, 1.2))), ("shaped", shaped)):
        run = simulate(robot, 3.0, motion=law, samples=300)
        tip = run.position()[:, :2]
        settled = run.t > 1.2 + delay
        swing = 1000 * np.ptp(tip[settled] @ [-math.sin(0.6), math.cos(0.6)])
        print(f"{name:6}: the tip swings by {swing:6.2f} mm after the motion ({run.method})")


if __name__ == "__main__":
    main()
