"""Dynamic models of closed-loop robots, [KC97] 5.2, [K10] 4.

    tau_a = G^T tau_tr(q, qd_tr, qdd_tr)                                        (22), [K10] (55)
    tau_a = A_c qdd_a + H_c,   A_c = G^T A_tr G                                      [K10] (58)

The tree's recursion is searched for its cheapest formulation, as for a tree robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...algebra.scalar import sign
from ...algebra.solve import solve_symmetric
from ...describe.robot import Robot
from ...errors import ModelError
from ...mechanism.loops import LoopFrames
from ...models.bodies import Bodies
from ...models.direct_dynamics import solve_tree
from ...models.formulation import Formulation
from ...models.inertia_matrix import inertia_matrix as inertia_model
from ...models.loops import Constraint
from ...models.newton_euler import NewtonEuler
from ...models.newton_euler import inverse_dynamics as newton_euler
from ...program import Program
from ..common import COMPOSITE, RECURSION, Arrays, flat, is_floating, with_friction, wrenches
from ..derivation import Form, Result
from ..dynamic import moving_parent
from ..idle import spun, widened
from ..loops import Closing, closing

__all__ = [
    "along", "bias", "bias_of", "cut_drives", "cut_rows", "direct_dynamics", "drives_of", "gravity",
    "gravity_of", "inertia_matrix", "inertia_of", "inverse_dynamics", "with_cut_drives",
]  # fmt: skip

Scalar = Any


def inverse_dynamics(
    robot: Robot, *, method: str = "newton-euler", base_parameters: bool = False, f_e: bool = False,
    friction: bool = True, base: str = "free", idle: str = "held", symbolic: bool = False,
    effort: str = "normal",
) -> Program:  # fmt: skip
    """Torques of the active joints, (22)."""
    if base == "given":
        raise ModelError(
            f"'inverse-dynamics' of '{robot.name}' with base='given' is not available for closed"
            " loops: robot.tree() gives its tree structure"
        )
    made = closing(
        with_friction(robot, friction), "inverse-dynamics", symbolic=symbolic, idle=idle,
        base_parameters=base_parameters,
    )  # fmt: skip
    if is_floating(made.robot) or made.springs:
        from . import free as closed_free

        _require(robot, "inverse-dynamics", method, "newton-euler")
        return closed_free.inverse_dynamics(made, f_e, effort)
    if method == "lagrange":
        from .lagrange import inverse_dynamics as by_lagrange

        if made.free:
            raise ModelError(
                f"'inverse-dynamics' of '{robot.name}' by Lagrange holds its idle joints: use"
                " method='newton-euler' with idle='free'"
            )
        return by_lagrange(robot, made, f_e)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint, qd, qdd = made.motion(scene, x)
            found = newton_euler(
                scene, x["q"], qd, qdd, wrenches=wrenches(made.robot, x), form=form
            )
            tau = with_cut_drives(made, scene, constraint, found.tau, qd, qdd)
            outputs: dict[str, Any] = {}
            if made.free:
                moving = made.connection.moving
                A = inertia_model(scene, x["q"], form).matrix(moving)
                tau, spin = spun(moving, made.analysis.idle, A, tau)
                outputs["qdd_i"] = ((len(spin),), spin)
            return Result({"tau": ((made.na,), constraint.projected(tau)), **outputs}, found)

        return run

    return made.program(
        "inverse-dynamics", made.inputs("q", "qd", "qdd", f_e=f_e), [], made.outputs("tau"),
        formulate=formulate, choices=RECURSION, effort=effort,
    )  # fmt: skip


def _require(robot: Robot, model: str, method: str, *allowed: str) -> None:
    if method not in allowed:
        raise ModelError(
            f"'{model}' of '{robot.name}' by method '{method}' is not available for elastic joints"
            f" or a floating base with closed loops; use method='{allowed[-1]}'"
        )


CutRow = tuple[LoopFrames, Mapping[int, Scalar], Scalar]  # of a cut joint: loop, row, Phi


def cut_rows(made: Closing, constraint: Constraint) -> list[CutRow]:
    """(loop, row, Phi) of the cut joints of one freedom: its rate is row qd, its acceleration
    row qdd + Phi."""
    found: list[CutRow] = []
    rows = iter(zip(constraint.cut, constraint.Phi or constraint.cut, strict=True))
    for loop in made.connection.loops:
        own = [next(rows) for _ in range(3 if loop.kind == "universal" else loop.freedom)]
        if loop.freedom == 1:
            found.append((loop, *own[0]))
    return found


def drives_of(made: Closing, scene: Bodies, constraint: Constraint) -> list[CutRow]:
    """The rows of the cut joints that have friction or a rotor."""

    def drives(loop: LoopFrames) -> bool:
        link = scene.links[loop.cut - 1]
        return any(map(_present, (link.IA, link.FV, link.FS)))

    return [row for row in cut_rows(made, constraint) if drives(row[0])]


def _present(x: Scalar) -> bool:
    return not (isinstance(x, int) and x == 0)


def with_cut_drives(
    made: Closing, scene: Bodies, constraint: Constraint, tau: Mapping[int, Scalar],
    qd: Sequence[Scalar], qdd: Sequence[Scalar],
) -> dict[int, Scalar]:  # fmt: skip
    """The tree's torques, and those that the cut joints' friction and rotors add to them."""
    found = dict(tau)
    for _, row, own in cut_drives(made, scene, constraint, qd, qdd):
        for j, x in row.items():
            found[j] = found[j] + x * own
    return found


def cut_drives(
    made: Closing, scene: Bodies, constraint: Constraint, qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> list[tuple[LoopFrames, Mapping[int, Scalar], Scalar]]:  # fmt: skip
    """(loop, row, torque) of the friction and the rotor of each cut joint that has them."""
    moving, found = made.connection.moving, []
    for loop, row, Phi in drives_of(made, scene, constraint):
        link = scene.links[loop.cut - 1]
        rate = along(row, dict(zip(moving, qd, strict=True)))
        speed_up = along(row, dict(zip(moving, qdd, strict=True))) + Phi
        own = link.IA * speed_up + link.FV * rate + link.FS * sign(rate)
        found.append((loop, row, own))
    return found


def along(row: Mapping[int, Scalar], values: Mapping[int, Scalar]) -> Scalar:
    total: Scalar = 0
    for j, x in row.items():
        total = total + x * values[j]
    return total


def inertia_of(
    made: Closing, scene: Bodies, x: Arrays, constraint: Constraint, form: Formulation
) -> list[list[Scalar]]:
    """A_c = G^T A_tr G, with the rotors of cut joints."""
    moving = made.connection.moving
    A = inertia_model(scene, x["q"], form).matrix(moving)
    G = constraint.G()
    rows = [G[j] for j in moving]
    size = range(made.na)
    found = [[_product(A, rows, r, c) if c <= r else 0 for c in size] for r in size]
    for loop, row, _ in drives_of(made, scene, constraint):
        IA = scene.links[loop.cut - 1].IA
        rates = [along(row, {j: G[j][c] for j in row}) for c in size]
        for r in size:
            for c in range(r + 1):
                found[r][c] = found[r][c] + IA * rates[r] * rates[c]
    return [[found[max(r, c)][min(r, c)] for c in size] for r in size]


def _product(A: list[list[Scalar]], G: list[list[Scalar]], r: int, c: int) -> Scalar:
    total: Scalar = 0
    for i, row in enumerate(A):
        inner: Scalar = 0
        for k, entry in enumerate(row):
            inner = inner + entry * G[k][c]
        total = total + G[i][r] * inner
    return total


def bias_of(
    made: Closing, scene: Bodies, x: Arrays, form: Formulation
) -> tuple[Constraint, list[Scalar], NewtonEuler]:
    """H_c: the torques of qdd_a = 0."""
    constraint, qd, qdd = made.motion(scene, {k: v for k, v in x.items() if k != "qdd"})
    found = newton_euler(scene, x["q"], qd, qdd, wrenches=wrenches(made.robot, x), form=form)
    tau = with_cut_drives(made, scene, constraint, found.tau, qd, qdd)
    return constraint, constraint.projected(tau), found


def inertia_matrix(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """A_c of the active joints, [K10] (58); with a floating base (6+na, 6+na), base first."""
    made = closing(robot, "inertia-matrix", symbolic=symbolic, base_parameters=base_parameters)
    if is_floating(made.robot):
        from . import free as closed_free

        return closed_free.inertia_matrix(made, effort)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint = made.constraint(scene, x)[0]
            A = inertia_of(made, scene, x, constraint, form)
            return Result({"A": ((made.na, made.na), flat(A))}, constraint)

        return run

    return made.program(
        "inertia-matrix", made.inputs("q"), [], ["A"],
        formulate=formulate, choices=COMPOSITE, effort=effort,
    )  # fmt: skip


def bias(
    robot: Robot, *, base_parameters: bool = False, f_e: bool = False, friction: bool = True,
    symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """H_c, [K10] (58); with a floating base its six rows first."""
    robot = with_friction(robot, friction)
    made = closing(robot, "bias", symbolic=symbolic, base_parameters=base_parameters)
    if is_floating(made.robot):
        from . import free as closed_free

        return closed_free.bias(made, f_e, effort)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            _, H, found = bias_of(made, scene, x, form)
            return Result({"H": ((made.na,), H)}, found)

        return run

    return made.program(
        "bias", made.inputs("q", "qd", f_e=f_e), [], ["H"],
        formulate=formulate, choices=RECURSION, effort=effort,
    )  # fmt: skip


def gravity(
    robot: Robot, *, base_parameters: bool = False, symbolic: bool = False, effort: str = "normal"
) -> Program:
    """Q_c: the torques of the active joints that hold the robot at rest."""
    made = closing(robot, "gravity", symbolic=symbolic, base_parameters=base_parameters)
    if is_floating(made.robot):
        from . import free as closed_free

        return closed_free.gravity(made, effort)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            Q, record = gravity_of(made, scene, x, form)
            return Result({"Q": ((made.na,), Q)}, record)

        return run

    return made.program(
        "gravity", made.inputs("q"), [], ["Q"],
        formulate=formulate, choices=COMPOSITE, effort=effort,
    )  # fmt: skip


def gravity_of(
    made: Closing, scene: Bodies, x: Arrays, form: Formulation
) -> tuple[list[Scalar], NewtonEuler]:
    """Q_c = G^T Q of the tree."""
    still = scene.unloaded().moving_base([0] * 6, scene.gravity)
    zeros = [0] * made.n
    found = newton_euler(still, x["q"], zeros, zeros, form=form)
    return made.constraint(scene, x)[0].projected(found.tau), found


def direct_dynamics(
    robot: Robot, *, method: str = "auto", base_parameters: bool = False, f_e: bool = False,
    friction: bool = True, idle: str = "held", symbolic: bool = False, effort: str = "normal",
) -> Program:  # fmt: skip
    """Accelerations of the active joints, by A_c and H_c or by constraint forces."""
    if method == "recursive":
        raise ModelError(
            f"'direct-dynamics' of '{robot.name}': closed loops have no recursive method; use"
            " 'inertia-matrix' (A_c and H_c) or 'constraint-forces'"
        )
    made = closing(
        with_friction(robot, friction), "direct-dynamics", symbolic=symbolic, idle=idle,
        base_parameters=base_parameters,
    )  # fmt: skip
    if is_floating(made.robot) or made.springs:
        from . import free as closed_free

        _require(robot, "direct-dynamics", method, "auto", "inertia-matrix")
        return closed_free.direct_dynamics(made, f_e, effort)
    solve: Callable[..., Any] = _by_constraint_forces if method == "constraint-forces" else _by_A
    if solve is _by_constraint_forces and made.analysis.least_squares:
        raise ModelError(
            f"'direct-dynamics' of '{robot.name}': its loop equations repeat each other, so the"
            " constraint forces are not unique; use method='inertia-matrix'"
        )

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            qdd, record = solve(made, scene, x, form)
            outputs: dict[str, Any] = {"qdd": ((made.na,), qdd[: made.na])}
            if made.free:
                outputs["qdd_i"] = ((len(made.analysis.idle),), qdd[made.na :])
            return Result(outputs, record)

        return run

    return made.program(
        "direct-dynamics", made.inputs("q", "qd", "tau", f_e=f_e), [], made.outputs("qdd"),
        formulate=formulate, choices=RECURSION, effort=effort,
    )  # fmt: skip


def _by_A(made: Closing, scene: Bodies, x: Arrays, form: Formulation) -> tuple[list[Scalar], Any]:
    """qdd of the active joints, then of idle ones that are free."""
    constraint, H, record = bias_of(made, scene, x, form)
    A = inertia_of(made, scene, x, constraint, form)
    push = [t - h for t, h in zip(x["tau"], H, strict=True)]
    if made.free:
        idle, moving, G = made.analysis.idle, made.connection.moving, constraint.G()
        tree = inertia_model(scene, x["q"], form).matrix(moving)
        A = widened(A, tree, [G[j] for j in moving], moving, idle)
        push += [-record.tau[j] for j in idle]
    return solve_symmetric(A, push), record


def _by_constraint_forces(
    made: Closing, scene: Bodies, x: Arrays, form: Formulation
) -> tuple[list[Scalar], Any]:
    """A qdd + H = tau + W^T lambda with W qdd + Psi = 0: the tree's equations and the loops'."""
    constraint, qds = made.constraint(scene, x, x["qd"])
    qd, held = made.row(qds), () if made.free else made.analysis.idle
    moving = tuple(j for j in made.connection.moving if j not in held)
    record = newton_euler(
        scene, x["q"], qd, [0] * made.n, wrenches=wrenches(made.robot, x), form=form
    )
    H = with_cut_drives(made, scene, constraint, record.tau, qd, [0] * made.n)
    A = inertia_model(scene, x["q"], form).A
    if any(_present(scene.links[loop.cut - 1].IA) for loop in made.connection.loops):
        raise ModelError(
            "'constraint-forces' is not available where cut joints have rotors, which tie links of"
            " other branches; use method='inertia-matrix'"
        )
    given = dict(zip(made.active, x["tau"], strict=True))

    def divided(rhs: Mapping[int, Scalar]) -> dict[int, Scalar]:
        return solve_tree(A, rhs, moving, moving_parent(scene, held))

    free = divided({j: given.get(j, 0) - H[j] for j in moving})
    columns = [divided({j: row.get(j, 0) for j in moving}) for row in constraint.rows]
    S = [[along(row, column) for column in columns] for row in constraint.rows]
    miss = [-(along(w, free) + psi) for w, psi in zip(constraint.rows, constraint.Psi, strict=True)]
    force = solve_symmetric(S, miss)
    qdd = []
    for j in (*made.active, *(made.analysis.idle if made.free else ())):
        value = free[j]
        for column, push in zip(columns, force, strict=True):
            value = value + column[j] * push
        qdd.append(value)
    return qdd, record
