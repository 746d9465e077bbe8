"""Robots with closed loops and couplings that are real bodies, and their recordings by an oracle:
virtual power and Lagrange multipliers, all loop equations at once (tests/loops/oracle.py)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from tests.identify.synthetic import motion
from tests.loops.couplings import geared as geared_robot
from tests.loops.mechanisms import loaded, passive
from tests.loops.oracle import Oracle

import cardan
from cardan.loops.standing import standing

# amplitude of the motion, from where the robot stands
REACH = {"parallelogram": 0.3, "five-bar": 0.2, "3-RRR": 0.15, "geared": 0.5, "crossed": 0.15}


def _rubbing(robot: cardan.Robot) -> cardan.Robot:
    """Real bodies, friction in all joints, rotors where there are motors."""
    full = loaded(robot, 3)
    joints = tuple(j if j.active else replace(j, IA=0) for j in full.joints)
    return replace(full, joints=joints)


@cache
def robot_of(name: str) -> cardan.Robot:
    if name == "3-RRR":  # its platform's coordinates are links without mass
        bundled = cardan.load("planar3rrr")
        return replace(bundled, joints=_rubbing(bundled).joints)
    if name == "geared":
        return _rubbing(geared_robot())
    if name == "five-bar":
        return _rubbing(cardan.load("fivebar"))
    if name == "crossed":
        return _rubbing(cardan.load({
            "name": "crossed", "gravity": [0, -9.81, 0],
            "link": [{"home": 0.9}, passive(d=0.3, home=-2.2), passive(antecedent=0, d=0.5)],
            "loop": [{"name": "bar", "cut": {"antecedent": 2, "d": 0.5},
                      "twin": {"antecedent": 3, "d": 0.3}}],
        }))  # fmt: skip
    return _rubbing(cardan.load({  # as the SR400: the forearm is driven by a crank on the shoulder
        "name": "parallelogram arm", "gravity": [0, 0, -9.81],
        "link": [{"home": 0.2}, {"name": "arm", "alpha": "pi/2", "d": 0.1, "home": 1.4},
                 passive(name="forearm", d=0.5),
                 {"name": "crank", "antecedent": 1, "alpha": "pi/2", "d": 0.1, "home": 0.3},
                 passive(name="rod", d=0.2)],
        "loop": [{"name": "bar", "cut": {"antecedent": "rod", "d": 0.5},
                  "twin": {"antecedent": "forearm", "d": 0.2}}],
    }))  # fmt: skip


def closed(oracle: Oracle, home: np.ndarray, q_a: np.ndarray, steps: int = 5) -> np.ndarray:
    """q of all joints at positions of the driven ones, from home by small steps of Newton."""
    active = oracle.active
    rest = [k for k in range(len(home)) if k not in active]
    q = np.repeat(home[None], len(q_a), axis=0)
    zero = np.zeros_like(q)
    for s in np.linspace(0, 1, steps + 1)[1:]:
        q[:, active] = home[active] + s * (q_a - home[active])
        for _ in range(6):
            r = oracle.tied(q, zero, zero)[:, 0]
            if np.abs(r).max(initial=0) < (1e-15 if s == 1 else 1e-6):
                break
            J = oracle.constraint(q, zero)[0][..., rest]
            q[:, rest] -= np.einsum("bpm,bm->bp", np.linalg.pinv(J, rcond=1e-9), r)
    assert np.abs(oracle.tied(q, zero, zero)[:, 0]).max(initial=0) < 1e-12
    return q


@cache
def _recorded(name: str, rate: float, duration: float, seed: int) -> dict[str, Any]:
    robot = robot_of(name)
    oracle, home = Oracle(robot, {}), standing(robot)
    found = motion(len(oracle.active), rate=rate, duration=duration, seed=seed)
    scale = REACH[name]
    log = {"t": found["t"], "q": home[oracle.active] + scale * found["q"]}
    log |= {key: scale * found[key] for key in ("qd", "qdd")}
    log["whole"] = closed(oracle, home, log["q"])
    log["tau"] = oracle.inverse(log["whole"], log["qd"], log["qdd"])
    return log


def recorded(
    name: str, *, noise: float = 0.0, seed: int = 0, rate: float = 25.0, duration: float = 8.0,
    path: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """t, q, qd, qdd and tau of the driven joints; whole: q of all joints."""
    log = dict(_recorded(name, rate, duration, path))
    rng = np.random.default_rng(seed)
    tau = log["tau"]
    log["tau"] = tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return log


def log_of(found: dict[str, Any], *names: str) -> dict[str, Any]:
    """The columns of a recording; by default t, q, qd, qdd, tau of the driven joints."""
    return {key: found[key] for key in names or ("t", "q", "qd", "qdd", "tau")}


def truth(robot: cardan.Robot, names: Any) -> np.ndarray:
    """True values of identified parameters; offsets are zero."""
    known = {name.rstrip("R"): float(x) for name, x in _base(robot).items()}
    frames = [*robot.joints, *(loop.cut for loop in robot.loops)]
    for j, joint in enumerate(frames, 1):
        known |= {f"{key}{j}": float(getattr(joint, key)) for key in ("FV", "FS")}
    return np.array([known.get(name.rstrip("R"), 0.0) for name in names])


@cache
def _base(robot: cardan.Robot) -> Any:
    return cardan.model(robot, "base-parameters").values
