"""Lagrange's equations: A, B and Q as coefficients, and the Coriolis matrix.

Of a tree the derivatives are those of A (`ir.derivative`): [KC97] 5.5, first method; the second
has the Christoffel symbols without differentiation, and is what is read of both. A and its
derivatives are searched together for their cheapest formulation, and so are A and Q each by itself,
the derivatives being those of that A: what costs less is kept.

The active joints are coordinates of a robot with loops too: q_p = f(q_a) along its assembly. So

    A_c qdd_a + C_c qd_a + Q_c = tau_a,     C_c = G^T (C G + A Gdot)

with A_c, C_c of the closed robot; its velocity torques h are a quadratic form of qd_a, and

    C_c = ½ dh/dqd_a,   B_ijk = ½ (h_i(e_j + e_k) - h_i(e_j) - h_i(e_k))

are exact and symmetric in j and k, which is what makes Adot_c - 2 C_c skew. Where wheels roll q_p
is no function of q_a, and C_c is G^T (C G + A Gdot) itself, skew as well; B holds the velocity
torques all the same.

The velocities u = (V0, qd) of a floating base are no rates of coordinates: frame 0 turns. The
equations then are Hamel's, with the momentum h = A u, (p, l) its part of the base, and v, w in V0,

    f = dp/dt + w × p,    n = dl/dt + w × l + v × p,    tau = dh_q/dt - dE/dq

where d/dt is of components; with gravity, Q = -A (g0, 0). So B_ijk = ½ (C_ij(e_k) + C_ik(e_j))."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from ..algebra.vector import dot
from ..describe.robot import Robot
from ..formulate.economy import inverse_dynamics as newton_euler
from ..formulate.formulation import Formulation
from ..formulate.posture import formulated
from ..formulate.search import LARGE
from ..models.bodies import Bodies
from ..models.christoffel import christoffel_symbols
from ..models.composite import Composite
from ..models.composite import inertia_matrix as inertia_page
from ..models.coriolis import coriolis_matrix as coriolis_page
from ..program import Program
from .base import mechanism_of
from .common import COMPOSITE, Arrays, flat, joint_rows, slid
from .derivation import Call, Form, Result, Route, written
from .differential import half, partial
from .dynamic import gravity, inertia_matrix
from .equations import (
    base_rows,
    bias_rows,
    gravity_rows,
    joint_matrix,
    mass_matrix,
    mass_records,
)
from .kept import part
from .mechanism import Mechanism

Scalar = Any
Triple = tuple[int, int, int]
Symbols = Mapping[Triple, Scalar]  # B[i, j, k], at least those with j <= k

REGROUPED = Formulation(regroup=True)
_FEW = 4  # joints of a tree: deriving Lagrange's coefficients takes no time, and they are few
_FEW_ACTIVE = 3  # of loops: the coefficients are about as many as the entries of C_c


def lagrange(
    robot: Robot, *, method: str = "christoffel", form: str = "christoffel",
    base_parameters: bool = False, symbolic: bool = False,
) -> Program:  # fmt: skip
    """A, the velocity coefficients, and Q, as functions of q alone.

    form 'christoffel': B (n,n,n). form 'configuration' ([B23] eq. 3.11): C1 of 2 qd_j qd_k, C2 of
    qd_j². Of loops B by the velocity torques of one and of two unit velocities, or C_c of one."""
    mechanism = mechanism_of(robot, "lagrange", base_parameters, symbolic=symbolic)
    options: dict[str, Any] = {"base_parameters": base_parameters, "symbolic": symbolic}
    search: dict[str, Any] = {}
    if mechanism.floats:
        forms = _of_floating(mechanism, method, form)
    elif robot.constrained:
        forms, search = _of_loops(mechanism, robot, form, options)
    else:
        forms, search = _of_tree(mechanism, robot, method, form, options)
    names = ["A", *(["C1", "C2"] if form == "configuration" else ["B"]), "Q"]
    inputs = mechanism.inputs("q", base=["g0"])
    meaning = FLOATING_MEANING if mechanism.floats else {}
    return mechanism.program(
        "lagrange", inputs, forms, names, meaning={k: meaning[k] for k in names if k in meaning},
        finals=True, **search,
    )  # fmt: skip


FLOATING_MEANING = {
    "A": "inertia matrix over u = (V0, qd)",
    "B": "velocity torques, sum over j, k of B[i, j, k] u_j u_k, u = (V0, qd): A u' + B u u + Q,"
    " where u' holds the rates of the components of V0, V0d less w0 x v0",
    "C1": "coefficients of 2 u_j u_k, j < k, u = (V0, qd), in A u' + C1 u u + C2 u^2 + Q",
    "C2": "coefficients of u_j^2",
    "Q": "gravity: wrench on the base, then torques",
    "C": "Coriolis matrix over u = (V0, qd): A u' + C u + Q with Adot - 2C skew-symmetric; u' holds"
    " the rates of the components of V0, V0d less w0 x v0",
}


def _of_floating(mechanism: Mechanism, method: str, form: str) -> list[Form]:
    size = 6 + mechanism.n
    moving = mechanism.coordinates.moving

    def page(scene: Bodies, x: Arrays) -> Result:
        q, zeros = x["q"], [0] * mechanism.n
        A, composite = mass_matrix(mechanism, scene, x, mechanism.constraint(scene, x)[0])
        still = scene.unloaded().moving_base([0] * 6, x["g0"])
        record = newton_euler(still, q, zeros, zeros)
        Q = [*base_rows(mechanism, record), *joint_rows(scene, record.tau)]

        def velocity_matrix(k: int) -> list[list[Scalar]]:
            """C at u = e_k."""
            unit = [int(m == k) for m in range(size)]
            at = formulated(scene.moving_base(unit[:6], [0] * 3))
            return coriolis_page(at, q, unit[6:], base=True).matrix(moving, base=True)

        if method == "christoffel":
            B = _by_momentum(A, q)
        else:
            C = [velocity_matrix(k) for k in range(size)]
            B = {
                (i, j, k): half(C[k][i][j] + C[j][i][k])
                for i in range(size) for j in range(size) for k in range(j, size)
            }  # fmt: skip
        return Result(_outputs(size, flat(A), B, Q, form), composite)

    return [page, written(page, REGROUPED)]


def _by_momentum(A: list[list[Scalar]], q: list[Any]) -> dict[Triple, Scalar]:
    """B[i, j, k], j <= k, of a floating base, from A(q) by Hamel's equations."""
    size, n = len(A), len(q)
    d = partial(q[0].graph, flat(A), "q")
    each = range(size)
    twice: dict[Triple, Scalar] = {(i, j, k): 0 for i in each for j in each for k in range(j, size)}

    def gain(i: int, j: int, k: int, value: Scalar) -> None:
        """Of a term value u_j u_k in row i; entries with j < k count twice in the sum."""
        at = i, min(j, k), max(j, k)
        twice[at] = twice[at] + (2 * value if j == k else value)

    for i, j, k in product(range(size), range(size), range(n)):
        gain(i, j, 6 + k, d[(i * size + j) * n + k])  # dA_ij/dq_k u_j qd_k
    for i, j, k in product(range(n), range(size), range(size)):
        value = d[(j * size + k) * n + i]
        if j <= k:  # -1/2 u^T dA/dq_i u
            gain(6 + i, j, k, -value if j != k else -half(value))
    for a, b, c, s in _CYCLES:
        for m in range(size):
            gain(a, 3 + b, m, s * A[c][m])  # w x p
            gain(3 + a, 3 + b, m, s * A[3 + c][m])  # w x l
            gain(3 + a, b, m, s * A[c][m])  # v x p
    return {at: half(x) for at, x in twice.items()}


# (a, b, c, sign): component a of a cross product has the term sign x_b y_c
_CYCLES = [(0, 1, 2, 1), (0, 2, 1, -1), (1, 2, 0, 1), (1, 0, 2, -1), (2, 0, 1, 1), (2, 1, 0, -1)]


def _of_tree(
    mechanism: Mechanism, robot: Robot, method: str, form: str, options: dict[str, Any]
) -> tuple[list[Form], dict[str, Any]]:
    n, derived = mechanism.n, method == "christoffel"

    def statics(scene: Bodies, x: Arrays) -> tuple[tuple[Composite, Any], list[Any], list[Any]]:
        """((composite links, weights), A row by row, Q)."""
        q, zeros = x["q"], [0] * n
        composite = inertia_page(formulated(scene), q)
        A = joint_matrix(mechanism, scene, mechanism.constraint(scene, x)[0], composite)
        weights = newton_euler(scene.unloaded(springs=True), q, zeros, zeros)
        return (composite, weights), flat(A), joint_rows(scene, weights.tau)

    def page(scene: Bodies, x: Arrays) -> Result:
        records, A, Q = statics(scene, x)
        symbols = christoffel_symbols(formulated(scene), x["q"], records[0])
        B = symbols.over(scene.tree.moving)
        return Result(_outputs(n, A, B, Q, form), (*records, symbols))

    def differentiated(scene: Bodies, x: Arrays) -> Result:
        (composite, _), A, Q = statics(scene, x)
        return Result(_outputs(n, A, _by_derivatives(A, x["q"]), Q, form), composite)

    def formula(call: Call, x: Arrays) -> dict[str, Any]:
        A, Q = call(matrix, q=x["q"])["A"], call(weight, q=x["q"])["Q"]
        return _outputs(n, A, _by_derivatives(A, x["q"]), Q, form)

    search: dict[str, Any] = {}
    if derived and n <= LARGE:
        alone = {**options, "effort": "part"}
        matrix = part("inertia-matrix", inertia_matrix, robot, alone)
        weight = part("gravity", gravity, robot, alone)
        search = {"search": (differentiated, COMPOSITE)}
        search["routes"] = [Route([matrix, weight], formula)]
    own = differentiated if derived else page
    return [page, *([own] if derived else []), written(own, REGROUPED)], search


def _of_loops(
    mechanism: Mechanism, robot: Robot, form: str, options: dict[str, Any]
) -> tuple[list[Form], dict[str, Any]]:
    n = mechanism.na

    def statics(velocities: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint = mechanism.constraint(scene, x)[0]
            A, composite = mass_matrix(mechanism, scene, x, constraint)
            records = mass_records(mechanism, constraint, composite)
            Q = gravity_rows(mechanism, scene, x)[0]
            if velocities:
                B = _coefficients(mechanism, scene, x["q"])
                return Result(_outputs(n, flat(A), B, Q, form), records)
            return Result({"A": ((n, n), flat(A)), "Q": ((n,), Q)}, constraint)

        return run

    def through(*parts: Program) -> Route:
        def formula(call: Call, x: Arrays) -> dict[str, Any]:
            q = x["q"]
            B: dict[Triple, Scalar] = {}
            for k in range(n):
                C = call(coriolis, q=q, qd=[int(m == k) for m in range(n)])["C"]
                B |= {(i, j, k): C[i * n + j] for i in range(n) for j in range(k + 1)}
            rest = {name: x for program in parts for name, x in call(program, q=q).items()}
            return _outputs(n, rest["A"], B, rest["Q"], form)

        return Route([*parts, coriolis], formula)

    page = statics(velocities=True)
    if robot.wheels:  # C of unit velocities is not symmetric: it has no Christoffel symbols
        return [page, written(page, REGROUPED)], {}
    coriolis = part("coriolis-matrix", coriolis_matrix, robot, options)
    inputs, names = mechanism.inputs("q"), ["A", "Q"]
    # A and Q each by itself, or both in the axes of C_c, whose sines they then share
    alike = statics(velocities=False)
    cut = slid(mechanism.tree, regroup=True)
    forms = [alike, written(alike, REGROUPED), written(alike, cut)]
    routes = [
        through(
            part("inertia-matrix", inertia_matrix, robot, options),
            part("gravity", gravity, robot, options),
        ),
        through(mechanism.program("lagrange", inputs, forms, names)),
    ]
    return [page, written(page, REGROUPED)], {"routes": routes}


def _outputs(
    n: int, A: Sequence[Scalar], B: Symbols, Q: Sequence[Scalar], form: str
) -> dict[str, Any]:
    """B[i, j, k] with j <= k as an array of Christoffel symbols, or as C1 and C2; A and Q."""
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


def _by_derivatives(A: list[Scalar], q: list[Any]) -> dict[Triple, Scalar]:
    """c_ijk, j <= k, of A row by row."""
    twice = _doubled_symbols(A, q)
    return {at: half(x) for at, x in twice.items() if at[1] <= at[2]}


def _doubled_symbols(A: list[Scalar], q: list[Any]) -> dict[Triple, Scalar]:
    """2 c_ijk = ∂A_ij/∂q_k + ∂A_ik/∂q_j - ∂A_jk/∂q_i, of A row by row."""
    n = len(q)
    d = partial(q[0].graph, A, "q")

    def dA(i: int, j: int, k: int) -> Scalar:
        return d[(i * n + j) * n + k]

    return {(i, j, k): dA(i, j, k) + dA(i, k, j) - dA(j, k, i)
            for i in range(n) for j in range(n) for k in range(n)}  # fmt: skip


def _velocity_torques(mechanism: Mechanism, scene: Bodies, q: Any, qd: Any) -> list[Scalar]:
    """h: the torques of qdd_a = 0 without gravity, friction and wrenches."""
    still = scene.unloaded().moving_base([0] * 6, [0, 0, 0])
    return bias_rows(mechanism, still, {"q": q, "qd": qd}, pushed=False)[1]


def _coefficients(mechanism: Mechanism, scene: Bodies, q: Any) -> dict[Triple, Scalar]:
    """B[i, j, k] with j <= k."""
    n = mechanism.na

    def at(*moving: int) -> list[Scalar]:
        unit = [int(k in moving) for k in range(n)]
        return _velocity_torques(mechanism, scene, q, unit)

    own = [at(k) for k in range(n)]
    symbols = {(i, k, k): own[k][i] for k in range(n) for i in range(n)}
    for j in range(n):
        for k in range(j + 1, n):
            both = at(j, k)
            symbols |= {(i, j, k): half(both[i] - own[j][i] - own[k][i]) for i in range(n)}
    return symbols


def coriolis_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False
) -> Program:
    """C with H = C qd + Q (+ friction and wrenches).

    Of a tree by composite links, or C_ij = Σ c_ijk qd_k of the derivatives of A; of loops by the
    derivatives of the velocity torques, or their coefficients."""
    mechanism = mechanism_of(robot, "coriolis-matrix", base_parameters, symbolic=symbolic)
    options: dict[str, Any] = {"base_parameters": base_parameters, "symbolic": symbolic}
    routes: list[Route] = []
    search: dict[str, Any] = {}
    page = _composite_coriolis(bool(mechanism.floats))
    if robot.constrained:
        forms = _coriolis_of_loops(mechanism)
    else:
        forms = [page]
        search = {"search": (page, COMPOSITE), "rough": True}
        if mechanism.n <= LARGE and not mechanism.floats:
            alone = {**options, "effort": "part"}
            matrix = part("inertia-matrix", inertia_matrix, robot, alone)
            ways = (_contracted_derivatives, _contracted_halves)
            routes = [_through_matrix(matrix, contraction) for contraction in ways]
        if mechanism.n <= _FEW and not mechanism.floats:
            routes.append(_through_symbols(part("lagrange", lagrange, robot, options)))
    meaning = {"C": FLOATING_MEANING["C"]} if mechanism.floats else {}
    return mechanism.program(
        "coriolis-matrix", mechanism.inputs("q", "qd", base=["V0"]), forms, ["C"], routes=routes,
        meaning=meaning, finals=True, **search,
    )  # fmt: skip


def _composite_coriolis(base: bool) -> Form:
    """The page; `base`: on a floating one."""

    def run(scene: Bodies, x: Arrays) -> Result:
        record = coriolis_page(formulated(scene), x["q"], x["qd"], base)
        rows = record.matrix(scene.tree.moving, base)
        return Result({"C": ((len(rows), len(rows)), flat(rows))}, record)

    return run


def _coriolis_of_loops(mechanism: Mechanism) -> list[Form]:
    na = mechanism.na

    def by_derivatives(scene: Bodies, x: Arrays) -> Result:
        h = _velocity_torques(mechanism, scene, x["q"], x["qd"])
        C = [half(value) for value in partial(x["q"][0].graph, h, "qd")]
        return Result({"C": ((na, na), C)})

    def by_coefficients(scene: Bodies, x: Arrays) -> Result:
        B = _coefficients(mechanism, scene, x["q"])
        return Result({"C": ((na, na), _contracted(B, x["qd"]))})

    def by_rates(scene: Bodies, x: Arrays) -> Result:
        """G^T (C G + A Gdot): where wheels roll, dh/dqd is another matrix."""
        constraint, velocities = mechanism.constraint(scene, x, x["qd"])
        qd, G = mechanism.row(velocities), constraint.G()
        moving = mechanism.coordinates.moving
        rows = [G[j] for j in moving]
        slopes = partial(x["q"][0].graph, flat(rows), "q", size=len(moving))
        n = len(moving)
        rates = [dot(slopes[k * n : k * n + n], qd) for k in range(n * na)]
        coriolis = coriolis_page(formulated(scene), x["q"], qd)
        composite = inertia_page(formulated(scene), x["q"])
        C, A = coriolis.matrix(moving), composite.matrix(moving)
        inner = [
            [dot(C[i], [row[c] for row in rows]) + dot(A[i], rates[c::na]) for c in range(na)]
            for i in range(n)
        ]
        entries = [
            dot([row[r] for row in rows], [row[c] for row in inner])
            for r in range(na) for c in range(na)
        ]  # fmt: skip
        tied = mass_records(mechanism, constraint, composite)
        return Result({"C": ((na, na), entries)}, (coriolis, *tied))

    if mechanism.robot.wheels:
        return [by_rates, written(by_rates, REGROUPED)]
    few = [written(by_coefficients, REGROUPED)] if na <= _FEW_ACTIVE else []
    return [by_derivatives, written(by_derivatives, REGROUPED), *few]


def _through_matrix(
    matrix: Program, contraction: Callable[[list[Scalar], Arrays], list[Scalar]]
) -> Route:
    """C of A, its derivatives contracted with the velocities."""

    def formula(call: Call, x: Arrays) -> dict[str, Any]:
        n = len(x["qd"])
        return {"C": ((n, n), contraction(call(matrix, q=x["q"])["A"], x))}

    return Route([matrix], formula)


def _through_symbols(coefficients: Program) -> Route:
    """C = B qd."""

    def formula(call: Call, x: Arrays) -> dict[str, Any]:
        n, B = len(x["qd"]), call(coefficients, q=x["q"])["B"]
        symbols = {(i, j, k): B[(i * n + j) * n + k] for i, j, k in product(range(n), repeat=3)}
        return {"C": ((n, n), _contracted(symbols, x["qd"]))}

    return Route([coefficients], formula)


def _contracted_derivatives(A: list[Scalar], x: Arrays) -> list[Scalar]:
    """Σ_k 2 c_ijk (q̇_k / 2), row by row: it pays where the symbols are many."""
    rates = [v / 2 for v in x["qd"]]  # first: sums are written in the order of their terms
    return _contracted(_doubled_symbols(A, x["q"]), rates)


def _contracted_halves(A: list[Scalar], x: Arrays) -> list[Scalar]:
    """Σ_k c_ijk q̇_k, row by row: it pays where the symbols are few."""
    return _contracted(_by_derivatives(A, x["q"]), x["qd"])


def _contracted(symbols: Symbols, rates: Sequence[Scalar]) -> list[Scalar]:
    """Σ_k c_ijk q̇_k, row by row."""
    n = len(rates)
    C: list[Scalar] = [0] * (n * n)
    for i, j, k in product(range(n), repeat=3):
        symbol = symbols[(i, j, k) if (i, j, k) in symbols else (i, k, j)]
        C[i * n + j] = C[i * n + j] + symbol * rates[k]
    return C
