"""The command `cardan ik`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.compare import among
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.describe.robot import Joint, Link, Robot
from cardan.exact import exact

POSE = "1 0 0 0.4  0 1 0 0.2  0 0 1 0.3  0 0 0 1"


URDF = """<robot name="one">
<link name="base"/><link name="arm"/><link name="tip"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
<axis xyz="0 0 1"/></joint>
<joint name="end" type="fixed"><parent link="arm"/><child link="tip"/>
<origin xyz="0.3 0 0.1"/></joint></robot>
"""


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["ik", *words])
    assert done.exit_code == code, done.output
    return done.output


def test_all_configurations_as_a_table() -> None:
    text = run("ur5", "--q", "0.1,0.2,0.3,0.4,0.5,0.6")
    assert "method paul" in text
    assert "0.100000   0.200000    0.300000" in text


def test_json_of_both_forms_of_a_pose() -> None:
    matrix = json.loads(run("ur5", "--pose", POSE, "--json"))
    short = json.loads(run("ur5", "--pose", "0.4,0.2,0.3,0,0,0", "--json"))
    assert matrix["configurations"] == short["configurations"]
    assert matrix["method"] == "paul"
    assert len(matrix["configurations"][0]["q"]) == 6
    assert np.shape(matrix["pose"]) == (4, 4)


def test_equations_and_code() -> None:
    assert "entry (y, P) of 1T0 U0" in run("rx90", "--to", "text")
    assert "int reach(const double T[16]" in run("ur5", "--to", "c", "--function", "reach")


def test_code_of_the_numerical_method() -> None:
    words = ("ur5", "--numeric", "--to", "c", "--tolerance", "1e-6")
    text = run(*words, "--limits", "--function", "reach", "--frame", "wrist_2")
    assert "poses of wrist_2" in text
    assert "least squares with limits and random" in text
    assert "void reach(const double T[16]" in text
    assert "least squares with random" in run(*words)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--numeric --free q1=0.3 --q 0,0,0,0,0,0", "--free: not with --numeric"),
        ("--numeric --method paul --pose 0,0,0", "--method: not with --numeric"),
        ("--to c --limits", "--limits: not with --to"),
        ("--to c --q 0,0,0,0,0,0 --guess 0,0,0,0,0,0", "--q, --guess: not with --to"),
        ("--to c --numeric --reference 1", "--reference: not with --numeric and --to"),
    ],
)
def test_options_that_would_mean_nothing_are_refused(words: str, named: str) -> None:
    assert named in " ".join(run("ur5", *words.split(), code=2).split())


def test_free_joints_limits_and_guesses() -> None:
    at = "0.1,0.2,0.3,0.4,0.5,0.6,0.7"
    assert "0.700000" in run("iiwa14", "--q", at, "--free", "q3")
    assert "q3" in run("iiwa14", "--q", at, "--free", "q3=0.3", "--limits", "--guess", at)


def test_joints_and_the_arm_angle_of_the_values_given() -> None:
    at = "0.1,0.2,0.3,0.4,0.5,0.6,0.7"
    for free in ("q3", "arm-angle", "q5=0.5,q1"):
        found = json.loads(run("iiwa14", "--q", at, "--free", free, "--json"))
        q = np.array([row["q"] for row in found["configurations"]])
        among(q, np.fromstring(at, sep=","), 1e-9)
    assert "0.250000" in run("iiwa14", "--q", at, "--free", "q5=0.25")


def test_the_value_of_a_joint_of_a_tree_is_found_by_its_name(tmp_path: Path) -> None:
    """The chain begins after other joints: its third joint is not the third of the robot."""
    robot = cardan.load("iiwa14")
    arm = [replace(j, antecedent=j.antecedent + 2 if j.antecedent else 0) for j in robot.joints]
    legs = [Joint("leg1", 0, 0), Joint("leg2", 1, 0, alpha=exact("1/2"))]
    links = [Link("leg_a"), Link("leg_b"), *robot.links]
    renamed = [replace(j, variable=f"arm{k}") for k, j in enumerate(arm, 1)]
    path = tmp_path / "both.toml"
    Robot("both", tuple(links), (*legs, *renamed)).save(path)
    at = "1,1,0.1,0.2,0.3,0.4,0.5,0.6,0.7"
    found = json.loads(run(str(path), "--frame", "link7", "--q", at, "--free", "arm3", "--json"))
    assert found["configurations"][0]["q"][2] == 0.3
    assert found["variables"][2] == "arm3"


def test_a_tolerance_and_frames_of_fixed_joints(tmp_path: Path) -> None:
    words = ("scara", "--set", "D2=0.4", "--set", "D3=0.3", "--pose", "0.4 0.3 0.1 1e-7 0 0.2")
    assert "1e-07 rad" in run(*words, code=1)
    assert "residual" in run(*words, "--tolerance", "1e-6")
    path = tmp_path / "tool.urdf"
    path.write_text(URDF)
    assert "frame tip" in run(str(path), "--fixed", "keep", "--frame", "tip", "--q", "0.3")
    assert "frame tip" in run(str(path), "--q", "0.3")
    assert "there is no frame 'tap'" in run(str(path), "--frame", "tap", "--q", "0.3", code=1)


def test_none_within_limits_is_said() -> None:
    text = run("panda", "--q", "3,1.7,2.8,1,2.8,-1,2.8", "--limits", code=1)
    assert "no configuration within the joint limits" in text


def test_numerically() -> None:
    found = json.loads(run("panda", "--q", "0,-0.5,0,-2,0,1.5,0.7", "--numeric", "--json"))
    assert found["converged"]
    assert found["residual"] < 1e-9


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["ur5"], 2),
        (["ur5", "--pose", "1 2 3"], 1),
        (["ur5", "--pose", "2 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1"], 1),
        (["ur5", "--q", "1,2"], 1),
        (["ur5", "--pose", "0,0,x,0,0,0"], 1),
        (["rx90", "--pose", POSE], 1),
        (["general6r", "--to", "text", "--method", "paul"], 1),
    ],
)
def test_faults_are_one_message(words: list[str], code: int) -> None:
    assert "Traceback" not in run(*words, code=code)


def test_out_of_reach_is_said() -> None:
    assert "out of reach" in run("ur5", "--pose", "9,0,0,0,0,0", code=1)


@pytest.mark.parametrize("option", ["--pose", "--q", "--guess"])
def test_what_is_not_finite_is_named(option: str) -> None:
    words = {"--pose": "nan 0.1 0.3 0 pi/2 0", "--q": "0,inf,0,0,0,0", "--guess": "0,0,-inf,0,0,0"}
    pose = ["--pose", POSE] if option == "--guess" else []
    assert "is not a finite number" in run("ur5", *pose, option, words[option], code=1)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["ur5", "--pose", "9,9,9,0,0,0"], "out of reach"),
        (["panda", "--q", "3,1.7,2.8,1,2.8,-1,2.8", "--limits"], "within the joint limits"),
        (["ur5", "--pose", "9,9,9,0,0,0", "--numeric"], "did not converge"),
    ],
)
def test_a_pose_without_a_configuration_is_one_message_and_status_1(
    words: list[str], reason: str
) -> None:
    result = CliRunner().invoke(app, ["ik", *words])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("cardan: no configuration")
    assert reason in result.stderr
    assert len(result.stderr.splitlines()) == 1
    data = CliRunner().invoke(app, ["ik", *words, "--json"])
    assert data.exit_code == 1
    assert not json.loads(data.stdout).get("configurations")
    assert data.stderr == result.stderr
