"""Answers that nearly coincide, coincide or are of a family: each is found, once, and marked."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from tests.inverse.general_arms import by_search, chain, gaps, random_chain

import cardan
from cardan.inverse.chain.chain import NumericChain
from cardan.inverse.general.method import found_of, prepared

from .arms import ARMS

H = pi / 2


def near_singular(numeric: NumericChain, count: int, away: float) -> np.ndarray:
    """Configurations that far from one whose Jacobian loses rank."""
    rng = np.random.default_rng(8)
    found: list[np.ndarray] = []
    while len(found) < count:
        a, b = rng.uniform(-3, 3, (2, 200, 6))
        signs = np.sign(np.linalg.det(numeric.jacobian(a)))
        change = np.linalg.det(numeric.jacobian(b)) * signs < 0
        a, b, signs = a[change], b[change], signs[change]
        for _ in range(50):
            middle = (a + b) / 2
            same = np.linalg.det(numeric.jacobian(middle)) * signs > 0
            a, b = np.where(same[:, None], middle, a), np.where(same[:, None], b, middle)
        step = rng.normal(size=a.shape)
        found += list(a + away * step / np.linalg.norm(step, axis=1)[:, None])
    return np.array(found[:count])


@pytest.mark.parametrize("away", [1e-2, 1e-4, 1e-5])
@pytest.mark.parametrize("sigma", ["RRRRRR", "RRPRRR", "RPRRPR", "PRPRPR"])
def test_two_answers_close_together_are_both_found(sigma: str, away: float) -> None:
    numeric = random_chain(sigma, 5)
    q = near_singular(numeric, 60, away)
    T = numeric.pose(q)
    found = found_of(*prepared(numeric).run(T), numeric.size)
    assert gaps(numeric, found.q, q).max() < 5e-6
    there = np.arange(16) < found.count[:, None]
    off = np.abs(numeric.pose(np.nan_to_num(found.q)) - T[:, None]).max((-2, -1))
    assert off[there].max() < 1e-9
    if away > 1e-3:
        assert (found.count % 2 == 0).all()


def test_the_general_method_agrees_with_pauls_close_to_a_singularity() -> None:
    robot = ARMS["RPRRPR"]
    paul = cardan.model(robot, "inverse-geometry")
    general = cardan.model(robot, "inverse-geometry", method="general")
    numeric = paul.chain.numeric()
    q = np.random.default_rng(1).uniform(-np.pi, np.pi, (10000, 6))
    q[:, numeric.sigma == 1] *= numeric.size / 8
    T = numeric.pose(q[[*range(200, 215), *range(1520, 1535)]])  # two of them nearly singular
    np.testing.assert_array_equal(paul.solve(T).count, general.solve(T).count)


@pytest.mark.parametrize("q5", [0.000666, 0.001642, 0.002392])
def test_answers_of_which_no_elimination_is_sound_are_looked_for_nearby(q5: float) -> None:
    """At these poses each formulation fails; one answer that was found by luck hid the others."""
    robot = ARMS["RPPRRR"]
    general = cardan.model(robot, "inverse-geometry", method="general")
    q = np.array([[0.909876, -0.19256, 0.236618, -2.902725, q5, 2.493692],
                  [-1.959435, -0.176931, -0.759711, 1.36201, q5, 0.246137],
                  [-0.201402, 0.203864, 0.263847, 2.905475, q5, -0.929365]])  # fmt: skip
    T = general.chain.numeric().pose(q)
    assert (cardan.model(robot, "inverse-geometry").solve(T).count == 4).all()
    assert (general.solve(T).count == 4).all()


MEETING = [(0, 0, 0, 0), (H, 0.3, 0, 0.3), (pi, 0.4, 0, 0.2), (H, 0.2, 0, 0.3), (pi, 0.3, 0, 0.1),
           (H, 0.1, 0, 0.2)]  # fmt: skip
SQUARE = [(H, 0, 0, 0), (H, 0, 0, 0.2), (H, 0, 0, 0.2), (H, 0, 0, 0.2), (H, 0, 0, 0.2),
          (H, 0, 0, 0.2)]  # fmt: skip


@pytest.mark.parametrize("rows", [MEETING, SQUARE])
def test_multiple_answers_come_once_and_are_called_singular(
    rows: list[tuple[float, ...]],
) -> None:
    numeric = chain(rows)
    q = np.random.default_rng(1).integers(-3, 5, (150, 6)) * H
    found = found_of(*prepared(numeric).run(numeric.pose(q)), numeric.size)
    assert (found.count > 0).all()
    for k in range(len(q)):
        answers = found.q[k, : found.count[k]]
        apart = np.abs((answers[:, None] - answers + pi) % (2 * pi) - pi).max(-1)
        assert (apart + 9 * np.eye(len(answers))).min(initial=9) > 1e-6
        least = np.linalg.svd(numeric.jacobian(answers), compute_uv=False)[:, -1]
        singular = found.singular[k, : found.count[k]]
        assert singular[least < 1e-9].all()
        assert not singular[least > 1e-3].any()


def test_a_root_of_high_multiplicity_is_found() -> None:
    numeric = chain([(0, 0, 0, 0), (0.8, 0.3, 0, 0.3), (0, 0.4, 0, 0.2), (0, 0.2, 0, 0.3),
                     (0.8, 0.3, 0, 0.1), (H, 0.1, 0, 0.2)])  # fmt: skip
    T = numeric.pose(np.array([[0, -pi, -pi, 0, 0, -H]]))
    found = found_of(*prepared(numeric).run(T), numeric.size)
    assert found.count[0] > 0
    assert found.singular[0, 0]


def test_a_family_leaves_room_for_regular_answers() -> None:
    numeric = chain([(H, 0.459, 0, -0.19), (-H, -0.409, 0, -0.268), (H, -0.3, 0, 0.31),
                     (H, -0.031, 0, 0.304), (-H, 0.029, 0, 0.307), (-H, 0.486, 0, -0.21)],
                    "RRPRRR")  # fmt: skip
    T = numeric.pose(np.array([[0, H, 0.25, 0, pi, -pi]]))
    found = found_of(*prepared(numeric).run(T), numeric.size)
    assert found.singular[0].sum() == 2  # q2, q3, q4, q6 move on without the tool: two curves
    others = by_search(numeric, T[0], 1500)
    J = numeric.jacobian(others)
    regular = others[np.linalg.svd(J, compute_uv=False)[:, -1] > 1e-3]
    assert len(regular) == 4
    assert gaps(numeric, np.repeat(found.q, 4, 0), regular).max() < 1e-5
