"""Models of closed-loop robots as functions of the active joints alone, [KC97] 3.1: the formulas of
the loops (loops/formulas.py), in one assembly, before the model of the tree's q."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..describe.robot import Robot
from ..describe.symbolic import parametrised
from ..errors import ModelError
from ..loops.geometry import LoopGeometry
from ..program import Program
from .common import flat
from .derivation import Call, Derivation, Route

__all__ = ["of_active"]


def of_active(robot: Robot, program: Program, assembly: Any, symbolic: bool = False) -> Program:
    """The program with q_a, the positions of the active joints, in place of q."""
    what = f"'{program.model}' of '{robot.name}'"
    if not robot.constrained or robot.ne or robot.wheels:
        raise ModelError(
            f"{what}: assembly= is for robots with closed loops or couplings, of rigid links,"
            " without wheels"
        )
    if "q" not in program.inputs:
        raise ModelError(f"{what} takes no q: leave out assembly=")
    geometry = LoopGeometry.of(parametrised(robot)[0] if symbolic else robot)
    formulas = geometry.formulas
    if formulas is None or not formulas.fits:
        raise ModelError(
            f"{what} is no function of q_a in formulas: its loops have none, one unknown after the"
            " other; leave out assembly= and give q of 'loop-geometry'"
        )
    count = formulas.branches
    if isinstance(assembly, bool) or not isinstance(assembly, int) or not 0 <= assembly < count:
        raise ModelError(
            f"{what}: assembly = {assembly!r}; expected a number from 0 to {count - 1}"
        )
    n = len(geometry.coordinates.moving)
    loops = formulas.program
    inputs = {"q_a": loops.inputs["q_a"]}
    inputs |= {k: shape for k, shape in program.inputs.items() if k not in ("q", "p")}

    def formula(call: Call, x: dict[str, Any]) -> dict[str, Any]:
        q = call(loops, q_a=x["q_a"])["q"][n * assembly : n * (assembly + 1)]
        rest = {name: _flat(array) for name, array in x.items() if name != "q_a"}
        values = call(program, q=q, **rest)
        return {name: (shape, values[name]) for name, shape in program.outputs.items()}

    derivation = Derivation(robot, program.model, inputs)
    candidate = derivation.compose(Route([loops, program], formula))
    words = (
        f"q of the tree follows from q_a in assembly {assembly} of {count} of its loops; no number"
        " comes out where they cannot be closed so"
    )
    meaning = {name: said for name, said in program.meaning.items() if name != "q"}
    meaning["q_a"] = loops.meaning["q_a"]
    defaults = dict(program.defaults)
    if symbolic:
        defaults |= parametrised(robot)[1]
    return replace(
        program, code=candidate.code, parameters=candidate.parameters, meaning=meaning, page=None,
        defaults={x: defaults[x] for x in candidate.parameters if x in defaults},
        remarks=(*program.remarks, words),
    )  # fmt: skip


def _flat(array: Any) -> list[Any]:
    """The elements of nested lists."""
    return flat(array) if array and isinstance(array[0], list) else list(array)
