"""Motions: [BK13] section V and flexible arms against Exudyn; energy; spinning beams."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.build.flexible.closure import closing
from cardan.errors import InputError
from cardan.motion.trajectory import move
from cardan.simulation.simulate import simulate as simulate_any
from cardan.simulation.stiff import simulate

E, RHO = 70e9, 2800.0


def bang_bang(q0: Any, q1: Any, T: float) -> Callable[[float], Any]:
    """Full acceleration, then full braking."""
    start, end = np.atleast_1d(q0).astype(float), np.atleast_1d(q1).astype(float)
    a = 4 * (end - start) / T**2

    def law(t: float) -> Any:
        if t < T / 2:
            return start + a * t * t / 2, a * t, a
        return end - a * (T - t) ** 2 / 2, a * (T - t), -a

    return law


def ancf() -> Any:
    pytest.importorskip("exudyn")
    from tests.flexible.ancf import Plane

    return Plane()


def at_times(rows: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.array([np.interp(t, rows[:, 0], rows[:, k]) for k in (1, 2)]).T


def test_section_5_against_many_elements() -> None:
    """End-effector velocity of the bang-bang motion, 8 elements of another formulation per beam."""
    law = bang_bang([0, 0], [0.1, 0.2], 0.75)
    robot = cardan.load("prrrp")
    run = simulate(robot, 0.75, motion=law)
    plane = ancf()
    side, height = 0.002, math.sqrt(0.4**2 - 0.3**2)
    properties = {"mass": RHO * side**2, "EA": E * side**2, "EI": E * side**4 / 12, "rotary": 0}
    one = plane.beam([0, 0], [0.3, height], 8, **properties)
    two = plane.beam([0.6, 0], [0.3, height], 8, **properties)
    platform = plane.point([0.3, height], 1.0)
    for k, nodes in enumerate((one, two)):
        plane.hold(nodes[0], 0)
        plane.hold(nodes[0], 1, lambda t, k=k: (float(law(t)[0][k]), float(law(t)[1][k])))
        plane.pin(nodes[-1], platform)
    plane.watch(platform, "Velocity")
    (rows,) = plane.run(0.75, 6000, 500)
    expected = at_times(rows, run.t)
    found = run.velocity("platform")[:, [0, 2]]
    peak = np.linalg.norm(expected, axis=1).max()
    assert peak == pytest.approx(0.396, abs=0.001)
    assert np.linalg.norm(found - expected, axis=1).max() < 0.01 * peak
    assert np.abs(closing(robot).error(run.q[-1])).max() < 1e-8


def strip(length: float, width: float, elements: int = 2) -> dict[str, Any]:
    return {
        "length": length, "young": E, "density": RHO, "width": width, "height": 0.02,
        "motions": ["axial", "bending-y"], "elements": elements,
    }  # fmt: skip


def properties(width: float) -> dict[str, float]:
    A = width * 0.02
    return {"mass": RHO * A, "EA": E * A, "EI": E * 0.02 * width**3 / 12, "rotary": 0}


def test_one_link_arm_against_many_elements() -> None:
    """A strip turned by 60 degrees: tip position within 1 % of its path, deflected by 4 cm."""
    T = 0.8
    turn = bang_bang(0, math.pi / 3, T)
    robot = cardan.load(
        {"gravity": [0, 0, 0], "link": [{"flexible": strip(0.8, 0.003)},
                                        {"joint": "fixed", "d": 0.8, "mass": 0.05}]}
    )  # fmt: skip
    run = simulate(robot, T, motion=turn, step=1e-4, method="generalized-alpha")
    plane = ancf()
    nodes = plane.beam([0, 0], [0.8, 0], 8, **properties(0.003))
    payload = plane.point([0.8, 0], 0.05)
    plane.pin(nodes[-1], payload)
    plane.hold(nodes[0], 0)
    plane.hold(nodes[0], 1)

    def slope(t: float, f: Any, df: Any, shift: float) -> tuple[float, float]:
        q, qd, _ = (float(x[0]) for x in turn(t))
        return f(q) - shift, df(q) * qd

    plane.hold(nodes[0], 2, lambda t: slope(t, math.cos, lambda q: -math.sin(q), 1))
    plane.hold(nodes[0], 3, lambda t: slope(t, math.sin, math.cos, 0))
    plane.watch(payload, "Position")
    (rows,) = plane.run(T, 4000, 500)
    expected, found = at_times(rows, run.t), run.position()[:, :2]
    assert np.abs(run.elastic[:, -2]).max() > 0.03
    path = np.ptp(expected, axis=0).max()
    assert np.linalg.norm(found - expected, axis=1).max() < 0.01 * path


def test_two_link_arm_against_many_elements() -> None:
    """Two strips fall from the horizontal: large turns; tip within 1 % of its path."""
    T, g = 0.5, -9.81
    robot = cardan.load(
        {"gravity": [0, g, 0], "link": [
            {"flexible": strip(0.5, 0.002)},
            {"d": 0.5, "M": 0.2, "flexible": strip(0.5, 0.002)},
            {"joint": "fixed", "d": 0.5, "mass": 0.1}]}
    )  # fmt: skip
    run = simulate(robot, T, step=1e-4, method="generalized-alpha")
    plane = ancf()
    gravity = (0, g)
    upper = plane.beam([0, 0], [0.5, 0], 6, gravity=gravity, **properties(0.002))
    lower = plane.beam([0.5, 0], [1, 0], 6, gravity=gravity, **properties(0.002))
    elbow, tip = plane.point([0.5, 0], 0.2, gravity), plane.point([1, 0], 0.1, gravity)
    plane.hold(upper[0], 0)
    plane.hold(upper[0], 1)
    plane.pin(upper[-1], elbow)
    plane.pin(lower[0], elbow)
    plane.pin(lower[-1], tip)
    plane.watch(tip, "Position")
    (rows,) = plane.run(T, 2500, 500)
    expected, found = at_times(rows, run.t), run.position()[:, :2]
    path = np.ptp(expected, axis=0).max()
    assert path > 0.5
    assert np.linalg.norm(found - expected, axis=1).max() < 0.01 * path


def test_energy_is_conserved_in_free_motion() -> None:
    """A soft arm of two links and a parallel robot, without damping: 1e-6 of what moves."""
    arm = cardan.load(
        {"gravity": [0, -9.81, 0], "link": [
            {"flexible": {**strip(0.5, 0.003, 1), "young": 7e9}},
            {"d": 0.5, "M": 0.2, "flexible": {**strip(0.5, 0.003, 1), "young": 7e9}},
            {"joint": "fixed", "d": 0.5, "mass": 0.1}]}
    )  # fmt: skip
    parallel = replace(cardan.load("prrrp"), gravity=(0, 0, -2))
    for robot, T, step in ((arm, 0.3, 2e-5), (parallel, 0.1, 1e-4)):
        run = simulate(robot, T, step=step, method="rk4", samples=100)
        still = cardan.model(robot.tree(), "energies").evaluate(q=run.q, qd=run.qd)
        scale = np.ptp(np.asarray(still.E))
        near(run.energy, run.energy[0], absolute=1e-6 * scale, what=str(robot.name))


def spinning(plane: str, speed: float, stiffening: bool = True) -> float:
    """First frequency, rad/s, of a clamped strip that spins about z, out of or in its plane."""
    motion = "bending-z" if plane == "out" else "bending-y"
    flexible = {
        "length": 1, "young": E, "density": RHO, "width": 0.01, "height": 0.01,
        "motions": ["axial", motion], "elements": 2, "stiffening": stiffening, "rotary": False,
    }  # fmt: skip
    robot = cardan.load({"gravity": [0, 0, 0], "link": [{"flexible": flexible}]})
    program = cardan.model(robot, "inverse-dynamics")
    by_q, by_qd = program.derivative("qdd_e", "q"), program.derivative("qdd_e", "qd")
    q, qd = np.zeros(7), np.zeros(7)
    qd[0] = speed
    for _ in range(20):
        force = program.evaluate(q=q, qd=qd, qdd=[0]).qdd_e
        q[1:] -= np.linalg.solve(by_q.evaluate(q=q, qd=qd, qdd=[0])[:, 1:], force)
    A, B = (x.evaluate(q=q, qd=qd, qdd=[0])[:, 1:] for x in (by_q, by_qd))
    values = np.linalg.eigvals(np.block([[np.zeros((6, 6)), np.eye(6)], [A, B]]))
    assert np.abs(values.real).max() < 1e-5 * np.abs(values).max()
    return float(np.abs(values.imag).min())


# speed -> first frequency out of the plane, both over sqrt(EI / ρA) / L²: Wright, Smith, Thresher
# & Wang, Vibration modes of centrifugally stiffened beams, 1982, no hub; in the plane ω² - Ω²
SPINNING = {1: 3.6817, 2: 4.1373, 4: 5.5850, 6: 7.3604, 10: 11.2023}


@pytest.mark.parametrize("plane", ["out", "in"])
def test_a_spinning_beam_stiffens(plane: str) -> None:
    unit = math.sqrt(E * 0.01**2 / 12 / RHO)
    for speed, frequency in SPINNING.items():
        expected = frequency if plane == "out" else math.sqrt(frequency**2 - speed**2)
        found = spinning(plane, speed * unit) / unit
        assert found == pytest.approx(expected, rel=0.01 if speed < 10 else 0.03), speed
    # Southwell's approximation ω² = ω0² + 1.193 Ω² (less Ω² in the plane) at moderate speed
    still = spinning(plane, 0.0)
    rise = 1.193 if plane == "out" else 0.193
    expected = still * math.sqrt(1 + rise * 0.25)
    assert spinning(plane, 0.5 * still) == pytest.approx(expected, rel=0.01)
    # without the foreshortening it would soften, and burst
    assert spinning("in", 0.5 * still, stiffening=False) < still


def test_damping_and_torques() -> None:
    """A torque bends and turns the arm; its damping takes energy away once it rests."""
    robot = cardan.load("flexible2r")
    run = simulate(robot, 0.4, torque=lambda t: [0.5, 0.1], samples=50)
    assert run.method in ("rk4", "generalized-alpha")
    assert np.isfinite(run.q).all()
    free = replace(robot, gravity=(0, 0, 0))
    struck = simulate(free, 0.3, qd=[0, 0, 0, 1, 0, 0, 0, 0], samples=50, method="rk4", step=2e-5)
    assert struck.energy[-1] < 0.99 * struck.energy[0]
    assert (np.diff(struck.energy) < 1e-9).all()


def test_a_feedback_law_moves_the_arm_and_calms_it() -> None:
    """Proportional and derivative control of the joint of a strip; both steppers agree."""
    robot = cardan.load("flexible1r")

    def law(t: float, q: np.ndarray, qd: np.ndarray) -> Any:
        return [4 * (0.5 - q[0]) - 1.2 * qd[0]]

    runs = [
        simulate(robot, 3.0, law=law, step=step, method=method, samples=60)
        for method, step in (("rk4", 1e-4), ("generalized-alpha", 1e-3))
    ]
    assert runs[0].q[-1, 0] == pytest.approx(0.5, abs=0.02)
    near(runs[0].position(), runs[1].position(), absolute=0.01)


def test_joints_that_nothing_drives_swing() -> None:
    """A passive joint in an open arm: free in modes about the hanging arm, free in motion."""
    robot = cardan.load(
        {"gravity": [0, -9.81, 0], "link": [
            {"ZZ": 0.01, "XX": 0.005, "YY": 0.005},
            {"d": 0.3, "active": False, "flexible": strip(0.5, 0.006, 1)},
            {"joint": "fixed", "d": 0.5, "mass": 1}]}
    )  # fmt: skip
    found = cardan.natural_frequencies(robot, [0], about="equilibrium", guess=[-1.4])
    mass, rod = 1.0, RHO * 0.006 * 0.02 * 0.5
    pendulum = math.sqrt(9.81 * (mass * 0.5 + rod * 0.25) / (mass * 0.25 + rod * 0.25 / 3))
    assert found[0] == pytest.approx(pendulum / (2 * math.pi), rel=0.01)
    run = simulate(robot, 0.2, motion=lambda t: ([0], [0], [0]), guess=[0], samples=40)
    assert run.q[-1, 0] == 0
    assert run.q[-1, 1] < -0.1  # it falls


def test_implicit_methods_agree_with_the_explicit_one() -> None:
    robot = cardan.load("flexible2r")
    law = bang_bang([0, 0], [0.5, 0.5], 0.5)
    exact = simulate(robot, 0.5, motion=law, method="rk4", samples=20).position()
    for method, rtol in (("generalized-alpha", 1e-3), ("radau", 1e-5)):
        found = simulate(robot, 0.5, motion=law, method=method, samples=20, rtol=rtol).position()
        near(found, exact, absolute=2e-4, what=str(method))


def test_faults_of_a_simulation_are_told() -> None:
    robot = cardan.load("prrrp")
    for options, words in (
        ({"method": "euler"}, "no method"),
        ({"motion": lambda t: ([0], [0], [0])}, "driven joints"),
        ({"motion": lambda t: 0, "torque": lambda t: 0}, "has one of them"),
        ({"law": lambda t, q, qd: [0, 0], "method": "radau"}, "needs steps"),
        ({"q_a": [0]}, "2 driven joints: q1, q4"),
        ({"q_a": [0, 2]}, "cannot be assembled"),
        ({"qd": [0]}, "independent velocities"),
    ):
        with pytest.raises(cardan.CardanError, match=words):
            simulate(robot, 0.1, **options)
    with pytest.raises(cardan.CardanError, match="not positive"):
        simulate(robot, 0)


@pytest.mark.parametrize("drive", ["torque", "law", "motion"])
def test_simulate_takes_loops_with_flexible_links(drive: str) -> None:
    """The common face gives the same motion, its exact accelerations and the energy balance."""
    robot = cardan.load("prrrp")
    motion = move([0, 0], [0.01, -0.02], 0.1, dt=1e-4)
    push = np.array([1.0, 2.0])
    chosen = {
        "torque": {"torque": push},
        "law": {"law": lambda t, q, qd: push},
        "motion": {"motion": motion},
    }[drive]
    run = simulate_any(robot, duration=0.1, dt=1e-4, **chosen)
    own = {"motion": motion} if drive == "motion" else {"torque": lambda t: push}
    alone = simulate(robot, 0.1, samples=1000, **own)
    np.testing.assert_allclose(run.q, alone.q, atol=1e-6 * np.abs(alone.q).max())
    slope = (run.qd[2:] - run.qd[:-2]) / (run.t[2:] - run.t[:-2])[:, None]
    np.testing.assert_allclose(run.qdd[1:-1], slope, atol=1e-2 * np.abs(run.qdd).max())
    assert run.tau.shape == (1001, 2)
    assert run.energy is None if drive == "law" else run.energy.drift < 1e-5


def test_every_way_through_loops_with_flexible_links_agrees() -> None:
    """Steps chosen for the motion, adaptive and fixed ones, a law that keeps a state."""
    robot = cardan.load("prrrp")

    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.array([1.0, 2.0]) - 0.1 * qd[:2]

    class Keeping:
        z0 = np.zeros(1)

        def __call__(self, t: float, q: np.ndarray, qd: np.ndarray, z: np.ndarray) -> Any:
            return law(t, q, qd), np.ones(1)

    options: dict[str, Any] = {"duration": 0.01, "dt": 1e-3, "rtol": 1e-6}
    held = simulate_any(robot, law=law, **options)
    keeping = simulate_any(robot, law=Keeping(), **options)
    sampled = simulate_any(robot, law=law, period=1e-4, **options)
    fixed = simulate_any(robot, law=law, period=1e-4, method="rk4", step=2e-5, **options)
    for run in (keeping, sampled, fixed):
        assert run.method in ("DOP853", "rk4")
        assert np.abs(run.q - held.q).max() < 2e-3 * np.abs(held.q - held.q[0]).max()
        assert np.abs(closing(robot).error(run.q[-1])).max() < 1e-8
    assert keeping.z[-1] == pytest.approx(0.01)
    assert keeping.energy.drift < 1e-6
    with pytest.raises(InputError, match="close loops between its steps"):
        simulate_any(robot, law=law, period=1e-4, method="Radau", **options)


def test_simulate_takes_the_implicit_methods_for_flexible_trees() -> None:
    robot = cardan.load("flexible2r")
    options: dict[str, Any] = {"duration": 0.05, "dt": 5e-3, "torque": [0.2, 0.1]}
    exact = simulate_any(robot, 0.1, **options)
    for method, rtol in (("generalized-alpha", 1e-3), ("radau", 1e-7)):
        run = simulate_any(robot, 0.1, method=method, rtol=rtol, **options)
        assert run.method == method
        assert np.abs(run.q - exact.q).max() < 2e-3 * np.abs(exact.q - exact.q[0]).max()


def test_positions_that_are_not_finite_are_named() -> None:
    robot = cardan.load("prrrp")
    with pytest.raises(InputError, match="q_a: value 2 is nan"):
        cardan.natural_frequencies(robot, [0, math.nan])
    with pytest.raises(InputError, match=r"q0 = .*inf.* must be finite"):
        simulate_any(robot, [0, math.inf], duration=0.1)
    with pytest.raises(InputError, match="loads is not for closed loops with flexible"):
        simulate_any(robot, duration=0.1, loads=lambda links: {})


@pytest.mark.parametrize("name", ["prrrp", "flexible2r"])
def test_one_result_for_every_motion(name: str) -> None:
    """Chosen steps give what every simulation gives: accelerations that are the slopes of the
    velocities, torques that are those of the models, energies; and it can be stored."""
    robot = cardan.load(name)
    motion = move([0, 0], [0.02, -0.04], 0.1, dt=1e-4)
    run = copy.deepcopy(simulate(robot, 0.1, motion=motion, samples=2000))
    slope = (run.qd[2:] - run.qd[:-2]) / (run.t[2] - run.t[0])
    np.testing.assert_allclose(run.qdd[1:-1], slope, atol=2e-2 * np.abs(run.qdd).max())
    push = simulate(robot, 0.1, torque=lambda t: run.tau[round(t * 20000)], samples=200, step=1e-5)
    np.testing.assert_allclose(push.q[-1], run.q[-1], atol=1e-4)
    E, U = cardan.model(robot.tree(), "energies").evaluate(q=run.q, qd=run.qd)
    np.testing.assert_allclose(run.energy, E + U, atol=1e-12)
    np.testing.assert_allclose(run.energy - run.energy[0], E + U - (E + U)[0], atol=1e-12)
    assert np.isnan(run.energy.drift)
    assert len(run.energy) == len(run.t)
    assert {"q1", "qdd2", "tau1", "kinetic"} <= run.columns().keys()
    assert len(run.plot().axes) > 3


def test_passive_joints_of_an_open_arm_have_no_torque() -> None:
    robot = cardan.load(
        {"gravity": [0, -9.81, 0], "link": [
            {"ZZ": 0.01, "XX": 0.005, "YY": 0.005},
            {"d": 0.3, "active": False, "flexible": strip(0.5, 0.006, 1)}]}
    )  # fmt: skip
    run = simulate(robot, 0.05, motion=lambda t: ([t], [1], [0]), guess=[0], samples=20)
    assert np.abs(run.tau[:, 1]).max() < 1e-9 * np.abs(run.tau[:, 0]).max()
    assert np.abs(run.tau[:, 0]).max() > 0.1


def test_the_energy_that_joints_and_links_lose_is_in_the_balance() -> None:
    """Damped links of a tree, integrated with the motion; friction of loops with flexible links."""
    arm = cardan.load("flexible2r")
    run = simulate_any(arm, 0.3, duration=0.05)
    assert run.energy.friction[-1] > 0
    assert run.energy.drift < 1e-7
    robot = cardan.load("prrrp")
    rubbing = tuple(replace(joint, FV=5) if joint.active else joint for joint in robot.joints)
    loops = replace(robot, joints=rubbing)
    run = simulate_any(loops, duration=0.1, dt=1e-3, torque=[1.0, 2.0])
    assert run.energy.friction[-1] > 0.1 * run.energy.drives[-1]
    assert run.energy.drift < 1e-5
