"""cardan identify, cardan excite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.identify.synthetic import arm, recorded
from typer.testing import CliRunner, Result

import cardan
from cardan.app.cli.main import app
from cardan.motion.tables import write_table


def cli(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    arm().save(tmp_path / "arm.toml")
    for name, seed in (("log", 0), ("other", 1)):
        log = recorded(arm(), noise=0.01, seed=seed)
        table = {"t": log["t"]}
        for key in ("q", "tau"):
            table |= {f"{key}{j}": x for j, x in enumerate(log[key].T, 1)}
        write_table(tmp_path / f"{name}.csv", table)
    return tmp_path


def test_identify(files: Path) -> None:
    done = cli("identify", files / "arm.toml", files / "log.csv", "-o", files / "out",
               "--validate", files / "other.csv", "--hold-out", 0.2)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.index("relative torque error") < done.stdout.index("ZZ1R")
    assert "identifying: solving" in done.stderr
    assert "validation, base parameters" in done.stdout
    names = {path.name for path in (files / "out").iterdir()}
    assert {"report.html", "report.md", "robot.toml", "robot.par", "robot.urdf"} <= names
    assert cardan.load(files / "out" / "robot.toml").n == 3


def test_identify_as_json(files: Path) -> None:
    done = cli("identify", files / "arm.toml", files / "log.csv", "--base-only", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["errors"]["fit"] < 0.02
    assert found["consistent"] is None
    assert {row["name"] for row in found["parameters"]} >= {"ZZ1R", "FV1", "FS3"}


def test_identify_refuses_with_one_message(files: Path) -> None:
    (files / "bad.toml").write_text("[filtre]\n")
    for args in (
        ["identify", files / "arm.toml", files / "none.csv"],
        ["identify", files / "arm.toml", files / "log.csv", "--recipe", files / "bad.toml"],
        ["identify", "planar2r", files / "log.csv"],
    ):
        done = cli(*args)
        assert done.exit_code == 1, done.output
        assert sum(line.startswith("cardan: ") for line in done.stderr.splitlines()) == 1
        assert "Traceback" not in done.output
    assert cli("identify", files / "arm.toml", files / "log.csv", "--hold-out", 2).exit_code == 2


def test_excite(files: Path) -> None:
    done = cli("excite", files / "arm.toml", "-o", files / "m.csv", "--iterations", 2, "--velocity",
               "1,1,2", "--period", 5)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "condition number" in done.stdout
    assert (files / "m.csv").read_text().startswith("t,q1,q2,q3,qd1")
    done = cli("excite", files / "arm.toml", "--iterations", 0, "--json")
    assert len(json.loads(done.stdout)["a"]) == 5
    assert cli("excite", files / "arm.toml", "--velocity", "fast").exit_code == 1


def test_an_exciting_motion_is_drawn_beside_its_file(files: Path, tmp_path: Path) -> None:
    words = ("excite", files / "arm.toml", "--iterations", 0, "-o", tmp_path / "motion.csv")
    assert cli(*words).exit_code == 0
    assert (tmp_path / "motion.png").stat().st_size > 10_000
