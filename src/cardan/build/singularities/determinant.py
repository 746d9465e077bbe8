"""The determinant of an arm's Jacobian in factors, exactly.

It is that of Renaud's third factor, seen from the frame of the path where it has the fewest terms,
[KC97] 4.6. Angles of parallel axes add: a factor may depend on a joint, or on such a sum. What is
handed out was multiplied out again and compared with the numbers of the Jacobian at random states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ...algebra.laurent import Laurent, Ring, TooLarge, factors
from ...algebra.vector import Vec
from ...describe.robot import DRIVE, FIXED, FURTHER, GEOMETRY, REVOLUTE, Link, Robot
from ...describe.values.expression import Expression, symbol, symbols
from ...exact import Exact, exact, pi
from ...mechanism.tree import Tree
from ...models.bodies import bodies
from ...models.jacobian import determinant_blocks, jacobian
from .trigonometric import Notation, scale

Array = Any
_STATES, _SAME = 6, 1e-9


@dataclass(frozen=True)
class Arm:
    """The joints on the path to a point of a frame, and the rows of J that are the task.

    known: angles of the geometry whose sines are no fractions; in `robot` they are symbols, so that
    all is exact until they are put in again."""

    robot: Robot
    frame: int
    projection: int
    rows: tuple[int, ...]
    point: Vec
    known: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, robot: Robot, frame: int, projection: int, rows: tuple[int, ...], point: Vec
    ) -> Arm:
        known: dict[str, float] = {}
        joints = list(robot.joints)
        for j in Tree.of(robot).path(frame):
            for key in ("gamma", "alpha", "theta"):
                value = getattr(joints[j - 1], key)
                if isinstance(value, Expression) or _quarter(value):
                    continue
                name = f"{key}{j}"
                while name in robot.parameters:
                    name += "_"
                known[name] = float(value)
                changed: dict[str, Any] = {key: symbol(name)}
                joints[j - 1] = replace(joints[j - 1], **changed)
        robot = replace(robot, joints=tuple(joints))
        return cls(robot, frame, projection, rows, point, known)

    @cached_property
    def path(self) -> tuple[int, ...]:
        return Tree.of(self.robot).path(self.frame)

    @cached_property
    def joints(self) -> tuple[int, ...]:
        """The links on joints that move the frame."""
        return tuple(j for j in self.path if self.robot.joints[j - 1].sigma != FIXED)

    def variable(self, j: int) -> str:
        return self.robot.joints[j - 1].variable or f"q{j}"

    @cached_property
    def variables(self) -> dict[str, int]:
        """The number of each joint variable of the robot, in order."""
        return {self.variable(j): j for j in Tree.of(self.robot).moving}

    @cached_property
    def parallel(self) -> list[list[tuple[int, int]]]:
        """Revolute joints that follow each other about parallel axes, with their sense."""
        groups: list[list[tuple[int, int]]] = []
        sense = 0  # of the axis against the first one of the group; 0: it is not parallel
        for j in self.path:
            joint = self.robot.joints[j - 1]
            sense = sense if joint.alpha == 0 else -sense if joint.alpha == pi else 0
            if joint.sigma == REVOLUTE:
                if sense:
                    groups[-1].append((j, sense))
                else:
                    groups.append([(j, 1)])
                    sense = 1
        return groups

    @cached_property
    def directions(self) -> list[dict[str, int]]:
        """The angles that a factor may depend on: of a joint, or of joints of parallel axes."""
        sums = []
        for group in self.parallel:
            for first, last in combinations(range(len(group) + 1), 2):
                start = group[first][1]
                direction: dict[str, int] = {}
                for j, sense in group[first:last]:
                    offset = symbols(self.robot.joints[j - 1].theta)
                    names = [self.variable(j), *(x for x in offset if x in self.known)]
                    direction |= dict.fromkeys(names, sense * start)
                sums.append(direction)
        angles = [{name: 1} for name in self.ring.names if name not in self.variables]
        return [*sorted(sums, key=len), *angles]

    @cached_property
    def ring(self) -> Ring:
        own = [self.variable(j) for j in self.joints]
        names = (name for j in self.path for key in GEOMETRY
                 for name in symbols(getattr(self.robot.joints[j - 1], key)))  # fmt: skip
        return Ring(tuple(dict.fromkeys([*own, *names])))

    @cached_property
    def lengths(self) -> set[Fraction]:
        """The numbers among the lengths, without sign."""
        values = [getattr(self.robot.joints[j - 1], key) for j in self.path for key in "bdr"]
        numbers = [x for x in (*values, *self.point) if isinstance(x, int | Exact)]
        return {abs(Fraction(x if isinstance(x, int) else x.a)) for x in numbers if float(x)}

    def notation(self, latex: bool = False) -> Notation:
        groups = [[self.variable(j) for j, _ in group] for group in self.parallel]
        return Notation({self.variable(j): j for j in self.joints}, groups, latex)

    def sampled(self, rng: np.random.Generator) -> dict[str, float]:
        """Random numbers for the joint variables and the symbols."""
        values = {name: float(rng.uniform(0.4, 1.6)) for name in self.robot.parameters}
        turns = rng.uniform(-np.pi, np.pi, len(self.variables))
        return values | dict(zip(self.variables, turns.tolist(), strict=True)) | dict(self.known)

    def jacobian(self, values: Mapping[str, float]) -> Array:
        """The rows of J where variables and symbols have these values."""
        scene = bodies(self.robot, values.__getitem__)
        q = [values[name] for name in self.variables]
        J = jacobian(scene, q, self.frame, self.projection, self.projection, tool=self.point)
        columns = [k for k, m in enumerate(J.K) if m in J.a]
        return np.array(J.rows(), dtype=float)[np.ix_(self.rows, columns)]


@dataclass(frozen=True)
class Determinant:
    """A number times lengths times factors in joint variables."""

    arm: Arm
    number: Fraction
    lengths: tuple[Laurent, ...]
    factors: tuple[Laurent, ...]

    def text(self, notation: Notation) -> str:
        return notation.product(self.number, [*self.lengths, *self.factors])


def factorised(arm: Arm) -> Determinant | None:
    """The determinant in factors; None where it is no polynomial, one of too many terms, or where
    the factors do not give the numbers of the Jacobian."""
    try:
        blocks = [factors(p, arm.directions) for p in _blocks(arm)]
    except TooLarge:
        return None
    number = prod((x for x, _ in blocks), start=Fraction(1))
    parts = [part for _, some in blocks for part in some]
    scaled = []
    notation = arm.notation()
    for part in (part.substituted(arm.known) if arm.known else part for part in parts):
        by = scale(part, notation, arm.lengths)
        number *= by
        scaled.append(part * exact(1 / by))
    one = arm.ring.none
    scaled = [part for part in scaled if set(part.terms) != {one}]
    moved = [part for part in scaled if any(name in arm.variables for name in part.variables)]
    lengths = [part for part in scaled if part not in moved]

    def order(part: Laurent) -> tuple[bool, int, list[int]]:
        joints = [arm.variables[name] for name in part.variables if name in arm.variables]
        return len(part.terms) > 1, len(joints), joints  # slides stand with the lengths

    moved.sort(key=order)
    result = Determinant(arm, number, tuple(lengths), tuple(moved))
    return result if _agrees(result) else None


def _blocks(arm: Arm) -> list[Laurent]:
    """Polynomials whose product is the determinant, from the frame where the matrix has the fewest
    terms."""
    ring = arm.ring
    keys = (*DRIVE, "stiffness", "rest", "damping", *FURTHER)
    none: dict[str, Any] = dict.fromkeys(keys, 0)
    joints = tuple(replace(joint, **none) for joint in arm.robot.joints)
    links = tuple(Link(link.name) for link in arm.robot.links)
    bare = replace(arm.robot, joints=joints, links=links, gravity=(0, 0, 0))
    known = {*ring.names}
    scene = bodies(bare, lambda name: ring.symbol(name) if name in known else 0)
    q = [ring.symbol(name) if name in known else 0 for name in arm.variables]
    best: tuple[int, Any] | None = None
    turned = arm.rows in _TURNED
    for k in arm.joints if turned else (0, *arm.path):
        axes = k if turned else arm.projection
        try:
            x = jacobian(scene, q, arm.frame, axes, k, tool=arm.point)
            whole = x.third() if len(arm.rows) == 6 else x.rows()
        except TooLarge:
            continue
        columns = [c for c, m in enumerate(x.K) if m in x.a]
        rows = [[whole[r][c] for c in columns] for r in arm.rows]
        size = sum(len(x.terms) if isinstance(x, Laurent) else int(x != 0) for r in rows for x in r)
        if best is None or size < best[0]:
            best = size, rows
    if best is None:
        raise TooLarge
    return [
        p if isinstance(p, Laurent) else Laurent(ring, {ring.none: ring.constant(p)})
        for p in determinant_blocks(best[1])
    ]


def _quarter(angle: Any) -> bool:
    """Is this a multiple of a right angle?"""
    if isinstance(angle, Exact):
        return not angle.a and (2 * angle.b).denominator == 1
    return bool(angle == 0)


# rows whose determinant is the same in any axes: of position, of orientation, all six
_TURNED = ((0, 1, 2), (3, 4, 5), (0, 1, 2, 3, 4, 5))


def _agrees(found: Determinant) -> bool:
    """Is the product of the factors det J at random states?"""
    rng = np.random.default_rng(5)
    for _ in range(_STATES):
        values = found.arm.sampled(rng)
        J = found.arm.jacobian(values)
        size = float(np.prod(np.linalg.norm(J, axis=1)))
        product = float(found.number)
        for factor in (*found.lengths, *found.factors):
            product *= factor.at(values)
        if not abs(product - np.linalg.det(J)) <= _SAME * max(size, 1e-12):
            return False
    return True
