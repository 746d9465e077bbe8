"""Tracing an algorithm and interpreting the program gives the run on floats, bit for bit.

The float run calls the models on NumPy arrays directly; no expression and no program takes part.

One thing plain arrays cannot know: that 0·x is the number 0, so that a constant it is added to
stays exact. Where a description holds constants that only meet each other (fixed frames in a row, a
base that moves at given rates), the run on arrays rounds them twice and the trace once. `Folding`,
an array with the single rule 0·x = 0, closes this gap: with it all agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.random_robots import bundled_trees, random_robot, random_values, states

import cardan
from cardan.algebra.vector import Vec
from cardan.describe.robot import Robot
from cardan.formulate.economy import inverse_dynamics
from cardan.formulate.formulation import PLAIN, Formulation
from cardan.formulate.search import units
from cardan.ir.interpret import interpret
from cardan.ir.trace import Tracer
from cardan.models.bodies import Bodies, bodies
from cardan.models.transform import transform

Scalars = list[Any]
COUNT = 6  # states

ROBOTS: dict[str, Callable[[], Robot]] = {
    **{name: (lambda name=name: bundled_trees()[name]) for name in cardan.robots()},
    **{
        f"random{seed}": (
            lambda seed=seed: random_robot(seed, 3 + seed % 8, symbolic=seed % 3 == 0)
        )
        for seed in range(24)
    },
}


class Folding:
    """A NumPy array for which 0·x is the int 0 and 1·x is x."""

    __array_ufunc__ = None

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __neg__(self) -> Folding:
        return Folding(-self.x)

    def __add__(self, other: Any) -> Folding:
        return self if _is(other, 0) else Folding(self.x + _array(other))

    def __sub__(self, other: Any) -> Folding:
        return self if _is(other, 0) else Folding(self.x - _array(other))

    def __rsub__(self, other: Any) -> Folding:
        return Folding(_array(other) - self.x)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Vec):
            return NotImplemented
        if _is(other, 0):
            return 0
        return self if _is(other, 1) else Folding(self.x * _array(other))

    def __truediv__(self, other: Any) -> Folding:
        return Folding(self.x / _array(other))

    def __rtruediv__(self, other: Any) -> Folding:
        return Folding(_array(other) / self.x)

    __radd__, __rmul__ = __add__, __mul__

    def apply(self, function: str, *args: Any) -> Folding:
        found = [_array(x) for x in args]
        if function == "select":
            condition, yes, no = found
            return Folding(np.where(condition > 0, yes, no))
        return Folding(getattr(np, {"atan2": "arctan2"}.get(function, function))(*found))


def _is(x: Any, n: int) -> bool:
    return isinstance(x, int) and x == n


def _array(x: Any) -> Any:
    return x.x if isinstance(x, Folding) else np.float64(x)


def formulations(robot: Robot) -> list[Formulation]:
    """The paper's own form, and each choice alone: for all links, for every second one."""
    links = range(1, len(robot.links) + 1)
    forms = [PLAIN]
    forms += [replace(PLAIN, unit=unit) for unit in units(robot)]
    for choice in fields(Formulation):
        if choice.name == "unit":
            continue
        values = [True] if isinstance(choice.default, bool) else [set(links), set(links[::2])]
        for value in values:
            forms.append(replace(PLAIN, **{choice.name: type(choice.default)(value)}))
    return forms


def columns(array: np.ndarray) -> Scalars:
    return [array[..., k] for k in range(array.shape[-1])]


def run(
    robot: Robot, values: Mapping[str, float], model: Callable[..., Scalars], *inputs: np.ndarray,
    scalar: Callable[[Any], Any] = np.asarray,
) -> np.ndarray:  # fmt: skip
    """The model on arrays."""
    scene = bodies(robot, lambda name: scalar(np.float64(values[name])))
    with np.errstate(all="ignore"):
        found = model(scene, *([scalar(x) for x in columns(array)] for array in inputs))
    lead = inputs[0].shape[:-1]
    return np.stack([np.broadcast_to(_array(x), lead) for x in found], axis=-1)


def run_folding(*args: Any) -> np.ndarray:
    return run(*args, scalar=Folding)


def constants_meet(robot: Robot) -> bool:
    """Are there constants that combine with each other only?"""
    return robot.base.kind == "mobile" or any(joint.sigma != 0 for joint in robot.joints)


def trace_and_interpret(
    robot: Robot, values: Mapping[str, float], model: Callable[..., Scalars], *inputs: np.ndarray
) -> np.ndarray:
    """The model on expressions, then the program on arrays."""
    tracer = Tracer()
    scene = bodies(robot, tracer.parameter)
    arrays = [tracer.array(f"x{k}", x.shape[-1]) for k, x in enumerate(inputs)]
    found = model(scene, *arrays)
    code, names = tracer.program({"y": ((len(found),), found)}, None, robot.parameters)
    given = {f"x{k}": x for k, x in enumerate(inputs)}
    if names:
        given["p"] = np.array([values[name] for name in names])
    return interpret(code, given)["y"]


def newton_euler(form: Formulation) -> Callable[..., Scalars]:
    def model(scene: Bodies, q: Scalars, qd: Scalars, qdd: Scalars) -> Scalars:
        found = inverse_dynamics(scene.written(form), q, qd, qdd)
        return [found.tau[j] for j in scene.tree.moving]

    return model


def placed(merge: bool, from_left: bool, world: bool, frame: int) -> Callable[..., Scalars]:
    def model(scene: Bodies, q: Scalars) -> Scalars:
        found = transform(scene, q, frame, 0, merge=merge, from_left=from_left, world=world)
        return found.matrix

    return model


def check(robot: Robot, traced: np.ndarray, folding: np.ndarray, plain: np.ndarray) -> None:
    assert np.isfinite(traced).all()
    assert np.array_equal(traced, folding)
    if not constants_meet(robot):
        assert np.array_equal(traced, plain)
    near(traced, plain, 1e-14)


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics(name: str) -> None:
    robot = ROBOTS[name]()
    values, x = random_values(robot), states(robot.n, COUNT)
    for form in formulations(robot):
        arguments = (robot, values, newton_euler(form), x["q"], x["qd"], x["qdd"])
        check(robot, *(way(*arguments) for way in (trace_and_interpret, run_folding, run)))


@pytest.mark.parametrize("name", ROBOTS)
def test_transform(name: str) -> None:
    robot = ROBOTS[name]()
    values, q = random_values(robot), states(robot.n, COUNT)["q"]
    for merge, from_left in ((True, True), (True, False), (False, True), (False, False)):
        model = placed(merge, from_left, merge, len(robot.links))
        arguments = (robot, values, model, q)
        check(robot, *(way(*arguments) for way in (trace_and_interpret, run_folding, run)))


@pytest.mark.parametrize("name", ["rx90", "panda", "tree", "random3", "random4", "random7"])
def test_the_public_model_is_the_plain_run(name: str) -> None:
    """Whatever form `cardan.model` keeps, the torques are those of the paper's recursion."""
    robot = ROBOTS[name]()
    values, x = random_values(robot), states(robot.n, COUNT)
    program = cardan.model(robot, "inverse-dynamics")
    p = {"p": [values[name] for name in program.parameters]} if program.parameters else {}
    plain = run(robot, values, newton_euler(PLAIN), x["q"], x["qd"], x["qdd"])
    near(program.evaluate(**x, **p), plain, 1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_one_state_of_python_floats_is_a_row_of_arrays(seed: int) -> None:
    robot = random_robot(seed)
    x = states(robot.n, COUNT)
    batch = run(robot, {}, newton_euler(PLAIN), x["q"], x["qd"], x["qdd"])
    for k in range(COUNT):
        scene = bodies(robot, lambda name: 0.0)
        one = newton_euler(PLAIN)(scene, *(list(map(float, x[key][k])) for key in x))
        np.testing.assert_array_equal(one, batch[k])
