"""Kinematic programs of robots with flexible links, [BK13] (10)-(21).

q, qd and qdd hold the joint variables in link order, then the elastic coordinates link by link."""

from __future__ import annotations

from typing import Any

from ...algebra.vector import Mat, Vec, cross
from ...describe.robot import Robot
from ...errors import ModelError
from ...mechanism.tree import Tree
from ...models.bodies import Bodies
from ...models.flexible.dynamics import coordinate_keys
from ...models.flexible.loops import side
from ...models.flexible.tree import accelerations as frame_accelerations
from ...models.flexible.tree import motion, split, sum_of
from ...program import Program
from ..common import Arrays, flat, is_floating
from ..derivation import Result
from ..kinematic import tool_point
from .dynamic import build_flexible, unsupported

__all__ = ["accelerations", "jacobian", "transform", "velocities"]

Frame = int | str | None


def _fixed_base(robot: Robot, model: str) -> None:
    if is_floating(robot):
        raise ModelError(f"'{model}' of '{robot.name}' is not available for a floating base")


def transform(
    robot: Robot, *, frame: Frame = None, reference: Frame = 0, expanded: bool = False,
    symbolic: bool = False,
) -> Program:  # fmt: skip
    """T of a frame in a frame of the deformed robot."""
    unsupported(robot, "transform", expanded=expanded)
    tree = Tree.of(robot)
    world = reference == "world"
    end, start = tree.link(frame), tree.link(0 if world else reference)

    def run(scene: Bodies, x: Arrays) -> Result:
        still = motion(scene, x["q"], [0] * len(x["q"]))
        up, down = scene.tree.path(start), scene.tree.path(end)
        root = max((i for i, j in zip(up, down, strict=False) if i == j), default=0)
        near, far = side(scene, still, root, start), side(scene, still, root, end)
        P: Vec = near.R.T @ (far.P - near.P)
        R = (near.R.T @ far.R).matrix()
        if world:
            z = scene.Z
            turn = Mat([z[0:3], z[4:7], z[8:11]])
            R, P = turn @ R, turn @ P + Vec(z[3], z[7], z[11])
        rows = [[*row, p] for row, p in zip(R.rows, P, strict=True)]
        return Result({"T": ((4, 4), flat([*rows, [0, 0, 0, 1]]))})

    inputs = {"q": (robot.n + robot.ne,)}
    return build_flexible(robot.tree(), "transform", inputs, [run], ["T"], symbolic=symbolic)


def jacobian(
    robot: Robot, *, frame: Frame = None, projection: Frame = 0, intermediate: Frame = None,
    tool: Any = (0, 0, 0), symbolic: bool = False,
) -> Program:  # fmt: skip
    """J (6, n + ne) of a point of a frame, over joints and elastic coordinates."""
    unsupported(robot, "jacobian", intermediate=intermediate)
    tree = Tree.of(robot)
    end, axes = tree.link(frame), tree.link(projection)
    size, point = robot.n + robot.ne, tool_point(tool)

    def run(scene: Bodies, x: Arrays) -> Result:
        still = motion(scene, x["q"], [0] * size)
        here = side(scene, still, 0, end)
        back = side(scene, still, 0, axes).R.T
        arm = here.R @ point
        none = (Vec(0, 0, 0), Vec(0, 0, 0))
        columns = []
        for key in coordinate_keys(scene):
            v, w = here.columns.get(key, none)
            columns.append([*(back @ (v + cross(w, arm))), *(back @ w)])
        return Result({"J": ((6, size), flat(list(zip(*columns, strict=True))))})

    return build_flexible(robot.tree(), "jacobian", {"q": (size,)}, [run], ["J"], symbolic=symbolic)


def velocities(robot: Robot, *, symbolic: bool = False) -> Program:
    """Twists of all frames, in their axes."""
    _fixed_base(robot, "velocities")
    size, nl = robot.n + robot.ne, len(robot.links)

    def run(scene: Bodies, x: Arrays) -> Result:
        moving = motion(scene, x["q"], x["qd"])
        V = {0: scene.V0}
        for link in scene.links:
            i, j, seat = link.i, link.j, moving.seat[link.j]
            rates = moving.qd.elastic.get(i, [])
            pd = sum_of([r * D for r, D in zip(rates, seat.D, strict=True)]) if seat.D else None
            carried = V[i] + cross(moving.w[i], seat.p)
            carried = carried if pd is None else carried + pd
            V[j] = seat.R.T @ carried + Vec(0, 0, link.s * moving.qd.joint[j])
        rows = [[*V[j], *moving.w[j]] for j in range(1, nl + 1)]
        return Result({"V": ((nl, 6), flat(rows))})

    inputs = {"q": (size,), "qd": (size,)}
    return build_flexible(robot.tree(), "velocities", inputs, [run], ["V"], symbolic=symbolic)


def accelerations(robot: Robot, *, symbolic: bool = False) -> Program:
    """Accelerations of all frames, in their axes, without gravity."""
    _fixed_base(robot, "accelerations")
    size, nl = robot.n + robot.ne, len(robot.links)

    def run(scene: Bodies, x: Arrays) -> Result:
        moving = motion(scene, x["q"], x["qd"])
        base = (scene.Vd0, scene.wd0)
        found = frame_accelerations(scene, moving, split(scene, x["qdd"]), base)
        rows = [[*found[j][0], *found[j][1]] for j in range(1, nl + 1)]
        return Result({"Vd": ((nl, 6), flat(rows))})

    inputs = {"q": (size,), "qd": (size,), "qdd": (size,)}
    return build_flexible(robot.tree(), "accelerations", inputs, [run], ["Vd"], symbolic=symbolic)
