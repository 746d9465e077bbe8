"""The table of the five papers: each claim holds, and the page says what the table says."""

from __future__ import annotations

import ast
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


def test_the_page_is_that_of_the_table() -> None:
    text = runpy.run_path(str(ROOT / "docs" / "make_papers.py"))["text"]()
    assert (ROOT / "docs" / "papers.md").read_text(encoding="utf-8") == text
    assert {claim.paper for claim in CLAIMS} == set(PAPERS)
