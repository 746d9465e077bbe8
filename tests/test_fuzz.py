"""A short run of the fuzz harness, in its own process: audit hooks cannot be removed."""

import subprocess
import sys
from pathlib import Path


def test_mutated_formulas_and_files_end_well():
    counts = {"--expressions": "2000", "--files": "300", "--tables": "60"}
    given = [word for pair in counts.items() for word in pair]
    command = [sys.executable, "-m", "tests.fuzz", *given]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "expressions: 2000 cases" in done.stdout
    assert "mat: 3 cases" in done.stdout
