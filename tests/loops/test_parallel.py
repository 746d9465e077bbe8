"""Parallel robots leg by leg, [K10] (59)-(66), against the general closed-loop route."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import loaded, states

import cardan
from cardan.describe import bundled
from cardan.describe.robot import INERTIA, Robot
from cardan.describe.values.expression import symbol

ROBOTS = Path(bundled.__file__).parent / "robots"

KEPT = {
    "stewart": range(6), "stewart-sps": range(6), "stewart-ucu": range(6), "delta": range(3),
    "orthoglide-platform": range(3), "planar3rrr": (0, 1, 5), "point": (0, 1),
}  # fmt: skip


def five_bar_on_a_point() -> Robot:
    """A five-bar whose tip is a platform with a mass, on a fixed link."""
    return cardan.load({
        "name": "five-bar on a point", "gravity": [0, -9.81, 0],
        "platform": {"freedoms": ["x", "y"], "mass": 0.3, "com": [0.01, 0.02, 0]},
        "leg": [{
            "name": "leg", "angles": [0, 0], "each": {"at": [0, 0.25]},
            "link": [{"name": "arm", "variable": "q", "d": "at"},
                     {"name": "rod", "active": False, "d": 0.3}],
            "loop": [{"cut": {"antecedent": "rod", "d": 0.4}, "twin": {"antecedent": "platform"}}],
        }],
    })  # fmt: skip


def stewart_ucu() -> Robot:
    """Legs of a universal joint, a slide that turns, and another universal joint."""
    text = (ROBOTS / "stewart-sps.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    table["leg"][0]["loop"][0]["cut"] |= {"joint": "universal", "alpha": "pi/2"}
    return cardan.load(table)


def bare(name: str) -> Robot:
    """With random bodies; joints that place the platform stay without mass and drive."""
    made = {"point": five_bar_on_a_point, "stewart-ucu": stewart_ucu}
    robot = loaded(made[name]() if name in made else cardan.load(name))
    none, still = dict.fromkeys(INERTIA, 0), {"IA": 0, "FV": 0, "FS": 0}
    links = [replace(k, **none) if k.name.startswith("platform_") else k for k in robot.links]
    joints = [replace(j, **still) if k.name.startswith("platform") else j
              for j, k in zip(robot.joints, robot.links, strict=True)]  # fmt: skip
    return replace(robot, links=tuple(links), joints=tuple(joints))


def platform_motion(robot: Robot, x: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    J = cardan.model(robot, "jacobian", frame="platform").evaluate(q=x["q"])
    bias = cardan.model(robot, "jdot-qdot", frame="platform").evaluate(q=x["q"], qd=x["qd"])
    V = np.einsum("bra,ba->br", J, x["qd"])
    return {"V": V, "Vd": np.einsum("bra,ba->br", J, x["qdd"]) + bias}


@pytest.mark.parametrize("name", KEPT)
def test_leg_by_leg_is_the_general_route(name: str) -> None:
    """In Cartesian and in joint space, inverse and direct."""
    robot = bare(name)
    _, x = states(robot, 12)
    moved = platform_motion(robot, x)
    kept = list(KEPT[name])
    V, Vd = moved["V"][:, kept], moved["Vd"][:, kept]
    others = [k for k in range(6) if k not in kept]
    assert np.abs(moved["V"][:, others]).max(initial=0) < 1e-9
    expected = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**x)

    def run(model: str, space: str, **given: np.ndarray) -> np.ndarray:
        found = cardan.model(robot, model, effort="plain", space=space)
        return found.evaluate(q=x["q"], **given)

    tau = run("platform-inverse-dynamics", "cartesian", V=V, Vd=Vd)
    near(tau, expected, 1e-10)
    near(run("platform-inverse-dynamics", "joint", qd=x["qd"], qdd=x["qdd"]), expected, 1e-10)
    near(run("platform-direct-dynamics", "cartesian", V=V, tau=tau), Vd, 1e-9)
    # near type 1 singularities the active joints' accelerations are large differences
    near(run("platform-direct-dynamics", "joint", qd=x["qd"], tau=tau), x["qdd"], 1e-7)


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


def test_a_mass_on_the_way_to_the_platform_is_refused() -> None:
    """It would be missing from the platform's wrench."""
    robot = cardan.load("delta")
    links = (replace(robot.links[0], M=1), *robot.links[1:])
    with pytest.raises(cardan.CardanError, match="only places the platform"):
        cardan.model(replace(robot, links=links), "platform-inverse-dynamics")
