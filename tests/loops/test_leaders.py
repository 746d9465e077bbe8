"""Joints that several others lead, as a wrist held level, q4 = -(q2 + q3): beside the same arm
without couplings, whose joints are moved together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.loops.palletiser import level_palletiser

import cardan
from cardan.describe.files import dumps

G = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, -1, -1, 0], [0, 0, 0, 1.0]])


@pytest.fixture(scope="module")
def robot() -> cardan.Robot:
    return cardan.load(level_palletiser())


def test_positions_follow(robot: cardan.Robot) -> None:
    geometry = cardan.model(robot, "loop-geometry")
    assert geometry.mobility == 4
    q_a = np.array([0.3, -0.9, 1.4, 2.0])
    assert geometry.solve(q_a) == pytest.approx((G @ q_a)[None])
    assert "coupling: q4 = -q2 - q3" in geometry.equations()
    T = cardan.model(robot, "transform", frame="wrist", assembly=0).evaluate(q_a=q_a)
    assert T[:3, 1] == pytest.approx([0, 0, -1], abs=1e-12)  # level


def test_dynamics_are_those_of_the_arm_moved_together(robot: cardan.Robot) -> None:
    rng = np.random.default_rng(1)
    u, ud, udd = rng.normal(size=(3, 4))
    q, qd, qdd = G @ u, G @ ud, G @ udd
    tree = robot.tree()
    torques = cardan.model(tree, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=qdd)
    tau = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=ud, qdd=udd)
    assert tau == pytest.approx(G.T @ torques)
    lagrange = cardan.model(robot, "inverse-dynamics", method="lagrange")
    assert lagrange.evaluate(q=q, qd=ud, qdd=udd) == pytest.approx(tau)
    A = cardan.model(tree, "inertia-matrix").evaluate(q=q)
    assert cardan.model(robot, "inertia-matrix").evaluate(q=q) == pytest.approx(G.T @ A @ G)
    direct = cardan.model(robot, "direct-dynamics").evaluate(q=q, qd=ud, tau=tau)
    assert direct == pytest.approx(udd)
    D = cardan.model(robot, "regressor").evaluate(q=q, qd=ud, qdd=udd)
    tree_D = cardan.model(tree, "regressor").evaluate(q=q, qd=qd, qdd=qdd)
    assert D[:, :50] == pytest.approx(G.T @ tree_D[:, :50])
    J = cardan.model(tree, "jacobian").evaluate(q=q)
    assert cardan.model(robot, "jacobian").evaluate(q=q) == pytest.approx(J @ G)


def test_written_and_read(robot: cardan.Robot, tmp_path: Path) -> None:
    path = tmp_path / "level.toml"
    robot.save(path)
    assert cardan.load(path) == robot
    assert 'mimic = { joint = ["joint2", "joint3"], ratio = [-1, -1] }' in path.read_text()
    for kind in ("urdf", "xml"):
        with pytest.raises(cardan.CardanError, match="several joints"):
            dumps(robot, kind)


def test_symbols_of_ratios(robot: cardan.Robot) -> None:
    described = level_palletiser()
    described["link"][3]["mimic"] = {"joint": ["arm", 3], "ratio": ["N", "-N"], "offset": "a"}
    found = cardan.load(described)
    assert {"N", "a"} <= set(found.parameters)
    half = found.with_values({"N": 0.5, "a": 0.1})
    at = cardan.model(half, "loop-geometry").solve([0, 0.4, 1.0, 0])[0]
    assert at[3] == pytest.approx(0.5 * 0.4 - 0.5 * 1.0 + 0.1)


@pytest.mark.parametrize(
    ("mimic", "words"),
    [
        ({"joint": ["arm", "forearm"], "ratio": [1]}, "as many ratios"),
        ({"joint": ["arm", "nobody"], "ratio": [1, 1]}, "no joint"),
        ({"joint": ["arm", "wrist"], "ratio": [1, 1]}, "itself"),
        ({"joint": ["arm", "arm"], "ratio": [1, 1]}, "twice"),
    ],
)
def test_faults(mimic: dict[str, object], words: str) -> None:
    described = level_palletiser()
    described["link"][3]["mimic"] = mimic
    with pytest.raises(cardan.CardanError, match=words):
        cardan.load(described)


def test_circles_are_refused_by_name(robot: cardan.Robot) -> None:
    ring = replace(
        robot.joints[1], active=False, mimic=replace(robot.couplings[4], joint=1, others=((4, 1),))
    )
    joints = (robot.joints[0], ring, *robot.joints[2:])
    with pytest.raises(cardan.CardanError, match="circle"):
        cardan.model(replace(robot, joints=joints), "gravity")


def test_numerical_inverse_kinematics_and_limits() -> None:
    described = level_palletiser()
    q = np.array([0.3, -0.9, 1.4, -0.5, 2.0])
    robot = cardan.load(described)
    T = cardan.model(robot.tree(), "transform").evaluate(q=q)
    every = cardan.model(robot, "inverse-geometry").solve(T)
    reached = cardan.inverse_kinematics(robot, T)
    assert reached.converged
    assert np.abs(every - reached.q).max(-1).min() < 1e-8
    described["link"][3]["limits"] = {"lower": 0.6, "upper": 0.8}
    limited = cardan.inverse_kinematics(cardan.load(described), np.stack([T] * 3), threads=2)
    assert limited.converged.all()
    assert limited.q == pytest.approx(np.stack([every[1]] * 3), abs=1e-8)
    described["link"][3]["limits"] = {"lower": 1, "upper": 2}
    robot = cardan.load(described)
    assert not cardan.inverse_kinematics(robot, T, restarts=3).converged
    hooked = cardan.inverse_kinematics(
        robot, T, restarts=3, limits=False,
        constraints=lambda x: (np.zeros((len(x), 0)), np.zeros((len(x), 0, x.shape[1]))),
    )  # fmt: skip
    assert np.abs(every - hooked.q).max(-1).min() < 1e-8


def test_three_joints_lead() -> None:
    described = level_palletiser()
    more = {"joint": ["column", "arm", "wrist"], "ratio": [1, 0.5, 2], "offset": 0.1}
    described["link"][4] |= {"active": False, "mimic": more}
    robot = cardan.load(described)
    H = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, -1], [1, -1.5, -2]])
    q = H @ [0.3, -0.9, 1.4] + [0, 0, 0, 0, 0.1]
    assert cardan.model(robot, "loop-geometry").solve(q[:3]) == pytest.approx(q[None])
    T = cardan.model(robot.tree(), "transform").evaluate(q=q)
    assert cardan.model(robot, "inverse-geometry").solve(T) == pytest.approx(q[None])
    assert cardan.inverse_kinematics(robot, T, guess=q + 0.1).q == pytest.approx(q, abs=1e-8)
    u, ud, udd = np.random.default_rng(2).normal(size=(3, 3))
    at = H @ u + [0, 0, 0, 0, 0.1]
    whole = cardan.model(robot.tree(), "inverse-dynamics")
    tau = cardan.model(robot, "inverse-dynamics").evaluate(q=at, qd=ud, qdd=udd)
    assert tau == pytest.approx(H.T @ whole.evaluate(q=at, qd=H @ ud, qdd=H @ udd))
