"""The page about flexible links runs; pictures and moving modes are written; `cardan modes`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.pages import run_page
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.simulation.shapes import animate_mode, curves, plot_modes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "flexible.md"


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("flexible.md")
    printed = capsys.readouterr().out
    assert "109.664" in printed
    cost = cardan.model(cardan.load("prrrp"), "direct-dynamics").cost
    assert f"{cost.mul} multiplications, {cost.div} divisions and {cost.add} additions" in (
        PAGE.read_text(encoding="utf-8").replace("\n", " ")
    )


def test_the_table_of_the_page_can_be_read() -> None:
    text = PAGE.read_text(encoding="utf-8")
    block = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert block is not None
    import tomllib

    robot = cardan.load(tomllib.loads(block[1]))
    assert robot.ne == 3


def test_modes_on_the_command_line(tmp_path: Path) -> None:
    run = CliRunner().invoke
    shown = run(app, ["modes", "prrrp", "--q", "0,0.25"])
    assert shown.exit_code == 0
    assert "109.664" in shown.output
    picture = tmp_path / "modes.png"
    data = json.loads(run(app, ["modes", "prrrp", "--json", "-o", str(picture)]).stdout)
    assert len(data["frequencies"]) == 6 == len(data["shapes"])
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(app, ["modes", "rx90"]).exit_code == 1
    assert run(app, ["modes", "prrrp", "--q", "a"]).exit_code == 1
    assert run(app, ["modes", "prrrp", "-o", str(tmp_path / "x.txt")]).exit_code == 1


def test_moving_modes_are_written(tmp_path: Path) -> None:
    for name, q in (("prrrp", [0, 0]), ("flexible1r", [0.4])):
        robot = cardan.load(name)
        modes = cardan.natural_frequencies(robot, q, modes=True)
        page = tmp_path / f"{name}.html"
        animate_mode(robot, modes, page, mode=2)
        text = page.read_text(encoding="utf-8")
        assert "http" not in text  # nothing is fetched
        assert f"mode 2: {modes.frequencies[1]:.4g} Hz" in text
        animate_mode(robot, modes, tmp_path / f"{name}.gif")
        assert (tmp_path / f"{name}.gif").read_bytes().startswith(b"GIF")
        plot_modes(robot, modes, tmp_path / f"{name}.svg", [1, 2])
    with pytest.raises(cardan.CardanError, match="mode 99"):
        animate_mode(robot, modes, tmp_path / "x.html", mode=99)


def test_curves_end_where_the_frames_are() -> None:
    robot = cardan.load("flexible1r")
    q = np.array([0.4, 1e-3, 0.02, 0.1, 1e-3, 0.05, 0.2])
    tip = cardan.model(robot, "transform", frame=2).evaluate(q=q)[:3, 3]
    assert np.linalg.norm(curves(robot, q)[0][-1] - tip) < 0.01  # but for the foreshortening


def test_the_example_of_input_shaping_runs(tmp_path: Path) -> None:
    path = PAGE.parents[1] / "examples" / "flexible_arm.py"
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    swings = [float(x) for x in re.findall(r"swings by\s+([0-9.]+) mm", done.stdout)]
    assert swings[1] < 0.1 * swings[0]
