"""Dynamic models: inverse and direct dynamics, inertia matrix, bias, gravity.

Each is built here once, for trees, loops and couplings, floating bases and elastic joints: the
tree's algorithm runs at qd = G u, and its torques are projected by G^T (`equations`). What follows
from the recursion is searched for its cheapest formulation (`search`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..algebra.scalar import is_zero
from ..algebra.solve import solve_symmetric
from ..algebra.vector import Vec, cross, weighted
from ..describe.robot import Robot
from ..errors import ModelError
from ..formulate.economy import inverse_dynamics as newton_euler
from ..formulate.posture import formulated
from ..mechanism.coordinates import has_springs, is_floating
from ..models.bodies import Bodies
from ..models.composite import inertia_matrix as inertia_model
from ..models.composite import solve_matrix
from ..models.floating import floating_inverse_dynamics
from ..program import Program
from .base import mechanism_of
from .common import (
    COMPOSITE,
    MEANING,
    RECURSION,
    Arrays,
    flat,
    unsupported,
    with_friction,
    wrenches,
)  # fmt: skip
from .cuts import cuts, with_cut_torques
from .derivation import Derivation, Form, Result, Way
from .differential import energy_torques, floating_equations, loads
from .equations import (
    base_rows,
    bias_rows,
    equations,
    gravity_rows,
    mass_matrix,
    mass_records,
    solve_backwards,
)
from .flexible.equations import direct_forms, force_form, inverse_forms, mass_form
from .idle import spun, widened
from .mechanism import BY_LAGRANGE, Mechanism, require_available
from .recursive import outputs_of, recursive_direct, recursive_inverse

Scalar = Any
_LARGEST_MATRIX = 40  # links: beyond it a full inertia matrix is never the cheaper way


def inverse_dynamics(
    robot: Robot, *, method: str = "newton-euler", base_parameters: bool = False, f_e: bool = False,
    friction: bool = True, base: str = "free", idle: str = "held", symbolic: bool = False,
    effort: str = "normal",
) -> Program:  # fmt: skip
    """Torques of the driven joints; also the accelerations nobody imposes: elastic joints, a free
    base, idle joints that are free.

    With base="given" the acceleration V0d of a floating base is an input, and the wrench F0 that
    must act on the base comes out."""
    given = base == "given"
    unsupported(robot, "inverse-dynamics", base_parameters=base_parameters,
                lagrange=method == "lagrange", base=given, idle=idle == "free")  # fmt: skip
    _require_given(robot, given, method)
    mechanism = mechanism_of(
        with_friction(robot, friction), "inverse-dynamics", base_parameters, symbolic=symbolic,
        idle=idle,
    )  # fmt: skip
    if method == "lagrange":
        _require_lagrange(mechanism)
        inputs = mechanism.inputs("q", "qd", "qdd", f_e=f_e, base=["V0", "g0"])
        if mechanism.floats:
            form, names = _floating_lagrange(mechanism), ["tau", "V0d"]
        else:
            form, names = _lagrange(mechanism), ["tau"]
        return mechanism.program("inverse-dynamics", inputs, [form], names)
    inputs, names, ways = inverse_ways(mechanism, f_e=f_e, given=given)
    if robot.ne:
        forms = [form for form, _ in ways]
        return mechanism.program("inverse-dynamics", inputs, forms, names, effort=effort)
    return mechanism.program(
        "inverse-dynamics", inputs, [], names, meaning=imposed(mechanism), search=ways[0],
        effort=effort,
    )  # fmt: skip


def inverse_ways(
    mechanism: Mechanism, *, f_e: bool = False, given: bool = False
) -> tuple[dict[str, tuple[int, ...]], list[str], list[Way]]:
    """(input arrays, names of outputs, algorithms) of inverse dynamics; `given`: the acceleration
    of a floating base."""
    _require_given(mechanism.described, given)
    link = mechanism.coordinates
    inputs = mechanism.inputs(
        "q", "qd", "qdd", f_e=f_e, base=["V0", *(["V0d"] if given else []), "g0"]
    )
    inputs["qdd"] = (len(link.driven),)
    names = ["tau", *(["qdd_e"] if link.elastic or link.deformations else [])]
    names += [*(["F0"] if given else ["V0d"] if mechanism.floats else [])]
    if mechanism.robot.ne:
        return inputs, names, [(form, ()) for form in inverse_forms(mechanism)]
    return inputs, mechanism.outputs(*names), [_inverse_way(mechanism, given)]


def _require_given(robot: Robot, given: bool, method: str = "newton-euler") -> None:
    if given and (not is_floating(robot) or method == "lagrange"):
        raise ModelError(
            f"base='given' is for a floating base, by Newton-Euler: the base of '{robot.name}' is"
            f" {robot.base.kind}, the method {method}"
        )


def _inverse_way(mechanism: Mechanism, given: bool) -> Way:
    """(algorithm, what its search may choose): by what is not given."""
    if mechanism.springs:
        if given:
            raise ModelError(
                f"'inverse-dynamics' of '{mechanism.robot.name}' with base='given' is not available"
                " for elastic joints, whose accelerations are not given"
            )
        tied = mechanism.robot.constrained
        if tied:
            return _inverse_by_matrix(mechanism), RECURSION
        return recursive_inverse(mechanism), COMPOSITE
    if mechanism.floats and not given:
        return _floating(mechanism), COMPOSITE
    return _newton_euler(mechanism), RECURSION


def imposed(mechanism: Mechanism) -> dict[str, str]:
    """Which accelerations are given, and which come out, where not all are given."""
    link = mechanism.coordinates
    if not mechanism.robot.constrained:
        words = "accelerations of the rigid joints, rad/s2 or m/s2"
        return {"qdd": words} if link.elastic else {}
    meaning: dict[str, str] = {}
    if mechanism.springs or mechanism.floats:
        meaning["qdd"] = f"accelerations of {link.named(link.driven)}, rad/s2 or m/s2"
    if link.elastic:
        meaning["qdd_e"] = f"accelerations of {link.named(link.elastic)}"
    return meaning


def _newton_euler(mechanism: Mechanism) -> Form:
    """All accelerations are given, (22): the tree's torques, projected; F0 of a base whose
    acceleration is given."""

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, qdd = mechanism.motion(scene, x)
        loads = wrenches(mechanism.robot, x)
        record = newton_euler(scene.loaded(loads), x["q"], qd, qdd)
        tau = with_cut_torques(mechanism, scene, constraint, record.tau, qd, qdd)
        outputs: dict[str, Any] = {}
        if mechanism.free:
            moving = mechanism.coordinates.moving
            A = inertia_model(formulated(scene), x["q"]).matrix(moving)
            tau, spin = spun(moving, mechanism.analysis.idle, A, tau)
            outputs["qdd_i"] = ((len(spin),), spin)
        if "V0d" in x:
            outputs["F0"] = ((6,), base_rows(mechanism, record))
        return Result({"tau": ((mechanism.na,), constraint.projected(tau)), **outputs}, record)

    return run


def _require_lagrange(mechanism: Mechanism) -> None:
    require_available(mechanism.robot, BY_LAGRANGE)
    if mechanism.floats and mechanism.robot.drives:
        raise ModelError(
            f"'inverse-dynamics' of '{mechanism.robot.name}' by Lagrange has no motors"
            " of several joints on a floating base: use method='newton-euler'"
        )
    if mechanism.free:
        raise ModelError(
            f"'inverse-dynamics' of '{mechanism.robot.name}' by Lagrange holds its idle joints: use"
            " method='newton-euler' with idle='free'"
        )


def _lagrange(mechanism: Mechanism) -> Form:
    """G^T of d/dt dL/dqd - dL/dq of the tree's energies, [K10] (6), differentiated exactly."""
    moving = mechanism.coordinates.moving

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, qdd = mechanism.motion(scene, x)
        tau = energy_torques(scene, x["q"], qd, qdd)
        more = loads(scene, x["q"], qd, wrenches(mechanism.robot, x))
        both = {j: t + e for j, t, e in zip(moving, tau, more, strict=True)}
        both = with_cut_torques(mechanism, scene, constraint, both, qd, qdd)
        return Result({"tau": ((mechanism.na,), constraint.projected(both))}, constraint)

    return run


def _floating_lagrange(mechanism: Mechanism) -> Form:
    """The base's rows of Hamel's equations first, for its acceleration; then the joints'."""

    def run(scene: Bodies, x: Arrays) -> Result:
        q, qd, V0 = x["q"], list(x["qd"]), list(x["V0"])
        A, h = floating_equations(scene, q, qd, V0)
        more = loads(scene, q, qd, wrenches(mechanism.robot, x), base=True)
        h = [a + b for a, b in zip(h, more, strict=True)]
        known = dict(enumerate(x["qdd"], 6))
        six = range(6)
        rhs = [-(h[r] + weighted(known, A[r])) for r in six]
        rates = solve_symmetric([[A[r][c] for c in six] for r in six], rhs)  # less gravity
        known |= zip(six, rates, strict=True)
        tau = [h[r] + weighted(known, A[r]) for r in range(6, 6 + mechanism.n)]
        linear = Vec(*rates[:3]) + Vec(*x["g0"]) + cross(Vec(*V0[3:]), Vec(*V0[:3]))
        V0d = [*linear, *rates[3:]]
        return Result({"tau": ((mechanism.n,), tau), "V0d": ((6,), V0d)})

    return run


def _floating(mechanism: Mechanism) -> Form:
    """The base accelerates as nothing holds it, [K10] 7.2 (89)-(100), projected."""

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, qdd = mechanism.motion(scene, x)
        loaded = formulated(scene.loaded(wrenches(mechanism.robot, x)))
        record = floating_inverse_dynamics(loaded, x["q"], qd, qdd)
        tau = with_cut_torques(mechanism, scene, constraint, record.tau, qd, qdd)
        V0d = [*record.V0d[0], *record.V0d[1]]
        torques = constraint.projected(tau)
        return Result({"tau": ((mechanism.na,), torques), "V0d": ((6,), V0d)}, record)

    return run


def _inverse_by_matrix(mechanism: Mechanism) -> Form:
    """The rows without motors first, for their accelerations; then the others."""
    link, first = mechanism.coordinates, mechanism.floats
    free = [*range(first), *(first + link.active.index(j) for j in link.elastic)]
    driven = [first + link.active.index(j) for j in link.driven]

    def run(scene: Bodies, x: Arrays) -> Result:
        A, H, push, record = equations(mechanism, scene, x)
        known = dict(zip(driven, x["qdd"], strict=True))
        pushes = [*([0] * first), *(push[j] for j in link.elastic)]
        rhs = [p - H[r] - weighted(known, A[r]) for p, r in zip(pushes, free, strict=True)]
        rates = solve_backwards([[A[r][c] for c in free] for r in free], rhs) if free else []
        known |= zip(free, rates, strict=True)
        tau = [H[r] + weighted(known, A[r]) for r in driven]
        return Result(outputs_of(tau, rates[first:], rates[:first]), record)

    return run


def independent_accelerations(mechanism: Mechanism, scene: Bodies, x: Arrays) -> list[Scalar]:
    """qdd of the independent joints, of those of the driven ones: elastic joints follow."""
    link = mechanism.coordinates
    rates = dict(zip(link.driven, x["qdd"], strict=True))
    if link.elastic:
        form = _inverse_by_matrix if mechanism.robot.constrained else recursive_inverse
        _, follow = form(mechanism)(scene, x).outputs["qdd_e"]
        rates |= zip(link.elastic, follow, strict=True)
    return [rates[j] for j in link.active]


def direct_dynamics(
    robot: Robot, *, method: str = "auto", base_parameters: bool = False, f_e: bool = False,
    friction: bool = True, idle: str = "held", symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """Accelerations of torques: of the independent joints, and of a base that floats.

    Of a tree by articulated links or by A and H, the cheaper by default; of loops by A and H or by
    constraint forces."""
    unsupported(robot, "direct-dynamics", base_parameters=base_parameters, idle=idle == "free")
    _require_method(robot, method)
    mechanism = mechanism_of(
        with_friction(robot, friction), "direct-dynamics", base_parameters, symbolic=symbolic,
        idle=idle,
    )  # fmt: skip
    inputs, names, ways = direct_ways(mechanism, method=method, f_e=f_e)
    if robot.ne:
        forms = [form for form, _ in ways]
        return mechanism.program("direct-dynamics", inputs, forms, names, effort=effort)
    link = mechanism.coordinates
    meaning: dict[str, str] = {}
    if robot.constrained:
        if mechanism.springs or mechanism.floats:
            meaning["qdd"] = f"accelerations of {link.named(link.active)}, rad/s2 or m/s2"
        if method == "constraint-forces" and mechanism.analysis.least_squares:
            raise ModelError(
                f"'direct-dynamics' of '{robot.name}': its loop equations repeat each other, so the"
                " constraint forces are not unique; use method='inertia-matrix'"
            )
    elif link.elastic:
        meaning["tau"] = "torques or forces of the rigid joints"
    first, *others = ways
    return mechanism.program(
        "direct-dynamics", inputs, [], names, meaning=meaning, search=first, rivals=others,
        effort=effort,
    )  # fmt: skip


def direct_ways(
    mechanism: Mechanism, *, method: str = "auto", f_e: bool = False
) -> tuple[dict[str, tuple[int, ...]], list[str], list[Way]]:
    """(input arrays, names of outputs, algorithms) of direct dynamics, the best first."""
    inputs = mechanism.inputs("q", "qd", "tau", f_e=f_e, base=["V0", "g0"])
    names = ["qdd", *(["V0d"] if mechanism.floats else [])]
    if mechanism.robot.ne:
        return inputs, names, [(form, ()) for form in direct_forms(mechanism, method)]
    methods: dict[str, Way] = {
        "recursive": (recursive_direct(mechanism), COMPOSITE),
        "inertia-matrix": (_by_matrix(mechanism), RECURSION),
        "constraint-forces": (_by_constraint_forces(mechanism), RECURSION),
    }
    wanted = _candidates(mechanism, method, inputs, methods)
    return inputs, mechanism.outputs(*names), [methods[name] for name in wanted]


def _require_method(robot: Robot, method: str) -> None:
    where = f"'direct-dynamics' of '{robot.name}'"
    if method == "constraint-forces" and not robot.constrained:
        raise ModelError(f"{where} by constraint forces needs closed loops; it has none")
    if method == "recursive" and robot.constrained and not robot.ne:
        raise ModelError(
            f"{where}: closed loops have no recursive method; use 'inertia-matrix' (A_c and H_c) or"
            " 'constraint-forces'"
        )
    if method == "recursive" and robot.drives:
        raise ModelError(
            f"{where}: motors that several joints turn tie links that are no neighbours; use"
            " method='inertia-matrix'"
        )
    if method == "constraint-forces" and (has_springs(robot) or is_floating(robot)):
        raise ModelError(
            f"{where} by method '{method}' is not available for elastic joints or a floating base"
            " with closed loops; use method='inertia-matrix'"
        )


def _candidates(
    mechanism: Mechanism, method: str, inputs: Mapping[str, tuple[int, ...]],
    methods: Mapping[str, Way],
) -> list[str]:  # fmt: skip
    """The methods worth a search, the best first: of a tree those that are cheap as they stand."""
    if method != "auto":
        return [method]
    if mechanism.robot.constrained or mechanism.robot.drives:
        return ["inertia-matrix"]
    small = len(mechanism.robot.links) <= _LARGEST_MATRIX
    plain = {
        name: Derivation(mechanism.tree, "direct-dynamics", inputs).trace(methods[name][0]).price
        for name in ("recursive", *(["inertia-matrix"] if small else []))
    }
    best = min(plain.values())
    wanted = [name for name, price in plain.items() if price <= 1.15 * best]
    return sorted(wanted, key=plain.__getitem__)


def _by_matrix(mechanism: Mechanism) -> Form:
    """A and H, solved from the tips to the base; then idle joints that are free."""
    link, first = mechanism.coordinates, mechanism.floats

    def run(scene: Bodies, x: Arrays) -> Result:
        if mechanism.free:
            return _with_idle(mechanism, scene, x)
        A, H, push, record = equations(mechanism, scene, x)
        push |= zip(link.driven, x["tau"], strict=True)
        rhs = [-h for h in H[:first]]
        rhs += [push[j] - h for j, h in zip(link.active, H[first:], strict=True)]
        rates = solve_backwards(A, rhs)
        return Result(_accelerations(mechanism, rates[first:], rates[:first]), record)

    return run


def _with_idle(mechanism: Mechanism, scene: Bodies, x: Arrays) -> Result:
    """A and H of the active and the idle joints."""
    constraint, H, record = bias_rows(mechanism, scene, x)
    A, composite = mass_matrix(mechanism, scene, x, constraint)
    idle, moving, G = mechanism.analysis.idle, mechanism.coordinates.moving, constraint.G()
    A = widened(A, composite.matrix(moving), [G[j] for j in moving], moving, idle)
    push = [t - h for t, h in zip(x["tau"], H, strict=True)]
    push += [-record.tau[j] for j in idle]
    return Result(_accelerations(mechanism, solve_symmetric(A, push), []), record)


def _by_constraint_forces(mechanism: Mechanism) -> Form:
    """A qdd + H = tau + W^T lambda with W qdd + Psi = 0: the tree's equations and the loops'."""
    link, idle = mechanism.coordinates, mechanism.analysis.idle
    held = () if mechanism.free else idle
    moving = tuple(j for j in link.moving if j not in held)

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qds = mechanism.constraint(scene, x, x["qd"])
        qd, zeros = mechanism.row(qds), [0] * mechanism.n
        loads = wrenches(mechanism.robot, x)
        record = newton_euler(scene.loaded(loads), x["q"], qd, zeros)
        H = with_cut_torques(mechanism, scene, constraint, record.tau, qd, zeros)
        A = inertia_model(formulated(scene), x["q"]).A
        if not all(is_zero(cut.body.IA) for cut in cuts(mechanism, scene, constraint)):
            raise ModelError(
                "'constraint-forces' is not available where cut joints or motors of several joints"
                " have rotors, which tie other links; use method='inertia-matrix'"
            )
        torques = dict(zip(mechanism.active, x["tau"], strict=True))

        def divided(rhs: Mapping[int, Scalar]) -> dict[int, Scalar]:
            own = {("joint", j, 0): value for j, value in rhs.items()}
            return {key[1]: value for key, value in solve_matrix(scene, A, own, own).items()}

        free = divided({j: torques.get(j, 0) - H[j] for j in moving})
        columns = [divided({j: row.get(j, 0) for j in moving}) for row in constraint.rows]
        S = [[weighted(row, column) for column in columns] for row in constraint.rows]
        rows = zip(constraint.rows, constraint.Psi, strict=True)
        force = solve_symmetric(S, [-(weighted(w, free) + psi) for w, psi in rows])
        qdd = []
        for j in (*mechanism.active, *(idle if mechanism.free else ())):
            value = free[j]
            for column, push in zip(columns, force, strict=True):
                value = value + column[j] * push
            qdd.append(value)
        return Result(_accelerations(mechanism, qdd, []), record)

    return run


def _accelerations(
    mechanism: Mechanism, qdd: Sequence[Scalar], base: Sequence[Scalar]
) -> dict[str, Any]:
    """Those of the independent joints, of idle ones that are free, of the base."""
    na = mechanism.na
    outputs: dict[str, Any] = {"qdd": ((na,), list(qdd[:na]))}
    if mechanism.free:
        outputs["qdd_i"] = ((len(qdd) - na,), list(qdd[na:]))
    if base:
        outputs["V0d"] = ((6,), list(base))
    return outputs


def inertia_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """A of the independent joints, [K10] (58); with a floating base (84), its six rows first."""
    unsupported(robot, "inertia-matrix", base_parameters=base_parameters)
    mechanism = mechanism_of(robot, "inertia-matrix", base_parameters, symbolic=symbolic)
    if robot.ne:
        forms = [mass_form(mechanism)]
        inputs = mechanism.inputs("q")
        return mechanism.program("inertia-matrix", inputs, forms, ["A"], effort=effort)
    size = mechanism.floats + mechanism.na

    def page(scene: Bodies, x: Arrays) -> Result:
        constraint = mechanism.constraint(scene, x)[0]
        A, composite = mass_matrix(mechanism, scene, x, constraint)
        record = mass_records(mechanism, constraint, composite)
        return Result({"A": ((size, size), flat(A))}, record)

    return mechanism.program(
        "inertia-matrix", mechanism.inputs("q"), [], ["A"], search=(page, COMPOSITE), effort=effort
    )  # fmt: skip


def bias(
    robot: Robot, *, base_parameters: bool = False, f_e: bool = False, friction: bool = True,
    symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """H: the torques of qdd = 0; with a floating base the base's six rows first, [K10] (85).

    Springs of elastic joints push as torques do, and are not in it; those of joints that follow
    others through loops are, and so is everything elastic where links bend."""
    unsupported(robot, "bias", base_parameters=base_parameters)
    mechanism = mechanism_of(
        with_friction(robot, friction), "bias", base_parameters, symbolic=symbolic
    )

    def page(scene: Bodies, x: Arrays) -> Result:
        _, H, record = bias_rows(mechanism, scene, x)
        rows = [*base_rows(mechanism, record), *H]
        return Result({"H": ((len(rows),), rows)}, record)

    inputs = mechanism.inputs("q", "qd", f_e=f_e, base=["V0", "g0"])
    if robot.ne:
        forms = [force_form(mechanism, "H")]
        return mechanism.program("bias", inputs, forms, ["H"], effort=effort)
    meaning = {"H": MEANING["H"] + _springs(mechanism)}
    return mechanism.program(
        "bias", inputs, [], ["H"], meaning=meaning, search=(page, RECURSION), effort=effort
    )  # fmt: skip


def _springs(mechanism: Mechanism) -> str:
    """Which springs are among the torques of a model that are not accelerations."""
    on, joints = mechanism.coordinates, mechanism.robot.joints
    beside = [j for j in on.moving if joints[j - 1].spring != 0 or (
        joints[j - 1].elastic and j in on.passive)]  # fmt: skip
    words = f", with the springs of {on.named(beside)}" if beside else ""
    apart = f", without those of {on.named(on.elastic)}, which push as torques do"
    return words + apart if on.elastic else words


def gravity(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """Q: the torques that hold the robot at rest; with a floating base its six rows first."""
    unsupported(robot, "gravity", base_parameters=base_parameters)
    mechanism = mechanism_of(robot, "gravity", base_parameters, symbolic=symbolic)
    inputs = mechanism.inputs("q", base=["g0"])
    if robot.ne:
        forms = [force_form(mechanism, "Q")]
        return mechanism.program("gravity", inputs, forms, ["Q"], effort=effort)

    def page(scene: Bodies, x: Arrays) -> Result:
        Q, record = gravity_rows(mechanism, scene, x)
        rows = [*base_rows(mechanism, record), *Q]
        return Result({"Q": ((len(rows),), rows)}, record)

    meaning = {"Q": MEANING["Q"] + _springs(mechanism)}
    return mechanism.program(
        "gravity", inputs, [], ["Q"], meaning=meaning, search=(page, COMPOSITE), effort=effort
    )  # fmt: skip
