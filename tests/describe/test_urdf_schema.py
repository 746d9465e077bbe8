"""Every element and attribute of URDF is read, harmless, or named in a warning."""

from __future__ import annotations

import math

import pytest

from cardan.describe.urdf.read import read_urdf
from cardan.describe.urdf.schema import meaning
from cardan.describe.values.expression import number
from cardan.errors import Fault

# the XML specification of URDF: elements with their attributes
SPECIFICATION = {
    "robot": "name version",
    "link": "name type",
    "link/inertial": "",
    "link/inertial/origin": "xyz rpy quat_xyzw",
    "link/inertial/mass": "value",
    "link/inertial/inertia": "ixx ixy ixz iyy iyz izz",
    "link/visual": "name",
    "link/visual/origin": "xyz rpy",
    "link/visual/geometry/mesh": "filename scale",
    "link/visual/material/color": "rgba",
    "link/collision": "name",
    "link/collision/verbose": "value",
    "joint": "name type",
    "joint/origin": "xyz rpy quat_xyzw",
    "joint/parent": "link",
    "joint/child": "link",
    "joint/axis": "xyz",
    "joint/limit": "lower upper effort velocity acceleration deceleration jerk",
    "joint/dynamics": "damping friction",
    "joint/mimic": "joint multiplier offset",
    "joint/calibration": "reference_position rising falling",
    "joint/safety_controller": "soft_lower_limit soft_upper_limit k_position k_velocity",
    "material": "name",
    "transmission": "name",
    "sensor": "name type update_rate",
    "gazebo": "reference",
}

ARM = """<robot name="arm" {robot}><link name="base"/><link name="a" {link}><inertial>
  <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{inside}
  </link><joint name="j" type="revolute" {joint}><origin {origin}/><parent link="base"/>
  <child link="a"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  <dynamics damping="0.1" {dynamics}/></joint>{more}</robot>"""
EMPTY = dict.fromkeys(("robot", "link", "inside", "joint", "origin", "dynamics", "more"), "")


def faults_of(**parts: str) -> list[Fault]:
    robot, faults = read_urdf(ARM.format(**{**EMPTY, **parts}).encode(), "arm.urdf")
    assert robot is not None, faults
    return faults


@pytest.mark.parametrize("path", SPECIFICATION)
def test_the_specification_is_accounted_for(path: str) -> None:
    assert meaning(path)
    for attribute in SPECIFICATION[path].split():
        assert meaning(path, attribute) or path.startswith(("link/visual/", "link/collision/"))


def test_what_is_known_is_not_said() -> None:
    shape = '<visual><geometry><box size="1 1 1"/></geometry><extra a="b"/></visual>'
    more = '<material name="m"/><gazebo reference="a"><mu1>2</mu1></gazebo><transmission name="t"/>'
    assert faults_of(robot='version="1.0"', inside=shape, more=more) == []


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"dynamics": 'spring_stiffness="3"'}, "'spring_stiffness' of <dynamics> is not known"),
        ({"link": 'mass="3"'}, "the attribute 'mass' of <link> is not known"),
        ({"inside": "<gravity/>"}, "<gravity> in <link> is not known to URDF"),
        ({"more": "<actuator name='x'/>"}, "<actuator> is not known to URDF, and"),
        (
            {"more": "<joint2:joint xmlns:joint2='d' name='x'/>"},
            "<joint> is not known to URDF",
        ),
        (
            {"more": "<gazebo><springStiffness>2</springStiffness></gazebo>"},
            "in <gazebo> a spring acts",
        ),
        (
            {"more": "<gazebo reference='a'><springStiffness>2</springStiffness></gazebo>"},
            "in <gazebo> a spring acts on 'a', no joint that moves",
        ),
        (
            {"more": "<mujoco><compiler settotalmass='3'/></mujoco>"},
            "<mujoco> changes masses (settotalmass)",
        ),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said_once(parts: dict[str, str], words: str) -> None:
    faults = faults_of(**parts)
    assert [words in str(fault) for fault in faults] == [True]
    assert faults[0].severity == "warning"


def test_many_are_one_line() -> None:
    faults = faults_of(more="".join(f"<thing name='t{k}'/>" for k in range(30)))
    assert len(faults) == 1
    assert "(30: t0, t1, t2, t3, t4, ...)" in str(faults[0])
    assert len(faults[0].details) == 30


def test_a_quaternion_stands_for_roll_pitch_and_yaw() -> None:
    roll = 0.7
    quaternion = f'quat_xyzw="{math.sin(roll / 2)!r} 0 0 {math.cos(roll / 2)!r}"'
    angles = []
    for origin in (f'rpy="{roll!r} 0 0"', quaternion):
        robot, faults = read_urdf(ARM.format(**{**EMPTY, "origin": origin}).encode(), "arm.urdf")
        assert robot is not None, faults
        angles.append(number(robot.joints[0].alpha))
    assert angles == pytest.approx([roll, roll])
    text = ARM.format(**{**EMPTY, "origin": 'quat_xyzw="0 0 0 0"'})
    robot, faults = read_urdf(text.encode(), "arm.urdf")
    assert robot is None
    assert "quat_xyzw has four numbers" in str(faults[0])


def test_springs_in_the_words_of_gazebo() -> None:
    spring = "<springStiffness>2.5</springStiffness><springReference>0.3</springReference>"
    more = f"<gazebo reference='j'>{spring}</gazebo>"
    robot, faults = read_urdf(ARM.format(**{**EMPTY, "more": more}).encode(), "arm.urdf")
    assert robot is not None
    assert not faults
    assert (float(robot.joints[0].spring), float(robot.joints[0].neutral)) == (2.5, 0.3)
    for text in ("x", "nan"):
        bad = ARM.format(**{**EMPTY, "more": more.replace("2.5", text)})
        _, faults = read_urdf(bad.encode(), "arm.urdf")
        assert f"<springStiffness> of 'j' is '{text}', not a finite number" in str(faults[0])
