"""The page about loops runs, and so does its example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.pages import run_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("loops.md")
    printed = capsys.readouterr().out
    assert "42 MX7 + d8*M8" in printed
    assert printed.rstrip().endswith("3")


def test_the_pick_and_place_example(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "delta_pick_and_place.py")],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert "peak torques 51.0 26.1 26.1 N m" in done.stdout
