"""The page about loops runs."""

from __future__ import annotations

import pytest
from tests.pages import run_page


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("loops.md")
    printed = capsys.readouterr().out
    assert "42 MX7 + d8*M8" in printed
    assert printed.rstrip().endswith("3")
