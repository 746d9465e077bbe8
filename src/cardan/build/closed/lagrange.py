"""Coriolis matrix and Lagrange's coefficients of closed-loop robots.

The active joints are coordinates of the closed robot: q_p = f(q_a) along its assembly. So

    A_c qdd_a + C_c qd_a + Q_c = tau_a,     C_c = G^T (C G + A Gdot)

with A_c, C_c of the closed robot; its velocity torques h are a quadratic form of qd_a, and

    C_c = ½ dh/dqd_a,   B_ijk = ½ (h_i(e_j + e_k) - h_i(e_j) - h_i(e_k))

are exact and symmetric in j and k, which is what makes Adot_c - 2 C_c skew."""

from __future__ import annotations

from typing import Any

from ...describe.robot import Robot
from ...models.bodies import Bodies
from ...models.formulation import PLAIN
from ...program import Program
from ..base import mechanism_of
from ..common import Arrays, flat, refuse
from ..derivation import Result
from ..equations import bias_rows, gravity_rows, mass_matrix
from ..lagrange import partial
from ..mechanism import Mechanism

__all__ = ["coriolis_matrix", "lagrange"]

Scalar = Any


def _velocity_torques(mechanism: Mechanism, scene: Bodies, q: Any, qd: Any) -> list[Scalar]:
    """h: the torques of qdd_a = 0 without gravity, friction and wrenches."""
    still = scene.unloaded().moving_base([0] * 6, [0, 0, 0])
    return bias_rows(mechanism, still, {"q": q, "qd": qd}, PLAIN)[1]


def coriolis_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """C_c with H_c = C_c qd_a + Q_c (+ friction and wrenches)."""
    refuse(robot, "coriolis-matrix", loops=False, mobile=True)
    mechanism = mechanism_of(robot, "coriolis-matrix", base_parameters, symbolic=symbolic)

    def run(scene: Bodies, x: Arrays) -> Result:
        h = _velocity_torques(mechanism, scene, x["q"], x["qd"])
        C = [_half(value) for value in partial(x["q"][0].graph, h, "qd")]
        return Result({"C": ((mechanism.na, mechanism.na), C)})

    return mechanism.program("coriolis-matrix", mechanism.inputs("q", "qd"), [run], ["C"])


def _half(x: Scalar) -> Scalar:
    return 0 if isinstance(x, int) and x == 0 else x / 2


def lagrange(
    robot: Robot, *, method: str = "christoffel", form: str = "christoffel",
    base_parameters: bool = False, symbolic: bool = False,
) -> Program:  # fmt: skip
    """A_c, the velocity coefficients, and Q_c, as functions of q alone; by unit velocities."""
    refuse(robot, "lagrange", loops=False, mobile=True)
    mechanism = mechanism_of(robot, "lagrange", base_parameters, symbolic=symbolic)
    n = mechanism.na

    def run(scene: Bodies, x: Arrays) -> Result:
        q = x["q"]
        constraint = mechanism.constraint(scene, x)[0]
        A = mass_matrix(mechanism, scene, x, constraint, PLAIN)[0]
        B = _coefficients(mechanism, scene, q)
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
        outputs["Q"] = ((n,), gravity_rows(mechanism, scene, x, PLAIN)[0])
        return Result(outputs, constraint)

    names = ["A", *(["C1", "C2"] if form == "configuration" else ["B"]), "Q"]
    return mechanism.program("lagrange", mechanism.inputs("q"), [run], names)


def _coefficients(
    mechanism: Mechanism, scene: Bodies, q: Any
) -> dict[tuple[int, int], list[Scalar]]:
    """B[j, k] with j <= k: its values by row."""
    n = mechanism.na

    def at(*moving: int) -> list[Scalar]:
        unit = [int(k in moving) for k in range(n)]
        return _velocity_torques(mechanism, scene, q, unit)

    own = [at(k) for k in range(n)]
    found = {(k, k): own[k] for k in range(n)}
    for j in range(n):
        for k in range(j + 1, n):
            both = at(j, k)
            found[j, k] = [_half(b - x - y) for b, x, y in zip(both, own[j], own[k], strict=True)]
    return found
