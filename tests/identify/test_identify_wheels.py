"""A robot on wheels is identified from the turns of its wheels: where it was follows from the way.
Its recordings come from the constraints written by hand, and the models of its tree."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.identify.synthetic import motion

import cardan
from cardan.identification import identify
from cardan.motion.coordinates import coordinates
from cardan.motion.trajectory import Trajectory

Array = np.ndarray
START = np.array([0.3, -0.2, 0.4])  # of the chassis


@cache
def cart() -> cardan.Robot:
    """A differential drive on a slope, so that its torques tell where it heads."""
    return replace(cardan.load("differential-drive"), gravity=(1.6, 0.7, -9.6))


def rates(psi: Array, u: Array) -> Array:
    """Of x, y and psi: wheels of radius 0.1 at 0.2 beside the middle."""
    ahead = 0.05 * (u[..., 0] + u[..., 1])
    return np.stack([ahead * np.cos(psi), ahead * np.sin(psi), (u[..., 1] - u[..., 0]) / 4], -1)


@cache
def recorded(seed: int = 0) -> dict[str, Any]:
    """t, q, qd, qdd, tau of the motors; pose: x, y, psi of the chassis."""
    log = motion(2, rate=50.0, duration=20.0, seed=seed)
    log = {key: x if key == "t" else 6 * x for key, x in log.items()}
    u, ud = log["qd"], log["qdd"]
    fine = motion(2, rate=1000.0, duration=20.0, seed=seed)
    psi = START[2] + np.array([-1, 1]) @ (6 * (fine["q"] - fine["q"][0])).T / 4
    f = rates(psi, 6 * fine["qd"])
    from scipy.integrate import cumulative_simpson

    pose = START + np.r_[np.zeros((1, 3)), cumulative_simpson(f, dx=1e-3, axis=0)]
    pose = pose[::20]
    psi, psid = pose[:, 2], (u[:, 1] - u[:, 0]) / 4
    away = np.stack([-np.sin(psi), np.cos(psi), 0 * psi], -1)
    ahead = 0.05 * (u[:, 0] + u[:, 1]) * psid
    qd = np.concatenate([rates(psi, u), u], axis=1)
    qdd = np.concatenate([rates(psi, ud) + ahead[:, None] * away, ud], axis=1)
    q = np.concatenate([pose, log["q"]], axis=1)
    tree = cardan.model(cart().tree(), "inverse-dynamics", effort="plain").compile()
    tau = np.asarray(tree(q=q, qd=qd, qdd=qdd))
    G = np.stack([rates(psi, np.broadcast_to(e, u.shape)) for e in np.eye(2)], -1)
    return log | {"tau": tau[:, 3:] + np.einsum("tij,ti->tj", G, tau[:, :3]), "pose": pose}


def only(log: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: log[key] for key in ("t", *keys)}


def tracked(log: dict[str, Any]) -> dict[str, Any]:
    """With the pose of the chassis, as a camera has it."""
    columns = {f"q{k + 1}": x for k, x in enumerate(np.c_[log["pose"], log["q"]].T)}
    return {"t": log["t"], **columns, "tau": log["tau"]}


def test_the_way_is_integrated() -> None:
    log = recorded()
    first = {"assembly": {"q": START.tolist()}}
    result = identify(cart(), only(log, "q", "qd", "qdd", "tau"), first)
    assert result.errors["fit"] < 1e-6
    assert any("q1 = 0.3" in note for note in result.notes)
    other = recorded(1)
    found = result.predict(np.c_[other["pose"], other["q"]], other["qd"], other["qdd"])
    near(found, other["tau"], absolute=1e-6 * np.abs(other["tau"]).max())


def test_positions_alone_are_enough() -> None:
    log = recorded()
    result = identify(cart(), only(log, "q", "tau"), {"assembly": {"q": START.tolist()}})
    assert result.errors["fit"] < 1e-3


def test_a_tracked_pose_is_taken() -> None:
    log = tracked(recorded())
    result = identify(cart(), log)
    assert result.errors["fit"] < 1e-3
    assert not any("slip" in note for note in result.notes)
    slipped = {**log, "q1": log["q1"] * 1.2}
    assert any("they slip" in note for note in identify(cart(), slipped).notes)
    with pytest.raises(cardan.CardanError, match="give all of them, q1, q2, q3"):
        identify(cart(), {key: x for key, x in log.items() if key != "q2"})


def test_rows_without_times_do_not_tell_the_way() -> None:
    log = recorded()
    with pytest.raises(cardan.CardanError, match="where the wheels took"):
        identify(cart(), {key: log[key] for key in ("q", "qd", "qdd", "tau")})


def test_a_differential_beside_the_wheels() -> None:
    """A car: a coupling says where one of its wheels is, the others are where they rolled."""
    car = replace(cardan.load("car"), gravity=(0.8, 0.3, -9.7))
    log = motion(2, rate=200.0, duration=5.0)
    size = np.array([5.0, 0.15])
    log = {key: x if key == "t" else x * size for key, x in log.items()}
    path = Trajectory(log["t"], log["q"], log["qd"], log["qdd"], None, "test")
    on = coordinates(car)
    start = on.first("start", log["q"][0])
    tau = on_way(car, on.rolled_along(path, start), log)
    result = identify(car, {**log, "tau": tau}, {"assembly": {"q": start.tolist()}})
    assert result.errors["fit"] < 1e-4  # that of both integrations


def on_way(robot: cardan.Robot, q: Array, log: dict[str, Any]) -> Array:
    inverse = cardan.model(robot, "inverse-dynamics").compile()
    return np.asarray(inverse(q=q, qd=log["qd"], qdd=log["qdd"]))
