"""Poses where equations vanish or digits are lost: right angles, straight wrists, full stretch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.inverse.newton import rank_lost

import cardan
from cardan.errors import InputError

from .arms import ARMS, reached

LENGTHS = {"D2": 0.4, "D3": 0.3, "RL2": 0.15}
NAMES = ["puma560-numeric", "ur5", "stanford", "scara", "iiwa14", "panda", "5R", "4R",
         "ortho offset arm", "RPRRPR"]  # fmt: skip


def loaded(name: str, **options: Any) -> tuple[Any, Any, dict[str, float]]:
    robot = ARMS.get(name) or cardan.load(name)
    ik = cardan.model(robot, "inverse-geometry", **options)
    p = {key: LENGTHS[key] for key in ik.chain.parameters}
    return ik, ik.chain.numeric(p), p


def right_angles(chain: Any, count: int, near: bool) -> np.ndarray:
    """Configurations of right angles, some joints anywhere; `near`: almost right angles."""
    rng = np.random.default_rng(0)
    q = rng.integers(-2, 3, (count, chain.n)) * np.pi / 2
    if near:
        q = q + 10.0 ** rng.uniform(-9, -2, (count, 1)) * rng.normal(size=q.shape)
    anywhere = rng.uniform(-3, 3, q.shape)
    q = np.where(rng.random(q.shape) < 0.3, anywhere, q)
    slides = chain.sigma == 1
    q[:, slides] = rng.choice([0.0, 0.2, 0.3], (count, int(slides.sum())))
    return q


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_right_angles(name: str, near: bool) -> None:
    ik, chain, p = loaded(name)
    q = right_angles(chain, 300, near)
    more = {"free": q[:, ik.free[0]]} if ik.free else {}
    T = chain.pose(q)
    found = ik.solve(T, p=p, **more)
    assert (found.count > 0).all()
    there = ~np.isnan(found.q[..., 0])
    off = np.abs(chain.pose(np.nan_to_num(found.q)) - T[:, None]).max((-2, -1))
    assert off[there].max() < 1e-9
    held = np.isin(np.arange(chain.n), ik.free)
    regular = ~rank_lost(chain, q, held)
    assert reached(found, q, chain.sigma)[regular].max() < 1e-6
    if not near:
        lost = rank_lost(chain, found.q[there], held)
        np.testing.assert_array_equal(found.singular[there], lost)


def test_a_vertical_tool_of_five_joints() -> None:
    """The first equation vanishes: q5 is found by another way."""
    ik, chain, _ = loaded("5R")
    q = np.array([0.4, -0.5, 0.9, -np.pi / 2 - 0.4, 0.3])
    found = ik.solve(chain.pose(q), report=True)
    assert reached(ik.solve(chain.pose(q[None])), q[None], chain.sigma)[0] < 1e-6
    assert not found.singular[: found.count].all()


@pytest.mark.parametrize("method", ["auto", "general"])
def test_a_guess_for_every_pose(method: str) -> None:
    ik, chain, _ = loaded("ur5", method=method)
    rng = np.random.default_rng(4)
    q = rng.uniform(-3, 3, (2, 5, 6))
    found = ik.solve(chain.pose(q), guess=q)
    np.testing.assert_allclose(found.q[:, :, 0], q, atol=1e-7)
    one = ik.solve(chain.pose(q[0, 0]), guess=q[0])  # a pose, five guesses
    assert one.shape == (5,)
    with pytest.raises(InputError, match="do not fit together"):
        ik.solve(chain.pose(q), guess=np.zeros((3, 6)))


def test_a_guess_decides_what_is_free() -> None:
    ik, chain, _ = loaded("puma560-numeric")
    q = np.array([[0.5, 0.6, -0.4, 0.7, 0.0, 0.2], [0.1, 0.3, -0.2, -0.9, 0.0, 0.4]])
    found = ik.solve(chain.pose(q), guess=q)
    np.testing.assert_allclose(found.q[:, 0], q, atol=1e-7)
    assert found.singular[:, 0].all()


def test_a_joint_given_for_every_pose() -> None:
    """By the general method: special values and any."""
    ik, chain, _ = loaded("panda", method="general", free="q7")
    q = np.random.default_rng(5).uniform(-2.5, 2.5, (60, 7))
    q[:20, 6] = 0
    q[20:40, 6] = np.pi / 2
    found = ik.solve(chain.pose(q), free=q[:, 6])
    assert reached(found, q, chain.sigma).max() < 1e-6
    assert (np.abs(found.q[..., 6] - q[:, None, 6])[~np.isnan(found.q[..., 6])] == 0).all()


def test_complex_numbers_are_no_pose() -> None:
    ik, chain, _ = loaded("ur5")
    with pytest.raises(InputError, match="real numbers"):
        ik.solve(chain.pose(np.zeros(6)) * (1 + 0j))


def test_double_roots_of_a_quartic_come_once() -> None:
    """Two pairs of roots coincide, each across the signs of Ferrari's method."""
    H = np.pi / 2
    rows = [(0, 0, 0.3), (H, 0.3, 0.2), (H, 0, 0), (H, 0, 0.1), (H, 0.25, 0.3), (H, 0.2, 0.1)]
    links = [{"alpha": alpha, "d": d, "r": r} for alpha, d, r in rows]
    ik = cardan.model(cardan.load({"name": "middle", "link": links}), "inverse-geometry")
    assert ik.method == "pieper"
    chain = ik.chain.numeric()
    T = chain.pose(np.array([0, -H, -H, H, 0, np.pi]))
    for pose in (T, np.concatenate([np.round(T[:, :3]), T[:, 3:]], 1)):  # also without rounding
        found = ik.solve(pose, report=True)
        q = found.q[: found.count]
        least = np.linalg.svd(chain.jacobian(q), compute_uv=False)[:, -1]
        np.testing.assert_array_equal(found.singular[: found.count], least < 1e-6)
        apart = np.abs((q[:, None] - q + np.pi) % (2 * np.pi) - np.pi).max(-1) + 9 * np.eye(len(q))
        assert apart.min() > 1e-5
        assert (found.multiplicity[: found.count][least < 1e-6] > 1).all()
