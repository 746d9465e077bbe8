"""The Python package: its own tests, and an installation where that is possible."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.package.building import built, robot_called, run
from tests.package.test_package_write import HOSTILE

MODELS = ["inverse-dynamics", "transform", "energies", "lagrange"]


def clean(**more: str) -> dict[str, str]:
    """The environment without what would make Cardan or pytest's options visible."""
    kept = {k: x for k, x in os.environ.items() if not k.startswith(("PYTEST", "PYTHON"))}
    return {**kept, **more}


@pytest.mark.parametrize("robot", ["rx90", "tree"])
def test_its_own_tests_pass(robot: str, tmp_path: Path) -> None:
    folder = built(robot, MODELS, "python", tmp_path, effort="plain")
    found = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                cwd=folder, env=clean())  # fmt: skip
    assert "40 passed" in found


def test_it_needs_numpy_only_and_says_its_parameters(tmp_path: Path) -> None:
    folder = built("planar2r", ["inverse-dynamics"], "python", tmp_path)
    script = (
        "import sys, planar_2r as robot; f = robot.inverse_dynamics;"
        "print([m for m in ('cardan', 'scipy') if m in sys.modules], f.parameters[0], f.values)"
    )
    env = clean(PYTHONPATH=str(folder / "src"))
    assert run(sys.executable, "-c", script, env=env).split() == ["[]", "L1", "{}"]


def test_the_project_file_is_valid(tmp_path: Path) -> None:
    folder = built(robot_called(HOSTILE), ["gravity"], "python", tmp_path, name="arm")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "arm"
    assert "_evil" in project["description"]
    env = clean(PYTHONPATH=str(folder / "src"))
    run(sys.executable, "-W", "error", "-c", "import arm; arm.gravity([1, 2])", env=env)


def test_pip_installs_it(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    folder = built(robot_called("planar"), ["gravity"], "python", tmp_path, name="arm")
    target = tmp_path / "target"
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
         "--no-build-isolation", "--disable-pip-version-check", "--target", target, folder],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if "No module named pip" in done.stderr:
        pytest.skip("no pip in this environment")
    assert done.returncode == 0, done.stderr[-2000:]
    env = clean(PYTHONPATH=str(target))
    assert run(sys.executable, "-c", "import arm; print(arm.gravity([[1, 2]]).shape)",
               env=env, cwd=tmp_path).strip() == "(1, 2)"  # fmt: skip
