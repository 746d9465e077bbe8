"""Recordings made by the models themselves: the truth is known."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import cardan

FRICTION = {"IA": 0.4, "FV": 1.5, "FS": 2.5}


@cache
def arm() -> cardan.Robot:
    """Three joints with links that are real bodies, rotors and friction."""
    return cardan.load({
        "name": "arm",
        "link": [
            {"mass": 5, "com": [0.05, 0.02, 0.1], "inertia_com": [0.1, 0, 0.01, 0.12, 0, 0.06],
             **FRICTION},
            {"alpha": "pi/2", "d": 0.1, "mass": 4, "com": [0.2, 0.01, 0.02],
             "inertia_com": [0.02, 0.001, 0, 0.09, 0.002, 0.1], **FRICTION},
            {"d": 0.4, "r": 0.1, "alpha": "pi/6", "mass": 2, "com": [0.15, -0.02, 0.03],
             "inertia_com": [0.012, 0, 0.001, 0.035, 0, 0.03], **FRICTION},
        ],
    })  # fmt: skip


def motion(n: int, *, rate: float = 100.0, duration: float = 10.0, seed: int = 0) -> dict[str, Any]:
    """A sum of five harmonics per joint, with exact derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(rate * duration)) / rate
    w = 2 * np.pi * 0.2 * np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, n)) * 0.6
    phase = t[:, None] * w
    s, c = np.sin(phase), np.cos(phase)
    return {"t": t, "q": (s / w) @ a - (c / w) @ b, "qd": c @ a + s @ b,
            "qdd": (c * w) @ b - (s * w) @ a}  # fmt: skip


def recorded(robot: cardan.Robot, *, noise: float = 0.0, seed: int = 0, **kind: Any) -> Any:
    """A motion with its torques; noise as a share of the standard deviation of each torque."""
    log = motion(robot.n, **kind)
    tau = torques(robot, log)
    rng = np.random.default_rng(seed)
    return log | {"tau": tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)}


@cache
def dynamics(robot: cardan.Robot) -> Any:
    return cardan.model(robot, "inverse-dynamics").compile()


def torques(robot: cardan.Robot, log: dict[str, Any]) -> np.ndarray:
    return np.asarray(dynamics(robot)(q=log["q"], qd=log["qd"], qdd=log["qdd"]))


def without(log: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: x for name, x in log.items() if name not in names}


@cache
def base_values(robot: cardan.Robot) -> Any:
    return cardan.model(robot, "base-parameters").values


def truth(robot: cardan.Robot, names: Any) -> np.ndarray:
    """The true values of identified parameters; offsets are zero."""
    known = {name.rstrip("R"): float(x) for name, x in base_values(robot).items()}
    for j, joint in enumerate(robot.joints, 1):
        known |= {f"{key}{j}": float(getattr(joint, key)) for key in ("FV", "FS")}
    return np.array([known.get(name.rstrip("R"), 0.0) for name in names])
