"""Flexible parallel robots beside the PRRRP: overconstrained, in space, with springs; statics."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.flexible.arms import hermite, state, tree

import cardan
from cardan.build.flexible.closure import closing
from cardan.describe.robot import Coupling, Robot
from cardan.exact import exact
from cardan.mechanism.coordinates import Coordinates
from cardan.models.bodies import bodies
from cardan.models.composite import inertia_matrix
from cardan.models.flexible.loops import (
    ROWS,
    Cut,
    closing_error,
    constraint_drift,
    constraint_rows,
)
from cardan.models.motion import motion, seats
from cardan.models.newton_euler import inverse_dynamics
from cardan.simulation.modal import frequency_map, static_deflection

E, RHO, SIDE = 70e9, 2800.0, 0.002


def welded() -> Robot:
    """The PRRRP with its beams welded together at P: one row more than passive joints."""
    robot = cardan.load("prrrp")
    loop = robot.loops[0]
    # the axes of both frames must agree where P is: turn the twin to the platform
    angle = "0.722734247813416*2 - pi"
    table_twin = replace(loop.twin, theta=cardan.load(
        {"link": [{"theta": angle}]}).joints[0].theta)  # fmt: skip
    cut = replace(loop.cut, sigma=2, variable="")
    return replace(robot, loops=(replace(loop, cut=cut, twin=table_twin),))


def coupled_tree() -> Robot:
    """A branched robot whose second joint follows the fourth, and the slider the second."""
    robot = tree("element")
    joints = list(robot.joints)
    joints[1] = replace(joints[1], active=False, mimic=Coupling(4, exact("-1.5"), exact("0.2")))
    joints[2] = replace(joints[2], active=False, mimic=Coupling(2, exact("0.1")))
    return replace(robot, joints=tuple(joints))


def test_coupled_joints_against_the_tree() -> None:
    """G^T (A qdd + H) of the flexible tree, whose couplings make G; both directions of it."""
    robot = coupled_tree()
    q, qd = state(robot)
    q[1] = -1.5 * q[3] + 0.2
    q[2] = 0.1 * q[1]
    loops = closing(robot)
    assert loops.columns(loops.passive) == [1, 2]
    size = robot.n + robot.ne
    G = np.eye(size)
    G[1, 3], G[2, 3] = -1.5, -0.15
    G = G[:, [0, 3, *range(4, size)]]
    v = qd[[0, 3, *range(4, size)]]
    A = cardan.model(robot.tree(), "inertia-matrix").evaluate(q=q)
    H = cardan.model(robot.tree(), "bias").evaluate(q=q, qd=G @ v)
    tau = np.array([3.0, -2.0])
    push = np.r_[tau, np.zeros(robot.ne)]
    expected = np.linalg.solve(G.T @ A @ G, push - G.T @ H)
    for method in ("recursive", "inertia-matrix"):
        direct = cardan.model(robot, "direct-dynamics", method=method)
        assert direct.evaluate(q=q, qd=v, tau=tau) == pytest.approx(expected, rel=1e-8)
    found = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=v, qdd=expected[:2])
    assert found.tau == pytest.approx(tau, rel=1e-7)
    assert found.qdd_e == pytest.approx(expected[2:], rel=1e-8)
    own = cardan.model(robot, "inertia-matrix").evaluate(q=q)
    assert own == pytest.approx(G.T @ A @ G, rel=1e-9)
    assert loops.assemble([0.3, 0.4])[:4] == pytest.approx([0.3, -0.4, -0.04, 0.4])


def frame_frequencies(elements: int = 1) -> np.ndarray:
    """The same by a plane frame: nodes with (x, z, angle), beams pinned at the sliders."""
    height = math.sqrt(0.4**2 - 0.3**2)
    A, I = SIDE**2, SIDE**4 / 12
    L = 0.4 / elements
    ke, me = np.zeros((6, 6)), np.zeros((6, 6))
    ax, bend = np.ix_([0, 3], [0, 3]), np.ix_([1, 2, 4, 5], [1, 2, 4, 5])
    ke[ax] = E * A / L * np.array([[1, -1], [-1, 1]])
    me[ax] = RHO * A * L / 6 * np.array([[2, 1], [1, 2]])
    me[bend], ke[bend] = hermite(E, I, RHO, A, L)
    nodes = 2 * elements + 1  # A1 .. P, then A2 .. before P
    K, M = np.zeros((3 * nodes, 3 * nodes)), np.zeros((3 * nodes, 3 * nodes))
    for first, direction in ((0, (0.3, height)), (elements + 1, (-0.3, height))):
        c, s = direction[0] / 0.4, direction[1] / 0.4
        R = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        T = np.kron(np.eye(2), R)
        for e in range(elements):
            a = first + e
            b = elements if e == elements - 1 else a + 1
            own = [*range(3 * a, 3 * a + 3), *range(3 * b, 3 * b + 3)]
            K[np.ix_(own, own)] += T.T @ ke @ T
            M[np.ix_(own, own)] += T.T @ me @ T
    P = 3 * elements
    M[P, P] += 1
    M[P + 1, P + 1] += 1
    held = [0, 1, 3 * (elements + 1), 3 * (elements + 1) + 1]
    free = [k for k in range(3 * nodes) if k not in held]
    K, M = K[np.ix_(free, free)], M[np.ix_(free, free)]
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)) / (2 * math.pi)


def test_an_overconstrained_loop_vibrates_as_a_frame() -> None:
    found = cardan.natural_frequencies(welded(), [0, 0])
    expected = frame_frequencies()
    assert found.shape == (5,)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_overconstrained_loop_obeys_its_constraints() -> None:
    """Multipliers of independent rows against the whole system solved by least squares."""
    robot = welded()
    loops = closing(robot)
    assert sum(len(cut.rows) for cut in loops.cuts) == 3 > len(loops.passive)
    q = loops.assemble([0, 0])
    n, independent = len(q), loops.columns(loops.independent)
    G = loops.matrix(q)
    basis = np.linalg.svd(G)[2][np.linalg.matrix_rank(G) :].T
    rng = np.random.default_rng(0)
    qd = 0.1 * basis @ rng.normal(size=basis.shape[1])
    tau = np.array([0.4, -0.3])
    x = motion(loops.scene, list(q), list(qd))
    M = np.array(inertia_matrix(loops.scene, list(q)).rows(loops.keys), float)
    record = inverse_dynamics(loops.scene, list(q), list(qd), [0] * n)
    H = np.array(record.rows(loops.scene), float)
    g = np.array(
        [v for cut in loops.everything for v in constraint_drift(loops.scene, x, cut)], float
    )
    force = np.zeros(n)
    force[loops.columns(loops.active)] = tau
    system = np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])
    expected = np.linalg.lstsq(system, np.r_[force - H, -g], rcond=1e-12)[0][:n]
    program = cardan.model(robot, "direct-dynamics")
    found = program.evaluate(q=q, qd=qd[independent], tau=tau)
    np.testing.assert_allclose(found, expected[independent], rtol=1e-5, atol=1e-4)
    with pytest.raises(cardan.CardanError, match="overconstrained"):
        cardan.model(robot, "direct-dynamics", method="inertia-matrix")


def test_statics_of_an_overconstrained_loop() -> None:
    """A load at P of the welded frame: deflection by its stiffness matrix; then its frequencies."""
    robot = welded()
    load = np.array([0.02, -0.05])
    loads = np.zeros((len(robot.links), 6))
    frame = cardan.model(robot.tree(), "transform", frame="platform").evaluate(q=np.zeros(10))
    loads[2, :3] = frame[:3, :3].T @ [load[0], 0, load[1]]
    found = static_deflection(robot, [0, 0], loads=loads)
    moved = cardan.model(robot.tree(), "transform", frame="platform").evaluate(q=found.q)
    height = math.sqrt(0.4**2 - 0.3**2)
    shift = moved[[0, 2], 3] - [0.3, height]
    bar = E * SIDE**2 / 0.4  # slender: the bars' axial stiffness carries the load
    axes = np.array([[0.3, height], [-0.3, height]]) / 0.4
    expected = np.linalg.solve(bar * axes.T @ axes, load)
    np.testing.assert_allclose(shift, expected, rtol=1e-3)
    assert np.abs(closing(robot).error(found.q)).max() < 1e-10
    prestressed = cardan.natural_frequencies(robot, [0, 0], about="equilibrium", loads=loads)
    still = cardan.natural_frequencies(robot, [0, 0])
    np.testing.assert_allclose(prestressed, still, rtol=0.02)
    assert np.abs(prestressed / still - 1).max() > 1e-5


@pytest.mark.parametrize("kind", ["prismatic", "cylindrical", "spherical", "universal"])
def test_rows_and_drift_are_derivatives_of_the_closing_error(kind: str) -> None:
    """d/dt error = G q̇ and d²/dt² error = G q̈ + g, rows that hold away from closure too."""
    robot = tree("element")
    scene = bodies(robot, lambda name: 0)
    q, qd = state(robot, 20)
    qdd = np.random.default_rng(21).normal(size=len(q))
    cut = Cut(kind, 3, 4, ROWS[kind])
    keys = Coordinates.of(robot).keys

    def error(t: float) -> np.ndarray:
        here = q + t * qd + t * t / 2 * qdd
        return np.array(closing_error(scene, seats(scene, list(here)), cut), float)

    x = motion(scene, list(q), list(qd))
    G = np.array(
        [[float(row.get(key, 0)) for key in keys] for row in constraint_rows(scene, x, cut)]
    )
    g = np.array(constraint_drift(scene, x, cut), float)
    smooth = [k for k, name in enumerate(cut.rows) if name[0] in "vVu"]
    h = 1e-4
    first = (error(h) - error(-h)) / (2 * h)
    second = (error(h) - 2 * error(0) + error(-h)) / h**2
    np.testing.assert_allclose((G @ qd)[smooth], first[smooth], atol=1e-5)
    np.testing.assert_allclose((G @ qdd + g)[smooth], second[smooth], atol=1e-4)


def spatial_fivebar(**extra: Any) -> Robot:
    """The bundled five-bar with distal links that bend in both planes and twist."""
    robot = cardan.load("fivebar")
    beam = cardan.load({"link": [{"flexible": {
        "length": 0.4, "young": E, "density": RHO, "width": 0.006, "height": 0.004,
        "poisson": 0.33, **extra}}]}).links[0].flexible  # fmt: skip
    links = tuple(
        replace(link, flexible=beam, XX=0, YY=0, ZZ=0, MX=0, M=0) if "distal" in link.name else link
        for link in robot.links
    )
    return replace(robot, links=links)


def test_a_planar_loop_with_links_that_leave_the_plane() -> None:
    """Five rows of a revolute cut on two passive joints: the loop holds deformation as well."""
    robot = spatial_fivebar()
    loops = closing(robot)
    rows = sum(len(cut.rows) for cut in loops.cuts)
    assert rows == 5 > len(loops.passive)
    found = cardan.natural_frequencies(robot, [2.2, 0.9], guess=[-1.2, 1.2])
    assert found.shape == (robot.ne - (rows - len(loops.passive)),)
    planar = spatial_fivebar(motions=["axial", "bending-y"])
    flat = cardan.natural_frequencies(planar, [2.2, 0.9], guess=[-1.2, 1.2])
    for f in flat:  # what moves in the plane is among the modes of the spatial model
        assert np.abs(found / f - 1).min() < 1e-8


def test_elastic_joints_in_a_loop() -> None:
    """A spring in a passive joint: both routes agree, and torques come back."""
    robot = spatial_fivebar(motions=["axial", "bending-y"])
    joints = list(robot.joints)
    joints[2] = replace(joints[2], active=False, elastic=True, stiffness=30, damping=0.1, rest=0.9)
    robot = replace(robot, joints=tuple(joints))
    loops = closing(robot)
    rng = np.random.default_rng(1)
    q = loops.assemble([2.2], q_e=1e-4 * rng.normal(size=6), guess=[-1.2, 1.2])
    qd = 0.3 * rng.normal(size=len(loops.independent))
    ways = [
        cardan.model(robot, "direct-dynamics", method=m).evaluate(q=q, qd=qd, tau=[0.7])
        for m in ("recursive", "inertia-matrix")
    ]
    np.testing.assert_allclose(ways[0], ways[1], rtol=1e-7, atol=1e-6)
    back = cardan.model(robot, "inverse-dynamics").evaluate(q=q, qd=qd, qdd=ways[0][:1])
    assert back.tau == pytest.approx([0.7], abs=1e-6)
    np.testing.assert_allclose(back.qdd_e, ways[0][1:], rtol=1e-6, atol=1e-5)
    assert len(cardan.natural_frequencies(robot, [2.2], guess=[-1.2, 1.2])) == 7


def test_static_deflection_of_a_cantilever() -> None:
    """P L³ / 3EI and q L⁴ / 8EI, small loads; the joint holds the moment."""
    robot = cardan.load(
        {"gravity": [0, -9.81, 0], "link": [
            {"flexible": {"length": 1, "young": E, "density": RHO, "width": 0.01, "height": 0.01,
                          "motions": ["axial", "bending-y"]}},
            {"joint": "fixed", "d": 1, "mass": 0.1}]}
    )  # fmt: skip
    found = static_deflection(robot, [0])
    EI, weight = E * 0.01**4 / 12, RHO * 0.01**2 * 9.81
    expected = -(0.981 / (3 * EI) + weight / (8 * EI))
    assert found.q[2] == pytest.approx(expected, rel=2e-3)
    assert found.tau[0] == pytest.approx(0.981 + weight / 2, rel=1e-3)
    loads = np.zeros((2, 6))
    loads[1, 1] = -1.0
    light = static_deflection(replace(robot, gravity=(0, 0, 0)), [0], loads=loads)
    assert light.q[2] == pytest.approx(-1 / (3 * EI), rel=2e-3)


def chain(bodies: int, elements: int = 1) -> Robot:
    """A clamped strip of 1 m cut into bodies with fixed joints between them."""
    flexible = {
        "length": f"1/{bodies}", "young": E, "density": RHO, "width": 0.01, "height": 0.01,
        "motions": ["axial", "bending-y"], "elements": elements,
    }  # fmt: skip
    links: list[dict[str, Any]] = [{"flexible": flexible}]
    links += [{"joint": "fixed", "d": f"1/{bodies}", "flexible": flexible}] * (bodies - 1)
    links += [{"joint": "fixed", "d": f"1/{bodies}", "mass": 0.01}]
    return cardan.load({
        "gravity": [0, 0, 0],
        "link": [{"name": f"part{k}", **link} for k, link in enumerate(links)],
    })  # fmt: skip


def test_bodies_in_a_chain_are_elements_of_one_body() -> None:
    one = cardan.natural_frequencies(chain(1, 4), [0.2])
    many = cardan.natural_frequencies(chain(4), [0.2])
    np.testing.assert_allclose(many, one, rtol=1e-9)


def test_a_chain_bends_into_a_circle() -> None:
    """A moment at the tip, EI π/2 per metre: a quarter of a circle, far from small deflection."""
    robot = chain(6)
    moment = E * 0.01**4 / 12 * math.pi / 2
    loads = np.zeros((len(robot.links), 6))
    loads[-1, 5] = moment
    found = static_deflection(robot, [0], loads=loads)
    tip = cardan.model(robot, "transform").evaluate(q=found.q)
    radius = 2 / math.pi
    np.testing.assert_allclose(tip[:2, 3], [radius, radius], rtol=0.005)
    assert math.atan2(tip[1, 0], tip[0, 0]) == pytest.approx(math.pi / 2, rel=1e-3)
    assert found.tau[0] == pytest.approx(-moment, rel=1e-6)


def test_a_strut_loses_its_frequency_towards_buckling() -> None:
    """A column that carries a mass: ω² falls as 1 - P / P_cr, Euler's load; hanging, it rises."""
    robot = cardan.load(
        {"gravity": [0, 0, 0], "link": [
            {"flexible": {"length": 1, "young": E, "density": 1, "width": 0.01, "height": 0.02,
                          "motions": ["axial", "bending-y"], "elements": 2}},
            {"joint": "fixed", "d": 1, "mass": 2}]}
    )  # fmt: skip
    critical = math.pi**2 * E * (0.02 * 0.01**3 / 12) / 4
    still = cardan.natural_frequencies(robot, [0])[0]
    for share in (-0.5, 0.5, 0.9):
        heavy = replace(robot, gravity=(-share * critical / 2, 0, 0))
        found = cardan.natural_frequencies(heavy, [0], about="equilibrium")[0]
        assert found / still == pytest.approx(math.sqrt(1 - share), rel=0.015)
    fallen = replace(robot, gravity=(-1.05 * critical / 2, 0, 0))
    assert np.isnan(cardan.natural_frequencies(fallen, [0], about="equilibrium")[0])


def test_frequency_maps_hold_the_table() -> None:
    found = frequency_map(cardan.load("prrrp"), [[0], [-0.5, 0.0, 0.9]])
    assert found.shape == (1, 3, 6)
    np.testing.assert_allclose(found[0, 0, :3], (31.414, 31.455, 40.799), rtol=2e-5)
    assert np.isnan(found[0, 2]).all()


def test_faults_of_frequencies_are_told() -> None:
    robot = cardan.load("prrrp")
    for call, words in (
        (lambda: cardan.natural_frequencies(cardan.load("planar2r"), [0, 0]), "is rigid"),
        (lambda: cardan.natural_frequencies(robot, [0]), "2 driven joints"),
        (lambda: cardan.natural_frequencies(robot, [0, 3]), "cannot be assembled"),
        (lambda: cardan.natural_frequencies(robot, [0, 0], "loose"), "locked, free"),
        (lambda: static_deflection(robot, [0, 0], loads=[1]), "loads have shape"),
    ):
        with pytest.raises(cardan.CardanError, match=words):
            call()
