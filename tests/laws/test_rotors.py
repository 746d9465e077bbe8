"""Rotors as parts of links: the same torques, where a link turns by its joint alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.compare import near
from tests.random_robots import random_robot, random_values

import cardan
from cardan.describe.robot import Robot
from cardan.formulate.reform import turning_alone, with_rotors
from cardan.models.bodies import bodies
from cardan.models.newton_euler import inverse_dynamics


def compared(robot: Robot) -> frozenset[int]:
    joints = tuple(replace(joint, IA=0.3 + k) for k, joint in enumerate(robot.joints))
    values = random_values(robot)
    scene = bodies(replace(robot, joints=joints), lambda name: values[name])
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, len(scene.tree.moving)))
    plain = inverse_dynamics(scene, q, qd, qdd).tau
    moved = inverse_dynamics(with_rotors(scene), q, qd, qdd).tau
    near([moved[j] for j in plain], [plain[j] for j in plain], 1e-12)
    return turning_alone(scene)


@pytest.mark.parametrize("seed", range(20))
def test_random_trees(seed: int) -> None:
    compared(random_robot(seed, 6, base_motion=seed % 4 == 1))


def test_which_links() -> None:
    """Axis 2 of these arms is perpendicular to axis 1; axes of planar arms are parallel."""
    assert compared(cardan.load("stanford")) == {1, 2}
    assert compared(cardan.load("puma560")) == {1, 2}
    assert compared(cardan.load("planar3r")) == {1}
    first = compared(cardan.load("stewart").tree())  # of the platform and of each leg
    assert len(first) == 14
