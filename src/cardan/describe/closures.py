"""Loops of formats with free body frames: two frames that coincide -> cut and twin on links.

The cut's and the twin's frames are given in the bodies' own frames; Khalil's frames of the same
bodies stand elsewhere. Both are placed in frame 0 at one configuration (`refs`, zero where a joint
is not named), and compared there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..algebra.ranks import null_space
from ..algebra.so3 import about, along
from .bodies import Body, far_words, frames_of, inertial_values, size_of
from .frames import Array, decompose, frame, inverse, khalil_values, matrix_of
from .robot import COMPOUND, FIXED, GEOMETRY, PRISMATIC, REVOLUTE, Joint, Link, Loop
from .values.expression import number

KINDS = {"revolute": REVOLUTE, "prismatic": PRISMATIC, "fixed": FIXED}
End = tuple[int, Array]  # a body, and a frame in its own frame


@dataclass(frozen=True)
class Placed:
    """Bodies and their links, in frame 0 at one configuration."""

    bodies: Sequence[Body]
    joints: Sequence[Joint]
    links: Sequence[Link]
    size: float
    refs: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, bodies: Sequence[Body], fault: Callable[..., None], refs: Mapping[str, float] = {}
    ) -> Placed:
        """The bodies with Khalil's frames; a warning where these are far from their links."""
        far: list[str] = []
        joints, links = frames_of(bodies, far)
        if far:
            fault(far_words(far), severity="warning")
        return cls(bodies, joints, links, size_of(bodies), refs)

    @property
    def root(self) -> Link:
        """The link of the base."""
        root = self.bodies[0]
        return Link(root.name, **inertial_values(root.masses, self.size))

    def pose(self, end: End) -> Array:
        """A frame of a body in frame 0."""
        return np.asarray(self.own[end[0]] @ end[1])

    def local(self, body: int, T: Array) -> End:
        """A frame of frame 0, as one of a body."""
        return body, inverse(self.own[body]) @ T

    def loop(self, name: str, kind: str, cut: End, twin: End) -> Loop:
        """The loop that a joint of this kind closes; its axis is z of both frames."""
        number_of = {link.name: j for j, link in enumerate(self.links, 1)}
        frames = []
        for k, end in enumerate((cut, twin)):
            j = number_of.get(self.bodies[end[0]].name, 0)
            T = inverse(self.khalil[j]) @ self.pose(end)
            if kind == "spherical":  # no axes: those of the link will do
                T = frame(np.eye(3), T[:3, 3])
            sigma = KINDS.get(kind, FIXED) if k == 0 else FIXED
            geometry = khalil_values(decompose(T, self.size), self.size)
            frames.append(Joint(f"{name}_{k + 1}", j, sigma=sigma, active=False, **geometry))
        return Loop(name, frames[0], frames[1], kind if kind in COMPOUND else "")

    @property
    def khalil(self) -> list[Array]:
        """Khalil's frames in frame 0."""
        T = [np.eye(4)]
        for joint in self.joints:
            six = [number(getattr(joint, key)) or 0.0 for key in GEOMETRY]
            if joint.sigma == REVOLUTE:
                six[4] += self.refs.get(joint.name, 0.0)
            elif joint.sigma == PRISMATIC:
                six[5] += self.refs.get(joint.name, 0.0)
            T.append(T[joint.antecedent] @ matrix_of(six))
        return T

    @property
    def own(self) -> list[Array]:
        """The bodies' own frames in frame 0."""
        T = [np.eye(4)]
        for body in self.bodies[1:]:
            ref = self.refs.get(body.joint.name, 0.0)
            step = body.placement
            if ref and body.joint.sigma == PRISMATIC:
                step = step @ frame(np.eye(3), ref * body.axis)
            elif ref and body.point is not None:
                R = about(body.axis, ref)
                step = step @ frame(R, body.point - R @ body.point)
            T.append(T[body.parent] @ step)
        return T


def within_loops(joints: Sequence[Joint], loops: Sequence[Loop]) -> set[str]:
    """The joints that lie in some loop, between the links that it ties."""

    def above(j: int) -> set[int]:
        path = set()
        while j:
            path.add(j)
            j = joints[j - 1].antecedent
        return path

    ends = [(above(loop.cut.antecedent), above(loop.twin.antecedent)) for loop in loops]
    return {joints[j - 1].name for first, second in ends for j in first ^ second}


_HELD = {  # by a loop's kind, of (v, w) in the axes of its frame
    "spherical": (0, 1, 2), "universal": (0, 1, 2), "cylindrical": (0, 1, 3, 4),
    REVOLUTE: (0, 1, 2, 3, 4), PRISMATIC: (0, 1, 3, 4, 5), FIXED: range(6),
}  # fmt: skip


def redundant(placed: Placed, joints: Sequence[Joint], loops: Sequence[Loop]) -> list[str]:
    """The motors that the loops turn together with those before them, where there are more motors
    than freedoms. Seen at one configuration, which may have more freedoms than others: some are
    missed then, none is named wrongly."""
    T, n = placed.khalil, len(joints)
    moving = [j for j, joint in enumerate(joints) if joint.sigma != FIXED]
    rows = []
    for loop in loops:
        six = [number(getattr(loop.cut, key)) or 0.0 for key in GEOMETRY]
        at = T[loop.cut.antecedent] @ matrix_of(six)
        twists = np.zeros((6, n))
        for sign, j in ((1.0, loop.cut.antecedent), (-1.0, loop.twin.antecedent)):
            while j:
                z, arm = T[j][:3, 2], at[:3, 3] - T[j][:3, 3]
                turns = joints[j - 1].sigma == REVOLUTE
                v, w = (np.cross(z, arm), z) if turns else (z, 0 * z)
                twists[:, j - 1] += sign * np.concatenate((at[:3, :3].T @ v, at[:3, :3].T @ w))
                j = joints[j - 1].antecedent
        twists[:3] /= placed.size or 1.0
        rows.append(twists[list(_HELD[loop.kind or loop.cut.sigma])])
    for j, joint in enumerate(joints):
        if joint.mimic is not None:
            rows.append(np.eye(n)[[j]])
            for k, ratio in joint.mimic.leaders:
                rows[-1][0, k - 1] -= float(number(ratio) or 0)
    W = np.vstack(rows)[:, moving]
    motors = [k for k, j in enumerate(moving) if joints[j].active]
    idle = sum(not W[:, k].any() for k, j in enumerate(moving) if not joints[j].active)
    N = null_space(W, 1e-7)
    if len(motors) <= N.shape[1] - idle:
        return []
    free: list[int] = []
    for k in motors:
        if np.linalg.matrix_rank(N[[*free, k]], 1e-7) > len(free):
            free.append(k)
    return [joints[moving[k]].name for k in motors if k not in free]


def tied(joint: Joint, driven: bool, free: bool) -> Joint:
    """A joint in loops: driven by an actuator, or by its spring where it follows no other and has
    linear damping, or passive."""
    if driven or not free or joint.spring == 0 or joint.FQ != 0:
        return replace(joint, active=driven)
    return replace(
        joint, elastic=True, stiffness=joint.spring, rest=joint.neutral, damping=joint.FV,
        spring=0, neutral=0, FV=0,
    )  # fmt: skip


def along_axis(T: Array, axis: Array) -> Array:
    """The frame turned so that its z lies along an axis that is given in it."""
    R = along(axis)
    return T if R is None else np.asarray(T @ frame(R, np.zeros(3)))
