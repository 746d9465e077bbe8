"""Robots with closed loops and coupled joints are identified as trees are; the recordings come from
another formulation of the dynamics (tests/identify/closed.py)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.identify.closed import closed, log_of, recorded, robot_of, truth
from tests.loops.oracle import Oracle
from typer.testing import CliRunner

import cardan
from cardan.app.cli.main import app
from cardan.errors import CardanError
from cardan.identification import Identification, excite, identify
from cardan.identification.fit.bodies import is_consistent
from cardan.identification.model.ties import ties_of
from cardan.loops.standing import standing
from cardan.motion.tables import write_table
from cardan.motion.torques import torques

NAMES = ["parallelogram", "five-bar", "3-RRR", "geared"]


@cache
def exact(name: str) -> Identification:
    return identify(robot_of(name), log_of(recorded(name)))


def expected(name: str, names: Any) -> np.ndarray:
    """The truth; friction of joints that move alike adds up in one of them."""
    robot = robot_of(name)
    found = dict(zip(names, truth(robot, names), strict=True))
    for key in ("FV", "FS"):
        power = 2 if key == "FV" else 1  # of the ratio: torque by torque and rate by rate
        own = [float(getattr(joint, key)) for joint in robot.joints]
        if name == "parallelogram":
            found[f"{key}3"] += own[4]
        if name == "geared":
            found[f"{key}1"] += own[1] * 2.5**power + own[3] * 0.25**power
    return np.array(list(found.values()))


@pytest.mark.parametrize("name", NAMES)
def test_base_parameters_without_noise(name: str) -> None:
    result = exact(name)
    wanted = expected(name, result.names)
    seen = np.abs(wanted) > 1e-6
    near(result.K[seen], wanted[seen], 1e-8, each=True)
    assert np.abs(result.K[~seen]).max() < 1e-10
    assert result.errors["fit"] < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_the_identified_robot_has_the_same_torques(name: str) -> None:
    """Along another motion, by the oracle; its links are real bodies."""
    result, other = exact(name), recorded(name, path=1)
    assert result.consistent is not None
    assert result.consistent.exact
    assert is_consistent(result.robot)
    size = np.abs(other["tau"]).max()
    for robot in (result.robot, result.base_robot):
        found = Oracle(robot, {}).inverse(other["whole"], other["qd"], other["qdd"])
        near(found, other["tau"], absolute=1e-8 * size)
    predicted = result.predict(other["whole"], other["qd"], other["qdd"])
    near(predicted, other["tau"], absolute=1e-9 * size)


@pytest.mark.parametrize("name", ["parallelogram", "five-bar", "geared"])
def test_the_truth_is_within_three_sigma(name: str) -> None:
    inside = []
    for seed in range(20):
        log = log_of(recorded(name, noise=0.01, seed=seed))
        result = identify(robot_of(name), log, {"fit": {"folds": 0}}, consistent=False)
        inside.append(np.abs(result.K - expected(name, result.names)) <= 3 * result.sigma)
    assert np.mean(inside) >= 0.985


def test_noisy_bodies_are_real() -> None:
    name = "parallelogram"
    result = identify(robot_of(name), log_of(recorded(name, noise=0.01)), {"fit": {"split": 0.3}})
    assert is_consistent(result.robot)
    assert result.errors["fit"] < 0.012
    assert result.errors["held out"] < 0.015
    assert result.errors["held out"] < 0.015
    assert len(result.essential.names) < len(result.names)


@pytest.mark.parametrize("name", ["five-bar", "geared"])
def test_positions_and_torques_alone_are_enough(name: str) -> None:
    log = log_of(recorded(name, rate=100.0, duration=5.0), "t", "q", "tau")
    result = identify(robot_of(name), log, consistent=False)
    wanted = expected(name, result.names)
    near(result.K, wanted, 1e-8)


@pytest.mark.parametrize(("model", "bound"), [("filtered", 1e-6), ("power", 1e-2), ("energy", 0.2)])
def test_models_without_accelerations_find_the_same(model: str, bound: float) -> None:
    """The scalar models integrate a friction that jumps: they are as good as the sampling."""
    log = log_of(recorded("five-bar", rate=100.0, duration=5.0), "t", "q", "qd", "tau")
    recipe = {"fit": {"model": model}}
    result = identify(robot_of("five-bar"), log, recipe, consistent=False)
    wanted = expected("five-bar", result.names)
    near(result.K, wanted, bound)


def test_an_assembly_that_needs_more_parameters() -> None:
    """The base parameters of a parallelogram do not hold where it is crossed."""
    robot, log = robot_of("crossed"), recorded("crossed")
    assert len(cardan.model(robot, "base-parameters").kept) == 3
    result = identify(robot, log_of(log))
    other = recorded("crossed", path=1)
    size = np.abs(other["tau"]).max()
    near(
        result.predict(other["whole"], other["qd"], other["qdd"]),
        other["tau"],
        absolute=1e-7 * size,
    )
    found = Oracle(result.robot, {}).inverse(other["whole"], other["qd"], other["qdd"])
    near(found, other["tau"], absolute=1e-6 * size)
    assert is_consistent(result.robot)


def test_friction_and_rotors_of_cut_and_passive_joints() -> None:
    """They are parameters where the robot has them, and are written back."""
    plain = robot_of("five-bar")
    cut = replace(plain.loops[0].cut, FV=1, FS=1, IA=1)
    joints = tuple(joint if joint.active else replace(joint, IA=1) for joint in plain.joints)
    robot = replace(plain, joints=joints, loops=(replace(plain.loops[0], cut=cut),))
    log = recorded("five-bar")
    state = {"q": log["whole"], "qd": log["qd"], "qdd": log["qdd"]}
    tau = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**state)
    log["tau"] = tau
    result = identify(robot, log_of(log))
    assert result.errors["fit"] < 1e-12
    assert {"FV5", "FS5", "IA5", "IA2", "IA4"} & set(result.names)
    assert float(result.robot.loops[0].cut.FS) == pytest.approx(1, rel=1e-7)
    again = cardan.model(result.robot, "inverse-dynamics", effort="plain").evaluate(**state)
    near(again, tau, 1e-8)
    bare = identify(robot, log_of(log), {"friction": {"passive": False}}, consistent=False)
    assert not {"FV2", "FS4", "FV5"} & set(bare.names)


def test_files_hold_the_robot(tmp_path: Path) -> None:
    log = recorded("five-bar")
    state = {"q": log["whole"], "qd": log["qd"], "qdd": log["qdd"]}
    written = {path.name for path in exact("five-bar").save(tmp_path / "five")}
    assert {"robot.toml", "robot.par", "robot.urdf", "report.html", "report.md"} <= written
    for file in ("robot.toml", "robot.par"):
        robot = cardan.load(tmp_path / "five" / file)
        tau = cardan.model(robot, "inverse-dynamics", effort="plain").evaluate(**state)
        near(tau, log["tau"], 1e-8)
    written = {path.name for path in exact("geared").save(tmp_path / "geared")}
    assert "robot.par" not in written
    assert "no coupled joints" in (tmp_path / "geared" / "report.md").read_text()
    assert "mimic" in (tmp_path / "geared" / "robot.toml").read_text()


def test_a_payload_on_the_platform() -> None:
    """Of the driven joints' torques, what the platform carries can be told but for its height."""
    robot = robot_of("3-RRR")
    body = {"M": 0.4, "MX": 0.03, "MY": -0.02, "ZZ": 0.008}
    links = list(robot.links)
    links[2] = replace(
        links[2], **{key: float(getattr(links[2], key)) + x for key, x in body.items()}
    )
    heavy, other = replace(robot, links=tuple(links)), recorded("3-RRR", path=1)
    loaded = other | {"tau": Oracle(heavy, {}).inverse(other["whole"], other["qd"], other["qdd"])}
    result = identify(
        robot, log_of(recorded("3-RRR")), {"payload": {"link": 3}}, payload=log_of(loaded),
        consistent=False,
    )  # fmt: skip
    assert result.errors["fit"] < 1e-12
    for key, x in body.items():
        assert result.payload[key] == pytest.approx(x, rel=1e-7)


# which columns are which joints


@pytest.mark.parametrize(
    ("columns", "recipe"),
    [
        ({"q": "q", "tau": "tau"}, {}),  # q1, q2: the driven joints in order
        ({"q1": 0, "q3": 1, "tau1": 0, "tau3": 1}, {}),  # by the numbers of the joints
        ({"a": 0, "b": 1, "x": 0, "y": 1},
         {"position": {"columns": ["a", "b"]}, "torque": {"columns": ["x", "y"]}}),
        ({"a": 0, "b": 1, "tau1": 0, "tau3": 1}, {"position": {"columns": ["a", "", "b", ""]}}),
        ({"p1": 0, "p3": 1, "tau1": 0, "tau3": 1}, {"position": {"columns": ["p{j}"]}}),
    ],
    ids=["order", "number", "listed", "all", "pattern"],
)  # fmt: skip
def test_columns(columns: dict[str, Any], recipe: dict[str, Any]) -> None:
    log = recorded("five-bar", rate=100.0, duration=5.0)
    made = {"t": log["t"]}
    for name, which in columns.items():
        source = log["tau"] if name[0] in "txy" else log["q"]
        made[name] = source if isinstance(which, str) else source[:, which]
    recipe = {"fit": {"folds": 0}, **recipe}
    result = identify(robot_of("five-bar"), made, recipe, consistent=False)
    assert result.errors["fit"] < 1e-8


def test_columns_of_all_joints_are_compared() -> None:
    log = recorded("five-bar")
    good = {"t": log["t"], "q": log["whole"].copy(), "tau": log["tau"]}
    robot = robot_of("five-bar")
    assert identify(robot, good, consistent=False).notes == ()
    good["q"][90:100, 1] += 0.05
    notes = identify(robot, good, consistent=False).notes
    assert any("column 'q2', row 91:" in note and "10 rows like it" in note for note in notes)
    good["q"][:, 3] *= 180 / np.pi
    with pytest.raises(CardanError, match=r"column 'q4', row .* was measured, but the loops close"):
        identify(robot, good, consistent=False)


def test_the_assembly_that_was_recorded() -> None:
    """It is found by passive joints that were measured, or said in the recipe."""
    robot = robot_of("five-bar")
    geometry = cardan.model(robot, "loop-geometry")
    log, oracle = recorded("five-bar"), Oracle(robot, {})
    home = standing(robot)
    every = geometry.solve(home[oracle.active])
    other = max(every, key=lambda q: float(np.abs(q - home).max()))
    whole = closed(oracle, other, log["q"])
    tau = oracle.inverse(whole, log["qd"], log["qdd"])
    made = {"t": log["t"], "qd": log["qd"], "qdd": log["qdd"], "tau": tau}
    with pytest.raises(CardanError, match="in another assembly of the loops") as caught:
        identify(robot, made | {"q": log["q"]}, consistent=False)
    assert str(np.round(whole[0], 4).tolist())[:9] in str(caught.value)
    for guess in (other.tolist(), (whole[0, [1, 3]] + 0.1).tolist()):
        recipe = {"assembly": {"q": guess}}
        found = identify(robot, made | {"q": log["q"]}, recipe, consistent=False)
        assert found.errors["fit"] < 1e-12
    columns = {f"q{k + 1}": x for k, x in enumerate(whole.T)}
    rates = {f"qd{k + 1}": x for k, x in zip(oracle.active, log["qd"].T, strict=True)}
    made = {"t": log["t"], "tau": tau, **columns, **rates}
    assert identify(robot, made, consistent=False).errors["fit"] < 1e-5


# what is wrong with a recording


def fault(log: dict[str, Any], recipe: Any = None, robot: str = "five-bar") -> str:
    with pytest.raises(CardanError) as caught:
        identify(robot_of(robot), log, recipe, consistent=False)
    return str(caught.value)


def test_loops_that_cannot_be_closed_are_named() -> None:
    log = log_of(recorded("five-bar"), "t", "q", "tau")
    log["q"] = log["q"].copy()
    log["q"][150:] = np.pi, 0  # the elbows are farther apart than the distal links reach
    told = fault(log, {"log": {"check_units": False}})
    assert "columns 'q1', 'q2', row 151: loop 'tip' of 'Planar five-bar' cannot be closed" in told
    assert " m at best" in told


def test_bad_columns_are_named() -> None:
    log = recorded("five-bar")
    good = {"t": log["t"], "q1": log["q"][:, 0], "q3": log["q"][:, 1], "tau": log["tau"]}
    assert "no column 'q3'" in fault({k: x for k, x in good.items() if k != "q3"})
    gap = good["q3"].copy()
    gap[7] = np.nan
    assert "column 'q3' is not a number in row 8" in fault(good | {"q3": gap})
    still = np.full(len(gap), 0.9)
    assert "column 'q3': the joint does not move" in fault(good | {"q3": still})
    assert "[position] columns names 3 columns; the robot has 4 joints, 2 of them driven" in fault(
        good, {"position": {"columns": ["a", "b", "c"]}}
    )
    assert "[assembly] q has 3 values; expected 4, all joints of" in fault(
        good, {"assembly": {"q": [1, 2, 3]}}
    )
    arm = log_of(recorded("parallelogram"), "t", "q", "tau")
    swapped = arm | {"tau": arm["tau"][:, [0, 2, 1]]}
    assert "columns tau2, tau3 swapped" in fault(swapped, robot="parallelogram")


def test_geometry_needs_numbers() -> None:
    with pytest.raises(CardanError, match="needs its geometry and gravity as numbers"):
        identify("sr400", recorded("five-bar"))


def test_many_rows_are_closed_as_one_by_one() -> None:
    ties = ties_of(robot_of("3-RRR"))
    log = recorded("3-RRR")
    q, count = ties.along(log["q"], standing(ties.robot))
    assert count == len(q)
    np.testing.assert_allclose(q, log["whole"], atol=1e-10)


# motions worth recording


def test_exciting_motions_of_loops(tmp_path: Path) -> None:
    robot = robot_of("five-bar")
    joints = list(robot.joints)
    joints[1] = replace(joints[1], limits=replace(joints[1].limits, lower=-2.2, upper=-0.7))
    robot = replace(robot, joints=tuple(joints))
    options: dict[str, Any] = {"period": 4.0, "rate": 100.0, "starts": 4, "iterations": 4}
    found = excite(robot, effort=25.0, velocity=1.5, **options)
    whole = found.whole
    assert whole.q.shape == (len(whole.t), 4)
    assert whole.q[:, 1].min() >= -2.2
    assert whole.q[:, 1].max() <= -0.7
    assert np.abs(found.motion.qd).max() <= 1.5
    assert found.torque is not None
    assert np.abs(found.torque).max() <= 25.0
    oracle = Oracle(robot, {})
    np.testing.assert_allclose(
        found.torque, oracle.inverse(whole.q, found.motion.qd, found.motion.qdd), atol=1e-9
    )
    np.testing.assert_allclose(torques(robot, whole).total, found.torque, atol=1e-9)
    found.save(tmp_path / "motion.csv")
    assert identify(robot, tmp_path / "motion.csv", consistent=False).errors["fit"] < 1e-9


def test_exciting_motions_of_couplings() -> None:
    found = excite(robot_of("geared"), period=4.0, rate=100.0, starts=3, iterations=3)
    whole = found.whole.q
    np.testing.assert_allclose(whole[:, 1], -2.5 * whole[:, 0] + np.deg2rad(10), atol=1e-12)
    assert found.condition < 1e5


def test_commands(tmp_path: Path) -> None:
    log = log_of(recorded("five-bar"))
    table = {"t": log["t"]}
    for key in ("q", "qd", "qdd", "tau"):
        table |= {f"{key}{j}": x for j, x in zip((1, 3), log[key].T, strict=True)}
    write_table(tmp_path / "log.csv", table)
    robot_of("five-bar").save(tmp_path / "robot.toml")
    run = CliRunner()
    words = [str(tmp_path / "robot.toml"), str(tmp_path / "log.csv"), "-o", str(tmp_path / "out")]
    done = run.invoke(app, ["identify", *words])
    assert done.exit_code == 0, done.output
    assert "ZZ1R" in done.output
    again = cardan.load(tmp_path / "out" / "robot.toml")
    assert float(again.joints[3].FS) == pytest.approx(float(robot_of("five-bar").joints[3].FS))
    quick = ["--iterations", "1", "--period", "2", "--rate", "100"]
    done = run.invoke(app, ["excite", str(tmp_path / "robot.toml"), *quick])
    assert done.exit_code == 0, done.output
    assert "condition number" in done.output
