"""Loops in closed form as formulas: each unknown by one of Paul's types, [KC97] 3.3.1, 3.4.

The stages are those of analytic.py, written with symbols: what the joints that are left cannot
change, seen from the link that both sides of the loop hang on, is in an angle x

    X sin x + Y cos x = Z           type 2: two roots, e = +1 and -1
    two such equations              type 3: one root

and in a length x a quadratic or a linear equation. X, Y, Z are read off at x = 0, pi/2, pi, which
is exact: |O_c - O_a|² and the components of points and directions are linear in sin x and cos x.
Which equations are used is decided at closed configurations; the program of all branches is tried
on these before anything is handed out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.scalar import HALF, function, sqrt
from ..algebra.vector import Vec, dot
from ..describe.robot import REVOLUTE, Robot
from ..exact import pi
from ..ir.interpret import interpret
from ..ir.trace import Tracer
from ..mechanism.coordinates import Coordinates
from ..mechanism.loops import LoopFrames, opened
from ..models.bodies import Bodies, bodies
from ..models.loops import coupling_error
from ..models.transform import transform
from ..program import Program
from .analytic import Step, invariants, parts_of
from .numeric import Array, difference, skeleton

if TYPE_CHECKING:
    from .analysis import Sample
    from .geometry import LoopGeometry

Scalar = Any
Invariant = tuple[int, int, int]  # its kind, frames a and b
Terms = tuple[Scalar, Scalar, Scalar]  # X, Y, Z of an angle; of a length a x² + b x + c
_NONE = 1e-9  # of the largest: coefficients below it are zero
_LEAST = 1e-4  # of the largest: a determinant below it is no good
_NEAR = 1e-6  # how near the branches come to closed configurations
_TRIED = 24
_MOST = 64  # branches
# kinds of kernels.py; 30, 31, 32 are x, y, z of O_c - O_t in the axes of the root
_WORDS = {
    1: "square of the distance from O{a} to O{c}, and to O{t}", 2: "z{a} . (O{c} - O{t}) = 0",
    3: "x{a} . (O{c} - O{t}) = 0", 4: "y{a} . (O{c} - O{t}) = 0",
    5: "square of the distance to O{c}, and to O{t}, from the point where axes {a} and {b} meet",
    6: "z{a} . z{c} = z{a} . z{t}", 7: "x{c} . (O{t} - O{c}) = 0", 8: "y{c} . (O{t} - O{c}) = 0",
    9: "z{c} . (O{t} - O{c}) = 0",
    10: "x{c} . z{t} = 0", 11: "y{c} . z{t} = 0", 12: "z{c} . x{t} = 0",
    13: "y{c} . z{t} = z{c} . y{t}", 14: "z{c} . x{t} = x{c} . z{t}",
    15: "x{c} . y{t} = y{c} . x{t}", 16: "z{c} . z{t} = 1", 17: "x{c} . x{t} = 1",
    **{k: f"{x}{{t}} . (O{{a}} - O{{t}}) = {x}{{c}} . (O{{a}} - O{{c}})"
       for first in (18, 21) for k, x in enumerate("xyz", first)},
    30: "x{r} . (O{c} - O{t}) = 0", 31: "y{r} . (O{c} - O{t}) = 0",
    32: "z{r} . (O{c} - O{t}) = 0",
}  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """How one unknown is found: by a type of Paul's, from some invariants of its loop; or by its
    coupling."""

    link: int
    kind: str  # type 2, type 3, linear, quadratic, coupling
    loop: LoopFrames | None = None
    root: int = 0  # the link that both sides of the loop hang on
    used: tuple[Invariant, ...] = ()

    @property
    def roots(self) -> int:
        return 2 if self.kind in ("type 2", "quadratic") else 1

    @property
    def words(self) -> list[str]:
        """What the equations say."""
        assert self.loop is not None
        names = {"c": self.loop.cut, "t": self.loop.twin, "r": self.root}
        return [_WORDS[kind].format(a=a, b=b, **names) for kind, a, b in self.used]


@dataclass(frozen=True, eq=False)
class Formulas:
    """One unknown after the other, from the given joints, and the program of all branches."""

    geometry: LoopGeometry
    formulas: tuple[Formula, ...]
    given: tuple[int, ...]

    @property
    def branches(self) -> int:
        return int(np.prod([x.roots for x in self.formulas], dtype=int))

    @property
    def fits(self) -> bool:
        """Are there few enough branches for one program?"""
        return self.branches <= _MOST

    @cached_property
    def program(self) -> Program:
        """q (branches, n) of the given joints; margin: negative where a branch is not real."""
        link, given = self.geometry.coordinates, self.given
        tracer = Tracer()
        scene = bodies(opened(skeleton(self.geometry.robot)), tracer.parameter)
        q_a = tracer.array("q_a", len(given))
        start: list[Scalar] = [0] * len(link.moving)
        for j, x in zip(given, q_a, strict=True):
            start[link.moving.index(j)] = x
        states: list[tuple[list[Scalar], Scalar]] = [(start, None)]
        for formula in self.formulas:
            column = link.moving.index(formula.link)
            later = []
            for q, margin in states:
                for x, least in _solved(scene, q, formula, column):
                    own = [*q[:column], x, *q[column + 1 :]]
                    both = [m for m in (margin, least) if m is not None]
                    later.append(
                        (own, function("min", *both) if len(both) > 1 else (*both, None)[0])
                    )
            states = later
        n = len(link.moving)
        rows = [x for q, _ in states for x in q]
        margins = [1 if m is None else m for _, m in states]
        outputs = {"q": ((len(states), n), rows), "margin": ((len(states),), margins)}
        code, names = tracer.program(outputs, None, skeleton(self.geometry.robot).parameters)
        meaning = {
            "q_a": f"positions of {link.named(given)}, rad or m",
            "q": "positions of all joints in each branch, rad in (-pi, pi] or m",
            "margin": "of each branch: negative where the loops cannot be closed so; q is no number"
            " there, nor are margins of what follows",
        }
        return Program("loop-geometry", self.geometry.robot.name, code, names, meaning=meaning)

    def terms(self, scene: Bodies, q: Sequence[Scalar], formula: Formula) -> list[Terms]:
        """The coefficients of a formula, of all q."""
        return _terms(scene, q, formula, self.geometry.coordinates.moving.index(formula.link))


def root_of(coordinates: Coordinates, loop: LoopFrames) -> int:
    """The link that both sides of a loop hang on."""
    return coordinates.tree.antecedent[(loop.to_cut or loop.to_twin)[0]]


def opening(scene: Bodies, q: Sequence[Scalar], loop: LoopFrames, root: int) -> list[Scalar]:
    """O_c - O_t in the axes of the root."""
    return _invariants(scene, q, Formula(0, "", loop, root, ((30, 0, 0), (31, 0, 0), (32, 0, 0))))


def formulas_of(geometry: LoopGeometry) -> Formulas | None:
    """The formulas of a robot's loops, or None where its closed form takes other invariants, or
    loses one of the closed configurations it is tried on."""
    if geometry.steps is None:
        return None
    by_joint: dict[int, Formula] = {}
    for step in geometry.steps:
        for k, x in enumerate(step.order):
            formula = _formula(geometry, step, x, step.order[k + 1 :])
            if formula is None:
                return None
            by_joint[x] = formula
    moving, chain = geometry.coordinates.moving, geometry.analysis.samples[0].equations.chain
    formulas = Formulas(geometry, tuple(by_joint.values()), tuple(geometry.given))
    pieces = [formulas]
    if not formulas.fits:  # legs of a platform, each by itself: the others are where they are
        orders = [{x for step in part for x in step.order}
                  for part in parts_of(chain, geometry.steps, {*by_joint})]  # fmt: skip
        pieces = [
            Formulas(geometry, tuple(by_joint[x] for x in by_joint if x in own),
                     tuple(j for j in moving if j not in own))
            for own in orders
        ]  # fmt: skip
    samples = geometry.analysis.samples
    if all(x.fits and all(_finds(x, sample) for sample in samples) for x in pieces):
        return formulas
    return None


def _formula(geometry: LoopGeometry, step: Step, x: int, rest: Sequence[int]) -> Formula | None:
    """The type of an unknown, by the coefficients at closed configurations."""
    if step.loop is None:
        return Formula(x, "coupling")
    link, loop = geometry.coordinates, step.loop
    root = root_of(link, loop)
    sample = geometry.analysis.samples[0]
    listed = invariants(sample.equations.chain, loop, rest)
    if not rest and loop.kind not in ("prismatic", "cylindrical"):
        listed = [(kind + 23, a, b) if kind in (7, 8, 9) else (kind, a, b) for kind, a, b in listed]
    robot = opened(skeleton(geometry.robot))
    listed = [x for x in listed if x[0] in _WORDS and (x[0] != 5 or _meet(robot, x[1], x[2]))]
    if not listed:
        return None
    whole = Formula(x, "", loop, root, tuple(listed))
    column = link.moving.index(x)
    scene = bodies(robot, sample.values.__getitem__)
    terms = _terms(scene, list(sample.q.T), whole, column)
    table = np.array(
        [[np.broadcast_to(np.asarray(y, float), len(sample.q)) for y in own] for own in terms]
    )
    chosen = _angle(table) if link.robot.joints[x - 1].sigma == REVOLUTE else _length(table)
    if chosen is None:
        return None
    kind, rows = chosen
    return Formula(x, kind, loop, root, tuple(listed[row] for row in rows))


def _angle(table: Array) -> tuple[str, tuple[int, ...]] | None:
    """The type of an angle of coefficients (rows, 3, N): two equations that give sine and cosine,
    else one."""
    size = np.hypot(table[:, 0], table[:, 1])
    largest = size.max()
    good = [row for row in range(len(table)) if np.median(size[row]) > _NONE * largest]
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    for i, j in combinations(good, 2):
        D = np.abs(table[i, 0] * table[j, 1] - table[j, 0] * table[i, 1]) / (size[i] * size[j])
        least = float(np.quantile(D, 0.1))
        if least > best[0] + 0.1:
            best = least, (i, j)
    if best[0] > _LEAST:
        return "type 3", best[1]
    return ("type 2", (good[0],)) if good else None


def _length(table: Array) -> tuple[str, tuple[int, ...]] | None:
    """A linear equation of a length, else a quadratic one."""
    largest = np.abs(table[:, :2]).max()
    a, b = (np.abs(table[:, k]).min(axis=-1) / largest for k in (0, 1))
    none = np.abs(table[:, 0]).max(axis=-1) < _NONE * largest
    linear = [row for row in range(len(table)) if none[row] and b[row] > _LEAST]
    if linear:
        return "linear", (max(linear, key=lambda row: float(b[row])),)
    quadratic = [row for row in range(len(table)) if a[row] > _LEAST]
    return ("quadratic", (quadratic[0],)) if quadratic else None


def _terms(scene: Bodies, q: Sequence[Scalar], formula: Formula, column: int) -> list[Terms]:
    """The coefficients of each invariant of a formula, whatever x is in q."""
    found = []
    length = scene.links[formula.link - 1].s
    values = (0, 1, -1) if length else (0, pi / 2, pi)
    at = [_invariants(scene, [*q[:column], x, *q[column + 1 :]], formula) for x in values]
    for zero, first, second in zip(*at, strict=True):
        if length:
            a = HALF * (first + second) - zero
            found.append((a, HALF * (first - second), zero))
        else:
            mean = HALF * (zero + second)
            found.append((first - mean, HALF * (zero - second), -mean))
    return found


def _invariants(scene: Bodies, q: Sequence[Scalar], formula: Formula) -> list[Scalar]:
    """What vanishes where the loop is closed, in the axes of the root."""
    assert formula.loop is not None

    def seen(frame: int) -> tuple[Vec, Vec, Vec, Vec]:
        m = transform(scene, q, frame, formula.root).matrix
        return tuple(Vec(m[k], m[k + 4], m[k + 8]) for k in range(4))  # type: ignore[return-value]

    c, t = seen(formula.loop.cut), seen(formula.loop.twin)
    found = []
    for kind, frame, other in formula.used:
        a = seen(frame) if frame else c
        apart = c[3] - t[3]
        if kind == 1:
            u, v = c[3] - a[3], t[3] - a[3]
            found.append(dot(u, u) - dot(v, v))
        elif kind in (2, 3, 4):
            found.append(dot(a[{2: 2, 3: 0, 4: 1}[kind]], apart))
        elif kind == 6:
            found.append(dot(a[2], c[2]) - dot(a[2], t[2]))
        elif kind == 5:  # O_i + b_j z_i, where d_j = 0
            i, j = sorted((frame, other))
            axis = seen(i)
            O = axis[3] + scene.links[j - 1].b * axis[2]
            u, v = c[3] - O, t[3] - O
            found.append(dot(u, u) - dot(v, v))
        elif kind in (7, 8, 9):
            found.append(-dot(c[kind - 7], apart))
        elif kind in (10, 11):
            found.append(dot(c[kind - 10], t[2]))
        elif kind == 12:
            found.append(dot(c[2], t[0]))
        elif kind in (13, 14, 15):
            m, k = {13: (1, 2), 14: (2, 0), 15: (0, 1)}[kind]
            found.append(dot(c[m], t[k]) - dot(c[k], t[m]))
        elif kind in (16, 17):
            x = {16: 2, 17: 0}[kind]
            found.append(dot(c[x], t[x]) - 1)
        elif kind in range(18, 24):
            x = (kind - 18) % 3
            first, last = (t, c) if kind < 21 else (c, t)
            found.append(dot(first[x], a[3] - first[3]) + dot(last[x], last[3] - a[3]))
        else:
            found.append(apart[kind - 30])
    return found


def _meet(robot: Robot, a: int, b: int) -> bool:
    """Do the axes of two joints, one on the link of the other, meet?"""
    i, j = sorted((a, b))
    return robot.joints[j - 1].antecedent == i and robot.joints[j - 1].d == 0


def _solved(
    scene: Bodies, q: Sequence[Scalar], formula: Formula, column: int
) -> list[tuple[Scalar, Scalar]]:
    """(x, margin) of each root."""
    if formula.kind == "coupling":
        return [(-coupling_error(scene, [*q[:column], 0, *q[column + 1 :]], formula.link), None)]
    terms = _terms(scene, q, formula, column)
    X, Y, Z = terms[0]
    if formula.kind == "linear":
        return [(-Z / Y, None)]
    if formula.kind == "type 3":
        X2, Y2, Z2 = terms[1]
        D = X * Y2 - X2 * Y
        return [(function("atan2", (Z * Y2 - Z2 * Y) * D, (X * Z2 - X2 * Z) * D), None)]
    if formula.kind == "quadratic":
        margin = Y * Y - 4 * X * Z
        w = sqrt(margin)
        return [((-Y + e * w) / (2 * X), margin) for e in (1, -1)]
    margin = X * X + Y * Y - Z * Z
    w = sqrt(margin)
    return [(function("atan2", X * Z + e * Y * w, Y * Z - e * X * w), margin) for e in (1, -1)]


def _finds(formulas: Formulas, sample: Sample) -> bool:
    """Are regular closed configurations among the branches, and are all real branches closed?"""
    geometry, program = formulas.geometry, formulas.program
    system = sample.equations
    q = sample.q[:_TRIED]
    q = q[geometry._conditioned(system, q) > 1e-3]
    if not len(q):
        return True
    values: Mapping[str, float] = sample.values
    inputs = {"q_a": q[:, [geometry.coordinates.moving.index(j) for j in formulas.given]]}
    if program.parameters:
        inputs["p"] = np.array([values[name] for name in program.parameters])
    with np.errstate(all="ignore"):
        answer = interpret(program.code, inputs)
    every = np.broadcast_to(answer["q"], (len(q), formulas.branches, q.shape[1]))
    margin = np.broadcast_to(answer["margin"], every.shape[:2])
    apart = np.abs(difference(every, q[:, None], system.periodic)).max(-1)
    apart[np.isnan(apart)] = np.inf
    real = (margin > 1e-6) & np.isfinite(every).all(-1)
    closed = system.error(every[real]) < _NEAR if real.any() else np.ones(1, bool)
    return bool((apart.min(1) < _NEAR).all() and closed.all())
