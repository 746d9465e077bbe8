"""Counting operations as SYMORO+ counts them."""

from __future__ import annotations

import pytest
from tests.random_programs import apply

from cardan.ir.code import gather
from cardan.ir.cost import Cost, cost, depends_on
from cardan.ir.graph import Graph
from cardan.ir.passes import fuse


def test_each_operation_has_its_column() -> None:
    graph = Graph()
    x, y = graph.leaf("x", 0), graph.leaf("x", 1)
    outputs = [
        x + y, x - y, x * y, x / y, -x, apply("sin", x), apply("cos", x), apply("atan2", x, y),
        apply("sqrt", x), apply("sign", x), apply("abs", x), apply("min", x, y), apply("max", x, y),
        apply("select", x, y, x), 3,
    ]  # fmt: skip
    code = gather(graph, {"x": (2,)}, {"z": ((len(outputs),), outputs)})
    found, setup = cost(code)
    assert found == Cost(mul=1, add=2, div=1, trig=3, sqrt=1, sign=5)
    assert setup == Cost()
    assert found.total == 5
    assert str(found) == "1 mul, 2 add, 1 div, 3 trig, 1 sqrt, 5 sign"
    assert str(Cost()) == "0 mul, 0 add"


def test_fused_operations_count_as_two() -> None:
    graph = Graph()
    x, y, z = (graph.leaf("x", k) for k in range(3))
    code = gather(graph, {"x": (3,)}, {"z": ((1,), [x * y + z])})
    assert cost(fuse(code))[0] == cost(code)[0] == Cost(mul=1, add=1)


def test_work_on_parameters_alone_stands_apart() -> None:
    graph = Graph()
    x, p, r = graph.leaf("x", 0), graph.leaf("p", 0), graph.leaf("p", 1)
    code = gather(graph, {"x": (1,), "p": (2,)}, {"z": ((2,), [(p * r + r) * x, apply("sin", p)])})
    assert cost(code) == (Cost(mul=1), Cost(mul=1, add=1, trig=1))
    assert cost(code, frozenset()) == (Cost(mul=2, add=1, trig=1), Cost())
    marks = depends_on(code, {"x"})
    assert [code.nodes[id][0] for id, mark in enumerate(marks) if mark] == ["input", "mul"]


@pytest.mark.parametrize("k", [1, 2])
def test_costs_add(k: int) -> None:
    assert Cost(mul=k, add=1) + Cost(mul=2, trig=3) == Cost(mul=k + 2, add=1, trig=3)
