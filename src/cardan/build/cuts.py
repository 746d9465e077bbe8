"""Cut joints of loops and motors that several joints turn: they are no joints of the tree, but rub
and have rotors all the same.

The rate of a cut joint of one freedom is a row over the joints of its loop, c = w qd_tr, and its
acceleration w qdd_tr + Phi; what acts along it pushes the joints of the tree by w^T. The row of a
motor of several joints is that of its ratios, and Phi = 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..algebra.scalar import is_zero
from ..algebra.vector import weighted
from ..models.bodies import Bodies, Body, Shared
from ..models.friction import COEFFICIENTS, Friction
from ..models.loops import Constraint
from ..models.regressor import Columns
from .mechanism import Mechanism

Scalar = Any
Row = Mapping[int, Scalar]


@dataclass(frozen=True)
class Cut:
    """A cut joint of one freedom, or a motor of several joints; j: its number in names."""

    j: int
    body: Body | Shared  # with its rotor and friction
    row: Row
    Phi: Scalar

    @property
    def acts(self) -> bool:
        """Has it friction or a rotor?"""
        laws = (getattr(self.body.rubs, name) for name in COEFFICIENTS)
        return not all(is_zero(x) for x in (self.body.IA, *laws))


def cuts(mechanism: Mechanism, scene: Bodies, constraint: Constraint) -> list[Cut]:
    """The cut joints of one freedom, then the motors of several joints; Phi is known where
    velocities are."""
    listed: list[Cut] = []
    rows = iter(zip(constraint.cut, constraint.Phi or constraint.cut, strict=True))
    for loop in mechanism.coordinates.loops:
        own = [next(rows) for _ in range(3 if loop.kind == "universal" else loop.freedom)]
        if loop.freedom == 1:
            listed.append(Cut(loop.cut, scene.links[loop.cut - 1], *own[0]))
    return [*listed, *(Cut(x.j, x, x.row, 0) for x in scene.drives)]


def cut_torques(
    mechanism: Mechanism, scene: Bodies, constraint: Constraint, qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> list[tuple[Cut, Scalar]]:  # fmt: skip
    """The torque of the friction and the rotor of each cut joint that has them."""
    moving = mechanism.coordinates.moving
    rates, rises = (dict(zip(moving, x, strict=True)) for x in (qd, qdd))
    torques = []
    for cut in cuts(mechanism, scene, constraint):
        if cut.acts:
            rate, rise = weighted(cut.row, rates), weighted(cut.row, rises) + cut.Phi
            body = cut.body
            torques.append((cut, body.IA * rise + body.rubs.torque(rate)))
    return torques


def with_cut_torques(
    mechanism: Mechanism, scene: Bodies, constraint: Constraint, tau: Row, qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> dict[int, Scalar]:  # fmt: skip
    """The tree's torques, and those that the cut joints' friction and rotors add to them."""
    total = dict(tau)
    for cut, own in cut_torques(mechanism, scene, constraint, qd, qdd):
        for j, x in cut.row.items():
            total[j] = total[j] + x * own
    return total


@dataclass(frozen=True)
class CutMotion:
    """A cut joint that has columns: its row over the joints of its loop, its rate and, where
    those of the joints are known, its acceleration."""

    row: Row
    rate: Scalar
    acceleration: Scalar
    rubs: Friction

    def unit(self, name: str) -> Scalar:
        """The torque along the cut joint of one of its parameters, equal to 1."""
        return self.acceleration if name == "IA" else self.rubs.column(name, self.rate)

    def torques(self, name: str) -> dict[int, Scalar]:
        """That torque on the joints of the tree."""
        own = self.unit(name)
        return {j: entry * own for j, entry in self.row.items()}


def cut_motion(
    mechanism: Mechanism, scene: Bodies, constraint: Constraint, columns: Columns,
    qd: Sequence[Scalar], qdd: Sequence[Scalar] | None = None,
) -> dict[int, CutMotion]:  # fmt: skip
    """By frame, the cut joints that these columns name."""
    wanted = {j for _, j in columns}
    moving = mechanism.coordinates.moving
    rates = dict(zip(moving, qd, strict=True))
    motions = {}
    for cut in cuts(mechanism, scene, constraint):
        if cut.j in wanted:
            rise: Scalar = 0
            if qdd is not None:
                rise = weighted(cut.row, dict(zip(moving, qdd, strict=True))) + cut.Phi
            rate = weighted(cut.row, rates)
            motions[cut.j] = CutMotion(cut.row, rate, rise, cut.body.rubs)
    return motions
