"""The equations of motion of a mechanism: A u' + H = Q_forces over its independent velocities.

Loops are closed within the robot, so their forces are seen neither by the base nor, projected by
G, by the independent joints i: those with motors, and elastic ones that the loops leave free,

    | A11      A12 G     | | V0d   |   | H1     |   | 0     |          [KC97] (22), [K10] (55), (58)
    | G^T A21  G^T A22 G | | qdd_i | + | G^T H2 | = | tau_i |,   tau_e = -k (q - q0) - damping qd

with H of qdd_i = 0, and the rotors and friction of cut joints. An elastic joint that follows the
others adds its spring to H2. Of a tree G = 1; a base that does not float has no rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ..algebra.scalar import vanishes
from ..algebra.solve import solve_symmetric
from ..algebra.vector import weighted
from ..formulate.economy import inverse_dynamics as newton_euler
from ..formulate.posture import formulated
from ..mechanism.coordinates import Key
from ..models.bodies import Bodies
from ..models.composite import Composite
from ..models.composite import inertia_matrix as inertia_model
from ..models.loops import Constraint
from ..models.newton_euler import NewtonEuler
from .common import Arrays, wrenches
from .cuts import cuts, with_cut_torques
from .mechanism import Mechanism

Scalar = Any
Matrix = list[list[Scalar]]


def springs(scene: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar]) -> dict[int, Scalar]:
    """What the elastic joints push with, by link."""
    qs, qds = scene.spread(q), scene.spread(qd)
    return {j: scene.links[j - 1].elastic_torque(qs[j], qds[j]) for j in scene.elastic}


def base_rows(mechanism: Mechanism, record: NewtonEuler) -> list[Scalar]:
    """The wrench on a floating base, which has rows of its own."""
    return [*record.f[0], *record.n[0]] if mechanism.floats else []


def bias_rows(
    mechanism: Mechanism, scene: Bodies, x: Arrays, pushed: bool = True
) -> tuple[Constraint, list[Scalar], NewtonEuler]:
    """H of the independent joints: the torques of qdd_a = 0, less the springs of passive joints
    where they push."""
    constraint, qd, qdd = mechanism.motion(scene, {k: v for k, v in x.items() if k != "qdd"})
    record = newton_euler(scene.loaded(wrenches(mechanism.robot, x)), x["q"], qd, qdd)
    tau = with_cut_torques(mechanism, scene, constraint, record.tau, qd, qdd)
    if pushed:
        tau = _pushed(mechanism, scene, tau, x["q"], qd)
    return constraint, constraint.projected(tau), record


def _pushed(
    mechanism: Mechanism, scene: Bodies, tau: dict[int, Scalar], q: Any, qd: Any
) -> dict[int, Scalar]:
    """The torques of the tree less what the springs of passive joints push with."""
    pushes = springs(scene, q, qd)
    return {j: x - pushes[j] if j in pushes and j not in mechanism.active else x
            for j, x in tau.items()}  # fmt: skip


def gravity_rows(
    mechanism: Mechanism, scene: Bodies, x: Arrays
) -> tuple[list[Scalar], NewtonEuler]:
    """Q of the independent joints: G^T of the tree's torques at rest, less the springs of passive
    joints."""
    still = scene.unloaded(springs=True).moving_base([0] * 6, x.get("g0", scene.gravity))
    zeros = [0] * mechanism.n
    record = newton_euler(still, x["q"], zeros, zeros)
    tau = _pushed(mechanism, scene, record.tau, x["q"], zeros)
    return mechanism.constraint(scene, x)[0].projected(tau), record


def joint_matrix(
    mechanism: Mechanism, scene: Bodies, constraint: Constraint, composite: Composite
) -> Matrix:
    """G^T A_tr G of the independent joints, with the rotors of cut joints and of motors that
    several joints turn."""
    moving = mechanism.coordinates.moving
    A: Matrix = composite.matrix(moving)
    if not constraint.rows and not scene.drives:
        return A
    G = constraint.G()
    rows = [G[j] for j in moving]
    size = range(mechanism.na)
    lower = A
    if constraint.rows:
        lower = _projected(A, rows, size)
    for cut in cuts(mechanism, scene, constraint):
        if cut.acts:
            rates = [weighted(cut.row, {j: G[j][c] for j in cut.row}) for c in size]
            for r in size:
                for c in range(r + 1):
                    lower[r][c] = lower[r][c] + cut.body.IA * rates[r] * rates[c]
    return [[lower[max(r, c)][min(r, c)] for c in size] for r in size]


def _projected(A: Matrix, G: Matrix, columns: Sequence[int]) -> Matrix:
    """The lower half of G^T A G; most entries are zero where many joints are led."""
    entries = [[(k, row[c]) for k, row in enumerate(G) if not vanishes(row[c])] for c in columns]

    @cache
    def product(i: int, c: int) -> Scalar:
        """An entry of A G, written where it is first read: the passes go by that order."""
        total: Scalar = 0
        for k, factor in entries[c]:
            total = total + A[i][k] * factor
        return total

    def entry(r: int, c: int) -> Scalar:
        total: Scalar = 0
        for i, factor in entries[r]:
            total = total + factor * product(i, c)
        return total

    return [[entry(r, c) if c <= r else 0 for c in columns] for r in columns]


def mass_matrix(
    mechanism: Mechanism, scene: Bodies, x: Arrays, constraint: Constraint
) -> tuple[Matrix, Composite]:
    """(A, composite links): of a floating base first, [K10] (84), then of the joints."""
    composite = inertia_model(formulated(scene), x["q"], base=bool(mechanism.floats))
    A = joint_matrix(mechanism, scene, constraint, composite)
    if not mechanism.floats:
        return A, composite
    moving = mechanism.coordinates.moving
    six: list[Key] = [("base", 0, k) for k in range(6)]
    coupled: Matrix = [[composite.A[key, ("joint", j, 0)] for key in six] for j in moving]
    if constraint.rows:
        G = constraint.G()
        coupled = [_combined(coupled, [G[j][k] for j in moving]) for k in range(mechanism.na)]
    top = [[*row, *(c[r] for c in coupled)] for r, row in enumerate(composite.rows(six))]
    return [*top, *([*column, *row] for column, row in zip(coupled, A, strict=True))], composite


@dataclass
class Tied:
    """What a page has of the tree of a robot with loops, couplings or wheels: A over all joints,
    and by link the rates W of the joints that follow, per rate of the independent ones."""

    Atr: Matrix = field(default_factory=list)
    W: dict[int, list[Scalar]] = field(default_factory=dict)


def mass_records(
    mechanism: Mechanism, constraint: Constraint, composite: Composite
) -> tuple[Any, ...]:
    """What names the quantities of A."""
    if not constraint.rows:
        return (composite,)
    G = constraint.G()
    tied = Tied(
        composite.matrix(mechanism.coordinates.moving), {j: G[j] for j in constraint.passive}
    )
    return composite, constraint, tied


def _combined(columns: Matrix, weights: Sequence[Scalar]) -> list[Scalar]:
    total: list[Scalar] = [0] * 6
    for column, weight in zip(columns, weights, strict=True):
        total = [t + part * weight for t, part in zip(total, column, strict=True)]
    return total


def equations(
    mechanism: Mechanism, scene: Bodies, x: Arrays
) -> tuple[Matrix, list[Scalar], dict[int, Scalar], tuple[Any, ...]]:
    """(A, H, springs, records) over the base's velocities and the independent joints'."""
    constraint, H, record = bias_rows(mechanism, scene, x)
    A, composite = mass_matrix(mechanism, scene, x, constraint)
    qd = mechanism.row(constraint.velocities(x["qd"], x.get("qd_i")))
    H = [*base_rows(mechanism, record), *H]
    return A, H, springs(scene, x["q"], qd), (record, composite)


def solve_backwards(A: Matrix, rhs: Sequence[Scalar]) -> list[Scalar]:
    """A x = rhs, the last unknowns eliminated first: the base's coupling stays sparse longest."""
    back = [list(reversed(row)) for row in reversed(A)]
    return list(reversed(solve_symmetric(back, list(reversed(rhs)))))
