"""The pictures of docs/loops.md: python docs/make_loops.py"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import cardan
import cardan.mechanism.loops
import cardan.mechanism.platform
from cardan.loops.chain import Chain

PICTURES = Path(__file__).parent / "pictures"


def lines(robot: cardan.Robot, q: np.ndarray) -> list[np.ndarray]:
    """The links as lines: from each frame to those that sit on it, cut frames included."""
    chain = Chain.of(robot, {}, size=1.0)
    frames = chain.frames(q)
    return [
        np.array([frames[i][1], frames[j][1]])
        for j, i in enumerate(chain.antecedent, 1)
        if np.linalg.norm(frames[i][1] - frames[j][1]) > 1e-9
    ]


def planar(axis: Any, robot: cardan.Robot, q: np.ndarray, **style: Any) -> None:
    for line in lines(robot, q):
        axis.plot(line[:, 0], line[:, 1], marker="o", markersize=3, **style)
    axis.set_aspect("equal")
    axis.grid(alpha=0.3)


def spatial(axis: Any, robot: cardan.Robot, q: np.ndarray) -> None:
    platform = cardan.mechanism.platform.Parallel.of(
        cardan.mechanism.coordinates.Coordinates.of(robot), "picture"
    )
    chain = Chain.of(robot, {}, size=1.0)
    frames = chain.frames(q)
    holds = [hold for leg in platform.legs for hold in leg.holds]
    for hold in holds:
        path = [frames[j][1] for j in (*hold.joints, hold.end)]
        axis.plot(*np.array(path).T, marker="o", markersize=3)
    for ends, color in (([h.hold for h in holds], "black"), ([h.joints[0] for h in holds], "gray")):
        ring = [frames[j][1] for j in ends]
        axis.plot(*np.array([*ring, ring[0]]).T, color=color)
    axis.set_box_aspect((1, 1, 1))


def main(folder: Path = PICTURES) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4))
    fivebar = cardan.load("fivebar")
    for q, color in zip(
        cardan.model(fivebar, "loop-geometry").solve([2.2, 0.9]), "br", strict=True
    ):
        planar(axes[0], fivebar, q, color=color)
    axes[0].set_title("five-bar: two assemblies")
    lengths = {"d2": 0.1, "d3": 0.6, "d4": 0.1, "RL4": 0.5, "d8": 0.3}
    sr400 = cardan.load("sr400").with_values(lengths)
    sr400 = sr400.with_values(dict.fromkeys(sr400.parameters, 0))
    for q, color in zip(
        cardan.model(sr400, "loop-geometry").solve([0, -1.2, 0, 0, 0, 0.3]), "br", strict=True
    ):
        for line in lines(sr400, q):
            axes[1].plot(line[:, 0], line[:, 2], marker="o", markersize=3, color=color)
    axes[1].set_aspect("equal")
    axes[1].grid(alpha=0.3)
    axes[1].set_title("SR400: parallelogram and crossed")
    rrr = cardan.load("planar3rrr")
    places = cardan.model(rrr, "loop-geometry")
    q_a = places.legs.solve([0.05, 0.02, 0.3])[0][[3, 5, 7]]
    for q, color in zip(places.solve(q_a), "brgmck", strict=False):
        planar(axes[2], rrr, q, color=color)
    axes[2].set_title("3-RRR: places of the platform")
    for axis in axes:
        axis.set_xlabel("m")
    figure.tight_layout()
    figure.savefig(folder / "loop-assemblies.png", dpi=80)
    figure = plt.figure(figsize=(8, 3.8))
    for k, (name, x) in enumerate(
        (("delta", [0.05, 0, -0.45]), ("stewart", [0, 0, 0.6, 0.1, 0, 0.2])), 1
    ):
        robot = cardan.load(name)
        every = cardan.model(robot, "loop-geometry").legs.solve(x)
        q = min(every, key=lambda q: np.abs(q).sum())
        axis = figure.add_subplot(1, 2, k, projection="3d")
        spatial(axis, robot, q)
        axis.set_title(robot.name)
    figure.tight_layout()
    figure.savefig(folder / "parallel-robots.png", dpi=80)


if __name__ == "__main__":
    main()
