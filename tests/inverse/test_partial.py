"""All configurations for a position, or for a position and the direction of the axis z."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.describe.dh.tables import from_dh
from cardan.errors import InputError, ModelError
from cardan.inverse.chain.chain import NumericChain
from cardan.inverse.geometry import InverseGeometry

ARMS: dict[str, list[dict[str, Any]]] = {
    "planar 2R": [{"a": 1.0}, {"a": 0.7}],
    "anthropomorphic": [{"d": 0.5, "alpha": "pi/2"}, {"a": 0.8}, {"a": 0.6}],
    "orthogonal 3R": [{"a": 1, "alpha": "pi/2"}, {"a": 2, "d": 0.3, "alpha": "pi/2"}, {"a": 1.5}],
    "skew 3R": [
        {"d": 0.1, "a": 0.4, "alpha": 1.1}, {"d": 0.3, "a": 0.8, "alpha": -0.7},
        {"d": 0.2, "a": 0.6, "alpha": 0.3},
    ],
}  # fmt: skip


def made(rows: list[dict[str, Any]], **options: Any) -> InverseGeometry:
    blank = {"theta": 0, "d": 0, "a": 0, "alpha": 0}
    robot = from_dh([{**blank, **row} for row in rows], "standard")
    ik: InverseGeometry = cardan.model(robot, "inverse-geometry", **options)
    return ik


def searched(numeric: NumericChain, P: np.ndarray, starts: int = 300) -> np.ndarray:
    """Configurations that Newton's method finds from random ones: an independent route."""
    q = np.random.default_rng(8).uniform(-np.pi, np.pi, (starts, numeric.n))
    for _ in range(60):
        e = P - numeric.pose(q)[:, :3, 3]
        J = numeric.jacobian(q)[:, :3]
        step = np.einsum("nij,nj->ni", np.linalg.pinv(J, rcond=1e-6), e)
        q = q + step * np.minimum(1, 0.5 / np.maximum(1e-12, np.abs(step).max(1)))[:, None]
    q = q[np.abs(P - numeric.pose(q)[:, :3, 3]).max(1) < 1e-9]
    q = np.pi - np.mod(np.pi - q, 2 * np.pi)
    found: list[np.ndarray] = []
    for row in q:
        if all(np.abs(np.angle(np.exp(1j * (row - other)))).max() > 1e-5 for other in found):
            found.append(row)
    return np.array(found)


def same(a: np.ndarray, b: np.ndarray) -> None:
    gap = np.abs(np.angle(np.exp(1j * (a[:, None] - b)))).max(2)
    assert a.shape == b.shape
    assert gap.min(0).max() < 1e-6
    assert gap.min(1).max() < 1e-6


@pytest.mark.parametrize("name", ARMS)
def test_all_configurations_of_a_position(name: str) -> None:
    ik = made(ARMS[name])
    numeric = ik.chain.numeric()
    Q = np.random.default_rng(2).uniform(-1.4, 1.4, (4, numeric.n))
    P = numeric.pose(Q)[:, :3, 3]
    whole = ik.solve(P)
    for k in range(len(P)):
        same(whole[k], searched(numeric, P[k]))
        same(ik.solve(list(P[k])), whole[k])
    assert np.nanmax(whole.residual) < 1e-12
    counts = {"planar 2R": 2, "anthropomorphic": 4}
    if name in counts:
        assert set(whole.count) == {counts[name]}


def test_planar_2r_by_the_cosine_rule() -> None:
    x, y = 0.9, 0.6
    c = (x * x + y * y - 1.0 - 0.49) / 1.4
    elbows = np.array([np.arctan2(s * np.sqrt(1 - c * c), c) for s in (1, -1)])
    first = np.arctan2(y, x) - np.arctan2(0.7 * np.sin(elbows), 1 + 0.7 * np.cos(elbows))
    same(made(ARMS["planar 2R"]).solve([x, y, 0.0]), np.column_stack([first, elbows]))


def test_edges_of_the_reach() -> None:
    ik = made(ARMS["anthropomorphic"])
    stretched = ik.chain.numeric().pose(np.array([[0.3, 0.4, 0.0]]))[0, :3, 3]
    found = ik.solve(stretched, report=True)
    assert found.count == 2
    assert found.singular[:2].all()
    assert list(found.multiplicity[:2]) == [2, 2]
    assert ik.solve([3.0, 0, 0]).shape == (0, 3)
    above = ik.solve([0.0, 0.0, 1.2], report=True)  # the first joint may have any value
    assert above.count > 0
    assert above.singular[: int(above.count)].all()
    assert made(ARMS["planar 2R"]).solve([0.9, 0.6, 0.1]).shape == (0, 2)  # not in its plane


def test_guess_limits_and_symbols() -> None:
    ik = made(ARMS["anthropomorphic"])
    q = np.array([0.4, -0.3, 1.1])
    P = ik.chain.numeric().pose(q[None])[0, :3, 3]
    np.testing.assert_allclose(ik.solve(P, guess=q)[0], q, atol=1e-9)
    assert ik.solve(P, limits=True).shape == (4, 3)
    again = pickle.loads(pickle.dumps(ik))  # noqa: S301 our own
    np.testing.assert_array_equal(again.solve(P), ik.solve(P))
    arm = made([{"a": "L1"}, {"a": "L2"}])
    assert arm.solve([0.9, 0.6, 0.0], p={"L1": 1.0, "L2": 0.7}).shape == (2, 2)
    assert arm.solve([0.9, 0.6, 0.0], p={"L1": 0.1, "L2": 0.7}).shape == (0, 2)


def test_a_joint_that_is_given() -> None:
    ik = made([{"a": 1.0}, {"a": 0.7}, {"a": 0.5}], free="q3")
    q = np.array([0.4, -0.3, 1.1])
    P = ik.chain.numeric().pose(q[None])[0, :3, 3]
    found = ik.solve(P, free=1.1, report=True)
    assert found.count == 2
    assert np.abs(found[()] - q).max(1).min() < 1e-9
    assert not found.singular.any()


@pytest.mark.parametrize("name", ["ur5", "rx90"])
def test_position_and_axis(name: str) -> None:
    robot = cardan.load(name).with_values({"D3": 0.45, "RL4": 0.5} if name == "rx90" else {})
    ik = cardan.model(robot, "inverse-geometry", free=6)
    numeric = ik.chain.numeric()
    q = np.array([0.3, -1.0, 1.2, 0.4, 0.8, -0.5])
    T = numeric.pose(q[None])[0]
    found = ik.solve(np.concatenate([T[:3, 3], T[:3, 2]]), free=-0.5, report=True)
    assert found.count == 8
    assert np.abs(found[()] - q).max(1).min() < 1e-9
    poses = numeric.pose(found[()])
    np.testing.assert_allclose(poses[:, :3, 2:], np.broadcast_to(T[:3, 2:], (8, 3, 2)), atol=1e-12)


def test_what_is_refused() -> None:
    ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
    with pytest.raises(
        ModelError, match=r"3 independent ways only: 3 must be given, .* q5, q6; free="
    ):
        ik.solve([0.3, 0.2, 0.4])
    with pytest.raises(ModelError, match=r"shape \(6,\), which asks for the position and axis z"):
        ik.solve([0.3, 0.2, 0.4, 0, 0, 1])
    arm = made(ARMS["anthropomorphic"])
    with pytest.raises(InputError, match="rotation"):
        arm.solve(np.eye(3))
    with pytest.raises(InputError, match="finite"):
        arm.solve([np.nan, 0, 0])
    with pytest.raises(InputError, match="real numbers"):
        arm.solve(["a", "b", "c"])
    with pytest.raises(InputError, match="length that is not 1"):
        arm.solve([0.3, 0.2, 0.4, 0, 0, 2])
