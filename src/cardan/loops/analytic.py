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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import permutations
from typing import Any

import numpy as np

from ..describe.limits import limits_of
from ..describe.robot import PRISMATIC, REVOLUTE
from ..inverse.numeric.kernels import MOST_VARIABLES
from ..kernel.records import layout_of
from ..mechanism.coordinates import Coordinates
from ..mechanism.loops import LoopFrames
from .analysis import Analysis
from .chain import Chain
from .kernels import ASIDE, MOST, MOST_MOVED, Plan, Rated, Stage, rated

Array = np.ndarray
_LARGEST = 4  # unknowns in one loop, beside its cut joint
_STILL = {7: 3, 8: 4, 9: 2}  # components in the axes of the cut, and in those of frame 0
_PROBED = 32  # rows on which the room for answers is tried


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
    chain = sample.equations.chain
    if len(link.moving) > MOST_VARIABLES or len(chain.sigma) >= ASIDE:
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
    if not set(link.led) <= solved:
        return None
    stages = _stages(chain, steps, limited=False)
    longest = np.bincount(stages["part"].astype(int)).max(initial=0)
    fits = longest <= MOST_VARIABLES and stages["movers"].max(initial=0) <= MOST_MOVED
    return tuple(steps) if fits else None


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
    every = run_plan(chain, [step], known, q[:, known], limited=False)
    unit = np.array([chain.unit(j) for j in chain.coordinates.moving])
    return all(
        any(np.abs(np.sin((y - x) / 2 / unit)).max() < 1e-6 for y in every[k])
        for k, x in enumerate(q)
    )


@dataclass(frozen=True)
class Answers:
    """The configurations of N rows of given values, in order: q (N, room, n), not a number after
    the first count (N,) of them; residual and flat (N, room): how far the loops are open, and about
    the smallest over the largest singular value for the unknowns; more (N,): are there more than
    the kernel has room for? rough (N,): are some not closed to round-off?"""

    q: Array
    count: Array
    residual: Array
    flat: Array
    more: Array
    rough: Array

    def __getitem__(self, k: int) -> Array:
        """The configurations of one row, (k, n)."""
        return np.asarray(self.q[k, : self.count[k]])


def run_plan(
    chain: Chain, steps: Sequence[Step], known: Sequence[int], given: Array, limited: bool = True,
    threads: int | None = None,
) -> Answers:  # fmt: skip
    """Every configuration that the steps give for each row of values (N, known) of the columns
    `known`."""
    given = np.ascontiguousarray(given, float).reshape(len(given), len(known))
    given = given if len(known) else np.zeros((len(given), 1))
    tables = {"frames": chain.table, "plan": plan_of(chain, steps, known, limited)}
    return run_kernel(rated, given, tables, len(chain.coordinates.moving), threads)


def run_kernel(
    entry: Callable[..., None], given: Array, tables: dict[str, Array], n: int, threads: int | None
) -> Answers:
    """A kernel with the outputs of `rated`; how much room the answers need is tried on some rows
    first."""
    N = len(given)
    few = np.arange(N) if N <= _PROBED else np.linspace(0, N - 1, _PROBED).astype(int)
    first = _with_room(entry, given[few], tables, n, MOST, threads)
    room = max(1, int(first.count.max(initial=0)))
    if N <= _PROBED:
        return replace(first, q=first.q[:, :room], residual=first.residual[:, :room],
                       flat=first.flat[:, :room])  # fmt: skip
    every = _with_room(entry, given, tables, n, room, threads)
    if every.count.max() > room:
        every = _with_room(entry, given, tables, n, int(every.count.max()), threads)
    return every


def _with_room(
    entry: Callable[..., None], given: Array, tables: dict[str, Array], n: int, room: int,
    threads: int | None,
) -> Answers:  # fmt: skip
    N, plan = len(given), tables["plan"].copy()
    plan[layout_of(Plan).fields["room"].offset] = room
    out = {
        "q": np.full((N, room * n), np.nan), "residual": np.full((N, room), np.nan),
        "flat": np.ones((N, room)), "info": np.zeros((N, layout_of(Rated).size)),
    }  # fmt: skip
    _kernel(entry, tuple(tables))({"given": given, **tables, "plan": plan}, N, threads, out)
    count, more, rough = out["info"].T
    q = out["q"].reshape(N, room, n)
    return Answers(q, count.astype(np.int64), out["residual"], out["flat"], more > 0, rough > 0)


@cache
def _kernel(entry: Callable[..., None], tables: tuple[str, ...]) -> Any:
    from ..run.kernel import KernelFunction

    inputs = dict.fromkeys(("given", *tables), 0)
    return KernelFunction(entry, inputs, dict.fromkeys(("q", "residual", "flat", "info"), 0))


def plan_of(
    chain: Chain, steps: Sequence[Step], known: Sequence[int], limited: bool = True
) -> Array:
    """The Plan of kernels.py."""
    return _plan(chain, tuple(steps), tuple(known), limited).copy()


@lru_cache(maxsize=64)
def _plan(chain: Chain, steps: tuple[Step, ...], known: tuple[int, ...], limited: bool) -> Array:
    stages = _stages(chain, steps, limited)
    head = np.zeros((), layout_of(Plan).dtype)
    head["stages"], head["variables"] = len(stages), len(chain.coordinates.moving)
    head["known"], head["given"][: len(known)] = len(known), known
    head["parts"] = stages["part"].max(initial=-1) + 1
    head["room"], head["size"] = MOST, chain.size
    return np.concatenate([np.frombuffer(x.tobytes()) for x in (head, stages)])


def _stages(chain: Chain, steps: Sequence[Step], limited: bool) -> Array:
    """The Stages of kernels.py, part after part: first those of the first columns."""
    link, index = chain.coordinates, chain.column
    unknown = {x for step in steps for x in step.order}
    coupled = {x for step in steps if step.loop is None for x in step.order}
    ties = [Step(None, (j,), "") for j in link.led if j not in coupled]
    parts = parts_of(chain, [*steps, *ties], unknown)
    rows: list[Array] = []
    for k, part in enumerate(parts):
        loops = [step.loop for step in part if step.loop is not None]
        frames = {x for step in part for x in step.order}.union(*((x.cut, x.twin) for x in loops))
        whole = {x for x in frames if chain.sigma[x - 1] == PRISMATIC}
        whole |= {f for x in loops if x.kind != "spherical" for f in (x.cut, x.twin)}
        own: list[Array] = []
        before: set[int] = frames
        for step in part:
            order: Sequence[int | None] = step.order or (None,)
            for m, x in enumerate(order):
                row = np.zeros((), layout_of(Stage).dtype)
                row["part"], row["last"] = k, x == order[-1]
                closing = (
                    chain.tie(step.order[0]) if step.loop is None else chain.closing(step.loop)
                )
                row["loop"] = closing
                row["kind"] = 3
                if x is not None and step not in ties:
                    low, high = limits_of(link.robot.joints[x - 1])
                    if step.free or not limited:
                        low, high = -np.inf, np.inf
                    row["lower"], row["upper"] = max(low, -1e300), min(high, 1e300)
                    row["kind"] = 2 if step.loop is None else chain.sigma[x - 1]
                    row["slides"] = chain.sigma[x - 1] == PRISMATIC
                    row["variable"], row["joint"] = index(x), x
                    row["unit"], row["gain"] = chain.unit(x), chain.gain[x]
                    moved = sorted(
                        (f for f in frames if chain.behind(x, f)), key=lambda f: (f not in whole, f)
                    )
                    row["returns"], before = not before >= set(moved), set(moved)
                    row["movers"], row["whole"] = len(moved), len(whole & before)
                    row["moved"][: len(moved)] = moved[:MOST_MOVED]
                    if step.loop is not None:
                        listed = invariants(chain, step.loop, step.order[m + 1 :])
                        row["cut_moves"], row["count"] = x in step.loop.to_cut, len(listed)
                        row["axes"] = step.loop.kind != "spherical"
                        if not row["axes"]:  # the axes of frame 0 stand still
                            listed = [(_STILL.get(kind, kind), a, b) for kind, a, b in listed]
                        for one, (kind, a, b) in zip(row["invariants"], listed, strict=False):
                            one["kind"], one["a"], one["b"] = kind, a, b
                            one["a_moves"], one["b_moves"] = a in moved, b in moved
                own.append(row)
        for row in own:
            row["end"] = len(rows) + len(own)
        rows += own
    return np.array(rows, layout_of(Stage).dtype)


def parts_of(chain: Chain, steps: Sequence[Step], unknown: set[int]) -> list[list[Step]]:
    """Steps that share unknowns; those of the first columns first, those without any last."""
    groups: list[tuple[set[int], list[Step]]] = []
    for step in steps:
        joints = step.order if step.loop is None else step.loop.links
        own = {x for x in joints if x in unknown}
        if step.loop is None:
            own |= {k for x in step.order for k, _ in chain.led[x][0]} & unknown
        touching = [group for group in groups if group[0] & own or not (group[0] or own)]
        groups = [group for group in groups if group not in touching]
        together = own.union(*(group[0] for group in touching))
        groups.append((together, [s for group in touching for s in group[1]] + [step]))
    groups.sort(key=lambda group: min(map(chain.column, group[0]), default=MOST_VARIABLES))
    place = steps.index
    return [sorted(group[1], key=place) for group in groups]


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
