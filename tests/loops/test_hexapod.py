"""All poses of platforms on six legs: published cases, and Newton's method from many starts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.algebra import so3
from cardan.loops.study import GENERAL, PlatformPoses, family_of, poses_at

# P. Dietmaier, "The Stewart-Gough platform of general geometry can have 40 real postures", Advances
# in Robot Kinematics, 1998: points on the base and on the platform, and lengths
DIETMAIER = (
    np.array([
        [0, 0, 0], [1.107915, 0, 0], [0.549094, 0.756063, 0], [0.735077, -0.223935, 0.525991],
        [0.514188, -0.526063, -0.368418], [0.590473, 0.094733, -0.205018],
    ]),
    np.array([
        [0, 0, 0], [0.542805, 0, 0], [0.956919, -0.528915, 0], [0.665885, -0.353482, 1.402538],
        [0.478359, 1.158742, 0.107672], [-0.137087, -0.235121, 0.353913],
    ]),
    np.array([1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]),
)  # fmt: skip
THREE, FOUR = [0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 3]


def points(n: int, seed: int, flat: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) * [1, 1, 0 if flat else 1]


def lengths(E: np.ndarray, h: np.ndarray, R: np.ndarray, P: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(h @ R.T + P - E, axis=1))


def solved(E: np.ndarray, h: np.ndarray, length: np.ndarray) -> PlatformPoses:
    return poses_at(family_of(E, h), E[None], h[None], length[None] ** 2)[0]


def test_forty_real_poses_of_dietmaier() -> None:
    E, h, length = DIETMAIER
    poses = solved(E, h, length)
    assert (len(poses), poses.paths, poses.complete) == (GENERAL, GENERAL, True)
    assert poses.real.all()
    R, P = poses.T[:, :3, :3].real, poses.T[:, :3, 3].real
    got = np.linalg.norm(h @ R.transpose(0, 2, 1) + P[:, None] - E, axis=-1)
    np.testing.assert_allclose(got, np.broadcast_to(length, got.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(R), 1)
    apart = np.abs(P[:, None] - P[None]).max(axis=-1) + np.eye(len(P))
    assert apart.min() > 1e-4


@pytest.mark.parametrize(
    ("E", "h", "count"),
    [
        (points(6, 1), points(6, 2), 40),
        (points(6, 3, flat=True), points(6, 4, flat=True), 40),  # 6-6, both plane: Lazard 1993
        (points(6, 5), points(4, 6)[FOUR], 32),  # 6-4, Lin, Griffis & Duffy 1992
        (points(6, 1026), points(4, 1027)[FOUR] * 0.6, 32),  # a path passes close to infinity
        (points(6, 7, flat=True), points(3, 8)[THREE], 16),  # TSSM, Charentus & Renaud 1989
        (points(3, 9)[[0, 1, 1, 2, 2, 0]], points(3, 8)[THREE], 16),  # 3-3, Griffis & Duffy 1989
        (points(6, 1), points(6, 1), 24),  # congruent, Lazard & Merlet 1994
    ],
    ids=["general", "6-6 plane", "6-4", "6-4 close", "6-3", "3-3", "congruent"],
)
def test_counts_of_the_literature(E: np.ndarray, h: np.ndarray, count: int) -> None:
    rng = np.random.default_rng(11)
    R, P = so3.exp(rng.normal(size=3)), rng.normal(size=3)
    poses = solved(E, h, lengths(E, h, R, P))
    assert poses.complete
    gone = f"the other {40 - count} of 40 are at infinity for this geometry" if count < 40 else ""
    assert gone in str(poses)
    assert len(poses) == poses.paths - poses.infinite
    assert poses.paths == count
    R_all, P_all = poses.T[:, :3, :3], poses.T[:, :3, 3]
    y = np.einsum("nij,kj->nki", R_all, h) + P_all[:, None] - E
    scale = 1 + (np.abs(y) ** 2).sum(axis=-1)
    away = ((y**2).sum(axis=-1) - lengths(E, h, R, P) ** 2) / scale
    assert np.abs(away).max() < 1e-11
    near = np.abs(R_all - R).max(axis=(1, 2)) + np.abs(P_all - P).max(axis=1)
    assert near.min() < 1e-9  # the pose that was chosen
    images = np.abs(poses.T[:, None] - poses.T[None].conj()).max(axis=(2, 3))
    assert (images / (1 + np.abs(poses.T).max(axis=(1, 2))[:, None])).min(axis=1).max() < 1e-8


def by_newton(E: np.ndarray, h: np.ndarray, length: np.ndarray, starts: int) -> np.ndarray:
    """Real poses (k, 4, 4) that Newton's method reaches from many starts."""
    rng = np.random.default_rng(3)
    R = np.array([so3.exp(v) for v in rng.uniform(-2, 2, (starts, 3))])
    P = rng.uniform(-1, 1, (starts, 3)) * length.max() + E.mean(axis=0)
    for _ in range(40):
        arms = np.einsum("nij,kj->nki", R, h)
        y = arms + P[:, None] - E
        f = ((y**2).sum(axis=-1) - length**2) / 2
        J = np.concatenate([y, np.cross(arms, y)], axis=-1)
        A = J.transpose(0, 2, 1) @ J
        A += (1e-14 + 0.1 * np.linalg.norm(f, axis=1) ** 2)[:, None, None] * np.eye(6)
        step = np.linalg.solve(A, -np.einsum("nki,nk->ni", J, f)[..., None])[..., 0]
        angle = np.linalg.norm(step[:, 3:], axis=1)[:, None, None] + 1e-300
        K = np.stack([np.cross(step[:, 3:], e) for e in np.eye(3)], axis=-1) / angle
        R = (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ R
        P = P + step[:, :3]
    closed = np.abs(f).max(axis=1) < 1e-12
    every = np.concatenate([R, P[..., None]], axis=2)[closed]
    first: list[np.ndarray] = []
    for T in every:
        if all(np.abs(T - other).max() > 1e-5 for other in first):
            first.append(T)
    return np.array(first)


@pytest.mark.parametrize("flat", [False, True])
def test_newton_finds_the_same_real_poses(flat: bool) -> None:
    E, h = points(6, 20, flat), points(6, 21, flat) * 0.6
    rng = np.random.default_rng(8)
    length = lengths(E, h, so3.exp(rng.normal(size=3)), np.array([0.3, 0.2, 1.1]))
    poses = solved(E, h, length)
    real = poses.T[poses.real, :3].real
    found = by_newton(E, h, length, 600)
    assert len(found) == len(real)
    for T in found:
        assert np.abs(real - T).max(axis=(1, 2)).min() < 1e-6


def hexapod(kind: str) -> dict[str, Any]:
    """A platform on legs of one kind, with points that are not in a plane."""
    angles = [f"{a} deg" for a in (-12, 15, 108, 131, 226, 251)]
    ball = {"cut": {"antecedent": "rod", "joint": "spherical"},
            "twin": {"antecedent": "platform", "gamma": "top", "d": 0.32, "b": "up"}}  # fmt: skip
    swivel = [
        {"name": "yoke", "active": False, "alpha": "pi/2"},
        {"name": "cross", "active": False, "alpha": "pi/2"},
    ]
    drive: list[dict[str, Any]]
    if kind == "UPS":
        drive = [swivel[0] | {"gamma": "pi/2", "b": "low", "r": 0.6}, swivel[1],
                 {"name": "rod", "joint": "prismatic", "alpha": "pi/2", "mass": 1}]  # fmt: skip
    elif kind == "RUS":
        drive = [{"name": "arm", "alpha": "-pi/2", "d": 0.5, "b": "low", "mass": 1},
                 swivel[0] | {"d": 0.25, "alpha": 0}, swivel[1] | {"name": "rod"}]  # fmt: skip
        ball["cut"]["d"] = 0.6
    else:
        drive = [{"name": "car", "joint": "prismatic", "d": 0.5, "b": "low", "mass": 1},
                 swivel[0], swivel[1] | {"name": "rod"}]  # fmt: skip
        ball["cut"]["d"] = 0.6
    return {
        "name": kind,
        "platform": {"mass": 1, "home": [0, 0, 0.5, 0, 0, 0]},
        "leg": [{
            "name": "leg", "angles": angles, "link": drive, "loop": [ball],
            "each": {"top": [f"{a} deg" for a in (-30, 34, -28, 31, -39, 33)],
                     "up": [0, 0.03, -0.02, 0.05, 0.01, -0.04],
                     "low": [0.01, -0.03, 0.04, 0.0, 0.02, -0.01]},
        }],
    }  # fmt: skip


@lru_cache
def geometry(name: str) -> Any:
    described = cardan.load(name if name in ("stewart", "stewart-sps") else hexapod(name))
    return cardan.model(described, "loop-geometry")


@pytest.mark.parametrize("name", ["stewart", "stewart-sps", "UPS", "RUS", "PUS"])
def test_assemblies_are_all_and_close_the_loops(name: str) -> None:
    own = geometry(name)
    columns = [own.coordinates.moving.index(j) for j in own.given]
    q_a = own.home[columns] + np.random.default_rng(2).uniform(-0.02, 0.02, 6)
    poses = own.complex_poses(q_a)
    every = own.solve(q_a)
    assert every.complete
    assert "these are all" in every.note
    assert own.residual(np.asarray(every)).max() < 1e-9
    np.testing.assert_allclose(every[:, columns], np.broadcast_to(q_a, (len(every), 6)))
    assert len(every.poses) <= poses.real.sum()
    for T in every.poses.T:
        assert np.abs(poses.T - T).max(axis=(1, 2)).min() < 1e-8
    near = own.solve(q_a, own.home)  # by continuation
    apart = np.angle(np.exp(1j * (np.asarray(every) - near)))
    platform = own.hexapod.columns
    assert np.abs(apart[:, platform]).max(axis=1).min() < 1e-7
    batch = own.solve([q_a, q_a + 0.01])
    assert batch.count[0] == len(every)


def test_poses_that_meet_are_told() -> None:
    """A plane platform in the plane of its base: every pose is its own image."""
    own = geometry("stewart")
    q = own.legs.solve([0.05, 0.03, 0, 0, 0, 2.1])[0]
    every = own.solve(q[[own.coordinates.moving.index(j) for j in own.given]])
    assert not every.complete
    assert "meet others" in every.note
    places = every.poses.T[:, :3, 3]
    assert np.abs(places - [0.05, 0.03, 0]).max(axis=1).min() < 1e-6
    assert own.residual(np.asarray(every)).max() < 1e-9


def test_robots_without_six_legs_have_no_complex_poses() -> None:
    with pytest.raises(cardan.ModelError, match="six legs"):
        cardan.model(cardan.load("delta"), "loop-geometry").complex_poses([0.3, 0.3, 0.3])
