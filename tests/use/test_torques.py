"""Torques of a motion: the 2R of [C23], contributions that add up, payloads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cardan
from cardan.describe.robot import Base, Robot
from cardan.errors import CardanError, InputError
from cardan.motion.torques import rms, torques, with_payload
from cardan.motion.trajectory import Trajectory, fourier, move
from random_robots import random_robot


def two_rods(gravity: float) -> Robot:
    """Thin uniform rods of 10 kg and 5 kg, both 1 m long ([C23] prints no lengths)."""
    m1, m2 = 10, 5
    return cardan.load("planar2r").with_values(
        {"L1": 1, "ZZ1": m1 / 3, "MX1": m1 / 2, "MY1": 0, "M1": m1, "FV1": 0,
         "ZZ2": m2 / 3, "MX2": m2 / 2, "MY2": 0, "M2": m2, "FV2": 0, "G": gravity}
    )  # fmt: skip


def c23_motion() -> Trajectory:
    return move(np.radians([90, -180]), np.radians([0, 90]), 1.0, law="quintic")


def closed_form(x: Trajectory, g: float) -> dict[str, np.ndarray]:
    """The textbook equations of the 2R with rods."""
    m1, m2, l1, l2 = 10, 5, 1.0, 1.0
    (q1, q2), (v1, v2), (a1, a2) = x.q.T, x.qd.T, x.qdd.T
    k = m2 * l1 * l2 / 2
    A11 = m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3) + 2 * k * np.cos(q2)
    A12 = m2 * l2**2 / 3 + k * np.cos(q2)
    A22 = m2 * l2**2 / 3
    G2 = m2 * g * l2 / 2 * np.cos(q1 + q2)
    return {
        "inertial": np.stack([A11 * a1 + A12 * a2, A12 * a1 + A22 * a2], 1),
        "centrifugal and Coriolis": np.stack(
            [-k * np.sin(q2) * (2 * v1 * v2 + v2**2), k * np.sin(q2) * v1**2], 1
        ),
        "gravity": np.stack([(m1 / 2 + m2) * g * l1 * np.cos(q1) + G2, G2], 1),
    }


@pytest.mark.parametrize("g", [0.0, 9.81])
def test_the_2r_of_c23(g: float) -> None:
    motion = c23_motion()
    found = torques(two_rods(g), motion)
    for key, expected in closed_form(motion, g).items():
        np.testing.assert_allclose(found.parts[key], expected, atol=1e-11)
    np.testing.assert_allclose(found.total, sum(found.parts.values()), atol=1e-11)
    # what the slides say: no torque at the start; at the end joint 1 carries the weights, joint 2
    # nothing
    np.testing.assert_allclose(found.total[0], 0, atol=1e-11)
    np.testing.assert_allclose(found.total[-1], [10 * g, 0], atol=1e-10)
    if g:
        np.testing.assert_allclose(found.peak, [140.0477, 55.5754], rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_contributions_add_up_on_random_robots(seed: int) -> None:
    robot = random_robot(seed, n=5)
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 3, robot.n))
    found = torques(robot, fourier(a, b, frequency=0.5, dt=0.02))
    np.testing.assert_allclose(sum(found.parts.values()), found.total, atol=1e-9)
    if robot.base.kind == "mobile":
        assert "base motion" in found.parts
        still = replace(robot, base=Base())
        again = torques(still, found.motion)
        assert "base motion" not in again.parts
        np.testing.assert_allclose(sum(again.parts.values()), again.total, atol=1e-9)


def test_peaks_and_rms() -> None:
    t = np.linspace(0, 2 * np.pi, 20001)
    np.testing.assert_allclose(rms(t, np.sin(t)[:, None]), np.sqrt(0.5), rtol=1e-6)
    found = torques(two_rods(9.81), c23_motion())
    rows = found.table()
    assert [row["joint"] for row in rows] == ["q1", "q2"]
    assert rows[0]["unit"] == "N m"
    assert rows[0]["peak"] == pytest.approx(np.abs(found.total[:, 0]).max())
    assert set(found.columns()) >= {"t", "tau1", "tau2_gravity", "tau1_centrifugal_and_Coriolis"}


def test_a_payload_is_a_point_mass() -> None:
    robot = two_rods(9.81)
    motion = c23_motion()
    loaded = torques(with_payload(robot, 2.0, [1, 0, 0]), motion).total
    point = torques(robot, motion).total
    (q1, q2), (v1, v2), (a1, a2) = motion.q.T, motion.qd.T, motion.qdd.T
    # virtual work of the mass at the tip
    J = np.array([[-np.sin(q1) - np.sin(q1 + q2), -np.sin(q1 + q2)],
                  [np.cos(q1) + np.cos(q1 + q2), np.cos(q1 + q2)]])  # fmt: skip
    w, wd = v1 + v2, a1 + a2
    ax = -np.cos(q1) * v1**2 - np.sin(q1) * a1 - np.cos(q1 + q2) * w**2 - np.sin(q1 + q2) * wd
    ay = -np.sin(q1) * v1**2 + np.cos(q1) * a1 - np.sin(q1 + q2) * w**2 + np.cos(q1 + q2) * wd
    force = 2.0 * np.stack([ax, ay + 9.81])
    np.testing.assert_allclose(loaded - point, np.einsum("rjt,rt->tj", J, force), atol=1e-10)
    with pytest.raises(InputError, match="no link '7'"):
        with_payload(robot, 1.0, link=7)
    with pytest.raises(InputError, match="a payload of -1"):
        with_payload(robot, -1)


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(CardanError, match="needs numbers; 12 symbols have none"):
        torques(cardan.load("planar2r"), c23_motion())
    with pytest.raises(InputError, match=r"the trajectory has 2 joints, .* has 6"):
        torques(cardan.load("ur5"), c23_motion())
    floating = replace(two_rods(9.81), base=Base(kind="floating"))
    with pytest.raises(CardanError, match="simulate"):
        torques(floating, c23_motion())


def test_the_plot_has_a_panel_per_joint_with_units() -> None:
    figure = torques(two_rods(9.81), c23_motion()).plot()
    assert [ax.get_ylabel() for ax in figure.axes] == ["N m", "N m"]
    assert figure.axes[-1].get_xlabel() == "time, s"


def test_a_closed_robot_on_the_cycle_of_b23() -> None:
    """A five-bar picks and places along half an ellipse: torques of its two motors add up, and they
    are those of the tree by virtual work."""
    from cardan.motion import paths, taskspace

    robot = cardan.load("fivebar")
    geometry = cardan.model(robot, "loop-geometry")
    q0 = geometry.solve([2.2, 0.9])[1]
    tree = robot.tree()
    tip = cardan.model(tree, "transform", frame=2).evaluate(q=q0)
    pick = tip[:3, 3] + tip[:3, :3] @ [0.4, 0, 0]
    place = pick + np.array([0.1, 0, 0])
    cycle = paths.pick_and_place(pick, place, 0.03, up=[0, 1, 0], acceleration=50.0)

    def solve(T: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """The two legs, each a 2R from its motor to the tip."""
        found = []
        for x, knee in ((0.0, -1.0), (0.25, 1.0)):
            dx, dy = T[0, 3] - x, T[1, 3]
            bend = knee * np.arccos((dx * dx + dy * dy - 0.3**2 - 0.4**2) / (2 * 0.3 * 0.4))
            first = np.arctan2(dy, dx) - np.arctan2(0.4 * np.sin(bend), 0.3 + 0.4 * np.cos(bend))
            found += [first, bend]
        return np.array(found)

    motion = taskspace.follow(robot, cycle, q0, solve=solve, dt=2e-3, differentiate=True)
    assert np.max(geometry.residual(motion.q)) < 1e-9
    found = torques(robot, motion)
    assert found.total.shape == (len(motion.t), 2)
    assert [name for name, _ in found.joints] == ["q1", "q3"]
    np.testing.assert_allclose(sum(found.parts.values()), found.total, atol=1e-9)
    tau = cardan.model(tree, "inverse-dynamics").evaluate(q=motion.q, qd=motion.qd, qdd=motion.qdd)
    W = cardan.model(robot, "loop-kinematics").evaluate(q=motion.q, qd=motion.qd[:, [0, 2]]).W
    work = tau[:, [0, 2]] + np.einsum("tpa,tp->ta", W, tau[:, [1, 3]])
    np.testing.assert_allclose(found.total, work, atol=2e-2 * np.abs(work).max())
    active = Trajectory(motion.t, *(x[:, [0, 2]] for x in (motion.q, motion.qd, motion.qdd)))
    again = torques(robot, active, q0=motion.q[0])
    np.testing.assert_allclose(again.total, found.total, atol=1e-8)


def test_a_motion_of_all_joints_must_keep_the_loops_closed() -> None:
    robot = cardan.load("fivebar")
    with pytest.raises(CardanError, match=r"loops closed.*t = 0.7 s.*2 active joints"):
        torques(robot, move([0] * 4, [1, 1, 3, 3], 1.0, dt=0.1))


def test_a_payload_of_the_call_is_that_of_the_robot() -> None:
    robot = cardan.load("ur5")
    motion = cardan.trajectory(robot, 0.5, duration=1.0, dt=0.05)
    given = cardan.torques(robot, motion, payload=(2.0, 0, 0, 0.1))
    loaded = cardan.torques(with_payload(robot, 2.0, (0, 0, 0.1)), motion)
    assert np.array_equal(given.total, loaded.total)
    with pytest.raises(cardan.InputError, match="payload"):
        cardan.torques(robot, motion, payload=(2.0, 0.1))
