"""Trajectories: derivatives agree with differences, ends and limits are met, bad input is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline
from tests.compare import near

import cardan
from cardan.algebra import so3
from cardan.describe.robot import Limits
from cardan.describe.values.parser import to_value
from cardan.errors import InputError
from cardan.motion import paths, taskspace
from cardan.motion.coordinates import coordinates
from cardan.motion.piecewise import LAWS, time_law
from cardan.motion.tables import read_table
from cardan.motion.trajectory import (
    Trajectory,
    check,
    fourier,
    move,
    polynomial,
    sampled,
    through,
    violations,
)


def assert_consistent(x: Trajectory, tolerance: float = 1e-6) -> None:
    """qd and qdd are the derivatives of q, by Simpson's rule between samples."""
    t = (x.t[1:] + x.t[:-1]) / 2
    dt = np.diff(x.t)[:, None]
    q, qd, qdd = x(t)
    near(np.diff(x.q, axis=0), dt * (x.qd[1:] + 4 * qd + x.qd[:-1]) / 6, absolute=tolerance)
    assert np.isfinite(q).all()
    assert np.isfinite(qdd).all()


@pytest.mark.parametrize("law", LAWS)
def test_moves_start_and_end_at_rest(law: str) -> None:
    x = move([0.5, -1, 2], [1, 1, 2], 2.0, law=law)
    np.testing.assert_allclose(x.q[[0, -1]], [[0.5, -1, 2], [1, 1, 2]], atol=1e-12)
    np.testing.assert_allclose(x.qd[[0, -1]], 0, atol=1e-12)
    assert_consistent(x)
    q, qd, qdd = x(np.array([-1.0, 5.0]))  # it rests before and after
    np.testing.assert_allclose(q, x.q[[0, -1]], atol=1e-12)
    assert not qd.any()
    assert not qdd.any()


@pytest.mark.parametrize("law", LAWS)
def test_limits_are_reached_and_never_exceeded(law: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        q1 = rng.normal(size=3)
        v, a, j = (rng.uniform(0.1, 5, 3) for _ in range(3))
        bounded = law not in ("cubic", "bang-bang", "trapezoidal")
        limits = {"velocity": v, "acceleration": a, **({"jerk": j} if bounded else {})}
        x = move(np.zeros(3), q1, law=law, dt=1e-2, **limits)
        peaks = [(np.abs(x.qd) / v).max(), (np.abs(x.qdd) / a).max()]
        assert max(peaks) < 1 + 1e-9
        s = time_law(law, **{key: (x / np.abs(q1)).min() for key, x in limits.items()})
        reached = [s.peak(k)[0] * np.abs(q1) / x for k, x in enumerate(limits.values(), 1)]
        assert np.max(reached) == pytest.approx(1, abs=1e-9)


def test_an_s_curve_has_bounded_jerk_in_every_case() -> None:
    for v, a, j in ((1, 1, 1), (1, 1, 10), (10, 10, 1), (0.1, 10, 1), (1, 2, 100), (100, 1, 100)):
        s = time_law("s-curve", velocity=v, acceleration=a, jerk=j)
        assert s(s.duration)[0] == pytest.approx(1)
        assert s.peak(3)[0] <= j * (1 + 1e-9)
        assert s.peak(2)[0] <= a * (1 + 1e-9)
        assert s.peak(1)[0] <= v * (1 + 1e-9)


def test_polynomials_meet_what_is_given_at_the_ends() -> None:
    start, end = [[1, 2], [3, -4], [5, 6]], [[0, 1], [2, 0], [1, 1]]
    x = polynomial([0, 1], [2, 3], 1.5, 7, start=start, end=end)
    np.testing.assert_allclose(x.qd[[0, -1]], [start[0], end[0]], atol=1e-9)
    np.testing.assert_allclose(x.qdd[[0, -1]], [start[1], end[1]], atol=1e-9)
    assert_consistent(x)


def test_splines_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    t, points = np.array([0, 0.7, 1.1, 3, 3.5]), rng.normal(size=(5, 3))
    x = through(points, t)
    reference = CubicSpline(t, points, bc_type="clamped")
    np.testing.assert_allclose(x.q, reference(x.t), atol=1e-11)
    np.testing.assert_allclose(x.qdd, reference(x.t, 2), atol=1e-8)
    rest = [(1, np.zeros(3)), (2, np.zeros(3))]
    quintic = make_interp_spline(t, points, k=5, bc_type=(rest, rest))
    y = through(points, t, degree=5)
    np.testing.assert_allclose(y.q, quintic(y.t), atol=1e-10)
    np.testing.assert_allclose(y.qdd, quintic(y.t, 2), atol=1e-7)


def test_fourier_series_are_periodic_and_consistent() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 5, 3))
    x = fourier(a, b, frequency=0.1, q0=[1, 2, 3], dt=1e-2)
    np.testing.assert_allclose(x.q[0], x.q[-1], atol=1e-10)
    np.testing.assert_allclose(x.qdd[0], x.qdd[-1], atol=1e-10)
    assert_consistent(x)


def test_samples_are_interpolated_and_completed(tmp_path: Path) -> None:
    x = polynomial([0, 1], [2, 3], 1.5, 7)
    y = sampled(x.t, x.q, x.qd, x.qdd)
    t = np.linspace(0, 1.5, 997)
    for found, expected in zip(y(t), x(t), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    z = sampled(x.t, x.q)
    np.testing.assert_allclose(z.qd, x.qd, atol=1e-7)
    np.testing.assert_allclose(z.qdd[5:-5], x.qdd[5:-5], atol=1e-4)
    for name in ("x.csv", "x.parquet"):
        x.save(str(tmp_path / name))
        table = read_table(tmp_path / name)
        np.testing.assert_array_equal(table["qdd2"], x.qdd[:, 1])
        assert list(table)[:3] == ["t", "q1", "q2"]


def test_limits_of_a_robot_are_checked() -> None:
    robot = cardan.load("ur5")
    assert violations(move(np.zeros(6), np.full(6, 0.1), 1.0), robot) == []
    far = move(np.zeros(6), [0.1, 0, 0, 0, 0, 50], 1.0)
    found = violations(far, robot, acceleration=200)
    assert {(x.joint, x.quantity) for x in found} == {
        ("q6", "position"), ("q6", "velocity"), ("q6", "acceleration"),
    }  # fmt: skip
    with pytest.raises(InputError, match=r"joint q6: position 50 exceeds the limit 6\.28"):
        check(far, robot)


def test_limits_of_the_active_joints_of_closed_loops() -> None:
    robot = cardan.load("fivebar")
    limits = Limits(lower=to_value(0), upper=to_value(1), velocity=to_value(2), effort=to_value(3))
    third = replace(robot.joints[2], limits=limits)
    robot = replace(robot, joints=(*robot.joints[:2], third, *robot.joints[3:]))
    x = move([2.2, 0.9], [2.0, 1.5], 0.2)  # of joints 1 and 3
    tau = np.zeros((len(x.t), 2))
    tau[5, 1] = -4
    found = violations(x, robot, tau=tau)
    assert [(v.joint, v.quantity) for v in found] == [
        (robot.variables[2], kind) for kind in ("position", "velocity", "torque")
    ]
    assert found[2].value == -4
    with pytest.raises(InputError, match="the trajectory has 3 joints"):
        violations(move([0, 0, 0], [1, 1, 1], 1.0), robot)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: move([0, 1], [1, 2, 3], 1), "q0 has 2 values, q1 has 3"),
        (lambda: move([0], [1]), "give a duration, or limits"),
        (lambda: move([0], [1], -1), "a duration of -1"),
        (lambda: move([0], [1], 1, law="sextic"), "no time law 'sextic'"),
        (lambda: move([0], [1], 0.1, velocity=1), "too short for the limits: a quintic law needs"),
        (lambda: move([0], [1], velocity=-1), "limits must be positive"),
        (lambda: move([0], [1], law="cubic", jerk=1), "has no bound"),
        (lambda: move([0], [np.nan], 1), "must be finite"),
        (lambda: polynomial([0], [1], 1, 4), "allowed: 3, 5, 7"),
        (lambda: polynomial([0], [1], 1, 5, start=1.0), "expected a list: velocities"),
        (lambda: fourier([[1]], [[1]], frequency="a"), "a frequency of a Hz"),  # type: ignore[arg-type]
        (lambda: through([[0], [1]], [1, 1]), r"times\[1\] = 1.0 is not after"),
        (lambda: through([[0], [1]], [0, 1], degree=4), "allowed: 3, 5"),
        (lambda: sampled([0, 1, 1], [[0], [1], [2]]), r"t\[2\] = 1.0 is not after"),
        (lambda: sampled([0, 1], [[0], [np.nan]]), r"q\[1, 0\] = nan must be finite"),
        (lambda: move([0], [1], 1, dt=1e-12), "samples"),
    ],
)
def test_bad_input_is_named(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()  # type: ignore[operator]


def random_pose(rng: np.random.Generator) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = so3.exp(rng.normal(size=3) * 2)
    T[:3, 3] = rng.normal(size=3)
    return T


@pytest.mark.parametrize("seed", range(4))
def test_twists_of_paths_are_their_derivatives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = random_pose(rng), random_pose(rng)
    for path in (
        paths.line(A, B, 1.3),
        paths.circle(A, [0, 0, 1], 2.0, normal=[1, 2, 3], turning=bool(seed % 2)),
        paths.pick_and_place(A, B, 0.3, duration=0.5, dwell=0.1, law="septic"),
    ):
        t, h = np.linspace(0.011, path.duration - 0.012, 57), 1e-6
        before, here, after = path(t - h), path(t), path(t + h)
        Rd = (after.T[:, :3, :3] - before.T[:, :3, :3]) / (2 * h)
        W = Rd @ np.swapaxes(here.T[:, :3, :3], 1, 2)
        spin = np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], -1)
        v = (after.T[:, :3, 3] - before.T[:, :3, 3]) / (2 * h)
        np.testing.assert_allclose(here.V, np.concatenate([v, spin], 1), atol=1e-6)
        np.testing.assert_allclose(here.Vd, (after.V - before.V) / (2 * h), atol=1e-4)


def test_the_delta_cycle_has_the_acceleration_asked_for() -> None:
    g = 9.81
    cycle = paths.pick_and_place([-0.15, 0, -0.8], [0.15, 0, -0.8], 0.06, acceleration=15 * g)
    t = np.linspace(0, cycle.duration, 4001)
    poses = cycle(t)
    assert np.linalg.norm(poses.Vd[:, :3], axis=1).max() == pytest.approx(15 * g, rel=1e-5)
    P = poses.T[:, :3, 3]
    ellipse = (P[:, 0] / 0.15) ** 2 + ((P[:, 2] + 0.8) / 0.06) ** 2
    np.testing.assert_allclose(ellipse, 1, atol=1e-12)
    np.testing.assert_allclose(P[[0, 2000, 4000], 0], [-0.15, 0.15, -0.15], atol=1e-12)


def test_rotation_vectors_near_half_turns() -> None:
    rng = np.random.default_rng(0)
    for small in (0, 1e-12, 1e-9, 1e-5, 0.1, 1, 2, 3):
        v = rng.normal(size=3)
        v *= (np.pi - small) / np.linalg.norm(v)
        R = so3.exp(v)
        np.testing.assert_allclose(so3.exp(so3.log(R)), R, atol=1e-14)


def test_a_line_is_followed_by_a_6r_and_a_redundant_7r() -> None:
    for name, q0 in (("ur5", [0.3, -1.2, 1.5, -0.8, 1.1, 0.2]),
                     ("panda", [0, -0.3, 0.2, -1.8, 0.1, 1.6, 0.3])):  # fmt: skip
        robot = cardan.load(name)
        pose = cardan.model(robot, "transform").compile()
        T0 = pose(q=np.array(q0))
        T1 = T0.copy()
        T1[:3, 3] += [0.05, -0.1, 0.05]
        T1[:3, :3] = so3.exp([0.2, 0.1, 0.1]) @ T1[:3, :3]
        path = paths.line(T0, T1, 1.0)
        x = taskspace.follow(robot, path, q0, dt=5e-3)
        np.testing.assert_allclose(pose(q=x.q), path(x.t).T, atol=1e-9)
        again = sampled(x.t, x.q)
        np.testing.assert_allclose(again.qd, x.qd, atol=2e-5)
        np.testing.assert_allclose(again.qdd[5:-5], x.qdd[5:-5], atol=2e-3)


def test_rates_of_a_task_that_leaves_freedom_are_those_of_the_positions() -> None:
    planar = cardan.load("planar3r")
    arm = planar.with_values(dict.fromkeys(planar.parameters, 1))
    for robot, q0, move_ in (
        (arm, np.array([0.1, 0.5, 0.7]), [-0.3, 0.2]),
        (cardan.load("planar3rrr"), None, [0.02, 0.03]),
    ):
        q0 = coordinates(robot).first("q0", q0)
        T0 = cardan.model(robot, "transform").evaluate(q=q0)
        T1 = T0.copy()
        T1[:2, 3] += move_
        path = paths.line(T0, T1, 1.0)
        x, coarse = (taskspace.follow(robot, path, q0, task="x y", dt=dt) for dt in (0.01, 0.02))
        again = sampled(x.t, x.q)
        inside = slice(5, -5)
        np.testing.assert_allclose(again.qd[inside], x.qd[inside], atol=1e-3 * np.abs(x.qd).max())
        limit = 5e-3 * np.abs(x.qdd).max()
        np.testing.assert_allclose(again.qdd[inside], x.qdd[inside], atol=limit)
        np.testing.assert_allclose(x.q[-1], coarse.q[-1], atol=1e-5)


def test_a_task_may_be_fewer_components() -> None:
    robot = cardan.load("planar2r").with_values(
        {"L1": 1, "ZZ1": 1, "ZZ2": 1, "MX1": 1, "MY1": 0, "M1": 1, "MX2": 1, "MY2": 0, "M2": 1,
         "FV1": 0, "FV2": 0, "G": 0}
    )  # fmt: skip
    solve = taskspace.damped(robot, task="x")
    pose = cardan.model(robot, "transform").compile()
    T = np.eye(4)
    T[0, 3] = 0.4
    assert pose(q=np.asarray(solve(T, np.array([0.3, 0.1]))))[0, 3] == pytest.approx(0.4)
    T[0, 3] = 9
    with pytest.raises(InputError, match="no configuration of 'Planar 2R'"):
        solve(T, np.array([0.3, 0.1]))
    with pytest.raises(InputError, match="allowed are x, y, z"):
        taskspace.damped(robot, task="x w")


def test_nearest_follows_a_branch() -> None:
    answers = np.array([[0.5, 3.0], [6.4, -3.2]])
    solve = taskspace.nearest(cardan.load("planar2r"), lambda T: answers)
    np.testing.assert_allclose(
        solve(np.eye(4), np.array([0.0, 3.1])), [6.4 - 2 * np.pi, -3.2 + 2 * np.pi]
    )
    slide = taskspace.nearest(cardan.load("cartpole"), lambda T: np.array([[5.0, 6.4]]))
    np.testing.assert_allclose(slide(np.eye(4), np.zeros(2)), [5.0, 6.4 - 2 * np.pi])


def test_limits_hold_between_samples_too() -> None:
    """Three samples of a motion there and back: none of them is where it is fastest or farthest."""
    robot = cardan.load("ur5")
    motion = through([[0] * 6, [7] * 6, [0] * 6], [0, 1, 2], dt=1.0)
    coarse = replace(motion, t=motion.t[[0, 2]], q=motion.q[[0, 2]], qd=motion.qd[[0, 2]],
                     qdd=motion.qdd[[0, 2]])  # fmt: skip
    assert {found.quantity for found in violations(coarse, robot)} >= {"position", "velocity"}


@pytest.mark.parametrize("law", ["quintic", "septic", "s-curve", "trapezoidal"])
def test_a_motion_to_where_it_is_takes_no_time(law: str) -> None:
    motion = move([0.3, 1], [0.3, 1], law=law, velocity=1, acceleration=1)
    assert motion.t[-1] <= 1e-3
    np.testing.assert_array_equal(motion.q, [[0.3, 1]] * len(motion.t))


def test_a_motion_of_a_robot(tmp_path: Path) -> None:
    """From where it stands, or from a start, to rest at the end: `move` of its driven joints."""
    robot = cardan.load("ur5")
    motion = cardan.trajectory(robot, 0.5, duration=2.0)
    assert motion.t[-1] == 2.0
    assert np.allclose(motion.q[[0, -1]], [[0.0] * 6, [0.5] * 6])
    start, end = np.linspace(-1, 1, 6), np.linspace(0.5, -0.5, 6)
    fast = cardan.trajectory(robot, end, start=start, profile="trapezoidal", velocity=1.0)
    expected = move(start, end, law="trapezoidal", velocity=1.0)
    assert np.array_equal(fast.q, expected.q)
    points = cardan.trajectory(robot, [start, end, start], times=[0, 1, 2])
    assert np.allclose(points(1.0)[0], end)
    motion.save(tmp_path / "motion.csv")
    assert np.allclose(cardan.trajectory(robot, tmp_path / "motion.csv").q, motion.q)


def test_a_motion_of_closed_loops_is_that_of_the_active_joints() -> None:
    robot = cardan.load("fivebar")
    whole = cardan.trajectory(robot, [0.5, 9, 2.5, 9], start=[0.4, 2.4], duration=1.0)
    assert np.allclose(whole.q[[0, -1]], [[0.4, 2.4], [0.5, 2.5]])
    delta = cardan.load("delta")
    stands = cardan.model(delta, "loop-geometry").home
    motion = cardan.trajectory(delta, 0.3)
    assert motion.n == 3
    if any(joint.home is not None for joint in delta.joints):
        assert np.isin(motion.q[0], stands).all()


@pytest.mark.parametrize(
    ("to", "options", "words"),
    [
        ([1, 2], {}, "to has shape"),
        (0.5, {"start": [1, 2]}, "start has shape"),
        ([1.0] * 6, {"times": [0, 1]}, "a point per time"),
        ("motion.csv", {"start": 0.0}, "leave start out"),
        ("motion.xlsx", {}, "motion.xlsx"),
        (0.5, {"profile": "sudden"}, "sudden"),
    ],
)
def test_a_motion_that_cannot_be(to: object, options: dict[str, object], words: str) -> None:
    with pytest.raises(cardan.CardanError, match=words):
        cardan.trajectory(cardan.load("ur5"), to, **options)  # type: ignore[arg-type]
