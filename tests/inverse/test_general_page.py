"""The page of the general method runs."""

from __future__ import annotations

import pytest
from tests.pages import run_page


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("inverse-geometry-general.md")
    shown = capsys.readouterr().out
    assert "eigenvalue problem" in shown
    assert "True" in shown
