"""How the joints of a robot are tied: which drive, which follow, what each loop spans, who leads
whom.

With n links and B loops, frame n+k is the cut joint of loop k before its own motion, frame n+B+k
its twin on the other link ([KC97] figure 3, [K10] figure 2). `opened` appends both as fixed frames,
so that every algorithm for trees can look at them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from ..describe.robot import COMPOUND, FIXED, PRISMATIC, REVOLUTE, Joint, Link, Loop, Robot
from ..errors import ModelError
from .tree import Tree

__all__ = ["ROWS", "Connection", "LoopFrames", "opened"]

# the components of the relative twist that each kind of cut joint forbids, in the axes of the cut;
# "u" is the one rotation a universal joint forbids: about x of the twin cross z of the cut
ROWS = {
    "revolute": ("vx", "vy", "vz", "wx", "wy"),
    "prismatic": ("vx", "vy", "wx", "wy", "wz"),
    "fixed": ("vx", "vy", "vz", "wx", "wy", "wz"),
    "cylindrical": ("vx", "vy", "wx", "wy"),
    "universal": ("vx", "vy", "vz", "u"),
    "spherical": ("vx", "vy", "vz"),
}
_KINDS = {REVOLUTE: "revolute", PRISMATIC: "prismatic", FIXED: "fixed"}


@dataclass(frozen=True)
class LoopFrames:
    """One loop: its cut and twin frames, and the joints from their common ancestor to each."""

    name: str
    kind: str  # of the cut joint: a key of ROWS
    cut: int
    twin: int
    to_cut: tuple[int, ...]
    to_twin: tuple[int, ...]

    @property
    def links(self) -> tuple[int, ...]:
        """The links of the loop, one side after the other, without the two frames."""
        return tuple(sorted({*self.to_cut, *self.to_twin} - {self.cut, self.twin}))

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the cut joint."""
        return 6 - len(ROWS[self.kind])


@dataclass(frozen=True)
class Connection:
    """A robot with loops or couplings: its tree with the frames of the loops, and which joints
    drive."""

    robot: Robot
    tree: Tree  # of the opened robot
    loops: tuple[LoopFrames, ...]

    @classmethod
    def of(cls, robot: Robot) -> Connection:
        tree = Tree.of(opened(robot))
        n, B = len(robot.joints), len(robot.loops)
        return cls(
            robot,
            tree,
            tuple(_frames(tree, loop, n + k, n + B + k) for k, loop in enumerate(robot.loops, 1)),
        )

    @cached_property
    def moving(self) -> tuple[int, ...]:
        return self.tree.moving

    @cached_property
    def active(self) -> tuple[int, ...]:
        """Links on motorized joints: q_a."""
        return tuple(j for j in self.moving if self.robot.joints[j - 1].active)

    @cached_property
    def passive(self) -> tuple[int, ...]:
        """Links on the joints that follow: q_p."""
        return tuple(j for j in self.moving if not self.robot.joints[j - 1].active)

    @cached_property
    def led(self) -> dict[int, int]:
        """The joints that follow another one by a coupling, and that one: leaders come first."""
        leader = {j: coupling.joint for j, coupling in self.robot.couplings.items()}
        found: dict[int, int] = {}
        while len(found) < len(leader):
            known = {k for k in leader.values() if k not in leader} | set(found)
            more = {j: k for j, k in leader.items() if k in known and j not in found}
            if not more:
                raise ModelError(f"couplings of '{self.robot.name}' go round: let one joint lead")
            found |= more
        return found

    def led_by(self, known: Iterable[int]) -> list[int]:
        """The joints that follow some of these by couplings."""
        found, every = [], set(known)
        for j, k in self.led.items():
            if k in every and j not in every:
                found.append(j)
                every.add(j)
        return found

    @property
    def gruebler(self) -> int:
        """Mobility by counting, as if all constraints were independent: freedoms - 6 B, less one
        for each coupling."""
        freedoms = len(self.moving) + sum(loop.freedom for loop in self.loops)
        return freedoms - 6 * len(self.loops) - len(self.led)

    @property
    def loose(self) -> tuple[int, ...]:
        """Passive joints that no loop and no coupling holds."""
        held = {j for loop in self.loops for j in loop.links} | {*self.led, *self.led.values()}
        return tuple(j for j in self.passive if j not in held)

    def named(self, links: tuple[int, ...]) -> str:
        """The variables of these joints, for messages."""
        names = [self.robot.joints[j - 1].variable or f"q{j}" for j in links]
        return ", ".join(names) or "none"


def _frames(tree: Tree, loop: Loop, cut: int, twin: int) -> LoopFrames:
    up, down = tree.between(cut, twin)
    kind = loop.kind or _KINDS[loop.cut.sigma]
    found = LoopFrames(loop.name, kind, cut, twin, tuple(reversed(up)), down)
    if not any(tree.sigma[j] != FIXED for j in (*up, *down)):
        raise ModelError(
            f"loop '{loop.name}' joins a link to itself: no joint moves between its two frames;"
            " put its cut and its twin on different links"
        )
    return found


def opened(robot: Robot) -> Robot:
    """The tree of a closed-loop robot, with the frames of its loops as massless fixed links."""
    n, B = len(robot.joints), len(robot.loops)
    extra: list[Joint] = []
    for loop in robot.loops:
        if loop.kind and loop.kind not in COMPOUND:
            raise ModelError(
                f"loop '{loop.name}': cut joint {loop.kind!r}; allowed: {', '.join(ROWS)}"
            )
        if loop.cut.active and loop.cut.sigma != FIXED:
            raise ModelError(
                f"loop '{loop.name}' is cut at an active joint; cut it at a passive one"
            )
        if loop.cut.elastic:
            raise ModelError(f"loop '{loop.name}' is cut at an elastic joint; cut it elsewhere")
        for frame in (loop.cut, loop.twin):
            if n < frame.antecedent <= n + B:
                raise ModelError(
                    f"loop '{loop.name}': frame '{frame.name}' sits on the cut joint of another"
                    " loop; put it on that joint's twin"
                )
    for frame in (*(loop.cut for loop in robot.loops), *(loop.twin for loop in robot.loops)):
        extra.append(replace(frame, sigma=FIXED, active=False, variable=""))
    return replace(
        robot,
        loops=(),
        joints=(*robot.joints, *extra),
        links=(*robot.links, *(Link(frame.name) for frame in extra)),
    )
