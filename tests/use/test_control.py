"""Control laws: tracking, the regressor of the adaptive law, linearisation, generated C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import arm, pendulum
from tests.compare import near

import cardan
from cardan.algebra import so3
from cardan.control import laws as control
from cardan.control.adaptation import adaptive, adaptive_law, base_values, reference_regressor
from cardan.control.linear import equilibrium, linearise
from cardan.describe.robot import Base, Robot
from cardan.errors import CardanError
from cardan.exact import exact
from cardan.motion import paths
from cardan.motion.coordinates import coordinates
from cardan.motion.derived import derived
from cardan.motion.joints import friction_law, friction_torques, moving
from cardan.motion.trajectory import Trajectory, move
from cardan.simulation.friction import smoothed
from cardan.simulation.simulate import simulate
from cardan.simulation.statespace import state_space
from random_robots import random_robot

START, END = [0, -1, 1, -0.5, 0.5, 0], [0.8, -0.6, 0.4, 0.2, 1, 1]


def motion() -> Trajectory:
    return move(START, END, 1.0)


def plain(seed: int) -> Robot:
    robot = random_robot(seed, n=4, wrenches=False, base_motion=False)
    return replace(robot, base=Base())


def test_direct_of_computed_torque_tracks() -> None:
    run = simulate(arm(), START, duration=1, law=control.computed_torque(arm(), motion()))
    wanted = motion()(run.t)
    near(run.q, wanted[0], absolute=1e-8)
    near(run.qd, wanted[1], absolute=1e-7)


def test_computed_torque_compensates_friction() -> None:
    robot = arm()
    rough = tuple(replace(joint, FV=2, FS=1.5) for joint in robot.joints)
    robot = replace(robot, joints=rough)
    x = move(np.full(6, 0.1), np.full(6, 0.5), 0.5)
    run = simulate(robot, 0.1, duration=0.5, law=control.computed_torque(robot, x))
    assert friction_torques(robot, np.ones(6)).any()
    near(run.q, x(run.t)[0], absolute=1e-7)


def test_an_initial_error_dies_out_as_designed() -> None:
    """kp = w², kd = 2w: e = e0 (1 + w t) exp(-w t) in every joint."""
    robot, w = arm(), 20.0
    rest = move(START, START, 1.0)
    off = np.array(START) + 0.1
    run = simulate(robot, off, duration=0.5, law=control.computed_torque(robot, rest, w * w, 2 * w))
    expected = 0.1 * (1 + w * run.t) * np.exp(-w * run.t)
    np.testing.assert_allclose(run.q - START, expected[:, None] * np.ones(6), atol=1e-8)


def test_gravity_compensation_removes_the_sag() -> None:
    robot, x = arm(), motion()
    kp, kd = control.gains(robot, 20, "pd", START)
    errors = {}
    for kind in ("pd", "pd-gravity"):
        run = simulate(robot, START, duration=2, law=control.law(robot, x, kind, kp, kd), rtol=1e-7)
        errors[kind] = np.abs(run.q[-1] - END).max()
    assert errors["pd"] > 1e-2
    assert errors["pd-gravity"] < 1e-4
    sag = equilibrium(robot, control.joint_law(robot, "pd", kp, kd), END)
    still = simulate(
        robot, sag, duration=0.2, torque=cardan.model(robot, "gravity").evaluate(q=sag)
    )
    near(still.q, sag, absolute=1e-9)
    assert np.abs(sag - END).max() == pytest.approx(errors["pd"], rel=1e-2)


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_a_path_is_tracked_in_task_space(name: str) -> None:
    robot = cardan.load(name)
    q0 = np.array(START) if robot.n == 6 else np.array([0, -0.3, 0.2, -1.8, 0.1, 1.6, 0.3])
    pose = cardan.model(robot, "transform").compile()
    T0 = pose(q=q0)
    T1 = T0.copy()
    T1[:3, 3] += [0.1, 0.1, -0.1]
    T1[:3, :3] = so3.exp([0.2, 0.3, 0.1]) @ T1[:3, :3]
    path = paths.line(T0, T1, 1.0)
    law = control.task_space(robot, path, 400, 40)
    run = simulate(robot, q0, duration=1, law=law, rtol=1e-8)
    np.testing.assert_allclose(pose(q=run.q), path(run.t).T, atol=1e-6)


def test_a_task_of_fewer_components() -> None:
    robot = arm()
    pose = cardan.model(robot, "transform").compile()
    T0 = pose(q=np.array(START, float))
    path = paths.line(T0, T0 + np.eye(4, 4, 3) * 0.1, 0.5)
    law = control.task_space(robot, path, 400, 40, task="x y z")
    run = simulate(robot, START, duration=0.5, law=law, rtol=1e-8)
    np.testing.assert_allclose(pose(q=run.q)[:, :3, 3], path(run.t).T[:, :3, 3], atol=1e-6)


@pytest.mark.parametrize("robot", [arm(), plain(2)], ids=lambda r: r.name)
def test_the_reference_regressor_is_a_vd_c_v_q(robot: Robot) -> None:
    Y = reference_regressor(robot)
    K = base_values(robot, Y.columns)
    q, qd, v, vd = np.random.default_rng(0).normal(size=(4, robot.n))
    A = cardan.model(robot, "inertia-matrix").evaluate(q=q)
    C = cardan.model(robot, "coriolis-matrix").evaluate(q=q, qd=qd)
    Q = cardan.model(robot, "gravity").evaluate(q=q)
    expected = A @ vd + C @ v + Q + friction_torques(smoothed(robot), qd)
    found = Y.evaluate(q=q, qd=qd, v=v, vd=vd) @ K
    np.testing.assert_allclose(found, expected, atol=1e-10 * (1 + np.abs(expected).max()))


def test_the_adaptive_law_has_its_lyapunov_function() -> None:
    """½ s^T A s + ½ (K̂-K)^T Γ⁻¹ (K̂-K) never grows: its rate is -s^T kd s."""
    robot, x = arm(), motion()
    rates = 0.5
    law = adaptive(robot, x, 20.0, slope=10.0, rates=rates)
    run = simulate(robot, START, duration=1, law=law, rtol=1e-8, atol=1e-10)
    assert run.z is not None
    q_r, qd_r, _ = x(run.t)
    s = qd_r + 10 * (q_r - run.q) - run.qd
    A = cardan.model(robot, "inertia-matrix").compile()(q=run.q)
    K = base_values(robot, law.columns)
    V = np.einsum("ti,tij,tj->t", s, A, s) / 2 + ((run.z - K) ** 2).sum(1) / (2 * rates)
    power = 20 * (s**2).sum(1)
    lost = np.concatenate([[0], np.cumsum(np.diff(run.t) * (power[1:] + power[:-1]) / 2)])
    np.testing.assert_allclose(V - V[0], -lost, atol=5e-3 * V[0])
    assert (np.diff(V) < 1e-6).all()


@pytest.mark.parametrize("robot", [arm(), cardan.load("fivebar")], ids=lambda r: r.name)
def test_the_adaptive_law_holds_described_wrenches(robot: Robot) -> None:
    """With the true parameters it gives the torques of inverse dynamics, wrenches among them."""
    last = replace(robot.links[-1], FX=exact("1.5"), FY=exact(-2), CZ=exact("0.4"))
    loaded = replace(robot, links=(*robot.links[:-1], last))
    on = coordinates(loaded)
    program = adaptive_law(loaded, 20, 10, 1)
    K = base_values(loaded, derived(loaded, "regressor", base_parameters=True).columns)
    q = on.first("q", closed_motion().q[0]) if loaded.constrained else np.array(START, float)
    still, qdd = np.zeros(on.nv), np.linspace(-1, 1, on.nv)
    found = program.evaluate(q=q, qd=still, q_r=q[on.place], qd_r=still, qdd_r=qdd, K=K).tau
    expected = cardan.model(loaded, "inverse-dynamics").evaluate(q=q, qd=still, qdd=qdd)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_adaptation_beats_the_same_law_without() -> None:
    robot, x = arm(), motion()
    final = []
    for rates in (0.0, 2.0):
        law = adaptive(robot, x, 20.0, slope=10.0, rates=rates)
        run = simulate(robot, START, duration=1, law=law, rtol=1e-6, atol=1e-8)
        final.append(np.abs(run.q[-1] - END).max())
    assert final[1] < 0.4 * final[0]


def test_eigenvalues_of_one_arm_are_those_of_b23() -> None:
    """I qdd + kd qd + (kp + m g l) q = 0 about the hanging position, eq. 3.7."""
    robot, kp, kd = pendulum(), 50.0, 1.0
    law = control.joint_law(robot, "pd", kp, kd)
    q = equilibrium(robot, law, [-np.pi / 2])
    I, stiffness = 2 * 0.25, kp + 2 * 9.81 * 0.5
    root = np.sqrt(complex((kd / (2 * I)) ** 2 - stiffness / I))
    found = linearise(robot, q, law=law, reference=[-np.pi / 2])
    expected = np.array([-kd / (2 * I) - root, -kd / (2 * I) + root])
    np.testing.assert_allclose(found.eigenvalues, expected, rtol=1e-12)
    assert found.stable
    np.testing.assert_allclose(found.frequencies, np.sqrt(stiffness / I) / (2 * np.pi))
    np.testing.assert_allclose(found.damping, kd / 2 / np.sqrt(stiffness * I))
    up = linearise(robot, [np.pi / 2])
    assert not up.stable


def test_linearisation_is_the_derivative() -> None:
    robot = arm()
    q, qd = np.array(START, float), np.full(6, 0.3)
    found = linearise(robot, q, qd)
    f = state_space(robot).program.compile()
    tau = cardan.model(robot, "bias").evaluate(q=q, qd=qd)
    x, h = np.concatenate([q, qd]), 1e-6
    A = np.stack([(f(x=x + d, tau=tau) - f(x=x - d, tau=tau)) / (2 * h) for d in h * np.eye(12)], 1)
    np.testing.assert_allclose(found.A, A, atol=1e-5 * np.abs(A).max())
    law = control.joint_law(robot, "computed-torque", 100.0, 20.0)
    closed = linearise(robot, q, law=law)
    np.testing.assert_allclose(np.sort(closed.eigenvalues.real), -10, atol=1e-4)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_the_law_in_c_gives_the_same_torques(tmp_path: Path) -> None:
    program = control.joint_law(arm(), "computed-torque", 100.0, 20.0)
    text = program.emit("c", function="law")
    assert "wanted positions" in text
    source, library = tmp_path / "law.c", tmp_path / "law.so"
    source.write_text(text)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    rng = np.random.default_rng(0)
    inputs = {name: rng.normal(size=6) for name in program.inputs}
    tau = np.empty(6)
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*inputs.values(), tau)]
    ctypes.CDLL(str(library)).law(*pointers)
    np.testing.assert_allclose(tau, program.evaluate(**inputs), rtol=1e-12)


def test_closed_loops_are_linearised_along_the_loops() -> None:
    """A and B against differences of the direct model with its loops closed again."""
    robot = cardan.load("fivebar")
    on = coordinates(robot)
    q = on.first("q", [2.2, 0.9])
    found = linearise(robot, q)
    assert found.A.shape == (4, 4)
    assert found.B.shape == (4, 2)
    direct = cardan.model(robot, "direct-dynamics", friction=False).compile()
    hold = cardan.model(robot, "bias").compile()(q=q, qd=np.zeros(2))

    def rate(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        whole = q.copy()
        whole[on.place] = x[:2]
        return np.concatenate([x[2:], direct(q=on.closed_at(whole), qd=x[2:], tau=tau)])

    x0, h = np.concatenate([q[on.place], np.zeros(2)]), 1e-6
    step = h * np.eye(4)
    A = np.array([(rate(x0 + d, hold) - rate(x0 - d, hold)) / (2 * h) for d in step]).T
    B = np.array([(rate(x0, hold + d) - rate(x0, hold - d)) / (2 * h) for d in step[:2, :2]]).T
    np.testing.assert_allclose(found.A, A, atol=1e-6 * np.abs(A).max())
    np.testing.assert_allclose(found.B, B, atol=1e-6 * np.abs(B).max())


def test_a_parallel_robot_follows_a_line_of_its_platform() -> None:
    """Computed torque in task space with closed loops: the Jacobian of the active joints."""
    robot = cardan.load("delta")
    q = coordinates(robot).first("q", 0.3)
    pose = cardan.model(robot, "transform").compile()
    T = pose(q=q)
    end = T.copy()
    end[:3, 3] += [0.05, -0.03, -0.04]
    path = paths.line(T, end, 0.3)
    run = simulate(robot, q, duration=0.3, law=control.task_space(robot, path), dt=0.01)
    found = pose(q=run.q)[:, :3, 3]
    near(found, path(run.t).T[:, :3, 3], absolute=1e-8)
    with pytest.raises(CardanError, match="drives 3 joints: name the 3 components"):
        control.task_law(robot, task="x y z rx")


def closed_motion() -> Trajectory:
    return move([2.2, 0.9], [1.9, 1.2], 0.5)


def test_the_reference_regressor_of_closed_loops() -> None:
    """Y K is the inverse model where v = qd; its Coriolis matrix has Adot - 2C skew."""
    robot = cardan.load("fivebar")
    rough = replace(robot, joints=tuple(replace(j, FV=0.3, FS=0.2) for j in robot.joints))
    on = coordinates(rough)
    q, qd, vd, s = (
        on.first("q", [2.2, 0.9]),
        np.array([0.7, -0.4]),
        np.ones(2),
        np.array([0.3, 1.1]),
    )
    Y = reference_regressor(rough, smooth=1e-9)
    K = base_values(rough, Y.columns)
    tau = cardan.model(rough, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=vd)
    np.testing.assert_allclose(Y.evaluate(q=q, qd=qd, v=qd, vd=vd) @ K, tau, atol=1e-9)
    still = Y.evaluate(q=q, qd=qd, v=0 * s, vd=0 * s) @ K
    C_s = Y.evaluate(q=q, qd=qd, v=s, vd=0 * s) @ K - still
    A, h, M = cardan.model(rough, "inertia-matrix").compile(), 1e-5, on.matrix(q, qd)[0]
    Ad = (A(q=on.closed_at(q + h * M @ qd)) - A(q=on.closed_at(q - h * M @ qd))) / (2 * h)
    assert s @ Ad @ s == pytest.approx(2 * s @ C_s, abs=1e-7)


def test_adaptation_of_a_closed_loop() -> None:
    robot, x = cardan.load("fivebar"), closed_motion()
    final = []
    for rates in (0.0, 5.0):
        law = adaptive(robot, x, 5.0, slope=10.0, rates=rates)
        run = simulate(robot, x.q[0], duration=0.5, law=law, rtol=1e-6, atol=1e-8, dt=0.05)
        final.append(np.abs(run.q[-1][coordinates(robot).place] - x.q[-1]).max())
    assert final[1] < 0.7 * final[0]


def test_a_closed_loop_sags_under_pd() -> None:
    """At the equilibrium the law holds exactly the weight, with the loops closed."""
    robot = cardan.load("fivebar")
    law = control.joint_law(robot, "pd", 40, 5)
    q = equilibrium(robot, law, [2.2, 0.9])
    on = coordinates(robot)
    zero = np.zeros(2)
    pull = law.evaluate(q=q, qd=zero, q_r=[2.2, 0.9], qd_r=zero, qdd_r=zero)
    np.testing.assert_allclose(pull, cardan.model(robot, "gravity").evaluate(q=q), atol=1e-9)
    np.testing.assert_allclose(on.closed_at(q), q, atol=1e-9)
    assert linearise(robot, q, law=law, reference=[2.2, 0.9]).stable


def test_a_law_of_closed_loops_takes_a_motion_of_all_joints() -> None:
    robot = cardan.load("fivebar")
    q0 = coordinates(robot).first("q0", None)
    there = coordinates(robot).place
    motion = move(q0[there], q0[there] + [0.05, -0.05], 0.2)
    whole = simulate(robot, q0, duration=0.2, motion=motion, dt=1e-3).trajectory
    law = control.computed_torque(robot, whole)
    assert law.motion.n == 2
    run = simulate(robot, q0, duration=0.2, law=law)
    np.testing.assert_allclose(run.q[:, there], motion(run.t)[0], atol=1e-6)
    assert adaptive(robot, whole).motion.n == 2


@pytest.mark.parametrize("bandwidth", [0, -1, np.nan, "10"])
def test_a_bandwidth_is_positive(bandwidth: object) -> None:
    with pytest.raises(CardanError, match=r"a bandwidth of .* rad/s; expected a positive one"):
        control.gains(arm(), bandwidth, "computed-torque")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "make"), [
    ("kp", lambda a, x: control.pd(a, x, -5, 1)),
    ("kd", lambda a, x: control.pid(a, x, 5, -1, 1)),
    ("ki", lambda a, x: control.pid(a, x, 5, 1, [1, 1, -1, 1, 1, 1])),
    ("kp", lambda a, x: control.pd_gravity(a, x, -5, 1)),
    ("ki", lambda a, x: control.feedforward(a, x, 5, 1, -1)),
    ("kd", lambda a, x: control.computed_torque(a, x, 5, -1)),
    ("kp", lambda a, x: control.task_law(a, -1)),
    ("posture", lambda a, x: control.task_law(a, 1, task="x y z", posture=-1)),
    ("stiffness", lambda a, x: control.impedance(a, np.eye(4), -1)),
    ("damping", lambda a, x: control.impedance(a, np.eye(4), 1, -1)),
    ("kd", lambda a, x: adaptive(a, x, -1)),
    ("slope", lambda a, x: adaptive(a, x, 1, slope=-1)),
    ("rates", lambda a, x: adaptive(a, x, 1, rates=-1)),
])  # fmt: skip
def test_a_gain_below_zero_is_refused_by_name(name: str, make: Any) -> None:
    with pytest.raises(CardanError, match=f"{name} = .*: a gain below zero"):
        make(arm(), motion())


def test_what_cannot_be_is_said() -> None:
    with pytest.raises(CardanError, match="no control law 'bang'"):
        control.law(arm(), motion(), "bang", 1, 1)
    with pytest.raises(CardanError, match="kp has shape"):
        control.pd(arm(), motion(), [1, 2], 1)
    with pytest.raises(CardanError, match="this law is for a fixed base"):
        control.pd_gravity(replace(arm(), base=Base(kind="floating")), motion(), 1, 1)
    with pytest.raises(CardanError, match="the law lacks the inputs q_r, qd_r, qdd_r"):
        equilibrium(pendulum(), cardan.model(pendulum(), "inverse-dynamics"), [0.0])


def test_an_integral_removes_the_sag() -> None:
    """A pendulum under PID: the same motion as of its own closed loop, written by hand."""
    robot = pendulum()
    x = move([0.3], [0.9], 0.5)
    kp, kd, ki = control.gains(robot, 12.0, "pid", [0.3])
    run = simulate(robot, [0.3], duration=4, law=control.pid(robot, x, kp, kd, ki))
    near(run.q[-1], [0.9], absolute=1e-6)
    law = control.joint_law(robot, "pid", kp, kd, ki)
    roots = linearise(robot, [0.9], law=law).eigenvalues
    A = derived(robot, "inertia-matrix").evaluate(q=[0.9])[0, 0]
    slope = derived(robot, "gravity").derivative("Q", "q").evaluate(q=[0.9])[0, 0]
    loss = friction_law(moving(robot)[0]).FV
    expected = np.roots([A, kd[0] + loss, kp[0] + slope, ki[0]])
    near(np.sort_complex(roots), np.sort_complex(expected), 1e-6)


def test_torque_limits_hold_the_integral_back() -> None:
    """Saturated for a second, the law with back calculation overshoots less than one that goes on
    integrating."""
    robot = pendulum()
    x = move([0.0], [2.5], 0.05)
    chosen = control.gains(robot, 10.0, "pid", [0.0])
    most = 1.3 * float(np.abs(derived(robot, "gravity").evaluate(q=[[0.0], [1.57]])).max())
    law = control.pid(robot, x, *chosen, limit=most)
    run = simulate(robot, [0.0], duration=4, law=law, rtol=1e-7)
    assert np.abs(run.tau).max() <= most * (1 + 1e-12)
    own = control.pid(robot, x, *chosen)

    class Windup:
        z0 = np.zeros(1)

        def __call__(self, t: float, q: np.ndarray, qd: np.ndarray, z: np.ndarray) -> tuple:
            tau, zd = own(t, q, qd, z)
            return np.clip(tau, -most, most), zd

    wound = simulate(robot, [0.0], duration=4, law=Windup(), rtol=1e-7)
    assert run.q.max() < wound.q.max()
    near(run.q[-1], [2.5], absolute=0.05)


@pytest.mark.parametrize("parts", ["model", "gravity", "inertia"])
def test_feedforward_is_the_torque_of_the_reference(parts: str) -> None:
    robot, x = arm(), motion()
    law = control.feedforward(robot, x, 100.0, 20.0, parts=parts)
    q, qd, qdd = x(0.4)
    away = q + 0.1
    names = {"model": "inverse-dynamics", "gravity": "gravity", "inertia": "inertia-matrix"}
    program = derived(robot, names[parts])
    inputs = {"q": q, "qd": qd, "qdd": qdd}
    value = program.evaluate(**{key: inputs[key] for key in program.inputs})
    torque = value @ qdd if parts == "inertia" else value
    near(law(0.4, away, qd), torque - 100.0 * 0.1, 1e-10)
    if parts == "model":
        run = simulate(robot, START, duration=1, law=law)
        near(run.q, x(run.t)[0], absolute=1e-7)


@pytest.mark.parametrize("name", ["delta", "differential-drive"])
def test_a_feedforward_torque_moves_closed_robots(name: str) -> None:
    """[B23] 3.8, as the Delta is driven: the model at the wanted motion, its loops closed there."""
    robot = cardan.load(name)
    on = coordinates(robot)
    q0 = on.first("q0", None)
    x = move(q0[on.place], q0[on.place] + 0.2, 0.4)
    law, pid = (control.feedforward(robot, x, 50.0, 5.0, ki) for ki in (0.0, 20.0))
    assert law.program.inputs["q_r"] == (on.nq,)
    run = simulate(robot, q0, duration=0.4, law=pid, dt=0.05)
    near(run.q[:, on.place], x(run.t)[0], absolute=1e-8)
    each = control.feedforward(
        robot, x, 50.0, 5.0, parts=["gravity", "inertia", "velocity", "friction"]
    )
    q, qd = run.q[4], run.qd[4][on.place]
    near(each(0.21, q, qd), law(0.21, q, qd), 1e-12)
    if name == "delta":
        free, held = linearise(robot, q0), linearise(robot, q0, law=law.program)
        gains = np.hstack([50.0 * np.eye(3), 5.0 * np.eye(3)])
        near(held.A, free.A - free.B @ gains, 1e-12)


def test_an_impedance_is_a_spring_at_the_tool() -> None:
    """At rest under a force the tool gives way by K^-1 f; the torques against the virtual work."""
    robot = arm()
    q = np.array(START, float)
    T = derived(robot, "transform").evaluate(q=q)
    K = np.array([800.0, 700, 600, 50, 40, 30])
    D = np.array([80.0, 80, 80, 6, 6, 6])
    law = control.impedance(robot, T, K, D)
    moved, qd = q + 1e-3 * np.arange(6), 0.1 * np.ones(6)
    now = derived(robot, "transform").evaluate(q=moved)
    J = derived(robot, "jacobian").evaluate(q=moved)
    turn = so3.log(T[:3, :3] @ now[:3, :3].T)
    push = np.concatenate([T[:3, 3] - now[:3, 3], turn]) * K - D * (J @ qd)
    expected = J.T @ push + derived(robot, "gravity").evaluate(q=moved)
    near(law(0.0, moved, qd), expected, 1e-6)
    run = simulate(robot, q + 0.02, duration=3, law=law, rtol=1e-7)
    end = derived(robot, "transform").evaluate(q=run.q[-1])
    near(end, T, absolute=5e-3)


def test_what_laws_refuse() -> None:
    robot, x = arm(), motion()
    with pytest.raises(CardanError, match="ki is 0"):
        control.joint_law(robot, "pid", 1.0, 1.0)
    with pytest.raises(CardanError, match="part 'all' of the model"):
        control.feedforward(robot, x, 1.0, 1.0, parts="all")
    with pytest.raises(CardanError, match="positive torques"):
        control.pid(robot, x, 1.0, 1.0, 1.0, limit=-1.0)
    with pytest.raises(CardanError, match="expected \\(4, 4\\)"):
        control.impedance(robot, np.eye(3))
