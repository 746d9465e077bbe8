"""Vectors and rotations over any scalar, against NumPy's matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.compare import near

from cardan.algebra import so3
from cardan.algebra.newton import Damping, Rule, newton
from cardan.algebra.rotation import Rotation, turn
from cardan.algebra.scalar import FUNCTIONS, cos_sin, function, sign, sqrt
from cardan.algebra.vector import Mat, Vec, cross, dot, hat, symmetric, zero
from cardan.exact import exact, pi
from cardan.ir.graph import Expr, Graph

components = st.floats(-10, 10)
vectors = st.builds(Vec, components, components, components)
turns = st.lists(st.tuples(st.integers(0, 2), st.floats(-7, 7)), min_size=0, max_size=5)


def array(x: Any) -> np.ndarray:
    return np.array(x.rows if isinstance(x, Mat) else x, dtype=float)


def axis_matrix(axis: int, angle: float) -> np.ndarray:
    """The textbook matrix of a rotation about x, y or z."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array(
        [
            [[1, 0, 0], [0, c, -s], [0, s, c]],
            [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        ][axis]
    )


@given(turns, vectors)
def test_turns_applied_one_by_one_are_the_product_of_matrices(
    word: list[tuple[int, float]], v: Vec
) -> None:
    rotation = Rotation([turn(axis, angle) for axis, angle in word])
    matrix = np.eye(3)
    for axis, angle in word:
        matrix = matrix @ axis_matrix(axis, angle)
    np.testing.assert_allclose(array(rotation @ v), matrix @ array(v), atol=1e-13)
    np.testing.assert_allclose(array(rotation.T @ v), matrix.T @ array(v), atol=1e-13)
    np.testing.assert_allclose(array(rotation.matrix()), matrix, atol=1e-14)
    np.testing.assert_allclose(array(rotation.T.matrix()), matrix.T, atol=1e-14)
    np.testing.assert_allclose(array((rotation @ rotation).matrix()), matrix @ matrix, atol=1e-13)
    np.testing.assert_allclose(array(rotation @ hat(v)), matrix @ array(hat(v)), atol=1e-12)


@given(vectors, vectors)
def test_products_of_vectors(v: Vec, w: Vec) -> None:
    np.testing.assert_allclose(array(cross(v, w)), np.cross(v, w), atol=1e-13)
    np.testing.assert_allclose(array(hat(v) @ w), np.cross(v, w), atol=1e-13)
    assert dot(v, w) == pytest.approx(float(np.dot(v, w)), abs=1e-12)
    assert v @ w == dot(v, w)
    np.testing.assert_array_equal(array(v + w - w + zero), array(v + w - w))
    np.testing.assert_array_equal(array(2 * v), array(v * 2))
    np.testing.assert_array_equal(array(-v), -array(v))


@given(vectors, vectors, vectors)
def test_matrices(u: Vec, v: Vec, w: Vec) -> None:
    A, B = Mat([u, v, w]), symmetric(*u, *v)
    np.testing.assert_allclose(array(A @ B), array(A) @ array(B), atol=1e-12)
    np.testing.assert_allclose(array(A @ w), array(A) @ array(w), atol=1e-12)
    np.testing.assert_array_equal(array(A.T), array(A).T)
    np.testing.assert_array_equal(array(B), array(B).T)
    np.testing.assert_array_equal(array(A + B), array(A) + array(B))
    np.testing.assert_array_equal(array(A - B), array(A) - array(B))
    np.testing.assert_array_equal(array(3 * -A), -3 * array(A))


@pytest.mark.parametrize("k", range(-5, 6))
def test_quarter_turns_of_an_offset_are_free_and_exact(k: int) -> None:
    graph = Graph()
    q = graph.leaf("q", 0)
    size = len(graph.nodes)
    c, s = cos_sin(q, exact(0, 1) * k / 2 if k else 0)
    assert len(graph.nodes) == size + 2  # a sine and a cosine of q, nothing else
    c0, s0 = cos_sin(q)
    assert (c, s) == ((c0, s0), (-s0, c0), (-c0, -s0), (s0, -c0))[k % 4]


def test_right_angles_cost_no_operation() -> None:
    graph = Graph()
    v = Vec(*(graph.leaf("v", k) for k in range(3)))
    size = len(graph.nodes)
    moved = Rotation([turn(0, pi / 2), turn(2, pi), turn(1, -pi / 2)]) @ v
    assert len(graph.nodes) == size
    assert all(type(x) is Expr for x in moved)


def test_a_turn_by_an_unknown_angle_costs_four_multiplications_and_two_additions() -> None:
    graph = Graph()
    v = Vec(*(graph.leaf("v", k) for k in range(3)))
    rotation = Rotation([turn(0, graph.leaf("q", 0))])
    size = len(graph.nodes)
    rotation @ v
    assert len(graph.nodes) == size + 6


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_agree_over_all_kinds_of_scalars(name: str) -> None:
    """Exact numbers, floats, arrays and expressions: the same function."""
    from cardan.ir.code import gather
    from cardan.ir.interpret import interpret

    two = name in ("atan2", "min", "max")
    args = [exact("0.4"), exact("-0.7")][: 2 if two else 1]
    expected = _reference(name, *map(float, args))
    assert float(function(name, *args)) == pytest.approx(expected, rel=1e-14)
    assert float(function(name, *map(float, args))) == pytest.approx(expected, rel=1e-14)
    arrays = [np.full(3, float(arg)) for arg in args]
    np.testing.assert_allclose(function(name, *arrays), expected, rtol=1e-14)
    graph = Graph()
    leaves = [graph.leaf("x", k) for k in range(len(args))]
    code = gather(graph, {"x": (len(args),)}, {"y": ((1,), [function(name, *leaves)])})
    found = interpret(code, {"x": np.array([float(arg) for arg in args])})["y"]
    assert found[0] == pytest.approx(expected, rel=1e-14)


def _reference(name: str, *args: float) -> float:
    if name == "sign":
        return float(np.sign(args[0]))
    return float({"min": min, "max": max, "abs": abs}.get(name, getattr(math, name, None))(*args))


def test_sign_and_root() -> None:
    assert sign(-3) == -1
    assert sign(0.0) == 0
    assert sqrt(exact("2.25")) == exact("1.5")


def test_rotations_over_numbers_agree_with_each_other() -> None:
    rng = np.random.default_rng(0)
    for v in [*rng.normal(size=(20, 3)), np.array([np.pi, 0, 0]), np.array([0, 1e-9, 0])]:
        R, angle = so3.exp(v), float(np.linalg.norm(v))
        near(so3.about(v / angle, angle), R, absolute=5e-15)
        near(so3.from_quaternion(so3.quaternion(R)), R, absolute=5e-15)
        near(so3.exp(so3.log(R)), R, absolute=1e-14)
        near(so3.hat(v) @ [1, 2, 3], np.cross(v, [1, 2, 3]), absolute=5e-15)
        turned = so3.along(v)
        assert turned is not None
        near(turned @ [0, 0, 1], v / angle, absolute=5e-15)
        a, h = rng.normal(size=3), 1e-5
        slope = (so3.log(R @ so3.exp(h * a)) - so3.log(R @ so3.exp(-h * a))) / (2 * h)
        if angle < 3:
            near(so3.log_rate(v, a), slope, absolute=1e-8)
    rpy = so3.from_rpy([0.1, 0.2, 0.3])
    x, y, z = np.eye(3)
    near(rpy, so3.about(z, 0.3) @ so3.about(y, 0.2) @ so3.about(x, 0.1), absolute=5e-15)
    assert np.array_equal(so3.turn(2, np.pi / 2), [[0, -1, 0], [1, 0, 0], [0, 0, 1]])


STEEP = Damping(first=1.0, less=0.2, more=8.0, most=1e12)


def circle_and_line(x: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.stack([(x**2).sum(1) - 1, x[:, 0] - x[:, 1]], 1)


def its_slope(x: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.stack([2 * x, np.broadcast_to([1.0, -1.0], x.shape)], 1)


@pytest.mark.parametrize("damping", [None, STEEP])
def test_newton_ends_in_the_root_on_the_side_of_each_start(damping: Damping | None) -> None:
    starts = np.array([[3.0, 0.5], [-0.2, -5.0], [1e-3, 0.1]])
    ends = newton(starts, circle_and_line, its_slope, Rule(residual=1e-14), damping=damping)
    assert ends.solved.all()
    near(ends.x, np.sqrt(0.5) * np.array([[1, 1], [-1, -1], [1, 1]]), 1e-13)


def test_newton_takes_the_least_step_where_unknowns_are_left_over() -> None:
    A, b = np.array([[1.0, 2.0, 2.0]]), np.array([9.0])
    ends = newton(
        np.zeros((1, 3)), lambda x, _: x @ A.T - b, lambda x, _: A[None], Rule(residual=1e-14)
    )
    near(ends.x[0], np.linalg.pinv(A) @ b, 1e-14)
    assert ends.rounds[0] == 1


def test_newton_shortens_steps_and_says_what_is_not_solved() -> None:
    rule = Rule(residual=1e-12, longest=0.25, rounds=3)
    ends = newton(
        np.zeros((2, 1)),
        lambda x, k: x - 1 + k[:, None],
        lambda x, _: np.ones((len(x), 1, 1)),
        rule,
    )
    near(ends.x[:, 0], [0.75, 0.0], 1e-15)
    assert ends.solved.tolist() == [False, True]


def test_damped_steps_end_at_the_nearest_point_within_bounds() -> None:
    target = np.array([2.0, 0.3])
    ends = newton(
        np.zeros((1, 2)), lambda x, _: x - target, lambda x, _: np.eye(2)[None],
        Rule(rounds=40), damping=STEEP, bounds=(np.full(2, -1.0), np.full(2, 1.0)),
    )  # fmt: skip
    near(ends.x[0], [1.0, 0.3], 1e-7)
    assert not ends.solved[0]


def test_no_damping_helps_where_a_function_has_no_number() -> None:
    def residual(x: np.ndarray, _: np.ndarray) -> np.ndarray:
        return np.where(x < 0.5, x - 1, np.nan)

    ends = newton(
        np.zeros((1, 1)), residual, lambda x, _: np.ones((1, 1, 1)), Rule(), damping=STEEP
    )
    assert ends.x[0, 0] < 0.5
    assert not ends.solved[0]
    nowhere = newton(np.ones((1, 1)), residual, lambda x, _: x[:, None], Rule())
    assert not nowhere.solved[0]
