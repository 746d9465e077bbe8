"""Trees with flexible links: recursion, assembly, Lagrange's equations and programs agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.flexible.arms import BODY, KINDS, beam, state, tree

import cardan
from cardan.describe.robot import Base, Robot
from cardan.describe.values.parser import to_value
from cardan.mechanism.coordinates import Key
from cardan.models.articulated import articulated
from cardan.models.bodies import Bodies, bodies
from cardan.models.composite import inertia_matrix, solve_matrix
from cardan.models.energy import energies
from cardan.models.motion import motion
from cardan.models.newton_euler import inverse_dynamics


def scene_of(robot: Robot) -> Bodies:
    return bodies(robot, lambda name: 0)


def matrix(scene: Bodies, q: np.ndarray) -> np.ndarray:
    return np.array(inertia_matrix(scene, list(q)).rows(keys_of(scene)), float)


def keys_of(scene: Bodies) -> list[Key]:
    """Joints in link order, then elastic coordinates."""
    elastic = [("elastic", j, k) for j, body in scene.flexible.items() for k in range(body.N)]
    return [*(("joint", j, 0) for j in scene.tree.moving), *elastic]


def bias(scene: Bodies, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    record = inverse_dynamics(scene, list(q), list(qd), [0] * len(q))
    return np.array(record.rows(scene), float)


@pytest.mark.parametrize("kind", KINDS)
def test_forces_are_those_of_lagrange(kind: str) -> None:
    """d/dt ∂T/∂q̇ - ∂T/∂q + ∂U/∂q by central differences of the energies."""
    robot = tree(kind)
    scene, (q, qd) = scene_of(robot), state(robot)
    unit, h = np.eye(len(q)), 1e-5

    def energy(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        record = energies(scene, list(q), list(qd))
        return np.array([record.E, record.U], float)

    slope = np.array([(energy(q + h * e, qd) - energy(q - h * e, qd)) / (2 * h) for e in unit])
    M = matrix(scene, q)
    change = sum(
        v * (matrix(scene, q + h * e) - matrix(scene, q - h * e)) / (2 * h)
        for e, v in zip(unit, qd, strict=True)
    )
    friction = np.zeros(len(q))
    friction[0] = 0.1 * qd[0]
    expected = change @ qd - slope[:, 0] + slope[:, 1] + friction
    found = bias(scene, q, qd)
    near(expected, found, 1e-8)
    assert energy(q, qd)[0] == pytest.approx(qd @ M @ qd / 2, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_recursion_and_assembly_agree(kind: str) -> None:
    robot = tree(kind)
    scene, (q, qd) = scene_of(robot), state(robot, 1)
    rng = np.random.default_rng(2)
    n = robot.n
    x = motion(scene, list(q), list(qd))
    M, H = matrix(scene, q), bias(scene, q, qd)
    moving = scene.tree.moving

    def rows(joint: Any, elastic: Any) -> np.ndarray:
        return np.array(
            [joint[j] for j in moving] + [v for j in scene.flexible for v in elastic[j]]
        )

    tau = rng.normal(size=n)
    found = articulated(scene, x, tau=dict(zip(moving, tau, strict=True)))
    rhs = np.r_[tau, np.zeros(robot.ne)] - H
    expected = np.linalg.solve(M, rhs)
    scale = np.abs(expected).max()
    near(rows(found.qdd, found.qedd), expected, absolute=1e-9 * scale)
    keys = keys_of(scene)
    by_matrix = solve_matrix(
        scene, inertia_matrix(scene, list(q)).A, dict(zip(keys, rhs, strict=True))
    )
    near(np.array([by_matrix[key] for key in keys]), expected, absolute=1e-9 * scale)
    # the inverse model of the accelerations just found gives the torques back
    given = dict(zip(moving, expected[:n], strict=True))
    back = articulated(scene, x, tau={}, qdd=given)
    np.testing.assert_allclose([back.tau[j] for j in moving], tau, atol=1e-8 * scale)
    elastic = np.array([v for j in scene.flexible for v in back.qedd[j]])
    np.testing.assert_allclose(elastic, expected[n:], atol=1e-9 * scale)


def test_programs_are_the_algorithms() -> None:
    robot = tree("two elements")
    scene, (q, qd) = scene_of(robot), state(robot, 3)
    rng = np.random.default_rng(4)
    M, H = matrix(scene, q), bias(scene, q, qd)
    np.testing.assert_allclose(
        cardan.model(robot, "inertia-matrix").evaluate(q=q), M, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        cardan.model(robot, "bias").evaluate(q=q, qd=qd), H, rtol=1e-9, atol=1e-10
    )
    tau = rng.normal(size=robot.n)
    expected = np.linalg.solve(M, np.r_[tau, np.zeros(robot.ne)] - H)
    scale = np.abs(expected).max()
    for method in ("recursive", "inertia-matrix"):
        program = cardan.model(robot, "direct-dynamics", method=method, effort="plain")
        near(program.evaluate(q=q, qd=qd, tau=tau), expected, absolute=1e-9 * scale)
    inverse = cardan.model(robot, "inverse-dynamics", effort="plain")
    found = inverse.evaluate(q=q, qd=qd, qdd=expected[: robot.n])
    near(found.tau, tau, absolute=1e-9 * scale)
    near(found.qdd_e, expected[robot.n :], absolute=1e-9 * scale)


def test_kinematic_programs_are_derivatives_of_each_other() -> None:
    robot = tree("element")
    q, qd = state(robot, 5)
    rng = np.random.default_rng(6)
    qdd = rng.normal(size=len(q))
    T = cardan.model(robot, "transform", frame=3)
    J = cardan.model(robot, "jacobian", frame=3)
    V = cardan.model(robot, "velocities")
    Vd = cardan.model(robot, "accelerations")
    h = 1e-6

    def at(t: float) -> np.ndarray:
        return T.evaluate(q=q + t * qd + t * t / 2 * qdd)

    Td = (at(h) - at(-h)) / (2 * h)
    R, spin = at(0)[:3, :3], Td[:3, :3] @ at(0)[:3, :3].T
    w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    twist = J.evaluate(q=q) @ qd
    np.testing.assert_allclose(twist, [*Td[:3, 3], *w], atol=1e-7)
    own = V.evaluate(q=q, qd=qd)[2]
    np.testing.assert_allclose(np.r_[R @ own[:3], R @ own[3:]], twist, atol=1e-10)

    def world(t: float) -> np.ndarray:
        here = q + t * qd + t * t / 2 * qdd
        return J.evaluate(q=here) @ (qd + t * qdd)

    found = Vd.evaluate(q=q, qd=qd, qdd=qdd)[2]
    np.testing.assert_allclose(
        np.r_[R @ found[:3], R @ found[3:]], (world(h) - world(-h)) / (2 * h), atol=1e-6
    )


def test_elastic_joints_and_flexible_links_mix() -> None:
    soft = tree("element", stiffness=20, damping=0.3)
    q, qd = state(soft, 7)
    direct = cardan.model(soft, "direct-dynamics", method="recursive", effort="plain")
    matrix_way = cardan.model(soft, "direct-dynamics", method="inertia-matrix", effort="plain")
    tau = np.array([0.3, -0.2, 0.5])  # joint 2 is a spring
    first = direct.evaluate(q=q, qd=qd, tau=tau)
    np.testing.assert_allclose(matrix_way.evaluate(q=q, qd=qd, tau=tau), first, rtol=1e-8)
    inverse = cardan.model(soft, "inverse-dynamics", effort="plain")
    back = inverse.evaluate(q=q, qd=qd, qdd=first[[0, 2, 3]])
    np.testing.assert_allclose(back.tau, tau, atol=1e-7)
    np.testing.assert_allclose(back.qdd_e, [first[1], *first[4:]], rtol=1e-7, atol=1e-7)


def test_stiff_links_move_as_rigid_ones() -> None:
    """Torques of an undeformed motion, elastic accelerations held at zero, and the limit."""
    robot = tree("element")
    twin = cardan.rigid(robot)
    q, qd = state(robot, 8)
    q[robot.n :] = qd[robot.n :] = 0
    qdd = np.random.default_rng(9).normal(size=robot.n)
    scene = scene_of(robot)
    rows = inverse_dynamics(scene, list(q), list(qd), [*qdd, *[0] * robot.ne]).rows(scene)
    rigid = cardan.model(twin, "inverse-dynamics").evaluate(
        q=q[: robot.n], qd=qd[: robot.n], qdd=qdd
    )
    np.testing.assert_allclose(np.array(rows[: robot.n], float), rigid, rtol=1e-10)
    # statics: deflection falls with 1/E and the holding torques tend to the rigid ones
    from cardan.simulation.modal import static_deflection

    gravity = cardan.model(twin, "gravity").evaluate(q=q[: robot.n])
    errors = []
    for factor in (1e3, 1e6):
        links = tuple(
            replace(link, flexible=replace(link.flexible, young=1e7 * factor, shear=4e6 * factor))
            if link.flexible else link for link in robot.links
        )  # fmt: skip
        found = static_deflection(replace(robot, links=links), q[: robot.n])
        errors.append(np.abs(found.tau - gravity).max())
    assert errors[1] < 2e-3 * errors[0]
    assert errors[1] < 1e-4 * np.abs(gravity).max()


def test_a_base_with_imposed_motion() -> None:
    """Torques on a moving base as those of the rigid twin; accelerating it is as gravity."""
    base = Base("mobile", W0=(0.3, -0.2, 0.5), WP0=(0.1, 0.4, -0.3), V0=(0.2, 0.1, 0.4),
                VP0=(1, -2, 0.5))  # fmt: skip
    robot = replace(tree("element"), base=base)
    twin = cardan.rigid(robot)
    q, qd = state(robot, 15)
    q[robot.n :] = qd[robot.n :] = 0
    scene = scene_of(robot)
    rows = inverse_dynamics(scene, list(q), list(qd), [0] * len(q)).rows(scene)
    rigid = cardan.model(twin, "bias").evaluate(q=q[: robot.n], qd=qd[: robot.n])
    np.testing.assert_allclose(np.array(rows[: robot.n], float), rigid, rtol=1e-9)
    q, qd = state(robot, 16)
    pushed = replace(robot, base=Base("mobile", VP0=(-1, -2, to_value("9.81"))), gravity=(0, 0, 0))
    still = replace(robot, base=Base())
    tau = np.ones(robot.n)
    ways = [
        cardan.model(r, "direct-dynamics", effort="plain").evaluate(q=q, qd=qd, tau=tau)
        for r in (pushed, still)
    ]
    np.testing.assert_allclose(ways[0], ways[1], rtol=1e-9)


def test_a_floating_flexible_body_keeps_its_momentum() -> None:
    """Base acceleration and elastic accelerations of a free robot: no net force, no net moment."""
    robot = cardan.load(
        {
            "base": {"kind": "floating", **BODY},
            "link": [
                {"d": 0.1, "flexible": beam()},
                {**BODY, "d": 0.8, "alpha": 0.5},
                {"antecedent": 0, "joint": "fixed", "d": -0.1, "flexible": beam(along="y")},
            ],
        }
    )
    q, qd = state(robot, 10)
    rng = np.random.default_rng(11)
    V0, tau = rng.normal(size=6), rng.normal(size=robot.n)
    direct = cardan.model(robot, "direct-dynamics", effort="plain")
    found = direct.evaluate(q=q, qd=qd, tau=tau, V0=V0, g0=np.zeros(3))
    A = cardan.model(robot, "inertia-matrix")

    def momentum(t: float) -> np.ndarray:
        """About the origin, in axes at rest, along a motion with these accelerations."""
        from scipy.spatial.transform import Rotation

        w = V0[3:] + t / 2 * found.V0d[3:]
        R = Rotation.from_rotvec(t * w).as_matrix()
        P = t * V0[:3] + t * t / 2 * found.V0d[:3]
        moved = q + t * qd + t * t / 2 * found.qdd
        v = R.T @ (V0[:3] + t * found.V0d[:3])
        spin = V0[3:] + t * found.V0d[3:]  # body axes
        h = A.evaluate(q=moved)[:6] @ np.r_[v, spin, qd + t * found.qdd]
        linear = R @ h[:3]
        return np.r_[linear, R @ h[3:] + np.cross(P, linear)]

    step = 1e-5
    drift = (momentum(step) - momentum(-step)) / (2 * step)
    assert np.abs(drift).max() < 1e-6 * np.abs(momentum(0)).max() * np.abs(found.V0d).max()


def test_external_wrenches_act_at_the_tip() -> None:
    """A fixed tool link carries a load: the same as its weight by gravity."""
    plain = cardan.load(
        {
            "gravity": [0, 0, 0],
            "link": [{"flexible": beam()}, {"joint": "fixed", "d": 0.8, "mass": 0.1}],
        }
    )
    q, qd = state(plain, 12)
    direct = cardan.model(plain, "direct-dynamics", f_e=True, effort="plain")
    J = cardan.model(plain, "jacobian", frame=2, projection=2).evaluate(q=q)
    f = np.random.default_rng(13).normal(size=6)
    loads = np.zeros((2, 6))
    still = direct.evaluate(q=q, qd=qd, tau=[0.2], f_e=loads)
    loads[1] = f
    loaded = direct.evaluate(q=q, qd=qd, tau=[0.2], f_e=loads)
    M = cardan.model(plain, "inertia-matrix").evaluate(q=q)
    np.testing.assert_allclose(M @ (loaded - still), -J.T @ f, atol=1e-8)


@pytest.mark.parametrize("name", ["flexible1r", "flexible2r", "prrrp"])
def test_files_keep_flexible_links(name: str, tmp_path: Any) -> None:
    robot = cardan.load(name)
    path = tmp_path / "robot.toml"
    robot.save(path)
    again = cardan.load(path)
    assert replace(again, source=robot.source) == robot


def test_symbols_of_a_beam_stay_symbols() -> None:
    robot = cardan.load(
        {"link": [{"flexible": {"length": "L", "young": "E", "density": "rho", "area": "A",
                                "Iz": "Iz", "motions": ["bending-y"], "rotary": False}},
                  {"joint": "fixed", "d": "L", "mass": "m"}]}
    )  # fmt: skip
    assert set(robot.parameters) >= {"L", "E", "rho", "A", "Iz", "m"}
    program = cardan.model(robot, "inertia-matrix")
    values = {"L": 0.7, "E": 1e9, "rho": 900.0, "A": 1e-4, "Iz": 1e-9, "m": 0.3}
    q = np.array([0.4, 0.02, 0.05])
    p = [values[name] for name in program.parameters]
    numbers = cardan.model(robot.with_values(values), "inertia-matrix").evaluate(q=q)
    np.testing.assert_allclose(program.evaluate(q=q, p=p), numbers, rtol=1e-12)


def test_other_models_say_that_links_are_flexible() -> None:
    with pytest.raises(cardan.CardanError, match=r"cardan\.rigid"):
        cardan.model(cardan.load("flexible1r"), "regressor")


def _changed(robot: Robot, **fields: Any) -> Robot:
    """The robot with other fields of its beams."""
    links = tuple(
        replace(link, flexible=replace(link.flexible, **fields)) if link.flexible else link
        for link in robot.links
    )
    return replace(robot, links=links)


@pytest.mark.parametrize("name", ["flexible1r", "flexible2r", "prrrp"])
def test_symbolic_programs_are_the_numeric_ones(name: str) -> None:
    """symbolic=True: every parameter of the robot and its beams an input p, known by default."""
    robot = cardan.load(name)
    if any(link.flexible and link.flexible.damping_ratio for link in robot.links):
        links = tuple(
            replace(link, flexible=replace(link.flexible, damping_ratio=0))
            if link.flexible
            else link
            for link in robot.links
        )
        robot = replace(robot, links=links)
    q, qd = state(robot, 14)
    if robot.loops:
        from cardan.build.flexible.closure import closing

        loops = closing(robot)
        q, qd = loops.assemble([0.05, 0.1], q_e=1e-4 * q[-6:]), qd[: len(loops.independent)]
    numbers = cardan.model(robot, "direct-dynamics", effort="plain")
    symbols = cardan.model(robot, "direct-dynamics", effort="plain", symbolic=True)
    assert any(key.startswith("young") for key in symbols.parameters)
    tau = 0.3 * np.ones(numbers.inputs["tau"])
    expected = numbers.evaluate(q=q, qd=qd, tau=tau)
    found = symbols.evaluate(q=q, qd=qd, tau=tau)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert "young" in symbols.emit("c")


def test_formats_without_flexible_links_say_so(tmp_path: Any) -> None:
    for extension in ("par", "urdf"):
        with pytest.raises(cardan.CardanError, match="flexible link"):
            cardan.load("flexible1r").save(tmp_path / f"robot.{extension}")
    assert "Flexible links" in repr(cardan.load("prrrp"))
