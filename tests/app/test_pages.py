"""Examples run, and what the pages print is true."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from tests.pages import run_page

from cardan.describe import files
from cardan.identification.read import logs
from cardan.motion import plots
from cardan.sheets.sheet import SUFFIXES
from cardan.sweeps import job

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def script(name: str) -> ModuleType:
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["demo.py", "20000"], ["SYMORO+", "253", "237", "w3_1 =", "agreement", "e-1"]),
        (["first_steps.py"], ["Program(inverse-dynamics of", "void "]),
    ],
)
def test_examples_run(tmp_path: Path, words: list[str], fragments: list[str]) -> None:
    path = ROOT / "examples" / words[0]
    done = subprocess.run(
        [sys.executable, str(path), *words[1:]],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert all(fragment in done.stdout for fragment in fragments), done.stdout


def test_the_demo_writes_c_that_says_what_it_is(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), "1000"],
        capture_output=True, timeout=120, cwd=tmp_path, check=True,
    )  # fmt: skip
    text = (tmp_path / "build" / "demo" / "rx90_inverse_dynamics.c").read_text()
    assert "void rx90_inverse_dynamics(" in text


def test_the_readme_prints_what_it_says() -> None:
    """Its example, and one robot of its table: the ledger has the counts of all."""
    page, maker = (ROOT / "README.md").read_text(encoding="utf-8"), script("make_readme")
    example = maker.EXAMPLE.search(page)
    assert maker.output(example["code"]) == example["output"], "run  python docs/make_readme.py"
    assert maker.speed() in page, "run  python docs/make_readme.py"
    for row in maker.rows(["rx90-base"]):
        assert row in page, "run  python docs/make_readme.py"


def test_the_readme_opens_with_the_two_commands() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line.split("  ")[2] for line in lines[2:4]] == ["make demo", "make test"]


def test_the_readme_shows_all_on_its_first_screen() -> None:
    """What it is, how far it is trusted, how to have it, six lines, the picture."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    screen = "\n".join(lines[:40])
    words = ("docs/trust.md", "pip install cardan", "import", "hero.png")
    places = [screen.index(word) for word in words]
    assert places == sorted(places)


def test_the_picture_has_the_counts_of_the_table() -> None:
    image = pytest.importorskip("PIL.Image")
    counts = image.open(ROOT / "docs/pictures/hero.png").text["counts"]
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    row = f"| PUMA 560 | base | `inverse-dynamics` | **{counts}** |"
    assert row in page, "run  python docs/make_hero.py"


def test_the_readme_reads_well_anywhere() -> None:
    """Its links are whole addresses, in the project's repository, of files that there are."""
    page, home = (ROOT / "README.md").read_text(encoding="utf-8"), PROJECT["urls"]["Source"]
    owner = home.removeprefix("https://github.com/")
    raw = f"https://raw.githubusercontent.com/{owner}/main/"
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert len(links) > 8
    for link in links:
        assert link.startswith((f"{home}/blob/main/", raw)), link
        assert (ROOT / link.removeprefix(f"{home}/blob/main/").removeprefix(raw)).exists(), link
    short = page.split("## Command line")[0]
    for row in re.findall(r"^\| (.*), base parameters \| (\*\*.*\*\*) \|", short, re.M):
        title = row[0].replace("general", "General")
        assert f"| {title} | base | `inverse-dynamics` | {row[1]} |" in page, row


def test_the_page_of_models_is_that_of_the_catalogue() -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert script("make_models").text() == page, "run  python docs/make_models.py"


def test_first_steps_run(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("first-steps.md")
    assert "did you mean 'rx90'" in capsys.readouterr().out


def test_the_page_of_formats_has_what_is_read_and_written() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `.")]
    named = {x: row for row in rows for x in re.findall(r"`(\.\w+)`", row[0])}
    assert set(named) == {*files.READABLE, *files.TABLES}
    assert {x for x, row in named.items() if row[3].startswith("yes")} == set(files.FORMATS)
    assert all(row[2] != "no" for row in rows)
    data = page.split("## Data")[1]
    for name, suffixes in (
        ("recordings", (*logs.TABLES, *logs.BAGS)), ("states", job.READ), ("sheets", SUFFIXES),
    ):  # fmt: skip
        line = next(line for line in data.splitlines() if line.startswith(f"| {name}"))
        read = line.split("; results")[0]
        assert set(re.findall(r"`(\.\w+)`", read)) == set(suffixes), name
    (pictures,) = re.findall(r"pictures (.*?);", data)
    assert tuple(re.findall(r"`(\.\w+)`", pictures)) == plots.FORMATS


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
