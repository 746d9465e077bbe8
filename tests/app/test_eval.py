"""cardan eval: one state, by two routes, and every way to get it wrong."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import cardan
from cardan.app.cli.main import app

STATE = {"q": [0.1, -1.2, 0.9, 0.4, -0.3, 0.2], "qd": [1, 0, -1, 2, 0.5, 0], "qdd": [0.0] * 6}


def cli(*args: str) -> Result:
    return CliRunner().invoke(app, ["eval", *args])


def outputs(*args: str) -> dict[str, Any]:
    result = cli(*args, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)["outputs"]
    return found


def words(**inputs: Any) -> list[str]:
    return [word for k, x in inputs.items() for word in (f"--{k}", ",".join(map(str, x)))]


def test_the_value_is_that_of_the_compiled_function() -> None:
    tau = outputs("ur5", "inverse-dynamics", *words(**STATE))["tau"]
    function = cardan.model(cardan.load("ur5"), "inverse-dynamics").compile()
    state = {name: np.array(x, float) for name, x in STATE.items()}
    assert np.allclose(tau, function(**state), rtol=1e-12)
    text = cli("ur5", "inverse-dynamics", *words(**STATE)).stdout
    assert all(f"{x:.10g}" in text for x in tau)


def test_one_value_for_all_formulas_degrees_and_options() -> None:
    a = outputs("ur5", "gravity", "--q=-90", "--degrees")["Q"]
    b = outputs("ur5", "gravity", "--q", ",".join(["-pi/2"] * 6), "--effort", "plain")["Q"]
    assert np.allclose(a, b, atol=1e-9)
    for line in ("--q=0 ur5 gravity", "--q 0 ur5 gravity", "ur5 --q 0 --friction=false bias --qd 1",
                 "--no-symbolic --q 0 ur5 gravity"):  # fmt: skip
        outputs(*line.split())
    T = outputs("ur5", "transform", "--q", "0", "--frame", "3")["T"]
    assert np.shape(T) == (4, 4)
    words_of = ("stanford", "transform", "--set", "RL2=1")
    slide = outputs(*words_of, "--q", "90,90,2,0,0,0", "--degrees")
    q = ",".join(["pi/2", "pi/2", "2", "0", "0", "0"])
    assert np.allclose(
        slide["T"], outputs("stanford", "transform", "--q", q, "--set", "RL2=1")["T"]
    )


def test_values_of_the_robot() -> None:
    heavy = outputs("ur5", "gravity", "--q", "0.3", "--set", "M3=5")["Q"]
    robot = cardan.load("ur5").with_values({"M3": 5})
    expected = cardan.model(robot, "gravity").evaluate(q=np.full(6, 0.3))
    assert np.allclose(heavy, expected, rtol=1e-12)


def test_inputs_of_a_file(tmp_path: Path) -> None:
    expected = outputs("ur5", "inverse-dynamics", *words(**STATE))
    path = tmp_path / "state.json"
    path.write_text(json.dumps(STATE))
    assert outputs("ur5", "inverse-dynamics", "--input", str(path)) == expected
    table = tmp_path / "state.csv"
    columns = {f"{name}{k}": v for name, x in STATE.items() for k, v in enumerate(x, 1)}
    head, row = ",".join(columns), ",".join(map(str, columns.values()))
    table.write_text(f"{head}\n{row}\n")
    assert outputs("ur5", "inverse-dynamics", "--input", str(table)) == expected
    other = outputs("ur5", "inverse-dynamics", "--input", str(table), "--qd", "0")
    assert other == outputs("ur5", "inverse-dynamics", *words(**{**STATE, "qd": [0]}))
    table.write_text(f"{head}\n{row}\n{row}\n")
    several = cli("ur5", "inverse-dynamics", "--input", str(table))
    assert several.exit_code == 1
    assert "cardan sweep" in several.stderr


def test_several_outputs_and_matrices() -> None:
    found = outputs("ur5", "energies", *words(q=STATE["q"], qd=STATE["qd"]))
    assert set(found) == set(cardan.model(cardan.load("ur5"), "energies").outputs)
    text = cli("ur5", "inertia-matrix", "--q", "0").stdout
    assert len([line for line in text.splitlines() if line[:1].isdigit()]) == 6


@pytest.mark.parametrize(
    ("args", "code", "fragments"),
    [
        (["ur5", "inverse-dynamics", "--q", "0"], 1, ["--qd (6 values)", "--qdd (6 values)"]),
        (["ur5", "gravity"], 1, ["--q (6 values)"]),
        (["ur5", "gravity", "--q", "1,2"], 1, ["--q has 2 values; expected 6"]),
        (["ur5", "gravity", "--q", "a"], 1, ["--q: 'a' is not a number"]),
        (["ur5", "gravity", "--q", "0", "--qq", "0"], 2, ["'--qq'", "did you mean '--q'"]),
        (["ur5", "jacobian", "--q", "0", "--fram", "3"], 2, ["did you mean '--frame'", "--tool"]),
        (["ur5", "gravity", "--q"], 2, ["--q"]),
        (["planar2r", "gravity", "--q", "0"], 1, ["have no value", "--set NAME=VALUE"]),
        (["ur5", "inverse-geometry", "--q", "0"], 1, ["is no program", "cardan ik"]),
        (["ur5", "gravitie", "--q", "0"], 1, ["did you mean 'gravity'"]),
        (["ur5", "gravity", "--input", "no.csv"], 1, ["no such file"]),
        (["ur5", "gravity", "--input", "no.json"], 1, ["no.json: cannot be read"]),
        (["ur5", "gravity", "--q", "0", "--set", "M9=1"], 1, ["no parameter 'M9'"]),
    ],
)
def test_faults_are_one_message(args: list[str], code: int, fragments: list[str]) -> None:
    result = cli(*args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert all(fragment in result.stderr for fragment in fragments), result.stderr


@pytest.mark.parametrize(
    ("q", "told"),
    [("0.1,0.5,1,0.7", "open by 1.2"), ("0,0,0,0", "open by"), ("", "")],
)
def test_positions_that_do_not_close_the_loops_are_told(q: str, told: str) -> None:
    closed = cardan.model(cardan.load("fivebar"), "loop-geometry").solve([0.5, 2.5])[0]
    q = q or ",".join(f"{x:.6f}" for x in closed)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        assert cli("fivebar", "inverse-dynamics", "--q", q, "--qd", "0", "--qdd", "0").stdout
    assert [told in str(x.message) for x in issued] == [True] * bool(told)


def test_values_that_are_not_finite_are_told() -> None:
    with pytest.warns(cardan.CardanWarning, match="Jinv: not finite; the robot is singular"):
        cli("ur5", "jacobian-inverse", "--q", "0")
