"""The robot of the base parameters as a file, [KC97] 6.4: read back, its torques compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..describe.files import checked, dumps, read_bytes
from ..describe.robot import Robot
from ..errors import ModelError
from ..models.bodies import bodies
from ..models.newton_euler import inverse_dynamics as newton_euler
from .cuts import with_cut_torques
from .mechanism import Mechanism

Array = Any
States = tuple[tuple[Mapping[str, float], Array], ...]  # values of symbols, configurations (N, n)
_SAME = 1e-8  # of the largest torque: the states of closed loops are found by iteration


def base_file(original: Robot, carried: Robot, format: str, states: States) -> str:
    """The text of the robot that carries base parameters. What a file holds by fields (.toml,
    .par) is read back, and its torques must be those of the original at random states; in other
    formats, which place bodies in frames of their own, the mechanics read back are compared with
    the carried robot's, and this one's torques with the original's."""
    form = format.removeprefix(".").lower()
    carried = replace(carried, notes=f"In its base parameters. {carried.notes}".rstrip())
    text = checked(carried, dumps(carried, form), form)
    if form in ("toml", "par", "symoro+"):
        name = "robot.toml" if form == "toml" else "robot.par"
        again, _ = read_bytes(text.encode("utf-8"), name)
        carried = again if again is not None else carried
    away = _difference(original, carried, states)
    if not away <= _SAME:
        raise ModelError(
            f"the torques of '{original.name}' with base parameters differ from its own by"
            f" {away:.1g} of the largest: it is not written; take method='numeric'"
        )
    return text


def _difference(original: Robot, carried: Robot, states: States) -> float:
    """The largest difference of torques, over the largest torque."""
    rng = np.random.default_rng(3)
    names = sorted({*original.parameters, *carried.parameters})
    drawn = {name: float(rng.uniform(0.3, 1.7)) for name in names}
    away = 0.0
    for known, q in states or (({}, rng.uniform(-np.pi, np.pi, (8, original.n))),):
        values, some = drawn | dict(known), np.asarray(q, float)[:8]
        qd, qdd = rng.normal(size=(2, len(some), original.n))
        one, other = (_torques(x, values, some, qd, qdd) for x in (original, carried))
        away = max(away, float(np.abs(one - other).max() / max(np.abs(one).max(), 1e-12)))
    return away


def _torques(robot: Robot, values: Mapping[str, float], q: Array, qd: Array, qdd: Array) -> Array:
    """Torques of the driven joints at states (N, n), by Newton and Euler's recursion."""
    mechanism = Mechanism.of(robot, "base-parameters")
    scene = bodies(mechanism.tree, values.__getitem__)
    x = {"q": list(q.T), "qd": list(qd.T)[: mechanism.na], "qdd": list(qdd.T)[: mechanism.na]}
    constraint, rates, rises = mechanism.motion(scene, x)
    record = newton_euler(scene, x["q"], rates, rises)
    tau = with_cut_torques(mechanism, scene, constraint, record.tau, rates, rises)
    rows = [np.broadcast_to(np.asarray(t, float), len(q)) for t in constraint.projected(tau)]
    return np.array(rows)
