"""The command `cardan ik`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from cardan.app.cli import app

POSE = "1 0 0 0.4  0 1 0 0.2  0 0 1 0.3  0 0 0 1"


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["ik", *words])
    assert done.exit_code == code, done.output
    return done.output


def test_all_configurations_as_a_table() -> None:
    text = run("ur5", "--at", "0.1,0.2,0.3,0.4,0.5,0.6")
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
    assert "entry (y, P) of 1T0 U0" in run("rx90", "--equations", "text")
    assert "int reach(const double T[16]" in run("ur5", "--to", "c", "--function", "reach")


def test_free_joints_limits_and_guesses() -> None:
    at = "0.1,0.2,0.3,0.4,0.5,0.6,0.7"
    assert "0.700000" in run("iiwa14", "--at", at, "--free", "q3")
    assert "q3" in run("iiwa14", "--at", at, "--free", "q3=0.3", "--limits", "--guess", at)


def test_numerically() -> None:
    found = json.loads(run("panda", "--at", "0,-0.5,0,-2,0,1.5,0.7", "--numeric", "--json"))
    assert found["converged"]
    assert found["residual"] < 1e-9


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["ur5"], 2),
        (["ur5", "--pose", "1 2 3"], 1),
        (["ur5", "--pose", "2 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1"], 1),
        (["ur5", "--at", "1,2"], 1),
        (["ur5", "--pose", "0,0,x,0,0,0"], 1),
        (["rx90", "--pose", POSE], 1),
        (["general6r", "--equations", "text", "--method", "paul"], 1),
    ],
)
def test_faults_are_one_message(words: list[str], code: int) -> None:
    assert "Traceback" not in run(*words, code=code)


def test_out_of_reach_is_said() -> None:
    assert "out of reach" in run("ur5", "--pose", "9,0,0,0,0,0")


@pytest.mark.parametrize("option", ["--pose", "--at", "--guess"])
def test_what_is_not_finite_is_named(option: str) -> None:
    words = {"--pose": "nan 0.1 0.3 0 pi/2 0", "--at": "0,inf,0,0,0,0", "--guess": "0,0,-inf,0,0,0"}
    pose = ["--pose", POSE] if option == "--guess" else []
    assert "is not a finite number" in run("ur5", *pose, option, words[option], code=1)
