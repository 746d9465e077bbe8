"""Tables of a robot."""

from dataclasses import replace

import pytest

from cardan.describe.bundled import robots, snake
from cardan.describe.files import load
from cardan.describe.show import as_html, as_latex, as_text, tables
from cardan.describe.toml.read import from_dict


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
