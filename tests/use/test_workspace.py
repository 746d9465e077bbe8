"""Workspaces against areas and volumes that are known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.errors import CardanError
from cardan.motion.coordinates import coordinates


def planar(first: float, second: float, *limits: tuple[float, float]) -> cardan.Robot:
    """Two turning links and a fixed tip."""
    links = [{"d": 0.0}, {"d": first}, {"d": second, "joint": "fixed"}]
    for link, (low, high) in zip(links, limits, strict=False):
        link["limits"] = {"lower": low, "upper": high}
    return cardan.load({"name": "arm", "link": links})


def test_a_planar_arm_reaches_a_ring() -> None:
    space = cardan.workspace(planar(1.0, 0.4), 40_000, frame=3)
    near(space.reach, [0.6, 1.4], absolute=1e-3)
    assert space.axes == (0, 1)
    area, hole = np.pi * (1.4**2 - 0.6**2), np.pi * 0.6**2
    near(space.volume, area, 0.08)  # cubes on the edges are counted whole
    near(space.holes.sum() * space.cube**2, hole, 0.15)
    J = cardan.model(space.robot, "jacobian", frame=3).evaluate(q=space.q[:50])
    near(space.manipulability[:50], np.abs(np.linalg.det(J[:, :2, :])), 1e-9)
    T = cardan.model(space.robot, "transform", frame=3).evaluate(q=space.q[:50])
    near(space.points[:50], T[:, :3, 3], absolute=1e-12)


def test_limits_cut_the_workspace() -> None:
    space = cardan.workspace(planar(1.0, 0.4, (0.0, 1.0), (-0.5, 0.5)), 5_000, frame=3)
    assert space.q.min(0)[0] >= 0
    assert space.q.max(0)[0] <= 1
    narrow = cardan.workspace(planar(1.0, 0.4), 500, frame=3, limits={"q1": (0.0, 0.1)})
    assert np.ptp(narrow.q[:, 0]) <= 0.1


def test_closed_loops_are_closed() -> None:
    """The tip of a five-bar is where both of its arms are, in one assembly or in all."""
    robot = cardan.load("fivebar")
    one = cardan.workspace(robot, 2_000, frame="tip")
    every = cardan.workspace(robot, 2_000, frame="tip", assemblies="all")
    assert len(one.q) < len(every.q)
    geometry, place = cardan.model(robot, "loop-geometry"), coordinates(robot).place
    for q in every.q[::200]:
        near(geometry.solve(q[place], guess=q), q, absolute=1e-8)


def test_what_has_no_workspace_is_said() -> None:
    sliding = cardan.load({"name": "s", "link": [{"joint": "prismatic"}]})
    with pytest.raises(CardanError, match="slides without limits"):
        cardan.workspace(sliding)
    space = cardan.workspace(sliding, 100, limits={"q1": (0.0, 2.0)})
    near(space.volume, 2.0, 0.3)
    with pytest.raises(CardanError, match="at least 1"):
        cardan.workspace(planar(1, 1), 0)
    with pytest.raises(CardanError, match="joint variable"):
        cardan.workspace(planar(1, 1), 10, limits={"q9": (0, 1)})


def test_vehicles_are_refused_by_name() -> None:
    with pytest.raises(cardan.ModelError, match="'Car' drives"):
        cardan.workspace(cardan.load("car"), 100)
