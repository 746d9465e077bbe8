"""Products by parameters put to use in other sums: fewer operations, the same values."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.ir.code import Code, gather
from cardan.ir.cost import cost
from cardan.ir.graph import Graph
from cardan.ir.interpret import interpret
from cardan.ir.reuse import reused


def program(formula) -> Code:  # type: ignore[no-untyped-def]
    graph = Graph()
    x = [graph.leaf("x", k) for k in range(6)]
    p = [graph.leaf("p", k) for k in range(6)]
    outputs = formula(x, p)
    return gather(graph, {"x": (6,), "p": (6,)}, {"y": ((len(outputs),), outputs)}, {})


def same(code: Code, other: Code, p: np.ndarray) -> None:
    x = np.arange(1.0, 7.0) ** 0.5
    expected, values = (interpret(each, {"x": x, "p": p})["y"] for each in (code, other))
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=1e-13)


def shifted(x, p):  # type: ignore[no-untyped-def]
    hc = p[0] * x[0]
    return [p[1] * x[0] - hc * x[1] + x[2], hc * x[3]]


def turned(x, p):  # type: ignore[no-untyped-def]
    c, s, u, v = x[:4]
    hc, hs = p[0] * c, p[0] * s
    first, second = p[1] * c - p[2] * s, p[1] * s + p[2] * c
    there = [hc * (u + x[4]) + v * hs, x[5] + u * hs - v * hc]
    return [u * first + v * second + x[4], x[5] * second, *there]


@pytest.mark.parametrize(("formula", "spared"), [(shifted, 1), (turned, 2)])
def test_products_that_are_there_are_used_again(formula, spared: int) -> None:  # type: ignore[no-untyped-def]
    code = program(formula)
    rewritten = reused(code)
    assert cost(rewritten)[0].total == cost(code)[0].total - spared
    p = np.array([0.3, -1.2, 0.7, 1.9, 1, 1])
    same(code, rewritten, p)
    p[0] = 0  # what is divided by: nothing is lost
    same(code, rewritten, p)


def test_a_program_without_such_products_stays() -> None:
    code = program(lambda x, p: [p[1] * x[0] - p[0] * x[1], x[2] * x[3]])
    assert reused(code) is code
    lone = program(lambda x, p: [x[4] * (p[1] * x[0] - p[2] * x[1]) + x[5] * (p[1] * x[1])])
    assert reused(lone) is lone


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_keep_their_values(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def formula(x, p):  # type: ignore[no-untyped-def]
        values = [*x, p[0] * x[0], p[0] * x[1]]
        for _ in range(30):
            a, b = (values[rng.integers(len(values))] for _ in range(2))
            h, k = (p[rng.integers(3)] for _ in range(2))
            kind = rng.integers(5)
            new = (a + b, h * x[0] + k * x[1], h * x[1] - k * x[0] + a * b, a * b, h * a)[kind]
            values.append(new if hasattr(new, "ref") else a)
        return values[-6:]

    code = program(formula)
    rewritten = reused(code)
    assert cost(rewritten)[0].total <= cost(code)[0].total
    for p in rng.uniform(0.5, 1.5, (3, 6)):
        x = rng.uniform(0.5, 1, 6)
        expected, values = (interpret(each, {"x": x, "p": p})["y"] for each in (code, rewritten))
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
