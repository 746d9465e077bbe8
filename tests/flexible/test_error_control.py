"""Motions whose steps are chosen for the user: as accurate as asked for, and they say how much."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.describe.robot import Robot
from cardan.errors import CardanWarning, InputError
from cardan.motion.trajectory import move
from cardan.simulation import stiff
from cardan.simulation.result import Simulation
from cardan.simulation.simulate import simulate as simulate_any
from cardan.simulation.stiff import simulate

LAW = move([0, 0], [0.1, 0.2], law="bang-bang", duration=0.75)


def prrrp(elements: int) -> Robot:
    """The robot of [BK13] section V, each beam of some elements."""
    robot = cardan.load("prrrp")

    def refined(link: Any) -> Any:
        if link.flexible is None:
            return link
        return replace(link, flexible=replace(link.flexible, elements=elements))

    return replace(robot, links=tuple(map(refined, robot.links)))


def tip(run: Simulation) -> np.ndarray:
    return run.velocity("platform")[:, :3]


def test_the_default_meets_the_reference_of_section_5() -> None:
    """Stiff: 4 elements. Fine steps of rk4 are the reference; 2e-4 m/s of a peak of 0.38 m/s."""
    robot = prrrp(4)
    run = simulate(robot, 0.75, motion=LAW)
    fine = simulate(robot, 0.75, motion=LAW, method="rk4", step=0.75 / 300_000)
    apart = np.abs(tip(run) - tip(fine)).max()
    assert apart < 2e-4
    assert fine.error is None
    assert run.error is not None
    assert run.error.velocity < 1e-3
    assert apart < 5 * run.error.velocity
    near(run.q, fine.q, absolute=1.5 * run.error.position)
    assert "estimated error" in repr(run)


@pytest.mark.parametrize("method", ["auto", "rk4", "generalized-alpha"])
def test_the_estimate_covers_the_error(method: str) -> None:
    robot = cardan.load("flexible1r")
    drive = move([0], [0.6], law="quintic", duration=0.3)
    fine = simulate(robot, 0.3, motion=drive, method="rk4", step=0.3 / 60_000, samples=60)
    for rtol in (3e-2, 3e-3):
        run = simulate(robot, 0.3, motion=drive, method=method, rtol=rtol, samples=60)
        assert run.error is not None
        error = np.abs(run.q - fine.q).max()
        assert error <= 1.5 * run.error.position + 1e-9
        assert run.error.position <= rtol * np.abs(run.q - run.q[0]).max()


def test_a_plain_function_and_a_trajectory_drive_alike() -> None:
    robot = prrrp(1)
    runs = [simulate(robot, 0.1, motion=law, samples=20) for law in (LAW, lambda t: LAW(t))]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-14)
    free = simulate(robot, 0.1, samples=20, q_a=[0, 0.1])
    pushed = simulate(robot, 0.1, torque=lambda t: [0.0, 0.0], samples=20, q_a=[0, 0.1])
    np.testing.assert_array_equal(free.q, pushed.q)


def test_implicit_steps_where_explicit_ones_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice is made by counted operations: the same on every machine."""
    robot = cardan.load("flexible1r")
    drive = move([0], [0.6], law="quintic", duration=0.3)
    options: dict[str, Any] = {"motion": drive, "samples": 30, "rtol": 3e-2}
    cheap = simulate(robot, 0.3, **options)
    assert cheap.method == "rk4"
    monkeypatch.setattr(stiff, "_CHEAP", 0)
    monkeypatch.setattr(stiff._Run, "implicit_cost", lambda run: 1.0)
    other = simulate(robot, 0.3, **options)
    assert other.method == "generalized-alpha"
    assert other.error is not None
    near(other.q, cheap.q, 5e-2)
    monkeypatch.setattr(stiff._Run, "implicit_cost", lambda run: 1e12)
    assert simulate(robot, 0.3, **options).method == "rk4"


def test_a_motion_that_cannot_be_had_so_exactly_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = cardan.load("flexible1r")
    monkeypatch.setattr(stiff, "_HALVINGS", 2)
    with pytest.warns(CardanWarning, match=r"estimated error of .* times what rtol = 1e-13"):
        simulate(robot, 0.2, qd=[3, *[0] * robot.ne], rtol=1e-13, samples=20)
    with pytest.raises(InputError, match="rtol = -1"):
        simulate(robot, 0.2, rtol=-1)


def test_laws_and_solvers_of_scipy_estimate_too() -> None:
    robot = cardan.load("flexible1r")
    law = simulate(robot, 0.1, law=lambda t, q, qd: [0.1 - 0.1 * qd[0]], samples=20)
    assert law.error is not None
    assert 0 <= law.error.position < 1e-3
    drive = move([0], [0.6], law="quintic", duration=0.3)
    fine = simulate(robot, 0.3, motion=drive, method="rk4", step=0.3 / 60_000, samples=30)
    run = simulate(robot, 0.3, motion=drive, method="radau", samples=30)
    assert run.error is not None
    near(run.q, fine.q, absolute=1.5 * run.error.position)


def test_rigid_robots_and_flexible_loops_report_their_error() -> None:
    arm = cardan.load("ur5")
    start = [0.1, -0.5, 0.3, 0.2, 0.1, 0.2]
    sharp = simulate_any(arm, start, duration=0.5, friction="none", rtol=1e-13, atol=1e-15)
    for rtol in (1e-4, 1e-7):
        run = simulate_any(arm, start, duration=0.5, friction="none", rtol=rtol, atol=1e-12)
        assert run.error is not None
        worst = np.abs(run.q - sharp.q).max(), np.abs(run.qd - sharp.qd).max()
        assert worst[0] < 3 * run.error.position
        assert worst[1] < 3 * run.error.velocity
        assert run.error.position < 100 * rtol
    stiff = simulate_any(arm, start, duration=0.1, friction="none", method="Radau", rtol=1e-6)
    assert stiff.error is not None
    fixed = simulate_any(arm, start, duration=0.1, friction="none", method="rk4", step=1e-3)
    assert fixed.error is None
    loop = simulate_any(prrrp(1), duration=0.05, motion=LAW)
    assert loop.error is not None
    assert "estimated error" in repr(loop)
