"""`Chain`: the serial path from the base to a frame, with fixed frames folded.

    T = B  Z_1  X_2 Z_2  X_3 Z_3 ...  X_n Z_n  E
    X_j = Rot(x, alpha_j) Tran(x, d_j) Rot(y, beta_j)      Z_j = Rot(z, theta_j) Tran(z, r_j)

q_j is added to theta_j (revolute) or r_j (prismatic); theta_j and r_j of a joint hold the constant
part. What stands before the first joint axis is in the base B, what stands after the last in the
tool E. So gamma and b of Khalil's notation are never needed: along a chain they belong to the joint
before (turns and shifts about one axis commute), [KC97] 2.1. beta_j is zero, unless axes are so
nearly parallel that their common normal is far away (fold.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...algebra.scalar import function
from ...describe.robot import FIXED, PRISMATIC, REVOLUTE, Joint, Limits, Robot
from ...describe.values.expression import Expression, Value, evaluate, symbols
from ...errors import InputError, ModelError, UnknownNameError
from ...exact import exact, pi
from ...mechanism.frames import with_frames
from ...mechanism.tree import Tree
from .fold import Screw, Word, folded

Array = NDArray[np.float64]


# virtual joints that may turn a frame about its own origin: z, then with two more any way
WRIST = (
    Joint("turn1", 0),
    Joint("turn2", 0, alpha=-pi / 2),
    Joint("turn3", 0, alpha=pi / 2),
)


@dataclass(frozen=True)
class ChainJoint:
    """Joint j of a chain: X_j then Z_j. alpha and d of the first joint are 0 (they are in B)."""

    name: str  # of the joint variable
    link: int  # number of the frame it carries
    sigma: int  # 0 revolute, 1 prismatic
    alpha: Value
    d: Value
    theta: Value
    r: Value
    limits: Limits = field(default_factory=Limits)
    beta: Value = 0  # a number: geometry with symbols has none


@dataclass(frozen=True)
class Chain:
    """The joints between frame 0 (or the world) and a frame; values exact or formulas."""

    robot: str
    frame: str
    joints: tuple[ChainJoint, ...]
    base: tuple[Screw, ...]  # factors of B
    tool: tuple[Screw, ...]  # factors of E
    world: tuple[Value, ...] | None = None  # placement of frame 0, when poses are of the world
    plain: Chain | None = None  # where there is a beta, the same by the common normals, far away
    order: tuple[str, ...] = ()  # of the robot's parameters, in which programs take them

    @classmethod
    def of(
        cls, robot: Robot, frame: int | str | None = None, reference: Any = 0, turns: int = 0
    ) -> Chain:
        """The chain to a frame (default: the end effector), seen from a frame of the base or from
        'world', whatever ties its joints to others. turns: virtual joints about the origin of the
        frame, at its end: 1 about its axis z, 3 a spherical wrist."""
        if robot.base.kind != "fixed" and reference == "world":
            raise ModelError(f"the base of '{robot.name}' moves: poses are seen from frame 0")
        seen = [] if reference == "world" else [reference]
        robot, (link, *others) = with_frames(robot, [frame, *seen])
        tree = Tree.of(robot)
        path = tree.path(link)
        if not any(tree.sigma[j] != FIXED for j in path):
            raise ModelError(
                f"'inverse-geometry' of '{robot.name}': no joint moves frame {tree.names[link]}"
            )
        names = dict(zip(tree.moving, robot.variables, strict=True))
        back = [x for k in others for x in _back(robot, tree, k)]
        steps = [*((0, x) for x in back), *((j, robot.joints[j - 1]) for j in path)]
        virtual = {-1 - k: joint for k, joint in enumerate(WRIST[:turns])}
        steps += virtual.items()
        names |= {k: joint.name for k, joint in virtual.items()}
        world = robot.base.Z if reference == "world" else None

        def chain(word: Word, plain: Chain | None = None) -> Chain:
            joints = []
            for j, (alpha, d, theta, r, beta) in word.joints:
                joint = virtual[j] if j in virtual else robot.joints[j - 1]
                joints.append(
                    ChainJoint(names[j], j, joint.sigma, alpha, d, theta, r, joint.limits, beta)
                )
            ends = word.base, word.tool
            return cls(
                robot.name, tree.names[link], tuple(joints), *ends, world, plain, robot.parameters
            )

        word = folded(robot.name, steps)
        return chain(word, chain(folded(robot.name, steps, tilts=False)) if word.tilted else None)

    @property
    def n(self) -> int:
        return len(self.joints)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joint variables."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the symbols in the geometry, in order of appearance."""
        values = [v for s in (*self.base, *self.tool) for v in s[1:]]
        values += [v for j in self.joints for v in (j.alpha, j.d, j.theta, j.r)]
        values += list(self.world or ())
        return tuple(dict.fromkeys(name for v in values for name in symbols(v)))

    def index(self, joint: int | str) -> int:
        """The place in q (from 0) of a joint variable, by name or by number from 1."""
        if isinstance(joint, str) and joint.isdigit():
            joint = int(joint)
        if isinstance(joint, str):
            if joint not in self.names:
                raise UnknownNameError.of("joint variable", joint, self.names)
            return self.names.index(joint)
        if isinstance(joint, bool) or not isinstance(joint, int) or not 1 <= joint <= self.n:
            raise ModelError(f"joint {joint} does not exist; joints are 1 to {self.n}")
        return joint - 1

    def in_units(self, unit: float) -> Chain:
        """The chain with its lengths in this many m, a power of two."""
        if unit == 1:
            return self
        over: Any = exact(1 / Fraction(unit))

        def shifts(word: Sequence[Screw]) -> tuple[Screw, ...]:
            return tuple((axis, angle, shift * over) for axis, angle, shift in word)

        joints = tuple(replace(j, d=j.d * over, r=j.r * over) for j in self.joints)
        world = self.world
        if world is not None:
            world = tuple(x * over if k in (3, 7, 11) else x for k, x in enumerate(world))
        plain = None if self.plain is None else self.plain.in_units(unit)
        ends = shifts(self.base), shifts(self.tool)
        return replace(self, joints=joints, base=ends[0], tool=ends[1], world=world, plain=plain)

    def numeric(self, values: Mapping[str, float] | None = None) -> NumericChain:
        """The chain in floats; `values` of its symbols."""
        given = dict(values or {})
        missing = [name for name in self.parameters if name not in given]
        if missing:
            raise InputError(
                f"the geometry of '{self.robot}' has symbols without a value: {', '.join(missing)}",
                remedy=f"give them: p={{'{missing[0]}': ...}}, or robot.with_values({{...}})",
                action="values",
            )

        def number(value: Value | None, default: float = 0.0) -> float:
            if value is None:
                return default
            return float(evaluate(value, lambda name: float(given[name]), function))

        def screws(factors: Sequence[Screw]) -> Array:
            T = np.eye(4)
            for axis, angle, shift in factors:
                T = T @ screw_matrix(axis, number(angle), number(shift))
            return T

        base = screws(self.base)
        if self.world is not None:
            base = np.reshape([number(v) for v in self.world], (4, 4)) @ base
        limits = [j.limits for j in self.joints]
        return NumericChain(
            sigma=np.array([j.sigma for j in self.joints]),
            alpha=np.array([number(j.alpha) for j in self.joints]),
            d=np.array([number(j.d) for j in self.joints]),
            theta=np.array([number(j.theta) for j in self.joints]),
            r=np.array([number(j.r) for j in self.joints]),
            base=base,
            tool=screws(self.tool),
            lower=np.array([_limit(x.lower, -np.inf) for x in limits]),
            upper=np.array([_limit(x.upper, np.inf) for x in limits]),
            beta=np.array([number(j.beta) for j in self.joints]),
        )


def unit_of(size: float) -> float:
    """1 where a size is between 1 cm and 100 m, else the power of two next to it."""
    return 1.0 if 1e-2 <= size <= 1e2 or not 0 < size < np.inf else 2.0 ** round(log2(size))


def _back(robot: Robot, tree: Tree, reference: int) -> list[Joint]:
    """Fixed frames that lead from a frame on the base back to frame 0."""
    path = tree.path(reference)
    if any(tree.sigma[j] != FIXED for j in path):
        raise ModelError(
            f"'inverse-geometry' of '{robot.name}': poses are seen from a frame that is fixed on"
            f" the base, or from 'world', and joints move frame {tree.label(reference)}"
        )
    steps = [robot.joints[j - 1] for j in reversed(path)]
    return [
        replace(x, gamma=-x.theta, b=-x.r, alpha=-x.alpha, d=-x.d, theta=-x.gamma, r=-x.b)
        for x in steps
    ]


def _limit(value: Value | None, default: float) -> float:
    return default if value is None or isinstance(value, Expression) else float(value)


@dataclass(frozen=True)
class NumericChain:
    """The chain in floats: arrays of n; base and tool (4, 4)."""

    sigma: NDArray[np.int_]
    alpha: Array
    d: Array
    theta: Array
    r: Array
    base: Array
    tool: Array
    lower: Array
    upper: Array
    tolerance: float | None = None  # how far an answer may miss its pose, m and rad; None: rounding
    beta: Array = field(default_factory=lambda: np.zeros(0))  # none: all zero

    def __post_init__(self) -> None:
        if len(self.beta) != len(self.sigma):
            object.__setattr__(self, "beta", np.zeros(len(self.sigma)))

    @property
    def n(self) -> int:
        return len(self.sigma)

    def across(self, j: int) -> Array:
        """X_j."""
        X = screw_matrix("x", self.alpha[j], self.d[j])
        return X @ screw_matrix("y", self.beta[j], 0.0) if self.beta[j] else X

    @cached_property
    def size(self) -> float:
        """A length of the robot: the sum of its link lengths (1 when it has none)."""
        ends = sum(float(np.linalg.norm(T[:3, 3])) for T in (self.base, self.tool))
        return float(np.abs(self.d).sum() + np.abs(self.r).sum()) + ends or 1.0

    @cached_property
    def span(self) -> float:
        """The size, but of a robot whose almost parallel axes have their common normals far away
        the sum of the distances from joint to joint: the other lengths are no measure of it."""
        steps = sum(float(np.linalg.norm(T[:3, 3])) for T in self.placements)
        return steps if self.size > 30 * steps > 0 else self.size

    @cached_property
    def placements(self) -> list[Array]:
        """The constant placements from frame 0 to the first joint, from joint to joint, and from
        the last to the tool, each axis seen from that point of it which is nearest to the one
        before."""
        found = []
        step = self.base
        for j in range(self.n):
            back = -float(step[:3, 2] @ step[:3, 3])  # to the foot of the perpendicular
            found.append(step @ screw_matrix("z", 0.0, back))
            step = screw_matrix("z", self.theta[j], self.r[j] - back)
            if j + 1 < self.n:
                step = step @ self.across(j + 1)
        return [*found, step @ self.tool]

    @property
    def unit(self) -> float:
        """1 m for robots of usual size, else the power of two next to the size: lengths are
        compared with turns."""
        return unit_of(self.span)

    @property
    def scale(self) -> float:
        """What errors of a pose are compared with: 1 for its rotation, its size if larger."""
        return max(1.0, self.span / self.unit)

    def frames(self, q: Array) -> list[Array]:
        """Placements (..., 4, 4) of base, of every joint frame, and of the tool."""
        q = np.asarray(q, float)
        T = np.broadcast_to(self.base, (*q.shape[:-1], 4, 4))
        found = [T]
        for j in range(self.n):
            theta = self.theta[j] + q[..., j] * (self.sigma[j] == REVOLUTE)
            r = self.r[j] + q[..., j] * (self.sigma[j] == PRISMATIC)
            T = T @ self.across(j) @ screw_matrix("z", theta, r)
            found.append(T)
        return [*found, T @ self.tool]

    def pose(self, q: Array) -> Array:
        """T (..., 4, 4): the direct geometric model."""
        return self.frames(q)[-1]

    def jacobian(self, q: Array) -> Array:
        """Twist (linear, angular) of the tool per joint velocity, in frame 0: (..., 6, n)."""
        return self.pose_jacobian(q)[1]

    def pose_jacobian(self, q: Array) -> tuple[Array, Array]:
        """T and its Jacobian, [KC97] (3)."""
        placed = self.frames(q)
        T = placed[-1]
        columns = []
        for j in range(self.n):
            a, P = placed[j + 1][..., :3, 2], placed[j + 1][..., :3, 3]
            if self.sigma[j] == PRISMATIC:
                columns.append(np.concatenate([a, np.zeros_like(a)], -1))
            else:
                columns.append(np.concatenate([np.cross(a, T[..., :3, 3] - P), a], -1))
        return T, np.stack(columns, -1)


def screw_matrix(axis: str, angle: Any, shift: Any) -> Array:
    """Rot(axis, angle) Tran(axis, shift) as (..., 4, 4)."""
    c, s = np.cos(angle), np.sin(angle)
    T = np.zeros((*np.broadcast_shapes(np.shape(angle), np.shape(shift)), 4, 4))
    a, u, v = {"x": (0, 1, 2), "y": (1, 2, 0), "z": (2, 0, 1)}[axis]
    T[..., a, a] = T[..., 3, 3] = 1
    T[..., u, u], T[..., v, v], T[..., u, v], T[..., v, u] = c, c, -s, s
    T[..., a, 3] = shift
    return T
