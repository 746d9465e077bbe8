"""No model costs more than the cheapest way to it through other models of the menu, nor more with
base parameters than without. The ways are also a second route to the values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.compare import near
from tests.random_robots import random_robot, random_values

import cardan
from cardan.describe.robot import Robot
from cardan.ir.factor import improved
from cardan.ir.passes import inline
from cardan.ir.trace import Tracer
from cardan.program import Program

Call = Callable[..., list[Any]]  # (model, output, **arrays) -> the output of a model, row by row


def row(matrix: list[Any], i: int, vector: list[Any]) -> Any:
    n = len(vector)
    return sum((matrix[i * n + k] * vector[k] for k in range(n)), 0)


def unit(n: int, k: int) -> list[int]:
    return [int(i == k) for i in range(n)]


def momentum(call: Call, n: int, x: dict[str, Any]) -> list[Any]:
    A = call("inertia-matrix", "A", q=x["q"])
    return [row(A, i, x["qd"]) for i in range(n)]


def coriolis(call: Call, n: int, x: dict[str, Any]) -> list[Any]:
    B = call("lagrange", "B", q=x["q"])
    return [row(B, i, x["qd"]) for i in range(n * n)]


def coefficients(call: Call, n: int, x: dict[str, Any]) -> list[Any]:
    C = [call("coriolis-matrix", "C", q=x["q"], qd=unit(n, k)) for k in range(n)]
    return [C[k][i * n + j] for i, j, k in product(range(n), repeat=3)]


def matrix(call: Call, n: int, x: dict[str, Any]) -> list[Any]:
    columns = [call("generalized-momentum", "h", q=x["q"], qd=unit(n, k)) for k in range(n)]
    return [columns[k][i] for i in range(n) for k in range(n)]


def weight(call: Call, n: int, x: dict[str, Any]) -> list[Any]:
    return call("inverse-dynamics", "tau", q=x["q"], qd=[0] * n, qdd=[0] * n)


def bias(call: Call, n: int, x: dict[str, Any]) -> list[Any]:
    return call("inverse-dynamics", "tau", q=x["q"], qd=x["qd"], qdd=[0] * n)


def torques(call: Call, n: int, x: dict[str, Any]) -> list[Any]:
    A = call("inertia-matrix", "A", q=x["q"])
    H = call("bias", "H", q=x["q"], qd=x["qd"])
    return [row(A, i, x["qdd"]) + H[i] for i in range(n)]


WAYS: dict[str, Callable[[Call, int, dict[str, Any]], dict[str, list[Any]]]] = {
    "generalized-momentum": lambda *x: {"h": momentum(*x)},
    "coriolis-matrix": lambda *x: {"C": coriolis(*x)},
    "lagrange": lambda call, n, x: {
        "A": call("inertia-matrix", "A", q=x["q"]),
        "B": coefficients(call, n, x),
        "Q": call("gravity", "Q", q=x["q"]),
    },
    "inertia-matrix": lambda *x: {"A": matrix(*x)},
    "gravity": lambda *x: {"Q": weight(*x)},
    "bias": lambda *x: {"H": bias(*x)},
    "inverse-dynamics": lambda *x: {"tau": torques(*x)},
}


def by_way(robot: Robot, model: str) -> Program:
    """A model by way of others, its sums rewritten where that pays."""
    program = cardan.model(robot, model)
    tracer = Tracer()
    x = {name: tracer.array(name, *s) for name, s in program.inputs.items() if name != "p"}

    def call(other: str, output: str, **arrays: Any) -> list[Any]:
        part = cardan.model(robot, other)
        p = [tracer.parameter(name) for name in part.parameters]
        return inline(tracer.graph, part.code, {**arrays, "p": p})[output]

    n = next(iter(program.outputs.values()))[0]
    outputs = WAYS[model](call, n, x)
    code, names = tracer.program({k: (program.outputs[k], v) for k, v in outputs.items()})
    ways = [Program(model, robot.name, c, names) for c in (code, improved(code))]
    return min(ways, key=lambda way: way.cost.price)


@pytest.mark.parametrize("model", WAYS)
@pytest.mark.parametrize("name", ["planar2r", "cartpole", "planar3r", "scara", "prrrp-rigid"])
def test_no_model_costs_more_than_a_way_to_it_through_others(name: str, model: str) -> None:
    robot = cardan.load(name)
    program, way = cardan.model(robot, model), by_way(robot, model)
    assert program.cost.price <= way.cost.price, f"{model}: {program.cost} against {way.cost}"

    values, rng = random_values(robot), np.random.default_rng(3)
    state = {k: rng.normal(size=(5, *s)) for k, s in program.inputs.items() if k != "p"}
    results = []
    for one in (program, way):
        p = {"p": [values[k] for k in one.parameters]} if one.parameters else {}
        found = one.evaluate(**{k: state[k] for k in one.inputs if k != "p"}, **p)
        results.append(found if isinstance(found, tuple) else (found,))
    for x, y in zip(*results, strict=True):
        near(x, y, 1e-10, 1e-12)


@pytest.mark.parametrize("name", ["planar2r", "scara", "puma560", "kuka-lwr"])
def test_base_parameters_never_cost_more(name: str) -> None:
    robot = cardan.load(name)
    for model in ("inertia-matrix", "gravity"):
        own = cardan.model(robot, model).cost
        assert cardan.model(robot, model, base_parameters=True).cost.price <= own.price


@pytest.mark.parametrize(
    ("seed", "model"), [(3, "inverse-dynamics"), (8, "inertia-matrix"), (9, "bias")]
)
def test_base_parameters_of_random_robots_never_cost_more(seed: int, model: str) -> None:
    """Robots whose base parameters alone would cost more."""
    symbolic = seed % 2 == 0
    robot = random_robot(seed, n=4 + seed % 3, base_motion=False, symbolic=symbolic, wrenches=False)
    own = cardan.model(robot, model).cost
    assert cardan.model(robot, model, base_parameters=True).cost.price <= own.price
