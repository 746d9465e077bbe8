"""The table of the five papers: each claim holds, and the page says what the table says."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest
from tests.papers.claims import CLAIMS, PAPERS

ROOT = Path(__file__).resolve().parents[2]
CHECKS = {claim.check: claim for claim in CLAIMS if callable(claim.check)}
TESTS = sorted({x.check for x in CLAIMS if isinstance(x.check, str) and "::" in x.check})


@pytest.mark.parametrize("claim", CHECKS.values(), ids=lambda claim: f"{claim.paper} {claim.place}")
@pytest.mark.filterwarnings("ignore::cardan.CardanWarning")
def test_claims_hold(claim: object) -> None:
    assert claim.check() <= claim.bound


@pytest.mark.parametrize("node", TESTS)
def test_the_tests_that_claims_name_are_there(node: str) -> None:
    file, _, name = node.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = {x.name for x in tree.body if isinstance(x, ast.FunctionDef)}
    assert name in names


NUMBERED = {  # last equation, figures, tables, sections
    "KC97": (54, "1 2 3", "1 2", "1 2.1 2.2 2.3 3.1 3.2 3.3 3.4 4.1 4.2 4.3 4.4 4.5 4.6 5.1 5.2 5.3"
             " 5.3.1 5.3.2 5.4 5.5 6.1 6.2 6.3 6.4 7 8"),
    "K10": (112, "1 2 3 4", "", "1 2.1 2.2 3.1 3.2 3.3 3.3.1 3.3.2 4 5 6.1 6.2 6.3 7.1 7.2 7.3 8"),
    "BK13": (38, "1 2 3 4", "I II", "I II.A II.B III.A III.B III.C III.D IV.A IV.B IV.C IV.D IV.E V"
             " VI"),
    "B23": (32, "3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9", "", "3.1 3.2 3.2.1 3.2.1.1 3.2.1.2 3.2.1.3"
            " 3.2.2 3.2.2.1 3.2.2.2 3.2.3 3.2.3.1 3.2.3.2 3.2.4 3.3 3.3.1 3.3.2 3.4 3.4.1 3.4.2"
            " 3.4.3 3.4.4 3.5 3.5.1 3.6 3.7 3.8"),
}  # fmt: skip


@pytest.mark.parametrize("paper", NUMBERED)
def test_no_section_equation_figure_or_table_is_left_out(paper: str) -> None:
    last, figures, tables, sections = NUMBERED[paper]
    places = [claim.place for claim in CLAIMS if claim.paper == paper]
    equations: set[int] = set()
    named: dict[str, set[str]] = {"figure": set(), "table": set(), "section": set()}
    for place in places:
        for part in re.split(r",\s*(?![^(]*\))", place):
            numbers = [int(x) for x in re.findall(r"\((?:3\.)?(\d+)[a-c]?\)", part)]
            if numbers:
                equations |= set(range(numbers[0], numbers[-1] + 1))
                continue
            kind = next((key for key in named if part.startswith(key)), "")
            words = re.findall(r"\b(?:\d[\d.]*|[IVX]+(?:\.[A-E])?)(?=$|[\s,])", part)
            if " to " in part and kind == "figure":
                first, end = (int(x.split(".")[-1]) for x in words)
                words = [f"3.{k}" for k in range(first, end + 1)]
            named[kind or _after(place, part) or "section"].update(words)
    assert equations == set(range(1, last + 1))
    assert named["figure"] >= set(figures.split())
    assert named["table"] >= set(tables.split())
    assert named["section"] >= set(sections.split())


def _after(place: str, part: str) -> str:
    """What a bare number belongs to: 'figures 2, 3' goes on."""
    before = place[: place.index(part)]
    kinds = [x for x in ("figure", "table") if x in before]
    return kinds[-1] if kinds else ""


def test_the_page_is_that_of_the_table() -> None:
    text = runpy.run_path(str(ROOT / "docs" / "make_papers.py"))["text"]()
    assert (ROOT / "docs" / "papers.md").read_text(encoding="utf-8") == text
    assert {claim.paper for claim in CLAIMS} == set(PAPERS)
