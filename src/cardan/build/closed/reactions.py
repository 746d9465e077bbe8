"""Reactions of closed-loop robots: the wrench through every joint, cut ones too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...algebra.vector import Vec, cross, zero
from ...describe.robot import Robot
from ...models.bodies import Bodies
from ...models.formulation import PLAIN
from ...models.jacobian import rotation
from ...models.loops import Constraint, twin_position
from ...models.newton_euler import inverse_dynamics as newton_euler
from ...program import Program
from ..common import Arrays, flat, wrenches
from ..derivation import Result
from ..loops import Closing, closing
from .dynamic import cut_drives, with_cut_drives

__all__ = ["reactions"]

Scalar = Any


def reactions(robot: Robot, *, f_e: bool = False, symbolic: bool = False) -> Program:
    """The wrench through every joint, and through the cut joints after them."""
    made = closing(robot, "reactions", symbolic=symbolic)
    nl, B = len(robot.links), len(robot.loops)

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, qdd = made.motion(scene, x)
        loads = wrenches(made.robot, x)
        free = newton_euler(scene, x["q"], qd, qdd, wrenches=loads)
        tau = with_cut_drives(made, scene, constraint, free.tau, qd, qdd)
        forces = _cut_wrenches(made, scene, x, constraint, constraint.multipliers(tau))
        for loop, _, own in cut_drives(made, scene, constraint, qd, qdd):  # on the shared z axis
            k = made.connection.loops.index(loop)
            push, turn = forces[k]
            drag = Vec(0, 0, -own)
            slides = loop.kind == "prismatic"
            forces[k] = (push + drag, turn) if slides else (push, turn + drag)
        for loop, (force, moment) in zip(made.connection.loops, forces, strict=True):
            R = rotation(scene, x["q"], loop.cut, loop.twin)
            loads[loop.twin] = (-force, -moment)  # the twin's link is pushed, the cut's pushes
            lever = twin_position(scene, x["q"], loop)
            loads[loop.cut] = (R @ force, R @ moment + cross(lever, R @ force))
        found = newton_euler(scene, x["q"], qd, qdd, wrenches=loads, form=PLAIN)
        rows = [[*found.f[j], *found.n[j]] for j in range(1, nl + 1)]
        rows += [[*force, *moment] for force, moment in forces]
        return Result({"reactions": ((nl + B, 6), flat(rows))}, found)

    inputs = made.inputs("q", "qd", "qdd", f_e=f_e)
    meaning = {
        "reactions": "wrench (force, moment about O_j) of the antecedent on each link, in frame j;"
        f" rows {nl + 1} to {nl + B}: through the cut joints, on the twin's link, in its frame"
    }
    if made.analysis.overconstrained:
        meaning["reactions"] += ". The loops are overconstrained: equations left out carry nothing"
    return made.program("reactions", inputs, [run], ["reactions"], meaning=meaning)


def _cut_wrenches(
    made: Closing, scene: Bodies, x: Arrays, constraint: Constraint, force: Sequence[Scalar]
) -> list[tuple[Vec, Vec]]:
    """The wrench of each cut joint on the twin's link at O_t, in the twin's axes."""
    found, rest = [], iter(force)
    units = {"x": Vec(1, 0, 0), "y": Vec(0, 1, 0), "z": Vec(0, 0, 1)}
    for loop, keep in zip(made.connection.loops, made.analysis.chosen, strict=True):
        R = rotation(scene, x["q"], loop.twin, keep.view)
        push, turn = zero, zero
        for name in keep.rows:
            value = next(rest)
            if name == "u":
                z = rotation(scene, x["q"], loop.twin, loop.cut) @ Vec(0, 0, 1)
                turn = turn + value * cross(Vec(1, 0, 0), z)
            elif name[0] == "v":
                push = push + value * (R @ units[name[1]])
            else:
                turn = turn + value * (R @ units[name[1]])
        found.append((push, turn))
    return found
