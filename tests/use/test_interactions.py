"""Interactions that a file declares, against the same laws as Python functions and by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.describe.robot import Robot
from cardan.simulation.contact import ground, together
from cardan.simulation.interactions import interactions
from cardan.simulation.scene import Links, links_program
from cardan.simulation.simulate import rollouts
from cardan.simulation.statespace import state_space

EEL = Path(__file__).resolve().parents[2] / "examples" / "eel.toml"
BALL = {
    "name": "ball",
    "base": {"kind": "floating", "mass": 2, "inertia_com": [0.1, 0, 0, 0.2, 0, 0.3]},
    "link": [{"mass": 1, "com": [0.1, 0, 0], "inertia_com": [0.1, 0, 0, 0.1, 0, 0.1], "d": 0.2}],
    "contact": [{"link": 1, "points": [[0.1, 0, -0.2], [0, 0.1, -0.2]], "stiffness": 3000,
                 "damping": 40, "friction": 0.6, "slip": 0.02, "height": 0.1}],
    "drag": [{"link": [0, 1], "at": [0.1, 0.2, 0.3], "linear": [1, 2, 3], "turning": [0.1, 0, 0.2],
              "quadratic": [0.5, 0, 4], "turning_quadratic": [0, 0.3, 0], "fluid": [1, -0.5, 0.2]}],
    "thruster": [{"link": 0, "at": [0, 0.1, 0], "direction": [0.6, 0, 0.8], "force": 5}],
}  # fmt: skip


@cache
def ball() -> Robot:
    return cardan.load(BALL)


def drag(links: Links) -> dict[int, np.ndarray]:
    """The drag of BALL, written anew."""
    p, loads = np.array([0.1, 0.2, 0.3]), {}
    for j in (0, 1):
        V = links.V[j]
        v = V[:3] + np.cross(V[3:], p) - links.T[j, :3, :3].T @ [1, -0.5, 0.2]
        f = -(np.array([1, 2, 3]) * v + np.array([0.5, 0, 4]) * np.abs(v) * v)
        n = -(np.array([0.1, 0, 0.2]) * V[3:] + np.array([0, 0.3, 0]) * np.abs(V[3:]) * V[3:])
        loads[j] = np.r_[f, np.cross(p, f) + n]
    return loads


def thrust(links: Links) -> dict[int, np.ndarray]:
    f = 5 * np.array([0.6, 0, 0.8])
    return {0: np.r_[f, np.cross([0, 0.1, 0], f)]}


def python_loads() -> Any:
    points = {1: [[0.1, 0, -0.2], [0, 0.1, -0.2]]}
    floor = ground(points, stiffness=3000, damping=40, friction=0.6, slip=0.02, height=0.1)
    return together(floor, drag, thrust)


def test_wrenches() -> None:
    """Of the program, and of the functions at random states, in the ground and above it."""
    robot, rng = ball(), np.random.default_rng(2)
    program = interactions(robot).compile()
    links = links_program(robot).compile()
    for height in (0.1, 0.35, 2.0):
        q, qd, V0 = rng.normal(size=1), rng.normal(size=1), rng.normal(size=6)
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        R *= np.sign(np.linalg.det(R))
        P = np.array([1.0, 2.0, height])
        found = program(q=q, qd=qd, V0=V0, R0=R, P0=P, thrust=np.ones(1))
        poses = links(q=q, qd=qd, V0=V0, g0=np.zeros(3))
        T, V = np.tile(np.eye(4), (2, 1, 1)), np.array([V0, poses.V[0]])
        T[0, :3, :3], T[0, :3, 3], T[1, :3] = R, P, poses.T[0]
        T[1] = T[0] @ T[1]
        loads = python_loads()(Links(0.0, q, qd, T, V))
        wrenches = np.array([loads[0], loads[1]])
        near(found.f_e, -wrenches, 1e-12)
        near(found.power, (wrenches * V).sum(), 1e-12)


def test_the_same_motion() -> None:
    """Declared, and as Python functions; the energy balance holds; rollouts go the same way."""
    robot = ball()
    start: dict[str, Any] = {"base_pose": _placed(0.6), "base_twist": [0.3, 0, 0, 0, 0.5, 0]}
    run = cardan.simulate(robot, 0.2, duration=0.5, rtol=1e-10, **start)
    bare = replace(robot, interactions=())
    other = cardan.simulate(bare, 0.2, duration=0.5, rtol=1e-10, loads=python_loads(), **start)
    near(run.q, other.q, 1e-7)
    assert run.T0 is not None
    assert other.T0 is not None
    near(run.T0, other.T0, 1e-7)
    assert run.T0[:, 2, 3].min() < 0.45  # it touched the ground
    assert run.energy is not None
    assert run.energy.drift < 1e-7
    space = state_space(robot)
    x0 = space.state([0.2], [0.0], [0, 0, 0.6], (1, 0, 0, 0), [0.3, 0, 0, 0, 0.5, 0])
    last = rollouts(space, x0, step=5e-5, steps=10000, tau=[0.0], thrust=[1.0])
    near(last[1:4], run.T0[-1, :3, 3], absolute=1e-6)


def _placed(height: float) -> np.ndarray:
    T = np.eye(4)
    T[2, 3] = height
    return T


def test_a_terminal_velocity() -> None:
    """A body that falls through a fluid: m g = b v²."""
    robot = cardan.load({
        "name": "stone", "base": {"kind": "floating", "mass": 2, "inertia_com": [1, 0, 0, 1, 0, 1]},
        "link": [{"mass": 1, "inertia_com": [1, 0, 0, 1, 0, 1]}],
        "drag": [{"link": 0, "quadratic": [0, 0, 4]}],
    })  # fmt: skip
    run = cardan.simulate(robot, duration=5)
    assert run.V0 is not None
    near(run.V0[-1, 2], -np.sqrt(3 * 9.81 / 4), 1e-8)


def test_it_rests_on_the_ground() -> None:
    """A slide with a foot stands where its spring carries it."""
    robot = cardan.load({
        "name": "foot",
        "link": [{"joint": "prismatic", "mass": 3, "active": False}],
        "contact": [{"link": 1, "stiffness": 1e4, "damping": 300}],
    })  # fmt: skip
    run = cardan.simulate(robot, 0.05, duration=2)
    near(run.q[-1, 0], -3 * 9.81 / 1e4, 1e-6)


def test_thrust() -> None:
    robot = ball()
    free = replace(robot, gravity=(0, 0, 0), interactions=robot.interactions[-1:])
    run = cardan.simulate(free, duration=0.1, thrust=lambda t: [2 * t])
    assert run.V0 is not None
    momentum = cardan.model(free, "generalized-momentum").compile()
    R = run.T0[-1, :3, :3]  # type: ignore[index]
    h = momentum(q=run.q[-1], qd=run.qd[-1], V0=run.V0[-1])[:3]
    near(R @ h, 5 * 0.01 * np.array([0.6, 0, 0.8]), absolute=1e-3)
    with pytest.raises(cardan.InputError, match="has no thruster"):
        cardan.simulate(cardan.load("cartpole"), duration=0.1, thrust=1)


def test_files(tmp_path: Path) -> None:
    eel = cardan.load(EEL)
    assert len(eel.interactions) == 9
    for robot in (eel, ball()):
        robot.save(tmp_path / "robot.toml")
        assert cardan.load(tmp_path / "robot.toml").interactions == robot.interactions
    with pytest.raises(cardan.CardanError, match="drag"):
        eel.save(tmp_path / "eel.urdf")
    symbolic = cardan.load({**BALL, "thruster": [{"link": 0, "force": "F"}]})
    assert symbolic.parameters[-1] == "F"
    assert symbolic.with_values({"F": 3}).interactions[-1].force == 3  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"contact": [{"link": 1, "stiffness": -1}]}, "stiffness = -1; 0 or more"),
        ({"contact": [{"link": 1, "slip": 0}]}, "a positive speed is expected"),
        ({"contact": [{"link": 1, "normal": [0, 0, 2]}]}, "normal has another length than 1"),
        ({"drag": [{"link": 7}]}, "is on link 7, which does not exist"),
        ({"drag": [{"linear": [1, 1, 1]}]}, "the drag has no link"),
        ({"drag": [{"link": 1, "linear": [1, 1]}]}, "linear must be a list of 3 values"),
        ({"thruster": [{"link": 1, "push": 2}]}, "'push' is not a field here"),
        ({"thruster": [{"link": "tail", "force": 2}]}, "'tail' is no link"),
    ],
)
def test_faults(part: dict[str, Any], words: str) -> None:
    with pytest.raises(cardan.DescriptionError, match=words):
        cardan.load(BALL | {"contact": [], "drag": [], "thruster": []} | part)


def test_torques_of_a_motion_say_that_they_leave_out_the_surroundings() -> None:
    body = {"mass": 1, "com": [0.2, 0, 0], "inertia_com": [0.01, 0, 0, 0.02, 0, 0.02]}
    drag = {"link": 1, "linear": [1, 5, 5]}
    robot = cardan.load({"gravity": [0, 0, 0], "link": [body], "drag": [drag]})
    motion = cardan.trajectory(robot, 0.5, duration=1.0)
    with pytest.warns(cardan.CardanWarning, match=r"without its contacts.*simulate"):
        cardan.torques(robot, motion)
