"""The numbers a package is tested with, computed by another route than the code in it.

The other route is another derivation of the same model (Lagrange's equations, the method that was
not chosen, the form before any search), with parameters kept as symbols where the code has them
folded in and the other way round, run by the reference interpreter. A package whose two routes
disagree is never written."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..catalogue import MENU
from ..catalogue import model as derive
from ..describe.robot import Robot
from ..errors import CardanError, ModelError
from ..ir.interpret import interpret
from ..loops.geometry import LoopGeometry
from ..mechanism.coordinates import holonomic
from ..program import Program

COUNT = 5  # states of a test
TOLERANCE = 1e-9  # of the largest element, at least of 1
SINGLE = 1e-6  # the same in single precision, or more where the model amplifies rounding
_ROUGHEST = 1e-3  # error in single precision of a state that is no test
_CANDIDATES = 60
_AGREE = 1e-10
_GOLDEN = 0.6180339887498949
_REGRESSORS = ("regressor", "filtered-regressor", "energy-regressor")

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Example:
    """A state and what is expected of it; flat arrays, row by row."""

    inputs: Values
    outputs: Values


@dataclass(frozen=True)
class Reference:
    """The other derivation of a model."""

    program: Program
    p: Mapping[str, Any]  # its own vector of parameters, if it has one
    route: str  # what it is, in words

    def __call__(self, state: Mapping[str, Any]) -> dict[str, np.ndarray]:
        inputs = {name: x for name, x in state.items() if name != "p"}
        return arrays_of(self.program, {**inputs, **self.p})


def checked(
    robot: Robot,
    model: str,
    options: Mapping[str, Any] | None,
    program: Program,
    single: bool = False,
) -> tuple[tuple[Example, ...], Reference, float]:
    """States with expected numbers, where these come from, and how closely a test compares.
    Singular states are passed over. In single precision states are numbers of that precision, and
    the tolerance is four times the error of the same program run so, at least SINGLE."""
    values = _parameter_values(robot, program)
    reference = _reference(robot, model, options, program, values)
    rough = program.compile(dtype="float32") if single else None
    examples: list[Example] = []
    tolerance = SINGLE if single else TOLERANCE
    for k in range(_CANDIDATES):
        state = _state(robot, program, values, k)
        with np.errstate(all="ignore"):
            ours = arrays_of(program, state)
            theirs = reference(state)
            good = all(difference(ours[name], theirs[name]) <= _AGREE for name in theirs)
            if good and rough is not None:
                state = {name: np.float64(np.float32(x)) for name, x in state.items()}
                results = rough(**state)
                arrays = results if isinstance(results, tuple) else (results,)
                theirs = reference(state)
                pairs = zip(arrays, theirs.values(), strict=True)
                error = max(difference(np.asarray(x, float), y) for x, y in pairs)
                good = error <= _ROUGHEST
                tolerance = max(tolerance, float(f"{4 * error:.0e}")) if good else tolerance
        if good:
            inputs = {name: np.ravel(x) for name, x in state.items()}
            examples.append(Example(inputs, {name: np.ravel(x) for name, x in theirs.items()}))
        if len(examples) == COUNT:
            return tuple(examples), reference, tolerance
    raise ModelError(
        f"'{model}' of '{robot.name}': two derivations agree on {len(examples)} of {_CANDIDATES} "
        "states only, so no package is written; its values may be singular",
        remedy="check them with `cardan check`, or give symbols other values with"
        " robot.with_values({...})",
    )


def arrays_of(program: Program, state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The outputs of a program as arrays by name; inputs it does not have are left out."""
    inputs = {name: x for name, x in state.items() if name in program.inputs}
    return interpret(program.code, program.arrays(inputs))


def difference(values: np.ndarray, expected: np.ndarray) -> float:
    """The largest deviation, relative to the largest element or to 1; inf where one is not
    finite."""
    if values.shape != expected.shape or not np.isfinite([*values.flat, *expected.flat]).all():
        return np.inf
    return float(np.abs(values - expected).max() / max(1.0, np.abs(expected).max()))


def _reference(
    robot: Robot,
    model: str,
    options: Mapping[str, Any] | None,
    program: Program,
    values: Mapping[str, float],
) -> Reference:
    words = "the reference interpreter of Cardan, on the same derivation"
    if options is None:  # a law: there is no other way to derive it
        return Reference(program, _parameters(program, values), words)
    free = [name for name in robot.parameters if name in values]
    if program.parameters and free:
        robot = robot.with_values({name: values[name] for name in free})
    routes = _routes(model, options, bool(program.parameters), robot.constrained)
    for change, route in routes:
        try:
            other: Program = derive(robot, model, **{**options, **change})
        except CardanError:
            continue  # this route does not exist for this robot
        known = all(name in values or name in other.defaults for name in other.parameters)
        is_other = other.code.nodes != program.code.nodes
        if known and is_other and other.outputs == program.outputs:
            return Reference(other, _parameters(other, values), route)
    return Reference(program, _parameters(program, values), words)


def _routes(
    model: str, options: Mapping[str, Any], has_parameters: bool, loops: bool
) -> Iterator[tuple[dict[str, Any], str]]:
    """Changes of the options that give the same numbers in another way, the most different
    first."""
    folded = has_parameters
    other: dict[str, Any] = {"symbolic": not folded}
    if options.get("base_parameters") and not has_parameters and model not in _REGRESSORS:
        other["base_parameters"] = False
    words = f"parameters {'folded in' if folded else 'kept as symbols'}, reference interpreter"
    if model == "inverse-dynamics" and options.get("method") != "lagrange":
        yield {**other, "method": "lagrange"}, f"Lagrange's equations, {words}"
    if model == "inverse-dynamics":
        other["method"] = "newton-euler"
    if model == "direct-dynamics" and loops and options.get("method") != "constraint-forces":
        words_of_loops = f"method constraint-forces, {words}"
        yield {**other, "method": "constraint-forces", "effort": "plain"}, words_of_loops
    if model == "direct-dynamics":
        method = "recursive" if options.get("method") == "inertia-matrix" else "inertia-matrix"
        yield {**other, "method": method, "effort": "plain"}, f"method {method}, {words}"
    if model == "lagrange" and "form" not in options:
        method = "christoffel" if options.get("method") == "renaud" else "renaud"
        yield {**other, "method": method}, f"method {method}, {words}"
    if model in ("jacobian", "jacobian-inverse") and "intermediate" not in options:
        yield {**other, "intermediate": 0}, f"seen from frame 0 all the way, {words}"
    if "effort" in MENU[model].options:
        other["effort"] = "plain"
        words = f"the form before the search for fewer operations, {words}"
    yield other, f"the algorithm run again: {words}"
    yield {"effort": "plain"}, "the form before the search for fewer operations"


def _parameter_values(robot: Robot, program: Program) -> dict[str, float]:
    """A value for every parameter: the robot's own, or a positive one of order one."""
    names = dict.fromkeys([*program.parameters, *robot.parameters])
    return {
        name: program.defaults.get(name, round(0.4 + ((k + 1) * _GOLDEN) % 1, 3))
        for k, name in enumerate(names)
    }


def _parameters(program: Program, values: Mapping[str, float]) -> dict[str, Any]:
    if "p" not in program.inputs:
        return {}
    table = {**program.defaults, **values}
    return {"p": np.array([table[name] for name in program.parameters])}


def _state(robot: Robot, program: Program, values: Mapping[str, float], k: int) -> dict[str, Any]:
    """State k: numbers of two decimals, never zero, the same on every machine. Links bend by a
    thousandth of that: their models are of small deformations. Closed loops are closed."""
    draw = random.Random(k + 1).random
    state: dict[str, Any] = {}
    for name, shape in program.inputs.items():
        numbers = [round(3 * draw() - 1.5, 2) or 0.5 for _ in range(prod(shape))]
        if robot.ne and name in ("q", "qd"):
            numbers[robot.n :] = [round(x / 1000, 5) for x in numbers[robot.n :]]
        state[name] = np.array(numbers).reshape(shape)
    whole = program.inputs.get("q") == (robot.n,)
    if holonomic(robot).constrained and not robot.parameters and whole:
        state["q"] = _closed(robot, k)
    return {**state, **_parameters(program, values)}


@lru_cache(maxsize=8)
def _geometry(robot: Robot) -> LoopGeometry:
    geometry: LoopGeometry = derive(robot, "loop-geometry")
    return geometry


def _closed(robot: Robot, k: int) -> np.ndarray:
    """A configuration near where the robot stands; the active joints at numbers of two decimals if
    the loops can be closed there."""
    geometry = _geometry(robot)
    link, system, draw = geometry.coordinates, geometry.system(), random.Random(k + 1).random
    active, free = ([link.moving.index(j) for j in joints] for joints in
                    (link.active, geometry.analysis.following))  # fmt: skip
    reach = np.where(system.turning[active], 0.4, 0.1 * system.size)
    away = reach * [2 * draw() - 1 for _ in active]
    tried = np.repeat(geometry.home[None], 4, axis=0)
    tried[:3, active] = np.round(tried[:3, active] + np.outer([1, 0.5, 0.2], away), 2)
    positions, closed = system.close(tried, free)
    closed &= np.abs(positions - geometry.home).max(axis=1) < 1.5
    return np.asarray(positions[np.argmax(closed)] if closed.any() else geometry.home)
