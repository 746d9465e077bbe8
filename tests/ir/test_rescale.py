"""Sums in units of their own: fewer products, the same values."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.ir.code import Code, gather
from cardan.ir.cost import cost
from cardan.ir.graph import Graph
from cardan.ir.interpret import interpret
from cardan.ir.rescale import rescaled


def program(outputs: int, formula) -> Code:  # type: ignore[no-untyped-def]
    graph = Graph()
    x = [graph.leaf("x", k) for k in range(6)]
    p = [graph.leaf("p", k) for k in range(6)]
    return gather(graph, {"x": (6,), "p": (6,)}, {"y": ((outputs,), formula(x, p))}, {})


def values(code: Code, p: np.ndarray) -> np.ndarray:
    return interpret(code, {"x": np.arange(1.0, 7.0) ** 0.5, "p": p})["y"]


def test_a_factor_goes_into_what_reads_the_sum() -> None:
    def formula(x, p):  # type: ignore[no-untyped-def]
        v = p[0] * x[0] + p[1] * x[1]
        return [p[2] * v + x[2], p[3] * v - x[3]]

    code = program(2, formula)
    found = rescaled(code)
    assert cost(code)[0].mul == 4
    assert cost(found)[0].mul == 3
    p = np.array([0.3, -1.2, 0.7, 1.9, 1, 1])
    np.testing.assert_allclose(values(found, p), values(code, p), rtol=1e-14)
    p[0] = 0  # the unit itself: nothing is lost
    np.testing.assert_allclose(values(found, p), values(code, p), rtol=1e-14)


def test_units_go_along_a_chain() -> None:
    def formula(x, p):  # type: ignore[no-untyped-def]
        y, z = x[0], x[1]
        for k in range(2):
            y, z = x[2 + k] * x[4], p[2 * k] * z - p[2 * k + 1] * y
        return [p[4] * z + y]

    code = program(1, formula)
    found = rescaled(code)
    assert cost(found)[0].mul == cost(code)[0].mul - 2
    p = np.array([0.3, -1.2, 0.7, 1.9, 1.1, 1])
    np.testing.assert_allclose(values(found, p), values(code, p), rtol=1e-13)


def test_a_sum_that_is_read_bare_stays() -> None:
    code = program(2, lambda x, p: [p[0] * x[0] + p[1] * x[1], x[2] * (p[0] * x[0] + p[1] * x[1])])
    assert cost(rescaled(code))[0] == cost(code)[0]


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_keep_their_values(seed: int) -> None:
    """Groups that read each other in turn included."""
    rng = np.random.default_rng(seed)

    def formula(x, p):  # type: ignore[no-untyped-def]
        known = list(x)
        for _ in range(25):
            a, b = (known[rng.integers(len(known))] for _ in range(2))
            h, k = (p[rng.integers(6)] for _ in range(2))
            kind = rng.integers(5)
            made = (a + b, h * a + k * b, h * a - b, a * b, h * (a * b))[kind]
            known.append(made if hasattr(made, "ref") else a)
        return known[-4:]

    code = program(4, formula)
    found = rescaled(code)
    for p in rng.uniform(0.5, 1.5, (3, 6)):
        want = values(code, p)
        np.testing.assert_allclose(values(found, p), want, rtol=1e-9, atol=1e-9 * abs(want).max())
