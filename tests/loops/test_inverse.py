"""Inverse geometry of robots with closed loops and couplings: every configuration of a pose, of
random configurations that the loops close; the direct model and the loop equations are the other
route."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.loops.palletiser import level_palletiser, palletiser

import cardan
from cardan.describe.robot import Robot
from cardan.loops.numeric import difference

VALUES = {
    "sr400": {"d2": 0.2, "d3": 0.8, "d8": 0.3, "d4": 0.1, "RL4": 0.7},
    "akr3000": {"D3": 0.5, "D4": 0.4, "D7": 1.0, "gam13": 0.3, "D13": 0.35, "gam14": 0.2,
                "D14": 0.45, "RL8": 1.1},
}  # fmt: skip
POSES = 60
FRAMES = {"fivebar": "tip"}


@cache
def robot_of(name: str) -> Robot:
    if name.endswith("palletiser"):
        return cardan.load(palletiser() if name == "palletiser" else level_palletiser())
    return cardan.load(name).with_values(VALUES.get(name, {}))


@cache
def solution(name: str) -> Any:
    return cardan.model(robot_of(name), "inverse-geometry", frame=FRAMES.get(name))


@cache
def states(name: str, count: int = POSES) -> tuple[np.ndarray, np.ndarray]:
    """Closed configurations and their poses."""
    system = solution(name).closure.loops.system()
    q = system.consistent(np.random.default_rng(5), count, tries=40)
    assert len(q) == count
    transform = cardan.model(robot_of(name), "transform", frame=FRAMES.get(name))
    return q, transform.evaluate(q=q)


def lost(name: str, answers: np.ndarray, q: np.ndarray, near: float = 1e-5) -> int:
    """How many of the configurations q are not among those found."""
    system = solution(name).closure.loops.system()
    apart = np.abs(difference(answers, q[:, None], system.periodic)).max(-1)
    return int((~(apart < near).any(-1)).sum())


def require_met(name: str, answer: Any, T: np.ndarray, rows: Any = np.s_[:, :]) -> None:
    """Every configuration has the pose, and closes the loops."""
    there = np.arange(answer.q.shape[-2]) < answer.count[..., None]
    system = solution(name).closure.loops.system()
    assert system.error(answer.q[there]).max() < 1e-9
    pose = cardan.model(robot_of(name), "transform", frame=FRAMES.get(name))
    own = pose.evaluate(q=answer.q[there])
    asked = np.broadcast_to(T[:, None], (*there.shape, 4, 4))[there]
    assert np.abs(own - asked)[:, *rows].max() < 1e-9
    assert np.nanmax(answer.residual) < 1e-9


@pytest.mark.parametrize(
    ("name", "counts"),
    [("sr400", {8, 16}), ("akr3000", {32}), ("fivebar", {2}), ("palletiser", {2, 4, 8}),
     ("level palletiser", {1, 2, 3, 4}),
     ("planar3rrr", {8}), ("prrrp-rigid", {2})],
)  # fmt: skip
def test_no_configuration_is_lost(name: str, counts: set[int]) -> None:
    q, T = states(name)
    answer = solution(name).solve(T)
    assert lost(name, answer.q, q) == 0
    assert set(answer.count.tolist()) <= counts
    require_met(name, answer, T)
    assert solution(name).variables == robot_of(name).variables
    one = solution(name).solve(T[0], guess=q[0])
    assert (
        np.abs(difference(one[0], q[0], solution(name).closure.loops.system().periodic)).max()
        < 1e-6
    )


def test_points_of_a_five_bar() -> None:
    """Two freedoms: the position alone, in up to four configurations."""
    q, T = states("fivebar")
    ik = solution("fivebar")
    answer = ik.solve(T[:, :3, 3])
    assert lost("fivebar", answer.q, q) == 0
    assert set(answer.count.tolist()) <= {2, 4}
    require_met("fivebar", answer, T, np.s_[:3, 3:])
    assert "points (3)" in ik.remarks[0]
    assert ik.solve([5.0, 0.0, 0.0]).shape == (0, 4)


@pytest.mark.parametrize("name", ["palletiser", "level palletiser"])
def test_points_of_a_palletiser(name: str) -> None:
    """Its chain has five joints, its motors four: one is given. Configurations are those of the
    closed form too, which is asked for the poses that they have."""
    robot = robot_of(name)
    with pytest.raises(cardan.CardanError, match=r"name 1 .* free=\['q5'\]"):
        solution(name).solve([1.5, 0.1, 0.9])
    ik = cardan.model(robot, "inverse-geometry", free=["q5"])
    q, T = states(name, 12)
    given = q[:, robot.variables.index("q5")]
    answer = ik.solve(T[:, :3, 3], free=given)
    assert lost(name, answer.q, q) == 0
    require_met(name, answer, T, np.s_[:3, 3:])
    for k, point in enumerate(T[:, :3, 3]):
        poses = cardan.model(robot, "transform").evaluate(q=answer[k])
        again = solution(name).solve(poses)
        every = again.q[np.arange(again.q.shape[1]) < again.count[:, None]]
        every = every[np.abs(difference(every[:, 4], given[k], np.True_)) < 1e-9]
        assert len(every) >= len(answer[k])
        system = ik.closure.loops.system()
        apart = np.abs(difference(answer[k][:, None], every, system.periodic)).max(-1)
        assert apart.min(0).max() < 1e-6
        near = ik.solve(point, free=given[k], guess=q[k])[0]
        assert np.abs(difference(near, q[k], system.periodic)).max() < 1e-6
    assert "from many starts" in ik.remarks[0]
    assert ik.solve([9.0, 0.0, 0.0], free=0.1).shape == (0, robot.n)
    with pytest.raises(cardan.CardanError, match="finite"):
        ik.solve([np.nan, 0.0, 0.0], free=0.1)


def test_a_wrist_held_level_reaches_level_poses_only() -> None:
    ik = solution("palletiser")
    assert ik.closure.freedom == 4
    tilted = np.eye(4)
    tilted[:3, :3] = [[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]]
    tilted[:3, 3] = 1.5, 0, 0.9
    assert ik.solve(tilted).shape == (0, 10)
    assert ik.reach(tilted).text


def test_symbols_have_values_when_it_is_solved() -> None:
    ik = cardan.model(cardan.load("sr400"), "inverse-geometry")
    q, T = states("sr400")
    found = ik.solve(T[:20], p=VALUES["sr400"])
    assert lost("sr400", found.q, q[:20]) == 0
    with pytest.raises(cardan.CardanError, match="D99"):
        ik.solve(T[0], p={"D99": 1})
    with pytest.raises(cardan.CardanError, match="d2"):
        ik.solve(T[0])
    symbolic = cardan.model(cardan.load("fivebar"), "inverse-geometry", frame="tip", symbolic=True)
    tip = states("fivebar")
    assert lost("fivebar", symbolic.solve(tip[1]).q, tip[0]) == 0


def test_limits_and_guesses() -> None:
    robot = cardan.load("delta")
    ik = cardan.model(robot, "inverse-geometry")
    assert len(ik.solve([0.02, 0.01, -0.5])) == 64
    within = ik.solve([0.02, 0.01, -0.5], limits=True)
    assert len(within) == len(cardan.model(robot, "loop-geometry").legs.solve([0.02, 0.01, -0.5]))
    nearest = ik.solve([0.02, 0.01, -0.5], guess=within[3])[0]
    assert nearest == pytest.approx(within[3], abs=1e-9)
    with pytest.raises(cardan.CardanError, match="all joints of the tree"):
        ik.solve([0.02, 0.01, -0.5], guess=[0, 0, 0])
    stewart = cardan.model(cardan.load("stewart"), "inverse-geometry")
    T = np.eye(4)
    T[2, 3] = 0.62
    with pytest.warns(cardan.CardanWarning, match="more than 64"):
        stewart.solve(T)
    slides = [k for k, x in enumerate(stewart.variables) if x[0] == "s"]
    every = stewart.solve(T, limits=True)
    assert len(every) == 128  # two ways to write the turn, two of each leg
    assert (every[:, slides] > 0).all()


def test_the_joints_of_another_arm_stay() -> None:
    """Neither the pose nor the loop moves them."""
    robot = cardan.load({
        "name": "two arms",
        "link": [{}, {"d": 0.3, "active": False}, {"antecedent": 0, "d": 0.5},
                 {"d": 0.3, "active": False}, {"antecedent": 0, "b": 1, "home": 0.7}],
        "loop": [{"cut": {"antecedent": 2, "d": 0.4}, "twin": {"antecedent": 4, "d": 0.4}}],
    })  # fmt: skip
    ik = cardan.model(robot, "inverse-geometry", frame=2)
    q = ik.closure.loops.system().consistent(np.random.default_rng(0), 1)[0]
    T = cardan.model(robot, "transform", frame=2).evaluate(q=q)
    assert ik.solve(T)[:, 4] == pytest.approx(0.7)
    assert ik.solve(T, guess=q)[0] == pytest.approx(q, abs=1e-9)
    assert "q5" in ik.remarks[-1]


def test_pickled() -> None:
    ik = solution("fivebar")
    again = pickle.loads(pickle.dumps(ik))  # noqa: S301
    assert again.solve([0.1, 0.5, 0]) == pytest.approx(ik.solve([0.1, 0.5, 0]))
