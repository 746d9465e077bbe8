"""What the page on identification shows runs, and its recipes are read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cardan.use.identification import Identification, read_recipe

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "identification.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "identification.md", "exec"), names)  # noqa: S102
    assert isinstance(names["result"], Identification)
    assert names["result"].errors["fit"] < 0.02
    assert "ZZ1R" in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted((ROOT / "examples/identification").glob("*.toml")))
def test_the_recipes_are_read(path: Path) -> None:
    assert read_recipe(path).notes
