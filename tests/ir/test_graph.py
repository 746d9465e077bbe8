"""Expressions: interning, signs, exact folding; only rewrites that are exact in floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.random_programs import apply, program_of

from cardan.emit import languages
from cardan.exact import exact, pi
from cardan.ir.code import gather
from cardan.ir.cost import _COLUMN
from cardan.ir.graph import OPERATIONS, Expr, Graph
from cardan.ir.interpret import FUNCTIONS, interpret

floats = st.floats(-1e6, 1e6)


@pytest.fixture
def xyz() -> tuple[Expr, ...]:
    graph = Graph()
    return tuple(graph.leaf("x", k) for k in range(3))


def test_equal_expressions_are_one_node(xyz: tuple[Expr, ...]) -> None:
    x, y, z = xyz
    assert x * y == y * x
    assert x + y == y + x
    assert (x + y) * z == z * (y + x)
    assert apply("sin", x) == apply("sin", x)
    assert len(x.graph.nodes) == 1 + 3 + 4


def test_signs_are_no_nodes(xyz: tuple[Expr, ...]) -> None:
    x, y, _ = xyz
    assert x - y == -(y - x)
    assert -x - y == -(x + y)
    assert (-x) * y == -(x * y)
    assert (-x) * (-y) == x * y
    assert (-x) / y == -(x / y)
    assert apply("sin", -x) == -apply("sin", x)
    assert apply("cos", -x) == apply("cos", x)
    assert apply("sign", -x) == -apply("sign", x)
    assert apply("abs", -x) == apply("abs", x)
    assert {node[0] for node in x.graph.nodes} == {
        "none", "input", "sub", "add", "mul", "div", "sin", "cos", "sign", "abs",
    }  # fmt: skip


def test_neutral_elements_and_cancellation(xyz: tuple[Expr, ...]) -> None:
    x, y, _ = xyz
    size = len(x.graph.nodes)
    assert type(0 * x) is int
    assert 0 * x == 0
    assert x + 0 is x
    assert 0 + x is x
    assert x - 0 is x
    assert 0 - x == -x
    assert x * 1 == x
    assert -1 * x == -x
    assert x / 1 == x
    assert x - x == 0
    assert type(x - x) is int
    assert x / x == 1
    assert x / -x == -1
    assert 0 / x == 0
    assert x**0 == 1
    assert len(x.graph.nodes) == size
    assert x**2 == x * x
    assert x**-1 == 1 / x
    assert y + 0.0 == y


def test_constants_stay_exact(xyz: tuple[Expr, ...]) -> None:
    x, *_ = xyz
    product = x * exact("0.1")
    assert x.graph.nodes[product.ref] == ("mul", 1, 4)
    assert x.graph.nodes[4] == ("const", exact("0.1"))
    assert x * exact("-0.1") == -product
    assert (pi / 2) * x == x * (pi / 2)
    assert x - exact("0.1") == -(exact("0.1") - x)


def test_no_truth_value_and_no_numpy_loop(xyz: tuple[Expr, ...]) -> None:
    x, y, _ = xyz
    with pytest.raises(TypeError, match="select"):
        bool(x)
    with pytest.raises(TypeError):
        np.array([1.0, 2.0]) * x
    with pytest.raises(TypeError):
        x + "1"
    with pytest.raises(TypeError):
        x**0.5
    with pytest.raises(ZeroDivisionError):
        x / 0
    assert x != y
    assert x != 1


def test_expressions_of_two_graphs_differ() -> None:
    assert Graph().leaf("x", 0) != Graph().leaf("x", 0)


def test_unknown_operations_are_refused(xyz: tuple[Expr, ...]) -> None:
    x, y, _ = xyz
    for name, args in (("tan", ()), ("atan2", ()), ("sqrt", (y,)), ("input", ()), ("const", ())):
        with pytest.raises(ValueError, match="not an operation"):
            apply(name, x, *args)


def test_minus_is_a_node_only_where_it_must(xyz: tuple[Expr, ...]) -> None:
    x, y, _ = xyz
    found = apply("atan2", -x, y)
    node = x.graph.nodes[found.ref]
    assert node[0] == "atan2"
    assert x.graph.nodes[node[1]] == ("neg", 1)


def test_text(xyz: tuple[Expr, ...]) -> None:
    x, y, _ = xyz
    assert repr(-(x * y) + 2) == "Expr(2 - x[0]*x[1])"
    deep = x
    for _ in range(50):
        deep = apply("sin", deep + y)
    assert "..." in repr(deep)


@given(st.lists(floats, min_size=3, max_size=3), st.randoms(use_true_random=False))
def test_folding_changes_no_bit(values: list[float], rng: Any) -> None:
    """A random computation on expressions, interpreted, is the computation on floats."""
    graph = Graph()
    leaves: list[Any] = [graph.leaf("x", k) for k in range(3)]
    numbers: list[Any] = [np.float64(v) for v in values]
    for _ in range(30):
        i, j, op = rng.randrange(len(leaves)), rng.randrange(len(leaves)), rng.choice("+-*n01c")
        for pool in (leaves, numbers):
            a, b = pool[i], pool[j]
            pool.append(
                {
                    "+": lambda a=a, b=b: a + b,
                    "-": lambda a=a, b=b: a - b,
                    "*": lambda a=a, b=b: (a * b) / 1048576,
                    "n": lambda a=a: -a,
                    "0": lambda a=a, b=b: 0 * a + b,
                    "1": lambda a=a, b=b: 1 * a - (-1) * b,
                    "c": lambda a=a: exact("0.3") * a + exact("1.7"),
                }[op]()
            )
        if not isinstance(leaves[-1], Expr):  # x - x is 0, and numbers alone are exact
            numbers[-1] = np.float64(float(leaves[-1]))
    code = gather(graph, {"x": (3,)}, {"y": ((len(leaves),), leaves)})
    found = interpret(code, {"x": np.array(values)})["y"]
    np.testing.assert_array_equal(found, np.array([float(v) for v in numbers]))


@given(floats)
def test_odd_and_even_functions_of_numpy_are_so(x: float) -> None:
    """What the sign rules of sin and cos rest on."""
    assert np.sin(-x) == -np.sin(x)
    assert np.cos(-x) == np.cos(x)


def test_the_set_of_operations_is_closed() -> None:
    """Every operation can be counted, interpreted and, but for the fused ones, printed."""
    assert set(FUNCTIONS) == set(OPERATIONS) == set(_COLUMN)
    graph = Graph()
    leaves = [graph.leaf("x", k) for k in range(3)]
    infix = [leaves[0] + leaves[1], leaves[0] - leaves[1], leaves[0] * leaves[1]]
    functions = [
        graph.apply(name, *leaves[:count])
        for name, count in OPERATIONS.items()
        if name not in ("add", "sub", "mul", "div", "neg", "fma", "fms", "fnma")
    ]
    outputs = [*infix, leaves[0] / leaves[1], -leaves[2], *functions]
    code = gather(graph, {"x": (3,)}, {"y": ((len(outputs),), outputs)})
    for language in languages():
        assert program_of(code).emit(language)
