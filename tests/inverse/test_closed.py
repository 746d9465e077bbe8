"""Closed forms: the generating configuration is found, every answer is right, none is missing."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.compare import among, near
from tests.inverse.newton import merged, polish
from tests.random_robots import random_robot

import cardan
from cardan.inverse.chain.chain import NumericChain
from cardan.mechanism.tree import Tree

from .arms import ARMS, arm, reached

BUNDLED = ["puma560", "rx90", "stanford", "scara", "ur5", "ur10", "tx40", "planar3r", "tree",
           "iiwa14", "kuka-lwr", "panda"]  # fmt: skip
POSES = 3000


@cache
def solution(name: str) -> tuple[Any, NumericChain, dict[str, float]]:
    robot = ARMS[name] if name in ARMS else cardan.load(name)
    ik = cardan.model(robot, "inverse-geometry")
    rng = np.random.default_rng(7)
    p = {key: float(rng.uniform(0.3, 0.9)) for key in ik.chain.parameters}
    return ik, ik.chain.numeric(p), p


def drawn(name: str, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Configurations, their poses, and what solve needs besides."""
    ik, chain, p = solution(name)
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (count, chain.n))
    sliding = chain.sigma == 1
    q[:, sliding] = rng.uniform(-0.6, 0.6, (count, sliding.sum()))
    more: dict[str, Any] = {"p": p}
    if ik.free:
        more["free"] = q[:, ik.free[0]]
    return q, chain.pose(q), more


@pytest.mark.parametrize("name", [*BUNDLED, *ARMS])
def test_the_configuration_is_among_the_answers(name: str) -> None:
    ik, chain, _ = solution(name)
    assert ik.method in ("paul", "pieper")
    q, T, more = drawn(name, POSES)
    found = ik.solve(T, **more)
    gap = reached(found, q, chain.sigma)
    # near singularities a pose determines its configuration to fewer digits
    assert np.quantile(gap, 0.99) < 1e-8, name
    assert gap.max() < 1e-4, name
    there = np.arange(found.q.shape[1]) < found.count[:, None]
    assert np.isnan(found.q[~there]).all()
    assert np.isfinite(found.q[there]).all()
    poses = chain.pose(np.where(there[..., None], found.q, 0))
    assert np.abs(poses - T[:, None]).max((-2, -1))[there].max() < 1e-9
    assert found.residual[there].max() < 1e-9
    angles = found.q[there][:, chain.sigma == 0]
    assert (angles > -np.pi).all()
    assert (angles <= np.pi).all()


def search(chain: NumericChain, T: np.ndarray, held: np.ndarray, values: np.ndarray) -> int:
    """The number of configurations that Newton's method finds from many starts."""
    rng = np.random.default_rng(5)
    start = rng.uniform(-np.pi, np.pi, (600, chain.n))
    sliding = chain.sigma == 1
    start[:, sliding] = rng.uniform(-2, 2, (600, sliding.sum()))
    start[:, held] = values
    q, residual = polish(chain, start, T, held)
    good = residual < 1e-9
    return len(merged(chain, q[good], residual[good])[0])


@pytest.mark.parametrize(
    "name", ["puma560", "ur5", "scara", "5R", "4R", "RPRRPR", "offset arm", "shoulder", "middle",
             "skew RRPRRR", "UR skew", "shoulder offset", "panda"]
)  # fmt: skip
def test_their_number_is_that_of_a_search(name: str) -> None:
    ik, chain, _ = solution(name)
    _, T, more = drawn(name, 4, seed=9)
    found = ik.solve(T, **more)
    held = np.zeros(chain.n, bool)
    held[list(ik.free)] = True
    for i in range(len(T)):
        value = more["free"][i] if ik.free else np.empty(0)
        assert search(chain, T[i], held, value) == found.count[i]


@pytest.mark.parametrize("name", ["puma560", "ur5", "offset arm", "shoulder", "middle"])
def test_their_number_is_that_of_the_general_method(name: str) -> None:
    from cardan.inverse.general.solver import general_solver

    ik, chain, p = solution(name)
    _, T, more = drawn(name, 150, seed=11)
    found = ik.solve(T, **more)
    other = general_solver(ik.chain, (), p).solve(T, numeric=chain)
    assert (found.count == other.count).mean() > 0.98
    assert (found.count >= other.count).all()


def test_methods_as_in_the_books() -> None:
    for name in ("puma560", "rx90", "stanford", "scara", "ur5", "shoulder offset", "PPPRRR"):
        assert solution(name)[0].method == "paul"
    for name in ("offset arm", "shoulder", "middle", "skew RRPRRR"):
        ik = solution(name)[0]
        assert ik.method == "pieper"
        assert "degree 4" in ik.reason


def test_asking_for_a_method_that_does_not_apply_says_what_would() -> None:
    with pytest.raises(cardan.CardanError, match='method="general"'):
        cardan.model(cardan.load("general6r"), "inverse-geometry", method="pieper")
    with pytest.raises(cardan.CardanError, match='method="general"'):
        cardan.model(ARMS["offset arm"], "inverse-geometry", method="paul")


def test_out_of_reach_is_empty() -> None:
    for name in ("puma560", "ur5", "offset arm", "5R"):
        ik, chain, p = solution(name)
        T = chain.pose(np.full(chain.n, 0.3))
        T[:3, 3] += 9
        assert ik.solve(T, p=p).shape == (0, chain.n)
    ik, chain, p = solution("scara")  # a pose its few joints cannot take
    T = chain.pose(np.array([0.3, 0.4, 0.5, 0.1])) @ np.diag([1.0, -1, -1, 1])
    assert ik.solve(T, p=p).shape == (0, 4)


def test_a_batch_has_leading_axes() -> None:
    ik, _chain, p = solution("puma560")
    _q, T, _ = drawn("puma560", 6)
    found = ik.solve(T.reshape(2, 3, 4, 4), p=p)
    assert found.shape == (2, 3)
    assert found.q.shape == (2, 3, 8, 6)
    near(found[1, 2], ik.solve(T[5], p=p), 1e-5, 1e-8, each=True)
    assert ik.solve(T[:0], p=p).q.shape == (0, 8, 6)
    one = ik.solve(T[0], p=p, report=True)
    assert one.shape == ()
    assert one.q.shape == (8, 6)
    assert int(one.count) == len(one[()])


def test_tree_robots_answer_with_the_joints_of_the_path() -> None:
    robot = cardan.load("tree")
    ik = cardan.model(robot, "inverse-geometry", frame="left_tool")
    assert ik.variables == ("waist", "q3", "q4")
    q = np.zeros(robot.n)
    index = [Tree.of(robot).moving.index(joint.link) for joint in ik.chain.joints]
    q[index] = 0.3, 0.5, -0.7
    T = cardan.model(robot, "transform", frame="left_tool").evaluate(q=q)
    among(ik.solve(T), q[index], 1e-9)


def test_deriving_takes_less_than_two_seconds() -> None:
    start = time.process_time()
    cardan.model(cardan.load("ur10"), "inverse-geometry")
    assert time.process_time() - start < 2


def test_symbols_need_values() -> None:
    ik = solution("rx90")[0]
    with pytest.raises(cardan.CardanError, match="D3"):
        ik.solve(np.eye(4))
    with pytest.raises(cardan.CardanError, match="D33"):
        ik.solve(np.eye(4), p={"D33": 1})
    symbolic = cardan.model(cardan.load("ur5"), "inverse-geometry", symbolic=True)
    plain, chain, _ = solution("ur5")
    T = chain.pose(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
    assert len(symbolic.program.parameters) > 3
    near(symbolic.solve(T), plain.solve(T), 1e-5, 1e-8, each=True)


@pytest.mark.parametrize("seed", [4, 9, 22, 25, 27, 28, 30, 32, 33, 34, 124, 130])
def test_random_arms(seed: int) -> None:
    """Arms with zeros and right angles in all places, of three to six joints."""
    count = (3, 4, 5, 6, 6, 6)[seed % 6]
    robot = random_robot(seed, count, tree=False, fixed=False, base_motion=False)
    try:
        ik = cardan.model(robot, "inverse-geometry", method="pieper")
    except cardan.CardanError:  # no closed form, or joints that move alike
        return
    chain = ik.chain.numeric()
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (100, chain.n))
    q[:, chain.sigma == 1] = rng.uniform(-1, 1, (100, int((chain.sigma == 1).sum())))
    T = chain.pose(q)
    found = ik.solve(T)
    values = np.linalg.svd(chain.jacobian(q), compute_uv=False)
    regular = values[:, -1] > 1e-4 * values[:, 0]
    assert reached(found, q, chain.sigma)[regular].max() < 1e-5
    there = np.arange(found.q.shape[1]) < found.count[:, None]
    poses = chain.pose(np.where(there[..., None], found.q, 0))
    assert np.abs(poses - T[:, None]).max((-2, -1))[there].max() < 1e-9 * chain.scale


def test_joints_that_move_alike_are_refused() -> None:
    twice = arm("twice", [(0, 0, 0, 0, 0), (0, 0, 0, 0, 0.2), (0, 1.2, 0.3, 0, 0)])
    with pytest.raises(cardan.CardanError, match="2 independent ways"):
        cardan.model(twice, "inverse-geometry")
    ik = cardan.model(twice, "inverse-geometry", free=1)
    T = ik.chain.numeric().pose(np.array([0.2, 0.3, 0.4]))
    near(ik.solve(T, free=0.2), [[0.2, 0.3, 0.4]], 1e-5, 1e-8, each=True)
