"""The order of the operations: as they were traced, or output after output, each with what it needs
just before it. The one that keeps fewer values waiting is kept: they are in registers, or spill."""

from __future__ import annotations

from collections.abc import Sequence

from .code import LEAVES, Code, Output, arguments


def calm(code: Code) -> Code:
    """The program in the other order if far fewer values wait to be used in it: compilers move
    operations too, and make up for little."""
    order = _by_outputs(code)
    calmer = 4 * most_waiting(code, order) < 3 * most_waiting(code, sorted(order))
    return _ordered(code, order) if calmer else code


def most_waiting(code: Code, order: Sequence[int]) -> int:
    """The most values that are computed and still to be read at once; inputs are read anew."""
    last = {arg: k for k, id in enumerate(order) for arg in arguments(code.nodes[id])}
    ends: dict[int, int] = {}
    for id, k in last.items():
        if code.nodes[id][0] not in LEAVES:
            ends[k] = ends.get(k, 0) + 1
    waiting = most = 0
    for k, id in enumerate(order):
        waiting += id in last
        most = max(most, waiting)
        waiting -= ends.get(k, 0)
    return most


def _by_outputs(code: Code) -> list[int]:
    """The operations depth first from the outputs, the last one first: those of a base hang on all
    others. Of two arguments the one that takes longer comes first."""
    nodes = code.nodes
    depth = [0] * len(nodes)
    for id, node in enumerate(nodes):
        depth[id] = 1 + max((depth[arg] for arg in arguments(node)), default=0)
    outputs = [abs(ref) for output in code.outputs.values() for ref in output.refs]
    seen = {id for id, node in enumerate(nodes) if node[0] in LEAVES or not id}
    order = []
    waiting = [(id, False) for id in outputs]
    while waiting:
        id, ready = waiting.pop()
        if ready:
            order.append(id)
        elif id not in seen:
            seen.add(id)
            waiting.append((id, True))
            missing = {arg for arg in arguments(nodes[id]) if arg not in seen}
            waiting += [(arg, False) for arg in sorted(missing, key=depth.__getitem__)]
    return order


def _ordered(code: Code, order: Sequence[int]) -> Code:
    leaves = [id for id, node in enumerate(code.nodes) if node[0] in LEAVES]
    place = {id: k for k, id in enumerate((0, *(x for x in leaves if x), *order))}
    nodes = [
        node if (node := code.nodes[id])[0] in LEAVES or not id
        else (node[0], *(place[arg] for arg in node[1:]))
        for id in place
    ]  # fmt: skip
    signed = {sign * id: sign * k for id, k in place.items() for sign in (-1, 1)}
    outputs = {
        name: Output(out.shape, tuple(signed[ref] for ref in out.refs))
        for name, out in code.outputs.items()
    }
    labels = {place[id]: label for id, label in code.labels.items() if id in place}
    return Code(code.inputs, tuple(nodes), outputs, labels)
