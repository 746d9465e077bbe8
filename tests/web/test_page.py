"""The main paths of the page, in a real browser."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.web.conftest import PATIENCE as SLOW
from tests.web.conftest import TOKEN, Server, free_port
from tests.web.load import processor

import cardan
from cardan.catalogue import MENU
from cardan.motion.frames import frame_poses, link_frames

# where the ball at the end effector is on the screen
_TARGET = """() => {
  const view = getElement(document.querySelector('.scene').id.slice(1));
  const ball = view.scene.getObjectByName('target');
  const at = ball.getWorldPosition(ball.position.clone()).project(view.camera);
  const box = view.renderer.domElement.getBoundingClientRect();
  return [box.left + (at.x + 1) / 2 * box.width, box.top + (1 - at.y) / 2 * box.height];
}"""


def open_bundled(page: Any, name: str) -> None:
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_text("Open a bundled robot").click()
    page.get_by_label("Bundled robots").first.fill(name)
    title = cardan.load(name).name
    page.get_by_role("option").filter(has=page.get_by_text(name, exact=True)).click()
    page.locator(".header .title", has_text=title).wait_for(timeout=SLOW)


def until(page: Any, holds: Callable[[], bool]) -> None:
    """Wait until this holds: the machine may be busy."""
    for _ in range(SLOW // 200):
        if holds():
            return
        page.wait_for_timeout(200)
    assert holds()


def apart(a: list[float], b: list[float]) -> float:
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def synced(page: Any) -> None:
    """The server has done what it was asked before: it answers in order, last for a button."""
    button = page.get_by_label("Names of the links")
    for _ in range(2):
        before = button.get_attribute("aria-pressed")
        button.evaluate("button => button.click()")  # the focus stays where it is
        until(page, lambda before=before: button.get_attribute("aria-pressed") != before)


_DRAWN = "getElement(document.querySelector('.scene').id.slice(1)).renderer?.info.render.frame"


def rested(page: Any) -> int:
    """The robot stands in the picture and is not drawn any more: how often it was drawn."""
    counts = [0, 0]

    def still() -> bool:
        counts.append(page.evaluate(_DRAWN) or 0)
        return counts[-1] == counts[-2] == counts[-3] > 0

    until(page, still)  # 30 pictures a second would not stand still for two looks
    return counts[-1]


def picture(page: Any) -> bytes:
    rested(page)
    return bytes(page.locator(".scene").screenshot())


def figures(page: Any) -> list[float]:
    """What stands beside the sliders."""
    found = page.locator(".slider-row input.figure")
    return [float(found.nth(k).input_value()) for k in range(found.count())]


def panel(page: Any, title: str) -> Any:
    """A panel of the tab Use, open; that of the robot before is gone."""
    page.get_by_role("tab", name="Use").click()
    synced(page)
    head = page.locator(".use-panel .q-item", has_text=title).first
    head.wait_for(timeout=SLOW)
    if head.get_attribute("aria-expanded") != "true":
        head.click()
    return page.locator(".use-panel", has=page.locator(".q-item", has_text=title)).first


def test_rx90_is_there_and_can_be_edited(page: Any) -> None:
    assert page.locator(".header .title").inner_text().startswith("RX90")
    before = picture(page)
    cell = page.get_by_label("d of link3")
    cell.fill("2*D3")
    cell.press("Enter")
    until(page, lambda: picture(page) != before)
    page.get_by_label("Undo").click()
    until(page, lambda: page.get_by_label("d of link3").input_value() == "D3")


def test_a_joint_follows_another(page: Any) -> None:
    """Coupled in the table of drives, its slider is off and moves with the one that leads."""
    open_bundled(page, "planar2r")
    page.get_by_role("tab", name="Drives").click()
    page.get_by_label("leader of link2").select_option("1")
    page.get_by_label("ratio of link2").fill("-2")
    page.get_by_label("ratio of link2").press("Enter")
    page.get_by_text("1 coupled joint").wait_for(timeout=SLOW)
    first = page.locator(".slider-row input.figure").first
    first.fill("0.4")
    first.press("Enter")
    until(page, lambda: apart(figures(page), [0.4, -0.8]) < 2e-3)


def test_what_is_typed_stays_while_the_robot_is_drawn_anew(page: Any) -> None:
    cell = page.get_by_label("d of link3")
    cell.fill("2*D3")
    cell.press("Enter")
    until(page, lambda: page.get_by_label("Undo").is_enabled())
    first = page.locator(".slider-row input.figure").first
    first.fill("0.4")
    page.get_by_label("Undo").evaluate("button => button.click()")  # the focus stays
    until(page, lambda: page.get_by_label("d of link3").input_value() == "D3")
    synced(page)
    assert first.input_value() == "0.4"
    first.press("Enter")
    until(page, lambda: abs(figures(page)[0] - 0.4) < 2e-3)
    first.fill("0.7")
    first.press("Escape")
    assert first.input_value() == "0.400"


def test_a_cell_says_what_is_wrong(page: Any) -> None:
    cell = page.get_by_label("alpha of link2")
    page.get_by_label("b of link2").press("Tab")
    page.keyboard.type("1")  # in place of what is there, also where that was shown in short
    assert cell.input_value() == "1"
    cell.fill("pi/")
    page.get_by_text("found the end; allowed: a number").wait_for(timeout=SLOW)
    cell.press("Enter")
    page.reload()
    page.get_by_label("alpha of link2").wait_for(timeout=SLOW)
    assert page.get_by_label("alpha of link2").input_value() == "π/2"


def test_code_is_that_of_the_command_line(page: Any, tmp_path: Path) -> None:
    page.get_by_role("button", name="Dynamic", exact=True).click()
    page.get_by_role("menuitem", name=re.compile("^Inverse dynamics ")).click()
    page.get_by_role("button", name="Derive").click()
    page.locator(".equations math").first.wait_for(timeout=SLOW)
    page.get_by_role("tab", name="Code").click()
    with page.expect_download(timeout=SLOW) as found:
        page.get_by_role("button", name="Download").click()
    target = tmp_path / "downloaded.c"
    found.value.save_as(target)
    expected = tmp_path / "expected.c"
    words = ["generate", "rx90", "inverse-dynamics", "--to", "c", "-o", str(expected)]
    run = [sys.executable, "-c", "from cardan.app.cli.main import main; main()", *words]
    subprocess.run(run, check=True, timeout=120)
    assert target.read_bytes() == expected.read_bytes()


def test_symbols_lead_to_their_definitions(page: Any) -> None:
    page.get_by_role("tab", name="Models").click()
    page.get_by_role("button", name="Derive").click()
    page.locator(".equations math").first.wait_for(timeout=SLOW)
    page.locator(".equations [data-name]").first.click()
    card = page.get_by_role("region", name="The chosen symbol")
    card.get_by_text(re.compile(r"defined in equation \d+")).wait_for(timeout=SLOW)
    user = card.locator("button.link").first
    name = user.inner_text()
    user.click()
    card.locator(".name", has_text=name).wait_for(timeout=SLOW)
    page.get_by_label("Search in the equations").fill("tau")
    page.get_by_text(re.compile(r"\d of \d+ equations")).wait_for(timeout=SLOW)
    assert 1 <= page.locator(".equation").count() < 20
    page.get_by_label("Search in the equations").fill("tau3")  # an element of the vector
    page.get_by_text(re.compile(r"^1 of \d+ equations")).wait_for(timeout=SLOW)
    page.get_by_label("Search in the equations").fill("")
    card.get_by_label("Close").click()
    page.get_by_label("Fold all").click()
    page.get_by_label("Unfold all").wait_for(timeout=SLOW)
    assert page.locator(".equation:not(.heading)").count() == 0
    page.locator(".fold").first.click()
    page.locator(".equation .formula math").first.wait_for(timeout=SLOW)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".equation:not(.heading)").first.hover()
    page.get_by_label(re.compile("^Copy ")).first.click()
    page.get_by_role("menuitem", name="Copy as LaTeX").click()
    page.get_by_text("copied as LaTeX").wait_for(timeout=SLOW)
    assert page.evaluate("navigator.clipboard.readText()") == r"C_{2} = \cos \theta_{2}"
    assert page.evaluate(
        "document.fonts.ready.then(() => document.fonts.check('16px \"Page Math\"'))"
    )
    room = page.locator(".left").evaluate("""x => {
      const list = x.querySelector(".equations").getBoundingClientRect();
      return list.height / x.closest(".q-splitter__before").getBoundingClientRect().height; }""")
    assert room > 0.88  # the panel is for what it shows


def test_loops_close_while_a_joint_is_dragged(page: Any) -> None:
    open_bundled(page, "sr400")
    before = figures(page)
    sliders = page.locator(".slider-row .q-slider")
    sliders.nth(1).click(position={"x": 230, "y": 10})
    robot = cardan.load("sr400")
    passive = [k for k, joint in enumerate(robot.joints) if not joint.active and joint.sigma != 2]
    until(page, lambda: any(abs(figures(page)[k] - before[k]) > 0.01 for k in passive))


def test_inverse_geometry_shows_all_configurations(page: Any) -> None:
    open_bundled(page, "puma560-numeric")
    for k, x in enumerate((150, 230, 120, 260, 240, 180)):
        page.locator(".slider-row .q-slider").nth(k).click(position={"x": x, "y": 10})
    room = panel(page, "Inverse geometry")
    room.get_by_label("Take where the end effector is").click()
    until(page, lambda: room.get_by_label("pose: x, y, z").input_value().count(",") == 5)
    room.get_by_role("button", name="Solve").click()
    page.get_by_text("8 configurations by").wait_for(timeout=SLOW)
    page.locator(".configuration").nth(3).click()


# types into a field in the same task that shows it, before any other message of the server
_TYPIST = """(() => {
  const watch = new MutationObserver(() => {
    const field = document.querySelector('[aria-label^="first velocities"]');
    if (!field) return;
    watch.disconnect();
    field.value = "0, 0.5";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  });
  watch.observe(document, { childList: true, subtree: true });
})()"""


def test_what_is_typed_at_once_is_taken(page: Any) -> None:
    """The moment a panel opens."""
    open_bundled(page, "ur5")
    page.get_by_role("tab", name="Use").click()
    page.evaluate(_TYPIST)
    page.get_by_text("Simulate", exact=True).first.click()
    start = page.get_by_role("button", name="Simulate", exact=True).last
    refused = page.get_by_text("6 numbers are needed, or one for all")
    field = page.get_by_label("first velocities")
    until(page, lambda: field.input_value() == "0, 0.5")
    start.click()
    refused.wait_for(timeout=SLOW)
    assert field.input_value() == "0, 0.5"


def test_simulation_moves_the_robot(page: Any) -> None:
    open_bundled(page, "ur5")
    page.get_by_role("tab", name="Use").click()
    page.get_by_text("Simulate", exact=True).first.click()
    page.get_by_label("first velocities").fill("0, 0.5")
    page.get_by_role("button", name="Simulate", exact=True).last.click()
    page.get_by_text("6 numbers are needed, or one for all").wait_for(timeout=SLOW)
    page.get_by_label("first velocities").fill("0.5")
    page.get_by_role("button", name="Simulate", exact=True).last.click()
    page.get_by_text("energy kept to").wait_for(timeout=SLOW)
    until(page, lambda: any(abs(x) > 0.01 for x in figures(page)))
    page.get_by_label("Play", exact=True).wait_for(timeout=SLOW)  # it has come to its end
    bar = page.get_by_label("Instant of the motion")
    bar.press("ArrowLeft")
    synced(page)
    at = figures(page)
    bar.click(position={"x": 60, "y": 8})
    until(page, lambda: apart(figures(page), at) > 0.01)
    synced(page)  # a click on the bar moves it more than once
    at = figures(page)
    page.get_by_role("button", name="Simulate", exact=True).last.click()  # from where it stands now
    page.get_by_label("Pause", exact=True).wait_for(timeout=SLOW)
    page.get_by_label("Play", exact=True).wait_for(timeout=SLOW)
    page.get_by_label("End the motion").click()
    until(page, lambda: apart(figures(page), at) < 2e-3)  # where it began
    page.reload()  # the charts are there again, and what was asked for
    page.get_by_text("of Universal Robots UR5, at").wait_for(timeout=SLOW)
    page.locator(".chart").first.wait_for(timeout=SLOW)
    assert page.get_by_label("first velocities").input_value() == "0.5"
    words = (
        "[...new Set(Array.from(document.querySelectorAll('.chart text'), "
        "(x) => x.getAttribute('fill')))]"
    )
    until(page, lambda: page.evaluate(words) == ["#57616b"])
    page.get_by_label("Dark or light").click()
    until(page, lambda: page.evaluate(words) == ["#a0aab4"])


def test_a_broken_file_is_explained(page: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text('cardan = 1\nname = "x"\n[[link]]\nname = "a"\nalpha = "pi/"\n')
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_text("Open a file").click()
    page.locator("input[type=file]").first.set_input_files(broken)
    page.get_by_role("alert").filter(has_text="broken.toml:5").wait_for(timeout=SLOW)
    broken.write_text('cardan = 1\nname = "post"\n[[link]]\nname = "a"\njoint = "fixed"\nd = 0.5\n')
    page.locator(".q-dialog input[type=file]").set_input_files(broken)
    page.locator(".header .title", has_text="post, 0 joints").wait_for(timeout=SLOW)
    page.locator(".q-dialog").wait_for(state="detached", timeout=SLOW)


def test_a_project_survives_a_restart(server: Server, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(f"{server.address}/?token={TOKEN}")
    page.get_by_role("tab", name="Geometry").wait_for(timeout=SLOW)
    open_bundled(page, "cartpole")
    page.get_by_role("tab", name="Models").click()
    page.get_by_role("button", name="Derive").click()
    page.locator(".equations math").first.wait_for(timeout=SLOW)
    room = panel(page, "Evaluate a model")
    room.get_by_role("button", name="Evaluate", exact=True).click()
    room.get_by_text("tau =").wait_for(timeout=SLOW)
    page.get_by_text("Simulate", exact=True).first.click()
    page.get_by_label("duration").last.fill("60")
    page.get_by_label("first velocities").fill("0, 3000")  # so fast that it takes minutes
    page.get_by_role("button", name="Simulate", exact=True).last.click()
    page.get_by_role("button", name="Cancel").wait_for(timeout=SLOW)
    page.evaluate("window.before = true")
    server.stop()  # while it simulates
    server.start()
    page.wait_for_function("!window.before", timeout=SLOW)  # it comes back by itself
    page.locator(".header .title", has_text="Cart-pole").wait_for(timeout=SLOW)
    page.get_by_text("tau =").wait_for(timeout=SLOW)  # with the results it had
    page.get_by_text("the server was stopped while this was at work").wait_for(timeout=SLOW)
    page.get_by_role("tab", name="Models").click()
    page.locator(".equations math").first.wait_for(timeout=SLOW)
    page.get_by_role("tab", name="Robot").click()
    cell = page.get_by_label("d of pole")
    cell.fill("0.9")
    cell.press("Enter")
    page.get_by_role("tab", name="Use").click()
    page.get_by_text("Stale, 1 change of the robot ago").wait_for(timeout=SLOW)
    context.close()


def test_the_first_page_is_there_soon(browser: Any, tmp_path: Path) -> None:
    """Processor time of the server, which other work on the machine does not change."""
    own = Server(tmp_path, free_port())
    try:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(f"{own.address}/?token={TOKEN}")
        page.get_by_label("d of link3").wait_for(timeout=SLOW)
        assert processor(own.process.pid) < 2.5
        assert page.locator(".splash").is_hidden()
        context.close()
        context = browser.new_context(java_script_enabled=False)  # before the scripts are there
        page = context.new_page()
        page.goto(f"{own.address}/?token={TOKEN}")
        page.get_by_text("loading").wait_for()
        context.close()
    finally:
        own.stop()


# move the second slider through n places, one after the other; the torques that were shown
_SLIDE = """async (n) => {
  const sliders = document.querySelector('.sliders'), shown = new Set();
  const own = getElement(sliders.id.slice(1));
  const torques = () => [...sliders.querySelectorAll('.slider-torque')].map((x) => x.textContent);
  const change = () => new Promise((seen) => {
    const watch = new MutationObserver(() => { watch.disconnect(); seen(); });
    setTimeout(seen, 20000); // a place that shows nothing new is not waited for
    watch.observe(sliders, { subtree: true, characterData: true, childList: true });
  });
  for (let k = 0; k < n; k++) {
    const seen = change();
    own.$emit('slide', [1, -1 + 2 * k / n]);
    await seen;
    shown.add(torques().join());
  }
  return shown.size;
}"""


def test_torques_are_live(page: Any, server: Server) -> None:
    """Of an arm with seven joints: each place of a slider has its own, 30 of them in a second of
    the processor's time at the very least."""
    open_bundled(page, "panda")
    page.get_by_label("Torques that hold").click()
    page.locator(".slider-torque").first.wait_for(timeout=SLOW)
    before = processor(server.process.pid)
    assert page.evaluate(_SLIDE, 60) >= 55
    assert processor(server.process.pid) - before < 2


def test_keys_choose_tabs_and_undo(page: Any) -> None:
    page.keyboard.press("Alt+2")
    page.get_by_role("button", name="Derive").wait_for(timeout=SLOW)
    page.keyboard.press("Alt+1")
    page.get_by_role("button", name="Add link").click()
    page.get_by_label("d of link7").wait_for(timeout=SLOW)
    page.keyboard.press("Control+z")
    page.get_by_label("d of link7").wait_for(state="detached", timeout=SLOW)
    page.keyboard.press("Control+y")
    page.get_by_label("d of link7").wait_for(timeout=SLOW)


def test_menus_answer_to_keys(page: Any) -> None:
    page.get_by_role("button", name="Geometric", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.locator(".menu-item:focus", has_text="Transform").wait_for(timeout=SLOW)
    page.keyboard.press("ArrowRight")
    page.locator(".menu-item:focus", has_text="jacobian").wait_for(timeout=SLOW)
    page.keyboard.press("Enter")
    page.get_by_text(MENU["jacobian"].summary).wait_for(timeout=SLOW)
    page.keyboard.press("?")
    page.get_by_text("this list").wait_for(timeout=SLOW)
    page.keyboard.press("Escape")
    page.get_by_text("this list").wait_for(state="detached", timeout=SLOW)


def test_two_tabs_show_the_same_robot(page: Any, server: Server) -> None:
    other = page.context.new_page()
    other.goto(f"{server.address}/")
    other.get_by_label("d of link6").wait_for(timeout=SLOW)
    page.get_by_role("button", name="Add link").click()
    other.get_by_label("d of link7").wait_for(timeout=SLOW)
    other.get_by_label("Undo").click()
    page.get_by_label("d of link7").wait_for(state="detached", timeout=SLOW)


def test_a_refused_dialog_says_why(page: Any) -> None:
    page.get_by_role("tab", name="Inertia").click()
    page.get_by_role("button", name="From a shape").click()
    page.get_by_label("Mass, kg").fill("-1")
    page.get_by_role("button", name="Set inertia").click()
    page.get_by_role("alert").filter(has_text="must not be negative").wait_for(timeout=SLOW)
    page.get_by_label("Mass, kg").fill("2")
    page.get_by_role("button", name="Set inertia").click()
    until(page, lambda: page.get_by_label("M of link6", exact=True).input_value() == "2")


def test_cells_are_left_by_keys(page: Any) -> None:
    page.get_by_label("d of link2").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.type("0.5 +")
    page.get_by_role("alert").filter(has_text="found the end").wait_for(timeout=SLOW)
    page.keyboard.press("Escape")
    page.get_by_role("alert").wait_for(state="detached", timeout=SLOW)
    cell = page.get_by_label("d of link3")
    assert cell.input_value() == "D3"
    cell.fill("0.75")
    cell.press("Enter")
    until(page, page.get_by_label("Undo").is_enabled)
    page.keyboard.press("Control+z")  # nothing is being typed: the robot's own undo
    page.wait_for_function(
        "document.querySelector('[aria-label=\"d of link3\"]').value === 'D3'", timeout=SLOW
    )


def test_what_was_typed_stays_in_its_table(page: Any) -> None:
    page.get_by_label("d of link3").fill("(")
    page.locator(".cell.wrong").wait_for(timeout=SLOW)
    page.get_by_role("tab", name="Inertia").click()
    page.get_by_label("XX of link3").wait_for(timeout=SLOW)
    assert page.locator(".cell.wrong").count() == 0
    assert page.get_by_label("MX of link3").input_value() == "MX3"


def test_a_position_can_be_typed(page: Any) -> None:
    open_bundled(page, "ur5")
    field = page.locator("input.figure").nth(1)
    upper = float(cardan.load("ur5").joints[1].limits.upper)  # type: ignore[arg-type]
    synced(page)  # the sliders of the robot before are gone
    for typed, there in (("-0.75", -0.75), ("99", upper)):  # 99: beyond the limit of the joint
        field.fill(typed)
        field.press("Enter")
        until(page, lambda there=there: abs(figures(page)[1] - there) < 1e-3)  # type: ignore[misc]


def test_a_link_is_made_flexible(page: Any) -> None:
    open_bundled(page, "planar1r")
    page.get_by_role("tab", name="Flexible").click()
    page.get_by_role("button", name="Make a link flexible").click()
    page.get_by_role("button", name="Make flexible").click()
    page.get_by_label("length of beam").wait_for(timeout=SLOW)
    cell = page.get_by_label("motions of beam")
    cell.fill("bending")
    page.get_by_role("alert").filter(has_text="motions are some of").wait_for(timeout=SLOW)


def test_another_language_by_the_menu(page: Any) -> None:
    page.get_by_role("button", name="Optimizer", exact=True).click()
    page.get_by_role("menuitem", name="Code in Maple", exact=True).click()
    page.locator(".cm-content", has_text="inverse-dynamics of 'RX90'").wait_for(timeout=SLOW)


def test_links_are_removed_and_loops_closed(page: Any) -> None:
    page.get_by_label("Change link 6").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_label("d of link6").wait_for(state="detached", timeout=SLOW)
    page.get_by_role("tab", name="Loops").click()
    page.get_by_role("button", name="Close a loop").click()
    page.get_by_label("d of cut of loop1").wait_for(timeout=SLOW)
    page.get_by_text("closed, 1 loop").wait_for(timeout=SLOW)
    download = page.get_by_role("menuitem", name="Download as URDF")
    page.get_by_role("button", name="Robot", exact=True).click()
    download.click()  # it has symbols
    page.get_by_text("Use > Values of symbols takes them").wait_for(timeout=SLOW)
    open_bundled(page, "fivebar")
    page.get_by_role("button", name="Robot", exact=True).click()
    download.click()  # it has loops
    with page.expect_download(timeout=SLOW) as found:
        page.get_by_role("button", name="Leave these out").click()
    assert found.value.suggested_filename == "Planar_five_bar.urdf"


def test_the_end_effector_can_be_dragged(page: Any) -> None:
    open_bundled(page, "puma560-numeric")
    synced(page)
    rested(page)
    before = figures(page)
    x, y = page.evaluate(_TARGET)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 20, y + 15, steps=4)
    page.mouse.move(x - 40, y + 30, steps=4)
    until(page, lambda: apart(figures(page), before) > 0.01)  # before the ball is let go
    page.mouse.up()
    page.get_by_text("Configuration").wait_for(timeout=SLOW)
    synced(page)
    there = figures(page)
    page.get_by_label("Next configuration").click()
    until(page, lambda: apart(figures(page), there) > 0.1)
    first = page.locator(".slider-row input.figure").first
    first.fill("0.7")
    first.press("Enter")  # elsewhere: it is none of these configurations
    page.get_by_text("Configuration").wait_for(state="hidden", timeout=SLOW)


# a point of an arrow or a ring of the handle, on the screen, where nothing lies on the picture
_GRIP = """(name) => {
  const view = getElement(document.querySelector('.scene').id.slice(1));
  const part = view.scene.getObjectByName('handle').children.find((x) => x.name === name);
  const canvas = view.renderer.domElement, box = canvas.getBoundingClientRect(), r = 0.5515;
  const points = name.startsWith('move') ? [[0, 0.9, 0], [0, 0.8, 0]]
    : [[r, r, 0], [-r, r, 0], [-r, -r, 0], [r, -r, 0]];
  const places = points.map((near) => {
    const at = part.localToWorld(part.position.clone().set(...near)).project(view.camera);
    return [box.left + (at.x + 1) / 2 * box.width, box.top + (1 - at.y) / 2 * box.height];
  });
  return places.find(([x, y]) => document.elementFromPoint(x, y) === canvas) ?? places[0];
}"""


def test_the_end_effector_is_moved_turned_and_typed(page: Any) -> None:
    """By an arrow, a ring and numbers, which are what the model says of the joints."""
    open_bundled(page, "ur5")

    def pose() -> list[float]:
        return [float(x.input_value()) for x in page.locator(".tool-row input").all()]

    def agrees() -> bool:
        robot = cardan.load("ur5")
        T = frame_poses(robot, link_frames(robot, np.array(figures(page))))
        here = pose()
        rotation = Rotation.from_euler("xyz", here[3:]).as_matrix()
        return bool(np.allclose(T[:3, 3], here[:3], atol=4e-3)
                    and np.allclose(T[:3, :3], rotation, atol=8e-3))  # fmt: skip

    for k, x in ((1, 150), (2, 260), (4, 240)):
        page.locator(".slider-row .q-slider").nth(k).click(position={"x": x, "y": 10})
    until(page, lambda: sum(abs(x) > 0.1 for x in figures(page)) == 3 and agrees())
    field = page.get_by_label("z of the end effector")
    field.fill("0.5")
    field.press("Enter")
    until(page, lambda: pose()[2] == 0.5 and agrees())
    page.get_by_label("Look at the whole robot").click()
    page.get_by_label("Arrows and rings").click()
    page.wait_for_function(f"""() => {{
      const view = getElement(document.querySelector('.scene').id.slice(1));
      const place = ({_GRIP})('move-x');
      return view.scene.getObjectByName('handle').visible && place.every(Number.isFinite);
    }}""")
    cursor = "document.querySelector('.scene canvas').style.cursor"
    for name in ("move-x", "turn-z"):
        before, spot = pose(), [0.0, 0.0]

        def is_gripped(name: str = name, spot: list[float] = spot) -> bool:
            """The pointer is on the part, which moves on the screen until the camera rests."""
            place = page.evaluate(_GRIP, name)
            if apart(place, spot) < 0.1 and page.evaluate(cursor) == "grab":
                return True
            page.mouse.move(place[0] - 5, place[1])
            page.mouse.move(*place)
            spot[:] = place
            return False

        until(page, is_gripped)
        x, y = spot
        page.mouse.down()
        page.mouse.move(x + 12, y - 12, steps=3)
        page.mouse.up()
        page.get_by_text("Configuration").wait_for()  # the robot is where it was let go
        until(page, lambda before=before: apart(pose(), before) > 0.01 and agrees())
        turned = Rotation.from_euler("xyz", before[3:]).inv()
        turned *= Rotation.from_euler("xyz", pose()[3:])
        if name == "move-x":
            assert turned.magnitude() < 0.01
        else:
            assert apart(pose()[:3], before[:3]) < 2e-3
            assert abs(turned.as_rotvec()[2]) > 0.02
            assert np.abs(turned.as_rotvec()[:2]).max() < 0.01


def test_the_camera_follows_a_robot_that_leaves_the_picture(page: Any) -> None:
    """Unless the user has placed it."""
    open_bundled(page, "ur5")
    eye = "[...getElement(document.querySelector('.scene').id.slice(1)).camera.position]"
    scene = page.locator(".scene").bounding_box()
    synced(page)
    rested(page)
    before = page.evaluate(eye)

    def turn(angle: str) -> None:
        first = page.locator(".slider-row input.figure").first
        first.fill(angle)
        first.press("Enter")
        until(page, lambda: abs(figures(page)[0] - float(angle)) < 1e-3)

    turn("2.5")
    until(page, lambda: apart(page.evaluate(eye), before) > 0.05)
    x, y = page.evaluate(_TARGET)
    assert 0 < x - scene["x"] < scene["width"]
    assert 0 < y - scene["y"] < scene["height"]
    page.mouse.move(scene["x"] + 40, scene["y"] + scene["height"] - 40)
    looks = [page.evaluate(eye)]
    page.mouse.wheel(0, -600)
    until(page, lambda: apart(page.evaluate(eye), looks[0]) > 0.01)

    def still() -> bool:
        looks.append(page.evaluate(eye))
        return apart(looks[-1], looks[-2]) < 1e-9

    until(page, still)
    turn("0")
    rested(page)
    synced(page)  # also that the robot is out of sight
    rested(page)
    assert apart(page.evaluate(eye), looks[-1]) < 1e-6


def test_tips_come_by_keys_and_by_touch(page: Any) -> None:
    tip = page.locator(".tip")
    for _ in range(60):
        page.keyboard.press("Tab")
        if tip.count():
            break
    assert tip.inner_text()
    page.mouse.click(5, 5)
    tip.wait_for(state="detached", timeout=SLOW)
    page.get_by_label("Dark or light").dispatch_event("touchstart")
    page.locator(".tip", has_text="Dark or light").wait_for(timeout=SLOW)


def test_a_face_of_the_cube_is_looked_at(page: Any) -> None:
    page.locator(".face", has_text="Top").dispatch_event("click")
    page.wait_for_function("""() => {
      const { camera } = getElement(document.querySelector('.scene').id.slice(1));
      return camera.matrixWorldInverse.elements[10] > 0.999;
    }""")


# the middle of the longest part of the robot, on the screen
_LONGEST = """() => {
  const view = getElement(document.querySelector('.scene').id.slice(1)), parts = [];
  view.scene.traverse((x) => { if (x.geometry?.parameters?.radialSegments > 20) parts.push(x); });
  const tall = (x) => x.geometry.parameters.height;
  const arm = parts.reduce((a, b) => (tall(b) > tall(a) ? b : a));
  const at = arm.getWorldPosition(arm.position.clone()).project(view.camera);
  const box = view.renderer.domElement.getBoundingClientRect();
  return [box.left + (at.x + 1) / 2 * box.width, box.top + (1 - at.y) / 2 * box.height];
}"""


def test_a_link_under_the_pointer_is_lit_in_table_and_picture(page: Any) -> None:
    row = page.locator(".grid-table tbody tr").nth(2)
    row.hover()
    lit = """() => { const found = [];
      getElement(document.querySelector('.scene').id.slice(1)).scene.traverse((x) => {
        if (x.material?.color?.getHexString() === 'e8d3a6') found.push(x); });
      return found.length; }"""
    until(page, lambda: page.evaluate(lit) > 0)
    page.get_by_text("Name of the robot").hover()
    until(page, lambda: page.evaluate(lit) == 0)
    until(page, lambda: page.locator("tr.pointed").count() == 0)
    rested(page)
    page.mouse.move(*page.evaluate(_LONGEST))
    until(page, lambda: page.locator("tr.pointed").count() == 1)
    page.get_by_text("Name of the robot").hover()
    until(page, lambda: page.locator("tr.pointed").count() == 0)


def test_the_picture_is_drawn_only_where_it_changes(page: Any) -> None:
    count = rested(page)
    page.locator(".slider-row .q-slider").nth(1).click(position={"x": 150, "y": 10})
    until(page, lambda: page.evaluate(_DRAWN) > count)


# whether all labels are there; pairs of them that lie on each other, and those outside
_LABELS = """() => {
  const room = getElement(document.querySelector('.scene').id.slice(1)).text_renderer.domElement;
  const labels = [...room.children].filter((x) => x.style.display !== 'none');
  const boxes = labels.map((x) => x.getBoundingClientRect());
  const edge = room.getBoundingClientRect().right;
  const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
  const pairs = boxes.flatMap((a, k) => boxes.slice(k + 1).filter((b) => on(a, b)));
  return [labels.length > 35, pairs.length + boxes.filter((a) => a.right > edge).length];
}"""


def test_no_label_of_the_picture_lies_on_another(page: Any) -> None:
    """Six frames in three places, with their axes, dimensions and names."""
    for words in ("Axes of all frames", "The table's lengths", "Names of the links"):
        page.get_by_label(words).click()
    until(page, lambda: page.evaluate(_LABELS) == [True, 0])


def test_a_picture_can_be_saved(page: Any, tmp_path: Path) -> None:
    page.get_by_label("Names of the links").click()
    with page.expect_download(timeout=SLOW) as found:
        page.get_by_label("Save as a picture").click()
    assert found.value.suggested_filename == "RX90.png"
    target = tmp_path / "picture.png"
    found.value.save_as(target)
    data = target.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) > 4000  # not an empty sheet


def test_natural_frequencies(page: Any) -> None:
    open_bundled(page, "flexible2r")
    page.get_by_role("tab", name="Use").click()
    page.get_by_text("Natural frequencies", exact=True).click()
    page.get_by_role("button", name="Compute", exact=True).click()
    page.get_by_text("2.518 Hz").first.click(timeout=SLOW)


def test_a_job_can_be_cancelled(page: Any) -> None:
    open_bundled(page, "snake30")
    page.get_by_role("button", name="Dynamic", exact=True).click()
    page.get_by_role("menuitem", name=re.compile("^Lagrange's equations ")).click()
    page.get_by_role("button", name="Derive").click()
    page.get_by_role("button", name="Cancel", exact=True).click(timeout=SLOW)
    page.get_by_text("cancelled", exact=True).wait_for(timeout=SLOW)


def test_the_gallery_shows_and_opens(page: Any, server: Server) -> None:
    with page.expect_response("**/gallery/cards") as answer:
        page.goto(f"{server.address}/gallery")
    assert answer.value.headers["content-encoding"] == "gzip"
    cards = page.locator(".robot-card")
    cards.first.wait_for(timeout=SLOW)
    assert cards.count() == len(cardan.robots())
    assert page.locator(".robot-card svg path").count() > 1000
    card = cards.filter(has_text="Branched tree")
    card.get_by_role("button", name="Counts").click()
    page.get_by_role("cell", name="inverse dynamics").wait_for(timeout=SLOW)
    page.get_by_role("button", name="Close").click()
    card.get_by_role("button", name="Open").click()
    page.locator(".header .title", has_text="Branched tree").wait_for(timeout=SLOW)
    page.get_by_role("button", name="Robot", exact=True).click()  # and may be kept under a name
    page.get_by_role("menuitem", name="Keep in my robots").click()
    page.get_by_label("Name", exact=True).fill("my tree")
    page.get_by_role("button", name="Keep", exact=True).click()
    page.locator(".q-dialog").wait_for(state="detached", timeout=SLOW)
    open_bundled(page, "planar2r")
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_role("menuitem", name="My robots", exact=True).click()
    own = page.locator(".robot-card").filter(has_text="my tree")
    own.get_by_role("button", name="Duplicate").click()
    page.get_by_text("my tree (2)").wait_for(timeout=SLOW)
    own.last.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Bring back").click()
    until(page, lambda: page.locator(".robot-card").count() == 2)
    own.first.get_by_role("button", name="Open").click()
    page.locator(".header .title", has_text="Branched tree").wait_for(timeout=SLOW)
    open_bundled(page, "planar2r")  # the next version of what is kept under that name
    page.keyboard.press("Control+s")
    page.get_by_label("Name", exact=True).fill("my tree")
    page.get_by_role("button", name="Keep", exact=True).click()
    page.locator(".q-dialog").wait_for(state="detached", timeout=SLOW)
    page.goto(f"{server.address}/robots")
    own.first.get_by_text("1 older version").wait_for(timeout=SLOW)
    own.first.get_by_role("button", name="Versions").click()
    page.get_by_role("listitem").filter(has_text="joints").nth(1).click()
    page.locator(".header .title", has_text="Branched tree").wait_for(timeout=SLOW)


def test_nothing_sticks_out(page: Any) -> None:
    for width, height in ((1280, 768), (1024, 768), (768, 1024)):
        page.set_viewport_size({"width": width, "height": height})

        def fits(width: int = width, height: int = height) -> bool:
            labels = ("Change link 6", "joint joint6", "Fold the picture")
            boxes = [page.get_by_label(label, exact=True).bounding_box() for label in labels]
            ends = [(x["x"] + x["width"], x["y"] + x["height"]) for x in boxes]
            wide = page.evaluate("document.documentElement.scrollWidth")
            return max(wide, *(x for x, _ in ends)) <= width and max(y for _, y in ends) <= height

        until(page, fits)
    page.set_viewport_size({"width": 1280, "height": 800})
    places = page.locator(".tool-row input")
    until(page, lambda: len({x.bounding_box()["y"] for x in places.all()}) == 1)  # in one row


@pytest.mark.parametrize("path", ["/", "/gallery"])
def test_no_remote_source_is_asked_for(page: Any, server: Server, path: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server.address}{path}")
    page.locator(".robot-card, .scene canvas").first.wait_for()
    page.wait_for_load_state("networkidle")
    allowed = (server.address, server.address.replace("http", "ws"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(allowed)] == []


def test_on_a_tablet_held_upright_the_robot_stands_below(page: Any) -> None:
    """And the line between the two can be dragged."""
    page.set_viewport_size({"width": 820, "height": 1180})
    line = page.locator(".main > .q-splitter__separator")
    until(page, lambda: line.bounding_box()["width"] == 820)
    before = line.bounding_box()["y"]
    page.mouse.move(400, before + 1)
    page.mouse.down()
    page.mouse.move(400, before - 150, steps=4)
    page.mouse.up()
    until(page, lambda: abs(line.bounding_box()["y"] - before + 150) < 20)
    page.set_viewport_size({"width": 1280, "height": 800})
    until(page, lambda: line.bounding_box()["height"] > 700)


ARM = """<robot name="two axes">
  <link name="foot"/><link name="upper"/><link name="fore"/><link name="tool"/>
  <joint name="pan" type="continuous"><parent link="foot"/><child link="upper"/>
    <origin xyz="0 0 0.5"/><axis xyz="0 0 1"/></joint>
  <joint name="lift" type="continuous"><parent link="upper"/><child link="fore"/>
    <origin xyz="0.1 0.3 0.2"/><axis xyz="0 1 0"/></joint>
  <joint name="flange" type="fixed"><parent link="fore"/><child link="tool"/>
    <origin xyz="0.6 0 0.1"/></joint>
</robot>"""
LABELS = """() => {
  const view = getElement(document.querySelector('.scene').id.slice(1)), found = {};
  view.scene.updateMatrixWorld(true);
  view.scene.traverse(x => {
    if (x.isCSS2DObject) found[x.element.textContent] = x.matrixWorld.elements.slice(12, 15);
  });
  return found;
}"""


def test_names_stand_at_the_frames_of_the_file(page: Any, tmp_path: Path) -> None:
    """Numbers at Khalil's frames, names where the URDF has them; both follow the joints."""
    (tmp_path / "arm.urdf").write_text(ARM, encoding="utf-8")
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_text("Open a file").click()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "arm.urdf")
    page.locator(".header .title", has_text="two axes").wait_for(timeout=SLOW)
    until(page, lambda: page.locator(".slider-name").all_inner_texts() == ["pan", "lift"])
    page.get_by_label("Names of the links").click()

    def stand(where: dict[str, tuple[float, ...]]) -> bool:
        labels = page.evaluate(LABELS)
        if not {"0", "1", "2"} <= {label.split()[0] for label in labels}:
            return False
        return all(
            name in labels and max(abs(x - y) for x, y in zip(labels[name], at, strict=True)) < 1e-6
            for name, at in where.items()
        )

    until(page, lambda: stand(
        {"upper": (0, 0, 0.5), "fore": (0.1, 0.3, 0.7), "tool": (0.7, 0.3, 0.8)}
    ))  # fmt: skip
    first = page.locator(".slider-row input.figure").first
    first.fill(str(math.pi / 2))
    first.press("Enter")
    until(page, lambda: stand(
        {"upper": (0, 0, 0.5), "fore": (-0.3, 0.1, 0.7), "tool": (-0.3, 0.7, 0.8)}
    ))  # fmt: skip
