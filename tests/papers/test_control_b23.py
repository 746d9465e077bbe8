"""[B23] 3.2.1.3 and exercise 3.4.4: equations of state, transfer functions, block diagrams."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.control.compare import holding
from cardan.control.diagram import block_diagram
from cardan.control.laws import joint_law
from cardan.control.linear import Linear
from cardan.control.transfer import transfer_functions
from cardan.describe.robot import Robot
from cardan.describe.values.parser import to_value
from cardan.errors import CardanError
from cardan.motion.coordinates import coordinates
from cardan.motion.joints import friction_law
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
    values |= {"MY2": 0.1, "ZZ1": 3.0} if robot.name != "soft" else {}
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


ROUGH = {"FV": 0.3, "FS": 5, "FSA": 1, "FB": 2, "VB": 0.5, "FVA": 0.1, "FQ": 0.4}


@pytest.mark.parametrize("width", ["in the file", "asked for", ""])
def test_dry_friction_has_the_slope_of_its_width_or_none(width: str) -> None:
    """I s² + c s + m g l with c = FV + (FS + FB)/VS, and c = FV without a width: by both routes."""
    friction = {**ROUGH, **({"VS": 0.2} if width == "in the file" else {})}
    robot = cardan.load({"name": "arm", "gravity": [0, "-g", 0], "link": [
        {"M": "m", "MX": "m*l", "ZZ": "m*l^2", **friction}]})  # fmt: skip
    values = {"m": 2.0, "l": 0.5, "g": 9.81}
    smooth = 0.2 if width == "asked for" else None
    G = transfer_functions(robot, ["-pi/2"], smooth=smooth)
    linear = cardan.linearise(robot.with_values(values), [-np.pi / 2], smooth=smooth)
    expected = np.array([0.5, 0.3 + (7 / 0.2 if width else 0), 9.81])
    near(G.evaluate(0, 0, **values)[1], expected, 1e-12)
    near(linear.transfer()[1], expected / 0.5, 1e-12)
    without = ("FVA, FSA of joint1",) if width else ("FS, FVA, FSA, FB of joint1",)
    assert G.left_out == linear.left_out == without
    turning = cardan.linearise(robot.with_values(values), [-np.pi / 2], [1.0], smooth=smooth)
    assert turning.left_out == ()
    law = robot.joints[0]
    f, h = friction_law(replace(law, VS=to_value("0.2")) if width else law), 1e-6
    slope = (f.torque(1.0 + h) - f.torque(1.0 - h)) / (2 * h)
    near(turning.transfer()[1][1], slope / 0.5, 1e-6)


@pytest.mark.parametrize("kind", ["computed-torque", "task-space", "adaptive"])
def test_a_law_that_compensates_dry_friction_is_linearised_without_it(kind: str) -> None:
    """Whatever width it smooths with, and how wrong its friction is: poles of the smooth robot."""
    body = {"mass": 2, "com": [0.5, 0.1, 0], "inertia_com": [0.1, 0, 0, 0.1, 0, 0.2]}
    links = [body, {"d": 1.0, **body}, {"joint": "fixed", "d": 1.0}]
    arm = cardan.load({"name": "arm", "gravity": [0, -9.81, 0], "link": links})

    def linear(FS: float, known: float, gain: float = 0.0) -> Linear:
        on, seen = (
            replace(arm, joints=tuple(replace(j, FS=to_value(str(x))) for j in arm.joints[:2])
                    + arm.joints[2:])
            for x in (FS, known)
        )  # fmt: skip
        law = holding(seen, kind, 10.0, [0.3, -0.8])
        law = cardan.control.observed(seen, law, gain) if gain else law
        return cardan.linearise(on, [0.3, -0.8], law=law.program)

    for gain in (0.0, 40.0):
        smooth, *rubbing = (linear(*x, gain) for x in ((0, 0), (3, 3), (3, 1)))
        assert smooth.left_out == ()
        for x in rubbing:
            assert x.left_out == ("FS of joint1", "FS of joint2")
            near(np.poly(x.A[:4, :4]), np.poly(smooth.A[:4, :4]), 1e-9)
            near(np.abs(x.eigenvalues).max(), np.abs(smooth.eigenvalues).max(), 1e-6)


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
