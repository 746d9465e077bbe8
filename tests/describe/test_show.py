"""Tables of a robot."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cardan.app.cli.main import app
from cardan.describe.bundled import robots, snake
from cardan.describe.files import load
from cardan.describe.show import as_html, as_latex, as_text, tables
from cardan.describe.toml.read import from_dict
from cardan.errors import UnknownNameError


@pytest.mark.parametrize("name", robots())
def test_text_fits_the_page(name):
    text = as_text(load(name))
    assert max(len(line) for line in text.splitlines()) <= 100
    assert repr(load(name)) == text


def test_what_is_zero_everywhere_is_left_out():
    robot = from_dict({"name": "r", "link": [{"d": "L1"}, {"theta": "90 deg", "d": "L2"}]})
    geometry, joints, base = tables(robot)
    assert geometry.header == ("j", "link", "a(j)", "joint", "d", "theta")
    assert geometry.rows[1] == ("2", "link2", "1", "revolute", "L2", "q2 + (pi/2)")
    assert joints.header == ("j", "joint", "active")
    assert base.rows[1] == ("gravity", "0, 0, -9.81")


def test_loops_are_numbered_as_in_par_files():
    loops = next(table for table in tables(load("sr400")) if table.title.startswith("Loops"))
    assert [row[0] for row in loops.rows] == ["9", "10"]


def test_everything_is_escaped():
    robot = replace(snake(1), name='<b>&"_^\\%')
    assert "<b>&" not in as_html(robot).replace("<p><b>", "")
    assert "&lt;b&gt;&amp;" in as_html(robot)
    assert r"\textless{}b\textgreater{}\&\textquotedbl{}\_\textasciicircum{}" in as_latex(robot)
    assert robot._repr_html_() == as_html(robot)
    assert robot._repr_latex_() == as_latex(robot)


# the file has c before b, and the fixed joint a carries what comes first by name
BRANCHES = """<robot name="r"><link name="base"/>{}
<joint name="c" type="revolute"><parent link="base"/><child link="lc"/><axis xyz="0 1 0"/>
<origin rpy="0.2 0 0"/><limit effort="1" velocity="1"/></joint>
<joint name="b" type="continuous"><parent link="base"/><child link="lb"/></joint>
<joint name="a" type="fixed"><parent link="base"/><child link="la"/></joint>
<joint name="z" type="prismatic"><parent link="la"/><child link="lz"/>
<limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>""".format(
    "".join(f'<link name="l{x}"/>' for x in "abcz")
)


def test_joints_in_the_order_of_pinocchio(tmp_path):
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "branches.urdf"
    path.write_text(BRANCHES)
    theirs = list(pin.buildModelFromXML(BRANCHES).names)[1:]
    own, same = (load(path, order=order) for order in ("file", "pinocchio"))
    assert [joint.name for joint in own.joints] == ["c", "b", "z"]
    assert [joint.name for joint in same.joints] == theirs == ["z", "b", "c"]
    with pytest.raises(UnknownNameError, match="pinocchio"):
        load(path, order="name")
    shown = CliRunner().invoke(app, ["show", str(path), "--frames"]).output
    places = [line.split() for line in shown.splitlines() if line.startswith("q[")]
    assert [(row[0], row[2], row[-1]) for row in places] == [
        ("q[0]", "c", "2"), ("q[1]", "b", "1"), ("q[2]", "z", "0")
    ]  # fmt: skip
    assert "linear part first" in shown
