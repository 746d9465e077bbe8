"""Programs as data: gathering live nodes, the verifier, JSON, and hostile JSON."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.random_programs import random_inputs, random_program

import cardan
from cardan.errors import CardanError, ProgramError
from cardan.exact import exact, pi
from cardan.ir.code import Code, Output, from_json, gather, to_json, verify
from cardan.ir.graph import Graph
from cardan.program import Program


def small() -> Code:
    graph = Graph()
    x, y = graph.leaf("x", 0), graph.leaf("x", 1)
    dead = x * y * y
    assert dead != x
    label = (x + y).ref
    return gather(graph, {"x": (2,)}, {"z": ((2,), [(x + y) * 3, -x])}, {label: "s", 99: "none"})


def test_only_live_nodes_are_kept_in_order() -> None:
    code = small()
    assert code.nodes == (
        ("none",), ("input", "x", 0), ("input", "x", 1), ("add", 1, 2), ("const", 3), ("mul", 3, 4),
    )  # fmt: skip
    assert code.outputs["z"] == Output((2,), (5, -1))
    assert code.labels == {3: "s"}
    assert code.uses == (0, 2, 1, 1, 1, 1)
    verify(code)


def test_numbers_may_be_outputs() -> None:
    code = gather(Graph(), {}, {"z": ((3,), [0, -2, pi / 2])})
    verify(code)
    assert [code.nodes[abs(ref)] for ref in code.outputs["z"].refs] == [
        ("const", 0), ("const", 2), ("const", pi / 2),
    ]  # fmt: skip
    assert code.outputs["z"].refs[1] < 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": (("none",), ("input", "y", 0))}, "not an element"),
        ({"nodes": (("none",), ("input", "x", 2))}, "not an element"),
        ({"nodes": (("none",), ("input", "x", -1))}, "not an element"),
        ({"nodes": (("none",), ("input", "x", True))}, "not an element"),
        ({"nodes": (("none",), ("const", True))}, "constant"),
        ({"nodes": (("none",), ("const", "1"))}, "constant"),
        ({"nodes": (("none",), ("const", -1))}, "constant"),
        ({"nodes": (("none",), ("const", float("nan")))}, "constant"),
        ({"nodes": (("none",), ("const", 10**400))}, "constant"),
        ({"nodes": (("none",), ("const", 0), ("div", 1, 1))}, "divides"),
        ({"nodes": (("none",), ("tan", 1))}, "not an operation"),
        ({"nodes": (("none",), ("const", 1), ("add", 1))}, "not an operation"),
        ({"nodes": (("none",), ("const", 1), ("neg", 2))}, "earlier"),
        ({"nodes": (("none",), ("const", 1), ("neg", 0))}, "earlier"),
        ({"nodes": (("none",), ("const", 1), ("neg", -1))}, "earlier"),
        ({"outputs": {"z": Output((2,), (1,))}}, "values"),
        ({"outputs": {"z": Output((1,), (0,))}}, "does not exist"),
        ({"outputs": {"z": Output((1,), (9,))}}, "does not exist"),
        ({"outputs": {"z": Output((-1, -1), (1,))}}, "shape"),
        ({"inputs": {"x": (10**9,)}}, "shape"),
        ({"labels": {1: "a", 2: "a"}}, "same label"),
        ({"labels": {77: "a"}}, "does not exist"),
    ],
)
def test_the_verifier_refuses(change: dict[str, Any], message: str) -> None:
    if "nodes" in change:
        change = {**change, "outputs": {}, "labels": {}}
    with pytest.raises(ProgramError, match=message):
        verify(replace(small(), **change))


@pytest.mark.parametrize("seed", range(10))
def test_json_gives_the_program_back(seed: int) -> None:
    code = random_program(seed).code
    text = json.dumps(to_json(code))
    again = from_json(json.loads(text))
    assert again == code
    assert json.dumps(to_json(again)) == text
    assert [type(n[1]) for n in again.nodes if n[0] == "const"] == [
        type(n[1]) for n in code.nodes if n[0] == "const"
    ]


def test_json_keeps_exact_numbers_and_every_bit_of_floats() -> None:
    numbers = [7, exact("0.1"), exact("1/3"), pi, pi / 6 + exact("0.2"), 0.1 + 0.2, 5e-324, 10**200]
    code = gather(Graph(), {}, {"z": ((len(numbers),), numbers)})
    again = from_json(json.loads(json.dumps(to_json(code))))
    assert [again.nodes[ref][1] for ref in again.outputs["z"].refs] == numbers
    assert [type(again.nodes[ref][1]) for ref in again.outputs["z"].refs] == list(
        map(type, numbers)
    )


def test_a_saved_model_is_the_model(tmp_path: Any) -> None:
    program = cardan.model(cardan.load("rx90"), "inverse-dynamics")
    program.save(tmp_path / "idm.json")
    again = Program.load(tmp_path / "idm.json")
    assert again == program
    assert again.emit("c") == program.emit("c")
    assert again.to_json() == program.to_json()


@pytest.mark.parametrize("seed", range(6))
def test_mutated_json_is_refused_or_runs(seed: int) -> None:
    """Whatever happens to a saved program, reading it ends in a ProgramError or a sound program."""
    rng = random.Random(seed)
    original = json.loads(random_program(seed, 15).to_json())
    accepted = 0
    for _ in range(300):
        data = copy.deepcopy(original)
        for _ in range(rng.randint(1, 3)):
            _mutate(data, rng)
        try:
            program = Program.from_json(json.dumps(data))
        except ProgramError:
            continue
        accepted += 1
        verify(program.code)
        if sum(int(np.prod(shape)) for shape in program.inputs.values()) < 10**6:
            try:
                program.evaluate(**random_inputs(program))
                program.emit("c")
                program.emit("python")
            except CardanError:
                pass
    assert accepted  # the mutations are not all fatal


def _mutate(data: Any, rng: random.Random) -> None:
    """Change, remove or repeat something at a random place."""
    hostile: list[Any] = [
        None, True, -1, 0, 1, 10**30, 1e400, 0.5, "", "x", "1/0", "1e9999999", "9" * 5000, [], {},
        [[]], {"float": "nan"}, {"float": "inf"}, {"float": "0x1p99999"}, {"float": 1}, "input",
        ["const", "1 2 3"], ["input", [], 0], ["input", "x", "0"], "\0", "p", ["div", 1, 2],
    ]  # fmt: skip
    item = data
    while True:
        keys = list(item) if isinstance(item, dict) else list(range(len(item)))
        if not keys:
            return
        key = rng.choice(keys)
        if not isinstance(item[key], dict | list) or rng.random() < 0.15:
            break
        item = item[key]
    if rng.random() < 0.2:
        del item[key]
    else:
        item[key] = rng.choice(hostile)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "{}", "1", '"a"', "{", "[" * 100_000, "\0", '{"cardan-program": 2}']
)
def test_text_that_is_no_program(text: str) -> None:
    with pytest.raises(ProgramError):
        Program.from_json(text)
    with pytest.raises(ProgramError):
        from_json(text)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("defaults", {"a": 10**400}),
        ("defaults", {"a": "x"}),
        ("defaults", []),
        ("parameters", ["a"] * 7),
        ("parameters", None),
        ("meaning", 3),
        ("code", None),
    ],
)
def test_a_program_whose_fields_are_wrong(key: str, value: Any) -> None:
    data = json.loads(random_program(1).to_json())
    with pytest.raises(ProgramError):
        Program.from_json(json.dumps({**data, key: value}))


def test_a_program_whose_p_is_a_scalar() -> None:
    data = json.loads(random_program(1, parameters=False).to_json())
    data["code"]["inputs"]["p"] = []
    with pytest.raises(ProgramError):
        Program.from_json(json.dumps(data))
