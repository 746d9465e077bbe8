"""Which variables a robot has, and what each is: the one place that knows who moves.

q      positions of every joint of the tree, then of the elastic coordinates of flexible links
u      independent velocities: qd = G u of the tree, G = 1 where nothing ties its joints
tau    of the driven joints; rows of the others are zero, or a spring's

moving    joints with a variable                   = active + passive
active    those whose velocities are independent: all of a tree; the ones a description of loops
          or couplings calls so                    = driven + elastic
passive   those that follow through loops, couplings and wheels; `led` by a coupling; `rolled`
          where wheels on the ground alone hold them: their velocities follow, their positions do
          not, because rolling has no integral; `idle` where no loop equation sees them (which
          takes numbers to tell: loops.analysis)
driven    with a motor of their own;  elastic: with a spring instead
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..describe.robot import Robot
from ..errors import ModelError
from .loops import ROLLING, LoopFrames, loop_frames, opened
from .tree import Tree

Key = tuple[str, int, int]  # ("joint", j, 0), ("elastic", j, k), ("base", 0, axis)


def is_floating(robot: Robot) -> bool:
    """Has the base six freedoms of its own?"""
    return robot.base.kind == "floating"


def has_springs(robot: Robot) -> bool:
    """Is any joint elastic?"""
    return any(joint.elastic for joint in robot.joints)


def holonomic(robot: Robot) -> Robot:
    """The robot with its wheels off the ground: what its loops and couplings say of positions. The
    joints that wheels alone hold are independent there."""
    if not robot.wheels:
        return robot
    rolled = Coordinates.of(robot).rolled
    joints = enumerate(robot.joints, 1)
    return replace(
        robot, wheels=(),
        joints=tuple(replace(x, active=True) if j in rolled else x for j, x in joints),
    )  # fmt: skip


@dataclass(frozen=True)
class Coordinates:
    """The variables of a robot; links stand for their joints."""

    robot: Robot
    tree: Tree  # of the opened robot
    loops: tuple[LoopFrames, ...]

    @classmethod
    def of(cls, robot: Robot) -> Coordinates:
        tree = Tree.of(opened(robot))
        n, B = len(robot.joints), len(robot.loops)
        return cls(
            robot,
            tree,
            tuple(
                loop_frames(tree, loop, n + k, n + B + k) for k, loop in enumerate(robot.loops, 1)
            ),
        )

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """Links on joints that have a variable."""
        return self.tree.moving

    @cached_property
    def active(self) -> tuple[int, ...]:
        """Links on joints whose velocities are independent: q_a."""
        if not self.robot.constrained:
            return self.moving
        return tuple(j for j in self.moving if self.robot.joints[j - 1].active)

    @cached_property
    def passive(self) -> tuple[int, ...]:
        """Links on joints that follow: q_p."""
        return tuple(j for j in self.moving if j not in self.active)

    @cached_property
    def rolled(self) -> tuple[int, ...]:
        """Passive joints that no loop and no coupling positions: wheels on the ground give their
        velocities."""
        held = {j for loop in self.loops for j in loop.links} | {*self.robot.couplings}
        return tuple(j for j in self.passive if j not in held) if self.robot.wheels else ()

    @cached_property
    def driven(self) -> tuple[int, ...]:
        """Links on independent joints with a motor: torques are theirs."""
        return tuple(j for j in self.active if not self.robot.joints[j - 1].elastic)

    @cached_property
    def elastic(self) -> tuple[int, ...]:
        """Links on independent joints with a spring: their accelerations follow."""
        return tuple(j for j in self.active if self.robot.joints[j - 1].elastic)

    @cached_property
    def deformations(self) -> tuple[Key, ...]:
        """The elastic coordinates of flexible links."""
        links = enumerate(self.robot.links, 1)
        sizes = [(j, link.flexible.coordinates) for j, link in links if link.flexible]
        return tuple(("elastic", j, k) for j, size in sizes for k in range(size))

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Of q: joints in link order, then the elastic coordinates link by link."""
        return (*self.joint_keys(self.moving), *self.deformations)

    @cached_property
    def independent(self) -> tuple[Key, ...]:
        """Of u."""
        return (*self.joint_keys(self.active), *self.deformations)

    @property
    def free_base(self) -> int:
        """Velocities of the base that are independent too: six where it floats."""
        return 6 if is_floating(self.robot) else 0

    @cached_property
    def led(self) -> dict[int, tuple[int, ...]]:
        """The joints that follow others by a coupling, and those: leaders come first."""
        couplings = self.robot.couplings
        leaders = {j: tuple(k for k, _ in x.leaders) for j, x in couplings.items()}
        chain: dict[int, tuple[int, ...]] = {}
        while len(chain) < len(leaders):
            waiting = leaders.keys() - chain.keys()
            more = {j: ks for j, ks in leaders.items() if j in waiting and not waiting & set(ks)}
            if not more:
                raise ModelError(f"couplings of '{self.robot.name}' go round: let one joint lead")
            chain |= more
        return chain

    def led_by(self, known: Iterable[int]) -> list[int]:
        """The joints that follow some of these by couplings."""
        followers, every = [], set(known)
        for j, ks in self.led.items():
            if every.issuperset(ks) and j not in every:
                followers.append(j)
                every.add(j)
        return followers

    @property
    def gruebler(self) -> int:
        """Mobility by counting, as if all constraints were independent: freedoms - 6 B, less one
        for each coupling and each direction in which a wheel does not slip."""
        freedoms = len(self.moving) + sum(loop.freedom for loop in self.loops)
        rolling = sum(len(ROLLING[wheel.slip]) for wheel in self.robot.wheels)
        return freedoms - 6 * len(self.loops) - len(self.led) - rolling

    @property
    def loose(self) -> tuple[int, ...]:
        """Passive joints that no loop, no coupling and no wheel holds."""
        held = {j for loop in self.loops for j in loop.links} | {*self.led, *self.rolled}
        held |= {k for ks in self.led.values() for k in ks}
        return tuple(j for j in self.passive if j not in held)

    def places(self, links: Iterable[int]) -> list[int]:
        """Where the variables of these joints stand in q."""
        return [self.moving.index(j) for j in links]

    def named(self, links: Sequence[int]) -> str:
        """The variables of these joints, for messages."""
        names = [self.robot.joints[j - 1].variable or f"q{j}" for j in links]
        return ", ".join(names) or "none"

    @staticmethod
    def joint_keys(links: Iterable[int]) -> tuple[Key, ...]:
        return tuple(("joint", j, 0) for j in links)
