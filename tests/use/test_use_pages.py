"""The pages on motion: their code runs, from top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import run_page


@pytest.mark.parametrize("page", ["trajectories", "simulation", "control", "sweeps", "workspace"])
def test_the_code_of_a_page_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(f"{page}.md")
