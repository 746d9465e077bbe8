"""Energies and generalized momentum."""

from __future__ import annotations

from ..describe.robot import Robot
from ..models.bodies import Bodies
from ..models.energy import energies as energies_model
from ..models.energy import momentum as momentum_model
from ..program import Program
from .common import Arrays, build, is_floating, joint_rows, refuse, state
from .derivation import Result

__all__ = ["energies", "energies_of", "generalized_momentum"]


def energies(robot: Robot, *, symbolic: bool = False) -> Program:
    """Kinetic energy; potential energy of gravity and of the springs of elastic joints."""
    refuse(robot, "energies")
    return energies_of(robot, symbolic)


def energies_of(robot: Robot, symbolic: bool = False) -> Program:
    """The energies of a tree, with a floating base's own: U about the origin of frame 0."""

    def run(scene: Bodies, x: Arrays) -> Result:
        found = energies_model(scene, x["q"], x["qd"], base=is_floating(robot))
        return Result({"E": ((), [found.E]), "U": ((), [found.U])}, found)

    return build(robot, "energies", state(robot, "q", "qd"), [run], ["E", "U"], symbolic=symbolic)


def generalized_momentum(robot: Robot, *, symbolic: bool = False) -> Program:
    """h = A qd, by a recursion that does not form A; of a floating base A (V0, qd), base first."""
    refuse(robot, "generalized-momentum")
    floats = is_floating(robot)
    words = "A qd, N m s or N s"
    if floats:
        words = "A (V0, qd): of the whole robot about O_0 in frame 0 (linear, angular), then joints"

    def run(scene: Bodies, x: Arrays) -> Result:
        found = momentum_model(scene, x["q"], x["qd"])
        base = [*found.p[0], *found.l[0]] if floats else []
        h = [*base, *joint_rows(scene, found.h)]
        return Result({"h": ((len(h),), h)}, found)

    return build(
        robot, "generalized-momentum", state(robot, "q", "qd", gravity=False), [run], ["h"],
        symbolic=symbolic, meaning={"h": f"generalized momentum {words}"},
    )  # fmt: skip
