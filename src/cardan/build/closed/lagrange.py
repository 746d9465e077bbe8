"""Coriolis matrix, Lagrange's coefficients and filtered regressor of closed-loop robots.

The active joints are coordinates of the closed robot: q_p = f(q_a) along its assembly. So

    A_c qdd_a + C_c qd_a + Q_c = tau_a,     C_c = G^T (C G + A Gdot)

with A_c, C_c of the closed robot; its velocity torques h are a quadratic form of qd_a, and

    C_c = ½ dh/dqd_a,   B_ijk = ½ (h_i(e_j + e_k) - h_i(e_j) - h_i(e_k)),   Gdot = ½ dpsi/dqd_a

are exact and symmetric in j and k, which is what makes Adot_c - 2 C_c skew. By the same Gdot
d/dt(D1 K) + D2 K = tau of the tree becomes d/dt(G^T D1 K) + (G^T D2 - Gdot^T D1) K = tau_a. The
rate c = w qd_a of a cut joint has wdot = ½ dcdot/dqd_a at qdd_a = 0 alike: its rotor has the
momentum w^T c in D1 and -wdot^T c in D2."""

from __future__ import annotations

from typing import Any

from ...describe.robot import Robot
from ...models.bodies import Bodies, bodies
from ...models.formulation import PLAIN, Formulation
from ...models.loops import Constraint
from ...models.regressor import filtered_regressor as filtered_model
from ...program import Program
from ..common import Arrays, flat, refuse, wrenches
from ..derivation import Call, Form, Result, Route
from ..lagrange import (
    REGROUPED,
    contracted,
    energy_torques,
    equations,
    half,
    loads,
    partial,
)  # fmt: skip
from ..loops import Closing, closing
from .base import CutMotion, cut_motion
from .dynamic import (
    bias_of,
    gravity,
    gravity_of,
    inertia_matrix,
    inertia_of,
    with_cut_drives,
)  # fmt: skip

__all__ = ["coriolis_matrix", "filtered_regressor", "inverse_dynamics", "lagrange"]

Scalar = Any


def _velocity_torques(
    made: Closing, scene: Bodies, q: Any, qd: Any, how: Formulation
) -> list[Scalar]:
    """h: the torques of qdd_a = 0 without gravity, friction and wrenches."""
    still = scene.unloaded().moving_base([0] * 6, [0, 0, 0])
    return bias_of(made, still, {"q": q, "qd": qd}, how)[1]


def coriolis_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """C_c with H_c = C_c qd_a + Q_c (+ friction and wrenches)."""
    refuse(robot, "coriolis-matrix", loops=False, mobile=True)
    made = closing(robot, "coriolis-matrix", symbolic=symbolic, base_parameters=base_parameters)

    def form(how: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            h = _velocity_torques(made, scene, x["q"], x["qd"], how)
            C = [half(value) for value in partial(x["q"][0].graph, h, "qd")]
            return Result({"C": ((made.na, made.na), C)})

        return run

    def by_coefficients(scene: Bodies, x: Arrays) -> Result:
        B = _coefficients(made, scene, x["q"], REGROUPED)
        return Result({"C": ((made.na, made.na), contracted(B, x["qd"]))})

    forms = [form(PLAIN), form(REGROUPED), *([by_coefficients] if made.na <= _FEW else [])]
    return made.program("coriolis-matrix", made.inputs("q", "qd"), forms, ["C"], finals=True)


_FEW = 3  # active joints: the coefficients are about as many as the entries of C_c


def lagrange(
    robot: Robot, *, method: str = "christoffel", form: str = "christoffel",
    base_parameters: bool = False, symbolic: bool = False,
) -> Program:  # fmt: skip
    """A_c, the velocity coefficients, and Q_c, as functions of q alone.

    B by the velocity torques of one and of two unit velocities, or by C_c of one."""
    refuse(robot, "lagrange", loops=False, mobile=True)
    made = closing(robot, "lagrange", symbolic=symbolic, base_parameters=base_parameters)
    n = made.na

    def statics(how: Formulation, velocities: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint = made.constraint(scene, x)[0]
            A = flat(inertia_of(made, scene, x, constraint, how))
            Q = gravity_of(made, scene, x, how)[0]
            if velocities:
                B = _coefficients(made, scene, x["q"], how)
                return Result(equations(n, A, B, Q, form), constraint)
            return Result({"A": ((n, n), A), "Q": ((n,), Q)}, constraint)

        return run

    def through(*parts: Program) -> Route:
        def formula(call: Call, x: Arrays) -> dict[str, Any]:
            q = x["q"]
            B: dict[tuple[int, int, int], Scalar] = {}
            for k in range(n):
                C = call(coriolis, q=q, qd=[int(m == k) for m in range(n)])["C"]
                B |= {(i, j, k): C[i * n + j] for i in range(n) for j in range(k + 1)}
            rest = {name: x for part in parts for name, x in call(part, q=q).items()}
            return equations(n, rest["A"], B, rest["Q"], form)

        return Route([*parts, coriolis], formula)

    options: dict[str, Any] = {"base_parameters": base_parameters, "symbolic": symbolic}
    coriolis = coriolis_matrix(robot, **options)
    inputs, names = made.inputs("q"), ["A", "Q"]
    # A and Q each by itself, or both in the axes of C_c, whose sines they then share
    slid = Formulation(regroup=True, slide=frozenset(range(1, len(made.tree.links) + 1)))
    alike = [statics(how, velocities=False) for how in (PLAIN, REGROUPED, slid)]
    routes = [
        through(inertia_matrix(robot, **options), gravity(robot, **options)),
        through(made.program("lagrange", inputs, alike, names)),
    ]
    names = ["A", *(["C1", "C2"] if form == "configuration" else ["B"]), "Q"]
    forms = [statics(how, velocities=True) for how in (PLAIN, REGROUPED)]
    return made.program("lagrange", inputs, forms, names, routes=routes, finals=True)


def _coefficients(
    made: Closing, scene: Bodies, q: Any, how: Formulation
) -> dict[tuple[int, int, int], Scalar]:
    """B[i, j, k] with j <= k."""
    n = made.na

    def at(*moving: int) -> list[Scalar]:
        unit = [int(k in moving) for k in range(n)]
        return _velocity_torques(made, scene, q, unit, how)

    own = [at(k) for k in range(n)]
    found = {(i, k, k): own[k][i] for k in range(n) for i in range(n)}
    for j in range(n):
        for k in range(j + 1, n):
            both = at(j, k)
            found |= {(i, j, k): half(both[i] - own[j][i] - own[k][i]) for i in range(n)}
    return found


def inverse_dynamics(robot: Robot, made: Closing, f_e: bool) -> Program:
    """G^T of d/dt dL/dqd - dL/dq of the tree."""
    refuse(robot, "inverse-dynamics", loops=False, mobile=True)
    moving = made.connection.moving

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, qdd = made.motion(scene, x)
        tau = energy_torques(scene, x["q"], qd, qdd)
        more = loads(scene, x["q"], qd, wrenches(made.robot, x))
        both = {j: t + e for j, t, e in zip(moving, tau, more, strict=True)}
        both = with_cut_drives(made, scene, constraint, both, qd, qdd)
        return Result({"tau": ((made.na,), constraint.projected(both))}, constraint)

    inputs = made.inputs("q", "qd", "qdd", f_e=f_e)
    return made.program("inverse-dynamics", inputs, [run], ["tau"])


def filtered_regressor(
    robot: Robot, *, base_parameters: bool = False, offset: bool = False, symbolic: bool = False
) -> Program:
    """D1, D2 with tau_a = d/dt(D1 K) + D2 K: no accelerations."""
    from ..identification import wanted_columns

    refuse(robot, "filtered-regressor", loops=False, mobile=True)
    made = closing(robot, "filtered-regressor", symbolic=symbolic)
    wanted = wanted_columns(robot, base_parameters, offset)
    names = wanted(bodies(robot, lambda name: 1.0))
    moving, na = made.connection.moving, made.na

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, psi = made.motion(scene, x)
        found = filtered_model(scene.unloaded(), x["q"], qd, names)
        rates = [half(value) for value in partial(x["q"][0].graph, psi, "qd")]  # Gdot by rows
        D1, D2 = [], []
        for one, two in zip(zip(*found.D1, strict=True), zip(*found.D2, strict=True), strict=True):
            D1.append(constraint.projected(dict(zip(moving, one, strict=True))))
            column = constraint.projected(dict(zip(moving, two, strict=True)))
            for j, entry in enumerate(one):
                column = [c - rates[j * na + a] * entry for a, c in enumerate(column)]
            D2.append(column)
        cuts = cut_motion(made, constraint, names, qd, psi)
        for c, (name, j) in enumerate(names):
            if j in cuts:
                D1[c], D2[c] = _cut_columns(made, constraint, cuts[j], name, x["q"][0].graph)
        shape = (na, len(names))
        turned = [flat(list(zip(*D, strict=True))) for D in (D1, D2)]
        return Result({"D1": (shape, turned[0]), "D2": (shape, turned[1])})

    program = made.program("filtered-regressor", made.inputs("q", "qd"), [run], ["D1", "D2"])
    return wanted.naming(program, robot)


def _cut_columns(
    made: Closing, constraint: Constraint, cut: CutMotion, name: str, graph: Any
) -> tuple[list[Scalar], list[Scalar]]:
    """Columns of D1 and D2: a rotor's momentum and what its lever's change adds, or friction."""
    still = dict.fromkeys(made.connection.moving, 0)
    if name != "IA":
        return [0] * made.na, constraint.projected(still | cut.torques(name))
    momentum = {j: entry * cut.rate for j, entry in cut.row.items()}
    rates = partial(graph, [cut.acceleration], "qd")  # 2 wdot
    return constraint.projected(still | momentum), [-half(r * cut.rate) for r in rates]
