"""The public face: `cardan.` has every name, quickly, and types that find a user's mistakes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests import typed_menu
from tests.pages import DOCS

import cardan
from cardan import control, errors

SCRIPT = Path(__file__).with_name("users_script.py")


def test_every_name_is_there_and_listed() -> None:
    assert dir(cardan) == sorted(cardan.__all__)
    assert all(getattr(cardan, name) is not None for name in cardan.__all__)
    assert [getattr(control, name).__name__ for name in dir(control)] == sorted(control.__all__)
    with pytest.raises(AttributeError, match="no attribute 'modle'"):
        cardan.modle  # type: ignore[attr-defined]


def test_the_docs_list_every_name() -> None:
    page = (DOCS / "first-steps.md").read_text(encoding="utf-8")
    table = page.split("## What is there\n")[1].split("\n## ")[0]
    names = {*cardan.__all__, *control.__all__} - {"__version__"}
    assert [name for name in sorted(names) if f"`{name}`" not in table] == []


def test_every_kind_of_error_is_public() -> None:
    kinds = [x for x in vars(errors).values() if isinstance(x, type)]
    names = {x.__name__ for x in kinds if issubclass(x, cardan.CardanError | cardan.CardanWarning)}
    assert names <= set(cardan.__all__)


def test_the_library_is_imported_when_it_is_used() -> None:
    script = (
        "import sys, cardan;"
        "print(*sorted(m for m in sys.modules if m.split('.')[0] in ('cardan', 'numpy')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    few = "cardan cardan.catalogue cardan.errors cardan.renamed cardan.version"
    assert done.stdout.strip() == few, done.stderr


def test_the_types_of_the_menu_are_those_of_the_catalogue() -> None:
    written = typed_menu.FILE.read_text(encoding="utf-8")
    assert written == typed_menu.text(), "run  python -m tests.typed_menu"


def test_a_type_checker_finds_the_mistakes_of_a_user_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    settings = tmp_path / "mypy.ini"
    text = "[mypy]\nfollow_imports = silent\npython_version = 3.11\n"
    settings.write_text(text, encoding="utf-8")
    words = ["--strict", f"--cache-dir={tmp_path}", f"--config-file={settings}", str(SCRIPT)]
    source = str(Path(cardan.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": source},
    )  # fmt: skip
    reported = {int(line) for line in re.findall(r"\.py:(\d+): error", done.stdout)}
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    mistakes = {k for k, line in enumerate(lines, 1) if "  # mistake: " in line}
    assert len(mistakes) >= 9
    assert reported == mistakes, done.stdout + done.stderr
