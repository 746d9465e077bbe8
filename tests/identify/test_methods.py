"""Parameters from noisy positions and from drives of unknown gain: what least squares cannot do."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from tests.identify.synthetic import arm, motion, recorded, torques, truth

import cardan
from cardan.errors import InputError
from cardan.identification import identify

WIDTH = 0.05
LAW = {
    "smooth": WIDTH, "asymmetry": False, "quadratic": False, "stribeck": False,
}  # fmt: skip
COMMANDED = {"reference": {"columns": "r{j}"}, "friction": LAW}


@cache
def robot() -> cardan.Robot:
    """The arm, with the width that its friction is identified with."""
    joints = tuple(replace(joint, VS=WIDTH) for joint in arm().joints)
    return replace(arm(), joints=joints)


def columns(**signals: np.ndarray) -> dict[str, np.ndarray]:
    return {f"{key}{j + 1}": x[:, j] for key, x in signals.items() for j in range(x.shape[1])}


def noisy(seed: int, noise: float = 1e-3) -> dict[str, Any]:
    """Positions to 1 mrad at 100 Hz, beside those commanded, which the arm follows with an error
    that no noise is in."""
    log = recorded(robot(), noise=0.01, seed=seed, duration=20.0)
    rng = np.random.default_rng(100 + seed)
    commanded = log["q"] + 0.02 * log["qd"]
    q = log["q"] + noise * rng.normal(size=log["q"].shape)
    return {"t": log["t"], **columns(q=q, r=commanded, tau=log["tau"])}


def away(method: str, seed: int, noise: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """(how far parameters are from the truth, their standard deviations)"""
    recipe = {**COMMANDED, "fit": {"method": method, "motor_inertia": True},
              "filter": {"cutoff": 20}}  # fmt: skip
    result = identify(robot(), noisy(seed, noise), recipe, consistent=False)
    return result.K - truth(robot(), result.names), result.sigma


def test_instruments_are_not_biased_by_noise_of_the_positions() -> None:
    plain, _ = away("least-squares", 0)
    errors = [away("instrumental", seed) for seed in range(4)]
    assert np.sqrt(np.mean(np.square([e for e, _ in errors]))) < 0.2 * np.sqrt(np.mean(plain**2))


def test_intervals_of_instruments_are_neither_short_nor_wide() -> None:
    z = np.array([e / s for e, s in (away("instrumental", seed, 2e-4) for seed in range(8))])
    assert 0.9 < np.mean(np.abs(z) <= 1.96) < 0.99
    assert 0.8 < np.sqrt(np.mean(z**2)) < 1.25


KP, KD = np.array([4000.0, 4000, 1500]), np.array([200.0, 200, 80])


@cache
def followed() -> dict[str, np.ndarray]:
    """The arm under a stiff law, by another integrator than the one that is tried."""
    wanted, n = motion(3, rate=100.0, duration=6.0), 3
    t, r = wanted["t"], CubicSpline(wanted["t"], wanted["q"])
    forward = cardan.model(robot(), "direct-dynamics").compile()

    def law(at: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.asarray(KP * (r(at) - q) + KD * (r(at, 1) - qd))

    def rates(at: float, x: np.ndarray) -> np.ndarray:
        q, qd = x[:n], x[n:]
        return np.concatenate([qd, forward(q=q, qd=qd, tau=law(at, q, qd))])

    start = np.concatenate([wanted["q"][0], wanted["qd"][0]])
    x = solve_ivp(rates, (0, t[-1]), start, t_eval=t, rtol=1e-8, atol=1e-10, method="LSODA").y.T
    return {"t": t, "q": x[:, :n], "r": wanted["q"], "tau": law(t, x[:, :n], x[:, n:])}


def test_direct_and_inverse_models_in_turn_need_no_positions() -> None:
    log = followed()
    rng = np.random.default_rng(3)
    q = log["q"] + 1e-3 * rng.normal(size=log["q"].shape)
    tau = log["tau"] + 0.01 * log["tau"].std(axis=0) * rng.normal(size=log["tau"].shape)
    recipe = {**COMMANDED, "fit": {"method": "didim", "motor_inertia": True},
              "control": {"kp": KP.tolist(), "kd": KD.tolist()}}  # fmt: skip
    result = identify(
        robot(), {"t": log["t"], **columns(q=q, r=log["r"], tau=tau)}, recipe, consistent=False
    )
    error = np.abs(result.K - truth(robot(), result.names))
    assert (error <= 4 * result.sigma + 0.02).all()
    assert result.errors["fit"] < 0.02


def test_gains_of_drives_by_a_payload_of_known_mass() -> None:
    """Two recordings in amperes; the payload hangs on the last link, known in mass and place."""
    log = recorded(robot(), duration=20.0)
    last = robot().links[-1]
    mass, x = 6.0, 0.3
    heavy = replace(robot(), links=(*robot().links[:-1], replace(
        last, M=float(last.M) + mass, MX=float(last.MX) + mass * x,
        YY=float(last.YY) + mass * x**2, ZZ=float(last.ZZ) + mass * x**2,
    )))  # fmt: skip
    constants = np.array([0.5, 0.8, 1.25])
    rng = np.random.default_rng(0)
    logs = []
    for one in (robot(), heavy):
        tau = torques(one, log)
        tau = tau + 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
        logs.append({"t": log["t"], "q": log["q"], "tau": tau / constants})
    known = {"M": mass, "MX": mass * x, "MY": 0, "MZ": 0, "XX": 0, "XY": 0, "XZ": 0,
             "YY": mass * x**2, "YZ": 0, "ZZ": mass * x**2}  # fmt: skip
    recipe = {"friction": LAW, "fit": {"gains": True, "motor_inertia": True},
              "payload": {"known": known}}  # fmt: skip
    result = identify(robot(), logs[0], recipe, payload=logs[1], consistent=False)
    assert result.gains is not None
    assert (np.abs(result.gains.factors - constants) < 4 * result.gains.sigma).all()
    assert (result.gains.sigma < 0.02).all()
    assert np.abs(result.K - truth(robot(), result.names)).max() < 0.3
    assert any("gains of the drives" in note for note in result.notes)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"fit": {"method": "instrumental"}}, r"\[reference\] columns"),
        ({"fit": {"method": "didim"}, "reference": {"columns": "r{j}"}}, r"\[control\] kp and kd"),
        ({"fit": {"method": "instrumental", "model": "power"}, "reference": {"columns": "r{j}"}},
         "is for model"),
        ({"fit": {"gains": True}}, r"\[payload\] known"),
        ({**COMMANDED, "reference": {"columns": "s{j}"}}, "column 's1'"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(recipe: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        identify(robot(), noisy(0), recipe, consistent=False)
