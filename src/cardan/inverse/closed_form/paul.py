"""Paul's and Pieper's methods: solve the matrix equations of a chain one unknown after the other.

At every stage all equations iT0 U0 nTk = iTk are written with what is known by then; the relation
in one unknown that is cheapest and safest is solved and its root joins the knowns. Paul's method
uses the types of [KC97] 3.3.1; Pieper's allows in addition the polynomials of degree 4 that three
intersecting axes or three sliding joints lead to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...algebra.scalar import cos_sin
from ...describe.robot import PRISMATIC
from ...ir.graph import Expr
from ..chain.chain import Chain
from .equation import Equation, equations
from .matrices import Geometry, geometry
from .relation import Relation, relations
from .roots import TINY, Aid, Root, solved
from .shadow import Shadow

Scalar = Any


class Unsolved(Exception):
    """No relation in one unknown is left; says how far it came."""


@dataclass(frozen=True)
class Step:
    """One unknown solved."""

    unknown: int
    relation: Relation
    root: Root


@dataclass
class Derivation:
    """The steps that solve a chain, in order."""

    chain: Chain
    geo: Geometry
    shadow: Shadow
    quartics: bool
    guided: bool = False
    true: Chain | None = None  # the chain itself, where that of the equations is one nearby
    steps: list[Step] = field(default_factory=list)
    known: dict[int, Any] = field(default_factory=dict)
    signs: list[Expr] = field(default_factory=list)
    conditions: list[Equation] = field(default_factory=list)

    def sign(self) -> Expr:
        found = self.geo.tracer.graph.leaf("sign", len(self.signs))
        self.signs.append(found)
        return found

    @property
    def missing(self) -> list[int]:
        return [j for j in self.geo.unknowns if j not in self.known]

    def solve(self) -> None:
        """Solve every unknown, or say which stay."""
        while self.missing:
            found = equations(self.geo, self.known, self.shadow)
            self._note_conditions(found)
            best = min(self._ranked(found), key=lambda item: item[0], default=None)
            if best is None:
                raise Unsolved(self.missing)
            self._take(best[1])
        self.geo.tracer.inputs["sign"] = (len(self.signs),)

    def _note_conditions(self, found: Sequence[Equation]) -> None:
        """Equations without unknowns that only some poses satisfy."""
        wanted = 6 - len(self.geo.unknowns)
        for e in found:
            full = len(self.conditions) >= wanted
            new = all(e.zero != other.zero for other in self.conditions)
            if new and not full and not e.unknowns and self._is_condition(e):
                self.conditions.append(e)

    def _is_condition(self, e: Equation) -> bool:
        return self.shadow.is_condition(e.zero, self.shadow.size**e.degree)

    def _ranked(self, found: Sequence[Equation]) -> Iterator[tuple[tuple[float, int], Relation]]:
        for relation in relations(found, self.shadow, self.quartics):
            work = self.shadow.unpaid(list(relation.coefficients))
            yield (relation.rank, work), relation

    def _take(self, relation: Relation) -> None:
        j = relation.unknown
        graph = self.geo.tracer.graph
        shadow = self.shadow
        aid = Aid(
            graph, self.sign, self.geo.size, self._otherwise(j), shadow.is_constant, shadow.usual,
            graph.leaf("guess", self.chain.n) if self.guided else TINY,
        )  # fmt: skip
        root = solved(relation, aid)
        self.known[j] = root.value
        self.steps.append(Step(j, relation, root))
        atoms = self.shadow.atoms
        if self.geo.joints[j].sigma == PRISMATIC:
            self.shadow.know(root.value, atoms[4 * j + 2])
            self.shadow.pay([root.value])
        else:
            for k, x in enumerate(root.value):
                self.shadow.know(x, atoms[4 * j + k])
            self.shadow.pay(list(root.value))

    def _otherwise(self, j: int) -> tuple[Scalar, Scalar]:
        """The direction, or the length, of q_j = 0 (or of the guess): what is taken when any would
        do."""
        joint = self.geo.joints[j]
        own = joint.r if joint.sigma == PRISMATIC else joint.theta
        if self.guided:
            wanted = self.geo.tracer.graph.leaf("guess", j)
            slides = joint.sigma == PRISMATIC and self.geo.unit != 1
            own = own + (wanted * (1 / self.geo.unit) if slides else wanted)
        if joint.sigma == PRISMATIC:
            return own, 0
        turn = joint.turn + joint.sign * own
        c, s = cos_sin(turn)
        if joint.previous is not None and joint.previous in self.known:
            C, S = self.known[joint.previous]
            return C * c - S * s, S * c + C * s
        return c, s


def derive(
    chain: Chain, free: Sequence[int] = (), *, quartics: bool = False, guided: bool = False,
    plane: bool = False, true: Chain | None = None, unit: float = 1.0,
) -> Derivation:  # fmt: skip
    """The solution of a chain; Unsolved when the method does not apply. `true`: the chain itself,
    where this one has the exact values that its rounded ones stand for. `unit`: m of a length of
    the chain, 1 unless the robot is far smaller or larger.

    guided: with an input `guess`, the values taken where any would do; its last entry says how
    short (squared) a vector is that gives no direction."""
    geo = geometry(chain, free, plane=plane, unit=unit)
    if guided:
        geo.tracer.inputs["guess"] = (chain.n + 1,)
    found = Derivation(chain, geo, Shadow(chain, geo), quartics, guided, true)
    found.solve()
    return found
