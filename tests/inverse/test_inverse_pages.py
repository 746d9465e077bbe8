"""The page of inverse geometry runs, and the derivations are those of today."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "inverse-geometry.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "inverse-geometry.md", "exec"), names)  # noqa: S102
    assert "paul - its equations" in capsys.readouterr().out


def test_the_derivations_are_those_printed() -> None:
    spec = importlib.util.spec_from_file_location("make", ROOT / "docs" / "make_inverse.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "derivations.md").read_text(encoding="utf-8")
    assert module.text() == page, "run  python docs/make_inverse.py"
