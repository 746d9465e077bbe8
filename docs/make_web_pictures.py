"""The pictures of web.md: `python docs/make_web_pictures.py` with a Chromium on the PATH."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.web.conftest import CHROMIUM, FLAGS, TOKEN, Server, free_port  # noqa: E402
from tests.web.test_page import open_bundled  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"


def shoot(page: Any, name: str) -> None:
    page.mouse.move(5, 790)
    page.wait_for_timeout(1500)
    page.screenshot(path=FOLDER / f"web-{name}.png")


def pictures(page: Any, address: str) -> None:
    open_bundled(page, "sr400")
    page.get_by_label("Axes of all frames").click()
    shoot(page, "robot")
    page.get_by_label("Axes of all frames").click()
    open_bundled(page, "rx90")
    page.get_by_role("tab", name="Models").click()
    page.get_by_role("button", name="Derive").click()
    page.locator(".equations math").first.wait_for()
    page.locator(".equations [data-name]").nth(60).click()
    shoot(page, "models")
    open_bundled(page, "ur5")
    page.get_by_label("Dark or light").click()
    page.get_by_role("tab", name="Use").click()
    page.get_by_text("Simulate", exact=True).first.click()
    page.get_by_role("button", name="Simulate", exact=True).last.click()
    page.get_by_text("energy kept to").wait_for()
    page.get_by_label("Play", exact=True).wait_for()  # it plays by itself, to the end
    page.locator(".echart, .nicegui-echart").first.scroll_into_view_if_needed()
    shoot(page, "use")
    page.get_by_label("Dark or light").click()
    open_bundled(page, "prrrp")
    page.get_by_text("Simulate", exact=True).first.click()
    page.get_by_text("Natural frequencies", exact=True).click()
    page.get_by_role("button", name="Compute", exact=True).click()
    page.locator(".configuration").nth(2).click()
    page.wait_for_timeout(5000)
    shoot(page, "modes")
    page.goto(f"{address}/gallery")
    page.locator(".robot-card", has_text="SCARA").wait_for()
    shoot(page, "gallery")


def main() -> None:
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        server = Server(Path(folder), free_port())
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(300_000)
        try:
            page.goto(f"{server.address}/?token={TOKEN}")
            page.get_by_role("tab", name="Geometry").wait_for()
            pictures(page, server.address)
        finally:
            browser.close()
            server.stop()


if __name__ == "__main__":
    main()
