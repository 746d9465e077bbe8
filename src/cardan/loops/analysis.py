"""Mobility of a robot with loops or couplings, and which of their equations are independent.

Decided by rank at consistent configurations: several, reached by walking from several starts, with
several draws of the values of symbols. Planar, spherical and other overconstrained loops need no
rule of their own. The rows kept are those that stay farthest from dependent, wherever looked at;
couplings, whose rows are constant, before loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..algebra.ranks import conditioning, ranks
from ..describe.robot import PRISMATIC, Robot
from ..errors import ModelError
from ..ir.code import Code
from ..ir.cost import cost
from ..ir.interpret import interpret
from ..ir.trace import Tracer
from ..mechanism.coordinates import Coordinates, has_springs
from ..mechanism.loops import ROLLING, ROWS, LoopFrames, opened
from ..mechanism.platform import Hold
from ..models.bodies import bodies
from ..models.loops import Chosen, constraint, coupling_row, heading, rolling_rows
from .numeric import Array, Equations, closing_geometry, equations, skeleton, undriven
from .rounding import ROUNDED
from .search import Gap, least_gap

Rolled = tuple[tuple[str, ...], ...]  # of each wheel, the components of its velocity
Rows = tuple[tuple[Chosen, ...], Rolled]
_UPRIGHT = 1e-9  # a wheel's axis along the normal, and its centre's rise by the robot's size
_RANK = 1e-7  # singular values below it, of the largest, are zero
_DRAWS = 2  # of values, where the geometry has symbols
_UNSEEN = ROUNDED  # entries of W below it are zero, or rounded
_STARTS = 3
_ENTRY = 12  # operations that an entry of W costs later, about
_WALKERS = 12
_FEW = 4  # configurations of a sample
_VIEWS = 8  # frames of a loop whose axes are tried


@dataclass(frozen=True, eq=False)
class Sample:
    """Consistent configurations of one assembly mode, for one draw of the symbols' values."""

    values: dict[str, float]
    equations: Equations
    q: Array  # (N, n)


@dataclass(frozen=True, eq=False)
class Analysis:
    """What is known of the loops and couplings of a robot.

    mobility: n minus the rank of the loop equations; chosen: the independent equations of each loop
    and the frame they are written in; least_squares: more equations are kept than needed, because
    no fixed choice stays independent everywhere; idle: passive joints within loops that move
    without moving anything else, as the spin of a leg between two balls; coupled: the joints whose
    couplings are kept: all, but for those that repeat others."""

    coordinates: Coordinates
    mobility: int
    rank: int
    chosen: tuple[Chosen, ...]
    samples: tuple[Sample, ...]
    least_squares: bool = False
    idle: tuple[int, ...] = ()
    coupled: tuple[int, ...] = ()
    rolling: tuple[tuple[str, ...], ...] = ()  # the independent equations of each wheel

    @classmethod
    def of_tree(cls, robot: Robot) -> Analysis:
        """Nothing ties the joints; or links that bend, which need an analysis of their own."""
        return cls(Coordinates.of(robot), robot.n, 0, (), ())

    @property
    def following(self) -> tuple[int, ...]:
        """The passive joints that the loops hold."""
        return tuple(j for j in self.coordinates.passive if j not in self.idle)

    @property
    def redundant(self) -> dict[str, tuple[str, ...]]:
        """By loop: the equations that repeat others."""
        loops = {
            loop.name: tuple(row for row in ROWS[loop.kind] if row not in keep.rows)
            for loop, keep in zip(self.coordinates.loops, self.chosen, strict=True)
        }
        wheels = zip(self.coordinates.robot.wheels, self.rolling, strict=True)
        return loops | {
            wheel.name: tuple(row for row in ROLLING[wheel.slip] if row not in rows)
            for wheel, rows in wheels
        }

    @property
    def overconstrained(self) -> bool:
        return self.mobility != self.coordinates.gruebler

    @property
    def driven(self) -> bool:
        """Do the active joints move everything, in some assembly?"""
        link = self.coordinates
        rows = self.chosen, self.rolling
        return any(_is_driven(link, self.following, rows, s) for s in self.samples)

    def require_driven(self) -> None:
        """The active joints must be as many as the mobility, and move everything."""
        link, name = self.coordinates, self.coordinates.robot.name
        if not self.samples:
            return
        count = len(link.active)
        wanted = self.mobility - len(self.idle)
        loose = link.loose
        cause = (
            f"; no loop holds the passive joints {link.named(loose)}: is a platform or a leg not"
            " connected?" if loose else ""
        )  # fmt: skip
        if count != wanted:
            idle = f", {len(self.idle)} of it idle ({link.named(self.idle)})" if self.idle else ""
            raise ModelError(
                f"'{name}' has {count} active joints ({link.named(link.active)}) but mobility"
                f" {self.mobility}{idle} ({len(link.moving)} joints, {self.rank} independent loop"
                f" equations; Gruebler's count is {link.gruebler}){cause}. Set `active` so that"
                f" {wanted} joint{'s are' if wanted != 1 else ' is'}",
                remedy="robot.tree(), or --tree, opens the loops",
            )
        if not self.driven:
            raise ModelError(
                f"the active joints of '{name}' ({link.named(link.active)}) do not drive it:"
                f" some joints can move while these stand still{cause or '; activate others'}"
            )


def _is_driven(
    coordinates: Coordinates, following: tuple[int, ...], rows: Rows, sample: Sample
) -> bool:
    """Do the active joints move all others, in this assembly mode?"""
    if not following:
        return True
    W = _numeric_rows(coordinates, rows, sample)[..., _columns(coordinates, following)]
    return W.shape[1] >= W.shape[2] and float(np.median(conditioning(W))) > _RANK


def analyse(robot: Robot) -> Analysis:
    """The analysis of a robot's loops, remembered by its geometry; of a tree, which has none."""
    if not robot.constrained:
        return Analysis.of_tree(robot)
    return _analyse(skeleton(closing_geometry(robot)[0]))


def independent(robot: Robot) -> Robot:
    """The robot with its elastic joints `active`, that is independent, where the loops leave them
    free, and passive where these follow the motors: the first ones that leave the others driven."""
    if not (robot.constrained and has_springs(robot)):
        return robot

    springs = [j for j, joint in enumerate(robot.joints, 1) if joint.elastic]

    def flagged(free: Sequence[int]) -> Robot:
        joints = enumerate(robot.joints, 1)
        return replace(robot, joints=tuple(
            replace(x, active=j in free) if x.elastic else x for j, x in joints
        ))  # fmt: skip

    if robot.ne:  # links that bend leave every spring free
        return flagged(springs)
    led = analyse(flagged(()))
    wanted = led.mobility - len(led.idle) - len(led.coordinates.active)
    if 0 <= wanted <= len(springs):
        for sample in led.samples:
            free = flagged(_free_springs(led, sample, springs))
            if analyse(free).driven:
                return free
    return flagged(springs)


def _free_springs(led: Analysis, sample: Sample, springs: Sequence[int]) -> list[int]:
    """The first elastic joints that need not follow: from the last one on, each follows that the
    loops can lead beside those before it."""
    link = led.coordinates
    rows = tuple(Chosen(ROWS[loop.kind], loop.twin) for loop in link.loops), led.rolling
    W = _numeric_rows(link, rows, replace(sample, q=sample.q[:_FEW]))
    following = [j for j in led.following if j not in springs]
    for j in reversed(springs):
        columns = _columns(link, (*following, j))
        regular = len(columns) <= led.rank
        if regular and float(np.median(conditioning(W[..., columns]))) > _RANK:
            following.append(j)
    return [j for j in springs if j not in following]


@lru_cache(maxsize=64)
def _analyse(robot: Robot) -> Analysis:
    coordinates, bare = Coordinates.of(robot), undriven(robot)
    samples = [
        replace(s, equations=replace(s.equations, coordinates=coordinates)) for s in _samples(bare)
    ]
    rolling = tuple(ROLLING[wheel.slip] for wheel in robot.wheels)
    _require_upright(coordinates, samples)
    every = tuple(Chosen(ROWS[loop.kind], loop.twin) for loop in coordinates.loops), rolling
    counts = [np.bincount(ranks(_numeric_rows(coordinates, every, s), _RANK)) for s in samples]
    idle = _idle(coordinates, every, samples)
    following = tuple(j for j in coordinates.passive if j not in idle)
    wanted = len(following)
    usual = [int(count.argmax()) for count in counts]
    rank = wanted if wanted in usual else max(usual)
    kept = tuple(s for s, own in zip(samples, usual, strict=True) if own == rank)
    kept = tuple(s for s in kept if _is_driven(coordinates, following, every, s)) or kept
    chosen = tuple(
        Chosen(ROWS[loop.kind], _view(bare, k, tuple(samples.index(s) for s in kept)))
        for k, loop in enumerate(coordinates.loops)
    )
    (chosen, rolling), coupled, least_squares = _independent(
        coordinates, following, (chosen, rolling), kept, rank
    )
    mobility = len(coordinates.moving) - rank
    return Analysis(
        coordinates, mobility, rank, chosen, kept, least_squares, idle, coupled, rolling
    )


def _require_upright(coordinates: Coordinates, samples: list[Sample]) -> None:
    """Wheels stay upright at one height, wherever the robot is."""
    robot = coordinates.robot
    for sample in samples if robot.wheels else ():
        scene = bodies(opened(robot), sample.values.__getitem__)
        q = list(sample.q.T)
        for wheel, rolling in zip(robot.wheels, scene.wheels, strict=True):
            here, up = heading(scene, q, rolling), rolling_rows(scene, q, rolling)["up"]
            lean = np.abs(np.asarray(here.axis @ here.normal, float)).max()
            rise = max((np.abs(np.asarray(x, float)).max() for x in up.values()), default=0.0)
            if max(lean, rise / sample.equations.size) > _UPRIGHT:
                raise ModelError(
                    f"wheel '{wheel.name}' of '{robot.name}' leans or leaves the ground as its"
                    " joints move: a wheel's axis must stay parallel to the ground, its centre at"
                    " one height; check the frames before it and its normal"
                )


def _idle(coordinates: Coordinates, every: Rows, samples: list[Sample]) -> tuple[int, ...]:
    """Passive joints within loops that no loop equation ever sees."""
    largest = np.zeros(len(coordinates.moving))
    for sample in samples:
        W = _numeric_rows(coordinates, every, sample)
        largest = np.maximum(largest, np.abs(W).max(axis=(0, 1), initial=0))
    unseen = {j for j, x in zip(coordinates.moving, largest, strict=True) if x < _UNSEEN}
    free = {*coordinates.loose, *coordinates.rolled}
    return tuple(j for j in coordinates.passive if j in unseen and j not in free)


@lru_cache(maxsize=32)
def _samples(robot: Robot) -> list[Sample]:
    """Walks from several closed configurations, for several draws of values."""
    rng = np.random.default_rng(7)
    names = robot.parameters
    found: list[Sample] = []
    best = Gap("", np.inf, "")
    for draw in range(12 if names else 2):
        values = {name: float(rng.uniform(0.3, 1.7)) for name in names}
        system = equations(robot, values)
        starts = system.consistent(rng, _STARTS + 1, tries=4 if draw < 3 else 8)
        if not len(starts):
            gap = least_gap(system, np.zeros(system.n), range(system.n))
            best = min(best, gap, key=lambda gap: gap.value)
            continue
        for start in starts[:_STARTS]:
            found.append(Sample(values, system, system.walk(rng, start, _WALKERS)))
        if len(found) >= _STARTS * (_DRAWS if names else 1):
            break
    if not found:
        lengths = " for any values of its symbols tried" if names else ""
        width = f"{best.value:.3g} (of the robot's size, or rad)" if names else best.text
        raise ModelError(
            f"the loops of '{robot.name}' cannot be closed{lengths}: {best.what} stays open"
            f" by {width} at best; check {best.remedy}{_rounded(best.value)}"
        )
    return found


def _rounded(gap: float) -> str:
    """What a small gap may come from."""
    if gap > 1e-3:
        return ""
    return (
        ". So small a gap is that of rounded values: a loop that needs exact right angles or equal"
        " lengths closes when they are written as pi/2, pi/6, ... or with 12 decimals"
    )


def _columns(coordinates: Coordinates, links: tuple[int, ...]) -> list[int]:
    return [coordinates.moving.index(j) for j in links]


def _numeric_rows(coordinates: Coordinates, rows: Rows, sample: Sample) -> Array:
    """W at the configurations of a sample, (N, rows, n): of loops, of wheels, of couplings; lengths
    in units of the robot's size."""
    chosen, rolling = rows
    code, names = _rows_code(coordinates, chosen, rolling)
    inputs: dict[str, Any] = {"q": sample.q}
    if names:
        inputs["p"] = np.array([sample.values[name] for name in names])
    W = interpret(code, inputs)["W"]
    size = sample.equations.size
    lengths = [name[0] == "v" for keep in chosen for name in keep.rows]
    lengths += [True for names in rolling for _ in names]
    lengths += [coordinates.robot.joints[j - 1].sigma == PRISMATIC for j in coordinates.led]
    units = np.where(lengths, 1 / size, 1.0)
    return sample.equations.balanced(W * units[:, None] * sample.equations.unit)


@lru_cache(maxsize=64)
def _rows_code(
    coordinates: Coordinates, chosen: tuple[Chosen, ...], rolling: Rolled = (),
    only: int | None = None,
) -> tuple[Code, tuple[str, ...]]:  # fmt: skip
    """The program q -> W of these rows; `only`: of one loop."""
    tracer = Tracer()
    scene = bodies(opened(coordinates.robot), tracer.parameter)
    q = tracer.array("q", len(coordinates.moving))
    flat: list[Any] = []
    for k, (loop, keep) in enumerate(zip(coordinates.loops, chosen, strict=True)):
        if only in (None, k):
            found = constraint(scene, q, loop, keep.view)
            flat += [found[name].get(j, 0) for name in keep.rows for j in coordinates.moving]
    for wheel, names in zip(scene.wheels if rolling else (), rolling, strict=True):
        velocity = rolling_rows(scene, q, wheel)
        flat += [velocity[name].get(j, 0) for name in names for j in coordinates.moving]
    for j in coordinates.led if only is None else ():
        row = coupling_row(scene, j)
        flat += [row.get(m, 0) for m in coordinates.moving]
    n = len(coordinates.moving)
    return tracer.program({"W": ((len(flat) // n, n), flat)}, None, coordinates.robot.parameters)


@lru_cache(maxsize=256)
def _view(robot: Robot, k: int, own: tuple[int, ...]) -> int:
    """The frame in whose axes the equations of a loop cost least, to write and to solve."""
    coordinates, samples = Coordinates.of(robot), _samples(robot)
    loop = coordinates.loops[k]
    best: tuple[int, int] | None = None
    for view in _views(robot, loop, coordinates, [samples[i] for i in own]):
        chosen = [Chosen(ROWS[other.kind], other.twin) for other in coordinates.loops]
        chosen[k] = Chosen(ROWS[loop.kind], view)
        code = _rows_code(coordinates, tuple(chosen), only=k)[0]
        counted = cost(code)[0]
        entries = sum(code.nodes[abs(ref)] != ("const", 0) for ref in code.outputs["W"].refs)
        price = counted.total + 20 * counted.trig + _ENTRY * entries
        if best is None or price < best[0]:
            best = price, view
    assert best is not None
    return best[1]


def _views(
    robot: Robot, loop: LoopFrames, coordinates: Coordinates, samples: Sequence[Sample]
) -> list[int]:
    """The cut and the twin, and frames that keep their z axis: any of them in a planar loop."""
    found = [loop.cut, loop.twin]
    if loop.kind == "spherical":  # all three directions are used: any axes will do
        return [*found, *loop.links[:: len(loop.links) // _VIEWS + 1]]
    if loop.kind != "revolute":
        return found
    root = coordinates.tree.antecedent[loop.to_cut[0]] if loop.to_cut else 0
    for frame in dict.fromkeys((root, *loop.links)):
        if all(_parallel(robot, loop, frame, sample) for sample in samples):
            found.append(frame)
    return found


def _parallel(robot: Robot, loop: LoopFrames, frame: int, sample: Sample) -> bool:
    """Is the frame's z that of the cut wherever the loop is closed?"""
    from ..models.jacobian import rotation

    scene = bodies(opened(robot), sample.values.__getitem__)
    z = rotation(scene, list(sample.q.T), frame, loop.cut) @ _Z
    return bool(np.all(np.abs(np.asarray(z[2], float) - 1) < 1e-9))


_Z = (0, 0, 1)


def _independent(
    coordinates: Coordinates, following: tuple[int, ...], rows: Rows, samples: tuple[Sample, ...],
    rank: int,
) -> tuple[Rows, tuple[int, ...], bool]:  # fmt: skip
    """As many rows as the rank, independent at every sample in the passive joints' columns; of the
    loops and wheels, and of the couplings."""
    chosen, rolling = rows
    joints = following if len(following) == rank else coordinates.moving
    columns = _columns(coordinates, joints)
    W = np.concatenate([_numeric_rows(coordinates, rows, s)[..., columns] for s in samples])
    regular = ranks(W, _RANK) == rank
    W = W[regular] if regular.any() else W
    first = range(W.shape[1] - len(coordinates.led), W.shape[1])
    picked = _greedy(W, rank, first)
    full = np.linalg.svd(W, compute_uv=False)[..., rank - 1] if rank else np.ones(1)
    own = np.linalg.svd(W[:, picked], compute_uv=False)[..., -1] if rank else np.ones(1)
    weak = bool(np.any(own < 0.02 * full))
    if weak:  # keep every row that is not always zero
        picked = [m for m in range(W.shape[1]) if np.abs(W[:, m]).max() > 1e-12]
    m = 0

    def left(names: Sequence[str]) -> tuple[str, ...]:
        nonlocal m
        m += len(names)
        return tuple(name for i, name in enumerate(names, m - len(names)) if i in picked)

    loops = tuple(Chosen(left(keep.rows), keep.view) for keep in chosen)
    wheels = tuple(left(names) for names in rolling)
    coupled = tuple(j for i, j in enumerate(coordinates.led, m) if i in picked)
    return (loops, wheels), coupled, weak


def independent_rows(
    analysis: Analysis, holds: Sequence[Hold], joints: tuple[int, ...]
) -> list[tuple[str, ...]] | None:
    """As many equations of what a leg holds as these joints, which give their rates, by hold; None:
    there are not."""
    link = analysis.coordinates
    own = [link.loops.index(hold.loop) for hold in holds]
    chosen = list(analysis.chosen)
    for k, hold in zip(own, holds, strict=True):
        chosen[k] = Chosen(ROWS[hold.kind], hold.end)
    names = [(k, name) for k, keep in enumerate(chosen) for name in keep.rows]
    rows = [m for k in own for m, (owner, _) in enumerate(names) if owner == k]
    columns = _columns(link, joints)
    W = np.concatenate([
        _numeric_rows(link, (tuple(chosen), analysis.rolling), s)[:, rows][..., columns]
        for s in analysis.samples
    ])  # fmt: skip
    if W.shape[1] < len(joints) or not (ranks(W, _RANK) == len(joints)).any():
        return None
    picked = [names[rows[m]] for m in _greedy(W[ranks(W, _RANK) == len(joints)], len(joints))]
    return [tuple(name for owner, name in picked if owner == k) for k in own]


def _greedy(W: Array, rank: int, first: Sequence[int] = ()) -> list[int]:
    """Rows picked one by one, each the farthest from those before at its worst sample; among rows
    nearly as good the one with the fewest entries. Those of `first` come before all others."""
    rest = W.copy()
    filled = (np.abs(W).max(axis=0) > 1e-12).sum(axis=-1)
    picked: list[int] = []
    for _ in range(rank):
        distance = np.quantile(np.linalg.norm(rest, axis=-1), 0.05, axis=0)
        distance[picked] = -1
        good = [m for m in first if distance[m] > _RANK]
        good = good or np.flatnonzero(distance >= 0.4 * distance.max()).tolist()
        best = int(min(good, key=lambda m: (filled[m], -distance[m], m)))
        picked.append(best)
        q = rest[:, best] / (np.linalg.norm(rest[:, best], axis=-1, keepdims=True) + 1e-300)
        rest = rest - np.einsum("bm,bn->bmn", np.einsum("bmn,bn->bm", rest, q), q)
    return sorted(picked)
