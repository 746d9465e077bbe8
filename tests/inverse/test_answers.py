"""What a user gets: singular poses, guesses, limits, free joints, equations, clear refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.compare import among, near

import cardan
from cardan.describe.robot import Limits
from cardan.exact import exact

from .arms import ARMS, arm
from .test_closed import solution


def test_a_straight_wrist_is_said_to_be_singular() -> None:
    ik, chain, p = solution("puma560")
    q = np.array([0.3, 0.4, -0.5, 0.6, 0, 0.2])
    found = ik.solve(chain.pose(q), p=p, report=True)
    k = int(found.count)
    assert k == 7
    assert found.singular[:k].sum() == 1
    i = int(np.argmax(found.singular))
    assert found.multiplicity[i] == 2
    assert found.q[i, 3] == 0
    near(found.q[i, 3] + found.q[i, 5], 0.8, 1e-5, 1e-8, each=True)
    led = ik.solve(chain.pose(q), p=p, guess=q)
    near(led[0], q, 1e-5, 1e-9, each=True)


def test_a_stretched_arm_is_a_double_solution() -> None:
    ik, chain, p = solution("ur5")
    q = np.array([0.3, -1, 0, 0.5, 1, 0.3])
    found = ik.solve(chain.pose(q), p=p, report=True)
    i = int(np.argmax(found.singular))
    assert found.singular[i]
    assert found.multiplicity[i] == 2
    near(found.q[i], q, absolute=1e-6)
    assert found.residual[: int(found.count)].max() < 1e-9


@pytest.mark.parametrize("name", ["puma560", "rx90", "ur5", "stanford", "tx40", "offset arm"])
def test_special_poses_lose_no_answer(name: str) -> None:
    """Configurations of right angles and zeros: singular, degenerate, or both."""
    ik, chain, p = solution(name)
    rng = np.random.default_rng(4)
    q = rng.choice([0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 4, 0.3], (60, chain.n))
    T = chain.pose(q)
    found = ik.solve(T, p=p)
    assert (found.count > 0).all()
    there = np.arange(found.q.shape[1]) < found.count[:, None]
    poses = chain.pose(np.where(there[..., None], found.q, 0))
    assert np.abs(poses - T[:, None]).max((-2, -1))[there].max() < 1e-9
    regular = np.linalg.svd(chain.jacobian(q), compute_uv=False)[:, -1] > 1e-4
    gap = np.abs((found.q - q[:, None] + np.pi) % (2 * np.pi) - np.pi)
    gap[..., chain.sigma == 1] = np.abs(found.q - q[:, None])[..., chain.sigma == 1]
    nearest = np.where(np.isnan(gap).any(-1), np.inf, gap.max(-1)).min(1)
    assert nearest[regular].max() < 1e-6


def test_nearest_to_a_guess_comes_first() -> None:
    ik, chain, p = solution("puma560")
    q = np.array([0.3, 0.4, -0.5, 0.6, 0.7, 0.2])
    found = ik.solve(chain.pose(q), guess=q + 0.01, p=p)
    assert len(found) == 8
    near(found[0], q, 1e-5, 1e-8, each=True)
    batch = ik.solve(np.stack([chain.pose(q)] * 2), guess=q + 0.01, p=p)
    near(batch.q[:, 0], q, 1e-5, 1e-8, each=True)


def test_limits_drop_and_turn() -> None:
    robot = cardan.load("ur5")
    joints = list(robot.joints)
    joints[0] = replace(joints[0], limits=Limits(lower=exact("5"), upper=exact("8")))
    joints[4] = replace(joints[4], limits=Limits(lower=0, upper=3))
    ik = cardan.model(replace(robot, joints=tuple(joints)), "inverse-geometry")
    q = np.array([0.3, -1, 0.8, 0.5, 1, 0.3])
    T = ik.chain.numeric().pose(q)
    free, kept = ik.solve(T), ik.solve(T, limits=True)
    assert 0 < len(kept) < len(free)
    assert ((kept[:, 0] >= 5) & (kept[:, 0] <= 8) & (kept[:, 4] >= 0)).all()
    among(kept, [0.3 + 2 * np.pi, -1, 0.8, 0.5, 1, 0.3], 1e-9)
    report = ik.solve(T, limits=True, report=True)
    assert int(report.count) == len(kept)
    assert np.isnan(report.q[len(kept) :]).all()


def test_redundant_arms_take_a_value_for_the_free_joint() -> None:
    robot = cardan.load("iiwa14")
    ik = cardan.model(robot, "inverse-geometry", free="q3")
    assert ik.free == (2,)
    assert "q3" in ik.reason
    q = np.array([0.3, 0.4, -0.5, 0.6, 0.7, 0.2, 0.1])
    T = ik.chain.numeric().pose(q)
    among(ik.solve(T, free=-0.5), q, 1e-9)
    near(ik.solve(T, guess=q)[0], q, absolute=1e-9)  # the guess's value
    many = ik.solve(T, free=np.linspace(-1, 1, 5))
    assert many.shape == (5,)
    near(many.q[1, 0, 2], -0.5, 1e-5, 1e-8, each=True)
    with pytest.raises(cardan.CardanError, match="free"):
        ik.solve(T, free=np.nan)
    with pytest.raises(cardan.CardanError, match="no joint of this solution is free"):
        solution("ur5")[0].solve(T, free=1)
    with pytest.raises(cardan.CardanError, match="q9"):
        cardan.model(robot, "inverse-geometry", free="q9")


@pytest.mark.parametrize("name", ["iiwa14", "kuka-lwr"])
def test_the_arm_angle_places_the_elbow(name: str) -> None:
    ik = cardan.model(cardan.load(name), "inverse-geometry", free="arm-angle")
    p = dict.fromkeys(ik.chain.parameters, 0.4)
    chain = ik.chain.numeric(p)
    rng = np.random.default_rng(2)
    q = rng.uniform(-3, 3, (500, 7))
    psi = ik.arm_angle(q, p=p)
    found = ik.solve(chain.pose(q), free=psi, p=p)
    assert (found.count == 8).all()
    assert np.abs((found.q - q[:, None] + np.pi) % (2 * np.pi) - np.pi).max(-1).min(1).max() < 1e-6
    gap = ik.arm_angle(found.q, p=p) - psi[:, None]
    near((gap + np.pi) % (2 * np.pi) - np.pi, 0, absolute=1e-6)
    near(ik.solve(chain.pose(q[0]), guess=q[0], p=p)[0], q[0], 1e-5, 1e-8, each=True)
    assert "psi" in ik.equations()


def test_the_arm_angle_needs_an_arm_plane() -> None:
    for name in ("panda", "ur5"):
        with pytest.raises(cardan.CardanError, match="arm angle"):
            cardan.model(cardan.load(name), "inverse-geometry", free="arm-angle")


def test_too_many_joints_say_what_to_do() -> None:
    with pytest.raises(cardan.CardanError, match="24"):
        cardan.model(cardan.load("snake30"), "inverse-geometry")


@pytest.mark.parametrize(
    ("T", "what"),
    [
        (np.eye(3), "shape"),
        ([1, 2, 3], "shape"),
        ("pose", "real numbers"),
        (np.full((4, 4), np.nan), "finite"),
        (np.diag([1.0, 1, 2, 1]), "not rigid: R\\^T R differs from 1 by 3;"),
        (np.diag([1.0, 1, 1.0002, 1]), "differs from 1 by 0.0004;"),
        (np.diag([1.0, 1, -1, 1]), "reflection"),
        (np.diag([1.0, 1, 1, 2]), "last row"),
    ],
)
def test_bad_poses_are_refused(T: object, what: str) -> None:
    ik, _, p = solution("ur5")
    with pytest.raises(cardan.CardanError, match=what):
        ik.solve(T, p=p)


def test_a_bad_pose_in_a_batch_is_named() -> None:
    batch = np.stack([np.eye(4)] * 4)
    batch[2, 0, 0] = 1.5
    with pytest.raises(cardan.CardanError, match=r"\(2,\)"):
        solution("ur5")[0].solve(batch)


def test_a_pose_nearly_rigid_is_made_rigid() -> None:
    ik, chain, _ = solution("ur5")
    q = np.array([0.3, -1, 0.8, 0.5, 1, 0.3])
    T = chain.pose(q)
    T[:3, :3] += 1e-8
    among(ik.solve(T), q, 1e-6)
    T[3, 0] = 1e-17  # as of a product that was inverted
    among(ik.solve(T), q, 1e-6)


@pytest.mark.parametrize("limits", [np.array([[-1, 1]] * 6), "no", 1])
def test_limits_are_asked_for_not_given(limits: Any) -> None:
    robot = cardan.load("ur5")
    with pytest.raises(cardan.CardanError, match="True or False"):
        cardan.model(robot, "inverse-geometry").solve(np.eye(4), limits=limits)
    with pytest.raises(cardan.CardanError, match="True or False"):
        cardan.inverse_kinematics(robot, np.eye(4), limits=limits)


@pytest.mark.parametrize(
    "name", ["rx90", "puma560", "stanford", "scara", "ur5", "offset arm", "5R"]
)
def test_equations_can_be_read(name: str) -> None:
    ik = solution(name)[0]
    text = ik.equations()
    for variable in ik.variables:
        assert f". {variable}\n" in text or f"      {variable} = " in text  # or a sum first
    for k in range(1, ik.solver.branches + 1):
        assert f"-> {k}\n" in text
    assert ("Consistency" in text) == (ik.chain.n < 6)
    latex = ik.equations("latex")
    assert latex.count(r"\begin{align*}") == latex.count(r"\end{align*}") > 5
    assert latex.count("{") == latex.count("}")
    with pytest.raises(cardan.CardanError, match="form"):
        ik.equations("word")


def test_rx90_as_in_the_book() -> None:
    """Khalil and Dombre: th1 = atan2(Py, Px) and half a turn further; th3 by C2, S2."""
    text = solution("rx90")[0].equations()
    assert "-Px S1 + Py C1 = 0" in text
    assert "C23 = (Pz - D3 S2)/RL4" in text


def test_the_general_method_answers_through_the_same_face() -> None:
    ik = cardan.model(ARMS["UR skew"], "inverse-geometry", method="general")
    assert ik.method == "general"
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    among(ik.solve(ik.chain.numeric().pose(q)), q, 1e-8)


@pytest.mark.parametrize("count", [3, 4, 5])
def test_few_joints_without_a_closed_form(count: int) -> None:
    """General arms of three to five joints: virtual joints make them six."""
    rows = [(0, 0, 0, 0, 0.3), (0, -1.2, 0.2, 0.3, 0.1), (0, 0.8, 0.5, 0.1, 0.12),
            (0, 0.7, 0.15, 0.2, 0.4), (0, 1.1, 0.2, 0.1, 0.25)]  # fmt: skip
    robot = arm("skew", [*rows[:count], (2, 0.4, 0.1, 0.3, 0.2)])
    ik = cardan.model(robot, "inverse-geometry", method="general")
    chain = ik.chain.numeric()
    q = np.random.default_rng(3).uniform(-3, 3, (20, count))
    found = ik.solve(chain.pose(q))
    gap = np.abs((found.q - q[:, None] + np.pi) % (2 * np.pi) - np.pi).max(-1)
    assert np.nanmin(gap, axis=1).max() < 1e-6
    assert np.nanmax(found.residual) < 1e-9
    out = chain.pose(q[0])
    out[:3, 3] += 0.01
    assert ik.solve(out).shape == (0, count)
    auto = cardan.model(robot, "inverse-geometry").solve(chain.pose(q))
    assert (auto.count == found.count).all()


def test_a_method_asked_for_is_the_method_used() -> None:
    robot = cardan.load("puma560-numeric")
    assert cardan.model(robot, "inverse-geometry", method="pieper").method == "pieper"
    assert cardan.model(robot, "inverse-geometry", method="paul").method == "paul"
