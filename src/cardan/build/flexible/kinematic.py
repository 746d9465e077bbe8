"""Kinematics of robots with flexible links, [BK13] (10)-(21): the forms of the kinematic models.

q holds the joint variables in link order, then the elastic coordinates link by link, of the whole
tree; velocities are of the independent joints, then of the elastic coordinates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...algebra.solve import factored
from ...algebra.vector import Mat, Vec, cross, dot
from ...models.bodies import Bodies
from ...models.flexible.loops import (
    FREE,
    ROWS,
    along,
    closing_error,
    constraint_drift,
    constraint_rows,
    least_squares,
    side,
)
from ...models.flexible.loops import jacobian as of_independent
from ...models.motion import seats
from ..common import Arrays, flat
from ..derivation import Form, Result
from ..mechanism import Mechanism
from .equations import Loops

Scalar = Any


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


def jacobian(mechanism: Mechanism, end: int, axes: int, point: Vec) -> Form:
    """J of a point of a frame, over the independent joints and the elastic coordinates."""
    keys, independent = mechanism.coordinates.keys, mechanism.coordinates.independent

    def run(scene: Bodies, x: Arrays) -> Result:
        still = seats(scene, x["q"])
        here = side(scene, still, 0, end)
        back = side(scene, still, 0, axes).R.T
        arm = here.R @ point
        none = (Vec(0, 0, 0), Vec(0, 0, 0))
        columns = {}
        for key in keys:
            v, w = here.columns.get(key, none)
            columns[key] = [*(back @ (v + cross(w, arm))), *(back @ w)]
        rows = [[columns[key][r] for key in keys] for r in range(6)]
        if mechanism.robot.constrained:
            loops = Loops(mechanism.described, scene, {"q": x["q"]})
            G = of_independent(loops.rows, loops.loops.independent, loops.loops.passive)
            rows = [
                [dot(row, [G[key].get(u, 0) for key in keys]) for u in loops.loops.independent]
                for row in rows
            ]
        return Result({"J": ((6, len(independent)), flat(rows))})

    return run


def loop_kinematics(mechanism: Mechanism, details: bool, closing: bool) -> Form:
    """W and psi of the passive joints, [BK13] (33), (36), over the independent joints and the
    elastic coordinates."""

    def run(scene: Bodies, x: Arrays) -> Result:
        here = Loops(mechanism.described, scene, x, turned=details or closing)
        loops = here.loops
        keys, u, passive = loops.keys, loops.independent, loops.passive
        G = of_independent(here.rows, u, passive)
        psi = here.accelerations(dict.fromkeys(u, 0))
        outputs: dict[str, Any] = {
            "W": ((len(passive), len(u)), flat([[G[p].get(k, 0) for k in u] for p in passive])),
            "psi": ((len(passive),), [psi[keys.index(p)] for p in passive]),
        }
        Wp = here.columns(passive)
        if details:
            free = [(cut, name) for cut in loops.everything for name in FREE.get(cut.kind, ())]
            rows, Phi = [], []
            for cut, name in free:
                own = replace(cut, rows=(name,))
                rows += constraint_rows(here.scene, here.still, own)
                Phi += constraint_drift(here.scene, here.motion, own)
            rates = dict(zip(keys, psi, strict=True))
            cut_rates = [[along(row, {k: G[k].get(i, 0) for k in keys}) for i in u] for row in rows]
            psi_cut = [along(row, rates) + phi for row, phi in zip(rows, Phi, strict=True)]
            pivots = _pivots(Wp)
            outputs |= {
                "Wa": ((len(here.rows), len(u)), flat(here.columns(u))),
                "Wp": ((len(here.rows), len(passive)), flat(Wp)),
                "Psi": ((len(here.rows),), here.drift),
                "Wac": ((len(rows), len(u)), flat([[row.get(k, 0) for k in u] for row in rows])),
                "Wpc": (
                    (len(rows), len(passive)),
                    flat([[row.get(k, 0) for k in passive] for row in rows]),
                ),
                "Phi": ((len(rows),), Phi),
                "G": ((len(keys), len(u)), flat([[G[k].get(i, 0) for i in u] for k in keys])),
                "Wcut": ((len(rows), len(u)), flat(cut_rates)),
                "psi_cut": ((len(rows),), psi_cut),
                "det": ((len(pivots),), pivots),
            }
        if closing:
            gaps: list[Scalar] = []
            rest: list[Scalar] = []
            for whole, cut in zip(loops.everything, loops.cuts, strict=True):
                error = dict(
                    zip(ROWS[whole.kind], closing_error(here.scene, here.still, whole), strict=True)
                )
                gaps += error.values()
                rest += [-error[name] for name in cut.rows]
            outputs |= {
                "Wp": ((len(here.rows), len(passive)), flat(Wp)),
                "r": ((len(gaps),), gaps),
                "dq_p": ((len(passive),), least_squares(Wp, rest)),
            }
        return Result(outputs, here.motion)

    return run


def _pivots(Wp: list[list[Scalar]]) -> list[Scalar]:
    """What the solution divides by: of W_p, or of W_p^T W_p where rows outnumber the joints."""
    columns = list(zip(*Wp, strict=True))
    square = len(Wp) == len(columns)
    return factored(Wp if square else [[dot(a, b) for b in columns] for a in columns]).pivots
