"""Closed loops with freedoms that have no motor: elastic joints, a floating base, [K10] 4, 6, 7.

Loops are closed within the robot, so their forces are seen neither by the base nor, projected by G,
by the independent joints i: those with motors, and elastic ones that the loops leave free,

    | A11      A12 G     | | V0d  |   | H1     |   | 0     |
    | G^T A21  G^T A22 G | | qdd_i | + | G^T H2 | = | tau_i |,   tau_e = -k (q - q0) - damping qd

with H of qdd_i = 0. An elastic joint that follows the others adds its spring to H2. The inverse
model solves for V0d and qdd_e first. Without elastic joints it is the tree's recursion (89)-(100),
projected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...algebra.solve import solve_symmetric
from ...models.bodies import Bodies
from ...models.floating import base_columns, floating_inverse_dynamics
from ...models.formulation import PLAIN, Formulation
from ...models.inertia_matrix import inertia_matrix as inertia_model
from ...models.loops import Constraint
from ...models.newton_euler import inverse_dynamics as newton_euler
from ...program import Program
from ..common import COMPOSITE, RECURSION, Arrays, flat, is_floating, wrenches
from ..derivation import Form, Result
from ..dynamic import base_matrix
from ..loops import Closing
from .dynamic import bias_of, gravity_of, inertia_of, with_cut_drives

__all__ = ["bias", "direct_dynamics", "gravity", "inertia_matrix", "inverse_dynamics"]

Scalar = Any
Matrix = list[list[Scalar]]


def _base(made: Closing) -> int:
    """Accelerations of the base that are not given."""
    return 6 if is_floating(made.robot) else 0


def _inputs(made: Closing, last: str, f_e: bool) -> dict[str, tuple[int, ...]]:
    found = made.inputs("q", "qd", last, f_e=f_e)
    found[last] = (len(made.rigid),)
    return {**found, "V0": (6,), "g0": (3,)} if _base(made) else found


def _springs(made: Closing, scene: Bodies, x: Arrays, qd: Sequence[Scalar]) -> dict[int, Scalar]:
    """What the elastic joints push with, by link."""
    qs, qds = scene.spread(x["q"]), scene.spread(qd)
    return {j: scene.links[j - 1].elastic_torque(qs[j], qds[j]) for j in scene.elastic}


def _equations(
    made: Closing, scene: Bodies, x: Arrays, form: Formulation
) -> tuple[Matrix, list[Scalar], dict[int, Scalar], Any]:
    """(A, H, springs, record) of the base's accelerations and the independent joints'."""
    constraint, qd, qdd = made.motion(scene, {k: v for k, v in x.items() if k != "qdd"})
    record = newton_euler(scene, x["q"], qd, qdd, wrenches=wrenches(made.robot, x), form=form)
    tau = with_cut_drives(made, scene, constraint, record.tau, qd, qdd)
    springs = _springs(made, scene, x, qd)
    for j, push in springs.items():
        if j not in made.active:
            tau[j] = tau[j] - push
    H = constraint.projected(tau)
    A = _matrix(made, scene, x, constraint, form)
    base = [*record.f[0], *record.n[0]] if _base(made) else []
    return A, [*base, *H], springs, record


def _matrix(
    made: Closing, scene: Bodies, x: Arrays, constraint: Constraint, form: Formulation
) -> Matrix:
    """A of the base's accelerations, where it floats, and the independent joints'."""
    A = inertia_of(made, scene, x, constraint, form)
    if not _base(made):
        return A
    composite = inertia_model(scene, x["q"], form)
    columns, G = base_columns(scene, composite, form.slide), constraint.G()
    coupled: Matrix = []
    for k in range(made.na):
        column: list[Scalar] = [0] * 6
        for j, (f, n) in columns.items():
            column = [c + part * G[j][k] for c, part in zip(column, (*f, *n), strict=True)]
        coupled.append(column)
    top = [[*row, *(c[r] for c in coupled)] for r, row in enumerate(base_matrix(composite))]
    return [*top, *([*column, *row] for column, row in zip(coupled, A, strict=True))]


def inertia_matrix(made: Closing, effort: str) -> Program:
    """A of a floating base and the independent joints, base first."""
    size = 6 + made.na

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint = made.constraint(scene, x)[0]
            rows = _matrix(made, scene, x, constraint, form)
            return Result({"A": ((size, size), flat(rows))}, constraint)

        return run

    return made.program(
        "inertia-matrix", made.inputs("q"), [], ["A"],
        formulate=formulate, choices=COMPOSITE, effort=effort,
    )  # fmt: skip


def bias(made: Closing, f_e: bool, effort: str) -> Program:
    """H of a floating base and the independent joints, base first."""

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            _, H, record = bias_of(made, scene, x, form)
            rows = [*record.f[0], *record.n[0], *H]
            return Result({"H": ((len(rows),), rows)}, record)

        return run

    return made.program(
        "bias", made.inputs("q", "qd", f_e=f_e, base=["V0", "g0"]), [], ["H"],
        formulate=formulate, choices=RECURSION, effort=effort,
    )  # fmt: skip


def gravity(made: Closing, effort: str) -> Program:
    """Q of a floating base and the independent joints, base first: H of a robot at rest."""

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            Q, record = gravity_of(made, scene.moving_base([0] * 6, x["g0"]), x, form)
            rows = [*record.f[0], *record.n[0], *Q]
            return Result({"Q": ((len(rows),), rows)}, record)

        return run

    return made.program(
        "gravity", made.inputs("q", base=["g0"]), [], ["Q"],
        formulate=formulate, choices=COMPOSITE, effort=effort,
    )  # fmt: skip


def direct_dynamics(made: Closing, f_e: bool, effort: str) -> Program:
    """Accelerations of the independent joints and of the base."""
    first = _base(made)

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            A, H, push, record = _equations(made, scene, x, form)
            push |= zip(made.rigid, x["tau"], strict=True)
            rhs = [-h for h in H[:first]]
            rhs += [push[j] - h for j, h in zip(made.active, H[first:], strict=True)]
            found = _solved(A, rhs)
            outputs: dict[str, Any] = {"qdd": ((made.na,), found[first:])}
            if first:
                outputs["V0d"] = ((6,), found[:6])
            return Result(outputs, record)

        return run

    meaning = {"qdd": f"accelerations of {made.connection.named(made.active)}, rad/s2 or m/s2"}
    return made.program(
        "direct-dynamics", _inputs(made, "tau", f_e), [], ["qdd", *(["V0d"] if first else [])],
        meaning=meaning, formulate=formulate, choices=RECURSION, effort=effort,
    )  # fmt: skip


def _solved(A: Matrix, rhs: Sequence[Scalar]) -> list[Scalar]:
    """A x = rhs, the last unknowns eliminated first: the base's coupling stays sparse longest."""
    back = [list(reversed(row)) for row in reversed(A)]
    return list(reversed(solve_symmetric(back, list(reversed(rhs)))))


def inverse_dynamics(made: Closing, f_e: bool, effort: str) -> Program:
    """Torques of the motors, accelerations of elastic joints and of the base."""
    names = ["tau", *(["qdd_e"] if made.elastic else []), *(["V0d"] if _base(made) else [])]
    way = _by_matrix if made.springs else _by_recursion
    meaning = {"qdd": f"accelerations of {made.connection.named(made.rigid)}, rad/s2 or m/s2"}
    if made.elastic:
        meaning["qdd_e"] = f"accelerations of {made.connection.named(made.elastic)}"

    def formulate(form: Formulation) -> Form:
        return way(made, form)

    return made.program(
        "inverse-dynamics", _inputs(made, "qdd", f_e), [], names, meaning=meaning,
        formulate=formulate, choices=RECURSION if made.springs else COMPOSITE, effort=effort,
    )  # fmt: skip


def _by_recursion(made: Closing, form: Formulation = PLAIN) -> Form:
    """A floating base alone: the tree's torques of the closed motion, projected."""

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint, qd, qdd = made.motion(scene, x)
        found = floating_inverse_dynamics(
            scene, x["q"], qd, qdd, wrenches=wrenches(made.robot, x), form=form
        )
        tau = with_cut_drives(made, scene, constraint, found.tau, qd, qdd)
        V0d = [*found.V0d[0], *found.V0d[1]] if found.V0d else []
        return Result({"tau": ((made.na,), constraint.projected(tau)), "V0d": ((6,), V0d)}, found)

    return run


def _by_matrix(made: Closing, form: Formulation = PLAIN) -> Form:
    """The rows without motors first, for their accelerations; then the others."""
    first = _base(made)
    free = [*range(first), *(first + made.active.index(j) for j in made.elastic)]
    driven = [first + made.active.index(j) for j in made.rigid]

    def run(scene: Bodies, x: Arrays) -> Result:
        A, H, springs, record = _equations(made, scene, x, form)
        known = dict(zip(driven, x["qdd"], strict=True))
        push = [*([0] * first), *(springs[j] for j in made.elastic)]
        rhs = [p - H[r] - _dot(A[r], known) for p, r in zip(push, free, strict=True)]
        found = _solved([[A[r][c] for c in free] for r in free], rhs) if free else []
        known |= zip(free, found, strict=True)
        tau = [H[r] + _dot(A[r], known) for r in driven]
        outputs: dict[str, Any] = {"tau": ((len(tau),), tau)}
        if made.elastic:
            outputs["qdd_e"] = ((len(made.elastic),), found[first:])
        if first:
            outputs["V0d"] = ((6,), found[:6])
        return Result(outputs, record)

    return run


def _dot(row: Sequence[Scalar], values: dict[int, Scalar]) -> Scalar:
    total: Scalar = 0
    for c, x in values.items():
        total = total + row[c] * x
    return total
