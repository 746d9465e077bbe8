"""What the lowest versions of the dependencies are tried on (`make lowest`), and nothing else.

Every dependency has its turn: NumPy and llvmlite compile and run programs, lxml reads URDF and
MJCF, Typer and Rich print what every command says of itself and a table."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from tests.compare import among, near
from tests.lowest import constraints

import cardan

MODELS = ["inverse-dynamics", "inertia-matrix", "direct-dynamics", "jacobian"]
URDF = """<robot name="arm"><link name="a"/><link name="b"><inertial><origin xyz="0.1 0 0"/>
<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
</robot>"""
MJCF = """<mujoco model="arm"><worldbody><body name="b"><joint name="j" type="hinge" axis="0 1 0"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""


def cardan_says(*words: str) -> str:
    """What a command prints; a failure shows its complaint."""
    done = subprocess.run([sys.executable, "-m", "cardan", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_versions_are_the_lowest() -> None:
    for name, lowest in constraints(sys.version_info[:2]).items():
        installed = version(name).split(".")
        assert installed[: len(lowest.split("."))] == lowest.split("."), name


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["ur5", "planar2r"])
def test_compiled_programs_agree_with_the_interpreter(name: str, model: str) -> None:
    program = cardan.model(cardan.load(name), model)
    rng = np.random.default_rng(1)
    x = {key: rng.uniform(0.5, 1.5, (7, *shape)) for key, shape in program.inputs.items()}
    x |= {"p": x["p"][0]} if "p" in x else {}
    for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-3)):
        found = program.compile(dtype=dtype)(**x)
        near(found, program.evaluate(**x), tolerance, tolerance, each=True)


def test_inverse_geometry_and_kinematics() -> None:
    robot = cardan.load("ur5")
    q = np.array([0.3, -1.1, 1.2, 0.4, 0.9, -0.2])
    T = cardan.model(robot, "transform").evaluate(q=q)
    rows = cardan.model(robot, "inverse-geometry").solve(T)
    among(rows, q, 1e-9)
    found = cardan.inverse_kinematics(robot, T, guess=q + 0.1)
    again = cardan.model(robot, "transform").evaluate(q=found.q)
    near(again, T, 1e-5, 1e-8, each=True)


def test_files_of_xml(tmp_path: Path) -> None:
    for ending, text in (("urdf", URDF), ("xml", MJCF)):
        path = tmp_path / f"arm.{ending}"
        path.write_text(text)
        robot = cardan.load(path)
        assert cardan.model(robot, "inertia-matrix").evaluate(q=[0.3]) == pytest.approx(1.01)


def test_every_command_explains_itself() -> None:
    listed = cardan_says("--help").split("Descriptions:")[1].splitlines()
    commands = [line.split()[0] for line in listed if line.startswith("  ") and line[2:3].strip()]
    assert {"generate", "show", "ik", "simulate"} <= set(commands)
    for command in commands:
        assert "Usage:" in cardan_says(command, "--help"), command


def test_commands(tmp_path: Path) -> None:
    assert "ur5" in cardan_says("robots")
    assert "gravity of" in cardan_says(
        "generate", "planar2r", "gravity", "--split", "--set", "G=9.81"
    )
    cardan_says("generate", "ur5", "gravity", "--package", "python", "-o", str(tmp_path / "arm"))
    assert "link" in cardan_says("show", "ur5")
    assert "no faults" in cardan_says("check", "ur5")
