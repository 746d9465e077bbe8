"""Negative parameters are traced to what the law leaves out: recordings where that is known."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.identify.synthetic import arm, recorded

import cardan
from cardan.identification import identify

FIXED = {"filter": {"cutoff": "none", "delay": 1e-9}, "friction": {"smooth": 0.05}}


@cache
def light() -> cardan.Robot:
    """An arm with small rotors: torques that are late take more than these away."""
    joints = tuple(replace(joint, IA=0.02, FV=4.0) for joint in arm().joints)
    return replace(arm(), joints=joints)


def late(log: dict[str, Any]) -> np.ndarray:
    """Torques of 60 ms ago."""
    return np.column_stack([np.interp(log["t"] - 0.06, log["t"], x) for x in log["tau"].T])


def loaded(log: dict[str, Any]) -> np.ndarray:
    """Friction of 30 % of the torque, on drives that report less than their rotors take."""
    qd, tau = log["qd"], log["tau"]
    return np.asarray(tau + 0.3 * np.abs(tau) * qd / np.hypot(qd, 0.05) - 0.1 * log["qdd"])


@pytest.mark.parametrize(
    ("change", "words"),
    [(late, "torques that come late"), (loaded, "friction that grows with the load")],
)
def test_the_assumption_that_fails_is_named(change: Any, words: str) -> None:
    log = recorded(light(), noise=0.002)
    log["tau"] = change(log)
    result = identify(light(), log, FIXED, consistent=False)
    assert any("negative" in remark for *_, remark in result.table())
    assert f"What the law lacks most is {words}" in result.diagnosis
    assert f"diagnosis: What the law lacks most is {words}" in repr(result)


def test_nothing_is_said_of_a_sound_recording() -> None:
    log = recorded(light(), noise=0.002)
    assert identify(light(), log, FIXED, consistent=False).diagnosis == ()
