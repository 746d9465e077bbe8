"""Parallel robots: platforms with passive coordinates of their own, held by legs, [K10] 5.

A leg is a chain from the link that the platform stands on, or a tree: one arm and two rods on balls
hold the platform of a Delta at two points. Parallel modules may stand on one another, on joints
that motors turn, and carry such joints (hybrid robots, [K10] 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..describe.robot import FIXED
from ..errors import ModelError
from .coordinates import Coordinates
from .loops import LoopFrames


@dataclass(frozen=True)
class Hold:
    """Where a leg holds the platform: its joints up to there, its frame, the platform's frame."""

    joints: tuple[int, ...]
    end: int
    hold: int
    loop: LoopFrames

    @property
    def kind(self) -> str:
        """Of the joint that holds the platform."""
        return self.loop.kind

    @property
    def name(self) -> str:
        return self.loop.name


@dataclass(frozen=True)
class Leg:
    """Chains to the platform that share joints: one, unless they share a motor."""

    holds: tuple[Hold, ...]

    @property
    def joints(self) -> tuple[int, ...]:
        return tuple(sorted({j for hold in self.holds for j in hold.joints}))

    @property
    def name(self) -> str:
        return self.holds[0].name


@dataclass(frozen=True)
class Parallel:
    """The platform's body, the passive joints that place it on a link, and the legs from there."""

    coordinates: Coordinates
    root: int  # the link that it stands on
    body: int  # the link that carries the platform's frames
    joints: tuple[int, ...]  # that place it
    legs: tuple[Leg, ...]

    @classmethod
    def of(cls, coordinates: Coordinates, model: str) -> Parallel:
        """Of a robot that is one platform on the base."""
        modules = Modules.of(coordinates, model)
        if not modules.simple:
            raise ModelError(
                f"'{model}' of '{coordinates.robot.name}' needs one platform on the base:"
                " this robot has several parts in series"
            )
        return modules.parts[0]

    @property
    def rigid(self) -> tuple[int, ...]:
        """The body and the links fixed on it that have masses."""
        link = self.coordinates
        return tuple(
            j for j in range(1, len(link.robot.joints) + 1)
            if j == self.body or _owner(link, j) == self.body
        )  # fmt: skip

    @property
    def driven(self) -> list[tuple[int, int]]:
        """(leg, joint) of the active joints, in their order."""
        where = {j: k for k, leg in enumerate(self.legs) for j in leg.joints}
        return [(where[j], j) for j in self.coordinates.active if j in where]


@dataclass(frozen=True)
class Modules:
    """The platforms of a robot, from the base outwards, and the active joints between them."""

    parts: tuple[Parallel, ...]
    between: tuple[int, ...]

    @classmethod
    def of(cls, coordinates: Coordinates, model: str) -> Modules:
        name = coordinates.robot.name
        if coordinates.led:
            raise ModelError(
                f"'{model}' of '{name}' is not available for coupled joints"
                f" ({coordinates.named(tuple(coordinates.led))}): its legs must move by themselves"
            )
        rest, parts = list(coordinates.loops), []
        while rest:
            part = _largest(coordinates, rest)
            if part is None:
                break
            parts.append(part)
            own = {hold.loop for leg in part.legs for hold in leg.holds}
            rest = [loop for loop in rest if loop not in own]
        every = [
            j
            for part in parts
            for j in (*part.joints, *(j for leg in part.legs for j in leg.joints))
        ]
        between = tuple(j for j in coordinates.moving if j not in every)
        alone = len(set(every)) == len(every) and set(between) <= set(coordinates.active)
        if rest or not parts or not alone:
            raise ModelError(
                f"'{model}' of '{name}' needs a platform with passive coordinates of its own,"
                " joined to the base by legs that share no joint with others: describe it by"
                " [platform] and [[leg]]"
            )
        return cls(tuple(sorted(parts, key=lambda part: part.body)), between)

    @property
    def simple(self) -> bool:
        """Is the robot one platform on the base?"""
        return len(self.parts) == 1 and not self.between and not self.parts[0].root


def _largest(coordinates: Coordinates, loops: Sequence[LoopFrames]) -> Parallel | None:
    """The platform that most of these loops hold, the first of those."""
    ends = [{_owner(coordinates, f) for f in (k.cut, k.twin)} for k in loops]
    bodies = sorted(set().union(*ends) - {0}, key=lambda b: (-sum(b in own for own in ends), b))
    for body in bodies:
        part = _part(coordinates, [k for k, own in zip(loops, ends, strict=True) if body in own],
                     body)  # fmt: skip
        if part is not None:
            return part
    return None


def _part(coordinates: Coordinates, loops: Sequence[LoopFrames], body: int) -> Parallel | None:
    """The platform on a body, where passive joints place it on the link that its legs start on."""
    roots = {_root(coordinates, loop) for loop in loops}
    root = roots.pop()
    joints = _moving(coordinates, root, body)
    if roots or not joints or any(j in coordinates.active for j in joints):
        return None
    holds = []
    for loop in loops:
        on_twin = _owner(coordinates, loop.twin) == body
        hold, end = (loop.twin, loop.cut) if on_twin else (loop.cut, loop.twin)
        holds.append(Hold(_moving(coordinates, root, end), end, hold, loop))
    if any({*joints} & {*hold.joints} or not hold.joints for hold in holds):
        return None
    legs: dict[int, list[Hold]] = {}
    for own in holds:  # chains from one link that share joints share the first
        legs.setdefault(own.joints[0], []).append(own)
    if len(legs) < 2:
        return None
    return Parallel(coordinates, root, body, joints, tuple(Leg(tuple(x)) for x in legs.values()))


def _root(coordinates: Coordinates, loop: LoopFrames) -> int:
    """The link that both sides of a loop start on: the last one on a joint that moves."""
    return _owner(coordinates, coordinates.tree.antecedent[(*loop.to_cut, *loop.to_twin)[0]])


def _moving(coordinates: Coordinates, root: int, frame: int) -> tuple[int, ...]:
    """The joints that move a frame on a link."""
    tree = coordinates.tree
    before = {*tree.path(root)} if root else set()
    return tuple(j for j in tree.path(frame) if j not in before and tree.sigma[j] != FIXED)


def _owner(coordinates: Coordinates, frame: int) -> int:
    """The link that moves with a frame: the last one on a joint that moves."""
    while frame and coordinates.tree.sigma[frame] == FIXED:
        frame = coordinates.tree.antecedent[frame]
    return frame
