"""Inputs that are read as angles alone: a whole turn more changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from .code import Code, arguments

_SUMS = ("add", "sub", "neg")


@dataclass(frozen=True)
class Angles:
    """The inputs (array, element), and the most terms of a sum that has a sine or cosine."""

    inputs: tuple[tuple[str, int], ...]
    terms: int


def angles(code: Code, shared: frozenset[str] = frozenset()) -> Angles | None:
    """The angles of a program whose sines and cosines are all of sums of inputs and constants, when
    nothing else reads these; else None. Sums with `shared` arrays are none."""
    nodes = code.nodes
    terms = [0] * len(nodes)  # of a sum; 0: no sum
    for id, node in enumerate(nodes[1:], 1):
        if node[0] == "const" or (node[0] == "input" and node[1] not in shared):
            terms[id] = 1
        elif node[0] in _SUMS and all(terms[arg] for arg in node[1:]):
            terms[id] = sum(terms[arg] for arg in node[1:])
    turning = [node[1] for node in nodes if node[0] in ("sin", "cos")]
    if not all(terms[id] for id in turning):
        return None
    inside, waiting = set(turning), list(turning)
    while waiting:
        for arg in arguments(nodes[waiting.pop()]):
            if arg not in inside:
                inside.add(arg)
                waiting.append(arg)
    read = {
        arg for id, node in enumerate(nodes)
        if id not in inside and node[0] not in ("sin", "cos") for arg in arguments(node)
    } | {abs(ref) for out in code.outputs.values() for ref in out.refs}  # fmt: skip
    varying = {id for id in inside if nodes[id][0] != "const"}
    if varying & read:
        return None
    inputs = tuple(nodes[id][1:] for id in sorted(varying) if nodes[id][0] == "input")
    return Angles(inputs, max((terms[id] for id in turning), default=1))
