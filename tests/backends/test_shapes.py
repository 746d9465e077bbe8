"""Generated Python refuses arrays of other shapes by name, and takes axes of states before them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.backends.runners import imported
from tests.compare import near
from tests.package.building import built, robot_called

import cardan
from cardan.inverse.numeric.code import numeric_code


def loose(text: str, folder: Path, function: str) -> Any:
    """A function of a generated file."""
    path = folder / f"{function}.py"
    path.write_text(text, encoding="utf-8")
    return getattr(imported(path), function)


@pytest.mark.parametrize("language", ["python", "jax", "torch"])
@pytest.mark.parametrize("split", [False, True])
def test_every_input_is_checked(language: str, split: bool, tmp_path: Path) -> None:
    if language != "python":
        pytest.importorskip(language)
    program = cardan.model(cardan.load("rx90"), "inverse-dynamics", effort="plain", f_e=True)
    text = program.emit(language, function="f", split=split, dtype="float32")
    function = loose(text, tmp_path, "f")
    shapes = dict((program.split()[1] if split else program).inputs)
    arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
    function(*arrays.values())
    for name, shape in shapes.items():
        for other in ((*shape[:-1], shape[-1] + 1), (*shape[:-1], shape[-1] - 1), (), (0,)):
            given = {**arrays, name: np.zeros(other)}
            expected = ", ".join(["...", *map(str, shape)])
            with pytest.raises(ValueError, match="is expected") as caught:
                function(*given.values())
            assert str(caught.value) == f"{name}: shape ({expected}) is expected, not {other}"
        states = {**arrays, name: np.zeros((3, 2, *shape))}
        found = np.asarray(function(*states.values()))
        assert found.shape == (3, 2, 6)


def test_matrices_and_scalars(tmp_path: Path) -> None:
    """A pose, and a scalar, which may have any shape: all of it axes of states."""
    program = cardan.model(robot_called("arm"), "inverse-geometry").program
    function = loose(program.emit("python", function="f"), tmp_path, "f")
    with pytest.raises(ValueError, match=r"^T: shape \(\.\.\., 4, 4\) is expected, not \(3, 3\)$"):
        function(*(np.eye(3) if name == "T" else np.zeros(shape)
                   for name, shape in program.inputs.items()))  # fmt: skip


def test_solvers(tmp_path: Path) -> None:
    robot = robot_called("arm")
    closed = cardan.model(robot, "inverse-geometry").emit("python", function="closed")
    with pytest.raises(ValueError, match="T: 16 numbers are expected, not 32"):
        loose(closed, tmp_path, "closed")(np.stack([np.eye(4)] * 2))
    numeric = loose(numeric_code(robot, "python", function="numeric"), tmp_path, "numeric")
    numeric(np.eye(4), [0, 0], 1)
    with pytest.raises(ValueError, match="start: 2 numbers are expected, not 3"):
        numeric(np.eye(4), [0, 0, 0], 1)


def test_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = ["inverse-dynamics", "jacobian"]
    folder = built("ur5", models, "python", tmp_path, name="arm_of_six", effort="plain")
    monkeypatch.syspath_prepend(str(folder / "src"))
    arm = importlib.import_module("arm_of_six")
    six = np.zeros(6)
    with pytest.raises(ValueError, match=r"^q: shape \(\.\.\., 6\) is expected, not \(7,\)$"):
        arm.inverse_dynamics(np.zeros(7), six, six)
    with pytest.raises(ValueError, match=r"^qd: shape \(\.\.\., 6\) is expected, not \(5,\)$"):
        arm.inverse_dynamics(six, np.zeros(5), six)
    assert arm.inverse_dynamics(np.zeros((9, 6)), six, six).shape == (9, 6)
    words = arm.inverse_dynamics.__doc__
    assert "q (..., 6): joint positions" in words
    assert "tau (..., 6): joint torques" in words
    assert "J (..., 6, 6)" in arm.jacobian.__doc__
    assert arm.__doc__ == "Models of the robot 'Universal Robots UR5'."


def test_a_symbol_called_as_what_the_check_calls(tmp_path: Path) -> None:
    robot = cardan.load("planar2r").with_values({"L1": "ValueError", "M2": "tuple"})
    program = cardan.model(robot, "inverse-dynamics", effort="plain")
    function = loose(program.emit("python", function="f"), tmp_path, "f")
    x = np.ones(2)
    p = np.linspace(1, 2, len(program.parameters))
    found = function(x, x, x, p)
    near(found, program.evaluate(q=x, qd=x, qdd=x, p=p), 1e-5, 1e-8, each=True)
    with pytest.raises(ValueError, match="q: shape"):
        function(np.ones(3), x, x, p)
