"""Passes: programs in, equivalent programs out.

    live    keep only what reaches an output
    split   hoist the work that depends on parameters alone into a setup program
    fuse    contract a·b ± c into one operation where the product is used once (for execution)

`rebuild` is what they share: replay the nodes into a new graph through a rewrite of each node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .code import LEAVES, Code, Output, arguments, gather
from .cost import _COLUMN, Cost, depends_on
from .graph import Expr, Graph, Node


def rebuild(code: Code, rewrite: Callable[[Graph, int, Node, list[Any]], Any]) -> Code:
    """Replay a program; `rewrite(graph, id, node, scalars)` returns the new scalar of each node."""
    graph = Graph()
    scalars: list[Any] = [None]
    for id, node in enumerate(code.nodes[1:], 1):
        scalars.append(rewrite(graph, id, node, scalars))
    return regathered(code, graph, dict(enumerate(scalars)))


def regathered(code: Code, graph: Graph, made: Mapping[int, Any]) -> Code:
    """The program again, from the new scalars of its nodes; those that are not needed may be
    missing."""
    outputs = {
        name: (out.shape, [made[r] if r > 0 else -made[-r] for r in out.refs])
        for name, out in code.outputs.items()
    }
    labels: dict[int, str] = {}
    for id, label in code.labels.items():
        scalar = made.get(id)
        if isinstance(scalar, Expr) and scalar.ref > 0:
            labels.setdefault(scalar.ref, label)
    return gather(graph, code.inputs, outputs, labels)


def replay(graph: Graph, node: Node, scalars: list[Any]) -> Any:
    """The node as it was, in the new graph."""
    if node[0] == "input":
        return graph.leaf(node[1], node[2])
    if node[0] == "const":
        graph.node(node)  # keeps its place in the order
        return node[1]
    args = [scalars[arg] for arg in node[1:]]
    if node[0] == "add":
        return args[0] + args[1]
    if node[0] == "sub":
        return args[0] - args[1]
    if node[0] == "mul":
        return args[0] * args[1]
    if node[0] == "div":
        return args[0] / args[1]
    if node[0] == "neg":
        return -args[0]
    return graph.apply(node[0], *args)


def transplanted(graph: Graph, node: Node, refs: Mapping[int, int]) -> int:
    """The node in another graph, where its arguments are these signed references: `replay` where
    nothing folds."""
    kind = node[0]
    if kind == "mul":
        return graph.mul(refs[node[1]], refs[node[2]]).ref
    if kind in ("add", "sub"):
        y = refs[node[2]]
        total: int = graph.add(refs[node[1]], y if kind == "add" else -y).ref
        return total
    if kind in LEAVES:
        return graph.node(node)
    if kind == "neg":
        return -refs[node[1]]
    scalars = [Expr(graph, refs[arg]) for arg in node[1:]]
    value: Expr = scalars[0] / scalars[1] if kind == "div" else graph.apply(kind, *scalars)
    return value.ref


def inline(
    graph: Graph, code: Code, inputs: Mapping[str, Sequence[Any]],
    labels: dict[int, str] | None = None,
) -> dict[str, list[Any]]:  # fmt: skip
    """A program run inside another trace: its outputs as flat lists of that graph's scalars.

    `labels` gains the names of its values, by their nodes in that graph."""
    scalars = replayed(graph, code, inputs)
    for id, label in code.labels.items():
        scalar = scalars[id]
        if labels is not None and isinstance(scalar, Expr) and scalar.ref > 0:
            labels.setdefault(scalar.ref, label)
    return {name: elements(scalars, out.refs) for name, out in code.outputs.items()}


def replayed(graph: Graph, code: Code, inputs: Mapping[str, Sequence[Any]]) -> list[Any]:
    """The values of all nodes of a program, as scalars of that graph."""
    scalars: list[Any] = [None]
    for node in code.nodes[1:]:
        if node[0] == "input":
            scalars.append(inputs[node[1]][node[2]])
        else:
            scalars.append(replay(graph, node, scalars))
    return scalars


def elements(scalars: Sequence[Any] | Mapping[int, Any], refs: Sequence[int]) -> list[Any]:
    """The values that signed references mean; None for 0."""
    return [scalars[r] if r >= 0 else -scalars[-r] for r in refs]


def permuted(code: Code, array: str, order: Sequence[int]) -> Code:
    """The program that takes an input array in another order: its element k is the one that was
    order[k]."""
    place = {old: new for new, old in enumerate(order)}
    nodes = tuple(
        ("input", array, place[node[2]]) if node[0] == "input" and node[1] == array else node
        for node in code.nodes
    )
    return replace(code, nodes=nodes)


def live(code: Code) -> Code:
    """The program without the nodes that reach no output."""
    return rebuild(code, lambda graph, id, node, scalars: replay(graph, node, scalars))


def split(code: Code, arrays: frozenset[str] = frozenset({"p"})) -> tuple[Code | None, Code]:
    """(setup, loop). setup: arrays -> h, every value on them alone that the loop reads."""
    varying = depends_on(code, set(code.inputs) - arrays)
    seen = {arg for id, node in enumerate(code.nodes) if varying[id] for arg in arguments(node)}
    seen |= {abs(ref) for out in code.outputs.values() for ref in out.refs}
    bare = {code.nodes[id][1] if code.nodes[id][0] == "neg" else id for id in seen}
    free = ("input", "const")  # reading these is no work; nor is a minus
    read = {id for id in bare if not varying[id] and code.nodes[id][0] not in free}
    if not read:
        return None, code
    hoisted = {id: k for k, id in enumerate(sorted(read))}
    setup = live(
        Code(
            {name: shape for name, shape in code.inputs.items() if name in arrays},
            code.nodes,
            {"h": Output((len(hoisted),), tuple(hoisted))},
            code.labels,
        )
    )

    def rewrite(graph: Graph, id: int, node: Node, scalars: list[Any]) -> Any:
        return graph.leaf("h", hoisted[id]) if id in hoisted else replay(graph, node, scalars)

    loop = rebuild(
        Code({**code.inputs, "h": (len(hoisted),)}, code.nodes, code.outputs, code.labels), rewrite
    )
    return setup, loop


def fuse(code: Code) -> Code:
    """a·b + c -> fma(a, b, c), where a·b is used nowhere else; one rounding instead of two."""
    uses = code.uses

    def product(id: int) -> bool:
        return code.nodes[id][0] == "mul" and uses[id] == 1

    def rewrite(graph: Graph, id: int, node: Node, scalars: list[Any]) -> Any:
        if node[0] in ("add", "sub"):
            x, y = node[1:]
            if product(y) and x != y:
                a, b = (scalars[arg] for arg in code.nodes[y][1:])
                return fused(graph, a, b if node[0] == "add" else -b, scalars[x])
            if product(x) and x != y:
                a, b = (scalars[arg] for arg in code.nodes[x][1:])
                return fused(graph, a, b, scalars[y] if node[0] == "add" else -scalars[y])
        return replay(graph, node, scalars)

    return rebuild(code, rewrite)


def fused(graph: Graph, a: Any, b: Any, c: Any) -> Any:
    """a·b + c as one node: fma = ab+c, fms = ab-c, fnma = c-ab; -(ab)-c is -(ab+c)."""
    x, y, z = (graph.reference(value) for value in (a, b, c))
    positive = (x > 0) == (y > 0)
    name = {
        (True, True): "fma",
        (True, False): "fms",
        (False, True): "fnma",
        (False, False): "fma",
    }[positive, z > 0]
    id = graph.node((name, abs(x), abs(y), abs(z)))
    return Expr(graph, -id if not positive and z < 0 else id)


def expanded_cost(code: Code) -> Cost:
    """Operations when every value except sines and cosines is written out wherever it is used."""
    written: list[Cost] = [Cost()]  # to write a node where it is used
    total = Cost()
    for node in code.nodes[1:]:
        count = Cost(**dict.fromkeys(_COLUMN.get(node[0], ()), 1))
        for arg in arguments(node):
            count = count + written[arg]
        if node[0] in ("sin", "cos"):  # these have a statement of their own
            total, count = total + count, Cost()
        written.append(count)
    for out in code.outputs.values():
        for ref in out.refs:
            total = total + written[abs(ref)]
    return total
