"""The PRRRP mechanism of [BK13] section V: Table II, both routes of the loops, counts."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.backends.runners import STRICT, checked_run, tool
from tests.compare import near

import cardan
from cardan.build.flexible.closure import closing
from cardan.describe.robot import Robot

DOCS = Path(__file__).resolve().parents[2] / "docs"

# the rows "model" of Table II, Hz, by |q4|; q1 = 0
TABLE_2 = {
    0.5: (31.414, 31.455, 40.799, 144.139, 144.181, 183.588),
    0.25: (31.454, 31.455, 109.664, 144.041, 144.201, 152.949),
    0.0: (31.454, 31.455, 124.389, 140.757, 144.225, 144.496),
}


@pytest.mark.parametrize("q4", [-0.5, -0.25, 0.0, 0.25, 0.5])
def test_table_2(q4: float) -> None:
    found = cardan.natural_frequencies(cardan.load("prrrp"), [0, q4], actuators="locked")
    np.testing.assert_allclose(found, TABLE_2[abs(q4)], rtol=2e-5)


def test_pinned_modes_reach_the_exact_frequencies_of_the_beams() -> None:
    """Beams pinned at both ends, frames along the chords: π² sqrt(EI / ρA) / L² and 4 of it."""
    robot = cardan.load("prrrp")
    links = tuple(
        replace(link, flexible=replace(link.flexible, shapes="pinned", modes=2)) if link.flexible
        else link for link in robot.links
    )  # fmt: skip
    found = cardan.natural_frequencies(replace(robot, links=links), [0, 0.0])
    first = np.pi / 2 * np.sqrt(70e9 * 0.002**2 / 12 / 2800) / 0.4**2
    for expected in (first, 4 * first):
        assert np.sum(np.abs(found / expected - 1) < 2e-3) >= 2


def test_free_actuators_have_two_motions_without_stiffness() -> None:
    found = cardan.natural_frequencies(cardan.load("prrrp"), [0, 0.1], "free")
    assert found.shape == (8,)
    assert (found[:2] == 0).all()
    assert found[2] > 30


def test_both_routes_of_the_loops_agree() -> None:
    robot = cardan.load("prrrp")
    loops = closing(robot)
    rng = np.random.default_rng(0)
    for seed in range(3):
        q = loops.assemble(0.1 * rng.normal(size=2), q_e=1e-3 * rng.normal(size=6))
        qd, tau = 0.3 * rng.normal(size=8), rng.normal(size=2)
        ways = [
            cardan.model(robot, "direct-dynamics", method=method)
            for method in ("recursive", "inertia-matrix")
        ]
        first, second = (way.evaluate(q=q, qd=qd, tau=tau) for way in ways)
        scale = np.abs(first).max()
        near(first, second, absolute=1e-9 * scale, what=str(seed))
        back = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=first[:2])
        np.testing.assert_allclose(back.tau, tau, atol=1e-9 * scale)
        np.testing.assert_allclose(back.qdd_e, first[2:], atol=1e-9 * scale)


def test_fewer_operations_than_the_paper() -> None:
    """[BK13]: 521 additions, 611 multiplications and divisions, without geometric stiffening."""
    robot = cardan.load("prrrp")
    cost = cardan.model(robot, "direct-dynamics").cost
    assert cost.add < 340
    assert cost.mul + cost.div < 490
    plain = cardan.model(linear(robot), "direct-dynamics").cost
    assert plain.add < 240
    assert plain.mul + plain.div < 355
    symbolic = cardan.model(robot, "direct-dynamics", symbolic=True)
    named, once = symbolic.cost, symbolic.setup.cost
    pages = " ".join(
        (DOCS / page).read_text(encoding="utf-8") for page in ("flexible.md", "papers.md")
    )
    for words in (
        f"{cost.mul} multiplications, {cost.div} divisions and {cost.add} additions"
        f" ({plain.mul}, {plain.div} and {plain.add} without stiffening)",
        f"{cost.mul + cost.div} and {cost.add} with the numbers of the robot folded in, and"
        f" {named.mul + named.div} and {named.add} with symbols"
        f" ({once.mul + once.div} and {once.add} more",
    ):
        assert words in pages.replace("\n", " ")


def linear(robot: Robot) -> Robot:
    """As in the paper: no foreshortening."""
    links = tuple(
        replace(link, flexible=replace(link.flexible, stiffening=False)) if link.flexible else link
        for link in robot.links
    )
    return replace(robot, links=links)


def test_accelerations_are_the_derivatives_of_a_motion_on_the_loops() -> None:
    """Power balance along the loops: d/dt (E + U) = tau · qd_a, with E, U of the tree."""
    robot = replace(cardan.load("prrrp"), gravity=(0, 1, -3))
    loops = closing(robot)
    rng = np.random.default_rng(1)
    q = loops.assemble([0.05, -0.1], q_e=1e-5 * rng.normal(size=6))
    qd, tau = 0.2 * rng.normal(size=8), rng.normal(size=2)
    qdd = cardan.model(robot, "direct-dynamics").evaluate(q=q, qd=qd, tau=tau)
    energies = cardan.model(robot.tree(), "energies")
    independent = loops.columns(loops.independent)

    def total(t: float) -> float:
        here = q.copy()
        here[independent] += t * qd + t * t / 2 * qdd
        here = loops.closed(here, loops.columns(loops.passive))
        assert here is not None
        G = loops.matrix(here, loops.cuts)
        passive = loops.columns(loops.passive)
        rates = np.zeros(len(here))
        rates[independent] = qd + t * qdd
        rates[passive] = -np.linalg.solve(G[:, passive], G[:, independent] @ rates[independent])
        return float(sum(energies.evaluate(q=here, qd=rates)))

    h = 1e-6
    power = (total(h) - total(-h)) / (2 * h)
    assert power == pytest.approx(tau @ qd[:2], rel=1e-5, abs=1e-6)


def test_c_code_of_the_model(tmp_path: Path) -> None:
    """Generated C, compiled with every warning an error, against the interpreter."""
    robot = cardan.load("prrrp")
    program = cardan.model(robot, "direct-dynamics")
    text = program.emit("c")
    assert "void prrrp_with_flexible_beams_direct_dynamics(" in text
    source, library = tmp_path / "prrrp.c", tmp_path / "prrrp.so"
    source.write_text(text)
    checked_run(
        [tool("cc"), *STRICT, "-std=c99", "-O1", "-shared", "-fPIC", source, "-o", library, "-lm"]
    )
    function = ctypes.CDLL(str(library)).prrrp_with_flexible_beams_direct_dynamics
    rng = np.random.default_rng(3)
    q = closing(robot).assemble([0.1, 0.0], q_e=1e-4 * rng.normal(size=6))
    inputs = {"q": q, "qd": rng.normal(size=8), "tau": rng.normal(size=2)}
    found = np.zeros(8)
    pointers = [
        x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*inputs.values(), found)
    ]
    function(*pointers)
    expected = program.evaluate(**inputs)
    near(found, expected, 1e-9)


def test_undeformed_it_is_the_rigid_robot() -> None:
    """The rows of the sliders in the mass matrix: another derivation, of rigid closed loops."""
    robot = cardan.load("prrrp")
    q = closing(robot).assemble([0.03, 0.1])
    flexible = cardan.model(robot, "inertia-matrix").evaluate(q=q)[:2, :2]
    rigid = cardan.model(cardan.rigid(robot), "inertia-matrix").evaluate(q=q[:4])
    np.testing.assert_allclose(flexible, rigid, rtol=1e-12)
