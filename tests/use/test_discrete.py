"""Steps in discrete time and their gradients, against complex steps and differences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import near
from tests.laws.draw import draw_elastic
from tests.laws.traced import complex_step, inputs_of
from tests.pages import run_page
from tests.random_robots import random_robot

import cardan
from cardan.simulation.discrete import METHODS


@pytest.mark.parametrize("method", METHODS)
def test_A_and_B_are_those_of_the_step(method: str) -> None:
    """Complex steps of the step's own end; fourth order beside the others."""
    robot = draw_elastic(random_robot(5, 4, base_motion=False), np.random.default_rng(5))
    program = cardan.discretise(robot, method, effort="plain")
    x = inputs_of(program, np.random.default_rng(1)) | {"h": np.full((3, 1), 0.02)}
    ends = program.evaluate(**x)
    blocks = {
        wrt: np.concatenate(
            [complex_step(program.code, y, wrt, x) for y in ("q_next", "qd_next")], 1
        )
        for wrt in ("q", "qd", "tau")
    }
    near(ends.A, np.concatenate([blocks["q"], blocks["qd"]], -1), 1e-10)
    near(ends.B, blocks["tau"], 1e-10)


def test_the_methods_have_their_order() -> None:
    """A pendulum's motion of 0.2 s: half the step, 1/2 or 1/16 of the error."""
    robot = cardan.load("cartpole")
    q, qd = np.array([0.1, 0.5]), np.array([0.0, 0.3])
    fine = cardan.rollout_gradient(robot, q, qd, np.zeros((400, 2)), 5e-4, method="rk4")
    for method, order in (("euler", 1), ("semi-implicit", 1), ("rk4", 4)):
        program = cardan.discretise(robot, method)
        errors = []
        for steps in (10, 20):
            run = cardan.rollout_gradient(program, q, qd, np.zeros((steps, 2)), 0.2 / steps)
            errors.append(np.abs(run.x[-1] - fine.x[-1]).max())
        assert 0.7 * 2**order < errors[0] / errors[1] < 1.4 * 2**order, method


def test_gradients_of_a_rollout() -> None:
    """Sensitivities and adjoint against differences of a batch of motions."""
    robot = cardan.load("cartpole")
    program, rng, h = cardan.discretise(robot), np.random.default_rng(2), 1e-6
    x0, tau = rng.normal(size=4), rng.normal(size=(6, 2))

    def run(x: np.ndarray, u: np.ndarray) -> cardan.RolloutGradient:
        return cardan.rollout_gradient(program, x[..., :2], x[..., 2:], u, 0.05)

    middle = run(x0, tau)
    steps = h * np.eye(4)
    by_x0, by_tau = middle.sensitivities()
    ends = (run(x0 + steps, tau).x - run(x0 - steps, tau).x)[:, -1] / (2 * h)
    near(by_x0, ends.T, 1e-7)
    bumps = h * np.eye(12).reshape(12, 6, 2)
    ends = (run(x0, tau + bumps).x - run(x0, tau - bumps).x)[:, -1] / (2 * h)
    near(by_tau, ends.T.reshape(4, 6, 2).transpose(1, 0, 2), 1e-7)

    weights = rng.normal(size=(7, 4))
    gradient_x0, gradient = middle.adjoint(weights, by_tau=tau)

    def cost(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.einsum("...ki,ki", run(x, u).x, weights) + 0.5 * (u**2).sum((-2, -1))

    near(gradient_x0, (cost(x0 + steps, tau) - cost(x0 - steps, tau)) / (2 * h), 1e-7)
    slope = (cost(x0, tau + bumps) - cost(x0, tau - bumps)) / (2 * h)
    near(gradient, slope.reshape(6, 2), 1e-7)


def test_errors_say_what_to_do() -> None:
    with pytest.raises(cardan.ModelError, match="tree"):
        cardan.discretise(cardan.load("fivebar"))
    with pytest.raises(cardan.UnknownNameError, match="method"):
        cardan.discretise(cardan.load("cartpole"), "verlet")
    with pytest.raises(cardan.InputError, match="steps"):
        cardan.rollout_gradient(cardan.load("cartpole"), [0, 0], [0, 0], [0, 0], 0.1)
    program = cardan.model(cardan.load("cartpole"), "gravity")
    with pytest.raises(cardan.InputError, match="discretise"):
        cardan.rollout_gradient(program, [0, 0], [0, 0], [[0, 0]], 0.1)
    program, rest, tau = cardan.discretise(cardan.load("cartpole")), [0, 0], np.zeros((3, 2))
    run = cardan.rollout_gradient
    with pytest.raises(cardan.InputError, match="has a method already"):
        run(program, rest, rest, tau, 0.1, method="rk4")
    for step in (np.nan, 0.0, -0.1):
        with pytest.raises(cardan.InputError, match="above 0"):
            run(program, rest, rest, tau, step)
    with pytest.raises(cardan.InputError, match="real numbers"):
        run(program, rest, rest, tau + 1j, 0.1)
    with pytest.raises(cardan.InputError, match=r"'q' has shape \(3,\)"):
        run(program, [0, 0, 0], rest, tau, 0.1)
    with pytest.raises(cardan.InputError, match="do not broadcast"):
        run(program, np.zeros((4, 2)), np.zeros((5, 2)), tau, 0.1)
    motion = run(program, rest, rest, tau, 0.1)
    with pytest.raises(cardan.InputError, match=r"by_tau has shape \(2,\); expected \(..., 3, 2\)"):
        motion.adjoint(motion.x, by_tau=[0, 0])
    by_x0, by_tau = motion.adjoint(np.stack([motion.x, 2 * motion.x]))
    assert (by_x0.shape, by_tau.shape) == ((2, 4), (2, 3, 2))


def test_the_page() -> None:
    run_page("derivatives.md")
