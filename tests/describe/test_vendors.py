"""Files as vendors write them: XML that other libraries read past, remains of expansions, joints
that simulators alone have, limits that are none, bodies without a joint."""

from __future__ import annotations

import numpy as np
import pytest
from tests.describe.mechanics import same_mechanics

import cardan
from cardan.describe.files import read_bytes
from cardan.describe.robot import Robot

MASS = "<mass>2</mass><inertia><ixx>.1</ixx><iyy>.2</iyy><izz>.15</izz><ixy>.01</ixy></inertia>"
BODY = """<link name="{}"><inertial><origin xyz=".1 .2 0"/><mass value="2"/><inertia ixx=".1"
ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial></link>"""
ARM = f"""<robot name="arm">{BODY.format("a")}{BODY.format("b")}{BODY.format("c")}
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<origin xyz="1 0 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint>
</robot>"""


def loaded(text: str | bytes, file: str, *said: str, **options: str) -> Robot:
    """The robot, with just these things said of it."""
    data = text if isinstance(text, bytes) else text.encode()
    robot, faults = read_bytes(data, file, **options)
    assert robot is not None, faults
    assert len(faults) == len(said), faults
    for words, fault in zip(said, faults, strict=True):
        assert fault.severity == "warning"
        assert words in str(fault)
    return robot


LOOSE = {
    "a prefix that nothing declares": ARM.replace(
        "</robot>", '<gazebo><sensor:camera sensor:rate="3"/></gazebo></robot>'
    ),
    "a default namespace": ARM.replace("<robot", '<robot xmlns="http://drake.mit.edu"'),
    "dashes in a comment": ARM.replace("<joint", "<!-- a -- b --><joint", 1),
    "a declaration below a comment": f"<!-- by hand -->\n<?xml version='1.0'?>\n{ARM}",
    "a declaration below the first line": f"\n\n<?xml version='1.0' encoding='utf-8'?>{ARM}",
    "a mark and lines of Windows": "\ufeff" + ARM.replace("\n", "\r\n"),
    "the end of character data in text": ARM.replace("</robot>", "]]></robot>"),
    "an infinite limit": ARM.replace('effort="5"', 'effort="1e400" damping="0"').replace(
        ' damping="0"', ""
    ),
}


@pytest.mark.parametrize("kind", LOOSE)
def test_xml_that_others_read_past(kind):
    robot = loaded(LOOSE[kind], "arm.urdf")
    assert [joint.name for joint in robot.joints] == ["j", "k"]
    assert same_mechanics(robot, loaded(ARM, "arm.urdf"), [0.3, 0.4], [0.3, 0.4]) == 0


def test_an_encoding_that_is_declared_below_a_comment():
    text = "<!-- é --><?xml version='1.0' encoding='latin-1'?>" + ARM.replace('"arm"', '"bras é"')
    assert loaded(text.encode("latin-1"), "arm.urdf").name == "bras é"


def test_what_follows_the_root_is_left_out():
    assert loaded(f"{ARM}\n<robot/>", "arm.urdf", "what follows </robot> is left out").n == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ARM.replace("</joint>", "", 1), "malformed XML"),
        (ARM.replace('name="j"', 'name="j" name="i"'), "redefined"),
        (ARM.replace('"arm">', '"arm"><xacro:property name="x"/>'), "xmlns:xacro"),
        (f"\n\n\n{ARM.replace('<origin', '<<origin', 1)}", "arm.urdf:4: malformed XML"),
    ],
)
def test_xml_that_nobody_reads(text, words):
    robot, faults = read_bytes(text.encode(), "arm.urdf")
    assert robot is None
    assert words in str(faults[0])


def test_calls_of_macros_that_an_expansion_left():
    text = ARM.replace(
        '<robot name="arm">',
        '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:sensors at="a"/>',
    )
    assert loaded(text, "arm.urdf", "<sensors> is not known").n == 2
    robot, faults = read_bytes(text.encode(), "arm.xacro")
    assert robot is None
    assert "no macro 'sensors'" in str(faults[0])


def test_joints_and_links_of_gazebo_alone():
    screw = '<gazebo><joint name="s" type="screw"><parent>b</parent><child>a</child></joint>'
    lever = '<link name="lever"/><joint name="t" type="revolute"><parent>lever</parent>'
    text = ARM.replace("</robot>", f"{screw}{lever}<child>b</child></joint></gazebo></robot>")
    robot = loaded(text, "arm.urdf", "'s' in <gazebo> is or ties", "'t' in <gazebo> is or ties")
    assert not robot.loops


def test_a_body_without_a_joint_that_moves_flies():
    text = f'<robot name="drone">{BODY.format("hull")}<link name="rotor"/>'
    text += (
        '<joint name="r" type="fixed"><parent link="hull"/><child link="rotor"/></joint></robot>'
    )
    robot = loaded(text, "drone.urdf", "one rigid body that flies freely")
    A = cardan.model(robot, "inertia-matrix").evaluate(q=[])
    assert A.shape == (6, 6)
    assert np.allclose(np.diag(A)[:3], 2)
    for still in (text.replace("hull", "world"), text.replace("<inertial>", "<!--").replace(
            "</inertial>", "-->")):  # fmt: skip
        robot, faults = read_bytes(still.encode(), "drone.urdf")
        assert "no link that moves" in str(faults[-1])


def test_an_inertial_without_a_mass_weighs_nothing():
    text = ARM.replace('<mass value="2"/>', "", 2).replace('<mass value="2"/>', '<mass value="3"/>')
    robot = loaded(text, "arm.urdf", "link a: <inertial> has no <mass>", "link b: <inertial> has")
    assert [one.M for one in robot.links] == [0, 3]


def test_the_world_and_the_frames_of_drake():
    drake = '<drake:collision_filter_group name="g"><drake:member link="b"/>'
    text = ARM.replace('parent link="a"', 'parent link="world"').replace(BODY.format("a"), "")
    text = text.replace("<robot", '<robot xmlns:drake="http://drake.mit.edu"')
    more = '<frame name="tip" link="c" xyz="0 0 .2" rpy="0 0 .5"/>'
    more += f"{drake}</drake:collision_filter_group>"
    robot = loaded(text.replace("</robot>", f"{more}</robot>"), "arm.urdf")
    assert robot.base.link.name == "world"
    assert robot.n == 2
    tip = {item.name: item for item in robot.frames}["tip"]
    assert (tip.link, tip.kind) == (2, "fixed link")


# SDFormat


def sdf(content: str, version: str = "1.9") -> str:
    return f'<sdf version="{version}"><model name="m">{content}</model></sdf>'


def link(name: str, pose: str = "0 0 0 0 0 0") -> str:
    return f'<link name="{name}"><pose>{pose}</pose><inertial>{MASS}</inertial></link>'


def joint(name: str, parent: str, child: str, more: str = "", kind: str = "revolute") -> str:
    axis = f"<axis><xyz>0 .6 .8</xyz>{more}</axis>"
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{kind}"><pose>0 0 .1 .2 0 0</pose>{ends}{axis}</joint>'


TWO = link("a") + link("b", "1 0 0 0 .3 0") + joint("w", "world", "a") + joint("j", "a", "b")


@pytest.mark.parametrize("lower", ["-1e16", "-1.79769e+308", "-inf", "-1.7976900000000001e+308"])
def test_limits_that_are_none(lower):
    limits = f"<limit><lower>{lower}</lower><upper>1</upper><effort>-1</effort></limit>"
    robot = loaded(sdf(link("a") + joint("j", "world", "a", limits)), "x.sdf")
    assert (robot.joints[0].limits.lower, robot.joints[0].limits.upper) == (None, 1)
    assert robot.joints[0].limits.effort is None


def test_a_rest_without_a_spring():
    rest = "<dynamics><spring_reference>1.57</spring_reference></dynamics>"
    assert loaded(sdf(link("a") + joint("j", "world", "a", rest)), "x.sdf").joints[0].neutral == 0


def test_joints_with_the_names_of_links():
    robot = loaded(sdf(TWO.replace('"j"', '"b"'), "1.5"), "x.sdf")
    assert same_mechanics(robot, loaded(sdf(TWO, "1.5"), "x.sdf"), [0.3, 1], [0.3, 1], False) == 0
    assert [one.name for one in robot.joints] == ["w", "b"]


def test_a_tree_that_is_written_from_its_leaves():
    """a -> b <- c with the world at c: what hangs on b is turned round."""
    parts = link("a", "0 0 1 .3 0 0") + link("b", "1 0 0 0 .3 0") + link("c", "2 1 0 0 0 .4")
    leaf = sdf(parts + joint("j", "a", "b") + joint("k", "c", "b") + joint("w", "world", "c"))
    robot = loaded(leaf, "x.sdf")
    assert [(one.name, robot.links[one.antecedent - 1].name if one.antecedent else "world")
            for one in robot.joints] == [("w", "world"), ("k", "c"), ("j", "b")]  # fmt: skip
    # the same joint, at the same place, written from the other end
    way = (
        joint("j", "b", "a").replace("<pose>", '<pose relative_to="b">').replace(".6 .8", "-.6 -.8")
    )
    other = loaded(sdf(parts + way + joint("k", "c", "b") + joint("w", "world", "c")), "x.sdf")
    assert same_mechanics(robot, other, [1, 0.5, 0.7], [1, 0.5, 0.7]) < 1e-14


def test_links_that_hang_on_nothing_are_fixed():
    text = sdf(link("a") + link("b") + joint("j", "a", "b") + link("c", "0 0 1 0 0 0"))
    robot = loaded(text, "x.sdf", "no joint ties to the world are taken as fixed (2: a, c)")
    assert robot.n == 1


def test_a_link_that_is_called_world():
    robot = loaded(sdf('<link name="world"/>' + TWO, "1.5"), "x.sdf")
    assert same_mechanics(robot, loaded(sdf(TWO, "1.5"), "x.sdf"), [0.3, 1], [0.3, 1]) == 0


def test_a_folder_names_its_newest_file(tmp_path):
    (tmp_path / "part").mkdir()
    config = "<model><sdf version='1.10'>new.sdf</sdf><sdf version='1.9'>old.sdf</sdf></model>"
    (tmp_path / "part/model.config").write_text(config)
    (tmp_path / "part/new.sdf").write_text(sdf(TWO))
    (tmp_path / "part/old.sdf").write_text(sdf(link("a")))
    main = tmp_path / "main.sdf"
    main.write_text('<sdf version="1.9"><world name="w"><include><uri>model://part</uri>'
                    "</include></world></sdf>")  # fmt: skip
    assert cardan.load(main).n == 2
    (tmp_path / "part/model.config").write_text(config.replace("new.sdf", "../../etc/new.sdf"))
    with pytest.raises(cardan.DescriptionError, match="neither in the folder nor in a package"):
        cardan.load(main)


def test_parts_keep_the_version_of_their_file(tmp_path):
    """The axis of a file up to version 1.4 is in its model's frame, whatever includes it."""
    (tmp_path / "part").mkdir()
    old = sdf(link("a", "0 0 0 .5 0 0") + joint("j", "world", "a"), "1.4")
    (tmp_path / "part/model.sdf").write_text(old)
    main = tmp_path / "main.sdf"
    main.write_text('<sdf version="1.9"><world name="w"><include><uri>model://part</uri>'
                    "</include></world></sdf>")  # fmt: skip
    robot = cardan.load(main)
    assert same_mechanics(robot, loaded(old, "x.sdf"), [0.4], [0.4]) == 0


def test_a_merged_model_is_part_of_the_one_around(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part/model.sdf").write_text(sdf(link("b") + link("c", "0 1 0 0 0 0") + joint(
        "k", "b", "c")))  # fmt: skip
    pose = "<pose>1 0 0 0 .3 0</pose>"
    include = f'<include merge="true"><uri>model://part</uri>{pose}</include>'
    more = joint("j", "a", "b") + joint("w", "world", "a")
    main = tmp_path / "main.sdf"
    main.write_text(sdf(link("a") + include + more))
    robot = cardan.load(main)
    assert [one.name for one in robot.joints] == ["w", "j", "k"]
    tilted = '<link name="c"><pose relative_to="b">0 1 0 0 0 0</pose>'
    alone = sdf(TWO + link("c").replace('<link name="c"><pose>0 0 0 0 0 0</pose>', tilted) + joint(
        "k", "b", "c"))  # fmt: skip
    assert same_mechanics(robot, loaded(alone, "x.sdf"), [1, 2, 3], [1, 2, 3]) < 1e-15


def test_universal_and_ball_joints_are_hinges():
    second = "<axis2><xyz>1 0 0</xyz></axis2></joint>"
    cross = joint("u", "world", "a", kind="universal").replace("</joint>", second)
    robot = loaded(sdf(link("a", "0 0 1 0 .2 0") + cross), "x.sdf")
    assert [one.name for one in robot.joints] == ["u_1", "u_2"]
    middle = '<link name="m"><pose>0 0 1 0 .2 0</pose><inertial><mass>0</mass></inertial></link>'
    hinges = joint("u_1", "world", "m") + joint("u_2", "m", "a").replace("0 .6 .8", "1 0 0")
    alone = loaded(sdf(middle.replace("<mass>0</mass>", "<mass>0</mass><inertia><ixx>0</ixx><iyy>0"
                       "</iyy><izz>0</izz></inertia>") + link("a", "0 0 1 0 .2 0") + hinges),
                   "x.sdf")  # fmt: skip
    assert same_mechanics(robot, alone, [0.3, 0.8], [0.3, 0.8], False) < 1e-15
    ball = '<joint name="s" type="ball"><parent>world</parent><child>a</child></joint>'
    assert [one.name for one in loaded(sdf(link("a") + ball), "x.sdf").joints] == [
        "s_1", "s_2", "s_3",
    ]  # fmt: skip
