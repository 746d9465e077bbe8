"""Energies and momentum of closed-loop robots."""

from __future__ import annotations

from ...describe.robot import Robot
from ...models.bodies import Bodies
from ...models.energy import momentum as momentum_model
from ...models.reform import regrouped
from ...program import Program
from ..common import Arrays, is_floating
from ..derivation import Form, Result
from ..energy import energies_by, through_matrix
from ..loops import closing
from .dynamic import along, drives_of, inertia_matrix

__all__ = ["energies", "generalized_momentum"]


def energies(robot: Robot, *, symbolic: bool = False) -> Program:
    """Kinetic energy, cut rotors included; potential energy of gravity and of the springs."""
    made = closing(robot, "energies", symbolic=symbolic)

    def form(own: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint = made.constraint(scene, x)[0]
            qd = constraint.velocities(x["qd"])
            found = energies_by(scene, x["q"], made.row(qd), own, base=is_floating(robot))
            E = found.E
            for loop, row, _ in drives_of(made, scene, constraint):
                rate = along(row, qd)
                E = E + scene.links[loop.cut - 1].IA * rate * rate / 2
            return Result({"E": ((), [E]), "U": ((), [found.U])}, found)

        return run

    inputs = made.inputs("q", "qd", base=["V0", "g0"])
    forms = [form(True)] if robot.base.kind == "mobile" else [form(True), form(False)]
    return made.program("energies", inputs, forms, ["E", "U"], finals=True)


def generalized_momentum(robot: Robot, *, symbolic: bool = False) -> Program:
    """h = A_c qd_a = G^T A_tr qd_tr; of a floating base A (V0, qd_a), base first."""
    words = "A (V0, qd_a): of the base first" if is_floating(robot) else "A_c qd_a"
    made = closing(robot, "generalized-momentum", symbolic=symbolic)

    def form(own: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            constraint = made.constraint(scene, x)[0]
            qd = constraint.velocities(x["qd"])
            found = momentum_model(scene if own else regrouped(scene), x["q"], made.row(qd))
            h = {j: found.h[j] for j in made.connection.moving}
            for loop, row, _ in drives_of(made, scene, constraint):
                rotor = scene.links[loop.cut - 1].IA * along(row, qd)
                for j, entry in row.items():
                    h[j] = h[j] + entry * rotor
            base = [*found.p[0], *found.l[0]] if is_floating(robot) else []
            momenta = [*base, *constraint.projected(h)]
            return Result({"h": ((len(momenta),), momenta)}, found)

        return run

    routes = []
    if robot.base.kind != "mobile":
        routes = [through_matrix(inertia_matrix(robot, symbolic=symbolic))]
    return made.program(
        "generalized-momentum", made.inputs("q", "qd", base=["V0"]), [form(True), form(False)],
        ["h"], routes=routes, finals=True,
        meaning={"h": f"generalized momentum {words}, N m s or N s"},
    )  # fmt: skip
