"""A sample of the laws on random robots; all of them: make laws, or python -m tests.laws --help."""

from __future__ import annotations

import pytest
from tests.laws.__main__ import check
from tests.laws.draw import draw, fixed_base
from tests.laws.laws import LAWS

import cardan

ROBOTS, CHUNK = 80, 10


@pytest.mark.parametrize("first", range(0, ROBOTS, CHUNK))
def test_laws_on_random_robots(first: int) -> None:
    outcomes = [found for seed in range(first, first + CHUNK) for found in check(seed)]
    faults = [(seed, name, fault) for seed, name, fault, _ in outcomes if fault]
    assert not faults, "\n".join(f"--seed {s} --law {name}: {fault}" for s, name, fault in faults)


@pytest.mark.parametrize("name", LAWS)
def test_every_law_is_tried(name: str) -> None:
    outcomes = [found for seed in (1, 2, 3) for found in check(seed, name)]
    assert [fault for _, _, fault, _ in outcomes] == ["", "", ""]


def test_the_sample_has_every_kind_of_robot() -> None:
    robots = [draw(seed) for seed in range(ROBOTS)]
    assert {len(robot.links) for robot in robots} == set(range(1, 13))
    assert {joint.sigma for robot in robots for joint in robot.joints} == {0, 1, 2}
    assert {robot.joints[0].sigma for robot in robots} == {0, 1, 2}
    assert {robot.base.kind for robot in robots} == {"fixed", "mobile"}
    assert any(not any(map(float, robot.gravity)) for robot in robots)
    branches = [[joint.antecedent for joint in robot.joints].count(0) for robot in robots]
    assert max(branches) > 1


def test_a_robot_without_joints_is_refused() -> None:
    robot = fixed_base(draw(3))
    joints = tuple(cardan.describe.robot.Joint(j.name, j.antecedent, 2) for j in robot.joints)
    still = cardan.Robot("still", robot.links, joints)
    for name in ("inverse-dynamics", "inertia-matrix", "direct-dynamics", "regressor"):
        with pytest.raises(cardan.errors.ModelError, match="no joint"):
            cardan.model(still, name)
