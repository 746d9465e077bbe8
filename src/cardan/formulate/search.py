"""Where the search looks: whole-robot choices of different shapes, and changes of single links.

From each shape the choices of single links are changed one after the other as long as the price
falls, and the best of these climbs goes on with changes that seldom pay. The order is fixed and the
number of trials bounded, so that the result is the same on every run. Prices come from outside: of
a formulation as it is traced, and with its sums rewritten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Protocol

from ..describe.robot import FIXED, PRISMATIC, REVOLUTE, Joint, Robot
from ..describe.symbolic import is_quarter
from .formulation import LENGTHS, Formulation

LARGE = 12  # links: beyond them only the whole-robot choices are tried
WORK = 60_000  # nodes of a search: the number of trials follows from it
HOPELESS = 1.05  # a start that much above another algorithm's price is not climbed from
NEAR = 2  # above the best as traced: a formulation is rewritten to see its price
FAR = 8  # above the best as traced: a change is not tried again

Change = tuple[str, int]
Step = tuple[Change, ...]


class Prices(Protocol):
    """What formulations cost."""

    @property
    def tried(self) -> int:
        """How many were traced."""

    def sketch(self, form: Formulation) -> int:
        """The price of the formulation as it is traced."""

    def price(self, form: Formulation) -> int:
        """The price of the formulation with its sums rewritten."""


def search(
    robot: Robot, choices: Sequence[str], trials: Prices, size: int, *, thorough: bool = False,
    beaten: int | None = None, rough: bool = False,
) -> Formulation:  # fmt: skip
    """The cheapest formulation that was come upon; `size`: nodes of the plain program.

    `beaten`: the price of another algorithm; climbing is spared where it is out of reach.
    `rough`: no more trials than the size allows, though not every link is tried."""
    rewritten = "balance" not in choices  # whatever is tried, not only what is near
    near = 1000 if rewritten else NEAR
    starts = [
        best(_seeds(robot, choices, shape), trials, near) for shape in _shapes(robot, choices)
    ]
    starts = sorted(starts, key=trials.price)
    hopeless = beaten is not None and trials.price(starts[0]) > HOPELESS * beaten
    if thorough or (len(robot.links) <= LARGE and not hopeless):
        few, many = (list(_changes(robot, choices, wide)) for wide in (False, True))
        limit = 10_000 if thorough else max(3 * len(few) // 2, min(80, WORK // size))
        limit = min(limit, WORK // size) if rough else limit
        climb = _Climb(trials, not rewritten, trials.tried + limit)
        starts = [climb.top(start, [(change,) for change in few]) for start in starts]
        steps: list[Step] = [(change,) for change in many]
        if thorough:
            steps += [(x, y) for k, x in enumerate(many) for y in many[k + 1 :]]
        climb = replace(climb, most=trials.tried + limit // 2)
        starts.append(climb.top(min(starts, key=trials.price), steps))
    top = min(starts, key=trials.price)
    if "rotors" in choices and any(joint.IA != 0 for joint in robot.joints):
        top = min(top, replace(top, rotors=True), key=trials.price)
    return top


def best(forms: Iterable[Formulation], trials: Prices, near: int) -> Formulation:
    """The cheapest of these; only those are rewritten that may be it."""
    prices = {form: trials.sketch(form) for form in forms}
    least = min(prices.values())
    return min((form for form in prices if prices[form] <= least + near), key=trials.price)


def effective(robot: Robot, form: Formulation) -> Formulation:
    """The formulation without choices that others make void."""
    joints = robot.joints
    turning = frozenset(j for j, joint in enumerate(joints, 1) if joint.sigma == REVOLUTE)
    long = frozenset(
        j for j, joint in enumerate(joints, 1) if joint.r != 0 or joint.sigma == PRISMATIC
    )
    return replace(
        form, slide=form.slide & long, apart=form.apart - form.still,
        carried=form.carried - (form.axial & turning),
    )  # fmt: skip


@dataclass(frozen=True)
class _Climb:
    """Changes of one link's choice at a time (or two), as long as the price falls.

    The price as traced says what is worth rewriting, and which changes are worth a second try."""

    trials: Prices
    sketched: bool  # or rewrite whatever is tried
    most: int  # sketches of all climbs

    def top(self, best: Formulation, steps: list[Step]) -> Formulation:
        """As far as these steps lead."""
        below = None
        while below != best:
            below = best
            best, steps = self._sweep(best, steps)
        return best

    def _sweep(self, best: Formulation, steps: list[Step]) -> tuple[Formulation, list[Step]]:
        """The best of these steps one after the other, and those worth another try."""
        trials, near = self.trials, list[Step]()
        for step in steps:
            if trials.tried >= self.most:
                break
            form = best
            for change in step:
                form = _changed(form, change)
            loss = trials.sketch(form) - trials.sketch(best)
            if loss <= FAR or not self.sketched:
                near.append(step)
            worth = loss <= (FAR if step[0][0] in LENGTHS else NEAR)
            if (worth or not self.sketched) and trials.price(form) < trials.price(best):
                best = form
        return best, near


def _seeds(
    robot: Robot, choices: Sequence[str], shape: Mapping[str, Any]
) -> Iterator[Formulation]:  # fmt: skip
    """Whole-robot choices, every link or none, of formulations of one shape."""
    every, none = frozenset(range(1, len(robot.links) + 1)), frozenset[int]()
    options = list(product((True, False), repeat=3))
    if "balance" in choices:
        options = [option for option in options if option[2]] if shape else options[:1]
    if len(robot.links) > LARGE:
        options = [(True, True, True), (True, True, False)]
    tried: set[Formulation] = set()
    for regroup, balance, slide in options:
        form = Formulation(
            regroup=regroup and "regroup" in choices,
            balance=every if balance and "balance" in choices else none,
            slide=every if slide and "slide" in choices else none,
        )
        form = replace(form, **shape)
        for candidate in (form, form.whole):
            if candidate not in tried:
                tried.add(candidate)
                yield candidate


def _shapes(robot: Robot, choices: Sequence[str]) -> list[dict[str, Any]]:
    """What mostly pays: the last links and those before parallel joints still, U by columns; and
    nothing of it."""
    kin = _Kin.of(robot)
    before = frozenset(robot.joints[j - 1].antecedent for j in kin.parallel) - {0}
    shape: dict[str, Any] = {
        "axial": kin.turning - kin.leaves,
        "carried": kin.leaves,
        "still": kin.leaves | before,
        "grouped": kin.parallel,
        "apart": kin.parallel & kin.near,
        "align": kin.leaves,
        "lump": frozenset(j for j in kin.far if _depth(robot.joints, j) > 2),
        "rod": frozenset(j for j in kin.oblique if _depth(robot.joints, j) > 2),
        "unit": next(units(robot), None),
    }
    shape = {key: value for key, value in shape.items() if key in choices}
    shapes: list[dict[str, Any]] = [shape, {}]
    if "axial" in choices and len(robot.links) > LARGE:
        shapes.append({**shape, "axial": kin.turning - kin.near})
    return shapes


def _changed(form: Formulation, change: Change) -> Formulation:
    key, j = change
    if key in LENGTHS:
        return replace(form, unit=None if form.unit == change else change)
    if key == "regroup":
        return replace(form, regroup=not form.regroup)
    if key == "last":  # still and carried, or turned like the links before
        one = frozenset({j})
        if j in form.still:
            return replace(
                form, still=form.still - one, carried=form.carried - one, axial=form.axial | one
            )
        return replace(
            form, still=form.still | one, carried=form.carried | one, axial=form.axial - one
        )
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


def _changes(robot: Robot, choices: Sequence[str], wide: bool) -> Iterator[Change]:
    """The changes of single links that can pay; not `wide`: that mostly do."""
    kin = _Kin.of(robot)
    before = {robot.joints[j - 1].antecedent for j in kin.parallel} - {0}
    still = kin.turning if wide else (kin.near | kin.leaves | before)
    able = {
        "still": still,
        "carried": still,
        "balance": still,
        "align": kin.leaves,
        "apart": kin.near,
        "axial": kin.turning,
        "grouped": kin.parallel,
        "column": kin.turning,
        "lump": kin.far,
        "rod": kin.oblique,
        "slide": {
            j for j, joint in enumerate(robot.joints, 1) if joint.r != 0 and joint.sigma != FIXED
        },
    }
    if wide and "regroup" in choices:
        yield "regroup", 0
    if "unit" in choices:
        yield from units(robot)
    for key in choices:
        yield from ((key, j) for j in sorted(able.get(key, ())))
    if "axial" in choices:
        yield from (("last", j) for j in sorted(kin.leaves))


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
