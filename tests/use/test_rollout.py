"""Rollouts in compiled code against the same steps in NumPy, and against adaptive simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robots import arm, floating_snake, pendulum

import cardan
from cardan.errors import CardanError
from cardan.run.rollout import METHODS, Rollout
from cardan.simulation.simulate import rollouts, simulate
from cardan.simulation.statespace import state_space
from random_robots import random_robot


def by_hand(method: str, f: Any, x: np.ndarray, h: float, positions: int) -> np.ndarray:
    """One step in NumPy."""
    if method == "rk4":
        k1 = f(x)
        k2 = f(x + h / 2 * k1)
        k3 = f(x + h / 2 * k2)
        k4 = f(x + h * k3)
        return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if method == "euler":
        found = x + h * f(x)
        mixed = np.concatenate([x[..., :positions], found[..., positions:]], -1)
        found[..., :positions] = x[..., :positions] + h * f(mixed)[..., :positions]
        return found
    middle = x
    for _ in range(8):
        rate = f(middle)
        middle = x + h / 2 * rate
    return x + h * rate


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["arm", "floating", "tree"])
def test_compiled_steps_are_the_steps(method: str, kind: str) -> None:
    robot = {
        "arm": arm, "floating": lambda: floating_snake(2),
        "tree": lambda: random_robot(3, n=4, symbolic=False, base_motion=False),
    }[kind]()  # fmt: skip
    space = state_space(robot)
    rng = np.random.default_rng(0)
    count = 70  # not a whole number of blocks
    x0 = rng.uniform(-1, 1, (count, space.size))
    tau = rng.uniform(-1, 1, (count, robot.n))
    run = Rollout(space.program, method, positions=space.positions)
    found = run(x0, step=1e-3, steps=7, every=3, tau=tau)
    assert found.shape == (count, 3, space.size)
    f = space.program.compile()
    x = x0
    expected = [x0]
    for k in range(7):
        x = by_hand(method, lambda y: f(x=y, tau=tau), x, 1e-3, space.positions)
        if k in (2, 5):
            expected.append(x)
    np.testing.assert_allclose(found, np.stack(expected, 1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run(x0, step=1e-3, steps=7, tau=tau), x, rtol=1e-9, atol=1e-9)


def test_inputs_may_change_at_every_step() -> None:
    robot = arm()
    space = state_space(robot)
    rng = np.random.default_rng(0)
    x0 = rng.uniform(-1, 1, (5, 3, space.size))
    each = rng.uniform(-1, 1, (5, 3, 6, robot.n))
    found = rollouts(space, x0, step=1e-3, steps=6, stepped={"tau": each})
    f = space.program.compile()
    x = x0
    for k in range(6):
        x = by_hand("rk4", lambda y, k=k: f(x=y, tau=each[..., k, :]), x, 1e-3, robot.n)
    np.testing.assert_allclose(found, x, rtol=1e-11)
    same = rollouts(space, x0, step=1e-3, steps=6, stepped={"tau": each[0, 0]})
    np.testing.assert_allclose(same[0, 0], found[0, 0], rtol=1e-12)


def test_threads_and_pickles_give_the_same_bits() -> None:
    space = state_space(pendulum())
    x0 = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    run = Rollout(space.program)
    one = run(x0, step=1e-3, steps=50, tau=np.zeros(1))
    restore, arguments = run.__reduce__()
    again = restore(*arguments)(x0, step=1e-3, steps=50, tau=np.zeros(1), threads=2)
    np.testing.assert_array_equal(one, again)
    single = Rollout(space.program, dtype="float32")(x0, step=1e-3, steps=50, tau=np.zeros(1))
    np.testing.assert_allclose(single, one, atol=1e-4)


def test_a_rollout_is_a_simulation() -> None:
    for robot, parts in ((arm(), {}), (floating_snake(2), {"V0": [0, 0, 0, 1, 2, 3]})):
        space = state_space(robot)
        n = robot.n
        x0 = space.state(np.full(n, 0.3), np.full(n, 0.1), **parts)
        x = rollouts(space, x0, step=1e-3, steps=300, tau=np.zeros(n))
        run = simulate(robot, 0.3, 0.1, duration=0.3, base_twist=parts.get("V0", 0.0))
        np.testing.assert_allclose(x[:n], run.q[-1], atol=1e-7)
        if run.T0 is not None:
            np.testing.assert_allclose(x[n : n + 3], run.T0[-1, :3, 3], atol=1e-7)
            assert np.linalg.norm(x[n + 3 : n + 7]) == pytest.approx(1, abs=1e-9)


def test_parameter_sets_may_differ_between_rollouts() -> None:
    """A program with p: one set for all, or one per state; both are those of fixed numbers."""
    from dataclasses import replace

    from cardan.ir.passes import inline
    from cardan.ir.trace import Tracer
    from cardan.program import Program

    robot = cardan.load("planar2r")
    direct = cardan.model(robot, "direct-dynamics")
    tracer = Tracer()
    x, tau = tracer.array("x", 4), tracer.array("tau", 2)
    p = tracer.array("p", len(direct.parameters))
    found = inline(tracer.graph, direct.code, {"q": x[:2], "qd": x[2:], "tau": tau, "p": p})
    code, _ = tracer.program({"xd": ((4,), [*x[2:], *found["qdd"]])})
    program = Program("state-space", robot.name, code, direct.parameters)
    rng = np.random.default_rng(0)
    count = 20
    values = rng.uniform(0.5, 1.5, (count, len(program.parameters)))
    x0, tau_ = rng.uniform(-1, 1, (count, 4)), rng.uniform(-1, 1, (count, 2))
    several = Rollout(program)(x0, step=1e-3, steps=20, tau=tau_, p=values)
    for k in (0, 7, 19):
        named = dict(zip(program.parameters, values[k].tolist(), strict=True))
        fixed = robot.with_values({**dict.fromkeys(robot.parameters, 1), **named})
        alone = replace(fixed, name="alone")
        expected = rollouts(alone, x0[k], step=1e-3, steps=20, tau=tau_[k])
        np.testing.assert_allclose(several[k], expected, rtol=1e-8, atol=1e-10)
        one = Rollout(program)(x0[k], step=1e-3, steps=20, tau=tau_[k], p=values[k])
        np.testing.assert_allclose(several[k], one, rtol=1e-10)


def test_bad_input_is_named() -> None:
    space = state_space(pendulum())
    for change, words in (
        ({"x0": np.zeros(3)}, r"x0 has shape \(3,\); expected \(..., 2\)"),
        ({"steps": 0}, "cannot be"),
        ({"tau": np.zeros(2)}, r"input 'tau' has shape \(2,\)"),
        ({"force": np.zeros(2)}, "no input 'force'"),
    ):
        given = {"x0": np.zeros(2), "step": 1e-3, "steps": 3, "tau": np.zeros(1), **change}
        with pytest.raises(CardanError, match=words):
            rollouts(space, **given)  # type: ignore[arg-type]
    with pytest.raises(CardanError, match="no fixed-step method 'rk5'"):
        rollouts(space, np.zeros(2), step=1e-3, steps=3, method="rk5", tau=[0])
    with pytest.raises(CardanError, match="needs a program x"):
        Rollout(cardan.model(pendulum(), "gravity"))


def test_a_closed_robot_rolls_out_as_it_simulates() -> None:
    robot = cardan.load("fivebar")
    q0 = cardan.model(robot, "loop-geometry").solve([2.2, 0.9])[1]
    space = state_space(robot)
    assert space.size == 6
    x = rollouts(space, np.concatenate([q0, [0, 0]]), step=1e-4, steps=1000, tau=np.zeros(2))
    run = simulate(robot, q0, duration=0.1)
    np.testing.assert_allclose(x[:4], run.q[-1], atol=1e-8)
