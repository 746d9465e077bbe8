"""Measures of configurations and sections of workspaces, against formulas and second routes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.compare import near
from tests.use.test_workspace import planar
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.errors import CardanError
from cardan.loops.numeric import equations
from cardan.motion import measures
from cardan.motion.derived import compiled

RNG = np.random.default_rng


@pytest.fixture(scope="module")
def delta() -> cardan.Robot:
    return cardan.load("delta")


@pytest.fixture(scope="module")
def poses(delta) -> np.ndarray:
    x = RNG(0).uniform([-0.2, -0.2, -0.65], [0.2, 0.2, -0.5], (60, 3))
    q = cardan.model(delta, "loop-geometry").legs.solve(x).q
    return q[~np.isnan(q[..., 0])]


def test_the_isotropic_arm_and_its_singularity() -> None:
    """L1 = sqrt(2) L2 and an elbow of 135 degrees: all directions alike; straight: none."""
    arm = planar(np.sqrt(2), 1.0)
    q = np.radians([[30, 135], [30, 0], [10, 90]])
    near(measures.dexterity(arm, q, 3)[:2], [1, 0], absolute=1e-12)
    near(measures.singularity(arm, q, 1, 3), measures.dexterity(arm, q, 3), 1e-12)
    near(measures.manipulability(arm, q, 3), np.sqrt(2) * np.abs(np.sin(q[:, 1])), absolute=1e-6)
    with pytest.raises(CardanError, match="no singularities of type 2"):
        measures.singularity(arm, q, 2)


def test_the_two_types_are_the_two_determinants_of_the_jacobian(delta, poses) -> None:
    """|det J| = |det C without the platform| / |det C without the drives|, by Cramer's rule."""
    C = equations(delta, {}).J(poses)
    columns = {"platform": range(3), "drives": (3, 6, 9)}
    det = {key: np.linalg.det(np.delete(C, list(k), axis=2)) for key, k in columns.items()}
    J = measures.position_jacobian(delta, poses)
    near(np.abs(det["platform"] / det["drives"]), np.abs(np.linalg.det(J)), 1e-8)


def test_a_five_bar_is_singular_where_its_forearms_are_in_line() -> None:
    robot = cardan.load("fivebar")
    geometry = cardan.model(robot, "loop-geometry")
    turns = np.linspace(0.2, 1.2, 400)
    q = geometry.solve(np.stack([np.pi - turns, turns], axis=1)).q[:, 0]
    rows = q[~np.isnan(q[:, 0])]
    T = compiled(robot, "transform", frame="tip")(q=rows)[:, :3, 3]
    elbows = [compiled(robot, "transform", frame=k)(q=rows)[:, :3, 3] for k in (2, 4)]
    a, b = (T - elbow for elbow in elbows)
    sine = np.abs(np.cross(a, b)[:, 2]) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    two = measures.singularity(robot, rows, 2)
    assert np.corrcoef(sine, two)[0, 1] > 0.9
    assert two[np.argmin(sine)] == two.min()


def test_ellipsoids_hold_all_velocities_and_forces(delta, poses) -> None:
    limits = np.array([1.0, 2.0, 3.0])
    J = measures.position_jacobian(delta, poses)
    u = RNG(1).normal(size=(len(poses), 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    fast = measures.ellipsoids(delta, poses, of="velocity", limits=limits)
    v = np.einsum("nij,nj->ni", J, u * limits)
    inside = np.einsum("nji,nj->ni", fast.axes, v) / fast.lengths
    near(np.linalg.norm(inside, axis=1), 1, 1e-9)
    strong = measures.ellipsoids(delta, poses, of="force", limits=limits)
    f = np.linalg.solve(np.swapaxes(J, 1, 2), (u * limits)[..., None])[..., 0]
    inside = np.einsum("nji,nj->ni", strong.axes, f) / strong.lengths
    near(np.linalg.norm(inside, axis=1), 1, 1e-8)
    slowest = np.linalg.svd(J, compute_uv=False)[:, -1]
    near(measures.measure(delta, poses, "speed"), slowest, 1e-9)


def test_stiffness_of_drives_and_links_add_as_springs_in_series() -> None:
    arm = planar(1.0, 0.4)
    q, k = np.array([[0.3, 0.8]]), np.array([100.0, 40.0])
    J = np.asarray(cardan.model(arm, "jacobian", frame=3).evaluate(q=q))[0]
    K = measures.stiffness(arm, q, k, 3)[0]
    C = J @ np.diag(1 / k) @ J.T
    near(C @ K @ C, C, 1e-9)
    soft = measures.measure(arm, q, "stiffness", 3, joints=k)[0]
    f = np.linalg.eigh(C[:2, :2])[1][:, -1]
    near(soft, 1 / np.linalg.norm(C[:2, :2] @ f), 1e-9)
    # a link that bends about its own z by a moment at its end is a spring in its joint
    bend = np.diag([1e12, 1e12, 1e12, 1e12, 1e12, 50.0])
    both = measures.stiffness(arm, q, k, 3, {arm.links[1].name: bend})[0]
    one = measures.stiffness(arm, q, [100.0, 1 / (1 / 40 + 1 / 50)], 3)[0]
    rows = np.ix_([0, 1, 5], [0, 1, 5])
    near(np.linalg.pinv(both)[rows], np.linalg.pinv(one)[rows], absolute=1e-9)


def test_holding_torques_do_the_work_of_weight_and_force(delta, poses) -> None:
    """The derivative of the potential energy by the drives, minus the work of the force."""
    robot, force = cardan.load("ur5"), np.array([3.0, -5.0, -20.0])
    q, h = RNG(2).uniform(-2, 2, (5, 6)), 1e-6
    tau = measures.holding_torques(robot, q, force=force)
    pose, energy = (compiled(robot, name) for name in ("transform", "energies"))

    def work(q: np.ndarray) -> np.ndarray:
        return energy(q=q, qd=0 * q).U - pose(q=q)[:, :3, 3] @ force

    slopes = [(work(q + h * e) - work(q - h * e)) / 2 / h for e in np.eye(6)]
    near(tau, np.stack(slopes, axis=1), absolute=1e-5)


def test_what_is_reached_by_poses_is_what_is_reached_by_drives(delta) -> None:
    """Places of random drives lie in cells that are reached, or beside one."""
    space = cardan.workspace(delta, 30_000, assemblies="all")
    grid = space.tried
    reached = np.zeros(grid.shape, bool)
    reached.ravel()[grid.cell] = True
    wide = reached.copy()
    for axis in range(3):
        for step in (-1, 1):
            wide |= np.roll(wide, step, axis)
    drives = RNG(3).uniform(-np.pi, np.pi, (300, 3))
    q = cardan.model(delta, "loop-geometry").solve(drives).q
    q = q[~np.isnan(q[..., 0])]
    at = ((q[:, :3] - grid.low) / (grid.high - grid.low) * grid.shape).astype(int)
    assert (at >= 0).all()
    assert (at < grid.shape).all()
    assert wide[tuple(at.T)].mean() > 0.995
    near(equations(delta, {}).error(space.q), 0, absolute=1e-8)
    near(compiled(delta, "transform")(q=space.q)[:, :3, 3], space.points, absolute=1e-12)


def test_a_section_of_an_arm_has_its_poses_and_aspects() -> None:
    robot = cardan.load("ur5")
    section = cardan.workspace(robot, 2_000, section={"y": 0.2})
    T = compiled(robot, "transform")(q=section.q)
    near(T[:, :3, 3], section.points, absolute=1e-9)
    home = compiled(robot, "transform")(q=np.zeros(6))
    near(T[:, :3, :3] - home[:3, :3], 0, absolute=1e-9)
    sign = measures.orientation(robot, section.q)
    for k in range(1, int(section.aspects.max()) + 1):
        assert len(set(sign[section.aspects == k])) == 1
    ring = cardan.workspace(planar(1.0, 0.4), 4_000, frame=3, section={"z": 0.0})
    near(ring.volume, np.pi * (1.4**2 - 0.6**2), 0.02)
    with pytest.raises(CardanError, match="needs poses that are inverted in closed form"):
        cardan.workspace(cardan.load("panda"), 100, section={"z": 0.3})


def test_the_commands_map_and_save(tmp_path) -> None:
    run = CliRunner().invoke(app, [
        "singularities", "delta", "--section", "y=0", "--samples", "1000", "--json",
        "--plot", str(tmp_path / "d.png"), "-o", str(tmp_path / "d.csv"),
    ])  # fmt: skip
    assert run.exit_code == 0, run.output
    told = json.loads(run.stdout)
    assert [row["kind"] for row in told["types"]] == ["type 1", "type 2"]
    assert (tmp_path / "d-type-1.png").is_file()
    assert (tmp_path / "d.csv").read_text().splitlines()[0].endswith("type-1,type-2")
    run = CliRunner().invoke(app, [
        "workspace", "ur5", "--samples", "500", "--map", "torque", "--tool-force", "0,0,-50",
        "--json",
    ])  # fmt: skip
    assert json.loads(run.stdout)["greatest"] > 50
    run = CliRunner().invoke(app, ["singularities", "delta"])
    assert run.exit_code == 1
    assert "--section" in run.output
