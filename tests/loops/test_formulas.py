"""Loops as formulas: the types of their equations, the program of all branches beside `solve`,
and models as functions of the active joints alone beside those of the whole q."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.loops.mechanisms import MECHANISMS
from tests.loops.test_inverse import VALUES, robot_of

import cardan
from cardan.loops.numeric import difference

TYPES = {
    "fivebar": ["type 2", "type 3"], "sr400": ["type 2", "type 3"],
    "akr3000": ["type 2", "type 3"] * 2, "palletiser": ["type 2", "type 3"] * 3,
    "slider_crank": ["type 2", "linear"], "bennett": ["type 3", "type 3"],
    "cardan_shaft": ["type 2"], "spherical_four_bar": ["type 2", "type 3"],
    "prismatic_cut": ["type 2", "type 3"], "rssr": ["type 2", "type 2", "type 3"],
}  # fmt: skip


def robot(name: str) -> cardan.Robot:
    return MECHANISMS[name]() if name in MECHANISMS else robot_of(name)


@pytest.mark.parametrize("name", TYPES)
def test_branches_are_the_assemblies(name: str) -> None:
    geometry = cardan.model(robot(name), "loop-geometry")
    formulas = geometry.formulas
    assert [x.kind for x in formulas.formulas if x.kind != "coupling"] == TYPES[name]
    system = geometry.system()
    columns = [geometry.coordinates.moving.index(j) for j in geometry.given]
    q = system.consistent(np.random.default_rng(3), 12)
    q = q[geometry.singular(q) > 1e-3]
    answer = formulas.program.evaluate(q_a=q[:, columns])
    for at, rows, margin in zip(q, answer.q, answer.margin, strict=True):
        real = rows[margin > 0]
        assert system.error(real).max() < 1e-9
        every = geometry.solve(at[columns])
        apart = np.abs(difference(real[:, None], every[None], system.periodic)).max(-1)
        assert apart.shape == (len(every), len(every))
        assert apart.min(0).max() < 1e-6


@pytest.mark.parametrize(("name", "unknowns"), [("delta", 9), ("stewart-sps", 18)])
def test_legs_of_platforms_are_formulas(name: str, unknowns: int) -> None:
    """Each leg by itself: the driven joint first, from the point where its passive axes meet."""
    geometry = cardan.model(cardan.load(name), "loop-geometry")
    text = geometry.equations()
    assert "legs, from the coordinates of the platform:" in text
    assert text.count("so that") == unknowns


def test_branches_of_legs_close_them() -> None:
    legs = cardan.model(cardan.load("delta"), "loop-geometry").legs
    pose = [0.03, -0.02, -0.5]
    answer = legs.formulas.program.evaluate(q_a=pose)
    real = answer.q[answer.margin > 0]
    assert legs.system().error(real).max() < 1e-9
    motors = {tuple(np.round(row, 6)) for row in real[:, [3, 6, 9]]}
    assert motors == {tuple(np.round(row, 6)) for row in legs.solve(pose)[:, [3, 6, 9]]}


def test_equations_as_books_write_them() -> None:
    """No d2 - (d2 + ...), no cos(th2 + th3 + pi/2); by hand: d3 and d8 from joint to joint."""
    text = cardan.model(cardan.load("sr400"), "loop-geometry").equations()
    assert "0 = d3*(sin(th2) - sin(th7 + th8)) - d8*(cos(th2 + th3) + sin(th7))" in text
    assert "d2 -" not in text
    assert "pi/2" not in text
    assert "X sin(th3) + Y cos(th3) = Z" in text
    assert "Y = 2*d8*d8*sin(th2 - th7)" in text
    jack = cardan.model(cardan.load("akr3000"), "loop-geometry").equations()
    assert "0 = D4 - D14*cos(th2 + gam14) - r6*sin(th4)" in jack
    assert "Z = D4*D4 + D14*D14 - r6*r6" in jack  # the law of cosines


@pytest.mark.parametrize("name", ["sr400", "akr3000"])
def test_symbols_and_numbers_agree(name: str) -> None:
    program = cardan.model(cardan.load(name), "loop-geometry").formulas.program
    numbers = cardan.model(robot(name), "loop-geometry").formulas.program
    q_a = np.random.default_rng(0).uniform(0.2, 0.9, (20, 6))
    p = np.array([VALUES[name][x] for x in program.parameters])
    with np.errstate(invalid="ignore"):
        one, other = program.evaluate(q_a=q_a, p=p), numbers.evaluate(q_a=q_a)
    assert one.margin == pytest.approx(other.margin, abs=1e-12, nan_ok=True)
    assert one.q == pytest.approx(other.q, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("model", ["transform", "jacobian", "inverse-dynamics", "loop-kinematics"])
def test_models_of_the_active_joints(model: str) -> None:
    five = cardan.load("fivebar")
    program = cardan.model(five, model)
    geometry = cardan.model(five, "loop-geometry")
    rng = np.random.default_rng(2)
    q_a = rng.uniform([2.0, 0.7], [2.4, 1.1], (8, 2))
    x = {k: rng.normal(size=(8, *shape)) for k, shape in program.inputs.items() if k != "q"}
    for k in range(2):
        q = geometry.formulas.program.evaluate(q_a=q_a).q[:, k]
        own = cardan.model(five, model, assembly=k)
        assert "q" not in own.inputs
        for one, other in zip(outputs(own, q_a=q_a, **x), outputs(program, q=q, **x), strict=True):
            assert one == pytest.approx(other, rel=1e-9, abs=1e-9)


def outputs(program: Any, **inputs: Any) -> list[np.ndarray]:
    answer = program.evaluate(**inputs)
    return [answer] if isinstance(answer, np.ndarray) else list(answer)


def test_symbolic_models_of_the_active_joints() -> None:
    own = cardan.model(cardan.load("fivebar"), "transform", frame="tip", assembly=1, symbolic=True)
    plain = cardan.model(cardan.load("fivebar"), "transform", frame="tip", assembly=1)
    p = np.array([own.defaults[name] for name in own.parameters])
    assert own.evaluate(q_a=[2.2, 0.9], p=p) == pytest.approx(plain.evaluate(q_a=[2.2, 0.9]))
    assert np.isnan(plain.evaluate(q_a=[3.1, 0.0])[0, 3])


def test_what_has_no_such_model() -> None:
    with pytest.raises(cardan.CardanError, match="from 0 to 1"):
        cardan.model(cardan.load("fivebar"), "transform", assembly=2)
    with pytest.raises(cardan.CardanError, match="closed loops"):
        cardan.model(cardan.load("rx90"), "transform", assembly=0)
    with pytest.raises(cardan.CardanError, match="loop-geometry"):
        cardan.model(cardan.load("stewart"), "transform", assembly=0)
