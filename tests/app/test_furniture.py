"""What a project has around its source: files that parse, versions that agree, links that hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from cardan import __version__
from cardan.app.cli.main import app

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


def test_the_container_copies_what_there_is_and_starts_the_server() -> None:
    lines = (ROOT / "packaging/Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"]} <= set(copied)
    assert all((ROOT / path).exists() for path in copied)
    (start,) = (line for line in lines if line.startswith("ENTRYPOINT"))
    command: Any = typer.main.get_command(app)
    options = command.commands["serve"].params
    known = {name for parameter in options for name in (*parameter.opts, *parameter.secondary_opts)}
    assert set(re.findall(r"(?<= )--[a-z-]+", start)) <= known
    optional = set(PROJECT["optional-dependencies"])
    extras = re.findall(r"\[([\w,]+)\]\"", "\n".join(lines).split("ENTRYPOINT")[0])
    assert {x for extra in extras for x in extra.split(",")} <= optional


def test_the_changelog_has_this_version_and_its_date() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d$", text, re.M)


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_what_the_pages_name_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (ROOT / target).exists(), target
    for path in re.findall(r"`((?:src|tests|docs|packaging)/[\w/.-]+)`", text):
        if "NAME" not in path:
            assert (ROOT / path).exists(), path
