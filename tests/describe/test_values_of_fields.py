"""`with_values` on robots of numbers: any field by its name, exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cardan
from cardan.describe.values.parser import to_value
from cardan.errors import InputError

Q = {"q": np.array([0.3, -0.4, 0.5, -0.6, 0.7, -0.8])}
NAMES = ("M3", "MX2", "d3", "r5", "G3", "alpha2")


def test_a_field_is_replaced_exactly() -> None:
    robot = cardan.load("ur5")
    changed = robot.with_values({"M3": "1/3", "d3": 0.5, "FV1": 2, "G3": "-1.62", "upper2": 1})
    assert to_value("1/3") == changed.links[2].M
    third = replace(robot.links[2], M=changed.links[2].M)
    assert changed.links == (*robot.links[:2], third, *robot.links[3:])
    assert (changed.joints[2].d, changed.joints[0].FV) == (to_value("1/2"), 2)
    assert changed.joints[1].limits == replace(robot.joints[1].limits, upper=1)
    assert float(changed.gravity[2]) == -1.62
    assert robot.with_values({}) == robot


@pytest.mark.parametrize("name", NAMES)
def test_fields_bear_the_names_of_the_symbols(name: str) -> None:
    """Two ways: the number replaced in the robot, and in the parameters of the symbolic model."""
    robot = cardan.load("ur5").with_values({"alpha2": 0.3})
    symbolic = cardan.model(robot, "gravity", symbolic=True)
    assert name in symbolic.parameters
    here = cardan.model(robot.with_values({name: "0.7"}), "gravity").evaluate(**Q)
    there = symbolic.evaluate(**Q, p={name: 0.7})
    assert np.allclose(here, there, rtol=1e-12, atol=1e-12)


def test_symbols_and_fields_at_once() -> None:
    robot = cardan.load("planar2r")
    changed = robot.with_values({"L1": 2, "XX1": "1/2", "FV2": "c"})
    assert changed.joints[1].d == 2
    assert "c" in changed.parameters
    assert to_value("1/2") == changed.links[0].XX


def test_loops_couplings_and_beams() -> None:
    delta = cardan.load("fivebar")
    n = len(delta.joints)
    assert delta.with_values({f"d{n + 1}": 7}).loops[0].cut.d == 7
    assert delta.with_values({f"d{n + 2}": 7}).loops[0].twin.d == 7
    beam = cardan.load("flexible2r")
    assert beam.with_values({"young2": 7}).links[1].flexible.young == 7


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"d2 .* is the formula L1; give its symbols values: L1"):
        cardan.load("planar2r").with_values({"d2": 1})
    with pytest.raises(cardan.CardanError, match="mass -1 is negative"):
        cardan.load("ur5").with_values({"M3": -1})
    with pytest.raises(cardan.CardanError):
        cardan.load("ur5").with_values({"M3": "1/"})
