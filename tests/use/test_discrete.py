"""Steps in discrete time and their gradients, against complex steps and differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.compare import near
from tests.laws.draw import draw_elastic
from tests.laws.traced import complex_step, inputs_of
from tests.pages import run_page
from tests.random_robots import random_robot

import cardan
from cardan.algebra import so3
from cardan.describe.interactions import Drag
from cardan.describe.world import gravity_in_world
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


@pytest.mark.parametrize("method", ["euler", "semi-implicit"])
def test_a_floating_base_in_its_tangent_space(method: str) -> None:
    """The step, and A and B, by Pinocchio's integrate, dIntegrate and analytic derivatives."""
    pin = pytest.importorskip("pinocchio")
    from tests.laws.free_flyer import flyer

    robot, two = flyer(4, 2)
    model, data, x, n, h = two.model, two.data, two.state, robot.n, 0.05
    model.gravity.linear = gravity_in_world(robot)
    program = cardan.discretise(robot, method, effort="plain")
    rng = np.random.default_rng(0)
    for k in range(2):
        turn = pin.Quaternion(rng.normal(size=4)).normalized()
        q = np.r_[rng.normal(size=3), turn.coeffs(), x["q"][k]]
        v, tau = np.r_[x["V0"][k], x["qd"][k]], rng.normal(size=n)
        a = pin.aba(model, data, q, v, np.r_[np.zeros(6), tau])
        new = v + h * a
        used = v if method == "euler" else new
        pose = pin.XYZQUATToSE3(q[:7]).homogeneous
        state = {"q": x["q"][k], "qd": x["qd"][k], "T0": pose, "V0": x["V0"][k]}
        end = program.evaluate(**state, tau=tau, h=[h])
        after = pin.integrate(model, q, h * used)
        near(end.T0_next, pin.XYZQUATToSE3(after[:7]).homogeneous, 1e-12)
        near(end.q_next, after[7:], 1e-12)
        near(np.r_[end.V0_next, end.qd_next], new, 1e-11)
        pin.computeABADerivatives(model, data, q, v, np.r_[np.zeros(6), tau])
        unit, inverse = np.eye(n + 6), np.triu(data.Minv) + np.triu(data.Minv, 1).T
        rows = [h * data.ddq_dq, unit + h * data.ddq_dv, h * inverse[:, 6:]]
        place, moved = (pin.dIntegrate(model, q, h * used, arg) for arg in (pin.ARG0, pin.ARG1))
        slopes = rows if method == "semi-implicit" else [0 * rows[0], unit, 0 * rows[2]]
        top = [h * moved @ slope for slope in slopes]
        top[0] = top[0] + place
        near(end.A, np.block([top[:2], rows[:2]]), 1e-10)
        near(end.B, np.vstack([top[2], rows[2]]), 1e-10)


def test_gradients_of_a_floating_rollout() -> None:
    """Sensitivities and adjoint against differences of motions whose first pose is displaced; the
    motion is that of a simulation."""
    robot = cardan.floating(cardan.load("cartpole"), 3)
    program, rng, h = cardan.discretise(robot, effort="plain"), np.random.default_rng(3), 1e-6
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = so3.exp([0.3, -0.5, 0.8]), [0.1, 0.2, 0.3]
    q, qd, V0, tau = (rng.normal(size=size) for size in (2, 2, 6, (5, 2)))

    def run(dx: np.ndarray) -> cardan.RolloutGradient:
        turns = np.zeros((*dx.shape[:-1], 4, 4))
        turns[..., :3, :3], turns[..., :3, 3], turns[..., 3, 3] = (
            so3.exp(dx[..., 3:6]),
            dx[..., :3],
            1,
        )
        return cardan.rollout_gradient(
            program, q + dx[..., 6:8], qd + dx[..., 14:], tau, 0.04, base_pose=pose @ turns,
            base_twist=V0 + dx[..., 8:14],
        )  # fmt: skip

    middle = run(np.zeros(16))
    steps = h * np.eye(16)
    ahead, behind = run(steps), run(-steps)
    last = middle.T0[-1]
    relative = [np.linalg.inv(last) @ end.T0[:, -1] for end in (ahead, behind)]
    places = (relative[0] - relative[1]) / (2 * h)
    turns = np.stack([places[:, 2, 1], places[:, 0, 2], places[:, 1, 0]], -1)
    columns = [places[:, :3, 3], turns]
    for name in ("q", "V0", "qd"):
        columns.append((getattr(ahead, name) - getattr(behind, name))[:, -1] / (2 * h))
    by_x0, by_tau = middle.sensitivities()
    near(by_x0, np.concatenate(columns, -1).T, 1e-7)
    weights = np.zeros((6, 16))
    weights[-1] = rng.normal(size=16)
    gradient_x0, gradient = middle.adjoint(weights)
    near(gradient_x0, weights[-1] @ by_x0, 1e-12)
    near(gradient, np.einsum("i,kij->kj", weights[-1], by_tau), 1e-12)
    fine = cardan.rollout_gradient(
        program, q, qd, np.tile(tau[0], (400, 1)), 5e-5, base_pose=pose, base_twist=V0
    )
    true = cardan.simulate(
        robot, q, qd, duration=0.02, torque=tau[0], base_pose=pose, base_twist=V0, dt=0.01
    )
    near(fine.q[-1], true.q[-1], 1e-4)
    near(fine.T0[-1], true.T0[-1], 1e-4)
    with pytest.raises(cardan.InputError, match="base floats"):
        cardan.rollout_gradient(program, q, qd, tau, 0.1)
    with pytest.raises(cardan.InputError, match="no pose"):
        cardan.rollout_gradient(program, q, qd, tau, 0.1, base_pose=2 * pose)
    with pytest.raises(cardan.ModelError, match="no vector"):
        middle.x
    with pytest.raises(cardan.ModelError, match="rk4 adds up poses"):
        cardan.discretise(robot, "rk4")


def test_errors_say_what_to_do() -> None:
    with pytest.raises(cardan.ModelError, match="tree"):
        cardan.discretise(cardan.load("fivebar"))
    swims = replace(cardan.load("cartpole"), interactions=(Drag("water", 2),))
    with pytest.raises(cardan.ModelError, match="interactions"):
        cardan.discretise(swims)
    with pytest.raises(cardan.ModelError, match="interactions"):
        cardan.control.predictive(swims)
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
    with pytest.raises(cardan.InputError, match="does not float"):
        run(program, rest, rest, tau, 0.1, base_pose=np.eye(4))
    motion = run(program, rest, rest, tau, 0.1)
    with pytest.raises(cardan.InputError, match=r"by_tau has shape \(2,\); expected \(..., 3, 2\)"):
        motion.adjoint(motion.x, by_tau=[0, 0])
    by_x0, by_tau = motion.adjoint(np.stack([motion.x, 2 * motion.x]))
    assert (by_x0.shape, by_tau.shape) == ((2, 4), (2, 3, 2))


def test_the_page() -> None:
    run_page("derivatives.md")
