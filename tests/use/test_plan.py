"""Motions that are planned: fastest ones, paths of the tool by all branches, collisions."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.errors import InputError
from cardan.motion import branches, optimal, paths
from cardan.motion.collision import (
    Clearance,
    Sphere,
    Surroundings,
    read_surroundings,
    spheres_along,
)
from cardan.motion.optimal import along_points, time_optimal
from cardan.motion.torques import torques
from cardan.motion.trajectory import violations

START = np.array([0.0, -1.0, 1.0, -0.5, 0.5, 0.0])
TAU = np.array([150.0, 150, 150, 28, 28, 28])


@pytest.fixture(scope="module")
def ur5() -> cardan.Robot:
    return cardan.load("ur5")


def random_path(seed: int, points: int = 5, n: int = 6) -> cardan.motion.trajectory.Trajectory:
    return along_points(np.random.default_rng(seed).uniform(-1.5, 1.5, (points, n)))


@pytest.mark.parametrize(("distance", "speed"), [(0.5, 100.0), (0.5, 1.0), (2.0, 1.5)])
def test_a_straight_line_takes_the_time_of_a_trapezoid(ur5, distance, speed):
    end = START + distance * np.array([1, -0.5, 0.2, 0, 0, 0.1])
    motion = time_optimal(ur5, along_points([START, end]), velocity=speed, acceleration=4.0)
    if speed**2 / 4 < distance:
        wanted = distance / speed + speed / 4
    else:
        wanted = 2 * np.sqrt(distance / 4)
    assert motion.duration == pytest.approx(wanted, rel=1e-4)
    assert motion.q[-1] == pytest.approx(end)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_fastest_profile_is_that_of_one_linear_program(ur5, seed):
    """All x at once: the fastest profile has the largest sum, under the same limits. Point by point
    a little is lost where a limit falls steeply with x, less on a finer grid."""
    scipy = pytest.importorskip("scipy.optimize")
    path, n = random_path(seed), 40
    s = np.linspace(path.t[0], path.t[-1], n + 1)
    h = s[1] - s[0]
    idm = cardan.model(ur5, "inverse-dynamics", friction=False).compile()
    q, d, dd = path(s)
    c = idm(q=q, qd=0 * d, qdd=0 * d)
    a = np.hstack([idm(q=q, qd=0 * d, qdd=d) - c, d])
    b = np.hstack([idm(q=q, qd=d, qdd=dd) - c, dd])
    c = np.hstack([c, 0 * d])
    limit = np.concatenate([TAU, np.full(6, 20.0)])
    rows, sides = [], []
    for i in range(n):  # u = (x[i+1] - x[i]) / 2h, at both ends of the step
        for at in (i, i + 1):
            for k in range(12):
                row = np.zeros(n + 1)
                row[i + 1], row[i] = a[at, k] / 2 / h, -a[at, k] / 2 / h
                row[at] += b[at, k]
                rows += [row, -row]
                sides += [limit[k] - c[at, k], limit[k] + c[at, k]]
    top = np.min((3.0 / np.abs(d)) ** 2, axis=1)
    bounds = [(0, 0 if i in (0, n) else top[i]) for i in range(n + 1)]
    best = scipy.linprog(-np.ones(n + 1), np.array(rows), sides, bounds=bounds)
    sd = np.sqrt(best.x)
    motion = time_optimal(ur5, path, velocity=3.0, acceleration=20.0, torque=TAU, grid=n)
    assert motion.duration == pytest.approx((2 * h / (sd[1:] + sd[:-1])).sum(), rel=1e-3)


def test_limits_hold_and_one_is_reached_everywhere(ur5):
    motion = time_optimal(ur5, random_path(3), velocity=3.0, acceleration=20.0, torque=TAU, dt=5e-3)
    tau = torques(ur5, motion).total
    parts = (motion.qd / 3, motion.qdd / 20, tau / TAU)
    use = np.abs(np.concatenate(parts, axis=1))
    assert use.max() < 1.005
    assert np.median(use.max(axis=1)) > 0.999


def test_the_peer_takes_the_same_time(ur5):
    toppra = pytest.importorskip("toppra")
    from toppra import algorithm, constraint

    points = np.random.default_rng(5).uniform(-1.5, 1.5, (5, 6))
    s = np.concatenate([[0], np.linalg.norm(np.diff(points, axis=0), axis=1).cumsum()])
    idm = cardan.model(ur5, "inverse-dynamics").compile()
    both = np.stack([-TAU, TAU], axis=1)
    limits = [
        constraint.JointVelocityConstraint(np.tile([-3.0, 3.0], (6, 1))),
        constraint.JointTorqueConstraint(
            lambda q, qd, qdd: idm(q=q, qd=qd, qdd=qdd), both, np.zeros(6)
        ),
    ]
    path = toppra.SplineInterpolator(s, points, bc_type="natural")
    peer = algorithm.TOPPRA(limits, path, gridpoints=np.linspace(0, s[-1], 1001),
                            parametrizer="ParametrizeConstAccel")  # fmt: skip
    motion = time_optimal(ur5, along_points(points), velocity=3.0, torque=TAU)
    assert motion.duration == pytest.approx(peer.compute_trajectory(0, 0).duration, rel=1e-3)


def test_friction_of_every_kind_is_within_the_torque(ur5):
    rough = replace(ur5, joints=tuple(
        replace(joint, FV=4, FS=5) if joint.sigma == 0 else joint for joint in ur5.joints
    ))  # fmt: skip
    path = random_path(2)
    free = time_optimal(ur5, path, torque=TAU, velocity=100)
    motion = time_optimal(rough, path, torque=TAU, velocity=100, dt=5e-3)
    use = np.abs(torques(rough, motion).total) / TAU
    assert motion.duration > 1.01 * free.duration
    assert np.quantile(use.max(axis=1), 0.98) < 1.01
    assert np.median(use.max(axis=1)) > 0.99


def test_closed_loops_move_by_their_drives():
    robot = cardan.load("fivebar")
    home = cardan.motion.trajectory.at_home(robot)
    limit = 2 * np.abs(torques(robot, cardan.trajectory(robot, home, start=home)).total).max() + 1.0
    motion = cardan.trajectory(
        robot,
        home + np.array([0.3, -0.2]),
        start=home,
        profile="time-optimal",
        torque=limit,
        velocity=50,
    )
    use = np.abs(torques(robot, motion).total) / limit
    assert np.median(use.max(axis=1)) > 0.99
    assert use.max() < 1.01


def test_a_path_that_cannot_be_held_says_where(ur5):
    with pytest.raises(InputError, match=r"torque of q2 exceeds its limit of 5 at rest"):
        time_optimal(ur5, random_path(0), torque=[150, 5, 150, 28, 28, 28])
    free = replace(ur5, joints=tuple(replace(j, limits=type(j.limits)()) for j in ur5.joints))
    with pytest.raises(InputError, match="no limit says how fast"):
        time_optimal(free, random_path(0))


def test_a_spline_goes_through_its_poses_with_its_own_twists():
    rng = np.random.default_rng(4)
    poses = []
    for _ in range(4):
        T = np.eye(4)
        T[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        T[:3, :3] *= np.linalg.det(T[:3, :3])
        T[:3, 3] = rng.uniform(-1, 1, 3)
        poses.append(T)
    way = paths.through(poses, 2.0)
    assert pytest.approx(np.array([poses[0], poses[-1]]), abs=1e-12) == way(np.array([0.0, 2.0])).T
    fine = way.along(np.linspace(0, 1, 20001)).T
    for T in poses[1:-1]:
        assert np.abs(fine - T).max(axis=(1, 2)).min() < 2e-3
    t, h = np.linspace(0.1, 1.9, 7), 1e-5
    before, here, after = way(t - h), way(t), way(t + h)
    R = (after.T[:, :3, :3] - before.T[:, :3, :3]) / 2 / h @ np.swapaxes(here.T[:, :3, :3], 1, 2)
    spin = np.stack([R[:, 2, 1], R[:, 0, 2], R[:, 1, 0]], axis=1)
    assert here.V[:, 3:] == pytest.approx(spin, abs=1e-6)
    assert here.V[:, :3] == pytest.approx((after.T - before.T)[:, :3, 3] / 2 / h, abs=1e-6)
    assert here.Vd == pytest.approx((after.V - before.V) / 2 / h, abs=1e-4)


def line_of(robot: cardan.Robot, move: list[float]) -> paths.Path:
    T = cardan.model(robot, "transform").evaluate(q=START)
    end = T.copy()
    end[:3, 3] += move
    return paths.line(T, end, 1.0)


def test_all_branches_of_a_line_are_followed(ur5):
    way = line_of(ur5, [0.4, 0.1, 0.2])
    listed = branches.branches(ur5, way)
    assert len(listed) == 8
    assert all(branch.whole for branch in listed)
    pose = cardan.model(ur5, "transform").compile()
    for branch in listed:
        assert pose(q=branch.q) == pytest.approx(way.along(branch.s).T, abs=1e-9)
        assert np.abs(np.diff(branch.q, axis=0)).max() < 0.06
    assert listed[0].travel == min(branch.travel for branch in listed)


def test_a_branch_says_where_and_why_it_ends(ur5):
    listed = branches.branches(ur5, line_of(ur5, [-0.5, -0.3, -0.6]))
    assert {branch.reason for branch in listed} == {
        "the path leaves the reach", "a singular configuration",
    }  # fmt: skip
    J = cardan.model(ur5, "jacobian").compile()
    for branch in listed:  # every end is a fold
        values = np.linalg.svd(J(q=branch.q[-1]), compute_uv=False)
        assert values[-1] < 0.05 * values[0]
    with pytest.raises(InputError, match=r"no branch goes along the line to its end\n  from .* %"):
        cardan.trajectory(ur5, line_of(ur5, [-0.5, -0.3, -0.6]))
    narrow = replace(ur5, joints=tuple(
        replace(j, limits=replace(j.limits, lower=-1.2, upper=1.2)) if k == 1 else j
        for k, j in enumerate(ur5.joints)
    ))  # fmt: skip
    cut = branches.branches(narrow, line_of(ur5, [0.4, 0.1, 0.2]))
    assert any("the limit" in branch.reason and "of q2" in branch.reason for branch in cut)


def test_the_tool_goes_along_its_path_at_every_profile(ur5):
    pose = cardan.model(ur5, "transform").compile()
    way = line_of(ur5, [0.3, 0.1, 0.2])
    for options in ({}, {"duration": 2.0, "profile": "cubic"}, {"velocity": 1.0},
                    {"profile": "time-optimal", "acceleration": 10.0}):  # fmt: skip
        motion = cardan.trajectory(ur5, way, start=START, dt=0.01, **options)
        T = pose(q=motion.q)
        first, last = way.along(np.array([0.0, 1.0])).T
        assert T[-1] == pytest.approx(last, abs=1e-9)
        along = (
            (T[:, :3, 3] - first[:3, 3])
            @ (last - first)[:3, 3]
            / np.sum((last - first)[:3, 3] ** 2)
        )
        on_line = first[:3, 3] + along[:, None] * (last - first)[:3, 3]
        assert T[:, :3, 3] == pytest.approx(on_line, abs=1e-8)
        assert not violations(motion, ur5, tolerance=1e-4)
    assert np.abs(cardan.trajectory(ur5, way, start=START, velocity=1.0).qd).max() == pytest.approx(
        1, rel=1e-4
    )


def test_a_path_of_the_tool_of_closed_loops():
    delta = cardan.load("delta")
    way = paths.line([0.0, 0, -0.6], [0.05, 0.02, -0.6], 0.5)
    motion = cardan.trajectory(delta, way, dt=0.05)
    tip = cardan.model(delta, "transform").compile()(q=motion.q)[:, :3, 3]
    assert tip[-1] == pytest.approx([0.05, 0.02, -0.6], abs=1e-8)


def test_spheres_floor_boxes_and_balls(ur5, tmp_path):
    (tmp_path / "around.toml").write_text("""floor = -1.0
radius = 0.05
sphere = [{frame = "wrist_3", at = [0, 0, 0.1], radius = 0.04}]
box = [{low = [0.2, -0.1, 0], high = [0.4, 0.1, 0.3]}]
ball = [{at = [0, 0, 2], radius = 0.5}]
""")
    near = read_surroundings(ur5, tmp_path / "around.toml")
    assert len(near.spheres) == 1 + len(spheres_along(ur5, 0.05))
    q = np.random.default_rng(0).uniform(-2, 2, (20, 6))
    T = cardan.model(ur5, "transform", frame="wrist_3").compile()(q=q)
    centre = T[:, :3, 3] + 0.1 * T[:, :3, 2]
    assert near.centres(q)[:, 0] == pytest.approx(centre)
    alone = Clearance(ur5, near.spheres[:1], near.around)
    nearest = np.clip(centre, [0.2, -0.1, 0], [0.4, 0.1, 0.3])
    box = np.linalg.norm(centre - nearest, axis=1) - 0.04
    ball = np.linalg.norm(centre - [0, 0, 2], axis=1) - 0.54
    wanted = np.minimum(np.minimum(centre[:, 2] + 1 - 0.04, box), ball)
    outside = (centre != nearest).any(axis=1)
    assert alone.least(q)[outside] == pytest.approx(wanted[outside])
    inner = Clearance(ur5, (Sphere("wrist_3", (0, 0, 0), 0.1), Sphere(1, (0, 0, 0), 0.2)))
    assert inner.pairs.tolist() == [[1, 0]]
    assert inner.nearest(q)[1] == inner.least(q).min()


def test_a_collision_is_refused_and_branches_go_around(ur5):
    way = line_of(ur5, [0.3, 0.1, 0.2])
    tool = (Sphere("wrist_3", (0.0, 0, 0), 0.05),)
    wall = Surroundings(boxes=(([-9, -9, -9], [9, 9, 9]),))
    with pytest.raises(InputError, match="a collision"):
        cardan.trajectory(ur5, way, clearance=Clearance(ur5, tool, wall))
    with pytest.raises(InputError, match="inside each other"):
        cardan.trajectory(ur5, START + 0.5, start=START, clearance=Clearance(ur5, tool, wall))


def test_the_command_writes_what_it_plans(tmp_path):
    file = str(tmp_path / "motion.csv")
    run = CliRunner().invoke(app, [
        "trajectory", "ur5", "--start", "0,-1,1,-0.5,0.5,0", "--via", "0.3,-1,1,0,0.5,0",
        "--end", "0.5", "--profile", "time-optimal", "--dt", "0.01", "-o", file, "--json",
    ])  # fmt: skip
    assert run.exit_code == 0, run.output
    told = json.loads(run.stdout)
    motion = cardan.trajectory(cardan.load("ur5"), file)
    assert motion.duration == pytest.approx(told["duration"])
    assert motion.q[-1] == pytest.approx(np.full(6, 0.5))
    poses = tmp_path / "poses.csv"
    poses.write_text("x,y,z\n-0.6,-0.2,0.5\n-0.5,-0.3,0.5\n-0.4,-0.3,0.6\n")
    for more in (["--poses", str(poses)], ["--line=-0.5,-0.3,0.5"],
                 ["--circle=-0.5,-0.2,0.4", "--angle", "1"]):  # fmt: skip
        run = CliRunner().invoke(
            app,
            ["trajectory", "ur5", "--start", "0,-1,1,-0.5,0.5,0", *more, "--json", "--dt", "0.1"],
        )
        assert run.exit_code == 0, run.output
    assert CliRunner().invoke(app, ["trajectory", "ur5"]).exit_code == 2


def test_the_kernel_is_python_too():
    """The profile of one joint by the kernel's own text, without machine code."""
    n = 20
    s = np.linspace(0, 1, n + 1)
    out = {key: [0.0] * (n + 1) for key in ("x", "least", "most")}
    ends, stuck = optimal.Ends(), optimal.Stuck()
    ends.steps, ends.limits, ends.first, ends.last = n, 1, 0.0, 0.0
    optimal.fastest_profile(
        ends, s.tolist(), [1.0] * (n + 1), [0.0] * (n + 1), [-1.0] * (n + 1),
        [1.0] * (n + 1), [1e9] * (n + 1), *out.values(), stuck,
    )  # fmt: skip
    assert stuck.point == -1
    assert out["x"] == pytest.approx(np.minimum(2 * s, 2 * (1 - s)))
