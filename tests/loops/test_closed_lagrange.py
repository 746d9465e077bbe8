"""Coriolis matrix, Lagrange's coefficients, the filtered regressor: closed loops."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import MECHANISMS, derived, loaded, states

import cardan

NAMES = ["four_bar", "rssr", "rccc", "cardan_shaft", "prismatic_cut", "fivebar", "planar3rrr"]


@cache
def case(name: str) -> tuple[Any, dict[str, np.ndarray]]:
    robot = loaded(MECHANISMS[name]() if name in MECHANISMS else cardan.load(name))
    return robot, states(robot, 4)[1]


def run(name: str, model: str, *inputs: str, **options: Any) -> Any:
    robot, x = case(name)
    return derived(robot, model, **options).evaluate(**{key: x[key] for key in inputs})


def moved(name: str, time: float) -> dict[str, np.ndarray]:
    """The states a little later, accelerations constant, loops closed."""
    robot, x = case(name)
    geometry = cardan.model(robot, "loop-geometry")
    active = [geometry.coordinates.moving.index(j) for j in geometry.coordinates.active]
    q_a = x["q"][:, active] + time * x["qd"] + time**2 / 2 * x["qdd"]
    return {"q": geometry.solve(q_a, x["q"]), "qd": x["qd"] + time * x["qdd"]}


def rate(name: str, look: Any) -> np.ndarray:
    h = 1e-4
    early, before, after, late = (look(moved(name, k * h)) for k in (-2, -1, 1, 2))
    return np.asarray((early - 8 * before + 8 * after - late) / (12 * h))


@pytest.mark.parametrize("name", NAMES)
def test_velocity_torques(name: str) -> None:
    _, x = case(name)
    C = run(name, "coriolis-matrix", "q", "qd")
    H = run(name, "bias", "q", "qd", friction=False)
    Q = run(name, "gravity", "q")
    near(np.einsum("bij,bj->bi", C, x["qd"]) + Q, H, 1e-10)
    found = run(name, "lagrange", "q")
    near(np.einsum("bijk,bj,bk->bi", found.B, x["qd"], x["qd"]) + found.Q, H, 1e-10)
    near(np.einsum("bijk,bk->bij", found.B, x["qd"]), C, 1e-10)
    near(found.A, run(name, "inertia-matrix", "q"), 1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_rate_of_inertia_less_twice_coriolis_is_skew(name: str) -> None:
    robot, _ = case(name)
    A = derived(robot, "inertia-matrix")
    C = run(name, "coriolis-matrix", "q", "qd")
    near(rate(name, lambda x: A.evaluate(q=x["q"])), C + C.transpose(0, 2, 1), 1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_lagrange_is_newton_euler(name: str) -> None:
    near(
        run(name, "inverse-dynamics", "q", "qd", "qdd", method="lagrange"),
        run(name, "inverse-dynamics", "q", "qd", "qdd"),
        1e-10,
    )


@pytest.mark.parametrize("name", NAMES)
def test_filtered_regressor(name: str) -> None:
    """d/dt(D1 K) + D2 K = D K along a motion."""
    robot, _ = case(name)
    D = run(name, "regressor", "q", "qd", "qdd")
    program = cardan.model(robot, "filtered-regressor")
    K = np.random.default_rng(0).normal(size=D.shape[-1])
    found = rate(name, lambda x: program.evaluate(**x).D1 @ K)
    near(found + run(name, "filtered-regressor", "q", "qd").D2 @ K, D @ K, 1e-8)


def test_configuration_form() -> None:
    full = run("fivebar", "lagrange", "q")
    found = run("fivebar", "lagrange", "q", form="configuration")
    near(found.C1[:, :, 0], full.B[:, :, 0, 1], 1e-10)
    near(found.C2[:, :, 1], full.B[:, :, 1, 1], 1e-10)
