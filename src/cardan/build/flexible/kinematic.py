"""Kinematics of robots with flexible links, [BK13] (10)-(21): the forms of the kinematic models.

q, qd and qdd hold the joint variables in link order, then the elastic coordinates link by link, of
the whole tree."""

from __future__ import annotations

from typing import Any

from ...algebra.vector import Mat, Vec, cross
from ...models.bodies import Bodies
from ...models.flexible.dynamics import coordinate_keys
from ...models.flexible.loops import side
from ...models.flexible.tree import accelerations as frame_accelerations
from ...models.flexible.tree import motion, split, sum_of
from ..common import Arrays, flat
from ..derivation import Form, Result

__all__ = ["accelerations", "jacobian", "jdot_qdot", "transform", "velocities"]


def transform(end: int, start: int, world: bool) -> Form:
    """T of a frame in a frame of the deformed robot."""

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

    return run


def jacobian(end: int, axes: int, point: Vec) -> Form:
    """J (6, n + ne) of a point of a frame, over joints and elastic coordinates."""

    def run(scene: Bodies, x: Arrays) -> Result:
        size = len(x["q"])
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

    return run


def velocities(nl: int) -> Form:
    """Twists of all frames, in their axes."""

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

    return run


def _frames(scene: Bodies, x: Arrays) -> tuple[Any, Any]:
    """(motion, accelerations of all frames), of qdd where it is given."""
    moving = motion(scene, x["q"], x["qd"])
    qdd = x.get("qdd", [0] * len(x["q"]))
    return moving, frame_accelerations(scene, moving, split(scene, qdd), (scene.Vd0, scene.wd0))


def accelerations(nl: int) -> Form:
    """Accelerations of all frames, in their axes, without gravity."""

    def run(scene: Bodies, x: Arrays) -> Result:
        _, frames = _frames(scene, x)
        rows = [[*frames[j][0], *frames[j][1]] for j in range(1, nl + 1)]
        return Result({"Vd": ((nl, 6), flat(rows))})

    return run


def jdot_qdot(end: int, axes: int) -> Form:
    """Jdot qdot of a frame: its acceleration where no coordinate accelerates."""

    def run(scene: Bodies, x: Arrays) -> Result:
        moving, frames = _frames(scene, x)
        there = side(scene, moving, 0, end).R
        back = side(scene, moving, 0, axes).R.T
        values = [*(back @ (there @ frames[end][0])), *(back @ (there @ frames[end][1]))]
        return Result({"Jdqd": ((6,), values)})

    return run
