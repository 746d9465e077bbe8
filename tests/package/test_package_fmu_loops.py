"""FMUs of robots with closed loops and of floating bases, against `simulate`."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.package.building import STRICT, built, robot_called, run, tool
from tests.package.units import instance, jacobian, set_values, start, values

import cardan
from cardan.describe.robot import Base, Coupling, Link
from cardan.loops.standing import standing
from cardan.package import compiler
from cardan.simulation.simulate import simulate

MODEL = ["direct-dynamics"]
ACTIVE, PASSIVE = [0, 2], [1, 3]  # joints of the five-bar
TAU = np.array([-1.74, 1.86])  # holds it nearly
BODY = Link("base", XX=0.2, YY=0.25, ZZ=0.3, M=4, MX=0.1)


@pytest.fixture(scope="module")
def robot() -> cardan.Robot:
    return replace(cardan.load("fivebar"), name="fivebar")


@pytest.fixture(scope="module")
def unit(robot: cardan.Robot, tmp_path_factory: pytest.TempPathFactory) -> str:
    tool("gcc")
    folder = tmp_path_factory.mktemp("loops")
    return str(built(robot, MODEL, "fmu", folder, effort="plain") / "fivebar.fmu")


def simulated(unit: Any, kind: str, stop: float, **start: Any) -> tuple[Any, list[str]]:
    """What FMPy makes of it, and what the unit logs. Arrays of start values by their name."""
    fmpy = pytest.importorskip("fmpy")
    values, log = {}, []
    for name, given in start.items():
        for k, x in enumerate(given) if not isinstance(given, dict) else given.items():
            values[f"{name}[{k + 1}]"] = float(x)
    every = fmpy.read_model_description(str(unit)).modelVariables
    try:
        found = fmpy.simulate_fmu(
            str(unit), fmi_type=kind, stop_time=stop, output_interval=stop / 50,
            start_values=values, relative_tolerance=1e-10, debug_logging=True,
            output=[x.name for x in every if x.causality == "output"],
            logger=lambda *given: log.append(given[-1].decode()),
        )  # fmt: skip
    except fmpy.fmi1.FMICallException as error:
        return error, log
    return found, log


def series(result: Any, name: str) -> np.ndarray:
    """An array of variables over time."""
    names = [x for x in result.dtype.names if x.startswith(f"{name}[")]
    return np.stack([result[f"{name}[{k + 1}]"] for k in range(len(names))], axis=-1)


def test_fmpy_finds_nothing_wrong(unit: str) -> None:
    validation = pytest.importorskip("fmpy.validation")
    assert validation.validate_fmu(unit) == []
    import fmpy

    found = fmpy.read_model_description(unit)
    assert found.numberOfContinuousStates == 6
    known = {x.name: x for x in found.modelVariables}
    assert [known[f"q[{k}]"].initial for k in (1, 2, 3, 4)] == ["exact", "approx"] * 2
    assert known["qd[2]"].causality == known["qdd[4]"].causality == "output"
    assert {"tau[2]", "loops.open", "loops.rate"} <= set(known)
    assert "tau[3]" not in known


def test_a_robot_in_space_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    validation = pytest.importorskip("fmpy.validation")
    monkeypatch.setattr(compiler, "_compiler", list)  # sources are enough, and faster
    folder = built(cardan.load("delta"), MODEL, "fmu", tmp_path, effort="plain")
    assert validation.validate_fmu(str(folder / "delta.fmu")) == []


@pytest.mark.parametrize(
    ("kind", "near", "closed"), [("CoSimulation", 1e-7, 1e-13), ("ModelExchange", 2e-5, 1e-8)]
)
def test_it_moves_as_simulate(
    unit: str, robot: cardan.Robot, kind: str, near: float, closed: float
) -> None:
    result, _ = simulated(unit, kind, 1.0, tau=TAU)
    expected = simulate(robot, duration=1.0, torque=TAU, dt=0.02)
    for name in ("q", "qd", "qdd"):
        want = getattr(expected, name)
        np.testing.assert_allclose(series(result, name), want, atol=near * (1 + np.abs(want).max()))
    assert np.abs(expected.q[-1] - expected.q[0]).max() > 0.1
    assert result["loops.open"].max() < closed


@pytest.mark.parametrize("name", ["planar2r", "fivebar"])
def test_joints_that_rub_stand_and_turn_back(name: str, tmp_path: Path) -> None:
    """Dry friction of driven, passive and cut joints, from rest: no solver comes to a halt."""
    arm = cardan.load(name)
    rubbing = replace(
        arm, name="rubbing",
        joints=tuple(replace(joint, FS=0.3, FV=0.1) for joint in arm.joints),
        loops=tuple(replace(k, cut=replace(k.cut, FS=0.2)) for k in arm.loops),
    )  # fmt: skip
    rubbing = rubbing.with_values({x: 9.81 if x == "G" else 0.5 for x in rubbing.parameters})
    unit = built(rubbing, MODEL, "fmu", tmp_path, effort="plain") / "rubbing.fmu"
    tau = [0.2, -1.5]
    expected = simulate(rubbing, duration=0.3, torque=tau, dt=0.006)
    for kind, near in (("CoSimulation", 1e-5), ("ModelExchange", 1e-4)):
        result, _ = simulated(unit, kind, 0.3, tau=tau)
        for key in ("q", "qd"):
            want = getattr(expected, key)
            apart = np.abs(series(result, key) - want).max()
            assert apart < near * (1 + np.abs(want).max())


def test_coupled_joints_follow(tmp_path: Path) -> None:
    """A geared arm without a loop, started off its coupling."""
    tool("gcc")
    arm = replace(cardan.load("planar2r"), name="geared")
    led = replace(arm.joints[1], active=False, mimic=Coupling(1, -2, 1))
    arm = replace(arm, joints=(arm.joints[0], led))
    arm = arm.with_values(dict.fromkeys(arm.parameters, 0.5))
    unit = built(arm, MODEL, "fmu", tmp_path, effort="plain") / "geared.fmu"
    result, _ = simulated(unit, "CoSimulation", 0.2, q={0: 0.3, 1: 0.1}, tau=[0.1])
    q = series(result, "q")
    np.testing.assert_allclose(q[:, 1], 1 - 2 * q[:, 0], atol=1e-11)
    expected = simulate(arm, [0.3], duration=0.2, torque=[0.1], dt=0.004)
    np.testing.assert_allclose(q, expected.q, atol=1e-6)


def test_loops_close_where_the_user_starts(unit: str, robot: cardan.Robot) -> None:
    """From where it stands, so that it stays assembled as it is; or from a guess."""
    loops = cardan.model(robot, "loop-geometry")
    result, _ = simulated(unit, "CoSimulation", 0.01, q={0: 1.2, 2: 1.7})
    expected = loops.follow(np.linspace([2.2, 0.9], [1.2, 1.7], 20), loops.home)[-1]
    np.testing.assert_allclose(series(result, "q")[0], expected, atol=1e-11)
    every = loops.solve([2.2, 0.9])
    other = every[np.argmax(np.abs(every - loops.home).max(axis=1))]
    result, _ = simulated(unit, "ModelExchange", 0.01, q=other + np.array([0, 0.1, 0, -0.1]))
    np.testing.assert_allclose(series(result, "q")[0], other, atol=1e-11)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_what_cannot_be_closed_is_an_error(unit: str, kind: str) -> None:
    error, log = simulated(unit, kind, 0.01, q={0: 3.1, 2: 0.0})
    assert "status 3" in str(error)
    assert "loop tip stays open by" in log[-1]


def test_singular_configurations_are_no_numbers(unit: str, robot: cardan.Robot) -> None:
    """Without torques it falls into one, where `simulate` stops too."""
    with pytest.raises(cardan.CardanError, match=r"type 2 singularity near t = 0\.22"):
        simulate(robot, duration=1.0)
    error, log = simulated(unit, "CoSimulation", 1.0)
    assert "status 2" in str(error)
    assert "after 0.22" in log[-1]
    assert "singular" in log[-1]


def test_open_loops_are_drawn_closed(unit: str, tmp_path: Path) -> None:
    """In model exchange, by the derivatives: Euler's steps from open loops, at rest."""
    fmpy = pytest.importorskip("fmpy")
    description = fmpy.read_model_description(unit)
    model = fmpy.fmi3.FMU3Model(
        guid=description.guid, unzipDirectory=fmpy.extract(unit, str(tmp_path)), instanceName="x",
        modelIdentifier=description.modelExchange.modelIdentifier,
    )  # fmt: skip
    model.instantiate()
    model.enterInitializationMode()
    model.exitInitializationMode()
    model.enterContinuousTimeMode()
    (opened,) = (x.valueReference for x in description.modelVariables if x.name == "loops.open")
    x, dx = np.zeros(6), np.zeros(6)
    model.getContinuousStates(x.ctypes.data_as(fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)), 6)
    x[PASSIVE] += [1e-3, -2e-3]
    widths = []
    for _ in range(50):
        model.setContinuousStates(x.ctypes.data_as(fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)), 6)
        model.getContinuousStateDerivatives(
            dx.ctypes.data_as(fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)), 6
        )
        widths += model.getFloat64([opened])
        x[PASSIVE] += 0.01 * dx[PASSIVE]  # half of the way: the rate is 50 1/s
    assert widths[0] > 1e-3
    np.testing.assert_allclose(widths[10] / widths[0], 0.5**10, rtol=0.05)
    assert widths[-1] < 1e-14


def test_lengths_are_parameters(robot: cardan.Robot, tmp_path: Path) -> None:
    """With another one the loops are closed anew, and the motion is another."""
    tool("gcc")
    folder = built(robot, MODEL, "fmu", tmp_path, symbolic=True, effort="plain")
    longer = replace(robot.joints[1], d=0.32)
    other = replace(robot, joints=(robot.joints[0], longer, *robot.joints[2:]))
    import fmpy

    names = [x.name for x in fmpy.read_model_description(str(folder / "fivebar.fmu")).modelVariables
             if x.name.startswith("p.d")]  # fmt: skip
    d2 = next(name for name in names if name.strip("p.d_") == "2")
    result = fmpy.simulate_fmu(
        str(folder / "fivebar.fmu"), fmi_type="CoSimulation", stop_time=0.2, output_interval=0.01,
        start_values={d2: 0.32, "tau[1]": TAU[0], "tau[2]": TAU[1]},
        output=[f"q[{k}]" for k in range(1, 5)],
    )  # fmt: skip
    expected = simulate(other, standing(robot), duration=0.2, torque=TAU, dt=0.01)
    np.testing.assert_allclose(series(result, "q"), expected.q, atol=1e-7)


def floating(robot: cardan.Robot) -> cardan.Robot:
    turned = (0, -1, 0, 0.5, 1, 0, 0, 0, 0, 0, 1, -0.25, 0, 0, 0, 1)
    return replace(robot, base=Base(kind="floating", Z=turned, link=BODY))


def directions(
    unit: Path, tau: list[float], twist: list[float], driven: tuple[int, int] = (1, 3)
) -> None:
    """Directional derivatives of all rates and outputs by all states, against differences."""
    with instance(unit) as (model, names):
        set_values(model, names, {f"tau[{k}]": x for k, x in enumerate(tau, 1)})
        set_values(model, names, {f"V0[{k}]": x for k, x in enumerate(twist, 1)})
        set_values(model, names, {f"qd[{driven[0]}]": 0.3, f"qd[{driven[1]}]": -0.2})
        start(model)
        order = list(names)
        states = order[1 : 1 + (len(order) - 1) // 2]
        states = states[: next(k for k, x in enumerate(states) if x.startswith(("der", "qdd")))]
        first = 1 + 2 * len(states)
        unknowns = order[1 + len(states) : first + 4]  # rates, then qd and qdd that follow
        exact = jacobian(model, names, unknowns, states)
        x = values(model, names, states)
        for k in range(len(states)):
            h, ends = 1e-6, []
            for sign in (1, -1):
                moved = x.copy()
                moved[k] += sign * h
                model.setContinuousStates((ctypes.c_double * len(x))(*moved), len(x))
                ends.append(values(model, names, unknowns))
            slope = (ends[0] - ends[1]) / (2 * h)
            np.testing.assert_allclose(exact[:, k], slope, rtol=1e-6, atol=2e-6)


def test_floating_base_with_loops(robot: cardan.Robot, tmp_path: Path) -> None:
    validation, gcc = pytest.importorskip("fmpy.validation"), tool("gcc")
    free = floating(robot)
    folder = built(free, MODEL, "fmu", tmp_path, effort="plain")
    twist = [0.1, 0.2, -0.3, 0.8, -0.5, 1.0]
    tau = [0.06, -0.04]  # gravity accelerates all of it alike
    expected = simulate(free, duration=0.5, torque=tau, dt=0.01, base_twist=twist)
    assert validation.validate_fmu(str(folder / "fivebar.fmu")) == []
    for kind, near in (("CoSimulation", 1e-7), ("ModelExchange", 1e-5)):
        result, _ = simulated(folder / "fivebar.fmu", kind, 0.5, tau=tau, V0=twist)
        for name, want in (("q", expected.q), ("qd", expected.qd), ("V0", expected.V0),
                           ("P", expected.T0[:, :3, 3])):  # fmt: skip
            np.testing.assert_allclose(series(result, name), want, atol=near)
        e = series(result, "e")
        w, v = e[:, 0], e[:, 1:]
        R = (2 * w * w - 1)[:, None, None] * np.eye(3) + 2 * np.einsum("ti,tj->tij", v, v)
        R += 2 * w[:, None, None] * np.cross(np.eye(3), v[:, None])
        np.testing.assert_allclose(R, expected.T0[:, :3, :3], atol=10 * near)
        np.testing.assert_allclose((e * e).sum(axis=1), 1, atol=1e-8)
    directions(folder / "fivebar.fmu", tau, twist)
    sources = [*(folder / "sources").glob("*.c"), folder / "test" / "test_fivebar.c"]
    flags = [*STRICT, "-std=c99", "-fsanitize=address,undefined", "-I", folder / "sources"]
    run(gcc, *flags, *sources, "-lm", "-o", tmp_path / "t")
    assert "0 numbers differ" in run(tmp_path / "t")


@pytest.mark.parametrize("kind", ["floating", "mobile"])
def test_trees_on_moving_bases(kind: str, tmp_path: Path) -> None:
    tool("gcc")
    arm = robot_called("planar")
    arm = replace(arm, base=Base(kind=kind, W0=(0, 0, 0.5), V0=(0.2, 0, 0), link=BODY))
    if kind == "floating":
        arm = floating(arm)
    folder = built(arm, MODEL, "fmu", tmp_path, effort="plain")
    twist = {"V0": [0.1, 0.2, -0.3, 0.8, -0.5, 1.0]} if kind == "floating" else {}
    expected = simulate(
        arm, [0.3, -0.4], duration=0.5, torque=[0.5, -0.25], dt=0.01, base_twist=twist.get("V0", 0)
    )
    start = {"q": [0.3, -0.4], "tau": [0.5, -0.25], **twist}
    result, _ = simulated(folder / "planar.fmu", "CoSimulation", 0.5, **start)
    np.testing.assert_allclose(series(result, "q"), expected.q, atol=1e-8)
    np.testing.assert_allclose(series(result, "qdd"), expected.qdd, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "start", "tau", "driven"),
    [
        ("unicycle", [0.4, -0.3, 0.5, 0.2], [0.4, 0.9], (3, 4)),
        ("car", [0.4, -0.3, 0.5, 0.1, 0.2, 0, 0.1, -0.4], [60.0, 3.0], (4, 7)),
    ],
)
def test_wheels_roll_as_in_simulate(
    name: str, start: list[float], tau: list[float], driven: tuple[int, int], tmp_path: Path
) -> None:
    """Where wheels take a robot are states that start anywhere; the car's differential is closed
    from a start that is off it."""
    validation = pytest.importorskip("fmpy.validation")
    tool("gcc")
    vehicle = cardan.load(name)
    unit = built(vehicle, MODEL, "fmu", tmp_path, effort="plain") / f"{vehicle.name.lower()}.fmu"
    assert validation.validate_fmu(str(unit)) == []
    expected = simulate(vehicle, start, duration=0.5, torque=tau, dt=0.01)
    for kind, near in (("CoSimulation", 1e-9), ("ModelExchange", 1e-6)):
        result, _ = simulated(unit, kind, 0.5, q=start, tau=tau)
        for key in ("q", "qd", "qdd"):
            want = getattr(expected, key)
            apart = np.abs(series(result, key) - want).max()
            assert apart < near * (1 + np.abs(want).max()), (kind, key)
        assert ("loops.open" in result.dtype.names) == bool(vehicle.couplings)
    directions(unit, tau, [], driven)
