"""Exact derivatives of programs, on the graph: forward mode (by inputs) and reverse mode (by
outputs).

Both write the partial derivatives as new nodes beside the old ones, so that they share all common
work; structural zeros are the number 0 and stay zeros. The mode with fewer operations is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from .code import Code, arguments, gather
from .cost import Cost, cost
from .graph import Graph, Node
from .passes import inline, replay

Scalar = Any


def derivative(code: Code, output: str, wrt: str, name: str, mode: str = "auto") -> Code:
    """The program of ∂output/∂wrt, an array of shape output.shape + wrt.shape called `name`."""
    if mode != "auto":
        return {"forward": _forward, "reverse": _reverse}[mode](code, output, wrt, name)
    outputs, inputs = len(code.outputs[output].refs), prod(code.inputs[wrt])
    if outputs > 4 * inputs:
        return _forward(code, output, wrt, name)
    programs = [_forward(code, output, wrt, name), _reverse(code, output, wrt, name)]
    return min(programs, key=lambda program: _operations(cost(program)[0]))


def along(
    graph: Graph, code: Code, inputs: Mapping[str, Sequence[Scalar]],
    rates: Mapping[str, Sequence[Scalar]],
) -> dict[str, list[Scalar]]:  # fmt: skip
    """The rates of the outputs of a program run inside another trace, whose inputs are these and
    change at these rates: one sweep forward."""
    scalars: list[Scalar] = [None]
    rate: dict[int, Scalar] = {}
    for id, node in enumerate(code.nodes[1:], 1):
        if node[0] == "input":
            scalars.append(inputs[node[1]][node[2]])
            if node[1] in rates:
                rate[id] = rates[node[1]][node[2]]
            continue
        scalars.append(replay(graph, node, scalars))
        _add_rate(graph, id, node, scalars, rate)
    return {
        name: [_signed(rate.get(abs(r), 0), r) for r in output.refs]
        for name, output in code.outputs.items()
    }


def jacobians(code: Code, wanted: Mapping[str, tuple[str, str]]) -> Code:
    """The outputs of a program and partial derivatives of them, name -> (output, wrt)."""
    graph = Graph()
    leaves = _leaves(graph, code.inputs)
    flat = inline(graph, code, leaves)
    outputs = {name: (output.shape, flat[name]) for name, output in code.outputs.items()}
    for name, (output, wrt) in wanted.items():
        partial = derivative(code, output, wrt, name)
        outputs[name] = partial.outputs[name].shape, inline(graph, partial, leaves)[name]
    return gather(graph, code.inputs, outputs)


def adjoint(code: Code, weights: Mapping[str, str], gradients: Mapping[str, str]) -> Code:
    """The gradient of a weighted sum of all outputs, by one sweep back.

    weights: output -> the input that weighs it; gradients: input -> the output by it."""
    graph, scalars = _replayed(code)
    shapes = {w: code.outputs[y].shape for y, w in weights.items()}
    leaves = _leaves(graph, shapes)
    weight: dict[int, Scalar] = {}
    for y, name in weights.items():
        for leaf, ref in zip(leaves[name], code.outputs[y].refs, strict=True):
            weight[abs(ref)] = weight.get(abs(ref), 0) + _signed(leaf, ref)
    rows: dict[str, list[Scalar]] = {x: [0] * prod(code.inputs[x]) for x in gradients}
    for id in range(len(code.nodes) - 1, 0, -1):
        node, w = code.nodes[id], weight.pop(id, 0)
        if isinstance(w, int) and w == 0:
            continue
        if node[0] == "input" and node[1] in rows:
            rows[node[1]][node[2]] = w
        for arg, partial in _partials(graph, node, scalars, scalars[id]):
            weight[arg] = weight.get(arg, 0) + w * partial()
    outputs = {gradients[x]: (code.inputs[x], row) for x, row in rows.items()}
    return gather(graph, {**code.inputs, **shapes}, outputs)


def tangent(code: Code, directions: Mapping[str, str], rates: Mapping[str, str]) -> Code:
    """The derivative of the outputs along a direction of the inputs, by one sweep forward.

    directions: input -> the input that is its direction; rates: output -> its derivative."""
    graph = Graph()
    shapes = {v: code.inputs[x] for x, v in directions.items()}
    leaves = _leaves(graph, {**code.inputs, **shapes})
    flat = along(graph, code, leaves, {x: leaves[v] for x, v in directions.items()})
    outputs = {name: (code.outputs[y].shape, flat[y]) for y, name in rates.items()}
    return gather(graph, {**code.inputs, **shapes}, outputs)


def _leaves(graph: Graph, shapes: Mapping[str, Sequence[int]]) -> dict[str, list[Scalar]]:
    return {name: [graph.leaf(name, k) for k in range(prod(s))] for name, s in shapes.items()}


def _operations(c: Cost) -> int:
    return c.total + c.trig


def _replayed(code: Code) -> tuple[Graph, list[Scalar]]:
    graph = Graph()
    scalars: list[Scalar] = [None]
    for node in code.nodes[1:]:
        scalars.append(replay(graph, node, scalars))
    return graph, scalars


def _gathered(
    code: Code,
    graph: Graph,
    scalars: list[Scalar],
    output: str,
    wrt: str,
    name: str,
    flat: list[Scalar],
) -> Code:
    shape = (*code.outputs[output].shape, *code.inputs[wrt])
    labels = {
        scalars[id].ref: label
        for id, label in code.labels.items()
        if hasattr(scalars[id], "ref") and scalars[id].ref > 0
    }
    return gather(graph, code.inputs, {name: (shape, flat)}, labels)


def _forward(code: Code, output: str, wrt: str, name: str) -> Code:
    """One sweep per input element; only what depends on it is touched."""
    graph, scalars = _replayed(code)
    columns = []
    for k in range(prod(code.inputs[wrt])):
        rate: dict[int, Scalar] = {}
        for id, node in enumerate(code.nodes[1:], 1):
            if node == ("input", wrt, k):
                rate[id] = 1
            elif any(arg in rate for arg in arguments(node)):
                _add_rate(graph, id, node, scalars, rate)
        columns.append([_signed(rate.get(abs(r), 0), r) for r in code.outputs[output].refs])
    flat = [column[r] for r in range(len(code.outputs[output].refs)) for column in columns]
    return _gathered(code, graph, scalars, output, wrt, name, flat)


def _add_rate(
    graph: Graph, id: int, node: Node, scalars: list[Scalar], rate: dict[int, Scalar]
) -> None:
    """The rate of a node from those of its arguments, where it is not zero."""
    total: Scalar = 0
    for arg, partial in _partials(graph, node, scalars, scalars[id]):
        if arg in rate:
            total = total + partial() * rate[arg]
    if not (isinstance(total, int) and total == 0):
        rate[id] = total


def _reverse(code: Code, output: str, wrt: str, name: str) -> Code:
    """One sweep back per output element."""
    graph, scalars = _replayed(code)
    size = prod(code.inputs[wrt])
    flat: list[Scalar] = []
    for ref in code.outputs[output].refs:
        weight: dict[int, Scalar] = {abs(ref): 1 if ref > 0 else -1}
        row: list[Scalar] = [0] * size
        for id in range(abs(ref), 0, -1):
            if id not in weight:
                continue
            node, w = code.nodes[id], weight.pop(id)
            if isinstance(w, int) and w == 0:
                continue
            if node[0] == "input" and node[1] == wrt:
                row[node[2]] = w
            for arg, partial in _partials(graph, node, scalars, scalars[id]):
                weight[arg] = weight.get(arg, 0) + w * partial()
        flat += row
    return _gathered(code, graph, scalars, output, wrt, name, flat)


def _signed(x: Scalar, ref: int) -> Scalar:
    return x if ref > 0 else -x


def _partials(
    graph: Graph, node: Node, x: list[Scalar], value: Scalar
) -> list[tuple[int, Callable[[], Scalar]]]:
    """(argument, its partial derivative) of a node; evaluated only when needed."""
    op, args = node[0], arguments(node)
    if not args:
        return []
    u = [x[arg] for arg in args]
    table: dict[str, Callable[[], list[Callable[[], Scalar]]]] = {
        "add": lambda: [lambda: 1, lambda: 1],
        "sub": lambda: [lambda: 1, lambda: -1],
        "neg": lambda: [lambda: -1],
        "mul": lambda: [lambda: u[1], lambda: u[0]],
        "div": lambda: [lambda: 1 / u[1], lambda: -(value / u[1])],
        "sin": lambda: [lambda: graph.apply("cos", u[0])],
        "cos": lambda: [lambda: -graph.apply("sin", u[0])],
        "sqrt": lambda: [lambda: 1 / (2 * value)],
        "abs": lambda: [lambda: graph.apply("sign", u[0])],
        "sign": lambda: [lambda: 0],
        "atan2": lambda: [
            lambda: u[1] / (u[0] * u[0] + u[1] * u[1]),
            lambda: -(u[0] / (u[0] * u[0] + u[1] * u[1])),
        ],
        "min": lambda: [lambda: _where(graph, u[1] - u[0]), lambda: _where(graph, u[0] - u[1])],
        "max": lambda: [lambda: _where(graph, u[0] - u[1]), lambda: _where(graph, u[1] - u[0])],
        "select": lambda: [
            lambda: 0,
            lambda: _where(graph, u[0]),
            lambda: 1 - _where(graph, u[0]),
        ],
    }
    return list(zip(args, table[op](), strict=True))


def _where(graph: Graph, x: Scalar) -> Scalar:
    """1 where x > 0, else 0."""
    return graph.apply("select", x, 1, 0) if hasattr(x, "ref") else int(x > 0)
