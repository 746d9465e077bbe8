"""Closed loops of MJCF as people write them: actuators on tendons, springs, ball joints on rods."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from tests.describe.mujoco_peer import tied_difference

import cardan
from cardan.describe.mjcf.read import read_mjcf

mujoco = pytest.importorskip("mujoco")

PUBLIC = Path(__file__).resolve().parents[3] / "shared/robots/mjcf"
FINGER = """<body name="{s}crank" pos="{x} 0 0"><joint name="{s}crank" axis="0 1 0" damping=".02"/>
<geom type="capsule" size=".005" fromto="0 0 0 {x} 0 .05"/><body name="{s}tip" pos="{x} 0 .05">
<joint name="{s}tip" axis="0 1 0" stiffness=".3" springref="20" damping=".01"/><geom type="capsule"
size=".004" fromto="0 0 0 0 0 .06"/></body></body><body name="{s}bar" pos="{y} 0 .01"><joint
name="{s}bar" axis="0 1 0"/><geom type="capsule" size=".004" fromto="0 0 0 {z} 0 .07"/><body
name="{s}pad" pos="{z} 0 .07"><joint name="{s}pad" axis="0 1 0"/><geom type="box"
size=".01 .01 .02"/></body></body>"""
GRIPPER = f"""<mujoco model="gripper"><worldbody>
{FINGER.format(s="l", x=0.03, y=0.07, z=0.02)}{FINGER.format(s="r", x=-0.03, y=-0.07, z=-0.02)}
</worldbody><tendon><fixed name="split"><joint joint="lcrank" coef=".5"/><joint joint="rcrank"
coef="-.5"/></fixed></tendon><equality><connect body1="ltip" body2="lpad" anchor="0 0 .03"/>
<connect body1="rtip" body2="rpad" anchor="0 0 .03"/><joint joint1="lcrank" joint2="rcrank"
polycoef="0 -1 0 0 0"/></equality><actuator><motor tendon="split"/></actuator></mujoco>"""
RODS = """<mujoco><worldbody><body name="base"><freejoint/><geom type="box" size=".2 .1 .05"
pos=".05 0 0"/><body name="motor" pos=".1 0 0"><joint name="motor" axis="0 1 0" armature=".01"/>
<geom size=".03" pos=".05 0 .1"/><body name="rod" pos=".1 0 0"><joint name="ball" type="ball"/>
<geom type="capsule" size=".01" fromto="0 0 0 .2 .05 .3"/></body></body><body name="rocker"
pos=".3 .1 .1"><joint name="rocker" axis="0 1 .2"/><geom size=".04" pos="0 -.05 .2"/>
</body></body></worldbody><equality><connect body1="rod" body2="rocker" anchor=".2 .05 .3"/>
</equality><actuator><motor joint="motor"/></actuator></mujoco>"""


def test_a_tendon_drives_and_springs_are_elastic_joints():
    robot, faults = read_mjcf(GRIPPER.encode(), "gripper.xml")
    assert robot is not None, faults
    assert not [fault for fault in faults if "spring" in fault.message]
    joints = {joint.name: joint for joint in robot.joints}
    assert [name for name, joint in joints.items() if joint.active] == ["lcrank", "ltip", "rtip"]
    assert (joints["ltip"].elastic, joints["ltip"].stiffness) == (True, 0.3)
    assert joints["rcrank"].mimic is not None
    assert tied_difference(robot, mujoco.MjModel.from_xml_string(GRIPPER)) <= 1e-9


@pytest.mark.parametrize(
    ("motors", "active"),
    [("abc", "ad"), ("ba", "ad"), ("b", "bd"), ("dc", "cd"), ("", "ad"), ("abcd", "ad")],
)
def test_motors_that_loops_turn_together(motors, active):
    """A four-bar a, b, c with a finger d on it, which no loop holds."""
    text = """<mujoco><worldbody><body name="A"><joint name="a" axis="0 1 0"/><geom type="capsule"
    fromto="0 0 0 0 0 .3" size=".02"/><body name="B" pos="0 0 .3"><joint name="b" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .5 0 .1" size=".02"/><body name="D" pos=".2 0 0"><joint
    name="d" axis="1 0 0"/><geom size=".05" pos="0 0 .1"/></body></body></body><body name="C"
    pos=".5 0 0"><joint name="c" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .4"
    size=".02"/></body></worldbody><equality><connect body1="B" body2="C" anchor=".5 0 .1"/>
    </equality><actuator>{}</actuator></mujoco>"""
    text = text.format("".join(f'<motor joint="{name}"/>' for name in motors))
    robot, faults = read_mjcf(text.encode(), "x.xml")
    assert robot is not None, faults
    assert "".join(sorted(joint.name for joint in robot.joints if joint.active)) == active
    led = set(motors) - set(active)
    said = [str(fault) for fault in faults if "move together with others" in str(fault)]
    assert bool(said) == bool(led)
    assert all(f" {name}" in said[0] for name in led)
    assert tied_difference(robot, mujoco.MjModel.from_xml_string(text)) <= 1e-9


@pytest.mark.parametrize(
    ("motors", "active"), [("a", "abp"), ("ad", "adp"), ("abd", "abp"), ("", "abp"), ("e", "aep")]
)
def test_freedoms_that_no_motor_drives(motors, active):
    """A five-bar a, b, d, e, drawn stretched out, and a pendulum p beside it."""
    text = """<mujoco><option gravity="0 -9.81 0"/><worldbody><body><joint name="a"/>
    <geom size=".1"/><body pos=".25 0 0"><joint name="b"/><site name="s" pos=".5 0 0"/>
    <geom size=".1"/></body></body><body pos=".5 0 0"><joint name="d"/><geom size=".1"/><body
    pos="0 .25 0"><joint name="e"/><site name="t" pos="0 .25 0"/><geom size=".1"/></body></body>
    <body pos="1 1 0"><joint name="p"/><geom size=".1" pos=".1 0 0"/></body></worldbody>
    <equality><connect site1="s" site2="t"/></equality><actuator>{}</actuator></mujoco>"""
    text = text.format("".join(f'<motor joint="{name}"/>' for name in motors))
    robot, faults = read_mjcf(text.encode(), "x.xml")
    assert robot is not None, faults
    assert "".join(sorted(joint.name for joint in robot.joints if joint.active)) == active
    said = [str(fault) for fault in faults if "nothing drives" in str(fault)]
    loose = set(active) - set(motors) - {"p"}
    assert bool(said) == bool(loose)
    assert all(f" {name}" in said[0] for name in loose)
    assert tied_difference(robot, mujoco.MjModel.from_xml_string(text)) <= 1e-9


def test_what_the_simulator_moves_is_no_mechanism():
    hand = '<body name="hand" mocap="true"/></worldbody>'
    weld = '<equality><weld name="drag" body1="hand" body2="rpad"/>'
    text = GRIPPER.replace("</worldbody>", hand).replace("<equality>", weld)
    robot, faults = read_mjcf(text.encode(), "gripper.xml")
    assert robot is not None
    assert len(robot.loops) == 2
    assert any("mocap bodies" in str(fault) and "drag" in str(fault) for fault in faults)


def test_a_rod_between_balls_on_a_floating_base():
    robot, faults = read_mjcf(RODS.encode(), "rods.xml")
    assert robot is not None, faults
    assert tied_difference(robot, mujoco.MjModel.from_xml_string(RODS)) <= 1e-9


@pytest.mark.parametrize(
    ("path", "motors"),
    [
        ("agility_cassie/cassie.xml", 10),
        ("robotiq_2f85/2f85.xml", 1),
        ("ufactory_xarm7/hand.xml", 1),
        ("iit_softfoot/softfoot.xml", 0),
    ],
)
def test_public_files(path, motors):
    if not (PUBLIC / path).exists():
        pytest.skip("the public robot files are not here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = cardan.load(PUBLIC / path)
    assert sum(joint.active and not joint.elastic for joint in robot.joints) == motors
    try:
        model = mujoco.MjModel.from_xml_path(str(PUBLIC / path))
    except ValueError as error:
        pytest.skip(f"MuJoCo: {error}")
    assert tied_difference(robot, model, states=1) <= 1e-8
