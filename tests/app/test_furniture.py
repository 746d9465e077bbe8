"""What a project has around its source: files that parse, versions that agree, links that hold."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.lowest import constraints

from cardan import __version__
from cardan.app.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_version_is_stated_alike() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in recipe


def test_the_recipe_has_what_conda_forge_asks_for(tmp_path: Path) -> None:
    """An address and its checksum, who keeps it, and the bounds of the latest Python."""
    yaml, jinja2 = pytest.importorskip("yaml"), pytest.importorskip("jinja2")
    spec = importlib.util.spec_from_file_location("recipe", ROOT / "packaging/conda/recipe.py")
    assert spec is not None
    assert spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    sdist = tmp_path / f"cardan-{__version__}.tar.gz"
    sdist.write_bytes(b"sdist")
    recipe = yaml.safe_load(jinja2.Template(maker.recipe(sdist)).render(PYTHON="python"))
    assert recipe["package"]["version"] == __version__
    assert recipe["source"]["url"].endswith(f"/v{__version__}/{sdist.name}")
    assert recipe["source"]["sha256"] == hashlib.sha256(b"sdist").hexdigest()
    assert recipe["extra"]["recipe-maintainers"]
    supported = PROJECT["requires-python"].removeprefix(">=")
    listed = dict(line.split(" ") for line in recipe["requirements"]["run"])
    assert listed.pop("python") == f">={supported}"
    latest = max(line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: 3." in line)
    lowest = constraints(tuple(map(int, latest.split("."))))  # type: ignore[arg-type]
    assert {name: bounds.split(",")[0] for name, bounds in listed.items()} == {
        name: f">={version}" for name, version in lowest.items()
    }
    for line in PROJECT["dependencies"]:  # versions that are left out
        name = re.split("[><]", line)[0]
        assert set(re.findall(r"!=[\d.]+", line)) <= set(listed[name].split(",")), line
    with pytest.raises(SystemExit):
        maker.recipe(tmp_path / "cardan-0.0.0.tar.gz")


JOB = {
    "name", "needs", "runs-on", "timeout-minutes", "strategy", "permissions", "environment",
    "steps",
}  # fmt: skip
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def workflow(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = pytest.importorskip("yaml").safe_load(path.read_text("utf-8"))
    return content


def before(jobs: dict[str, Any], name: str) -> set[str]:
    """The jobs that a job waits for; RecursionError if they wait for one another."""
    needs = jobs[name].get("needs", [])
    first = [needs] if isinstance(needs, str) else needs
    return {*first, *(x for job in first for x in before(jobs, job))}


def test_templates_are_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    files = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert len(files) == 3
    assert all(yaml.safe_load(path.read_text(encoding="utf-8")) for path in files)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_can_run(path: Path) -> None:
    """Jobs and steps have the keys that there are, what they wait for exists, every value of the
    matrix that is used is given, and an artifact is kept by a job that ran before."""
    content = workflow(path)
    assert set(content) - {True} <= {"name", "permissions", "concurrency", "jobs"}  # True: on
    assert content[True]
    jobs, kept = content["jobs"], {}
    for name, job in jobs.items():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/upload-artifact@"):
                kept[step["with"]["name"]] = name
    for name, job in jobs.items():
        assert {"runs-on", "steps"} <= set(job) <= JOB, name
        assert before(jobs, name) <= set(jobs), name
        matrix = job.get("strategy", {}).get("matrix", {})
        assert set(re.findall(r"\$\{\{ matrix\.(\w+) \}\}", str(job))) == set(matrix), name
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            assert set(step) <= {"uses", "run", "name", "with", "env", "shell", "if"}, step
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v1)", step.get("uses", "a/b@v1"))
            assert "with" not in step or "uses" in step, step
            if "*.whl" in step.get("run", ""):
                assert step["shell"] == "bash", "other shells do not expand it"
            if step.get("uses", "").startswith("actions/download-artifact@"):
                given = step["with"]
                wanted = re.findall(r"\w+", given.get("pattern", given.get("name", "")))
                assert wanted, step
                assert {kept[artifact] for artifact in wanted} <= before(jobs, name), step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_there_is(path: Path) -> None:
    content = workflow(path)
    lines = [s["run"] for job in content["jobs"].values() for s in job["steps"] if "run" in s]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
    assert targets is not None
    made = {
        word for line in lines for x in re.findall(r"^make ([\w ]+)", line) for word in x.split()
    }
    assert made <= {*targets[1].split(), "DOCS_OPTIONS"}
    for word in re.findall(r"(?:tests|src|packaging)/[\w/]+(?:\.py)?", " ".join(lines)):
        assert (ROOT / word).exists(), word
    extras = {
        x for line in lines for y in re.findall(r"whl\)\[([\w,]+)\]", line) for x in y.split(",")
    }
    assert extras <= set(PROJECT["optional-dependencies"])
    for job in content["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        supported = [x.rpartition(" ")[2] for x in PROJECT["classifiers"] if "Python :: 3." in x]
        if path.stem == "tests" and matrix:
            assert matrix["python"] == supported


def test_a_release_publishes_last() -> None:
    """What can fail comes before what cannot be taken back, and all of it is attached."""
    jobs = workflow(ROOT / ".github/workflows/release.yml")["jobs"]
    assert {"build", "try", "site"} <= before(jobs, "publish")
    assert {job for job in jobs if "publish" in before(jobs, job)} == {"deploy", "attach"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"build/release/{name}" in makefile for name in ("sbom.json", "meta.yaml"))


def test_workflows_follow_their_schema() -> None:
    pytest.importorskip("check_jsonschema")
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run([*words, "vendor.github-workflows", *map(str, WORKFLOWS)])
    assert done.returncode == 0


def test_the_sdist_has_what_its_tests_and_its_makefile_need() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = tomllib.loads(text)["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    needed = {".github", "Makefile", "src", "tests", "docs", "examples", "bench", "packaging"}
    assert needed <= {path.strip("/") for path in listed}
    assert all((ROOT / path.strip("/")).exists() for path in listed)


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
