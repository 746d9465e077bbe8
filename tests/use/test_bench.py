"""`cardan bench`: every system on the same states, agreement before times."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.bench import Report, bench
from cardan.bench.case import MODELS, comparable
from cardan.bench.humanoid import humanoid
from cardan.bench.limits import copy_bandwidth, fma_peak
from cardan.errors import CardanError


@pytest.fixture(scope="module")
def report() -> Report:
    robots = [cardan.load("ur5"), cardan.load("tree")]
    return bench(robots, states=1000, rounds=1)


def test_every_system_agrees(report: Report) -> None:
    assert {row.system for row in report.rows} >= {"Cardan"}
    assert {(row.robot, row.model) for row in report.rows} == {
        (cardan.load(name).name, model) for name in ("ur5", "tree") for model in MODELS
    }
    assert [row for row in report.rows if not row.agrees] == []


def test_a_humanoid_on_a_floating_base() -> None:
    robot = humanoid()
    assert robot.n == 29
    report = bench([robot], states=1000, rounds=1, peers=["pinocchio", "mujoco"])
    assert [row for row in report.rows if not row.agrees] == []


def test_floating_robots_whose_joints_are_not_depth_first() -> None:
    robot = cardan.load("tree")
    robot = replace(robot, base=replace(humanoid().base))
    report = bench([robot], states=1000, rounds=1, peers=["pinocchio", "mujoco"])
    assert [row for row in report.rows if not row.agrees] == []


def test_skidy_where_it_comes_to_an_end() -> None:
    pytest.importorskip("skidy")
    report = bench([cardan.load("cartpole")], states=1000, rounds=1, peers=["skidy"])
    rows = {row.model: row for row in report.rows if row.system == "skidy C"}
    assert (
        set(rows) == {"inverse-dynamics", "inertia-matrix"} or "skidy on Cart-pole" in report.absent
    )
    assert all(row.agrees and row.operations for row in rows.values())


def test_fractions_are_of_the_limits(report: Report) -> None:
    for row in report.rows:
        if row.system == "Cardan":
            peak, memory = report.peak(row), report.memory(row)
            assert peak is not None
            assert memory is not None
            assert 0 < peak < 1.2
            assert 0 < memory < 2


def test_peers_that_were_left_out_are_said(report: Report) -> None:
    text = str(report)
    assert all(f"not compared: {name}" in text for name in report.absent)


def test_ratios_are_to_peers_that_agree(report: Report) -> None:
    rows = [row for row in report.rows if row.robot == report.rows[0].robot]
    wrong = tuple(
        replace(row, agrees=False) if not row.system.startswith("Cardan") else row for row in rows
    )
    assert replace(report, rows=wrong).ratio(wrong[0]) is None


def test_saved_and_drawn(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    report.save(tmp_path / "figures.json")
    report.picture(tmp_path / "figures.png")
    with pytest.raises(CardanError, match="a picture is written as"):
        report.picture(tmp_path / "figures.bmp")
    data = json.loads((tmp_path / "figures.json").read_text())
    assert len(data["rows"]) == len(report.rows)
    assert (tmp_path / "figures.png").read_bytes().startswith(b"\x89PNG")


def test_robots_no_peer_can_hold_are_refused() -> None:
    with pytest.raises(cardan.CardanError, match="symbols without a value"):
        comparable(cardan.load("rx90"))
    with pytest.raises(cardan.CardanError, match="closed loops"):
        comparable(cardan.load("fivebar"))


def test_limits_of_the_machine_are_plausible() -> None:
    assert 1e9 < fma_peak("float64") < fma_peak("float32") * 1.2
    assert copy_bandwidth(16) > 1e8


def test_command() -> None:
    done = CliRunner().invoke(
        app, ["bench", "cartpole", "--states", "1000", "--rounds", "1", "--peer", "casadi"]
    )
    assert done.exit_code == 0
    assert "Cart-pole" in done.stdout
    wrong = CliRunner().invoke(app, ["bench", "cartpole", "--peer", "nobody"])
    assert wrong.exit_code == 1


def test_a_picture_of_no_known_kind_is_refused_before_measuring(tmp_path: Path) -> None:
    found = CliRunner().invoke(app, ["bench", "--plot", str(tmp_path / "x.bmp")])
    assert found.exit_code == 1
    assert "a picture is written as" in found.output
