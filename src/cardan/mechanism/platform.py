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

    connection: Coordinates
    body: int  # the link that carries the platform's frames
    coordinates: tuple[int, ...]
    legs: tuple[Leg, ...]

    @classmethod
    def of(cls, connection: Coordinates, model: str) -> Parallel:
        name = connection.robot.name
        if connection.led:
            raise ModelError(
                f"'{model}' of '{name}' is not available for coupled joints"
                f" ({connection.named(tuple(connection.led))}): its legs must move by themselves"
            )
        owners = [{_owner(connection, f): f for f in (k.cut, k.twin)} for k in connection.loops]
        common = set.intersection(*(set(own) for own in owners)) - {0} if owners else set()
        for body in sorted(common):
            path = connection.tree.path(body)
            coordinates = tuple(j for j in path if connection.tree.sigma[j] != FIXED)
            if any(j in connection.active for j in coordinates):
                continue
            legs = [_leg(connection, loop, body) for loop in connection.loops]
            every = [j for leg in legs for j in leg.joints]
            if len(set(every)) == len(every) and set(every) | set(coordinates) == set(
                connection.moving
            ):
                return cls(connection, body, coordinates, tuple(legs))
        raise ModelError(
            f"'{model}' of '{name}' needs a platform with passive coordinates of its own, joined to"
            " the base by legs that share no joint: describe it by [platform] and [[leg]]"
        )

    @property
    def rigid(self) -> tuple[int, ...]:
        """The body and the links fixed on it that have masses."""
        link = self.connection
        return tuple(
            j for j in range(1, len(link.robot.joints) + 1)
            if j == self.body or _owner(link, j) == self.body
        )  # fmt: skip

    @property
    def driven(self) -> list[tuple[int, int]]:
        """(leg, joint) of the active joints, in their order."""
        where = {j: k for k, leg in enumerate(self.legs) for j in leg.joints}
        return [(where[j], j) for j in self.connection.active]


def _owner(connection: Coordinates, frame: int) -> int:
    """The link that moves with a frame: the last one on a joint that moves."""
    while frame and connection.tree.sigma[frame] == FIXED:
        frame = connection.tree.antecedent[frame]
    return frame


def _leg(connection: Coordinates, loop: LoopFrames, body: int) -> Leg:
    hold, end = (
        (loop.twin, loop.cut) if _owner(connection, loop.twin) == body else (loop.cut, loop.twin)
    )
    joints = tuple(j for j in connection.tree.path(end) if connection.tree.sigma[j] != FIXED)
    return Leg(loop.name, joints, end, hold, loop)
