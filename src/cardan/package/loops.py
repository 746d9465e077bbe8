"""What packages know of closed loops, couplings and wheels: which joints drive, which follow, when
loops are closed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..catalogue import model as derive
from ..loops.analysis import independent
from ..loops.numeric import Equations
from ..mechanism.coordinates import Coordinates, holonomic
from .plan import Function, Plan, Wanted

CLOSING: Wanted = ("loop-kinematics", {"closing": True})  # the model that packages need
_LENGTHS = {"prismatic": 2, "cylindrical": 2}  # among the equations of a cut joint; others have 3


@dataclass(frozen=True)
class Loops:
    """Joints that follow others: elements of q, and what is zero where the loops are closed."""

    function: Function
    driving: tuple[int, ...]  # elements of q that are given, in the order of qd
    following: tuple[int, ...]
    held: tuple[int, ...] = ()  # of those that follow: loops and couplings position them
    free: tuple[int, ...] = ()  # of those that are held, but those that are idle
    names: tuple[str, ...] = ()  # of the loops and couplings, in words
    system: Equations | None = None  # of the positions, by another derivation; wheels have none
    weights: tuple[float, ...] = ()  # of each equation: lengths by the robot's size

    @property
    def reach(self) -> tuple[float, ...]:
        """A unit of the motion of each joint that follows: 1 rad, or the robot's size, by gears."""
        if self.system is None:
            return (1.0,) * len(self.following)
        unit = self.system.unit * self.system.gain
        return tuple(unit[list(self.following)].tolist())

    @property
    def owners(self) -> tuple[int, ...]:
        """The loop or coupling of each equation."""
        return tuple(self.system.owners) if self.system else ()

    def closed(self, q: np.ndarray) -> np.ndarray:
        """q with its loops closed near by."""
        return q if self.system is None else np.asarray(self.system.close(q[None], self.free)[0][0])


def loops_of(plan: Plan) -> Loops:
    """The loops of the robot of a plan, which holds CLOSING."""
    moved, function = Coordinates.of(independent(plan.robot)), plan.function("loop-kinematics")
    driving, following = (tuple(moved.places(x)) for x in (moved.active, moved.passive))
    if not holonomic(plan.robot).constrained:
        return Loops(function, driving, following)
    geometry = derive(plan.robot, "loop-geometry")
    link, system = geometry.coordinates, geometry.system()
    weights: list[float] = []
    for k, loop in enumerate(link.loops):
        lengths = _LENGTHS.get(loop.kind, 3)
        count = system.owners.count(k)
        weights += [1 / system.size] * lengths + [1.0] * (count - lengths)
    for j, *_ in system.couplings:
        weights.append(1 / (system.unit[j] * system.gain[j]))
    held, free = (tuple(link.places(x)) for x in (link.passive, geometry.analysis.following))
    names = [f"loop {loop.name}" for loop in link.loops]
    names += [f"the coupling of {plan.robot.joints[j - 1].name}" for j in link.led]
    return Loops(
        function, driving, following, held, free, tuple(names), system, tuple(weights)
    )  # fmt: skip
