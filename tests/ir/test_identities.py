"""Values that are 0, 1 or each other in every state are found; nothing else is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compare import near

import cardan
from cardan.exact import pi
from cardan.ir.code import Code, arguments, gather
from cardan.ir.graph import Graph
from cardan.ir.identities import identified
from cardan.ir.interpret import interpret, node_values


def program(write: str) -> Code:
    """The program of y, written in q1, q2, a, b."""
    graph = Graph()
    q1, q2, a, b = (graph.leaf("x", k) for k in range(4))
    s1, c1 = q1.apply("sin", q1), q1.apply("cos", q1)
    s2, c2 = q2.apply("sin", q2), q2.apply("cos", q2)
    both = q1 + q2
    quarter = q1 + pi / 2
    values = {
        "0": [
            a * (b * c1) - (a * b) * c1,
            s1 * c2 + c1 * s2 - both.apply("sin", both),
            (a + b) * (a - b) - a * a + b * b,
            quarter.apply("cos", quarter) + s1,
            s1 / c1 * c1 - s1,
        ],
        "1": [s1 * s1 + c1 * c1, a / b * b / a],
        "25": [5 * (c1 * (5 * c1)) + s1 * (25 * s1), 50 * a / (a + a)],
        "other": [
            s1 * s1 - c1 * c1, (a * 1.0000001) / a, a.apply("abs", a) - a,
            a.apply("sqrt", a * a) - a, q1 + 2 * pi - q1,
            a * 0.1 * 10 / a - 129,  # of the prime 2^61 - 1, 0.1 is 129/10
        ],
    }[write]  # fmt: skip
    return gather(graph, {"x": (4,)}, {"y": ((len(values),), values)})


@pytest.mark.parametrize("number", ["0", "1", "25"])
def test_identities_are_found(number: str) -> None:
    code = identified(program(number))
    assert {code.nodes[ref] for ref in code.outputs["y"].refs} == {("const", int(number))}


def test_infinity_is_no_number_of_a_field() -> None:
    graph = Graph()
    x = graph.leaf("x", 0)
    code = gather(graph, {"x": (1,)}, {"y": ((2,), [x.apply("min", x, float("inf")), x - x * 1])})
    same = identified(code)
    assert same.nodes[same.outputs["y"].refs[0]][0] == "min"


def test_what_is_only_near_or_equal_somewhere_stands() -> None:
    code = program("other")
    x = {"x": np.random.default_rng(0).normal(size=(5, 4))}
    found, expected = interpret(identified(code), x)["y"], interpret(code, x)["y"]
    near(found, expected, 1e-12)
    assert np.abs(found - 1).max(0).all()
    assert np.abs(found).max(0).all()


@pytest.mark.parametrize("name", ["puma560", "rx90", "ur5", "sr400"])
def test_no_value_of_a_page_is_zero(name: str) -> None:
    """`t24 = 0` stood among the values of the PUMA's inverse Jacobian, and was a factor."""
    program = cardan.model(cardan.load(name), "jacobian-inverse").plain
    rng = np.random.default_rng(0)
    x = {key: rng.uniform(0.3, 1.7, (5, *shape)) for key, shape in program.inputs.items()}
    values = node_values(program.code, x)
    computed = [id for id, node in enumerate(program.code.nodes) if arguments(node)]
    assert all(np.abs(values[id]).max() > 1e-12 for id in computed)


def test_the_wrist_of_the_puma_leaves_zeros_in_the_inverse() -> None:
    text = str(cardan.model(cardan.load("puma560"), "jacobian-inverse"))
    assert " = 0\n" not in text
    assert "Jinv5_4 = C1*C23*S4 + S1*C4" in text
