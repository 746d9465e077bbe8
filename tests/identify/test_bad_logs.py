"""Bad recordings: a diagnosis with column and row, never a bad fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.identify.synthetic import arm, motion, recorded, torques, without

import cardan
from cardan.identification import identify
from cardan.motion.tables import write_table


def table(log: dict[str, Any]) -> dict[str, np.ndarray]:
    columns = {"t": log["t"].copy()}
    for key in ("q", "qd", "qdd", "tau"):
        if key in log:
            columns |= {f"{key}{j}": x.copy() for j, x in enumerate(log[key].T, 1)}
    return columns


@pytest.fixture
def good() -> dict[str, np.ndarray]:
    return table(without(recorded(arm(), noise=0.01), "qd", "qdd"))


def diagnosis(log: Any, recipe: Any = None, robot: cardan.Robot | None = None) -> str:
    with pytest.raises(cardan.CardanError) as caught:
        identify(robot or arm(), log, recipe, consistent=False)
    return str(caught.value)


def saved(path: Path, columns: dict[str, np.ndarray]) -> str:
    write_table(path / "log.csv", columns)
    return str(path / "log.csv")


def test_missing_columns_are_named(good: Any, tmp_path: Path) -> None:
    del good["tau2"]
    text = diagnosis(saved(tmp_path, good))
    assert "log.csv" in text
    assert "no column 'tau2' of torques: expected tau1 to tau3" in text
    recipe = {"position": {"columns": ["q1", "q2", "Q3"]}}
    text = diagnosis(saved(tmp_path, good), recipe)
    assert "no column 'Q3'" in text
    assert "tau" in text  # every fault at once


def test_rows_that_are_not_numbers(good: Any, tmp_path: Path) -> None:
    good["q2"][41] = np.nan
    good["tau1"][[7, 8]] = np.inf
    text = diagnosis(saved(tmp_path, good))
    assert "column 'q2' is not a number in row 42 (line 43)" in text
    assert "column 'tau1' is not a number in row 8 (line 9), row 9 (line 10)" in text
    result = identify(arm(), good, {"log": {"missing": "drop"}}, consistent=False)
    assert result.errors["fit"] < 0.02
    assert any("3 rows left out" in note for note in result.notes)


def test_text_in_a_cell(good: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, good)
    lines = Path(path).read_text().splitlines()
    lines[5] = lines[5].replace(lines[5].split(",")[2], "E-STOP")
    Path(path).write_text("\n".join(lines))
    assert "column 'q2' is not a number in row 5 (line 6)" in diagnosis(path)
    lines[9] += ",1"
    Path(path).write_text("\n".join(lines))
    assert "row 9 (line 10) has 8 values, the header names 7" in diagnosis(path)


def test_time_that_goes_back(good: Any, tmp_path: Path) -> None:
    good["t"][100:] -= 0.5
    text = diagnosis(saved(tmp_path, good))
    assert "column 't': time goes back from 0.99" in text
    assert "row 101 (line 102)" in text
    good["t"][100:] += 0.5
    good["t"][30] = good["t"][29]
    assert "column 't': time repeats" in diagnosis(saved(tmp_path, good))


def test_time_in_milliseconds(good: Any) -> None:
    good["t"] = good["t"] * 1000
    assert 'time_unit = "ms"' in diagnosis(good)
    result = identify(arm(), good, {"log": {"time_unit": "ms"}}, consistent=False)
    assert result.errors["fit"] < 0.02


@pytest.mark.parametrize("joints", [(1, 2, 3), (2,)])
def test_degrees_taken_for_radians(good: Any, joints: tuple[int, ...], tmp_path: Path) -> None:
    for j in joints:
        good[f"q{j}"] = good[f"q{j}"] * 180 / np.pi
    text = diagnosis(saved(tmp_path, good))
    assert "deg" in text
    assert all(f"q{j}" in text for j in joints)
    assert "row" in text


def test_small_motions_in_degrees_are_found_by_the_fit() -> None:
    """No position is out of range, but the torques do not fit."""
    robot = arm()
    log = motion(3, seed=2)
    for key in ("q", "qd", "qdd"):
        log[key] = log[key] * 0.1
    log["tau"] = torques(robot, log)
    columns = table(without(log, "qd", "qdd"))
    columns["q2"] = columns["q2"] * 180 / np.pi
    assert np.abs(columns["q2"]).max() < 4 * np.pi
    text = diagnosis(columns)
    assert "column q2 read in deg" in text
    assert "row" in text


def test_velocities_show_the_unit(tmp_path: Path) -> None:
    columns = table(without(recorded(arm(), noise=0.01), "qdd"))
    for j in (1, 2, 3):
        columns[f"qd{j}"] = columns[f"qd{j}"] * 180 / np.pi
    text = diagnosis(saved(tmp_path, columns))
    assert "column 'qd1' is in degrees per second" in text
    recipe = {"velocity": {"unit": "deg/s"}}
    assert identify(arm(), columns, recipe, consistent=False).errors["fit"] < 0.02


def test_radians_taken_for_degrees(good: Any) -> None:
    text = diagnosis(good, {"position": {"unit": "deg"}})
    assert "'q1', 'q2', 'q3'" in text
    assert "read as degrees" in text


def test_limits_of_the_robot_show_the_unit() -> None:
    robot = cardan.load("ur10")
    log = without(recorded(robot), "qd", "qdd")
    log["q"] = log["q"] * 180 / np.pi
    text = diagnosis(table(log), None, robot)
    assert "beyond the joint's limit" in text
    assert 'unit = "deg"' in text


def test_torques_in_another_unit() -> None:
    robot = cardan.load("ur10")
    log = without(recorded(robot), "qd", "qdd")
    log["tau"] = log["tau"] * 1000
    text = diagnosis(table(log), None, robot)
    assert "column 'tau2'" in text
    assert "times the joint's limit" in text


def test_too_short(good: Any) -> None:
    for rows in (5, 19, 22):
        short = {name: x[:rows] for name, x in good.items()}
        assert "too short" in diagnosis(short), rows
    assert "no rows of numbers" in diagnosis({name: x[:0] for name, x in good.items()})


def test_joints_that_do_not_move(good: Any, tmp_path: Path) -> None:
    good["q3"][:] = 0.7
    text = diagnosis(saved(tmp_path, good))
    assert "column 'q3': the joint does not move" in text
    good["tau1"][:] = 0
    assert "column 'tau1': the torque is 0 in all rows" in diagnosis(good)


def test_saturated_torques_are_left_out(good: Any) -> None:
    exact = identify(arm(), good, consistent=False)
    good["tau2"] = np.clip(good["tau2"], -18, 18)
    result = identify(arm(), good, consistent=False)
    assert any("'tau2' rests at an extreme value" in note for note in result.notes)
    near(result.K, exact.K, absolute=0.3)


def test_dropped_samples(good: Any) -> None:
    keep = np.ones(1000, bool)
    keep[[200, 201, 333, 640]] = False
    keep[700:760] = False
    log = {name: x[keep] for name, x in good.items()}
    result = identify(arm(), log, {"friction": {"smooth": 0.0}}, consistent=False)
    note = next(note for note in result.notes if "dropped" in note)
    assert "about 64 samples were dropped in 4 places" in note
    assert "t = 1.99" in note
    assert result.errors["fit"] < 0.03
    assert result.estimate.rows < 3 * 945


def test_recordings_that_are_none(tmp_path: Path) -> None:
    assert "there is no such recording" in diagnosis(tmp_path / "none.csv")
    (tmp_path / "a.docx").write_text("x")
    assert "not read from '.docx'" in diagnosis(tmp_path / "a.docx")
    for name in ("a.parquet", "a.mat", "a.db3", "a.bag", "a.mcap"):
        (tmp_path / name).write_bytes(b"not what it says")
        assert "cannot be read as" in diagnosis(tmp_path / name)
    (tmp_path / "a.csv").write_text("")
    assert "empty" in diagnosis(tmp_path / "a.csv")
    (tmp_path / "folder").mkdir()
    assert "holds no table" in diagnosis(tmp_path / "folder")


def test_no_time(good: Any) -> None:
    del good["t"]
    assert "no column of times" in diagnosis(good)
    result = identify(arm(), good, {"log": {"rate": 100}}, consistent=False)
    assert result.errors["fit"] < 0.02


def test_symbols_without_values() -> None:
    text = diagnosis({"t": [0.0]}, None, cardan.load("planar2r"))
    assert "L1" in text or "no columns" in text


def test_positions_that_jump(good: Any, tmp_path: Path) -> None:
    good["q2"][300] += 0.3
    text = diagnosis(saved(tmp_path, good))
    assert "column 'q2', row 301 (line 302): the position jumps by 0.3" in text
    assert "(2 such steps): delete or repair the row" in text
    good["q2"][300] -= 0.3
    good["q1"] = (good["q1"] - good["q1"].mean()) % (2 * np.pi)
    text = diagnosis(good)
    assert "column 'q1', row " in text
    assert "an angle that wraps; unwrap the column" in text


def test_torques_that_spike(good: Any) -> None:
    good["tau3"][[100, 500]] += 5000
    text = diagnosis(good)
    assert "column 'tau3', row 101: a torque of 4999" in text
    assert "(2 such rows): delete or repair the row" in text
    rows = np.r_[:100, 101:500, 501 : len(good["t"])]
    result = identify(arm(), {key: x[rows] for key, x in good.items()}, consistent=False)
    assert result.errors["fit"] < 0.02


def test_rows_are_those_of_the_file(good: Any) -> None:
    good["q1"][3] = np.nan
    good["q2"][300] += 0.3
    recipe = {"log": {"missing": "drop", "start": 1.0}}
    assert "column 'q2', row 301: the position jumps" in diagnosis(good, recipe)
    good["t"][200] = good["t"][199]
    assert "time repeats 1.99 at row 201" in diagnosis(good, recipe)


def test_accelerations_in_degrees() -> None:
    log = table(recorded(arm(), noise=0.01))
    log["qdd2"] = np.degrees(log["qdd2"])
    text = diagnosis(log)
    assert "column 'qdd2' is not the rate of the velocities" in text
    assert '[acceleration] unit = "deg/s^2"' in text
    log["qdd2"] = -np.radians(log["qdd2"])
    assert "column 'qdd2' has the other sign" in diagnosis(log)


def test_sliding_joints_in_millimetres() -> None:
    slider = cardan.load({
        "name": "slider",
        "link": [
            {"mass": 5, "com": [0.1, 0, 0.1], "inertia_com": [0.1, 0, 0.01, 0.12, 0, 0.06]},
            {"joint": "prismatic", "alpha": "pi/2", "mass": 4, "com": [0.2, 0.01, 0.02],
             "inertia_com": [0.02, 0.001, 0, 0.09, 0.002, 0.1]},
        ],
    })  # fmt: skip
    log = table(without(recorded(slider, noise=0.01), "qd", "qdd"))
    log["q2"] *= 1000
    assert "with column q2 read in mm" in diagnosis(log, robot=slider)
