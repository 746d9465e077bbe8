"""Bodies from meshes: Craig-Bampton of a frame of beams against the beam itself; files."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.flexible.arms import hermite

import cardan
from cardan.describe.flexible import Beam, ElasticBody
from cardan.errors import CardanWarning, InputError
from cardan.models.flexible.integrals import integrals
from cardan.models.flexible.shapes import beam_field
from cardan.simulation.craig_bampton import craig_bampton, load_body

SIDES = (0.02, 0.03)
BEAM = {
    "length": 0.8, "young": 1e9, "density": 1000, "width": SIDES[0], "height": SIDES[1],
    "poisson": 0.3, "stiffening": False,
}  # fmt: skip


def described(**changes: Any) -> Beam:
    found: Beam = cardan.load({"link": [{"flexible": {**BEAM, **changes}}]}).links[0].flexible
    return found


def mesh(elements: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, K and nodes of the beam, free at both ends: six freedoms per node, textbook elements."""
    beam = described()
    E, A, Iy, Iz = (float(x) for x in (beam.young, beam.area, beam.Iy, beam.Iz))
    GJ, rho = float(beam.shear) * float(beam.torsion), 1000.0
    L = 0.8 / elements
    n = 6 * (elements + 1)
    M, K = np.zeros((n, n)), np.zeros((n, n))

    def bending(I: float, sign: int) -> tuple[np.ndarray, np.ndarray]:
        s = np.diag([1, sign, 1, sign])
        m, k = hermite(E, I, rho, A, L)
        return s @ m @ s, s @ k @ s

    pull = np.array([[1, -1], [-1, 1]])
    share = np.array([[2, 1], [1, 2]]) / 6
    for e in range(elements):
        a = 6 * e
        for own, (m, k) in (
            ([a, a + 6], (rho * A * L * share, E * A / L * pull)),
            ([a + 3, a + 9], (rho * (Iy + Iz) * L * share, GJ / L * pull)),
            ([a + 1, a + 5, a + 7, a + 11], bending(Iz, 1)),
            ([a + 2, a + 4, a + 8, a + 10], bending(Iy, -1)),
        ):
            M[np.ix_(own, own)] += m
            K[np.ix_(own, own)] += k
    return M, K, np.column_stack([np.linspace(0, 0.8, elements + 1), *np.zeros((2, elements + 1))])


def reduced(elements: int = 8, modes: int = 8) -> ElasticBody:
    return craig_bampton(*mesh(elements), root=[0], attachments=[[elements]], modes=modes)


def arm(flexible: Any) -> Any:
    robot = cardan.load({"link": [{"alpha": 0.4}, {"joint": "fixed", "d": 0.8, "mass": 0.1,
        "inertia_com": [0.001, 0, 0, 0.001, 0, 0.001]}]})  # fmt: skip
    links = (replace(robot.links[0], flexible=flexible), robot.links[1])
    return replace(robot, links=links)


def test_a_reduced_mesh_vibrates_as_the_beam() -> None:
    expected = cardan.natural_frequencies(arm(described(elements=8)), [0.3])
    found = cardan.natural_frequencies(arm(reduced()), [0.3])
    np.testing.assert_allclose(found[:6], expected[:6], rtol=1e-3)
    free = cardan.natural_frequencies(arm(reduced()), [0.3], "free")
    np.testing.assert_allclose(
        free[:5], cardan.natural_frequencies(arm(described(elements=8)), [0.3], "free")[:5],
        rtol=1e-3, atol=1e-6,
    )  # fmt: skip


def test_its_integrals_are_those_of_the_beam() -> None:
    """Static shapes of tip motions are exact for the beam: one element of it has the same."""
    body = reduced(elements=16, modes=0)
    beam = integrals(beam_field(described(), float))
    assert body.mass == pytest.approx(float(beam.M))
    np.testing.assert_allclose(body.MS, np.array(beam.MS, float), atol=1e-12)
    spectrum = np.linalg.eigvalsh(np.array(body.K_ee, float))
    np.testing.assert_allclose(spectrum, np.linalg.eigvalsh(np.array(beam.Kee, float)), rtol=1e-9)
    masses = np.linalg.eigvalsh(np.array(body.M_ee, float))
    np.testing.assert_allclose(masses, np.linalg.eigvalsh(np.array(beam.Mee, float)), rtol=1e-4)
    S = sorted(np.linalg.norm(np.array(body.MS_de, float), axis=1))
    np.testing.assert_allclose(
        S, sorted(np.linalg.norm(np.array(beam.S, float), axis=1)), rtol=1e-6
    )
    c = sorted(np.linalg.norm(np.array(body.MS_re, float), axis=1))
    np.testing.assert_allclose(
        c, sorted(np.linalg.norm(np.array(beam.c, float), axis=1)), rtol=1e-3
    )


def test_a_motion_of_the_reduced_body_is_that_of_the_beam() -> None:
    """Elastic accelerations of a spinning arm: the terms of deformation in MS, I and coupling."""
    rough, fine = arm(reduced(elements=16, modes=0)), arm(described())
    programs = [cardan.model(robot, "inverse-dynamics", effort="plain") for robot in (rough, fine)]
    rng = np.random.default_rng(0)
    tip = 1e-3 * rng.normal(size=(2, 6))
    place = fine_order()
    q, qd = np.r_[0.3, tip[0]], np.r_[2.0, tip[1]]
    bodies = programs[0].evaluate(q=q, qd=qd, qdd=[0.5])
    beams = programs[1].evaluate(
        q=np.r_[0.3, tip[0][place]], qd=np.r_[2.0, tip[1][place]], qdd=[0.5]
    )
    scale = np.abs(beams.qdd_e).max()
    near(bodies.qdd_e[place], beams.qdd_e, absolute=2e-3 * scale)
    np.testing.assert_allclose(bodies.tau, beams.tau, rtol=1e-3)


def fine_order() -> list[int]:
    """Tip coordinate (x, y, z, turns) of each coordinate of a one-element beam."""
    place = beam_field(described(), float).at(0.8)
    found = []
    for d, r in zip(place.displacement, place.rotation, strict=True):
        found.append(int(np.argmax(np.abs(np.array([*d, *r], float)))))
    return found


def test_files_hold_bodies(tmp_path: Path) -> None:
    body = reduced(elements=4, modes=2)
    path = tmp_path / "body.json"
    path.write_text(json.dumps(asdict(body)))
    np.testing.assert_allclose(
        cardan.natural_frequencies(arm(load_body(path)), [0]),
        cardan.natural_frequencies(arm(body), [0]), rtol=1e-9,
    )  # fmt: skip
    arrays = {key: np.array(value, float) for key, value in asdict(body).items()
              if key not in ("points", "D_ee", "ddMS")}  # fmt: skip
    np.savez(
        tmp_path / "body.npz", **arrays, positions=[p.position for p in body.points],
        displacements=[p.displacement for p in body.points],
        rotations=[p.rotation for p in body.points],
    )  # fmt: skip
    again = load_body(tmp_path / "body.npz")
    assert again.coordinates == body.coordinates
    robot = arm(body)
    robot.save(tmp_path / "robot.toml")
    np.testing.assert_allclose(
        cardan.natural_frequencies(cardan.load(tmp_path / "robot.toml"), [0]),
        cardan.natural_frequencies(robot, [0]), rtol=1e-9,
    )  # fmt: skip
    (tmp_path / "bad.json").write_text('{"mass": 1}')
    with pytest.raises(cardan.CardanError, match="needs MS_de"):
        load_body(tmp_path / "bad.json")
    with pytest.raises(cardan.CardanError, match="cannot be read"):
        load_body(tmp_path / "none.npz")


def test_faults_of_a_mesh_are_told() -> None:
    M, K, nodes = mesh(2)
    with pytest.raises(cardan.CardanError, match="3 or 6 rows per node"):
        craig_bampton(M[:5, :5], K, nodes, root=[0], attachments=[[2]])
    with pytest.raises(cardan.CardanError, match="both root and attachment"):
        craig_bampton(M, K, nodes, root=[0, 2], attachments=[[2]])
    with pytest.raises(cardan.CardanError, match="one attachment"):
        craig_bampton(M, K, nodes, root=[0], attachments=[])


def test_a_mesh_that_is_not_whole_is_refused() -> None:
    M, K, nodes = mesh(4)
    ends: dict[str, Any] = {"root": [0], "attachments": [[4]], "modes": 2}
    with pytest.raises(InputError, match="K is not symmetric; where one triangle is stored"):
        craig_bampton(M, np.triu(K), nodes, **ends)
    with pytest.warns(CardanWarning, match="K resists rigid motions"):
        craig_bampton(M, K, 1000 * nodes, **ends)  # metres in K, millimetres in the nodes
    with pytest.warns(CardanWarning, match="40 modes were asked for, but the mesh has 16"):
        craig_bampton(M, K, nodes, **{**ends, "modes": 40})
    loose = K.copy()
    loose[12:18] = loose[:, 12:18] = 0
    with (
        pytest.warns(CardanWarning, match="K resists"),
        pytest.raises(InputError, match="moves between its root and its attachments"),
    ):
        craig_bampton(M, loose, nodes, **ends)


def test_a_mesh_whose_nodes_are_rounded() -> None:
    M, K, nodes = mesh(7)
    rounded = craig_bampton(M, K, nodes.round(4), root=[0], attachments=[[7]], modes=6)
    exact = craig_bampton(M, K, nodes, root=[0], attachments=[[7]], modes=6)
    frequencies = [cardan.natural_frequencies(arm(x), [0.3])[:6] for x in (rounded, exact)]
    np.testing.assert_allclose(*frequencies, rtol=1e-4)
