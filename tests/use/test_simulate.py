"""Simulation: conserved quantities, closed solutions, sticking, loads, elastic joints, bases."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import arm, floating_snake, frictionless, pendulum
from tests.compare import near

import cardan
from cardan.control.laws import computed_torque
from cardan.describe.robot import Base, Robot
from cardan.errors import CardanError, CardanWarning, InputError
from cardan.motion.frames import centres_of_mass
from cardan.motion.tables import read_table
from cardan.motion.trajectory import move
from cardan.simulation.contact import ground
from cardan.simulation.scene import Links, links_program
from cardan.simulation.simulate import Simulation, simulate
from random_robots import random_robot


def test_energy_of_a_conservative_6r_over_10_s() -> None:
    run = simulate(arm(), [0.1, -0.5, 0.3, 0.2, 0.1, 0.2], duration=10, friction="none")
    assert run.energy is not None
    assert run.energy.kinetic.max() > 10
    assert run.energy.drift < 1e-6
    E, U = cardan.model(arm(), "energies").compile()(q=run.q, qd=run.qd)
    assert np.ptp(E + U) < 1e-6 * E.max()


def test_energy_and_momentum_of_a_floating_snake_over_10_s() -> None:
    rng = np.random.default_rng(0)
    robot = replace(floating_snake(), gravity=(0, 0, 0))
    run = simulate(
        robot, rng.uniform(-0.3, 0.3, 29), rng.uniform(-0.5, 0.5, 29), duration=10,
        friction="none", base_twist=[0.1, 0.2, 0.3, 0.5, 1, 0.5], dt=0.1,
    )  # fmt: skip
    assert run.energy is not None
    assert run.energy.drift < 1e-6
    p, l = momentum(robot, run)
    near(p, p[0], absolute=1e-7 * np.abs(p).max())
    near(l, l[0], absolute=1e-7 * np.abs(l).max())
    R = run.T0[:, :3, :3]  # type: ignore[index]
    np.testing.assert_allclose(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), R.shape),
                               atol=1e-12)  # fmt: skip


def momentum(robot: Robot, run: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum about the world's origin, from links' twists and inertias."""
    assert run.V0 is not None
    T = run.frames()
    V = np.concatenate(
        [
            run.V0[:, None],
            links_program(robot).compile()(q=run.q, qd=run.qd, V0=run.V0, g0=np.zeros(3)).V,
        ],
        axis=1,
    )
    p, l = np.zeros((len(run.t), 3)), np.zeros((len(run.t), 3))
    for j, link in enumerate((robot.base.link, *robot.links)):
        M = float(link.M)  # type: ignore[arg-type]
        MS = np.array([float(link.MX), float(link.MY), float(link.MZ)])  # type: ignore[arg-type]
        xx, xy, xz, yy, yz, zz = (
            float(getattr(link, key)) for key in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
        )
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        v, w = V[:, j, :3], V[:, j, 3:]
        R, P = T[:, j, :3, :3], T[:, j, :3, 3]
        linear = np.einsum("tij,tj->ti", R, M * v + np.cross(w, MS))
        angular = np.einsum("tij,tj->ti", R, w @ J + np.cross(MS, v))
        p += linear
        l += angular + np.cross(P, linear)
    return p, l


@pytest.mark.parametrize("seed", [1, 4])
def test_a_floating_tree_falls_like_a_stone(seed: int) -> None:
    robot = frictionless(random_robot(seed, n=4, wrenches=False, base_motion=False, fixed=False))
    heavy = replace(robot.links[0], name="base", M=3, XX=1, YY=1, ZZ=1, XY=0, XZ=0, YZ=0)
    robot = replace(robot, base=Base(kind="floating", link=heavy))
    run = simulate(robot, 0.3, 0.2, duration=1, base_twist=[0.5, 0, 0.3, 1, -2, 0.5], dt=0.05)
    M, moments = centres_of_mass(robot, run.frames())
    centre = moments.sum(axis=1) / M.sum()
    g = np.array([float(v) for v in robot.gravity])  # type: ignore[arg-type]
    velocity = momentum(robot, run)[0][0] / M.sum()
    t = run.t[:, None]
    np.testing.assert_allclose(centre, centre[0] + velocity * t + g * t**2 / 2, atol=1e-8)
    assert run.energy is not None
    assert run.energy.drift < 1e-7


def test_the_world_may_be_turned() -> None:
    """A base placed otherwise in the world falls along the same gravity."""
    robot = floating_snake(3)
    T = np.eye(4)
    T[:3, :3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    runs = [simulate(robot, 0.2, duration=0.5, base_pose=pose) for pose in (None, T)]
    for run in runs:
        assert run.T0 is not None
        np.testing.assert_allclose(run.T0[-1, 2, 3] - run.T0[0, 2, 3], -9.81 / 8, rtol=0.1)


@pytest.mark.parametrize(
    ("method", "step", "error"),
    [("rk4", 2e-3, 1e-8), ("euler", 1e-3, 2e-2), ("midpoint", 1e-3, 1e-4)],
)
def test_fixed_steps_converge_to_the_adaptive_solution(
    method: str, step: float, error: float
) -> None:
    for robot in (pendulum(), floating_snake(2)):
        exact = simulate(robot, 0.4, 0.1, duration=1, friction="none")
        run = simulate(robot, 0.4, 0.1, duration=1, friction="none", method=method, step=step)
        near(run.q, exact.q, absolute=error)
        if run.T0 is not None and exact.T0 is not None:
            near(run.T0, exact.T0, absolute=5 * error)


def test_the_solvers_of_scipy_agree() -> None:
    runs = [
        simulate(pendulum(FV=0.2, FS=0.1), 1.0, duration=1, method=m, rtol=1e-8, atol=1e-10)
        for m in ("DOP853", "RK45", "LSODA", "Radau")
    ]
    for run in runs[1:]:
        np.testing.assert_allclose(run.q, runs[0].q, atol=1e-6)
    with pytest.raises(InputError, match="cannot turn a floating base"):
        simulate(floating_snake(2), duration=1, method="LSODA")


def test_dry_friction_stops_and_holds_a_pendulum() -> None:
    """Without gravity a joint with FS stops after v I / FS; it then stays exactly where it is."""
    robot = replace(pendulum(FS=1.0), gravity=(0, 0, 0))
    run = simulate(robot, 0.0, 3.0, duration=3, friction="event", dt=0.01)
    I, v, FS = 0.5, 3.0, 1.0
    stop = v * I / FS
    after = run.t > stop + 1e-9
    expected = v * run.t - FS / I * run.t**2 / 2
    np.testing.assert_allclose(run.q[~after, 0], expected[~after], atol=1e-9)
    np.testing.assert_allclose(run.q[after, 0], v * stop / 2, atol=1e-9)
    assert not run.qd[after].any()
    assert not run.qdd[after].any()


def test_a_stuck_joint_breaks_loose_when_pushed_hard_enough() -> None:
    robot = replace(pendulum(FS=1.0), gravity=(0, 0, 0))
    run = simulate(robot, duration=2, friction="event", torque=lambda t: np.array([t]))
    # it slips from t = 1 on: I qdd = t - 1
    after = np.clip(run.t - 1, 0, None)
    np.testing.assert_allclose(run.q[:, 0], after**3 / 6 / 0.5, atol=1e-8)
    smooth = simulate(robot, duration=2, torque=lambda t: np.array([t]), smooth=1e-4)
    np.testing.assert_allclose(smooth.q, run.q, atol=2e-3)


def test_sticking_of_one_joint_of_several() -> None:
    """A robot under gravity with friction large enough at some joints: they stay put."""
    robot = arm()
    strong = [500, 0, 500, 0.0, 500, 0]
    joints = tuple(replace(j, FS=s) for j, s in zip(robot.joints, strong, strict=True))
    run = simulate(replace(robot, joints=joints), 0.3, duration=0.5, friction="event")
    still = np.array(strong) > 0
    assert not np.ptp(run.q[:, still], axis=0).any()
    assert (np.ptp(run.q[:, ~still], axis=0) > 1e-3).all()
    assert run.energy is not None
    assert run.energy.drift < 1e-7


def test_elastic_joints_swing_at_their_frequency() -> None:
    robot = pendulum(stiffness=200.0)
    robot = replace(robot, gravity=(0, 0, 0))
    run = simulate(robot, 0.01, duration=1, dt=1e-2)
    np.testing.assert_allclose(run.q[:, 0], 0.01 * np.cos(np.sqrt(200 / 0.5) * run.t), atol=1e-9)
    assert run.energy is not None
    assert run.energy.drift < 1e-8
    assert run.tau.shape == (len(run.t), 0)


def test_a_prescribed_motion_carries_an_elastic_joint() -> None:
    """A rigid joint moves as told; the elastic one behind it obeys A and H with that motion."""
    body = {"mass": 1, "com": [0.3, 0, 0], "inertia_com": [0.01, 0, 0, 0.01, 0, 0.01]}
    robot = cardan.load(
        {"name": "flexible", "gravity": [0, -9.81, 0],
         "link": [body, {**body, "d": 0.5, "stiffness": 50, "damping": 0.1}]}
    )  # fmt: skip
    motion = move([0, 0], [1, 0], 1.0)
    run = simulate(robot, motion=motion, duration=1.5)
    np.testing.assert_allclose(run.q[:, 0], motion(run.t)[0][:, 0], atol=1e-12)
    rigid = replace(robot, joints=tuple(replace(j, elastic=False) for j in robot.joints))
    tau = cardan.model(rigid, "inverse-dynamics").evaluate(q=run.q, qd=run.qd, qdd=run.qdd)
    np.testing.assert_allclose(tau[:, 1], -50 * run.q[:, 1] - 0.1 * run.qd[:, 1], atol=1e-8)
    np.testing.assert_allclose(tau[:, 0], run.tau[:, 0], atol=1e-8)
    assert run.energy is not None
    assert run.energy.drift < 1e-6


def test_a_load_is_a_wrench_on_a_link() -> None:
    """A force that cancels the weight leaves the pendulum in uniform rotation."""

    def lift(links: Links) -> dict[str, np.ndarray]:
        R = links.T[1, :3, :3]
        force = R.T @ np.array([0, 2 * 9.81, 0])
        return {"link1": np.concatenate([force, np.cross([0.5, 0, 0], force)])}

    run = simulate(pendulum(), 0.0, 1.0, duration=1, loads=lift)
    np.testing.assert_allclose(run.q[:, 0], run.t, atol=1e-10)
    assert run.energy is not None
    assert run.energy.drift < 1e-9
    with pytest.raises(CardanError, match="no frame 'hand'"):
        simulate(pendulum(), duration=1, loads=lambda links: {"hand": np.zeros(6)})


def test_a_body_comes_to_rest_on_the_ground() -> None:
    robot = floating_snake(2)
    floor = ground({j: [[0, 0, 0], [0.065, 0, 0]] for j in range(3)}, stiffness=1e3, damping=15,
                   friction=0.5)  # fmt: skip
    start = np.eye(4)
    start[2, 3] = 0.05
    run = simulate(robot, 0.1, duration=0.6, loads=floor, base_pose=start, rtol=1e-5, atol=1e-7)
    heights = run.frames()[-1, :, 2, 3]
    assert np.abs(heights).max() < 0.02  # a spring's sag
    assert np.abs(run.qd[-1]).max() < 0.2
    assert run.energy is not None
    assert run.energy.drift < 1e-4


def test_a_sampled_law_holds_its_torques() -> None:
    robot = replace(pendulum(), gravity=(0, 0, 0))
    run = simulate(
        robot, duration=0.4, dt=0.05, period=0.1, law=lambda t, q, qd: np.array([1.0 + t])
    )
    # I qdd = 1 + floor(t / 0.1) 0.1
    v, q = 0.0, 0.0
    for k in range(4):
        a = (1 + 0.1 * k) / 0.5
        q, v = q + v * 0.1 + a * 0.005, v + a * 0.1
    assert run.q[-1, 0] == pytest.approx(q, abs=1e-10)
    assert len(run.q) == len(run.t) == 9


def test_a_stuck_joint_breaks_loose_when_a_sampled_law_pushes() -> None:
    body = {"XX": 1, "YY": 1, "ZZ": 1, "FS": 1}
    wheel = cardan.load({"name": "wheel", "gravity": [0, 0, 0], "link": [body]})

    def push(t: float, q: np.ndarray, qd: np.ndarray) -> list[float]:
        return [3.0 if t >= 0.95 else 0.5]

    run = simulate(wheel, 0, duration=2, law=push, period=0.1, friction="event")
    assert not run.q[:100].any()
    assert run.q[-1, 0] == pytest.approx(1.0, abs=1e-9)  # (3 - 1) / 2 s², from 1 s on


def test_the_work_of_described_wrenches_is_in_the_energy_balance() -> None:
    robot = pendulum(FX=1, FY=3, CZ=0.5)
    run = simulate(robot, 0.3, duration=1)
    assert run.energy is not None
    assert run.energy.drift < 1e-8
    turned = run.q[-1, 0] - run.q[0, 0]
    assert run.energy.loads[-1] == pytest.approx(-0.5 * turned)  # forces at the axis do no work


def test_results_are_written_and_read(tmp_path: Path) -> None:
    run = simulate(floating_snake(2), duration=0.2)
    run.save(str(tmp_path / "run.parquet"))
    run.save(str(tmp_path / "run.csv"))
    first, second = (read_table(tmp_path / f"run.{kind}") for kind in ("parquet", "csv"))
    assert list(first) == list(second)
    np.testing.assert_array_equal(first["base_z"], run.T0[:, 2, 3])  # type: ignore[index]
    np.testing.assert_array_equal(second["qd1"], run.qd[:, 0])
    run.animate(str(tmp_path / "run.html"))
    page = (tmp_path / "run.html").read_text()
    assert "http" not in page.split("<script id")[0].replace("http-equiv", "")
    assert "src=" not in page
    assert len(run.plot().axes) == 4
    with pytest.raises(InputError, match=r"written as \.html"):
        run.animate(str(tmp_path / "run.png"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"duration": -1}, "a duration of -1"),
        ({"duration": 1, "method": "Euler"}, "no method 'Euler'; did you mean 'euler'"),
        ({"duration": 1, "method": "rk4"}, "needs a step"),
        ({"duration": 1, "friction": "wet"}, "no friction 'wet'"),
        ({"duration": 1, "torque": [1, 2]}, "torque has shape"),
        ({"duration": 1, "q0": [1, 2]}, "q0 has shape"),
        ({"duration": 1, "torque": [1], "law": abs}, "one of torque, law and motion"),
        ({"duration": 1, "law": lambda t, q, qd: [1, 2]}, "gave torques of shape"),
        ({"duration": 1, "base_pose": np.eye(4)}, "the base of 'arm' is fixed"),
        ({"duration": 1, "motion": move([0, 0], [1, 1], 1.0)}, "the trajectory has 2 joints"),
    ],
)
def test_bad_input_is_named(options: dict[str, object], words: str) -> None:
    with pytest.raises(CardanError, match=words):
        simulate(pendulum(), **options)  # type: ignore[arg-type]


def test_symbols_and_explosions_are_named() -> None:
    with pytest.raises(CardanError, match="needs numbers"):
        simulate(cardan.load("planar2r"), duration=1)
    with pytest.raises(CardanError, match="cannot go on beyond"):
        simulate(pendulum(), 0.1, 1, duration=50, law=lambda t, q, qd: 50 * qd**3)


def five_bar() -> tuple[Robot, np.ndarray]:
    """A five-bar away from its singular positions, and its loop closed there."""
    robot = cardan.load("fivebar")
    return robot, cardan.model(robot, "loop-geometry").solve([2.2, 0.9])[1]


def test_a_closed_robot_falls_with_its_loops_closed() -> None:
    robot, q0 = five_bar()
    run = simulate(robot, q0, duration=0.2, dt=1e-3)
    assert run.energy is not None
    assert run.energy.drift < 1e-8
    assert np.max(cardan.model(robot, "loop-geometry").residual(run.q)) < 1e-9
    np.testing.assert_allclose(np.gradient(run.q, run.t, axis=0)[5:-5], run.qd[5:-5], atol=2e-3)
    np.testing.assert_allclose(np.gradient(run.qd, run.t, axis=0)[5:-5], run.qdd[5:-5], atol=0.5)
    # the tree with the forces of the cut joint: virtual work of the torques in M is zero
    tree = cardan.model(robot.tree(), "inverse-dynamics")
    tau = tree.evaluate(q=run.q, qd=run.qd, qdd=run.qdd)
    W = cardan.model(robot, "loop-kinematics").compile()(q=run.q, qd=run.qd[:, [0, 2]]).W
    work = tau[:, [0, 2]] + np.einsum("tpa,tp->ta", W, tau[:, [1, 3]])
    np.testing.assert_allclose(work, 0, atol=1e-8)
    assert [name for name in run.columns() if name.startswith("tau")] == ["tau1", "tau3"]


def test_closed_loops_stop_at_type_2_singularities() -> None:
    """The distal rods get in line; 'pass' goes on, and its energy tells how well."""
    robot, q0 = five_bar()
    with pytest.raises(
        CardanError, match=r"type 2 singularity near t = 0\.\d+ s, active joints at"
    ):
        simulate(robot, q0, duration=1.5, torque=[3, -3])
    run = simulate(robot, q0, duration=0.3, torque=[3, -3], singular="pass", rtol=1e-7)
    assert len(run.t) == 31
    with pytest.raises(CardanError, match="Allowed: stop, pass"):
        simulate(robot, q0, duration=0.1, singular="no")


def test_a_closed_robot_may_be_driven_and_rubs() -> None:
    robot, q0 = five_bar()
    motion = move(q0[[0, 2]], q0[[0, 2]] + [0.2, -0.2], 0.5)
    rough = replace(robot, joints=tuple(replace(j, FV=0.02, FS=0.05) for j in robot.joints))
    told = simulate(rough, q0, motion=motion, duration=0.5)
    np.testing.assert_allclose(told.q[:, [0, 2]], motion(told.t)[0], atol=1e-12)
    assert told.energy is not None
    assert told.energy.drift < 1e-6
    assert told.energy.friction[-1] > 0
    law = computed_torque(rough, motion)
    run = simulate(rough, q0, duration=0.5, law=law)
    np.testing.assert_allclose(run.q, told.q, atol=1e-7)
    np.testing.assert_allclose(run.tau, told.tau, atol=1e-5)


def test_flexible_links_swing_and_keep_their_energy() -> None:
    robot = cardan.load("flexible2r")
    run = simulate(robot, 0.0, 0.5, duration=0.05, dt=5e-3)
    assert run.q.shape[1] > robot.n
    assert np.abs(run.q[:, robot.n :]).max() > 0
    assert run.energy is not None
    assert run.energy.drift < 2e-3  # the model keeps terms of first order in the deformations


def test_stiff_friction_does_not_creep_along() -> None:
    """Smoothed dry friction of light joints: thousands of steps, not tens of thousands."""
    robot = cardan.load("ur5")
    rough = replace(robot, joints=tuple(replace(j, FV=0.5, FS=5) for j in robot.joints))
    q0 = [0, -1.5, 0.5, 0.2, 0.1, 0]
    run = simulate(rough, q0, duration=0.3)
    assert run.steps < 2000
    assert run.energy is not None
    assert run.energy.drift < 1e-8
    other = simulate(rough, q0, duration=0.3, method="LSODA")
    near(run.q, other.q, absolute=1e-7)


def test_results_are_told_in_a_line_or_two() -> None:
    run = simulate(pendulum(), 1.0, duration=0.1)
    for text in (repr(run), repr(run.energy), repr(run.trajectory)):
        assert "drift" in text or "samples" in text
        assert len(text) < 200


@pytest.mark.parametrize(
    ("robot", "options", "words"),
    [
        (pendulum(), {"law": lambda t, q, qd: -1e7 * qd}, "joint1' reacts at .* its velocity"),
        (pendulum(), {"law": lambda t, q, qd: -1e14 * q}, "joint1' reacts at .* its position"),
        (arm(), {"qd0": 1e6}, r"joint '.*' moves at \S*e\+06"),
    ],
    ids=["damper", "spring", "speed"],
)
def test_a_run_that_crawls_is_ended_and_says_why(robot: Any, options: Any, words: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(CardanError, match=f"the simulation crawls: 3000 steps.*{words}"):
            simulate(robot, 0.3, duration=1.0, **options)


def test_slow_runs_are_told_and_their_steps_bounded() -> None:
    free = replace(pendulum(), gravity=(0, 0, 0))
    with pytest.warns(
        CardanWarning, match="the simulation crawls: 3000 steps .* 20000 are allowed"
    ):
        simulate(free, 0.0, 1.0, duration=1.0, step=1.5e-4, most_steps=20_000)
    with pytest.raises(CardanError, match=r"crawls: 50 steps .*most_steps"):
        simulate(free, 0.0, 1.0, duration=1.0, step=1e-2, most_steps=50)
    with pytest.raises(InputError, match="most_steps = 0"):
        simulate(free, duration=1.0, most_steps=0)


def test_thick_oil_needs_no_small_steps() -> None:
    """FV qd = torque of gravity, but for the first instant: q falls by t M g L / FV."""
    run = simulate(
        replace(pendulum(), joints=(replace(pendulum().joints[0], FV=10**9),)), 0.0, duration=1.0
    )
    assert run.steps < 2000
    np.testing.assert_allclose(run.qd[[50, -1], 0] * 1e9, -9.81, rtol=1e-6)


@pytest.mark.parametrize("name", ["stiffness", "damping", "friction", "slip", "height"])
def test_a_ground_of_numbers(name: str) -> None:
    values = {"stiffness": 1e4, "damping": 100.0, "friction": 0.5, "slip": 0.01, "height": 0.0}
    with pytest.raises(InputError, match=f"{name} = nan; expected a finite number"):
        ground({1: [[0, 0, 0]]}, **{**values, name: float("nan")})
