"""The FMU: valid, and simulated by FMPy in both ways against our own integration."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.package.building import STRICT, built, cmake, robot_called, run, tool
from tests.package.test_package_write import HOSTILE
from tests.package.units import instance, jacobian, set_values, start

import cardan
from cardan.package import compiler

MODEL = ["direct-dynamics"]
START = {"q[1]": 0.3, "q[2]": -0.4, "qd[1]": 0.2, "tau[1]": 0.5, "tau[2]": -0.25}


def reference_motion(
    robot: cardan.Robot, start: Mapping[str, float], stop: float, h: float = 1e-3
) -> np.ndarray:
    """q, qd at the stop time by Runge-Kutta steps on the other derivation."""
    direct = cardan.model(
        robot, "direct-dynamics", method="inertia-matrix", effort="plain"
    ).compile()
    n = robot.n
    x = np.array([start.get(f"{name}[{k}]", 0.0) for name in ("q", "qd") for k in range(1, n + 1)])
    tau = np.array([start.get(f"tau[{k}]", 0.0) for k in range(1, n + 1)])

    def slope(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], direct(q=x[:n], qd=x[n:], tau=tau)])

    for _ in range(round(stop / h)):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h * k3))
    return x


def last_state(result: Any, n: int) -> np.ndarray:
    return np.array([result[f"{name}[{k}]"][-1] for name in ("q", "qd") for k in range(1, n + 1)])


@pytest.fixture(scope="module")
def robot() -> cardan.Robot:
    return robot_called("planar")


@pytest.fixture(scope="module")
def unit(robot: cardan.Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tool("gcc")
    return built(robot, MODEL, "fmu", tmp_path_factory.mktemp("fmu")) / "planar.fmu"


def second(unit: Path) -> Path:
    """The unit of FMI 2.0 beside that of FMI 3.0."""
    return unit.with_name(f"{unit.stem}_fmi2.fmu")


@pytest.mark.parametrize("version", ["3.0", "2.0"])
def test_fmpy_finds_nothing_wrong(unit: Path, version: str) -> None:
    validation = pytest.importorskip("fmpy.validation")
    unit = unit if version == "3.0" else second(unit)
    assert validation.validate_fmu(str(unit)) == []
    import fmpy

    found = fmpy.read_model_description(str(unit))
    assert found.fmiVersion == version
    assert found.modelExchange is not None
    assert found.coSimulation is not None
    assert found.numberOfContinuousStates == 4


@pytest.mark.parametrize("name", ["tree", "scara", "cartpole"])
def test_other_robots_are_valid(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    validation = pytest.importorskip("fmpy.validation")
    monkeypatch.setattr(compiler, "_compiler", list)  # sources are enough, and faster
    robot = cardan.load(name)
    if robot.parameters:
        robot = robot.with_values({key: 1 + k / 10 for k, key in enumerate(robot.parameters)})
    options = {"name": "arm", "symbolic": True, "effort": "plain"}
    folder = built(replace(robot, name=HOSTILE), MODEL, "fmu", tmp_path, **options)
    assert validation.validate_fmu(str(folder / "arm.fmu")) == []


def test_co_simulation(unit: Path, robot: cardan.Robot) -> None:
    fmpy = pytest.importorskip("fmpy")
    result = fmpy.simulate_fmu(
        str(unit), fmi_type="CoSimulation", stop_time=0.5, output_interval=0.01, start_values=START,
    )  # fmt: skip
    near(last_state(result, 2), reference_motion(robot, START, 0.5), 1e-5, 1e-9, each=True)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_both_versions_move_alike(unit: Path, kind: str) -> None:
    fmpy = pytest.importorskip("fmpy")
    motions = [
        fmpy.simulate_fmu(str(path), fmi_type=kind, stop_time=0.2, output_interval=0.01,
                          start_values=START)
        for path in (unit, second(unit))
    ]  # fmt: skip
    for name in ("q[1]", "q[2]", "qd[1]", "qd[2]"):
        near(motions[1][name], motions[0][name], 1e-12, 1e-12)


@pytest.mark.parametrize("version", ["3.0", "2.0"])
def test_directional_derivatives(unit: Path, robot: cardan.Robot, version: str) -> None:
    """Of all rates by all states and inputs, against those of the library."""
    derivatives = cardan.model(robot, "direct-dynamics-derivatives")
    q, qd, tau = np.array([0.3, -0.4]), np.array([0.2, 0.7]), np.array([0.5, -0.25])
    _, by_q, by_qd, by_tau = derivatives.evaluate(q=q, qd=qd, tau=tau)
    expected = np.block([[np.zeros((2, 2)), np.eye(2), np.zeros((2, 2))], [by_q, by_qd, by_tau]])
    with instance(unit if version == "3.0" else second(unit)) as (model, names):
        set_values(model, names, {f"q[{k + 1}]": q[k] for k in range(2)})
        set_values(model, names, {f"qd[{k + 1}]": qd[k] for k in range(2)})
        set_values(model, names, {f"tau[{k + 1}]": tau[k] for k in range(2)})
        start(model)
        knowns = [f"{x}[{k}]" for x in ("q", "qd", "tau") for k in (1, 2)]
        unknowns = [*(f"der(q[{k}])" for k in (1, 2)), "qdd[1]", "qdd[2]"]
        near(jacobian(model, names, unknowns, knowns), expected, 1e-10)
        with pytest.raises(Exception, match=r"fmi[23]GetDirectionalDerivative"):
            jacobian(model, names, unknowns, ["step"])


def test_the_step_is_a_parameter(unit: Path, robot: cardan.Robot) -> None:
    fmpy = pytest.importorskip("fmpy")
    result = fmpy.simulate_fmu(
        str(unit), fmi_type="CoSimulation", stop_time=0.5, output_interval=0.05,
        start_values={**START, "step": 0.05},
    )  # fmt: skip
    coarse = reference_motion(robot, START, 0.5, h=0.05)
    near(last_state(result, 2), coarse, 1e-5, 1e-9, each=True)
    assert not np.allclose(coarse, reference_motion(robot, START, 0.5), atol=1e-9)


def test_model_exchange(unit: Path, robot: cardan.Robot) -> None:
    fmpy = pytest.importorskip("fmpy")
    result = fmpy.simulate_fmu(
        str(unit), fmi_type="ModelExchange", stop_time=0.5, output_interval=0.01, solver="CVode",
        relative_tolerance=1e-9, start_values=START,
    )  # fmt: skip
    near(last_state(result, 2), reference_motion(robot, START, 0.5), 1e-5, 1e-5, each=True)


def test_its_parameters_are_those_of_the_robot(tmp_path: Path, robot: cardan.Robot) -> None:
    fmpy = pytest.importorskip("fmpy")
    tool("gcc")
    folder = built(robot, MODEL, "fmu", tmp_path, symbolic=True)
    heavy = replace(robot, links=(robot.links[0], replace(robot.links[1], M=3)))
    variables = fmpy.read_model_description(str(folder / "planar.fmu")).modelVariables
    names = [x.name for x in variables if x.causality == "parameter"]
    mass = next(name for name in names if name.startswith("p.M2") or name == "p.M_2")
    result = fmpy.simulate_fmu(
        str(folder / "planar.fmu"), fmi_type="CoSimulation", stop_time=0.2, output_interval=0.01,
        start_values={**START, mass: 3.0},
    )  # fmt: skip
    near(last_state(result, 2), reference_motion(heavy, START, 0.2), 1e-5, 1e-9, each=True)


def test_sources_build_test_and_pack(unit: Path, tmp_path: Path) -> None:
    cmake(unit.parent, tmp_path / "build")
    assert "100% tests passed" in run("ctest", "--test-dir", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build", "--target", "fmu")
    packed = set(zipfile.ZipFile(tmp_path / "build" / "planar.fmu").namelist())
    assert set(zipfile.ZipFile(unit).namelist()) <= packed


def test_sources_are_clean_and_prefixed(unit: Path, tmp_path: Path) -> None:
    """Sanitizers find nothing; in a static library every function has the unit's name before it."""
    gcc, folder = tool("gcc"), unit.parent
    sources = [*(folder / "sources").glob("*.c"), folder / "test" / "test_planar.c"]
    flags = [*STRICT, "-std=c99", "-g", "-fsanitize=address,undefined", "-I", folder / "sources"]
    run(gcc, *flags, *sources, "-lm", "-o", tmp_path / "t")
    assert "0 numbers differ" in run(tmp_path / "t")
    symbols = run(tool("nm"), "--defined-only", tmp_path / "t")
    assert "planar_fmi3DoStep" in symbols
    assert " T fmi3DoStep" not in symbols


def test_without_a_compiler_the_sources_remain(
    tmp_path: Path, robot: cardan.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "_compiler", list)
    folder = built(robot, MODEL, "fmu", tmp_path)
    names = zipfile.ZipFile(folder / "planar.fmu").namelist()
    assert "sources/buildDescription.xml" in names
    assert not any(name.startswith("binaries/") for name in names)
    assert "no binary" in (folder / "README.md").read_text(encoding="utf-8")


def test_a_compiler_that_fails_is_no_disaster(
    tmp_path: Path, robot: cardan.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "false")
    tool("false")
    page = (built(robot, MODEL, "fmu", tmp_path) / "README.md").read_text(encoding="utf-8")
    assert "the C compiler false failed" in page


def test_links_that_bend(tmp_path: Path) -> None:
    """Elastic coordinates are states too, and the step is short enough for them."""
    fmpy = pytest.importorskip("fmpy")
    tool("gcc")
    robot = cardan.load("flexible2r")
    folder = built(robot, MODEL, "fmu", tmp_path)
    unit, _ = sorted(folder.glob("*.fmu"))
    n = robot.n + robot.ne
    start = {"q[1]": 0.3, "q[2]": -0.4, "qd[4]": 0.02, "tau[1]": 0.5}
    result = fmpy.simulate_fmu(
        str(unit), stop_time=0.02, step_size=0.01, start_values=start, fmi_type="CoSimulation",
        output=[f"{name}[{k}]" for name in ("q", "qd") for k in range(1, n + 1)],
    )  # fmt: skip
    direct = cardan.model(robot, "direct-dynamics", effort="plain").compile()
    x = np.array([start.get(f"{name}[{k}]", 0.0) for name in ("q", "qd") for k in range(1, n + 1)])
    tau, h = np.array([0.5, 0.0]), 1e-5

    def slope(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], direct(q=x[:n], qd=x[n:], tau=tau)])

    for _ in range(round(0.02 / h)):
        k1 = slope(x)
        k2 = slope(x + h / 2 * k1)
        k3 = slope(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + h * k3))
    np.testing.assert_allclose(last_state(result, n), x, atol=2e-4 * np.abs(x).max())
    cmake(folder, tmp_path / "build")
