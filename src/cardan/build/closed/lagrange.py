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
from ...models.formulation import PLAIN
from ...models.loops import Constraint
from ...models.regressor import filtered_regressor as filtered_model
from ...program import Program
from ..common import Arrays, flat, refuse, wrenches
from ..derivation import Result
from ..lagrange import energy_torques, loads, partial
from ..loops import Closing, closing
from .base import CutMotion, cut_motion
from .dynamic import bias_of, gravity_of, inertia_of, with_cut_drives

__all__ = ["coriolis_matrix", "filtered_regressor", "inverse_dynamics", "lagrange"]

Scalar = Any


def _velocity_torques(made: Closing, scene: Bodies, q: Any, qd: Any) -> list[Scalar]:
    """h: the torques of qdd_a = 0 without gravity, friction and wrenches."""
    still = scene.unloaded().moving_base([0] * 6, [0, 0, 0])
    return bias_of(made, still, {"q": q, "qd": qd}, PLAIN)[1]


def coriolis_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """C_c with H_c = C_c qd_a + Q_c (+ friction and wrenches)."""
    refuse(robot, "coriolis-matrix", loops=False, mobile=True)
    made = closing(robot, "coriolis-matrix", symbolic=symbolic, base_parameters=base_parameters)

    def run(scene: Bodies, x: Arrays) -> Result:
        h = _velocity_torques(made, scene, x["q"], x["qd"])
        C = [_half(value) for value in partial(x["q"][0].graph, h, "qd")]
        return Result({"C": ((made.na, made.na), C)})

    return made.program("coriolis-matrix", made.inputs("q", "qd"), [run], ["C"])


def _half(x: Scalar) -> Scalar:
    return 0 if isinstance(x, int) and x == 0 else x / 2


def lagrange(
    robot: Robot, *, method: str = "christoffel", form: str = "christoffel",
    base_parameters: bool = False, symbolic: bool = False,
) -> Program:  # fmt: skip
    """A_c, the velocity coefficients, and Q_c, as functions of q alone; by unit velocities."""
    refuse(robot, "lagrange", loops=False, mobile=True)
    made = closing(robot, "lagrange", symbolic=symbolic, base_parameters=base_parameters)
    n = made.na

    def run(scene: Bodies, x: Arrays) -> Result:
        q = x["q"]
        constraint = made.constraint(scene, x)[0]
        A = inertia_of(made, scene, x, constraint, PLAIN)
        B = _coefficients(made, scene, q)
        outputs: dict[str, Any] = {"A": ((n, n), flat(A))}
        if form == "configuration":
            pairs = [(j, k) for j in range(n) for k in range(j + 1, n)]
            outputs["C1"] = ((n, len(pairs)), [B[j, k][i] for i in range(n) for j, k in pairs])
            outputs["C2"] = ((n, n), [B[j, j][i] for i in range(n) for j in range(n)])
        else:
            listed = [
                B[min(j, k), max(j, k)][i] for i in range(n) for j in range(n) for k in range(n)
            ]
            outputs["B"] = ((n, n, n), listed)
        outputs["Q"] = ((n,), gravity_of(made, scene, x, PLAIN)[0])
        return Result(outputs, constraint)

    names = ["A", *(["C1", "C2"] if form == "configuration" else ["B"]), "Q"]
    return made.program("lagrange", made.inputs("q"), [run], names)


def _coefficients(made: Closing, scene: Bodies, q: Any) -> dict[tuple[int, int], list[Scalar]]:
    """B[j, k] with j <= k: its values by row."""
    n = made.na

    def at(*moving: int) -> list[Scalar]:
        unit = [int(k in moving) for k in range(n)]
        return _velocity_torques(made, scene, q, unit)

    own = [at(k) for k in range(n)]
    found = {(k, k): own[k] for k in range(n)}
    for j in range(n):
        for k in range(j + 1, n):
            both = at(j, k)
            found[j, k] = [_half(b - x - y) for b, x, y in zip(both, own[j], own[k], strict=True)]
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
        rates = [_half(value) for value in partial(x["q"][0].graph, psi, "qd")]  # Gdot by rows
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
    return constraint.projected(still | momentum), [-_half(r * cut.rate) for r in rates]
