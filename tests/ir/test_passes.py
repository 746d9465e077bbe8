"""Passes: the program that comes out computes what the program that went in does."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import near
from tests.random_programs import apply, random_inputs, random_program
from tests.random_robots import random_robot, random_values, states

import cardan
from cardan.ir.code import Code, gather, verify
from cardan.ir.cost import Cost, cost
from cardan.ir.graph import Graph
from cardan.ir.interpret import interpret
from cardan.ir.passes import expanded_cost, fuse, live, rebuild, replay, split
from cardan.program import Program

SEEDS = range(40)


def run(code: Code, program: Program, seed: int, **more: np.ndarray) -> dict[str, np.ndarray]:
    arrays = program.arrays(random_inputs(program, (50,), seed))
    arrays = {name: array for name, array in arrays.items() if name in code.inputs}
    return interpret(code, {**arrays, **more})


@pytest.mark.parametrize("seed", SEEDS)
def test_live_of_live_code_is_the_same_code(seed: int) -> None:
    code = random_program(seed).code
    assert live(code) == code


def test_live_removes_what_reaches_no_output() -> None:
    code = random_program(0).code
    first, *_ = code.outputs
    fewer = Code(code.inputs, code.nodes, {first: code.outputs[first]}, code.labels)
    found = live(fewer)
    verify(found)
    assert len(found.nodes) < len(code.nodes)
    assert min(found.uses[1:]) >= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_setup_then_loop_is_the_whole(seed: int) -> None:
    program = random_program(seed, 60)
    setup, loop = split(program.code)
    verify(loop)
    expected = run(program.code, program, seed)
    if setup is None:
        assert loop is program.code
        return
    verify(setup)
    assert set(setup.inputs) == {"p"}
    h = run(setup, program, seed)["h"]
    found = run(loop, program, seed, h=h)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name])
    assert cost(loop, frozenset({"p", "h"})) == (cost(program.code)[0], Cost())


@pytest.mark.parametrize("seed", range(8))
def test_the_loop_of_a_symbolic_robot_has_no_parameter_work(seed: int) -> None:
    robot = random_robot(seed, symbolic=True)
    program = cardan.model(robot, "inverse-dynamics")
    setup, loop = program.split()
    assert setup is not None
    p = np.array([random_values(robot, seed)[name] for name in program.parameters])
    x = states(robot.n, 20, seed)
    found = loop.evaluate(**x, p=p, h=setup.evaluate(p=p))
    np.testing.assert_array_equal(found, program.evaluate(**x, p=p))
    assert cost(loop.code, frozenset({"p", "h"}))[1].total == 0
    assert cost(loop.code)[0] == program.cost


@pytest.mark.parametrize("seed", SEEDS)
def test_fusing_changes_only_the_rounding(seed: int) -> None:
    program = random_program(seed, 60)
    fused = fuse(program.code)
    verify(fused)
    expected, found = run(program.code, program, seed), run(fused, program, seed)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-11)
    assert sum(cost(fused), Cost()) == sum(cost(program.code), Cost())
    assert len(fused.nodes) <= len(program.code.nodes)


@pytest.mark.parametrize("seed", range(10))
def test_fusing_a_robot(seed: int) -> None:
    robot = random_robot(seed)
    program = cardan.model(robot, "inverse-dynamics")
    fused = fuse(program.code)
    names = {node[0] for node in fused.nodes}
    assert names & {"fma", "fms", "fnma"}
    x = states(robot.n, 20, seed)
    found = interpret(fused, program.arrays(x))["tau"]
    near(found, program.evaluate(**x), 1e-13)


@pytest.mark.parametrize(
    ("sign_product", "sign_rest"), [(1, 1), (1, -1), (-1, 1), (-1, -1)]
)  # fmt: skip
@pytest.mark.parametrize("product_first", [True, False])
def test_all_signs_of_a_fused_operation(
    sign_product: int, sign_rest: int, product_first: bool
) -> None:
    graph = Graph()
    a, b, c = (graph.leaf("x", k) for k in range(3))
    product, rest = sign_product * (a * b), sign_rest * apply("sin", c)
    total = product + rest if product_first else rest + product
    code = gather(graph, {"x": (3,)}, {"y": ((1,), [total])})
    fused = fuse(code)
    assert sum(node[0] in ("fma", "fms", "fnma") for node in fused.nodes) == 1
    x = np.array([0.3, -1.7, 2.2])
    np.testing.assert_allclose(interpret(fused, {"x": x})["y"], interpret(code, {"x": x})["y"])


def test_labels_survive() -> None:
    program = cardan.model(cardan.load("rx90"), "inverse-dynamics")
    again = live(program.code)
    assert again.labels == program.code.labels
    fused = fuse(program.code)
    assert set(fused.labels.values()) <= set(program.code.labels.values())
    verify(fused)


def test_rebuild_through_a_rewrite() -> None:
    """A rewrite that replaces an input by a number folds everything behind it."""
    program = random_program(3)

    def no_x(graph: Graph, id: int, node: tuple, scalars: list) -> object:
        return 0 if node[:2] == ("input", "x") else replay(graph, node, scalars)

    found = rebuild(program.code, no_x)
    verify(found)
    assert not any(node[:2] == ("input", "x") for node in found.nodes)
    inputs = program.arrays(random_inputs(program, (7,)))
    expected = interpret(program.code, {**inputs, "x": np.zeros((7, 3))})
    for name, array in interpret(found, inputs).items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-12, atol=1e-15)


def test_expanded_cost_counts_every_use() -> None:
    robot = cardan.load("planar2r")
    compact = cardan.model(robot, "transform")
    written_out = cardan.model(robot, "transform", expanded=True)
    assert written_out.cost == expanded_cost(written_out.code)
    assert written_out.cost.total >= compact.cost.total
    assert written_out.cost.add == 2  # q1 + q2 in the sine and in the cosine


def test_a_minus_does_not_keep_parameter_work_in_the_loop() -> None:
    graph = Graph()
    x, p = graph.leaf("x", 0), graph.leaf("p", 0)
    value = apply("atan2", (-(p * p + p)), x)
    setup, loop = split(gather(graph, {"x": (1,), "p": (1,)}, {"y": ((1,), [value])}))
    assert setup is not None
    assert cost(loop, frozenset({"p", "h"}))[1] == Cost()
