"""Energies and generalized momentum."""

from __future__ import annotations

from ..describe.robot import Robot
from ..models.bodies import Bodies
from ..models.energy import energies as energies_model
from ..models.energy import momentum as momentum_model
from ..models.flexible.tree import energies as flexible_energies
from ..models.flexible.tree import motion
from ..program import Program
from .common import Arrays
from .cuts import along, cuts
from .derivation import Result
from .flexible.equations import momentum_form
from .mechanism import Mechanism

__all__ = ["energies", "generalized_momentum"]


def energies(robot: Robot, *, symbolic: bool = False) -> Program:
    """Kinetic energy, rotors of cut joints included; potential energy of gravity and of the springs
    of elastic joints. U of a floating base is about the origin of frame 0."""
    if robot.ne:
        return _flexible_energies(robot, symbolic)
    mechanism = Mechanism.of(robot, "energies", symbolic=symbolic)

    def run(scene: Bodies, x: Arrays) -> Result:
        constraint = mechanism.constraint(scene, x)[0]
        qd = constraint.velocities(x["qd"])
        record = energies_model(scene, x["q"], mechanism.row(qd), base=bool(mechanism.floats))
        E = record.E
        for cut in cuts(mechanism, scene, constraint):
            if cut.acts:
                rate = along(cut.row, qd)
                E = E + cut.body.IA * rate * rate / 2
        return Result({"E": ((), [E]), "U": ((), [record.U])}, record)

    inputs = mechanism.inputs("q", "qd", base=["V0", "g0"])
    return mechanism.program("energies", inputs, [run], ["E", "U"])


def _flexible_energies(robot: Robot, symbolic: bool) -> Program:
    """Of the tree: velocities of all its coordinates are inputs, loops or not."""
    mechanism = Mechanism.of(robot.tree(), "energies", symbolic=symbolic)

    def run(scene: Bodies, x: Arrays) -> Result:
        E, U = flexible_energies(scene, motion(scene, x["q"], x["qd"]))
        return Result({"E": ((), [E]), "U": ((), [U])})

    return mechanism.program("energies", mechanism.inputs("q", "qd"), [run], ["E", "U"])


def generalized_momentum(robot: Robot, *, symbolic: bool = False) -> Program:
    """h = G^T A_tr qd_tr, by a recursion that does not form A; of a floating base A (V0, qd), base
    first."""
    mechanism = Mechanism.of(robot, "generalized-momentum", symbolic=symbolic)
    if robot.constrained:
        words = "A (V0, qd_a): of the base first" if mechanism.floats else "A_c qd_a"
        words += ", N m s or N s"
    elif mechanism.floats:
        words = "A (V0, qd): of the whole robot about O_0 in frame 0 (linear, angular), then joints"
    else:
        words = "A qd, N m s or N s"

    def rigid(scene: Bodies, x: Arrays) -> Result:
        constraint = mechanism.constraint(scene, x)[0]
        qd = constraint.velocities(x["qd"])
        record = momentum_model(scene, x["q"], mechanism.row(qd))
        h = {j: record.h[j] for j in mechanism.coordinates.moving}
        for cut in cuts(mechanism, scene, constraint):
            if cut.acts:
                own = cut.body.IA * along(cut.row, qd)
                for j, entry in cut.row.items():
                    h[j] = h[j] + entry * own
        base = [*record.p[0], *record.l[0]] if mechanism.floats else []
        momenta = [*base, *constraint.projected(h)]
        return Result({"h": ((len(momenta),), momenta)}, record)

    form = momentum_form(mechanism) if robot.ne else rigid
    return mechanism.program(
        "generalized-momentum", mechanism.inputs("q", "qd", base=["V0"]), [form], ["h"],
        meaning={"h": f"generalized momentum {words}"},
    )  # fmt: skip
