"""Parallel robots: a platform with passive coordinates of its own, held by legs, [K10] 5."""

from __future__ import annotations

from dataclasses import dataclass

from ..describe.robot import FIXED
from ..errors import ModelError
from .coordinates import Coordinates
from .loops import LoopFrames

__all__ = ["Leg", "Parallel"]


@dataclass(frozen=True)
class Leg:
    """A chain from the base to the platform: its joints, its last frame, the platform's frame."""

    name: str
    joints: tuple[int, ...]
    end: int
    hold: int
    loop: LoopFrames

    @property
    def kind(self) -> str:
        """Of the joint that holds the platform."""
        return self.loop.kind


@dataclass(frozen=True)
class Parallel:
    """The platform's body, the passive joints that place it, and the legs."""

    coordinates: Coordinates
    body: int  # the link that carries the platform's frames
    joints: tuple[int, ...]  # that place it
    legs: tuple[Leg, ...]

    @classmethod
    def of(cls, coordinates: Coordinates, model: str) -> Parallel:
        name = coordinates.robot.name
        if coordinates.led:
            raise ModelError(
                f"'{model}' of '{name}' is not available for coupled joints"
                f" ({coordinates.named(tuple(coordinates.led))}): its legs must move by themselves"
            )
        owners = [{_owner(coordinates, f): f for f in (k.cut, k.twin)} for k in coordinates.loops]
        common = set.intersection(*(set(own) for own in owners)) - {0} if owners else set()
        for body in sorted(common):
            path = coordinates.tree.path(body)
            joints = tuple(j for j in path if coordinates.tree.sigma[j] != FIXED)
            if any(j in coordinates.active for j in joints):
                continue
            legs = [_leg(coordinates, loop, body) for loop in coordinates.loops]
            every = [j for leg in legs for j in leg.joints]
            if len(set(every)) == len(every) and set(every) | set(joints) == set(
                coordinates.moving
            ):
                return cls(coordinates, body, joints, tuple(legs))
        raise ModelError(
            f"'{model}' of '{name}' needs a platform with passive coordinates of its own, joined to"
            " the base by legs that share no joint: describe it by [platform] and [[leg]]"
        )

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
        return [(where[j], j) for j in self.coordinates.active]


def _owner(coordinates: Coordinates, frame: int) -> int:
    """The link that moves with a frame: the last one on a joint that moves."""
    while frame and coordinates.tree.sigma[frame] == FIXED:
        frame = coordinates.tree.antecedent[frame]
    return frame


def _leg(coordinates: Coordinates, loop: LoopFrames, body: int) -> Leg:
    hold, end = (
        (loop.twin, loop.cut) if _owner(coordinates, loop.twin) == body else (loop.cut, loop.twin)
    )
    joints = tuple(j for j in coordinates.tree.path(end) if coordinates.tree.sigma[j] != FIXED)
    return Leg(loop.name, joints, end, hold, loop)
