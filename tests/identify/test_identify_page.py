"""What the page on identification shows runs, and its recipes are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.pages import run_page

from cardan.identification import Identification, read_recipe

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = run_page("identification.md")
    assert isinstance(names["result"], Identification)
    assert names["result"].errors["fit"] < 0.02
    assert "ZZ1R" in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted((ROOT / "examples/identification").glob("*.toml")))
def test_the_recipes_are_read(path: Path) -> None:
    assert read_recipe(path).notes
