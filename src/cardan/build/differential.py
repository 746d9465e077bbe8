"""Derivatives of a trace in progress, and what they give: the torques of Lagrange's equations.

The derivatives are those of the program itself (`ir.derivative`), taken while it is traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..algebra.vector import Vec, cross, dot, symmetric, zero
from ..ir.code import gather
from ..ir.derivative import derivative
from ..ir.passes import inline
from ..models.bodies import Bodies, Body
from ..models.energy import energies
from ..models.newton_euler import inverse_dynamics as newton_euler
from .common import joint_rows

Scalar = Any


def half(x: Scalar) -> Scalar:
    return 0 if isinstance(x, int) and x == 0 else x / 2


def energy_torques(
    scene: Bodies, q: list[Any], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Scalar]:
    """d/dt ∂L/∂q̇ - ∂L/∂q at any velocities and accelerations, expressions too."""
    graph, n = q[0].graph, len(q)
    rates = [graph.leaf(_RATES, k) for k in range(n)]  # L is differentiated by variables of its own
    record = energies(scene, q, rates)
    p = partial(graph, [record.E], _RATES)
    dE, dU = partial(graph, [record.E], "q"), partial(graph, [record.U], "q")
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


def floating_equations(
    scene: Bodies, q: list[Any], qd: list[Any], V0: list[Any]
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """(A, h) with A u' + h of a floating base, u = (V0, qd): Hamel's equations of the kinetic
    energy (see `lagrange`), without gravity and loads; u' are the rates of the components of V0."""
    graph, n = q[0].graph, len(q)
    E = [energies(scene, q, qd, base=True).E]
    momentum = [*partial(graph, E, "V0", size=6), *partial(graph, E, "qd", size=n)]
    size = 6 + n
    by_base, by_joints = (partial(graph, momentum, *key) for key in (("V0", "", 6), ("qd", "", n)))
    A = [[*by_base[6 * i : 6 * i + 6], *by_joints[n * i : n * i + n]] for i in range(size)]
    by_q, dE = partial(graph, momentum, "q", size=n), partial(graph, E, "q", size=n)
    h = [dot(by_q[n * i : n * i + n], qd) for i in range(size)]
    p, l, v, w = (Vec(*x) for x in (momentum[:3], momentum[3:6], V0[:3], V0[3:]))
    turning = [*cross(w, p), *(cross(w, l) + cross(v, p))]
    return A, [x + y for x, y in zip(h, [*turning, *(-d for d in dE)], strict=True)]


def partial(
    graph: Any, values: list[Scalar], wrt: str, mode: str = "", size: int = 0
) -> list[Scalar]:
    """∂values/∂wrt of scalars of a trace in progress, row by row; size: of wrt, where it may not
    have been read to its end."""
    arrays = _inputs(graph)
    if size:
        arrays[wrt] = (size,)
    code = gather(graph, arrays, {"x": ((len(values),), values)})
    mode = mode or ("reverse" if len(values) == 1 else "forward")
    code = derivative(code, "x", wrt, "dx", mode=mode)
    return list(inline(graph, code, _leaves(graph, arrays))["dx"])


def _leaves(graph: Any, arrays: Mapping[str, tuple[int, ...]]) -> dict[str, list[Any]]:
    return {name: [graph.leaf(name, k) for k in range(s[0])] for name, s in arrays.items()}


def loads(
    scene: Bodies, q: list[Any], qd: Sequence[Scalar], given: Mapping[int, Any], base: bool = False
) -> list[Scalar]:
    """Friction and the projections of the external wrenches; `base`: its six rows first, and the
    springs beside motors, which the potential energy has where no base floats."""
    still = scene.moving_base([0] * 6, [0, 0, 0])
    record = newton_euler(_massless(still, base).loaded(given), q, qd, [0] * len(q))
    first = [*record.f[0], *record.n[0]] if base else []
    return [*first, *joint_rows(scene, record.tau)]


def _massless(scene: Bodies, springs: bool) -> Bodies:
    nothing = symmetric(0, 0, 0, 0, 0, 0)
    slack: Any = {} if springs else {"spring": 0, "neutral": 0}

    def bare(link: Body) -> Body:
        return replace(link, J=nothing, MS=zero, M=0, IA=0, **slack)

    return replace(scene, base=bare(scene.base), links=tuple(map(bare, scene.links)))


def _inputs(graph: Any) -> dict[str, tuple[int, ...]]:
    """Every input array of a trace in progress, with the size seen so far."""
    sizes: dict[str, int] = {}
    for node in graph.nodes:
        if node[0] == "input":
            sizes[node[1]] = max(sizes.get(node[1], 0), node[2] + 1)
    return {name: (size,) for name, size in sizes.items()}
