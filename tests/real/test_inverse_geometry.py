"""Inverse geometry of arms whose files round their angles and lengths, or measure in other units.

The selection that runs everywhere; `python -m tests.real` runs all arms and writings.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import among
from tests.real.arms import (
    ARMS,
    Writing,
    direct,
    direct_of_urdf,
    table,
    urdf_text,
    writings,
    written_rows,
)
from tests.real.checks import drawn, outcome
from tests.real.strangers import strangers
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app

WAYS = {writing.name: writing for writing in writings()}
TABLES = [
    ("UR10", "4 decimals"), ("UR20", "angles 1e-5"), ("PUMA 560", "angles 1e-10"),
    ("KR6 R700", "8 decimals"), ("IRB 6640", "lengths 1e-9"), ("SCARA", "angles 1e-6"),
    ("Stanford", "angles 1e-9"), ("gantry", "angles 1e-6"), ("youBot", "angles 1e-9"),
    ("Panda, q5 held", "angles 1e-8"), ("five joints of a desk arm", "5 decimals"),
]  # fmt: skip


def in_file(arm: str, writing: Writing, folder: Path) -> Path:
    path = folder / "arm.urdf"
    path.write_text(urdf_text(ARMS[arm], writing), encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "way"), TABLES)
def test_nothing_is_lost_and_the_general_method_agrees(name: str, way: str) -> None:
    arm, writing = ARMS[name], WAYS[way]
    done = outcome(table(arm, writing), arm)
    assert (done.lost, done.differ) == (0, 0), done.solution
    assert done.residual < 1e-9


@pytest.mark.parametrize(
    ("name", "way"), [("UR5", "angles 1e-7"), ("SCARA", "angles 1e-7"), ("youBot", "angles 1e-6")]
)
def test_nearly_parallel_axes_of_a_file_cost_no_digits(name: str, way: str, tmp_path: Path) -> None:
    """Their common normal is 1e6 m away: neither the models nor the answers may know."""
    arm, writing = ARMS[name], WAYS[way]
    text = urdf_text(arm, writing)
    robot = cardan.load(in_file(name, writing, tmp_path))
    done = outcome(robot, arm, direct=lambda q: direct_of_urdf(text, q))
    assert (done.lost, done.differ) == (0, 0), done.solution
    assert done.residual < 1e-12
    assert done.solution.chain.numeric().size < 5
    q = drawn(done.solution, 5)
    T = cardan.model(robot, "transform", frame="tip").compile()(q=q)
    assert np.abs(T - [direct_of_urdf(text, x) for x in q]).max() < 1e-12


def test_a_slide_nearly_along_the_axis_before_keeps_its_direction(tmp_path: Path) -> None:
    text = urdf_text(ARMS["SCARA"], Writing("exact", angle_noise=1e-8, seed=8))
    path = tmp_path / "scara.urdf"
    path.write_text(text, encoding="utf-8")
    q = np.array([0.3, -0.5, 0.7, 2.0])
    T = cardan.model(cardan.load(path), "transform", frame="tip").compile()(q=q[None])[0]
    assert np.abs(T - direct_of_urdf(text, q)).max() < 1e-12


def test_arms_at_the_edge_of_reach_of_the_arm_they_are_rounded_from() -> None:
    """All eight configurations of a UR20 whose exact one just does not reach the pose."""
    arm, writing = ARMS["UR20"], WAYS["4 decimals"]
    ik = cardan.model(table(arm, writing), "inverse-geometry")
    q = np.array([1.12583078, 2.32533464, -1.71330824, 2.48467457, 2.3385731, -3.02524554])
    T = direct(written_rows(arm, writing), q)
    assert ik.method == "paul"
    numeric = ik.chain.numeric()
    count = np.array([0])
    assert ik.solver.is_close(T[None], None, None, numeric, count).all()
    answers = ik.solve(T)
    assert len(answers) == 8
    assert np.abs(answers - q).max(1).min() < 1e-6


@pytest.mark.parametrize("only", ["6 cartesian", "11 five", "27 three-roll", "57 scara"])
def test_arms_of_no_vendor_in_other_formats(only: str, tmp_path: Path) -> None:
    count = int(only.split()[0]) + 1
    for one in strangers(count, 1, tmp_path, only):
        done = outcome(one.robot, one.arm, direct=one.direct)
        assert done.sound, (one.format, one.writing, done)


def test_answers_are_of_the_geometry_as_it_is_written() -> None:
    """The direct model by products of matrices, of the rounded numbers themselves."""
    arm, writing = ARMS["UR5e"], WAYS["4 decimals"]
    ik = cardan.model(table(arm, writing), "inverse-geometry")
    rows = written_rows(arm, writing)
    assert ik.method == "paul"
    assert "rounded" in ik.remarks[0]
    assert ik.remarks[0] in " ".join(ik.equations().split())
    for q in drawn(ik, 5):
        T = direct(rows, q)
        answers = ik.solve(T)
        among(answers, q, 1e-9)
        assert max(np.abs(direct(rows, x) - T).max() for x in answers) < 1e-13


def test_exact_arms_are_left_as_they_are() -> None:
    for name in ("UR5", "SCARA"):
        ik = cardan.model(table(ARMS[name], Writing("exact")), "inverse-geometry")
        assert ik.method == "paul"
        assert ik.remarks == ()


def test_code_of_a_rounded_arm_gives_what_solve_gives() -> None:
    arm, writing = ARMS["UR3e"], WAYS["9 decimals"]
    ik = cardan.model(table(arm, writing), "inverse-geometry")
    module: dict[str, Any] = {}
    exec(ik.emit("python", function="all_of"), module)  # noqa: S102
    for q in drawn(ik, 2):
        T = direct(written_rows(arm, writing), q)
        expected, answers = ik.solve(T), np.array(module["all_of"](T))
        assert answers.shape == expected.shape
        gap = np.abs(answers[:, None] - expected).max(2).min(0)
        assert gap.max() < 1e-9


@pytest.mark.parametrize("name", ["UR5", "Stanford", "SCARA"])
@pytest.mark.parametrize("scale", [1e-6, 1e9])
def test_the_unit_of_length_does_not_matter(name: str, scale: float) -> None:
    arm = ARMS[name]
    counts = []
    for factor in (1.0, scale):
        writing = Writing("other units", scale=factor)
        done = outcome(table(arm, writing), arm, general=False)
        assert (done.lost, done.residual < 1e-9) == (0, True)
        ik = done.solution
        counts.append(ik.solve(ik.chain.numeric().pose(drawn(ik, 10)), report=True).count)
        assert ik.method == "paul"
    assert (counts[0] == counts[1]).all()


def test_symbols_of_any_size() -> None:
    ik = cardan.model(cardan.load("rx90"), "inverse-geometry")
    q = np.array([0.3, -0.4, 0.5, 0.6, 0.7, 0.8])
    for scale in (1.0, 1e-6, 1e6):
        p = {"D3": 0.45 * scale, "RL4": 0.4 * scale}
        answer = ik.solve(ik.chain.numeric(p).pose(q), p=p)
        assert len(answer) == 8
        among(answer, q, 1e-9)


# the command


def run(*words: str, code: int) -> str:
    done = CliRunner().invoke(app, ["ik", *words])
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


def test_the_command_answers_for_a_rounded_file(tmp_path: Path) -> None:
    path = in_file("UR5e", WAYS["9 decimals"], tmp_path)
    text = run(str(path), "--q", "0.3,-1.2,1.5,0.4,0.9,-0.7", "--json", code=0)
    found = json.loads(text)
    assert len(found["configurations"]) in (4, 6, 8)
    assert "rounded" in found["remarks"][0]


def test_out_of_reach_is_explained() -> None:
    text = run("ur5", "--pose", "2,0.1,0.3,0,0,0", code=1)
    assert "out of reach; the position is too far by 1.0" in text
    assert "millimetres" not in text
    assert "looks like millimetres" in run("ur5", "--pose", "400,100,300,0,0,0", code=1)
    text = run(
        "scara", "--set", "D2=0.4", "--set", "D3=0.3", "--pose", "0.4,0.2,0.1,0,0.1,0", code=1
    )
    assert "orientation is impossible there for 4 joints" in text
    assert "0.1 rad" in text


def test_the_distance_that_is_missed() -> None:
    """Of a stretched planar arm it is known."""
    ik = cardan.model(table(ARMS["SCARA"], Writing("exact")), "inverse-geometry")
    T = ik.chain.numeric().pose(np.array([0.4, 0.0, 0.2, 0.1]))
    T[:2, 3] *= 1 + 0.12 / np.linalg.norm(T[:2, 3])
    assert len(ik.solve(T)) == 0
    missed = ik.reach(T)
    assert not missed.reached
    assert "too far by 0.12 m" in missed.text
