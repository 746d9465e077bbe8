"""[B23] 3.2.1.3 and exercise 3.4.4: equations of state, transfer functions, block diagrams."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.control.diagram import block_diagram
from cardan.control.laws import joint_law
from cardan.control.transfer import transfer_functions
from cardan.describe.robot import Robot
from cardan.errors import CardanError
from cardan.motion.coordinates import coordinates
from cardan.simulation.statespace import state_space


def cartesian() -> Robot:
    """Two axes: m1 along the horizontal x carries m2 along the vertical z."""
    links = [
        {"joint": "prismatic", "gamma": "pi/2", "alpha": "pi/2", "M": "m1"},
        {"joint": "prismatic", "alpha": "-pi/2", "M": "m2"},
    ]
    return cardan.load({"name": "Cartesian", "gravity": [0, 0, "-g"], "link": links})


def pendulum() -> Robot:
    """(3.4) with viscous friction: I qdd + b qd + m g l cos q = tau."""
    link = {"M": "m", "MX": "m*l", "ZZ": "m*l^2", "FV": "b"}
    return cardan.load({"name": "arm", "gravity": [0, "-g", 0], "link": [link]})


def test_the_cartesian_robot_of_exercise_3_4_4() -> None:
    """tau1 = (m1 + m2) xdd, tau2 = m2 (zdd + g): its equations of state and transfer functions."""
    robot = cartesian()
    program = cardan.model(robot, "state-space")
    assert program.inputs["x"] == (4,)
    m1, m2, g = 3.0, 2.0, 9.81
    p = [{"m1": m1, "m2": m2, "g": g}[name] for name in program.parameters]
    found = program.evaluate(x=[0.3, 0.4, 0.5, 0.6], tau=[7.0, 8.0], p=p)
    near(found, [0.5, 0.6, 7 / (m1 + m2), 8 / m2 - g], 1e-14)
    assert "tau1/(m1 + m2)" in str(program.equations())
    G = transfer_functions(robot)
    assert str(G) == "q1/tau1 = 1/((m1 + m2)*s^2)\nq2/tau2 = 1/(m2*s^2)"
    assert G.coefficients(0, 0) == (["1"], ["m1 + m2", "0", "0"])
    picture = block_diagram(robot)
    ElementTree.fromstring(picture)
    assert picture.count("∫") == 2


def test_transfer_functions_of_one_arm() -> None:
    """About the hanging position; about the horizontal one gravity has no slope."""
    robot = pendulum()
    assert transfer_functions(robot, ["-pi/2"])[0, 0] == "1/(l^2*m*s^2 + b*s + g*l*m)"
    assert transfer_functions(robot, 0)[0, 0] == "1/(l^2*m*s^2 + b*s)"
    num, den = transfer_functions(robot, ["-pi/2"]).evaluate(0, 0, m=2, l=0.5, b=0.3, g=9.81)
    near(num, [1])
    near(den, [0.5, 0.3, 9.81], 1e-14)
    with pytest.raises(CardanError, match="have no value"):
        transfer_functions(robot).evaluate(0, 0, m=2)


def spring() -> Robot:
    """A motor, a damped spring and a link."""
    return cardan.load(
        {"name": "soft", "gravity": [0, "-g", 0], "link": [
            {"joint": "revolute", "IA": "I"},
            {"joint": "revolute", "stiffness": "k", "damping": "c", "ZZ": "J", "MX": "u"}]}
    )  # fmt: skip


@pytest.mark.parametrize("robot", [cardan.load("planar2r"), spring()], ids=lambda r: r.name)
def test_formulas_are_the_numbers_of_the_linear_system(robot: Robot) -> None:
    """G(s) of formulas against C (s - A)^-1 B of `linearise`, at some s."""
    rng = np.random.default_rng(3)
    values = {name: float(rng.uniform(0.5, 1.5)) for name in robot.parameters}
    values |= {"FS1": 0.0, "FS2": 0.0, "MY2": 0.1, "ZZ1": 3.0} if robot.name != "soft" else {}
    values = {name: values[name] for name in robot.parameters}
    q = [0.3, -0.7]
    G = transfer_functions(robot, q)
    linear = cardan.linearise(robot.with_values(values), q)
    for s in (0.7 + 1.1j, 2.3, -0.4j):
        expected = linear.C @ np.linalg.solve(s * np.eye(4) - linear.A, linear.B)
        for place in np.ndindex(expected.shape):
            num, den = G.evaluate(*place, **values)
            near(np.polyval(num, s) / np.polyval(den, s), expected[place], 1e-9)
    num, den = linear.transfer()
    at = num @ 2.0 ** np.arange(4, -1, -1) / np.polyval(den, 2.0)
    near(at, linear.C @ np.linalg.solve(2 * np.eye(4) - linear.A, linear.B), 1e-9)


@pytest.mark.parametrize("name", ["ur5", "fivebar"])
def test_equations_of_state_are_those_of_simulations(name: str) -> None:
    robot = cardan.load(name)
    on, rng = coordinates(robot), np.random.default_rng(0)
    q = on.first("q", [2.2, 0.9] if on.closed else rng.normal(size=on.nq))
    x, tau = np.append(q, rng.normal(size=on.nv)), rng.normal(size=on.nu)
    found = cardan.model(robot, "state-space").evaluate(x=x, tau=tau)
    near(found, state_space(robot, smooth=1e-12).program.evaluate(x=x, tau=tau), 1e-9)


def test_other_libraries_take_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = pendulum().with_values({"m": 2, "l": 0.5, "b": 0.3, "g": 9.81})
    linear = cardan.linearise(robot, [-np.pi / 2])
    system = linear.to_scipy()
    near(np.sort_complex(system.poles), np.sort_complex(np.roots([0.5, 0.3, 9.81])), 1e-9)
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(CardanError, match=r'pip install "cardan\[control\]"'):
        linear.to_control()
    taken: list[Any] = []
    monkeypatch.setitem(sys.modules, "control", SimpleNamespace(ss=lambda *x: taken.extend(x)))
    linear.to_control()
    near(taken[0], linear.A)


def test_a_picture_of_a_law_with_its_robot() -> None:
    robot = cardan.load("ur5")
    law = joint_law(robot, "pid", 1.0, 1.0, 1.0)
    picture = block_diagram(robot, law)
    ElementTree.fromstring(picture)
    for words in ("pid", "kp e + kd ed + ki z", "q_r, qd_r, qdd_r", "H(q, qd)"):
        assert words in picture
    assert picture.count("∫") == 3
    motion = cardan.trajectory(robot, 0.5, duration=1.0)
    watched = cardan.control.observed(robot, cardan.control.pd(robot, motion, 1.0, 1.0))
    assert watched.program.model == "control pd observed"
    assert "kp e + kd ed" in block_diagram(robot, watched)


def test_what_has_no_formulas_says_what_has() -> None:
    with pytest.raises(CardanError, match=r"use cardan\.linearise"):
        transfer_functions(cardan.load("fivebar"))
    with pytest.raises(CardanError, match="formulas are given up to 4"):
        transfer_functions(cardan.load("rx90"), 0.3)
    with pytest.raises(CardanError, match="its base floats"):
        cardan.model(cardan.floating(cardan.load("ur5")), "state-space")
