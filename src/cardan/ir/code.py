"""`Code`: a straight-line program. Named input arrays in, nodes in order, named output arrays out.

Nodes are those of `graph`, live ones only, in creation order, numbered from 1 (0 is unused, so that a
reference ±id carries a sign). Every node may have a label, the name of the quantity it is in the paper.
A `Code` is plain data: it can be verified, saved as JSON, and is the same byte for byte on every run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

from ..errors import ProgramError
from ..exact import Exact, exact
from .graph import OPERATIONS, Graph, Node

__all__ = ["Code", "Output", "from_json", "gather", "to_json", "verify"]

Shape = tuple[int, ...]
FORMAT = 1


@dataclass(frozen=True)
class Output:
    """An output array: its shape and, row by row, signed references to nodes."""

    shape: Shape
    refs: tuple[int, ...]


@dataclass(frozen=True)
class Code:
    """The program: inputs -> nodes -> outputs."""

    inputs: Mapping[str, Shape]
    nodes: tuple[Node, ...]
    outputs: Mapping[str, Output]
    labels: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def uses(self) -> tuple[int, ...]:
        """How often each node is read (by nodes and outputs)."""
        count = [0] * len(self.nodes)
        for node in self.nodes:
            for arg in arguments(node):
                count[arg] += 1
        for output in self.outputs.values():
            for ref in output.refs:
                count[abs(ref)] += 1
        return tuple(count)


def arguments(node: Node) -> tuple[int, ...]:
    """Ids a node reads."""
    return () if node[0] in ("const", "input", "none") else node[1:]


def gather(
    graph: Graph,
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, tuple[Shape, Iterable[Any]]],
    labels: Mapping[int, str] | None = None,
) -> Code:
    """The program that computes these scalars of a graph: live nodes only, renumbered in order."""
    refs = {name: [graph.reference(x) for x in flat] for name, (_, flat) in outputs.items()}
    live = bytearray(len(graph.nodes))
    stack = [abs(ref) for flat in refs.values() for ref in flat]
    while stack:
        id = stack.pop()
        if not live[id]:
            live[id] = 1
            stack.extend(arguments(graph.nodes[id]))
    number, nodes = {}, [("none",)]
    for id, node in enumerate(graph.nodes):
        if live[id]:
            number[id] = len(nodes)
            args = arguments(node)
            nodes.append((node[0], *(number[arg] for arg in args)) if args else node)
    return Code(
        inputs=dict(inputs),
        nodes=tuple(nodes),
        outputs={
            name: Output(outputs[name][0], tuple(number[r] if r > 0 else -number[-r] for r in flat))
            for name, flat in refs.items()
        },
        labels={number[id]: label for id, label in (labels or {}).items() if id in number},
    )


def verify(code: Code) -> None:
    """Raise ProgramError unless the program is well formed: closed, ordered, shapes right."""
    for id, node in enumerate(code.nodes[1:], 1):
        if node[0] == "input":
            shape = code.inputs.get(node[1])
            if shape is None or not 0 <= node[2] < prod(shape):
                raise ProgramError(f"node {id} reads {node[1]}[{node[2]}], which is not an input")
        elif node[0] == "const":
            if isinstance(node[1], bool) or not isinstance(node[1], int | float | Exact):
                raise ProgramError(f"node {id} is a constant of type {type(node[1]).__name__}")
        elif node[0] not in OPERATIONS or len(node) != OPERATIONS[node[0]] + 1:
            raise ProgramError(f"node {id} is '{node[0]}' of {len(node) - 1}: not an operation")
        elif not all(isinstance(arg, int) and 0 < arg < id for arg in node[1:]):
            raise ProgramError(f"node {id} reads {node[1:]}: arguments must be earlier nodes")
    for name, output in code.outputs.items():
        if len(output.refs) != prod(output.shape):
            raise ProgramError(f"output {name} has {len(output.refs)} values, shape {output.shape}")
        if not all(0 < abs(ref) < len(code.nodes) for ref in output.refs):
            raise ProgramError(f"output {name} refers to a node that does not exist")
    if len(set(code.labels.values())) != len(code.labels):
        raise ProgramError("two nodes have the same label")


def to_json(code: Code) -> dict[str, Any]:
    """The program as JSON data; `from_json` gives it back equal."""
    return {
        "format": FORMAT,
        "inputs": {name: list(shape) for name, shape in code.inputs.items()},
        "nodes": [
            ["const", _number_to_json(node[1])] if node[0] == "const" else list(node)
            for node in code.nodes[1:]
        ],
        "outputs": {
            name: {"shape": list(out.shape), "refs": list(out.refs)}
            for name, out in code.outputs.items()
        },
        "labels": {str(id): label for id, label in code.labels.items()},
    }


def from_json(data: Any) -> Code:
    """The program of JSON data, verified; anything malformed is a ProgramError."""
    try:
        if data["format"] != FORMAT:
            raise ProgramError(f"program format {data['format']!r}; this Cardan reads {FORMAT}")
        code = Code(
            inputs={str(name): tuple(map(int, shape)) for name, shape in data["inputs"].items()},
            nodes=(("none",), *map(_node_from_json, data["nodes"])),
            outputs={
                str(name): Output(tuple(map(int, out["shape"])), tuple(map(int, out["refs"])))
                for name, out in data["outputs"].items()
            },
            labels={int(id): str(label) for id, label in data["labels"].items()},
        )
    except ProgramError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise ProgramError(f"not a saved program: {error!r}") from None
    verify(code)
    return code


def dumps(code: Code) -> str:
    return json.dumps(to_json(code), separators=(",", ":"))


def _node_from_json(item: Any) -> Node:
    if item[0] == "const":
        return ("const", _number_from_json(item[1]))
    return (str(item[0]), *item[1:])


def _number_to_json(x: int | float | Exact) -> Any:
    # a float is its shortest repr (JSON's own number), exact numbers are text: "3/4", "0/1 1/2" (a, b of a+bπ)
    if isinstance(x, Exact):
        return f"{x.a} {x.b}"
    return {"float": x.hex()} if isinstance(x, float) else str(x)


def _number_from_json(item: Any) -> int | float | Exact:
    if isinstance(item, dict):
        return float.fromhex(item["float"])
    a, _, b = str(item).partition(" ")
    if max(len(a), len(b)) > 2000:
        raise ProgramError("a constant of more than 2000 digits")
    return exact(Fraction(a), Fraction(b or 0))
