"""Tutorials and gallery: every page is followed to its end in a folder, and draws its picture."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.app.test_pages import script
from tests.pages import DOCS, run_page
from tests.sheets.test_notebooks import run

import cardan

pytest.importorskip("matplotlib")
TUTORIALS = sorted(path.stem for path in (DOCS / "tutorials").glob("*.md"))
PRINTED = {  # by worked examples; the torques of the Delta are [B23] figure 3.7
    "examples/delta_pick_and_place.py": "peak torques 51.0 26.1 26.1 N m",
    "examples/eel.py": "the head went 0.61",
}
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


def drawers() -> list[str]:
    """The files that draw the worked examples of the gallery, but for the tutorials."""
    return sorted({row[4] for row in script("make_gallery").EXAMPLES if row[4]})


@pytest.mark.parametrize("path", drawers())
def test_a_worked_example_draws_its_picture(
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every picture that the gallery says is of this file is drawn, and is not empty."""
    import matplotlib.pyplot as plt

    wanted = [row[2] for row in script("make_gallery").EXAMPLES if row[4] == path]
    monkeypatch.chdir(tmp_path)
    if path.startswith("examples/"):
        monkeypatch.setattr(sys, "argv", [path, wanted[0]])
        runpy.run_path(str(DOCS.parent / path), run_name="__main__")
    elif path == "docs/make_inverse.py":
        script("make_inverse").picture(tmp_path / wanted[0])
    else:
        script(Path(path).stem).main(tmp_path)
    plt.close("all")
    assert PRINTED.get(path, "") in capsys.readouterr().out
    for name in wanted:
        image = plt.imread(tmp_path / name)
        assert image[..., :3].std() > 0.02, name


def test_there_are_twenty_worked_examples() -> None:
    page, rows = (DOCS / "gallery.md").read_text(encoding="utf-8"), script("make_gallery").EXAMPLES
    assert len(rows) >= 20
    assert all(script("make_gallery").example(*row) in page for row in rows)
    assert all(row[4] or row[3].removesuffix(".md").startswith("tutorials/") for row in rows)


def test_the_gallery_shows_robots_that_there_are() -> None:
    """The site draws those that came since."""
    page, maker = (DOCS / "gallery.md").read_text(encoding="utf-8"), script("make_gallery")
    names = re.findall(r"^<!-- counts (\S+) -->$", page, re.MULTILINE)
    assert set(names) == set(cardan.robots()), "run  python docs/make_gallery.py NAME"
    assert all(maker.entry(name) in page for name in ("ur5", "delta", "snake30"))
    for picture in re.findall(r"\]\((pictures/[^)]+)\)", page):
        assert (DOCS / picture).exists(), picture
