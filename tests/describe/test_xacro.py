"""Xacro: expanded by a reader of our own, equal to the URDF that it stands for; hostile files end
in a fault. `xacro` of ROS is the oracle where it is installed."""

import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.describe.files import read, read_bytes
from cardan.describe.xacro.expand import expanded
from cardan.describe.xacro.packages import Packages
from cardan.describe.xml.source import Source, parsed
from cardan.errors import DescriptionError

HEAD = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
MAIN = f"""<robot name="arm" {HEAD}>
  <xacro:arg name="size" default="small"/>
  <xacro:include filename="$(find arm_description)/urdf/parts.xacro" ns="parts"/>
  <xacro:property name="sizes" value="${{xacro.load_yaml('$(find arm_description)/sizes.yaml')}}"/>
  <xacro:property name="length" value="${{sizes['$(arg size)']['length']}}"/>
  <xacro:property name="tilt" value="${{sizes.small.tilt}}"/>
  <xacro:property name="mass" value="${{2*length}}"/>
  <link name="base"/>
  <xacro:parts.segment i="1" parent="base"><origin xyz="0 0 ${{length/2}}"/></xacro:parts.segment>
  <xacro:parts.segment i="2" parent="link1" mass="3.5"><origin/></xacro:parts.segment>
  <xacro:if value="${{length > 0.4 and '$(arg size)' != 'small'}}">
    <xacro:call macro="parts.segment" i="3" parent="link2"><origin/></xacro:call>
  </xacro:if>
  <xacro:unless value="1"><link name="never"/></xacro:unless>
</robot>"""
PARTS = f"""<robot {HEAD}>
  <xacro:property name="heavy" value="${{mass if mass > 0.5 else 0.5}}" />
  <xacro:macro name="segment" params="i parent mass:=^|1 *origin">
    <link name="link${{i}}"><inertial><xacro:insert_block name="origin"/>
      <mass value="${{mass}}"/>
      <inertia ixx="${{mass*length**2/12}}" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial></link>
    <joint name="joint${{i}}" type="revolute"><parent link="${{parent}}"/><child link="link${{i}}"/>
      <origin xyz="0 0 ${{length}}" rpy="${{tilt}} ${{pi/2 if i == 2 else 0}} 0"/>
      <axis xyz="0 1 0"/><limit lower="${{-radians(90)}}" upper="1" effort="9" velocity="9"/>
    </joint>
  </xacro:macro>
</robot>"""
YAML = "small: {length: 0.25, tilt: !degrees 30}\nlarge: {length: 0.5}\n"


@pytest.fixture
def package(tmp_path):
    pytest.importorskip("yaml")
    folder = tmp_path / "somewhere"
    (folder / "urdf").mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name>arm_description</name></package>")
    (folder / "sizes.yaml").write_text(YAML)
    (folder / "urdf" / "parts.xacro").write_text(PARTS)
    (folder / "urdf" / "arm.urdf.xacro").write_text(MAIN)
    return folder


def test_macros_includes_and_tables(package):
    path = package / "urdf" / "arm.urdf.xacro"
    small, large = cardan.load(path), cardan.load(path, arguments={"size": "large"})
    assert [joint.name for joint in small.joints] == ["joint1", "joint2"]
    assert [float(link.M) for link in small.links] == [0.5, 3.5]
    assert [float(link.M) for link in large.links] == [1.0, 3.5, 1.0]
    assert float(small.joints[0].limits.lower) == pytest.approx(-1.5707963267948966, abs=1e-15)
    assert [frame.name for frame in small.frames] == ["link1", "link2"]


def test_as_the_program_of_ros(package):
    xacro = pytest.importorskip("xacro")
    path = package / "urdf" / "arm.urdf.xacro"
    path.write_text(MAIN.replace("$(find arm_description)", str(package)))
    theirs = xacro.process_file(str(path), mappings={"size": "large"}).toxml().encode()
    expected = read_bytes(theirs, "arm.urdf")[0]
    ours = cardan.load(path, arguments={"size": "large"})
    assert ours.joints == expected.joints
    assert ours.links == expected.links


def test_faults_name_the_file_they_are_in(package):
    parts = package / "urdf" / "parts.xacro"
    parts.write_text(PARTS.replace('<mass value="${mass}"/>', '<mass value="heavy"/>'))
    robot, faults = read(package / "urdf" / "arm.urdf.xacro")
    assert robot is None
    assert (faults[0].file, faults[0].line) == ("parts.xacro", 5)
    parts.write_text(PARTS.replace("length**2", "width**2"))
    _, faults = read(package / "urdf" / "arm.urdf.xacro")
    assert "'width' is not defined" in faults[0].message
    assert "in macro parts.segment" in faults[0].message


def test_only_packages_of_the_file_are_opened(package, tmp_path):
    (tmp_path / "secret.xacro").write_text(f'<robot {HEAD}><link name="base"/></robot>')
    path = package / "urdf" / "arm.urdf.xacro"
    path.write_text(
        f'<robot name="r" {HEAD}><xacro:include filename="../../secret.xacro"/></robot>'
    )
    with pytest.raises(DescriptionError, match="--trust-includes"):
        cardan.load(path)
    with pytest.raises(DescriptionError, match="no link that moves"):
        cardan.load(path, trust_includes=True)
    path.write_text(f'<robot name="r" {HEAD}><xacro:include filename="$(find none)/x"/></robot>')
    with pytest.raises(DescriptionError, match="package 'none'"):
        cardan.load(path)


HOSTILE = {
    "more than 40000 elements": "".join(
        f'<xacro:macro name="a{i}"><xacro:a{i + 1}/><xacro:a{i + 1}/></xacro:macro>'
        for i in range(30)
    )
    + '<xacro:macro name="a30"/><xacro:a0/>',
    "beyond what is read": "".join(
        f'<xacro:property name="p{i}" value="${{p{i + 1}}}${{p{i + 1}}}"/>' for i in range(25)
    )
    + '<xacro:property name="p25" value="abcdefghij"/><link name="${p0}"/>',
    "defined by each other": '<xacro:property name="a" value="${b}"/>'
    '<xacro:property name="b" value="${a}"/><link name="${a}"/>',
    "a macro calls itself": '<xacro:macro name="a"><xacro:a/></xacro:macro><xacro:a/>',
    "math range error": '<link name="${9**9**9**9}"/>',
    "'\\*' is for numbers": "<link name=\"${'a'*999999999}\"/>",
    "'__import__' is not defined": "<link name=\"${__import__('os').system('true')}\"/>",
    "no items": '<link name="${().__class__.__bases__[0]}"/>',
    "is not read": '<link name="$(env HOME)"/>',
    "too many operations": f'<link name="${{{"+".join(["1"] * 2400)}}}"/>',
    "at most 60 levels": f'<link name="${{{"-" * 2000}1}}"/>',
    "is needed": '<xacro:include filename="/etc/passwd"/>',
    "no macro 'none'": "<xacro:none/>",
    "needs a value of 'x'": '<xacro:macro name="a" params="x"/><xacro:a/>',
    "no parameter 'y'": '<xacro:macro name="a"/><xacro:a y="1"/>',
    "no block 'b'": '<xacro:insert_block name="b"/>',
    "neither true nor false": '<xacro:if value="perhaps"/>',
    "is no name of an element": '<xacro:element xacro:name="a b"/>',
}


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_files_end_in_a_fault(words):
    text = f'<robot name="r" {HEAD}>{HOSTILE[words]}</robot>'
    robot, faults = read_bytes(text.encode(), "x.xacro")
    assert robot is None
    with pytest.raises(DescriptionError, match=words):
        raise DescriptionError(faults)


EXPRESSIONS = {
    "1/2 + 2**3 - 7//2 % 2": "7.5", "'a' + 'b' if 1 < 2 < 3 else 'c'": "ab",
    "not (1 == 2 or 'x' in 'yz')": "True", "max(1, abs(-3))*len([1, 2])": "6",
    "math.degrees(pi)": "180.0", "'A-b'.lower().split('-')[1]": "b", "dict(a=1, b=2)['b']": "2",
    "-2**2": "-4", "(1, 2)[1]": "2", "int(3.7) + float('1.5')": "4.5", "3 not in [1, 2]": "True",
}  # fmt: skip


def test_expressions_are_pythons():
    """Of each the text that Python prints of the same expression, as xacro puts it."""
    body = "".join(f'<link name="${{{text}}}"/>' for text in EXPRESSIONS).replace("<3", "&lt;3")
    body = body.replace(" < ", " &lt; ")
    source = Source("x")
    root = parsed(textwrap.dedent(f'<robot name="r" {HEAD}>{body}</robot>'), source)
    links = expanded(root, source, Packages(Path("x")), {})
    assert [link.get("name") for link in links] == list(EXPRESSIONS.values())


def test_convert_by_the_command_line(package):
    path, target = str(package / "urdf" / "arm.urdf.xacro"), package / "arm.toml"
    answer = CliRunner().invoke(app, ["convert", path, str(target), "--arg", "size:=large"])
    assert answer.exit_code == 0, answer.output
    assert cardan.load(target).n == 3


def test_a_part_names_what_to_open_instead(tmp_path):
    macro = '<xacro:macro name="arm" params="x"><link name="${x}"/></xacro:macro>'
    robot = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
    (tmp_path / "arm_macro.xacro").write_text(robot.format(macro))
    with pytest.raises(DescriptionError, match="macro 'arm' for others; open the file of a whole"):
        cardan.load(tmp_path / "arm_macro.xacro")
    include = '<xacro:include filename="$(find p)/arm_macro.xacro"/><xacro:arm x="a"/>'
    (tmp_path / "robot.xacro").write_text(robot.format(include))
    (tmp_path / "other.xacro").write_text(robot.format('<link name="my_arm_macro.xacro"/>'))
    with pytest.raises(DescriptionError, match=r"open 'robot\.xacro', which includes it"):
        cardan.load(tmp_path / "arm_macro.xacro")
