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
