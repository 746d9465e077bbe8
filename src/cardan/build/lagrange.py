"""Lagrange's equations: A, B and Q as coefficients, the Coriolis matrix, and the inverse model from
the energies alone.

The derivatives are those of the program itself (`ir.derivative`): [KC97] 5.5, first method; the
second takes the Christoffel symbols from the Coriolis matrix at unit velocities. A and its
derivatives are searched together for their cheapest formulation, and so are A and Q each by itself,
the derivatives being those of that A: what costs less is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ..algebra.vector import symmetric, zero
from ..describe.robot import Robot
from ..ir.code import gather
from ..ir.derivative import derivative
from ..ir.passes import inline
from ..models.bodies import Bodies
from ..models.coriolis import coriolis_matrix as coriolis_page
from ..models.energy import energies
from ..models.formulation import PLAIN, Formulation
from ..models.inertia_matrix import inertia_matrix
from ..models.newton_euler import inverse_dynamics as newton_euler
from ..models.reform import regrouped
from ..program import Program
from .base import with_base
from .common import COMPOSITE, Arrays, build, flat, joint_rows, refuse, state, wrenches
from .derivation import Call, Form, Result, Route
from .dynamic import gravity
from .dynamic import inertia_matrix as matrix_model
from .search import LARGE

__all__ = [
    "REGROUPED", "contracted", "coriolis_matrix", "energy_torques",
    "equations", "half", "inverse_dynamics", "lagrange", "loads", "partial",
]  # fmt: skip

Scalar = Any
Triple = tuple[int, int, int]


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
    derived = method == "christoffel"

    def formulate(how: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            q, zeros = x["q"], [0] * n
            composite = inertia_matrix(scene, q, how)
            A = flat(composite.matrix(scene.tree.moving))
            Q = newton_euler(scene.unloaded(), q, zeros, zeros, form=how).tau
            B = _by_derivatives(A, q) if derived else _by_units(scene, q, how)
            return Result(equations(n, A, B, joint_rows(scene, Q), form), composite)

        return run

    def formula(call: Call, x: Arrays) -> dict[str, Any]:
        A, Q = call(matrix, q=x["q"])["A"], call(weight, q=x["q"])["Q"]
        return equations(n, A, _by_derivatives(A, x["q"]), Q, form)

    names = ["A", *(["C1", "C2"] if form == "configuration" else ["B"]), "Q"]
    search: dict[str, Any] = {"finals": True}
    if derived and n <= LARGE:
        matrix, weight = (model(robot, symbolic=symbolic) for model in (matrix_model, gravity))
        search |= {"formulate": formulate, "choices": COMPOSITE}
        search["routes"] = [Route([matrix, weight], formula)]
    forms = [formulate(PLAIN), formulate(REGROUPED)]
    return build(robot, "lagrange", {"q": (n,)}, forms, names, symbolic=symbolic, **search)


REGROUPED = Formulation(regroup=True)


def equations(
    n: int, A: Sequence[Scalar], B: Mapping[Triple, Scalar], Q: Sequence[Scalar], form: str
) -> dict[str, Any]:
    """The outputs: B[i, j, k] with j <= k as an array of Christoffel symbols, or as C1 and C2."""
    outputs: dict[str, Any] = {"A": ((n, n), A)}
    rows = range(n)
    if form == "configuration":
        pairs = [(j, k) for j in rows for k in range(j + 1, n)]
        outputs["C1"] = ((n, len(pairs)), [B[i, j, k] for i in rows for j, k in pairs])
        outputs["C2"] = ((n, n), [B[i, j, j] for i in rows for j in rows])
    else:
        symbols = [B[i, min(j, k), max(j, k)] for i in rows for j in rows for k in rows]
        outputs["B"] = ((n, n, n), symbols)
    return {**outputs, "Q": ((n,), Q)}


def _graph(q: list[Any]) -> Any:
    return q[0].graph


def _by_derivatives(A: list[Scalar], q: list[Any]) -> dict[Triple, Scalar]:
    """c_ijk, j <= k, of A row by row."""
    twice = doubled_symbols(A, q)
    return {at: half(x) for at, x in twice.items() if at[1] <= at[2]}


def half(x: Scalar) -> Scalar:
    return 0 if isinstance(x, int) and x == 0 else x / 2


def doubled_symbols(A: list[Scalar], q: list[Any]) -> dict[Triple, Scalar]:
    """2 c_ijk = ∂A_ij/∂q_k + ∂A_ik/∂q_j - ∂A_jk/∂q_i, of A row by row."""
    n = len(q)
    d = partial(_graph(q), A, "q")

    def dA(i: int, j: int, k: int) -> Scalar:
        return d[(i * n + j) * n + k]

    return {(i, j, k): dA(i, j, k) + dA(i, k, j) - dA(j, k, i)
            for i in range(n) for j in range(n) for k in range(n)}  # fmt: skip


def _by_units(scene: Bodies, q: list[Any], how: Formulation) -> dict[Triple, Scalar]:
    """c_ijk, j <= k, from the Coriolis matrix at q̇ = e_k."""
    n = len(q)
    scene = regrouped(scene) if how.regroup else scene
    found: dict[Triple, Scalar] = {}
    for k in range(n):
        unit = [int(m == k) for m in range(n)]
        C = coriolis_page(scene, q, unit).matrix(scene.tree.moving)
        found |= {(i, j, k): C[i][j] for i in range(n) for j in range(k + 1)}
    return found


def coriolis_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """C with H = C qd + Q (+ friction and wrenches): by composite links, or C_ij = Σ c_ijk qd_k of
    the derivatives of A."""
    refuse(robot, "coriolis-matrix", mobile=True, floating=True)
    robot = with_base(robot, base_parameters)
    n = robot.n

    def page(own: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            scene = scene if own else regrouped(scene)
            found = coriolis_page(scene, x["q"], x["qd"])
            return Result({"C": ((n, n), flat(found.matrix(scene.tree.moving)))}, found)

        return run

    def through(contraction: Callable[[list[Scalar], Arrays], list[Scalar]]) -> Route:
        def formula(call: Call, x: Arrays) -> dict[str, Any]:
            return {"C": ((n, n), contraction(call(matrix, q=x["q"])["A"], x))}

        return Route([matrix], formula)

    routes = []
    if n <= LARGE:
        matrix = matrix_model(robot, symbolic=symbolic)
        routes = [through(_contracted), through(_contracted_halves)]
    if n <= _FEW:
        routes.append(_through_symbols(lagrange(robot, symbolic=symbolic)))
    return build(
        robot, "coriolis-matrix", state(robot, "q", "qd"), [page(True), page(False)], ["C"],
        symbolic=symbolic, routes=routes, finals=True,
    )  # fmt: skip


_FEW = 4  # joints: deriving Lagrange's coefficients takes no time, and they are few


def _through_symbols(coefficients: Program) -> Route:
    """C = B qd."""

    def formula(call: Call, x: Arrays) -> dict[str, Any]:
        n, B = len(x["qd"]), call(coefficients, q=x["q"])["B"]
        symbols = {(i, j, k): B[(i * n + j) * n + k] for i, j, k in product(range(n), repeat=3)}
        return {"C": ((n, n), contracted(symbols, x["qd"]))}

    return Route([coefficients], formula)


def _contracted(A: list[Scalar], x: Arrays) -> list[Scalar]:
    """Σ_k 2 c_ijk (q̇_k / 2), row by row: it pays where the symbols are many."""
    rates = [v / 2 for v in x["qd"]]  # first: sums are written in the order of their terms
    return contracted(doubled_symbols(A, x["q"]), rates)


def _contracted_halves(A: list[Scalar], x: Arrays) -> list[Scalar]:
    """Σ_k c_ijk q̇_k, row by row: it pays where the symbols are few."""
    return contracted(_by_derivatives(A, x["q"]), x["qd"])


def contracted(symbols: Mapping[Triple, Scalar], rates: Sequence[Scalar]) -> list[Scalar]:
    """Σ_k c_ijk q̇_k, row by row; of the symbols at least those with j <= k."""
    n = len(rates)
    C: list[Scalar] = [0] * (n * n)
    for i, j, k in product(range(n), repeat=3):
        symbol = symbols[(i, j, k) if (i, j, k) in symbols else (i, k, j)]
        C[i * n + j] = C[i * n + j] + symbol * rates[k]
    return C


def inverse_dynamics(robot: Robot, *, f_e: bool = False, symbolic: bool = False) -> Program:
    """Γ = d/dt ∂L/∂q̇ - ∂L/∂q of the energies, [K10] (6), differentiated exactly."""
    refuse(robot, "inverse-dynamics", mobile=True, floating=True, elastic=True)
    n = robot.n

    def run(scene: Bodies, x: Arrays) -> Result:
        tau = energy_torques(scene, x["q"], x["qd"], x["qdd"])
        extra = loads(scene, x["q"], x["qd"], wrenches(robot, x))
        return Result({"tau": ((n,), [t + e for t, e in zip(tau, extra, strict=True)])})

    inputs = state(robot, "q", "qd", "qdd", f_e=f_e)
    return build(robot, "inverse-dynamics", inputs, [run], ["tau"], symbolic=symbolic)


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
