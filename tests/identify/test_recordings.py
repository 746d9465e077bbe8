"""Recordings of real robots: the bundled recipes against published baselines.

The data are not shipped; the tests are skipped where they are absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.identify.files import as_written

import cardan
from cardan.describe.check import check
from cardan.identification import Identification, identify
from cardan.identification.fit.bodies import is_consistent

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
RECIPES = ROOT / "examples" / "identification"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the recordings are not here")


def identified(name: str, log: str, **more: Any) -> Identification:
    return identify(name, DATA / log, RECIPES / f"{name}.toml", **more)


def real_bodies(result: Identification) -> None:
    assert is_consistent(result.robot)
    assert check(result.robot) == []
    for role in ("fit", "held out", "validation"):
        if role in result.errors:
            assert result.errors[role] < 1.2 * result.errors[f"{role}, base parameters"]


def test_tx40(tmp_path: Path) -> None:
    """45,000 samples at the motors, wrist coupled; the reference values of its configuration."""
    result = identified("tx40", "tx40")
    assert len(result.names) == 61
    assert result.errors["fit"] <= 0.085
    reference = {"IA3": 0.0988, "IA4": 0.0313, "IA5": 0.0468, "IA6": 0.0105,
                 "FV3": 1.97, "FV4": 1.11, "FV5": 1.86, "FV6": 0.65,
                 "FV1": 8.05, "FV2": 5.53, "IA7": 0.00964, "FV7": 0.616}  # fmt: skip
    shared = {f"{key}{j}": f"{key}7" for key in ("IA", "FV") for j in (5, 6)}  # the motor of both
    for name, x in reference.items():
        value = result.values[name] + result.values.get(shared.get(name, ""), 0.0)
        assert value == pytest.approx(x, rel=0.15), name
    real_bodies(result)
    as_written(result, tmp_path, ("robot.toml",))
    assert result.not_held == {}
    assert result.file_errors["robot.toml"] == pytest.approx(result.law_errors, abs=1e-5)
    assert cardan.load(tmp_path / "robot.toml").drives[0].joints == ((5, 1), (6, 1))


def test_ur10(tmp_path: Path) -> None:
    bags = "rosbags/ur10_{}_trajectory.db3"
    result = identified(
        "ur10", bags.format("exciting"), validation=DATA / bags.format("validation")
    )
    assert len(result.names) == 58
    assert result.errors["fit"] <= 0.06
    assert result.errors["validation"] <= 0.078
    real_bodies(result)
    as_written(result, tmp_path, ("robot.toml", "robot.urdf"))
    assert result.file_errors["robot.toml"] == pytest.approx(result.law_errors, abs=1e-5)


@pytest.fixture(scope="module")
def panda() -> Identification:
    return identified("panda", "rosbags/panda_exciting_trajectory.db3")


def test_panda(panda: Identification, tmp_path: Path) -> None:
    """The last 30 % is held out by the recipe."""
    result = panda
    assert len(result.names) == 64
    assert result.errors["fit"] <= 0.032
    assert result.errors["held out"] <= 0.04
    real_bodies(result)
    as_written(result, tmp_path, ("robot.toml",))
    whole = cardan.load("panda")
    masses = np.array([float(link.M) for link in result.robot.links])  # type: ignore[arg-type]
    known = np.array([float(link.M) for link in whole.links])  # type: ignore[arg-type]
    assert (masses > 0).all()
    assert abs(masses.sum() / known.sum() - 1) < 0.5


def test_no_saturation_is_seen_where_there_is_none(panda: Identification) -> None:
    assert not any("saturation" in note for note in panda.notes)


def test_the_panda_without_a_recipe() -> None:
    """Names, filters, rotors and friction are chosen from the recording."""
    log = DATA / "rosbags/panda_exciting_trajectory.db3"
    result = identify("panda", log, {"fit": {"split": 0.3}})
    assert result.errors["fit"] < 0.012
    assert result.errors["held out"] < 0.02
    assert result.file_errors["robot.toml"] == pytest.approx(result.law_errors, abs=1e-5)


def test_the_ur10_without_a_recipe() -> None:
    bags = "rosbags/ur10_{}_trajectory.db3"
    result = identify("ur10", DATA / bags.format("exciting"),
                      validation=DATA / bags.format("validation"))  # fmt: skip
    assert result.errors["fit"] < 0.041
    assert result.errors["validation"] < 0.073
    assert result.file_errors["robot.toml"] == pytest.approx(result.law_errors, abs=1e-5)
