"""Loops solved in closed form: planar and spherical four-bars, slider-cranks, RSSR and their kin.

[KC97] 3.4 and its reference 4: loops of fewer than five passive joints. One unknown x is found from
what the other unknowns of the loop (`rest`) cannot change:

    a turn about z_b        |O_c - O_b|² = |O_t - O_b|²,  z_b·O_c = z_b·O_t,  z_b·z_c = z_b·z_t
    a shift along z_b       the components of O_c = O_t across z_b
    two turns that meet     |O_c - O|² = |O_t - O|²
    a turn behind a slide   the components of O_c - O_t across the slide, c turned as t

(c and t the cut and its twin). In an angle each is X cos x + Y sin x = Z, Paul's type 2, with two
solutions; in a length it is a quadratic. The last unknown follows from all equations at once. An
order of elimination is kept when it finds again a configuration that is known to be closed. The
numbers are worked by a kernel (kernels.py), in machine code or as source text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

from ..describe.limits import limits_of
from ..describe.robot import REVOLUTE
from ..inverse.numeric.kernels import MOST_FRAMES, MOST_VARIABLES
from ..kernel.records import layout_of
from ..mechanism.coordinates import Coordinates
from ..mechanism.loops import LoopFrames
from .analysis import Analysis
from .chain import Chain
from .kernels import MOST, Stage, assemblies

__all__ = ["Step", "invariants", "plan_of", "run_plan", "steps_of"]

Array = np.ndarray
_LARGEST = 4  # unknowns in one loop, beside its cut joint


@dataclass(frozen=True)
class Step:
    """One loop, and the order in which its unknowns are found (numbers of links); or a coupling,
    which gives one. free: no limits are looked at, as those of joints that are given."""

    loop: LoopFrames | None
    order: tuple[int, ...]
    text: str
    free: bool = False


def steps_of(analysis: Analysis, given: Sequence[int]) -> tuple[Step, ...] | None:
    """An order that solves every loop in closed form from the given joints, couplings as soon as
    what leads is known; or None."""
    link = analysis.coordinates
    sample = analysis.samples[0]
    chain = Chain.of(link.robot, sample.values)
    if len(link.moving) > MOST_VARIABLES or len(chain.sigma) >= MOST_FRAMES:
        return None  # more than the kernel has room for
    solved: set[int] = set(given)
    steps = _followed(link, solved, free=True)
    rest = list(link.loops)
    while rest:
        found = None
        for loop in sorted(rest, key=lambda loop: len(_unknown(link, loop, solved))):
            found = _step(chain, loop, _unknown(link, loop, solved), sample.q)
            if found is not None:
                break
        if found is None:
            return None
        steps.append(found)
        rest = [loop for loop in rest if loop != found.loop]
        solved |= set(found.order)
        steps += _followed(link, solved)
    return tuple(steps) if set(link.led) <= solved else None


def _followed(link: Coordinates, solved: set[int], free: bool = False) -> list[Step]:
    """The couplings that follow from what is solved, which they are then too."""
    found = link.led_by(solved)
    solved.update(found)
    return [Step(None, (j,), f"{link.named((j,))} by its coupling", free) for j in found]


def _unknown(link: Coordinates, loop: LoopFrames, solved: set[int]) -> tuple[int, ...]:
    return tuple(j for j in loop.links if j in link.moving and j not in solved)


def _step(chain: Chain, loop: LoopFrames, unknown: tuple[int, ...], samples: Array) -> Step | None:
    """The loop with an order of its unknowns that works, or None."""
    if len(unknown) > _LARGEST:
        return None
    for order in permutations(unknown):
        step = Step(loop, order, "")
        if _finds(chain, step, samples[:3]):
            names = ", then ".join(chain.coordinates.named((j,)) for j in order)
            how = " (Paul's type 2 or a quadratic, then atan2)" if len(order) > 1 else ""
            text = f"loop {loop.name} in closed form: {names or 'nothing'}{how}"
            return replace(step, text=text)
    return None


def _finds(chain: Chain, step: Step, q: Array) -> bool:
    """Are these closed configurations among the solutions of a step?"""
    columns = [chain.column(j) for j in step.order]
    known = [k for k in range(q.shape[1]) if k not in columns]
    found, _ = run_plan(chain, [step], known, q[:, known], limited=False)
    return all(
        any(np.abs(np.sin((y - x) / 2)).max() < 1e-6 for y in rows)
        for x, rows in zip(q, found, strict=True)
    )


def run_plan(
    chain: Chain, steps: Sequence[Step], known: Sequence[int], given: Array, limited: bool = True
) -> tuple[list[Array], Array]:
    """(every configuration that the steps give, (k, n), for each row of values (N, known) of the
    columns `known`; whether there are more than the kernel has room for)."""
    n = len(chain.coordinates.moving)
    tables = {"frames": chain.table(), "plan": plan_of(chain, steps, known, limited)}
    given = np.ascontiguousarray(given, float).reshape(len(given), len(known))
    found = _kernel(max(len(known), 1), n)(
        {"given": given if len(known) else np.zeros((len(given), 1)), **tables}, len(given)
    )
    counts = found["info"][:, 0].astype(int)
    rows = found["q"].reshape(len(given), MOST, n)
    every = [own[:count] for own, count in zip(rows, counts, strict=True)]
    return every, found["info"][:, 1] > 0


@cache
def _kernel(known: int, n: int) -> Any:
    from ..run.kernel import KernelFunction

    inputs = {"given": known, "frames": 0, "plan": 0}
    return KernelFunction(assemblies, inputs, {"q": MOST * n, "info": 2})


def plan_of(
    chain: Chain, steps: Sequence[Step], known: Sequence[int], limited: bool = True
) -> Array:
    """The Plan of kernels.py."""
    stages = []
    for step in steps:
        for k, x in enumerate(step.order):
            low, high = limits_of(chain.coordinates.robot.joints[x - 1])
            if step.free or not limited:
                low, high = -np.inf, np.inf
            ends: list[float] = [max(low, -1e300), min(high, 1e300)]
            if step.loop is None:
                leader, ratio, offset = chain.led[x]
                row = [chain.column(x), 2, *ends, ratio, offset, chain.column(leader)]
            else:
                listed = invariants(chain, step.loop, step.order[k + 1 :])
                row = [chain.column(x), chain.sigma[x - 1], *ends, 1.0, 0.0]
                row += [step.loop.cut, step.loop.twin, len(listed)]
                row += [y for one in listed for y in one]
            stages.append(row + [0.0] * (layout_of(Stage).size - len(row)))
    head = [len(stages), len(chain.coordinates.moving), len(known), *known]
    head += [0] * (3 + MOST_VARIABLES - len(head))
    return np.array([*head, *(y for row in stages for y in row)], float)


def invariants(chain: Chain, loop: LoopFrames, rest: Sequence[int]) -> list[tuple[int, int, int]]:
    """(kind, frame, frame) of what the joints of `rest` cannot change, and all when there is none;
    zero when the loop is closed."""
    if not rest:
        points = (7, 8) if loop.kind in ("prismatic", "cylindrical") else (7, 8, 9)
        turns = {"spherical": (), "universal": (12,), "revolute": (10, 11, 16),
                 "cylindrical": (10, 11, 16)}.get(loop.kind, (13, 14, 15, 16, 17))  # fmt: skip
        return [(kind, 0, 0) for kind in (*points, *turns)]
    found: list[tuple[int, int, int]] = []
    if loop.kind not in ("prismatic", "cylindrical"):
        found += _point_invariants(chain, loop, rest)
    if loop.kind not in ("spherical", "universal"):
        turning = [j for j in rest if chain.sigma[j - 1] == REVOLUTE]
        held = loop.kind in ("prismatic", "fixed")  # no turn is left between cut and twin
        if not turning:
            kinds = (13, 14, 15, 16, 17) if held else (10, 11)
            found += [(kind, 0, 0) for kind in kinds]
        elif len(turning) == 1:
            found.append((6, turning[0], 0))
        if held and len(rest) == 1 and turning:
            first = 18 if rest[0] in loop.to_cut else 21
            count = 2 if loop.kind == "prismatic" else 3
            found += [(first + k, rest[0], 0) for k in range(count)]
    return found


def _point_invariants(
    chain: Chain, loop: LoopFrames, rest: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Of the points O_c and O_t; a joint whose axis a point lies on does not move it."""
    movers = [j for j in rest if j not in chain.still[loop.name]]
    if not movers:
        return [(7, 0, 0), (8, 0, 0), (9, 0, 0)]
    a, *others = movers
    if not others:
        kinds = (1, 2) if chain.sigma[a - 1] == REVOLUTE else (3, 4)
        return [(kind, a, 0) for kind in kinds]
    if len(others) > 1 or any(chain.sigma[j - 1] != REVOLUTE for j in movers):
        return []
    return [(5, a, others[0])]
