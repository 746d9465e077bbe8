"""Motors of joints: what they can do, in a file, in torques of a motion, on the command line."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from tests.compare import near
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.motion.trajectory import Trajectory

FILE = """
cardan = 1
name = "slide"
gravity = [0, 0, -9.81]

[[link]]
joint = "prismatic"
mass = 2
IA = 0.5
FV = 3
[link.motor]
rated = 12
curve = [[0, 40], ["0.1 m/s", 40], [0.4, 10]]
efficiency = 0.8
cogging = [0.3, 50, 0.2]
"""


def test_a_motor_survives_its_file(tmp_path: Path) -> None:
    robot = cardan.load(tomllib.loads(FILE))
    motor = robot.joints[0].motor
    assert motor is not None
    assert float(motor.curve[1][0]) == pytest.approx(0.1)
    cardan.save(robot, tmp_path / "slide.toml")
    assert cardan.load(str(tmp_path / "slide.toml")).joints == robot.joints


def test_gear_and_cogging_by_hand() -> None:
    """A mass lifted and lowered: the gear costs on the way up and helps on the way down."""
    robot = cardan.load(tomllib.loads(FILE))
    t = np.linspace(0, 1, 101)
    rates = [f(2 * np.pi * t) * (2 * np.pi) ** k for k, f in enumerate((np.cos, np.sin, np.cos))]
    q, qd, qdd = 0.1 - 0.1 * rates[0], 0.1 * rates[1], 0.1 * rates[2]
    motion = Trajectory(t, *(x[:, None] for x in (q, qd, qdd)))
    result = cardan.torques(robot, motion)
    load = 2 * (qdd + 9.81) + 3 * qd
    lost = np.where(load * qd > 0, load / 0.8, np.where(load * qd < 0, load * 0.8, load))
    assert result.drives is not None
    near(result.drives[:, 0], 0.5 * qdd + lost + 0.3 * np.sin(50 * q + 0.2), 1e-10, 1e-10)
    assert result.table()[0]["motor peak"] == pytest.approx(np.abs(result.drives).max())
    over = result.violations()
    assert {x.quantity.split(" of ")[0] for x in over} == {"torque", "RMS torque"}
    allowed = np.interp(np.abs(qd), [0, 0.1, 0.4], [40, 40, 10], right=0)
    worst = np.argmax(np.abs(result.drives[:, 0]) - allowed)
    (torque,) = (x for x in over if x.quantity.startswith("torque"))
    assert (torque.time, torque.limit) == pytest.approx((motion.t[worst], allowed[worst]))
    assert torque.value > torque.limit


def test_the_command_says_what_is_exceeded(tmp_path: Path) -> None:
    file = tmp_path / "slide.toml"
    file.write_text(FILE)
    run = CliRunner().invoke(
        app, ["torques", str(file), "--start", "0", "--end", "0.2", "--duration", "0.3", "--json"]
    )
    assert run.exit_code == 0
    answer = json.loads(run.stdout)
    assert {"motor peak", "motor rms"} < set(answer["joints"][0])
    assert any("RMS" in x["quantity"] for x in answer["violations"])


@pytest.mark.parametrize(
    ("motor", "words"),
    [
        ({"efficiency": 1.2}, "at most 1"),
        ({"curve": [[1, 2], [1, 3]]}, "must rise"),
        ({"rated": "T"}, "without symbols"),
        ({"rated": -1}, "sizes"),
        ({"curve": [1, 2]}, "pairs"),
        ({"torque": 1}, "not a field"),
    ],
)
def test_faults_of_motors(motor: dict[str, object], words: str) -> None:
    with pytest.raises(cardan.DescriptionError, match=words):
        cardan.load({"link": [{"mass": 1, "motor": motor}]})
