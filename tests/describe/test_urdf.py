"""URDF read: the mechanics that Pinocchio sees, in few parameters."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest
from mechanics import inertia_at, poses, rotation, screw
from tests.compare import near

import cardan
from cardan.describe.urdf.read import read_urdf
from cardan.exact import exact

SHARED = Path(__file__).resolve().parents[3] / "shared"
FILES = sorted([*SHARED.glob("robots/urdf/*.urdf"), *SHARED.glob("data/tx40/*.urdf")])
needs_files = pytest.mark.skipif(not FILES, reason="the public robot files are not here")
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def read(text: str | bytes, **options):
    data = text.encode() if isinstance(text, str) else text
    return read_urdf(data, "robot.urdf", **options)


def robot_of(text: str, **options):
    robot, faults = read(text, **options)
    assert robot is not None, "\n".join(map(str, faults))
    return robot


def six(joint):
    return [getattr(joint, key) for key in ("gamma", "b", "alpha", "d", "theta", "r")]


def with_whole_pi(text: str) -> str:
    """The file with its truncated 1.57079632679 completed, for both sides of a comparison."""

    def whole(match: re.Match[str]) -> str:
        x = float(match[0])
        k = round(x / (math.pi / 12))
        return repr(k * math.pi / 12) if 0 < abs(x - k * math.pi / 12) < 1e-11 else match[0]

    return re.sub(r"-?\d\.\d{9,}", whole, text)


def difference_from_pinocchio(text: str, samples: int = 20, **options) -> float:
    """Largest difference in joint twists, masses, first moments and inertias, in frame 0."""
    pin = pytest.importorskip("pinocchio")
    robot = robot_of(text, **options)
    model = pin.buildModelFromXML(text)
    data = model.createData()
    moving = [joint.name for joint in robot.joints if joint.sigma != 2]
    assert sorted(moving) == sorted(list(model.names)[1:])
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(samples):
        q = rng.uniform(-3, 3, robot.n)
        v = np.zeros(model.nv)
        for name, x in zip(moving, q, strict=True):
            v[model.joints[model.getJointId(name)].idx_v] = x
        pin.computeJointJacobians(model, data, pin.integrate(model, pin.neutral(model), v))
        T = poses(robot, q)
        for name, found in bodies_in_frame_0(robot, T).items():
            i = model.getJointId(name) if name else 0
            expected = data.oMi[i].act(model.inertias[i]).matrix()
            worst = max(worst, float(np.abs(found - expected).max()))
        for joint, Tj in zip(robot.joints, T[1:], strict=True):
            if joint.sigma != 2:
                column = data.J[:, model.joints[model.getJointId(joint.name)].idx_v]
                worst = max(worst, float(np.abs(screw(joint, Tj) - column).max()))
    return worst


def bodies_in_frame_0(robot, T) -> dict[str, np.ndarray]:
    """6x6 inertia of each rigid body by its joint's name, "" for the base."""
    bodies: dict[str, np.ndarray] = {"": np.zeros((6, 6))}
    owner = [""]
    for k, link in enumerate([robot.base.link, *robot.links]):
        if k:
            joint = robot.joints[k - 1]
            owner.append(owner[joint.antecedent] if joint.sigma == 2 else joint.name)
        m, h, J = inertia_at(link, T[k])
        S = np.array([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])
        body = np.block([[m * np.eye(3), -S], [S, J]])
        bodies[owner[k]] = bodies.get(owner[k], 0) + body
    return bodies


@needs_files
@every_file
@pytest.mark.parametrize("fixed", ["merge", "keep"])
def test_public_robots_vs_pinocchio(path, fixed):
    text = path.read_text()
    assert difference_from_pinocchio(text, fixed=fixed) < 1e-10  # truncated pi is taken for pi
    assert difference_from_pinocchio(with_whole_pi(text), fixed=fixed) < 1e-12


@needs_files
@every_file
def test_public_robots_have_no_error(path):
    robot, faults = read(path.read_bytes())
    assert robot is not None
    known = ("mimics", "no body has this inertia", "links that move have no mass")
    assert all(x.severity == "warning" and any(w in x.message for w in known) for x in faults)
    assert len({joint.name for joint in robot.joints}) == len(robot.joints)


@needs_files
def test_panda_and_ur5_are_the_tables_everyone_knows():
    half = exact(0, 1) / 2
    panda = robot_of((SHARED / "robots/urdf/panda.urdf").read_text())
    assert [joint.alpha for joint in panda.joints[:7]] == [0, -half, half, half, -half, half, half]
    assert [float(j.d) for j in panda.joints[:7]] == [0, 0, 0, 0.0825, -0.0825, 0, 0.088]
    assert [float(j.r) for j in panda.joints[:7]] == [0.333, 0, 0.316, 0, 0.384, 0, 0]
    ur5 = robot_of((SHARED / "robots/urdf/ur5_robot.urdf").read_text())
    assert [float(j.d) for j in ur5.joints] == [0, 0, 0.425, 0.39225, 0, 0]
    assert [float(j.r) for j in ur5.joints] == [0.089159, 0, 0, 0.10915, 0.09465, 0]


def random_tree(seed: int, bend=lambda rng, rpy: rpy) -> str:
    """A tree of 12 links with any axes, origins and inertias, fixed joints among them."""
    rng = np.random.default_rng(seed)

    def numbers(x) -> str:
        return " ".join(repr(float(v)) for v in x)

    parts = ["<robot name='tree'>"]
    for k in range(12):
        A = rng.normal(size=(3, 3)) * 0.1
        J = A @ A.T
        parts.append(
            f"<link name='l{k}'><inertial><origin xyz='{numbers(rng.normal(size=3) * 0.2)}'"
            f" rpy='{numbers(rng.uniform(-3, 3, 3))}'/><mass value='{rng.uniform(0.1, 3)!r}'/>"
            f"<inertia ixx='{J[0, 0]}' ixy='{J[0, 1]}' ixz='{J[0, 2]}' iyy='{J[1, 1]}'"
            f" iyz='{J[1, 2]}' izz='{J[2, 2]}'/></inertial></link>"
        )
    kinds = ["revolute", "continuous", "prismatic", "fixed"]
    for k in range(1, 12):
        simple = rng.random() < 0.5  # parallel, perpendicular and intersecting axes too
        axis = np.eye(3)[rng.integers(3)] if simple else rng.normal(size=3)
        xyz = rng.integers(-1, 2, 3) * 0.25 if simple else rng.normal(size=3)
        rpy = rng.integers(-2, 3, 3) * math.pi / 2 if simple else rng.uniform(-3, 3, 3)
        parts.append(
            f"<joint name='j{k}' type='{rng.choice(kinds, p=[0.4, 0.1, 0.25, 0.25])}'>"
            f"<parent link='l{rng.integers(max(0, k - 3), k)}'/><child link='l{k}'/>"
            f"<origin xyz='{numbers(xyz)}' rpy='{numbers(bend(rng, rpy))}'/>"
            f"<axis xyz='{numbers(axis)}'/>"
            "<limit lower='-3' upper='3' effort='1' velocity='1'/></joint>"
        )
    return "\n".join([*parts, "</robot>"])


@pytest.mark.parametrize("seed", range(50))
def test_random_trees_vs_pinocchio(seed):
    text = random_tree(seed)
    for fixed in ("merge", "keep"):
        assert difference_from_pinocchio(text, samples=5, fixed=fixed) < 2e-12


@pytest.mark.parametrize("tilt", [1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_almost_parallel_axes_lose_no_digits(tilt):
    """Their common normal is 1/tilt away; a massless frame across them avoids it."""
    robot = robot_of(tilted(tilt))
    assert [link.name for link in robot.links] == ["upper", "fore_across", "fore", "tool"]
    assert max(abs(float(x)) for joint in robot.joints for x in six(joint)) < 10
    assert difference_from_pinocchio(tilted(tilt)) < 1e-13 + 1e-11 * (tilt < 2e-6)


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_of_almost_parallel_axes_vs_pinocchio(seed):
    text = random_tree(
        seed, bend=lambda rng, rpy: rng.normal(size=3) * 10.0 ** rng.integers(-10, -3)
    )
    assert difference_from_pinocchio(text, samples=5) < 1e-8  # 1e-11 rad is nothing to the reader


def tilted(tilt: float) -> str:
    text = tree(
        ["base", "upper", "fore", "tool"], ("base", "upper"), ("upper", "fore"), ("fore", "tool")
    )
    place = f'<origin xyz="0 1 0.3" rpy="{tilt!r} 0 0"/>'
    return text.replace('<child link="fore"/>', '<child link="fore"/>' + place).replace(
        '<child link="tool"/>', '<child link="tool"/><origin xyz="1 0 0" rpy="1 0 0"/>'
    )


@pytest.mark.parametrize("seed", range(20))
def test_one_successor_needs_four_parameters(seed):
    robot = robot_of(random_tree(seed))
    for i, joint in enumerate(robot.joints, 1):
        children = [child for child in robot.joints if child.antecedent == i]
        if children and joint.sigma != 2:
            assert any(child.gamma == 0 and child.b == 0 for child in children)


def test_fixed_frame_kept_is_the_urdf_frame():
    robot = robot_of(ARM, fixed="keep")
    assert [joint.sigma for joint in robot.joints] == [0, 1, 2]
    expected = rotation(2, 0.0)
    expected[:3, 3] = 0.1, 0.5, 1.6
    near(poses(robot, [0.0, 0.0])[3], expected, absolute=1e-15)


ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><inertial><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="upper"/>
  <link name="fore"/>
  <link name="tool">
    <visual><geometry><mesh filename="/etc/passwd"/></geometry></visual>
    <collision><geometry><mesh filename="../../../x.stl"/></geometry></collision></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 1"/><axis xyz="0 3 0"/>
    <limit lower="-1" upper="inf" velocity="2.5" effort="1e9"/>
    <dynamics damping="0.3" friction="0.04"/></joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/><child link="fore"/><origin xyz="0 0.5 0.6" rpy="0 0 0"/></joint>
  <joint name="wrist" type="fixed">
    <parent link="fore"/><child link="tool"/><origin xyz="0.1 0 0"/></joint>
</robot>
"""


def test_names_limits_friction_gravity_and_base():
    robot = robot_of(ARM)
    shoulder = robot.joints[0]
    assert robot.name == "arm"
    assert robot.source == "robot.urdf"
    assert [link.name for link in robot.links] == ["upper", "fore"]
    assert (exact("0.3"), exact("0.04")) == (shoulder.FV, shoulder.FS)
    assert (shoulder.limits.lower, shoulder.limits.upper) == (-1, None)
    assert (shoulder.limits.velocity, shoulder.limits.effort) == (exact("2.5"), None)
    assert robot.joints[1].limits.lower is None
    assert robot.gravity == (0, 0, exact("-9.81"))
    assert (robot.base.link.name, robot.base.link.M, robot.base.link.XX) == ("base", 2, 1)


def test_missing_axis_is_x_and_prismatic_axis_goes_through_what_comes_before():
    elbow = robot_of(ARM).joints[1]
    assert elbow.sigma == 1
    assert [x for x in six(elbow) if x != 0] == [exact(0, 1) / 2 * sign for sign in signs(elbow)]


def signs(joint):
    return [1 if float(x) > 0 else -1 for x in six(joint) if x != 0]


def test_snap_takes_a_short_right_angle_for_one():
    text = ARM.replace('xyz="0 0 1"', 'xyz="0 0 1" rpy="1.5708 0 0"')
    assert "pi" not in str(robot_of(text).joints[0].alpha)
    assert robot_of(text, snap=1e-4).joints[0].alpha in (0, exact(0, 1))


def test_depth_first_in_the_order_of_the_file():
    text = tree("abcde", ("a", "b"), ("a", "c"), ("b", "d"), ("c", "e"))
    assert [link.name for link in robot_of(text).links] == ["b", "d", "c", "e"]


def test_floating_joint_under_the_root_makes_the_base_floating():
    text = tree(["world", "body", "leg"], ("world", "body"), ("body", "leg"))
    text = text.replace('"revolute"', '"floating"', 1)
    robot = robot_of(text)
    assert (robot.base.kind, robot.base.link.name) == ("floating", "body")
    assert [link.name for link in robot.links] == ["leg"]


def tree(links, *joints) -> str:
    body = "\n".join(f'<link name="{name}"/>' for name in links)
    for parent, child in joints:
        body += (
            f'\n<joint name="{parent}_{child}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{child}"/><axis xyz="0 0 1"/>'
            '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        )
    return f'<robot name="r">\n{body}\n</robot>\n'


def test_code_names_the_joints_of_the_file():
    robot = cardan.load("scara")
    named = dataclasses.replace(robot, joints=tuple(
        dataclasses.replace(joint, name=name)
        for joint, name in zip(robot.joints, ("pan", "elbow", "lift", "*/ roll"), strict=True)
    ))  # fmt: skip
    code = cardan.model(named, "gravity").emit("c")
    assert "joints: q1 pan, q2 elbow, q3 lift, q4 * / roll" in code
    assert "joints:" not in cardan.model(robot, "gravity").emit("c")
