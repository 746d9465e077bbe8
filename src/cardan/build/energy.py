"""Energies and generalized momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..describe.robot import Robot
from ..models.bodies import Bodies
from ..models.energy import Energies
from ..models.energy import energies as energies_model
from ..models.energy import momentum as momentum_model
from ..models.formulation import Formulation
from ..models.newton_euler import inverse_dynamics as newton_euler
from ..models.reform import regrouped
from ..program import Program
from .common import RECURSION, Arrays, build, is_floating, joint_rows, refuse, state
from .derivation import Call, Form, Result, Route
from .dynamic import inertia_matrix

__all__ = ["energies", "energies_by", "energies_of", "generalized_momentum", "through_matrix"]

Scalar = Any


def energies(robot: Robot, *, symbolic: bool = False) -> Program:
    """Kinetic energy; potential energy of gravity and of the springs of elastic joints."""
    refuse(robot, "energies")
    return energies_of(robot, symbolic)


def energies_of(robot: Robot, symbolic: bool = False) -> Program:
    """The energies of a tree, with a floating base's own: U about the origin of frame 0."""

    def form(own: bool) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            found = energies_by(scene, x["q"], x["qd"], own, base=is_floating(robot))
            return Result({"E": ((), [found.E]), "U": ((), [found.U])}, found)

        return run

    forms = [form(True)] if robot.base.kind == "mobile" else [form(True), form(False)]
    return build(
        robot,
        "energies",
        state(robot, "q", "qd"),
        forms,
        ["E", "U"],
        symbolic=symbolic,
        finals=True,
    )


def energies_by(
    scene: Bodies, q: Sequence[Scalar], qd: Sequence[Scalar], own: bool, base: bool
) -> Energies:
    """The energies by the links' own parameters; or E by the regrouped ones, in which most masses
    and first moments vanish. They give the same E, but U without what the ground carries; and E
    without it, where the ground is a base with imposed motion."""
    found = energies_model(scene, q, qd, base=base)
    if not own:
        U, Uj = found.U, found.Uj
        found = energies_model(regrouped(scene), q, qd, base=base)
        found.U, found.Uj = U, Uj
    return found


def generalized_momentum(robot: Robot, *, symbolic: bool = False) -> Program:
    """h = A qd; of a floating base A (V0, qd), base first.

    By a recursion that does not form A: it is that of the torques at rest, without gravity, of
    accelerations as large as the velocities; or by A itself, where that costs less."""
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

    def formulate(form: Formulation) -> Form:
        def run(scene: Bodies, x: Arrays) -> Result:
            twist = [*scene.V0, *scene.w0]
            still = scene.unloaded().moving_base([0] * 6, [0, 0, 0], twist)
            found = newton_euler(still, x["q"], [0] * robot.n, x["qd"], form=form)
            base = [*found.f[0], *found.n[0]] if floats else []
            h = [*base, *joint_rows(scene, found.tau)]
            return Result({"h": ((len(h),), h)})

        return run

    routes = []
    if robot.base.kind != "mobile" and len(robot.links) <= _LARGEST_MATRIX:
        routes = [through_matrix(inertia_matrix(robot, symbolic=symbolic))]
    return build(
        robot, "generalized-momentum", state(robot, "q", "qd", gravity=False), [run], ["h"],
        symbolic=symbolic, meaning={"h": f"generalized momentum {words}"},
        formulate=formulate, choices=RECURSION, routes=routes, finals=True,
    )  # fmt: skip


_LARGEST_MATRIX = 12  # links: beyond it a recursion that is linear in their number costs less


def through_matrix(matrix: Program) -> Route:
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
