"""One pose at a time gives what a batch gives, whatever way it goes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.describe.robot import Robot
from cardan.errors import InputError
from cardan.exact import exact
from cardan.inverse.geometry import InverseGeometry

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "closed": ("ur5", {}),
    "general": ("ur5", {"method": "general"}),
    "few": ("scara", {}),
    "few general": ("scara", {"method": "general"}),
    "held": ("panda", {"free": "q7"}),
    "held general": ("panda", {"free": "q7", "method": "general"}),
    "plane": ("iiwa14", {"free": "arm-angle"}),
}
VALUES = {"scara": {"D2": 0.4, "D3": 0.3}}


def made(case: str) -> InverseGeometry:
    name, options = CASES[case]
    robot = cardan.load(name).with_values(VALUES.get(name, {}))
    ik: InverseGeometry = cardan.model(robot, "inverse-geometry", **options)
    return ik


@pytest.mark.parametrize("case", CASES)
def test_one_pose_is_a_row_of_the_batch(case: str) -> None:
    ik = made(case)
    numeric = ik.chain.numeric()
    Q = np.random.default_rng(4).uniform(-1.5, 1.5, (12, ik.chain.n))
    Q[0] = 0.0  # singular
    T = numeric.pose(Q)
    T[1, :3, 3] += 5.0  # out of reach
    free: dict[str, Any] = {}
    if ik.plane:
        free = {"free": np.zeros(len(Q))}
    elif ik.free:
        free = {"free": Q[:, ik.free[0]]}
    whole = ik.solve(T, **free)
    for k in range(len(Q)):
        one = {name: float(x[k]) for name, x in free.items()}
        for _ in range(2):  # prepared now
            np.testing.assert_allclose(ik.solve(T[k], **one), whole[k], atol=1e-9)
        near = ik.solve(T[k], guess=Q[k], **one)
        if k > 1:
            np.testing.assert_allclose(near, ik.solve(T[k][None], guess=Q[k], **one)[0], atol=1e-9)
            if not ik.plane:
                np.testing.assert_allclose(near[0], Q[k], atol=1e-7)


@pytest.mark.parametrize("limits", [False, True])
@pytest.mark.parametrize("name", ["ur5", "stanford", "scara"])
def test_one_pose_is_chosen_from_as_in_a_batch(name: str, limits: bool) -> None:
    """Values of symbols, limits and guesses; what is prepared for one set of values is not taken
    for another."""
    ik = cardan.model(cardan.load(name), "inverse-geometry")
    rng = np.random.default_rng(5)
    for shift in (0.0, 0.2, 0.0, 0.2, 0.0, 0.2):
        p = {key: 0.3 + 0.1 * k + shift for k, key in enumerate(ik.chain.parameters)}
        q = rng.uniform(-1.5, 1.5, (2, ik.chain.n))
        T = ik.chain.numeric(p).pose(q)
        guess = rng.uniform(-6, 6, q.shape)
        whole = ik.solve(T, guess=guess, limits=limits, p=p)
        plain = ik.solve(T, limits=limits, p=p)
        for k in range(len(T)):
            near = ik.solve(T[k], guess=guess[k].tolist(), limits=limits, p=p)
            np.testing.assert_allclose(near, whole[k], atol=1e-9)
            np.testing.assert_allclose(ik.solve(T[k], limits=limits, p=p), plain[k], atol=1e-9)
    few = np.full(ik.chain.n, 1j)
    with pytest.raises(InputError, match="guess"):
        ik.solve(T[0], guess=few, p=p)


def rounded(name: str, digits: int, shift: float = 0.0) -> Robot:
    """The robot with angles of so many decimals, as files have them, and lengths a little off."""
    rng = np.random.default_rng(0)

    def near(x: Any) -> Any:
        return exact(repr(float(x) + shift * rng.normal()))

    robot = cardan.load(name)
    joints = tuple(
        replace(j, alpha=exact(repr(round(float(j.alpha), digits))), d=near(j.d), r=near(j.r))
        for j in robot.joints
    )
    return replace(robot, joints=joints)


@pytest.mark.parametrize("digits", [4, 9])
def test_one_pose_of_an_arm_with_rounded_angles(digits: int) -> None:
    """Each pose is looked at closely; poses at right angles have families."""
    ik = cardan.model(rounded("ur5", digits), "inverse-geometry")
    assert ik.method == "paul"
    rng = np.random.default_rng(6)
    q = np.concatenate([rng.uniform(-2, 2, (20, 6)), rng.integers(-2, 3, (10, 6)) * np.pi / 2])
    T = ik.chain.numeric().pose(q)
    whole, near = ik.solve(T), ik.solve(T, guess=q)
    for k in range(len(T)):
        for _ in range(2):
            np.testing.assert_allclose(ik.solve(T[k]), whole[k], atol=1e-7)
            np.testing.assert_allclose(ik.solve(T[k], guess=q[k]), near[k], atol=1e-7)


def test_an_arm_near_that_of_the_equations_loses_nothing_where_two_edges_meet() -> None:
    """Shoulder and elbow are within 0.02 rad of singular: of eight branches of the arm nearby two
    came to configurations of the arm itself, and no doubt was left."""
    ik = cardan.model(rounded("puma560-numeric", 15, 1e-6), "inverse-geometry")
    q = np.array([-2.0362726, 0.3937925, -1.5138253, 1.5406838, -0.0557698, 2.4434767])
    T = ik.chain.numeric().pose(q[None])
    for rows in (ik.solve(T)[0], ik.solve(T[0])):
        assert len(rows) == 8
        assert np.abs(rows - q).max(1).min() < 1e-5


def test_answers_are_the_callers_own() -> None:
    ik = made("closed")
    T = ik.chain.numeric().pose(np.array([[0.3, -1.0, 1.2, 0.4, 0.8, -0.5], [0.1] * 6]))
    first = ik.solve(T[0])
    kept = first.copy()
    ik.solve(T[1])
    np.testing.assert_array_equal(first, kept)


def test_threads_do_not_share_arrays() -> None:
    ik = made("general")
    T = ik.chain.numeric().pose(np.random.default_rng(0).uniform(-2, 2, (40, 6)))
    whole = ik.solve(T)
    with ThreadPoolExecutor(4) as pool:
        for k, rows in enumerate(pool.map(ik.solve, [*T, *T])):
            np.testing.assert_allclose(rows, whole[k % len(T)], atol=1e-9)


def test_faults_are_told_by_a_prepared_solution() -> None:
    ik = made("closed")
    T = ik.chain.numeric().pose(np.full((1, 6), 0.3))[0]
    ik.solve(T)
    with pytest.raises(InputError, match="not rigid"):
        ik.solve(T @ np.diag([1.1, 1, 1, 1]))
    with pytest.raises(InputError, match="not finite"):
        ik.solve(np.full((4, 4), np.nan))
    with pytest.raises(InputError, match="no joint of this solution is free"):
        ik.solve(T, free=0.3)
    with pytest.raises(InputError, match="guess"):
        ik.solve(T, guess=np.full(6, np.nan))
    with pytest.raises(InputError, match="guess"):
        ik.solve(T, guess=np.zeros(5))
    assert len(ik.solve(T.tolist())) == len(ik.solve(T))
    assert ik.solve(T.astype(np.float32)).shape == ik.solve(T).shape
