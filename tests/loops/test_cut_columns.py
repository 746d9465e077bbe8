"""Friction and rotors of cut joints have columns in every regressor: D K is the whole torque."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.loops.mechanisms import MECHANISMS, derived, loaded, states

import cardan
from cardan.describe.robot import Robot
from cardan.describe.values.expression import number
from cardan.exact import exact
from cardan.simulation.simulate import simulate

NAMES = ["four_bar", "prismatic_cut", "fivebar", "planar_3rrr", "bennett", "spherical_four_bar"]
Array = np.ndarray


@lru_cache
def case(name: str) -> tuple[Robot, dict[str, Array]]:
    """A robot whose cut joints rub and have rotors as large as those of the others."""
    bare = MECHANISMS[name]() if name in MECHANISMS else cardan.load(name)
    robot = loaded(bare)
    rng = np.random.default_rng(3)
    loops = []
    for loop in robot.loops:
        own: Any = {key: exact(f"{rng.uniform(0.05, 0.3):.3f}") for key in ("IA", "FV", "FS")}
        loops.append(replace(loop, cut=replace(loop.cut, **(own if loop.cut.sigma != 2 else {}))))
    return replace(robot, loops=tuple(loops)), states(robot, 4)[1]


def values_of(robot: Robot, columns: tuple[str, ...]) -> Array:
    """K: what the description has for each column, cut joints by the number of their frame."""
    frames = [*robot.joints, *(loop.cut for loop in robot.loops)]
    found = []
    for name in columns:
        key, j = re.fullmatch(r"([A-Z]+?)(\d+)R?", name).groups()  # type: ignore[union-attr]
        owner: Any = frames[int(j) - 1] if hasattr(frames[0], key) else robot.links[int(j) - 1]
        found.append(number(getattr(owner, key)))
    return np.array(found, float)


def cut_names(robot: Robot) -> set[str]:
    n = len(robot.joints)
    frames = [n + k for k, loop in enumerate(robot.loops, 1) if loop.cut.sigma != 2]
    return {f"{key}{j}" for j in frames for key in ("IA", "FV", "FS")}


def rotor_names(robot: Robot) -> set[str]:
    return {name for name in cut_names(robot) if name.startswith("IA")}


@pytest.mark.parametrize("name", NAMES)
def test_regressor(name: str) -> None:
    robot, x = case(name)
    tau = derived(robot, "inverse-dynamics").evaluate(**x)
    without = [replace(k, cut=replace(k.cut, IA=0, FV=0, FS=0)) for k in robot.loops]
    bare = derived(replace(robot, loops=tuple(without)), "inverse-dynamics").evaluate(**x)
    assert np.abs(tau - bare).max() > 0.005 * np.abs(tau).max()  # there is something to miss
    program = cardan.model(robot, "regressor", effort="plain")
    assert cut_names(robot) <= set(program.columns)
    assert not any("cut joint" in remark for remark in program.remarks)
    near(program.evaluate(**x) @ values_of(robot, program.columns), tau, 1e-9)


@pytest.mark.parametrize("name", ["four_bar", "prismatic_cut", "planar_3rrr"])
def test_with_base_parameters(name: str) -> None:
    robot, x = case(name)
    tau = derived(robot, "inverse-dynamics").evaluate(**x)
    base = cardan.model(robot, "base-parameters")
    program = cardan.model(robot, "regressor", effort="plain", base_parameters=True)
    near(program.evaluate(**x) @ values_of(base.robot, program.columns), tau, 1e-8)
    assert set(base.apart) == {
        ("IA", int(c[2:])) for c in program.columns if re.fullmatch(r"IA\d+", c)
    } - set(base.kept)
    rubbing = cardan.model(replace(robot, joints=still(robot)), "base-parameters")
    assert {f"{key}{j}" for key, j in rubbing.apart} == rotor_names(robot)


def still(robot: Robot) -> Any:
    """Joints without rotors where there is no motor."""
    return tuple(x if x.active else replace(x, IA=0) for x in robot.joints)


@pytest.mark.parametrize("name", NAMES)
def test_energy_regressor(name: str) -> None:
    robot, x = case(name)
    given = {"q": x["q"], "qd": x["qd"]}
    E, U = derived(robot, "energies").evaluate(**given)
    program = cardan.model(robot, "energy-regressor")
    assert rotor_names(robot) <= set(program.columns)
    near(program.evaluate(**given) @ values_of(robot, program.columns), E + U, 1e-9)


@pytest.mark.parametrize("name", ["four_bar", "prismatic_cut", "fivebar", "planar_3rrr"])
def test_filtered_regressor(name: str) -> None:
    """d/dt(D1 K) + D2 K = tau along a motion with constant accelerations."""
    robot, x = case(name)
    program = cardan.model(robot, "filtered-regressor").compile()
    K = values_of(robot, program.program.columns)
    geometry = cardan.model(robot, "loop-geometry")
    active = [geometry.coordinates.moving.index(j) for j in geometry.coordinates.active]

    def momentum(time: float) -> Array:
        q_a = x["q"][:, active] + time * x["qd"] + time**2 / 2 * x["qdd"]
        q = geometry.solve(q_a, x["q"])
        return np.asarray(program(q=q, qd=x["qd"] + time * x["qdd"]).D1 @ K)

    h = 1e-4
    early, before, after, late = (momentum(k * h) for k in (-2, -1, 1, 2))
    rate = (early - 8 * before + 8 * after - late) / (12 * h)
    rest = program(q=x["q"], qd=x["qd"]).D2 @ K
    near(rate + rest, derived(robot, "inverse-dynamics").evaluate(**x), 1e-7)


@pytest.mark.parametrize("model", ["regressor", "filtered-regressor", "energy-regressor"])
def test_columns_of_bare_cut_joints_are_not_there(model: str) -> None:
    robot = loaded(MECHANISMS["four_bar"]())
    columns = cardan.model(robot, model).columns
    assert not any(name.endswith("4") for name in columns)


def test_the_audit_of_a_simulation_has_the_rotors_of_cut_joints() -> None:
    robot, x = case("four_bar")
    run = simulate(robot, x["q"][0], x["qd"][0], duration=0.3, friction="none")
    assert run.energy is not None
    assert np.ptp(run.energy.kinetic) > 0.1
    assert run.energy.drift < 1e-7
