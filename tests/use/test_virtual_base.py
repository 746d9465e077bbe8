"""A floating base without inertia that carries a fixed link ([K10] 7.1, second method) moves as one
that has the inertia itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cardan
from cardan.errors import InputError
from cardan.simulation.simulate import simulate

BODY = {"mass": 4, "com": [0.02, -0.03, 0.05], "inertia_com": [0.2, 0.01, 0.02, 0.3, -0.01, 0.25]}
ARM = {"mass": 1, "com": [0.2, 0.01, 0], "inertia_com": [0.01, 0, 0, 0.03, 0, 0.03]}


def own(*, at: Any = 0) -> list[dict[str, Any]]:
    """Two branches, one of them on a slide."""
    return [
        {"name": "shoulder", "antecedent": at, "alpha": "pi/2", "d": 0.1, **ARM},
        {"name": "elbow", "antecedent": "shoulder", "d": 0.4, "stiffness": 30, **ARM},
        {"name": "slide", "antecedent": at, "joint": "prismatic", "alpha": "pi/3", **ARM},
    ]


def first_method() -> cardan.Robot:
    return cardan.load({"name": "own", "base": {"kind": "floating", **BODY}, "link": own()})


def second_method() -> cardan.Robot:
    hull = {"name": "hull", "antecedent": 0, "joint": "fixed", **BODY}
    table = {"name": "carried", "base": {"kind": "floating"}, "link": [hull, *own(at="hull")]}
    return cardan.load(table)


@pytest.mark.parametrize("loads", [False, True])
def test_both_ways_of_describing_a_base_move_alike(loads: bool) -> None:
    def push(hull: int) -> Any:
        return (lambda links: {hull: np.array([1.0, 2, 0.5, 0.1, 0, 0.2])}) if loads else None

    options: dict[str, Any] = {
        "duration": 0.4, "base_twist": [0.1, 0, 0.2, 0.3, -0.5, 0.2], "torque": [0.3, 1.0],
    }  # fmt: skip
    q0, qd0 = [0.3, -0.4, 0.1], [0.2, 0.1, -0.1]
    one = simulate(first_method(), q0, qd0, loads=push(0), **options)
    two = simulate(second_method(), q0, qd0, loads=push(1), **options)
    for key in ("q", "qd", "qdd", "T0", "V0"):
        np.testing.assert_allclose(getattr(two, key), getattr(one, key), atol=1e-8)
    for run in (one, two):
        assert run.energy is not None
        assert run.energy.drift < 1e-8
    np.testing.assert_allclose(two.energy.kinetic, one.energy.kinetic, atol=1e-8)  # type: ignore[union-attr]


def test_legs_alone_may_carry_a_base() -> None:
    """No link is fixed to the base, yet three legs about different axes leave no motion without
    inertia."""
    legs = [
        {"antecedent": 0, "gamma": 1.1 * k, "b": 0.1 * k, "alpha": 0.7 + 0.3 * k,
         "d": 0.2 + 0.1 * k, **ARM}
        for k in range(3)
    ]  # fmt: skip
    robot = cardan.load({"name": "legs", "base": {"kind": "floating"}, "link": legs})
    run = simulate(robot, [0.1, 0.2, 0.3], [1, -1, 0.5], duration=0.2)
    assert run.energy is not None
    assert run.energy.drift < 1e-7


def test_a_base_without_any_inertia_is_refused() -> None:
    arm = {"antecedent": 0, **ARM}
    with pytest.raises(InputError, match="the base of 'bare' has no mass: "):
        simulate(cardan.load({"name": "bare", "base": {"kind": "floating"}, "link": [arm]}),
                 duration=0.1)  # fmt: skip
    plate = {"name": "plate", "joint": "fixed"}
    table = {"name": "b", "base": {"kind": "floating"}, "link": [plate, {**ARM, "antecedent": 1}]}
    with pytest.raises(InputError, match="no mass nor have the links fixed to it"):
        simulate(cardan.load(table), duration=0.1)
