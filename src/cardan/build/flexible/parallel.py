"""Programs of flexible parallel robots, [BK13] 4: loops closed by multipliers or by elimination.

q of the whole tree, consistent with the loops; qd and qdd of the driven and elastic joints, then
of the elastic coordinates link by link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...algebra.solve import solve_symmetric
from ...describe.robot import Robot
from ...errors import ModelError
from ...models.bodies import Bodies
from ...models.flexible.dynamics import Key, mass_matrix
from ...models.flexible.loops import (
    constraint_drift,
    constraint_rows,
    dependent,
    eliminated,
    solve_loops,
)
from ...models.flexible.tree import forces, motion, point_links
from ...program import Program
from ..common import Arrays, wrenches
from ..derivation import Form, Result
from .closure import Closing, closing
from .dynamic import (
    build_flexible,
    coordinates,
    inputs_of,
    outputs_of,
    row_times,
    spring,
    without_floating_loops,
)

__all__ = ["Loops", "direct_dynamics", "inverse_dynamics"]

Scalar = Any


class Loops:
    """What every model of a closed-loop robot starts with: velocities of the tree, rows, drift."""

    def __init__(self, robot: Robot, scene: Bodies, x: Arrays) -> None:
        loops = closing(robot)
        self.loops: Closing = loops
        self.scene = scene
        axes = {c for cut in loops.cuts if _needs_axes(cut.rows) for c in (cut.cut, cut.twin)}
        points = point_links(scene, axes) if "f_e" not in x else frozenset()
        still = motion(scene, x["q"], [0] * len(x["q"]), unturned=points)
        self.rows = [row for cut in loops.cuts for row in constraint_rows(scene, still, cut)]
        rates: dict[Key, Scalar] = dict(zip(loops.independent, x["qd"], strict=True))
        self.passive = dependent(self.rows, loops.passive, rates)
        rates |= self.passive
        qd = [rates[key] for key in loops.keys]
        self.motion = motion(scene, x["q"], qd, wrenches(robot, x), points)
        self.drift = [g for cut in loops.cuts for g in constraint_drift(scene, self.motion, cut)]
        self.matrix = mass_matrix(scene, self.motion)

    def bias(self, qdd: Mapping[Key, Scalar]) -> dict[Key, Scalar]:
        """Forces of the tree at these accelerations, springs taken off."""
        keys = self.loops.keys
        found = forces(self.scene, self.motion, [qdd.get(key, 0) for key in keys])
        rows = dict(zip(keys, found.rows(self.scene), strict=True))
        for j in self.scene.elastic:
            key: Key = ("joint", j, 0)
            rows[key] = rows[key] - spring(self.scene, self.motion, key)
        return rows

    def prescribed(self, known: Mapping[Key, Scalar]) -> tuple[dict[Key, Scalar], list[Scalar]]:
        """(accelerations that follow, torques) of given accelerations of the driven joints."""
        c = self.bias(known)
        free = [key for key in self.loops.keys if key not in known]
        pushed = [g + _along(row, known) for g, row in zip(self.drift, self.rows, strict=True)]
        rhs = {key: -c[key] for key in free}
        found, force = solve_loops(self.scene, self.matrix, rhs, self.rows, pushed, free)
        tau = []
        for key in self.loops.active:
            total = c[key] + row_times(self.matrix, key, found)
            for row, push in zip(self.rows, force, strict=True):
                total = total + row.get(key, 0) * push
            tau.append(total)
        return found, tau

    def driven(self, tau: Mapping[Key, Scalar]) -> dict[Key, Scalar]:
        """Accelerations of everything, of given torques."""
        c = self.bias({})
        rhs = {key: tau.get(key, 0) - c[key] for key in self.loops.keys}
        return solve_loops(self.scene, self.matrix, rhs, self.rows, self.drift, self.loops.keys)[0]


def _needs_axes(rows: tuple[str, ...]) -> bool:
    """Do these rows look at the axes of their frames, or at an angle between them?"""
    return any(not name.startswith(("V", "q")) for name in rows)


def inverse_dynamics(robot: Robot, f_e: bool, effort: str, symbolic: bool = False) -> Program:
    without_floating_loops(robot, "inverse-dynamics")
    loops = closing(robot)
    active, independent = loops.active, loops.independent
    inputs = inputs_of(robot, f_e, q=coordinates(robot), qd=len(independent), qdd=len(active))
    elastic = [key for key in independent if key not in active]

    def multipliers(scene: Bodies, x: Arrays) -> Result:
        here = Loops(robot, scene, x)
        found, tau = here.prescribed(dict(zip(active, x["qdd"], strict=True)))
        return Result(outputs_of(tau, [found[key] for key in elastic], None), here.motion)

    def elimination(scene: Bodies, x: Arrays) -> Result:
        here = Loops(robot, scene, x)
        M, c = eliminated(
            here.matrix, here.bias({}), here.rows, here.drift, independent, loops.passive
        )
        number = {key: k for k, key in enumerate(independent)}
        given = {number[key]: v for key, v in zip(active, x["qdd"], strict=True)}
        load = [u + sum((M[r][k] * v for k, v in given.items()), start=0) for r, u in enumerate(c)]
        free = [number[key] for key in elastic]
        rates = solve_symmetric([[M[r][k] for k in free] for r in free], [-load[r] for r in free])
        tau = [
            load[r] + sum((M[r][k] * v for k, v in zip(free, rates, strict=True)), start=0)
            for r in given
        ]
        return Result(outputs_of(tau, rates, None), here.motion)

    forms = _forms(loops, multipliers, elimination)
    return build_flexible(
        robot, "inverse-dynamics", inputs, forms, ["tau", "qdd_e"], effort, symbolic
    )


def _forms(
    loops: Closing, multipliers: Form, elimination: Form, method: str = "auto"
) -> list[Form]:
    """Both routes where the passive joints follow uniquely, else the multipliers'."""
    isostatic = sum(len(cut.rows) for cut in loops.cuts) == len(loops.passive)
    if method == "recursive":
        return [multipliers]
    if method == "inertia-matrix":
        if not isostatic:
            raise ModelError(f"'{loops.robot.name}' is overconstrained: use method='recursive'")
        return [elimination]
    return [multipliers, elimination] if isostatic else [multipliers]


def _along(row: Any, values: Any) -> Scalar:
    total: Scalar = 0
    for key, value in values.items():
        total = total + row.get(key, 0) * value
    return total


def direct_dynamics(
    robot: Robot, f_e: bool, effort: str, method: str = "auto", symbolic: bool = False
) -> Program:
    without_floating_loops(robot, "direct-dynamics")
    loops = closing(robot)
    active, independent = loops.active, loops.independent
    inputs = inputs_of(robot, f_e, q=coordinates(robot), qd=len(independent), tau=len(active))

    def multipliers(scene: Bodies, x: Arrays) -> Result:
        here = Loops(robot, scene, x)
        found = here.driven(dict(zip(active, x["tau"], strict=True)))
        rates = [found[key] for key in independent]
        return Result({"qdd": ((len(rates),), rates)}, here.motion)

    def elimination(scene: Bodies, x: Arrays) -> Result:
        here = Loops(robot, scene, x)
        M, c = eliminated(
            here.matrix, here.bias({}), here.rows, here.drift, independent, loops.passive
        )
        torques = dict(zip(active, x["tau"], strict=True))
        rhs = [torques.get(key, 0) - load for key, load in zip(independent, c, strict=True)]
        order = list(reversed(range(len(rhs))))
        rates = solve_symmetric([[M[r][k] for k in order] for r in order], [rhs[r] for r in order])
        return Result({"qdd": ((len(rates),), rates[::-1])}, here.motion)

    forms = _forms(loops, multipliers, elimination, method)
    return build_flexible(robot, "direct-dynamics", inputs, forms, ["qdd"], effort, symbolic)
