"""SDFormat: poses relative to anything, nested and included models, axes in any frame, against the
figures of Drake 1.51 (CalcInverseDynamics, CalcMassMatrix); hostile files end in a fault."""

from dataclasses import replace

import numpy as np
import pytest

import cardan
from cardan.describe.files import read, read_bytes
from cardan.errors import CardanWarning, DescriptionError

HARD = """<sdf version="1.9"><model name="hard" canonical_link="b">
<pose>0.1 0.2 0.3 0.3 -0.2 0.5</pose>
<link name="base"><pose>0.1 0 0.2 0.1 0.2 0.3</pose><inertial>
<pose>0.01 0.02 0.03 0.1 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy>
<izz>0.15</izz><ixy>0.01</ixy></inertia></inertial></link>
<joint name="weld" type="fixed"><parent>world</parent><child>base</child></joint>
<frame name="f1" attached_to="base"><pose>0.3 0.1 0 0 0.4 0</pose></frame>
<frame name="f2" attached_to="f1"><pose relative_to="__model__">0.5 0.1 0 0 0.4 0.2</pose>
</frame>
<link name="b"><pose relative_to="f2">0.1 0.1 0.1 0.5 0.1 0</pose><inertial>
<pose>0.1 0 0 0.3 0.2 0.1</pose><mass>1.5</mass><inertia><ixx>0.05</ixx><iyy>0.06</iyy>
<izz>0.07</izz><ixz>0.002</ixz></inertia></inertial></link>
<joint name="j1" type="revolute"><pose relative_to="f1">0.05 0.02 0 0.2 0 0.1</pose>
<parent>base</parent><child>b</child><axis><xyz expressed_in="f2">0 1 1</xyz><limit>
<lower>-2</lower><upper>1e16</upper><effort>10</effort></limit><dynamics><damping>0.3</damping>
<friction>0.2</friction></dynamics></axis></joint>
<model name="arm" placement_frame="mount"><pose relative_to="b">0.2 0 0.1 0 0 0.7</pose>
 <link name="l"><pose>0 0.1 0 0.3 0 0</pose><inertial><mass>0.7</mass><inertia><ixx>0.01</ixx>
<iyy>0.02</iyy><izz>0.02</izz></inertia></inertial></link>
 <frame name="mount" attached_to="l"><pose>0.1 0.05 0 0 0 0.2</pose></frame>
 <link name="m"><pose relative_to="j">0 0 0.1 0 0 0</pose></link>
 <joint name="j" type="prismatic"><pose relative_to="l">0 0 0.2 0.1 0.2 0.3</pose>
<parent>l</parent><child>m</child><axis><xyz expressed_in="__model__">1 0 1</xyz></axis></joint>
</model>
<joint name="j2" type="continuous"><parent>b</parent><child>arm::l</child><axis><xyz>0 0 1</xyz>
</axis></joint>
<include><uri>model://part</uri><name>tool</name>
<pose relative_to="arm::m">0 0 0.1 0 0.3 0</pose></include>
<joint name="j3" type="revolute"><parent>arm::mount</parent><child>tool::a</child><axis>
<xyz>1 0 0</xyz></axis></joint>
<frame name="tcp" attached_to="tool::a"><pose>0 0 0.1 0 0 0</pose></frame>
</model></sdf>"""
PART = """<sdf version="1.5"><model name="part">
<link name="a"><pose>0 0.1 0 0 0 0.5</pose><inertial>
<mass>0.4</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>
</link><link name="c"><pose>0 0.1 0.1 0.4 0 0.5</pose></link>
<joint name="k" type="revolute"><pose>0 0.02 0 0 0 0</pose><parent>a</parent><child>c</child>
<axis><xyz>0 1 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis></joint></model>
</sdf>"""
OLD = """<sdf version="1.4"><model name="old"><pose>0 0 1 0.2 0 0.4</pose>
<link name="a"><pose>0.1 0 0.2 0.1 0.2 0.3</pose><inertial><mass>2</mass><inertia><ixx>0.1</ixx>
<iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
<link name="b"><pose>0.4 0 0.2 0.5 0.2 0.3</pose><inertial><pose>0.1 0 0 0 0 0</pose>
<mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
<joint name="j0" type="revolute"><parent>world</parent><child>a</child><axis><xyz>1 0 0</xyz>
</axis></joint>
<joint name="j1" type="revolute"><parent>a</parent><child>b</child><pose>0.1 0 0 0 0 1</pose>
<axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"""
ARM = """<sdf version="1.7"><model name="arm"><link name="a"/><link name="b"/>
<joint name="j" type="revolute"><parent>a</parent><child>b</child></joint></model></sdf>"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "model.sdf").write_text(PART)
    (tmp_path / "hard.sdf").write_text(HARD)
    return tmp_path


def bare(robot):
    joints = (replace(joint, FV=0, FS=0, spring=0) for joint in robot.joints)
    return replace(robot, joints=tuple(joints))


def test_nested_included_and_leaning_poses(folder):
    robot = cardan.load(folder / "hard.sdf")
    assert [joint.name for joint in robot.joints] == ["j1", "j2", "arm::j", "j3", "tool::k"]
    assert {"f1", "f2", "tcp", "arm::mount", "tool::a"} <= {frame.name for frame in robot.frames}
    k = np.arange(1, 6)
    q, qd, qdd = 0.1 * k, 0.2 * k - 0.5, 0.4 - 0.1 * k
    program = cardan.model(bare(robot), "inverse-dynamics", effort="plain")
    tau = [-10.660988730550589, 2.352247736740757, 7.576965616385008, -0.5376016138149117]
    tau = [*tau, 0.13101266908549716]
    np.testing.assert_allclose(program.evaluate(q=q, qd=qd, qdd=qdd), tau, rtol=1e-12)
    A = cardan.model(robot, "inertia-matrix", effort="plain").evaluate(q=q)
    weights = [3.6781364970778796, 2.1020498486371406, 1.0, 1.0193599589646933, 1.0001386558743213]
    np.testing.assert_allclose(np.diag(A), weights, rtol=1e-12)
    T = cardan.model(robot, "transform", frame="tool::c").evaluate(q=q)
    place = [0.9671388663062327, 0.6327504740450782, 0.8830174135054419]
    np.testing.assert_allclose(T[:3, 3], place, rtol=1e-12)
    joint = robot.joints[0]
    assert (float(joint.FV), float(joint.FS), joint.limits.upper) == (0.3, 0.2, None)


def test_axes_of_old_files_are_those_of_the_model(folder):
    """Up to version 1.4; what the same axes are when they are written in the model's frame."""
    new = OLD.replace('"1.4"', '"1.7"').replace("<xyz>", '<xyz expressed_in="__model__">')
    old, other = (read_bytes(text.encode(), "x.sdf")[0] for text in (OLD, new))
    assert old.joints == other.joints
    own = read_bytes(OLD.replace('"1.4"', '"1.7"').encode(), "x.sdf")[0]
    assert own.joints != old.joints


def test_a_rotor_beside_friction_and_a_spring():
    """Drake's rotor, which becomes a transmission."""
    rotor = '<drake:rotor_inertia xmlns:drake="d">0.1</drake:rotor_inertia><axis><dynamics>'
    dynamics = "damping>0.2</damping><friction>0.3</friction><spring_stiffness>4</spring_stiffness"
    dynamics = f"<{dynamics}><spring_reference>0.5</spring_reference></dynamics></axis>"
    text = ARM.replace("</child>", f"</child>{rotor}{dynamics}")
    joint = read_bytes(text.encode(), "x.sdf")[0].joints[0]
    values = [float(getattr(joint, key)) for key in ("IA", "FV", "FS", "spring", "neutral")]
    assert values == [0.1, 0.2, 0.3, 4, 0.5]


def test_a_model_without_the_world_says_so(tmp_path):
    (tmp_path / "arm.sdf").write_text(ARM)
    with pytest.warns(CardanWarning, match="taken as fixed"):
        robot = cardan.load(tmp_path / "arm.sdf")
    assert float(robot.links[0].M) == 1  # the format's own default
    world = f'<sdf version="1.7"><world name="w"><gravity>1 0 -9</gravity>{ARM[19:-6]}'
    world += '<model name="box"><link name="x"/></model></world></sdf>'
    (tmp_path / "w.world").write_text(world)
    with pytest.warns(CardanWarning, match="models beside the robot"):
        robot = cardan.load(tmp_path / "w.world")
    assert [float(x) for x in robot.gravity] == [1, 0, -9]
    two = world.replace("</world>", ARM[19:-6].replace('"arm"', '"second"') + "</world>")
    (tmp_path / "w.world").write_text(two)
    with pytest.raises(DescriptionError, match="--body arm"):
        cardan.load(tmp_path / "w.world")
    with pytest.warns(CardanWarning):
        assert cardan.load(tmp_path / "w.world", body="second").name == "second"


def test_a_second_parent_closes_a_loop():
    """A four-bar, as Gazebo closes it."""
    bar = "<link name='{}'><pose>{} 0 {} 0 0 0</pose></link>"
    joint = "<joint name='{}' type='revolute'><parent>{}</parent><child>{}</child>{}<axis>"
    joint += "<xyz>0 1 0</xyz><limit><effort>{}</effort></limit></axis></joint>"
    text = "<sdf version='1.7'><model name='fourbar'>"
    text += bar.format("a", 0, 0) + bar.format("b", 0, 1) + bar.format("c", 1, 0)
    text += joint.format("ja", "world", "a", "", 1) + joint.format("jb", "a", "b", "", 0)
    text += joint.format("jc", "world", "c", "", 0)
    text += joint.format("cut", "c", "b", "<pose>1 0 0 0 0 0</pose>", 0) + "</model></sdf>"
    robot, faults = read_bytes(text.encode(), "x.sdf")
    assert not [fault for fault in faults if fault.severity == "error"]
    assert [loop.name for loop in robot.loops] == ["cut"]
    assert [joint.active for joint in robot.joints] == [True, False, False]
    solved = cardan.model(robot, "loop-geometry").solve([0.3], guess=[0.3, -0.3, 0.3])
    np.testing.assert_allclose(np.ravel(solved)[:3], [0.3, -0.3, 0.3], atol=1e-9)


LINK = '<link name="{}">{}</link>'
HOSTILE = {
    "relative to each other": '<link name="a"><pose relative_to="b"/></link><link name="b">'
    '<pose relative_to="a">1 0 0 0 0 0</pose></link><joint name="j" type="revolute">'
    "<parent>a</parent><child>b</child></joint>",
    "there is none": '<link name="a"><pose relative_to="none">1 0 0 0 0 0</pose></link>',
    "already defined": '<link name="a"/><link name="a"/>',
    "no link of the model": '<link name="a"/><joint name="j" type="revolute"><parent>a</parent>'
    "<child>x</child></joint>",
    "'gearbox', which is not supported": '<link name="a"/><joint name="j" type="gearbox">'
    "<parent>world</parent><child>a</child></joint>",
    "has length 0": '<link name="a"/><joint name="j" type="revolute"><parent>world</parent>'
    "<child>a</child><axis><xyz>0 0 0</xyz></axis></joint>",
    "not a finite number": '<link name="a"><inertial><mass>nan</mass></inertial></link>',
    "is negative": '<link name="a"><inertial><mass>-1</mass></inertial></link>',
    "asks for the masses of shapes": '<link name="a"><inertial auto="true"/></link>',
    "is needed": "<include><uri>model://x</uri></include>",
    "https:// is not read": "<include><uri>https://x.y/z</uri></include>",
}


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_files_end_in_a_fault(words):
    text = f'<sdf version="1.9"><model name="m">{HOSTILE[words]}</model></sdf>'
    robot, faults = read_bytes(text.encode(), "x.sdf")
    assert robot is None
    with pytest.raises(DescriptionError, match=words):
        raise DescriptionError(faults)


def test_includes_stay_around_the_file(folder):
    deep = '<sdf version="1.9"><model name="m"><include><uri>deep</uri></include></model></sdf>'
    (folder / "deep").mkdir()
    (folder / "deep" / "model.sdf").write_text(deep.replace(">deep<", ">model://deep<"))
    (folder / "x.sdf").write_text(deep)
    _, faults = read(folder / "x.sdf")
    assert "includes itself" in str(faults[0])
    (folder / "x.sdf").write_text(deep.replace(">deep<", ">../../x.sdf<"))
    _, faults = read(folder / "x.sdf")
    assert "--trust-includes" in str(faults[0])


def test_a_screw_is_a_hinge_that_leads_a_slide():
    text = """<sdf version="1.9"><model name="m"><link name="a"/><link name="b"><inertial><mass>2
    </mass></inertial></link><joint name="w" type="fixed"><parent>world</parent><child>a</child>
    </joint><joint name="s" type="screw"><parent>a</parent><child>b</child><PITCH/><axis>
    <xyz>0 0 1</xyz><dynamics><damping>0.3</damping></dynamics></axis></joint></model></sdf>"""
    pitch = "<screw_thread_pitch>0.5</screw_thread_pitch>"
    robot, faults = read_bytes(text.replace("<PITCH/>", pitch).encode(), "x.sdf")
    assert not faults
    assert [joint.name for joint in robot.joints] == ["s", "s_2"]
    assert [joint.FV for joint in robot.joints] == [0.3, 0]
    ratio = 0.5 / (2 * np.pi)
    assert float(robot.couplings[2].ratio) == pytest.approx(ratio, rel=1e-14)
    # turned by 2 qdd rad/s2, lifted against gravity: J qdd + k (m (k qdd + g)), friction beside
    tau = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(
        q=[0.4, 0.4 * ratio], qd=[1.0], qdd=[2.0]
    )
    wanted = 2.0 + ratio * 2 * (ratio * 2 + 9.81) + 0.3
    np.testing.assert_allclose(tau, [wanted], rtol=1e-13)
    old = read_bytes(text.replace("<PITCH/>", "<thread_pitch>-4</thread_pitch>").encode(), "x.sdf")
    assert float(old[0].couplings[2].ratio) == 0.25
