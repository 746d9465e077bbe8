"""Energies and generalized momentum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..algebra.vector import weighted
from ..describe.robot import Robot
from ..formulate.economy import inverse_dynamics as newton_euler
from ..formulate.reform import regrouped
from ..models.bodies import Bodies
from ..models.energy import Energies
from ..models.energy import energies as energies_model
from ..models.energy import momentum as momentum_model
from ..models.loops import Constraint
from ..program import Program
from .common import RECURSION, Arrays
from .cuts import cuts
from .derivation import Call, Form, Result, Route
from .dynamic import inertia_matrix
from .equations import base_rows
from .flexible.equations import momentum_form, tree_rates
from .kept import part
from .mechanism import Mechanism

Scalar = Any
_LARGEST_MATRIX = 12  # links: beyond it a recursion that is linear in their number costs less


def energies(robot: Robot, *, symbolic: bool = False) -> Program:
    """Kinetic energy, rotors of cut joints included; potential energy of gravity and of the springs
    of elastic joints. U of a floating base is about the origin of frame 0."""
    mechanism = Mechanism.of(robot, "energies", symbolic=symbolic)
    inputs = mechanism.inputs("q", "qd", base=["V0", "g0"])
    forms = energy_forms(mechanism)
    return mechanism.program("energies", inputs, forms, ["E", "U"], finals=not robot.ne)


def energy_forms(mechanism: Mechanism) -> list[Form]:
    """Both energies by the links' own parameters, and E by the regrouped ones."""
    if mechanism.robot.ne:
        return [_flexible_energies(mechanism)]

    def form(own: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint = mechanism.constraint(scene, x)[0]
            qd = constraint.velocities(x["qd"])
            record = _energies(scene, x["q"], mechanism.row(qd), own, bool(mechanism.floats))
            E = record.E
            for cut in cuts(mechanism, scene, constraint):
                if cut.acts:
                    rate = weighted(cut.row, qd)
                    E = E + cut.body.IA * rate * rate / 2
            return Result({"E": ((), [E]), "U": ((), [record.U])}, record)

        return run

    return [form(True)] if mechanism.robot.base.kind == "mobile" else [form(True), form(False)]


def _energies(
    scene: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], own: bool, base: bool
) -> Energies:
    """The energies by the links' own parameters; or E by the regrouped ones, in which most masses
    and first moments vanish. They give the same E, but U without what the ground carries; and E
    without it, where the ground is a base with imposed motion."""
    record = energies_model(scene, q, qd, base=base)
    if not own:
        U, Uj = record.U, record.Uj
        record = energies_model(regrouped(scene), q, qd, base=base)
        record.U, record.Uj = U, Uj
    return record


def _flexible_energies(mechanism: Mechanism) -> Form:
    """Those of the tree, and of the rotors of cut joints."""

    def run(scene: Bodies, x: Arrays) -> Result:
        qd, _, loops = tree_rates(mechanism, scene, x)
        record = energies_model(scene, x["q"], qd, base=bool(mechanism.floats))
        return Result(
            {"E": ((), [record.E + (loops.rotors() if loops else 0)]), "U": ((), [record.U])},
            record,
        )

    return run


def generalized_momentum(robot: Robot, *, symbolic: bool = False) -> Program:
    """h = G^T A_tr qd_tr; of a floating base A (V0, qd), base first.

    By a recursion that does not form A: it is that of the torques at rest, without gravity, of
    accelerations as large as the velocities; or by A itself, where that costs less."""
    mechanism = Mechanism.of(robot, "generalized-momentum", symbolic=symbolic)
    if robot.constrained:
        words = "A (V0, qd_a): of the base first" if mechanism.floats else "A_c qd_a"
        words += ", N m s or N s"
    elif mechanism.floats:
        words = "A (V0, qd): of the whole robot about O_0 in frame 0 (linear, angular), then joints"
    else:
        words = "A qd, N m s or N s"

    def page(own: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint = mechanism.constraint(scene, x)[0]
            qd = constraint.velocities(x["qd"])
            record = momentum_model(scene if own else regrouped(scene), x["q"], mechanism.row(qd))
            base = [*record.p[0], *record.l[0]] if mechanism.floats else []
            h = {j: record.h[j] for j in mechanism.coordinates.moving}
            return Result(momenta(scene, constraint, qd, base, h), record)

        return run

    def torques(scene: Bodies, x: Arrays) -> Result:
        constraint = mechanism.constraint(scene, x)[0]
        qd = constraint.velocities(x["qd"])
        still = scene.unloaded().moving_base([0] * 6, [0, 0, 0], [*scene.V0, *scene.w0])
        record = newton_euler(still, x["q"], [0] * mechanism.n, mechanism.row(qd))
        return Result(momenta(scene, constraint, qd, base_rows(mechanism, record), record.tau))

    def momenta(
        scene: Bodies, constraint: Constraint, qd: Mapping[int, Scalar], base: list[Scalar],
        h: Mapping[int, Scalar],
    ) -> dict[str, Any]:  # fmt: skip
        """Of the base, then of the independent joints, with the rotors of cut joints."""
        total = dict(h)
        for cut in cuts(mechanism, scene, constraint):
            if cut.acts:
                rotor = cut.body.IA * weighted(cut.row, qd)
                for j, entry in cut.row.items():
                    total[j] = total[j] + entry * rotor
        rows = [*base, *constraint.projected(total)]
        return {"h": ((len(rows),), rows)}

    search: dict[str, Any] = {}
    if robot.ne:
        forms = [momentum_form(mechanism)]
    else:
        forms = [page(True)] if not robot.constrained else [page(True), page(False)]
        if not robot.constrained:
            search = {"search": (torques, RECURSION)}
        small = robot.constrained or len(robot.links) <= _LARGEST_MATRIX
        if robot.base.kind != "mobile" and small:
            options = {"symbolic": symbolic}
            matrix = part("inertia-matrix", inertia_matrix, robot, options)
            search["routes"] = [_through_matrix(matrix)]
    return mechanism.program(
        "generalized-momentum", mechanism.inputs("q", "qd", base=["V0"]), forms, ["h"],
        meaning={"h": f"generalized momentum {words}"}, finals=True, **search,
    )  # fmt: skip


def _through_matrix(matrix: Program) -> Route:
    """h = A qd, or A (V0, qd)."""

    def formula(call: Call, x: Arrays) -> dict[str, Any]:
        rates = [*x.get("V0", ()), *x["qd"]]
        A, n = call(matrix, q=x["q"])["A"], len(rates)
        h: list[Scalar] = [0] * n
        for i in range(n):
            for k in range(n):
                h[i] = h[i] + A[i * n + k] * rates[k]
        return {"h": ((n,), h)}

    return Route([matrix], formula)
