"""The kernels of the equations of loops against the traced ones, and in other units of length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.loops.couplings import coupled
from tests.loops.mechanisms import MECHANISMS

import cardan
from cardan.describe.robot import Joint, Robot
from cardan.exact import exact
from cardan.ir.interpret import interpret
from cardan.loops.closing import close, open_by
from cardan.loops.numeric import equations
from cardan.loops.standing import standing

NAMES = [*MECHANISMS, "stewart", "delta", "orthoglide", "geared five-bar", "high gears"]


def robot_of(name: str) -> Robot:
    if name in MECHANISMS:
        return MECHANISMS[name]()
    return coupled(name) if " " in name else cardan.load(name)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_write_the_equations_of_the_page(name: str) -> None:
    robot = robot_of(name)
    rng = np.random.default_rng(0)
    system = equations(robot, {key: rng.uniform(0.3, 1.7) for key in robot.parameters})
    assert system.fits
    q = system.random(rng, 4)
    inputs: dict[str, Any] = {"q": q, "p": system.p}
    for code, own, key in (
        (system.residual, system.r(q), "r"),
        (system.jacobian, system.J(q), "J"),
    ):
        expected = interpret(code, {name: inputs[name] for name in code.inputs})[key]
        np.testing.assert_allclose(own, expected, atol=1e-12)


def test_larger_robots_than_there_is_room_for_close_too() -> None:
    """Newton's method on arrays and in a kernel goes the same way."""
    robot = cardan.load("stewart")
    system = equations(robot)
    start = system.random(np.random.default_rng(1), 40)
    own, closed = system.close(start, range(system.n))
    large = equations(robot)
    large.__dict__["fits"] = False
    other, also = large.close(start, range(system.n))
    assert closed.mean() > 0.5
    assert (closed == also).mean() > 0.9
    same = closed & also & (np.abs(own - other).max(axis=1) < 1e-8)
    assert same.mean() > 0.8 * closed.mean()


def test_the_kernels_run_in_python() -> None:
    robot = cardan.load("fivebar")
    system = equations(robot)
    start = system.random(np.random.default_rng(2), 1)
    q, closed = system.close(start, [1, 3])
    tables = {key: list(table) for key, table in system.tables.items()}
    from cardan.inverse.numeric.kernels import Tree
    from cardan.kernel.records import view
    from cardan.loops.closing import Closings, Free, Outcome

    frames, loops = view(Tree, tables["frames"]), view(Closings, tables["loops"])
    free = view(Free, list(system.free([1, 3], np.ones(4), 80)))
    found, info = [0.0] * 4, Outcome()
    close(list(start[0]), frames, loops, free, found, info)
    assert info.closed == closed[0]
    np.testing.assert_allclose(found, q[0], atol=1e-12)
    r, J = [0.0] * 6, [0.0] * 12
    open_by(found, frames, loops, free, r, J)
    np.testing.assert_allclose(r, system.r(q)[0], atol=1e-15)
    np.testing.assert_allclose(np.reshape(J, (6, 2)), system.J(q)[0][:, [1, 3]], atol=1e-14)


def scaled(robot: Robot, unit: str) -> Robot:
    """The robot with its lengths multiplied."""

    def frame(x: Joint) -> Joint:
        home = None if x.home is None or x.sigma != 1 else x.home * exact(unit)
        lengths = {key: getattr(x, key) * exact(unit) for key in ("b", "d", "r")}
        return replace(x, **lengths, **({} if home is None else {"home": home}))

    loops = tuple(replace(x, cut=frame(x.cut), twin=frame(x.twin)) for x in robot.loops)
    return replace(robot, joints=tuple(map(frame, robot.joints)), loops=loops)


@pytest.mark.parametrize("name", ["fivebar", "prrrp-rigid"])
def test_a_robot_stands_alike_in_any_unit_of_length(name: str) -> None:
    robot = cardan.load(name)
    slides = np.array([joint.sigma == 1 for joint in robot.joints if joint.sigma != 2])
    home = standing(robot)
    for unit in ("0.001", "1000"):
        expected = home * np.where(slides, float(unit), 1)
        away = (standing(scaled(robot, unit)) - expected) / np.where(slides, float(unit), 1)
        assert np.abs(away).max() < 1e-6
