"""Kinematics of robots with flexible links, [BK13] (10)-(21): the forms of the kinematic models.

q holds the joint variables in link order, then the elastic coordinates link by link, of the whole
tree."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.vector import Mat, Vec, cross
from ...mechanism.coordinates import Key
from ...models.bodies import Bodies
from ...models.flexible.loops import side
from ...models.motion import seats
from ..common import Arrays, flat
from ..derivation import Form, Result

__all__ = ["jacobian", "transform"]


def transform(end: int, start: int, world: bool) -> Form:
    """T of a frame in a frame of the deformed robot."""

    def run(scene: Bodies, x: Arrays) -> Result:
        still = seats(scene, x["q"])
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


def jacobian(end: int, axes: int, point: Vec, keys: Sequence[Key]) -> Form:
    """J (6, n + ne) of a point of a frame, over joints and elastic coordinates."""

    def run(scene: Bodies, x: Arrays) -> Result:
        size = len(x["q"])
        still = seats(scene, x["q"])
        here = side(scene, still, 0, end)
        back = side(scene, still, 0, axes).R.T
        arm = here.R @ point
        none = (Vec(0, 0, 0), Vec(0, 0, 0))
        columns = []
        for key in keys:
            v, w = here.columns.get(key, none)
            columns.append([*(back @ (v + cross(w, arm))), *(back @ w)])
        return Result({"J": ((6, size), flat(list(zip(*columns, strict=True))))})

    return run
