"""Models of closed-loop robots as functions of the active joints alone: what people read gives the
numbers of what runs, in the names of the robot, without guards and quarter turns."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.catalogue import MENU

MODELS = [name for name, entry in MENU.items() if "assembly" in entry.options]
ELSEWHERE = {"state-space", "platform-inverse-dynamics", "platform-direct-dynamics"}  # take no q
# long, of robots with many joints by thousands of lines: those of the five-bar are enough
LONG = {
    "coriolis-matrix", "lagrange", "regressor-derivatives", "direct-dynamics-derivatives",
    "inverse-dynamics-derivatives", "filtered-regressor", "kinematics-derivatives",
}  # fmt: skip


@pytest.mark.parametrize("name", ["fivebar", "prrrp-rigid", "sr400", "akr3000"])
def test_the_page_of_the_active_joints_is_the_program(name: str) -> None:
    robot = cardan.load(name)
    geometry = cardan.model(robot, "loop-geometry")
    sample, formulas = geometry.analysis.samples[0], geometry.formulas
    q_a = sample.q[:, [geometry.coordinates.moving.index(j) for j in geometry.given]]
    p = np.array([sample.values[x] for x in formulas.program.parameters])
    margin = formulas.program.evaluate(q_a=q_a, **({"p": p} if len(p) else {})).margin
    rng = np.random.default_rng(1)
    for k, model in enumerate(MODELS):
        if model in ELSEWHERE or (name != "fivebar" and model in LONG):
            continue
        assembly = k % formulas.branches
        options = {"effort": "plain"} if "effort" in MENU[model].options else {}
        program = cardan.model(robot, model, assembly=assembly, **options)
        text = program.equations("plain")
        assert "if(" not in text, model
        assert not re.search(r"(sin|cos)\([^()]*\bpi\b", text), model
        own = q_a[margin[:, assembly] > 1e-3][:3]
        assert len(own)
        x = {y: rng.uniform(-1, 1, (len(own), *s)) for y, s in program.inputs.items()}
        values = {**program.defaults, **sample.values}
        for read, expected in zip(
            outputs(program.plain, {**x, "q_a": own}, values),
            outputs(program, {**x, "q_a": own}, values), strict=True,
        ):  # fmt: skip
            assert np.isfinite(expected).all()
            near(read, expected, 1e-7, scale=1e-6)


def outputs(program: Any, x: dict[str, Any], values: dict[str, float]) -> list[np.ndarray]:
    """What a program gives; parameters that have no value get one by their names."""
    size = [values.get(y, 0.5 + sum(map(ord, y)) * 0.618 % 1) for y in program.parameters]
    inputs = {y: array for y, array in x.items() if y != "p"}
    answer = program.evaluate(**inputs, **({"p": np.array(size)} if size else {}))
    return [answer] if isinstance(answer, np.ndarray) else list(answer)


def test_loops_are_read_as_the_books_write_them() -> None:
    """X, Y, Z of the type of each unknown, by hand of the five-bar: O_c - O_t in the plane of link
    1 gives cos q2 and sin q2 (X2 sin q2 + Y2 cos q2 = Z2)."""
    text = str(cardan.model(cardan.load("fivebar"), "transform", frame="tip", assembly=0))
    assert "Input q_a = (q1, q3): positions of q1, q3" in text
    assert "q2 by loop tip: type 2, e = +1" in text
    assert "Y2 = 0.24 - 0.2*C1 - 0.24*C1m3" in text
    assert "q2 = atan2(X2*Z2 + Y2*W2, Y2*Z2 - X2*W2)" in text
    assert "W2 = sqrt(X2^2 + Y2^2 - Z2^2)" in text
    assert not re.search(r"^  t\d", text, re.MULTILINE)
    other = str(cardan.model(cardan.load("fivebar"), "transform", frame="tip", assembly=1))
    assert "q2 = atan2(X2*Z2 - Y2*W2, Y2*Z2 + X2*W2)" in other


def test_few_values_of_the_loops_are_anonymous() -> None:
    """Of the lines of SR400's inverse dynamics at most a tenth; 84 of 98 of its A were."""
    from cardan.emit.reading.structure import reading

    page = reading(cardan.model(cardan.load("sr400"), "inverse-dynamics", assembly=0).plain)
    assert len(page.anonymous) <= 0.1 * len(page.equations)


def test_a_saved_page_keeps_its_titles() -> None:
    program = cardan.model(cardan.load("fivebar"), "jacobian", assembly=0)
    again = cardan.Program.from_json(program.to_json())
    assert str(again) == str(program)
    assert "q2 by loop tip" in str(again)
