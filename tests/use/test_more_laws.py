"""Momentum observer, elastic joints, floating bases: laws against closed forms."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots import pendulum
from tests.compare import near

import cardan
from cardan import control
from cardan.control import names
from cardan.control.compare import Tuning, build, compare, holding
from cardan.control.elastic import elastic_gains, linearising_law, pairs
from cardan.control.horizon import Following
from cardan.control.laws import Law, joint_law
from cardan.control.linear import linearise
from cardan.describe.robot import Robot
from cardan.describe.world import placement
from cardan.errors import CardanError
from cardan.motion import paths
from cardan.motion.coordinates import coordinates
from cardan.motion.derived import derived
from cardan.motion.trajectory import move
from cardan.simulation.simulate import Simulation, simulate
from random_robots import random_robot

START, END = np.array([0.2, -0.8, 1.1]), np.array([0.8, -0.5, 0.6])
GAIN = 40.0


def arm() -> Robot:
    """Shoulder of two joints and an elbow."""
    body = {"com": [0.25, 0.02, 0.01], "inertia_com": [0.02, 0, 0, 0.06, 0, 0.05]}
    links = [
        {"joint": "revolute", "r": 0.4, "mass": 6, **body},
        {"joint": "revolute", "alpha": "pi/2", "mass": 4, **body},
        {"joint": "revolute", "d": 0.5, "mass": 2, **body},
        {"joint": "fixed", "d": 0.4},
    ]
    return cardan.load({"name": "shoulder", "gravity": [0, 0, -9.81], "link": links})


def rough(robot: Robot) -> Robot:
    return replace(robot, joints=tuple(replace(j, FV=1.5, FS=0.8) for j in robot.joints))


def elastic(**first: Any) -> Robot:
    """Two motors, each with a spring and a link, on axes at right angles."""
    body = {"mass": 2, "com": [0.5, 0.1, 0], "inertia_com": [0.1, 0, 0, 0.1, 0, 0.2]}
    end = {"mass": 1, "com": [0.4, 0, 0.1], "inertia_com": [0.1, 0, 0, 0.1, 0, 0.15]}
    links = [
        {"joint": "revolute", "IA": 0.2, **first},
        {"joint": "revolute", "stiffness": 100, "rest": 0.1, **body},
        {"joint": "revolute", "IA": 0.1, "d": 1.0, "alpha": "pi/2", "r": 0.1},
        {"joint": "revolute", "stiffness": 80, **end},
    ]
    return cardan.load({"name": "elastic", "gravity": [0, -9.81, 0], "link": links})


def free_flyer() -> Robot:
    """An arm on a satellite, without weight."""
    robot = arm()
    body = replace(robot.base.link, M=50, XX=3, YY=2.5, ZZ=4, MX=1)
    base = replace(robot.base, kind="floating", link=body)
    return replace(robot, base=base, gravity=(0, 0, 0))


def settled(robot: Robot, x: np.ndarray) -> np.ndarray:
    """q of elastic joints whose links rest at x, by the balance of every spring."""
    of = pairs(robot)
    q = np.zeros(2 * len(x))
    q[0::2] = x
    Q = derived(robot, "gravity").evaluate(q=q)
    q[1::2] = of.rest - Q[1::2] / of.k
    q[0::2] -= q[1::2]
    return q


def seen(law: Law, run: Simulation) -> np.ndarray:
    """The residual along a run."""
    place = coordinates(run.robot).place
    rows = zip(run.t, run.q, run.qd[:, place], run.z, strict=True)
    return np.array([law.outputs(t, q, qd, z)["r"] for t, q, qd, z in rows])


# the momentum observer


def test_a_residual_is_the_torque_behind_a_lag() -> None:
    """A constant torque on one arm: r = tau (1 - exp(-K t)), whatever law moves it."""
    robot, moment = pendulum(FV=0.3, FS=0.2), 1.7
    law = control.observed(
        robot, control.pid(robot, move([0.2], [0.9], 0.5), 80.0, 12.0, 60.0), GAIN
    )
    run = simulate(
        robot,
        [0.2],
        duration=0.5,
        law=law,
        loads=lambda _: {1: [0, 0, 0, 0, 0, moment]},
        rtol=1e-10,
    )
    near(seen(law, run)[:, 0], moment * (1 - np.exp(-GAIN * run.t)), absolute=1e-7)


def test_a_disturbance_that_is_observed_is_compensated() -> None:
    """PD with gravity under a load: the sag goes; watching alone changes nothing."""
    robot, x = arm(), move(START, START, 1.0)
    kp, kd = control.gains(robot, 20, "pd", START)
    plain = control.pd_gravity(robot, x, kp, kd)
    watched = control.observed(robot, plain, GAIN, compensate=False)

    def end(law: Any) -> np.ndarray:
        push = {"loads": lambda _: {3: [20, 10, 0, 0, 0, 0]}, "rtol": 1e-7, "dt": 0.1}
        return np.asarray(simulate(robot, START, duration=1.5, law=law, **push).q[-1] - START)

    sag = np.abs(end(plain)).max()
    assert np.abs(end(control.observed(robot, plain, GAIN))).max() < 1e-3 * sag
    near(np.abs(end(watched)).max(), sag, 1e-6)


@pytest.mark.parametrize("name", ["arm", "closed", "elastic", "floating", "random"])
def test_the_model_itself_leaves_no_residual(name: str) -> None:
    """Along directions of motion d/dt (p - z) = 0 where z = p: zd is the rate of the momentum."""
    robot = {
        "arm": rough(arm()), "closed": rough(cardan.load("fivebar")),
        "elastic": elastic(FV=0.4), "floating": rough(free_flyer()),
        "random": replace(random_robot(3, n=4, base_motion=False), gravity=(0, 1, -9)),
    }[name]  # fmt: skip
    on, rng = coordinates(robot), np.random.default_rng(1)
    q = on.first("q", [2.2, 0.9] if on.closed else rng.normal(size=on.nq))
    qd, tau = rng.normal(size=on.nv), rng.normal(size=on.nu)
    base = {}
    if name == "floating":
        base = {"V0": rng.normal(size=6), "g0": np.array([1.0, 2, -9])}
    momentum = derived(robot, "generalized-momentum").compile()
    body = {key: x for key, x in base.items() if key == "V0"}
    p = momentum(q=q, qd=qd, **body)[-on.nv :]
    zd = control.observer(robot, GAIN, smooth=1e-9).evaluate(q=q, qd=qd, tau=tau, z=p, **base).zd
    full = derived(robot, "direct-dynamics").evaluate(q=q, qd=qd, tau=tau, **base)
    vd = full.qdd if base else full
    h, M = 1e-5, on.matrix(q, qd)[0] if on.closed else np.eye(on.nv)
    ends = []
    for step in (h, -h):
        moved = q + step * M @ qd
        moved = on.closed_at(moved) if on.closed else moved
        later = {}
        if base:  # the twist of a body in its own axes: less w x v
            v, w = base["V0"][:3], base["V0"][3:]
            rate = full.V0d - np.concatenate([np.cross(w, v), np.zeros(3)])
            later = {"V0": base["V0"] + step * rate}
        ends.append(momentum(q=moved, qd=qd + step * vd, **later)[-on.nv :])
    near(zd, (ends[0] - ends[1]) / (2 * h), absolute=2e-7 * (1 + np.abs(zd).max()))


def test_a_recording_shows_what_pushed() -> None:
    robot, x = rough(arm()), move(START, END, 0.5)
    law = control.observed(robot, control.computed_torque(robot, x), GAIN)
    run = simulate(
        robot, START, duration=0.5, law=law, dt=1e-3, rtol=1e-8,
        loads=lambda _: {3: [5, -3, 2, 0, 0, 0.1]},
    )  # fmt: skip
    found = control.residuals(robot, run.t, run.q, run.qd, run.tau, GAIN)
    near(found, seen(law, run), absolute=2e-3 * np.abs(found).max())
    with pytest.raises(CardanError, match="each later than the one before"):
        control.residuals(robot, run.t[::-1], run.q, run.qd, run.tau)


def test_an_observed_law_linearises_and_is_sampled() -> None:
    """The poles of a pendulum under observed PD: those of its own characteristic polynomial."""
    robot, kp, kd = pendulum(), 60.0, 5.0
    law = control.observed(robot, control.pd_gravity(robot, move([0.4], [0.4], 1.0), kp, kd), GAIN)
    roots = linearise(robot, [0.4], law=law.program).eigenvalues
    I = derived(robot, "inertia-matrix").evaluate(q=[0.4])[0, 0]
    # I s² x = u - r, u = -(kp + kd s) x, and r = K (I s x - z), s z = u: r = K I s² x/s - K u/s
    # tau - Q = u - r is what moves, and z counts it too: r = 0 for the model itself
    near(np.sort_complex(roots), np.sort_complex(np.append(np.roots([I, kd, kp]), -GAIN)), 1e-9)
    run = simulate(robot, [0.5], duration=1.0, law=law, period=5e-3, rtol=1e-6, dt=0.1)
    near(run.q[-1], [0.4], absolute=1e-3)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_an_observed_law_in_c(tmp_path: Path) -> None:
    robot = arm()
    law = control.observed(robot, control.computed_torque(robot, move(START, END, 1.0)), GAIN)
    program = law.program
    text = program.emit("c", function="law")
    assert "state of the observer" in text
    source, library = tmp_path / "law.c", tmp_path / "law.so"
    source.write_text(text)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    rng = np.random.default_rng(0)
    inputs = {name: rng.normal(size=shape) for name, shape in program.inputs.items()}
    outputs = [np.empty(3) for _ in program.outputs]
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (*inputs.values(), *outputs)]
    ctypes.CDLL(str(library)).law(*pointers)
    for found, expected in zip(outputs, program.evaluate(**inputs), strict=True):
        near(found, expected, 1e-11)


# elastic joints


def test_feedback_linearisation_leaves_four_integrators() -> None:
    """An error of the links dies as of (s + w)^4, with friction in the motors."""
    robot, w, end = elastic(FV=0.4), 20.0, np.array([0.3, -0.2])
    law = control.linearising(robot, move(end, end, 1.0), w)
    run = simulate(robot, settled(robot, end + 0.1), duration=0.3, law=law, rtol=1e-8, dt=0.05)
    u = w * run.t
    error = 0.1 * (1 + u + u**2 / 2 + u**3 / 6) * np.exp(-u)
    near(run.q[:, 0::2] + run.q[:, 1::2], end + error[:, None], absolute=1e-7)
    roots = linearise(elastic(), settled(robot, end), law=linearising_law(elastic(), w)).eigenvalues
    near(np.poly(roots), np.poly([-w] * 8), 1e-6)


def test_links_of_elastic_joints_follow_a_motion() -> None:
    robot = elastic()
    x = move([0.4, -0.1], [0.6, 0.1], 0.4, law="septic")
    run = simulate(
        robot,
        settled(robot, x.q[0]),
        duration=0.4,
        law=control.linearising(robot, x, 20),
        rtol=1e-8,
    )
    near(run.q[:, 0::2] + run.q[:, 1::2], x(run.t)[0], absolute=1e-7)


def test_motors_hold_links_behind_springs() -> None:
    """At rest the links are where they were wanted, and the poles are those of the whole."""
    robot, end = elastic(), np.array([0.3, -0.2])
    kp, kd = elastic_gains(robot, 12.0, settled(robot, end))
    law = control.elastic_pd(robot, move(end, end, 1.0), kp, kd)
    q = settled(robot, end)
    near(law(0.0, q, np.zeros(4)), derived(robot, "gravity").evaluate(q=q)[0::2], 1e-10)
    linear = linearise(robot, q, law=law.program)
    assert linear.stable
    of, A = pairs(robot), derived(robot, "inertia-matrix").evaluate(q=q)
    K = derived(robot, "gravity").derivative("Q", "q").evaluate(q=q)
    K[[1, 3], [1, 3]] += of.k
    K[[0, 2], [0, 2]] += kp
    D = np.zeros((4, 4))
    D[[0, 2], [0, 2]] = kd
    whole = np.block(
        [[np.zeros((4, 4)), np.eye(4)], [-np.linalg.solve(A, K), -np.linalg.solve(A, D)]]
    )
    near(np.poly(linear.eigenvalues), np.poly(whole), 1e-8)
    integral = control.elastic_pd(robot, move(end, end, 1.0), kp, kd, 30.0, limit=60.0)
    assert linearise(robot, q, law=integral.program).stable


def test_what_laws_of_elastic_joints_refuse() -> None:
    x = move([0.3, -0.2], [0.3, -0.2], 1.0)
    with pytest.raises(CardanError, match="no joint of 'arm' is elastic"):
        control.elastic_pd(pendulum(), move([0.1], [0.1], 1.0), 1.0, 1.0)
    with pytest.raises(CardanError, match="kd = -1: a gain below zero"):
        control.elastic_pd(elastic(), x, 1.0, -1)
    with pytest.raises(CardanError, match="is not the spring of a motor"):
        control.elastic_pd(pendulum(stiffness=10), move([0.1], [0.1], 1.0), 1.0, 1.0)
    robot = elastic()
    damped = replace(
        robot, joints=tuple(replace(j, damping=1) if j.elastic else j for j in robot.joints)
    )
    with pytest.raises(CardanError, match="has a damped spring"):
        control.linearising(damped, x)
    with pytest.raises(CardanError, match="a rotor whose link has inertia"):
        control.linearising(elastic(mass=1), x)
    with pytest.raises(CardanError, match="the motion has 3 columns; expected 2"):
        control.linearising(robot, move(np.zeros(3), np.ones(3), 1.0))
    with pytest.raises(CardanError, match="rigid joints and links"):
        control.pd(robot, x, 1.0, 1.0)


# floating bases


def test_joints_on_a_free_flying_base_follow_a_motion() -> None:
    robot, x = replace(free_flyer(), gravity=(0, 0, -9.81)), move(START, END, 0.4)
    law = control.computed_torque(robot, x)
    run = simulate(
        robot, START, duration=0.4, law=law, base_twist=[0.1, 0, 0, 0, 0.2, 0.1], dt=0.05
    )
    near(run.q, x(run.t)[0], absolute=1e-8)
    assert run.T0 is not None
    assert np.abs(run.T0[-1] - run.T0[0]).max() > 0.05


def test_the_reduced_inertia_moves_the_joints() -> None:
    """Poles of computed torque at -w; of PD with gains by the reduced inertia, those of A_r."""
    robot, w = free_flyer(), 10.0
    law = joint_law(robot, "computed-torque", w * w, 2 * w)
    linear = linearise(robot, START, law=law)
    assert linear.A.shape == (18, 18)
    moving = linear.eigenvalues[np.abs(linear.eigenvalues) > 1]
    near(np.poly(moving), np.poly([-w] * 6), 1e-6)
    kp, kd = control.gains(robot, w, "pd", START)
    A = derived(robot, "inertia-matrix").evaluate(q=START)
    Ar = A[6:, 6:] - A[6:, :6] @ np.linalg.solve(A[:6, :6], A[:6, 6:])
    D = np.linalg.inv(Ar)
    whole = np.block([[np.zeros((3, 3)), np.eye(3)], [-D * kp, -D * kd]])
    roots = linearise(robot, START, law=joint_law(robot, "pd", kp, kd)).eigenvalues
    near(np.poly(roots[np.abs(roots) > 1e-3]), np.poly(whole), 1e-6)


def test_the_linear_system_of_a_floating_base_is_the_derivative() -> None:
    """Against differences of the state space, with the quaternion turned by a small rotation."""
    from cardan.algebra import so3
    from cardan.simulation.statespace import state_space

    robot = replace(free_flyer(), gravity=(0, 0, -9.81))
    found, space = linearise(robot, START), state_space(robot)
    f, T, n = space.program.compile(), placement(robot), robot.n

    def rate(d: np.ndarray) -> np.ndarray:
        R = T[:3, :3] @ so3.exp(d[n + 3 : n + 6])
        x = space.state(
            START + d[:n], d[n + 6 : -6], T[:3, 3] + d[n : n + 3], so3.quaternion(R), d[-6:]
        )
        xd = f(x=x, tau=np.zeros(n))
        # the spin in its own axes is the rate of the small rotation to first order
        return np.concatenate([xd[: n + 3], d[-3:], xd[n + 7 :]])

    h = 1e-6
    A = np.array([(rate(d) - rate(-d)) / (2 * h) for d in h * np.eye(18)]).T
    near(found.A, A, absolute=1e-6 * np.abs(A).max())


def test_a_tool_on_a_free_flying_base_follows_a_line_in_the_world() -> None:
    robot = free_flyer()
    pose = derived(robot, "transform").compile()
    T = placement(robot) @ pose(q=START)
    end = T.copy()
    end[:3, 3] += [-0.05, 0.04, -0.04]
    path = paths.line(T, end, 0.5)
    law = control.task_space(robot, path, 400, 40, task="x y z")
    twist = [0.02, 0, 0, 0, 0.05, 0.03]
    run = simulate(robot, START, duration=0.5, law=law, rtol=1e-8, dt=0.05)
    near((run.T0 @ pose(q=run.q))[:, :3, 3], path(run.t).T[:, :3, 3], absolute=1e-8)
    turning = simulate(robot, START, duration=0.5, law=law, rtol=1e-8, dt=0.05, base_twist=twist)
    off = np.linalg.norm((turning.T0 @ pose(q=turning.q) - path(turning.t).T)[:, :3, 3], axis=1)
    # as of ed'' + 40 ed + 400 e = 0 from a velocity v: e = v t exp(-20 t)
    start = np.linalg.norm(np.array(twist[:3]) + np.cross(twist[3:], pose(q=START)[:3, 3]))
    near(off, start * turning.t * np.exp(-20 * turning.t), absolute=1e-6)
    roots = linearise(robot, START, law=law.program).eigenvalues
    assert (np.sum(np.abs(roots + 20) < 0.1)) == 6


def test_a_law_of_a_floating_base_needs_one() -> None:
    robot = free_flyer()
    law = control.computed_torque(robot, move(START, END, 1.0))
    with pytest.raises(CardanError, match="the law is for a floating base"):
        simulate(arm(), START, duration=0.1, law=law)
    with pytest.raises(CardanError, match="no part of it"):
        control.feedforward(robot, move(START, END, 1.0), 1.0, 1.0, parts="gravity")


# the table


@pytest.mark.parametrize("robot", [rough(arm()), pendulum(spring=20, neutral=0.1, FV=0.2)])
def test_parts_of_a_feedforward_torque_add_up_to_the_model(robot: Robot) -> None:
    """[B23] 3.3: gravity, inertia, velocity and friction, any of them; each by its own model."""
    n = robot.n
    x = cardan.trajectory(robot, np.full(n, 0.9), 0.5, start=np.linspace(-0.4, 0.2, n))
    q, qd, qdd = x(0.2)

    def ahead(parts: Any) -> np.ndarray:
        law = control.feedforward(robot, x, 0.0, 0.0, parts=parts)
        return np.asarray(law(0.2, q, qd))

    names_ = ["gravity", "inertia", "velocity", "friction"]
    whole = ahead("model")
    near(ahead(names_), whole, 1e-12)
    near(sum(ahead(name) for name in names_), whole, 1e-12)
    near(ahead(["gravity", "inertia"]), ahead("gravity") + ahead("inertia"), 1e-12)
    bias = derived(robot, "bias", friction=False)
    still = bias.evaluate(q=q, qd=0 * qd)
    near(ahead("inertia"), derived(robot, "inertia-matrix").evaluate(q=q) @ qdd, 1e-12)
    near(ahead("velocity"), bias.evaluate(q=q, qd=qd) - still, absolute=1e-12)
    near(ahead("gravity"), still, 1e-12)
    for wrong in (["model", "gravity"], []):
        with pytest.raises(CardanError, match="'model' is the whole"):
            ahead(wrong)
    with pytest.raises(CardanError, match="no part 'mass' of the model"):
        ahead(["gravity", "mass"])


def test_predictive_control_follows_a_motion() -> None:
    """It comes near as its step goes to zero, and its error dies as that of both poles at -w."""
    one, w, errors = pendulum(), 10.0, []
    for period in (0.02, 0.01):
        found = compare(one, move([0.2], [0.9], 0.4), ["predictive"], w, period=period, dt=0.02)
        errors.append(found.table()[0]["largest error"])
        assert not found.eigenvalues["predictive"].size
    assert errors[1] < 0.6 * errors[0] < 0.02
    law = build(one, move([0.4], [0.4], 1.0), "predictive", w, period=5e-3)
    run = simulate(one, [0.5], duration=0.5, law=law, period=5e-3, rtol=1e-6, dt=0.05)
    near(run.q[:, 0] - 0.4, 0.1 * (1 + w * run.t) * np.exp(-w * run.t), absolute=5e-3)
    with pytest.raises(CardanError, match="solved at every sample, not a program"):
        holding(one, "predictive", w, [0.4])
    with pytest.raises(CardanError, match="'predictive' is not for a robot as"):
        build(elastic(), move([0.1, 0.1], [0.1, 0.1], 1.0), "predictive", w)


@pytest.mark.parametrize("name", names.LAWS)
def test_what_is_said_of_a_law_is_taken_or_refused(name: str) -> None:
    """Gains, an integral part, limits and parts, as the table has them."""
    robot = next(x for x in (arm(), elastic()) if name in names.fitting(x))
    soft = robot.name == "elastic"
    x = move([0.3, -0.2], [0.3, -0.2], 1.0) if soft else move(START, START, 1.0)
    q = settled(robot, x.q[0]) if soft else START
    said = {"kp": 30.0, "kd": 4.0, "ki": 2.0, "limit": 5.0, "parts": ["inertia"]}
    for key, value in said.items():
        tuning = Tuning(**{key: value})
        if key not in names.LAWS[name].takes:
            with pytest.raises(CardanError, match=f"the law '{name}' takes no {key}"):
                build(robot, x, name, 10.0, q, tuning=tuning)
            continue
        plain, law = (build(robot, x, name, 10.0, q, tuning=t) for t in (None, tuning))
        there, speed = q + 0.3, np.full(robot.n, 0.2)
        z = None if law.z0 is None else law.z0 + 0.1
        first = None if plain.z0 is None else plain.z0 + 0.1
        tau = law.outputs(0.0, there, speed, z)["tau"]
        if name != "adaptive" or key != "kp":  # of adaptive by the slope
            assert np.abs(tau - plain.outputs(0.0, there, speed, first)["tau"]).max() > 1e-3
        if key == "limit":
            assert np.abs(tau).max() <= 5.0
            watched = build(robot, x, name, 10.0, q, tuning=tuning, observer=20.0)
            assert np.abs(watched.outputs(0.0, there, speed)["tau"]).max() <= 5.0
    if names.LAWS[name].solved:
        return
    once = build(robot, x, name, 10.0, q, tuning=Tuning(kp=30.0)) if not soft else None
    if once is not None and name in ("pd", "pd-gravity", "feedforward", "pid"):
        pull = once.outputs(0.0, q - 0.1, 0 * q)["tau"] - once.outputs(0.0, q, 0 * q)["tau"]
        weight = derived(robot, "gravity").compile() if name == "pd-gravity" else None
        moved = weight(q=q - 0.1) - weight(q=q) if weight else 0.0
        near(pull - moved, np.full(3, 3.0), 1e-9)


@pytest.mark.parametrize("name", names.LAWS)
def test_every_law_of_the_table_is_built(name: str) -> None:
    """It takes the robots that it says, has a place in Python, and holds a robot where it is."""
    assert callable(getattr(control, name.replace("-", "_")))
    for robot in (arm(), free_flyer(), elastic()):
        q = settled(robot, np.array([0.3, -0.2])) if robot.name == "elastic" else START
        rest = move(q, q, 1.0)
        if name not in names.fitting(robot):
            with pytest.raises(CardanError):
                build(robot, rest, name, 10.0)
            continue
        law = build(robot, rest, name, 10.0)
        if isinstance(law, Following):
            near(law(0.0, q, np.zeros(len(q))), derived(robot, "gravity").evaluate(q=q), 1e-9)
            continue
        base = {"T0": placement(robot), "V0": np.zeros(6), "g0": np.zeros(3)} if law.base else None
        tau = law.outputs(0.0, q, np.zeros(len(q)), base=base)["tau"]
        held = np.zeros(len(tau))
        if name in ("pd-gravity", "feedforward", "computed-torque", "task-space", "impedance",
                    "elastic-pd", "linearising") and not law.base:  # fmt: skip
            weight = derived(robot, "gravity").evaluate(q=q)
            held = weight[coordinates(robot).driven]
        near(tau, held, absolute=1e-9)
    with pytest.raises(CardanError, match="no control law 'pdd'; did you mean"):
        build(arm(), move(START, START, 1.0), "pdd", 10.0)


def test_laws_of_the_tool_are_compared_with_those_of_joints() -> None:
    found = compare(
        arm(), move(START, END, 0.2), ["task-space", "adaptive"], 15.0, settling=0.05, dt=0.05
    ).table()
    assert found[0]["largest error"] < 1e-6
    assert all(row["stable"] for row in found)
    rise = move([0.4, -0.1], [0.5, 0.1], 0.2, law="septic")
    q0 = settled(elastic(), rise.q[0])
    soft = compare(elastic(), rise, ["linearising"], 20.0, dt=0.05, q0=q0, settling=0.05)
    assert soft.table()[0]["largest error"] < 1e-3


def test_a_law_goes_into_a_package(tmp_path: Path) -> None:
    robot = arm()
    law = control.pid(robot, move(START, END, 1.0), 80.0, 12.0, 60.0, limit=30.0)
    package = cardan.write_package(robot, ["gravity", law.program], "c", tmp_path / "p")
    assert package.models == ("gravity", "control pid")
    text = "".join(path.read_text() for path in (tmp_path / "p").rglob("*.h"))
    assert "shoulder_control_pid(" in text
