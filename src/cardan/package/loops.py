"""What packages know of closed loops and couplings: which joints drive, which follow, when loops
are closed."""

from __future__ import annotations

from dataclasses import dataclass

from ..catalogue import model as derive
from ..loops.numeric import Equations
from .plan import Function, Plan, Wanted

__all__ = ["CLOSING", "Loops", "loops_of"]

CLOSING: Wanted = ("loop-kinematics", {"closing": True})  # the model that packages need
_LENGTHS = {"prismatic": 2, "cylindrical": 2}  # among the equations of a cut joint; others have 3


@dataclass(frozen=True)
class Loops:
    """Joints that follow others: elements of q, and what is zero where the loops are closed."""

    function: Function
    driving: tuple[int, ...]  # elements of q that are given, in the order of qd
    following: tuple[int, ...]
    free: tuple[int, ...]  # of those that follow, but those that are idle
    names: tuple[str, ...]  # of the loops and couplings, in words
    system: Equations  # of the positions, by another derivation
    weights: tuple[float, ...]  # of each equation: lengths by the robot's size

    @property
    def reach(self) -> tuple[float, ...]:
        """A unit of the motion of each joint that follows: 1 rad, or the robot's size, by gears."""
        unit = self.system.unit * self.system.gain
        return tuple(unit[list(self.following)].tolist())


def loops_of(plan: Plan) -> Loops:
    """The loops of the robot of a plan, which holds CLOSING."""
    geometry = derive(plan.robot, "loop-geometry")
    link, system = geometry.coordinates, geometry.system()
    weights: list[float] = []
    for k, loop in enumerate(link.loops):
        lengths = _LENGTHS.get(loop.kind, 3)
        count = system.owners.count(k)
        weights += [1 / system.size] * lengths + [1.0] * (count - lengths)
    for j, *_ in system.couplings:
        weights.append(1 / (system.unit[j] * system.gain[j]))
    driving, following, free = (
        tuple(link.moving.index(j) for j in joints)
        for joints in (link.active, link.passive, geometry.analysis.following)
    )
    names = [f"loop {loop.name}" for loop in link.loops]
    names += [f"the coupling of {plan.robot.joints[j - 1].name}" for j in link.led]
    function = plan.function("loop-kinematics")
    return Loops(function, driving, following, free, tuple(names), system, tuple(weights))
