"""Beams: matrices of textbooks, convergence to exact frequencies, integrals by quadrature."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.flexible.arms import BODY, beam

import cardan
from cardan.describe.flexible import Beam
from cardan.models.flexible.body import elastic_of
from cardan.models.flexible.modes import eigen

E, RHO, SIDE, L = 70e9, 2800.0, 0.01, 0.5
A, I = SIDE**2, SIDE**4 / 12
LINE = Beam(L, E, RHO, A, I, I, torsion=0.1406 * SIDE**4, shear=27e9)


def value(x: Any) -> float:
    return float(x)


def frequencies(item: Beam) -> np.ndarray:
    x = elastic_of(item, value).integrals
    squares, _ = eigen(np.array(x.Kee, float), np.array(x.Mee, float))
    return np.sqrt(squares) / (2 * math.pi)


def test_the_hermite_element_is_that_of_textbooks() -> None:
    x = elastic_of(replace(LINE, motions=("bending-y",), rotary=False), value).integrals
    stiffness = E * I / L**3 * np.array([[12, -6 * L], [-6 * L, 4 * L**2]])
    mass = RHO * A * L / 420 * np.array([[156, -22 * L], [-22 * L, 4 * L**2]])
    np.testing.assert_allclose(np.array(x.Kee, float), stiffness, rtol=1e-13)
    np.testing.assert_allclose(np.array(x.Mee, float), mass, rtol=1e-13)
    rotary = elastic_of(replace(LINE, motions=("bending-y",)), value).integrals
    extra = RHO * I / (30 * L) * np.array([[36, -3 * L], [-3 * L, 4 * L**2]])
    np.testing.assert_allclose(np.array(rotary.Mee, float) - mass, extra, rtol=1e-7)


def test_axial_and_torsion_elements() -> None:
    x = elastic_of(replace(LINE, motions=("axial", "torsion")), value).integrals
    np.testing.assert_allclose(np.diag(x.Kee), [E * A / L, 27e9 * 0.1406 * SIDE**4 / L])
    np.testing.assert_allclose(np.diag(x.Mee), [RHO * A * L / 3, RHO * 2 * I * L / 3])


ROOTS = {  # (β L) of the first modes, Euler-Bernoulli
    "clamped-free": [1.87510406871196, 4.69409113297418, 7.85475743823761],
    "pinned-pinned": [math.pi, 2 * math.pi, 3 * math.pi],
    "free-free": [4.73004074486270, 7.85320462409584, 10.9956078380017],
}


def supported(kind: str, elements: int) -> np.ndarray:
    """First frequencies by finite elements, through the whole path of a robot."""
    flexible = {
        "length": L, "young": E, "density": RHO, "area": A, "Iy": I, "Iz": I,
        "motions": ["bending-y"], "rotary": False, "elements": elements,
    }  # fmt: skip
    if kind == "clamped-free":
        robot = cardan.load({"link": [{"joint": "revolute", "flexible": flexible}]})
        return cardan.natural_frequencies(robot, [0.3])[:3]
    robot = cardan.load(
        {"base": {"kind": "floating"}, "link": [{"joint": "fixed", "flexible": flexible}]}
    )
    found = cardan.natural_frequencies(robot, [])
    return found[found > 1e-6 * found.max()][:3]


@pytest.mark.parametrize("kind", ["clamped-free", "free-free"])
def test_frequencies_converge_with_the_fourth_power_of_the_element(kind: str) -> None:
    exact = np.array(ROOTS[kind]) ** 2 * math.sqrt(E * I / (RHO * A)) / L**2 / (2 * math.pi)
    errors = [supported(kind, n) / exact - 1 for n in (4, 8, 16)]
    assert (errors[-1] > -1e-9).all()  # from above, as Rayleigh's quotients do
    assert errors[-1].max() < 2e-4
    rates = [np.log2(errors[k] / errors[k + 1]) for k in range(2)]
    np.testing.assert_allclose(rates[-1], 4, atol=0.2)


def test_pinned_frequencies_converge_with_the_fourth_power_of_the_element() -> None:
    exact = np.array(ROOTS["pinned-pinned"]) ** 2 * math.sqrt(E * I / (RHO * A)) / L**2
    errors = []
    for n in (2, 4, 8):
        item = replace(LINE, motions=("bending-y",), rotary=False, shapes="pinned", modes=1)
        from cardan.models.flexible.integrals import integrals
        from cardan.models.flexible.shapes import beam_field

        x = integrals(beam_field(item, value, fine=n))
        squares, _ = eigen(np.array(x.Kee, float), np.array(x.Mee, float))
        errors.append(np.sqrt(squares[:2]) / exact[:2] - 1)
    rates = [np.log2(errors[k] / errors[k + 1]) for k in range(2)]
    np.testing.assert_allclose(rates[-1], 4, atol=0.25)
    assert errors[-1].max() < 1e-3


def test_modes_and_polynomials_reach_the_exact_frequencies() -> None:
    exact = np.array(ROOTS["clamped-free"]) ** 2 * math.sqrt(E * I / (RHO * A)) / L**2 / 2 / math.pi
    plain = replace(LINE, motions=("bending-y",), rotary=False)
    for shapes, modes in (("clamped", 3), ("polynomials", 7)):
        found = frequencies(replace(plain, shapes=shapes, modes=modes))[:3]
        np.testing.assert_allclose(found, exact, rtol=2e-3 if shapes == "polynomials" else 2e-4)


def test_timoshenko_is_softer_and_tends_to_euler_for_slender_beams() -> None:
    def ratio(side: float) -> float:
        thick = replace(LINE, area=side**2, Iy=side**4 / 12, Iz=side**4 / 12, elements=8,
                        motions=("bending-y",), ky=5 / 6)  # fmt: skip
        return float(frequencies(replace(thick, theory="timoshenko"))[0] / frequencies(thick)[0])

    assert ratio(0.1) < 0.99
    assert 0.9999 < ratio(0.005) < 1


def test_timoshenko_tip_stiffness_is_exact() -> None:
    thick = replace(LINE, area=0.01, Iz=0.1**4 / 12, motions=("bending-y",), ky=5 / 6,
                    theory="timoshenko")  # fmt: skip
    K = np.array(elastic_of(thick, value).integrals.Kee, float)
    deflection = np.linalg.solve(K, [1, 0])[0]
    bending, shear = L**3 / (3 * E * 0.1**4 / 12), L / (5 / 6 * 27e9 * 0.01)
    assert deflection == pytest.approx(bending + shear, rel=1e-12)


@pytest.mark.parametrize("along", ["x", "y", "z"])
@pytest.mark.parametrize("changes", [{}, {"elements": 2}, {"stiffening": False},
                                     {"theory": "timoshenko"}])  # fmt: skip
def test_integrals_are_those_of_a_cloud_of_points(along: str, changes: dict[str, Any]) -> None:
    """∫ over the beam by Gauss points along it and four points per section, no formula shared."""
    robot = cardan.load({"link": [{"flexible": beam(along=along, start=0.2, **changes)}]})
    item = robot.links[0].flexible
    elastic = elastic_of(item, value)
    rng = np.random.default_rng(3)
    q, qd = 0.01 * rng.normal(size=(2, elastic.N))
    length, step = 0.8, 0.8 / item.elements
    axis = "xyz".index(along)
    offsets = [
        (s * math.sqrt(0.02**2 / 12), t * math.sqrt(0.03**2 / 12)) for s in (-1, 1) for t in (-1, 1)
    ]
    M, MS, J, momentum, spin, T = 0.0, np.zeros(3), np.zeros((3, 3)), np.zeros(3), np.zeros(3), 0.0
    nodes, weights = np.polynomial.legendre.leggauss(8)
    for e in range(item.elements):
        for xi, w in zip(nodes, weights, strict=True):
            x = 0.2 + step * (e + (xi + 1) / 2)
            place = elastic.at(tuple(x if a == axis else 0 for a in range(3)))
            D = np.array([list(map(float, v)) for v in place.displacement]).T
            R = np.array([list(map(float, v)) for v in place.rotation]).T
            for y, z in offsets:
                s = np.roll([0, y, z], axis)
                r0 = np.array(place.position, float) + s
                theta, rate = R @ q, R @ qd
                r = r0 + D @ q + np.cross(theta, s)
                v = D @ qd + np.cross(rate, s)
                r += 0.5 * np.cross(theta, np.cross(theta, s))  # a section does not stretch
                v += 0.5 * (np.cross(rate, np.cross(theta, s)) + np.cross(theta, np.cross(rate, s)))
                if item.stiffening:
                    for (k, m), psi in place.second.items():
                        r += (0.5 if k == m else 1) * q[k] * q[m] * np.array(psi, float)
                        both = q[k] * qd[m] + (q[m] * qd[k] if k != m else 0)
                        v += both * np.array(psi, float)
                dm = 1000 * 0.02 * 0.03 * step * w / 2 / 4
                M += dm
                MS += dm * r
                J += dm * ((r @ r) * np.eye(3) - np.outer(r, r))
                momentum += dm * v
                spin += dm * np.cross(r, v)
                T += dm * v @ v / 2
    from cardan.models.flexible.body import deformed

    x = elastic.integrals
    body = deformed(x, x.MS, x.J, q)
    flow = sum(qd[k] * np.array(body.MSde[k], float) for k in range(elastic.N))
    turn = sum(qd[k] * np.array(body.MSre[k], float) for k in range(elastic.N))
    assert pytest.approx(float(x.M)) == M
    np.testing.assert_allclose(np.array(body.MS, float), MS, atol=1e-9)
    np.testing.assert_allclose(flow, momentum, atol=1e-9)
    # the model stops at second order in (q, q̇): third-order terms of the cloud remain
    third = 40 * M * length * np.abs(q).max() ** 3 if item.stiffening else 2e-9
    np.testing.assert_allclose([[float(v) for v in row] for row in body.I.rows], J, atol=third)
    np.testing.assert_allclose(turn, spin, atol=third)
    mass = np.array(x.Mee, float)
    assert qd @ mass @ qd / 2 == pytest.approx(T, abs=third)


def test_faults_of_a_beam_are_told() -> None:
    for wrong, words in [
        ({"length": 1}, "young and density"),
        (beam(shapes="waves"), "allowed: elements, clamped, pinned, polynomials"),
        (beam(elements=0), "elements must be a whole number"),
        (beam(motions=["sideways"]), "motions must be some of"),
        (beam(poisson=0, shear=0, length=1, young=1, theory="timoshenko"), ""),
        ({**beam(), "lenght": 1}, "did you mean length"),
        (
            {"length": 1, "young": 1e9, "density": 1000, "area": 1e-4, "motions": ["bending-y"]},
            "needs Iz",
        ),
        ({**beam(), "young": -1}, "must be positive"),
        ({**beam(), "length": 0}, "must be positive"),
    ]:
        if not words:
            continue
        with pytest.raises(cardan.CardanError, match=words):
            cardan.load({"link": [{**BODY, "flexible": wrong}]})


def test_pinned_shapes_need_a_passive_joint() -> None:
    with pytest.raises(cardan.CardanError, match="passive revolute"):
        cardan.load({"link": [{"flexible": beam(shapes="pinned", motions=["bending-y"])}]})
