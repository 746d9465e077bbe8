"""No text is cut off without a way to read it: at 1440x900, in every table of every robot."""

from __future__ import annotations

from typing import Any

import pytest
from tests.web.conftest import TOKEN, Server
from tests.web.test_page import SLOW, open_bundled

from cardan.app.web.panels.table import _TABLES
from cardan.describe.bundled import robots

# Texts that do not fit where they stand, whose element has no title, and that no ancestor scrolls
# into sight.
CUT = """() => {
  const cut = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = ['INPUT', 'SELECT'].includes(e.tagName)
      || [...e.childNodes].some((x) => x.nodeType === 3 && x.textContent.trim());
    if (!own || !e.checkVisibility({ visibilityProperty: true })) continue;
    if (e.closest('svg, .cm-editor, .scene, [aria-hidden=true], [title]:not([title=""])')) continue;
    const box = e.getBoundingClientRect(), words = (e.value || e.textContent).slice(0, 40);
    const scrolls = (x) => /auto|scroll/.test(getComputedStyle(x).overflow);
    if (e.scrollWidth > e.clientWidth + 1 && !scrolls(e)
        && (e.tagName === 'INPUT' || getComputedStyle(e).overflowX !== 'visible')) cut.push(words);
    for (let x = e.parentElement; x && !scrolls(x); x = x.parentElement) {
      const room = x.getBoundingClientRect();
      if (getComputedStyle(x).overflowX === 'hidden' && box.right > room.right + 2) cut.push(words);
    }
  }
  return cut;
}"""
# Texts that something else lies on: of each piece of text in sight, whether it is on top.
COVERED = """() => {
  const found = [], walk = document.createTreeWalker(document.querySelector('.left'), 4);
  const scrolls = (x) => /auto|scroll|hidden/.test(getComputedStyle(x).overflow);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const own = node.parentElement.closest('math') ?? node.parentElement;
    const range = document.createRange();
    if (!node.textContent.trim() || !own.checkVisibility({ visibilityProperty: true })) continue;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const seen = (x, y) => {
        for (let e = own; e; e = e.parentElement) {
          const room = e.getBoundingClientRect();
          const within = x > room.left && x < room.right && y > room.top && y < room.bottom;
          if (scrolls(e) && !within) return false;
        }
        return true;
      };
      for (const x of [box.left + 2, (box.left + box.right) / 2, box.right - 2]) {
        const y = (box.top + box.bottom) / 2, top = document.elementFromPoint(x, y);
        if (box.width < 4 || !seen(x, y) || !top) continue;
        if (top.contains(own) || own.contains(top)) continue;
        found.push(`${node.textContent.trim().slice(0, 40)} is below ${top.className}`);
      }
    }
  }
  return [...new Set(found)];
}"""
FILLED = """() => {
  const list = document.querySelector('.equations').getBoundingClientRect();
  const end = document.querySelector('.q-splitter__before').getBoundingClientRect().bottom;
  return list.height > 0 && Math.abs(list.height - Math.max(260, end - list.top - 4)) < 2;
}"""
# the same in every table, one after the other
ALL = (
    f"async (tables) => {{ const measure = {CUT}, cut = {{}};"
    + """
  for (const name of tables) {
    [...document.querySelectorAll('.table-tabs [role=tab]')]
      .find((tab) => tab.textContent.trim() === name).click();
    while (document.querySelector('.grid-blocks')?.dataset.table !== name)
      await new Promise((again) => setTimeout(again, 20));
    const words = measure();
    if (words.length) cut[name] = words;
  }
  return cut;
}"""
)


@pytest.fixture(scope="module")
def wide(server: Server, browser: Any) -> Any:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(SLOW)
    page = context.new_page()
    page.goto(f"{server.address}/?token={TOKEN}")
    page.get_by_role("tab", name="Geometry").wait_for(timeout=SLOW)
    yield page
    context.close()


def test_the_measure_sees_what_is_cut(wide: Any) -> None:
    wide.get_by_label("theta of link1", exact=True).evaluate("x => { x.value = 'a'.repeat(40); }")
    assert wide.evaluate(CUT) == ["a" * 40]
    wide.get_by_label("theta of link1", exact=True).evaluate("x => { x.value = ''; }")


@pytest.mark.parametrize("name", robots())
def test_every_table_can_be_read(wide: Any, name: str) -> None:
    open_bundled(wide, name)
    assert wide.evaluate(ALL, list(_TABLES)) == {}


def test_nothing_lies_on_a_text(wide: Any) -> None:
    """The cost of a model was below the search of its equations."""
    open_bundled(wide, "stanford")
    wide.get_by_role("tab", name="Models").click()
    wide.get_by_role("button", name="Derive").click()
    wide.locator(".equations math").first.wait_for(timeout=SLOW)
    assert wide.evaluate(COVERED) == []
    wide.evaluate("document.querySelector('.equation-bar').style.width = '100%'")
    assert "inverse dynamics of" in str(wide.evaluate(COVERED))  # the measure sees it
    wide.reload()
    wide.set_viewport_size({"width": 800, "height": 1300})  # the list fills the room that it has
    wide.locator(".equations math").first.wait_for(timeout=SLOW)
    wide.wait_for_function(FILLED)
    wide.set_viewport_size({"width": 1440, "height": 900})
    wide.wait_for_function(FILLED)
    wide.get_by_role("tab", name="Use").click()
    wide.locator(".use-panel").first.wait_for(timeout=SLOW)
    assert wide.evaluate(COVERED) == []


def test_the_header_fits_a_phone(server: Server, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(SLOW)
    page = context.new_page()
    page.goto(f"{server.address}/?token={TOKEN}")
    page.get_by_role("tab", name="Geometry").wait_for()
    header = page.locator(".header")
    assert header.evaluate("x => x.scrollWidth") <= 390
    for label in ("All commands", "Undo", "Redo", "Dark or light", "Fold the picture"):
        box = header.get_by_label(label, exact=True).bounding_box()
        assert box["x"] + box["width"] <= 390, label
    context.close()
