"""`cardan generate --package`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cardan.app.cli.main import app
from cardan.package import KINDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "packages.md"
COMMANDS = re.findall(r"^    cardan generate (.*)$", PAGE.read_text(encoding="utf-8"), re.M)


def generate(*words: object) -> Result:
    return CliRunner().invoke(app, ["generate", *map(str, words)])


def test_several_models_with_options(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("ur5", "gravity", "transform", "--package", "c", "-o", out, "--effort", "plain")
    result = generate(*words, "--frame", 2, "--name", "arm")
    assert result.exit_code == 0, result.output
    assert "c package 'arm' of gravity, transform" in result.output
    assert (out / "include" / "arm.h").exists()
    result = generate(*words)
    assert result.exit_code == 1
    assert "--force" in result.output
    assert generate(*words, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "status", "fragment"),
    [
        (("ur5", "gravity", "transform"), 2, "--package KIND"),
        (("ur5", "gravity", "--force"), 2, "--package KIND"),
        (("ur5", "gravity", "--package", "c"), 2, "-o DIR"),
        (("ur5", "gravity", "--package", "c", "-o", "x", "--to", "c"), 2, "leave --to out"),
        (("ur5", "gravity", "--package", "c", "-o", "x", "--as", "plain"), 2, "leave --as out"),
        (("ur5", "gravity", "--package", "cpp", "-o", "x", "--dtype", "float32"), 1, "'dtype'"),
        (("ur5", "gravity", "--package", "c", "-o", "x", "--frame", "2"), 2, "'--frame'"),
        (("ur5", "gravity", "nope", "--package", "c", "-o", "x"), 1, "no model 'nope'"),
        (("ur5", "gravity", "--package", "cobol", "-o", "x"), 1, "Allowed: c, cpp"),
        (("planar2r", "direct-dynamics", "--package", "fmu", "-o", "x"), 1, "--set NAME=VALUE"),
        (("prrrp", "direct-dynamics", "--package", "fmu", "-o", "x"), 1, "links that bend"),
    ],
)
def test_what_is_refused(
    words: tuple[str, ...], status: int, fragment: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    result = generate(*words)
    assert result.exit_code == status, result.output
    assert fragment in result.output
    assert not list(tmp_path.iterdir())


def test_the_page_has_a_command_for_every_kind() -> None:
    assert [words.split("--package ")[1].split()[0] for words in COMMANDS] == list(KINDS)


@pytest.mark.parametrize("words", COMMANDS)
def test_the_commands_of_the_page(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = generate(*words.split())
    assert result.exit_code == 0, result.output
    assert (tmp_path / words.split()[-1] / "README.md").exists()
