"""Whole journeys through the page, as its users go them, and what every page must hold."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.web.conftest import TOKEN, Server
from tests.web.test_page import SLOW, figures, open_bundled, panel, until

import cardan
from cardan.app.web.panels.help import of_link
from cardan.app.web.panels.new import described
from cardan.app.web.panels.table import _TABLES
from cardan.app.web.panels.tools import TOOLS
from cardan.describe.files import dumps
from cardan.loops.numeric import equations, skeleton
from cardan.loops.standing import standing
from cardan.motion.frames import link_frames

AXE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def closed(page: Any) -> None:
    """No dialog is left: the last one lies over the page while it fades out."""
    page.locator(".q-dialog").wait_for(state="detached", timeout=SLOW)


def answered(room: Any, result: Any) -> None:
    """The work of a panel has given this result; where it has failed, the message says why."""
    error = room.locator(".work .error")
    result.or_(error).first.wait_for(timeout=SLOW)
    assert error.count() == 0, error.inner_text()


def test_a_new_robot_has_the_names_of_symoro() -> None:
    robot = described("arm", "RRRRRR", "arm")
    rx90 = cardan.load("rx90")
    assert [link.XX for link in robot.links] == [link.XX for link in rx90.links]
    geometry = [(x.alpha, x.d, x.r, x.IA, x.FV, x.FS) for x in robot.joints]
    assert geometry == [(x.alpha, x.d, x.r, x.IA, x.FV, x.FS) for x in rx90.joints]
    numbers = described("plane", "RP", "planar", symbols=False)
    assert numbers.parameters == ()
    assert [joint.sigma for joint in numbers.joints] == [0, 1]
    for kinds in ("", "RXR", "R" * 61):
        with pytest.raises(cardan.CardanError, match="letters R or P"):
            described("x", kinds)


def test_a_new_robot_in_a_plane_stays_in_it() -> None:
    """Axes of turns stand across the plane, slides lie in it, one across the other."""
    for count in range(1, 5):
        for letters in product("RP", repeat=count):
            robot = described("x", "".join(letters), symbols=False)
            q = np.random.default_rng(count).uniform(0.2, 1, count)
            T = link_frames(skeleton(robot), q)
            assert np.abs(T[:, 2, 3]).max() < 1e-12
            for j, letter in enumerate(letters, 1):
                assert abs(T[j, 2, 2] - (letter == "R")) < 1e-12
                if letters[max(j - 2, 0) : j] == ("P", "P"):
                    assert abs(T[j, :3, 2] @ T[j - 1, :3, 2]) < 1e-12


def test_new_robots_branch_close_and_float() -> None:
    tree = described("x", "RR RRR RP", structure="tree", base="floating")
    assert [joint.antecedent for joint in tree.joints] == [0, 1, 2, 3, 4, 2, 6]
    assert (tree.base.kind, str(tree.base.link.M)) == ("floating", "M0")
    for kinds, active in (("RR RR", 2), ("RR R", 1), ("RPR RR", 3), ("PR PR", 2)):
        loop = described("x", kinds, symbols=False, structure="loop")
        assert sum(joint.active for joint in loop.joints) == active
        q = standing(skeleton(loop))
        assert equations(skeleton(loop)).error(q[None]).max() < 1e-6
    for wrong in (("RR R",), ("RR", "planar", True, "tree"), ("RR RR", "blank", True, "loop"),
                  ("RR RR", "planar", True, "loop", "floating"), ("R R", "planar", True, "loop"),
                  ("RRR RRR", "arm", True, "tree")):  # fmt: skip
        with pytest.raises(cardan.CardanError):
            described("x", *wrong)


def test_from_nothing_to_c_by_keys_alone(page: Any) -> None:
    """Seven actions: find New, say what it is, derive, go to the code."""
    page.keyboard.press("Control+k")
    page.get_by_label("Find a command").first.fill("New ...")
    page.keyboard.press("Enter")
    joints = page.get_by_label("Joints, a letter for each")
    joints.fill("RRR")
    page.get_by_role("button", name="Create").press("Enter")
    page.locator(".header .title", has_text="New robot, 3 joints").wait_for(timeout=SLOW)
    page.keyboard.press("Alt+2")  # while the dialog fades out
    page.get_by_role("button", name="Derive").wait_for(timeout=SLOW)
    page.keyboard.press("Control+Enter")
    page.locator(".equations math").first.wait_for(timeout=SLOW)
    page.get_by_role("tab", name="Code").press("Enter")
    page.locator(".cm-content", has_text="new_robot_inverse_dynamics").wait_for(timeout=SLOW)


def test_from_an_archive_to_all_configurations(page: Any) -> None:
    """Of several robots one is chosen."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("arms/urdf/ur5.urdf", dumps(cardan.load("ur5"), "urdf"))
        archive.writestr("arms/urdf/other.urdf", dumps(cardan.load("panda"), "urdf"))
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_text("Open a file").click()
    file = {"name": "arms.zip", "mimeType": "application/zip", "buffer": memory.getvalue()}
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_role("option", name="arms/urdf/ur5.urdf").click(timeout=SLOW)
    page.locator(".header .title", has_text=cardan.load("ur5").name).wait_for(timeout=SLOW)
    closed(page)
    for k, x in enumerate((150, 230, 120, 260, 240, 180)):
        page.locator(".slider-row .q-slider").nth(k).click(position={"x": x, "y": 10})
    room = panel(page, "Inverse geometry")
    room.get_by_role("button", name="Solve").click()
    answered(room, room.get_by_text("8 configurations by"))
    assert room.locator(".configuration").count() == 8


def test_from_a_log_to_a_simulation_of_the_identified_robot(page: Any, tmp_path: Path) -> None:
    """A pendulum of 3 kg, recorded; the page's has 2 kg until it is identified."""
    link = {"mass": 3, "com": [0.5, 0, 0]}
    table = {"name": "pendulum", "gravity": [0, "-9.81", 0], "link": [link]}
    heavy = cardan.load(table)
    t = np.linspace(0, 4, 801)
    q = np.column_stack([np.sin(1.3 * t) + 0.4 * np.sin(3.1 * t)])
    qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    tau = cardan.model(heavy, "inverse-dynamics").compile()(q=q, qd=qd, qdd=qdd)
    rows = "\n".join(
        f"{a:.6f},{b:.9f},{c:.9f}" for a, b, c in zip(t, q[:, 0], tau[:, 0], strict=True)
    )
    (tmp_path / "log.csv").write_text(f"clock,angle,moment\n{rows}\n")
    (tmp_path / "light.toml").write_text(
        dumps(cardan.load({**table, "link": [{**link, "mass": 2}]}), "toml")
    )
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_text("Open a file").click()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "light.toml")
    page.locator(".header .title", has_text="pendulum").wait_for(timeout=SLOW)
    closed(page)
    room = panel(page, "Identify from a log")
    room.locator("input[type=file]").first.set_input_files(tmp_path / "log.csv")
    room.get_by_text("3 columns, 801 rows").wait_for(timeout=SLOW)
    for label, column in (("Time", "clock"), ("Positions", "angle"), ("Torques", "moment")):
        room.get_by_label(label).first.click()
        page.get_by_role("option", name=column, exact=True).click()
        page.keyboard.press("Escape")
        page.locator(".q-menu").wait_for(state="detached", timeout=SLOW)
    room.get_by_role("button", name="Identify", exact=True).click()
    use = room.get_by_role("button", name="Use it here")
    answered(room, use)
    use.click()
    page.get_by_text("the page has the identified robot now").wait_for(timeout=SLOW)
    page.get_by_role("tab", name="Robot").click()
    page.get_by_role("tab", name="Inertia").click()

    def identified() -> bool:
        return abs(float(page.get_by_label("MX of link1").input_value()) - 1.5) < 0.02

    until(page, identified)
    room = panel(page, "Simulate")
    room.get_by_role("button", name="Simulate", exact=True).click()
    room.locator(".chart").first.wait_for(timeout=SLOW)


def test_a_platform_follows_the_hand(page: Any) -> None:
    open_bundled(page, "stewart")
    before = figures(page)
    page.locator(".slider-row:not(.follows) .q-slider").first.click(position={"x": 120, "y": 10})
    until(page, lambda: sum(abs(a - b) > 0 for a, b in zip(figures(page), before, strict=True)) > 3)


def test_a_sheet_is_downloaded_and_opened(page: Any) -> None:
    open_bundled(page, "planar2r")
    room = panel(page, "Sheet")
    room.get_by_role("button", name="Write it").click()
    button = room.get_by_role("button", name="sheet.html")
    button.wait_for(timeout=SLOW)
    with page.expect_download() as download:
        button.click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert "<svg" in text
    sheet = page.context.new_page()
    sheet.set_content(text)
    assert sheet.get_by_role("heading").count() > 3


def test_a_link_holds_the_robot(page: Any, server: Server) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_bundled(page, "cartpole")
    page.get_by_role("button", name="Robot", exact=True).click()
    page.get_by_text("Copy a link that holds the robot").click()
    page.get_by_text("copied: whoever").wait_for(timeout=SLOW)
    link = page.evaluate("navigator.clipboard.readText()")
    assert of_link(link.partition("robot=")[2]) == (cardan.load("cartpole"), {})
    open_bundled(page, "planar2r")
    page.goto(link)
    page.get_by_role("button", name="Open", exact=True).click(timeout=SLOW)
    page.locator(".header .title", has_text="Cart-pole").wait_for(timeout=SLOW)
    with pytest.raises(cardan.CardanError, match="holds no robot"):
        of_link("no-robot")


@pytest.fixture(scope="module")
def axe() -> Iterator[str]:
    """axe-core's script out of the archive of npm, where somebody has put it."""
    archives = sorted(Path(os.environ.get("CARDAN_AXE", "no")).glob("axe-core-*.tgz"))
    if not archives:
        pytest.skip("CARDAN_AXE names no folder with axe-core: `npm pack axe-core` makes one")
    with tarfile.open(archives[-1]) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        yield script.read().decode()


def violations(page: Any, script: str) -> list[str]:
    page.evaluate(script)
    found = page.evaluate(f"axe.run({{ runOnly: {json.dumps(AXE)} }})")["violations"]
    return [f"{x['id']}: {x['nodes'][0]['html'][:160]} ({len(x['nodes'])})" for x in found]


_STILL = """document.getAnimations().every((x) =>
  x.playState !== "running" || x.effect.getComputedTiming().endTime === Infinity)"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nobody_is_kept_out(server: Server, browser: Any, axe: str, dark: bool) -> None:
    """No violation of WCAG 2.2 AA that axe-core finds: every table, every panel of Use, equations,
    code, menus, dialogs, and the pages beside."""
    theme = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=theme)
    context.set_default_timeout(SLOW)
    page = context.new_page()
    faults: dict[str, list[str]] = {}

    def judge(where: str) -> None:
        page.wait_for_function(_STILL)  # while something fades its colours are others
        faults[where] = violations(page, axe)

    def dialog(where: str, opener: Any) -> None:
        opener.click()
        page.locator(".q-dialog .q-card").wait_for()
        judge(where)
        page.keyboard.press("Escape")
        closed(page)

    page.goto(f"{server.address}/?token={TOKEN}")
    page.get_by_role("tab", name="Geometry").wait_for()
    judge("Robot")
    for name in list(_TABLES)[1:]:
        page.get_by_role("tab", name=name, exact=True).click()
        page.locator(f".grid-blocks[data-table={name}]").wait_for()
        judge(name)
    menus = {"Robot": ("New ...", "Open a file", "Keep in"), "Help": ("Limits", "About")}
    for menu, items in menus.items():
        head = page.get_by_role("button", name=menu, exact=True)
        for words in items:
            head.click()
            page.locator(".menu-list").wait_for()
            judge(f"menu {menu}")
            dialog(words, page.get_by_role("menuitem", name=words))
    page.keyboard.press("Control+k")
    page.get_by_label("Find a command").first.wait_for()
    judge("palette")
    page.keyboard.press("Escape")
    closed(page)
    page.get_by_role("tab", name="Models").click()
    page.get_by_role("button", name="Derive").click()
    page.locator(".equations math").first.wait_for()
    until(page, page.get_by_role("button", name="Derive").is_enabled)  # it fades in again
    judge("equations")
    page.get_by_role("tab", name="Code").click()
    page.locator(".cm-content[aria-label]").first.wait_for()
    judge("code")
    page.get_by_role("tab", name="Use").click()
    for tool in (x for x in TOOLS if x.fits(cardan.load("rx90"))):
        room = panel(page, tool.title)
        room.get_by_role("button", name=tool.button, exact=True).wait_for()
        judge(tool.title)
        page.locator(".use-panel .q-item", has_text=tool.title).first.click()
    for path, card in (("gallery", ".robot-card"), ("robots", ".gallery-page")):
        page.goto(f"{server.address}/{path}")
        page.locator(card).first.wait_for()
        judge(path)
    context.close()
    assert {where: x for where, x in faults.items() if x} == {}
