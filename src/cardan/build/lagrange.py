"""Lagrange's equations: A, B and Q as coefficients, and the torques of the energies alone.

The derivatives are those of the program itself (`ir.derivative`): [KC97] 5.5, first method; the
second takes the Christoffel symbols from the Coriolis matrix at unit velocities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.vector import symmetric, zero
from ..describe.robot import Robot
from ..ir.code import gather
from ..ir.derivative import derivative
from ..ir.passes import inline
from ..models.bodies import Bodies
from ..models.coriolis import coriolis_matrix
from ..models.energy import energies
from ..models.inertia_matrix import inertia_matrix
from ..models.newton_euler import inverse_dynamics as newton_euler
from ..program import Program
from .base import with_base
from .common import Arrays, build, flat, joint_rows, refuse
from .derivation import Result

__all__ = ["energy_torques", "lagrange", "loads", "partial"]

Scalar = Any


def lagrange(
    robot: Robot, *, method: str = "christoffel", form: str = "christoffel",
    base_parameters: bool = False, symbolic: bool = False,
) -> Program:  # fmt: skip
    """A, the velocity coefficients, and Q, as functions of q alone.

    form 'christoffel': B (n,n,n). form 'configuration' ([B23] eq. 3.11): C1 of 2 qd_j qd_k, C2 of
    qd_j²."""
    refuse(robot, "lagrange", mobile=True, floating=True)
    robot = with_base(robot, base_parameters)
    n = robot.n

    def run(scene: Bodies, x: Arrays) -> Result:
        A = inertia_matrix(scene, x["q"])
        B = _by_derivatives(scene, x["q"]) if method == "christoffel" else _by_units(scene, x["q"])
        zeros = [0] * n
        Q = joint_rows(scene, newton_euler(scene.unloaded(), x["q"], zeros, zeros).tau)
        outputs: dict[str, Any] = {"A": ((n, n), flat(A.matrix(scene.tree.moving)))}
        if form == "configuration":
            pairs = [(j, k) for j in range(n) for k in range(j + 1, n)]
            outputs["C1"] = ((n, len(pairs)), [B[i][j][k] for i in range(n) for j, k in pairs])
            outputs["C2"] = ((n, n), [B[i][j][j] for i in range(n) for j in range(n)])
        else:
            outputs["B"] = ((n, n, n), [x for row in B for x in flat(row)])
        outputs["Q"] = ((n,), Q)
        return Result(outputs, A)

    names = ["A", *(["C1", "C2"] if form == "configuration" else ["B"]), "Q"]
    return build(robot, "lagrange", {"q": (n,)}, [run], names, symbolic=symbolic)


def _graph(q: list[Any]) -> Any:
    return q[0].graph


def _by_derivatives(scene: Bodies, q: list[Any]) -> list[list[list[Scalar]]]:
    """c_ijk = ½ (∂A_ij/∂q_k + ∂A_ik/∂q_j - ∂A_jk/∂q_i)."""
    n = len(q)
    d = partial(_graph(q), flat(inertia_matrix(scene, q).matrix(scene.tree.moving)), "q")

    def dA(i: int, j: int, k: int) -> Scalar:
        return d[(i * n + j) * n + k]

    def symbol(i: int, j: int, k: int) -> Scalar:
        twice = dA(i, j, k) + dA(i, k, j) - dA(j, k, i)
        return twice / 2 if not isinstance(twice, int) or twice else 0

    upper = {(i, j, k): symbol(i, j, k) for i in range(n) for j in range(n) for k in range(j, n)}
    return [
        [[upper[i, min(j, k), max(j, k)] for k in range(n)] for j in range(n)] for i in range(n)
    ]


def _by_units(scene: Bodies, q: list[Any]) -> list[list[list[Scalar]]]:
    """c_ijk from the Coriolis matrix at q̇ = e_k."""
    n = len(q)
    columns = []
    for k in range(n):
        unit = [int(m == k) for m in range(n)]
        columns.append(coriolis_matrix(scene, q, unit).matrix(scene.tree.moving))
    return [
        [[columns[max(j, k)][i][min(j, k)] for k in range(n)] for j in range(n)] for i in range(n)
    ]


def energy_torques(
    scene: Bodies, q: list[Any], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """d/dt ∂L/∂q̇ - ∂L/∂q at any velocities and accelerations, expressions too."""
    graph, n = _graph(q), len(q)
    rates = [graph.leaf(_RATES, k) for k in range(n)]  # L is differentiated by variables of its own
    found = energies(scene, q, rates)
    p = partial(graph, [found.E], _RATES)
    dE, dU = partial(graph, [found.E], "q"), partial(graph, [found.U], "q")
    dp_q, dp_v = partial(graph, p, "q"), partial(graph, p, _RATES)
    tau = []
    for i in range(n):
        value: Scalar = 0
        for k in range(n):
            value = value + dp_v[i * n + k] * qdd[k]
        for k in range(n):
            value = value + dp_q[i * n + k] * rates[k]
        tau.append(value - dE[i] + dU[i])
    arrays = _inputs(graph)
    code = gather(graph, arrays, {"tau": ((n,), tau)})
    leaves = _leaves(graph, arrays)
    return list(inline(graph, code, {**leaves, _RATES: list(qd)})["tau"])


_RATES = "\0rates"


def partial(graph: Any, values: list[Scalar], wrt: str) -> list[Scalar]:
    """∂values/∂wrt of scalars of a trace in progress, row by row."""
    arrays = _inputs(graph)
    code = gather(graph, arrays, {"x": ((len(values),), values)})
    mode = "reverse" if len(values) == 1 else "forward"
    code = derivative(code, "x", wrt, "dx", mode=mode)
    return list(inline(graph, code, _leaves(graph, arrays))["dx"])


def _leaves(graph: Any, arrays: Mapping[str, tuple[int, ...]]) -> dict[str, list[Any]]:
    return {name: [graph.leaf(name, k) for k in range(s[0])] for name, s in arrays.items()}


def loads(
    scene: Bodies, q: list[Any], qd: Sequence[Scalar], given: Mapping[int, Any]
) -> list[Scalar]:
    """Friction and the projections of the external wrenches."""
    still = scene.moving_base([0] * 6, [0, 0, 0])
    found = newton_euler(_massless(still), q, qd, [0] * len(q), wrenches=dict(given))
    return joint_rows(scene, found.tau)


def _massless(scene: Bodies) -> Bodies:
    nothing = symmetric(0, 0, 0, 0, 0, 0)
    links = tuple(replace(link, J=nothing, MS=zero, M=0, IA=0) for link in scene.links)
    return replace(scene, links=links)


def _inputs(graph: Any) -> dict[str, tuple[int, ...]]:
    """Every input array of a trace in progress, with the size seen so far."""
    sizes: dict[str, int] = {}
    for node in graph.nodes:
        if node[0] == "input":
            sizes[node[1]] = max(sizes.get(node[1], 0), node[2] + 1)
    return {name: (size,) for name, size in sizes.items()}
