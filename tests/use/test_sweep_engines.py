"""Sweeps elsewhere: Dask, Ray, arrays of SLURM, object stores; kept inputs; what a file says."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from robots import arm, pendulum
from typer.testing import CliRunner

import cardan
from cardan.app.cli import app
from cardan.errors import InputError, UnknownNameError
from cardan.motion.tables import write_table
from cardan.sweeps.draws import random_states
from cardan.sweeps.engines import run_on, work
from cardan.sweeps.job import Job, Place
from cardan.sweeps.sweep import Progress, sweep

SBATCH = """#!{python}
import os, subprocess, sys
*options, script = sys.argv[1:]
lines = open(script).read().splitlines()
array = [x.split("=")[1].split("-") for x in lines if x.startswith("#SBATCH --array=")]
tasks = range(int(array[0][0]), int(array[0][1]) + 1) if array else [None]
for k in tasks:
    given = {{}} if k is None else {{"SLURM_ARRAY_TASK_ID": str(k)}}
    done = subprocess.run(
        ["bash", script], env={{**os.environ, **given}}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
print("17;cluster")
"""


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def noted(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pq.read_metadata(path).metadata[b"cardan.sweep"])["job"]
    return found


def test_drawn_states_are_in_the_result(tmp_path: Path) -> None:
    robot = arm()
    model = cardan.model(robot, "inverse-dynamics")
    sweep(model, 500, tmp_path / "y.parquet", robot=robot, seed=3)
    table = pq.read_table(tmp_path / "y.parquet").to_pydict()
    names = [f"{x}{k}" for x in ("q", "qd", "qdd", "tau") for k in range(1, 7)]
    assert list(table) == names
    columns = {x: np.array([table[f"{x}{k}"] for k in range(1, 7)]).T for x in ("q", "qd", "qdd")}
    tau = np.array([table[f"tau{k}"] for k in range(1, 7)]).T
    np.testing.assert_allclose(model.evaluate(**columns), tau, rtol=1e-9, atol=1e-9)
    without = sweep(model, 500, robot=robot, seed=3, keep=())
    assert list(without.arrays or ()) == ["tau"]
    np.testing.assert_array_equal((without.arrays or {})["tau"], tau)


def test_inputs_of_a_table_are_kept_where_asked() -> None:
    model = cardan.model(pendulum(), "direct-dynamics")
    n = model.inputs["q"][0]
    table = {f"{x}{k}": np.linspace(0, 1, 40) * k for x in model.inputs for k in range(1, n + 1)}
    result = sweep(model, table, keep=["tau"])
    np.testing.assert_array_equal((result.arrays or {})["tau"][:, 0], table["tau1"])
    with pytest.raises(UnknownNameError, match="input to be kept 'qdd'"):
        sweep(model, table, keep=["qdd"])


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    robot = arm()
    model = cardan.model(robot, "gravity")
    sweep(model, 50, tmp_path / "y.parquet", robot=robot, seed=11)
    facts = noted(tmp_path / "y.parquet")
    assert facts["seed"] == 11
    assert facts["robot"] == robot.name
    assert facts["version"] == cardan.__version__
    assert "gravity" in facts["model"]
    assert "SI" in facts["units"]
    assert set(facts["arrays"]) == {"q", "Q"}
    assert len(facts["description"]) == 64
    other = pendulum()
    sweep(cardan.model(other, "gravity"), 50, tmp_path / "z.parquet", robot=other)
    assert noted(tmp_path / "z.parquet")["description"] != facts["description"]


class Here:
    """An engine in this process."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.answers: list[Any] = []

    def capacity(self) -> int:
        return 1

    def submit(self, tasks: Any) -> Any:
        self.waiting.append(tasks)
        return id(tasks)

    def finished(self) -> Any:
        tasks = self.waiting.pop(0)
        answers = work(tasks)
        self.answers += answers
        return id(tasks), answers


def test_workers_write_the_file_where_they_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = pendulum()
    model = cardan.model(robot, "direct-dynamics")
    source = random_states(model, robot, 1000)

    def swept(name: str) -> tuple[Here, str]:
        engine, job = Here(), Job(model, source, 30, "float64", tmp_path / name, "native")
        job.open(False, False, lambda inputs: 0)
        run_on(engine, job, lambda rows: None)
        job.finish()
        return engine, digest(tmp_path / name)

    near, bytes_near = swept("near.parquet")
    assert [isinstance(x.results, int) for x in near.answers] == [True] * 34
    monkeypatch.setattr(Place, "reached", lambda *_: None)  # as on another machine
    far, bytes_far = swept("far.parquet")
    assert not any(isinstance(x.results, int) for x in far.answers)
    assert bytes_near == bytes_far


def test_a_worker_does_not_write_a_file_that_is_not_the_sweeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = pendulum()
    model = cardan.model(robot, "direct-dynamics")
    source = random_states(model, robot, 100)
    job = Job(model, source, 50, "float64", tmp_path / "y.parquet", "native")
    job.open(False, False, lambda inputs: 0)
    place, results = job.address(1), [np.ones((50, 1))]
    others = [
        replace(place, boot="another"), replace(place, note=b"of another job"),
        replace(place, file=(0, 0)), replace(place, folder=tmp_path),
    ]  # fmt: skip
    before = (place.folder / "data").read_bytes()
    assert [x.reached(results, 7) for x in others] == [None] * 4
    assert (place.folder / "data").read_bytes() == before
    assert place.reached(results, 7) is not None
    assert (place.folder / "data").read_bytes() != before
    job.close()


def test_ray_with_a_worker_killed_gives_the_same_bytes(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="ray is not installed")
    robot = pendulum()
    model = cardan.model(robot, "direct-dynamics")
    source = random_states(model, robot, 200_000)
    sweep(model, source, tmp_path / "here.parquet", chunk=5000)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    killed: list[int] = []

    def kill(now: Progress) -> None:
        if not killed and now.done >= 20_000:
            killed.append(ray.get(ray.remote(lambda: os.getpid()).remote()))
            os.kill(killed[0], signal.SIGKILL)

    try:
        sweep(model, source, tmp_path / "there.parquet", chunk=5000, ray="running", progress=kill)
    finally:
        ray.shutdown()
    assert killed
    assert digest(tmp_path / "here.parquet") == digest(tmp_path / "there.parquet")


def test_an_array_of_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts handed to a stand-in of sbatch, which runs the tasks one after the other."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "sbatch").write_text(SBATCH.format(python=sys.executable))
    (tools / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(Path(cardan.__file__).parents[1]))
    words = ["sweep", "ur5", "gravity", "--random", "5000", "--seed", "2", "--batch", "700", "-o"]
    runner = CliRunner()
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    assert runner.invoke(app, [*words, str(here)]).exit_code == 0
    options = ["--slurm", "2", "--sbatch=--time=0:10:00"]
    result = runner.invoke(app, [*words, str(there), *options])
    assert result.exit_code == 0, result.output
    assert "array 17" in result.output
    assert digest(here) == digest(there)
    script = there.with_suffix(".array.sh").read_text()
    assert "#SBATCH --array=0-1" in script
    assert "#SBATCH --time=0:10:00" in script
    assert not (tmp_path / ".there.parquet.array").exists()


def test_parts_that_are_not_finished_are_named(tmp_path: Path) -> None:
    robot = arm()
    model = cardan.model(robot, "gravity")
    given: dict[str, Any] = {"robot": robot, "chunk": 100}
    target = tmp_path / "y.parquet"
    sweep(model, 1000, target, part=(0, 2), **given)
    with pytest.raises(InputError, match="part 1 of 2 is not finished"):
        sweep(model, 1000, target, merge=2, **given)
    sweep(model, 1000, target, part=(1, 2), **given)
    assert sweep(model, 1000, target, merge=2, **given).rows == 1000
    sweep(model, 1000, tmp_path / "one.parquet", **given)
    assert digest(target) == digest(tmp_path / "one.parquet")
    with pytest.raises(InputError, match="counted from 0 to 1"):
        sweep(model, 1000, target, part=(2, 2), **given)


def test_an_object_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    model = cardan.model(arm(), "gravity")
    rng = np.random.default_rng(0)
    table = {f"q{k}": rng.normal(size=300) for k in range(1, 7)}
    write_table(tmp_path / "x.csv", table)
    place = f"memory://{uuid.uuid4().hex}"
    with fsspec.open(f"{place}/x.csv", "wb") as file:
        file.write((tmp_path / "x.csv").read_bytes())
    first = sweep(model, f"{place}/x.csv", f"{place}/y.parquet")
    assert first.path == f"{place}/y.parquet"
    assert sweep(model, f"{place}/x.csv", f"{place}/y.parquet").unchanged
    with fsspec.open(f"{place}/y.parquet", "rb") as file:
        stored = pq.read_table(file)
    expected = sweep(model, table).table
    for name, column in expected.items():
        np.testing.assert_array_equal(stored[name].to_numpy(), column)
    with pytest.raises(InputError, match="holds the results of another sweep"):
        sweep(cardan.model(arm(), "transform"), f"{place}/x.csv", f"{place}/y.parquet")
    with pytest.raises(InputError, match="cannot be read"):
        sweep(model, f"{place}/none.csv")
