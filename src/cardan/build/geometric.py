"""Geometric models: transform, inverse geometry."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from ..describe.robot import Robot
from ..mechanism.tree import Tree
from ..models.bodies import Bodies
from ..models.transform import transform as transform_model
from ..program import Program
from .common import Arrays, unsupported
from .derivation import Form, Result
from .derive import build
from .flexible.kinematic import transform as flexible_transform
from .mechanism import Mechanism

if TYPE_CHECKING:
    from ..inverse.geometry import InverseGeometry


def transform(
    robot: Robot, *, frame: Any = None, reference: Any = 0, expanded: bool = False,
    symbolic: bool = False,
) -> Program:  # fmt: skip
    """T of a frame seen from another, or from the world."""
    tree = Tree.of(robot)
    world = reference == "world"
    i, j = 0 if world else tree.link(reference), tree.link(frame)

    if robot.ne:
        unsupported(robot, "transform", expanded=expanded)
        mechanism = Mechanism.of(robot.tree(), "transform", symbolic=symbolic)
        forms = [flexible_transform(j, i, world)]
        return mechanism.program("transform", mechanism.inputs("q"), forms, ["T"])

    def form(merge: bool, from_left: bool, shared: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            record = transform_model(
                scene, x["q"], j, i, merge=merge, from_left=from_left, shared=shared, world=world
            )
            return Result({"T": ((4, 4), record.matrix)}, record)

        return run

    seen = "the world" if world else f"frame {tree.label(i) if i else 0}"
    meaning = f"of frame {tree.label(j)} in {seen}: rotation and position, m"
    forms = [form(*choice) for choice in product((True, False), repeat=3)]
    return build(
        robot, "transform", {"q": (robot.n,)}, forms, ["T"], symbolic=symbolic, expanded=expanded,
        meaning={"T": meaning},
    )  # fmt: skip


def inverse_geometry(robot: Robot, *, frame: Any = None, **options: Any) -> InverseGeometry:
    """All configurations of a pose, [KC97] 3.3, 3.4: of a chain, or of a robot with loops, or
    couplings that move the frame. Each has its own room, which is imported when asked for."""
    tree = Tree.of(robot)
    options["frame"] = frame
    if robot.loops or robot.couplings.keys() & set(tree.path(tree.link(frame))):
        from ..loops.inverse import closed_inverse_geometry

        return closed_inverse_geometry(robot, **options)
    from ..inverse import method

    return method.inverse_geometry(robot, **options)
