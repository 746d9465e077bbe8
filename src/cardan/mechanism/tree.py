"""How the robot is connected: antecedents, children, paths, degrees of freedom. No geometry, no
numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..describe.robot import FIXED, Robot
from ..errors import ModelError, UnknownNameError

KHALIL = "khalil:"  # before the name of a link: Khalil's frame of it, not the file's own


@dataclass(frozen=True)
class Tree:
    """The tree of a robot. Links are 1..nl, link 0 is the base; i = antecedent[j] < j."""

    antecedent: tuple[int, ...]  # [j] for j = 0..nl; antecedent[0] is -1
    sigma: tuple[int, ...]
    names: tuple[str, ...]  # of Khalil's frames; "khalil:NAME" where the file has another NAME
    platform: int = 0  # the link that all of several loops end on, 0 without
    links: tuple[str, ...] = ()  # names of the links
    frames: tuple[str, ...] = ()  # names that the file has for frames

    @classmethod
    def of(cls, robot: Robot) -> Tree:
        joints = robot.joints
        return cls(
            antecedent=(-1, *(joint.antecedent for joint in joints)),
            sigma=(FIXED, *(joint.sigma for joint in joints)),
            names=_names(robot),
            platform=_platform(robot),
            links=(robot.base.link.name, *(link.name for link in robot.links)),
            frames=tuple(frame.name for frame in robot.frames),
        )

    @property
    def nl(self) -> int:
        """Number of moving links."""
        return len(self.antecedent) - 1

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """Links whose joint has a variable, in order: row k of q belongs to link moving[k]."""
        return tuple(j for j in range(1, self.nl + 1) if self.sigma[j] != FIXED)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """children[i] = links k with a(k) = i."""
        lists: list[list[int]] = [[] for _ in self.antecedent]
        for j in range(1, self.nl + 1):
            lists[self.antecedent[j]].append(j)
        return tuple(map(tuple, lists))

    def path(self, j: int) -> tuple[int, ...]:
        """Links from the base (excluded) to j."""
        chain = []
        while j > 0:
            chain.append(j)
            j = self.antecedent[j]
        return tuple(reversed(chain))

    def between(self, i: int, j: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(up, down): the path from link i up to the common ancestor, then down to link j."""
        to_i, to_j = self.path(i), self.path(j)
        common = sum(1 for a, b in zip(to_i, to_j, strict=False) if a == b)
        return tuple(reversed(to_i[common:])), to_j[common:]

    @property
    def last(self) -> int:
        """The link taken as end effector by default: a platform that the loops share, or the end
        of the longest path."""
        if self.platform:
            return self.platform
        return max(range(self.nl + 1), key=lambda j: (len(self.path(j)), -j))

    def link(self, frame: int | str | None) -> int:
        """The link whose Khalil frame a user means by a number, a name, or nothing (the last)."""
        if frame is None:
            return self.last
        if isinstance(frame, str):
            if frame in self.names:
                return self.names.index(frame)
            name = frame.removeprefix(KHALIL)
            if name != frame and name in self.links:
                return self.links.index(name)
            if not name.lstrip("-").isdecimal() or len(name) > 9:
                known = dict.fromkeys((*self.frames, *self.names))
                raise UnknownNameError.of("frame", frame, known)
            frame = int(name)
        if isinstance(frame, bool) or not isinstance(frame, int) or not 0 <= frame <= self.nl:
            raise ModelError(
                f"frame {frame} does not exist; frames are 0 ({self.names[0]}) to {self.nl}"
            )
        return frame

    def label(self, j: int) -> str:
        """Khalil's frame j for people: number and name, or the name that the file has for it."""
        name = self.names[j]
        return name if name in self.frames else f"{j} ({name})"


def _names(robot: Robot) -> tuple[str, ...]:
    """Names of Khalil's frames: those of the links, unless the file means another frame by them."""
    own = {frame.name: frame for frame in robot.frames}

    def name(j: int, link: str) -> str:
        frame = own.get(link)
        here = frame is None or (frame.link == j and frame.at_link)
        return link if here else f"{KHALIL}{link}"

    links = (robot.base.link.name, *(link.name for link in robot.links))
    return tuple(name(j, link) for j, link in enumerate(links))


def _platform(robot: Robot) -> int:
    """The link on passive joints that every loop of several has a frame on, 0 if there is none."""
    ends = [{loop.cut.antecedent, loop.twin.antecedent} for loop in robot.loops]
    common = set.intersection(*ends) if len(ends) > 1 else set()
    for link in sorted(common - {0}):
        j = link
        while 0 < j <= len(robot.joints) and not robot.joints[j - 1].active:
            j = robot.joints[j - 1].antecedent
        if j == 0:
            return link
    return 0
