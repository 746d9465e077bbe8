"""URDF that is wrong or hostile: a fault that says what and where, never anything else."""

from __future__ import annotations

import sys
import textwrap
from itertools import pairwise

import pytest
from test_urdf import ARM, read, robot_of, tree

from cardan.describe.urdf.read import read_urdf
from cardan.errors import UnknownNameError


def changed(old: str, new: str) -> str:
    assert old in ARM
    return ARM.replace(old, new)


ERRORS = {
    "empty": ("", "empty"),
    "spaces": (" \n\t ", "empty"),
    "not xml": ("hello", "not XML"),
    "unclosed": ("<robot name='a'><link", "malformed XML"),
    "comment": ("<!-- <robot/>", "not closed"),
    "undefined entity": ("<robot name='&x;'/>", "malformed XML"),
    "root": ("<mujoco/>", "<robot>"),
    "no link": ("<robot name='a'/>", "no <link>"),
    "xacro": ("<robot xmlns:xacro='http://ros.org/wiki/xacro'><xacro:macro/></robot>", "xacro"),
    "unknown parent": (changed('parent link="fore"', 'parent link="four"'), "'four' is not in"),
    "unknown child": (changed('child link="tool"', 'child link="toll"'), "'toll' is not in"),
    "no child": (changed('<child link="tool"/>', ""), "no <child link"),
    "two parents": (
        tree("abc", ("a", "b"), ("a", "c"), ("b", "c")),
        "'b_c' is a second parent joint, after 'a_c'",
    ),
    "self": (tree("ab", ("a", "a")), "cycle"),
    "cycle": (tree("abc", ("a", "b"), ("b", "a")), "cycle"),
    "no root": (tree("ab", ("a", "b"), ("b", "a")), "cycle"),
    "two roots": (tree("abc", ("a", "b")), "2 root links ('a', 'c')"),
    "same link": (tree("aa"), "link 'a' is already defined on line 2"),
    "same joint": (changed('name="elbow"', 'name="shoulder"'), "joint 'shoulder' is already"),
    "no name": (changed('<link name="upper"/>', "<link/>"), "<link> has no name"),
    "bad name": (changed('name="elbow"', 'name="el&#10;bow"'), "printable"),
    "no type": (changed(' type="prismatic"', ""), "joint 'elbow' has no type"),
    "unknown type": (changed("prismatic", "screw"), "unknown type 'screw'"),
    "planar": (changed("prismatic", "planar"), "'elbow' is planar"),
    "floating": (changed("prismatic", "floating"), "'elbow' is floating"),
    "axis": (changed('"0 3 0"', '"0 0 0"'), "axis of joint 'shoulder' has length 0"),
    "axis of two": (changed('"0 3 0"', '"0 1"'), "has 2 numbers, not 3"),
    "nan": (changed('xyz="0 0 1"', 'xyz="0 nan 1"'), "'nan', not a finite number"),
    "inf": (changed('mass value="2"', 'mass value="inf"'), "'inf', not a finite number"),
    "huge": (changed('mass value="2"', 'mass value="1e300"'), "beyond"),
    "python number": (changed('mass value="2"', 'mass value="1_0"'), "not a finite number"),
    "formula": (changed('xyz="0 0 1"', 'xyz="0 0 ${l}"'), "not a finite number"),
    "negative mass": (changed('mass value="2"', 'mass value="-2"'), "negative"),
    "no inertia": (changed('izz="1"', ""), "<inertia> has no izz"),
    "effort": (changed('effort="1e9"', 'effort="nan"'), "effort of <limit>"),
    "damping": (changed('damping="0.3"', 'damping="a lot"'), "damping of <dynamics>"),
    "encoding": ("<?xml version='1.0' encoding='utf-7'?><robot/>", "utf-7"),
}


@pytest.mark.parametrize(("text", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_say_what_and_where(text, message):
    robot, faults = read(text)
    assert robot is None
    assert message in "\n".join(map(str, faults))
    assert all(fault.file == "robot.urdf" for fault in faults)


def test_faults_have_line_and_link_and_come_together():
    text = changed('mass value="2"', 'mass value="-2"').replace('"0 3 0"', '"0 0 0"')
    text = text.replace('parent link="fore"', 'parent link="four"')
    _, faults = read(text)
    assert [(fault.line, fault.link) for fault in faults] == [(3, "base"), (11, "upper"), (16, "")]


def mimicking(mimic: str) -> str:
    return changed('<parent link="upper"/>', f'<parent link="upper"/>{mimic}')


def test_mimic_is_a_warning_that_names_the_joint():
    """As Pinocchio reads it: unless asked for, a joint that mimics another has its own variable."""
    robot, faults = read(mimicking('<mimic joint="shoulder" multiplier="-2" offset="0.1"/>'))
    assert robot is not None
    assert robot.n == 2
    assert not robot.constrained
    assert [fault.severity for fault in faults] == ["warning", "warning"]
    assert "no link that moves has mass" in faults[1].message
    assert "'elbow' mimics 'shoulder'" in faults[0].message
    assert "mimic=True" in faults[0].message


def test_mimic_is_a_coupling_on_request():
    text = mimicking('<mimic joint="shoulder" multiplier="-2" offset="0.1"/>')
    robot, faults = read_urdf(text.encode(), "arm.urdf", mimic=True)
    assert robot is not None
    assert not faults
    assert robot.n == 2
    (j, coupling), *_ = robot.couplings.items()
    assert robot.joints[j - 1].name == "elbow"
    assert not robot.joints[j - 1].active
    assert robot.joints[coupling.joint - 1].name == "shoulder"
    assert (float(coupling.ratio), float(coupling.offset)) == (-2, 0.1)


@pytest.mark.parametrize(
    ("mimic", "words"),
    [
        ('<mimic joint="nothing"/>', "'elbow' mimics 'nothing', no joint of this file"),
        ('<mimic joint="elbow"/>', "'elbow' mimics 'elbow', itself"),
        ("<mimic/>", "'elbow' mimics ''"),
        ('<mimic joint="shoulder" multiplier="much"/>', "multiplier of <mimic>"),
    ],
)
def test_what_cannot_be_mimicked(mimic, words):
    robot, faults = read_urdf(mimicking(mimic).encode(), "arm.urdf", mimic=True)
    assert robot is None
    assert words in "\n".join(map(str, faults))


def test_unknown_option_is_refused():
    with pytest.raises(UnknownNameError, match="merge, keep"):
        read(ARM, fixed="weld")


BOMB = """<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><robot name="&c;"/>"""
HOSTILE = {
    "doctype": "<!DOCTYPE robot><robot name='a'><link name='b'/></robot>",
    "bomb": BOMB,
    "after a comment": "<?xml version='1.0'?>\n<!-- a --><?pi?>\n" + BOMB,
    "external": "<!DOCTYPE r [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><robot name='a'>&e;</robot>",
    "network": "<!DOCTYPE robot SYSTEM 'http://localhost:1/x.dtd'><robot name='a'/>",
    "parameter": "<!DOCTYPE r [<!ENTITY % e SYSTEM 'file:///etc/passwd'>%e;]><robot name='a'/>",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_doctype_and_entities_are_refused(text, encoding):
    robot, faults = read(text.encode(encoding))
    assert robot is None
    assert "DOCTYPE" in faults[0].message


def test_no_file_is_opened_for_meshes():
    opened = []
    watching = [True]

    def hook(event: str, args: tuple) -> None:
        if watching[0] and event.startswith(("open", "socket.", "subprocess.")):
            opened.append((event, args))

    robot_of(ARM)  # imports are done
    sys.addaudithook(hook)
    robot_of(ARM)
    watching[0] = False
    assert opened == []


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)),
        b"\x7fELF" + bytes(1000),
        b"\xff\xfe\x00",
        b"<" * 10_000,
        b"<a>" * 10_000,
        b"<robot name='a'>" + b"<link name='b'>" * 5_000,
        b"<!--" * 1_000,
        b"x" * 50_000_000,
    ],
    ids=["bytes", "elf", "utf-16", "angles", "deep", "deep links", "comments", "large"],
)
def test_garbage_ends_in_a_fault(data):
    robot, faults = read(data)
    assert robot is None
    assert faults
    assert len(str(faults[0])) < 300


def test_encodings():
    name = "Stäubli"
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        head = "" if encoding.startswith("utf") else f"<?xml version='1.0' encoding='{encoding}'?>"
        text = f"{head}<robot name='{name}'><link name='b'/></robot>"
        assert robot_of_bytes(text.encode(encoding)).name == name


def robot_of_bytes(data: bytes):
    robot, faults = read(data)
    assert robot is not None, faults
    return robot


def test_long_chain_needs_no_recursion():
    names = [f"l{k}" for k in range(2000)]
    robot = robot_of(tree(names, *pairwise(names)))
    assert robot.n == 1999


def test_line_numbers_survive_the_declaration():
    text = textwrap.dedent(
        """\
        <?xml version="1.0"
              encoding="utf-8"?>
        <robot name="a">
          <link name="b"/>
          <link name="b"/>
        </robot>
        """
    )
    _, faults = read(text)
    assert [fault.line for fault in faults if "already" in fault.message] == [5]


MASS = """<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>"""


@pytest.mark.parametrize(("type", "told"), [("continuous", True), ("fixed", False)])
def test_a_link_that_moves_without_mass_is_told_by_name(type, told):
    text = tree("abc", ("a", "b"), ("b", "c"))
    text = text.replace('<link name="b"/>', f'<link name="b">{MASS}</link>')
    text = text.replace('name="b_c" type="revolute"', f'name="b_c" type="{type}"')
    robot, faults = read(text)
    assert robot is not None
    assert [("no mass" in x.message, x.link) for x in faults] == [(True, "c")] * told
