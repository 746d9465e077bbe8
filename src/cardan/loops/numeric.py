"""The loop equations of a robot as numeric functions of many configurations at once.

    r(q) = 0          positions of each twin in its cut's frame, and what measures their angle;
                      q_j - ratio q_k - offset of each coupling

on arrays (N, n), by the kernels of closing.py. Newton's method is that of Levenberg and Marquardt
with a damping that vanishes with r: it keeps its speed where equations repeat each other (planar
loops in space, Bennett's linkage). The equations are traced too: for their derivatives by symbols,
and for robots that are larger than the kernels have room for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from ..algebra.newton import Damping, Rule, newton
from ..arguments import floats
from ..describe.robot import DRIVE, FURTHER, GEOMETRY, PRISMATIC, Base, Joint, Link, Robot
from ..describe.values.expression import Value, symbols
from ..errors import InputError
from ..inverse.numeric.kernels import MOST_FRAMES, MOST_VARIABLES
from ..ir.code import Code
from ..ir.derivative import derivative
from ..ir.interpret import interpret
from ..ir.trace import Tracer
from ..mechanism.coordinates import Coordinates, holonomic
from ..mechanism.loops import opened
from ..models.bodies import Bodies, bodies
from ..models.loops import closing_error, coupling_error
from .chain import Chain
from .closing import CLOSED, LENGTHS, MOST_EQUATIONS, carry, close, open_by
from .rounding import closest

Array = np.ndarray
_SIZE = "\0size"  # the robot's size, a parameter of the traced equations
_SAME = 1e-5  # configurations nearer than this are one
_VANISHING = Damping(
    first=1.0, less=1 / 5, more=8.0, most=1e12,
    weight=lambda r, H: np.minimum(np.linalg.norm(r, axis=-1), 1.0),
)  # fmt: skip


# a column that others lead: it, their columns and ratios, the offset
Led = tuple[int, tuple[tuple[int, float], ...], float]


@dataclass(frozen=True)
class Equations:
    """r and its derivatives, for one set of values of the geometry's symbols."""

    coordinates: Coordinates
    residual: Code
    p: Array
    turning: Array  # (n,) is the joint revolute?
    size: float  # a length of the robot
    owners: tuple[int, ...]  # the loop of each equation; couplings are numbered after the loops
    values: Mapping[str, float]  # of the geometry's symbols
    couplings: tuple[Led, ...]

    @cached_property
    def periodic(self) -> Array:
        """(n,) may a whole turn be added? Of a revolute joint that no coupling ties to others."""
        tied = {i for j, leaders, _ in self.couplings for i in (j, *dict(leaders))}
        return self.turning & ~np.isin(np.arange(self.n), list(tied))

    @property
    def unit(self) -> Array:
        """(n,) one radian, or the robot's size."""
        return np.where(self.turning, 1.0, self.size)

    @property
    def pace(self) -> Array:
        """(n,) what a step of Newton's method is measured by: one radian, or the robot's size, at
        least 1 m."""
        return np.where(self.turning, 1.0, max(self.size, 1.0))

    @cached_property
    def chain(self) -> Chain:
        """The frames as numbers."""
        return Chain.of(self.coordinates.robot, self.values, self.size)

    @cached_property
    def scene(self) -> Bodies:
        """The robot's links as numbers."""
        return bodies(skeleton(self.coordinates.robot), self.values.__getitem__)

    @cached_property
    def gain(self) -> Array:
        """(n,) that of the chain."""
        return np.array(list(self.chain.gain.values()))

    @cached_property
    def weights(self) -> Array:
        """(m,) of equations: couplings, which come last, are divided by their gain."""
        return self._weights(len(self.owners))

    def _weights(self, m: int) -> Array:
        last = [1 / self.gain[j] for j, *_ in self.couplings]
        return np.array([1.0] * (m - len(last)) + last)

    def balanced(self, J: Array) -> Array:
        """Derivatives (..., m, n) of the weighted equations by steps of `gain`."""
        return np.asarray(J * self.gain * self._weights(J.shape[-2])[:, None])

    def followed(self, q: Array, known: Iterable[int]) -> tuple[Array, set[int]]:
        """(q, known): the columns set that follow known ones, and all that are known then."""
        q, found = np.array(q, dtype=float), set(known)
        for j, leaders, offset in self.couplings:
            if found.issuperset(dict(leaders)) and j not in found:
                q[..., j] = sum(ratio * q[..., k] for k, ratio in leaders) + offset
                found.add(j)
        return q, found

    def turned(self, q: Array, known: Iterable[int]) -> Array:
        """q with known angles that others lead moved by whole turns to where these want them."""
        q, columns = np.array(q, dtype=float), set(known)
        for j, leaders, offset in self.couplings:
            if self.turning[j] and columns.issuperset((j, *dict(leaders))):
                gap = sum(ratio * q[..., k] for k, ratio in leaders) + offset - q[..., j]
                q[..., j] += 2 * np.pi * np.rint(gap / (2 * np.pi))
        return q

    @property
    def n(self) -> int:
        return len(self.coordinates.moving)

    @cached_property
    def fits(self) -> bool:
        """Do the kernels have room for them?"""
        frames = len(self.coordinates.robot.joints) + 2 * len(self.coordinates.loops)
        many = (
            frames - MOST_FRAMES + 1,
            self.n - MOST_VARIABLES,
            len(self.owners) - MOST_EQUATIONS,
        )
        return max(many) <= 0

    @cached_property
    def tables(self) -> dict[str, Array]:
        """The Tree and the Closings of closing.py."""
        return {"frames": self.chain.table, "loops": self.chain.closings}

    def free(self, columns: Sequence[int], unit: Array, rounds: int = 0) -> Array:
        """The Free of closing.py: these columns, and what their steps are measured by."""
        own, count = np.array(columns, int), len(columns)
        table = np.zeros((3, MOST_VARIABLES))
        table[0] = -1
        table[0, own], table[1, :count], table[2, :count] = range(count), own, unit[own]
        return np.array([rounds, count, *table.ravel()])

    def _rows(self, q: Array, columns: Sequence[int]) -> tuple[Array, Array]:
        """r (N, m) and its derivatives (N, m, columns)."""
        m = len(self.owners)
        out = {"r": np.zeros((len(q), m)), "J": np.zeros((len(q), m * len(columns)))}
        given = {"q": q, "free": self.free(columns, np.ones(self.n)), **self.tables}
        _kernel(open_by)(given, len(q), out=out)
        J = out["J"].reshape(len(q), m, len(columns))
        return out["r"] / self.weights, J / self.weights[:, None]

    def r(self, q: Array) -> Array:
        """(N, m), lengths divided by the robot's size."""
        if self.fits:
            return self._rows(q, ())[0]
        return interpret(self.residual, self._inputs(self.residual, q))["r"]

    def J(self, q: Array) -> Array:
        """dr/dq, (N, m, n)."""
        if self.fits:
            return self._rows(q, range(self.n))[1]
        return interpret(self.jacobian, self._inputs(self.jacobian, q))["J"]

    @cached_property
    def jacobian(self) -> Code:
        """The program q -> J."""
        return derivative(self.residual, "r", "q", "J")

    def by_parameters(self, q: Array, names: Sequence[str]) -> Array:
        """dr/dp, (N, m, len(names)), by symbols of the geometry."""
        known = _traced(self.coordinates.robot)[2]
        code = derivative(self.residual, "r", "p", "J")
        every = interpret(code, self._inputs(code, q))["J"]
        rows = np.zeros((len(q), len(self.owners), len(names)))
        used = [k for k, name in enumerate(names) if name in known]
        rows[..., used] = every[..., [known.index(names[k]) for k in used]]
        return rows

    def _inputs(self, code: Code, q: Array) -> dict[str, Array]:
        found = {"q": q}
        if "p" in code.inputs:
            found["p"] = self.p
        return found

    def error(self, q: Array) -> Array:
        """(N,) the largest equation."""
        found: Array = np.abs(self.r(q)).max(axis=-1, initial=0)
        return found

    def close(
        self, q: Array, free: Sequence[int], steps: int = 80, threads: int | None = None
    ) -> tuple[Array, Array]:
        """(q, closed): from these starts (N, n), moving the free columns only; those that follow
        others which are not free are set at once."""
        free = list(free)
        q = self.followed(q, set(range(self.n)) - set(free))[0]
        unit = self.gain * self.pace
        if self.fits:
            out = {"q": np.zeros(q.shape), "info": np.zeros((len(q), 2))}
            given = {"start": q, "free": self.free(free, unit, steps if free else 0), **self.tables}
            _kernel(close)(given, len(q), threads, out)
            return out["q"], out["info"][:, 1] > 0

        def moved(q: Array, step: Array) -> Array:
            ahead = q.copy()
            ahead[:, free] += step * unit[free]
            return ahead

        ends = newton(
            q,
            lambda q, _: self.r(q) * self.weights,
            lambda q, _: self.balanced(self.J(q) * self.pace)[..., free],
            Rule(residual=1e-15, step=1e-15, longest=0.7, rounds=steps if free else 0),
            damping=_VANISHING,
            move=moved,
        )
        return ends.x, np.abs(ends.e).max(axis=-1, initial=0) < CLOSED

    def carried(
        self, q: Array, path: Array, driven: Sequence[int], free: Sequence[int],
        way: Sequence[float], threads: int | None = None,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """(q (N, points, n), how many points were reached, the share of the last way gone): closed
        configurations (N, n), each carried along a path (N, points, driven); way: the step, the
        distance from the tangent and the share of closing.Way. Where `fits`."""
        N, points = path.shape[:2]
        out = {"q": np.full((N, points * self.n), np.nan), "info": np.zeros((N, 2))}
        unit = self.gain * self.pace
        given = {
            "start": q, "path": path.reshape(N, -1), "free": self.free(free, unit, 30),
            "driven": self.free(driven, self.pace), "way": np.array([*way, points], float),
            **self.tables,
        }  # fmt: skip
        _kernel(carry)(given, N, threads, out)
        reached, share = out["info"].T
        return out["q"].reshape(N, points, self.n), reached.astype(int), share

    def random(self, rng: np.random.Generator, count: int) -> Array:
        """Configurations, closed or not."""
        q = rng.uniform(-np.pi, np.pi, (count, self.n))
        slides = rng.uniform(-1.5, 1.5, (count, self.n)) * self.size
        free = set(range(self.n)) - {j for j, *_ in self.couplings}
        return self.followed(np.where(self.turning, q, slides), free)[0]

    def consistent(self, rng: np.random.Generator, count: int, tries: int = 6) -> Array:
        """Closed configurations, (up to count, n); every joint may move to close the loops."""
        found = np.zeros((0, self.n))
        for _ in range(tries):
            q, closed = self.close(self.random(rng, 2 * count), range(self.n), 60)
            found = np.concatenate([found, q[closed]])
            if len(found) >= count:
                break
        return found[:count]

    def walk(self, rng: np.random.Generator, start: Array, count: int, steps: int = 14) -> Array:
        """Closed configurations reached from one, by small steps along what the loops allow;
        without loops any will do, because couplings are closed anywhere."""
        if not self.coordinates.loops:
            return self.random(rng, count)
        q = np.repeat(np.asarray(start, float)[None], count, axis=0)
        for _ in range(steps):
            q = self._stepped(q, self._allowed(q, rng.normal(size=q.shape)))[0]
        return q

    def roam(self, rng: np.random.Generator, start: Array, count: int, steps: int = 40) -> Array:
        """Closed configurations over the whole of an assembly: each walker keeps its direction,
        goes as far as its share of the steps, and turns where it meets a singularity or an end.

        A short arc of a smooth motion looks like one of fewer parameters; see build.observe."""
        if not self.coordinates.loops:
            return self.random(rng, count)
        q = np.repeat(np.asarray(start, float)[None], count, axis=0)
        unit, slides = self.unit * self.gain, ~self.turning
        last = rng.normal(size=q.shape)
        share = np.arange(1, count + 1) * steps / count
        for k in range(steps):
            direction = self._allowed(q, last + 0.1 * rng.normal(size=q.shape))
            ahead, moved = self._stepped(q, direction)
            # two assemblies that meet part at an angle: whoever turned sharply has changed over
            moved &= np.einsum("bn,bn->b", self._allowed(ahead, direction), direction) > 0.9
            moved &= (k < share) & (np.abs((ahead - start) / unit)[:, slides] < 2).all(axis=-1)
            last = np.where(moved[:, None], (ahead - q) / (0.25 * unit), rng.normal(size=q.shape))
            q = np.where(moved[:, None], ahead, q)
        return q

    def _allowed(self, q: Array, wanted: Array) -> Array:
        """What the loops allow of these directions, of length one; in units of the joints."""
        J = self.balanced(self.J(q) * self.unit)
        _, s, vt = np.linalg.svd(J, full_matrices=True)
        rank = (s > 1e-7 * max(1.0, float(s.max(initial=1)))).sum(axis=-1)
        held = np.arange(self.n) < rank[:, None]
        along = np.einsum("bk,bkn->bn", np.einsum("bkn,bn->bk", vt, wanted) * held, vt)
        found = wanted - along
        return np.asarray(found / (np.linalg.norm(found, axis=-1, keepdims=True) + 1e-300))

    def _stepped(self, q: Array, direction: Array) -> tuple[Array, Array]:
        """(q, moved): a small step along these directions, where the loops close nearby."""
        unit = self.unit * self.gain
        ahead = q + 0.25 * direction * unit
        found, closed = self.close(ahead, range(self.n), 25)
        near = np.linalg.norm((found - ahead) / unit, axis=-1) < 0.15
        moved = closed & near
        return np.where(moved[:, None], found, q), moved


@cache
def _kernel(entry: Callable[..., None]) -> Any:
    from ..run.kernel import KernelFunction

    names = list(inspect.signature(entry).parameters)
    outputs = ("r", "J") if entry is open_by else ("q", "info")
    return KernelFunction(
        entry,
        dict.fromkeys((name for name in names if name not in outputs), 0),
        dict.fromkeys(outputs, 0),
    )


def numeric(name: str, given: Any) -> Array:
    """What the user gave, as numbers."""
    try:
        return floats(given)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {given!r:.60} is not an array of numbers") from None


def wrapped(q: Array, turning: Array) -> Array:
    """Angles between -pi and pi."""
    return np.where(turning, np.remainder(q + np.pi, 2 * np.pi) - np.pi, q)


def difference(x: Array, y: Array, turning: Array) -> Array:
    """x - y, angles wrapped."""
    return wrapped(x - y, turning)


def unique(q: Array, turning: Array) -> Array:
    """Configurations that differ, angles wrapped, in a fixed order."""
    many = wrapped(np.asarray(q, float).reshape(-1, len(turning)), turning)
    if len(many) > 1:
        same = np.ones((len(many), len(many)), bool)
        for column, turns in zip(many.T, turning, strict=True):  # one table, not one a joint
            apart = np.abs(column[:, None] - column)
            same &= (np.minimum(apart, 2 * np.pi - apart) if turns else apart) <= _SAME
        many = many[same.argmax(axis=1) == np.arange(len(many))]  # the first one that is the same
    return many[np.lexsort(np.round(many, 6).T[::-1])] if len(many) > 1 else many


def ordered(every: Sequence[Array], system: Equations, free: Sequence[int]) -> tuple[Array, Array]:
    """(q, owner): the configurations of each owner, closed to round-off, in a fixed order.

    Roots that nearly coincide are not exact: those are closed again, and may become one."""
    q = wrapped(np.concatenate([np.zeros((0, system.n)), *every]), system.periodic)
    owner = np.repeat(np.arange(len(every)), [len(x) for x in every])
    if not len(q):
        return q, owner
    good = system.error(q) < 1e-13
    rough = np.flatnonzero(~good)
    if len(rough):
        closer, closed = system.close(q[rough], free, 20)
        good[rough] = closed & (np.abs(closer - q[rough]).max(axis=-1) < 1e-3)
        q[rough] = closer
        for k in np.unique(owner[rough]):
            mine = np.flatnonzero((owner == k) & good)
            apart = difference(q[mine][:, None], q[mine][None], system.periodic)
            apart = np.abs(apart).max(axis=-1)
            good[mine] = (apart <= _SAME).argmax(axis=1) == np.arange(len(mine))
    q, owner = q[good], owner[good]
    order = np.lexsort((*np.round(q, 6).T[::-1], owner))
    return q[order], owner[order]


def skeleton(robot: Robot) -> Robot:
    """The robot's geometry alone: equal for robots that differ in their masses."""
    keys = (*DRIVE, "stiffness", "rest", "damping", *FURTHER)
    bare: dict[str, Any] = dict.fromkeys(keys, 0)

    def joint(x: Joint) -> Joint:
        return replace(x, **bare, elastic=False, symbols=())

    return replace(
        robot,
        links=tuple(Link(link.name) for link in robot.links),
        joints=tuple(map(joint, robot.joints)),
        loops=tuple(replace(k, cut=joint(k.cut), twin=joint(k.twin)) for k in robot.loops),
        base=Base(link=Link(robot.base.link.name)),
        gravity=(0, 0, 0),
        source="",
        notes="",
        interactions=(),
    )


def geometry_symbols(robot: Robot) -> tuple[str, ...]:
    """The free symbols of the joints' frames; no joint depends on those of named frames."""
    return skeleton(replace(robot, frames=())).parameters


def loop_symbols(robot: Robot) -> tuple[str, ...]:
    """The free symbols in the equations of the robot's loops, [KC97] 3.4: others move no loop."""
    return tuple(name for name in _traced(holonomic(skeleton(robot)))[2] if name != _SIZE)


@lru_cache(maxsize=32)
def _traced(bare: Robot) -> tuple[Coordinates, Code, tuple[str, ...], tuple[int, ...]]:
    coordinates = Coordinates.of(bare)
    tracer = Tracer()
    scene = bodies(opened(bare), tracer.parameter)
    q = tracer.array("q", len(coordinates.moving))
    size = tracer.parameter(_SIZE)
    r: list[Any] = []
    owners: list[int] = []
    for k, loop in enumerate(coordinates.loops):
        found = closing_error(scene, q, loop)
        lengths = LENGTHS.get(loop.kind, 3)
        r += [x / size if i < lengths else x for i, x in enumerate(found)]
        owners += [k] * len(found)
    for k, j in enumerate(coordinates.led, len(coordinates.loops)):
        own = coupling_error(scene, q, j)
        r.append(own / size if bare.joints[j - 1].sigma == PRISMATIC else own)
        owners.append(k)
    code, names = tracer.program({"r": ((len(r),), r)}, None, bare.parameters)
    return coordinates, code, names, tuple(owners)


def undriven(robot: Robot) -> Robot:
    """The robot with every joint active: equal for robots that differ in what drives them."""
    if robot.wheels:  # theirs may be passive joints that no loop positions
        return robot
    return replace(robot, joints=tuple(replace(x, active=True) for x in robot.joints))


def closing_geometry(robot: Robot) -> tuple[Robot, str]:
    """(the robot with the closest geometry whose loops close, what was changed in words): itself,
    and nothing, unless it stays open by rounding."""
    near, words = _closest(undriven(skeleton(robot))) if robot.loops else (robot, "")
    if not words:
        return robot, ""

    def carrying(x: Joint, y: Joint) -> Joint:
        return replace(x, **{key: getattr(y, key) for key in GEOMETRY})

    joints = tuple(map(carrying, robot.joints, near.joints))
    loops = tuple(
        replace(x, cut=carrying(x.cut, y.cut), twin=carrying(x.twin, y.twin))
        for x, y in zip(robot.loops, near.loops, strict=True)
    )
    return replace(robot, joints=joints, loops=loops), words


@lru_cache(maxsize=64)
def _closest(bare: Robot) -> tuple[Robot, str]:
    return closest(bare, _written)


def equations(robot: Robot, values: Mapping[str, float] | None = None) -> Equations:
    """The loop equations of a robot, of the closest geometry that closes where rounding keeps its
    own open; `values` of the symbols of its geometry. Rolling says nothing of positions: the
    joints that wheels alone hold are independent here."""
    return _written(closing_geometry(holonomic(skeleton(robot)))[0], values)


def _written(bare: Robot, values: Mapping[str, float] | None = None) -> Equations:
    """The loop equations of a geometry as it is."""
    coordinates, residual, names, owners = _traced(bare)
    known = {name: float(x) for name, x in (values or {}).items()}
    missing = [name for name in names if name not in known and name != _SIZE]
    if missing:
        raise InputError(
            f"closing the loops of '{bare.name}' needs numbers, but {', '.join(missing)} are free",
            remedy=f"give p={{'{missing[0]}': ...}}, or fix them with robot.with_values({{...}})",
            action="values",
        )
    size = _size(bare, known)
    known[_SIZE] = size
    known |= {name: 1.0 for name in bare.parameters if name not in known}  # move no loop
    turning = np.array([bare.joints[j - 1].sigma == 0 for j in coordinates.moving], bool)
    p = np.array([known[name] for name in names])
    return Equations(
        coordinates,
        residual,
        p,
        turning,
        size,
        owners,
        known,
        _couplings(coordinates, known),
    )


def _couplings(coordinates: Coordinates, values: Mapping[str, float]) -> tuple[Led, ...]:
    """The columns that are coupled, leaders first."""
    from ..algebra.scalar import function
    from ..describe.values.expression import evaluate

    couplings, column = coordinates.robot.couplings, coordinates.moving.index
    found = []

    def value(x: Value) -> float:
        return float(evaluate(x, values.__getitem__, function))

    for j in coordinates.led:
        leaders = tuple((column(k), value(ratio)) for k, ratio in couplings[j].leaders)
        found.append((column(j), leaders, value(couplings[j].offset)))
    return tuple(found)


def _size(robot: Robot, values: Mapping[str, float]) -> float:
    """The largest length known in the robot's frames."""
    from ..algebra.scalar import function
    from ..describe.values.expression import evaluate

    lengths = [0.0]
    frames = [*robot.joints, *(f for loop in robot.loops for f in (loop.cut, loop.twin))]
    for frame in frames:
        for key in GEOMETRY:
            if key in ("b", "d", "r"):
                value = getattr(frame, key)
                if all(name in values for name in symbols(value)):
                    lengths.append(abs(float(evaluate(value, values.__getitem__, function))))
    return max(lengths) or 1.0
