"""Models of flexible links as one set of equations: A, H, Q, momentum, energies, jdot-qdot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.build.flexible.closure import closing

Array = np.ndarray


def state(robot: cardan.Robot) -> tuple[Array, Array, Array]:
    """q of the tree with closed loops, u, and the rates of the tree that follow from u."""
    rng = np.random.default_rng(4)
    loops = closing(robot)
    q = rng.normal(size=len(loops.keys)) * np.where(np.arange(len(loops.keys)) < robot.n, 1, 1e-3)
    if robot.constrained:
        q = loops.samples()[0]
    u = rng.normal(size=len(loops.independent))
    places = loops.columns(loops.independent)
    rates = np.zeros(len(loops.keys))
    rates[places] = u
    if robot.constrained:
        W = loops.matrix(q, loops.cuts)
        passive = loops.columns(loops.passive)
        rates[passive] = np.linalg.solve(W[:, passive], -W[:, places] @ u)
    return q, u, rates


@pytest.fixture(params=["flexible2r", "prrrp"])
def robot(request: Any) -> cardan.Robot:
    return cardan.load(request.param)


def test_equations_of_motion(robot: cardan.Robot) -> None:
    """A udot + H = (tau, 0), at direct dynamics' udot; H is Q at rest."""
    q, u, _ = state(robot)
    tau = np.random.default_rng(5).normal(size=len(closing(robot).active))
    qdd = cardan.model(robot, "direct-dynamics").evaluate(q=q, qd=u, tau=tau)
    A = cardan.model(robot, "inertia-matrix").evaluate(q=q)
    bias = cardan.model(robot, "bias")
    H = bias.evaluate(q=q, qd=u)
    push = np.zeros(len(u))
    push[: len(tau)] = tau
    near(A @ qdd + H, push, 1e-8, 1e-7 * np.abs(H).max())
    Q = cardan.model(robot, "gravity").evaluate(q=q)
    at_rest = bias.evaluate(q=q, qd=0 * u)
    near(Q, at_rest, 1e-9)


def test_momentum_and_kinetic_energy(robot: cardan.Robot) -> None:
    q, u, _ = state(robot)
    A = cardan.model(robot, "inertia-matrix").evaluate(q=q)
    h = cardan.model(robot, "generalized-momentum").evaluate(q=q, qd=u)
    near(h, A @ u, 1e-9)
    E = cardan.model(robot, "energies").evaluate(q=q, qd=u).E
    assert u @ h / 2 == pytest.approx(E, rel=1e-9)


def test_jdot_qdot_is_the_change_of_the_jacobian(robot: cardan.Robot) -> None:
    q, u, rates = state(robot)
    J = cardan.model(robot, "jacobian")
    step = 1e-6
    change = (J.evaluate(q=q + step * rates) - J.evaluate(q=q - step * rates)) / (2 * step)
    drift = cardan.model(robot, "jdot-qdot").evaluate(q=q, qd=u)
    near(drift, change @ u, 1e-6, 1e-6)
