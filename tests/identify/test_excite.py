"""Exciting motions: limits hold, the search helps, seeds repeat, and the fit profits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.identify.synthetic import arm, torques

import cardan
from cardan.errors import InputError
from cardan.identification import excite, identify
from cardan.motion.trajectory import violations

QUICK: dict[str, Any] = {"iterations": 60, "period": 5.0, "harmonics": 4, "rate": 200.0}


@pytest.mark.parametrize("criterion", ["condition", "determinant"])
def test_limits_hold_and_the_search_helps(criterion: str) -> None:
    limits = {"velocity": [1.5, 1.0, 2.0], "acceleration": 4.0, "lower": -1.2, "upper": [2, 1, 0.5],
              "effort": [60, 45, 14]}  # fmt: skip
    found = excite(arm(), criterion=criterion, **limits, **QUICK)
    motion = found.motion
    assert (np.abs(motion.qd).max(axis=0) <= limits["velocity"]).all()
    assert np.abs(motion.qdd).max() <= 4.0
    assert (motion.q.min(axis=0) >= -1.2).all()
    assert (motion.q.max(axis=0) <= limits["upper"]).all()
    assert found.torque is not None
    assert (np.abs(found.torque).max(axis=0) <= limits["effort"]).all()
    assert np.abs(motion.qd[0]).max() < 1e-12  # from rest to rest
    assert np.abs(motion.qdd[0]).max() < 1e-12
    near(motion.q[0], motion.q[-1], 1e-5, 1e-8, each=True)
    assert found.found < found.start - 0.2


def test_the_limits_of_the_robot_are_the_default() -> None:
    found = excite("ur10", iterations=3, starts=4)
    assert violations(found.motion, cardan.load("ur10"), tau=found.torque) == []


def test_the_same_seed_gives_the_same_motion() -> None:
    quick = QUICK | {"iterations": 5}
    one, same, other = (excite(arm(), seed=seed, **quick) for seed in (1, 1, 2))
    assert np.array_equal(one.motion.q, same.motion.q)
    assert not np.allclose(one.motion.q, other.motion.q)


def test_a_designed_motion_identifies_better_than_a_random_one() -> None:
    deviations = []
    for iterations in (0, 60):
        found = excite(arm(), starts=1, seed=4, criterion="determinant",
                       **QUICK | {"iterations": iterations})  # fmt: skip
        motion = found.motion
        log = {"t": motion.t, "q": motion.q, "qd": motion.qd, "qdd": motion.qdd}
        rng = np.random.default_rng(0)
        log["tau"] = torques(arm(), log) + 0.1 * rng.normal(size=motion.q.shape)
        deviations.append(identify(arm(), log, consistent=False).sigma)
    assert np.median(deviations[1] / deviations[0]) < 0.8


def test_export(tmp_path: Path) -> None:
    found = excite(arm(), **QUICK | {"iterations": 2})
    found.save(tmp_path / "m.csv")
    head = (tmp_path / "m.csv").read_text().splitlines()[0]
    assert head.split(",")[:5] == ["t", "q1", "q2", "q3", "qd1"]
    result = identify(arm(), tmp_path / "m.csv", consistent=False)
    assert result.errors["fit"] < 1e-10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criterion": "best"}, "no criterion 'best'"),
        ({"period": 0}, "period = 0"),
        ({"harmonics": 1}, "at least 2"),
        ({"rate": 1}, "too slow"),
        ({"velocity": [1, 2]}, "expected 3 values"),
        ({"acceleration": -1}, "must be positive"),
        ({"lower": 2, "upper": 1}, "must be positive"),
        ({"effort": 0.1}, "no motion was found whose torques stay within"),
    ],
)
def test_faults_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(cardan.CardanError) as caught:
        excite(arm(), **QUICK | {"iterations": 0} | options)
    assert words in str(caught.value)


@pytest.mark.parametrize("limit", ["velocity", "acceleration", "effort"])
def test_limits_are_positive(limit: str) -> None:
    bad: Any = {limit: -1}
    with pytest.raises(InputError, match=f"{limit} = -1 must be positive"):
        excite(arm(), iterations=0, **bad)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seed": -1}, "seed = -1; expected an integer, at least 0"),
        ({"iterations": -1}, "iterations = -1; expected an integer"),
        ({"harmonics": 2.5}, "harmonics = 2.5; expected an integer"),
        ({"period": "a"}, "period = 'a'; expected a positive number"),
    ],
)
def test_odd_settings_are_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        excite(arm(), **given)
