"""What `solve` and `emit` may be asked for: tolerance, limits with a guess, names of functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.errors import InputError, UnknownNameError

from .arms import ARMS, reached


def test_a_slide_that_may_have_any_value() -> None:
    """Two slides in line: their equation vanishes, one of them is at zero or at the guess."""
    robot = cardan.load({
        "name": "PRP",
        "link": [
            {"joint": "prismatic", "alpha": math.pi / 2, "d": -0.02, "r": -0.15},
            {"alpha": math.pi / 2, "d": -0.47, "r": 0.02},
            {"joint": "prismatic", "alpha": -math.pi / 2, "d": 0.09, "r": 0.41},
        ],
    })  # fmt: skip
    ik = cardan.model(robot, "inverse-geometry")
    T = cardan.model(robot, "transform").evaluate(q=np.array([1.0, 0.0, 0.5]))
    found = ik.solve(T, report=True)
    assert found.count == 1
    assert found.singular[0]
    np.testing.assert_allclose(found.q[0], [1.5, 0, 0], atol=1e-12)
    np.testing.assert_allclose(ik.solve(T, guess=[0, 0, 0.2])[0], [1.3, 0, 0.2], atol=1e-12)


def test_a_right_angle_in_floats_is_a_right_angle() -> None:
    rows = [(0.0, 0.0), (-math.pi / 2, 0.0), (0.0, 0.43), (math.pi / 2, 0.02),
            (-math.pi / 2, 0.0), (math.pi / 2, 0.0)]  # fmt: skip
    robot = cardan.load({"name": "floats", "link": [{"alpha": a, "d": d} for a, d in rows]})
    text = cardan.model(robot, "inverse-geometry").equations()
    assert "e-17" not in text
    assert "1.57" not in text


@pytest.mark.parametrize("method", ["auto", "general"])
@pytest.mark.parametrize("name", ["5R", "4R"])
def test_poses_of_few_digits(name: str, method: str) -> None:
    """Fewer than six joints meet a pose only nearly when its digits are few."""
    ik = cardan.model(ARMS[name], "inverse-geometry", method=method)
    chain = ik.chain.numeric()
    q = np.random.default_rng(3).uniform(-3, 3, (60, chain.n))
    T = chain.pose(q)
    assert reached(ik.solve(T), q, chain.sigma).max() < 1e-6
    assert (ik.solve(T + 0.0).count == ik.solve(T.astype(np.float32)).count).mean() > 0.9
    rough = T.copy()
    rough[:, :3, 3] += 3e-7 * np.cos(np.arange(180)).reshape(60, 3)
    assert (ik.solve(rough).count == 0).mean() > 0.9
    near = ik.solve(rough, tolerance=1e-5)
    assert np.quantile(reached(near, q, chain.sigma), 0.9) < 1e-3
    assert np.nanmax(near.residual) < 1e-5


@pytest.mark.parametrize("tolerance", [0, -1, 1, "a", True, math.nan])
def test_a_tolerance_is_a_small_number(tolerance: Any) -> None:
    ik = cardan.model(ARMS["4R"], "inverse-geometry")
    with pytest.raises(InputError, match="tolerance"):
        ik.solve(np.eye(4), tolerance=tolerance)


@pytest.mark.parametrize("method", ["auto", "general"])
def test_turns_within_limits_that_are_nearest_to_the_guess(method: str) -> None:
    robot = cardan.load("ur5")  # most joints may turn twice
    ik = cardan.model(robot, "inverse-geometry", method=method)
    guess = np.array([[4, -1.2, 1.5, 5, 0.9, -4], [-6, 1, -2, -5, 4.5, 3.5]])
    T = ik.chain.numeric().pose(guess)
    found = ik.solve(T, guess=guess, limits=True)
    np.testing.assert_allclose(found.q[:, 0], guess, atol=1e-7)
    lower, upper = ik.chain.numeric().lower, ik.chain.numeric().upper
    there = ~np.isnan(found.q[..., 0])
    assert ((found.q >= lower - 1e-8) & (found.q <= upper + 1e-8))[there].all()
    plain = ik.solve(T, limits=True)
    np.testing.assert_array_equal(plain.count, found.count)
    assert np.abs(plain.q[there]).max() <= np.pi + 1e-9


@pytest.mark.parametrize("method", ["auto", "general"])
@pytest.mark.parametrize(
    ("language", "name"),
    [("c", "int"), ("cpp", "class"), ("python", "for"), ("matlab", "end"), ("c", "1st"),
     ("python", "polish"), ("matlab", "settle"), ("c", "größe")],
)  # fmt: skip
def test_names_that_code_cannot_have(language: str, name: str, method: str) -> None:
    if (name, method) in (("polish", "auto"), ("settle", "general")):
        pytest.skip("a kernel of the other method")
    ik = cardan.model(cardan.load("ur5"), "inverse-geometry", method=method)
    with pytest.raises(InputError, match="name of"):
        ik.emit(language, function=name)


@pytest.mark.parametrize("option", [{"dtype": "float32"}, {"arguments": "struct"}, {"split": True}])
def test_options_that_the_code_around_the_branches_has_not(option: dict[str, Any]) -> None:
    ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
    with pytest.raises(UnknownNameError, match="Allowed: function, complete"):
        ik.emit("c", **option)


def test_a_joint_held_where_two_others_are_in_line() -> None:
    """q2 of a Panda at zero: q1 and q3 turn about one axis, and no configuration is isolated."""
    ik = cardan.model(cardan.load("panda"), "inverse-geometry", free="q2")
    chain = ik.chain.numeric()
    q = np.random.default_rng(6).uniform(-2.5, 2.5, (10, 7))
    q[:, 1] = 0
    T = chain.pose(q)
    found = ik.solve(T, free=0.0)
    assert (found.count > 0).all()
    there = ~np.isnan(found.q[..., 0])
    assert found.singular[there].all()
    off = np.abs(chain.pose(np.nan_to_num(found.q)) - T[:, None]).max((-2, -1))
    assert off[there].max() < 1e-9
