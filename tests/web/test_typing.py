"""What is typed into tables and fields: judged beside it, never lost, never overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.web.conftest import Server
from tests.web.test_page import SLOW, open_bundled, until

import cardan
from cardan.app.web.panels import table
from cardan.app.web.panels.answer import matrix
from cardan.app.web.panels.cells import Block, Cell, Grid, menu
from cardan.app.web.panels.structure import (
    added,
    duplicated,
    framed,
    inserted,
    removed,
    shifted_to,
)
from cardan.app.web.panels.table import _frames
from cardan.app.web.panels.values import read_values
from cardan.app.web.server.state import Page
from cardan.app.web.server.store import Store
from cardan.describe.check import check
from cardan.describe.robot import GEOMETRY
from cardan.errors import InputError
from cardan.motion.frames import frame_poses, link_frames


def test_a_cell_is_judged_as_the_robot_would_be(page: Any) -> None:
    """Not only as a formula; and the message stays when the cell is left."""
    told = page.locator(".cell-fault")
    cell = page.get_by_label("name of link 2")
    cell.fill("link1")
    told.filter(has_text="used twice").wait_for(timeout=SLOW)  # nothing was pressed yet
    cell.press("Tab")
    page.get_by_label("antecedent of link 2").and_(page.locator(":focus")).wait_for(timeout=SLOW)
    assert "used twice" in told.inner_text()
    page.get_by_role("tab", name="Models").click()
    told.wait_for(state="detached", timeout=SLOW)  # it is no matter of that tab
    page.get_by_role("tab", name="Robot").click()
    cell.fill("elbow")
    cell.press("Enter")
    until(page, lambda: page.get_by_label("d of elbow").count() == 1)
    assert page.locator(".cell.wrong").count() == 0


def test_a_cell_takes_numbers_with_units(page: Any) -> None:
    cell = page.get_by_label("d of link3")
    cell.fill("90 deg")
    page.locator(".cell-fault", has_text="wrong unit").wait_for(timeout=SLOW)
    cell.fill("20 mm")
    cell.press("Enter")
    until(page, lambda: cell.input_value() == "0.02")
    turn = page.get_by_label("alpha of link3")
    turn.fill("90 deg")
    turn.press("Enter")
    until(page, lambda: turn.input_value() == "pi/2")


def test_values_given_elsewhere_are_not_overwritten(page: Any, server: Server) -> None:
    open_bundled(page, "planar2r")
    page.get_by_role("tab", name="Use").click()
    page.get_by_text("Values of 12 symbols").click()
    area = page.get_by_label("Values of the symbols")
    drawn = page.locator(".symbols").get_by_label("L1")
    drawn.fill("0.9")
    drawn.press("Enter")
    until(page, lambda: "L1 = 0.9" in area.input_value())
    area.fill(area.input_value().replace("G = ", "G = 9.81"))  # and stays in it
    other = page.context.new_page()
    other.goto(f"{server.address}/")
    other.locator(".symbols").get_by_label("L1").fill("0.8")
    other.locator(".symbols").get_by_label("L1").press("Enter")
    until(page, lambda: drawn.input_value() == "0.8")
    page.get_by_role("button", name="Fill the missing").focus()
    page.get_by_text("Values of 12 symbols, 10 missing").wait_for(timeout=SLOW)
    until(page, lambda: "L1 = 0.8" in area.input_value() and "G = 9.81" in area.input_value())
    area.fill("L1 0.5")
    page.get_by_role("button", name="Fill the missing").focus()
    told = page.get_by_role("alert").filter(has_text="line 1, 'L1 0.5': expected NAME = VALUE")
    told.wait_for(timeout=SLOW)
    assert drawn.input_value() == "0.8"


@pytest.mark.parametrize(
    ("text", "words"),
    [("L1 0.5", "line 1, 'L1 0.5'"), ("L1 = 1\n\nx = 2", "line 3: .* no symbol 'x'")],
)
def test_lines_that_are_no_values_are_named(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_values(text, ("L1",))
    assert read_values("\n L1=0.5 \n", ("L1",)) == {"L1": "0.5"}


def test_numbers_are_shown_with_their_digits() -> None:
    assert matrix(np.array([1.0, -0.0, 1e-17])) == "[1 0 0]"
    assert matrix(np.array([1.5e-7, -12345.678])) == "[ 1.5e-07 -12345.7]"


def test_a_dialog_of_a_link_that_is_gone_says_so(page: Any, server: Server) -> None:
    page.get_by_role("tab", name="Inertia").click()
    page.get_by_role("button", name="From a shape").click()
    page.get_by_label("Mass, kg").fill("2")
    other = page.context.new_page()
    other.goto(f"{server.address}/")
    other.get_by_role("tab", name="Geometry").click()
    other.get_by_label("Change link 6").click()
    other.get_by_role("menuitem", name="Remove").click()
    page.get_by_label("M of link6", exact=True).wait_for(state="detached", timeout=SLOW)
    page.get_by_role("button", name="Set inertia").click()
    page.get_by_role("alert").filter(has_text="link6 is no longer there").wait_for(timeout=SLOW)


def grid_of(*rows: list[Cell]) -> tuple[Grid, list[str]]:
    """A grid without a page, and what it says."""
    grid, said = object.__new__(Grid), []
    grid.blocks = (Block([], rows),)
    return grid, said


def test_what_is_meant_for_a_row_that_has_moved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser may tell of a table as it was before another change reached it."""
    grid, said = grid_of([Cell("act", "", "Remove b", lambda _: taken.append("b") or "")])
    taken: list[str] = []
    monkeypatch.setattr(
        "cardan.app.web.panels.cells.say", lambda words: words and said.append(words)
    )
    monkeypatch.setattr(Grid, "again", lambda self: None)
    for label in ("Remove a", "Remove b", "Remove c"):
        grid._take(0, 0, 0, None, label)
    grid._take(0, 5, 0, None, "Remove b")
    assert taken == ["b"]
    assert [words.partition(":")[0] for words in said] == ["Remove a", "Remove c", "Remove b"]


def test_a_menu_does_what_its_words_say(tmp_path: Path) -> None:
    page = Page(Store(tmp_path).project("a" * 32), None)  # type: ignore[arg-type]
    cell = menu(page, "Change link 6", {"Remove": lambda: removed(page.robot, 5)})
    assert cell.take is not None
    assert "no 'Move down'" in cell.take("Move down")  # which it had when it was opened
    assert len(page.robot.links) == 6
    assert cell.take("Remove") == ""
    assert len(page.robot.links) == 5


def test_a_slider_stays_where_it_is_let_go(page: Any) -> None:
    box = page.locator(".slider-row .q-slider").nth(1).bounding_box()
    middle, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle, y)
    page.mouse.down()
    page.mouse.move(middle + 40, y, steps=4)
    page.mouse.move(middle + 80, y, steps=4)
    page.mouse.up()
    figure = page.locator(".slider-row input.figure").nth(1)
    there = figure.input_value()
    assert float(there) > 1
    page.reload()  # it is kept
    until(page, lambda: figure.count() == 1 and figure.input_value() == there)


def test_a_block_is_pasted_as_one_step_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(
        "cardan.app.web.panels.cells.say", lambda words: words and said.append(words)
    )
    monkeypatch.setattr(Grid, "again", lambda self: None)
    page = Page(Store(tmp_path).project("a" * 32), None)  # type: ignore[arg-type]
    grid = object.__new__(Grid)
    grid.page, grid.blocks, grid.more = page, table._geometry(page), None
    grid.make = lambda: table._geometry(page)
    at = [cell.label for cell in grid.blocks[0].rows[1]].index("alpha of link2")
    steps = page.project.index
    grid._paste(0, 1, at, [["90°", "0,25"], ["0", "L3"]], "alpha of link2")
    assert said == []
    assert [str(page.robot.joints[j].alpha) for j in (1, 2)] == ["pi/2", "0"]
    assert [str(page.robot.joints[j].d) for j in (1, 2)] == ["0.25", "L3"]
    assert page.project.index == steps + 1
    grid.blocks, before = table._geometry(page), page.robot
    grid._paste(0, 1, at, [["0", "1"], ["pi/", "2"]], "alpha of link2")
    assert page.robot == before
    assert said[-1].startswith("alpha of link3: ")
    grid._paste(0, 5, at, [["0"], ["1"]], "alpha of link6")
    assert said[-1] == "1 rows more than the table has were left out"
    said.clear()
    page.undo()
    grid.blocks, grid.more, steps = table._geometry(page), added, page.project.index
    grid._paste(0, 5, at, [["0", "1"], ["pi/2", "2"], ["30°", "0,5"]], "alpha of link6")
    assert said == []
    assert [str(x.alpha) for x in page.robot.joints[5:]] == ["0", "pi/2", "pi/6"]
    assert [str(x.d) for x in page.robot.joints[5:]] == ["1", "2", "0.5"]
    assert page.project.index == steps + 1  # one step: rows and all
    grid.blocks, before = table._geometry(page), page.robot
    grid._paste(0, 7, at, [["0"], ["1/"]], "alpha of link8")  # nothing was added either
    assert page.robot == before
    page.undo()
    grid.blocks = table._geometry(page)
    kind = at - GEOMETRY.index("alpha") - 2
    assert grid.blocks[0].rows[1][kind].label == "sigma of link 2"
    grid._paste(0, 1, kind, [["P", "0"]], "sigma of link 2")
    joint = page.robot.joints[1]
    assert (joint.sigma, joint.active) == (1, False)


def test_a_cell_names_the_variable_of_its_joint(tmp_path: Path) -> None:
    page = Page(Store(tmp_path).project("a" * 32), None)  # type: ignore[arg-type]

    def theta() -> Cell:
        row = table._geometry(page)[0].rows[0]
        return next(cell for cell in row if cell.label == "theta of link1")

    assert (theta().empty, theta().brief) == ("th1", "")
    assert theta().take("pi/4") == ""  # type: ignore[misc]
    assert (theta().value, theta().brief) == ("pi/4", "th1+π/4")


def test_links_are_inserted_and_duplicated() -> None:
    robot = cardan.load("rx90")
    longer = duplicated(robot, 2)
    assert [joint.antecedent for joint in longer.joints] == list(range(7))
    assert longer.joints[6].d == robot.joints[2].d
    assert longer.links[6].M == robot.links[2].M
    assert not check(longer)
    between = inserted(robot, 2)
    assert [link.name for link in between.links] == [
        "link1", "link2", "link7", "link3", "link4", "link5", "link6"
    ]  # fmt: skip
    assert [joint.antecedent for joint in between.joints] == list(range(7))
    for a, b, order in ((4, 1, "152346"), (0, 3, "234156")):
        shifted = shifted_to(robot, a, b)
        assert [link.name for link in shifted.links] == [f"link{k}" for k in order]
        assert [joint.antecedent for joint in shifted.joints] == list(range(6))
        assert not check(shifted)


def test_a_tool_is_a_frame_and_can_be_the_end_effector(tmp_path: Path) -> None:
    """Placed, renamed and taken away in its table; the inverse geometry means it."""
    page = Page(Store(tmp_path).project("a" * 32), None)  # type: ignore[arg-type]
    assert page.open(cardan.load("ur5")) == ""
    assert page.change(framed(page.robot)) == ""
    row = _frames(page)[0].rows[0]
    assert [row[2].take("100 mm"), row[5].take("90°"), row[7].take("π/2 + a")] == ["", "", ""]
    assert page.robot.frames[0].xyz == (0.1, 0, 0)
    assert page.robot.frames[0].rpy[0] == cardan.load("ur5").joints[1].alpha
    assert _frames(page)[0].rows[0][7].take("0") == ""
    assert _frames(page)[1].rows[0][1].take("tool1") == ""
    assert _frames(page)[0].rows[0][0].take("hand") == ""
    assert page.robot.end_effector == "hand"
    with_tool = frame_poses(page.robot, link_frames(page.robot, np.zeros(6)))
    alone = frame_poses(page.robot, link_frames(page.robot, np.zeros(6)), "wrist_3")
    assert np.allclose(np.linalg.inv(alone) @ with_tool,
                       [[1, 0, 0, 0.1], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])  # fmt: skip
    assert _frames(page)[0].rows[0][-1].take(None) == ""
    assert (page.robot.frames, page.robot.end_effector) == ((), "")
    assert page.open(cardan.load("stewart")) == ""
    assert list(page.end_effectors()) == [""]


def test_blocks_are_chosen_copied_and_filled_down(page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    first = page.get_by_label("r of link1", exact=True)
    first.fill("0.5")
    first.press("Enter")
    until(page, lambda: page.get_by_label("Undo").is_enabled())
    first.press("Shift+ArrowDown")
    first.press("Shift+ArrowDown")
    first.press("Control+d")
    until(page, lambda: page.get_by_label("r of link3").input_value() == "0.5")
    page.get_by_label("Undo").click()  # one step
    until(page, lambda: page.get_by_label("r of link3").input_value() == "")
    assert first.input_value() == "0.5"
    page.get_by_label("d of link2").click()
    page.get_by_label("r of link3").click(modifiers=["Shift"])
    page.keyboard.press("Control+c")
    assert page.evaluate("navigator.clipboard.readText()") == "\t\t\nD3\t\t"
    assert page.locator("tr.marked").count() == 1
    names = page.locator("input[aria-label^='name of link']")
    page.locator(".grip").nth(4).drag_to(page.locator(".grip").nth(1))
    until(page, lambda: names.nth(1).input_value() == "link5")
    page.get_by_label("Undo").click()
    until(page, lambda: names.nth(1).input_value() == "link2")
