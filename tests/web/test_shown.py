"""What the page shows is what is there: numbers, costs, values of symbols, units of angles."""

from __future__ import annotations

import asyncio
import base64
import math
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.app.web.jobs.work import derive
from cardan.app.web.panels.cells import Block, rows
from cardan.app.web.panels.form import Vector
from cardan.app.web.panels.help import link_of, of_link
from cardan.app.web.panels.models import Models, counted
from cardan.app.web.panels.table import _geometry, _limits
from cardan.app.web.scene.sliders import Sliders
from cardan.app.web.scene.tool import Tool, ellipsoid
from cardan.app.web.scene.view import seen
from cardan.app.web.server.angles import factors, names, unit
from cardan.app.web.server.quantities import quantity
from cardan.app.web.server.state import Page
from cardan.app.web.server.store import Store
from cardan.describe.files import dumps, read_bytes
from cardan.describe.robot import FIXED, INERTIA, PRISMATIC, REVOLUTE
from cardan.describe.values.expression import number
from cardan.errors import InputError
from cardan.loops.numeric import skeleton
from cardan.sheets.solids import drawable

NAME = "a" * 32


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(Store(tmp_path).project(NAME), None)  # type: ignore[arg-type]


def cell(blocks: Any, label: str) -> Any:
    return next(x for block in blocks for row in block.rows for x in row if x.label == label)


def test_a_small_number_shows_its_exponent(page: Page) -> None:
    page.change(cardan.load("puma560-numeric"))
    block = rows(page, INERTIA, "links")
    tiny = cell([block], f"XY of {page.robot.links[0].name}")
    assert tiny.take("2.7521384951733205e-17") == ""
    block = rows(page, INERTIA, "links")
    tiny = cell([block], tiny.label)
    assert tiny.shown()["brief"] == "2.7521e-17"
    assert float(tiny.value) == 2.7521384951733205e-17  # what is edited is exact
    assert tiny.take("1/7500000000") == ""
    tiny = cell([rows(page, INERTIA, "links")], tiny.label)
    assert tiny.shown()["brief"] == "1.3333e-10"
    page.change(cardan.load("prrrp"))
    theta = cell(_geometry(page), "theta of beam2")
    assert (theta.value, theta.brief) == ("-0.722734247813416 + pi", "q5-0.72273 + π")


def test_units_are_those_of_the_joints_there_are() -> None:
    heads = ("IA", "FV", "effort", "upper", "stiffness", "length, m")
    for sigmas, units in (
        ((REVOLUTE,), ["kg m²", "N m s", "N m", "rad", "N m/rad", "m"]),
        ((PRISMATIC,), ["kg", "N s/m", "N", "m", "N/m", "m"]),
        ((REVOLUTE, PRISMATIC, FIXED), ["kg m² or kg", "N m s or N s/m", "N m or N", "rad or m",
                                        "N m/rad or N/m", "m"]),
    ):  # fmt: skip
        shown = Block(heads, [], sigmas=frozenset(sigmas)).shown()["heads"]
        assert [head["unit"] for head in shown] == units


def test_a_result_is_compared_with_others_on_its_own_robot() -> None:
    """Not on the one that the page shows by now."""
    models = object.__new__(Models)
    models.page = SimpleNamespace(robot=cardan.load("rx90"))  # type: ignore[assignment]
    models.asked = {"robot": dumps(cardan.load("planar3r"), "toml"), "model": "inverse-dynamics",
                    "options": {}}  # fmt: skip
    assert models._others() == []
    models.asked["robot"] = dumps(cardan.load("rx90"), "toml")
    models.page.robot = cardan.load("planar3r")
    assert any(text.startswith("SYMORO+") for text in models._others())


@pytest.fixture(scope="module")
def derived() -> dict[str, Any]:
    question = {"robot": dumps(cardan.load("rx90"), "toml"), "model": "inverse-dynamics"}
    return derive(question, lambda text: None)


def test_the_cost_is_that_of_the_code_as_shown(derived: dict[str, Any]) -> None:
    cost, once = derived["cost"], derived["once"]
    assert once["trig"] or once["sqrt"]  # else this says nothing
    words = " ".join(counted(derived))
    both = {key: cost[key] + once[key] for key in cost}
    assert f"own, {both['mul'] + both['div']} multiplications, {both['add']} additions" in words
    for key, name in (("trig", "sin/cos"), ("sqrt", "square root")):
        assert not once[key] or f"{once[key]} {name}" in words


def test_what_must_not_be_zero_is_the_first_remark(derived: dict[str, Any]) -> None:
    program = cardan.model(cardan.load("rx90"), "inverse-dynamics")
    assert program.nonzero  # else this says nothing
    assert derived["remarks"][0].startswith("Must not be 0")
    assert all(name in derived["remarks"][0] for name in program.nonzero)


def test_values_belong_to_the_robot_they_were_given_for(page: Page, tmp_path: Path) -> None:
    page.set_values({"ZZ1": "0.1", "D3": "0.3"})
    page.open(cardan.load("planar1r"))
    assert "ZZ1" in page.robot.parameters
    assert page.known_values() == {}
    page.set_values({"ZZ1": "7"})
    page.undo()
    assert page.known_values() == {"ZZ1": "0.1", "D3": "0.3"}
    page.redo()
    assert page.known_values() == {"ZZ1": "7"}
    page.change(replace(page.robot, name="renamed"))
    assert page.known_values() == {"ZZ1": "7"}  # a change of the same robot
    again = Page(Store(tmp_path).project(NAME), None)  # type: ignore[arg-type]
    assert again.project.notice == ""
    assert again.known_values() == {"ZZ1": "7"}


def test_a_symbol_without_a_value_is_not_shown_with_one(page: Page) -> None:
    sliders = object.__new__(Sliders)
    sliders.page, sliders._props, told = page, {}, []
    sliders.tell = told.append
    sliders.build(1.0)
    shown = {item["name"]: item for item in sliders._props["symbols"]}
    assert shown["D3"] == {"name": "D3", "value": "", "example": "0.4"}
    sliders._set("D3", "0.5")
    assert page.known_values() == {"D3": "0.5"}
    sliders._set("D3", "half")
    assert page.known_values() == {"D3": "0.5"}
    assert "half" in told[-1]
    for text, value in (("1,5", "1.5"), ("100 mm", "0.1"), ("2π", "2*pi"), ("pi/2", "pi/2")):
        sliders._set("D3", text)
        assert page.known_values() == {"D3": value}
    for text in ("nan", "abc", "RL4", "90°", "1e999", "1,500"):  # no lengths, or not one number
        sliders._set("D3", text)
        assert page.known_values() == {"D3": "pi/2"}
        assert told[-1].startswith("D3: ")
        assert page.set_values({"D3": text}) == told[-1]
    sliders._set("D3", " ")
    assert page.known_values() == {}


def test_a_position_is_typed_as_a_cell_is(page: Page) -> None:
    """What cannot be read, and what is beyond a limit, is said."""
    page.open(cardan.load("ur5"))
    sliders, told = object.__new__(Sliders), []
    sliders.page, sliders._props = page, {"values": [], "torques": []}
    sliders.tell, sliders.grabbed = told.append, lambda: None
    sliders.build(1.0)
    for text, value in (("pi/2", math.pi / 2), ("30°", math.pi / 6), ("1,5 rad", 1.5)):
        sliders._typed(1, text)
        assert page.q[1] == pytest.approx(value)
        assert told[-1] == ""
    page.turn_degrees()
    for text, value in (("90", math.pi / 2), ("1 rad", 1), ("pi/2", math.pi / 2)):
        sliders._typed(1, text)
        assert page.q[1] == pytest.approx(value)
    for text in ("three", "1 m", "nan", "1,500"):
        sliders._typed(1, text)
        assert page.q[1] == pytest.approx(math.pi / 2)
        assert sliders._props["joints"][1]["name"] in told[-1]
    sliders._typed(1, "9999")
    assert page.q[1] == pytest.approx(float(cardan.load("ur5").joints[1].limits.upper))  # type: ignore[arg-type]
    assert "beyond its limit" in told[-1]


def test_a_pose_is_typed_as_a_cell_is(page: Page) -> None:
    page.open(cardan.load("ur5"))
    tool, told, wanted = object.__new__(Tool), [], []

    async def drop(pose: np.ndarray) -> None:
        wanted.append(pose)

    tool.page, tool.pose, tool.say = page, np.eye(4), told.append
    tool.hand = SimpleNamespace(drop=drop)  # type: ignore[assignment]
    asyncio.run(tool._typed(0, "100 mm"))
    asyncio.run(tool._typed(5, "90°"))
    assert wanted[0][0, 3] == pytest.approx(0.1)
    assert wanted[1][:2, 0] == pytest.approx([0, 1])
    for k, text in ((0, "1,500"), (1, "90 deg"), (2, "far"), (3, "1 m")):
        asyncio.run(tool._typed(k, text))
        assert told[-1].startswith(("x", "y", "z", "roll")[k] + ": ")
    assert len(wanted) == 2


def test_a_comma_before_three_digits_is_asked_about(page: Page) -> None:
    """It stands between thousands in English, before decimals elsewhere."""
    for text in ("1,500", "-12,345", "100,000 mm"):
        with pytest.raises(InputError, match="write"):
            quantity(text, "m")
    for text, x in (("1,5", 1.5), ("1,50", 1.5), ("0,500", 0.5), ("1,2345", 1.2345),
                    ("1234,567", 1234.567), ("2,5 mm", 0.0025)):  # fmt: skip
        assert number(quantity(text, "m")) == pytest.approx(x)


def test_joints_are_called_as_their_file_calls_them() -> None:
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="left_hip" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    assert names(read_bytes(urdf.encode(), "r.urdf")[0]) == ("left_hip",)
    assert names(cardan.load("rx90"))[:2] == ("th1", "th2")
    assert names(cardan.load("panda"))[:2] == ("q1", "q2")
    assert names(cardan.load("stewart"))[6:8] == ("u1", "v1")


def test_dark_surfaces_are_seen_in_the_dark() -> None:
    assert [seen("#101010", False), seen("#e0a010", True)] == ["#101010", "#e0a010"]
    assert [seen("#101010", True), seen("#200000", True)] == ["#696969", "#694949"]
    assert seen("red", True) == "red"


@pytest.mark.parametrize("name", ["ur5", "planar2r", "scara"])
def test_the_ellipsoid_is_that_of_the_jacobian(name: str) -> None:
    robot = skeleton(drawable(cardan.load(name), {}))
    q = np.linspace(0.3, 1.1, robot.n)
    axes, lengths = ellipsoid(robot, q)
    J = np.asarray(cardan.model(robot, "jacobian").compile()(q=q))[:3]
    near((axes * lengths**2) @ axes.T, J @ J.T, 1e-5)
    assert np.linalg.det(axes) > 0


def test_degrees_are_those_of_the_whole_page(page: Page) -> None:
    label = "alpha of link2"
    assert cell(_geometry(page), label).value == "pi/2"
    page.turn_degrees()
    alpha = cell(_geometry(page), label)
    assert alpha.value == "90"
    heads = Block(["alpha", "d", "upper", "stiffness"], [], degrees=True).shown()["heads"]
    assert [head["unit"] for head in heads] == ["deg", "m", "deg or m", "N m/rad or N/m"]
    for text, exact in (("45", "pi/4"), ("pi/3", "pi/3"), ("90°", "pi/2"), ("22,5", "pi/8"),
                        ("0.5 rad", "0.5"), ("2π", "2*pi"), ("a0", "a0")):  # fmt: skip
        assert cell(_geometry(page), label).take(text) == ""
        assert str(page.robot.joints[1].alpha) == exact, text
    upper = cell(_limits(page), "upper limit of link1")
    assert upper.take("180") == ""
    assert str(page.robot.joints[0].limits.upper) == "pi"
    page.turn_degrees()
    assert cell(_limits(page), "upper limit of link1").value == "pi"


def test_fields_are_read_as_they_are_shown() -> None:
    scara = cardan.load("scara")
    turn = 180 / math.pi
    assert unit(scara, True) == "deg or m"
    assert unit(scara, False, [0, 1], "/s") == "rad/s"
    assert unit(cardan.load("cartpole"), True, [0]) == "m"
    scale = factors(scara, True)
    slides = [joint.sigma == 1 for joint in scara.joints]
    assert scale.tolist() == [1 if slide else pytest.approx(turn) for slide in slides]
    expected = ["1.5708" if slide else "90" for slide in slides]
    assert Vector(scale, 4).spelt([math.pi / 2] * 4) == ", ".join(expected)
    assert Vector(scale, 4).read(", ".join(expected)) == pytest.approx([math.pi / 2] * 4, rel=1e-5)
    one = Vector(scale).read("90")  # one for all, of joints that turn and slide
    assert one == pytest.approx([90 / x for x in scale])
    timed = Vector(scale, timed=True).read("2, 90, 90, 90, 90")
    assert timed == pytest.approx([2, *(90 / x for x in scale)])
    with pytest.raises(cardan.CardanError, match="4 numbers are needed"):
        Vector(scale, 4).read("1, 2")
    two = Vector(np.ones(2), 2)
    assert two.read("1, 5") == two.read("1 5") == [1, 5]
    assert Vector(np.ones(3), 3).read("0,1,5") == [0, 1, 5]
    for text in ("1,5", "1,5 2,5", "1,5, 2,5"):  # decimal commas would be other numbers
        with pytest.raises(cardan.CardanError, match="decimal"):
            two.read(text)


def test_a_formula_is_in_si_units_in_degrees_too() -> None:
    assert number(quantity("90", "rad", True)) == pytest.approx(math.pi / 2)
    assert number(quantity("45+45", "rad", True)) == pytest.approx(math.pi / 2)
    assert number(quantity("acos(0.5)", "rad", True)) == pytest.approx(math.pi / 3)
    assert number(quantity("pi/3", "rad", True)) == pytest.approx(math.pi / 3)


def test_a_part_of_a_link_is_no_robot() -> None:
    whole = zlib.compress(dumps(cardan.load("rx90"), "toml").encode(), 9)
    for k in (len(whole) // 2, len(whole) - 5, len(whole) - 1):
        with pytest.raises(cardan.CardanError, match="holds no robot"):
            of_link(base64.urlsafe_b64encode(whole[:k]).decode().rstrip("="))


def test_a_link_holds_the_values_too() -> None:
    robot, values = cardan.load("rx90"), {"D3": "0.5", "RL4": 0.4}
    assert of_link(link_of(robot, values)) == (robot, values)
    assert of_link(link_of(robot, {})) == (robot, {})
    for content in (b"{}", b'{"robot": 3, "values": {}}', b'{"robot": "", "values": []}', b"{" * 9):
        with pytest.raises(cardan.CardanError):
            of_link(base64.urlsafe_b64encode(zlib.compress(content)).decode())


def test_a_long_sum_may_be_broken_between_its_terms(derived: dict[str, Any]) -> None:
    from cardan.emit.html import lines
    from cardan.emit.reading import reading

    read = reading(cardan.model(cardan.load("planar2r"), "inverse-dynamics").readable)
    for whole, pieces in zip(lines(read), lines(read, breakable=True), strict=True):
        assert pieces.markup.replace('</math> <math><mo form="infix">', "<mo>") == whole.markup
        for piece in pieces.markup.split(" <math>"):
            assert piece.count("(</mo>") == piece.count(")</mo>")
            assert piece.count("<mrow") == piece.count("</mrow>")
    assert pieces.markup.count("<math>") > 3  # the torques
    texts, latex = derived["parts"]["copies"][-1]
    assert texts.startswith("tau = [")
    assert latex.startswith(r"\tau = \begin{bmatrix}")
