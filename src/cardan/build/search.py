"""The search for fewer operations: competing formulations of one model, the cheapest kept.

Every candidate is traced and its sums are rewritten (`ir.factor`); a few whole-robot choices are
tried first, then single links are changed one after the other as long as it pays. The order is
fixed and the number of traces bounded, so the result is the same on every run. The winner is
checked numerically against the plain form of the paper.

    effort "plain"   the paper's form, nothing tried
           "normal"  a few dozen traces; beyond LARGE links only the whole-robot choices
           "safe"    the same, but nothing is divided by a symbol: it may be zero
           "max"     all links, and pairs of changes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ..describe.robot import FIXED, PRISMATIC, REVOLUTE, Joint, Robot
from ..describe.symbolic import is_quarter
from ..models.formulation import PLAIN, Formulation
from ..models.reform import LENGTHS
from .derivation import Candidate, Derivation, Form, verify

__all__ = ["EFFORTS", "cheapest", "units"]

EFFORTS = ("plain", "normal", "safe", "max")
LARGE = 12
WORK = 40_000  # nodes traced by a normal search: the number of trials follows from it

HOPELESS = 1.1  # a start that much above another algorithm's price is not climbed from

Change = tuple[str, int]


def cheapest(
    derivation: Derivation, formulate: Callable[[Formulation], Form], choices: Sequence[str],
    effort: str = "normal", beaten: int | None = None,
) -> Candidate:  # fmt: skip
    """The cheapest candidate among the formulations that differ in these choices.

    `beaten`: the price of another algorithm; climbing is spared where it is out of reach."""
    plain = derivation.trace(formulate(PLAIN))
    if effort == "plain":
        return plain
    robot = derivation.robot
    if effort == "safe":
        choices = [key for key in choices if key not in ("lump", "rod")]
    seen: dict[Formulation, Candidate] = {}

    def traced(form: Formulation) -> Candidate:
        if form not in seen:
            seen[form] = derivation.trace(formulate(form), factor=True)
        return seen[form]

    def price(form: Formulation) -> int:
        return traced(form).price

    seeds = list(_seeds(robot, choices))
    starts = [min(seeds, key=price)]
    if "balance" not in choices:  # few choices: climb from either side
        other = [form for form in seeds if bool(form.still) != bool(starts[0].still)]
        starts += [min(other, key=price)] if other else []
    hopeless = beaten is not None and price(starts[0]) > HOPELESS * beaten
    if effort == "max" or (len(robot.links) <= LARGE and not hopeless):
        changes = list(_changes(robot, choices, thorough=effort == "max"))
        budget = WORK // len(plain.code.nodes) // len(starts)
        budget = 5000 if effort == "max" else max(20, min(60, budget))
        starts = [_climb(form, traced, changes, budget, effort == "max") for form in starts]
    best = min(starts, key=price)
    found = replace(traced(best), remarks=best.remarks())
    if found.price >= plain.price:
        return plain
    verify(derivation, plain.code, plain.parameters, found.code, found.parameters)
    return found


def _seeds(robot: Robot, choices: Sequence[str]) -> Iterator[Formulation]:
    """Whole-robot choices: every link or none, the shape that mostly pays or none of it."""
    every, none = frozenset(range(1, len(robot.links) + 1)), frozenset[int]()
    options = [(*o, True) for o in product((True, False), repeat=3)]
    options += (
        [(True, True, True, False)]
        if "balance" in choices
        else [(regroup, False, slide, False) for regroup, slide in product((True, False), repeat=2)]
    )
    if len(robot.links) > LARGE:
        options = [(True, True, slide, shape) for slide in (True, False) for shape in (True, False)]
    shape = {key: value for key, value in _shape(robot).items() if key in choices}
    tried: set[Formulation] = set()
    for regroup, balance, slide, shaped in options:
        form = Formulation(
            regroup=regroup and "regroup" in choices,
            balance=every if balance and "balance" in choices else none,
            slide=every if slide and "slide" in choices else none,
        )
        form = replace(form, **shape) if shaped else form
        for candidate in (form, form.whole):
            if candidate not in tried:
                tried.add(candidate)
                yield candidate


def _shape(robot: Robot) -> dict[str, Any]:
    """What mostly pays: the last links and those before parallel joints still, U by columns."""
    kin = _Kin.of(robot)
    before = {robot.joints[j - 1].antecedent for j in kin.parallel}
    return {
        "axial": frozenset(kin.turning - kin.leaves),
        "carried": frozenset(kin.leaves),
        "still": frozenset(kin.leaves | before),
        "grouped": frozenset(kin.parallel),
        "apart": frozenset(kin.parallel & kin.near),
        "align": frozenset(kin.leaves),
        "lump": frozenset(j for j in kin.far if _depth(robot.joints, j) > 2),
        "rod": frozenset(j for j in kin.oblique if _depth(robot.joints, j) > 2),
        "unit": next(units(robot), None),
    }


def _climb(
    start: Formulation, traced: Callable[[Formulation], Candidate], changes: Sequence[Change],
    budget: int, pairs: bool,
) -> Formulation:  # fmt: skip
    """Change one link's choice at a time (or two), as long as the price falls and traces remain."""
    best, least, improved = start, traced(start).price, True
    tries = 0
    while improved:
        improved = False
        steps: list[tuple[Change, ...]] = [(change,) for change in changes]
        if pairs:
            steps += [(x, y) for k, x in enumerate(changes) for y in changes[k + 1 :]]
        for step in steps:
            tries += 1
            if tries > budget:
                return best
            tried = best
            for change in step:
                tried = _changed(tried, change)
            price = traced(tried).price
            if price < least:
                best, least, improved = tried, price, True
    return best


def _changed(form: Formulation, change: Change) -> Formulation:
    key, j = change
    if key in LENGTHS:
        return replace(form, unit=None if form.unit == change else change)
    return replace(form, **{key: getattr(form, key) ^ {j}})


def units(robot: Robot) -> Iterator[Change]:
    """Lengths that may be the unit, those of the last links first."""
    joints = robot.joints
    if robot.base.kind == "floating" or any(joint.sigma == PRISMATIC for joint in joints):
        return  # forces are outputs there, and would be scaled back
    for j in range(len(joints), 0, -1):
        for key in LENGTHS:
            if getattr(joints[j - 1], key) != 0:
                yield key, j


def _changes(robot: Robot, choices: Sequence[str], thorough: bool) -> Iterator[Change]:
    """The changes of single links that can pay."""
    kin = _Kin.of(robot)
    before = {robot.joints[j - 1].antecedent for j in kin.parallel} - {0}
    still = kin.turning if thorough else (kin.near | kin.leaves | before)
    able = {
        "still": still,
        "grouped": kin.parallel,
        "carried": still,
        "balance": still,
        "align": kin.leaves,
        "apart": kin.near,
        "axial": kin.turning,
        "column": kin.turning,
        "lump": kin.far,
        "rod": kin.oblique,
        "slide": {
            j for j, joint in enumerate(robot.joints, 1) if joint.r != 0 and joint.sigma != FIXED
        },
    }
    if "unit" in choices:
        yield from units(robot)
    for key in choices:
        yield from ((key, j) for j in sorted(able.get(key, ())))


@dataclass(frozen=True)
class _Kin:
    """Revolute joints; those parallel to their antecedent's; near the base; on last links; at a
    distance from their antecedent's, or oblique to it."""

    turning: frozenset[int]
    parallel: frozenset[int]
    near: frozenset[int]
    leaves: frozenset[int]
    far: frozenset[int]
    oblique: frozenset[int]

    @staticmethod
    def of(robot: Robot) -> _Kin:
        joints = robot.joints
        turning = frozenset(j for j, joint in enumerate(joints, 1) if joint.sigma == REVOLUTE)
        carried = frozenset(j for j in turning if joints[j - 1].antecedent)
        antecedents = {joint.antecedent for joint in joints}
        return _Kin(
            turning,
            frozenset(
                j for j in turning
                if joints[j - 1].alpha == 0 and joints[j - 1].antecedent in turning
            ),
            frozenset(j for j in turning if _depth(joints, j) <= 3),
            turning - antecedents,
            frozenset(j for j in carried if _is_far(joints[j - 1])),
            frozenset(j for j in carried if _is_oblique(joints[j - 1])),
        )  # fmt: skip


def _is_far(joint: Joint) -> bool:
    """Is the joint off the axis of its antecedent's?"""
    plain: bool = joint.gamma == joint.b == 0
    return plain and bool(joint.d != 0 or (joint.r != 0 and joint.alpha != 0))


def _is_oblique(joint: Joint) -> bool:
    """Is the axis neither parallel nor at a right angle to its antecedent's?"""
    plain: bool = joint.gamma == joint.b == 0
    return plain and not is_quarter(joint.alpha)


def _depth(joints: Sequence[Any], j: int) -> int:
    depth = 0
    while j:
        depth, j = depth + 1, joints[j - 1].antecedent
    return depth
