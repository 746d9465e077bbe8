"""Loops in URDF files, in the dialects that are read, against Pinocchio's model of the same file
with a constraint put where the file says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.loops.mechanisms import states

import cardan
from cardan.describe.robot import Robot
from cardan.describe.urdf.read import read_urdf

BODY = """<link name="{0}"><inertial><origin xyz="{1}" rpy="0.1 0.2 0.3"/><mass value="{2}"/>
  <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>"""
JOINT = """<joint name="{0}" type="continuous"{4}><parent link="{1}"/><child link="{2}"/>
  <origin xyz="{3}" rpy="0 0 0"/><axis xyz="0 1 0"/></joint>"""
PASSIVE = ' independent="false"'


def urdf(loop: str, *, drives: bool = True) -> str:
    """A four-bar in the xz plane: crank 0.3 up, coupler 0.5 along x, rocker 0.35 up from x = 0.5;
    a fixed tip on the coupler."""
    passive = PASSIVE if drives else ""
    parts = [
        '<robot name="four-bar" xmlns:drake="http://drake.mit.edu">', '<link name="base"/>',
        BODY.format("crank", "0 0 0.15", 1.2), BODY.format("coupler", "0.25 0 0", 0.8),
        BODY.format("rocker", "0 0.01 0.2", 1.5), '<link name="tip"/>',
        JOINT.format("a", "base", "crank", "0 0 0", ""),
        JOINT.format("b", "crank", "coupler", "0 0 0.3", passive),
        JOINT.format("c", "base", "rocker", "0.5 0 0", passive),
        '<joint name="end" type="fixed"><parent link="coupler"/><child link="tip"/>'
        '<origin xyz="0.45 0 0.02" rpy="0 0.3 0"/></joint>',
        loop, "</robot>",
    ]  # fmt: skip
    return "\n".join(parts)


PAIR = """<loop_joint name="k" type="{}"><link1 link="tip" xyz="0.01 0 0" rpy="0 0 0"/>
  <link2 link="rocker" xyz="0.02 0 0.35" rpy="0 0 0"/><axis xyz="0 1 0"/></loop_joint>"""
PLUS = """<loop name="k" type="{}"><predecessor link="tip"><origin xyz="0.01 0 0"/></predecessor>
  <successor link="rocker"><origin xyz="0.02 0 0.35"/></successor><axis xyz="0 1 0"/></loop>"""
BESIDE = """<loop name="k" type="{}"><predecessor link="tip"/><successor link="rocker"/>
  <predecessor_origin xyz="0.01 0 0"/><successor_origin xyz="0.02 0 0.35"/>
  <axis xyz="0 1 0"/></loop>"""
DRAKE = """<drake:ball_constraint><drake:ball_constraint_body_A name="tip"/>
  <drake:ball_constraint_p_AP value="0.01 0 0"/><drake:ball_constraint_body_B name="rocker"/>
  <drake:ball_constraint_p_BQ value="0.02 0 0.35"/></drake:ball_constraint>"""
GAZEBO = """<gazebo><joint name="k" type="{}"><parent>rocker</parent><child>tip</child>
  <pose>0.01 0 0 0 0 0</pose><axis><xyz>0 1 0</xyz></axis></joint></gazebo>"""
FORMS = {
    "loop_joint": PAIR.format("revolute"), "loop_joint ball": PAIR.format("spherical"),
    "URDF+": PLUS.format("revolute"), "URDF+ beside": BESIDE.format("continuous"), "Drake": DRAKE,
    "Gazebo": GAZEBO.format("revolute"), "Gazebo ball": GAZEBO.format("ball"),
}  # fmt: skip


def read(text: str) -> tuple[Robot | None, list[Any]]:
    return read_urdf(text.encode(), "x.urdf")


@pytest.mark.parametrize("form", FORMS)
def test_against_pinocchio(form: str) -> None:
    pin: Any = pytest.importorskip("pinocchio")
    from bench.pinocchio_loops import solved

    text = urdf(FORMS[form])
    robot, faults = read(text)
    assert robot is not None, faults
    assert not faults
    assert [joint.active for joint in robot.joints] == [True, False, False]
    model = pin.buildModelFromXML(text)
    tip, rocker = (model.frames[model.getFrameId(name)] for name in ("tip", "rocker"))
    first = tip.placement * pin.SE3(np.eye(3), np.array([0.01, 0, 0]))
    second = pin.SE3(np.eye(3), np.array([0.02, 0, 0.35]))
    if "Gazebo" in form:  # the rocker's end is where the tip stands at zero
        data = model.createData()
        pin.forwardKinematics(model, data, np.tile([1.0, 0.0], 3))
        world = data.oMi[tip.parentJoint] * first
        second = data.oMi[rocker.parentJoint].inverse() * world
    constraint = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, tip.parentJoint, first, rocker.parentJoint, second,
        pin.ReferenceFrame.LOCAL,
    )  # fmt: skip
    _, x = states(robot, 5)
    tau = np.array([[1.0], [-2.0], [0.5], [0.0], [3.0]])
    found = cardan.model(robot, "direct-dynamics").evaluate(q=x["q"], qd=x["qd"], tau=tau)
    G = cardan.model(robot, "loop-kinematics", details=True).evaluate(q=x["q"], qd=x["qd"]).G
    order = [model.joints[model.getJointId(joint.name)].idx_v for joint in robot.joints]
    for k in range(5):
        q = np.zeros(6)
        v, push = np.zeros(3), np.zeros(3)
        for j, place in enumerate(order):
            q[2 * place : 2 * place + 2] = np.cos(x["q"][k, j]), np.sin(x["q"][k, j])
        v[order], push[order[0]] = G[k] @ x["qd"][k], tau[k, 0]
        qdd = solved(model, [constraint], q, v, push)[order]
        assert abs(qdd[0] - found[k, 0]) < 1e-8 * (abs(found[k, 0]) + 1)


def test_transmissions_say_what_is_driven() -> None:
    motor = '<transmission name="t"><joint name="c"/></transmission>'
    robot, faults = read(urdf(FORMS["loop_joint"] + motor, drives=False))
    assert robot is not None, faults
    assert [joint.active for joint in robot.joints] == [False, False, True]
    control = (
        '<ros2_control name="r"><joint name="b"><command_interface name="effort"/></joint>'
        '<joint name="c"><state_interface name="position"/></joint></ros2_control>'
    )
    robot, _ = read(urdf(FORMS["loop_joint"] + control, drives=False))
    assert robot is not None
    assert [joint.active for joint in robot.joints] == [False, True, False]


def test_undriven_files_are_warned_about() -> None:
    robot, faults = read(urdf(FORMS["loop_joint"], drives=False))
    assert robot is not None
    assert any("which joints are driven" in str(fault) for fault in faults)
    assert any("move together with others are passive" in str(fault) for fault in faults)
    assert [joint.active for joint in robot.joints] == [True, False, False]
    assert cardan.model(robot, "inverse-dynamics", effort="plain").outputs == {"tau": (1,)}


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        (PAIR.format("hinge"), "has the type 'hinge'"),
        (PAIR.format("revolute").replace('type="revolute"', ""), "has no type"),
        (PAIR.format("revolute").replace('link="rocker"', 'link="x"'), "goes through 'x'"),
        (PAIR.format("revolute").replace('<link2 link="rocker"', "<link2"), "no <link2"),
        (PAIR.format("revolute").replace("0 1 0", "0 0 0"), "length 0"),
        (PAIR.format("revolute").replace("0.02 0 0.35", "0.02 0"), "2 numbers"),
        (PLUS.format("revolute").replace('name="k"', ""), "no name"),
        (DRAKE.replace("p_BQ", "p_XX"), "needs body_B"),
        (GAZEBO.format("revolute").replace("<parent>rocker</parent>", ""), "needs <parent>"),
        (GAZEBO.format("revolute").replace("0.01 0 0 0 0 0", "0.01 0"), "2 numbers"),
        (PAIR.format("revolute") * 2, "defined twice"),
    ],
)  # fmt: skip
def test_faults_are_said(loop: str, words: str) -> None:
    robot, faults = read(urdf(loop))
    assert robot is None
    assert any(words in str(fault) for fault in faults), faults


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        ('<coupling name="g"/>', "<coupling> looks like"),
        ("<drake:linear_bushing_rpy/>", "<linear_bushing_rpy> looks like"),
        ("<loop_constraint/>", "<loop_constraint> looks like"),
    ],
)
def test_what_is_left_out_is_named(loop: str, words: str) -> None:
    robot, faults = read(urdf(loop))
    assert robot is not None
    assert any(words in str(fault) for fault in faults), faults


def test_frames_named_as_ends_of_a_loop() -> None:
    extra = (
        '<link name="closing_k_1"/><link name="closing_k_2"/>'
        '<joint name="f1" type="fixed"><parent link="tip"/><child link="closing_k_1"/></joint>'
        '<joint name="f2" type="fixed"><parent link="rocker"/><child link="closing_k_2"/></joint>'
    )
    robot, faults = read(urdf(extra))
    assert robot is not None
    assert any("stays open" in str(fault) for fault in faults)
