"""Exactly singular poses, and poses a rounding away from those with a family of configurations."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.exact import exact

from .arms import ARMS, reached

H, Q = np.pi / 2, np.pi / 4
I, F = 1.570796326795, 3.14159265359  # right and flat angles of few digits
CHAINS: dict[str, list[tuple[float, ...]]] = {  # alpha, d, theta, r
    "RRRRRR": [(-H, 0.187, -I, 0.332), (-H, 0, 0, 0.104), (H, 0.507, 0, 0.493),
               (-H, 0, -I, 0.519), (-H, 0.166, I, 0.103), (-H, 0.112, 0, 0.534)],
    "RRPRRR": [(H, 0.189, 0, 0.392), (H, 0, -I, 0.376), (-H, 0.56, F, 0.101), (H, 0, F, 0.271),
               (H, 0.427, 0, 0.17), (H, 0.572, F, 0.337)],
    "PRRRRR": [(Q, 0.515, -2.975507161617, 0.403), (Q, 0.449, 2.616019347018, 0.296),
               (Q, 0.142, -0.541470696044, 0.321), (0, 0.333, 1.335899788513, 0.455),
               (-np.pi / 3, 0.589, -0.81739158683, 0.535), (0, 0.274, 0.260555645302, 0.431)],
    "PRRPRR": [(2 * np.pi / 3, 0.126, -1.489329846942, 0.276), (Q, 0.572, 1.013036331128, 0.313),
               (Q, 0.377, -2.305143761433, 0.504), (0, 0.356, -1.944422680894, 0.284),
               (-np.pi / 3, 0.229, -1.83752611285, 0.368), (0, 0.524, 0.595742600879, 0.594)],
    "PRRPRR far": [(H, 0.309, F, 0.526), (H, 0, I, 0.385), (-H, 0.259, I, 0.294), (H, 0, F, 0.116),
                   (H, 0.294, -I, 0.43), (-H, 0.364, I, 0.562)],
    "pairs": [(0, 0, 0, 0.2), (0, 0.3, 0.2, 0), (H, 0.2, 0, 0.3), (0, 0.25, 0.1, 0),
              (H, 0.3, 0, 0.1), (0, 0.2, 0, 0)],
    "parallel": [(0, 0, 0, 0.2), (H, 0.1, 0, 0.1), (-H, 0.2, 0, 0.3), (H, 0.35, 0, 0.11),
                 (0, 0.3, 0, 0.1), (0, 0.2, 0, 0.08)],
    "crx": [(0, 0, 0, 0), (-H, 0, 0, 0), (np.pi, 0.54, 0, 0), (-H, 0, 0, -0.54), (H, 0, 0, 0.15),
            (-H, 0, 0, -0.16)],
}  # fmt: skip


@cache
def solution(name: str) -> Any:
    kinds = name.split()[0] if name[0].isupper() else "RRRRRR"
    keys = ("alpha", "d", "theta", "r")
    links = [
        {"joint": "prismatic" if kind == "P" else "revolute", **dict(zip(keys, row, strict=True))}
        for kind, row in zip(kinds, CHAINS[name], strict=True)
    ]
    return cardan.model(cardan.load({"name": "special", "link": links}), "inverse-geometry")


def solved(name: str, q: list[float]) -> tuple[Any, float]:
    """The answers of the pose of q, each of which gives it back; how far the nearest is from q."""
    ik = solution(name)
    chain = ik.chain.numeric()
    T = chain.pose(np.array(q))
    found = ik.solve(T[None])
    assert found.count[0] > 0
    near(chain.pose(found[0]), T, absolute=1e-9)
    turns = found[0][:, chain.sigma == 0]
    assert ((turns > -np.pi) & (turns <= np.pi)).all()
    return found, float(reached(found, np.array([q]), chain.sigma)[0])


def test_no_answer_comes_twice() -> None:
    """Two candidates were more exact than what they were merged with, and became one."""
    ik = cardan.model(cardan.load("ur5"), "inverse-geometry")
    chain = ik.chain.numeric()
    q = ik.solve(chain.pose(np.array([-H, -H, np.pi, -1.5707964808776964, 0, np.pi])))
    apart = np.abs((q[:, None] - q + np.pi) % (2 * np.pi) - np.pi).max(-1) + 9 * np.eye(len(q))
    assert apart.min() > 1e-6


def singular_of(chain: Any, count: int) -> np.ndarray:
    """Configurations where the determinant of the Jacobian changes its sign."""
    rng = np.random.default_rng(8)
    low = rng.uniform(-3, 3, (20 * count, 6))
    high = low + 0.8 * rng.normal(size=low.shape)

    def sign(q: np.ndarray) -> np.ndarray:
        return np.sign(np.linalg.det(chain.jacobian(q)))

    apart = sign(low) != sign(high)
    low, high = low[apart][:count], high[apart][:count]
    first = sign(low)
    for _ in range(70):
        middle = (low + high) / 2
        same = (sign(middle) == first)[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low


@pytest.mark.parametrize("name", ["offset arm", "ortho offset arm", "shoulder", "middle"])
def test_double_roots_of_quartics(name: str) -> None:
    """Newton's method on a quartic takes no step where the slope is rounding."""
    ik = cardan.model(ARMS[name], "inverse-geometry")
    chain = ik.chain.numeric()
    q = singular_of(chain, 150)
    T = chain.pose(q)
    found = ik.solve(T)
    assert found.singular.any(1).all()
    aside = q + 1e-3 * np.linalg.svd(chain.jacobian(q))[2][:, -1]
    family = np.abs(chain.pose(aside) - T).max((1, 2)) < 1e-12  # two axes in line
    assert reached(found, q, chain.sigma)[~family].max() < 1e-3


@pytest.mark.parametrize(
    ("name", "q", "count"),
    [
        ("RRRRRR", [H, -3.1415162377120787, 1.5708212488839304, np.pi, -3.1415479547511715, np.pi],
         4),
        ("RRPRRR", [0.0, 1.03e-13, -1.6036110707276927e-05, -1.713191597474406e-06,
                    1.5707988771495756, -2.07e-13], 4),
        ("PRRRRR", [-0.6505429335675228, -0.576999185064333, -1.546282080742503,
                    -2.811210960616193, 2.9280349994149324, -0.388061867541976], 5),
    ],
)  # fmt: skip
def test_roots_that_nearly_coincide_are_told_apart(name: str, q: list[float], count: int) -> None:
    """Two roots of one elimination that led to one answer: another elimination is asked."""
    found, far = solved(name, q)
    assert found.count[0] == count
    assert far < 1e-6


def test_answers_of_few_digits_do_not_crowd_out_others() -> None:
    q = [-1.5707963270613687, 0.0, np.pi, -9.805045664e-12, -1.536109017763e-10, -1.5707963266234]
    found, far = solved("crx", q)
    assert found.count[0] == 8
    assert far < 1e-6


@pytest.mark.parametrize(
    "q",
    [
        [-3.061163924878e-05, 0, 1.570793813914432, H, -3.141581761864268, np.pi],
        [-3.1412025503182637, -3.1414216288545678, -1.5706678565111627, -H, -3.470935893825633e-04,
         3.1415916991890986],
    ],
)  # fmt: skip
def test_a_wrist_that_is_almost_straight(q: list[float]) -> None:
    """Products in a null space of no digits; a family that is almost one: it is followed."""
    assert solved("crx", q)[1] < 1e-3


@pytest.mark.parametrize(
    ("name", "q"),
    [
        ("PRRRRR", [0.2500000000066445, -2.6160193470192326, 0.5414706960440001,
                    -2.9066961153045563, 2.3881879136248965, -1.8313519720962876]),
        ("PRRPRR", [2.6253460858629825, 2.128556322461793, 0.9898836056037963, -2.45697714674199,
                    -2.9419606192266095, -0.012335028782935797]),
        ("pairs", [2.0263167129409063, -1.8075749213108718, 2.617368388933942, -2.717368388308806,
                   2.6322816842597465, 1.4292952512360295]),
        ("parallel", [0, -H, H, 0.10272909395227048, H, np.pi]),
        ("parallel", [-3.1415926372064487, np.pi, -5.937805358513515e-09, -H,
                      8.819664198966848e-08, -7.146046288042385e-08]),
    ],
)  # fmt: skip
def test_beside_a_family_some_are_given(name: str, q: list[float]) -> None:
    found, _ = solved(name, q)
    assert found.singular[0].any()


def test_a_slide_so_far_out_that_a_pose_has_no_digits_is_none() -> None:
    q = [0.2499994394464684, -8.39581943079537e-07, H, -3.835142935536729e-06, 0, -3.1415920684733]
    found, far = solved("PRRPRR far", q)
    assert np.abs(found[0]).max() < 1e6
    assert far < 1e-6


@pytest.mark.parametrize(
    ("free", "q"),
    [
        (3, [-3.141592620090173, 7.367505716615597e-08, -3.1415926057259878, 1.2391920822807378e-08,
             3.141592588749271, 1.5707962554242338, 1.5707963256952788]),
        (2, [0, -3.1415926529298277, np.pi, np.pi, np.pi, np.pi, 1.5707963267487812]),
    ],
)  # fmt: skip
def test_a_given_joint_that_makes_axes_almost_parallel(free: int, q: list[float]) -> None:
    """The chain of six joints that is solved then is not exact: answers are those of the seven."""
    ik = cardan.model(cardan.load("panda"), "inverse-geometry", method="general", free=free)
    chain = ik.chain.numeric()
    T = chain.pose(np.array(q))
    found = ik.solve(T, free=q[free - 1])
    assert len(found)
    near(chain.pose(found), T, absolute=1e-9)
    again = ik.solve(np.stack([np.eye(4), T]), free=q[free - 1])
    np.testing.assert_array_equal(again[1], found)


LENGTHS = {"D3": 0.45, "RL4": 0.43}
WRIST_OVER_SHOULDER = -1  # instead of a joint: the wrist centre is that far from the first axis
BESIDE = [("rx90", 4, None), ("rx90", WRIST_OVER_SHOULDER, None), ("ur5", 4, None),
          ("puma560-numeric", 4, None), ("panda", 1, "q7")]  # fmt: skip


def over_shoulder(chain: Any, q: np.ndarray, far: float) -> None:
    """Turn q2 so that the wrist centre is that far from the first axis."""

    def across(q2: float) -> np.ndarray:
        bent = q.copy()
        bent[:, 1] = q2
        frames = chain.frames(bent)
        from_first = np.linalg.inv(frames[1]) @ frames[5]
        return np.asarray(from_first[:, 0, 3])

    c, s = across(0.0), across(H)
    q[:, 1] = np.arctan2(-c, s) + far / np.hypot(c, s)


@cache
def by_method(name: str, method: str, free: str | None) -> Any:
    return cardan.model(cardan.load(name), "inverse-geometry", method=method, free=free)


@cache
def beside(name: str, joint: int, free: str | None, far: float) -> tuple[Any, ...]:
    """Poses that far from those of a family, and their answers by both methods."""
    both = []
    for method in ("auto", "general"):
        ik = by_method(name, method, free)
        p = {key: LENGTHS[key] for key in ik.chain.parameters}
        chain = ik.chain.numeric(p)
        q = np.random.default_rng(5).uniform(-2.8, 2.8, (40, chain.n))
        if joint == WRIST_OVER_SHOULDER:
            over_shoulder(chain, q, far)
        else:
            q[:, joint] = far
        moving = [j for j in range(chain.n) if j not in ik.free]
        values = np.linalg.svd(chain.jacobian(q)[..., moving], compute_uv=False)
        q = q[values[:, -2] > 0.12][:12]  # one singularity at a time
        T = chain.pose(q)
        given = {"free": q[:, ik.free[0]]} if ik.free else {}
        found = ik.solve(T, p=p, **given)
        there = ~np.isnan(found.q[..., 0])
        off = np.abs(chain.pose(np.nan_to_num(found.q)) - T[:, None]).max((-2, -1))
        assert off[there].max() < 1e-12
        both.append(found)
    assert len(q) > 5
    return chain, q, *both


@pytest.mark.filterwarnings("ignore::cardan.errors.CardanWarning")
@pytest.mark.parametrize("far", [1e-3, 1e-5, 1e-7, 1e-8, 1e-9, 1e-10])
@pytest.mark.parametrize(("name", "joint", "free"), BESIDE)
def test_beside_a_family_no_answer_is_lost_and_none_comes_twice(
    name: str, joint: int, free: str | None, far: float
) -> None:
    chain, q, auto, general = beside(name, joint, free, far)
    np.testing.assert_array_equal(auto.count, general.count)
    for found in (auto, general):
        assert (found.count % 2 == 0).all()
        assert found.count.max() <= 8
        assert reached(found, q, chain.sigma).max() < 1e-6 + 1e-13 / far  # rounding
    if far < 2e-7:
        assert auto.singular.any(1).all()
        np.testing.assert_array_equal(auto.singular.sum(1), general.singular.sum(1))


@pytest.mark.filterwarnings("ignore::cardan.errors.CardanWarning")
def test_rounding_of_the_pose_loses_no_answer() -> None:
    """On a family a formulation that lacks rank anyway took the lack of the pose for its own."""
    chain, q, auto, _ = beside("ur5", 4, None, 0.0)
    T = chain.pose(q)
    rounding = np.random.default_rng(0).uniform(-2e-16, 2e-16, (40, *T.shape))
    found = by_method("ur5", "general", None).solve((T + rounding).reshape(-1, 4, 4))
    np.testing.assert_array_equal(found.count.reshape(40, -1), np.tile(auto.count, (40, 1)))


@pytest.mark.filterwarnings("ignore::cardan.errors.CardanWarning")
@pytest.mark.parametrize(("name", "joint", "free"), BESIDE)
def test_a_family_is_counted_once(name: str, joint: int, free: str | None) -> None:
    chain, q, auto, general = beside(name, joint, free, 0.0)
    _, _, aside, _ = beside(name, joint, free, 1e-7)
    np.testing.assert_array_equal(auto.count, general.count)
    np.testing.assert_array_equal(auto.singular.sum(1), general.singular.sum(1))
    alone = aside.count - aside.singular.sum(1)  # those that are of no family
    np.testing.assert_array_equal(auto.count - auto.singular.sum(1), alone)
    assert (auto.singular.sum(1) > 0).all()
    assert (2 * auto.singular.sum(1) <= aside.singular.sum(1)).all()
    assert (general.multiplicity[general.singular] > 1).all()
    for found in (auto, general):  # the own configuration is on the family of a row
        for k in range(3):
            rows = found.q[k][found.singular[k]]
            assert any(connected(chain, q[k], row, free) for row in rows)


def connected(chain: Any, start: np.ndarray, goal: np.ndarray, free: str | None) -> bool:
    """Does the null motion of a configuration lead to another one? Followed by small steps of the
    singular vector and Newton's method."""
    T = chain.pose(start)
    moving = np.array([j for j in range(chain.n) if free is None or j != int(free[1:]) - 1])
    q, before = start.copy(), None
    for _ in range(400):
        gap = (goal - q + np.pi) % (2 * np.pi) - np.pi
        if np.abs(gap).max() < 0.1:
            return True
        v = np.linalg.svd(chain.jacobian(q)[:, moving])[2][-1]
        before = v if before is None or v @ before > 0 else -v
        q[moving] += 0.05 * before
        for _ in range(3):
            at = chain.pose(q)
            turn = 0.5 * sum(np.cross(at[:3, i], T[:3, i]) for i in range(3))
            error = np.concatenate([T[:3, 3] - at[:3, 3], turn])
            q[moving] += np.linalg.pinv(chain.jacobian(q)[:, moving], 1e-4) @ error
    return False


@pytest.mark.parametrize("scale", ["1e-6", "1e6", "1e9"])
@pytest.mark.parametrize("name", ["RPRRPR", "PRPRPR", "RRPRRR", "skew PPPRRR", "offset arm"])
def test_the_general_method_does_not_mind_units(name: str, scale: str) -> None:
    np.testing.assert_array_equal(counts(name, scale), counts(name, "1"))


@cache
def counts(name: str, unit: str) -> np.ndarray:
    """How many answers poses have whose own configuration is among them, lengths in this unit."""
    robot, u = ARMS[name], exact(unit)
    joints = tuple(replace(x, d=x.d * u, r=x.r * u) for x in robot.joints)
    ik = cardan.model(replace(robot, joints=joints), "inverse-geometry", method="general")
    chain = ik.chain.numeric()
    lengths = np.where(chain.sigma == 1, chain.size, 1.0)
    q = np.random.default_rng(2).uniform(-2, 2, (20, 6))
    q[:, chain.sigma == 1] *= 0.3
    found = ik.solve(chain.pose(q * lengths))
    assert reached(replace(found, q=found.q / lengths), q, chain.sigma).max() < 1e-6
    return found.count
