"""Our own format: fields, units, faults with lines; writing then reading changes nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from cardan.describe.bundled import robots
from cardan.describe.files import load
from cardan.describe.robot import Base, Limits, Link
from cardan.describe.toml.read import from_dict, read_toml
from cardan.describe.toml.write import write_toml
from cardan.describe.values.expression import symbol
from cardan.describe.values.parser import parse
from cardan.errors import DescriptionError

ARM = """cardan = 1
name = "arm"
gravity = [0, 0, "-9.81 m/s^2"]

[[link]]
name = "shoulder"
theta = "90 deg"
mass = "2 kg"
com = ["100 mm", 0, 0]
inertia_com = [0, 0, 0, 0.01, 0, 0.01]
limits = { lower = "-180 deg", upper = "pi", effort = 0.1 }

[[link]]
name = "slider"
joint = "prismatic"
antecedent = "shoulder"
alpha = "pi/2"
d = 0.1
r = "L2"
variable = "s"
stiffness = 1000
rest = "1 mm"

[[loop]]
cut = { antecedent = "slider", d = 0.3, variable = "c" }
twin = { antecedent = 0, gamma = "pi/3" }
"""


def read(text):
    return read_toml(text.encode(), "arm.toml")


def test_every_field():
    robot, found = read(ARM)
    assert not found
    shoulder, slider = robot.joints
    assert shoulder.theta == parse("pi/2")
    assert shoulder.limits == Limits(parse("-pi"), parse("pi"), None, parse("1/10"))
    assert robot.links[0] == Link(
        "shoulder", YY=parse("0.03"), ZZ=parse("0.03"), MX=parse("0.2"), M=2
    )
    assert (slider.sigma, slider.antecedent, slider.d) == (1, 1, parse("1/10"))
    assert (slider.r, slider.variable) == (symbol("L2"), "s")
    assert (slider.elastic, slider.stiffness, slider.rest) == (True, 1000, parse("1/1000"))
    loop = robot.loops[0]
    assert (loop.cut.antecedent, loop.cut.variable, loop.cut.active) == (2, "c", False)
    assert (loop.twin.sigma, loop.twin.gamma, loop.twin.antecedent) == (2, parse("pi/3"), 0)
    assert read(write_toml(robot)) == (robot, [])


def test_steiner_is_exact_and_symbolic():
    link = {"mass": "m", "com": ["x", "y", "z"], "inertia_com": ["A", "B", "C", "D", "E", "F"]}
    body = from_dict({"link": [link]}).links[0]
    assert parse("A + (m*y^2 + m*z^2)") == body.XX
    assert parse("B - m*x*y") == body.XY
    assert parse("m*z") == body.MZ
    assert symbol("m") == body.M


def test_defaults():
    robot = from_dict({"link": [{}, {}]})
    assert robot.gravity == (0, 0, parse("-9.81"))
    assert [joint.antecedent for joint in robot.joints] == [0, 1]
    assert [link.name for link in robot.links] == ["link1", "link2"]
    assert robot.variables == ("q1", "q2")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("cardan = 1", "cardan = 2", 1, "this Cardan reads 1"),
        ("cardan = 1", "", 1, "start the file with cardan = 1"),
        ('name = "arm"', 'nane = "arm"', 2, "did you mean name?"),
        ('theta = "90 deg"', 'thta = "90 deg"', 7, "did you mean theta?"),
        ('theta = "90 deg"', 'theta = "90 mm"', 7, "wrong unit"),
        ('theta = "90 deg"', 'theta = "90 +"', 7, "found the end"),
        ('theta = "90 deg"', "theta = nan", 7, "theta"),
        ('theta = "90 deg"', "theta = inf", 7, "theta"),
        ('theta = "90 deg"', "theta = true", 7, "not a value"),
        ('theta = "90 deg"', "theta = ", 7, "not TOML"),
        ('mass = "2 kg"', "mass = -2", 8, "negative"),
        ('mass = "2 kg"', "M = 2", 9, "not both"),
        ('com = ["100 mm", 0, 0]', "com = [0, 0]", 9, "list of 3 values"),
        ("0.01, 0, 0.01]", "0.01, 0, 9]", 10, "no body has this inertia"),
        ('joint = "prismatic"', 'joint = "ball"', 15, "revolute, prismatic, fixed"),
        ('joint = "prismatic"', 'joint = "fixed"', 20, "has no variable"),
        ('antecedent = "shoulder"', 'antecedent = "sholder"', 16, "did you mean 'shoulder'?"),
        ('antecedent = "shoulder"', "antecedent = 2", 16, "closes a cycle"),
        ('antecedent = "shoulder"', "antecedent = 1.5", 16, "number or the name"),
        ('variable = "s"', 'variable = "q1"', 20, "is also that of shoulder"),
        ('variable = "s"', 'variable = "L2"', 20, "also a parameter"),
        ('variable = "s"', 'variable = "pi"', 20, "cannot be a joint variable"),
        ("stiffness = 1000\n", "", 21, "give its stiffness"),
        ("twin = {", "twine = {", 26, "did you mean twin?"),
        ("antecedent = 0, ", "", 26, "is missing in the loop"),
    ],
)
def test_faults_have_their_line(old, new, line, words):
    text = ARM.replace(old, new, 1)
    assert text != ARM
    found = [str(fault) for fault in read(text)[1]]
    assert any(f.startswith(f"arm.toml:{line}:") and words in f for f in found), found


def test_all_faults_at_once():
    text = (
        ARM.replace("90 deg", "90 +")
        .replace("ball", "x")
        .replace("pi/2", "pi*")
        .replace('"1 mm"', '"1 kg"')
    )
    assert len(read(text)[1]) == 3


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\xfa", b"cardan = 1\nlink = 3", b"a = " + b"[" * 5000, b"a." * 9000 + b"a=1"]
)
def test_hostile_files_are_faults(data):
    robot, found = read_toml(data, "x.toml")
    assert robot is None
    assert found


def test_from_dict_raises_every_fault():
    with pytest.raises(DescriptionError) as caught:
        from_dict({"link": [{"d": "1 +"}, {"alpha": None}]})
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize("name", robots())
def test_bundled_robots_write_back(name):
    robot = load(name)
    assert read(write_toml(robot))[0] == robot


def test_base_and_odd_names_write_back():
    base = Base(
        "floating",
        Z=tuple(
            parse(t)
            for t in [
                "0",
                "-1",
                "0",
                "a",
                "1",
                "0",
                "0",
                "b",
                "0",
                "0",
                "1",
                "1/3",
                "0",
                "0",
                "0",
                "1",
            ]
        ),
        W0=(symbol("wx"), 0, 0),
        link=Link("trunk", M=symbol("M0"), FX=1),
        drive=(symbol("IA0"), 0, 0),
    )
    robot = replace(from_dict({"link": [{"symbols": ["v", "w", 0]}]}), base=base)
    robot = replace(robot, name='q"uo\\te é 🤖', notes="two\nlines\x7f\t", source="#")
    assert read(write_toml(robot)) == (robot, [])


def test_the_documented_example_is_valid():
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
    example = page.split("```toml\n")[1].split("```")[0]
    robot, found = read(example)
    assert not found
    assert [link.name for link in robot.links] == ["shoulder", "arm", "slider"]
    assert robot.joints[2].antecedent == 2
