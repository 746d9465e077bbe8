"""Loops of formats with free body frames: two frames that coincide -> cut and twin on links.

The cut's and the twin's frames are given in the bodies' own frames; Khalil's frames of the same
bodies stand elsewhere. Both are placed in frame 0 at one configuration (`refs`, zero where a joint
is not named), and compared there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..algebra.ranks import null_space
from ..algebra.so3 import about, along, log
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


def balanced(
    placed: Placed, joints: Sequence[Joint], loops: Sequence[Loop],
    tell: Callable[[str, str], None],
) -> list[Joint]:  # fmt: skip
    """The joints with as many active ones as the loops leave free: of motors that loops turn
    together with those before them none is active, and what nothing drives is, as in a tree. Seen
    near the configuration that is drawn; tell: of each kind of change, and of which joint."""
    W = _moved(placed, joints, loops)
    moving = [j for j, joint in enumerate(joints) if joint.sigma != FIXED]
    inside = within_loops(joints, loops)
    idle = [
        k for k, j in enumerate(moving)
        if not joints[j].active and joints[j].name in inside and np.abs(W[:, k]).max() < 1e-7
    ]  # fmt: skip
    N = null_space(np.delete(W, idle, axis=1), 1e-7)
    moving = [j for k, j in enumerate(moving) if k not in idle]
    free: list[int] = []

    def chosen(candidates: Sequence[int]) -> list[int]:
        """Those that are free beside what is."""
        before = len(free)
        for k in candidates:
            if len(free) < N.shape[1]:
                rank = np.linalg.matrix_rank(N[[*free, k]], 1e-7)
                free.extend([k] if rank > len(free) else [])
        return [moving[k] for k in free[before:]]

    motors = [k for k, j in enumerate(moving) if joints[j].active]
    springs = [k for k, j in enumerate(moving) if joints[j].elastic]
    led = [] if springs else [moving[k] for k in motors if moving[k] not in chosen([k])]
    chosen([*motors, *springs])
    loose = chosen([k for k, j in enumerate(moving) if joints[j].mimic is None])
    for j in led:
        words = "joints that loops move together with others are passive: the torques of their"
        tell(f"{words} actuators are left out", joints[j].name)
    for j in loose:
        words = "joints that nothing drives, and loops leave free, have a torque as if they were"
        tell(f"{words} driven", joints[j].name)
    return [
        replace(joint, active=j not in led) if j in {*led, *loose} else joint
        for j, joint in enumerate(joints)
    ]


def _moved(placed: Placed, joints: Sequence[Joint], loops: Sequence[Loop]) -> np.ndarray:
    """The matrix of the loops and couplings, W qd = 0, of the joints that move, a little beside
    the drawn configuration, which may have more freedoms than those around it."""
    q = np.array([placed.refs.get(joint.name, 0.0) for joint in joints])
    W, e = _equations(placed, joints, loops, q)
    moving = [j for j, joint in enumerate(joints) if joint.sigma != FIXED]
    drawn = W[:, moving]
    N = null_space(drawn, 1e-7)
    q[moving] += N @ np.random.default_rng(1).normal(0, 0.1, N.shape[1])
    for _ in range(12):
        W, e = _equations(placed, joints, loops, q)
        q[moving] -= np.linalg.lstsq(W[:, moving], e, rcond=1e-7)[0]
    W, e = _equations(placed, joints, loops, q)
    return W[:, moving] if np.abs(e).max(initial=0.0) < 1e-6 else drawn


def _equations(
    placed: Placed, joints: Sequence[Joint], loops: Sequence[Loop], q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(W, e) of the loops and couplings at q: how far they are open, and how that moves; lengths by
    the size of the robot."""
    refs = {joint.name: float(x) for joint, x in zip(joints, q, strict=True)}
    T, n, size = replace(placed, refs=refs).khalil, len(joints), placed.size or 1.0
    rows, open_by = [], []
    for loop in loops:
        cut, twin = (
            T[x.antecedent] @ matrix_of([number(getattr(x, key)) or 0.0 for key in GEOMETRY])
            for x in (loop.cut, loop.twin)
        )
        twists = np.zeros((6, n))
        for sign, j in ((1.0, loop.cut.antecedent), (-1.0, loop.twin.antecedent)):
            while j:
                z, arm = T[j][:3, 2], cut[:3, 3] - T[j][:3, 3]
                turns = joints[j - 1].sigma == REVOLUTE
                v, w = (np.cross(z, arm), z) if turns else (z, 0 * z)
                if joints[j - 1].sigma != FIXED:
                    twists[:, j - 1] += sign * np.r_[cut[:3, :3].T @ v, cut[:3, :3].T @ w]
                j = joints[j - 1].antecedent
        gap = cut[:3, :3].T @ (cut[:3, 3] - twin[:3, 3])
        turn = log(twin[:3, :3].T @ cut[:3, :3])
        held = list(_HELD[loop.kind or loop.cut.sigma])
        twists[:3] /= size
        rows.append(twists[held])
        open_by.append(np.r_[gap / size, turn][held])
    for j, joint in enumerate(joints):
        if joint.mimic is not None:
            row = np.eye(n)[[j]]
            for k, ratio in joint.mimic.leaders:
                row[0, k - 1] -= float(number(ratio) or 0)
            rows.append(row)
            open_by.append(row @ q - float(number(joint.mimic.offset) or 0))
    return np.vstack(rows), np.concatenate(open_by)


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
