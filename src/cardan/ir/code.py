"""`Code`: a straight-line program. Named input arrays in, nodes in order, named output arrays out.

Nodes are those of `graph`, live ones only, in creation order, numbered from 1 (0 is unused, so that
a reference ±id carries a sign). Every node may have a label, the name of the quantity it is in the
paper. A `Code` is plain data: it can be verified, saved as JSON, and is the same byte for byte on
every run.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import compress
from math import inf, prod
from typing import Any

from ..errors import ProgramError
from ..exact import Exact, exact
from .graph import OPERATIONS, Graph, Node

Shape = tuple[int, ...]
FORMAT = 1
LEAVES = frozenset({"const", "input", "none"})
LARGEST = 10_000_000  # elements of an input or output array
_EXACT = re.compile(r"-?\d{1,700}(/\d{1,700})?( -?\d{1,700}(/\d{1,700})?)?", re.ASCII)


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

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What tells the program from any other with the same inputs; 1 is not 1.0 here."""
        constants = tuple(type(node[1]) for node in self.nodes if node[0] == "const")
        return self.nodes, constants, tuple(self.outputs.items()), tuple(self.labels.items())


def reordered(code: Code, names: Sequence[str], whole: Sequence[str]) -> Code:
    """A program whose parameters p are `names`, for a longer p with the names `whole`."""
    place = {k: whole.index(name) for k, name in enumerate(names)}
    nodes = tuple(
        ("input", "p", place[node[2]]) if node[:2] == ("input", "p") else node
        for node in code.nodes
    )
    shapes = {name: (len(whole),) if name == "p" else x for name, x in code.inputs.items()}
    return replace(code, inputs=shapes, nodes=nodes)


def arguments(node: Node) -> tuple[int, ...]:
    """Ids a node reads."""
    return () if node[0] in LEAVES else node[1:]


def reached(nodes: Sequence[Node], refs: Iterable[int]) -> set[int]:
    """The nodes that these signed references need."""
    live, new = set[int](), {abs(ref) for ref in refs}
    while new:
        live |= new
        new = {arg for id in new if (node := nodes[id])[0] not in LEAVES for arg in node[1:]} - live
    return live


def gather(
    graph: Graph,
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, tuple[Shape, Iterable[Any]]],
    labels: Mapping[int, str] | None = None,
) -> Code:
    """The program that computes these scalars of a graph: live nodes only, renumbered in order."""
    refs = {name: [graph.reference(x) for x in flat] for name, (_, flat) in outputs.items()}
    live = bytearray(len(graph.nodes))
    live[0] = 1
    for ref in (ref for flat in refs.values() for ref in flat):
        live[abs(ref)] = 1
    for id in range(len(live) - 1, 0, -1):  # arguments are older than what reads them
        if live[id] and (node := graph.nodes[id])[0] not in LEAVES:
            for arg in node[1:]:
                live[arg] = 1
    number = [0] * len(live)
    nodes: list[Node] = []
    for id in compress(range(len(live)), live):
        node = graph.nodes[id]
        number[id] = len(nodes)
        if node[0] not in LEAVES:
            if len(node) == 3:  # most of them
                node = (node[0], number[node[1]], number[node[2]])
            else:
                node = (node[0], *[number[arg] for arg in node[1:]])
        nodes.append(node)
    return Code(
        inputs=dict(inputs),
        nodes=tuple(nodes),
        outputs={
            name: Output(outputs[name][0], tuple(number[r] if r > 0 else -number[-r] for r in flat))
            for name, flat in refs.items()
        },
        labels={
            number[id]: label for id, label in (labels or {}).items()
            if id < len(live) and live[id]
        },
    )  # fmt: skip


def verify(code: Code) -> None:
    """Raise ProgramError unless the program is well formed: closed, ordered, shapes right."""
    for name, shape in code.inputs.items():
        _verify_shape(f"input {name}", shape)
    for id, node in enumerate(code.nodes[1:], 1):
        fault = _fault(code, id, node)
        if fault:
            raise ProgramError(f"node {id} {fault}")
    for name, output in code.outputs.items():
        _verify_shape(f"output {name}", output.shape)
        if len(output.refs) != prod(output.shape):
            raise ProgramError(f"output {name} has {len(output.refs)} values, shape {output.shape}")
        if not all(type(ref) is int and 0 < abs(ref) < len(code.nodes) for ref in output.refs):
            raise ProgramError(f"output {name} refers to a node that does not exist")
    if not all(type(id) is int and 0 < id < len(code.nodes) for id in code.labels):
        raise ProgramError("a label names a node that does not exist")
    if len(set(code.labels.values())) != len(code.labels):
        raise ProgramError("two nodes have the same label")


def _verify_shape(what: str, shape: Shape) -> None:
    if not all(type(size) is int and size >= 0 for size in shape) or prod(shape) > LARGEST:
        raise ProgramError(
            f"{what} has shape {shape}; sizes from 0 to {LARGEST} in all are allowed"
        )


def _fault(code: Code, id: int, node: Node) -> str:
    """What is wrong with a node, or nothing."""
    op, args = node[0], node[1:]
    if op == "input":
        known = len(args) == 2 and isinstance(args[0], str) and args[0] in code.inputs
        if not known or type(args[1]) is not int or not 0 <= args[1] < prod(code.inputs[args[0]]):
            return f"reads {args}, which is not an element of an input"
    elif op == "const":
        if len(args) != 1 or type(args[0]) not in (int, float, Exact) or not _is_size(args[0]):
            return f"is the constant {args}; a finite number, 0 or positive, is expected"
    elif op not in OPERATIONS or len(args) != OPERATIONS[op]:
        return f"is '{op}' of {len(args)}: not an operation"
    elif not all(type(arg) is int and 0 < arg < id for arg in args):
        return f"reads {args}: arguments must be earlier nodes"
    elif op == "div" and code.nodes[args[1]][0] == "const" and code.nodes[args[1]][1] == 0:
        return "divides by the constant 0"
    return ""


def _is_size(x: int | float | Exact) -> bool:
    try:
        return 0 <= float(x) < inf
    except OverflowError:
        return False


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
            # interned: the shortest way into machine code knows a keyword by its address
            inputs={sys.intern(name): tuple(shape) for name, shape in data["inputs"].items()},
            nodes=(("none",), *map(_node_from_json, data["nodes"])),
            outputs={
                name: Output(tuple(out["shape"]), tuple(out["refs"]))
                for name, out in data["outputs"].items()
            },
            labels={int(id): str(label) for id, label in data["labels"].items()},
        )
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ProgramError(f"not a saved program: {error!r}") from None
    verify(code)
    return code


def _node_from_json(item: Any) -> Node:
    op, *args = item
    return ("const", *map(_number_from_json, args)) if op == "const" else (str(op), *args)


def _number_to_json(x: int | float | Exact) -> Any:
    # exact numbers are text: "3", "3/4", "0 1/2" (a and b of a + b·π); floats keep every bit
    if isinstance(x, Exact):
        return f"{x.a} {x.b}"
    return {"float": x.hex()} if isinstance(x, float) else str(x)


def _number_from_json(item: Any) -> int | float | Exact:
    if isinstance(item, dict):
        return float.fromhex(item["float"])
    if not isinstance(item, str) or not _EXACT.fullmatch(item):
        raise ValueError(f"the constant {item!r:.60}")
    a, _, b = item.partition(" ")
    return exact(Fraction(a), Fraction(b or 0))
