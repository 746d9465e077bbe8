"""What an FMU is made of: its states, which functions give their rates, and where it starts.

x = [q, qd]                   of a tree; P, e after q and V0 after qd on a floating base
x = [q, qd of active joints]  of closed loops, couplings, wheels; the others follow: qd_p = W qd_a
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...algebra.so3 import quaternion
from ...describe.robot import FIXED, Joint, Robot
from ...describe.world import gravity_in_world, placement
from ...errors import ModelError
from ...loops.standing import standing
from ..loops import CLOSING, Loops, loops_of
from ..plan import Array, Function, Plan, Wanted, name_of
from .friction import smoothed

_STATES = ("q", "qd", "p", "V0", "g0")  # arrays that are no inputs of the unit


@dataclass(frozen=True)
class Unit:
    """The direct dynamics of a robot as states and their rates."""

    plan: Plan
    direct: Function
    loops: Loops | None

    @property
    def robot(self) -> Robot:
        return self.plan.robot

    @property
    def floating(self) -> bool:
        return self.robot.base.kind == "floating"

    @property
    def functions(self) -> tuple[Function, ...]:
        return (self.direct, self.loops.function) if self.loops else (self.direct,)

    @cached_property
    def along(self) -> dict[str, Function]:
        """How the outputs of each function change along a direction of its inputs."""
        return {function.name: _along(function) for function in self.functions}

    @property
    def sources(self) -> tuple[Function, ...]:
        """All that is written in C."""
        return (*self.functions, *self.along.values())

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        return tuple(joint for joint in self.robot.joints if joint.sigma != FIXED)

    def _size(self, name: str) -> int:
        return next(array.size for array in self.direct.inputs if array.name == name)

    @cached_property
    def nq(self) -> int:
        return self._size("q")

    @cached_property
    def nv(self) -> int:
        return self._size("qd")

    @property
    def velocities(self) -> int:
        """The place of the first velocity in x."""
        return self.nq + 7 * self.floating

    @property
    def driving(self) -> tuple[int, ...]:
        return self.loops.driving if self.loops else tuple(range(self.nq))

    @property
    def following(self) -> tuple[int, ...]:
        return self.loops.following if self.loops else ()

    @property
    def held(self) -> tuple[int, ...]:
        """Elements of q that loops and couplings position."""
        return self.loops.held if self.loops else ()

    @property
    def closings(self) -> int:
        """Numbers that vanish where the loops are closed; wheels have none."""
        return len(self.loops.weights) if self.loops else 0

    @cached_property
    def inputs(self) -> tuple[Array, ...]:
        """The arrays that come from outside at every moment."""
        return tuple(array for array in self.direct.inputs if array.name not in _STATES)

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Parameters of the robot with their values, those of all functions."""
        return {
            name: float(function.program.defaults[name])
            for function in self.functions
            for name in function.program.parameters
        }

    @cached_property
    def driven(self) -> tuple[Joint, ...]:
        """The joints that the torques belong to."""
        every = [self.joints[k] for k in self.driving if k < len(self.joints)]
        return tuple(joint for joint in every if not joint.elastic)

    @property
    def rubs(self) -> bool:
        """Is there dry friction?"""
        cuts = (loop.cut for loop in self.robot.loops)
        every = (*self.robot.joints, *cuts)
        return any(joint.VS == 0 and joint.FS != 0 for joint in every)

    @cached_property
    def start(self) -> np.ndarray:
        """The states at the start: the robot stands, its loops closed, and nothing moves."""
        q = np.zeros(self.nq)
        q[: self.robot.n] = standing(self.robot)
        base, twist = np.zeros(0), np.zeros(0)
        if self.floating:
            Z = placement(self.robot)
            base, twist = np.concatenate([Z[:3, 3], quaternion(Z[:3, :3])]), np.zeros(6)
        return np.concatenate([q, base, np.zeros(self.nv), twist])

    @cached_property
    def gravity(self) -> np.ndarray:
        return gravity_in_world(self.robot)


def models(robot: Robot, wanted: list[Wanted]) -> list[Wanted]:
    """The direct dynamics, which has to be asked for alone; closed loops need their kinematics."""
    names = [name_of(item) for item in wanted]
    if names != ["direct-dynamics"]:
        raise ModelError(
            f"an FMU is made of the model 'direct-dynamics' alone, not of {', '.join(names)}"
        )
    if robot.constrained and robot.ne:
        raise ModelError(
            f"no FMU of '{robot.name}': it has closed loops and links that bend; `cardan simulate`"
            " takes both, cardan.rigid makes the links rigid"
        )
    if robot.interactions:
        raise ModelError(
            f"no FMU of '{robot.name}': contacts, drag and thrusters of its file are not in it;"
            " dataclasses.replace(robot, interactions=()) leaves them out"
        )
    return [*wanted, CLOSING] if robot.constrained else wanted


def unit_of(plan: Plan) -> Unit:
    """The unit of the functions of a plan, dry friction smoothed."""
    plan = replace(plan, functions=tuple(map(smoothed, plan.functions)))
    direct = plan.function("direct-dynamics")
    known = {x for function in plan.functions for x in function.program.defaults}
    wanted = {x: None for function in plan.functions for x in function.program.parameters}
    missing = [x for x in wanted if x not in known]
    if missing:
        raise ModelError(
            f"no FMU of '{plan.robot.name}': {len(missing)} parameters have no start value "
            f"({', '.join(missing[:8])})",
            remedy="give them one, robot.with_values({...}); the option symbolic=True then keeps"
            " them as parameters of the unit",
            action="values",
        )
    if "qd_i" in direct.program.inputs:
        raise ModelError(
            f"no FMU of '{plan.robot.name}' with idle='free': it holds idle joints; leave the "
            "option out"
        )
    return Unit(plan, direct, loops_of(plan) if plan.robot.constrained else None)


def _along(function: Function) -> Function:
    """How the outputs of a function change along a direction of its inputs but the parameters."""
    program = function.program
    program = program.tangent([name for name in program.inputs if name != "p"])
    inputs, outputs = (
        tuple(Array(x, x, shape, program.meaning.get(x, "")) for x, shape in arrays.items())
        for arrays in (program.inputs, program.outputs)
    )
    return replace(
        function, name=f"{function.name}_along", program=program, inputs=inputs, outputs=outputs
    )
