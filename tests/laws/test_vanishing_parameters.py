"""Parameters that vanish: the safe search allows them, the other one says what it divides by.

The setup may divide by a length or by first moments; where that is a unit, it does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.ir.interpret import interpret

CASES = [
    ("rx90-base", ("RL4",)),
    ("rx90-base", ("D3", "RL4")),
    ("rx90-base", ("MX6",)),
    ("rx90-base", ("MX6", "MY6")),
    ("puma560-base", ("D3", "D4", "R3", "RL4", "MY6")),
    ("general6r", ("d2", "d3", "d4", "d5", "d6", "r2", "r3", "r4", "r5", "r6")),
    ("general6r", ("alpha2", "alpha4", "MX6R", "MY6R")),
]


@pytest.mark.parametrize(("name", "zeros"), CASES)
@pytest.mark.parametrize("model", ["inverse-dynamics", "gravity", "inertia-matrix"])
def test_the_searched_program_equals_the_plain_one(
    name: str, zeros: tuple[str, ...], model: str
) -> None:
    robot = cardan.load(name)
    rng = np.random.default_rng(1)
    given = {key: rng.uniform(0.2, 2) for key in robot.parameters}
    given |= dict.fromkeys(zeros, 0.0)
    states = {key: rng.normal(size=(20, robot.n)) for key in ("q", "qd", "qdd")}
    values = []
    for effort in ("plain", "safe", "normal"):
        program = cardan.model(robot, model, effort=effort)
        inputs = {key: states[key] for key in program.code.inputs if key in states}
        inputs["p"] = np.array([given[key] for key in program.parameters])
        values.append(next(iter(interpret(program.code, inputs).values())))
    plain, safe, found = values
    scale = np.abs(plain).max()
    near(safe, plain, absolute=1e-12 * scale)
    missing = np.isnan(found)
    near(found[~missing], plain[~missing], absolute=1e-12 * scale)
    assert not missing.any() or any(zero in " ".join(program.nonzero) for zero in zeros)
