"""The loops of a robot: their frames, what each spans, what its cut joint forbids.

With n links and B loops, frame n+k is the cut joint of loop k before its own motion, frame n+B+k
its twin on the other link ([KC97] figure 3, [K10] figure 2). `opened` appends both as fixed frames,
so that every algorithm for trees can look at them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..describe.robot import COMPOUND, FIXED, PRISMATIC, REVOLUTE, Joint, Link, Loop, Robot
from ..errors import ModelError
from .tree import Tree

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
# the components of the velocity of a wheel's point on the ground that are zero, by how it may slip
ROLLING = {"": ("along", "across"), "along": ("across",), "across": ("along",)}
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


def loop_frames(tree: Tree, loop: Loop, cut: int, twin: int) -> LoopFrames:
    up, down = tree.between(cut, twin)
    kind = loop.kind or _KINDS[loop.cut.sigma]
    frames = LoopFrames(loop.name, kind, cut, twin, tuple(reversed(up)), down)
    if not any(tree.sigma[j] != FIXED for j in (*up, *down)):
        raise ModelError(
            f"loop '{loop.name}' joins a link to itself: no joint moves between its two frames;"
            " put its cut and its twin on different links"
        )
    return frames


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
