"""Operation counts against the published figures of SYMORO+, inverse dynamic model.

Conditions of the figures: symbolic robot, base inertial parameters, motor inertias kept, no
friction, no external wrench; multiplications include divisions; a unary minus is free.
"""

from __future__ import annotations

import pytest

import cardan

LIMITS = {
    # Khalil & Creusot, SYMORO+, Robotica 15 (1997) 153-161, section 5.1: the customised
    # Newton-Euler model of SYMORO+ with base inertial parameters
    "rx90-base": (253, 237),
    "puma560-base": (265, 249),
    # the same section: 92 n - 127 multiplications and 81 n - 117 additions bound a general robot
    # of n revolute joints; n = 6
    "general6r": (92 * 6 - 127, 81 * 6 - 117),
}


@pytest.mark.parametrize("name", LIMITS)
def test_inverse_dynamics_needs_no_more_than_symoro(name: str) -> None:
    cost = cardan.model(cardan.load(name), "inverse-dynamics").cost
    mul, add = LIMITS[name]
    assert cost.mul + cost.div <= mul
    assert cost.add <= add
    assert (cost.sqrt, cost.sign) == (0, 0)


# what the search reaches, beyond the published figures: mul + add
RECORDS = {"rx90-base": 400, "puma560-base": 412, "general6r": 636, "stanford": 433}


@pytest.mark.parametrize("name", RECORDS)
def test_inverse_dynamics_keeps_its_record(name: str) -> None:
    cost = cardan.model(cardan.load(name), "inverse-dynamics").cost
    assert cost.total <= RECORDS[name]
    assert cost.trig <= 10


@pytest.mark.parametrize("name", LIMITS)
def test_the_robots_are_those_of_the_figures(name: str) -> None:
    """Symbolic, with motor inertias, without friction and wrenches."""
    robot = cardan.load(name)
    assert all(joint.FV == joint.FS == 0 for joint in robot.joints)
    assert all(link.FX == link.FY == link.FZ == 0 for link in robot.links)
    assert all(link.CX == link.CY == link.CZ == 0 for link in robot.links)
    rotors = {f"IA{j}" for j in range(3, 7)}
    assert rotors <= set(robot.parameters)
    program = cardan.model(robot, "inverse-dynamics")
    assert rotors <= set(program.parameters)


def test_the_general_robot_is_general() -> None:
    """Every alpha, d and r is a symbol of its own, from the second frame on."""
    robot = cardan.load("general6r")
    for joint in robot.joints[1:]:
        for key in ("alpha", "d", "r"):
            assert str(getattr(joint, key)) in robot.parameters, (joint.name, key)
