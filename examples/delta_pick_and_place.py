"""Torques of a Delta on an elliptical pick-and-place cycle: 15 g, 1 kg of load ([B23] figure 3.7).

python examples/delta_pick_and_place.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

import cardan

G = 9.81
WIDTH, HEIGHT, FLOOR = 0.3, 0.05, -0.47  # of the half ellipse, and where it starts, m


def cycle(top: float, steps: int = 400) -> tuple[np.ndarray, ...]:
    """(t, x, v, a) there and back along a half ellipse, at rest at its ends; |a| <= top."""
    u = np.linspace(0, 1, steps)
    s = u**3 * (10 - 15 * u + 6 * u**2)
    s1 = 30 * u**2 * (1 - u) ** 2
    s2 = 60 * u * (1 - u) * (1 - 2 * u)
    angle, rate = np.pi * s, np.pi * s1
    zero = np.zeros_like(u)
    x = np.stack([-WIDTH / 2 * np.cos(angle), zero, FLOOR + HEIGHT * np.sin(angle)], 1)
    d1 = np.stack([WIDTH / 2 * np.sin(angle), zero, HEIGHT * np.cos(angle)], 1)
    d2 = np.stack([WIDTH / 2 * np.cos(angle), zero, -HEIGHT * np.sin(angle)], 1)
    v = d1 * rate[:, None]
    a = d2 * (rate**2)[:, None] + d1 * (np.pi * s2)[:, None]
    T = np.sqrt(np.linalg.norm(a, axis=1).max() / top)  # time scales accelerations by 1/T^2
    t = np.concatenate([u * T, T + u[1:] * T])
    back = slice(-2, None, -1)
    return (
        t,
        np.concatenate([x, x[back]]),
        np.concatenate([v, -v[back]]) / T,
        np.concatenate([a, a[back]]) / T**2,
    )


def torques(load: float = 1.0, top: float = 15 * G) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(t, tau, qd_a) of the three motors."""
    robot = cardan.load("delta")
    links = [
        replace(link, M=float(link.M) + load) if link.name == "platform" else link
        for link in robot.links
    ]
    robot = replace(robot, links=tuple(links))
    legs = cardan.model(robot, "loop-geometry").legs
    t, x, v, a = cycle(top)
    start = min(legs.solve(x[0]), key=lambda q: np.abs(q[[3, 6, 9]]).sum() + np.abs(q[5::3]).sum())
    q = legs.follow(x, start)
    f = cardan.model(robot, "platform-inverse-dynamics").compile()
    return t, f(q=q, V=v, Vd=a), q[:, [3, 6, 9]]


def picture(path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    t, tau, _ = torques()
    _, x, _, a = cycle(15 * G)
    figure, axes = plt.subplots(3, 1, figsize=(7, 7), sharex=True)
    axes[0].plot(t, 1e3 * x[:, 0], label="x")
    axes[0].plot(t, 1e3 * (x[:, 2] - FLOOR), label="z above the floor")
    axes[0].set_ylabel("platform, mm")
    axes[1].plot(t, np.linalg.norm(a, axis=1) / G, color="black")
    axes[1].set_ylabel("acceleration, g")
    for k in range(3):
        axes[2].plot(t, tau[:, k], label=f"motor {k + 1}")
    axes[2].set_ylabel("torque, N m")
    axes[2].set_xlabel("time, s")
    for axis in (axes[0], axes[2]):
        axis.legend(loc="upper right", fontsize=8)
    for axis in axes:
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    t, tau, _ = torques()
    peak = np.abs(tau).max(axis=0)
    print(f"cycle {t[-1]:.3f} s; peak torques {peak[0]:.1f} {peak[1]:.1f} {peak[2]:.1f} N m")
    if len(sys.argv) > 1:
        picture(sys.argv[1])
