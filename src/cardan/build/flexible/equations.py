"""Equations of motion of robots with flexible links, [BK13]: trees, and loops closed by multipliers
or by elimination.

q holds the joint variables in link order, then the elastic coordinates link by link; qd and qdd
those of the independent joints, then of the elastic coordinates. The builders of dynamic models
take their forms from here where links bend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from ...algebra.scalar import vanishes
from ...algebra.solve import solve_symmetric
from ...algebra.vector import dot, weighted
from ...describe.robot import Robot
from ...errors import ModelError
from ...formulate.posture import with_points
from ...mechanism.coordinates import Coordinates, Key
from ...mechanism.loops import opened
from ...models.bodies import Bodies, Body
from ...models.composite import inertia_matrix, solve_matrix
from ...models.flexible.loops import (
    FREE,
    Cut,
    Row,
    along,
    constraint_drift,
    constraint_rows,
    dependent,
    eliminated,
    jacobian,
    least_squares,
    solve_loops,
)
from ...models.motion import Motion, motion, seats
from ...models.newton_euler import inverse_dynamics as newton_euler
from ...program import Program
from ..common import Arrays, flat, wrenches
from ..derivation import Form, Result
from ..derive import build
from ..mechanism import Mechanism
from ..recursive import loaded, outputs_of, recursive_direct, recursive_inverse
from .closure import Closing, closing

Scalar = Any


def inverse_forms(mechanism: Mechanism) -> list[Form]:
    """tau of the driven joints and the accelerations of everything elastic, (38)."""
    if mechanism.robot.constrained:
        return _tied_forms(mechanism, _tied_inverse, closure(mechanism).follow)
    forms = [recursive_inverse(mechanism)]
    if not mechanism.floats:
        forms.append(_assembled_inverse(mechanism))
    return forms


def direct_forms(mechanism: Mechanism, method: str) -> list[Form]:
    """Accelerations of the joints, then of the elastic coordinates, of torques."""
    if mechanism.robot.constrained:
        return _tied_forms(mechanism, _tied_direct, closure(mechanism).keys, method)
    table = {"recursive": recursive_direct(mechanism)}
    if not mechanism.floats:
        table["inertia-matrix"] = _assembled_direct(mechanism)
    if method != "auto" and method not in table:
        raise ModelError(
            f"'direct-dynamics' of '{mechanism.robot.name}': a floating base needs 'recursive'"
        )
    return list(table.values()) if method == "auto" else [table[method]]


def _tied_forms(
    mechanism: Mechanism, form: Callable[[Mechanism, bool], Form], free: Sequence[Key],
    method: str = "auto",
) -> list[Form]:  # fmt: skip
    """By multipliers where the tree's matrix over `free` has an inverse, and by elimination where
    the passive joints follow uniquely."""
    loops = closure(mechanism)
    if method in ("recursive", "constraint-forces"):
        loops.require_multipliers(free)
        return [form(mechanism, False)]
    if method == "inertia-matrix" or not loops.has_multipliers(free):
        _require_isostatic(loops, free)
        return [form(mechanism, True)]
    return [
        form(mechanism, by_elimination) for by_elimination in (False, True)[: 1 + loops.isostatic]
    ]


def closure(mechanism: Mechanism) -> Closing:
    """The loops in numbers."""
    return closing(mechanism.described)


def _require_isostatic(loops: Closing, free: Sequence[Key]) -> None:
    if loops.isostatic:
        return
    words = f"'{loops.robot.name}' is overconstrained"
    if loops.has_multipliers(free):
        raise ModelError(f"{words}: use method='recursive'")
    raise ModelError(
        f"{words}, so its passive joints cannot be eliminated, and {loops.hindrance(free)}, so its"
        " loops cannot be closed by multipliers; cut them at the joint that moves no inertia"
    )


def spring(scene: Bodies, x: Arrays, key: Key) -> Scalar:
    """Torque of an elastic joint without its friction, which the forces of the tree include."""
    if key[0] != "joint":
        return 0
    q, qd = scene.split(x["q"]).joint, scene.split(x["qd"]).joint
    return scene.links[key[1] - 1].elastic_torque(q[key[1]], qd[key[1]])


def _row_times(
    A: Mapping[tuple[Key, Key], Scalar], key: Key, values: Mapping[Key, Scalar]
) -> Scalar:
    return weighted(values, {other: A.get((key, other), 0) for other in values})


def _assembled_inverse(mechanism: Mechanism) -> Form:
    """By the mass matrix, (22)-(26)."""
    driven = Coordinates.joint_keys(mechanism.coordinates.driven)

    def run(scene: Bodies, x: Arrays) -> Result:
        scene = loaded(mechanism.robot, scene, x)
        keys = mechanism.coordinates.keys
        known: dict[Key, Scalar] = dict(zip(driven, x["qdd"], strict=True))
        A = inertia_matrix(scene, x["q"]).A
        record = newton_euler(scene, x["q"], x["qd"], [known.get(k, 0) for k in keys])
        c = dict(zip(keys, record.rows(scene), strict=True))
        free = [key for key in keys if key not in known]
        rhs = {key: spring(scene, x, key) - c[key] for key in free}
        rates = solve_matrix(scene, A, rhs, free)
        tau = [c[key] + _row_times(A, key, rates) for key in known]
        return Result(outputs_of(tau, [rates[key] for key in free]), record)

    return run


def _assembled_direct(mechanism: Mechanism) -> Form:
    """By the mass matrix, factored along the tree."""
    driven = Coordinates.joint_keys(mechanism.coordinates.driven)

    def run(scene: Bodies, x: Arrays) -> Result:
        scene = loaded(mechanism.robot, scene, x)
        keys = mechanism.coordinates.keys
        record = newton_euler(scene, x["q"], x["qd"], [0] * len(keys))
        torques: dict[Key, Scalar] = dict(zip(driven, x["tau"], strict=True))
        rhs = {}
        for key, load in zip(keys, record.rows(scene), strict=True):
            push = torques[key] if key in torques else spring(scene, x, key)
            rhs[key] = push - load
        rates = solve_matrix(scene, inertia_matrix(scene, x["q"]).A, rhs)
        return Result({"qdd": ((len(keys),), [rates[key] for key in keys])}, record)

    return run


def mass_form(mechanism: Mechanism) -> Form:
    """A over joints and elastic coordinates; of a closed loop, J^T M_t J over the independent."""

    def run(scene: Bodies, x: Arrays) -> Result:
        scene = with_points(scene)
        first: list[Key] = [("base", 0, k) for k in range(mechanism.floats)]
        if mechanism.robot.constrained:
            here = Loops(mechanism.described, scene, {"q": x["q"]})
            rows = here.matrix()
            return Result({"A": ((len(rows), len(rows)), flat(rows))}, here.still)
        record = inertia_matrix(scene, x["q"], base=bool(first))
        rows = record.rows([*first, *mechanism.coordinates.keys])
        return Result({"A": ((len(rows), len(rows)), flat(rows))}, record)

    return run


def momentum_form(mechanism: Mechanism) -> Form:
    """h = A u."""
    matrix = mass_form(mechanism)

    def run(scene: Bodies, x: Arrays) -> Result:
        mass = matrix(scene, x)
        (size, _), A = mass.outputs["A"]
        u = [*x.get("V0", ()), *x["qd"]]
        h = [dot(A[r * size : (r + 1) * size], u) for r in range(size)]
        return Result({"h": ((size,), h)}, mass.record)

    return run


def force_form(mechanism: Mechanism, output: str) -> Form:
    """H, or Q of a robot at rest: springs and stiffness included, a floating base's rows first."""
    robot, size = mechanism.robot, mechanism.n + mechanism.ne

    def run(scene: Bodies, x: Arrays) -> Result:
        if output == "Q":
            scene = scene.unloaded(springs=True).moving_base([0] * 6, x.get("g0", scene.gravity))
            x = {"q": x["q"], "qd": [0] * (mechanism.na + mechanism.ne)}
        if robot.constrained:
            here = Loops(mechanism.described, scene, x)
            _require_isostatic(here.loops, here.loops.keys)
            _, rows = here.reduced()
            return Result({output: ((len(rows),), rows)}, here.motion)
        scene = loaded(robot, scene, x)
        record = newton_euler(scene, x["q"], x["qd"], [0] * size)
        pushes = [spring(scene, x, key) for key in mechanism.coordinates.keys]
        rows = [u - v for u, v in zip(record.rows(scene), pushes, strict=True)]
        base = [*record.f[0], *record.n[0]] if mechanism.floats else []
        return Result({output: ((len(base) + size,), [*base, *rows])}, record)

    return run


class Loops:
    """What every model of a closed-loop robot starts with: velocities of the tree, rows, drift."""

    def __init__(self, robot: Robot, scene: Bodies, x: Arrays, turned: bool = False) -> None:
        """turned: are the axes of the cuts looked at?"""
        loops = closing(robot)
        self.loops: Closing = loops
        driving = {cut.cut for cut in loops.driving}
        axes = {
            frame for cut in loops.cuts
            if turned or cut.cut in driving or _needs_axes(cut.rows)
            for frame in (cut.cut, cut.twin)
        }  # fmt: skip
        scene = scene.loaded(wrenches(robot, x)) if "f_e" in x else with_points(scene, axes)
        self.scene, self.q = scene, x["q"]
        self.still = seats(scene, self.q)
        self.rows = [row for cut in loops.cuts for row in constraint_rows(scene, self.still, cut)]
        rates: dict[Key, Scalar] = dict(
            zip(loops.independent, x.get("qd", [0] * len(loops.independent)), strict=True)
        )
        self.passive = dependent(self.rows, loops.passive, rates)
        rates |= self.passive
        self.qd = [rates[key] for key in loops.keys]

    @cached_property
    def motion(self) -> Motion:
        return motion(self.scene, self.q, self.qd)

    @cached_property
    def drift(self) -> list[Scalar]:
        cuts = self.loops.cuts
        return [g for cut in cuts for g in constraint_drift(self.scene, self.motion, cut)]

    @cached_property
    def A(self) -> dict[tuple[Key, Key], Scalar]:
        """Of the tree, with the rotors of cut joints."""
        A = dict(inertia_matrix(self.scene, self.q).A)
        for row, body, _ in self.cut_joints:
            if not vanishes(body.IA):
                for r, u in row.items():
                    for c, v in row.items():
                        A[r, c] = A.get((r, c), 0) + body.IA * u * v
        return A

    @cached_property
    def cut_joints(self) -> list[tuple[Row, Body, Cut]]:
        """Those that rub or have a rotor: their rate as a row over the tree, their body."""
        listed = []
        for cut in self.loops.driving:
            own = replace(cut, rows=FREE[cut.kind])
            row = constraint_rows(self.scene, self.still, own)[0]
            listed.append((row, self.scene.links[cut.cut - 1], own))
        return listed

    def rotors(self) -> Scalar:
        """Kinetic energy of the rotors of cut joints."""
        rates, total = dict(zip(self.loops.keys, self.qd, strict=True)), 0
        for row, body, _ in self.cut_joints:
            rate = along(row, rates)
            total = total + body.IA * rate * rate / 2
        return total

    def bias(self, qdd: Mapping[Key, Scalar]) -> dict[Key, Scalar]:
        """Forces of the tree at these accelerations, springs taken off, cut joints added."""
        keys = self.loops.keys
        tree = newton_euler(self.scene, self.q, self.qd, [qdd.get(key, 0) for key in keys])
        rows = dict(zip(keys, tree.rows(self.scene), strict=True))
        for j in self.scene.elastic:
            key: Key = ("joint", j, 0)
            rows[key] = rows[key] - spring(self.scene, {"q": self.q, "qd": self.qd}, key)
        rates = dict(zip(keys, self.qd, strict=True))
        for row, body, own in self.cut_joints:
            push = body.friction(along(row, rates))
            if not vanishes(body.IA):
                Phi = constraint_drift(self.scene, self.motion, own)[0]
                push = push + body.IA * (along(row, qdd) + Phi)
            for key, entry in row.items():
                rows[key] = rows[key] + entry * push
        return rows

    def accelerations(self, qdd: Mapping[Key, Scalar]) -> list[Scalar]:
        """q̈ of the whole tree, of those of the independent coordinates, (37)."""
        W = [[row.get(key, 0) for key in self.loops.passive] for row in self.rows]
        pushed = [-(g + along(row, qdd)) for g, row in zip(self.drift, self.rows, strict=True)]
        passive = least_squares(W, pushed) if self.loops.passive else []
        every = dict(qdd) | dict(zip(self.loops.passive, passive, strict=True))
        return [every[key] for key in self.loops.keys]

    def forces(self, qdd: Sequence[Scalar]) -> list[Scalar]:
        """Multipliers of the rows: they leave whatever has no motor without force."""
        c = self.bias(dict(zip(self.loops.keys, qdd, strict=True)))
        keys = self.loops.passive if self.loops.isostatic else self.loops.follow
        W = [[row.get(key, 0) for row in self.rows] for key in keys]
        return least_squares(W, [-c[key] for key in keys])

    def positions(self) -> list[list[Scalar]]:
        """J of (34): the rates of the whole tree by those of the independent coordinates."""
        independent = self.loops.independent
        J = jacobian(self.rows, independent, self.loops.passive)
        return [[J[key].get(way, 0) for way in independent] for key in self.loops.keys]

    def columns(self, keys: Sequence[Key]) -> list[list[Scalar]]:
        """Columns of the rows."""
        return [[row.get(key, 0) for key in keys] for row in self.rows]

    def matrix(self) -> list[list[Scalar]]:
        """A over the independent coordinates."""
        loops, none = self.loops, [0] * len(self.rows)
        c = dict.fromkeys(loops.keys, 0)
        return eliminated(self.A, c, self.rows, none, loops.independent, loops.passive)[0]

    def reduced(self) -> tuple[list[list[Scalar]], list[Scalar]]:
        """(A, H) over the independent coordinates, the passive joints eliminated."""
        loops = self.loops
        return eliminated(
            self.A, self.bias({}), self.rows, self.drift, loops.independent, loops.passive
        )

    def prescribed(
        self, known: Mapping[Key, Scalar], by_elimination: bool = False
    ) -> tuple[dict[Key, Scalar], list[Scalar]]:
        """(accelerations that follow, torques) of given accelerations of the driven joints."""
        if by_elimination:
            return self._prescribed_of_independent(known)
        c = self.bias(known)
        free = [key for key in self.loops.keys if key not in known]
        pushed = [g + along(row, known) for g, row in zip(self.drift, self.rows, strict=True)]
        rhs = {key: -c[key] for key in free}
        rates, multipliers = solve_loops(self.scene, self.A, rhs, self.rows, pushed, free)
        tau = []
        for key in self.loops.active:
            total = c[key] + _row_times(self.A, key, rates)
            for row, push in zip(self.rows, multipliers, strict=True):
                total = total + row.get(key, 0) * push
            tau.append(total)
        return rates, tau

    def _prescribed_of_independent(
        self, known: Mapping[Key, Scalar]
    ) -> tuple[dict[Key, Scalar], list[Scalar]]:
        M, c = self.reduced()
        number = {key: k for k, key in enumerate(self.loops.independent)}
        rises = {number[key]: value for key, value in known.items()}
        load = [u + sum((M[r][k] * v for k, v in rises.items()), start=0) for r, u in enumerate(c)]
        keys = _elastic(self.loops)
        free = [number[key] for key in keys]
        rates = solve_symmetric([[M[r][k] for k in free] for r in free], [-load[r] for r in free])
        tau = [
            load[r] + sum((M[r][k] * v for k, v in zip(free, rates, strict=True)), start=0)
            for r in rises
        ]
        return dict(zip(keys, rates, strict=True)), tau

    def driven(self, tau: Mapping[Key, Scalar], by_elimination: bool = False) -> dict[Key, Scalar]:
        """Accelerations, of given torques: of everything, or of the independent coordinates."""
        if by_elimination:
            M, c = self.reduced()
            independent = self.loops.independent
            push = [tau.get(key, 0) - load for key, load in zip(independent, c, strict=True)]
            order = list(reversed(range(len(push))))
            back = [[M[r][k] for k in order] for r in order]
            rates = solve_symmetric(back, [push[r] for r in order])[::-1]
            return dict(zip(independent, rates, strict=True))
        loads = self.bias({})
        rhs = {key: tau.get(key, 0) - loads[key] for key in self.loops.keys}
        return solve_loops(self.scene, self.A, rhs, self.rows, self.drift, self.loops.keys)[0]


def _needs_axes(rows: tuple[str, ...]) -> bool:
    """Do these rows look at the axes of their frames, or at an angle between them?"""
    return any(not name.startswith(("V", "q")) for name in rows)


def _elastic(loops: Closing) -> list[Key]:
    """Independent coordinates without a motor."""
    return [key for key in loops.independent if key not in loops.active]


def _tied_inverse(mechanism: Mechanism, by_elimination: bool) -> Form:
    loops = closure(mechanism)

    def run(scene: Bodies, x: Arrays) -> Result:
        here = Loops(mechanism.described, scene, x)
        known = dict(zip(loops.active, x["qdd"], strict=True))
        rates, tau = here.prescribed(known, by_elimination)
        return Result(outputs_of(tau, [rates[key] for key in _elastic(loops)]), here.motion)

    return run


def _tied_direct(mechanism: Mechanism, by_elimination: bool) -> Form:
    loops = closure(mechanism)

    def run(scene: Bodies, x: Arrays) -> Result:
        here = Loops(mechanism.described, scene, x)
        solved = here.driven(dict(zip(loops.active, x["tau"], strict=True)), by_elimination)
        rates = [solved[key] for key in loops.independent]
        return Result({"qdd": ((len(rates),), rates)}, here.motion)

    return run


def tree_rates(
    mechanism: Mechanism, scene: Bodies, x: Arrays
) -> tuple[list[Scalar], list[Scalar], Loops | None]:
    """(q̇, q̈, loops) of the whole tree, of those of the independent coordinates; q̈ = 0 of
    these where it is no input."""
    independent = mechanism.coordinates.independent
    qdd = x.get("qdd", [0] * len(independent))
    if not mechanism.robot.constrained:
        return list(x["qd"]), list(qdd), None
    here = Loops(mechanism.described, scene, {"q": x["q"], "qd": x["qd"]})
    return here.qd, here.accelerations(dict(zip(here.loops.independent, qdd, strict=True))), here


def static_forces(robot: Robot) -> Program:
    """R = Q + G^T lam over all coordinates of the tree: forces of rest, loops pulling with lam.

    Inputs q, f_e (the wrench of each link on the environment) and, with loops, lam."""
    loops, size = closing(robot), robot.n + robot.ne

    def run(scene: Bodies, x: Arrays) -> Result:
        scene = scene.moving_base([0] * 6, scene.gravity).loaded(wrenches(robot, x))
        zeros = [0] * size
        keys, still = loops.keys, seats(scene, x["q"])
        tree = newton_euler(scene, x["q"], zeros, zeros).rows(scene)
        here = {"q": x["q"], "qd": zeros}
        rows = [load - spring(scene, here, key) for key, load in zip(keys, tree, strict=True)]
        G = [row for cut in loops.cuts for row in constraint_rows(scene, still, cut)]
        for row, pull in zip(G, x.get("lam", ()), strict=True):
            rows = [u + row.get(key, 0) * pull for key, u in zip(keys, rows, strict=True)]
        return Result({"R": ((size,), rows)})

    inputs: dict[str, tuple[int, ...]] = {"q": (size,), "f_e": (len(robot.links), 6)}
    if robot.constrained:
        inputs["lam"] = (sum(len(cut.rows) for cut in loops.cuts),)
    return build(opened(robot), "static-forces", inputs, [run], ["R"], effort="plain")
