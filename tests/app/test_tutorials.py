"""Tutorials and gallery: every page is followed to its end in a folder, and draws its picture."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.app.test_pages import script
from tests.pages import DOCS, run_page
from tests.sheets.test_notebooks import run

import cardan

pytest.importorskip("matplotlib")
TUTORIALS = sorted(path.stem for path in (DOCS / "tutorials").glob("*.md"))
EXERCISES = sorted((DOCS / "exercises").glob("*.ipynb"))


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_runs(page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = script("make_tutorials").run(page, tmp_path)
    assert [path.name for path in pictures] == [f"{page}.png"]
    assert (DOCS / "pictures" / "tutorials" / f"{page}.png").exists()
    printed = capsys.readouterr().out
    text = (DOCS / "tutorials" / f"{page}.md").read_text(encoding="utf-8")
    for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        assert block in printed, block
    if page == "c-for-your-controller":
        compiled(page, tmp_path, printed)


@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_an_exercise_is_solved(path: Path) -> None:
    """Its cells run, and what they assert holds; it is the file that the script writes."""
    cells = script("make_exercises").EXERCISES[path.stem]
    text = path.read_text(encoding="utf-8")
    assert text == script("make_exercises").notebook(cells), "run  python docs/make_exercises.py"
    names: dict[str, object] = {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            run("".join(cell["source"]), names)


def test_there_are_twelve_exercises() -> None:
    assert len(EXERCISES) == 12


@pytest.mark.parametrize("name", ["robotics-toolbox", "sympybotics"])
def test_the_pages_for_those_who_come_from_elsewhere_run(name: str) -> None:
    run_page(f"migrating/{name}.md")


def compiled(page: str, folder: Path, printed: str) -> None:
    """The C program of the page says what Python said."""
    if shutil.which("cc") is None:
        return
    text = (DOCS / "tutorials" / f"{page}.md").read_text(encoding="utf-8")
    source = re.search(r"```c\n(.*?)```", text, re.DOTALL)
    lines = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    assert source is not None
    assert lines is not None
    (folder / "main.c").write_text(source[1], encoding="utf-8")
    done = subprocess.run(["sh", "-ec", lines[1]], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout in printed


def test_the_gallery_shows_robots_that_there_are() -> None:
    """The site draws those that came since."""
    page, maker = (DOCS / "gallery.md").read_text(encoding="utf-8"), script("make_gallery")
    names = re.findall(r"^<!-- counts (\S+) -->$", page, re.MULTILINE)
    assert set(names) <= set(cardan.robots())
    assert all(maker.entry(name) in page for name in ("ur5", "delta", "snake30"))
    for picture in re.findall(r"\]\((pictures/[^)]+)\)", page):
        assert (DOCS / picture).exists(), picture
