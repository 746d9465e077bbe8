"""Parallel robots leg by leg, [K10] (59)-(66), against the general closed-loop route."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.loops.mechanisms import loaded, states

import cardan
from cardan.describe.expression import symbol
from cardan.describe.robot import INERTIA, Robot

KEPT = {"stewart": range(6), "delta": range(3), "planar3rrr": (0, 1, 5)}


def upright(robot: Robot, count: int) -> dict[str, np.ndarray]:
    """Consistent states in which the conditions are good."""
    _, x = states(robot, count)
    return x


def platform_motion(robot: Robot, x: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    J = cardan.model(robot, "jacobian", frame="platform").evaluate(q=x["q"])
    bias = cardan.model(robot, "jdot-qdot", frame="platform").evaluate(q=x["q"], qd=x["qd"])
    V = np.einsum("bra,ba->br", J, x["qd"])
    return {"V": V, "Vd": np.einsum("bra,ba->br", J, x["qdd"]) + bias}


@pytest.mark.parametrize("name", KEPT)
def test_leg_by_leg_is_the_general_route(name: str) -> None:
    robot = cardan.load(name)
    robot = loaded(robot)
    massless = [link.name for link in robot.links if link.name.startswith("platform_")]
    bare = dict.fromkeys((*INERTIA,), 0)
    links = [replace(k, **bare) if k.name in massless else k for k in robot.links]
    still = {"IA": 0, "FV": 0, "FS": 0}
    coordinates = [k.name.startswith("platform") for k in robot.links]
    joints = [replace(j, **still) if own else j
              for j, own in zip(robot.joints, coordinates, strict=True)]  # fmt: skip
    robot = replace(robot, links=tuple(links), joints=tuple(joints))
    x = upright(robot, 12)
    moved = platform_motion(robot, x)
    kept = list(KEPT[name])
    V, Vd = moved["V"][:, kept], moved["Vd"][:, kept]
    others = [k for k in range(6) if k not in kept]
    assert np.abs(moved["V"][:, others]).max(initial=0) < 1e-9
    expected = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**x)
    program = cardan.model(robot, "platform-inverse-dynamics")
    tau = program.evaluate(q=x["q"], V=V, Vd=Vd)
    assert np.abs(tau - expected).max() < 1e-10 * np.abs(expected).max()
    back = cardan.model(robot, "platform-direct-dynamics", effort="plain")
    found = back.evaluate(q=x["q"], V=V, tau=tau)
    assert np.abs(found - Vd).max() < 1e-9 * np.abs(Vd).max()


def general_stewart() -> Robot:
    """Every body with ten inertial parameters of its own."""
    robot = cardan.load("stewart")
    links = []
    for j, link in enumerate(robot.links, 1):
        ten = {key: symbol(f"{key}{j}") for key in INERTIA}
        links.append(replace(link, **ten) if link.M != 0 else link)
    joints = tuple(replace(joint, FV=0) for joint in robot.joints)
    return replace(robot, links=tuple(links), joints=joints)


def test_stewart_with_general_inertias_is_cheap() -> None:
    cost = cardan.model(general_stewart(), "platform-inverse-dynamics").cost
    assert cost.total <= 2500


def test_what_has_no_platform_is_refused() -> None:
    for name, words in (("sr400", "platform"), ("orthoglide", "platform"), ("rx90", "no closed")):
        with pytest.raises(cardan.CardanError, match=words):
            cardan.model(cardan.load(name), "platform-inverse-dynamics")
