"""What a project has around its source: files that parse, versions that agree, links that hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from cardan import __version__

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_stated_alike() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in recipe


def test_the_recipe_has_the_dependencies() -> None:
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")
    for line in PROJECT["dependencies"]:
        if ";" not in line:
            name, bounds = re.match(r"([a-z]+)(.*)", line).groups()  # type: ignore[union-attr]
            assert f"- {name} {bounds}\n" in recipe, line


def test_workflows_and_templates_are_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    files = sorted((ROOT / ".github").rglob("*.yml"))
    assert len(files) == 5
    for path in files:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert content, path
    tests = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    matrix = tests["jobs"]["systems"]["strategy"]["matrix"]
    supported = [x.rpartition(" ")[2] for x in PROJECT["classifiers"] if "Python :: 3." in x]
    assert matrix["python"] == supported
    for path in re.findall(r"tests/[\w/]+(?:\.py)?", str(tests)):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_what_the_pages_name_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (ROOT / target).exists(), target
    for path in re.findall(r"`((?:src|tests|docs|packaging)/[\w/.-]+)`", text):
        if "NAME" not in path:
            assert (ROOT / path).exists(), path
