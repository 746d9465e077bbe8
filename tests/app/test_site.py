"""The site without building it: every page is in the navigation, every link leads to a page and a
heading that there is, the reference has every name and every option. `make docs` builds it all."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.app.test_pages import script
from tests.laws.__main__ import laws
from tests.pages import DOCS

import cardan

PAGES = sorted(path for path in DOCS.rglob("*.md") if "site" not in path.parts)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)")


@pytest.fixture(scope="module")
def site() -> Iterator[dict[str, ModuleType]]:
    """The modules of docs/site."""
    names = ("navigation", "docstrings", "reference", "links")
    sys.path.insert(0, str(DOCS / "site"))
    try:
        yield {name: __import__(name) for name in names}
    finally:
        sys.path.remove(str(DOCS / "site"))
        for name in names:
            sys.modules.pop(name, None)


def test_every_page_stands_once_in_the_navigation(site: dict[str, ModuleType]) -> None:
    listed = [page.path for part in site["navigation"].sections() for page in part.pages]
    assert len(listed) == len(set(listed))
    assert all((DOCS / path).exists() for path in listed)
    own = {path.relative_to(DOCS).as_posix() for path in [*PAGES, *DOCS.rglob("*.ipynb")]}
    own -= {"index.md"}
    assert own <= set(listed), "enter the page in a table of docs/index.md"


def headings(path: Path, slug: object) -> set[str]:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {slug(re.sub(r"[`*]", "", title)) for title in re.findall(r"^#+ (.+)$", text, re.M)}  # type: ignore[operator]


def test_links_into_pages_lead_to_headings(site: dict[str, ModuleType]) -> None:
    for page in PAGES:
        for target, heading in LINK.findall(page.read_text(encoding="utf-8")):
            path = page.parent / target if target else page
            assert heading in headings(path, site["navigation"].slug), f"{page.name}: {heading}"


def test_the_reference_has_every_name(site: dict[str, ModuleType]) -> None:
    pages = dict(site["reference"].api())
    names = [*cardan.__all__, *(f"control.{name}" for name in cardan.control.__all__)]
    names.remove("__version__")
    assert len(pages) == len(names) + 1
    assert len({path.lower() for path in pages}) == len(pages)  # some systems know no capitals
    for name in names:
        assert any(f"cardan.{name}" in text for text in pages.values()), name
        assert f"`{name.rpartition('.')[2]}`](" in pages["api/index.md"]


def test_the_reference_has_every_command_and_option(site: dict[str, ModuleType]) -> None:
    page = site["reference"].commands()
    groups = site["reference"].GROUPS
    assert [line[4:] for line in page.splitlines() if line.startswith("### ")] == [
        verb for verbs in groups.values() for verb in verbs
    ]
    assert "| `--bandwidth RAD/S` | Of a control law." in page


def test_the_page_of_trust_is_of_this_library() -> None:
    """One of its numbers is computed again; papers and laws are those of the tests."""
    pytest.importorskip("pinocchio")
    maker = script("make_trust")
    page = (DOCS / "trust.md").read_text(encoding="utf-8")
    assert maker.papers().split("\n\n")[0] in page, "run  python docs/make_trust.py"
    listed = re.findall(r"^\| ([\w ]+) \| \d+ \| 0 \|$", page, re.MULTILINE)
    assert len(listed) > 25
    assert set(listed) <= {name.replace("_", " ") for name in laws.LAWS}
    robot = maker.numeric("planar3r")
    calls = maker.peer_calls("pinocchio", robot)
    assert set(calls) >= {"inverse-dynamics", "energies", "direct-dynamics-derivatives"}
    assert maker.difference(robot, "inverse-dynamics", calls["inverse-dynamics"]) < 1e-12


def test_docstrings_are_escaped(site: dict[str, ModuleType]) -> None:
    lines = ["`a` times *b* of q_", "", ">>> a * b", "2", "", "so:", "    x | y", "end"]
    assert site["docstrings"].as_rst(lines) == [
        r"``a`` times \*b\* of q\_", "", ">>> a * b", "2", "", "so:", "", "::", "", "    x | y", "",
        "end",
    ]  # fmt: skip


@pytest.mark.parametrize("typing", ["", "typing.", "~typing."])
def test_types_of_arguments_are_words(site: dict[str, ModuleType], typing: str) -> None:
    words = f"(q: {typing}Annotated[{typing}Any, 'numbers'] = None, to: str)"
    assert site["docstrings"].plain_types(words) == "(q: numbers = None, to: str)"


def test_links_that_lead_nowhere_are_seen(site: dict[str, ModuleType], tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<p id="here">', encoding="utf-8")
    good = ["b.html", "b.html#here", "#top", "https://toml.io"]
    bad = ["c.html", "b.html#there", "#here", "https://nowhere", "javascript:x"]
    text = '<p id="top">' + "".join(f'<a href="{link}"></a>' for link in good + bad)
    (tmp_path / "a.html").write_text(text, encoding="utf-8")
    assert site["links"].broken(tmp_path) == (9, [f"a.html: {link}" for link in bad])
