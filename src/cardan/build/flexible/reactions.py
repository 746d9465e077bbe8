"""What the reactions of robots with flexible links start from: how everything moves that the driven
joints do not impose, and what the loops push with, [BK13] (30)-(38)."""

from __future__ import annotations

from typing import Any

from ...algebra.scalar import vanishes
from ...algebra.vector import Vec, cross, zero
from ...models.articulated import articulated
from ...models.bodies import Bodies
from ...models.flexible.loops import along, constraint_drift, root_of, side
from ...models.motion import motion
from ..common import Arrays, wrenches
from ..mechanism import Mechanism
from .equations import Loops, closure

Scalar = Any
Pair = tuple[Vec, Vec]
UNITS = {"x": Vec(1, 0, 0), "y": Vec(0, 1, 0), "z": Vec(0, 0, 1)}


def tree_accelerations(mechanism: Mechanism, scene: Bodies, x: Arrays) -> list[Scalar]:
    """q̈ of a tree whose driven joints accelerate as given: springs and links follow."""
    imposed = dict(zip(mechanism.coordinates.driven, x["qdd"], strict=True))
    loaded = scene.loaded(wrenches(mechanism.robot, x))
    record = articulated(loaded, motion(loaded, x["q"], x["qd"]), tau={}, qdd=imposed)
    elastic = [v for j in scene.flexible for v in record.qedd[j]]
    return [*(record.qdd[j] for j in scene.tree.moving), *elastic]


def loop_wrenches(
    mechanism: Mechanism, scene: Bodies, x: Arrays
) -> tuple[list[Scalar], list[Scalar], list[Pair], dict[int, Pair]]:
    """(q̇, q̈ of the tree; of each cut joint the wrench on the twin's link at O_t, in the twin's
    axes; by frame the wrenches of cut and twin on their surroundings)."""
    loops = closure(mechanism)
    here = Loops(mechanism.described, scene, x, turned=True)
    known = dict(zip(loops.active, x["qdd"], strict=True))
    follows, _ = here.prescribed(known, not loops.has_multipliers(loops.follow))
    every = {**known, **follows}
    qdd = here.accelerations({key: every[key] for key in loops.independent})
    forces = iter(here.forces(qdd))
    rates = dict(zip(loops.keys, qdd, strict=True))
    speeds = dict(zip(loops.keys, here.qd, strict=True))
    own = {cut.cut: (row, body, cut) for row, body, cut in here.cut_joints}
    wrenches, loads = [], dict[int, Pair]()
    for cut in loops.cuts:
        values = [-next(forces) for _ in cut.rows]
        if cut.kind == "coupling":
            continue
        root = root_of(here.scene, cut)
        c, t = (side(here.scene, here.still, root, frame) for frame in (cut.cut, cut.twin))
        push, turn = zero, zero
        for name, value in zip(cut.rows, values, strict=True):
            if name == "uu":
                turn = turn + value * cross(t.R @ UNITS["x"], c.R @ UNITS["z"])
                continue
            axis = UNITS[name[1].lower()]
            along_axis = value * (axis if name[0].isupper() else c.R @ axis)
            push, turn = (push + along_axis, turn) if name[0] in "vV" else (push, turn + along_axis)
        if cut.cut in own:
            row, body, free = own[cut.cut]
            drag = body.friction(along(row, speeds))
            if not vanishes(body.IA):
                Phi = constraint_drift(here.scene, here.motion, free)[0]
                drag = drag + body.IA * (along(row, rates) + Phi)
            back = -drag * (c.R @ UNITS["z"])
            push, turn = (push + back, turn) if cut.kind == "prismatic" else (push, turn + back)
        on_twin = (t.R.T @ push, t.R.T @ turn)
        wrenches.append(on_twin)
        loads[cut.twin] = (-on_twin[0], -on_twin[1])
        loads[cut.cut] = (c.R.T @ push, c.R.T @ (turn + cross(t.P - c.P, push)))
    return here.qd, qdd, wrenches, loads
