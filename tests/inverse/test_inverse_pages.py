"""The page of inverse geometry runs, and the derivations are those of today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from tests.pages import run_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("inverse-geometry.md")
    assert "paul - its equations" in capsys.readouterr().out


def test_the_derivations_are_those_printed() -> None:
    spec = importlib.util.spec_from_file_location("make", ROOT / "docs" / "make_inverse.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "derivations.md").read_text(encoding="utf-8")
    assert module.text() == page, "run  python docs/make_inverse.py"
