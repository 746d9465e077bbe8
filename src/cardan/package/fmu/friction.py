"""Dry friction without its jump, for solvers that no event is told to.

A joint that stands, or turns back, has FS sign(qd) jump between -FS and FS: solvers of variable
step come to a halt there. A unit has FS qd / sqrt(qd² + v²) instead, as `cardan simulate` has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...exact import exact
from ...ir.code import Code
from ...ir.cost import depends_on
from ...ir.graph import Graph, Node
from ...ir.passes import rebuild, replay
from ...program import Program
from ..plan import Function
from ..reference import Example

WIDTH = 1e-3  # v, rad/s or m/s


def smoothed(function: Function) -> Function:
    """The function, the numbers it is tested with too, with friction smoothed."""
    program = function.program
    if not _signs(program.code):
        return function
    reference = replace(function.reference, program=_without_jump(function.reference.program))
    examples = []
    for example in function.examples:
        state = {key: x.reshape(program.inputs[key]) for key, x in example.inputs.items()}
        outputs = {key: x.ravel() for key, x in reference(state).items()}
        examples.append(Example(example.inputs, outputs))
    remark = f"dry friction FS sign(qd) is smoothed: FS qd/sqrt(qd^2 + v^2), v = {WIDTH:g}"
    program = replace(_without_jump(program), remarks=(*program.remarks, remark))
    return replace(function, program=program, examples=tuple(examples), reference=reference)


def _signs(code: Code) -> set[int]:
    """Of velocities."""
    moving = depends_on(code, {"qd"})
    return {id for id, node in enumerate(code.nodes) if node[0] == "sign" and moving[id]}


def _without_jump(program: Program) -> Program:
    signs, small = _signs(program.code), exact(str(WIDTH)) ** 2

    def rewrite(graph: Graph, id: int, node: Node, scalars: list[Any]) -> Any:
        if id not in signs:
            return replay(graph, node, scalars)
        x = scalars[node[1]]
        return x / graph.apply("sqrt", x * x + small)

    return replace(program, code=rebuild(program.code, rewrite), page=None)
