"""Workspaces against areas and volumes that are known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import near
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.describe.limits import joint_limits
from cardan.errors import CardanError
from cardan.loops.numeric import skeleton
from cardan.motion import measures
from cardan.motion.coordinates import coordinates
from cardan.motion.joints import moving, names


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


# the bundled robots that have no workspace, and what is said of each
REFUSED = {
    "car": "drives on wheels",
    "differential-drive": "drives on wheels",
    "mobile-manipulator": "drives on wheels",
    "unicycle": "drives on wheels",
    "planar1r": "at one point in all 60",
}
MEASURES = ("manipulability", "dexterity", "type-1", "speed", "force")


def with_lengths(name: str) -> tuple[cardan.Robot, dict[str, tuple[float, float]]]:
    """A bundled robot with values for its lengths, and limits for what slides without."""
    robot = cardan.load(name)
    lengths = skeleton(robot).parameters
    robot = robot.with_values({symbol: 0.3 + 0.01 * k for k, symbol in enumerate(lengths)})
    if robot.wheels:
        return robot, {}
    low, _ = joint_limits(robot)
    joints = {k: joint for k, joint in enumerate(moving(robot)) if k in coordinates(robot).place}
    free = [k for k, joint in joints.items() if joint.sigma == 1 and not np.isfinite(low[k])]
    return robot, {names(robot)[k]: (0.1, 0.5) for k in free}


@pytest.mark.parametrize("name", cardan.robots())
def test_every_bundled_robot_has_one_or_says_why(name: str) -> None:
    """Its table, measures and picture follow where it has one."""
    robot, limits = with_lengths(name)
    if name in REFUSED:
        with pytest.raises(CardanError, match=REFUSED[name]):
            cardan.workspace(robot, 60, limits=limits)
        return
    for joint in limits:
        rest = {key: value for key, value in limits.items() if key != joint}
        with pytest.raises(CardanError, match=rf"\({joint}\) slides without limits"):
            cardan.workspace(robot, 60, limits=rest)
    space = cardan.workspace(robot, 60, limits=limits)
    assert space.table()["points"] == len(space.q) > 1
    for measure in MEASURES:
        assert space.measure(measure).shape == (len(space.q),)
    assert space.plot() is not None


@pytest.mark.parametrize("name", ["cartpole", "rpr", "planar1r", "flexible1r"])
def test_sections_that_cannot_be_are_said(name: str) -> None:
    robot, limits = with_lengths(name)
    with pytest.raises(CardanError, match="one joint for each coordinate"):
        cardan.workspace(robot, 200, limits=limits, section={"y": 0.0})


def test_measures_say_what_they_lack() -> None:
    """A frame that does not move has no manipulability; links that bend no torque by themselves."""
    still = cardan.load("planar1r")
    assert measures.manipulability(still, [[0.3]]) == 0
    assert measures.dexterity(still, [[0.3]]) == 0
    bending = cardan.workspace(cardan.load("flexible2r"), 50)
    with pytest.raises(cardan.ModelError, match="links that bend"):
        bending.measure("torque")


def test_the_command_line_says_it_in_its_own_words() -> None:
    runner = CliRunner()
    for arguments, words in (
        (["cartpole"], "--limit NAME=LEAST,MOST"),
        (["ur5", "--samples", "50", "--map", "stiffness"], "--stiffness K"),
        (["car"], "drives on wheels"),
        (["rpr"], "1 symbol has none (L2); give them values: --set"),
    ):
        result = runner.invoke(app, ["workspace", *arguments])
        assert result.exit_code == 1
        assert words in result.output
