"""What a program divides by: exactly that is named, and a user is told where it vanishes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import cardan
from cardan.errors import CardanWarning, InputError
from cardan.ir.interpret import interpret
from cardan.program import Program

SEARCHED = [("rx90-base", "inverse-dynamics"), ("puma560-base", "bias"), ("general6r", "bias")]


def values(program: Program) -> dict[str, float]:
    rng = np.random.default_rng(0)
    return {name: float(rng.uniform(0.3, 1.3)) for name in program.parameters}


def states(program: Program, count: int = 4) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    return {
        name: rng.normal(size=(count, *shape))
        for name, shape in program.inputs.items()
        if name != "p"
    }


@pytest.mark.parametrize(("name", "model"), SEARCHED)
def test_a_length_is_named_if_and_only_if_no_number_comes_out_without_it(
    name: str, model: str
) -> None:
    program = cardan.model(cardan.load(name), model)
    assert program.nonzero
    for symbol in program.parameters:
        given = {**values(program), symbol: 0.0}
        p = np.array([given[x] for x in program.parameters])
        (found,) = interpret(program.code, {**states(program), "p": p}).values()
        named = any(symbol in x for x in program.nonzero if not x.startswith("cos"))
        assert named == bool(np.isnan(found).any()), symbol


def test_nothing_is_named_where_nothing_is_divided() -> None:
    robot = cardan.load("general6r")
    assert cardan.model(robot, "inverse-dynamics", effort="safe").nonzero == ()
    assert cardan.model(robot, "inverse-dynamics", effort="plain").nonzero == ()
    assert cardan.model(cardan.load("ur5"), "direct-dynamics").nonzero == ()


def test_inertias_that_must_not_vanish_are_named_without_a_promise() -> None:
    robot = cardan.load({"link": [{"ZZ": "J", "IA": "rotor"}]})
    program = cardan.model(robot, "direct-dynamics")
    assert program.nonzero in (("J + rotor",), ("rotor + J",))
    assert "effort='safe'" not in program.emit("c")
    with pytest.raises(InputError, match="check masses"):
        program.evaluate(q=[0.0], qd=[0.0], tau=[1.0], p={"J": 0, "rotor": 0})


def test_the_header_says_it() -> None:
    text = cardan.model(cardan.load("rx90-base"), "inverse-dynamics").emit("c")
    assert "must not be 0, no number comes out then: RL4; effort='safe'" in text


@pytest.mark.parametrize("target", ["native", "numpy"])
def test_a_compiled_function_warns_once_for_the_same_values(target: str) -> None:
    program = cardan.model(cardan.load("rx90-base"), "inverse-dynamics")
    run, x = program.compile(target), states(program)
    zero, other = {**values(program), "RL4": 0.0}, values(program)
    with pytest.warns(CardanWarning, match="RL4.*effort='safe'"):
        run(**x, p=zero)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(**x, p=zero)
        run(**x, p=other)
    with pytest.warns(CardanWarning, match="RL4"):
        run(**x, p={**other, "RL4": np.array([1.0, 0.0, 1.0, 1.0])})


def test_one_state_after_the_other_is_looked_at() -> None:
    """The short way of single states must not pass over what the search has brought in."""
    program = cardan.model(cardan.load("rx90-base"), "inverse-dynamics")
    function = program.compile()
    x = {name: array[0] for name, array in states(program, 1).items()}
    p = np.array([*values(program).values()])
    for _ in range(3):
        assert np.isfinite(function(**x, p=p)).all()
    p[program.parameters.index(program.nonzero[0])] = 0
    with pytest.warns(CardanWarning, match="effort='safe'"):
        assert np.isnan(function(**x, p=p)).any()


def test_the_interpreter_refuses_one_set_and_warns_of_many() -> None:
    program = cardan.model(cardan.load("rx90-base"), "inverse-dynamics")
    x = states(program)
    with pytest.raises(InputError, match=r"RL4.*effort='safe'"):
        program.evaluate(**x, p={**values(program), "RL4": 0.0})
    several = {**values(program), "RL4": np.array([1.0, 0.0, 1.0, 1.0])}
    with pytest.warns(CardanWarning, match="RL4"):
        found = program.evaluate(**x, p=several)
    assert np.isnan(found).any(axis=1).tolist() == [False, True, False, False]


def test_a_saved_program_knows_its_divisors() -> None:
    program = cardan.model(cardan.load("rx90-base"), "inverse-dynamics")
    assert Program.from_json(program.to_json()).nonzero == program.nonzero == ("RL4",)


def test_a_fixed_link_at_a_symbolic_angle() -> None:
    """Torques that are zero come out as round-off: no reason to doubt the search."""
    body = {"mass": 1.1, "com": [0.1, 0.02, -0.05], "inertia_com": [0.02, 0, 0, 0.03, 0, 0.025]}
    robot = cardan.load({"link": [body, {**body, "joint": "fixed", "alpha": "a", "d": "l"}]})
    for model in ("coriolis-matrix", "bias", "gravity", "lagrange", "inverse-dynamics"):
        for options in ({}, {"symbolic": True}):
            program = cardan.model(robot, model, **options)
            assert program.outputs
