"""Direct geometry of platforms held at distances: the kernel against another route in NumPy.

Spheres by least squares and the null space, the plane by samples of a trigonometric polynomial, its
spectrum and the roots of that on the unit circle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.compare import among

import cardan

Array = np.ndarray
DELTA = {
    "platform": {"freedoms": ["x", "y", "z"], "mass": 1},
    "leg": [{
        "angles": ["10 deg", "125 deg", "250 deg"],
        "each": {"la": [0.2, 0.22, 0.25], "lr": [0.5, 0.45, 0.55]},
        "link": [{"name": "arm", "variable": "q", "alpha": "-pi/2", "d": 0.12},
                 {"name": "fork", "active": False, "d": "la"},
                 {"name": "rods", "active": False, "alpha": "pi/2"}],
        "loop": [{"name": "ball", "twin": {"antecedent": "platform", "d": 0.04},
                  "cut": {"antecedent": "rods", "d": "lr", "joint": "spherical"}}],
    }],
}  # fmt: skip
PLANAR = {
    "platform": {"freedoms": ["x", "y", "rz"], "mass": 1},
    "leg": [{
        "angles": [0, "115 deg", "235 deg"],
        "each": {"l1": [0.3, 0.28, 0.33], "l2": [0.35, 0.4, 0.37], "pp": [0.12, 0.1, 0.15],
                 "ga": [0.1, -0.2, 0.3], "bb": [0.5, 0.45, 0.52]},
        "link": [{"name": "arm", "variable": "q", "d": "bb"},
                 {"name": "rod", "active": False, "d": "l1"}],
        "loop": [{"name": "pin", "cut": {"antecedent": "rod", "d": "l2"},
                  "twin": {"antecedent": "platform", "d": "pp", "gamma": "ga"}}],
    }],
}  # fmt: skip
RPR = {
    "platform": {"freedoms": ["x", "y", "rz"], "mass": 1},
    "leg": [{
        "angles": [0, "100 deg", "220 deg"],
        "each": {"bb": [0.5, 0.6, 0.55], "pp": [0.1, 0.15, 0.2], "ga": [0.2, -0.1, 0.3]},
        "link": [{"name": "turn", "active": False, "d": "bb"},
                 {"name": "slide", "joint": "prismatic", "variable": "s", "alpha": "pi/2"}],
        "loop": [{"name": "pin", "cut": {"antecedent": "slide", "alpha": "-pi/2"},
                  "twin": {"antecedent": "platform", "d": "pp", "gamma": "ga"}}],
    }],
}  # fmt: skip
ROBOTS: dict[str, Any] = {
    "delta": "delta", "delta of other numbers": DELTA, "3-RRR": PLANAR, "3-RPR": RPR,
    "planar3rrr": "planar3rrr", "orthoglide-platform": "orthoglide-platform",
}  # fmt: skip


@pytest.mark.parametrize("name", ROBOTS)
def test_places_by_two_routes(name: str) -> None:
    robot = cardan.load(ROBOTS[name])
    geometry = cardan.model(robot, "loop-geometry")
    assert geometry.steps is None
    assert geometry.platform is not None
    link = geometry.coordinates
    active = [link.moving.index(j) for j in link.active]
    samples = np.concatenate([sample.q for sample in geometry.analysis.samples])
    samples = samples[geometry.singular(samples) > 1e-2][:12]
    batch = geometry.solve(samples[:, active])
    m = len(geometry.platform.parallel.joints)
    for q, found, count in zip(samples, batch.q, batch.count, strict=True):
        expected = np.array(places(geometry, q))
        assert geometry.residual(found[:count]).max(initial=0) < 1e-13
        mine = found[:count, :m]
        for x in mine:
            among(expected, x, 1e-9)
        if all(joint.limits == cardan.load({"link": [{}]}).joints[0].limits for joint in
               robot.joints):  # fmt: skip
            for x in expected:
                among(mine, x, 1e-9)


def places(geometry: Any, q: Array) -> list[Array]:
    """The platform's coordinates by poses of the legs alone."""
    parallel = geometry.platform.parallel
    chain = _chain(geometry)
    start = q.copy()
    start[: len(parallel.joints)] = 0
    here, there = chain.frames(start), chain.frames(q)
    E, H, square = [], [], []
    for (leg,) in (own.holds for own in parallel.legs):
        turns = [j for j in leg.joints if j not in geometry.coordinates.active]
        movers = turns[:1] if geometry.platform.motion == "plane" else turns[:2]
        centre = there[movers[-1]][1]  # the axes meet at the second origin
        E.append(centre)
        H.append(here[leg.hold][1])
        square.append(((there[leg.end][1] - centre) ** 2).sum())
    E, H, square = np.array(E), np.array(H), np.array(square)
    axes = np.column_stack([here[j][0][:, 2] for j in parallel.joints])
    if geometry.platform.motion == "space":
        return _spheres(E - H, square, axes)
    plane = axes[:, :2]
    turn = float(np.sign(np.cross(plane[:, 0], plane[:, 1]) @ axes[:, 2]))
    return _circles(E @ plane, H @ plane, square, turn)


def _chain(geometry: Any) -> Any:
    return geometry.system().chain


def _spheres(C: Array, square: Array, axes: Array) -> list[Array]:
    """x with |axes x - C_i|² = l_i²."""
    A = 2 * (C[1:] - C[0])
    b = (C[1:] ** 2).sum(axis=1) - (C[0] ** 2).sum() - (square[1:] - square[0])
    if np.linalg.matrix_rank(A, tol=1e-9) < 2:
        return []
    start = np.linalg.lstsq(A, b, rcond=None)[0]
    along = np.cross(A[0], A[1])
    along /= np.linalg.norm(along)
    gap = start - C[0]
    half = float(gap @ along)
    root = half**2 - float(gap @ gap) + square[0]
    if root < -1e-9:
        return []
    steps = [-half + s * np.sqrt(max(root, 0.0)) for s in (1, -1)]
    return [np.asarray(np.linalg.solve(axes, start + t * along)) for t in steps]


def _circles(E: Array, H: Array, square: Array, turn: float) -> list[Array]:
    """(x, y, phi) with |(x, y) + R(phi) H_i - E_i|² = l_i²."""
    count = 32
    phi = 2 * np.pi * np.arange(count) / count
    X, D, _ = _position(E, H, square, phi)
    G = _turned(H[0], phi) - E[0]
    value = (X**2).sum(1) + 2 * D * (X * G).sum(1) + D**2 * ((G**2).sum(1) - square[0])
    spectrum = np.fft.fft(value) / count
    degree = 5
    coefficients = [spectrum[k] for k in range(degree, -degree - 1, -1)]
    found = []
    for z in np.roots(coefficients):
        if abs(abs(z) - 1) < 1e-4:
            angle = np.array([np.angle(z)])
            X, D, _ = _position(E, H, square, angle)
            if abs(D[0]) > 1e-10:
                found.append(np.array([*(X[0] / D[0]), turn * angle[0]]))
    return found


def _turned(h: Array, phi: Array) -> Array:
    c, s = np.cos(phi), np.sin(phi)
    return np.stack([c * h[0] - s * h[1], s * h[0] + c * h[1]], -1)


def _position(E: Array, H: Array, square: Array, phi: Array) -> tuple[Array, Array, Array]:
    """(N, D): x, y = N / D from the differences of the equations, at each phi."""
    G = [_turned(h, phi) - e for h, e in zip(H, E, strict=True)]
    rest = [(g**2).sum(1) - l for g, l in zip(G, square, strict=True)]
    a, b = 2 * (G[1] - G[0]), 2 * (G[2] - G[0])
    u, v = rest[0] - rest[1], rest[0] - rest[2]
    D = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    N = np.stack([u * b[:, 1] - v * a[:, 1], a[:, 0] * v - b[:, 0] * u], -1)
    return N, D, phi


def slider_crank(cut: str) -> cardan.Robot:
    """One mechanism, cut at its slide or at its pin."""
    crank, rod = {"name": "crank"}, {"name": "rod", "active": False, "d": 0.2}
    side = {"gamma": "pi/2", "alpha": "pi/2"}
    if cut == "slide":
        third = {"name": "block", "active": False, "d": 0.5}
        loop = {"cut": {"antecedent": "block", "joint": "prismatic", **side},
                "twin": {"antecedent": 0, **side, "d": 0.05}}  # fmt: skip
    else:
        third = {"name": "block", "joint": "prismatic", "active": False, "antecedent": 0, **side,
                 "d": 0.05}  # fmt: skip
        loop = {"cut": {"antecedent": "rod", "d": 0.5},
                "twin": {"antecedent": "block", "alpha": "-pi/2"}}  # fmt: skip
    return cardan.load({"link": [crank, rod, third], "loop": [loop]})


@pytest.mark.parametrize("angle", [0.3, 1.9, -2.5])
def test_a_slider_crank_cut_at_its_slide(angle: float) -> None:
    at_slide, at_pin = (cardan.model(slider_crank(x), "loop-geometry") for x in ("slide", "pin"))
    assert at_slide.steps is not None
    assert at_slide.solve([angle])[:, 1] == pytest.approx(at_pin.solve([angle])[:, 1], abs=1e-12)
    assert "in closed form" in at_slide.emit("c")


def test_an_oscillating_cylinder_cut_at_its_slide() -> None:
    side = {"gamma": "pi/2", "alpha": "pi/2"}
    links = [
        {"name": "crank"}, {"name": "rod", "active": False, "d": 0.2},
        {"name": "block", "active": False, "antecedent": 0, "d": 0.6},
    ]  # fmt: skip
    loop = {
        "cut": {"antecedent": "rod", "joint": "prismatic", **side},
        "twin": {"antecedent": "block", **side},
    }
    geometry = cardan.model(cardan.load({"link": links, "loop": [loop]}), "loop-geometry")
    assert geometry.steps is not None
    found = geometry.solve([0.7])
    assert len(found) == 2  # the rod along the line to the pivot, either way round
    tip = 0.2 * np.array([np.cos(0.7), np.sin(0.7)])
    way = np.arctan2(-tip[1], 0.6 - tip[0])
    assert np.sin(found[:, 0] + found[:, 1] - way) == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("name", ["3-RPR", "orthoglide-platform", "delta"])
def test_the_end_effector_of_a_parallel_robot_is_its_platform(name: str) -> None:
    robot = cardan.load(ROBOTS[name])
    geometry = cardan.model(robot, "loop-geometry")
    q = np.concatenate([sample.q for sample in geometry.analysis.samples])
    q = q[geometry.singular(q) > 1e-2][:6]
    J = cardan.model(robot, "jacobian").evaluate(q=q)
    same = cardan.model(robot, "jacobian", frame="platform").evaluate(q=q)
    assert np.array_equal(J, same)
    rows = [k for k in range(6) if np.abs(J[:, k]).max() > 1e-9]  # three ways to move, each
    inverse = cardan.model(robot, "jacobian-inverse").evaluate(q=q).Jinv
    assert inverse @ J[:, rows] == pytest.approx(
        np.broadcast_to(np.eye(3), (len(q), 3, 3)), abs=1e-8
    )


def test_a_jacobian_that_is_singular_everywhere_has_no_inverse() -> None:
    with pytest.raises(cardan.CardanError, match=r"has rank 2 at most"):
        cardan.model(cardan.load(RPR), "jacobian-inverse", frame="slide1")


def test_legs_that_hold_the_platform_too_are_refused() -> None:
    """A 3-PRS: six coordinates, three motors; its legs have two joints each."""
    leg = {
        "copies": 3,
        "link": [{"name": "slide", "joint": "prismatic", "d": 0.5, "mass": 1},
                 {"name": "rod", "active": False, "alpha": "pi/2", "mass": 1, "com": [0.3, 0, 0]}],
        "loop": [{"name": "ball", "cut": {"antecedent": "rod", "d": 0.6, "joint": "spherical"},
                  "twin": {"antecedent": "platform", "d": 0.2}}],
    }  # fmt: skip
    robot = cardan.load({"platform": {"mass": 1}, "leg": [leg]})
    for model in ("platform-inverse-dynamics", "platform-direct-dynamics"):
        for space in ("joint", "cartesian"):
            with pytest.raises(cardan.CardanError, match="as many coordinates as there are motors"):
                cardan.model(robot, model, space=space)
